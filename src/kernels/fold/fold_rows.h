/* fold_rows.h - where a table row lies in the CSR; on the host. */
#ifndef SPMV_FOLD_ROWS_H
#define SPMV_FOLD_ROWS_H

#include "fold.h"

/* A part of a row of the matrix: length nonzeros from position offset of the row on */
typedef struct {
  int64_t row, offset, length;
} FoldPiece;

/* The row of the matrix whose first piece is table row t < N */
static inline int64_t fold_row(const FoldLayout *layout, int64_t t)
{
  return layout->order ? t / FOLD_WINDOW * FOLD_WINDOW + layout->order[t] : t;
}

/* The owner of full piece p: the last f with full_ptr[f] <= p */
static inline int64_t fold_owner_of(const FoldSizes *s, const FoldLayout *layout, int64_t p)
{
  int64_t low = 0, high = s->cut_often;

  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (layout->full_ptr[middle] <= p) low = middle;
    else high = middle;
  }
  return low;
}

/* Full pieces of owner f */
static inline int64_t fold_full_pieces(const FoldSizes *s, const FoldLayout *layout, int64_t f)
{
  return f < s->cut_often ? layout->full_ptr[f + 1] - layout->full_ptr[f] : 0;
}

/* Row and offset of table row t < table_rows; length is that of a whole piece and may reach beyond the end of the row
 */
static inline FoldPiece fold_piece(const FoldSizes *s, const FoldLayout *layout, int64_t t)
{
  if (t < s->rows) return (FoldPiece){fold_row(layout, t), 0, s->width};
  if (t < s->rows + s->full_pieces) {
    const int64_t p = t - s->rows, f = fold_owner_of(s, layout, p);
    return (FoldPiece){layout->owner[f], (1 + p - layout->full_ptr[f]) * s->width, s->width};
  }
  const int64_t f = t - s->rows - s->full_pieces;
  return (FoldPiece){layout->owner[f], (1 + fold_full_pieces(s, layout, f)) * s->width, s->width};
}

#endif
