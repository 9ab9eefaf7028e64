/* fold_gather.c - see fold_gather.h */
#include "fold_gather.h"
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum {
  THREADS_MAX    = 16,
  THREAD_ENTRIES = 1 << 13 /* fewer are not worth waking another thread */
};

typedef struct {
  const int32_t *columns;
  int64_t        n;
  SpmvScalar     scalar;
  const void    *x;
  void          *to;
  int            shares;
} Job;

typedef struct {
  FoldGatherers *all;
  int            share; /* the caller's is 0 */
  pthread_t      thread;
} Worker;

struct FoldGatherers {
  pthread_mutex_t one_at_a_time, lock; /* of callers; of all that follows */
  pthread_cond_t  begin, end;
  int             workers, busy, stop;
  unsigned        round; /* of the job */
  Job             job;
  Worker          worker[THREADS_MAX];
};

static void gather_share(const Job *job, int share)
{
  const int64_t  begin = job->n * share / job->shares, end = job->n * (share + 1) / job->shares;
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

static void *work(void *worker_)
{
  const Worker  *worker = worker_;
  FoldGatherers *all    = worker->all;
  unsigned       done   = 0;

  pthread_mutex_lock(&all->lock);
  for (;;) {
    while (all->round == done && !all->stop) pthread_cond_wait(&all->begin, &all->lock);
    if (all->stop) break;
    const Job job = all->job;
    done          = all->round;
    pthread_mutex_unlock(&all->lock);
    if (worker->share < job.shares) gather_share(&job, worker->share);
    pthread_mutex_lock(&all->lock);
    if (--all->busy == 0) pthread_cond_signal(&all->end);
  }
  pthread_mutex_unlock(&all->lock);
  return NULL;
}

static int shares_for(int64_t n, int64_t most)
{
  const int64_t wanted = n / THREAD_ENTRIES + 1;
  return (int)(wanted < most ? wanted : most);
}

SpmvStatus fold_gatherers_start(int64_t most, SpmvExec *exec, FoldGatherers **out)
{
  const long       cores  = sysconf(_SC_NPROCESSORS_ONLN);
  const int        shares = shares_for(most, cores < THREADS_MAX ? cores : THREADS_MAX);
  void            *block;
  const SpmvStatus status = spmv_alloc(exec, SPMV_HOST, sizeof(FoldGatherers), "gathering threads", &block);

  *out = block;
  if (status) return status;
  FoldGatherers *all = memset(block, 0, sizeof *all);
  pthread_mutex_init(&all->one_at_a_time, NULL);
  pthread_mutex_init(&all->lock, NULL);
  pthread_cond_init(&all->begin, NULL);
  pthread_cond_init(&all->end, NULL);
  while (all->workers + 1 < shares) {
    Worker *worker = &all->worker[all->workers];

    worker->all   = all;
    worker->share = all->workers + 1;
    if (pthread_create(&worker->thread, NULL, work, worker)) break; /* no reason to fail */
    all->workers++;
  }
  return SPMV_SUCCESS;
}

void fold_gatherers_run(FoldGatherers *all, const int32_t *columns, int64_t n, SpmvScalar scalar, const void *x,
                        void *to)
{
  pthread_mutex_lock(&all->one_at_a_time);
  const Job  job    = {columns, n, scalar, x, to, shares_for(n, all->workers + 1)};
  const bool shared = job.shares > 1;

  if (shared) {
    pthread_mutex_lock(&all->lock);
    all->job  = job;
    all->busy = all->workers;
    all->round++;
    pthread_cond_broadcast(&all->begin);
    pthread_mutex_unlock(&all->lock);
  }
  gather_share(&job, 0);
  if (shared) {
    pthread_mutex_lock(&all->lock);
    while (all->busy > 0) pthread_cond_wait(&all->end, &all->lock);
    pthread_mutex_unlock(&all->lock);
  }
  pthread_mutex_unlock(&all->one_at_a_time);
}

void fold_gatherers_stop(FoldGatherers *all, const SpmvAllocator *host, const SpmvAllocator *device)
{
  if (!all) return;
  pthread_mutex_lock(&all->lock);
  all->stop = 1;
  pthread_cond_broadcast(&all->begin);
  pthread_mutex_unlock(&all->lock);
  for (int i = 0; i < all->workers; i++) pthread_join(all->worker[i].thread, NULL);
  pthread_cond_destroy(&all->begin);
  pthread_cond_destroy(&all->end);
  pthread_mutex_destroy(&all->lock);
  pthread_mutex_destroy(&all->one_at_a_time);
  spmv_free(host, device, SPMV_HOST, all);
}
