/* plain_solve.c - a program that does not know petscpack: it solves a five-point problem of type aij with the solver that
   the options name, then again with other values, and prints both results */
#include <petscksp.h>

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

enum { N = 24 /* points in each direction */ };

static PetscErrorCode Fill(Mat A, PetscReal shift)
{
  PetscInt low, high;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &low, &high));
  for (PetscInt r = low; r < high; r++) {
    const PetscInt neighbour[] = {r % N > 0 ? r - 1 : -1, r % N < N - 1 ? r + 1 : -1, r - N,
                                  r + N < N * N ? r + N : -1};

    for (int k = 0; k < 4; k++)
      if (neighbour[k] >= 0) PetscCall(MatSetValue(A, r, neighbour[k], -1, INSERT_VALUES));
    PetscCall(MatSetValue(A, r, r, 4 + shift, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat A;
  Vec x, b;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, N * N, N * N, 5, NULL, 2, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetFromOptions(ksp));
  for (int solve = 1; solve <= 2; solve++) {
    KSPConvergedReason reason;
    PetscInt           iterations;
    PetscReal          norm;

    PetscCall(Fill(A, 0.1 * solve));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(VecNorm(x, NORM_2, &norm));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solve %d: reason %d, iterations %d, norm %.12e\n", solve, (int)reason,
                          (int)iterations, (double)norm));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
