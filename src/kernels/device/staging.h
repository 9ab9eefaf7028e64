/*
  staging.h - copies through pinned memory: sizes to the host, and large pageable blocks to the device and from it, faster
  than the driver's, which copies them with one thread.

  Threads of the host copy pieces of the block into pinned buffers, from where the copy engine fetches them while the
  threads fill the next ones; and the other way round. The buffers are one set for the process (decision 0013).
*/
#pragma once

#include "core/format.h"

SPMV_C_BEGIN

enum {
  SPMV_STAGING_THREADS = 8,
  SPMV_STAGING_BUFFERS = 2,      /* of each thread */
  SPMV_STAGING_PIECE   = 1 << 20 /* bytes of a buffer */
};

/* The number of threads that pays for an upload of so many bytes, at most those that may run; below 2 the driver's copy
   is as fast */
int spmv_staging_threads(int64_t bytes);

/* Enqueues the copy of a block of host memory, in any order of its pieces, by so many threads. Returns 1 when that is
   done: the block may then be reused, as after cudaMemcpyAsync() from pageable memory. Returns 0 when the caller has to
   copy it otherwise, because it is pinned, the stream is being captured, or pinned memory or an event could not be had;
   no CUDA error is left behind. */
int spmv_staging_upload(void *to, const void *from, int64_t bytes, int threads, void *stream);

/* The same from the device, to pageable memory. All has arrived when it returns 1, after what was enqueued on the stream
   before. */
int spmv_staging_download(void *to, const void *from, int64_t bytes, int threads, void *stream);

/* Values of a format that takes them in pieces (upload.cuh) come in pieces of at least so many bytes; less in tests */
extern int64_t spmv_upload_piece_bytes;

/* Copies a few bytes from the device to the host, and waits for them; fetch.cu */
SpmvStatus spmv_fetch(void *to, const void *from, int64_t bytes, SpmvExec *exec);
/* Frees the pinned memory through which they come; a part of spmv_staging_release() */
void spmv_fetch_release(void);

/* Pinned bytes that are held for uploads */
int64_t spmv_staging_bytes(void);

SPMV_C_END
