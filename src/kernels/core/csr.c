/* CSR patterns on the host: validation, by several threads if there are many nonzeros, and the transpose. */
#include "csr.h"
#include "row_shares.h"
#include <string.h>

#define SPMV_BODY "core/csr_body.inc"
#define SPMV_INDEX_ONLY
#include "instantiate.h"

typedef struct {
  const SpmvPattern *pattern;
  int64_t            bad[SPMV_ROW_SHARES]; /* the first bad row of each share, or rows */
} Rows;

static void check_share(void *context, int share, int64_t begin, int64_t end)
{
  Rows              *r = context;
  const SpmvPattern *p = r->pattern;
  const int64_t first = p->index_type == SPMV_I64 ? first_bad_row_i64(p, begin, end) : first_bad_row_i32(p, begin, end);

  if (first < end) r->bad[share] = first;
}

static SpmvStatus check_rows(const SpmvPattern *p, SpmvExec *exec)
{
  Rows    r     = {.pattern = p};
  int64_t first = p->rows;

  for (int s = 0; s < SPMV_ROW_SHARES; s++) r.bad[s] = p->rows;
  spmv_share_rows(p, check_share, &r);
  for (int s = 0; s < SPMV_ROW_SHARES; s++)
    if (r.bad[s] < first) first = r.bad[s];
  if (first == p->rows) return SPMV_SUCCESS;
  return p->index_type == SPMV_I64 ? explain_row_i64(p, first, exec) : explain_row_i32(p, first, exec);
}

SpmvStatus spmv_pattern_check(const SpmvPattern *p, SpmvExec *exec)
{
  if (p->rows < 0 || p->cols < 0 || p->nnz < 0)
    return spmv_fail(exec, SPMV_ERR_MATRIX, "negative size: %lld rows, %lld columns, %lld nonzeros", (long long)p->rows,
                     (long long)p->cols, (long long)p->nnz);
  if (p->space != SPMV_HOST) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "only a pattern on the host can be checked");
  if (!p->row_ptr || (p->nnz > 0 && !p->col)) return spmv_fail(exec, SPMV_ERR_MATRIX, "row_ptr or col is NULL");
  SPMV_TRY(p->index_type == SPMV_I64 ? check_ends_i64(p, exec) : check_ends_i32(p, exec));
  return check_rows(p, exec);
}

void spmv_transpose_on_host(const SpmvPattern *p, void *row_ptr, void *col, SpmvScalar scalar, const void *values,
                            void *moved)
{
  if (p->index_type == SPMV_I64) transpose_i64(p, row_ptr, col, scalar, values, moved);
  else transpose_i32(p, row_ptr, col, scalar, values, moved);
}
