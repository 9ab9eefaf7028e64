/* Changes the values of a CSR on the host, by several threads if there are many values. */
#include "format.h"
#include "row_shares.h"
#include <spmv_values.h>

#define SPMV_BODY "core/host_change.inc"
#include "instantiate.h"

typedef struct {
  const SpmvPattern *pattern;
  SpmvScalar         scalar;
  const SpmvChange  *change;
  void              *values;
} Work;

static void change_share(void *context, int share, int64_t begin, int64_t end)
{
  const Work *w = context;

  (void)share;
  SPMV_SELECT(change_rows, w->pattern->index_type, w->scalar)(w->pattern, w->change, w->values, begin, end);
}

SpmvStatus spmv_host_change(const SpmvPattern *p, SpmvScalar scalar, const SpmvChange *change, void *values,
                            SpmvExec *exec)
{
  Work work = {p, scalar, change, values};

  if (p->space != SPMV_HOST)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "spmv_host_change() needs a pattern on the host");
  if (p->nnz > 0) spmv_share_rows(p, change_share, &work);
  return SPMV_SUCCESS;
}
