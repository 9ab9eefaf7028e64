/*
  point.c - a point or point-block preconditioner as numbers on the device.

  The numbers are results of PCApply(), so that all options of the PC are respected: a diagonal is the result for a
  vector of ones, but for PCJACOBI with its default options on one process, whose numbers come from the matrix; column j
  of all blocks is the result for the vector that is 1 in row j of each block and 0 elsewhere.
  All factors are 0 or 1, so the products are exact.
*/
#include "point.h"
#include "parallel/processes.h"

PetscErrorCode MGDevKeyGet(PC pc, MGDevKey *key)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(key, sizeof *key));
  key->id = ((PetscObject)pc)->id;
  if (pc->pmat) {
    key->matrix  = ((PetscObject)pc->pmat)->id;
    key->state   = ((PetscObject)pc->pmat)->state;
    key->pattern = pc->pmat->nonzerostate;
  }
  PetscCall(PetscStrncpy(key->type, ((PetscObject)pc)->type_name, sizeof key->type));
  PetscCall(PetscMemcpy(key->set_up, &pc->matstate, sizeof key->set_up));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MGDevPointFree(MGDevPoint *p, SpmvExec *exec)
{
  spmv_exec_free(exec, SPMV_DEVICE, p->values);
  *p = (MGDevPoint){.values = NULL};
}

/* The kind of the preconditioner, its block size, and a number that encodes the options of PCJACOBI. why: the reason,
   if it cannot be expressed by numbers. */
