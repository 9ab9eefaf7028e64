/* threads.h - a pool of host threads that share work. They sleep between calls of spmv_threads_run(), and end in
   spmv_threads_stop(). */
#pragma once

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SPMV_THREADS_MAX = 16 }; /* including the caller's */

/* Does share number `share` of 0 .. shares-1 of the work that context describes */
typedef void (*SpmvShare)(void *context, int share, int shares);

typedef struct {
  struct SpmvThreads *all;
  int                 number; /* the caller's is 0 */
  pthread_t           thread;
} SpmvWorker;

/* A set of threads. It has one owner, and must not be copied or moved while started. All zero means not started; such a
   set may be stopped. It allocates nothing. */
typedef struct SpmvThreads {
  pthread_mutex_t one_at_a_time, lock; /* one_at_a_time serializes callers, lock protects the following fields */
  pthread_cond_t  begin, end;
  int             started, workers, busy, stop;
  unsigned        round; /* counts calls of spmv_threads_run() */
  SpmvShare       share;
  void           *context;
  int             shares;
  SpmvWorker      worker[SPMV_THREADS_MAX - 1];
} SpmvThreads;

/* The number of processors that the calling thread may run on: 1 if the process is bound to one */
int spmv_threads_available(void);

/* Starts threads, so that there are `most` including the caller's, or fewer if the system creates no more */
void spmv_threads_start(SpmvThreads *, int most);

/* The number of threads, including the caller's. Each does one share at a time. */
int spmv_threads_count(const SpmvThreads *);

/* Does each share once, and returns when all are done. Concurrent calls are serialized. */
void spmv_threads_run(SpmvThreads *, SpmvShare, void *context, int shares);

/* Ends the threads */
void spmv_threads_stop(SpmvThreads *);

#ifdef __cplusplus
}
#endif
