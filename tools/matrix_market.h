/*
  matrix_market.h - reads a Matrix Market file in coordinate form: real, integer or pattern; general, symmetric or
  skew-symmetric. Does not need PETSc; petscpack-advise and the GPU benchmark use it.
*/
#ifndef MATRIX_MARKET_H
#define MATRIX_MARKET_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MTX_MESSAGE = 1024 };

/* The entries of a matrix, 0-based, in the order of the file. In a symmetric file, an off-diagonal entry is followed by
   its mirror image. A position may have several entries, which are summed. */
typedef struct {
  int64_t  rows, cols, count;
  int64_t *row, *col; /* shape [count] */
  double  *value;     /* shape [count]; all 1 if the file has only a pattern */
  int      pattern;
} MtxEntries;

/* Returns 0, or 1 with a message that names file and line; after a failure there is nothing to free */
int  mtx_read(const char *path, MtxEntries *, char message[MTX_MESSAGE]);
void mtx_free(MtxEntries *);

#ifdef __cplusplus
}
#endif
#endif
