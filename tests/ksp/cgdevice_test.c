/* Functions shared by the tests of KSPCGDEVICE: see cgdevice_test.h. */
#include "cgdevice_test.h"

#include "gen.h"

#include <string.h>

static PetscInt checks, failures;

static GenSpec SpecOf(int i, PetscInt *block)
{
  static const PetscInt blocks[CGDEV_MATRICES] = {1, 1, 3, 3, 2, 1};

  *block = blocks[i];
  switch (i) {
  case 0:
    return gen_stencil(7, 7, 5, 4);
  case 1:
    return gen_stencil(5, 16, 15, 1);
  case 2:
    return gen_elasticity_hex(4, 4, 3);
  case 3:
    return gen_tetrahedra(4, GEN_P1, GEN_NATURAL, 3);
  case 4:
    return gen_mesh(9, 8, 7, 1, "2");
  default:
    return gen_diagonal(1);
  }
}

/* A number between 0.1 and 1.1 for each pair of unknowns, the same for (a, b) and (b, a) */
static PetscReal Coupling(PetscInt a, PetscInt b, PetscReal scale)
{
  const double low = (double)PetscMin(a, b), high = (double)PetscMax(a, b), mixed = 12.9898 * low + 78.233 * high;

  return (PetscReal)(0.1 + PetscAbsReal((PetscReal)sin(mixed * (double)scale)));
}

static PetscReal ScaleOf(PetscInt row) { return (PetscReal)(1 + 0.3 * (double)(row % 5)); }

