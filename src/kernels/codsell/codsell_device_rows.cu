/* codsell_device_rows.cu - selects and orders the rows of slices: lengths, sigma, long rows. The rules are those of
   codsell_rows.c. */
#include "codsell_device.cuh"
#include "device/csr.cuh"
#include "device/vector.cuh"
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_select.cuh>

namespace
{
constexpr int    SIGMA_CHOICES    = 3;
constexpr int    SIGMA_BLOCKS     = 2048; /* maximum thread blocks that evaluate the choices of sigma; enough to keep a
                                             large device busy */
constexpr double PADDING_ACCEPTED = 0.02;

/* A thread block sorts as many slots as the largest window has. A thread takes SORTED_EACH slots, whose lengths are one
   16-byte load. Every C, and so every window, is a multiple of SORTED_EACH. */
constexpr int SORTED_EACH = 8, SORT_THREADS = CODSELL_MAX_SIGMA / SORTED_EACH;

__host__ __device__ constexpr int64_t sigma_of(int choice) { return 256ll << 2 * choice; }

struct RowTotals {
  unsigned long long long_rows, long_nnz, pieces, columns;
  unsigned long long sorted[SIGMA_CHOICES]; /* columns if rows are sorted in windows of each sigma */
  int                permuted;              /* whether any row has another slot than its number */
};

/* Whether slices with this sum of widths have little padding */
__host__ __device__ inline bool is_dense(int64_t columns, int log_c, int64_t nnz)
{
  return (double)(columns << log_c) <= (1 + PADDING_ACCEPTED) * (double)nnz;
}

/* Computes the lengths in row order, 0 for long rows, and the width of each slice without sorting. far: the matrix is
   so large that a row may have columns far from the diagonal; otherwise columns are not read. */
template <typename I>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_lengths(const I *__restrict__ row_ptr, const I *__restrict__ col, int64_t rows, int64_t slots, int log_c,
                    int longest, bool far, uint16_t *length, RowTotals *totals)
{
  __shared__ int                width[CODSELL_THREADS / 8];
  __shared__ unsigned long long sum[4];
  const int64_t                 row = blockIdx.x * (int64_t)CODSELL_THREADS + threadIdx.x;
  int                           n   = 0;

  if (threadIdx.x < CODSELL_THREADS / 8) width[threadIdx.x] = 0;
  if (threadIdx.x < 4) sum[threadIdx.x] = 0;
  __syncthreads();
  if (row < rows) {
    const int64_t begin = row_ptr[row], all = row_ptr[row + 1] - begin;

    if (all > longest ||
        (far && all > 0 &&
         (row - (int64_t)col[begin] > CODSELL_FAR || (int64_t)col[begin + all - 1] - row > CODSELL_FAR))) {
      atomicAdd(&sum[0], 1ull);
      atomicAdd(&sum[1], (unsigned long long)all);
      atomicAdd(&sum[2], (unsigned long long)((all + CODSELL_PIECE - 1) / CODSELL_PIECE));
    } else n = (int)all;
  }
  if (row < slots) length[row] = (uint16_t)n;
  n = spmv_max_lanes(n, min(32, 1 << log_c));
  if (n > 0 && threadIdx.x % min(32, 1 << log_c) == 0) atomicMax(&width[threadIdx.x >> log_c], n);
  __syncthreads();
  if (threadIdx.x < CODSELL_THREADS / 8 && width[threadIdx.x] > 0)
    atomicAdd(&sum[3], (unsigned long long)width[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x < 4 && sum[threadIdx.x] > 0) atomicAdd((unsigned long long *)totals + threadIdx.x, sum[threadIdx.x]);
}

/* Running sums of the number of windows of each sigma, from the largest sigma to the smallest */
struct SigmaWindows {
  int64_t up_to[SIGMA_CHOICES];
};

/* Computes the sum of the widths of all slices if rows are sorted in windows of each sigma; rows must be shorter than
   ITEMS * CODSELL_THREADS. A thread block processes one window at a time. Returns at once if no sorting is needed. */
template <int ITEMS>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_sorted_columns(const uint16_t *__restrict__ length, int64_t rows, int64_t nnz, int longest, int log_c,
                           const SigmaWindows windows, RowTotals *totals)
{
  typedef cub::BlockScan<int, CODSELL_THREADS> Scan;
  __shared__ typename Scan::TempStorage        temp;
  __shared__ int                count[ITEMS * CODSELL_THREADS]; /* number of rows of each length, at index longest -
                                                                   length */
  __shared__ unsigned long long sum;
  int                           items[ITEMS], total;

  if (is_dense((int64_t)totals->columns, log_c, nnz - (int64_t)totals->long_nnz)) return;
  for (int64_t w = blockIdx.x; w < windows.up_to[0]; w += gridDim.x) {
    int     choice = SIGMA_CHOICES - 1;
    int64_t window = w;

    while (choice > 0 && w >= windows.up_to[choice]) window = w - windows.up_to[choice--];
    const int64_t sigma = sigma_of(choice), begin = window * sigma;
    const int     n = (int)min(sigma, rows - begin);

    for (int i = threadIdx.x; i < ITEMS * CODSELL_THREADS; i += CODSELL_THREADS) count[i] = 0;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += CODSELL_THREADS) atomicAdd(&count[longest - length[begin + i]], 1);
    __syncthreads();
    for (int i = 0; i < ITEMS; i++) items[i] = count[threadIdx.x * ITEMS + i];
    Scan(temp).InclusiveSum(items, items, total);
    for (int i = 0; i < ITEMS; i++) count[threadIdx.x * ITEMS + i] = items[i];
    __syncthreads();
    for (int rank = threadIdx.x << log_c; rank < n; rank += CODSELL_THREADS << log_c) {
      /* the first position up to which there are more than `rank` rows */
      const int at = spmv_first_without(longest, [&](int i) { return count[i] <= rank; });
      if (at < longest) atomicAdd(&sum, (unsigned long long)(longest - at));
    }
    __syncthreads();
    if (threadIdx.x == 0 && sum > 0) atomicAdd(&totals->sorted[choice], sum);
  }
}

/* The first bit of each part of a sort key. Rows are sorted by window, then by length, longest first. The number of the
   row in its window begins at bit 0; it is not compared, because the sort is stable. */
struct RowBits {
  int length, window, end;
};

struct alignas(SORTED_EACH * sizeof(uint16_t)) Lengths {
  uint16_t of[SORTED_EACH];
};

/* Sorts the rows of the windows that fit a thread block. Slots beyond the last row have length 0; they are last in
   their window and keep their number. */
__global__ void __launch_bounds__(SORT_THREADS)
    codsell_sort_rows(int64_t slots, int window, int longest, const RowBits bits, uint16_t *length, uint16_t *order,
                      int *permuted)
{
  typedef cub::BlockRadixSort<unsigned, SORT_THREADS, SORTED_EACH> Sort;
  __shared__ typename Sort::TempStorage                            temp;
  const int      here = CODSELL_MAX_SIGMA / window * window, at = threadIdx.x * SORTED_EACH;
  const int64_t  begin   = blockIdx.x * (int64_t)here;
  const int      n       = (int)min((int64_t)here, slots - begin);
  const unsigned shorter = (1u << (bits.window - bits.length)) - 1; /* a mask */
  unsigned       key[SORTED_EACH];
  bool           any = false;

  if (at < n) {
    const Lengths  mine  = *(const Lengths *)(length + begin + at);
    const unsigned first = (unsigned)(at / window) << bits.window | (unsigned)(at % window);
#pragma unroll
    for (int j = 0; j < SORTED_EACH; j++) key[j] = first + j + ((unsigned)(longest - mine.of[j]) << bits.length);
  } else {
#pragma unroll
    for (int j = 0; j < SORTED_EACH; j++) key[j] = ~0u; /* sorts after all rows */
  }
  Sort(temp).SortBlockedToStriped(key, bits.length, bits.end);
#pragma unroll
  for (int j = 0; j < SORTED_EACH; j++) {
    const int slot = j * SORT_THREADS + threadIdx.x;
    if (slot >= n) continue;
    const unsigned row = key[j] & ((1u << bits.length) - 1), first = (key[j] >> bits.window) * window;
    length[begin + slot] = (uint16_t)(longest - (int)(key[j] >> bits.length & shorter));
    order[begin + slot]  = (uint16_t)row;
    any |= first + row != (unsigned)slot;
  }
  if (any) *permuted = 1;
}

/* Selects the long rows: rows with nonzeros whose stored length is 0 */
template <typename I>
struct IsLong {
  const I               *row_ptr;
  const uint16_t        *length;
  __device__ inline bool operator()(int32_t row) const { return length[row] == 0 && row_ptr[row + 1] > row_ptr[row]; }
};

/* The numbers of a long row: nonzeros and pieces */
template <typename I>
struct NumbersOfLongRow {
  const I       *row_ptr;
  const int32_t *row;
  __device__ SpmvNumbers<2> operator()(int64_t i) const
  {
    const int64_t length = row_ptr[row[i] + 1] - row_ptr[row[i]];
    return {{length, (length + CODSELL_PIECE - 1) / CODSELL_PIECE}};
  }
};

__global__ void codsell_long_list(const int32_t *row, const SpmvNumbers<2> *before, int64_t long_rows, int64_t rows,
                                  CodsellLong *list)
{
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i <= long_rows) list[i] = {i < long_rows ? row[i] : rows, before[i].of[0]};
}

