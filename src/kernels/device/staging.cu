/* staging.cu - copies by several threads through pinned double buffers; see staging.h. */
#include "staging.h"
#include "core/threads.h"
#include "launch.cuh"
#include <algorithm>
#include <atomic>
#include <cstring>
#include <pthread.h>

namespace
{
const int64_t PIECE = SPMV_STAGING_PIECE;

/* The two buffers that one thread uses in turn. A buffer may be reused when its event has occurred, that is, when the
   device has read or written it. */
struct DoubleBuffer {
  char       *buffers; /* pinned, [SPMV_STAGING_BUFFERS * PIECE] */
  cudaEvent_t read[SPMV_STAGING_BUFFERS];
  int         device; /* of the events; the buffers serve every device */
};

/* Kept between copies. Double buffer i is made by the first copy that has more than i threads. */
pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
DoubleBuffer    double_buffer[SPMV_STAGING_THREADS];

class Locked
{
public:
  Locked() { pthread_mutex_lock(&one_at_a_time); }
  Locked(const Locked &)            = delete;
  Locked &operator=(const Locked &) = delete;
  ~Locked() { pthread_mutex_unlock(&one_at_a_time); }
};

/* While any stream is being captured, waiting for an event or pinning memory is an error, also for a copy on another
   stream, unless the capture mode of the calling thread is relaxed. */
class BesideCaptures
{
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;

public:
  BesideCaptures() { (void)cudaThreadExchangeStreamCaptureMode(&mode); }
  BesideCaptures(const BesideCaptures &)            = delete;
  BesideCaptures &operator=(const BesideCaptures &) = delete;
  ~BesideCaptures() { (void)cudaThreadExchangeStreamCaptureMode(&mode); }
};

/* ---- the buffers ---- */

void drop_events(DoubleBuffer *l)
{
  for (cudaEvent_t &e : l->read) {
    if (!e) continue;
    (void)cudaEventSynchronize(e);
    (void)cudaEventDestroy(e);
    e = nullptr;
  }
}

void drop_double_buffer(DoubleBuffer *l)
{
  drop_events(l);
  if (l->buffers) (void)cudaFreeHost(l->buffers);
  l->buffers = nullptr;
}

/* Makes the buffers, and the events on a device, unless they exist; false if that fails */
bool make_double_buffer(DoubleBuffer *l, int device)
{
  if (l->buffers && l->device == device) return true;
  drop_events(l);
  l->device = device;
  if (!l->buffers &&
      cudaHostAlloc((void **)&l->buffers, (size_t)(SPMV_STAGING_BUFFERS * PIECE), cudaHostAllocPortable) != cudaSuccess)
    l->buffers = nullptr;
  bool complete = l->buffers != nullptr;
  for (cudaEvent_t &e : l->read)
    complete = complete && cudaEventCreateWithFlags(&e, cudaEventDisableTiming) == cudaSuccess;
  if (complete) return true;
  drop_double_buffer(l);
  (void)cudaGetLastError();
  return false;
}

void drop_double_buffers()
{
  for (DoubleBuffer &l : double_buffer) drop_double_buffer(&l);
}

int make_double_buffers(int wanted, int device)
{
  int count = 0;

  while (count < wanted && make_double_buffer(&double_buffer[count], device)) count++;
  return count;
}

/* ---- a copy ---- */

/* An upload or a download */
struct Transfer {
  char                *to;
  const char          *from;
  int64_t              bytes;
  int                  device;
  cudaStream_t         stream;
  std::atomic<int64_t> next; /* first byte of the next piece that no thread has taken */
  std::atomic<bool>    failed;
};

cudaError_t send_piece(const Transfer *u, int64_t begin, char *buffer, cudaEvent_t read)
{
  const size_t bytes = (size_t)std::min(PIECE, u->bytes - begin);
  cudaError_t  error =
      cudaEventSynchronize(read); /* the device has read the buffer's last piece, perhaps of an earlier upload */

  if (error) return error;
  memcpy(buffer, u->from + begin, bytes);
  error = cudaMemcpyAsync(u->to + begin, buffer, bytes, cudaMemcpyHostToDevice, u->stream);
  return error ? error : cudaEventRecord(read, u->stream);
}

/* Sets the device of a thread; a new thread begins with device 0. Does nothing if it is current already, so that a
   context chosen by the caller stays. */
cudaError_t use_device(int device)
{
  int               current = 0;
  const cudaError_t error   = cudaGetDevice(&current);

  return error || current == device ? error : cudaSetDevice(device);
}

/* The work of thread number `share`: it sends pieces until none is left */
void send_pieces(void *transfer, int share, int)
{
  Transfer            *u     = (Transfer *)transfer;
  const DoubleBuffer  *l     = &double_buffer[share];
  cudaError_t          error = use_device(u->device);
  const BesideCaptures relaxed; /* after use_device(): the constructor creates a context on the current device */

  for (int turn = 0; !error && !u->failed; turn = (turn + 1) % SPMV_STAGING_BUFFERS) {
    const int64_t begin = u->next.fetch_add(PIECE);
    if (begin >= u->bytes) return;
    error = send_piece(u, begin, l->buffers + turn * PIECE, l->read[turn]);
  }
  if (!error) return;
  u->failed = true;
  (void)cudaGetLastError(); /* of this thread */
}

/* The pieces that one thread receives */
struct Received {
  Transfer           *u;
  const DoubleBuffer *l;
  int64_t             begin[SPMV_STAGING_BUFFERS]; /* first byte of the piece in each buffer, or -1 */
};

/* Waits for the last use of a buffer, perhaps by an upload, and copies its piece, if any, to the host block */
cudaError_t take_piece(Received *r, int turn)
{
  const int64_t     begin = r->begin[turn];
  const cudaError_t error = cudaEventSynchronize(r->l->read[turn]);

  if (!error && begin >= 0)
    memcpy(r->u->to + begin, r->l->buffers + turn * PIECE, (size_t)std::min(PIECE, r->u->bytes - begin));
  r->begin[turn] = -1;
  return error;
}

/* Enqueues the copy of the next piece into a buffer; false if no piece is left */
bool request_piece(Received *r, int turn, cudaError_t *error)
{
  const Transfer *u     = r->u;
  const int64_t   begin = r->u->next.fetch_add(PIECE);

  if (begin >= u->bytes) return false;
  *error = cudaMemcpyAsync(r->l->buffers + turn * PIECE, u->from + begin, (size_t)std::min(PIECE, u->bytes - begin),
                           cudaMemcpyDeviceToHost, u->stream);
  if (!*error) *error = cudaEventRecord(r->l->read[turn], u->stream);
  if (!*error) r->begin[turn] = begin;
  return true;
}

/* The work of thread number `share`: while it empties one buffer, the device fills the other one */
void receive_pieces(void *transfer, int share, int)
{
  Received             r     = {(Transfer *)transfer, &double_buffer[share], {-1, -1}};
  cudaError_t          error = use_device(r.u->device);
  const BesideCaptures relaxed;
  int                  turn = 0;

  for (bool left = true; left && !error && !r.u->failed; turn = (turn + 1) % SPMV_STAGING_BUFFERS) {
    error = take_piece(&r, turn);
    if (!error) left = request_piece(&r, turn, &error);
  }
  for (int i = 0; i < SPMV_STAGING_BUFFERS && !error; i++) error = take_piece(&r, (turn + i) % SPMV_STAGING_BUFFERS);
  if (!error) return;
  r.u->failed = true;
  (void)cudaGetLastError(); /* of this thread */
}

/* Whether other threads can enqueue on a stream: not while it is captured, and not on cudaStreamPerThread, which is a
   different stream in each thread */
bool is_open_to_threads(cudaStream_t stream)
{
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

  if (stream == cudaStreamPerThread) return false;
  if (cudaStreamIsCapturing(stream, &status) == cudaSuccess) return status == cudaStreamCaptureStatusNone;
  (void)cudaGetLastError();
  return false;
}

bool run(Transfer *u, SpmvShare pieces, int threads)
{
  const BesideCaptures relaxed;
  const Locked         lock;
  SpmvThreads          pool;

  if (cudaGetDevice(&u->device) != cudaSuccess) return false;
  const int ready = make_double_buffers(std::min(threads, (int)SPMV_STAGING_THREADS), u->device);
  if (ready == 0) return false;
  spmv_threads_start(&pool, ready);
  spmv_threads_run(&pool, pieces, u, ready);
  spmv_threads_stop(&pool);
  if (!u->failed) return true;
  (void)cudaStreamSynchronize(u->stream); /* a buffer's copy may have been enqueued without its event */
  drop_double_buffers();
  return false;
}
} // namespace

