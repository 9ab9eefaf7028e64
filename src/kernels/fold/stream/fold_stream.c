/* fold_stream.c - cuts a streamed table into chunks. */
#include "fold_stream.h"

enum {
  LARGE_CHUNK_BYTES = 32 << 20, /* a copy of this size reaches the full bandwidth of the bus */
  CHUNKS_WANTED     = 8         /* at least this many, so that most copies overlap products */
};

/* Bytes per step: of the resident table, and of a buffer */
typedef struct {
  int64_t table, buffer;
} StepBytes;

static StepBytes step_bytes(int gather, SpmvScalar scalar, int all_resident)
{
  const int64_t S = FOLD_LANES * spmv_scalar_bytes(scalar), I = FOLD_LANES * 4;
  const int     host = gather == FOLD_GATHER_HOST;

  return (StepBytes){.table = S + (host ? 0 : I), .buffer = (host ? S : 0) + (all_resident ? 0 : S + (host ? 0 : I))};
}

static int64_t widest_slice(const FoldSizes *s, const int64_t *slice_ptr)
{
  int64_t widest = 1;

  for (int64_t i = 0; i < s->slices; i++)
    if (slice_ptr[i + 1] - slice_ptr[i] > widest) widest = slice_ptr[i + 1] - slice_ptr[i];
  return widest;
}

/* The number of steps that fit `bytes`, limited to the useful size of a chunk */
static int64_t chunk_steps(const FoldSizes *s, int64_t widest, int64_t bytes, int64_t bytes_per_step)
{
  const int64_t large = LARGE_CHUNK_BYTES / bytes_per_step, wanted = s->steps / CHUNKS_WANTED;
  int64_t       steps = bytes / bytes_per_step;

  if (steps > large) steps = large;
  if (steps > wanted) steps = wanted;
  return steps > widest ? steps : widest;
}

int64_t fold_stream_range_end(const int64_t *slice_ptr, int64_t steps, int64_t begin, int64_t last)
{
  int64_t end = begin + 1;

  while (end < last && slice_ptr[end + 1] - slice_ptr[begin] <= steps) end++;
  return end;
}

/* The end of the chunk that begins with slice `begin`. Resident slices whose x needs no buffer form one chunk. */
static int64_t chunk_end(const int64_t *slice_ptr, const FoldStreamSizes *t, int64_t slices, int64_t begin)
{
  if (begin >= t->resident_slices) return fold_stream_range_end(slice_ptr, t->chunk_steps, begin, slices);
  if (t->gather == FOLD_GATHER_CACHE) return t->resident_slices;
  return fold_stream_range_end(slice_ptr, t->chunk_steps, begin, t->resident_slices);
}

void fold_stream_cut(const FoldSizes *s, const int64_t *slice_ptr, int gather, SpmvScalar scalar, int64_t limit,
                     int64_t partial_sums, FoldStreamSizes *t)
{
  const int64_t widest = widest_slice(s, slice_ptr), S = spmv_scalar_bytes(scalar);
  StepBytes     b     = step_bytes(gather, scalar, 1);
  int64_t       fixed = fold_slice_ptr_bytes(s) + fold_order_bytes(s) + fold_owner_bytes(s) + fold_full_ptr_bytes(s);

  *t = (FoldStreamSizes){.gather = gather, .partial_bytes = (partial_sums * S + 255) / 256 * 256};
  fixed += t->partial_bytes;
  t->resident_slices = s->slices;
  t->resident_steps  = s->steps;
  t->chunk_steps     = chunk_steps(s, widest, limit ? limit / 8 : INT64_MAX, FOLD_BUFFERS * S * FOLD_LANES);
  t->buffer_bytes    = t->chunk_steps * b.buffer;
  if (limit > 0 && fixed + s->steps * b.table + FOLD_BUFFERS * t->buffer_bytes > limit) {
    b                  = step_bytes(gather, scalar, 0);
    t->chunk_steps     = chunk_steps(s, widest, (limit - fixed) / 4, FOLD_BUFFERS * b.buffer);
    t->buffer_bytes    = t->chunk_steps * b.buffer;
    t->resident_slices = 0;
    const int64_t left = limit - fixed - FOLD_BUFFERS * t->buffer_bytes;
    while (t->resident_slices < s->slices && slice_ptr[t->resident_slices + 1] * b.table <= left) t->resident_slices++;
    t->resident_steps = slice_ptr[t->resident_slices];
  }
  for (int64_t begin = 0; begin < s->slices; begin = chunk_end(slice_ptr, t, s->slices, begin)) t->chunks++;
}

void fold_stream_chunks(const FoldSizes *s, const int64_t *slice_ptr, const FoldStreamSizes *t, FoldChunk *chunk)
{
  for (int64_t begin = 0, end; begin < s->slices; begin = end, chunk++) {
    end    = chunk_end(slice_ptr, t, s->slices, begin);
    *chunk = (FoldChunk){begin, end, slice_ptr[begin], slice_ptr[end] - slice_ptr[begin], begin < t->resident_slices};
  }
}
