/*
  gmresdevice_test.c - compares KSPGMRESDEVICE with KSPGMRES, whose results must be the same up to the rounding of sums:
  iterations within one, norms, solutions, reasons, data seen by monitors and tests; and solves left to KSPGMRES
*/
#include "cgdevice_test.h"

#include <string.h>

/* 3.26: the orthogonalization moved from KSPGMRES to KSP */
#if PETSC_VERSION_LT(3, 26, 0)
  #define SetRefinement        KSPGMRESSetCGSRefinementType
  #define SetOrthogonalization KSPGMRESSetOrthogonalization
  #define ModifiedGramSchmidt  KSPGMRESModifiedGramSchmidtOrthogonalization
  #define REFINE_ALWAYS        KSP_GMRES_CGS_REFINE_ALWAYS
  #define REFINE_IF_NEEDED     KSP_GMRES_CGS_REFINE_IFNEEDED
#else
  #define SetRefinement        KSPOrthogonalizationSetCGSRefinementType
  #define SetOrthogonalization KSPOrthogonalizationSet
  #define ModifiedGramSchmidt  KSPOrthogonalizationModifiedGramSchmidt
  #define REFINE_ALWAYS        KSP_ORTHOGONALIZATION_CGS_REFINE_ALWAYS
  #define REFINE_IF_NEEDED     KSP_ORTHOGONALIZATION_CGS_REFINE_IFNEEDED
#endif

enum { NX = 13, NY = 12, UNKNOWNS = 2, ROWS = NX * NY * UNKNOWNS, PCS = 4 };

typedef enum { CONVECTION, INDEFINITE, SINGULAR, NOT_A_NUMBER } Kind;

static PetscBool first_empty = PETSC_FALSE; /* the first of several processes has no rows */

