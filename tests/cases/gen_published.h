/*
  gen_published.h - matrices with the shapes of those measured in the paper on the Fold method (its Table 3)

  Row lengths are drawn from a Beta distribution with the published mean, maximum and standard deviation, and are the
  same on every machine. The columns of a row are spread over a band around the diagonal, eight times as wide as the row
  is long: neighbouring rows read neighbouring parts of x, as in a mesh with well-ordered nodes.
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

/* The row lengths are in random order; the longest one occurs */
GenSpec gen_published(int shape);
/* Only the lengths, as row_ptr of shape [rows+1] */
void gen_published_lengths(int shape, int64_t *row_ptr);

#ifdef __cplusplus
}
#endif
#endif
