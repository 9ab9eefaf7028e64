/* Tests of staging.h: every byte of a copy arrives at the right address, for any size, alignment and number of threads,
   also while other copies are in flight. They pass without a device, and in a library built without CUDA. */
#include "unit.h"
#include <spmv_kernels.h>

#if defined(SPMV_HAVE_CUDA)
  #include "core/threads.h"
  #include "staging.h"
  #include <cuda_runtime_api.h>
  #include <pthread.h>
  #include <stdlib.h>
  #include <string.h>

enum {
  PIECE     = SPMV_STAGING_PIECE,
  THRESHOLD = 4 * PIECE,                                                       /* below, the driver copies */
  MOST      = 2 * SPMV_STAGING_THREADS * SPMV_STAGING_BUFFERS * PIECE + 12345, /* every buffer is used twice or more */
  GUARD     = 64
};

/* A block of host memory, its copy on the device with guard bytes around it, and host memory to copy that back to */
typedef struct {
  SpmvExec       exec;
  unsigned char *source, *back;
  int64_t        most;
  unsigned char *there; /* on the device, [GUARD + most + GUARD] */
} Bench;

static int bench_init(Bench *b, int64_t most)
{
  void *block;

  if (spmv_device_count(NULL) == 0) return 0;
  spmv_exec_init(&b->exec, SPMV_DEVICE);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_create(&b->exec, &b->exec.stream));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&b->exec, SPMV_DEVICE, most + 2 * GUARD, "upload", &block));
  b->most   = most;
  b->there  = block;
  b->source = malloc((size_t)most + GUARD);
  b->back   = malloc((size_t)most + 2 * GUARD);
  return 1;
}

static void bench_clear(Bench *b)
{
  spmv_exec_free(&b->exec, SPMV_DEVICE, b->there);
  spmv_stream_destroy(b->exec.stream);
  free(b->source);
  free(b->back);
  spmv_staging_release();
  UNIT_EQUAL(0, spmv_staging_bytes());
}

/* Fills a block with bytes that differ for each seed and in each piece */
static void fill(unsigned char *to, int64_t bytes, unsigned seed)
{
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;

  for (int64_t i = 0; i < bytes; i += 8) {
    state                = state * 6364136223846793005u + 1442695040888963407u;
    const uint64_t word  = state >> 7;
    const int64_t  count = bytes - i < 8 ? bytes - i : 8;
    memcpy(to + i, &word, (size_t)count);
  }
}

static void clear_there(Bench *b)
{
  const int64_t all = b->most + 2 * GUARD;

  memset(b->back, 0xA5, (size_t)all);
  for (int64_t i = 0; i < all; i += PIECE) {
    const int64_t bytes = all - i < PIECE ? all - i : PIECE;
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(b->there + i, SPMV_DEVICE, b->back + i, SPMV_HOST, bytes, &b->exec));
  }
}

/* Whether the device has the first `bytes` bytes of a seed behind the first guard, and nothing was written around
   them */
static int arrived(Bench *b, int64_t bytes, unsigned seed)
{
  const int64_t  all      = b->most + 2 * GUARD;
  unsigned char *expected = malloc((size_t)all);
  int            equal;

  memset(expected, 0xA5, (size_t)all);
  fill(expected + GUARD, bytes, seed);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(b->back, SPMV_HOST, b->there, SPMV_DEVICE, all, &b->exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&b->exec));
  equal = !memcmp(expected, b->back, (size_t)all);
  free(expected);
  return equal;
}

static const int64_t sizes[] = {
    1,         PIECE - 1,     PIECE,          THRESHOLD - 1,
    THRESHOLD, THRESHOLD + 1, 5 * PIECE + 77, SPMV_STAGING_THREADS *SPMV_STAGING_BUFFERS *PIECE,
    MOST};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* The source may be reused after the call, so it is overwritten at once */
UNIT_TEST(staging_copies_every_byte)
{
  static const int threads[] = {1, 2, 3, SPMV_STAGING_THREADS, SPMV_STAGING_THREADS + 5};
  Bench            b;

  for (int s = 0; s < SIZES; s++) {
    if (!bench_init(&b, sizes[s])) return;
    for (int t = 0; t < 5; t++) {
      const int      offset = (s + 3 * t) % 17; /* sources that are not aligned */
      const unsigned seed   = (unsigned)(10 * s + t);
      clear_there(&b);
      fill(b.source + offset, sizes[s], seed);
      UNIT_EQUAL(1, spmv_staging_upload(b.there + GUARD, b.source + offset, sizes[s], threads[t], b.exec.stream));
      memset(b.source, 0x5A, (size_t)sizes[s] + GUARD);
      UNIT_CHECK(arrived(&b, sizes[s], seed));
      UNIT_CHECK(spmv_staging_bytes() <= SPMV_STAGING_THREADS * SPMV_STAGING_BUFFERS * PIECE);
    }
    bench_clear(&b);
  }
}

