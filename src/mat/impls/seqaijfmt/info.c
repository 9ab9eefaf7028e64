/* Counters and memory: MatAIJFmtGetInfo(), and the memory that MatGetInfo() reports. */
#include "seqaijfmt.h"
#include "cuda.h"

static void AddMemory(MatAIJFmtInfo *info, const SpmvPlan *plan)
{
  const SpmvMemory memory = plan->memory;

  for (int i = 0; i < memory.count; i++) {
    const PetscLogDouble bytes = (PetscLogDouble)memory.array[i].bytes;
    if (memory.array[i].kind == SPMV_ARRAY_VALUES) info->values_bytes += bytes;
    else if (memory.array[i].kind == SPMV_ARRAY_INDICES) info->indices_bytes += bytes;
    else info->pointers_bytes += bytes;
  }
  info->nonzeros += (PetscLogDouble)plan->nnz;
  info->bytes += (PetscLogDouble)memory.total_bytes;
  info->own_bytes += plan->format->borrows ? 0 : (PetscLogDouble)memory.total_bytes;
  info->padding_bytes += (PetscLogDouble)memory.padding_bytes;
  info->work_bytes += (PetscLogDouble)memory.work_bytes;
  info->csr_bytes += (PetscLogDouble)memory.csr_bytes;
  info->blocks_converted++;
  info->blocks_on_gpu += plan->space == SPMV_DEVICE;
}

/* What the CUDA parent has on the device */
static PetscErrorCode AddDeviceCsr(Mat A, const Mat_AIJFmt *s, MatAIJFmtInfo *info)
{
  SpmvPattern pattern;

  PetscFunctionBegin;
  /* values that came by coordinates while the block was still the parent's are there, too */
  if (!s->device_csr && !AIJFmtCudaIsCurrent(A, s)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtHostPatternGet(A, &pattern));
  info->device_csr_bytes += (PetscLogDouble)spmv_csr_bytes(&pattern, AIJFMT_SCALAR);
  PetscCall(AIJFmtHostPatternRestore(A, &pattern));
  info->blocks_values_on_gpu += AIJFmtCudaIsCurrent(A, s) ? 1 : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Accumulate(MatAIJFmtInfo *sum, Mat A, const Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  sum->blocks++;
  sum->conversions += s->info.conversions;
  sum->convert_time += s->info.convert_time;
  sum->refreshes += s->info.refreshes;
  sum->refresh_time += s->info.refresh_time;
  sum->products += s->info.products;
  sum->products_transposed += s->info.products_transposed;
  sum->fallbacks += s->info.fallbacks;
  sum->fallbacks_transposed += s->info.fallbacks_transposed;
  sum->blocks_declined += s->reason[0] != 0;
  if (s->plan) AddMemory(sum, s->plan);
  PetscCall(AddDeviceCsr(A, s, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks of this process */
PetscErrorCode AIJFmtInfoLocal(Mat A, MatAIJFmtInfo *info)
{
  Mat_AIJFmt *s;
  Mat         blocks[2];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof *info));
  PetscCall(AIJFmtStateRequire(A, "MatAIJFmtGetInfo()", &s));
  if (!s->parallel) {
    PetscCall(Accumulate(info, A, s));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) {
    Mat_AIJFmt *inner = NULL;

    if (blocks[b]) PetscCall(AIJFmtStateGet(blocks[b], &inner));
    if (inner) PetscCall(Accumulate(info, blocks[b], inner));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFmtGetInfo - Gets the counters and the memory of a matrix of a packed type

  Collective

  Input Parameter:
. A - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack

  Output Parameter:
. info - the counters, summed over all sequential blocks of the matrix

  Level: advanced

  Notes:
  A sequential matrix is one block. A parallel matrix has two on every process, the diagonal and the off-diagonal one;
  a product with the whole matrix counts once in each block that is not empty.

  Conversion happens at the first product unless `-mat_aijfmt_eager` is set; until then all bytes are zero.

.seealso: `MatGetInfo()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJFmtGetInfo(Mat A, MatAIJFmtInfo *info)
{
  PetscLogDouble times[2];
  MPI_Comm       comm;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(info, 2);
  PetscCall(AIJFmtInfoLocal(A, info));
  PetscCall(PetscObjectGetComm((PetscObject)A, &comm));
  times[0] = info->convert_time;
  times[1] = info->refresh_time;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, info, (PetscMPIInt)(sizeof *info / sizeof(PetscLogDouble)), MPI_DOUBLE,
                             MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, comm));
  info->convert_time = times[0];
  info->refresh_time = times[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatGetInfo_MPIAIJ() asks its blocks, so this serves parallel matrices too */
PetscErrorCode MatGetInfo_SeqAIJFmt(Mat A, MatInfoType type, MatInfo *info)
{
  const AIJFmtParent *parent;
  Mat_AIJFmt         *s;
  MatAIJFmtInfo       ours;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(parent->seq.getinfo(A, type, info));
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtInfoLocal(A, &ours));
  info->memory += ours.own_bytes + ours.work_bytes + ours.device_csr_bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}
