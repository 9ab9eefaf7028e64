/* fold_gather.c - see fold_gather.h */
#include "fold_gather.h"

enum { THREAD_ENTRIES = 1 << 13 /* for fewer entries, waking another thread does not pay */ };

typedef struct {
  const int32_t *columns;
  int64_t        n;
  SpmvScalar     scalar;
  const void    *x;
  void          *to;
} Job;

static void gather_share(void *job_, int share, int shares)
{
  const Job     *job   = job_;
  const int64_t  begin = job->n * share / shares, end = job->n * (share + 1) / shares;
  const int32_t *c = job->columns;

  if (job->scalar == SPMV_F32) {
    const float *x  = job->x;
    float       *to = job->to;
    for (int64_t e = begin; e < end; e++) to[e] = c[e] < 0 ? 0 : x[c[e]];
  } else {
    const double *x  = job->x;
    double       *to = job->to;
    for (int64_t e = begin; e < end; e++) to[e] = c[e] < 0 ? 0 : x[c[e]];
  }
}

static int shares_for(int64_t n, int most)
{
  const int64_t wanted = n / THREAD_ENTRIES + 1;
  return (int)(wanted < most ? wanted : most);
}

int fold_gather_threads(int64_t most) { return shares_for(most, spmv_threads_available()); }

void fold_gather(SpmvThreads *threads, const int32_t *columns, int64_t n, SpmvScalar scalar, const void *x, void *to)
{
  Job job = {columns, n, scalar, x, to};

  spmv_threads_run(threads, gather_share, &job, shares_for(n, spmv_threads_count(threads)));
}
