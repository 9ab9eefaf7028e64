/*
  crsv.h - the plan of format crsv (CRS-vector): the caller's CSR arrays, nothing of its own.

  Invariants: row_ptr [rows+1], col [nnz] and values [nnz] are borrowed from the CSR that the plan was built from.
*/
#ifndef SPMV_CRSV_H
#define SPMV_CRSV_H

#include <spmv_kernels.h>

typedef struct {
  SpmvPlan    base;
  const void *row_ptr; /* [rows+1], base.index_type */
  const void *col;     /* [nnz], base.index_type */
  const void *values;  /* [nnz], base.scalar_type */
} CrsvPlan;

#endif
