/* upload.cuh - the arrays of a CSR on the device: used in place if they are there, else uploaded. */
#pragma once

#include "arena.cuh"
#include "overlap.cuh"
#include "staging.h"
#include <climits>

/* Fails if rows or columns reach INT_MAX - spare, because device formats count them in 32 bits */
static inline SpmvStatus spmv_check_counts(const SpmvAnalysis *a, int64_t spare, SpmvExec *exec)
{
  if (a->rows < INT_MAX - spare && a->cols < INT_MAX - spare) return SPMV_SUCCESS;
  return spmv_fail(exec, SPMV_ERR_OVERFLOW,
                   "%s on the device supports fewer than %lld rows and columns, not %lld x %lld", a->format->name,
                   (long long)(INT_MAX - spare), (long long)a->rows, (long long)a->cols);
}

/* An array in device memory: the array itself, or its copy in the arena */
static inline SpmvStatus spmv_on_device(const void *from, SpmvSpace space, int64_t bytes, const char *name,
                                        SpmvArena *arena, SpmvExec *exec, const void **array)
{
  void *block;

  *array = from;
  if (space == SPMV_DEVICE) return SPMV_SUCCESS;
  SPMV_TRY(spmv_arena_alloc(arena, bytes, name, &block, exec));
  *array = block;
  return spmv_copy(block, SPMV_DEVICE, from, SPMV_HOST, bytes, exec);
}

/* *d is the pattern *p with its arrays in device memory */
static inline SpmvStatus spmv_pattern_on_device(const SpmvPattern *p, SpmvArena *arena, SpmvExec *exec, SpmvPattern *d)
{
  const int64_t index_bytes = spmv_index_bytes(p->index_type);

  *d       = *p;
  d->space = SPMV_DEVICE;
  SPMV_TRY(
      spmv_on_device(p->row_ptr, p->space, (p->rows + 1) * index_bytes, "uploaded row_ptr", arena, exec, &d->row_ptr));
  return spmv_on_device(p->col, p->space, p->nnz * index_bytes, "uploaded col", arena, exec, &d->col);
}

enum { SPMV_UPLOAD_PIECES = 16 /* at most: each piece of values takes a pass over the pattern */ };

/* The caller may reuse host values when a call returns: those in page-locked memory are read until the stream is idle,
   those in pageable memory only until their copy is enqueued */
static inline SpmvStatus spmv_wait_for_upload(const void *from, SpmvExec *exec)
{
  return spmv_is_pageable(from) ? SPMV_SUCCESS : spmv_stream_wait(exec);
}

/* Calls fill(values on the device), which enqueues kernels that write to a plan. Host values are uploaded first. Later
   products see what fill wrote. */
template <typename Fill>
static inline SpmvStatus spmv_fill_values(const SpmvPlan *plan, const void *values, SpmvSpace space, SpmvExec *exec,
                                          const Fill &fill)
{
  const int64_t     bytes = plan->nnz * spmv_scalar_bytes(plan->scalar_type);
  SpmvScopedScratch uploaded(exec);

  if (space == SPMV_HOST) {
    SPMV_TRY(uploaded.take(bytes, "uploaded values"));
    SPMV_TRY(spmv_copy(uploaded.block, SPMV_DEVICE, values, SPMV_HOST, bytes, exec));
  }
  SPMV_TRY(fill(uploaded.block ? uploaded.block : values));
  SPMV_TRY(spmv_overlap_fence(exec));
  return uploaded.block ? spmv_wait_for_upload(values, exec) : SPMV_SUCCESS;
}

/* Calls fill(values on the device, first, count), which writes only what depends on positions first .. first+count-1 of
   the CSR. So host values need not fit on the device all at once: they are uploaded piece by piece into one block, and
   the stream orders each upload behind the kernels that read the piece before. */
template <typename Fill>
static inline SpmvStatus spmv_fill_in_pieces(const SpmvPlan *plan, const void *values, SpmvSpace space, SpmvExec *exec,
                                             const Fill &fill)
{
  const int64_t     S = spmv_scalar_bytes(plan->scalar_type), n = plan->nnz;
  const int64_t     part = (n + SPMV_UPLOAD_PIECES - 1) / SPMV_UPLOAD_PIECES, least = spmv_upload_piece_bytes / S;
  const int64_t     most = part > least ? part : least;
  SpmvScopedScratch uploaded(exec);

  if (space == SPMV_DEVICE || n <= most)
    return spmv_fill_values(plan, values, space, exec, [&](const void *there) { return fill(there, (int64_t)0, n); });
  SPMV_TRY(uploaded.take(most * S, "uploaded values"));
  for (int64_t first = 0; first < n; first += most) {
    const int64_t count = n - first < most ? n - first : most;

    SPMV_TRY(spmv_copy(uploaded.block, SPMV_DEVICE, (const char *)values + first * S, SPMV_HOST, count * S, exec));
    SPMV_TRY(fill(uploaded.block, first, count));
  }
  return spmv_wait_for_upload(values, exec);
}
