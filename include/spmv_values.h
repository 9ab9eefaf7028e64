/*
  spmv_values.h - the values of plans, and of CSR matrices, that lie on the device: read and changed there. It belongs
  to spmv_kernels.h, which includes it.

  All but the last work on exec->stream, for arrays and plans in SPMV_DEVICE; for others, and in a library without CUDA,
  they return SPMV_ERR_UNSUPPORTED with a message. A diagonal has shape [rows] and the scalar type of the matrix.
*/
#ifndef SPMV_VALUES_H
#define SPMV_VALUES_H

#include "spmv_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What happens to each value v in row i and column j, step after step, each of them rounded:

     v *= alpha;  v *= left[i];  v *= right[j];  on the diagonal v += shift;  v += added[i];  v = inserted[i]

   alpha and shift point to scalars of the plan's type on the host. left, added, inserted [rows] and right [cols] lie in
   the plan's space. A step whose pointer is NULL is left out. Entries that the pattern does not have are not made. */
typedef struct {
  const void *alpha, *shift;
  const void *left, *right;
  const void *added, *inserted;
} SpmvChange;

/* ---- of a plan whose table of slots has list_nonzeros ---- */

/* Writes the diagonal of a plan to diagonal, 0 where it has no entry. Only enqueues: no allocation, no wait. */
SPMV_API SpmvStatus spmv_get_diagonal(const SpmvPlan *, void *diagonal, SpmvExec *);
/* Changes the values of a plan, which are new values then, as after spmv_update_values(). It may allocate, and waits.
   After SPMV_ERR_MEMORY the values are the old ones. SPMV_ERR_UNSUPPORTED where the format borrows:
   change the CSR, and renew the plan by spmv_update_values(). */
SPMV_API SpmvStatus spmv_change_values(SpmvPlan *, const SpmvChange *, SpmvExec *);
/* Writes row_ptr, col and values of a plan to the arrays of a CSR, which are const for those who read them only. Sizes
   and scalar type are those of the plan, the index type is chosen by the caller. It may allocate, and waits. */
SPMV_API SpmvStatus spmv_csr_of_plan(const SpmvPlan *, const SpmvCsr *to, SpmvExec *);

/* ---- of a plan in double precision: products that read half the bytes ---- */

/* Bytes of the plan's values in single precision; 0 where its layout has no product with them, as on the host */
SPMV_API int64_t spmv_rounded_bytes(const SpmvPlan *);
/* Writes these values to rounded, an array of the caller in the plan's space, to be done again after new values. One
   that is too large becomes infinite, one that is too small 0. Of two that differ by less than a thousandth of what
   rounding may move them, a format may store one for both. Only enqueues. */
SPMV_API SpmvStatus spmv_round_values(const SpmvPlan *, void *rounded, SpmvExec *);
/* As spmv_mult() with the rounded matrix: each value is made double again, all else is double */
SPMV_API SpmvStatus spmv_mult_rounded(const SpmvPlan *, const void *rounded, const void *alpha, const void *x,
                                      const void *beta, void *y, void *work, SpmvExec *);

/* ---- of a CSR ---- */

/* Writes the diagonal to diagonal, 0 where there is no entry. Only enqueues. */
SPMV_API SpmvStatus spmv_csr_diagonal(const SpmvCsr *, void *diagonal, SpmvExec *);
/* Adds shift, a scalar on the host, to the values of those diagonal entries that are there. Only enqueues. A plan that
   borrows the values needs spmv_update_values() afterwards. */
SPMV_API SpmvStatus spmv_csr_shift(const SpmvPattern *, SpmvScalar, const void *shift, void *values, SpmvExec *);
/* The same with a number for each row: adds diagonal [rows], on the device, or with inserts puts it in their place */
SPMV_API SpmvStatus spmv_csr_set_diagonal(const SpmvPattern *, SpmvScalar, const void *diagonal, int inserts,
                                          void *values, SpmvExec *);

/* ---- of a CSR on the host ---- */

/* Changes values [nnz], with all arrays on the host, by up to 8 threads where there are many: as many as the
   processors that the calling thread may run on; they end with the call. */
SPMV_API SpmvStatus spmv_host_change(const SpmvPattern *, SpmvScalar, const SpmvChange *, void *values, SpmvExec *);

#ifdef __cplusplus
}
#endif
#endif