template <typename I>
SpmvStatus list_long_rows(CodsellDeviceAnalysis *a, SpmvExec *exec)
{
  const int64_t n       = a->shape.long_rows;
  const I      *row_ptr = (const I *)a->pattern.row_ptr;
  int32_t      *row, *found;

  if (n == 0) return SPMV_SUCCESS;
  SPMV_TRY(spmv_arena_array(&a->arena, n, "long rows", &row, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, 1, "number of long rows", &found, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, n + 1, "numbers before long rows", &a->before, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, n + 1, "long rows", &a->long_rows, exec));
  SPMV_CUB(exec, &a->arena,
           cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<int32_t>(0), row, found, a->shape.rows,
                                 IsLong<I>{row_ptr, a->length}, (cudaStream_t)exec->stream));
  SPMV_TRY(spmv_sum_each_before(NumbersOfLongRow<I>{row_ptr, row}, a->before, n, &a->arena, exec));
  SPMV_LAUNCH(exec, codsell_long_list, spmv_blocks(n + 1, 256), 256, 0, row, a->before, n, a->shape.rows, a->long_rows);
  return SPMV_SUCCESS;
}

SpmvStatus try_sigmas(const CodsellDeviceAnalysis *a, RowTotals *totals, SpmvExec *exec)
{
  const CodsellShape *s = &a->shape;
  SigmaWindows        windows;
  int64_t             all = 0;

  for (int i = SIGMA_CHOICES - 1; i >= 0; i--) windows.up_to[i] = all += spmv_blocks(s->rows, sigma_of(i));
  const int64_t blocks = all < SIGMA_BLOCKS ? all : (int64_t)SIGMA_BLOCKS;
  if (s->longest < CODSELL_THREADS)
    SPMV_LAUNCH(exec, codsell_sorted_columns<1>, blocks, CODSELL_THREADS, 0, a->length, s->rows, a->pattern.nnz,
                s->longest, s->log_c, windows, totals);
  else
    SPMV_LAUNCH(exec, (codsell_sorted_columns<CODSELL_LONGEST / CODSELL_THREADS + 1>), blocks, CODSELL_THREADS, 0,
                a->length, s->rows, a->pattern.nnz, s->longest, s->log_c, windows, totals);
  return SPMV_SUCCESS;
}

