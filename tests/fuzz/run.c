/*
  run.c - one sequence: draws or reads its steps, runs them, and compares
*/
#include "run.h"

#include <stdio.h>

/* If the norm exceeds this, both matrices are scaled down */
static const PetscReal norm_max = 256;

enum { SMALL_MAX = 110 };

static PetscBool Runs(const ConfOperation *o)
{
  return o->where & (OP_SPEC | OP_COORDINATES) ? PETSC_FALSE : PETSC_TRUE;
}

const ConfOperation *FuzzOperationGet(PetscInt i)
{
  const ConfOperation *o;

  for (PetscInt k = 0; (o = OpGet(k)); k++)
    if (Runs(o) && !i--) return o;
  for (o = fuzz_options; o->name; o++)
    if (!i--) return o;
  return NULL;
}

PetscBool FuzzIsPacked(const Fuzz *f)
{
  PetscBool parallel = PETSC_FALSE, is = PETSC_FALSE;
  char      type[CONF_TYPE_MAX];

  if (f->c.blocks_only) (void)PetscObjectTypeCompare((PetscObject)f->c.A, MATMPIAIJ, &parallel);
  if (f->c.A && !parallel) (void)ConfIsUnderTest(&f->c, f->c.A, type, &is);
  return is;
}

PetscInt FuzzOperationFind(const char *name)
{
  const ConfOperation *o;

  for (PetscInt i = 0; (o = FuzzOperationGet(i)); i++)
    if (!strcmp(o->name, name)) return i;
  return -1;
}

/* Half of the sequences begin with options */
void FuzzDrawSteps(FuzzRun *run)
{
  const uint64_t seed  = gen_hash((uint64_t)run->seed, 1);
  const PetscInt first = FuzzOperationFind("options");
  uint64_t       tries = 0;

  run->step_count = 3 + (PetscInt)(gen_hash(seed, tries++) % 11);
  for (PetscInt k = 0; k < run->step_count; k++) {
    PetscInt i;

    do i = (PetscInt)(gen_hash(seed, tries++) % (uint64_t)run->operation_count);
    while (!run->allowed[i] || ((FuzzOperationGet(i)->where & OP_RARE) && gen_hash(seed, tries++) % 3));
    if (!k && run->allowed[first] && gen_hash(seed, tries++) % 2) i = first;
    run->step[k].index     = k;
    run->step[k].operation = FuzzOperationGet(i);
  }
}

void FuzzCommand(const FuzzRun *run, PetscInt last, char line[FUZZ_LINE_MAX])
{
  size_t used =
      (size_t)snprintf(line, FUZZ_LINE_MAX, "mpiexec -n %d fuzz_mat -fuzz_type %s -fuzz_seed %lld -fuzz_steps ",
                       run->size, run->type, (long long)run->seed);

  if (last < 0) snprintf(line + used, FUZZ_LINE_MAX - used, "none");
  for (PetscInt k = 0; k <= last && k < run->step_count && used < FUZZ_LINE_MAX; k++)
    used += (size_t)snprintf(line + used, FUZZ_LINE_MAX - used, "%s%lld:%s", k ? "," : "",
                             (long long)run->step[k].index, run->step[k].operation->name);
}

