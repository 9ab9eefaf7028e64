/* Changes of the values of a CSR on the host, by several threads when there are many values. */
#include "internal.h"
#include "threads.h"

#define SPMV_BODY "core/host_change.inc"
#include "core/instantiate.h"

enum {
  VALUES_OF_A_THREAD = 1 << 18, /* fewer are changed before another thread has begun */
  MOST_THREADS       = 8        /* which a memory bus of one socket keeps busy */
};

typedef struct {
  const SpmvPattern *pattern;
  SpmvScalar         scalar;
  const SpmvChange  *change;
  void              *values;
} Work;

static int64_t row_begin(const SpmvPattern *p, int64_t i)
{
  return p->index_type == SPMV_I64 ? ((const int64_t *)p->row_ptr)[i] : ((const int32_t *)p->row_ptr)[i];
}

/* The first row that begins at or after a position, so that shares have as many values each */
static int64_t row_at(const SpmvPattern *p, int64_t position)
{
  int64_t low = 0, high = p->rows;

  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (row_begin(p, middle) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

static void change_share(void *context, int share, int shares)
{
  const Work        *w     = context;
  const SpmvPattern *p     = w->pattern;
  const int64_t      begin = share == 0 ? 0 : row_at(p, p->nnz / shares * share);
  const int64_t      end   = share == shares - 1 ? p->rows : row_at(p, p->nnz / shares * (share + 1));

  SPMV_SELECT(change_rows, p->index_type, w->scalar)(p, w->change, w->values, begin, end);
}

SpmvStatus spmv_host_change(const SpmvPattern *p, SpmvScalar scalar, const SpmvChange *change, void *values,
                            SpmvExec *exec)
{
  Work          work    = {p, scalar, change, values};
  SpmvThreads   threads = {.started = 0};
  const int64_t useful  = p->nnz / VALUES_OF_A_THREAD;
  int           most    = spmv_threads_available();

  if (p->space != SPMV_HOST)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "spmv_host_change() needs a pattern on the host");
  if (p->nnz == 0) return SPMV_SUCCESS;
  if (most > MOST_THREADS) most = MOST_THREADS;
  if (most > useful) most = (int)useful;
  if (most < 2) {
    change_share(&work, 0, 1);
    return SPMV_SUCCESS;
  }
  spmv_threads_start(&threads, most);
  spmv_threads_run(&threads, change_share, &work, spmv_threads_count(&threads));
  spmv_threads_stop(&threads);
  return SPMV_SUCCESS;
}
