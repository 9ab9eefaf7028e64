/*
  incomplete.c - preconditioners whose PCApply() is one call of the kernel library: incomplete factors and sweeps of SOR, and
  the preconditioner of the only block of this process, which is all that a PCBJACOBI or PCASM then does.
*/
#include "pcfactor.h"
#include <petscksp.h>

PetscErrorCode PCIncompleteIs(PC pc, PetscBool *is)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, is, PCILU, PCICC, PCSOR, PCBJACOBI, PCASM, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *is: the factor is one of the package petscpack */
static PetscErrorCode FactorOnDevice(PC pc, PetscBool *is, MatIncompleteApply *a, char why[SPMV_MESSAGE_MAX])
{
  Mat_Incomplete *s;
  Mat             F;

  PetscFunctionBegin;
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatIncompleteStateGet(F, &s));
  *is = s ? PETSC_TRUE : PETSC_FALSE;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(why, s->why, SPMV_MESSAGE_MAX));
  if (!why[0]) MatIncompleteApplyOf(s, a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On several processes a sweep is one of the diagonal block. PETSc has no getter of the shift, which only an option sets. */
static PetscErrorCode SweepsOnDevice(PC pc, PetscBool small, MatIncompleteApply *a, char why[SPMV_MESSAGE_MAX])
{
  Mat         local = pc->pmat;
  PetscInt    its, lits;
  PetscReal   omega;
  PetscMPIInt size;
  PetscBool   aij, shifted;
  MatSORType  kind;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(PCSORGetSymmetric(pc, &kind));
  PetscCall(PCSORGetOmega(pc, &omega));
  PetscCall(PCSORGetIterations(pc, &its, &lits));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, prefix, "-pc_sor_diagonal_shift", &shifted));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)pc->pmat, size > 1 ? MATMPIAIJ : MATSEQAIJ, &aij));
  if (!aij)
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "the matrix is of type %s", ((PetscObject)pc->pmat)->type_name));
  else if (size > 1 && (its > 1 || (kind & SOR_SYMMETRIC_SWEEP)))
    PetscCall(PetscStrncpy(why, "the sweeps are not local to a process", SPMV_MESSAGE_MAX));
  else if (shifted) PetscCall(PetscStrncpy(why, "-pc_sor_diagonal_shift", SPMV_MESSAGE_MAX));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(pc->pmat, &local, NULL, NULL));
  PetscCall(MatSweepsGet(local, omega, kind, 0, size > 1 ? lits : its, size > 1 ? 1 : lits, small, a, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the only part of a PCASM of one process is the whole system */
static PetscErrorCode IsWhole(PC pc, PetscBool *whole)
{
  PetscMPIInt size;
  PetscInt    parts, rows, n;
  IS         *part;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  *whole = size == 1 ? PETSC_TRUE : PETSC_FALSE;
  if (!*whole) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCASMGetLocalSubdomains(pc, &parts, &part, NULL));
  PetscCall(MatGetLocalSize(pc->pmat, &rows, NULL));
  PetscCall(ISGetLocalSize(part[0], &n));
  PetscCall(ISIdentity(part[0], whole));
  if (parts > 1 || n != rows) *whole = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

/* Why blocks are not one function, and what to try if they are those of a factor in blocks of rows */
static PetscErrorCode WhySeveral(PC pc, PetscBool jacobi, PetscInt blocks, KSP all[], char why[SPMV_MESSAGE_MAX])
{
  PetscBool   factors = jacobi, ilu;
  const char *prefix;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < blocks && factors; i++) {
    Mat_Incomplete *s = NULL;
    Mat             F;
    PC              block;

    PetscCall(OnlyApplies(all[i], &factors));
    PetscCall(KSPGetPC(all[i], &block));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)block, &ilu, PCILU, PCICC, ""));
    if (ilu) PetscCall(PCFactorGetMatrix(block, &F));
    if (ilu) PetscCall(MatIncompleteStateGet(F, &s));
    if (!s) factors = PETSC_FALSE;
  }
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  if (!prefix) prefix = "";
  PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "this process has %" PetscInt_FMT " blocks", blocks));
  if (factors)
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX,
                            "this process has %" PetscInt_FMT
                            " blocks; -%spc_bjacobi_local_blocks 1 with -%ssub_mat_incomplete_blocks %" PetscInt_FMT
                            " applies them by one factor",
                            blocks, prefix, prefix, blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOfBlock(PC pc, PC *inner, char why[SPMV_MESSAGE_MAX])
{
  PetscBool jacobi, schwarz, whole = PETSC_TRUE, only = PETSC_TRUE;
  PetscInt  blocks;
  KSP      *all;
  PC        block;

  PetscFunctionBegin;
  *inner = pc;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCBJACOBI, &jacobi));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCASM, &schwarz));
  if ((!jacobi && !schwarz) || !pc->setupcalled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetUpOnBlocks(pc));
  if (jacobi) PetscCall(PCBJacobiGetSubKSP(pc, &blocks, NULL, &all));
  else PetscCall(PCASMGetSubKSP(pc, &blocks, NULL, &all));
  *inner = NULL;
  if (blocks == 1 && schwarz) PetscCall(IsWhole(pc, &whole));
  if (blocks == 1) PetscCall(OnlyApplies(all[0], &only));
  if (blocks != 1) PetscCall(WhySeveral(pc, jacobi, blocks, all, why));
  else if (!whole) PetscCall(PetscStrncpy(why, "the blocks overlap, or are not the whole system", SPMV_MESSAGE_MAX));
  else if (!only)
    PetscCall(
        PetscStrncpy(why, "the solver of the block does more than to apply its preconditioner", SPMV_MESSAGE_MAX));
  else {
    PetscCall(KSPGetPC(all[0], &block));
    PetscCall(PCOfBlock(block, inner, why));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCIncompleteOnDevice(PC pc, PetscBool small, PetscBool *is, MatIncompleteApply *a,
                                    char reason[SPMV_MESSAGE_MAX])
{
  char      why[SPMV_MESSAGE_MAX] = "";
  PetscBool sor;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(a, sizeof *a));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, is, PCILU, PCICC, PCSOR, ""));
  if (!*is || !pc->setupcalled || pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSOR, &sor));
  if (sor) PetscCall(SweepsOnDevice(pc, small, a, why));
  else PetscCall(FactorOnDevice(pc, is, a, why));
  if (why[0]) PetscCall(PetscStrncpy(reason, why, SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}
