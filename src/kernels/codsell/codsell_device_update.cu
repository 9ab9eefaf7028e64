/*
  codsell_device_update.cu - copies values in CSR order to the slices and long rows of a plan on the device.

  A row is contiguous in the CSR; position k of all rows of a slice is contiguous in the plan. Tiles in shared memory
  transpose between the two.
*/
#include "codsell_device_positions.cuh"
#include "codsell_device_tile.cuh"

namespace
{
/* The row of a thread: CSR position, and lane in the plan */
template <typename S>
struct Lane {
  int64_t position;
  int     n, width;
  S      *to;
};

/* Copies the tiles part, part + parts, ... of the 32 slots of a warp. Called by all threads of the warp. */
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
      tile[index_in_tile<S>(i * ROWS_AT_A_TIME + thread / POSITIONS, position)] = value[i];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < POSITIONS; k++)
      if (k0 + k < at.width) at.to[(int64_t)(k0 + k) << log_c] = tile[index_in_tile<S>(thread, k)];
    __syncwarp();
  }
}

/* The lane of a slot, whose row begins at `position` of the CSR */
template <typename S>
__device__ inline Lane<S> lane_of(const CodsellLayout &p, int64_t slot, int64_t position, S *values)
{
  const CodsellSlice at = p.slices[slot >> p.shape.log_c];
  const int          c  = 1 << p.shape.log_c;

  return {position, codsell_length_in_slot(p, at, slot), (int)at.width,
          values + (int64_t)at.column0 * c + (slot & (c - 1))};
}

/* Copies values, with row positions from the CSR's pointers: 1 << log_parts warps share 32 slots, which may belong to
   several windows */
template <typename I, typename S>
__global__ void __launch_bounds__(CODSELL_THREADS, spmv_resident_blocks(CODSELL_THREADS, 5))
    codsell_fill_slots(const CodsellLayout p, int log_parts, const I *__restrict__ row_ptr, const S *__restrict__ csr,
                       S *values)
{
  __shared__ S        tile[WARPS][TILE];
  const CodsellShape &s    = p.shape;
  const int           warp = threadIdx.x / 32, part = warp & ((1 << log_parts) - 1);
  const int64_t       group = (int64_t)blockIdx.x * (WARPS >> log_parts) + (warp >> log_parts);
  const int64_t       slot  = group * SLOTS + threadIdx.x % 32;
  Lane<S>             lane  = {0, 0, 0, values};

  if (slot < s.slices << s.log_c) {
    const int row = codsell_row_in_slot(p.order, s.window, (int)slot); /* unused slots give row numbers beyond the last
                                                                          row */

    lane = lane_of(p, slot, row < s.rows ? (int64_t)row_ptr[row] : 0, values);
  }
  fill_tiles(lane, s.log_c, part, 1 << log_parts, csr, tile[warp]);
}

/* Copies values without the CSR's pointers: `shares` thread blocks share a window of at most ROWS rows, and each takes
   every shares-th set of 32 slots, which 1 << log_parts warps share */
template <int ROWS, typename S>
__global__ void __launch_bounds__(CODSELL_THREADS, spmv_resident_blocks(CODSELL_THREADS, 5))
    codsell_fill_windows(const CodsellLayout p, int shares, int log_parts, const S *__restrict__ csr, S *values)
{
  __shared__ int      before[codsell_padded(ROWS)];
  __shared__ S        tile[WARPS][TILE];
  const int           warp = threadIdx.x / 32, part = warp & ((1 << log_parts) - 1);
  const CodsellWindow window = codsell_window(p, blockIdx.x / shares);
  const int64_t       groups = (window.end - window.begin + SLOTS - 1) / SLOTS;

  codsell_add_up<ROWS>(p, window, before);
  for (int64_t group = blockIdx.x % shares + (int64_t)(warp >> log_parts) * shares; group < groups;
       group += (int64_t)(WARPS >> log_parts) * shares) {
    const int64_t slot = window.begin + group * SLOTS + threadIdx.x % 32;
    Lane<S>       lane = {0, 0, 0, values};

    if (slot < window.end) {
      const int row = p.order ? (int)p.order[slot] : (int)(slot - window.begin);

      lane = lane_of(p, slot, codsell_position(p, window, window.begin + row, before[codsell_padded(row)]), values);
    }
    fill_tiles(lane, p.shape.log_c, part, 1 << log_parts, csr, tile[warp]);
  }
}

