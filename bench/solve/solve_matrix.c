/* solve_matrix.c - assembles a matrix of a type from the arrays of a problem, as applications do. */
#include "solve_bench.h"

PetscErrorCode WriteBySetValues(const Problem *p, const PetscScalar values[], Mat A)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < p->rows; i++) {
    const PetscInt row = p->first_row + i, begin = p->row_ptr[i], count = p->row_ptr[i + 1] - begin;
    PetscCall(MatSetValues(A, 1, &row, count, p->col + begin, values + begin, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Counts the nonzeros of each row in the columns of this process, and in those of other processes */
static void CountColumns(const Problem *p, PetscInt inside[], PetscInt outside[])
{
  const PetscInt last = p->first_row + p->rows;

  for (PetscInt i = 0; i < p->rows; i++) {
    PetscInt own = 0;
    if (p->rows == p->all_rows) own = p->row_ptr[i + 1] - p->row_ptr[i];
    else
      for (PetscInt k = p->row_ptr[i]; k < p->row_ptr[i + 1]; k++) own += p->col[k] >= p->first_row && p->col[k] < last;
    inside[i]  = own;
    outside[i] = p->row_ptr[i + 1] - p->row_ptr[i] - own;
  }
}

/* An empty matrix of a type. Before the problem is complete, it is the reference matrix on the host, which ignores
   options. */
static PetscErrorCode MakeMatrix(const Problem *p, const char type[], Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, p->rows, p->rows, p->all_rows, p->all_rows));
  PetscCall(MatSetBlockSize(*A, p->block_size));
  PetscCall(MatSetType(*A, type));
  if (p->host) PetscCall(MatSetFromOptions(*A));
  PetscFunctionReturn(0);
}

PetscErrorCode AssembleBySetValues(const Problem *p, const char type[], Mat *A)
{
  PetscInt *inside, *outside;
  PetscBool sellcuda;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(type, "sellcuda", &sellcuda)); /* PETSc converts to it only from MATSELL */
  PetscCall(MakeMatrix(p, sellcuda ? MATSELL : type, A));
  PetscCall(PetscMalloc2(p->rows, &inside, p->rows, &outside));
  CountColumns(p, inside, outside);
  PetscCall(MatSeqAIJSetPreallocation(*A, 0, inside));
  PetscCall(MatMPIAIJSetPreallocation(*A, 0, inside, 0, outside));
  PetscCall(MatSeqSELLSetPreallocation(*A, 0, inside));
  PetscCall(MatMPISELLSetPreallocation(*A, 0, inside, 0, outside));
  PetscCall(PetscFree2(inside, outside));
  PetscCall(MatSetOption(*A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(WriteBySetValues(p, p->value, *A));
  if (sellcuda) PetscCall(MatConvert(*A, type, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(0);
}

PetscErrorCode AssembleByCOO(const Problem *p, const char type[], PetscCount n, PetscInt *coo_row, PetscInt *coo_col,
                             Mat *A)
{
  PetscBool sellcuda;
  PetscErrorCode (*coo)(Mat, PetscCount, PetscInt[], PetscInt[]) = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(type, "sellcuda", &sellcuda));
  PetscCheck(!sellcuda, PETSC_COMM_WORLD, PETSC_ERR_SUP, "sellcuda has no assembly from a list of entries");
  PetscCall(MakeMatrix(p, type, A));
  /* PETSc's fallback for types without it would read device values on the host */
  PetscCall(PetscObjectQueryFunction((PetscObject)*A, "MatSetPreallocationCOO_C", &coo));
  PetscCheck(coo, PETSC_COMM_WORLD, PETSC_ERR_SUP, "%s has no assembly from a list of entries", type);
  PetscCall(MatSetPreallocationCOO(*A, n, coo_row, coo_col));
  PetscFunctionReturn(0);
}
