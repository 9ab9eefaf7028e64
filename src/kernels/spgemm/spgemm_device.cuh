/* spgemm_device.cuh - declarations that the device files of products share: steps of spgemm.h, and sizes of teams. */
#pragma once

#include "device/arena.cuh"
#include "spgemm.h"

/* A team of lanes computes a piece of a block row of the result: some of its blocks, and some rows of each block. Its
   sums are in shared memory. These are the most sums and the most blocks of a piece, for the three kinds of teams. */
enum {
  SPMV_SMALL_LANES   = 8, /* for single entries only */
  SPMV_SMALL_SUMS    = 64,
  SPMV_SMALL_BLOCKS  = 64,
  SPMV_MEDIUM_LANES  = 32,
  SPMV_MEDIUM_SUMS   = 384,
  SPMV_MEDIUM_BLOCKS = 256,
  SPMV_WIDE_SUMS     = 1024, /* with 32 lanes */
  SPMV_WIDE_BLOCKS   = 512
};

/* Rows of a block that a team computes: two teams share a block of 6 rows */
SPMV_BOTH int spmv_team_rows(int block_rows) { return block_rows > 3 ? block_rows / 2 : block_rows; }

/* The lower bound: the first index in low .. high-1 with col[index] >= key, or high */
__device__ inline int spmv_lower_bound(const int32_t *col, int low, int high, int key)
{
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (col[middle] < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* spgemm_device_symbolic.cu */
SpmvStatus spmv_spgemm_multiply(SpmvSpgemm *, const SpmvSpgemmPattern *left, const SpmvSpgemmPattern *right,
                                SpmvSpgemmPattern *result, SpmvSpgemmTeams *, SpmvExec *);
/* spgemm_device_numeric.cu */
SpmvStatus spmv_spgemm_values(const SpmvSpgemm *, const SpmvSpgemmPattern *left, const void *left_values,
                              const SpmvSpgemmPattern *right, const void *right_values, const SpmvSpgemmPattern *result,
                              const SpmvSpgemmTeams *, void *result_values, SpmvExec *);
/* spgemm_device_transpose.cu */
SpmvStatus spmv_spgemm_transpose(SpmvSpgemm *, const SpmvSpgemmPattern *, SpmvSpgemmPattern *transposed, SpmvExec *);
SpmvStatus spmv_spgemm_reorder(const SpmvSpgemm *, const SpmvSpgemmPattern *transposed, const void *values, void *to,
                               SpmvExec *);
