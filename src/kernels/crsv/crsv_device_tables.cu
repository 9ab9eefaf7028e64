/* crsv_device_tables.cu - the tables of the streaming kernel: which rows a block owns, and the pieces of long rows. */
#include "crsv_device.cuh"
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace
{
enum { THREADS = 256 };

/* Of one row, or summed over the rows before it */
struct LongCounts {
  int64_t pieces, slots, rows; /* rows: long ones of several pieces */
};

struct AddCounts {
  __host__ __device__ LongCounts operator()(const LongCounts &a, const LongCounts &b) const
  {
    return {a.pieces + b.pieces, a.slots + b.slots, a.rows + b.rows};
  }
};

template <typename I>
struct CountRow {
  const I              *row_ptr;
  int64_t               rows, capacity;
  __device__ LongCounts operator()(int64_t i) const
  {
    const int64_t length = i < rows ? (int64_t)(row_ptr[i + 1] - row_ptr[i]) : 0;
    if (length <= capacity) return {0, 0, 0};
    const int64_t pieces = (length + CRSV_PIECE - 1) / CRSV_PIECE;
    return {pieces, pieces > 1 ? pieces : 0, pieces > 1};
  }
};

/* total: how many long rows there are in all, as a cheap first look */
template <typename I>
__global__ void crsv_find_long(const I *row_ptr, int64_t rows, int64_t capacity, unsigned long long *total)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i < rows && (int64_t)(row_ptr[i + 1] - row_ptr[i]) > capacity) atomicAdd(total, 1ull);
}

/* before[i] = the counts of all rows before i, for i = 0 .. rows */
template <typename I>
SpmvStatus scan_long(const I *row_ptr, int64_t rows, int64_t capacity, SpmvScopedArena *arena, LongCounts **before,
                     SpmvExec *exec)
{
  const auto counts =
      thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), CountRow<I>{row_ptr, rows, capacity});

  SPMV_TRY(arena->array(rows + 1, "long rows", before));
  SPMV_CUB(exec, &arena->arena,
           cub::DeviceScan::ExclusiveScan(scratch, bytes, counts, *before, AddCounts(), LongCounts{0, 0, 0}, rows + 1,
                                          (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}

template <typename I>
SpmvStatus count_long(const I *row_ptr, int64_t rows, int64_t capacity, CrsvCounts *counts, SpmvExec *exec)
{
  SpmvScopedArena     arena(exec);
  LongCounts         *before, total;
  unsigned long long *found, any = 0;

  SPMV_TRY(arena.array(1, "long rows", &found));
  SPMV_CUDA(exec, cudaMemsetAsync(found, 0, sizeof *found, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, crsv_find_long<I>, spmv_blocks(rows, THREADS), THREADS, 0, row_ptr, rows, capacity, found);
  SPMV_TRY(spmv_copy(&any, SPMV_HOST, found, SPMV_DEVICE, sizeof any, exec));
  SPMV_TRY(spmv_stream_wait(exec));
  if (any == 0) return SPMV_SUCCESS;
  SPMV_TRY(scan_long(row_ptr, rows, capacity, &arena, &before, exec));
  SPMV_TRY(spmv_copy(&total, SPMV_HOST, before + rows, SPMV_DEVICE, sizeof total, exec));
  SPMV_TRY(spmv_stream_wait(exec));
  counts->pieces    = total.pieces;
  counts->slots     = total.slots;
  counts->long_rows = total.rows;
  return SPMV_SUCCESS;
}

/* The first row i with row_ptr[i] + i >= key */
template <typename I>
__device__ int64_t first_row(const I *row_ptr, int64_t rows, int64_t key)
{
  int64_t low = 0, high = rows;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if ((int64_t)row_ptr[middle] + middle < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

template <typename I>
__global__ void crsv_make_blocks(const I *row_ptr, int64_t rows, int64_t capacity, CrsvBlock *blocks, int64_t n)
{
  const int64_t b = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (b >= n) return;
  const int64_t row0 = first_row(row_ptr, rows, b * capacity);
  int64_t       end  = first_row(row_ptr, rows, (b + 1) * capacity);

  /* only the last row can be long: it brings the key of the next one beyond the block */
  if (end > row0 && (int64_t)(row_ptr[end] - row_ptr[end - 1]) > capacity) end--;
  blocks[b] = {row0, (int64_t)row_ptr[row0], (int32_t)(end - row0), (int32_t)(row_ptr[end] - row_ptr[row0])};
}

template <typename I>
__global__ void crsv_make_pieces(const I *row_ptr, int64_t rows, const LongCounts *before, CrsvPiece *pieces,
                                 CrsvLongRow *long_rows)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i >= rows) return;
  const LongCounts c = before[i];
  const int64_t    n = before[i + 1].pieces - c.pieces, end = row_ptr[i + 1];

  for (int64_t k = 0; k < n; k++) {
    const int64_t begin  = row_ptr[i] + k * CRSV_PIECE;
    pieces[c.pieces + k] = {i, begin, (int32_t)min((int64_t)CRSV_PIECE, end - begin),
                            n > 1 ? (int32_t)(c.slots + k) : -1};
  }
  if (n > 1) long_rows[c.rows] = {i, (int32_t)c.slots, (int32_t)n};
}

template <typename I>
SpmvStatus fill_tables(CrsvDevicePlan *plan, SpmvExec *exec)
{
  const CrsvCounts &c        = plan->counts;
  const int64_t     capacity = c.items * CRSV_THREADS, rows = plan->base.rows;
  const I          *row_ptr = (const I *)plan->row_ptr;
  SpmvScopedArena   arena(exec);
  LongCounts       *before;

  SPMV_LAUNCH(exec, crsv_make_blocks<I>, spmv_blocks(c.blocks, THREADS), THREADS, 0, row_ptr, rows, capacity,
              plan->blocks, c.blocks);
  if (c.pieces == 0) return SPMV_SUCCESS;
  SPMV_TRY(scan_long(row_ptr, rows, capacity, &arena, &before, exec));
  SPMV_LAUNCH(exec, crsv_make_pieces<I>, spmv_blocks(rows, THREADS), THREADS, 0, row_ptr, rows, before, plan->pieces,
              plan->long_rows);
  return spmv_stream_wait(exec); /* before leaves scope */
}
} // namespace

SpmvStatus crsv_count(const SpmvPattern *p, int64_t items, CrsvCounts *counts, SpmvExec *exec)
{
  const int64_t capacity = items * CRSV_THREADS;

  *counts        = {};
  counts->items  = items;
  counts->blocks = p->rows ? (p->rows + p->nnz) / capacity + 1 : 0;
  if (p->index_type == SPMV_I64) return count_long((const int64_t *)p->row_ptr, p->rows, capacity, counts, exec);
  return count_long((const int32_t *)p->row_ptr, p->rows, capacity, counts, exec);
}

SpmvStatus crsv_fill_tables(CrsvDevicePlan *plan, SpmvExec *exec)
{
  return plan->base.index_type == SPMV_I64 ? fill_tables<int64_t>(plan, exec) : fill_tables<int32_t>(plan, exec);
}
