/* point.h - the kind of a preconditioner in one number: the rows of a block of M. */
#pragma once

#include <spmv_engine.h>

/* M is a function: the array holds its result M r, not values of M */
enum { SPMV_POINT_STORED = -1 };

/* 0 for the identity, 1 for a diagonal, SPMV_POINT_STORED for a function, whose result is stored */
static inline int spmv_point_block(SpmvPreconditioner kind, int block_size)
{
  if (kind == SPMV_PC_FUNCTION) return SPMV_POINT_STORED;
  return kind == SPMV_PC_BLOCKS ? block_size : kind == SPMV_PC_DIAGONAL;
}
