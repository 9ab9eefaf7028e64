/*
  setup_waits.c - how often the host waits for the emulated device in set-ups of PCGAMG of type aggdevice, by a solver that
  is not the matrix's first, so that the matrix has its plan already. A coarsened level costs the difference between a
  hierarchy and one with a level less.

    setup_waits -mat_aijfmt_decline 0 -mat_aijfmt_device gpu
*/
static const char help[] = "Counts waits of the host in set-ups of aggdevice.\n";

#include "cgdevice_test.h"

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

static PetscErrorCode Create(Mat A, PetscInt levels, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetType(*ksp, KSPCGDEVICE));
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
  PetscCall(Create(A, levels, &ksp));
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

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(rows); r++) PetscCall(Waits(&rows[r]));
  return CGDevTestEnd();
}