/* A download is complete when the call returns, and writes nothing around the block, also while an upload is still in
   flight through the same buffers. */
UNIT_TEST(staging_brings_every_byte_back)
{
  static const int threads[] = {1, 2, 3, SPMV_STAGING_THREADS, SPMV_STAGING_THREADS + 5};
  Bench            b;

  for (int s = 0; s < SIZES; s++) {
    if (!bench_init(&b, sizes[s])) return;
    for (int t = 0; t < 5; t++) {
      const int64_t  offset = (s + 3 * t) % 17, all = sizes[s] + 2 * GUARD; /* targets that are not aligned */
      unsigned char *expected = malloc((size_t)all);
      memset(expected, 0x5A, (size_t)all);
      memset(b.back, 0x5A, (size_t)all);
      fill(b.source, sizes[s], (unsigned)(10 * s + t));
      memcpy(expected + offset, b.source, (size_t)sizes[s]);
      UNIT_EQUAL(1, spmv_staging_upload(b.there + t, b.source, sizes[s], 1 + t, b.exec.stream));
      UNIT_EQUAL(1, spmv_staging_download(b.back + offset, b.there + t, sizes[s], threads[t], b.exec.stream));
      UNIT_CHECK(!memcmp(expected, b.back, (size_t)all));
      free(expected);
    }
    bench_clear(&b);
  }
}

/* Two uploads by spmv_copy() to the same address are in flight at a time: the second must win. spmv_copy() chooses
   whether they are staged. */
UNIT_TEST(staging_serves_copies_that_follow_each_other)
{
  Bench b;

  if (!bench_init(&b, MOST)) return;
  for (int s = 0; s < SIZES; s++) {
    clear_there(&b);
    fill(b.source, sizes[s], 1);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(b.there + GUARD, SPMV_DEVICE, b.source, SPMV_HOST, sizes[s], &b.exec));
    fill(b.source, sizes[s], 2);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(b.there + GUARD, SPMV_DEVICE, b.source, SPMV_HOST, sizes[s], &b.exec));
    memset(b.source, 0x5A, MOST + GUARD);
    if (s % 2) spmv_staging_release(); /* while they may be in flight */
    UNIT_CHECK(arrived(&b, sizes[s], 2));
  }
  bench_clear(&b);
}

typedef struct {
  Bench    bench;
  unsigned seed;
  int      release, wrong;
} Uploader;

static void *upload_often(void *uploader_)
{
  Uploader *u = uploader_;
  Bench    *b = &u->bench;

  for (int i = 0; i < 60; i++) {
    const int64_t  bytes = 3 * PIECE + i * 43210;
    const unsigned seed  = u->seed + (unsigned)i;
    clear_there(b);
    fill(b->source, bytes, seed);
    u->wrong += !spmv_staging_upload(b->there + GUARD, b->source, bytes, 1 + i % 4, b->exec.stream);
    memset(b->source, 0x5A, (size_t)bytes);
    if (u->release && i % 7 == 0) spmv_staging_release();
    u->wrong += !arrived(b, bytes, seed);
  }
  return NULL;
}

UNIT_TEST(staging_serves_several_threads)
{
  Uploader  u[2] = {{.seed = 100}, {.seed = 200, .release = 1}};
  pthread_t other;

  if (!bench_init(&u[0].bench, 6 * PIECE) || !bench_init(&u[1].bench, 6 * PIECE)) return;
  UNIT_EQUAL(0, pthread_create(&other, NULL, upload_often, &u[1]));
  upload_often(&u[0]);
  pthread_join(other, NULL);
  UNIT_EQUAL(0, u[0].wrong);
  UNIT_EQUAL(0, u[1].wrong);
  bench_clear(&u[0].bench);
  bench_clear(&u[1].bench);
}

