/*
  setup_waits.c - how often the host waits for the emulated device in set-ups of PCGAMG of type aggdevice, by a solver that
  is not the matrix's first, so that the matrix has its plan already. A coarsened level costs the difference between a
  hierarchy and one with a level less. And which work vectors set-ups and solves make: none, until the host solves. On two
  processes, waits in a product of matrices.

    setup_waits -mat_aijfmt_decline 0 -mat_aijfmt_device gpu
*/
static const char help[] = "Counts waits of the host in set-ups of aggdevice.\n";

#include "cgdevice_test.h"

#include <petsc/private/kspimpl.h>
#include <spmv_emulator.h>
#include <spmv_kernels.h>

/* A problem, and at most how many waits a set-up with three levels, a level more, and a set-up with new values take */
typedef struct {
  const char *name;
  PetscInt    side, unknowns; /* points along an edge of the square, and unknowns per point */
  int64_t     shared; /* the least bytes of an array that the host and the device share; -1: as for large matrices */
  long        three, level, renewed;
} Row;

static const Row rows[] = {
    {"scalar", 24, 1, -1, 43, 19, 6},
    {"scalar, large arrays", 24, 1, 0, 46, 20, 9},
    {"six motions", 9, 3, -1, 44, 19, 6},
    {"six motions, large arrays", 9, 3, 0, 47, 20, 9},
};

/* From 3.20 on, smoothers estimate eigenvalues again for new values */
static const long again = PETSC_VERSION_LT(3, 20, 0) ? 0 : 1;

typedef struct {
  PetscInt levels, coarsened; /* on the device */
  long     first, renewed;    /* waits */
} Outcome;

