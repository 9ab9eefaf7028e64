/*
  golden_driver.c - an ordinary PETSc program: it links only PETSc and does not know the packed types. The golden tests
  compare its output with options that load and use these types.

    golden_driver [-n 12] [-repeat_initialize] [-unassembled]
*/
static const char help[] =
    "Assembles a tridiagonal matrix of blocks, multiplies, changes the values, and multiplies again.\n";

#include <petscmat.h>

/* Rows 3 i to 3 i + 2 couple three unknowns with each other and with those of the next block: runs of adjacent columns
 */
static PetscErrorCode Fill(Mat A, PetscInt n, PetscScalar factor)
{
  PetscInt low, high;

  PetscCall(MatGetOwnershipRange(A, &low, &high));
  for (PetscInt i = low; i < high; i++) {
    PetscInt first = 3 * (i / 3);

    for (PetscInt j = first; j < PetscMin(first + 6, n); j++)
      PetscCall(MatSetValue(A, i, j, factor * (PetscReal)(i + j + 1), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  return 0;
}

static PetscErrorCode Multiply(Mat A)
{
  Vec       x, y;
  PetscReal norm;

  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMultAdd(A, x, y, y));
  PetscCall(MatMultTranspose(A, x, y));
  PetscCall(VecNorm(y, NORM_1, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "norm %g\n", (double)norm));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  return 0;
}

static PetscErrorCode Work(void)
{
  Mat       A;
  PetscInt  n           = 12;
  PetscBool unassembled = PETSC_FALSE;

  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-unassembled", &unassembled, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSeqAIJSetPreallocation(A, 6, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 6, NULL, 6, NULL));
  if (unassembled) PetscCall(Multiply(A));
  PetscCall(Fill(A, n, 1));
  PetscCall(Multiply(A));
  PetscCall(Fill(A, n, 2));
  PetscCall(Multiply(A));
  PetscCall(MatViewFromOptions(A, NULL, "-final_view"));
  PetscCall(MatDestroy(&A));
  return 0;
}

int main(int argc, char **argv)
{
  PetscBool repeat = PETSC_FALSE;

  if (MPI_Init(&argc, &argv)) return 1; /* PETSc then leaves MPI running, so it can be initialized twice */
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-repeat_initialize", &repeat, NULL));
  PetscCall(Work());
  PetscCall(PetscFinalize());
  if (repeat) {
    PetscCall(PetscInitialize(&argc, &argv, NULL, help));
    PetscCall(Work());
    PetscCall(PetscFinalize());
  }
  return MPI_Finalize() ? 1 : 0;
}
