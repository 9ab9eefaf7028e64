/*
  fuzz_mat.c - random sequences of operations on a matrix of plain AIJ and on its twin of a packed type

    fuzz_mat -fuzz_type aijrbp -fuzz_seed 1 -fuzz_count 100              seeds 1 to 100
    fuzz_mat -fuzz_type aijrbp -fuzz_seed 17 -fuzz_steps 0:scale,3:axpy  these steps of seed 17

  Runs on any number of processes. A sequence that fails is printed as a command that repeats it; scripts/fuzz.sh finds
  its shortest form. With -fuzz_type aij both twins are plain, and with aijcusparse the tested twin is PETSc's own GPU
  type: failures with these are not ours. With -petscpack_replace aij, or -mat_seqaij_type seqaijrbp, the tested twin is
  made as plain AIJ, in their format. The last line counts passed and failed sequences; the exit status is 1 if any
  failed.
*/
static const char help[] =
    "Random sequences of operations on a matrix of plain AIJ and on its twin of a packed type.\n";

#include "run.h"

#include <petsctime.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
  PetscInt  count, limit, every, passed, failed, refused, unpacked;
  PetscReal seconds;
  PetscBool list, list_types, any_refused;
  char      only[FUZZ_LINE_MAX], skip[FUZZ_LINE_MAX], steps[FUZZ_LINE_MAX];
} Settings;

