/*
  ksp_refresh.c - solves with changing matrices, as in a nonlinear iteration or a time loop: new values in the same
  pattern must refresh the packed arrays without rebuilding them, a new pattern must rebuild them, and the solutions
  must be those of aij
*/
static const char help[] = "Counts conversions and refreshes of packed types in a loop of solves.\n";

#include "ksp_problem.h"

#include <spmv_kernels.h>

enum { NX = 17, NY = 13, STEPS = 5 };

/* Difference between the solutions with A and with the plain matrix of the same entries */
static PetscErrorCode SolveBoth(Mat A, Mat plain, PetscReal *error)
{
  const Mat matrix[2] = {A, plain};
  PetscReal size;
  Vec       x[2], b;
  KSP       ksp;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(KspProblemVecs(matrix[k], &x[k], &b));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, matrix[k], matrix[k]));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetTolerances(ksp, 1e-10, 1e-50, 1e5, 1000));
    PetscCall(KSPSolve(ksp, b, x[k]));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&b));
  }
  PetscCall(TestDistance(x[0], x[1], NORM_INFINITY, error, &size));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Expect(const char *type, const char *what, PetscReal value, PetscReal low, PetscReal high,
                             PetscInt *failed)
{
  PetscFunctionBeginUser;
  if (value < low || value > high) {
    ++*failed;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s is %g, expected %g to %g\n", type, what, (double)value, (double)low,
                          (double)high));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the entries of each step in both matrices; at the end every block must have one conversion and the expected
   number of refreshes */
static PetscErrorCode Loop(const char *type, Mat A, Mat plain, PetscInt *failed)
{
  MatAIJFmtInfo first, info;
  PetscReal     error;

  PetscFunctionBeginUser;
  PetscCall(SolveBoth(A, plain, &error));
  PetscCall(MatAIJFmtGetInfo(A, &first));
  for (int step = 1; step <= STEPS; step++) {
    PetscCall(KspProblemFill(A, NX, NY, step));
    PetscCall(KspProblemFill(plain, NX, NY, step));
    PetscCall(SolveBoth(A, plain, &error));
    PetscCall(Expect(type, "error after new values", error, 0, 1e-6, failed));
  }
  PetscCall(MatAIJFmtGetInfo(A, &info));
  PetscCall(Expect(type, "conversions", info.conversions, first.conversions, first.conversions, failed));
  PetscCall(Expect(type, "blocks converted", info.blocks_converted, 1, info.blocks, failed));
  PetscCall(Expect(type, "products", info.products, STEPS, PETSC_MAX_REAL, failed));
  PetscCall(Expect(type, "fallbacks", info.fallbacks, 0, 0, failed));
  PetscCall(Expect(type, "refreshes", info.refreshes, STEPS, STEPS * info.blocks_converted, failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new entry in the first and the last row, on both sides of the diagonal, so that the matrix stays symmetric */
static PetscErrorCode NewPattern(const char *type, Mat A, Mat plain, PetscInt *failed)
{
  Mat           matrix[2] = {A, plain};
  MatAIJFmtInfo before, after;
  PetscMPIInt   rank, size;
  PetscReal     error, rebuilt;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatAIJFmtGetInfo(A, &before));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatSetOption(matrix[k], MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    if (!rank) {
      PetscCall(MatSetValue(matrix[k], 0, NX * NY - 1, -0.02, INSERT_VALUES));
      PetscCall(MatSetValue(matrix[k], NX * NY - 1, 0, -0.02, INSERT_VALUES));
    }
    PetscCall(TestAssemble(matrix[k]));
  }
  PetscCall(SolveBoth(A, plain, &error));
  PetscCall(Expect(type, "error after a new pattern", error, 0, 1e-6, failed));
  PetscCall(MatAIJFmtGetInfo(A, &after));
  /* PETSc replaces the off-diagonal block of a parallel matrix, so the counts of the old block are lost */
  rebuilt = before.conversions + (size > 1 ? 0 : 1);
  PetscCall(Expect(type, "conversions after a new pattern", after.conversions, rebuilt, rebuilt, failed));
  PetscCall(
      Expect(type, "nonzeros after a new pattern", after.nonzeros, before.nonzeros + 2, before.nonzeros + 2, failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat      A, plain;
  PetscInt failed = 0;
  char     type[32];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  for (int f = 0; f < spmv_format_count(); f++) {
    PetscCall(PetscSNPrintf(type, sizeof(type), "aij%s", spmv_format_get(f)->name));
    PetscCall(KspProblemCreate(PETSC_COMM_WORLD, type, NX, NY, &A));
    PetscCall(KspProblemCreate(PETSC_COMM_WORLD, MATAIJ, NX, NY, &plain));
    PetscCall(MatAIJFmtSetOption(A, "decline", "false"));
    PetscCall(Loop(type, A, plain, &failed));
    PetscCall(NewPattern(type, A, plain, &failed));
    PetscCall(TestDestroyMats(&A, &plain));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " failed\n", failed));
  PetscCall(PetscFinalize());
  return failed ? 1 : 0;
}
