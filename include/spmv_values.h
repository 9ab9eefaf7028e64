/*
  spmv_values.h - reads and changes values of plans and of CSR matrices in place, on the device. Part of spmv_kernels.h,
  which includes it.

  All functions except the last work on exec->stream, for arrays and plans in SPMV_DEVICE; for arrays and plans on the
  host, and in a library without CUDA, they return SPMV_ERR_UNSUPPORTED with a message. A diagonal has shape [rows] and
  the scalar type of the matrix.
*/
#ifndef SPMV_VALUES_H
#define SPMV_VALUES_H

#include "spmv_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A change of each value v in row i and column j: these steps in order, each rounded by itself:

     v *= alpha;  v *= left[i];  v *= right[j];  on the diagonal v += shift;  v += added[i];  v = inserted[i]

   alpha and shift point to scalars of the plan's type on the host. left, added, inserted [rows] and right [cols] lie in
   the plan's space. A step whose pointer is NULL is skipped. Entries that are not in the pattern are not created. */
typedef struct {
  const void *alpha, *shift;
  const void *left, *right;
  const void *added, *inserted;
} SpmvChange;

/* ---- of a plan whose table of slots has list_nonzeros ---- */

/* Writes the diagonal of a plan to diagonal, 0 for missing entries. Only enqueues: no allocation, no wait. */
SPMV_API SpmvStatus spmv_get_diagonal(const SpmvPlan *, void *diagonal, SpmvExec *);
/* Changes the values of a plan; as after spmv_update_values(), transposed products must be prepared again. It may
   allocate, and waits. After SPMV_ERR_MEMORY the old values are still there. SPMV_ERR_UNSUPPORTED if the format
   borrows: change the CSR, and call spmv_update_values(). */
SPMV_API SpmvStatus spmv_change_values(SpmvPlan *, const SpmvChange *, SpmvExec *);
/* Writes row_ptr, col and values of a plan to the arrays of `to`, despite their const. Sizes and scalar type must be
   those of the plan; the caller chooses the index type. It may allocate scratch memory. */
SPMV_API SpmvStatus spmv_csr_of_plan(const SpmvPlan *, const SpmvCsr *to, SpmvExec *);

/* ---- of a plan in double precision: products that read half the bytes ---- */

/* Bytes of the plan's values in single precision; 0 if its layout has no product with them, as on the host */
SPMV_API int64_t spmv_rounded_bytes(const SpmvPlan *);
/* Writes these values to rounded, an array of the caller in the plan's space; call it again after new values. Overflow
   gives infinity, underflow 0. A format may store two values that differ by less than a thousandth of the rounding
   error as one. Only enqueues. */
SPMV_API SpmvStatus spmv_round_values(const SpmvPlan *, void *rounded, SpmvExec *);
/* As spmv_mult() with the rounded matrix: values are converted back to double, and all arithmetic is double */
SPMV_API SpmvStatus spmv_mult_rounded(const SpmvPlan *, const void *rounded, const void *alpha, const void *x,
                                      const void *beta, void *y, void *work, SpmvExec *);

/* ---- of a CSR ---- */

/* Writes the diagonal to diagonal, 0 for missing entries. Only enqueues. */
SPMV_API SpmvStatus spmv_csr_diagonal(const SpmvCsr *, void *diagonal, SpmvExec *);
/* Writes the positions of the diagonal entries in col to positions [rows], of the index type of the pattern; where the
   entry is missing, the position behind the row. Only enqueues. */
SPMV_API SpmvStatus spmv_csr_mark_diagonal(const SpmvPattern *, void *positions, SpmvExec *);
/* Adds shift, a scalar on the host, to the diagonal entries that are in the pattern. Only enqueues. A plan that borrows
   the values needs spmv_update_values() afterwards. */
SPMV_API SpmvStatus spmv_csr_shift(const SpmvPattern *, SpmvScalar, const void *shift, void *values, SpmvExec *);
/* The same with a number for each row: adds diagonal [rows], on the device, or with inserts puts it in their place */
SPMV_API SpmvStatus spmv_csr_set_diagonal(const SpmvPattern *, SpmvScalar, const void *diagonal, int inserts,
                                          void *values, SpmvExec *);
/* Two matrices side by side: the first `before` columns of right, then those of left, then the others of right. Columns
   of rows ascend in all. Writes row_ptr, col and values of `to`, despite their const, of which row_ptr and col may be
   NULL. All have one index type; of the sizes of `to` none is read. Only enqueues. */
SPMV_API SpmvStatus spmv_csr_beside(const SpmvCsr *left, const SpmvCsr *right, int64_t before, const SpmvCsr *to,
                                    SpmvExec *);
/* Takes `rows` rows of a matrix, row [rows], in any order: first their row pointers to row_ptr [rows + 1], which may
   allocate scratch memory; then col and values to those of `to`, despite their const, of which either may be NULL. Column c
   becomes number[c], or first + c if number is NULL. All arrays lie on the device and have the index type of the matrix;
   of the sizes of `to` only rows is read. Both only enqueue. */
SPMV_API SpmvStatus spmv_csr_rows_begin(const SpmvPattern *, int64_t rows, const void *row, void *row_ptr, SpmvExec *);
SPMV_API SpmvStatus spmv_csr_rows(const SpmvCsr *from, const void *row, const void *number, int64_t first,
                                  const SpmvCsr *to, SpmvExec *);
/* The columns that occur in a pattern with nonzeros, ascending: used [the least of cols and nnz], *count of them; and for
   each nonzero the number of its column there: numbers [nnz]. Both on the device, of the index type of the pattern. Waits
   for the count. */
SPMV_API SpmvStatus spmv_csr_used_columns(const SpmvPattern *, void *numbers, void *used, int64_t *count, SpmvExec *);

/* ---- of a CSR on the host ---- */

/* Changes values [nnz], with all arrays on the host. For many nonzeros up to 8 threads work, at most one for each
   processor that the calling thread may run on; they end with the call. */
SPMV_API SpmvStatus spmv_host_change(const SpmvPattern *, SpmvScalar, const SpmvChange *, void *values, SpmvExec *);

#ifdef __cplusplus
}
#endif
#endif
