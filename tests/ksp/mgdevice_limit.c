/*
  mgdevice_limit.c - on how many processes the levels of a gamgdevice lie: with fewer than 1,500 rows on one, unless the
  program or its options set the limit of PCGAMG or factors, or there is no GPU; then as PETSc's. The iterations are those with
  PETSc's limit, or one more or less.
*/
static const char help[] = "Checks on how many processes the levels of gamgdevice lie.\n";

#include "cgdevice_test.h"

#include <string.h>

enum { LEVELS = 10, ONE_PROCESS = 1500 /* PCGAMG rounds rows / 1000 to a number of processes */ };

typedef struct {
  const char *name;
  PetscInt    side, unknowns; /* points along an edge of a square, and unknowns per point ... */
  PetscReal   amount;         /* ... and by which couplings differ */
  int         matrix; /* of cgdevice_test.h, if side is 0; PETSc may leave all its small levels on one process */
} Problem;

static const Problem problems[] = {
    {"scalar", 33, 1, 0, 0}, {"jumps", 33, 1, 100, 0},  {"three unknowns", 21, 3, 0, 0}, {"line of blocks", 0, 0, 0, 0},
    {"square", 0, 0, 0, 1},  {"hexahedra", 0, 0, 0, 2}, {"tetrahedra", 0, 0, 0, 3},      {"mesh", 0, 0, 0, 4}};
enum { PROBLEMS = PETSC_STATIC_ARRAY_LENGTH(problems) };

typedef struct {
  const char *name, *type, *options;
  PetscInt    limit; /* set by the program, or 0 */
  PetscBool   ours;  /* the limit is petscpack's */
} Case;

#define PARALLEL                                                                                                       \
  "-pc_gamg_parallel_coarse_grid_solver -pc_gamg_use_parallel_coarse_grid_solver" /* 3.18 has the second */

/* The name gamg means ours in the others; `name` is also part of the options prefix */
static const Case cases[] = {
    {"default", PCGAMGDEVICE, "", 0, PETSC_TRUE},
    {"option", PCGAMGDEVICE, "-pc_gamg_process_eq_limit 50", 0, PETSC_FALSE},
    {"another", PCGAMGDEVICE, "-another_pc_gamg_process_eq_limit 50", 0, PETSC_TRUE},
    {"call", PCGAMGDEVICE, "", 50, PETSC_FALSE},
    {"ignored", PCGAMGDEVICE, "", -1, PETSC_TRUE},
    {"replaced", PCGAMG, "", 0, PETSC_TRUE},
    {"replaced_call", PCGAMG, "", 50, PETSC_FALSE},
    {"parallel", PCGAMGDEVICE, PARALLEL, 0, PETSC_FALSE},
    {"factors", PCGAMGDEVICE, "-pc_gamg_rank_reduction_factors 1", 0, PETSC_FALSE},
#if PetscDefined(HAVE_PTSCOTCH) || PetscDefined(HAVE_PARMETIS)
    {"repartition", PCGAMGDEVICE, "-pc_gamg_repartition", 0, PETSC_TRUE},
#endif
};

/* The hierarchy that a solver has made: of each level below the finest its rows, and those of this process */
typedef struct {
  PetscInt levels, rows[LEVELS], mine[LEVELS], iterations;
  PetscInt shared; /* parts of small levels that are not all of their level; on all processes */
} Made;

