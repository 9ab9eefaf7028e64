/* accept.c - checks of a system that hold for all engines. */
#include "device.h"

/* A multigrid cycle projects the null space out of its result; the kernels with a point preconditioner do not */
PetscErrorCode KSPDevWhyNullSpace(PC pc, Mat A, const char **why)
{
  MatNullSpace null_space;
  PetscBool    multigrid;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(A, &null_space));
  PetscCall(MGDevIsHierarchy(pc, &multigrid));
  if (null_space && !multigrid) *why = "the matrix has a null space";
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WhyParallelMatrix(Mat A, const char **why)
{
  PetscBool aij, cusparse;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &aij));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJCUSPARSE, &cusparse));
  if (!aij) *why = "the matrix is not of type mpiaij or one that is derived from it";
  else if (A->rmap->N != A->cmap->N || A->rmap->n != A->cmap->n || A->rmap->N == 0 || A->structure_only)
    *why = "the matrix is not square, is empty or has no values";
  else if (cusparse && AIJFmtBoundToCPU(A)) *why = "MatBindToCPU() bound the matrix to the host";
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WhySequentialMatrix(Mat A, const char **why)
{
  PetscBool aij, cusparse;
  PetscInt  rows, cols;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &aij));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &cusparse));
  PetscCall(MatGetLocalSize(A, &rows, &cols));
  if (!aij) *why = "the matrix is not of type seqaij or one that is derived from it";
  else if (rows != cols || rows == 0 || A->structure_only) *why = "the matrix is not square, is empty or has no values";
  else if (cusparse && AIJFmtBoundToCPU(A)) *why = "MatBindToCPU() bound the matrix to the host";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDevWhyMatrix(const KSPDevice *s, Mat A, const char **why)
{
  PetscFunctionBegin;
  PetscCall(s->several ? WhyParallelMatrix(A, why) : WhySequentialMatrix(A, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}