static PetscErrorCode ReadOptions(FuzzRun *run, Settings *s)
{
  const char *by_option;

  PetscFunctionBeginUser;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Random sequences of operations", NULL);
  PetscCall(PetscOptionsString("-fuzz_type", "type of the tested twin; aij compares plain with plain", NULL, run->type,
                               run->type, sizeof(run->type), NULL));
  PetscCall(PetscOptionsInt("-fuzz_seed", "first seed", NULL, run->seed, &run->seed, NULL));
  PetscCall(PetscOptionsInt("-fuzz_count", "number of seeds", NULL, s->count, &s->count, NULL));
  PetscCall(PetscOptionsReal("-fuzz_seconds", "begin no sequence after so many seconds; 0: no limit", NULL, s->seconds,
                             &s->seconds, NULL));
  PetscCall(
      PetscOptionsInt("-fuzz_limit", "seconds after which a step counts as hanging", NULL, s->limit, &s->limit, NULL));
  PetscCall(PetscOptionsString("-fuzz_steps", "only these steps of the first seed: index:operation,...; or none", NULL,
                               s->steps, s->steps, sizeof(s->steps), NULL));
  PetscCall(PetscOptionsString("-fuzz_operation", "draw only these operations: name,name,...", NULL, s->only, s->only,
                               sizeof(s->only), NULL));
  PetscCall(PetscOptionsString("-fuzz_skip", "do not draw these operations: name,name,...", NULL, s->skip, s->skip,
                               sizeof(s->skip), NULL));
  PetscCall(PetscOptionsString("-fuzz_file", "scratch file for saved matrices", NULL, run->file, run->file,
                               sizeof(run->file), NULL));
  PetscCall(PetscOptionsInt("-fuzz_every", "print the counts, and begin them anew, after so many sequences", NULL,
                            s->every, &s->every, NULL));
  PetscCall(PetscOptionsBool("-fuzz_list", "only print the sequences", NULL, s->list, &s->list, NULL));
  PetscCall(PetscOptionsBool("-fuzz_list_types", "only print the types", NULL, s->list_types, &s->list_types, NULL));
  PetscOptionsEnd();
  PetscCall(ConfByOption(&by_option));
  if (by_option && strcmp(run->type, "aij")) PetscCall(PetscSNPrintf(run->type, sizeof(run->type), "aij%s", by_option));
  PetscCheck(!strncmp(run->type, "aij", 3), PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG,
             "-fuzz_type %s: must be aij or aij with the name of a format", run->type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Marks the operations of a list of names */
static PetscErrorCode MarkOperations(FuzzRun *run, const char *list, PetscBool allowed)
{
  char **name;
  int    count;

  PetscFunctionBeginUser;
  PetscCall(PetscStrToArray(list, ',', &count, &name));
  for (int i = 0; i < count; i++) {
    const PetscInt o = FuzzOperationFind(name[i]);

    PetscCheck(o >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "no operation %s: run fuzz_mat -fuzz_count 0", name[i]);
    run->allowed[o] = allowed;
  }
  PetscCall(PetscStrToArrayDestroy(count, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ChooseOperations(FuzzRun *run, const Settings *s)
{
  PetscFunctionBeginUser;
  while (FuzzOperationGet(run->operation_count)) run->operation_count++;
  PetscCall(PetscCalloc2(run->operation_count, &run->count, run->operation_count, &run->allowed));
  for (PetscInt i = 0; i < run->operation_count; i++) run->allowed[i] = s->only[0] ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(MarkOperations(run, s->only, PETSC_TRUE));
  PetscCall(MarkOperations(run, s->skip, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads "0:scale,3:axpy" */
static PetscErrorCode ReadSteps(FuzzRun *run, const char *steps)
{
  char **part;
  int    count;

  PetscFunctionBeginUser;
  run->step_count = 0;
  if (!strcmp(steps, "none")) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrToArray(steps, ',', &count, &part));
  PetscCheck(count <= FUZZ_STEPS_MAX, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "more than %d steps", FUZZ_STEPS_MAX);
  for (int i = 0; i < count; i++) {
    char          *name;
    const PetscInt index = (PetscInt)strtol(part[i], &name, 10);
    const PetscInt o     = *name == ':' ? FuzzOperationFind(name + 1) : -1;

    PetscCheck(o >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "-fuzz_steps: %s is not index:operation", part[i]);
    run->step[run->step_count].index       = index;
    run->step[run->step_count++].operation = FuzzOperationGet(o);
  }
  PetscCall(PetscStrToArrayDestroy(count, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimeIsUp(const Settings *s, PetscLogDouble begin, PetscBool *up)
{
  PetscLogDouble now;
  PetscMPIInt    answer;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&now));
  answer = s->seconds > 0 && now - begin > s->seconds;
  PetscCallMPI(MPI_Bcast(&answer, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  *up = answer ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the counts since the last call. scripts/fuzz.sh adds these lines up. */
static PetscErrorCode PrintCounts(FuzzRun *run, Settings *s)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < run->operation_count; i++) {
    if (run->count[i].ran || !s->every)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "operation %-28s ran %6lld, refused with aij as well %6lld\n",
                            FuzzOperationGet(i)->name, (long long)run->count[i].ran, (long long)run->count[i].refused));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "products %.0f packed, %.0f left to the parent type\n", run->packed,
                        run->fallbacks));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "sequences %lld ended by an error of aij as well, %lld without a packed product\n",
                        (long long)s->refused, (long long)s->unpacked));
  PetscCall(PetscArrayzero(run->count, run->operation_count));
  run->packed = run->fallbacks = 0;
  s->refused = s->unpacked = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintVersion(void)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "PETSc version %d.%d.%d, %s\n", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR,
                        PETSC_VERSION_SUBMINOR, PetscDefined(HAVE_CUDA) ? "with CUDA" : "without CUDA"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode List(FuzzRun *run, const Settings *s)
{
  char command[FUZZ_LINE_MAX];

  PetscFunctionBeginUser;
  for (int i = 0; ConfFormat(i) && s->list_types; i++)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "aij%s\n", ConfFormat(i)));
  for (PetscInt k = 0; k < s->count && s->list; k++, run->seed++) {
    FuzzDrawSteps(run);
    FuzzCommand(run, run->step_count - 1, command);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "SEQUENCE %s\n", command));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunAll(FuzzRun *run, Settings *s)
{
  PetscLogDouble begin;
  PetscBool      up      = PETSC_FALSE;
  FuzzOutcome    outcome = FUZZ_PASSED;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&begin));
  PetscCall(PrintVersion());
  for (PetscInt k = 0; k < s->count && !up; k++, run->seed++) {
    if (s->steps[0]) PetscCall(ReadSteps(run, s->steps));
    else FuzzDrawSteps(run);
    outcome = FUZZ_PASSED;
    PetscCall(FuzzRunSequence(run, &outcome));
    if (outcome >= FUZZ_DIFFERS) s->failed++;
    else s->passed++;
    if (outcome == FUZZ_REFUSED) {
      s->refused++;
      s->any_refused = PETSC_TRUE;
    }
    if (!run->sequence_packed && ConfIsOurs(run->type + strlen("aij"))) s->unpacked++;
    if (s->every && k % s->every == s->every - 1) PetscCall(PrintCounts(run, s));
    if (outcome == FUZZ_ERROR) break; /* PETSc may be in any state after an error */
    PetscCall(TimeIsUp(s, begin, &up));
  }
  PetscCall(PrintCounts(run, s));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%lld passed, %lld failed\n", (long long)s->passed, (long long)s->failed));
  if (outcome == FUZZ_ERROR) {
    fflush(stdout);
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    MPI_Abort(PETSC_COMM_WORLD, 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets options that the command line can override. A large number of expected products makes conversions pay even for
   small matrices. GAMG estimates an eigenvalue for its prolongator by ten CG iterations. On diagonally dominant
   matrices CG converges earlier, so the last iterations are rounding errors, and the estimates of the twins differ in
   the fourth digit. */
static PetscErrorCode SetDefaults(void)
{
  if (PetscOptionsSetValue(NULL, "-mat_aijauto_expected", "1000000")) return PETSC_ERR_LIB;
  return PetscOptionsSetValue(NULL, "-fuzz_pc_gamg_esteig_ksp_max_it", "3");
}

int main(int argc, char **argv)
{
  FuzzRun  run = {.seed = 1};
  Settings s   = {.count = 20, .limit = 30, .skip = "local_mat_condensed,any_local_mat"}; /* see Limits in README.md */
  int      process;

  if (SetDefaults()) return 1;
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscPopSignalHandler());
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &run.rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &run.size));
  process = (int)getpid();
  PetscCallMPI(MPI_Bcast(&process, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCall(PetscSNPrintf(run.file, sizeof(run.file), "fuzz_mat_%d.bin", process));
  PetscCall(PetscSNPrintf(run.type, sizeof(run.type), "aij%s", spmv_format_get(0)->name));
  PetscCall(ReadOptions(&run, &s));
  PetscCall(ChooseOperations(&run, &s));
  if (s.steps[0]) s.count = PetscMin(s.count, 1);
  FuzzWatchStart(s.limit);
  if (s.list || s.list_types) PetscCall(List(&run, &s));
  else PetscCall(RunAll(&run, &s));
  PetscCall(PetscFree2(run.count, run.allowed));
  if (s.any_refused)
    PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump")); /* memory that an error leaves behind is not a leak */
  PetscCall(PetscFinalize());
  return s.failed ? 1 : 0;
}
