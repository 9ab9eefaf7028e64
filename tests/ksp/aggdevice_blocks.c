/*
  aggdevice_blocks.c - the prolongator of aggdevice for matrices whose processes share edges: it must be
  P0 - alpha D^-1 A P0 for some alpha, as PETSc's functions compute it from the unsmoothed P0

    aggdevice_blocks [-type aijrbp] -mat_aijfmt_device gpu, on 2 processes or more
*/
static const char help[] = "Checks the smoothing of prolongators on several processes.\n";

#include "cgdevice_test.h"

/* The finest prolongator of a set-up, as a matrix of type aij */
static PetscErrorCode Finest(Mat A, PetscInt smooths, PCGAMGAggDeviceInfo *info, Mat *P)
{
  PetscInt levels;
  KSP      ksp;
  Mat      found;
  PC       pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetType(pc, PCGAMGAGGDEVICE));
  PetscCall(PCGAMGSetCoarseEqLim(pc, 20));
  PetscCall(PCGAMGSetNSmooths(pc, smooths));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCGAMGAggDeviceGetInfo(pc, info));
  PetscCall(PCMGGetLevels(pc, &levels));
  PetscCall(PCMGGetInterpolation(pc, levels - 1, &found));
  PetscCall(MatConvert(found, MATAIJ, MAT_INITIAL_MATRIX, P));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* D^-1 A P0 by PETSc's functions */
static PetscErrorCode Step(Mat A, Mat P0, Mat *T)
{
  Mat plain;
  Vec d;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &plain));
  PetscCall(MatMatMult(plain, P0, MAT_INITIAL_MATRIX, PETSC_DEFAULT, T));
  PetscCall(MatCreateVecs(plain, &d, NULL));
  PetscCall(MatGetDiagonal(plain, d));
  PetscCall(VecReciprocal(d));
  PetscCall(MatDiagonalScale(*T, d, NULL));
  PetscCall(VecDestroy(&d));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* alpha is chosen so that the two differences from P0 have the same norm */
static PetscErrorCode Compare(Mat A, Mat P0, Mat P)
{
  const PetscReal tolerance = (PetscReal)(PetscDefined(USE_REAL_SINGLE) ? 1e-4 : 1e-11);
  PetscReal       moved, step, size, left;
  Mat             T;

  PetscFunctionBeginUser;
  PetscCall(Step(A, P0, &T));
  PetscCall(MatNorm(T, NORM_FROBENIUS, &step));
  PetscCall(MatNorm(P0, NORM_FROBENIUS, &size));
  PetscCall(MatAXPY(P, -1, P0, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(P, NORM_FROBENIUS, &moved));
  PetscCall(MatAXPY(P, moved / step, T, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(P, NORM_FROBENIUS, &left));
  PetscCall(
      CGDevTestCheck(left <= tolerance * size && moved > 0, "smoothing", "not the prolongator of PETSc's functions"));
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number of product patterns that the GPU made with blocks of A, over all processes */
static PetscErrorCode Patterns(Mat A, PetscInt *patterns)
{
  MatAIJFmtInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatAIJFmtGetInfo(A, &info));
  *patterns = (PetscInt)info.patterns;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Smoothing(Mat A)
{
  PCGAMGAggDeviceInfo plain, once, twice;
  PetscMPIInt         processes;
  PetscInt            before = 0, after = 0;
  Mat                 P0, P;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &processes));
  PetscCall(Finest(A, 2, &twice, &P));
  PetscCall(MatDestroy(&P));
  PetscCall(Finest(A, 0, &plain, &P0));
  PetscCall(Patterns(A, &before));
  PetscCall(Finest(A, 1, &once, &P));
  PetscCall(Patterns(A, &after));
  PetscCall(Compare(A, P0, P));
  PetscCall(CGDevTestCheck(once.prolongators_device == once.levels_device && once.prolongators_agg == 0 &&
                               once.levels_device > 0 && once.levels_agg == 0 && once.estimates_petsc == 0,
                           "smoothing", "not on the device"));
  PetscCall(CGDevTestCheck(plain.prolongators_device == 0 && twice.prolongators_device == 0, "smoothing",
                           "on the device, where agg must do it"));
  /* P^T A P */
  PetscCall(CGDevTestCheck(after - before >= processes, "smoothing", "the coarse matrix is not of the GPU"));
  PetscCall(TestDestroyMats(&P, &P0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char type[64] = MATAIJRBP;
  Mat  A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof type, NULL));
  for (int i = 1; i < CGDEV_MATRICES - 1; i++) {
    PetscCall(CGDevTestMatrix(i, type, &A));
    PetscCall(Smoothing(A));
    PetscCall(MatDestroy(&A));
  }
  return CGDevTestEnd();
}
