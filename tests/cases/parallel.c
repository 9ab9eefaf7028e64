/* parallel.c - loops on all cores, by POSIX threads; see parallel.h. */
#include "parallel.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS_MAX = 256, PIECES_A_THREAD = 64, PIECE_MIN = 1024 };

typedef struct {
  int64_t           n, piece;
  GenRange          range;
  void             *context;
  _Atomic(int64_t) *next; /* first item that no thread has taken */
} Loop;

static void *take_pieces(void *loop_)
{
  const Loop *loop = loop_;

  for (;;) {
    const int64_t begin = atomic_fetch_add(loop->next, loop->piece), rest = loop->n - begin;
    if (rest <= 0) return NULL;
    loop->range(loop->context, begin, rest < loop->piece ? loop->n : begin + loop->piece);
  }
}

void gen_parallel(int64_t n, GenRange range, void *context)
{
  const long       cores   = sysconf(_SC_NPROCESSORS_ONLN);
  const int64_t    wanted  = cores < 1 ? 1 : cores > THREADS_MAX ? THREADS_MAX : cores;
  const int64_t    even    = n / (PIECES_A_THREAD * wanted) + 1;
  _Atomic(int64_t) next    = 0;
  const Loop       loop    = {n, even < PIECE_MIN ? PIECE_MIN : even, range, context, &next};
  const int64_t    pieces  = (n + loop.piece - 1) / loop.piece;
  const int        helpers = (int)(pieces < wanted ? pieces : wanted) - 1;
  int              started = 0;
  pthread_t        helper[THREADS_MAX];

  /* if a thread cannot be started, the other ones do its work */
  while (started < helpers && !pthread_create(&helper[started], NULL, take_pieces, (void *)&loop)) started++;
  take_pieces((void *)&loop);
  while (started > 0) pthread_join(helper[--started], NULL);
}