static PetscErrorCode LocalRows(PetscInt *rows)
{
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  *rows = !first_empty ? PETSC_DECIDE : rank == 0 ? 0 : ROWS / (size - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Upwind differences of a flow along x, on a grid with two coupled unknowns per node */
static PetscErrorCode Matrix(Kind kind, MatType type, Mat *A)
{
  PetscInt low, high, rows = PETSC_DECIDE;

  PetscFunctionBeginUser;
  PetscCall(LocalRows(&rows));
  PetscCall(TestCreate(PETSC_COMM_WORLD, type, rows, rows, ROWS, ROWS, UNKNOWNS, 6, A));
  PetscCall(MatGetOwnershipRange(*A, &low, &high));
  for (PetscInt row = low; row < high; row++) {
    const PetscInt node = row / UNKNOWNS, i = node % NX, j = node / NX, other = row % UNKNOWNS ? row - 1 : row + 1;
    const PetscInt at[4] = {i > 0 ? row - UNKNOWNS : -1, i < NX - 1 ? row + UNKNOWNS : -1,
                            j > 0 ? row - NX * UNKNOWNS : -1, j < NY - 1 ? row + NX * UNKNOWNS : -1};
    const PetscReal weight[4] = {3, (PetscReal)0.4, 1 + (PetscReal)0.1 * (row % 5), (PetscReal)0.8};
    PetscReal       sum       = kind == SINGULAR ? (PetscReal)0.5 : (PetscReal)0.9;
    for (int k = 0; k < 4; k++) {
      if (at[k] < 0) continue;
      PetscCall(MatSetValue(*A, row, at[k], -weight[k], INSERT_VALUES));
      sum += weight[k];
    }
    PetscCall(MatSetValue(*A, row, other, -(PetscReal)0.5, INSERT_VALUES));
    if (kind == INDEFINITE && row % 7 == 0) sum = -sum;
    PetscCall(MatSetValue(*A, row, row, kind == NOT_A_NUMBER && row == 8 ? (PetscReal)NAN : sum, INSERT_VALUES));
  }
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The settings of KSPCGDEVICE's tests with PETSc's default for the mode */
static CGDevSetup Default(void)
{
  CGDevSetup u = CGDevTestSetup();

  u.mode    = KSP_DEVICE_AUTO;
  u.side    = PC_LEFT;
  u.restart = 30;
  u.max_it  = 200;
  return u;
}

static PetscErrorCode Alike(const char name[], const CGDevOutcome *expected, const CGDevOutcome *got)
{
  const PetscReal tolerance = sizeof(PetscReal) > 4 ? (PetscReal)1e-6 : (PetscReal)1e-2;
  const PetscInt  n         = PetscMin(expected->count, got->count);
  PetscBool       right     = PETSC_TRUE;
  PetscReal       size, distance;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestCheck(PetscAbs(expected->iterations - got->iterations) <= 1, name, "iterations differ"));
  PetscCall(CGDevTestCheck(expected->reason == got->reason, name, "the reason differs"));
  PetscCall(CGDevTestCheck(PetscAbs(expected->count - got->count) <= 1, name, "the history has another length"));
  for (PetscInt i = 0; i < n; i++)
    if (PetscAbsReal(expected->norms[i] - got->norms[i]) > tolerance * expected->norms[0]) right = PETSC_FALSE;
  PetscCall(CGDevTestCheck(right, name, "a norm differs"));
  PetscCall(TestDistance(got->x, expected->x, NORM_2, &distance, &size));
  if (expected->reason != KSP_DIVERGED_NANORINF)
    PetscCall(CGDevTestCheck(distance <= 10 * tolerance * size, name, "the solution differs"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum { SMOOTH, ZERO, IN_RANGE } RightHandSide;

static PetscErrorCode MakeRightHandSide(RightHandSide kind, Mat A, Vec *b)
{
  Vec x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, b));
  PetscCall(CGDevTestRightHandSide(kind == IN_RANGE ? x : *b));
  if (kind == ZERO) PetscCall(VecSet(*b, 0));
  if (kind == IN_RANGE) PetscCall(MatMult(A, x, *b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* host: a word of the reason to solve by KSPGMRES; NULL if the device must serve */
static PetscErrorCode CompareFor(RightHandSide rhs, const char name[], Kind kind, MatType type, const CGDevSetup *u,
                                 const char host[])
{
  static CGDevOutcome expected, got;
  char                view[TEST_VIEW], *line;
  Mat                 plain, A;
  KSP                 ksp[2];
  Vec                 b;

  PetscFunctionBeginUser;
  PetscCall(Matrix(kind, MATAIJ, &plain));
  PetscCall(Matrix(kind, type, &A));
  PetscCall(MakeRightHandSide(rhs, plain, &b));
  PetscCall(CGDevTestCreate(KSPGMRES, plain, plain, u, &ksp[0]));
  PetscCall(CGDevTestSolve(ksp[0], b, u, &expected));
  PetscCall(CGDevTestCreate(KSPGMRESDEVICE, A, A, u, &ksp[1]));
  PetscCall(CGDevTestSolve(ksp[1], b, u, &got));
  PetscCall(Alike(name, &expected, &got));
  PetscCall(TestView((PetscObject)ksp[1], PETSC_VIEWER_DEFAULT, view));
  if (!CGDevTestOnDevice()) host = "device";
  line = strstr(view, host ? "last solve by KSPGMRES: " : "last solve on the device: ");
  PetscCall(CGDevTestCheck(line != NULL, name, "another solver than that"));
  PetscCall(CGDevTestCheck(line && (!host || strstr(line, host)), name, "another reason than that"));
  if (!host) PetscCall(CGDevTestNccl(name, (PetscBool)(strstr(view, "between the processes: NCCL") != NULL)));
  for (int i = 0; i < 2; i++) PetscCall(KSPDestroy(&ksp[i]));
  PetscCall(TestDestroyVecs(&expected.x, &got.x));
  PetscCall(VecDestroy(&b));
  PetscCall(TestDestroyMats(&plain, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const char name[], Kind kind, MatType type, const CGDevSetup *u, const char host[])
{
  return CompareFor(SMOOTH, name, kind, type, u, host);
}

static PetscErrorCode Refine(KSP ksp) { return SetRefinement(ksp, REFINE_ALWAYS); }

static PetscErrorCode RefineIfNeeded(KSP ksp) { return SetRefinement(ksp, REFINE_IF_NEEDED); }

static PetscErrorCode Modified(KSP ksp) { return SetOrthogonalization(ksp, ModifiedGramSchmidt); }

static PetscErrorCode Eigenvalues(KSP ksp) { return KSPSetComputeEigenvalues(ksp, PETSC_TRUE); }

static PetscErrorCode Breakdown(KSP ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPGMRESSetBreakdownTolerance(ksp, 0)); /* no two norms agree to the last bit */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends after 8 iterations, and reads the solution in each */
static PetscErrorCode EightIterations(KSP ksp, PetscInt n, PetscReal norm, KSPConvergedReason *reason, void *ctx)
{
  PetscReal size;
  Vec       x;

  PetscFunctionBeginUser;
  (void)ctx;
  (void)norm;
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscCall(VecNorm(x, NORM_2, &size));
  *reason = n >= 8 && size > 0 ? KSP_CONVERGED_ITS : KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UserTest(KSP ksp) { return KSPSetConvergenceTest(ksp, EightIterations, NULL, NULL); }

/* The residual of the solution that a monitor sees; with right preconditioning it must be the reported norm */
static PetscReal worst;

static PetscErrorCode SeesResidual(KSP ksp, PetscInt n, PetscReal norm, void *ctx)
{
  PetscReal size;
  Vec       r;

  PetscFunctionBeginUser;
  (void)ctx;
  (void)n;
  PetscCall(KSPBuildResidual(ksp, NULL, NULL, &r));
  PetscCall(VecNorm(r, NORM_2, &size));
  PetscCall(VecDestroy(&r));
  worst = PetscMax(worst, PetscAbsReal(size - norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Monitor(KSP ksp)
{
  PetscFunctionBeginUser;
  worst = 0;
  PetscCall(KSPMonitorSet(ksp, SeesResidual, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt sample = 1, place = 0; /* -sample: run only every sample-th row of the tables */

/* Combinations of preconditioners, sides, norms, restarts and guesses, for the first `count` preconditioners */
static PetscErrorCode Table(MatType type, int count)
{
  static const char *const pcs[PCS]   = {PCNONE, PCJACOBI, PCPBJACOBI, PCGAMG};
  static const PetscInt    restarts[] = {1, 2, 7, 30, 60};
  char                     name[128];

  PetscFunctionBeginUser;
  for (int kind = CONVECTION; kind <= INDEFINITE; kind++)
    for (int pc = 0; pc < count; pc++)
      for (int side = 0; side < 2; side++)
        for (int none = 0; none < 2; none++) {
          CGDevSetup u = Default();
          if ((pc == 3 && kind == INDEFINITE) || ++place % sample) continue;
          u.pc      = pcs[pc];
          u.side    = side ? PC_RIGHT : PC_LEFT;
          u.norm    = none ? KSP_NORM_NONE : side ? KSP_NORM_UNPRECONDITIONED : KSP_NORM_PRECONDITIONED;
          u.restart = restarts[(pc + side + 2 * none + kind) % 5];
          u.max_it  = none ? 12 : kind == INDEFINITE ? 45 : 200;
          u.guess   = (pc + side) % 2 ? PETSC_TRUE : PETSC_FALSE;
          PetscCall(PetscSNPrintf(name, sizeof name, "%s, matrix %d, %s, restart %" PetscInt_FMT ", %s", type, kind,
                                  u.pc, u.restart, KSPNormTypes[u.norm]));
          PetscCall(Compare(name, (Kind)kind, type, &u, NULL));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums are always added in the same order, so bits must repeat. Uses one solver, because PETSc's set-up on several
   processes depends on the order in which messages arrive. */
static PetscErrorCode Repeats(const char pc[])
{
  static CGDevOutcome first, again;
  CGDevSetup          u = Default();
  PetscBool           same;
  KSP                 ksp;
  Mat                 A;

  PetscFunctionBeginUser;
  if (!CGDevTestOnDevice()) PetscFunctionReturn(PETSC_SUCCESS); /* PETSc's products need not repeat bits */
  u.pc = pc;
  PetscCall(Matrix(CONVECTION, MATAIJ, &A));
  PetscCall(CGDevTestCreate(KSPGMRESDEVICE, A, A, &u, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &u, &first));
  PetscCall(CGDevTestSolve(ksp, NULL, &u, &again));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(CGDevTestCheck(first.count == again.count, pc, "another number of iterations in the second solve"));
  PetscCall(PetscArraycmp(first.norms, again.norms, PetscMin(first.count, again.count), &same));
  PetscCall(CGDevTestCheck(same, pc, "a norm has other bits in the second solve"));
  PetscCall(VecEqual(first.x, again.x, &same));
  PetscCall(CGDevTestCheck(same, pc, "the solution has other bits in the second solve"));
  PetscCall(TestDestroyVecs(&first.x, &again.x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Loose(KSP ksp)
{
  return KSPSetTolerances(ksp, PETSC_DEFAULT, (PetscReal)1e30, PETSC_DEFAULT, PETSC_DEFAULT);
}

static PetscErrorCode Cases(void)
{
  CGDevSetup  u = Default();
  PetscMPIInt size;

  PetscFunctionBeginUser;
  u.configure = Refine;
  PetscCall(Compare("refinement", CONVECTION, MATAIJ, &u, NULL));
  u.configure = RefineIfNeeded;
  PetscCall(Compare("refinement if needed", CONVECTION, MATAIJ, &u, NULL));
  u.restart   = 5;
  u.configure = UserTest;
  PetscCall(Compare("a test of the program", CONVECTION, MATAIJ, &u, NULL));
  u.configure = Breakdown;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size)); /* on several processes, bits may agree by chance */
  if (size == 1) PetscCall(Compare("a breakdown at the restart", CONVECTION, MATAIJ, &u, NULL));
  u.configure = Monitor;
  u.side      = PC_RIGHT;
  u.norm      = KSP_NORM_UNPRECONDITIONED;
  PetscCall(Compare("a monitor that sees residuals", CONVECTION, MATAIJ, &u, NULL));
  PetscCall(CGDevTestCheck(worst < 1e-3, "a monitor that sees residuals", "they are not those of the norms"));
  u        = Default();
  u.max_it = 17;
  PetscCall(Compare("an end within a cycle", CONVECTION, MATAIJ, &u, NULL));
  PetscCall(CompareFor(ZERO, "a zero right-hand side", CONVECTION, MATAIJ, &u, NULL));
  u           = Default();
  u.configure = Loose;
  PetscCall(Compare("an end at iteration 0", CONVECTION, MATAIJ, &u, NULL));
  u.guess     = PETSC_TRUE;
  u.configure = KSPConvergedDefaultSetUIRNorm;
  PetscCall(Compare("tolerance of the initial norm", CONVECTION, MATAIJ, &u, NULL));
  u.configure = KSPConvergedDefaultSetUMIRNorm;
  PetscCall(Compare("tolerance of the smaller norm", CONVECTION, MATAIJ, &u, NULL));
  u = Default();
  PetscCall(Compare("a matrix that is not a number", NOT_A_NUMBER, MATAIJ, &u, NULL));
  PetscCall(CompareFor(IN_RANGE, "a singular matrix", SINGULAR, MATAIJ, &u, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fallbacks(void)
{
  CGDevSetup u = Default();

  PetscFunctionBeginUser;
  u.configure = Modified;
  PetscCall(Compare("modified Gram-Schmidt", CONVECTION, MATAIJ, &u, "classical"));
  u.configure = Eigenvalues;
  PetscCall(Compare("eigenvalues", CONVECTION, MATAIJ, &u, "eigenvalues"));
  u         = Default();
  u.restart = 1001;
  PetscCall(Compare("a long restart", CONVECTION, MATAIJ, &u, "1000"));
  u    = Default();
  u.pc = PCKACZMARZ;
  PetscCall(Compare("another preconditioner", CONVECTION, MATAIJ, &u, "kaczmarz"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Chunks(KSP ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDeviceSetMode(ksp, KSP_DEVICE_CHUNK));
  PetscCall(CGDevTestOption(ksp, "-ksp_gmresdevice_chunk", "3"));
  PetscCall(CGDevTestOption(ksp, "-ksp_gmresdevice_format", "rbp"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnHost(KSP ksp) { return KSPDeviceSetMode(ksp, KSP_DEVICE_HOST); }

/* PETSc's solver on the coarsest level; each cycle waits for it */
static PetscErrorCode CoarseByPetsc(KSP ksp)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-waits_mg_coarse_pc_type", "sor"));
  PetscCall(KSPSetOptionsPrefix(ksp, "waits_"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* It reads vectors that KSPGMRES alone has */
static PetscErrorCode KrylovMonitor(KSP ksp)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-draw_type", "null"));
  PetscCall(PetscOptionsSetValue(NULL, "-krylov_ksp_gmres_krylov_monitor", "1"));
  PetscCall(KSPSetOptionsPrefix(ksp, "krylov_"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver of another type ignores the settings */
static PetscErrorCode Sets(const char type[], const char pc[], PetscErrorCode (*configure)(KSP), const char view[])
{
  static CGDevOutcome got;
  CGDevSetup          u = Default();
  Mat                 A;
  KSP                 ksp;

  PetscFunctionBeginUser;
  u.pc        = pc;
  u.configure = configure;
  PetscCall(Matrix(CONVECTION, MATAIJ, &A));
  PetscCall(CGDevTestCreate(type, A, A, &u, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &u, &got));
  PetscCall(CGDevTestSays(ksp, type, view));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&got.x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the options database, with a prefix, and invalid values */
static PetscErrorCode FromOptions(void)
{
  PetscErrorCode error;
  KSP            ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-mine_ksp_gmresdevice_mode", "chunk"));
  PetscCall(PetscOptionsSetValue(NULL, "-mine_ksp_gmresdevice_chunk", "5"));
  PetscCall(PetscOptionsSetValue(NULL, "-mine_ksp_gmresdevice_format", "codsell"));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPGMRESDEVICE));
  PetscCall(KSPSetOptionsPrefix(ksp, "mine_"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(CGDevTestSays(ksp, "options with a prefix", "mode chunk, chunk 5, format codsell"));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  error = KSPDeviceSetMode(ksp, KSP_DEVICE_PERSISTENT);
  PetscCall(PetscPopErrorHandler());
  PetscCall(CGDevTestCheck(error == PETSC_ERR_ARG_OUTOFRANGE, "the mode of CG only", "no error"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Options(void)
{
  const PetscBool device = CGDevTestOnDevice();
  CGDevSetup      u      = Default();
  PetscMPIInt     size;

  PetscFunctionBeginUser;
  PetscCall(FromOptions());
  u.configure = Chunks;
  PetscCall(Compare("chunks", CONVECTION, MATAIJ, &u, NULL));
  PetscCall(Sets(KSPGMRESDEVICE, PCJACOBI, Chunks, "mode chunk, chunk 3, format rbp"));
  if (device) PetscCall(Sets(KSPGMRESDEVICE, PCJACOBI, Chunks, "matrix: a plan of this solver, format rbp"));
  PetscCall(Sets(KSPGMRESDEVICE, PCJACOBI, OnHost, "last solve by KSPGMRES: -ksp_gmresdevice_mode host"));
  PetscCall(Sets(KSPGMRESDEVICE, PCJACOBI, KrylovMonitor, "last solve by KSPGMRES: a monitor of the Krylov vectors"));
  PetscCall(Sets(KSPGMRES, PCJACOBI, Chunks, "type: gmres"));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (!device || size > 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Sets(KSPGMRESDEVICE, PCGAMG, NULL, "last solve on the device: graph"));
  PetscCall(Sets(KSPGMRESDEVICE, PCGAMG, CoarseByPetsc, "last solve on the device: chunk"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscPackInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sample", &sample, NULL));
  PetscCall(Table(MATAIJ, PCS));
  PetscCall(Table(MATAIJRBP, PCS));
  PetscCall(Repeats(PCPBJACOBI));
  PetscCall(Repeats(PCGAMG));
  PetscCall(Options());
  PetscCall(Cases());
  PetscCall(Fallbacks());
  if (size > 1) {
    first_empty = PETSC_TRUE;
    PetscCall(Table(MATAIJ, PCS - 1)); /* PCGAMG changes the distribution of rows on its levels */
  }
  return CGDevTestEnd();
}