static PetscErrorCode MakesSense(const Fuzz *f, const ConfOperation *o, PetscBool *sense)
{
  Mat       A = f->twin[FUZZ_PLAIN].A;
  PetscBool square;
  OpShape   s;

  PetscFunctionBeginUser;
  PetscCall(OpShapeOf(A, &s));
  PetscCall(MatHasCongruentLayouts(A, &square));
  *sense = PETSC_FALSE;
  if ((o->where & OP_SQUARE) && !square) PetscFunctionReturn(PETSC_SUCCESS);
  if ((o->where & OP_NONEMPTY) && (!s.M || !s.N)) PetscFunctionReturn(PETSC_SUCCESS);
  if ((o->where & OP_SEQUENTIAL) && f->c.size > 1) PetscFunctionReturn(PETSC_SUCCESS);
  if ((o->where & OP_PARALLEL) && f->c.size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if ((o->where & (OP_SMALL | OP_DENSE)) && PetscMax(s.M, s.N) > SMALL_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  *sense = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Conf *c)
{
  OpShape shape;

  PetscFunctionBeginUser;
  PetscCall(OpDrawShape(c, &shape));
  PetscCall(OpCreate(c, &shape, c->type, &c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SeeKept(Conf *c)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < c->kept->count; k++) PetscCall(ConfSeeProducts(c, "kept matrix", c->kept->A[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every sequence begins with `create` and ends with `kept` */
static const ConfOperation create   = {"create", Create, OP_RENEWS, .ways = 1},
                           see_kept = {"kept", SeeKept, 0, .ways = 1};

/* Checks that an option set on the matrix by a program is still set */
static PetscErrorCode SeeOption(Fuzz *f, const ConfOperation *o)
{
  char text[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  if (!f->option[0] || (o->where & OP_RENEWS)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(text, f->value, sizeof(text)));
  if (FuzzIsPacked(f)) PetscCall(MatAIJFmtGetOption(f->c.A, f->option, text, sizeof(text)));
  PetscCall(ConfSeeText(&f->c, f->option, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs the operation on the current twin, and records its matrix afterwards */
static PetscErrorCode RunTurn(FuzzRun *run, Fuzz *f, const ConfOperation *o)
{
  ConfCounts before, after;

  PetscFunctionBeginUser;
  PetscCall(OpRun(&f->c, o));
  PetscCall(ConfCount(&f->c, f->c.A, &before));
  PetscCall(ConfSeeMat(&f->c, "matrix afterwards", f->c.A));
  PetscCall(ConfCount(&f->c, f->c.A, &after));
  run->sequence_packed += after.packed - before.packed;
  run->fallbacks += after.fallbacks - before.fallbacks;
  PetscCall(SeeOption(f, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes one twin's turn. An error ends the operation on this process; all processes agree on the codes. */
static PetscErrorCode TakeTurn(FuzzRun *run, Fuzz *f, const FuzzStep *step, int twin, const char *command,
                               const char *name, PetscInt codes[2])
{
  Conf *const     c   = &f->c;
  FuzzTwin *const now = &f->twin[twin];
  PetscErrorCode  ierr;
  PetscInt        mine[2];

  PetscFunctionBeginUser;
  c->A    = now->A;
  c->kept = &now->kept;
  PetscCall(ConfTurn(c, twin == FUZZ_PLAIN ? "" : run->type + strlen("aij")));
  c->seed  = gen_hash(gen_hash((uint64_t)run->seed, 2), (uint64_t)step->index + 1);
  c->drawn = 0;
  FuzzWatchStep(command, name, c->type, twin);
  PetscCall(PetscPushErrorHandler(FuzzWatchError, NULL));
  ierr = RunTurn(run, f, step->operation);
  PetscCall(PetscPopErrorHandler());
  if (c->step_option) PetscCall(PetscOptionsClearValue(NULL, c->step_option));
  c->step_option = NULL;
  mine[0]        = (PetscInt)ierr;
  mine[1]        = -(PetscInt)ierr;
  PetscCallMPI(MPI_Allreduce(mine, codes, 2, MPIU_INT, MPI_MAX, c->comm));
  FuzzWatchEnd();
  PetscCall(PetscStrncpy(now->message, ierr ? FuzzWatchMessage() : "", sizeof(now->message)));
  now->A = c->A;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunStep(FuzzRun *run, Fuzz *f, const FuzzStep *step, const char *command, FuzzOutcome *outcome)
{
  ConfRecord record[FUZZ_TWINS];
  PetscInt   codes[FUZZ_TWINS][2], different = 0;
  char       name[FUZZ_FILE_MAX];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%lld:%s of seed %lld", (long long)step->index, step->operation->name,
                          (long long)run->seed));
  f->c.uncounted = 0;
  for (int twin = 0; twin < FUZZ_TWINS; twin++) {
    PetscCall(ConfRecordCreate(&record[twin]));
    f->c.record = &record[twin];
    PetscCall(TakeTurn(run, f, step, twin, command, name, codes[twin]));
  }
  if (codes[0][0] != codes[1][0] || codes[0][1] != codes[1][1]) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: error %lld with aij, %lld with %s\n", name, (long long)codes[0][0],
                          (long long)codes[1][0], run->type));
    for (int twin = 0; twin < FUZZ_TWINS; twin++)
      if (f->twin[twin].message[0])
        PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "  process %d, %s: %s\n", run->rank,
                               twin == FUZZ_PLAIN ? "aij" : run->type, f->twin[twin].message));
    *outcome = FUZZ_ERROR;
  } else if (codes[0][0] || codes[0][1]) *outcome = FUZZ_REFUSED;
  else {
    PetscCall(ConfCompare(&f->c, name, &record[0], &record[1], &different));
    if (f->c.uncounted)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s: products were not counted, or ran elsewhere\n", name));
    different += f->c.uncounted;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &different, 1, MPIU_INT, MPI_SUM, f->c.comm));
    *outcome = different ? FUZZ_DIFFERS : FUZZ_PASSED;
  }
  if (step->operation->where & OP_RENEWS) f->option[0] = 0;
  for (int twin = 0; twin < FUZZ_TWINS; twin++) PetscCall(ConfRecordDestroy(&record[twin]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scales by a power of two, so that sums stay exact */
static PetscErrorCode KeepSmall(Fuzz *f)
{
  PetscReal norm, factor = 1;

  PetscFunctionBeginUser;
  PetscCall(MatNorm(f->twin[FUZZ_PLAIN].A, NORM_INFINITY, &norm));
  if (PetscIsInfOrNanReal(norm)) factor = 0;
  while (norm * factor > norm_max) factor /= 2;
  for (int twin = 0; twin < FUZZ_TWINS && factor != 1; twin++) {
    if (factor == 0) PetscCall(MatZeroEntries(f->twin[twin].A));
    else PetscCall(MatScale(f->twin[twin].A, factor));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunSteps(FuzzRun *run, Fuzz *f, FuzzOutcome *outcome, char command[FUZZ_LINE_MAX])
{
  const FuzzStep first = {&create, -1}, last = {&see_kept, FUZZ_STEPS_MAX};
  PetscBool      sense = PETSC_FALSE;

  PetscFunctionBeginUser;
  FuzzCommand(run, -1, command);
  PetscCall(RunStep(run, f, &first, command, outcome));
  for (PetscInt k = 0; k < run->step_count && *outcome == FUZZ_PASSED; k++) {
    const FuzzStep *step  = &run->step[k];
    FuzzCount      *count = &run->count[FuzzOperationFind(step->operation->name)];

    PetscCall(KeepSmall(f));
    PetscCall(MakesSense(f, step->operation, &sense));
    if (!sense) continue;
    FuzzCommand(run, k, command);
    for (int twin = 0; twin < FUZZ_TWINS; twin++) PetscCall(OpAllowNewNonzeros(f->twin[twin].A));
    PetscCall(RunStep(run, f, step, command, outcome));
    count->ran++;
    if (*outcome == FUZZ_REFUSED) count->refused++;
  }
  if (*outcome == FUZZ_PASSED) PetscCall(RunStep(run, f, &last, command, outcome));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After an error nothing is destroyed: the state of the matrix is undefined, and processes may disagree */
static PetscErrorCode CleanUp(Fuzz *f)
{
  PetscFunctionBeginUser;
  for (int twin = 0; twin < FUZZ_TWINS; twin++) {
    for (PetscInt k = 0; k < f->twin[twin].kept.count; k++) PetscCall(MatDestroy(&f->twin[twin].kept.A[k]));
    PetscCall(MatDestroy(&f->twin[twin].A));
  }
  PetscCallMPI(MPI_Comm_free(&f->c.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzRunSequence(FuzzRun *run, FuzzOutcome *outcome)
{
  Fuzz *f;
  char  command[FUZZ_LINE_MAX];

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(1, &f));
  f->c.rank      = run->rank;
  f->c.size      = run->size;
  f->c.base      = MATAIJ;
  f->c.inexact   = PETSC_TRUE;
  f->base_format = run->type + strlen("aij");
  f->c.file      = run->file;
  f->c.way       = -1;
  PetscCallMPI(MPI_Comm_dup(PETSC_COMM_WORLD, &f->c.comm));
  run->sequence_packed = 0;
  PetscCall(RunSteps(run, f, outcome, command));
  run->packed += run->sequence_packed;
  if (*outcome >= FUZZ_DIFFERS) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAILED %s\n", command));
  for (PetscInt k = 0; k < f->database_count; k++) PetscCall(PetscOptionsClearValue(NULL, f->database[k]));
  if (*outcome == FUZZ_PASSED || *outcome == FUZZ_DIFFERS) PetscCall(CleanUp(f));
  PetscCall(PetscFree(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}
