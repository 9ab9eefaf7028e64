/*
  codsell_device_list.cu - lists the nonzeros of a plan on the device as coordinates, in CSR order.
*/
#include "device/search.cuh"
#include "codsell_device_positions.cuh"

namespace
{
/* The output arrays of the list */
template <typename S>
struct List {
  int32_t *row, *col;
  S       *values;

  __device__ inline void set(int64_t position, int64_t r, int64_t c, S value) const
  {
    values[position] = value;
    if (!row) return;
    row[position] = (int32_t)r;
    col[position] = (int32_t)c;
  }
};

/* The column of nonzero k of a lane */
__device__ inline int64_t column_of(const CodsellLayout &p, const CodsellSlice &at, int64_t slot, int64_t row, int k)
{
  const CodsellShape  &s    = p.shape;
  const int            kind = (int)at.kind, c = 1 << s.log_c, lane = (int)(slot & (c - 1)), w = k / s.word;
  const CodsellOffsets offsets = codsell_offsets(kind, (int)at.width, s.word, c, (int)at.ragged);
  const uint8_t       *codes = p.codes + at.code0, *starts = codes + offsets.starts, *ids = codes + offsets.ids;
  const int            id_bytes = codsell_id_bytes(kind), start_bytes = codsell_start_bytes(kind);
  const int            entry  = (kind >= CODSELL_COLUMNS16 ? k : w) * c + lane;
  int64_t              column = row;

  if (start_bytes) column = slot - lane + *(const int32_t *)codes;
  if (start_bytes == 2) column += ((const uint16_t *)starts)[entry] * (at.scaled ? s.word : 1);
  if (start_bytes == 4) column += ((const int32_t *)starts)[entry];
  if (kind >= CODSELL_COLUMNS16) return column;
  const int id = id_bytes == 0   ? ((const uint16_t *)ids)[w]
                 : id_bytes == 1 ? ids[entry]
                                 : ((const uint16_t *)ids)[entry];
  return column + p.dictionary[(int64_t)id * s.stride + k % s.word];
}

/* `shares` thread blocks per window of at most ROWS rows: each takes every shares-th slice */
template <int ROWS, typename S>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_list_slices(const CodsellLayout p, int shares, const S *values, const List<S> list)
{
  __shared__ int      before[codsell_padded(ROWS)];
  const CodsellShape &s      = p.shape;
  const int           c      = 1 << s.log_c;
  const CodsellWindow window = codsell_window(p, blockIdx.x / shares);

  codsell_add_up<ROWS>(p, window, before);
  for (int64_t slice = (window.begin >> s.log_c) + blockIdx.x % shares; slice < window.end >> s.log_c;
       slice += shares) {
    const CodsellSlice at       = p.slices[slice];
    const int64_t      slot     = (slice << s.log_c) + (threadIdx.x & (c - 1));
    const int64_t      row      = at.permuted ? window.begin + p.order[slot] : slot;
    const int64_t      position = codsell_position(p, window, row, before[codsell_padded((int)(row - window.begin))]);
    const int          n        = codsell_length_in_slot(p, at, slot);

    for (int k = threadIdx.x >> s.log_c; k < n; k += CODSELL_THREADS >> s.log_c)
      list.set(position + k, row, column_of(p, at, slot, row, k),
               values[((int64_t)(at.column0 + k) << s.log_c) + (slot & (c - 1))]);
  }
}

/* One thread block per piece of a long row */
template <typename S>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_list_pieces_of_rows(const CodsellLayout p, const S *long_values, const List<S> list)
{
  const CodsellPiece piece    = p.pieces[blockIdx.x];
  const CodsellLong *long_row = p.long_rows + piece.long_row;
  const int64_t      first = long_row->first, n = long_row[1].first - first;
  const int64_t begin = (int64_t)piece.number * CODSELL_PIECE, position = codsell_position_of_row(p, long_row->row);

  for (int64_t k = begin + threadIdx.x; k < min(begin + CODSELL_PIECE, n); k += CODSELL_THREADS)
    list.set(position + k, long_row->row, p.long_columns[first + k], long_values[first + k]);
}

/* Finds the diagonal, one thread per slot. The columns of a row ascend, so few of them are decoded. */
template <typename S>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_list_diagonal(const CodsellLayout p, const S *__restrict__ values, S *__restrict__ diagonal)
{
  const CodsellShape &s    = p.shape;
  const int64_t       slot = blockIdx.x * (int64_t)CODSELL_THREADS + threadIdx.x;
  if (slot >= s.slices << s.log_c) return;
  const CodsellSlice at  = p.slices[slot >> s.log_c];
  const int64_t      row = codsell_row_in_slot(p.order, s.window, (int)slot);
  const int          n = row < s.rows ? codsell_length_in_slot(p, at, slot) : 0, c = 1 << s.log_c;
  const int          k = spmv_first_not_below(n, row, [&](int j) { return column_of(p, at, slot, row, j); });

  if (k < n && column_of(p, at, slot, row, k) == row)
    diagonal[row] = values[((int64_t)(at.column0 + k) << s.log_c) + (slot & (c - 1))];
}

template <typename S>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_list_diagonal_of_long_rows(const CodsellLayout p, const S *__restrict__ long_values,
                                       S *__restrict__ diagonal)
{
  const int64_t r = blockIdx.x * (int64_t)CODSELL_THREADS + threadIdx.x;
  if (r >= p.shape.long_rows) return;
  const int64_t first = p.long_rows[r].first, n = p.long_rows[r + 1].first - first, row = p.long_rows[r].row;
  const int64_t k = spmv_first_not_below(n, row, [&](int64_t j) { return (int64_t)p.long_columns[first + j]; });

  if (k < n && p.long_columns[first + k] == row) diagonal[row] = long_values[first + k];
}

template <typename S>
SpmvStatus list_diagonal(const CodsellPlan *plan, void *diagonal, SpmvExec *exec)
{
  const CodsellLayout p = codsell_layout(plan);

  SPMV_LAUNCH(exec, codsell_list_diagonal<S>, spmv_blocks(p.shape.slices << p.shape.log_c, CODSELL_THREADS),
              CODSELL_THREADS, 0, p, (const S *)plan->values, (S *)diagonal);
  SPMV_LAUNCH(exec, codsell_list_diagonal_of_long_rows<S>, spmv_blocks(p.shape.long_rows, CODSELL_THREADS),
              CODSELL_THREADS, 0, p, (const S *)plan->long_values, (S *)diagonal);
  return SPMV_SUCCESS;
}

template <typename S>
SpmvStatus list_nonzeros(const CodsellPlan *plan, const SpmvNonzeros *to, SpmvExec *exec)
{
  const CodsellLayout p      = codsell_layout(plan);
  const List<S>       list   = {to->row, to->col, (S *)to->values};
  const int           shares = codsell_shares(&p.shape, CODSELL_MAX_C);
  const int64_t       blocks = p.shape.windows * shares;

  if (to->diagonal) return list_diagonal<S>(plan, to->diagonal, exec);
  if (p.shape.window <= CODSELL_WINDOW)
    SPMV_LAUNCH(exec, (codsell_list_slices<CODSELL_WINDOW, S>), blocks, CODSELL_THREADS, 0, p, shares,
                (const S *)plan->values, list);
  else
    SPMV_LAUNCH(exec, (codsell_list_slices<CODSELL_MAX_SIGMA, S>), blocks, CODSELL_THREADS, 0, p, shares,
                (const S *)plan->values, list);
  SPMV_LAUNCH(exec, codsell_list_pieces_of_rows<S>, p.shape.pieces, CODSELL_THREADS, 0, p, (const S *)plan->long_values,
              list);
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus codsell_device_list(const SpmvPlan *plan, const SpmvNonzeros *to, SpmvExec *exec)
{
  if (plan->scalar_type == SPMV_F32) return list_nonzeros<float>((const CodsellPlan *)plan, to, exec);
  return list_nonzeros<double>((const CodsellPlan *)plan, to, exec);
}
