/*
  cgdevice_cases.c - compares KSPCGDEVICE with KSPCG in special cases: initial guesses, histories, monitors, convergence
  tests, all ways to end, and solves left to KSPCG. Without a device, and on several processes, KSPCG does all solves.
*/
static const char help[] = "Special cases of KSPCGDEVICE.\n";

#include "cgdevice_test.h"

#include <math.h>
#include <unistd.h>

/* ---- configurations of solvers ---- */

static PetscErrorCode ShortHistory(KSP ksp) { return KSPSetResidualHistory(ksp, NULL, 5, PETSC_TRUE); }
static PetscErrorCode NoHistory(KSP ksp) { return KSPSetResidualHistory(ksp, NULL, 1, PETSC_TRUE); }
static PetscErrorCode MaxIsSuccess(KSP ksp) { return KSPConvergedDefaultSetConvergedMaxits(ksp, PETSC_TRUE); }
static PetscErrorCode InitialNorm(KSP ksp) { return KSPConvergedDefaultSetUIRNorm(ksp); }
static PetscErrorCode CheckLate(KSP ksp) { return KSPSetCheckNormIteration(ksp, 6); }
static PetscErrorCode LongChunk(KSP ksp) { return CGDevTestOption(ksp, "-ksp_cgdevice_chunk", "17"); }
static PetscErrorCode Eigenvalues(KSP ksp) { return KSPSetComputeEigenvalues(ksp, PETSC_TRUE); }
static PetscErrorCode SingleReduction(KSP ksp) { return KSPCGUseSingleReduction(ksp, PETSC_TRUE); }
#if PETSC_VERSION_GE(3, 19, 0)
static PetscErrorCode SingleAndCurvature(KSP ksp)
{
  PetscFunctionBeginUser;
  PetscCall(SingleReduction(ksp));
  PetscCall(KSPSetConvergedNegativeCurvature(ksp, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
#if PETSC_VERSION_GE(3, 20, 0)
static PetscErrorCode AtLeastThirty(KSP ksp) { return KSPSetMinimumIterations(ksp, 30); }
static PetscErrorCode AtLeastFour(KSP ksp) { return KSPSetMinimumIterations(ksp, 4); }
#endif
static PetscErrorCode Single(KSP ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCGUseSingleReduction(ksp, PETSC_TRUE));
  PetscCall(KSPCGUseSingleReduction(ksp, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends after seven iterations, by a test that the engine does not have and that reads the solution */
static PetscErrorCode SevenIterations(KSP ksp, PetscInt it, PetscReal norm, KSPConvergedReason *reason, void *ctx)
{
  PetscReal length;
  Vec       x;

  PetscFunctionBeginUser;
  (void)ctx;
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(VecNorm(x, NORM_2, &length));
  *reason = it >= 7 && length > 0 && norm > 0 ? KSP_CONVERGED_ATOL : KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OwnTest(KSP ksp) { return KSPSetConvergenceTest(ksp, SevenIterations, NULL, NULL); }

/* ---- monitors ---- */

typedef struct {
  PetscInt  calls, wrong;
  PetscReal largest; /* difference between the norm of b - A x, or of the residual, and the reported norm */
} Seen;

static Seen seen;

/* Checks that iterations are in order, and that solution and residual match the norm */
static PetscErrorCode Look(KSP ksp, PetscInt it, PetscReal norm, void *ctx)
{
  PetscReal length;
  Mat       A;
  Vec       x, b, w, r;

  PetscFunctionBeginUser;
  (void)ctx;
  if (it != seen.calls++) seen.wrong++;
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(VecDuplicate(b, &w));
  PetscCall(MatMult(A, x, w));
  PetscCall(VecAYPX(w, -1, b));
  PetscCall(VecNorm(w, NORM_2, &length));
  seen.largest = PetscMax(seen.largest, PetscAbsReal(length - norm));
  PetscCall(KSPBuildResidual(ksp, NULL, w, &r));
  PetscCall(VecNorm(r, NORM_2, &length));
  seen.largest = PetscMax(seen.largest, PetscAbsReal(length - norm));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Watched(KSP ksp)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(&seen, sizeof seen));
  PetscCall(KSPMonitorSet(ksp, Look, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WatchedSingle(KSP ksp)
{
  PetscFunctionBeginUser;
  PetscCall(Watched(ksp));
  PetscCall(SingleReduction(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const char name[], Mat A, Mat plain, CGDevSetup setup, PetscErrorCode (*configure)(KSP),
                              const char host[])
{
  static const KSPDeviceMode modes[] = {KSP_DEVICE_CHUNK, KSP_DEVICE_GRAPH, KSP_DEVICE_PERSISTENT};
  char                       text[128];

  PetscFunctionBeginUser;
  setup.configure = configure;
  for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
    setup.mode = modes[m];
    PetscCall(PetscSNPrintf(text, sizeof text, "%s, mode %s", name, KSPDeviceModes[setup.mode]));
    PetscCall(CGDevTestCompare(text, plain, A, NULL, &setup, host));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ways to end, initial guesses and histories */
static PetscErrorCode Ends(Mat A, Mat plain)
{
  const CGDevSetup usual = CGDevTestSetup();
  CGDevSetup       few = usual, loose = usual, guess = usual, skip = usual;

  PetscFunctionBeginUser;
  few.max_it   = 5;
  loose.divtol = (PetscReal)1.01; /* without a preconditioner, this norm grows at first */
  loose.norm   = KSP_NORM_UNPRECONDITIONED;
  loose.pc     = PCNONE;
  guess.guess  = PETSC_TRUE;
  skip.norm    = KSP_NORM_NONE;
  skip.max_it  = 6;
  PetscCall(Compare("history of five", A, plain, usual, ShortHistory, NULL));
  PetscCall(Compare("history of one", A, plain, usual, NoHistory, NULL));
  PetscCall(Compare("nonzero guess", A, plain, guess, NULL, NULL));
  PetscCall(Compare("tolerance of the initial norm", A, plain, guess, InitialNorm, NULL));
  PetscCall(Compare("maximum of iterations", A, plain, few, NULL, NULL));
  PetscCall(Compare("maximum of iterations as success", A, plain, few, MaxIsSuccess, NULL));
  PetscCall(Compare("no norms", A, plain, skip, NULL, NULL));
  PetscCall(Compare("divergence", A, plain, loose, NULL, NULL));
  PetscCall(Compare("no test of the first norms", A, plain, usual, CheckLate, NULL));
  PetscCall(Compare("chunks of 17", A, plain, usual, LongChunk, NULL));
  PetscCall(Compare("own test", A, plain, usual, OwnTest, NULL));
  PetscCall(Compare("own test and few iterations", A, plain, few, OwnTest, NULL));
  PetscCall(Compare("single reduction on and off", A, plain, usual, Single, NULL));
  PetscCall(Compare("eigenvalues", A, plain, usual, Eigenvalues, "eigenvalues"));
  few.max_it = 0;
  PetscCall(Compare("no iterations", A, plain, few, NULL, "no iterations"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -ksp_cg_single_reduction on the device, with all preconditioners and norms that the engine has */
static PetscErrorCode SingleReductions(Mat A, Mat plain)
{
  static const char *const pcs[] = {PCNONE, PCJACOBI, PCPBJACOBI, PCGAMG};
  CGDevSetup               setup = CGDevTestSetup(), persistent = setup;
  PetscMPIInt              size;
  char                     name[128];

  PetscFunctionBeginUser;
  setup.configure = persistent.configure = SingleReduction;
  for (int norm = KSP_NORM_NONE; norm <= KSP_NORM_NATURAL; norm++)
    for (size_t p = 0; p < sizeof pcs / sizeof *pcs; p++)
      for (int mode = KSP_DEVICE_AUTO; mode <= KSP_DEVICE_GRAPH; mode++) {
        if (mode == KSP_DEVICE_HOST) continue;
        setup.norm   = (KSPNormType)norm;
        setup.pc     = pcs[p];
        setup.mode   = (KSPDeviceMode)mode;
        setup.max_it = norm == KSP_NORM_NONE ? 7 : 1000;
        PetscCall(PetscSNPrintf(name, sizeof name, "single reduction, %s, norm %d, mode %s", pcs[p], norm,
                                KSPDeviceModes[mode]));
        PetscCall(CGDevTestCompare(name, plain, A, NULL, &setup, NULL));
      }
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  persistent.mode = KSP_DEVICE_PERSISTENT; /* several processes use a graph or chunks instead */
  PetscCall(CGDevTestCompare("single reduction, persistent", plain, A, NULL, &persistent,
                             size > 1 ? NULL : "no single reduction"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_USE_LOG)
/* The reductions by MPI in a solve of that many iterations; nccl: whether NCCL did those of sums */
static PetscErrorCode Reductions(Mat A, PetscErrorCode (*configure)(KSP), PetscInt iterations, PetscLogDouble *count,
                                 PetscBool *nccl)
{
  static CGDevOutcome o;
  CGDevSetup          setup = CGDevTestSetup();
  KSP                 ksp;

  PetscFunctionBeginUser;
  setup.mode      = KSP_DEVICE_CHUNK;
  setup.max_it    = iterations;
  setup.configure = configure;
  PetscCall(CGDevTestCreate(KSPCGDEVICE, A, A, &setup, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &o)); /* sets up the solver */
  PetscCall(VecDestroy(&o.x));
  *count = petsc_allreduce_ct;
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &o));
  *count = petsc_allreduce_ct - *count;
  *nccl  = o.info.nccl;
  PetscCall(CGDevTestCheck(o.iterations == iterations && o.info.used == KSP_DEVICE_CHUNK, "reductions",
                           "the device did not do the iterations"));
  PetscCall(VecDestroy(&o.x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two sums or one in an iteration of several processes. One reduction more agrees on its end, because MPI waits; with
   NCCL there is none by MPI. */
static PetscErrorCode ReductionsOfIteration(Mat A)
{
  PetscErrorCode (*const configure[])(KSP) = {SingleReduction, NULL};
  PetscLogDouble few, more;
  PetscBool      nccl;
  PetscMPIInt    size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1 || !CGDevTestOnDevice()) PetscFunctionReturn(PETSC_SUCCESS);
  for (int sums = 1; sums <= 2; sums++) {
    PetscCall(Reductions(A, configure[sums - 1], 3, &few, &nccl));
    PetscCall(Reductions(A, configure[sums - 1], 4, &more, &nccl));
    PetscCall(CGDevTestCheck(more - few == (nccl ? 0 : sums + 1), sums == 1 ? "single reduction" : "two sums",
                             "another number of reductions in an iteration"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

#if PETSC_VERSION_GE(3, 20, 0)
/* A minimum number of iterations above and below the number that the tolerance needs, and above the maximum */
static PetscErrorCode Minimum(Mat A, Mat plain)
{
  CGDevSetup setup = CGDevTestSetup();

  PetscFunctionBeginUser;
  for (int norm = KSP_NORM_PRECONDITIONED; norm <= KSP_NORM_NATURAL; norm++) {
    setup.norm = (KSPNormType)norm;
    setup.rtol = (PetscReal)1e-1;
    PetscCall(Compare("more iterations than the tolerance needs", A, plain, setup, AtLeastThirty, NULL));
    setup.rtol = (PetscReal)1e-4;
    PetscCall(Compare("a minimum below what the tolerance needs", A, plain, setup, AtLeastFour, NULL));
  }
  setup.max_it = 5;
  PetscCall(Compare("a minimum above the maximum", A, plain, setup, AtLeastThirty, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode Monitors(Mat A, Mat plain)
{
  CGDevSetup setup = CGDevTestSetup();

  PetscFunctionBeginUser;
  setup.norm = KSP_NORM_UNPRECONDITIONED;
  setup.rtol = (PetscReal)1e-4;
  for (int single = 0; single < 2; single++) {
    const char *name = single ? "monitor of a single reduction" : "monitor";

    if (single) {
      setup.configure = WatchedSingle;
      setup.mode      = KSP_DEVICE_GRAPH;
      PetscCall(CGDevTestCompare(name, plain, A, NULL, &setup, NULL));
    } else PetscCall(Compare(name, A, plain, setup, Watched, NULL));
    PetscCall(CGDevTestCheck(seen.calls > 3 && !seen.wrong, name, "iterations out of order"));
    PetscCall(CGDevTestCheck(seen.largest < (sizeof(PetscReal) < 8 ? 1e-2 : 1e-8), name,
                             "the solution or the residual is not that of the norm"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers that -ksp_monitor writes to a file */
static PetscErrorCode Lines(KSPType type, Mat A, PetscReal norms[], int most, int *count)
{
  CGDevSetup            setup = CGDevTestSetup();
  static CGDevOutcome   o;
  PetscViewerAndFormat *vf;
  PetscViewer           viewer;
  char                  file[64];
  double                norm;
  FILE                 *f;
  KSP                   ksp;
  int                   it;

  PetscFunctionBeginUser;
  *count = 0;
  PetscCall(PetscSNPrintf(file, sizeof file, "cgdevice_cases_%d.txt", (int)getpid()));
  PetscCall(CGDevTestCreate(type, A, A, &setup, &ksp));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, file, &viewer));
  PetscCall(PetscViewerAndFormatCreate(viewer, PETSC_VIEWER_DEFAULT, &vf));
  PetscCall(KSPMonitorSet(ksp, (PetscErrorCode(*)(KSP, PetscInt, PetscReal, void *))KSPMonitorResidual, vf,
                          (PetscCtxDestroyFn *)PetscViewerAndFormatDestroy));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &o));
  PetscCall(VecDestroy(&o.x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscViewerDestroy(&viewer));
  f = fopen(file, "r");
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "no file of the monitor");
  while (*count < most && fscanf(f, "%d KSP Residual norm %lf", &it, &norm) == 2 && it == *count)
    norms[(*count)++] = (PetscReal)norm;
  PetscCheck(!fclose(f) && !remove(file), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "the file of the monitor");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On one process only, because several would read one file */
static PetscErrorCode MonitorOfNorms(Mat A, Mat plain)
{
  PetscReal   expected[500], got[500], largest = 0;
  PetscMPIInt size;
  int         n, m;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Lines(KSPCG, plain, expected, 500, &n));
  PetscCall(Lines(KSPCGDEVICE, A, got, 500, &m));
  for (int i = 0; i < PetscMin(n, m); i++)
    largest = PetscMax(largest, PetscAbsReal(expected[i] - got[i]) / expected[0]);
  PetscCall(CGDevTestCheck(n > 3 && PetscAbsInt(n - m) <= 1 && largest < 1e-3, "-ksp_monitor",
                           "lines differ from those of KSPCG"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- invalid right-hand sides, matrices and preconditioners ---- */

static PetscErrorCode RightHandSides(Mat A, Mat plain)
{
  CGDevSetup setup = CGDevTestSetup();
  Vec        b;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(plain, NULL, &b));
  for (int norm = KSP_NORM_PRECONDITIONED; norm <= KSP_NORM_NATURAL; norm++) {
    setup.norm = (KSPNormType)norm;
    PetscCall(VecSet(b, 0));
    PetscCall(CGDevTestCompare("zero right-hand side", plain, A, b, &setup, NULL));
    setup.guess = PETSC_TRUE;
    PetscCall(CGDevTestCompare("zero right-hand side and a guess", plain, A, b, &setup, NULL));
    setup.guess = PETSC_FALSE;
    PetscCall(VecSet(b, (PetscScalar)NAN));
    PetscCall(CGDevTestCompare("right-hand side that is not a number", plain, A, b, &setup, NULL));
  }
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets a diagonal entry in the middle of both matrices to value */
static PetscErrorCode SetDiagonal(Mat A, Mat plain, PetscScalar value)
{
  const Mat matrix[] = {A, plain};
  PetscInt  n, row;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  row = n / 2;
  for (int i = 0; i < 2; i++) {
    PetscCall(MatSetValues(matrix[i], 1, &row, 1, &row, &value, INSERT_VALUES));
    PetscCall(TestAssemble(matrix[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPCGDEVICE with A and P, KSPCG with the plain ones */
static PetscErrorCode IndefinitePreconditioner(Mat A, Mat plain)
{
  static CGDevOutcome expected, got;
  CGDevSetup          setup = CGDevTestSetup();
  KSP                 ksp;
  Mat                 P;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(plain, MAT_COPY_VALUES, &P));
  PetscCall(SetDiagonal(P, P, -1));
  PetscCall(CGDevTestCreate(KSPCG, plain, P, &setup, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &expected));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(CGDevTestCheck(expected.reason == KSP_DIVERGED_INDEFINITE_PC, "indefinite preconditioner",
                           "KSPCG does not mind"));
  for (int mode = KSP_DEVICE_CHUNK; mode <= KSP_DEVICE_PERSISTENT; mode++) {
    setup.mode = (KSPDeviceMode)mode;
    PetscCall(CGDevTestCreate(KSPCGDEVICE, A, P, &setup, &ksp));
    PetscCall(CGDevTestSolve(ksp, NULL, &setup, &got));
    PetscCall(CGDevTestAlike("indefinite preconditioner", &expected, &got));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&got.x));
  }
  PetscCall(VecDestroy(&expected.x));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BadMatrices(Mat A, Mat plain)
{
  CGDevSetup setup = CGDevTestSetup(), single = setup;

  PetscFunctionBeginUser;
  setup.pc         = PCNONE;
  single.pc        = PCNONE;
  single.configure = SingleReduction;
  PetscCall(SetDiagonal(A, plain, -30));
  PetscCall(Compare("indefinite matrix", A, plain, setup, NULL, NULL));
  PetscCall(CGDevTestCompare("indefinite matrix, single reduction", plain, A, NULL, &single, NULL));
  PetscCall(SetDiagonal(A, plain, (PetscScalar)NAN));
  PetscCall(Compare("matrix with an entry that is not a number", A, plain, setup, NULL, NULL));
  PetscCall(CGDevTestCompare("not a number, single reduction", plain, A, NULL, &single, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Features that the engine does not have are left to KSPCG */
static PetscErrorCode LeftToParent(Mat A, Mat plain)
{
  CGDevSetup   setup = CGDevTestSetup();
  MatNullSpace null_space;
  PetscMPIInt  size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  setup.pc = size > 1 ? PCBJACOBI : PCICC;
  PetscCall(Compare("other preconditioner", A, plain, setup, NULL, "preconditioner"));
  setup.pc = PCJACOBI;
#if PETSC_VERSION_GE(3, 19, 0)
  PetscCall(Compare("negative curvature", A, plain, setup, SingleAndCurvature, "negative curvature"));
#endif
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &null_space));
  PetscCall(MatSetNullSpace(A, null_space));
  PetscCall(MatSetNullSpace(plain, null_space));
  setup.max_it = 10;
  PetscCall(Compare("null space", A, plain, setup, NULL, "null space"));
  PetscCall(MatSetNullSpace(A, NULL));
  PetscCall(MatSetNullSpace(plain, NULL));
  PetscCall(MatNullSpaceDestroy(&null_space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode All(MatType type)
{
  Mat A, plain;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestMatrix(1, type, &A));
  PetscCall(CGDevTestMatrix(1, MATAIJ, &plain));
  PetscCall(Ends(A, plain));
#if PETSC_VERSION_GE(3, 20, 0)
  PetscCall(Minimum(A, plain));
#endif
  PetscCall(SingleReductions(A, plain));
#if defined(PETSC_USE_LOG)
  PetscCall(ReductionsOfIteration(A));
#endif
  PetscCall(Monitors(A, plain));
  PetscCall(MonitorOfNorms(A, plain));
  PetscCall(RightHandSides(A, plain));
  PetscCall(IndefinitePreconditioner(A, plain));
  PetscCall(LeftToParent(A, plain));
  PetscCall(BadMatrices(A, plain));
  PetscCall(TestDestroyMats(&A, &plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char type[32] = MATAIJ;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof type, NULL));
  PetscCall(All(type));
  return CGDevTestEnd();
}
