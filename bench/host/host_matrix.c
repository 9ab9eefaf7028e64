/* host_matrix.c - matrices of host_bench and coo_bench; see host_matrix.h. */
#include "host_matrix.h"
#include "families.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const SpmvIndex  index_type  = sizeof(PetscInt) == 8 ? SPMV_I64 : SPMV_I32;
static const SpmvScalar scalar_type = sizeof(PetscScalar) == 4 ? SPMV_F32 : SPMV_F64;

/* The value of an entry depends on the two indices alone, not on their order: sbaij keeps one of the two */
static void SymmetricValues(const SpmvPattern *p, PetscScalar *values)
{
  const PetscInt *row_ptr = p->row_ptr, *col = p->col;

  for (PetscInt i = 0; i < p->rows; i++)
    for (PetscInt k = row_ptr[i]; k < row_ptr[i + 1]; k++)
      values[k] = (PetscScalar)(2 * gen_uniform((uint64_t)PetscMin(i, col[k]), (uint64_t)PetscMax(i, col[k])) - 1);
}

PetscErrorCode HostMatrixGenerate(const char name[], HostMatrix *matrix)
{
  NamedMatrix  named;
  char         message[FAMILY_TEXT];
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCheck(family_find(name, &named, message), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "%s", message);
  memset(matrix, 0, sizeof *matrix);
  snprintf(matrix->name, sizeof matrix->name, "%.*s", HOST_MATRIX_NAME - 1, named.name);
  PetscCheck(!gen_pattern(&named.spec, index_type, &matrix->csr.pattern), PETSC_COMM_SELF, PETSC_ERR_MEM,
             "%s does not fit the memory or PetscInt", named.name);
  gen_free_kept();
  values = malloc((size_t)(matrix->csr.pattern.nnz + 1) * sizeof(PetscScalar));
  PetscCheck(values, PETSC_COMM_SELF, PETSC_ERR_MEM, "%s does not fit the memory", named.name);
  SymmetricValues(&matrix->csr.pattern, values);
  matrix->csr.scalar_type  = scalar_type;
  matrix->csr.values_space = SPMV_HOST;
  matrix->csr.values       = values;
  PetscFunctionReturn(0);
}

PetscErrorCode HostMatrixLoad(const char path[], HostMatrix *matrix)
{
  PetscViewer        viewer;
  PetscInt           rows, cols;
  const PetscInt    *row_ptr, *col;
  const PetscScalar *values;
  PetscBool          done;
  const char        *file = strrchr(path, '/');
  char              *end;

  PetscFunctionBeginUser;
  memset(matrix, 0, sizeof *matrix);
  snprintf(matrix->name, sizeof matrix->name, "%s", file ? file + 1 : path);
  end = strrchr(matrix->name, '.');
  if (end) *end = 0;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, path, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_SELF, &matrix->file));
  PetscCall(MatSetType(matrix->file, MATSEQAIJ));
  PetscCall(MatLoad(matrix->file, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatGetSize(matrix->file, &rows, &cols));
  PetscCall(MatGetRowIJ(matrix->file, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s: no access to the rows", path);
  PetscCall(MatSeqAIJGetArrayRead(matrix->file, &values));
  matrix->csr = (SpmvCsr){.pattern      = {.rows       = rows,
                                           .cols       = cols,
                                           .nnz        = row_ptr[rows],
                                           .index_type = index_type,
                                           .space      = SPMV_HOST,
                                           .row_ptr    = row_ptr,
                                           .col        = col},
                          .scalar_type  = scalar_type,
                          .values_space = SPMV_HOST,
                          .values       = values};
  PetscFunctionReturn(0);
}

PetscErrorCode HostMatrixDestroy(HostMatrix *matrix)
{
  PetscFunctionBeginUser;
  if (matrix->file) {
    PetscInt           rows    = (PetscInt)matrix->csr.pattern.rows;
    const PetscInt    *row_ptr = matrix->csr.pattern.row_ptr, *col = matrix->csr.pattern.col;
    const PetscScalar *values = matrix->csr.values;
    PetscBool          done;

    PetscCall(MatSeqAIJRestoreArrayRead(matrix->file, &values));
    PetscCall(MatRestoreRowIJ(matrix->file, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col, &done));
    PetscCall(MatDestroy(&matrix->file));
  } else {
    gen_pattern_free(&matrix->csr.pattern);
    free((void *)matrix->csr.values);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode HostMatrixWrap(const HostMatrix *matrix, Mat *A)
{
  const SpmvPattern *p = &matrix->csr.pattern;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, (PetscInt)p->rows, (PetscInt)p->cols, (PetscInt *)p->row_ptr,
                                      (PetscInt *)p->col, (PetscScalar *)matrix->csr.values, A));
  PetscFunctionReturn(0);
}
