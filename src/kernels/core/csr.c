/* Validation of CSR patterns on the host. */
#include <spmv_kernels.h>

#define SPMV_BODY "core/csr_body.inc"
#define SPMV_INDEX_ONLY
#include "core/instantiate.h"

SpmvStatus spmv_pattern_check(const SpmvPattern *p, SpmvExec *exec)
{
  if (p->rows < 0 || p->cols < 0 || p->nnz < 0)
    return spmv_fail(exec, SPMV_ERR_MATRIX, "negative size: %lld rows, %lld columns, %lld nonzeros", (long long)p->rows,
                     (long long)p->cols, (long long)p->nnz);
  if (p->space != SPMV_HOST) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "only a pattern on the host can be checked");
  if (!p->row_ptr || (p->nnz > 0 && !p->col)) return spmv_fail(exec, SPMV_ERR_MATRIX, "row_ptr or col is NULL");
  return p->index_type == SPMV_I64 ? check_pattern_i64(p, exec) : check_pattern_i32(p, exec);
}
