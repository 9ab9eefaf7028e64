/*
  point.cuh - diagonal and block-diagonal preconditioners in kernels with one row per lane: with blocks, a lane gets the
  entries of r in the other rows of its block by shuffles.
*/
#pragma once

#include "device/vector.cuh"
#include "point.h"
#include <type_traits>

enum { SPMV_POINT_THREADS = 256 };

template <int N>
using SpmvNumber = std::integral_constant<int, N>;

/* Calls call(SpmvNumber<B>()) with B = block, which must be at least the first B */
template <int B, typename Call>
static SpmvStatus spmv_with_block(int block, Call call)
{
  if constexpr (B < SPMV_PC_BLOCK_MAX)
    if (block > B) return spmv_with_block<B + 1>(block, call);
  return call(SpmvNumber<B>());
}

/* Calls call(S(), SpmvNumber<B>()) with the type S of `scalar` and B = block >= FIRST */
template <int FIRST, typename Call>
static SpmvStatus spmv_with_point(SpmvScalar scalar, int block, Call call)
{
  return spmv_with_scalar(
      scalar, [&](auto s) { return spmv_with_block<FIRST>(block, [&](auto number) { return call(s, number); }); });
}

/* Rows of a warp at a time, one per lane: as many whole blocks as fit into 32 lanes */
template <int BLOCK>
__host__ __device__ constexpr int spmv_point_rows()
{
  return BLOCK > 1 ? 32 / BLOCK * BLOCK : 32;
}

/* The first row of this warp, and the distance between two consecutive rows of a lane */
template <int BLOCK>
__device__ inline int64_t spmv_point_first()
{
  return (blockIdx.x * (int64_t)(SPMV_POINT_THREADS / 32) + threadIdx.x / 32) * spmv_point_rows<BLOCK>();
}
template <int BLOCK>
__device__ inline int64_t spmv_point_step()
{
  return gridDim.x * (int64_t)(SPMV_POINT_THREADS / 32) * spmv_point_rows<BLOCK>();
}

/* z = M r for this lane's row; `there`: the lane has a row. All lanes of the warp must call it. */
template <int BLOCK, typename S>
__device__ inline S spmv_point_apply(const S *m, int64_t row, bool there, S r)
{
  if (BLOCK == SPMV_POINT_STORED) return there ? m[row] : S(0);
  if (BLOCK == 0) return r;
  if (BLOCK == 1) return there ? m[row] * r : S(0);
  constexpr int SIDE = BLOCK > 0 ? BLOCK : 1; /* BLOCK is at least 2 here; 1 lets the other cases compile */
  const int     lane = threadIdx.x % 32, i = lane % SIDE;
  const S      *of_row = m + (row - i) * SIDE + i;
  S             z      = 0;
#pragma unroll
  for (int j = 0; j < SIDE; j++) {
    const S other = __shfl_sync(0xffffffffu, r, (lane - i + j) % 32);
    if (there) z += of_row[j * SIDE] * other;
  }
  return z;
}

/* spmv_point_rows() and spmv_point_apply() with the block size as an argument, for kernels that spend their time
   elsewhere */
__host__ __device__ inline int spmv_point_rows_of(int block) { return block > 1 ? 32 / block * block : 32; }

template <typename S>
__device__ inline S spmv_point_of(const S *m, int block, int64_t row, bool there, S r)
{
  if (block == 0) return r;
  if (block == 1) return there ? m[row] * r : S(0);
  const int lane = threadIdx.x % 32, i = lane % block;
  const S  *of_row = m + (row - i) * block + i;
  S         z      = 0;
  for (int j = 0; j < block; j++) {
    const S other = __shfl_sync(0xffffffffu, r, (lane - i + j) % 32);
    if (there) z += of_row[j * block] * other;
  }
  return z;
}