static PetscErrorCode Create(const Case *c, Mat A, KSP *ksp)
{
  CGDevSetup setup = CGDevTestSetup();
  char       prefix[64], names[256] = "";
  char     **word;
  int        count;
  PC         pc;

  PetscFunctionBeginUser;
  setup.pc = c->type;
  PetscCall(CGDevTestCreate(KSPCG, A, A, &setup, ksp));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCGAMGSetType(pc, PCGAMGAGG));
  PetscCall(PCGAMGSetCoarseEqLim(pc, 8));
  PetscCall(PCGAMGSetAggressiveLevels(pc, 0)); /* for more levels */
  if (c->limit) PetscCall(PCGAMGSetProcEqLim(pc, c->limit));
  PetscCall(PetscSNPrintf(prefix, sizeof prefix, "%s_", c->name));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(PetscStrToArray(c->options, ' ', &count, &word));
  for (int i = 0; i < count; i++) {
    PetscCall(PetscStrlcat(names, word[i][0] == '-' ? " -" : " ", sizeof names));
    if (word[i][0] == '-') PetscCall(PetscStrlcat(names, prefix, sizeof names));
    PetscCall(PetscStrlcat(names, word[i] + (word[i][0] == '-'), sizeof names));
  }
  PetscCall(PetscStrToArrayDestroy(count, word));
  PetscCall(PetscOptionsInsertString(NULL, names));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Look(KSP ksp, Made *made)
{
  PetscInt shared = 0;
  KSP      smoother;
  Mat      A;
  PC       pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &made->levels));
  PetscCheck(made->levels <= LEVELS, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "more levels than expected");
  for (PetscInt i = 0; i < made->levels - 1; i++) {
    PetscCall(PCMGGetSmoother(pc, i, &smoother));
    PetscCall(KSPGetOperators(smoother, &A, NULL));
    PetscCall(MatGetSize(A, &made->rows[i], NULL));
    PetscCall(MatGetLocalSize(A, &made->mine[i], NULL));
    if (made->rows[i] < ONE_PROCESS && made->mine[i] > 0 && made->mine[i] < made->rows[i]) shared++;
  }
  PetscCallMPI(MPI_Allreduce(&shared, &made->shared, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Make(const Case *c, Mat A, const char name[], PetscBool ours, Made *made)
{
  static CGDevOutcome got;
  char                view[TEST_VIEW];
  CGDevSetup          setup = CGDevTestSetup();
  PetscBool           says;
  KSP                 ksp;

  PetscFunctionBeginUser;
  PetscCall(Create(c, A, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &got));
  PetscCall(CGDevTestCheck(got.reason > 0, name, "no convergence"));
  made->iterations = got.iterations;
  PetscCall(Look(ksp, made));
  PetscCall(TestView((PetscObject)ksp, PETSC_VIEWER_DEFAULT, view));
  says = strstr(view, "at least 1000 rows a process: petscpack's default on GPUs") ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(CGDevTestCheck(says == ours, name, "the view says otherwise"));
  PetscCall(VecDestroy(&got.x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The hierarchy of PETSc with the factor 1, which leaves the first coarse level on all processes */
static PetscErrorCode MakeApart(const Case *c, const Problem *p, Mat A, Made *petsc)
{
  Case same = *c;

  PetscFunctionBeginUser;
  same.type = PCGAMG;
  PetscCall(PetscPackReplaceType(PCGAMG, PETSC_FALSE));
  PetscCall(Make(&same, A, p->name, PETSC_FALSE, petsc));
  PetscCall(PetscPackReplaceType(PCGAMG, PETSC_TRUE));
  PetscCall(CGDevTestCheck(!p->side || petsc->shared > 0, p->name, "the factors have no effect in PETSc"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const Case *c, const Problem *p, Mat A, const Made *petsc)
{
  const PetscBool ours = c->ours && CGDevTestOnDevice() ? PETSC_TRUE : PETSC_FALSE;
  char            name[64], text[64];
  Made            made = {.levels = 0}, apart = {.levels = 0};
  int             same, all;

  PetscFunctionBeginUser;
  if (strstr(c->options, "factors")) {
    PetscCall(MakeApart(c, p, A, &apart));
    petsc = &apart;
  }
  PetscCall(PetscSNPrintf(name, sizeof name, "%s, %s", p->name, c->name));
  PetscCall(Make(c, A, name, ours, &made));
  PetscCall(CGDevTestCheck(made.shared == (ours ? 0 : petsc->shared), name, "small levels on other processes"));
  same = made.levels == petsc->levels && !memcmp(made.mine, petsc->mine, sizeof made.mine);
  PetscCallMPI(MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  if (!ours) PetscCall(CGDevTestCheck(all ? PETSC_TRUE : PETSC_FALSE, name, "levels lie otherwise than PETSc's"));
  PetscCall(PetscSNPrintf(text, sizeof text, "%" PetscInt_FMT " iterations, PETSc %" PetscInt_FMT, made.iterations,
                          petsc->iterations));
  PetscCall(CGDevTestCheck(PetscAbsInt(made.iterations - petsc->iterations) <= 1, name, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds a coupling between two points, if both are in the square */
static PetscErrorCode Couple(const Problem *p, Mat A, PetscInt x, PetscInt y, PetscInt dx, PetscInt dy)
{
  const PetscInt  me = p->unknowns * (x + p->side * y), other = me + p->unknowns * (dx + p->side * dy);
  const PetscReal weight = 1 + p->amount * (PetscReal)((x / 4 + y / 4) % 2);

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < p->unknowns; i++)
    for (PetscInt j = 0; j < p->unknowns; j++) {
      const PetscScalar c = i == j ? weight : weight / 10;

      PetscCall(MatSetValue(A, me + i, me + i, c + (PetscScalar)0.01, ADD_VALUES));
      if (x + dx >= p->side || y + dy >= p->side) continue;
      PetscCall(MatSetValue(A, other + j, other + j, c, ADD_VALUES));
      PetscCall(MatSetValue(A, me + i, other + j, -c, ADD_VALUES));
      PetscCall(MatSetValue(A, other + j, me + i, -c, ADD_VALUES));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Matrix(const Problem *p, Mat *A)
{
  const PetscInt n = p->side * p->side * p->unknowns;
  PetscMPIInt    rank;

  PetscFunctionBeginUser;
  if (!p->side) {
    PetscCall(CGDevTestMatrix(p->matrix, MATAIJ, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(TestCreate(PETSC_COMM_WORLD, MATAIJ, PETSC_DECIDE, PETSC_DECIDE, n, n, p->unknowns, 5 * p->unknowns, A));
  for (PetscInt point = 0; point < p->side * p->side && rank == 0; point++) {
    PetscCall(Couple(p, *A, point % p->side, point / p->side, 1, 0));
    PetscCall(Couple(p, *A, point % p->side, point / p->side, 0, 1));
  }
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const Case plain = {"petsc", PCGAMG, "", 0, PETSC_FALSE};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  for (int i = 0; i < PROBLEMS; i++) {
    const Problem *p    = &problems[i];
    Made           made = {.levels = 0};
    Mat            A;

    PetscCall(Matrix(p, &A));
    PetscCall(Make(&plain, A, p->name, PETSC_FALSE, &made));
    PetscCall(CGDevTestCheck(!p->side || made.shared > 0, p->name, "PETSc's small levels lie on one process as well"));
    PetscCall(PetscPackReplaceType(PCGAMG, PETSC_TRUE));
    for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) PetscCall(Compare(&cases[c], p, A, &made));
    PetscCall(PetscPackReplaceType(PCGAMG, PETSC_FALSE));
    PetscCall(MatDestroy(&A));
  }
  return CGDevTestEnd();
}
