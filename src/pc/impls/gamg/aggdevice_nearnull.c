/*
  aggdevice_nearnull.c - where the near-null space of a level is. PCGAMG has it on the host, in gamg->data. With a GPU that of
  the finest level stays in the vectors of the matrix, and on one process that of others in device memory; gamg->data is then
  hollow: it has its sizes, but not its numbers. Who reads numbers, in PETSc 3.18 to 3.26, and what we do about it:

    PCSetUp_GAMG()                      copies them, unless it reuses interpolation: not hollow then
    PCGAMGCreateLevel_GAMG()            moves those of the next level between processes, or with -pc_gamg_repartition: not
                                        hollow then
    PCGAMGProlongator_AGG()             AggDevProlongator() calls AggDevDataToHost() first
    PCGAMGKernelPreservingFilter_AGG()  from 3.26 on, called by PCGAMGOptProlongator_AGG(): SmoothByAgg() likewise
    P0 on the host                      AggDevNearGet() likewise

  PCSetCoordinates(), gamg->orig_data and the injection of 3.21 put an array with numbers in place of ours, so the array
  itself must say that it is hollow: its first number has bits that no arithmetic gives.
*/
#include "aggdevice.h"
#include "parallel/processes.h"
#include <petscdm.h>

#include <string.h>

static PetscBool IsHollow(const PC_GAMG *gamg)
{
  PetscReal mark;

  memset(&mark, 0xff, sizeof mark);
  return gamg->data && gamg->data_sz > 0 && !memcmp(gamg->data, &mark, sizeof mark) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode SetHollow(PC_GAMG *gamg, PetscInt cell_rows, PetscInt columns, PetscInt n)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(gamg->data));
  PetscCall(PetscMalloc1(n, &gamg->data));
  if (n > 0) memset(gamg->data, 0xff, sizeof *gamg->data);
  gamg->data_cell_rows = cell_rows;
  gamg->data_cell_cols = columns;
  gamg->data_sz        = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the near-null space in device memory, also at the end of each set-up of a PCGAMG of any type */