/* spmv_staging_bytes() shows whether a copy was staged */
UNIT_TEST(staging_is_for_large_pageable_blocks)
{
  const int64_t bytes = 9 * PIECE;
  void         *pinned;
  Bench         b;

  UNIT_EQUAL(1, spmv_staging_threads(THRESHOLD - 1));
  UNIT_CHECK(spmv_staging_threads(THRESHOLD) <= 2);
  UNIT_EQUAL(spmv_threads_available() < 4 ? spmv_threads_available() : 4, spmv_staging_threads(bytes));
  UNIT_CHECK(spmv_staging_threads(INT64_MAX) <= SPMV_STAGING_THREADS);
  if (!bench_init(&b, bytes + GUARD)) return;
  clear_there(&b);
  fill(b.source, bytes, 5);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(b.there, SPMV_DEVICE, b.source, SPMV_HOST, THRESHOLD - 1, &b.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_pinned_alloc(&b.exec, bytes, &pinned));
  memcpy(pinned, b.source, (size_t)bytes);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(b.there + GUARD, SPMV_DEVICE, pinned, SPMV_HOST, bytes, &b.exec));
  UNIT_EQUAL(0, spmv_staging_upload(b.there + GUARD, pinned, bytes, 4, b.exec.stream));
  UNIT_EQUAL(0, spmv_staging_upload(b.there + GUARD, b.source, bytes, 4, cudaStreamPerThread));
  UNIT_EQUAL(0, spmv_staging_download(pinned, b.there + GUARD, bytes, 4, b.exec.stream));
  UNIT_EQUAL(0, spmv_staging_download(b.back, b.there + GUARD, bytes, 4, cudaStreamPerThread));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&b.exec));
  UNIT_EQUAL(0, spmv_staging_bytes());
  spmv_pinned_free(pinned);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(b.there + GUARD, SPMV_DEVICE, b.source, SPMV_HOST, bytes, &b.exec));
  const int threads = spmv_staging_threads(bytes);
  UNIT_EQUAL((threads > 1 ? threads : 0) * SPMV_STAGING_BUFFERS * PIECE, spmv_staging_bytes());
  bench_clear(&b);
}

/* Shared memory lies on the device already, also where a caller names it as memory of the host: threads of the host would
   bring all pages to themselves */
UNIT_TEST(staging_leaves_shared_memory_alone)
{
  const int64_t bytes = 9 * PIECE;
  void         *shared;
  Bench         b;

  if (!bench_init(&b, bytes)) return;
  shared = spmv_shared_alloc(bytes, &b.exec);
  if (shared) {
    fill(b.source, bytes, 6);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(b.there, SPMV_DEVICE, b.source, SPMV_HOST, bytes, &b.exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&b.exec));
    spmv_staging_release();
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(shared, SPMV_HOST, b.there, SPMV_DEVICE, bytes, &b.exec));
    clear_there(&b);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(b.there, SPMV_DEVICE, shared, SPMV_HOST, bytes, &b.exec));
    UNIT_EQUAL(0, spmv_staging_bytes());
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(b.back, SPMV_HOST, b.there, SPMV_DEVICE, bytes, &b.exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&b.exec));
    UNIT_EQUAL(0, memcmp(b.back, b.source, (size_t)bytes));
    spmv_shared_free(shared);
  }
  bench_clear(&b);
}

/* An upload on a stream that is being captured is left to the caller. An upload on another stream is staged meanwhile,
   and does not end the capture: the graph has the copy of the pinned block. */
UNIT_TEST(staging_stays_out_of_captures)
{
  const int64_t   bytes = 9 * PIECE;
  cudaGraph_t     graph;
  cudaGraphExec_t ready;
  SpmvExec        other;
  void           *pinned;
  Bench           b;

  if (!bench_init(&b, bytes + GUARD)) return;
  clear_there(&b);
  spmv_exec_init(&other, SPMV_DEVICE);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_create(&other, &other.stream));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_pinned_alloc(&b.exec, bytes, &pinned));
  fill(b.source, bytes, 6);
  fill(pinned, bytes, 7);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&b.exec));
  UNIT_EQUAL(cudaSuccess, cudaStreamBeginCapture(b.exec.stream, cudaStreamCaptureModeGlobal));
  UNIT_EQUAL(0, spmv_staging_upload(b.there + GUARD, b.source, bytes, 4, b.exec.stream));
  UNIT_EQUAL(0, spmv_staging_bytes());
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(b.there + GUARD, SPMV_DEVICE, pinned, SPMV_HOST, bytes, &b.exec));
  UNIT_EQUAL(1, spmv_staging_upload(b.there + GUARD, b.source, bytes, 4, other.stream));
  UNIT_EQUAL(cudaSuccess, cudaStreamEndCapture(b.exec.stream, &graph));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&other));
  UNIT_CHECK(arrived(&b, bytes, 6));
  UNIT_EQUAL(cudaSuccess, cudaGraphInstantiate(&ready, graph, 0));
  UNIT_EQUAL(cudaSuccess, cudaGraphLaunch(ready, b.exec.stream));
  UNIT_CHECK(arrived(&b, bytes, 7));
  (void)cudaGraphExecDestroy(ready);
  (void)cudaGraphDestroy(graph);
  spmv_pinned_free(pinned);
  spmv_stream_destroy(other.stream);
  bench_clear(&b);
}