int64_t choose_sigma(const RowTotals *t, int log_c, int64_t nnz)
{
  int64_t sigma = 1, least = (int64_t)t->columns;

  for (int i = 0; i < SIGMA_CHOICES && !is_dense(least, log_c, nnz); i++)
    if ((int64_t)t->sorted[i] < least) {
      sigma = sigma_of(i);
      least = (int64_t)t->sorted[i];
    }
  return sigma;
}

SpmvStatus sort_windows(CodsellDeviceAnalysis *a, SpmvExec *exec)
{
  const CodsellShape *s     = &a->shape;
  const int64_t       slots = s->slices << s->log_c, together = CODSELL_MAX_SIGMA / s->window;
  RowBits             bits;

  bits.length = spmv_bits_of(s->window);
  bits.window = bits.length + spmv_bits_of(s->longest + 1);
  bits.end    = bits.window + spmv_bits_of(together); /* at most 24: row and window take at most 13 bits
                                                               together */
  SPMV_TRY(spmv_arena_array(&a->arena, slots, "order", &a->order, exec));
  SPMV_LAUNCH(exec, codsell_sort_rows, spmv_blocks(s->windows, together), SORT_THREADS, 0, slots, (int)s->window,
              s->longest, bits, a->length, a->order, a->permuted);
  return SPMV_SUCCESS;
}

