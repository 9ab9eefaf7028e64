/*
  gen_published.h - matrices of the shapes of those that the paper on the Fold method measures (its Table 3)

  Lengths are drawn from a Beta distribution with the mean, the maximum and the standard deviation of a row: the same
  ones on every machine. Columns of a row are spread over a band around the diagonal, eight times as wide as the row is
  long: neighbouring rows read neighbouring parts of x, as in a mesh with its nodes in a good order.
*/
#ifndef SPMV_GEN_PUBLISHED_H
#define SPMV_GEN_PUBLISHED_H

#include "gen.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PUBLISHED_SHAPES = 8 };

typedef struct {
  const char *name;
  int64_t     rows, nnz, longest;
  double      sigma;
} PublishedShape;

extern const PublishedShape published_shapes[PUBLISHED_SHAPES];

/* Lengths in an order that has nothing to do with them; the longest occurs */
GenSpec gen_published(int shape);
/* The lengths alone, as row_ptr of shape [rows+1] */
void gen_published_lengths(int shape, int64_t *row_ptr);

#ifdef __cplusplus
}
#endif
#endif
