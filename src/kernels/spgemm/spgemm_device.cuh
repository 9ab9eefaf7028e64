/* spgemm_device.cuh - declarations that the device files of products share: steps of spgemm.h, and sizes of teams. */
#pragma once

#include "device/csr.cuh"
#include "spgemm.h"

/* A team of 32 lanes computes a piece of a block row of the result: some of its blocks, and some rows of each block.
   Its sums are in shared memory. These are the most sums and the most blocks of a piece, for the two kinds of teams. */
enum { SPMV_MEDIUM_SUMS = 384, SPMV_MEDIUM_BLOCKS = 256, SPMV_WIDE_SUMS = 1024, SPMV_WIDE_BLOCKS = 512 };

/* Rows of a block that a team computes: two teams share a block of 6 rows */
SPMV_BOTH int spmv_team_rows(int block_rows) { return block_rows > 3 ? block_rows / 2 : block_rows; }

/* The lanes of the calling thread's team, at most a warp, as a mask of its warp */
__device__ inline unsigned spmv_team_mask(int lanes)
{
  return lanes == 32 ? 0xffffffffu : ((1u << lanes) - 1) << threadIdx.x % 32 / lanes * lanes;
}

/* What a kernel needs for the values of a product */
template <typename S>
struct SpmvSpgemmOperands {
  SpmvSpgemmPattern left, right, result;
  SpmvSpgemmTeams   teams;
  const S          *left_values, *right_values;
  S                *values;
};

/* How many lanes share a row: the largest power of two that is at most its mean number of blocks, and at most `most` */
static inline int spmv_lanes_of_row(const SpmvSpgemmPattern &p, int most)
{
  int lanes = 1;

  while (lanes < most && 2 * lanes * p.rows <= p.nnz) lanes *= 2;
  return lanes;
}

/* The lower bound: the first index in low .. high-1 with col[index] >= key, or high */
__device__ inline int spmv_lower_bound(const int32_t *col, int low, int high, int key)
{
  SPMV_BISECT(low, high, middle, col[middle] < key);
  return low;
}

/* spgemm_device_symbolic.cu */
SpmvStatus spmv_spgemm_multiply(SpmvSpgemm *, const SpmvSpgemmPattern *left, const SpmvSpgemmPattern *right,
                                SpmvSpgemmPattern *result, SpmvSpgemmTeams *, SpmvExec *);
/* spgemm_device_numeric.cu */
SpmvStatus spmv_spgemm_values(const SpmvSpgemm *, const SpmvSpgemmPattern *left, const void *left_values,
                              const SpmvSpgemmPattern *right, const void *right_values, const SpmvSpgemmPattern *result,
                              const SpmvSpgemmTeams *, void *result_values, SpmvExec *);
/* spgemm_device_marked.cu */
SpmvStatus spmv_spgemm_mark(const SpmvSpgemmPattern *left, const SpmvSpgemmPattern *right,
                            const SpmvSpgemmPattern *result, const SpmvSpgemmTeams *, SpmvExec *);
template <typename S>
SpmvStatus spmv_spgemm_add_marked(const SpmvSpgemmOperands<S> &, SpmvExec *);
/* spgemm_device_transpose.cu */
SpmvStatus spmv_spgemm_transpose(SpmvSpgemm *, const SpmvSpgemmPattern *, SpmvSpgemmPattern *transposed, SpmvExec *);
SpmvStatus spmv_spgemm_reorder(const SpmvSpgemm *, const SpmvSpgemmPattern *transposed, const void *values, void *to,
                               SpmvExec *);