template <typename I>
SpmvStatus count_rows(CodsellDeviceAnalysis *a, RowTotals *totals, SpmvExec *exec)
{
  const int64_t slots = a->shape.slices << a->shape.log_c;

  SPMV_LAUNCH(exec, codsell_lengths<I>, spmv_blocks(slots, CODSELL_THREADS), CODSELL_THREADS, 0,
              (const I *)a->pattern.row_ptr, (const I *)a->pattern.col, a->shape.rows, slots, a->shape.log_c,
              a->shape.longest, a->pattern.rows > CODSELL_FAR || a->pattern.cols > CODSELL_FAR, a->length, totals);
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus codsell_device_rows(CodsellDeviceAnalysis *a, int64_t sigma, SpmvExec *exec)
{
  CodsellShape *s    = &a->shape;
  const bool    wide = a->pattern.index_type == SPMV_I64;
  const int64_t c    = (int64_t)1 << s->log_c;
  RowTotals    *totals, t;

  s->rows    = a->pattern.rows;
  s->slices  = (s->rows + c - 1) / c;
  s->longest = codsell_longest(s->rows, a->pattern.nnz);
  SPMV_TRY(spmv_arena_array(&a->arena, s->slices * c, "lengths", &a->length, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, 1, "totals of rows", &totals, exec));
  SPMV_CUDA(exec, cudaMemsetAsync(totals, 0, sizeof *totals, (cudaStream_t)exec->stream));
  a->permuted = &totals->permuted;
  SPMV_TRY(wide ? count_rows<int64_t>(a, totals, exec) : count_rows<int32_t>(a, totals, exec));
  if (sigma == 0) SPMV_TRY(try_sigmas(a, totals, exec));
  SPMV_TRY(spmv_fetch(&t, totals, sizeof t, exec));
  s->long_rows = (int64_t)t.long_rows;
  s->long_nnz  = (int64_t)t.long_nnz;
  s->pieces    = (int64_t)t.pieces;
  SPMV_TRY(wide ? list_long_rows<int64_t>(a, exec) : list_long_rows<int32_t>(a, exec));
  if (sigma == 0) sigma = choose_sigma(&t, s->log_c, a->pattern.nnz - s->long_nnz);
  s->window  = sigma > 1 ? (sigma + c - 1) / c * c : (int64_t)CODSELL_WINDOW;
  s->windows = (s->rows + s->window - 1) / s->window;
  if (sigma > 1 && s->rows > 0) SPMV_TRY(sort_windows(a, exec));
  return SPMV_SUCCESS;
}
