/*
  fold_stream.h - a *streamed* table: part of it lies in host memory, or the host gathers x. Cutting the table into
  chunks, and the work of the host.

  The first resident_slices slices have their values (and columns, unless the host gathers) in device memory; all other
  slices lie in host memory. A product processes the table in *chunks* of whole slices. Chunks that are not resident are
  copied to two device buffers in turn, while the previous chunk is multiplied. With gather=host each chunk comes with x
  in the order of its entries, gathered by host threads.

    work  S  [partial sums]      as in fold_device.cuh
             2 buffers of        gather=host: x in the order of a chunk; if not resident: values, and then, unless the
                                 host gathers, columns
*/
#pragma once

#include "fold/fold.h"

SPMV_C_BEGIN

/* Slices begin .. end-1; steps is the sum of their widths */
typedef struct {
  int64_t begin, end, first_step, steps;
  int     resident;
} FoldChunk;

typedef struct {
  int     gather;
  int64_t resident_slices, resident_steps;
  int64_t chunk_steps; /* the largest width of a chunk */
  int64_t chunks;
  int64_t buffer_bytes, partial_bytes; /* one buffer; partial sums */
} FoldStreamSizes;

enum { FOLD_BUFFERS = 2 };

/* Computes the sizes of the cut of a table. limit bounds the bytes on the device (layout, resident part and work); 0:
   no limit. The minimum for a product is taken even if it exceeds the limit: the layout, partial sums, and two buffers
   for the widest slice. */
void fold_stream_cut(const FoldSizes *, const int64_t *slice_ptr, int gather, SpmvScalar, int64_t limit,
                     int64_t partial_sums, FoldStreamSizes *);
/* Writes the chunks of that cut: [sizes->chunks] */
void fold_stream_chunks(const FoldSizes *, const int64_t *slice_ptr, const FoldStreamSizes *, FoldChunk *);

/* The end of the longest range of whole slices from `begin` to at most `last` that is at most `steps` wide; at least
   one slice */
int64_t fold_stream_range_end(const int64_t *slice_ptr, int64_t steps, int64_t begin, int64_t last);

SPMV_C_END
