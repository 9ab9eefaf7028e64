/*
  renewal_test.c - PCSetUp() of PCGAMG with new values in the same pattern, on the device of the emulator, which counts: from
  the third such set-up on nothing is allocated there, nor of pinned memory; what was kept for that is given back with the
  hierarchy.

    renewal_test [-mat_aijfmt_device gpu]
*/
static const char help[] = "Counts what set-ups with new values allocate on the device.\n";

#include "cgdevice_test.h"

#include <spmv_emulator.h>

enum { STEPS = 5, FREE_FROM = 3 };

/* A way to solve, and a problem */
typedef struct {
  const char *name, *ksp, *pc, *gamg;
  PetscInt    side, unknowns; /* points along an edge of the cube, and unknowns of each */
} Row;

static const Row rows[] = {
    {"agg", KSPCG, PCGAMG, PCGAMGAGG, 6, 1},
    {"aggdevice", KSPCG, PCGAMG, PCGAMGAGGDEVICE, 6, 1},
    {"cgdevice, aggdevice", KSPCGDEVICE, PCGAMG, PCGAMGAGGDEVICE, 6, 1},
    {"fgmres, gamgdevice", KSPFGMRES, PCGAMGDEVICE, PCGAMGAGGDEVICE, 5, 3},
    {"cgdevice, aggdevice, values of A P beyond 4 MiB", KSPCGDEVICE, PCGAMG, PCGAMGAGGDEVICE, 13, 3},
};

/* A 27-point stencil on a cube; new values for each step */
static PetscErrorCode Fill(const Row *row, Mat A, int step)
{
  const PetscInt n = row->side, bs = row->unknowns;

  PetscFunctionBeginUser;
  for (PetscInt p = 0; p < n * n * n; p++)
    for (PetscInt d = 0; d < 27; d++) {
      const PetscInt x = p % n + d % 3 - 1, y = p / n % n + d / 3 % 3 - 1, z = p / n / n + d / 9 - 1;
      const PetscInt q = x + n * (y + n * z);

      if (x < 0 || y < 0 || z < 0 || x >= n || y >= n || z >= n) continue;
      for (PetscInt i = 0; i < bs; i++)
        for (PetscInt j = 0; j < bs; j++) {
          const PetscReal weight = (i == j ? 1 : (PetscReal)0.1) * (1 + (PetscReal)0.1 * (PetscReal)((p + q) % (2 + step)));

          PetscCall(MatSetValue(A, p * bs + i, q * bs + j, p == q ? (i == j ? 40 : (PetscReal)0.1) : -weight,
                                INSERT_VALUES));
        }
    }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(const Row *row, Mat *A, KSP *ksp)
{
  const PetscInt n = row->side * row->side * row->side * row->unknowns;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetBlockSize(*A, row->unknowns));
  PetscCall(MatSetType(*A, MATAIJRBP));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 27 * row->unknowns, NULL));
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetType(*ksp, row->ksp));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, row->pc));
  PetscCall(PCGAMGSetType(pc, row->gamg));
  PetscCall(PCGAMGSetReuseInterpolation(pc, PETSC_TRUE));
  PetscCall(PCGAMGSetCoarseEqLim(pc, 20));
  PetscCall(KSPSetOperators(*ksp, *A, *A));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Steps(const Row *row)
{
  char text[128];
  Mat  A;
  KSP  ksp;
  PC   pc;
  Vec  b, x;
  long set_up;

  PetscFunctionBeginUser;
  PetscCall(Create(row, &A, &ksp));
  PetscCall(Fill(row, A, 0));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(CGDevTestRightHandSide(b));
  PetscCall(KSPGetPC(ksp, &pc));
  for (int step = 0; step < STEPS; step++) {
    if (step > 0) PetscCall(Fill(row, A, step));
    (void)spmv_emulator_allocations();
    PetscCall(KSPSetUp(ksp));
    PetscCall(PCSetUp(pc));
    PetscCall(KSPSolve(ksp, b, x));
    set_up = spmv_emulator_allocations();
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, step %d: %ld\n", row->name, step, set_up));
    PetscCall(PetscSNPrintf(text, sizeof text, "%ld allocations in set-up %d", set_up, step));
    PetscCall(CGDevTestCheck((PetscBool)(step < FREE_FROM || set_up == 0), row->name, text));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  int status;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(rows); r++) PetscCall(Steps(&rows[r]));
  status = CGDevTestEnd();
  PetscCall(PetscFinalize());
  return status;
}
