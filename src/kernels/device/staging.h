/*
  staging.h - copies through pinned memory: a few bytes to the host, and large pageable blocks to and from the device,
  faster than the driver, which copies pageable memory with one thread.

  For an upload, host threads copy pieces of the block into pinned buffers, and the copy engine fetches one buffer while
  the thread fills the other; downloads work the other way round. The process has one set of buffers (decision 0013).
*/
#pragma once

#include "core/format.h"

SPMV_C_BEGIN

enum {
  SPMV_STAGING_THREADS = 8,
  SPMV_STAGING_BUFFERS = 2,      /* of each thread */
  SPMV_STAGING_PIECE   = 1 << 20 /* bytes of a buffer */
};

/* The number of threads that pays off for a copy of `bytes`, at most the threads available; 1: the driver's copy is as
   fast */
int spmv_staging_threads(int64_t bytes);

/* Enqueues the copy of a block of host memory, in pieces of any order, by up to `threads` threads. Returns 1 when all
   pieces are enqueued: the block may then be reused, as after cudaMemcpyAsync() from pageable memory. Returns 0 if the
   caller has to copy it: the block is pinned, the stream is being captured or is cudaStreamPerThread, or no pinned
   memory or event was available. No CUDA error is left behind. */
int spmv_staging_upload(void *to, const void *from, int64_t bytes, int threads, void *stream);

/* A download to pageable memory, in order with the earlier work of the stream. When it returns 1, all bytes have
   arrived. */
int spmv_staging_download(void *to, const void *from, int64_t bytes, int threads, void *stream);

/* Whether host memory is neither page-locked nor shared with a device */
int spmv_is_pageable(const void *);

/* The smallest piece of values that spmv_fill_in_pieces() (upload.cuh) uploads; tests lower it */
extern int64_t spmv_upload_piece_bytes;

/* Copies a few bytes to the host and waits for them; fetch.cu */
SpmvStatus spmv_fetch(void *to, const void *from, int64_t bytes, SpmvExec *exec);
/* Frees the pinned buffer of spmv_fetch(); called by spmv_staging_release() */
void spmv_fetch_release(void);

/* Pinned bytes of the staging buffers */
int64_t spmv_staging_bytes(void);

SPMV_C_END
