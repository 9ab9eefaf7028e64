/*
  cgdevice_mixed.c - KSPCGDEVICE in mixed precision, for condition numbers from 1e2 to 1e12: the same reasons as KSPCG,
  true residuals within the tolerance, hardly more iterations; and double precision where it is necessary
*/
static const char help[] = "Tests KSPCGDEVICE in mixed precision.\n";

#include "cgdevice_test.h"

enum { DENSE_ROWS = 24 };

static PetscErrorCode Mixed(KSP ksp) { return KSPCGDeviceSetPrecision(ksp, KSP_CGDEVICE_MIXED); }

/* |b - A x| / |b| */
static PetscErrorCode TrueResidual(Mat A, Vec x, PetscReal *relative)
{
  PetscReal size;
  Vec       b, r;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &r, &b));
  PetscCall(CGDevTestRightHandSide(b));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(b, NORM_2, &size));
  PetscCall(VecNorm(r, NORM_2, relative));
  *relative /= size;
  PetscCall(TestDestroyVecs(&b, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* precision: mixed if the solve must end in mixed precision, double if either is allowed; most: largest ratio of
   iterations to those of KSPCG; reachable: the residual below which no solve can be expected to get */
static PetscErrorCode Compare(const char name[], Mat plain, Mat A, CGDevSetup setup, KSPCGDevicePrecision precision,
                              PetscInt most, PetscReal reachable, KSP *kept)
{
  static CGDevOutcome expected, got;
  const PetscBool     device = CGDevTestOnDevice();
  PetscReal           residual, plain_residual;
  char                text[256];
  KSP                 ksp;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestCreate(KSPCG, plain, plain, &setup, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &expected));
  PetscCall(KSPDestroy(&ksp));
  setup.configure = Mixed;
  PetscCall(CGDevTestCreate(KSPCGDEVICE, A, A, &setup, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &got));
  PetscCall(TrueResidual(plain, expected.x, &plain_residual));
  PetscCall(TrueResidual(plain, got.x, &residual));
  PetscCall(PetscSNPrintf(text, sizeof text,
                          "%" PetscInt_FMT " iterations, %s, %s, %" PetscInt_FMT
                          " corrections, residual %g; KSPCG %" PetscInt_FMT ", %s, %g",
                          got.iterations, KSPConvergedReasons[got.reason], KSPCGDevicePrecisions[got.info.precision],
                          got.info.corrections, (double)residual, expected.iterations,
                          KSPConvergedReasons[expected.reason], (double)plain_residual));
  PetscCall(CGDevTestCheck(got.reason == expected.reason, name, text));
  PetscCall(CGDevTestCheck(got.iterations <= most * expected.iterations + 10, name, text));
  PetscCall(CGDevTestCheck(got.count == got.iterations + 1 && got.norms[got.iterations] == got.rnorm, name,
                           "the history is not that of all iterations"));
  /* the reachable residual comes from rounding the matrix itself, and solves differ in how close they get */
  PetscCall(CGDevTestCheck(residual <= 3 * PetscMax(plain_residual, setup.rtol) + reachable, name, text));
  if (precision == KSP_CGDEVICE_MIXED)
    PetscCall(CGDevTestCheck(!device || got.info.precision == precision, name, text));
  PetscCall(CGDevTestCheck(!device || precision == KSP_CGDEVICE_DOUBLE || got.info.corrections > 0, name, text));
  if (setup.norm == KSP_NORM_UNPRECONDITIONED && device && precision == KSP_CGDEVICE_MIXED)
    PetscCall(CGDevTestCheck(residual <= (PetscReal)(1 + 1e-9) * setup.rtol, name, text));
  PetscCall(TestDestroyVecs(&expected.x, &got.x));
  if (kept) *kept = ksp;
  else PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMatrices(void)
{
  static const MatType types[] = {MATAIJ, MATAIJRBP, MATAIJCODSELL};
  char                 name[64];
  Mat                  A, plain;

  PetscFunctionBeginUser;
  for (int i = 0; i < CGDEV_MATRICES - 1; i++) { /* the last matrix is solved in one iteration */
    PetscCall(CGDevTestMatrix(i, MATAIJ, &plain));
    PetscCall(CGDevTestMatrix(i, types[i % 3], &A));
    for (int norm = KSP_NORM_PRECONDITIONED; norm <= KSP_NORM_NATURAL; norm++) {
      CGDevSetup setup = CGDevTestSetup();

      setup.norm = (KSPNormType)norm;
      setup.pc   = norm == KSP_NORM_NATURAL ? PCPBJACOBI : PCJACOBI;
      setup.rtol = (PetscReal)1e-13;
      PetscCall(PetscSNPrintf(name, sizeof name, "matrix %d, norm %d", i, norm));
      PetscCall(Compare(name, plain, A, setup, KSP_CGDEVICE_MIXED, 2, 0, NULL));
    }
    PetscCall(TestDestroyMats(&A, &plain));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* H D H with a reflection H, whose eigenvalues are those of D: 1 to 10^-exponent. Rounding changes each eigenvalue by
   about 1e-8, however small it is. KSPCG needs few iterations for so few distinct eigenvalues, and each restart costs
   as many again. */
static PetscErrorCode DenseMatrix(PetscInt exponent, Mat *A)
{
  PetscReal v[DENSE_ROWS], d[DENSE_ROWS], size = 0, middle = 0;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < DENSE_ROWS; i++) {
    d[i] = PetscPowReal(10, -(PetscReal)exponent * (PetscReal)i / (DENSE_ROWS - 1));
    v[i] = 1 + (PetscReal)0.5 * PetscSinReal((PetscReal)(3 * i));
    size += v[i] * v[i];
    middle += v[i] * d[i] * v[i];
  }
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, DENSE_ROWS, DENSE_ROWS, DENSE_ROWS, NULL, A));
  for (PetscInt i = 0; i < DENSE_ROWS; i++)
    for (PetscInt j = 0; j < DENSE_ROWS; j++) {
      const PetscReal rank_one = v[i] * v[j] * (4 * middle / (size * size) - 2 * (d[i] + d[j]) / size);

      PetscCall(MatSetValue(*A, i, j, rank_one + (i == j ? d[i] : 0), INSERT_VALUES));
    }
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestConditions(void)
{
  char name[64];
  Mat  A;

  PetscFunctionBeginUser;
  for (PetscInt exponent = 2; exponent <= 12; exponent += 2) {
    CGDevSetup setup = CGDevTestSetup();

    setup.pc     = PCNONE;
    setup.norm   = KSP_NORM_UNPRECONDITIONED;
    setup.rtol   = (PetscReal)1e-13;
    setup.max_it = CGDEV_NORMS - 1;
    PetscCall(PetscSNPrintf(name, sizeof name, "condition 1e%d", (int)exponent));
    PetscCall(DenseMatrix(exponent, &A));
    PetscCall(Compare(name, A, A, setup, exponent == 2 ? KSP_CGDEVICE_MIXED : KSP_CGDEVICE_DOUBLE, 12,
                      PetscPowReal(10, (PetscReal)exponent - 16), NULL));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After mixed precision was not enough, a matrix with the same pattern is solved in double precision from the start; a
   better matrix with another pattern uses mixed precision again */
static PetscErrorCode TestLaterSolves(void)
{
  CGDevSetup          setup = CGDevTestSetup();
  static CGDevOutcome again;
  Mat                 bad, good;
  KSP                 ksp;

  PetscFunctionBeginUser;
  setup.pc   = PCNONE;
  setup.norm = KSP_NORM_UNPRECONDITIONED;
  setup.rtol = (PetscReal)1e-12;
  PetscCall(DenseMatrix(10, &bad));
  PetscCall(CGDevTestMatrix(0, MATAIJ, &good));
  PetscCall(Compare("a bad matrix", bad, bad, setup, KSP_CGDEVICE_DOUBLE, 12, (PetscReal)1e-6, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &again));
  PetscCall(VecDestroy(&again.x));
  PetscCall(CGDevTestCheck(again.info.corrections == 0 && again.info.precision == KSP_CGDEVICE_DOUBLE,
                           "a bad matrix again", "mixed precision was tried again"));
  PetscCall(KSPReset(ksp));
  PetscCall(KSPSetOperators(ksp, good, good));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &again));
  PetscCall(VecDestroy(&again.x));
  if (CGDevTestOnDevice())
    PetscCall(
        CGDevTestCheck(again.info.precision == KSP_CGDEVICE_MIXED, "a good matrix", "mixed precision was not tried"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(TestDestroyMats(&bad, &good));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values are rounded again; graphs and plans are not made again */
static PetscErrorCode TestNewValues(void)
{
  CGDevSetup          setup = CGDevTestSetup();
  static CGDevOutcome first, second;
  PetscReal           residual;
  KSP                 ksp;
  Mat                 A;

  PetscFunctionBeginUser;
  setup.norm      = KSP_NORM_UNPRECONDITIONED;
  setup.rtol      = (PetscReal)1e-12;
  setup.configure = Mixed;
  PetscCall(CGDevTestMatrix(3, MATAIJ, &A));
  PetscCall(CGDevTestCreate(KSPCGDEVICE, A, A, &setup, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &first));
  PetscCall(CGDevTestFill(A, 2));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &second));
  PetscCall(TrueResidual(A, second.x, &residual));
  PetscCall(CGDevTestCheck(residual <= (PetscReal)(1 + 1e-9) * setup.rtol, "new values", "the residual"));
  PetscCall(CGDevTestCheck(second.info.graphs == first.info.graphs &&
                               second.info.conversions == first.info.conversions &&
                               second.info.precision == first.info.precision,
                           "new values", "something was made again"));
  PetscCall(TestDestroyVecs(&first.x, &second.x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Norms and tests without mixed precision, limits of iterations, a monitor that needs each iteration */
static PetscErrorCode Nothing(KSP ksp, PetscInt i, PetscReal norm, void *ctx)
{
  (void)ksp;
  (void)i;
  (void)norm;
  ++*(PetscInt *)ctx;
  return PETSC_SUCCESS;
}

static PetscErrorCode TestCases(void)
{
  static CGDevOutcome o;
  CGDevSetup          setup = CGDevTestSetup();
  PetscInt            seen  = 0;
  KSP                 ksp;
  Mat                 A;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestMatrix(0, MATAIJ, &A));
  setup.configure = Mixed;
  setup.norm      = KSP_NORM_NONE;
  setup.max_it    = 7; /* fewer than needed */
  PetscCall(CGDevTestCreate(KSPCGDEVICE, A, A, &setup, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &o));
  PetscCall(
      CGDevTestCheck(o.iterations == 7 && o.reason == KSP_CONVERGED_ITS && o.info.precision == KSP_CGDEVICE_DOUBLE,
                     "norm none", KSPConvergedReasons[o.reason]));
  PetscCall(VecDestroy(&o.x));
  PetscCall(KSPDestroy(&ksp));
  setup.norm = KSP_NORM_PRECONDITIONED;
  PetscCall(CGDevTestCreate(KSPCGDEVICE, A, A, &setup, &ksp));
  PetscCall(KSPMonitorSet(ksp, Nothing, &seen, NULL));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &o));
  PetscCall(CGDevTestCheck(o.iterations == 7 && o.reason == KSP_DIVERGED_ITS && seen == 8, "7 iterations",
                           KSPConvergedReasons[o.reason]));
  PetscCall(VecDestroy(&o.x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(CGDevTestCreate(KSPCGDEVICE, A, A, &setup, &ksp));
  PetscCall(KSPCGUseSingleReduction(ksp, PETSC_TRUE));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &o));
  if (CGDevTestOnDevice())
    PetscCall(CGDevTestSays(ksp, "single reduction", "double precision instead: -ksp_cg_single"));
  PetscCall(CGDevTestCheck((o.info.used != KSP_DEVICE_HOST) == CGDevTestOnDevice(), "single reduction", o.why));
  PetscCall(VecDestroy(&o.x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  if (sizeof(PetscReal) == sizeof(double)) {
    PetscCall(TestMatrices());
    PetscCall(TestConditions());
    PetscCall(TestLaterSolves());
    PetscCall(TestNewValues());
  }
  PetscCall(TestCases());
  return CGDevTestEnd();
}
