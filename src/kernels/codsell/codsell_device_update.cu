/*
  codsell_device_update.cu - values from the CSR, in its order, to the slices and long rows of a plan on the device.

  A row is contiguous in the CSR, a position of all rows of a slice is contiguous in the plan: values go through tiles.
*/
#include "codsell_device_positions.cuh"
#include "codsell_device_tile.cuh"

namespace
{
/* The row of a thread: where it is in the CSR, and its lane in the plan */
template <typename S>
struct Lane {
  int64_t position;
  int     n, width;
  S      *to;
};

/* The tiles part, part + parts, ... of the slots of a warp. All its threads must call. */
template <typename S>
__device__ inline void fill_tiles(const Lane<S> &at, int log_c, int part, int parts, const S *__restrict__ csr, S *tile)
{
  const int thread = threadIdx.x & 31, position = thread % POSITIONS;

  for (int k0 = part * POSITIONS; __any_sync(0xffffffffu, k0 < at.width); k0 += parts * POSITIONS) {
    S value[POSITIONS];

#pragma unroll
    for (int i = 0; i < POSITIONS; i++) {
      const int     slot  = i * ROWS_AT_A_TIME + thread / POSITIONS;
      const int64_t first = __shfl_sync(0xffffffffu, at.position, slot);
      const int     n     = __shfl_sync(0xffffffffu, at.n, slot);

      value[i] = k0 + position < n ? csr[first + k0 + position] : S(0);
    }
#pragma unroll
    for (int i = 0; i < POSITIONS; i++)
      tile[place_in_tile<S>(i * ROWS_AT_A_TIME + thread / POSITIONS, position)] = value[i];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < POSITIONS; k++)
      if (k0 + k < at.width) at.to[(int64_t)(k0 + k) << log_c] = tile[place_in_tile<S>(thread, k)];
    __syncwarp();
  }
}

/* `shares` thread blocks a window of at most ROWS rows: each takes every shares-th group of 32 slots; `parts` warps
   share a group */
template <int ROWS, typename S>
__global__ void __launch_bounds__(CODSELL_THREADS, spmv_resident_blocks(CODSELL_THREADS, 5))
    codsell_fill_slices(const CodsellLayout p, int shares, int parts, const S *__restrict__ csr, S *values)
{
  __shared__ int      before[codsell_padded(ROWS)];
  __shared__ S        tile[WARPS][TILE];
  const CodsellShape &s    = p.shape;
  const int           warp = threadIdx.x / 32, groups_at_a_time = WARPS / parts;
  const CodsellWindow window = codsell_window(p, blockIdx.x / shares);
  const int64_t       groups = (window.end - window.begin + SLOTS - 1) / SLOTS;

  codsell_add_up<ROWS>(p, window, before);
  for (int64_t group = blockIdx.x % shares + (int64_t)(warp / parts) * shares; group < groups;
       group += (int64_t)groups_at_a_time * shares) {
    const int64_t slot = window.begin + group * SLOTS + threadIdx.x % 32;
    Lane<S>       lane = {0, 0, 0, values};

    if (slot < window.end) {
      const CodsellSlice at  = p.slices[slot >> s.log_c];
      const int          row = at.moved ? (int)p.order[slot] : (int)(slot - window.begin);

      lane.position = codsell_position(p, window, window.begin + row, before[codsell_padded(row)]);
      lane.n        = codsell_length_in_slot(p, at, slot);
      lane.width    = (int)at.width;
      lane.to       = values + ((int64_t)at.column0 << s.log_c) + (slot & ((1 << s.log_c) - 1));
    }
    fill_tiles(lane, s.log_c, warp % parts, parts, csr, tile[warp]);
  }
}

/* One thread block a piece of a long row */
template <typename S>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_fill_pieces(const CodsellLayout p, const S *__restrict__ csr, S *long_values)
{
  const CodsellPiece piece    = p.pieces[blockIdx.x];
  const CodsellLong *long_row = p.long_rows + piece.long_row;
  const int64_t      first = long_row->first, n = long_row[1].first - first;
  const int64_t begin = (int64_t)piece.number * CODSELL_PIECE, position = codsell_position_of_row(p, long_row->row);

  for (int64_t k = begin + threadIdx.x; k < min(begin + CODSELL_PIECE, n); k += CODSELL_THREADS)
    long_values[first + k] = csr[position + k];
}

template <typename S>
SpmvStatus fill(const CodsellPlan *plan, const S *csr, SpmvExec *exec)
{
  const CodsellLayout p      = codsell_layout(plan);
  const CodsellShape &shape  = p.shape;
  const int           shares = codsell_shares(&shape);
  const int           parts  = 1 << tile_log_parts(shape.slices > 0 ? shape.columns / shape.slices : 0, LOG_WARPS);
  const int64_t       blocks = shape.windows * shares;

  if (p.shape.window <= CODSELL_WINDOW)
    SPMV_LAUNCH(exec, (codsell_fill_slices<CODSELL_WINDOW, S>), blocks, CODSELL_THREADS, 0, p, shares, parts, csr,
                (S *)plan->values);
  else
    SPMV_LAUNCH(exec, (codsell_fill_slices<CODSELL_MAX_SIGMA, S>), blocks, CODSELL_THREADS, 0, p, shares, parts, csr,
                (S *)plan->values);
  SPMV_LAUNCH(exec, codsell_fill_pieces<S>, p.shape.pieces, CODSELL_THREADS, 0, p, csr, (S *)plan->long_values);
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus codsell_device_fill(CodsellPlan *plan, const void *csr, SpmvExec *exec)
{
  if (plan->base.scalar_type == SPMV_F32) return fill(plan, (const float *)csr, exec);
  return fill(plan, (const double *)csr, exec);
}
