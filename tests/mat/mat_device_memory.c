/*
  mat_device_memory.c - how much device memory a matrix takes, measured on the device itself

    mat_device_memory -mat_type aijrbp [-side 100]

  A matrix that is assembled by MatSetValues() must not put a second copy of itself as CSR on the device: its first
  product, new values, and the usual calls of a solver may not take more than the plan reports. A small matrix lies
  where its vectors are: on the device if PETSc has CUDA, else on the host. The exit status is 77 if there is no GPU.
*/
static const char help[] = "Compares the device memory that a matrix takes with what its plan reports.\n";

#include <cuda_runtime.h>
#include <gen.h>
#include <petscpack.h>
#include "petsc_test.h"
#include <spmv_kernels.h>

enum { NO_DEVICE = 77, SMALL_SIDE = 12 };

/* CUDA's pool allocates in pieces of 32 MiB. Nearly all of the last piece of a plan may be unused, and nearly all of a
   piece that it shares with memory freed since. */
static const double slack_bytes = 64.0 * 1024 * 1024;

static PetscErrorCode UsedBytes(double *used)
{
  size_t left, all;

  PetscFunctionBeginUser;
  PetscCheck(cudaDeviceSynchronize() == cudaSuccess && cudaMemGetInfo(&left, &all) == cudaSuccess, PETSC_COMM_SELF,
             PETSC_ERR_GPU, "the device does not tell its memory");
  *used = (double)(all - left);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A 27-point stencil on a cube: many nonzeros per row, so that vectors are a small part of the memory */
static PetscErrorCode Assemble(PetscInt side, Mat *A)
{
  const GenSpec spec = gen_stencil(27, side, side, side);
  int64_t       wide[27];
  PetscInt      col[27];
  PetscScalar   value[27];

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, (PetscInt)spec.rows, (PetscInt)spec.cols, (PetscInt)spec.rows, (PetscInt)spec.cols));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 27, NULL));
  for (PetscInt i = 0; i < (PetscInt)spec.rows; i++) {
    const int64_t count = spec.row(&spec, i, wide);

    for (int64_t k = 0; k < count; k++) {
      col[k]   = (PetscInt)wide[k];
      value[k] = col[k] == i ? 30.0 : -1.0 / (PetscReal)(1 + (i + k) % 7);
    }
    PetscCall(MatSetValues(*A, 1, &i, (PetscInt)count, col, value, INSERT_VALUES));
  }
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls what a solver calls, except for the transpose; at the end changes the values, which creates a CSR on the device
   if PETSc has CUDA */
static PetscErrorCode Use(Mat A, Vec x, Vec y)
{
  MatAIJFmtInfo info;
  PetscReal     norm;

  PetscFunctionBeginUser;
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMultAdd(A, x, y, y));
  PetscCall(MatGetDiagonal(A, y));
  PetscCall(MatNorm(A, NORM_FROBENIUS, &norm));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  PetscCheck(info.device_csr_bytes == 0 || info.own_bytes == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "a CSR came to the device before values were changed");
  PetscCall(MatScale(A, 2));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measure(PetscInt side, MatAIJFmtInfo *info, double *assembled, double *used)
{
  Mat    A;
  Vec    x, y;
  double before, after;

  PetscFunctionBeginUser;
  PetscCall(UsedBytes(&before));
  PetscCall(Assemble(side, &A));
  PetscCall(UsedBytes(&after));
  *assembled = after - before;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(Use(A, x, y));
  PetscCall(UsedBytes(&after));
  *used = after - before;
  PetscCall(MatAIJFmtGetInfo(A, info));
  PetscCall(TestDestroyVecs(&x, &y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt      side = 100;
  MatAIJFmtInfo info;
  double        assembled, used, expected, vectors;
  PetscBool     placed, good;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-side", &side, NULL));
  if (spmv_device_count(NULL) == 0) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "no GPU\n"));
    PetscCall(PetscFinalize());
    return NO_DEVICE;
  }
  spmv_device_keep(0);                                      /* freed memory is released, and counts as free */
  PetscCall(Measure(SMALL_SIDE, &info, &assembled, &used)); /* the first use loads code and libraries to the device */
  placed = info.blocks_on_gpu == (PetscDefined(HAVE_CUDA) ? 1 : 0) ? PETSC_TRUE : PETSC_FALSE;
  if (!placed) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the small matrix is not where its vectors are\n"));
  PetscCall(Measure(side, &info, &assembled, &used));
  vectors  = 2.0 * (double)(side * side * side) * (double)sizeof(PetscScalar);
  expected = info.own_bytes + info.work_bytes + info.device_csr_bytes + vectors;
  good     = placed && info.blocks_on_gpu == 1 && assembled < slack_bytes && used < expected + slack_bytes &&
                 used > expected - slack_bytes && slack_bytes < info.csr_bytes / 4
                 ? PETSC_TRUE
                 : PETSC_FALSE;
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD,
                  "%s: CSR %.1f MB; plan, scratch and vectors %.1f MB; used on the device: %.1f MB after assembly, "
                  "%.1f MB after products\n",
                  good ? "passed" : "FAILED", info.csr_bytes / 1e6, expected / 1e6, assembled / 1e6, used / 1e6));
  PetscCall(PetscFinalize());
  return good ? 0 : 1;
}
