/*
  mat_finalize.c - PetscFinalize() frees the pinned memory that uploads keep for the process

  The emulator reveals pinned blocks: told a limit, it refuses to pin another block when that many exist. The exit
  status is 77 if uploads pin nothing, which is so if the process may use only one processor.
*/
static const char help[] = "Looks for pinned memory after PetscFinalize().\n";

#include <cuda_runtime_api.h>
#include <petscpack.h>
#include "petsc_test.h"
#include <spmv_kernels.h>
#include <stdio.h>
#include <stdlib.h>

enum { SKIPPED = 77, BYTES = 8 << 20 };

/* Whether there are pinned blocks of memory; removes the emulator's limit afterwards */
static int anything_is_pinned(void)
{
  void *block;

  setenv("SPMV_EMULATOR_PINNED_BLOCKS", "1", 1);
  const int refused = cudaMallocHost(&block, 1) != cudaSuccess;
  unsetenv("SPMV_EMULATOR_PINNED_BLOCKS");
  if (!refused) (void)cudaFreeHost(block);
  return refused;
}

static PetscErrorCode Upload(void)
{
  SpmvExec   exec;
  void      *there;
  char      *here;
  SpmvStatus status;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(BYTES, &here));
  spmv_exec_init(&exec, SPMV_DEVICE);
  status = spmv_alloc(&exec, SPMV_DEVICE, BYTES, "upload", &there);
  if (!status) status = spmv_copy(there, SPMV_DEVICE, here, SPMV_HOST, BYTES, &exec);
  if (!status) status = spmv_stream_wait(&exec);
  PetscCheck(!status, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", exec.message);
  spmv_exec_free(&exec, SPMV_DEVICE, there);
  PetscCall(PetscFree(here));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(Upload());
  const int pinned = anything_is_pinned();
  PetscCall(PetscFinalize());
  const int left = anything_is_pinned();
  printf("pinned memory: %s after an upload, %s after PetscFinalize()\n", pinned ? "some" : "none",
         left ? "some" : "none");
  if (left) return 1;
  return pinned ? 0 : SKIPPED;
}
