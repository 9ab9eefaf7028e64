/*
  fold_stream.h - a table that is not all on the device, or whose x the host gathers: how it is cut, and what the host
  does during a product.

  The first resident_slices slices have their values (and columns, unless the host gathers) in device memory. All others
  lie in host memory. A product takes the table in *chunks* of whole slices: those that are not resident are copied to
  two buffers on the device in turn, while the chunk before is multiplied. With gather=host each chunk comes with x in
  the order of its entries, which host threads have gathered.

    work  S  [partial sums]      as in fold_device.cuh
             [chunk_steps * 32]  gather=device: x in the order of a chunk
             2 buffers of        gather=host: x in the order of a chunk; not resident: values, and then, unless the host
                                 gathers, columns
*/
#pragma once

#include "fold.h"

SPMV_C_BEGIN

/* Slices begin .. end-1, which are steps wide together */
typedef struct {
  int64_t begin, end, first_step, steps;
  int     resident;
} FoldChunk;

typedef struct {
  int     gather;
  int64_t resident_slices, resident_steps;
  int64_t chunk_steps; /* a chunk is at most so wide */
  int64_t chunks;
  int64_t buffer_bytes, gathered_bytes, partial_bytes; /* of one buffer; of x gathered on the device; of partial sums */
} FoldStreamSizes;

enum { FOLD_BUFFERS = 2 };

/* Cuts a table. limit bounds the bytes on the device: layout, resident part and work; 0: none. The least that a product
   needs is taken even beyond the limit: the layout, partial sums, and two buffers for the widest slice. */
void fold_stream_cut(const FoldSizes *, const int64_t *slice_ptr, int gather, SpmvScalar, int64_t limit,
                     int64_t partial_sums, FoldStreamSizes *);
/* The chunks of that cut: [sizes->chunks] */
void fold_stream_chunks(const FoldSizes *, const int64_t *slice_ptr, const FoldStreamSizes *, FoldChunk *);

/* The end of the longest range of whole slices from begin on, up to last, that is at most `steps` wide; at least one */
int64_t fold_stream_range_end(const int64_t *slice_ptr, int64_t steps, int64_t begin, int64_t last);

/* The CSR of A^T from that of A: t_row_ptr [cols+1], t_col [nnz], t_values [nnz] */
void fold_transpose_csr(const SpmvPattern *, SpmvScalar, const void *values, void *t_row_ptr, void *t_col,
                        void *t_values);

SPMV_C_END