/* The emulator refuses pinned memory after SPMV_EMULATOR_PINNED_BLOCKS blocks; a real device ignores the variable */
UNIT_TEST(staging_does_with_what_can_be_pinned)
{
  const int64_t bytes = 9 * PIECE;
  Bench         b;

  if (!bench_init(&b, bytes + GUARD)) return;
  spmv_device_keep(-1); /* no block of an earlier test is kept */
  for (int most = 0; most < 6; most++) {
    const char text[] = {(char)('0' + most), 0};

    setenv("SPMV_EMULATOR_PINNED_BLOCKS", text, 1);
    clear_there(&b);
    fill(b.source, bytes, 8);
    const int staged = spmv_staging_upload(b.there + GUARD, b.source, bytes, 4, b.exec.stream);
    UNIT_CHECK(staged == (spmv_staging_bytes() > 0));
    UNIT_CHECK(staged || most == 0);
    UNIT_EQUAL(cudaSuccess, cudaGetLastError());
    if (staged) UNIT_CHECK(arrived(&b, bytes, 8));
    spmv_staging_release();
    UNIT_EQUAL(staged, spmv_staging_download(b.back, b.there, bytes, 4, b.exec.stream));
    UNIT_EQUAL(cudaSuccess, cudaGetLastError());
    spmv_staging_release();
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(b.there + GUARD, SPMV_DEVICE, b.source, SPMV_HOST, bytes, &b.exec));
    UNIT_CHECK(arrived(&b, bytes, 8));
    spmv_staging_release();
  }
  unsetenv("SPMV_EMULATOR_PINNED_BLOCKS");
  bench_clear(&b);
}

UNIT_TEST(staging_follows_the_current_device)
{
  const int64_t bytes = 7 * PIECE + 1;
  Bench         b[2];

  if (spmv_device_count(NULL) == 0) return;
  setenv("SPMV_EMULATOR_DEVICES", "2", 1);
  int devices = 1;
  UNIT_EQUAL(cudaSuccess, cudaGetDeviceCount(&devices));
  if (devices > 2) devices = 2;
  for (int d = 0; d < devices; d++) {
    UNIT_EQUAL(cudaSuccess, cudaSetDevice(d));
    UNIT_CHECK(bench_init(&b[d], bytes));
  }
  for (int i = 0; i < 6; i++) {
    const int d = i % devices;
    UNIT_EQUAL(cudaSuccess, cudaSetDevice(d));
    clear_there(&b[d]);
    fill(b[d].source, bytes, (unsigned)(20 + i));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&b[d].exec)); /* the next upload may use the default stream */
    UNIT_EQUAL(1, spmv_staging_upload(b[d].there + GUARD, b[d].source, bytes, 3, i < 3 ? b[d].exec.stream : NULL));
    UNIT_EQUAL(cudaSuccess, cudaStreamSynchronize(NULL));
    UNIT_CHECK(arrived(&b[d], bytes, (unsigned)(20 + i)));
    UNIT_EQUAL(3 * SPMV_STAGING_BUFFERS * PIECE, spmv_staging_bytes());
  }
  for (int d = 0; d < devices; d++) {
    UNIT_EQUAL(cudaSuccess, cudaSetDevice(d));
    bench_clear(&b[d]);
  }
  UNIT_EQUAL(cudaSuccess, cudaSetDevice(0));
  unsetenv("SPMV_EMULATOR_DEVICES");
}
#endif

UNIT_TEST(staging_can_be_released_where_there_is_nothing)
{
  spmv_staging_release();
  spmv_staging_release();
}