/* A 9-point stencil on a square. The larger the period, the more values differ. */
static PetscErrorCode Fill(const Row *row, Mat A, PetscInt period)
{
  const PetscInt n = row->side, bs = row->unknowns;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 9 * n * n; k++) {
    const PetscInt  p = k / 9, x = p % n + k % 3 - 1, y = p / n + k / 3 % 3 - 1, q = x + n * y;
    const PetscReal coupling = -1 - (PetscReal)0.1 * (PetscReal)((p + q) % period);

    if (x < 0 || y < 0 || x >= n || y >= n) continue;
    for (PetscInt i = 0; i < bs * bs; i++) {
      const PetscReal weight = i / bs == i % bs ? 1 : (PetscReal)0.1;

      PetscCall(MatSetValue(A, p * bs + i / bs, q * bs + i % bs, weight * (p == q ? 12 : coupling), INSERT_VALUES));
    }
  }
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rigid motions of the points if there are three unknowns each */
static PetscErrorCode SetNearNullSpace(const Row *row, Mat A)
{
  MatNullSpace motions;
  Vec          points;

  PetscFunctionBeginUser;
  if (row->unknowns != 3) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CGDevTestPlaces(A, row->side, &points));
  PetscCall(MatNullSpaceCreateRigidBody(points, &motions));
  PetscCall(MatSetNearNullSpace(A, motions));
  PetscCall(MatNullSpaceDestroy(&motions));
  PetscCall(VecDestroy(&points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(KSPType type, Mat A, PetscInt levels, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetType(pc, PCGAMGAGGDEVICE));
  PetscCall(PCGAMGSetReuseInterpolation(pc, PETSC_TRUE));
  PetscCall(PCGAMGSetAggressiveLevels(pc, 0));
  PetscCall(PCGAMGSetCoarseEqLim(pc, 1));
  PetscCall(PCGAMGSetNlevels(pc, levels));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The waits of a set-up. No set-up waits for the device, as it does to free memory. */
static PetscErrorCode SetUp(const Row *row, KSP ksp, long *waits)
{
  long frees;

  PetscFunctionBeginUser;
  (void)spmv_emulator_waits();
  (void)spmv_emulator_device_waits();
  PetscCall(KSPSetUp(ksp));
  *waits = spmv_emulator_waits();
  frees  = spmv_emulator_device_waits();
  PetscCall(CGDevTestCheck(frees == 0, row->name, "a set-up waits to free memory"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two set-ups of a new solver, with the matrix's values and with new ones */
static PetscErrorCode Count(const Row *row, Mat A, PetscInt levels, Outcome *o)
{
  PCGAMGAggDeviceInfo info;
  KSP                 ksp;
  PC                  pc;

  PetscFunctionBeginUser;
  PetscCall(Create(KSPCGDEVICE, A, levels, &ksp));
  PetscCall(SetUp(row, ksp, &o->first));
  PetscCall(Fill(row, A, 3));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(SetUp(row, ksp, &o->renewed));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &o->levels));
  PetscCall(PCGAMGAggDeviceGetInfo(pc, &info));
  o->coarsened = info.levels_device;
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AtMost(const Row *row, const char what[], long waits, long most)
{
  char text[128];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(text, sizeof text, "%s: %ld waits, at most %ld expected", what, waits, most));
  PetscCall(PetscInfo(NULL, "%s, %s\n", row->name, text));
  PetscCall(CGDevTestCheck(waits <= most, row->name, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Waits(const Row *row)
{
  const PetscInt n = row->side * row->side * row->unknowns;
  Outcome        plan, three, four;
  Mat            A;

  PetscFunctionBeginUser;
  spmv_shared_least(row->shared);
  PetscCall(TestCreate(PETSC_COMM_SELF, MATAIJRBP, n, n, n, n, row->unknowns, 9 * row->unknowns, &A));
  PetscCall(SetNearNullSpace(row, A));
  PetscCall(Fill(row, A, 2));
  PetscCall(Count(row, A, 3, &plan)); /* the first solver makes the plan */
  PetscCall(Count(row, A, 3, &three));
  PetscCall(Count(row, A, 4, &four));
  PetscCall(CGDevTestCheck(three.levels == 3 && four.levels == 4 && three.coarsened == 2 && four.coarsened == 3,
                           row->name, "not three and four levels made on the device"));
  PetscCall(AtMost(row, "three levels", three.first, row->three));
  PetscCall(AtMost(row, "a level more", four.first - three.first, row->level));
  PetscCall(AtMost(row, "new values", four.renewed, row->renewed + again * four.coarsened));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On two processes an estimate takes the plans of both blocks, which are up to date after a product: the values of the
   off-diagonal block are not copied again */
static PetscErrorCode PlansServe(const Row *row)
{
  const PetscInt         n = row->side * row->side * row->unknowns;
  KSPChebyshevDeviceInfo info;
  MatInfo                size;
  Mat                    A, block;
  KSP                    ksp;
  PC                     pc;
  Vec                    x, y;
  size_t                 bytes;
  long                   copies;

  PetscFunctionBeginUser;
  PetscCall(
      TestCreate(PETSC_COMM_WORLD, MATAIJRBP, PETSC_DECIDE, PETSC_DECIDE, n, n, row->unknowns, 9 * row->unknowns, &A));
  PetscCall(Fill(row, A, 2));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatMult(A, x, y));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCHEBYSHEV));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &block, NULL));
  PetscCall(MatGetInfo(block, MAT_LOCAL, &size));
  bytes  = (size_t)size.nz_used * sizeof(PetscScalar);
  copies = spmv_emulator_copies(bytes);
  PetscCall(KSPSetUp(ksp));
  copies = spmv_emulator_copies(bytes) - copies;
  PetscCall(CGDevTestCheck(copies == 0, row->name, "an estimate copies the off-diagonal block"));
  PetscCall(KSPChebyshevDeviceGetInfo(ksp, &info));
  PetscCall(CGDevTestCheck(info.device == 1 && info.petsc == 0, row->name, "no estimate on the device"));
  PetscCall(TestDestroyVecs(&x, &y));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of other processes: a product of parallel matrices fetches their lengths, and then columns and values at once; with
   new values the values alone. The other waits are those of sequential products and of the list of coordinates. */
static PetscErrorCode RowsOfOthers(const Row *row)
{
  const PetscInt n = row->side * row->side;
  Mat            A, C;

  PetscFunctionBeginUser;
  PetscCall(TestCreate(PETSC_COMM_WORLD, MATAIJRBP, PETSC_DECIDE, PETSC_DECIDE, n, n, 1, 9, &A));
  PetscCall(Fill(row, A, 2));
  for (int again = 0; again < 3; again++) {
    (void)spmv_emulator_waits();
    if (again < 2) PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C)); /* the first one uploads A */
    else PetscCall(MatMatMult(A, A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    if (again > 0)
      PetscCall(AtMost(row, again == 1 ? "a product" : "its new values", spmv_emulator_waits(), again == 1 ? 22 : 4));
    if (again == 1) PetscCall(Fill(row, A, 3));
    else PetscCall(MatDestroy(&C));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- work vectors ---- */

/* Whether the solver and its smoothers have work vectors */
static PetscErrorCode VectorsAre(KSP ksp, PetscBool of_solver, PetscBool of_smoothers, const char when[])
{
  PetscInt levels;
  KSP      smoother;
  PC       pc;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestCheck(of_solver == (ksp->work ? PETSC_TRUE : PETSC_FALSE), when, "work vectors of the solver"));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &levels));
  PetscCall(CGDevTestCheck(levels > 2, when, "too few levels"));
  for (PetscInt i = 1; i < levels; i++) {
    PetscCall(PCMGGetSmoother(pc, i, &smoother));
    PetscCall(CGDevTestCheck(of_smoothers == (smoother->work ? PETSC_TRUE : PETSC_FALSE), when,
                             "work vectors of a smoother"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A set-up alone makes no object: each has a number one larger than the last */
static PetscErrorCode SetUpMakesNothing(KSPType type, Mat A)
{
  PetscContainer probe[2];
  PetscObjectId  id[2];
  KSP            ksp;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(PCSetUp(pc));
  for (int i = 0; i < 2; i++) {
    if (i > 0) PetscCall(KSPSetUp(ksp));
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &probe[i]));
    PetscCall(PetscObjectGetId((PetscObject)probe[i], &id[i]));
  }
  PetscCall(CGDevTestCheck(id[1] == id[0] + 1, type, "a set-up makes objects"));
  for (int i = 0; i < 2; i++) PetscCall(PetscContainerDestroy(&probe[i]));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SameBits(Vec x, Vec y, KSPType type, const char what[])
{
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(VecEqual(x, y, &same));
  PetscCall(CGDevTestCheck(same, type, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The residual after a solve on the device, which begins with the right-hand side, and that b is unchanged */
static PetscErrorCode Residual(KSP ksp, KSPType type, Vec b, Vec x)
{
  PetscReal difference, size;
  Vec       r, expected;
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(VecDuplicate(b, &expected));
  PetscCall(CGDevTestRightHandSide(expected));
  PetscCall(SameBits(b, expected, type, "the solve changed the right-hand side"));
  PetscCall(KSPBuildResidual(ksp, NULL, NULL, &r));
  PetscCall(MatMult(A, x, expected));
  PetscCall(VecAYPX(expected, -1, b));
  PetscCall(TestDistance(r, expected, NORM_2, &difference, &size));
  PetscCall(VecNorm(b, NORM_2, &size));
  PetscCall(CGDevTestCheck(difference <= 1000 * PETSC_MACHINE_EPSILON * size, type, "another residual"));
  PetscCall(SameBits(b, ksp->vec_rhs, type, "the residual lies in the right-hand side"));
  PetscCall(CGDevTestRightHandSide(expected));
  PetscCall(SameBits(b, expected, type, "the residual overwrote the right-hand side"));
  PetscCall(TestDestroyVecs(&r, &expected));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cycle and a solve by PETSc after those of the device */
static PetscErrorCode HostSolves(KSP ksp, KSPType type, KSPType plain, Vec b, Vec x)
{
  KSPDeviceInfo info;
  KSP           other;
  PC            pc;
  Mat           A;
  Vec           y;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(PCApply(pc, b, x));
  PetscCall(VectorsAre(ksp, PETSC_FALSE, PETSC_TRUE, "cycle by PETSc"));
  PetscCall(PCApply(pc, b, y));
  PetscCall(SameBits(x, y, type, "another cycle with new vectors"));
  PetscCall(KSPDeviceSetMode(ksp, KSP_DEVICE_HOST));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPDeviceGetInfo(ksp, &info));
  PetscCall(CGDevTestCheck(info.solves_host == 1 && info.solves_device == 2, type, "not solved where expected"));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &other));
  PetscCall(KSPSetType(other, plain));
  PetscCall(KSPSetOperators(other, A, A));
  PetscCall(KSPSetPC(other, pc));
  PetscCall(KSPSolve(other, b, y));
  PetscCall(SameBits(x, y, type, "another solution than PETSc's"));
  PetscCall(KSPDestroy(&other));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Vectors(KSPType type, KSPType plain)
{
  const Row     *row = &rows[0];
  const PetscInt n   = row->side * row->side;
  Mat            A;
  Vec            b, x;
  KSP            ksp;

  PetscFunctionBeginUser;
  PetscCall(TestCreate(PETSC_COMM_WORLD, MATAIJRBP, PETSC_DECIDE, PETSC_DECIDE, n, n, 1, 9, &A));
  PetscCall(Fill(row, A, 2));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(CGDevTestRightHandSide(b));
  PetscCall(SetUpMakesNothing(type, A));
  PetscCall(Create(type, A, 3, &ksp));
  for (PetscInt step = 0; step < 2; step++) {
    if (step > 0) PetscCall(Fill(row, A, 3));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetUp(ksp));
    PetscCall(VectorsAre(ksp, PETSC_FALSE, PETSC_FALSE, "set-up"));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(Residual(ksp, type, b, x));
    PetscCall(VectorsAre(ksp, PETSC_FALSE, PETSC_FALSE, "solve"));
  }
  PetscCall(HostSolves(ksp, type, plain, b, x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(TestDestroyVecs(&b, &x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(rows) && size == 1; r++) PetscCall(Waits(&rows[r]));
  if (size == 2) PetscCall(PlansServe(&rows[0]));
  if (size == 2) PetscCall(RowsOfOthers(&rows[0]));
  PetscCall(Vectors(KSPCGDEVICE, KSPCG));
  PetscCall(Vectors(KSPGMRESDEVICE, KSPGMRES));
  return CGDevTestEnd();
}
