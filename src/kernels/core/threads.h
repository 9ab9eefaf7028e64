/* threads.h - threads of the host that share work. They wait between pieces of work, and end when they are told to. */
#pragma once

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SPMV_THREADS_MAX = 16 }; /* the caller's included */

/* Does one of the shares 0 .. shares-1 of what context describes */
typedef void (*SpmvShare)(void *context, int share, int shares);

typedef struct {
  struct SpmvThreads *all;
  int                 number; /* the caller's is 0 */
  pthread_t           thread;
} SpmvWorker;

/* A set of threads. It has one owner, and must not be copied or moved while started. A set that is all zero was not
   started; it may be stopped. It allocates nothing. */
typedef struct SpmvThreads {
  pthread_mutex_t one_at_a_time, lock; /* for callers; for all fields that follow */
  pthread_cond_t  begin, end;
  int             started, workers, busy, stop;
  unsigned        round; /* of the work */
  SpmvShare       share;
  void           *context;
  int             shares;
  SpmvWorker      worker[SPMV_THREADS_MAX - 1];
} SpmvThreads;

/* The number of processors that the calling thread may run on: 1 where the process is bound to one */
int spmv_threads_available(void);

/* Starts threads, so that there are `most` with the caller's; fewer where they cannot be had */
void spmv_threads_start(SpmvThreads *, int most);

/* The number of threads, the caller's included. Each does one share at a time. */
int spmv_threads_count(const SpmvThreads *);

/* Does all shares, each once, and returns when they are done. Calls from several threads come one after the other. */
void spmv_threads_run(SpmvThreads *, SpmvShare, void *context, int shares);

/* Ends the threads */
void spmv_threads_stop(SpmvThreads *);

#ifdef __cplusplus
}
#endif
