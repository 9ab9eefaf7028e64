/*
  function.c - PCApply() as a function on the device: a solve with a factor, or sweeps, for each block of this process. Blocks
  of PCBJACOBI are parts of the vectors; those of PCASM are gathered and added up by overlap.c.
*/
#include "pcfactor.h"
#include "overlap.h"

/* Compared bytewise: all padding is zero */
typedef struct {
  SpmvDirect        *direct; /* NULL: ... */
  MatIncompleteApply incomplete;
  int64_t            first; /* of its entries among those of all blocks */
} Block;

typedef struct {
  PetscInt  n;
  Block    *block;
  PetscBool lacks; /* one has neither, for no reason */
} Blocks;

struct PCFunctionStruct {
  PCFunctionInfo info;
  Blocks         blocks;
  PCOverlapKey   key; /* of overlap, also if that is NULL */
  PCOverlap      overlap;
};

PetscErrorCode PCFunctionIs(PC pc, PetscBool *is)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, is, PCILU, PCICC, PCSOR, PCBJACOBI, PCASM, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- blocks ---- */

/* Whether KSPSolve() is PCApply(), whose PC is set up */
static PetscErrorCode OnlyApplies(KSP ksp, PetscBool *only)
{
  PetscBool    scales;
  MatNullSpace null_space;
  Mat          A;

  PetscFunctionBegin;
  PetscCall(PetscPackDiagonalScaleGet(ksp, &scales));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPREONLY, only));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatGetNullSpace(A, &null_space));
  if (null_space || scales) *only = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCFunctionBlocks(PC pc, PetscInt *n, KSP *sub[], char why[SPMV_MESSAGE_MAX])
{
  PetscBool jacobi, schwarz, only = PETSC_TRUE;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCBJACOBI, &jacobi));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCASM, &schwarz));
  if ((!jacobi && !schwarz) || !pc->setupcalled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetUpOnBlocks(pc));
  if (jacobi) PetscCall(PCBJacobiGetSubKSP(pc, n, NULL, sub));
  else PetscCall(PCASMGetSubKSP(pc, n, NULL, sub));
  for (PetscInt i = 0; i < *n && only; i++) PetscCall(OnlyApplies((*sub)[i], &only));
  if (!only)
    PetscCall(PetscStrncpy(why, "the solver of a block does more than to apply its preconditioner", SPMV_MESSAGE_MAX));
  else if (schwarz) PetscCall(PCOverlapWhyNot(pc, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BlockAdd(Blocks *list, PC pc, PetscBool small, int64_t first, char why[SPMV_MESSAGE_MAX])
{
  PetscBool unused;
  Block    *b;

  PetscFunctionBegin;
  PetscCall(PetscRealloc((size_t)(list->n + 1) * sizeof *b, &list->block));
  b = &list->block[list->n++];
  PetscCall(PetscMemzero(b, sizeof *b));
  PetscCall(PCFactorOnDevice(pc, &unused, &b->direct, why));
  PetscCall(PCIncompleteOnDevice(pc, small, &unused, &b->incomplete, why));
  b->first = first;
  if (!b->direct && !b->incomplete.of) list->lacks = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the blocks of a PC to a list, or leaves a reason. The PC of a block may have blocks as well. */
static PetscErrorCode Collect(Blocks *list, PC pc, PetscBool small, int64_t first, char why[SPMV_MESSAGE_MAX])
{
  PetscInt n;
  KSP     *sub;

  PetscFunctionBegin;
  PetscCall(PCFunctionBlocks(pc, &n, &sub, why));
  if (!n && !why[0]) PetscCall(BlockAdd(list, pc, small, first, why));
  for (PetscInt i = 0; i < n && !why[0]; i++) {
    PetscBool schwarz;
    Mat       P;
    PC        block;

    PetscCall(KSPGetPC(sub[i], &block));
    PetscCall(KSPGetOperators(sub[i], NULL, &P));
    PetscCall(PetscObjectTypeCompare((PetscObject)block, PCASM, &schwarz));
    if (P->rmap->n == 0) continue; /* of a process without rows */
    if (schwarz) PetscCall(PetscStrncpy(why, "the preconditioner of a block is asm", SPMV_MESSAGE_MAX));
    else PetscCall(Collect(list, block, small, first, why));
    first += P->rmap->n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool BlocksSame(const Blocks *a, const Blocks *b)
{
  return a->n == b->n && (a->n == 0 || !memcmp(a->block, b->block, (size_t)a->n * sizeof *a->block)) ? PETSC_TRUE
                                                                                                     : PETSC_FALSE;
}

/* ---- the function ---- */

static PetscErrorCode KeyGet(PC pc, PCOverlapKey *key, PetscBool *schwarz)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(key, sizeof *key));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCASM, schwarz));
  if (!pc->setupcalled) *schwarz = PETSC_FALSE;
  if (*schwarz) PetscCall(PCOverlapKeyGet(pc, key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OverlapForget(PCFunction f, SpmvExec *exec)
{
  PetscFunctionBegin;
  PetscCall(PCOverlapDestroy(&f->overlap, exec));
  PetscCall(PetscMemzero(&f->key, sizeof f->key));
  f->info.serial = AIJFmtSerialNext();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings what PCASM gathers and adds up to date. Collective. */
static PetscErrorCode OverlapGet(PC pc, PCFunction f, const PCOverlapKey *key, SpmvExec *exec,
                                 char why[SPMV_MESSAGE_MAX])
{
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)pc), why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMemcmp(key, &f->key, sizeof *key, &same));
  PetscCall(PetscPackAll(PetscObjectComm((PetscObject)pc), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OverlapForget(f, exec));
  PetscCall(PCOverlapCreate(pc, exec, &f->overlap, why));
  f->key = *key;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks run one after the other, so their levels add up. Read here, because matrices may be gone later. */
static PCFunctionInfo FunctionDescribe(const PCFunction f)
{
  PCFunctionInfo info = {.serial = f->info.serial};

  if (f->overlap) info.waits = PCOverlapWaits(f->overlap);
  for (PetscInt i = 0; i < f->blocks.n; i++) {
    const Block   *b = &f->blocks.block[i];
    SpmvFactorInfo factor;
    SpmvDirectInfo direct;

    if (b->direct) {
      spmv_direct_info(b->direct, &direct);
      info.flops += 2.0 * (PetscLogDouble)direct.factor_nonzeros;
      info.waits = info.direct = PETSC_TRUE;
      continue;
    }
    spmv_factor_info(b->incomplete.of->device, &factor);
    info.flops += MatIncompleteFlops(&b->incomplete);
    for (int half = 0; half < 2; half++) info.levels[half] += factor.levels[half];
    if (b->incomplete.sweeps) info.sweeps = PETSC_TRUE;
  }
  return info;
}

PetscErrorCode PCFunctionGet(PC pc, PetscBool small, SpmvExec *exec, PCFunction *function, char why[SPMV_MESSAGE_MAX])
{
  PCFunction   f   = *function;
  Blocks       now = {.n = 0};
  PetscBool    schwarz;
  PCOverlapKey key;

  PetscFunctionBegin;
  if (!f) PetscCall(PetscNew(&f));
  *function = f;
  PetscCall(Collect(&now, pc, small, 0, why));
  PetscCall(KeyGet(pc, &key, &schwarz));
  if (now.lacks && (now.n > 1 || schwarz) && !why[0])
    PetscCall(PetscStrncpy(why, "the preconditioner of a block is not on the GPU", SPMV_MESSAGE_MAX));
  if (schwarz) PetscCall(OverlapGet(pc, f, &key, exec, why));
  else if (f->key.pc) PetscCall(OverlapForget(f, exec));
  if (!BlocksSame(&now, &f->blocks)) f->info.serial = AIJFmtSerialNext();
  PetscCall(PetscFree(f->blocks.block));
  f->blocks = now;
  if (why[0] || now.lacks) PetscCall(PCFunctionDestroy(function, exec));
  else f->info = FunctionDescribe(f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCFunctionHolds(const PCFunction f, PC pc, PetscBool small, PetscBool *holds)
{
  char         why[SPMV_MESSAGE_MAX] = "";
  Blocks       now                   = {.n = 0};
  PetscBool    unused;
  PCOverlapKey key;

  PetscFunctionBegin;
  PetscCall(Collect(&now, pc, small, 0, why));
  PetscCall(KeyGet(pc, &key, &unused));
  PetscCall(PetscMemcmp(&key, &f->key, sizeof key, holds));
  if (why[0] || !BlocksSame(&now, &f->blocks)) *holds = PETSC_FALSE;
  PetscCall(PetscFree(now.block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCFunctionDestroy(PCFunction *f, SpmvExec *exec)
{
  PetscFunctionBegin;
  if (!*f) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCOverlapDestroy(&(*f)->overlap, exec));
  PetscCall(PetscFree((*f)->blocks.block));
  PetscCall(PetscFree(*f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PCFunctionInfo PCFunctionGetInfo(const PCFunction f) { return f->info; }

void PCFunctionCount(PCFunction f, PetscInt64 calls)
{
  for (PetscInt i = 0; i < f->blocks.n; i++)
    if (f->blocks.block[i].incomplete.of) f->blocks.block[i].incomplete.of->solves += (PetscInt)calls;
}

static SpmvStatus BlockApply(Block *b, const char *r, char *z, SpmvExec *exec)
{
  const int64_t at = b->first * (int64_t)sizeof(PetscScalar);

  return b->direct ? spmv_direct_function(b->direct, r + at, z + at, exec)
                   : MatIncompleteFunction(&b->incomplete, r + at, z + at, exec);
}

/* Both exchanges are done even after a failure, because the other processes wait for them */
SpmvStatus PCFunctionApply(void *function, const void *r, void *z, SpmvExec *exec)
{
  const PCFunction f       = (PCFunction)function;
  const void      *entries = r;
  void            *results = z;
  SpmvStatus       status  = SPMV_SUCCESS, added;

  if (f->overlap) status = PCOverlapBegin(f->overlap, r, &entries, &results, exec);
  for (PetscInt i = 0; i < f->blocks.n && !status; i++)
    status = BlockApply(&f->blocks.block[i], (const char *)entries, (char *)results, exec);
  if (!f->overlap) return status;
  added = PCOverlapEnd(f->overlap, z, exec);
  return status ? status : added;
}
