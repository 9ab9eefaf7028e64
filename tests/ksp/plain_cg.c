/* plain_cg.c - a program that does not know petscpack; it sets its solver type in its code, or with -leave keeps the
   default. The matrix is a chain of -n rows; with -last the last process has all of them. */
#include <petscksp.h>

int main(int argc, char **argv)
{
  Mat         A;
  Vec         x, b;
  KSP         ksp;
  PetscInt    low, high, mine = PETSC_DECIDE, n = 60;
  PetscMPIInt rank, size;
  PetscBool   leave, last;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-last", &last));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (last) mine = rank == size - 1 ? n : 0;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, mine, mine, n, n, 3, NULL, 1, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &low, &high));
  for (PetscInt i = low; i < high; i++)
    for (PetscInt j = PetscMax(i - 1, 0); j <= PetscMin(i + 1, n - 1); j++)
      PetscCall(MatSetValue(A, i, j, i == j ? 2.5 : -1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-leave", &leave));
  if (!leave) PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
