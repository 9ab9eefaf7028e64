/*
  overlap.c - how the blocks of a PCASM overlap, on the device. The rows of the matrix `gather` are the entries of the blocks of
  this process, one block after the other; `add` is the transpose of such a matrix. A type of PCASM leaves nonzeros out: entries
  of other processes in one of the two, and with PC_ASM_RESTRICT also results outside of the blocks without overlap.
*/
#include "overlap.h"

struct PCOverlapStruct {
  PetscPackProduct gather, add;
  void            *entries, *results; /* [rows of gather], on the device */
};

PetscErrorCode PCOverlapWhyNot(PC pc, char why[SPMV_MESSAGE_MAX])
{
  PCCompositeType local;
  PCASMType       type;

  PetscFunctionBegin;
  PetscCall(PCASMGetLocalType(pc, &local));
  PetscCall(PCASMGetType(pc, &type));
  if (local != PC_COMPOSITE_ADDITIVE)
    PetscCall(PetscStrncpy(why, "the blocks of a process are not added up", SPMV_MESSAGE_MAX));
  else if (type != PC_ASM_BASIC && type != PC_ASM_RESTRICT && type != PC_ASM_INTERPOLATE && type != PC_ASM_NONE)
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "-pc_asm_type %s", PCASMTypes[type]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether more than the part of each process is in its only block. Collective. */
static PetscErrorCode Overlaps(PC pc, PetscBool *overlaps)
{
  PetscInt        blocks, n;
  const PetscInt *entry;
  IS             *block;
  PetscBool       whole;

  PetscFunctionBegin;
  PetscCall(PCASMGetLocalSubdomains(pc, &blocks, &block, NULL));
  PetscCall(ISGetLocalSize(block[0], &n));
  PetscCall(ISGetIndices(block[0], &entry));
  whole = blocks == 1 && n == pc->pmat->rmap->n ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt i = 0; i < n && whole; i++)
    if (entry[i] != pc->pmat->rmap->rstart + i) whole = PETSC_FALSE;
  PetscCall(ISRestoreIndices(block[0], &entry));
  PetscCall(PetscPackAll(PetscObjectComm((PetscObject)pc), &whole));
  *overlaps = whole ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins the matrix with a row for each entry of the blocks. others: with nonzeros for the entries of other processes;
   part: [blocks], with nonzeros for the entries of these index sets alone, or NULL */
static PetscErrorCode SelectionFill(Mat S, PetscInt blocks, const IS block[], PetscBool others, const IS part[])
{
  PetscInt row, n, at;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(S, &row, NULL));
  for (PetscInt b = 0; b < blocks; b++) {
    const PetscInt *entry;

    PetscCall(ISGetLocalSize(block[b], &n));
    PetscCall(ISGetIndices(block[b], &entry));
    for (PetscInt i = 0; i < n; i++, row++) {
      const PetscBool mine = entry[i] >= S->cmap->rstart && entry[i] < S->cmap->rend ? PETSC_TRUE : PETSC_FALSE;

      at = 0;
      if (part) PetscCall(ISLocate(part[b], entry[i], &at));
      if ((mine || others) && at >= 0) PetscCall(MatSetValue(S, row, entry[i], 1, INSERT_VALUES));
    }
    PetscCall(ISRestoreIndices(block[b], &entry));
  }
  PetscCall(MatAssemblyBegin(S, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(S, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SelectionCreate(PC pc, PetscBool others, PetscBool parts, Mat *S)
{
  PetscInt blocks, n, rows = 0;
  IS      *block, *part;

  PetscFunctionBegin;
  PetscCall(PCASMGetLocalSubdomains(pc, &blocks, &block, &part));
  for (PetscInt b = 0; b < blocks; b++) {
    PetscCall(ISGetLocalSize(block[b], &n));
    rows += n;
  }
  PetscCall(MatCreate(PetscObjectComm((PetscObject)pc), S));
  PetscCall(MatSetSizes(*S, rows, pc->pmat->rmap->n, PETSC_DETERMINE, pc->pmat->rmap->N));
  PetscCall(MatSetType(*S, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*S, 1, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*S, 1, NULL, 1, NULL));
  PetscCall(SelectionFill(*S, blocks, block, others, parts ? part : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product with S, which exchanges nothing if no process needs entries of others. Collective. */
static PetscErrorCode SelectionProduct(Mat S, PetscPackProduct *p, SpmvExec *exec, char why[SPMV_MESSAGE_MAX])
{
  PetscBool alone;

  PetscFunctionBegin;
  PetscCall(PetscPackProductGet(S, PETSC_TRUE, p, exec, why));
  alone = p->call.ghost_plan ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(PetscPackAll(PetscObjectComm((PetscObject)S), &alone));
  if (alone) p->call.processes = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OverlapMake(PC pc, PCOverlap o, SpmvExec *exec, char why[SPMV_MESSAGE_MAX])
{
  SpmvStatus status = SPMV_SUCCESS;
  PCASMType  type;
  int64_t    bytes;
  Mat        gather, selection, add;

  PetscFunctionBegin;
  PetscCall(PCASMGetType(pc, &type));
  PetscCall(SelectionCreate(pc, type & PC_ASM_RESTRICT ? PETSC_TRUE : PETSC_FALSE, PETSC_FALSE, &gather));
  PetscCall(SelectionCreate(pc, type & PC_ASM_INTERPOLATE ? PETSC_TRUE : PETSC_FALSE,
                            type & PC_ASM_INTERPOLATE ? PETSC_FALSE : PETSC_TRUE, &selection));
  PetscCall(MatTranspose(selection, MAT_INITIAL_MATRIX, &add));
  PetscCall(SelectionProduct(gather, &o->gather, exec, why));
  if (!why[0]) PetscCall(SelectionProduct(add, &o->add, exec, why));
  bytes = gather->rmap->n * (int64_t)sizeof(PetscScalar);
  if (!why[0]) status = spmv_alloc(exec, SPMV_DEVICE, bytes, "entries of blocks that overlap", &o->entries);
  if (!why[0] && !status) status = spmv_alloc(exec, SPMV_DEVICE, bytes, "results of blocks that overlap", &o->results);
  PetscCall(PetscPackRefuse(PetscObjectComm((PetscObject)pc), exec, &status, why));
  PetscCall(MatDestroy(&gather));
  PetscCall(MatDestroy(&selection));
  PetscCall(MatDestroy(&add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOverlapKeyGet(PC pc, PCOverlapKey *key)
{
  PCASMType type;
  PetscInt  blocks;
  IS       *block;

  PetscFunctionBegin;
  PetscCall(PCASMGetLocalSubdomains(pc, &blocks, &block, NULL));
  PetscCall(PCASMGetType(pc, &type));
  *key = (PCOverlapKey){((PetscObject)pc)->id, ((PetscObject)block[0])->id, type};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOverlapCreate(PC pc, SpmvExec *exec, PCOverlap *o, char why[SPMV_MESSAGE_MAX])
{
  PetscBool overlaps = PETSC_FALSE;

  PetscFunctionBegin;
  *o = NULL;
  PetscCall(Overlaps(pc, &overlaps));
  if (!overlaps) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(o));
  PetscCall(OverlapMake(pc, *o, exec, why));
  if (why[0]) PetscCall(PCOverlapDestroy(o, exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOverlapDestroy(PCOverlap *o, SpmvExec *exec)
{
  PetscFunctionBegin;
  if (!*o) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPackProductFree(&(*o)->gather, exec));
  PetscCall(PetscPackProductFree(&(*o)->add, exec));
  spmv_exec_free(exec, SPMV_DEVICE, (*o)->entries);
  spmv_exec_free(exec, SPMV_DEVICE, (*o)->results);
  PetscCall(PetscFree(*o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool PCOverlapWaits(const PCOverlap o)
{
  return spmv_operator_waits(&o->gather.call) || spmv_operator_waits(&o->add.call) ? PETSC_TRUE : PETSC_FALSE;
}

SpmvStatus PCOverlapBegin(PCOverlap o, const void *r, const void **entries, void **results, SpmvExec *exec)
{
  *entries = o->entries;
  *results = o->results;
  return spmv_operator_product(&o->gather.call, r, o->entries, exec);
}

SpmvStatus PCOverlapEnd(PCOverlap o, void *z, SpmvExec *exec)
{
  return spmv_operator_product(&o->add.call, o->results, z, exec);
}
