/*
  graph_others.c - the edges between vertices of different processes, in the graph of a parallel matrix without blocks.

  These edges are few (the surface of a subdomain), and each needs data of another process: the opposite edge for G +
  G^T, the diagonal for the scaling. So PETSc's functions do these steps on the host, on a matrix that holds these edges
  alone.
*/
#include "graph.h"

/* Fills a parallel matrix with the off-diagonal block of A; the diagonal block stays empty */
static PetscErrorCode Copy(Mat A, Mat block, const PetscInt *global, PetscBool magnitudes, Mat O)
{
  const PetscScalar *value;
  const PetscInt    *row_ptr, *col;
  SpmvPattern        p = {.nnz = 0};
  PetscInt           first;

  PetscFunctionBegin;
  PetscCall(AIJFmtHostPatternGet(block, &p));
  PetscCall(MatSeqAIJGetArrayRead(block, &value));
  PetscCall(MatGetOwnershipRange(A, &first, NULL));
  row_ptr = (const PetscInt *)p.row_ptr;
  col     = (const PetscInt *)p.col;
  for (PetscInt i = 0; p.nnz > 0 && i < (PetscInt)p.rows; i++)
    for (PetscInt k = row_ptr[i]; k < row_ptr[i + 1]; k++)
      PetscCall(
          MatSetValue(O, first + i, global[col[k]], magnitudes ? PetscAbsScalar(value[k]) : value[k], INSERT_VALUES));
  PetscCall(MatSeqAIJRestoreArrayRead(block, &value));
  PetscCall(AIJFmtHostPatternRestore(block, &p));
  PetscCall(MatAssemblyBegin(O, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(O, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Mat A, PetscBool magnitudes, Mat *O)
{
  const PetscInt *global;
  SpmvExec        exec;
  SpmvPattern     p = {.nnz = 0};
  PetscInt       *lengths;
  Mat             block;

  PetscFunctionBegin;
  spmv_exec_init(&exec, SPMV_HOST);
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &block, &global));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), O));
  PetscCall(MatSetSizes(*O, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(MatSetType(*O, MATMPIAIJ));
  PetscCall(AIJFmtHostPatternGet(block, &p));
  PetscCall(AIJFmtLengthsFetch(&exec, &p, &lengths));
  PetscCall(AIJFmtHostPatternRestore(block, &p));
  PetscCall(MatMPIAIJSetPreallocation(*O, 0, NULL, 0, lengths));
  PetscCall(PetscFree(lengths));
  PetscCall(MatSetOption(*O, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(Copy(A, block, global, magnitudes, *O));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal of the block as a vector of O; 0 for rows without a diagonal entry */
static PetscErrorCode Diagonal(AIJFmtGraphSource *from, Vec diagonal)
{
  const int64_t bytes  = from->a.csr.pattern.rows * (int64_t)sizeof(PetscScalar);
  SpmvStatus    status = SPMV_SUCCESS;
  PetscScalar  *array;
  void         *there = NULL;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(diagonal, &array));
  if (from->exec.space == SPMV_DEVICE) {
    status = spmv_scratch_alloc(&from->exec, SPMV_DEVICE, bytes, "diagonal", &there);
    if (!status && bytes > 0) status = spmv_csr_diagonal(&from->a.csr, there, &from->exec);
    if (!status) status = spmv_copy(array, SPMV_HOST, there, SPMV_DEVICE, bytes, &from->exec);
    if (!status) status = spmv_stream_wait(&from->exec);
    spmv_scratch_free(&from->exec, SPMV_DEVICE, there);
  } else {
    const PetscInt    *row_ptr = (const PetscInt *)from->a.csr.pattern.row_ptr, *col = from->a.csr.pattern.col;
    const PetscScalar *value = (const PetscScalar *)from->a.csr.values;

    for (PetscInt i = 0; i < (PetscInt)from->a.csr.pattern.rows; i++) {
      array[i] = 0;
      for (PetscInt k = row_ptr[i]; k < row_ptr[i + 1]; k++)
        if (col[k] == i) array[i] = value[k];
    }
  }
  PetscCall(VecRestoreArrayWrite(diagonal, &array));
  AIJFmtCallSpmv(&from->exec, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scales as PETSc does, by sqrt(|1 / d|) for each vertex, or 0 */
static PetscErrorCode Scale(AIJFmtGraphSource *from, PetscBool doubled, Mat O)
{
  Vec factor;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(O, &factor, NULL));
  PetscCall(Diagonal(from, factor));
  if (doubled) PetscCall(VecScale(factor, 2));
  PetscCall(VecReciprocal(factor));
  PetscCall(VecSqrtAbs(factor));
  PetscCall(MatDiagonalScale(O, factor, factor));
  PetscCall(VecDestroy(&factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the edges that pass the filter; their columns are global */
static PetscErrorCode Filter(Mat O, PetscReal filter, AIJFmtGraphOthers *others)
{
  const PetscScalar *value;
  const PetscInt    *global, *row_ptr, *col;
  SpmvPattern        p = {.nnz = 0};
  PetscInt           n = 0;
  Mat                block;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(O, NULL, &block, &global));
  PetscCall(AIJFmtHostPatternGet(block, &p));
  PetscCall(MatSeqAIJGetArrayRead(block, &value));
  PetscCall(PetscMalloc3(p.rows + 1, &others->row_ptr, p.nnz + 1, &others->col, p.nnz + 1, &others->value));
  row_ptr            = (const PetscInt *)p.row_ptr;
  col                = (const PetscInt *)p.col;
  others->row_ptr[0] = 0;
  for (PetscInt i = 0; i < (PetscInt)p.rows; i++) {
    for (PetscInt k = p.nnz > 0 ? row_ptr[i] : 0; p.nnz > 0 && k < row_ptr[i + 1]; k++) {
      if (filter >= 0 && PetscAbsScalar(value[k]) <= filter) continue;
      others->col[n]     = global[col[k]];
      others->value[n++] = value[k];
    }
    others->row_ptr[i + 1] = n;
  }
  others->csr = (SpmvCsr){.pattern      = {.rows       = p.rows,
                                           .cols       = O->cmap->N,
                                           .nnz        = n,
                                           .index_type = AIJFMT_INDEX,
                                           .space      = SPMV_HOST,
                                           .row_ptr    = others->row_ptr,
                                           .col        = others->col},
                          .scalar_type  = AIJFMT_SCALAR,
                          .values_space = SPMV_HOST,
                          .values       = others->value};
  PetscCall(MatSeqAIJRestoreArrayRead(block, &value));
  PetscCall(AIJFmtHostPatternRestore(block, &p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* mine: the diagonal block of A. Collective. */
PetscErrorCode AIJFmtGraphOthersGet(Mat A, const AIJFmtGraphRequest *r, AIJFmtGraphSource *mine,
                                    AIJFmtGraphOthers *others)
{
  const PetscBool add = r->symmetrize && A->symmetric != PETSC_BOOL3_TRUE ? PETSC_TRUE : PETSC_FALSE;
  Mat             O, opposite;

  PetscFunctionBegin;
  PetscCall(Create(A, r->scale || r->filter >= 0 ? PETSC_TRUE : PETSC_FALSE, &O));
  if (add) {
    PetscCall(MatTranspose(O, MAT_INITIAL_MATRIX, &opposite));
    PetscCall(MatAXPY(O, 1, opposite, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&opposite));
  }
  if (r->scale) PetscCall(Scale(mine, add, O));
  PetscCall(Filter(O, r->filter, others));
  PetscCall(MatDestroy(&O));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtGraphOthersFree(AIJFmtGraphOthers *others)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(others->row_ptr, others->col, others->value));
  PetscFunctionReturn(PETSC_SUCCESS);
}
