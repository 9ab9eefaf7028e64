/* cluster_threads.c - the threads of an analysis, see cluster_layout.h */
#include "cluster_layout.h"
#include <stdatomic.h>

enum { ENTRIES_OF_THREAD = 1 << 16 /* fewer are done before another thread has begun */ };

void cluster_threads_start(SpmvThreads *threads, int64_t entries)
{
  const int64_t useful    = entries / ENTRIES_OF_THREAD + 1;
  const int     available = spmv_threads_available();

  spmv_threads_start(threads, useful < available ? (int)useful : available);
}

typedef struct {
  SpmvShare   work;
  void       *context;
  int         shares;
  _Atomic int next;
} Taking;

static void take(void *taking, int thread, int threads)
{
  Taking *t = taking;

  (void)thread;
  (void)threads;
  for (int share = atomic_fetch_add(&t->next, 1); share < t->shares; share = atomic_fetch_add(&t->next, 1))
    t->work(t->context, share, t->shares);
}

void cluster_share(SpmvThreads *threads, SpmvShare work, void *context, int shares)
{
  Taking t = {.work = work, .context = context, .shares = shares};

  spmv_threads_run(threads, take, &t, spmv_threads_count(threads));
}