/* The position of a row, from the CSR's pointers */
template <typename I>
struct FromPointers {
  const I                  *row_ptr;
  __device__ inline int64_t operator()(const CodsellLayout &, int64_t row) const { return row_ptr[row]; }
};

/* The position of a row, from the lengths of the previous rows; called by all threads */
struct FromLengths {
  __device__ inline int64_t operator()(const CodsellLayout &p, int64_t row) const
  {
    return codsell_position_of_row(p, row);
  }
};

/* One thread block per piece of a long row */
template <typename S, typename PositionOf>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_fill_pieces(const CodsellLayout p, const PositionOf position_of, const S *__restrict__ csr, S *long_values)
{
  const CodsellPiece piece    = p.pieces[blockIdx.x];
  const CodsellLong *long_row = p.long_rows + piece.long_row;
  const int64_t      first = long_row->first, n = long_row[1].first - first;
  const int64_t      begin = (int64_t)piece.number * CODSELL_PIECE, position = position_of(p, long_row->row);

  for (int64_t k = begin + threadIdx.x; k < min(begin + CODSELL_PIECE, n); k += CODSELL_THREADS)
    long_values[first + k] = csr[position + k];
}

int log_parts_of(const CodsellShape &s) { return tile_log_parts(s.slices > 0 ? s.columns / s.slices : 0, LOG_WARPS); }

template <typename I, typename S>
SpmvStatus fill_new(const CodsellPlan *plan, const I *row_ptr, const S *csr, SpmvExec *exec)
{
  const CodsellLayout p         = codsell_layout(plan);
  const int           log_parts = log_parts_of(p.shape);
  const int64_t       blocks    = spmv_blocks(p.shape.slices << p.shape.log_c, CODSELL_THREADS >> log_parts);

  SPMV_LAUNCH(exec, (codsell_fill_slots<I, S>), blocks, CODSELL_THREADS, 0, p, log_parts, row_ptr, csr,
              (S *)plan->values);
  SPMV_LAUNCH(exec, (codsell_fill_pieces<S, FromPointers<I>>), p.shape.pieces, CODSELL_THREADS, 0, p,
              FromPointers<I>{row_ptr}, csr, (S *)plan->long_values);
  return SPMV_SUCCESS;
}

template <typename S>
SpmvStatus refill(const CodsellPlan *plan, const S *csr, SpmvExec *exec)
{
  const CodsellLayout p   = codsell_layout(plan);
  const int     log_parts = log_parts_of(p.shape), shares = codsell_shares(&p.shape, CODSELL_THREADS >> log_parts);
  const int64_t blocks = p.shape.windows * shares;

  if (p.shape.window <= CODSELL_WINDOW)
    SPMV_LAUNCH(exec, (codsell_fill_windows<CODSELL_WINDOW, S>), blocks, CODSELL_THREADS, 0, p, shares, log_parts, csr,
                (S *)plan->values);
  else
    SPMV_LAUNCH(exec, (codsell_fill_windows<CODSELL_MAX_SIGMA, S>), blocks, CODSELL_THREADS, 0, p, shares, log_parts,
                csr, (S *)plan->values);
  SPMV_LAUNCH(exec, (codsell_fill_pieces<S, FromLengths>), p.shape.pieces, CODSELL_THREADS, 0, p, FromLengths{}, csr,
              (S *)plan->long_values);
  return SPMV_SUCCESS;
}

template <typename S>
SpmvStatus fill(const CodsellPlan *plan, const SpmvPattern *pattern, const S *csr, SpmvExec *exec)
{
  if (!pattern) return refill(plan, csr, exec);
  if (pattern->index_type == SPMV_I64) return fill_new(plan, (const int64_t *)pattern->row_ptr, csr, exec);
  return fill_new(plan, (const int32_t *)pattern->row_ptr, csr, exec);
}
} // namespace

SpmvStatus codsell_device_fill(CodsellPlan *plan, const SpmvPattern *pattern, const void *csr, SpmvExec *exec)
{
  if (plan->base.scalar_type == SPMV_F32) return fill(plan, pattern, (const float *)csr, exec);
  return fill(plan, pattern, (const double *)csr, exec);
}
