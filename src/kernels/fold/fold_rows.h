/* fold_rows.h - the position of a table row in the CSR; for host and device. */
#pragma once

#include "core/csr.h"
#include "fold.h"

#if defined(__CUDACC__)
  #define FOLD_INLINE static inline __host__ __device__
#else
  #define FOLD_INLINE static inline
#endif

/* A part of a matrix row: `length` nonzeros from position `offset` of the row on */
typedef struct {
  int64_t row, offset, length;
} FoldPiece;

/* The matrix row whose first piece is table row t < N */
FOLD_INLINE int64_t fold_row(const FoldLayout *layout, int64_t t)
{
  return layout->order ? t / FOLD_WINDOW * FOLD_WINDOW + layout->order[t] : t;
}

/* The owner of full piece p: the last f with full_ptr[f] <= p */
FOLD_INLINE int64_t fold_owner_of(const FoldSizes *s, const FoldLayout *layout, int64_t p)
{
  int64_t after = 1, end = s->cut_often;

  SPMV_BISECT(after, end, middle, layout->full_ptr[middle] <= p);
  return after - 1;
}

/* Number of full pieces of owner f */
FOLD_INLINE int64_t fold_full_pieces(const FoldSizes *s, const FoldLayout *layout, int64_t f)
{
  return f < s->cut_often ? layout->full_ptr[f + 1] - layout->full_ptr[f] : 0;
}

/* Row and offset of table row t < table_rows; length is that of a full piece and may reach beyond the row's end */
FOLD_INLINE FoldPiece fold_piece(const FoldSizes *s, const FoldLayout *layout, int64_t t)
{
  FoldPiece piece = {0, 0, s->width};

  if (t < s->rows) {
    piece.row = fold_row(layout, t);
    return piece;
  }
  const int64_t p = t - s->rows;
  const int64_t f = p < s->full_pieces ? fold_owner_of(s, layout, p) : p - s->full_pieces;
  piece.row       = layout->owner[f];
  piece.offset    = s->width * (1 + (p < s->full_pieces ? p - layout->full_ptr[f] : fold_full_pieces(s, layout, f)));
  return piece;
}
