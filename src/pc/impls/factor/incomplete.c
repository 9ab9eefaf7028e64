/* incomplete.c - incomplete factors and sweeps of SOR, whose PCApply() is one call of the kernel library. */
#include "pcfactor.h"

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