PetscErrorCode AIJFmtGamgForgetNear(PC pc)
{
  PC_AggDevice *a;

  PetscFunctionBegin;
  PetscCall(AggDevGet(pc, &a));
  if (a) spmv_scratch_free(&a->near_exec, a->near_exec.space, a->near);
  if (a) a->near = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- on the finest level ---- */

/* The number of vectors by default: of the matrix, or one for each component of a block. 0: agg must find them. On several
   processes a constant vector is agg's: a new vector would be collective, and processes without memory do not come here. */
static PetscErrorCode CountVectors(PC pc, Mat A, PetscInt *columns)
{
  PetscBool    constant;
  PetscInt     fields = 0;
  PetscMPIInt  size;
  MatNullSpace space;
  DM           dm;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(MatGetNearNullSpace(A, &space));
  if (space) {
    PetscCall(MatNullSpaceGetVecs(space, &constant, columns, NULL));
    if (constant) *columns = size > 1 ? 0 : *columns + 1;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGetDM(pc, &dm));
  if (!dm) PetscCall(MatGetDM(A, &dm));
  if (dm) PetscCall(DMGetNumFields(dm, &fields));
  PetscCall(MatGetBlockSize(A, columns));
  if (fields > 0) *columns = 0; /* a field may have a near-null space */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the near-null space of the finest level, if the caller has set none */
PetscErrorCode AggDevNearDefault(PC pc, Mat A)
{
  PC_GAMG      *gamg = PetscPackGamg(pc);
  const char   *why  = NULL, *why_host;
  PetscInt      columns, block_size;
  PC_AggDevice *a;

  PetscFunctionBegin;
  PetscCall(AggDevGet(pc, &a));
  PetscCall(AIJFmtGamgForgetNear(pc));
  PetscCall(CountVectors(pc, A, &columns));
  gamg->data_cell_cols = columns; /* for AggDevWhyAgg() */
  PetscCall(AggDevWhyAgg(pc, &why));
  PetscCall(AIJFmtWhyHost(A, &why_host));
  if (columns == 0 || why || why_host || gamg->repart || !gamg->reuse_prol || spmv_device_count(NULL) == 0) {
    PetscCall((*a->agg.ops.createdefaultdata)(pc, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetBlockSize(A, &block_size));
  PetscCall(SetHollow(gamg, block_size, columns, A->rmap->n * columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the vectors of a space to device memory, the constant one first as in PCSetData_AGG() */
static PetscErrorCode CopyVectors(PC_AggDevice *a, Mat A, MatNullSpace space, char *to, SpmvStatus *status)
{
  const int64_t bytes = A->rmap->n * (int64_t)sizeof(PetscScalar);
  const Vec    *vecs;
  PetscBool     constant;
  PetscInt      count, rows;
  Vec           ones;

  PetscFunctionBegin;
  PetscCall(MatNullSpaceGetVecs(space, &constant, &count, &vecs));
  if (constant) {
    PetscCall(MatCreateVecs(A, NULL, &ones));
    PetscCall(VecSet(ones, 1));
    PetscCall(AIJFmtVectorCopy(&a->exec, ones, to, status));
    if (!*status) *status = spmv_stream_wait(&a->exec); /* the vector may be in page-locked memory */
    PetscCall(VecDestroy(&ones));
    to += bytes;
  }
  for (PetscInt i = 0; i < count && !*status; i++) {
    PetscCall(VecGetLocalSize(vecs[i], &rows));
    PetscCheck(rows == A->rmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "a near-null vector of %" PetscInt_FMT " rows",
               rows);
    PetscCall(AIJFmtVectorCopy(&a->exec, vecs[i], to + i * bytes, status));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- on every level ---- */

/* Copies the next level's near-null space to gamg->data. Collective; an error on all processes if one fails. */
static PetscErrorCode NearToHost(PC pc, PC_AggDevice *a)
{
  PC_GAMG      *gamg  = PetscPackGamg(pc);
  const int64_t bytes = gamg->data_sz * (int64_t)sizeof(PetscReal);
  SpmvStatus    status;

  PetscFunctionBegin;
  PetscCall(AIJFmtFetch(&a->near_exec, a->near, a->near_exec.space, bytes, gamg->data, &status));
  status = PetscPackAgreeStatus(PetscObjectComm((PetscObject)pc), &a->near_exec, status);
  AIJFmtCallSpmv(&a->near_exec, status);
  PetscCall(AIJFmtGamgForgetNear(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts the numbers into gamg->data, if it is hollow */
PetscErrorCode AggDevDataToHost(PC pc, PC_AggDevice *a)
{
  PC_GAMG *gamg = PetscPackGamg(pc);

  PetscFunctionBegin;
  if (!IsHollow(gamg)) PetscFunctionReturn(PETSC_SUCCESS);
  if (a->near) PetscCall(NearToHost(pc, a));
  else {
    PetscCall(PetscFree(gamg->data));
    PetscCall((*a->agg.ops.createdefaultdata)(pc, pc->pmat));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the near-null space of A in the space of a->exec. *near: NULL for the vectors of components. *copy: NULL, or what
   the caller frees by spmv_scratch_free(). */
PetscErrorCode AggDevNearGet(PC pc, PC_AggDevice *a, Mat A, const void **near, void **copy, SpmvStatus *status)
{
  static const PetscScalar nothing = 0; /* for a process without rows: NULL would mean the vectors of components */

  const PC_GAMG *gamg  = PetscPackGamg(pc);
  const int64_t  bytes = gamg->data_sz * (int64_t)sizeof(PetscReal);
  MatNullSpace   space = NULL;
  PetscInt       count = 0;

  PetscFunctionBegin;
  *copy   = NULL;
  *status = SPMV_SUCCESS;
  if (a->exec.space == SPMV_HOST) {
    PetscCall(AggDevDataToHost(pc, a));
    *near = gamg->data ? (const void *)gamg->data : &nothing;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *near = a->near;
  if (IsHollow(gamg)) {
    PetscCall(MatGetNearNullSpace(A, &space));
    if (space) PetscCall(MatNullSpaceGetVecs(space, NULL, &count, NULL));
    if (a->near || (count == 0 && gamg->data_cell_cols == gamg->data_cell_rows)) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *status = spmv_alloc(&a->exec, SPMV_DEVICE, bytes, "near-null space", copy);
  *near   = *copy ? *copy : &nothing;
  if (*copy && space) PetscCall(CopyVectors(a, A, space, (char *)*copy, status));
  else if (*copy) *status = spmv_copy(*copy, SPMV_DEVICE, gamg->data, SPMV_HOST, bytes, &a->exec);
  if (*copy && !space) PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the near-null space of a level by that of the next one, n numbers in the space of a->exec, which it takes from
   *coarse. Collective. */
PetscErrorCode AggDevNearLeave(PC pc, PC_AggDevice *a, void **coarse, PetscInt columns, PetscInt n)
{
  PC_GAMG    *gamg = PetscPackGamg(pc);
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(AIJFmtGamgForgetNear(pc));
  PetscCall(SetHollow(gamg, columns, columns, n));
  a->near      = *coarse;
  a->near_exec = a->exec;
  *coarse      = NULL;
  if (size > 1 || a->exec.space == SPMV_HOST || gamg->repart) PetscCall(NearToHost(pc, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
