/* Tests of threads.h: each share is done exactly once, for any number of threads and of concurrent callers. */
#include "unit.h"
#include "threads.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { SHARES = 40 };

typedef struct {
  atomic_int done[SHARES];
  atomic_int other_counts; /* calls with a wrong number of shares */
  int        shares;
} Counts;

static void count_share(void *counts_, int share, int shares)
{
  Counts *counts = counts_;

  atomic_fetch_add(&counts->done[share], 1);
  if (shares != counts->shares) atomic_fetch_add(&counts->other_counts, 1);
}

/* Shares that were not done exactly `rounds` times */
static int wrong(const Counts *counts, int rounds)
{
  int count = counts->other_counts;

  for (int s = 0; s < SHARES; s++) count += counts->done[s] != (s < counts->shares ? rounds : 0);
  return count;
}

UNIT_TEST(threads_do_each_share_once)
{
  for (int most = 0; most <= SPMV_THREADS_MAX + 3; most++) {
    SpmvThreads threads;

    spmv_threads_start(&threads, most);
    UNIT_CHECK(spmv_threads_count(&threads) >= 1 && spmv_threads_count(&threads) <= (most > 1 ? most : 1));
    UNIT_CHECK(spmv_threads_count(&threads) <= SPMV_THREADS_MAX);
    for (int shares = 0; shares <= SHARES; shares++) {
      Counts counts = {.shares = shares};
      spmv_threads_run(&threads, count_share, &counts, shares);
      UNIT_EQUAL(0, wrong(&counts, 1));
      spmv_threads_run(&threads, count_share, &counts, shares);
      UNIT_EQUAL(0, wrong(&counts, 2));
    }
    spmv_threads_stop(&threads);
    spmv_threads_stop(&threads);
  }
}

/* Shares that wait for each other at a barrier end only if one thread per share runs at the same time */
static void meet(void *barrier, int share, int shares)
{
  (void)share;
  (void)shares;
  (void)pthread_barrier_wait(barrier);
}

UNIT_TEST(threads_do_shares_at_the_same_time)
{
  SpmvThreads       threads;
  pthread_barrier_t barrier;

  spmv_threads_start(&threads, 4);
  const int count = spmv_threads_count(&threads);
  pthread_barrier_init(&barrier, NULL, (unsigned)count);
  for (int round = 0; round < 50; round++) spmv_threads_run(&threads, meet, &barrier, count);
  pthread_barrier_destroy(&barrier);
  spmv_threads_stop(&threads);
}

enum { ROUNDS = 300 };

typedef struct {
  SpmvThreads *threads;
  Counts       counts;
} Caller;

static void *call_often(void *caller_)
{
  Caller *caller = caller_;

  for (int round = 0; round < ROUNDS; round++)
    spmv_threads_run(caller->threads, count_share, &caller->counts, caller->counts.shares);
  return NULL;
}

UNIT_TEST(threads_serve_several_callers)
{
  SpmvThreads threads;
  Caller      caller[3];
  pthread_t   thread[3];

  memset(caller, 0, sizeof caller);
  spmv_threads_start(&threads, 3);
  for (int i = 0; i < 3; i++) {
    caller[i].threads       = &threads;
    caller[i].counts.shares = 2 + 19 * i;
    UNIT_EQUAL(0, pthread_create(&thread[i], NULL, call_often, &caller[i]));
  }
  for (int i = 0; i < 3; i++) {
    pthread_join(thread[i], NULL);
    UNIT_EQUAL(0, wrong(&caller[i].counts, ROUNDS));
  }
  spmv_threads_stop(&threads);
}

UNIT_TEST(threads_that_were_not_started_can_be_stopped)
{
  SpmvThreads threads;

  memset(&threads, 0, sizeof threads);
  spmv_threads_stop(&threads);
  UNIT_CHECK(spmv_threads_available() >= 1 && spmv_threads_available() <= SPMV_THREADS_MAX);
}