PetscErrorCode MGDevPointDescribe(PC pc, MGDevPoint *now, char why[SPMV_MESSAGE_MAX])
{
  PetscBool    none, jacobi, blocks, absolute, fix;
  PCJacobiType type;
  PetscInt     rows;
  Mat          P;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCNONE, &none));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCJACOBI, &jacobi));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCPBJACOBI, &blocks));
  *now = (MGDevPoint){.kind = none ? SPMV_PC_IDENTITY : SPMV_PC_DIAGONAL, .block = 1};
  if (!none && !jacobi && !blocks) {
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "the preconditioner is %s, not none, jacobi or pbjacobi",
                            ((PetscObject)pc)->type_name ? ((PetscObject)pc)->type_name : "not set"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
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
    if (now->block > SPMV_PC_BLOCK_MAX)
      PetscCall(PetscStrncpy(why, "the blocks of the preconditioner have more than 8 rows", SPMV_MESSAGE_MAX));
    else if (rows % now->block)
      PetscCall(PetscStrncpy(why, "the rows of a process are no multiple of the block size", SPMV_MESSAGE_MAX));
  }
  PetscCall(PCGetReusePreconditioner(pc, &now->reused));
  PetscCall(MGDevKeyGet(pc, &now->key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether p holds the wanted preconditioner. One that is reused is as after the last set-up, also for another matrix. */
PetscErrorCode MGDevPointSame(const MGDevPoint *p, const MGDevPoint *wanted, PetscBool *same)
{
  MGDevKey key = wanted->key;

  PetscFunctionBegin;
  if (wanted->reused) {
    key.matrix  = p->key.matrix;
    key.state   = p->key.state;
    key.pattern = p->key.pattern;
  }
  PetscCall(PetscMemcmp(&p->key, &key, sizeof key, same));
  if (p->kind != wanted->kind || p->block != wanted->block || p->variant != wanted->variant) *same = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates memory for the wanted preconditioner unless it exists. If it is not current, PointFill_MGDevice() must
   follow. The address is unchanged if the size is. */
static PetscErrorCode PointReserve_MGDevice(MGDevPoint *p, const MGDevPoint *wanted, PetscInt rows, SpmvExec *exec,
                                            PetscBool *current, char why[SPMV_MESSAGE_MAX])
{
  int64_t bytes;

  PetscFunctionBegin;
  bytes = wanted->kind == SPMV_PC_IDENTITY ? 0 : (int64_t)rows * wanted->block * (int64_t)sizeof(PetscScalar);
  PetscCall(MGDevPointSame(p, wanted, current));
  if (p->bytes != bytes) *current = PETSC_FALSE;
  if (*current) PetscFunctionReturn(PETSC_SUCCESS);
  p->key.id = 0;
  if (p->bytes != bytes) {
    MGDevPointFree(p, exec);
    PetscCall(AIJFmtRefuse(exec, spmv_alloc(exec, SPMV_DEVICE, bytes, "preconditioner", &p->values), why));
    if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
    p->bytes = bytes;
  }
  p->kind  = wanted->kind;
  p->block = wanted->block;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a diagonal as PCSetUp_Jacobi() does for its default type: reciprocals, then 1 in place of 0 unless the matrix is
   positive definite. PETSc looks for zeros on the host. *sent: not set, and *made is false, for all else; the answer is one
   on all processes. */
static PetscErrorCode SendJacobi(const MGDevPoint *p, const MGDevPoint *wanted, PC pc, SpmvExec *exec, PetscBool *made,
                                 SpmvStatus *sent)
{
  PetscBool   known = PETSC_FALSE, spd = PETSC_FALSE; /* gcc does not see that they are set */
  Mat         block = pc->pmat;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCJACOBI, made));
  if (*made && size > 1) PetscCall(PetscObjectBaseTypeCompare((PetscObject)pc->pmat, MATMPIAIJ, made));
  if (wanted->variant > 1 || wanted->reused) *made = PETSC_FALSE; /* > 1: another type, or absolute values */
  if (!*made) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetUp(pc));
  PetscCall(MatIsSPDKnown(pc->pmat, &known, &spd));
  if (size > 1) PetscCall(MatGetDiagonalBlock(pc->pmat, &block));
  PetscCall(AIJFmtDiagonalCopy(exec, block, p->values, sent));
  if (!*sent)
    *sent = spmv_reciprocal(p->bytes / (int64_t)sizeof(PetscScalar), AIJFMT_SCALAR,
                            wanted->variant == 1 && !(known && spd), p->values, exec);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies blocks of shape [block][block], each by columns */
static PetscErrorCode SendBlocks(const MGDevPoint *p, PC pc, Vec unit, Vec result, SpmvExec *exec, SpmvStatus *sent)
{
  const PetscInt     block = p->block;
  const PetscScalar *column;
  PetscScalar       *values, *array;
  PetscInt           rows;

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
  *sent = spmv_copy(p->values, SPMV_DEVICE, values, SPMV_HOST, p->bytes, exec);
  PetscCall(PetscFree(values));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)p->bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the numbers from the PC, or leaves a reason. Collective on the PC. */
static PetscErrorCode PointFill_MGDevice(MGDevPoint *p, const MGDevPoint *wanted, PC pc, SpmvExec *exec,
                                         char why[SPMV_MESSAGE_MAX])
{
  PetscBool  made = p->kind == SPMV_PC_IDENTITY ? PETSC_TRUE : PETSC_FALSE;
  SpmvStatus sent = SPMV_SUCCESS;
  Vec        unit = NULL, result = NULL;

  PetscFunctionBegin;
  if (p->kind == SPMV_PC_DIAGONAL) PetscCall(SendJacobi(p, wanted, pc, exec, &made, &sent));
  if (!made) PetscCall(MatCreateVecs(pc->pmat, &unit, &result));
  if (!made && p->kind == SPMV_PC_BLOCKS) PetscCall(SendBlocks(p, pc, unit, result, exec, &sent));
  else if (!made) {
    PetscCall(VecSet(unit, 1));
    PetscCall(PCApply(pc, unit, result));
    PetscCall(AIJFmtVectorCopy(exec, result, p->values, &sent));
  }
  PetscCall(VecDestroy(&unit));
  PetscCall(VecDestroy(&result));
  PetscCall(AIJFmtRefuse(exec, sent, why));
  p->variant = wanted->variant;
  p->key     = wanted->key;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes p the wanted preconditioner, and sets *renewed if it was not. A reason that the caller passes for this process, or
   that is left, is one on all processes. Collective on the PC. */
PetscErrorCode MGDevPointGet(MGDevPoint *p, const MGDevPoint *wanted, PC pc, SpmvExec *exec, PetscBool *renewed,
                             char why[SPMV_MESSAGE_MAX])
{
  const MPI_Comm comm    = PetscObjectComm((PetscObject)pc);
  PetscBool      current = PETSC_FALSE;
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (!why[0]) PetscCall(PointReserve_MGDevice(p, wanted, pc->pmat->rmap->n, exec, &current, why));
  if (size > 1) PetscCall(PetscPackAgree(comm, why)); /* PCApply() is collective */
  if (size > 1) PetscCall(PetscPackAll(comm, &current));
  if (why[0] || current) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PointFill_MGDevice(p, wanted, pc, exec, why));
  if (size > 1) PetscCall(PetscPackAgree(comm, why));
  *renewed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
