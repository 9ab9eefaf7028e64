/*
  pc.c - the preconditioner as numbers on the device.

  They come from PCApply(), so that all options of the PC are honoured: a diagonal is what it makes of ones; column j of all blocks together is what it makes of the vector that is 1 in row j of each block and 0
  elsewhere. All products are by 0 or 1, and so exact.
*/
#include "cgdevice.h"

PetscErrorCode CGDevPCForget(KSP_CGDevice *s)
{
  PetscFunctionBegin;
  spmv_exec_free(&s->exec, SPMV_DEVICE, s->pc.values);
  s->pc.values = NULL;
  s->pc.bytes  = 0;
  s->pc.id     = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kind of the preconditioner, its block size, and a number for the options of PCJACOBI that change what it does */
static PetscErrorCode Describe(PC pc, CGDevPC *now, const char **why)
{
  PetscBool    none, jacobi, blocks, absolute, fix;
  PCJacobiType type;
  PetscInt     rows;
  Mat          P;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCNONE, &none));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCJACOBI, &jacobi));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCPBJACOBI, &blocks));
  now->block   = 1;
  now->variant = 0;
  now->kind    = none ? SPMV_PC_IDENTITY : SPMV_PC_DIAGONAL;
  if (!none && !jacobi && !blocks) *why = "the preconditioner is not none, jacobi or pbjacobi";
  if (jacobi) {
    PetscCall(PCJacobiGetType(pc, &type));
    PetscCall(PCJacobiGetUseAbs(pc, &absolute));
    PetscCall(PCJacobiGetFixDiagonal(pc, &fix));
    now->variant = 4 * (PetscInt)type + 2 * (absolute ? 1 : 0) + (fix ? 1 : 0);
  }
  if (blocks) {
    PetscCall(PCGetOperators(pc, NULL, &P));
    PetscCall(MatGetBlockSize(P, &now->block));
    PetscCall(MatGetLocalSize(P, &rows, NULL));
    if (now->block > 1) now->kind = SPMV_PC_BLOCKS;
    if (now->block > SPMV_PC_BLOCK_MAX) *why = "the blocks of the preconditioner have more than 8 rows";
    else if (rows % now->block) *why = "the rows of a process are no multiple of the block size";
  }
  now->id = ((PetscObject)pc)->id;
  PetscCall(PetscStrncpy(now->type, ((PetscObject)pc)->type_name, sizeof now->type));
  memcpy(now->matrix_state, &pc->matstate, sizeof now->matrix_state);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IsCurrent(const CGDevPC *have, const CGDevPC *now, int64_t bytes, PetscBool *current)
{
  PetscBool type, state;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(have->type, now->type, &type));
  PetscCall(PetscMemcmp(have->matrix_state, now->matrix_state, sizeof now->matrix_state, &state));
  *current = have->id == now->id && have->bytes == bytes && have->variant == now->variant && type && state
                 ? PETSC_TRUE
                 : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A diagonal, from where the PC leaves its result */
static PetscErrorCode SendDiagonal(PC pc, KSP_CGDevice *s, Vec ones, Vec result)
{
  const PetscScalar *array;
  PetscMemType       memtype;
  SpmvSpace          space;

  PetscFunctionBegin;
  PetscCall(VecSet(ones, 1));
  PetscCall(PCApply(pc, ones, result));
  PetscCall(VecGetArrayReadAndMemType(result, &array, &memtype));
  space = PetscMemTypeHost(memtype) ? SPMV_HOST : SPMV_DEVICE;
  AIJFmtCallSpmv(&s->exec, spmv_copy(s->pc.values, SPMV_DEVICE, array, space, s->pc.bytes, &s->exec));
  PetscCall(VecRestoreArrayReadAndMemType(result, &array));
  if (space == SPMV_HOST) PetscCall(PetscLogCpuToGpu((PetscLogDouble)s->pc.bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of shape [block][block], each by columns */
static PetscErrorCode SendBlocks(PC pc, KSP_CGDevice *s, Vec unit, Vec result)
{
  const PetscInt     block = s->pc.block;
  const PetscScalar *column;
  PetscScalar       *values, *array;
  PetscInt           rows;
  SpmvStatus         sent;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(unit, &rows));
  PetscCall(PetscMalloc1((size_t)rows * block, &values));
  for (PetscInt j = 0; j < block; j++) {
    PetscCall(VecGetArrayWrite(unit, &array));
    for (PetscInt i = 0; i < rows; i++) array[i] = i % block == j ? 1 : 0;
    PetscCall(VecRestoreArrayWrite(unit, &array));
    PetscCall(PCApply(pc, unit, result));
    PetscCall(VecGetArrayRead(result, &column));
    for (PetscInt i = 0; i < rows; i++) values[((size_t)(i / block) * block + j) * block + i % block] = column[i];
    PetscCall(VecRestoreArrayRead(result, &column));
  }
  sent = spmv_copy(s->pc.values, SPMV_DEVICE, values, SPMV_HOST, s->pc.bytes, &s->exec);
  PetscCall(PetscFree(values));
  AIJFmtCallSpmv(&s->exec, sent); /* after the array is freed, which a caller that goes on after an error keeps else */
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)s->pc.bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory for the preconditioner that is `now`, unless it is current; values are still to come */
static PetscErrorCode Renew(KSP ksp, KSP_CGDevice *s, CGDevPC *now, PetscBool *current)
{
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(ksp->work[0], &rows));
  now->bytes = now->kind == SPMV_PC_IDENTITY ? 0 : (int64_t)rows * now->block * (int64_t)sizeof(PetscScalar);
  PetscCall(IsCurrent(&s->pc, now, now->bytes, current));
  if (*current) PetscFunctionReturn(PETSC_SUCCESS);
  if (now->bytes == s->pc.bytes) now->values = s->pc.values;
  else {
    PetscCall(CGDevPCForget(s));
    CGDevTry(s, spmv_alloc(&s->exec, SPMV_DEVICE, now->bytes, "preconditioner", &now->values));
  }
  s->pc    = *now;
  s->pc.id = 0; /* not current until the values are there */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uses the work vectors of KSPCG, which hold nothing before iteration 0 */
PetscErrorCode CGDevPCGet(KSP ksp, KSP_CGDevice *s)
{
  const char *why = NULL;
  CGDevPC     now;
  PetscBool   current = PETSC_FALSE;

  PetscFunctionBegin;
  /* KSPSetUp() returns early where the operators were not set again; then new values reach the PC at its next use */
  PetscCall(PCSetUp(ksp->pc));
  PetscCall(Describe(ksp->pc, &now, &why));
  if (ksp->pc->failedreason) why = "the set-up of the preconditioner failed";
  if (why) PetscCall(PetscStrncpy(s->reason, why, sizeof s->reason));
  else PetscCall(Renew(ksp, s, &now, &current));
  PetscCall(CGDevAgree(ksp, s)); /* PCApply() is collective */
  if (s->reason[0] || current) PetscFunctionReturn(PETSC_SUCCESS);
  if (now.kind == SPMV_PC_DIAGONAL) PetscCall(SendDiagonal(ksp->pc, s, ksp->work[2], ksp->work[1]));
  else if (now.kind == SPMV_PC_BLOCKS) PetscCall(SendBlocks(ksp->pc, s, ksp->work[2], ksp->work[1]));
  s->pc.id = now.id;
  PetscFunctionReturn(PETSC_SUCCESS);
}