PetscErrorCode CGDevTestFill(Mat A, PetscReal scale)
{
  PetscInt low, high;
  Mat      copy; /* MatGetRow() needs an assembled matrix */

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &copy));
  PetscCall(MatGetOwnershipRange(A, &low, &high));
  for (PetscInt row = low; row < high; row++) {
    const PetscInt *pattern;
    PetscInt        n, col[512];
    PetscScalar     value[512];
    PetscReal       diagonal = 1;

    PetscCall(MatGetRow(copy, row, &n, &pattern, NULL));
    for (PetscInt k = 0; k < n; k++) {
      const PetscReal coupling = Coupling(row, pattern[k], scale);

      col[k]   = pattern[k];
      value[k] = -coupling * ScaleOf(row) * ScaleOf(col[k]);
      if (col[k] != row) diagonal += coupling;
    }
    for (PetscInt k = 0; k < n; k++)
      if (col[k] == row) value[k] = diagonal * ScaleOf(row) * ScaleOf(row);
    PetscCall(MatRestoreRow(copy, row, NULL, &pattern, NULL));
    PetscCall(MatSetValues(A, 1, &row, n, col, value, INSERT_VALUES));
  }
  PetscCall(TestAssemble(A));
  PetscCall(MatDestroy(&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevTestMatrix(int i, MatType type, Mat *A)
{
  PetscInt      block;
  const GenSpec spec = SpecOf(i, &block);
  SpmvPattern   pattern;

  PetscFunctionBeginUser;
  PetscCheck(!gen_pattern(&spec, SPMV_I32, &pattern), PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for a matrix");
  PetscCall(TestCreate(PETSC_COMM_WORLD, type, PETSC_DECIDE, PETSC_DECIDE, (PetscInt)pattern.rows,
                       (PetscInt)pattern.cols, block, 128, A));
  for (PetscInt row = 0; row < (PetscInt)pattern.rows; row++)
    for (int32_t k = ((const int32_t *)pattern.row_ptr)[row]; k < ((const int32_t *)pattern.row_ptr)[row + 1]; k++)
      PetscCall(MatSetValue(*A, row, ((const int32_t *)pattern.col)[k], 0, INSERT_VALUES));
  PetscCall(TestAssemble(*A));
  gen_pattern_free(&pattern);
  PetscCall(CGDevTestFill(*A, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevTestStencil(Mat A, PetscInt side, PetscInt unknowns, PetscReal factor, PetscReal amount,
                                PetscInt period)
{
  const PetscInt n = side, bs = unknowns;

  PetscFunctionBeginUser;
  for (PetscInt p = 0; p < n * n * n; p++)
    for (PetscInt d = 0; d < 27; d++) {
      const PetscInt x = p % n + d % 3 - 1, y = p / n % n + d / 3 % 3 - 1, z = p / n / n + d / 9 - 1;
      const PetscInt q = x + n * (y + n * z);

      if (x < 0 || y < 0 || z < 0 || x >= n || y >= n || z >= n) continue;
      for (PetscInt i = 0; i < bs; i++)
        for (PetscInt j = 0; j < bs; j++) {
          const PetscReal weight = (i == j ? 1 : (PetscReal)0.1) * (1 + amount * (PetscReal)((p + q) % period));

          PetscCall(MatSetValue(A, p * bs + i, q * bs + j, factor * (p == q ? (i == j ? 40 : (PetscReal)0.1) : -weight),
                                INSERT_VALUES));
        }
    }
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevTestPlaces(Mat A, PetscInt side, Vec *points)
{
  PetscScalar *place;
  PetscInt     first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, points, NULL));
  PetscCall(VecSetBlockSize(*points, 3));
  PetscCall(VecGetOwnershipRange(*points, &first, &last));
  PetscCall(VecGetArrayWrite(*points, &place));
  for (PetscInt p = first / 3; p < last / 3; p++, place += 3) {
    place[0] = (PetscScalar)(p % side);
    place[1] = (PetscScalar)(p / side % side);
    place[2] = (PetscScalar)(p / side / side);
  }
  place -= last - first;
  PetscCall(VecRestoreArrayWrite(*points, &place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

CGDevSetup CGDevTestSetup(void)
{
  return (CGDevSetup){.pc     = PCJACOBI,
                      .norm   = KSP_NORM_PRECONDITIONED,
                      .mode   = KSP_DEVICE_GRAPH,
                      .rtol   = (PetscReal)(sizeof(PetscReal) < 8 ? 1e-4 : 1e-8),
                      .divtol = (PetscReal)1e10,
                      .max_it = 1000};
}

PetscErrorCode CGDevTestCreate(KSPType type, Mat A, Mat P, const CGDevSetup *setup, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOperators(*ksp, A, P));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPDeviceSetMode(*ksp, setup->mode));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, setup->pc));
  if (setup->restart) {
    PetscCall(KSPSetPCSide(*ksp, setup->side));
    PetscCall(KSPGMRESSetRestart(*ksp, setup->restart));
  }
  PetscCall(KSPSetNormType(*ksp, setup->norm));
  if (setup->norm == KSP_NORM_NONE) PetscCall(KSPSetConvergenceTest(*ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetTolerances(*ksp, setup->rtol, (PetscReal)1e-50, setup->divtol, setup->max_it));
  PetscCall(KSPSetInitialGuessNonzero(*ksp, setup->guess));
  PetscCall(KSPSetResidualHistory(*ksp, NULL, CGDEV_NORMS, PETSC_TRUE));
  if (setup->configure) PetscCall(setup->configure(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillVec(Vec v, PetscReal frequency)
{
  PetscInt low, high;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &low, &high));
  for (PetscInt i = low; i < high; i++)
    PetscCall(VecSetValue(v, i, 1 + PetscSinReal(frequency * (PetscReal)i), INSERT_VALUES));
  PetscCall(TestAssembleVec(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevTestRightHandSide(Vec b) { return FillVec(b, (PetscReal)0.7); }

PetscErrorCode CGDevTestSolve(KSP ksp, Vec b, const CGDevSetup *setup, CGDevOutcome *o)
{
  const PetscReal *norms;
  PetscBool        ours;
  Mat              A;
  Vec              own;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &o->x, &own));
  PetscCall(CGDevTestRightHandSide(own));
  if (setup->guess) PetscCall(FillVec(o->x, (PetscReal)0.3));
  else PetscCall(VecSet(o->x, 0));
  PetscCall(KSPSolve(ksp, b ? b : own, o->x));
  PetscCall(VecDestroy(&own));
  PetscCall(KSPGetIterationNumber(ksp, &o->iterations));
  PetscCall(KSPGetConvergedReason(ksp, &o->reason));
  PetscCall(KSPGetResidualNorm(ksp, &o->rnorm));
  PetscCall(KSPGetResidualHistory(ksp, &norms, &o->count));
  PetscCall(PetscArraycpy(o->norms, norms, o->count));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPCGDEVICE, &ours));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPDeviceGetInfo(ksp, &o->info));
  PetscCall(PetscStrncpy(o->why, o->info.reason, sizeof o->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool CGDevTestOnDevice(void) { return spmv_device_count(NULL) > 0 ? PETSC_TRUE : PETSC_FALSE; }

PetscErrorCode CGDevTestOption(KSP ksp, const char option[], const char value[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, option, value));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscOptionsClearValue(NULL, option));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevTestSays(KSP ksp, const char name[], const char text[])
{
  char view[TEST_VIEW], what[300];

  PetscFunctionBeginUser;
  PetscCall(TestView((PetscObject)ksp, PETSC_VIEWER_DEFAULT, view));
  PetscCall(PetscSNPrintf(what, sizeof what, "the view does not say \"%s\"", text));
  PetscCall(CGDevTestCheck(strstr(view, text) != NULL, name, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevTestCheck(PetscBool right, const char name[], const char what[])
{
  PetscFunctionBeginUser;
  checks++;
  if (!right) {
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", name, what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevTestAlike(const char name[], const CGDevOutcome *expected, const CGDevOutcome *got)
{
  const PetscReal tolerance = sizeof(PetscReal) < 8 ? (PetscReal)0.05 : (PetscReal)1e-5;
  PetscInt        n         = PetscMin(expected->count, got->count);
  PetscReal       largest, difference;
  PetscBool       same = PETSC_TRUE;
  char            text[128];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(text, sizeof text, "%" PetscInt_FMT " iterations and %s, KSPCG %" PetscInt_FMT " and %s",
                          got->iterations, KSPConvergedReasons[got->reason], expected->iterations,
                          KSPConvergedReasons[expected->reason]));
  PetscCall(CGDevTestCheck(PetscAbsInt(got->iterations - expected->iterations) <= 1, name, text));
  PetscCall(CGDevTestCheck(got->reason == expected->reason, name, text));
  PetscCall(CGDevTestCheck(PetscAbsInt(got->count - expected->count) <= 1, name, "the history's length"));
  for (PetscInt i = 0; i < n; i++)
    if (PetscAbsReal(got->norms[i] - expected->norms[i]) >
        tolerance * (expected->norms[i] + (PetscReal)0.1 * expected->norms[0]))
      same = PETSC_FALSE;
  PetscCall(CGDevTestCheck(same, name, "the history of norms differs"));
  PetscCall(TestDistance(got->x, expected->x, NORM_INFINITY, &difference, &largest));
  if (sizeof(PetscReal) < 8) largest = PetscMax(largest, (PetscReal)0.01); /* the exact solution is zero */
  PetscCall(
      CGDevTestCheck(difference <= tolerance * largest || PetscIsInfOrNanReal(largest), name, "the solution differs"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevTestEvent(const char name[], int *count)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId(name, &event));
  PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
  *count = info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -expect_nccl: whether NCCL serves solves on the device */
PetscErrorCode CGDevTestNccl(const char name[], PetscBool nccl)
{
  PetscBool expected, asked;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-expect_nccl", &expected, &asked));
  if (asked) PetscCall(CGDevTestCheck(nccl == expected, name, nccl ? "NCCL served" : "NCCL did not serve"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevTestBoth(const char name[], KSP plain, KSP ksp, Vec b, const CGDevSetup *setup, CGDevOutcome *got)
{
  static CGDevOutcome expected;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestSolve(plain, b, setup, &expected));
  PetscCall(CGDevTestSolve(ksp, b, setup, got));
  PetscCall(CGDevTestAlike(name, &expected, got));
  PetscCall(TestDestroyVecs(&expected.x, &got->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevTestCompare(const char name[], Mat plain, Mat A, Vec b, const CGDevSetup *setup, const char host[])
{
  static CGDevOutcome expected, got;
  const PetscBool     device = host ? PETSC_FALSE : CGDevTestOnDevice();
  char                text[400];
  KSP                 ksp;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestCreate(KSPCG, plain, plain, setup, &ksp));
  PetscCall(CGDevTestSolve(ksp, b, setup, &expected));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(CGDevTestCreate(KSPCGDEVICE, A, A, setup, &ksp)); /* now, as configure may reset what a monitor saw */
  PetscCall(CGDevTestSolve(ksp, b, setup, &got));
  PetscCall(PetscSNPrintf(text, sizeof text, "solved in mode %s: %s", KSPDeviceModes[got.info.used], got.why));
  PetscCall(CGDevTestCheck((got.info.used != KSP_DEVICE_HOST) == device, name, text));
  PetscCall(CGDevTestCheck((got.why[0] == 0) == device, name, text));
  PetscCall(CGDevTestCheck(!got.info.nccl || device, name, "NCCL served a solve on the host"));
  if (device) PetscCall(CGDevTestNccl(name, got.info.nccl));
  if (host && CGDevTestOnDevice()) PetscCall(CGDevTestCheck(strstr(got.why, host) != NULL, name, text));
  PetscCall(CGDevTestAlike(name, &expected, &got));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(TestDestroyVecs(&expected.x, &got.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int CGDevTestEnd(void)
{
  PetscErrorCode ierr =
      PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " checks, %" PetscInt_FMT " failed\n", checks, failures);

  if (PetscFinalize()) return 1;
  return ierr || failures || !checks ? 1 : 0;
}
