/* threads.c - see threads.h */
#if defined(__linux__) && !defined(_GNU_SOURCE)
  #define _GNU_SOURCE /* sched_getaffinity() */
#endif
#include "threads.h"
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

int spmv_threads_available(void)
{
  long processors = sysconf(_SC_NPROCESSORS_ONLN);

#if defined(__linux__)
  cpu_set_t allowed;
  if (!sched_getaffinity(0, sizeof allowed, &allowed)) processors = CPU_COUNT(&allowed);
#endif
  if (processors < 1) return 1;
  return processors < SPMV_THREADS_MAX ? (int)processors : SPMV_THREADS_MAX;
}

/* Thread `number` does shares number, number + threads, number + 2 threads ... */
static void do_shares(SpmvShare share, void *context, int shares, int number, int threads)
{
  for (int s = number; s < shares; s += threads) share(context, s, shares);
}

static void *work(void *worker_)
{
  const SpmvWorker *worker = worker_;
  SpmvThreads      *all    = worker->all;
  unsigned          done   = 0;

  pthread_mutex_lock(&all->lock);
  for (;;) {
    while (all->round == done && !all->stop) pthread_cond_wait(&all->begin, &all->lock);
    if (all->stop) break;
    const SpmvShare share   = all->share;
    void *const     context = all->context;
    const int       shares = all->shares, threads = all->workers + 1;
    done = all->round;
    pthread_mutex_unlock(&all->lock);
    do_shares(share, context, shares, worker->number, threads);
    pthread_mutex_lock(&all->lock);
    if (--all->busy == 0) pthread_cond_signal(&all->end);
  }
  pthread_mutex_unlock(&all->lock);
  return NULL;
}

void spmv_threads_start(SpmvThreads *all, int most)
{
  if (most > SPMV_THREADS_MAX) most = SPMV_THREADS_MAX;
  memset(all, 0, sizeof *all);
  pthread_mutex_init(&all->one_at_a_time, NULL);
  pthread_mutex_init(&all->lock, NULL);
  pthread_cond_init(&all->begin, NULL);
  pthread_cond_init(&all->end, NULL);
  all->started = 1;
  while (all->workers + 1 < most) {
    SpmvWorker *worker = &all->worker[all->workers];

    worker->all    = all;
    worker->number = all->workers + 1;
    if (pthread_create(&worker->thread, NULL, work, worker)) break; /* not an error: fewer threads share the work */
    all->workers++;
  }
}

int spmv_threads_count(const SpmvThreads *all) { return all->workers + 1; }

void spmv_threads_run(SpmvThreads *all, SpmvShare share, void *context, int shares)
{
  const int threads = spmv_threads_count(all);

  if (shares <= 1 || threads == 1) {
    do_shares(share, context, shares, 0, 1);
    return;
  }
  pthread_mutex_lock(&all->one_at_a_time);
  pthread_mutex_lock(&all->lock);
  all->share   = share;
  all->context = context;
  all->shares  = shares;
  all->busy    = all->workers;
  all->round++;
  pthread_cond_broadcast(&all->begin);
  pthread_mutex_unlock(&all->lock);
  do_shares(share, context, shares, 0, threads);
  pthread_mutex_lock(&all->lock);
  while (all->busy > 0) pthread_cond_wait(&all->end, &all->lock);
  pthread_mutex_unlock(&all->lock);
  pthread_mutex_unlock(&all->one_at_a_time);
}

void spmv_threads_stop(SpmvThreads *all)
{
  if (!all->started) return;
  pthread_mutex_lock(&all->lock);
  all->stop = 1;
  pthread_cond_broadcast(&all->begin);
  pthread_mutex_unlock(&all->lock);
  for (int i = 0; i < all->workers; i++) pthread_join(all->worker[i].thread, NULL);
  pthread_cond_destroy(&all->begin);
  pthread_cond_destroy(&all->end);
  pthread_mutex_destroy(&all->lock);
  pthread_mutex_destroy(&all->one_at_a_time);
  memset(all, 0, sizeof *all);
}
