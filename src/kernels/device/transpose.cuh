/*
  transpose.cuh - an explicit plan of A^T on the device, shared by all formats: transposed products are then as fast and
  as repeatable as products. A format lists its nonzeros in CSR order; a stable sort by column makes them the CSR of
  A^T.
*/
#ifndef SPMV_TRANSPOSE_CUH
#define SPMV_TRANSPOSE_CUH

#include "arena.cuh"

/* A matrix by coordinates in the order of its CSR: row [nnz], col [nnz], values [nnz] S, in device memory */
typedef struct {
  int32_t *row, *col;
  void    *values;
} SpmvCoordinates;

/* What prepare_transpose keeps behind a plan; all zero: nothing */
typedef struct {
  SpmvPlan *plan; /* of A^T */
  void     *work; /* of its product, on the device */
} SpmvTransposed;

SpmvStatus spmv_coordinates_alloc(SpmvCoordinates *, int64_t nnz, SpmvScalar, SpmvArena *, SpmvExec *);

/* The CSR of A^T, with 64-bit indices, in arrays of the arena. base tells the sizes of A. */
SpmvStatus spmv_transpose_coordinates(const SpmvPlan *base, const SpmvCoordinates *, SpmvArena *, SpmvExec *,
                                      SpmvCsr        *transposed);

/* Analyzes and builds A^T by the format of base, and adds it to the memory report of base. The CSR may be freed then.
 */
SpmvStatus spmv_transposed_build(SpmvPlan *base, const SpmvCsr *transposed, const SpmvOptions *, SpmvExec *,
                                 SpmvTransposed *);

/* Frees it, and takes it out of the memory report again: new values make it stale */
void spmv_transposed_free(SpmvPlan *base, SpmvTransposed *);

/* y = alpha A^T x + beta y, or an error when there is no plan of A^T */
SpmvStatus spmv_transposed_mult(const SpmvTransposed *, const void *alpha, const void *x, const void *beta, void *y,
                                SpmvExec *);

#endif