int64_t spmv_upload_piece_bytes = 64 << 20;

/* CUDA calls pageable memory "unregistered"; before CUDA 11 it returned an error for it */
extern "C" int spmv_is_pageable(const void *from)
{
  cudaPointerAttributes about;

  if (cudaPointerGetAttributes(&about, from) == cudaSuccess) return about.type == cudaMemoryTypeUnregistered;
  (void)cudaGetLastError();
  return 1;
}

extern "C" int spmv_staging_threads(int64_t bytes)
{
  const int64_t paying = bytes / (SPMV_STAGING_BUFFERS * PIECE);

  if (paying < 2) return 1;
  return (int)std::min<int64_t>({paying, SPMV_STAGING_THREADS, spmv_threads_available()});
}

static int copy(void *to, const void *from, const void *here, int64_t bytes, SpmvShare pieces, int threads,
                void *stream)
{
  Transfer u = {(char *)to, (const char *)from, bytes, 0, (cudaStream_t)stream, {0}, {false}};

  if (!is_open_to_threads(u.stream) || !spmv_is_pageable(here)) return 0;
  if (run(&u, pieces, threads)) return 1;
  (void)cudaGetLastError();
  return 0;
}

extern "C" int spmv_staging_upload(void *to, const void *from, int64_t bytes, int threads, void *stream)
{
  return copy(to, from, from, bytes, send_pieces, threads, stream);
}

extern "C" int spmv_staging_download(void *to, const void *from, int64_t bytes, int threads, void *stream)
{
  return copy(to, from, to, bytes, receive_pieces, threads, stream);
}

extern "C" int64_t spmv_staging_bytes(void)
{
  const Locked lock;
  int64_t      bytes = 0;

  for (const DoubleBuffer &l : double_buffer) bytes += l.buffers ? SPMV_STAGING_BUFFERS * PIECE : 0;
  return bytes;
}

extern "C" void spmv_staging_release(void)
{
  const Locked lock;

  drop_double_buffers();
  spmv_fetch_release();
}
