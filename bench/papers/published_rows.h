/*
  published_rows.h - row lengths of the shapes of the matrices that the paper on the Fold method measures (its Table 3)

  Lengths are drawn from a Beta distribution with the mean, the maximum and the standard deviation of a row: the same
  ones on every machine.
*/
#ifndef PUBLISHED_ROWS_H
#define PUBLISHED_ROWS_H

#include <stdint.h>

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

/* Lengths in an order that has nothing to do with them, as row_ptr of shape [rows+1]; the longest occurs. 0 when memory
   runs out, else 1. */
int published_row_ptr(int shape, int64_t *row_ptr);

#ifdef __cplusplus
}
#endif
#endif
