/*
  codsell_device_update.cu - values between a CSR, in its order, and the slices. In a window of rows their lengths,
  which slices and long rows tell, add up to their positions in the CSR, so neither CSR pointers nor a permutation of
  the nonzeros are kept. Each thread block adds them up for itself.
*/
#include "codsell_device.cuh"
#include <cub/block/block_scan.cuh>

namespace
{
enum { SHARE_ROWS = 512 }; /* of a window, for one of the thread blocks that share it */

/* What the kernels read of a plan */
struct Layout {
  CodsellShape        shape;
  const uint8_t      *codes;
  const CodsellSlice *slices;
  const int32_t      *dictionary;
  const uint16_t     *order;
  const int64_t      *windows;
  const CodsellPiece *pieces;
  const CodsellLong  *long_rows;
  const int32_t      *long_columns;
};

/* CSR value to its place */
template <typename S>
struct Fill {
  const S        *csr;
  S              *values, *long_values;
  __device__ void inside(int64_t place, int64_t position, int64_t, int64_t) const { values[place] = csr[position]; }
  __device__ void outside(int64_t place, int64_t position, int64_t, int64_t) const
  {
    long_values[place] = csr[position];
  }
  __device__ void       padding(int64_t place) const { values[place] = S(0); }
  static constexpr bool wants_columns = false;
};

/* Value at its place to the coordinate list in CSR order */
template <typename S>
struct List {
  const S        *values, *long_values;
  SpmvCoordinates to;
  __device__ void inside(int64_t place, int64_t position, int64_t row, int64_t column) const
  {
    to.row[position]           = (int32_t)row;
    to.col[position]           = (int32_t)column;
    ((S *)to.values)[position] = values[place];
  }
  __device__ void outside(int64_t place, int64_t position, int64_t row, int64_t column) const
  {
    to.row[position]           = (int32_t)row;
    to.col[position]           = (int32_t)column;
    ((S *)to.values)[position] = long_values[place];
  }
  __device__ void       padding(int64_t) const {}
  static constexpr bool wants_columns = true;
};

/* The column of nonzero k of a lane */
__device__ inline int64_t column_of(const Layout &p, const CodsellSlice &at, int64_t slot, int64_t row, int k)
{
  const CodsellShape &s    = p.shape;
  const int           kind = (int)at.kind, c = 1 << s.log_c, lane = (int)(slot & (c - 1)), w = k / s.word;
  const CodsellParts  parts = codsell_parts(kind, (int)at.width, s.word, c, (int)at.ragged);
  const uint8_t      *codes = p.codes + at.code0, *starts = codes + parts.starts, *ids = codes + parts.ids;
  const int           id_bytes = codsell_id_bytes(kind), start_bytes = codsell_start_bytes(kind);
  const int           entry  = (kind >= CODSELL_COLUMNS16 ? k : w) * c + lane;
  int64_t             column = row;

  if (start_bytes) column = slot - lane + *(const int32_t *)codes;
  if (start_bytes == 2) column += ((const uint16_t *)starts)[entry] * (at.scaled ? s.word : 1);
  if (start_bytes == 4) column += ((const int32_t *)starts)[entry];
  if (kind >= CODSELL_COLUMNS16) return column;
  const int id = id_bytes == 0   ? ((const uint16_t *)ids)[w]
                 : id_bytes == 1 ? ids[entry]
                                 : ((const uint16_t *)ids)[entry];
  return column + p.dictionary[(int64_t)id * s.stride + k % s.word];
}

__device__ inline int length_in_slot(const Layout &p, const CodsellSlice &at, int64_t slot)
{
  const int c = 1 << p.shape.log_c, width = (int)at.width;

  if (!at.ragged) return width;
  return codsell_length(p.codes + at.code0 + codsell_parts((int)at.kind, width, p.shape.word, c, 1).lengths, width,
                        (int)(slot & (c - 1)));
}

/* The first long row that is not before a row */
__device__ inline int64_t find_long(const Layout &p, int64_t row)
{
  int64_t low = 0, high = p.shape.long_rows;

  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (p.long_rows[middle].row < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* first[row of the window] = position of its first nonzero in the CSR, from the lengths there. All threads must call.
 */
template <int ROWS>
__device__ inline void add_up(int64_t *first, int64_t start)
{
  enum { ITEMS = ROWS < 8 * CODSELL_THREADS ? ROWS / CODSELL_THREADS : 8, CHUNK = ITEMS * CODSELL_THREADS };
  typedef cub::BlockScan<int64_t, CODSELL_THREADS> Scan;
  __shared__ typename Scan::TempStorage            temp;
  int64_t                                          items[ITEMS], total;

  static_assert(ROWS % CHUNK == 0, "a window is scanned in whole chunks");
  for (int64_t *at = first; at < first + ROWS; at += CHUNK, start += total) {
    __syncthreads();
    for (int i = 0; i < ITEMS; i++) items[i] = at[threadIdx.x * ITEMS + i];
    Scan(temp).ExclusiveSum(items, items, total);
    for (int i = 0; i < ITEMS; i++) at[threadIdx.x * ITEMS + i] = start + items[i];
  }
  __syncthreads();
}

/* first[row - first row of the window] = position of the row's first nonzero in the CSR. All threads must call. */
template <int ROWS>
__device__ inline void find_positions(const Layout &p, int64_t window, int64_t *first)
{
  const CodsellShape &s     = p.shape;
  const int64_t       begin = window * s.window, end = min(begin + s.window, s.slices << s.log_c);
  const int64_t       long0 = find_long(p, begin), long1 = find_long(p, begin + s.window);

  for (int i = threadIdx.x; i < ROWS; i += CODSELL_THREADS) first[i] = 0;
  __syncthreads();
  for (int64_t slot = begin + threadIdx.x; slot < end; slot += CODSELL_THREADS) {
    const CodsellSlice at = p.slices[slot >> s.log_c];

    first[at.moved ? p.order[slot] : slot - begin] = length_in_slot(p, at, slot);
  }
  __syncthreads();
  for (int64_t i = long0 + threadIdx.x; i < long1; i += CODSELL_THREADS)
    first[p.long_rows[i].row - begin] = p.long_rows[i + 1].first - p.long_rows[i].first;
  add_up<ROWS>(first, p.windows[window]);
}

/* `shares` thread blocks a window of at most ROWS rows: each takes every shares-th slice */
template <int ROWS, typename Visit>
__global__ void __launch_bounds__(CODSELL_THREADS) codsell_visit_slices(const Layout p, int shares, const Visit visit)
{
  __shared__ int64_t  first[ROWS];
  const CodsellShape &s      = p.shape;
  const int           c      = 1 << s.log_c;
  const int64_t       window = blockIdx.x / shares, begin = window * s.window;
  const int64_t       end = min(begin + s.window, s.slices << s.log_c);

  find_positions<ROWS>(p, window, first);
  for (int64_t slice = (begin >> s.log_c) + blockIdx.x % shares; slice < end >> s.log_c; slice += shares) {
    const CodsellSlice at   = p.slices[slice];
    const int64_t      slot = (slice << s.log_c) + (threadIdx.x & (c - 1));
    const int64_t      row = at.moved ? begin + p.order[slot] : slot, position = first[row - begin];
    const int          n = length_in_slot(p, at, slot);

    for (int k = threadIdx.x >> s.log_c; k < (int)at.width; k += CODSELL_THREADS >> s.log_c) {
      const int64_t place = ((int64_t)(at.column0 + k) << s.log_c) + (slot & (c - 1));

      if (k < n) visit.inside(place, position + k, row, Visit::wants_columns ? column_of(p, at, slot, row, k) : 0);
      else visit.padding(place);
    }
  }
}

/* One thread block a piece of a long row */
template <int ROWS, typename Visit>
__global__ void __launch_bounds__(CODSELL_THREADS) codsell_visit_pieces(const Layout p, const Visit visit)
{
  __shared__ int64_t first[ROWS];
  const CodsellPiece piece    = p.pieces[blockIdx.x];
  const CodsellLong *long_row = p.long_rows + piece.long_row;
  const int64_t      row = long_row->row, window = row / p.shape.window, n = long_row[1].first - long_row->first;
  const int64_t      begin = (int64_t)piece.number * CODSELL_PIECE;

  find_positions<ROWS>(p, window, first);
  for (int64_t k = begin + threadIdx.x; k < min(begin + CODSELL_PIECE, n); k += CODSELL_THREADS)
    visit.outside(long_row->first + k, first[row - window * p.shape.window] + k, row,
                  p.long_columns[long_row->first + k]);
}

template <int ROWS, typename Visit>
SpmvStatus visit_rows(const Layout &p, const Visit &visit, SpmvExec *exec)
{
  const int shares = p.shape.window > SHARE_ROWS ? (int)(p.shape.window / SHARE_ROWS) : 1;

  SPMV_LAUNCH(exec, (codsell_visit_slices<ROWS, Visit>), p.shape.windows * shares, CODSELL_THREADS, 0, p, shares,
              visit);
  SPMV_LAUNCH(exec, (codsell_visit_pieces<ROWS, Visit>), p.shape.pieces, CODSELL_THREADS, 0, p, visit);
  return SPMV_SUCCESS;
}

template <typename Visit>
SpmvStatus visit_windows(const CodsellPlan *plan, const Visit &visit, SpmvExec *exec)
{
  const Layout p = {plan->shape,      plan->codes,     plan->slices,
                    plan->dictionary, plan->order,     plan->windows,
                    plan->pieces,     plan->long_rows, (const int32_t *)plan->long_columns};

  return plan->shape.window <= CODSELL_WINDOW ? visit_rows<CODSELL_WINDOW>(p, visit, exec)
                                              : visit_rows<CODSELL_MAX_SIGMA>(p, visit, exec);
}
} // namespace

SpmvStatus codsell_device_fill(CodsellPlan *plan, const void *csr, SpmvExec *exec)
{
  if (plan->base.scalar_type == SPMV_F32)
    return visit_windows(plan, Fill<float>{(const float *)csr, (float *)plan->values, (float *)plan->long_values},
                         exec);
  return visit_windows(plan, Fill<double>{(const double *)csr, (double *)plan->values, (double *)plan->long_values},
                       exec);
}

SpmvStatus codsell_device_list(const CodsellPlan *plan, const SpmvCoordinates *to, SpmvExec *exec)
{
  if (plan->base.scalar_type == SPMV_F32)
    return visit_windows(plan, List<float>{(const float *)plan->values, (const float *)plan->long_values, *to}, exec);
  return visit_windows(plan, List<double>{(const double *)plan->values, (const double *)plan->long_values, *to}, exec);
}
