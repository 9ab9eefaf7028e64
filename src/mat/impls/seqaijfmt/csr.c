/* The CSR arrays of a sequential matrix: those of the host, and those that a plan or a product of matrices reads. */
#include "seqaijfmt.h"
#include "cuda.h"

/* The arrays belong to the matrix. AIJFmtHostPatternRestore() gives them back. */
PetscErrorCode AIJFmtHostPatternGet(Mat A, SpmvPattern *pattern)
{
  static const PetscInt no_rows[1] = {0};
  const PetscInt       *row_ptr, *col;
  PetscInt              rows;
  PetscBool             done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "type %s does not give its row pointers and columns",
             ((PetscObject)A)->type_name);
  *pattern              = (SpmvPattern){.rows       = A->rmap->n,
                                        .cols       = A->cmap->n,
                                        .nnz        = row_ptr ? row_ptr[rows] : 0,
                                        .index_type = AIJFMT_INDEX,
                                        .space      = SPMV_HOST,
                                        .row_ptr    = row_ptr ? row_ptr : no_rows,
                                        .col        = col};
  pattern->host_row_ptr = pattern->row_ptr;
  pattern->host_col     = pattern->col;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtHostPatternRestore(Mat A, SpmvPattern *pattern)
{
  const PetscInt *row_ptr = pattern->row_ptr, *col = pattern->col;
  PetscInt        rows;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col, &done));
  pattern->row_ptr = pattern->col = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the nonzeros of A */
PetscErrorCode AIJFmtNonzeros(Mat A, int64_t *nonzeros)
{
  SpmvPattern pattern = {.nnz = 0}; /* gcc does not see that it is filled whenever the call succeeds */

  PetscFunctionBegin;
  PetscCall(AIJFmtHostPatternGet(A, &pattern));
  *nonzeros += pattern.nnz;
  PetscCall(AIJFmtHostPatternRestore(A, &pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays from which a plan in s->exec.space takes its values: of the device where the parent has current ones
   there, else of the host */
PetscErrorCode AIJFmtCsrGet(Mat A, Mat_AIJFmt *s, const SpmvPattern *pattern, AIJFmtCsr *from)
{
  PetscBool done;

  PetscFunctionBegin;
  *from = (AIJFmtCsr){.csr = {.pattern = *pattern, .scalar_type = AIJFMT_SCALAR, .values_space = SPMV_HOST}};
  PetscCall(AIJFmtCudaCsr(A, s, &from->csr, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGetArrayRead(A, &from->host_values));
  from->csr.values = from->host_values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtCsrRestore(Mat A, AIJFmtCsr *from)
{
  PetscFunctionBegin;
  if (from->host_values) PetscCall(MatSeqAIJRestoreArrayRead(A, &from->host_values));
  PetscFunctionReturn(PETSC_SUCCESS);
}
