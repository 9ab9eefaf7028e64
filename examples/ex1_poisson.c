static char help[] = "Poisson's equation on a square, solved with AIJ and with a packed type chosen in the program.\n\
  -n <100>       grid points in each direction\n\
  -type <aijrbp> the packed type\n\n";

/*
  What a program that links petscpack does differently from one that does not: it calls PetscPackInitializePackage(),
  after which the types are there without -dll_append, and it may set options by the functions of petscpack.h.
*/
#include <petscksp.h>
#include <petscpack.h>

/* The 5-point stencil on an n x n grid, rows in lexicographic order */
static PetscErrorCode AssemblePoisson(MPI_Comm comm, PetscInt n, MatType type, Mat *A)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt row = first; row < last; row++) {
    const PetscInt    i = row / n, j = row % n;
    const PetscInt    column[] = {i > 0 ? row - n : -1, j > 0 ? row - 1 : -1, row, j < n - 1 ? row + 1 : -1,
                               i < n - 1 ? row + n : -1};
    const PetscScalar value[]  = {-1, -1, 4, -1, -1};

    PetscCall(MatSetValues(*A, 1, &row, 5, column, value, INSERT_VALUES)); /* a negative column is ignored */
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Solves A x = A 1 and returns the iterations and the largest error of x */
static PetscErrorCode Solve(Mat A, PetscInt *iterations, PetscReal *error)
{
  KSP ksp;
  PC  pc;
  Vec x, b, ones;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &ones));
  PetscCall(VecSet(ones, 1));
  PetscCall(MatMult(A, ones, b));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(VecAXPY(x, -1, ones));
  PetscCall(VecNorm(x, NORM_INFINITY, error));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&ones));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat           A, P;
  PetscInt      n = 100, iterations[2];
  PetscReal     error[2];
  char          type[64] = MATAIJRBP;
  MatAIJFmtInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof type, NULL));

  PetscCall(AssemblePoisson(PETSC_COMM_WORLD, n, MATAIJ, &A));
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &P));
  PetscCall(MatAIJFmtSetOption(P, "decline", "false")); /* pack even if CSR would take fewer bytes */
  PetscCall(Solve(A, &iterations[0], &error[0]));
  PetscCall(Solve(P, &iterations[1], &error[1]));
  PetscCall(MatAIJFmtGetInfo(P, &info));

  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "aij: %d iterations, error %.1e\n", (int)iterations[0], (double)error[0]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%s: %d iterations, error %.1e, %.0f products, %.0f bytes where CSR has %.0f\n", type,
                        (int)iterations[1], (double)error[1], info.products, info.bytes, info.csr_bytes));
  PetscCheck(PetscAbsInt(iterations[0] - iterations[1]) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the types disagree");
  PetscCheck(info.fallbacks == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%.0f products were left to aij", info.fallbacks);
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&P));
  PetscCall(PetscFinalize());
  return 0;
}
