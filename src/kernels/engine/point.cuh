/*
  point.cuh - preconditioners of a point or of a block of points in kernels that have one row for each lane: with blocks
  a lane takes r of the other rows of its block from the lanes beside it.
*/
#pragma once

#include "device/vector.cuh"
#include "engine/point.h"
#include <type_traits>

enum { SPMV_POINT_THREADS = 256 };

template <int N>
using SpmvNumber = std::integral_constant<int, N>;

/* call(SpmvNumber<B>()) for the rows of a block, from the first B on */
template <int B, typename Call>
static SpmvStatus spmv_with_block(int block, Call call)
{
  if constexpr (B < SPMV_PC_BLOCK_MAX)
    if (block > B) return spmv_with_block<B + 1>(block, call);
  return call(SpmvNumber<B>());
}

/* call(S(), SpmvNumber<B>()) */
template <int FIRST, typename Call>
static SpmvStatus spmv_with_point(SpmvScalar scalar, int block, Call call)
{
  const auto with_type = [&](auto s) {
    return spmv_with_block<FIRST>(block, [&](auto number) { return call(s, number); });
  };

  return scalar == SPMV_F32 ? with_type(float()) : with_type(double());
}

/* Rows that a warp takes at a time, one per lane: whole blocks */
template <int BLOCK>
__host__ __device__ constexpr int spmv_point_rows()
{
  return BLOCK > 1 ? 32 / BLOCK * BLOCK : 32;
}

/* The first row of this warp, and how many rows lie between two that a lane takes */
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

/* z = M r of this lane's row, if there is one. All lanes of the warp take part. */
template <int BLOCK, typename S>
__device__ inline S spmv_point_apply(const S *m, int64_t row, bool there, S r)
{
  if (BLOCK == SPMV_POINT_STORED) return there ? m[row] : S(0);
  if (BLOCK == 0) return r;
  if (BLOCK == 1) return there ? m[row] * r : S(0);
  constexpr int SIDE = BLOCK > 0 ? BLOCK : 1; /* the lines above leave no other */
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

/* The same where the rows of a block are no constant, for kernels whose time goes elsewhere: 0 or 1 row, or a block */
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
