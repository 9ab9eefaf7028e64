/*
  aggdevice_smooth_parallel.c - smooths the tentative prolongator on several processes, P = P0 - 1.4 / lambda D^-1 A P0.

  A P0 is a product of parallel matrices; if their blocks are ours, these are multiplied on the GPU. Aggregates do not
  reach across processes, so the off-diagonal block of P0 is empty, and the remaining work is local.
*/
#include "aggdevice.h"
#include "parallel/processes.h"

/* Whether P0 is a matrix made from our aggregates, to be smoothed once */
PetscErrorCode AggDevSmoothsBlocks(PC pc, const PC_AggDevice *a, Mat P0, PetscBool *smooths)
{
  PetscBool parallel;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)P0, MATMPIAIJ, &parallel));
  *smooths = a->p0_local && parallel && a->options.smooths == 1 && !AIJFmtGamgFilters(PetscPackGamg(pc)) ? PETSC_TRUE
                                                                                                         : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smooths both blocks of S = A P0. diagonal: the entries of this process, which may be overwritten */
static PetscErrorCode Blocks(Mat S, Mat P0, PetscReal omega, Vec diagonal, PetscBool *device,
                             char reason[SPMV_MESSAGE_MAX])
{
  Mat mine, others, mine0;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(S, &mine, &others, NULL));
  PetscCall(MatMPIAIJGetSeqAIJ(P0, &mine0, NULL, NULL));
  PetscCall(AIJFmtProlongatorSmooth(mine, mine0, omega, diagonal, device, reason));
  PetscCall(VecReciprocal(diagonal));
  PetscCall(VecScale(diagonal, -omega));
  PetscCall(MatDiagonalScale(others, diagonal, NULL));
  PetscCall(PetscObjectStateIncrease((PetscObject)S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *P becomes the smoothed prolongator. On failure *P stays P0, and all processes have a reason. */
PetscErrorCode AggDevSmoothBlocks(PC pc, PC_AggDevice *a, Mat A, Mat *P, char reason[SPMV_MESSAGE_MAX])
{
  PetscBool device = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */
  PetscReal largest;
  Vec       diagonal, mine;
  Mat       S;

  PetscFunctionBegin;
  PetscCall(AggDevLargestGet(pc, a, A, NULL, NULL, &largest));
  PetscCall(MatMatMult(A, *P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &S));
  PetscCall(MatProductClear(S));
  PetscCall(MatCreateVecs(A, &diagonal, NULL));
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(VecCreateLocalVector(diagonal, &mine));
  PetscCall(VecGetLocalVector(diagonal, mine));
  PetscCall(Blocks(S, *P, (PetscReal)1.4 / largest, mine, &device, reason));
  PetscCall(VecRestoreLocalVector(diagonal, mine));
  PetscCall(VecDestroy(&mine));
  PetscCall(VecDestroy(&diagonal));
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)A), reason));
  if (!reason[0]) {
    PetscCall(MatDestroy(P));
    *P = S;
    if (device) a->info.prolongators_device++;
    a->info.prolongators_blocks++;
  } else PetscCall(MatDestroy(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}
