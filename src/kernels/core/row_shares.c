/* Distribution of row ranges over threads of the host. */
#include "row_shares.h"
#include "csr.h"
#include "threads.h"

enum { NONZEROS_OF_A_THREAD = 1 << 18 /* with fewer, the work ends before another thread has started */ };

typedef struct {
  const SpmvPattern *pattern;
  SpmvRowWork        work;
  void              *context;
} Call;

static int64_t row_begin(const SpmvPattern *p, int64_t i)
{
  return p->index_type == SPMV_I64 ? ((const int64_t *)p->row_ptr)[i] : ((const int32_t *)p->row_ptr)[i];
}

/* The first row that begins at or after a position. If row pointers do not ascend, it is an arbitrary valid row. */
static int64_t row_at(const SpmvPattern *p, int64_t position)
{
  int64_t low = 0, high = p->rows;

  SPMV_BISECT(low, high, middle, row_begin(p, middle) < position);
  return low;
}

static void do_share(void *context, int share, int shares)
{
  const Call        *call  = context;
  const SpmvPattern *p     = call->pattern;
  const int64_t      begin = share == 0 ? 0 : row_at(p, p->nnz / shares * share);
  const int64_t      end   = share == shares - 1 ? p->rows : row_at(p, p->nnz / shares * (share + 1));

  call->work(call->context, share, begin, end);
}

void spmv_share_rows(const SpmvPattern *p, SpmvRowWork work, void *context)
{
  Call          call    = {p, work, context};
  SpmvThreads   threads = {.started = 0};
  const int64_t useful  = p->nnz / NONZEROS_OF_A_THREAD;
  int           most    = spmv_threads_available();

  if (most > SPMV_ROW_SHARES) most = SPMV_ROW_SHARES;
  if (most > useful) most = (int)useful;
  if (most < 2) {
    work(context, 0, 0, p->rows);
    return;
  }
  spmv_threads_start(&threads, most);
  spmv_threads_run(&threads, do_share, &call, spmv_threads_count(&threads));
  spmv_threads_stop(&threads);
}
