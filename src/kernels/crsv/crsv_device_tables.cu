/* crsv_device_tables.cu - the tables of the streaming kernel: which rows a block owns, and the pieces of long rows. */
#include "device/csr.cuh"
#include "device/running_sums.cuh"
#include "device/upload.cuh"
#include "crsv_device.cuh"
#include <algorithm>
#include <cub/block/block_reduce.cuh>

namespace
{
enum { THREADS = 256, LONGEST_BLOCKS = 1024 };

/* The numbers of a block: pieces, their slots, and long rows of several pieces */
enum { PIECES, SLOTS, LONG_ROWS, NUMBERS };
typedef SpmvNumbers<NUMBERS> LongNumbers;

struct Larger {
  __device__ int64_t operator()(int64_t a, int64_t b) const { return max(a, b); }
};

/* The first row i with row_ptr[i] + i >= key */
template <typename I>
__device__ int64_t first_row(const I *row_ptr, int64_t rows, int64_t key)
{
  return spmv_first_not_below(rows, key, [&](int64_t i) { return (int64_t)row_ptr[i] + i; });
}

/* The rows that begin in block b. If the last row exceeds the capacity of the block, it is left out and *cut is true:
   the row will be cut into pieces. */
template <typename I>
__device__ CrsvBlock rows_of_block(const I *row_ptr, int64_t rows, int64_t share, int64_t b, bool *cut)
{
  const int64_t row0 = first_row(row_ptr, rows, b * share);
  int64_t       end  = first_row(row_ptr, rows, (b + 1) * share);

  *cut = (int64_t)(row_ptr[end] - row_ptr[row0]) > CRSV_CAPACITY;
  if (*cut) end--;
  return {row0, (int64_t)row_ptr[row0], (uint16_t)(end - row0), (uint16_t)(row_ptr[end] - row_ptr[row0]), 0, 0};
}

/* The largest number of lanes per row, at most a warp, with which a thread block covers all its rows at once */
__device__ inline uint8_t log_lanes_for(int rows)
{
  uint8_t log_lanes = 5;
  while (log_lanes > 0 && rows << log_lanes > CRSV_THREADS) log_lanes--;
  return log_lanes;
}

/* Whether some row of the block exceeds 4 times its mean row by more than 8 nonzeros */
template <typename I>
__device__ inline bool is_uneven(const I *row_ptr, const CrsvBlock &b)
{
  bool uneven = false;
  I    begin  = row_ptr[b.row0];

  for (int r = 0; r < b.rows; r++) {
    const I end = row_ptr[b.row0 + r + 1];
    uneven      = uneven || ((int)(end - begin) - 8) * (int)b.rows > 4 * (int)b.count;
    begin       = end;
  }
  return uneven;
}

/* The numbers of a block: those of its row that is cut, if any */
template <typename I>
struct NumbersOfBlock {
  const I               *row_ptr;
  int64_t                rows, share;
  __device__ LongNumbers operator()(int64_t b) const
  {
    bool            cut   = false;
    const CrsvBlock block = rows_of_block(row_ptr, rows, share, b, &cut);
    if (!cut) return {};
    const int64_t row = block.row0 + block.rows, length = row_ptr[row + 1] - row_ptr[row];
    const int64_t pieces = (length + CRSV_PIECE - 1) / CRSV_PIECE;
    return {{pieces, pieces > 1 ? pieces : 0, pieces > 1}};
  }
};

template <typename I>
__global__ void __launch_bounds__(THREADS)
    crsv_find_longest(const I *row_ptr, int64_t rows, unsigned long long *longest)
{
  typedef cub::BlockReduce<int64_t, THREADS> Reduce;
  __shared__ typename Reduce::TempStorage    temp;
  int64_t                                    mine = 0;

  for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < rows; i += (int64_t)gridDim.x * THREADS)
    mine = max(mine, (int64_t)(row_ptr[i + 1] - row_ptr[i]));
  mine = Reduce(temp).Reduce(mine, Larger());
  if (threadIdx.x == 0) atomicMax(longest, (unsigned long long)mine);
}

/* before[b] = the sum of the numbers of blocks 0 .. b-1, for b = 0 .. blocks */
template <typename I>
SpmvStatus scan_cut(const I *row_ptr, int64_t rows, const CrsvCounts *c, SpmvScopedArena *arena, LongNumbers **before,
                    SpmvExec *exec)
{
  SPMV_TRY(arena->array(c->blocks + 1, "cut rows", before));
  return spmv_sum_each_before(NumbersOfBlock<I>{row_ptr, rows, c->share}, *before, c->blocks, &arena->arena, exec);
}

template <typename I>
__global__ void crsv_make_blocks(const I *row_ptr, int64_t rows, int64_t share, CrsvBlock *blocks, int64_t n)
{
  const int64_t b = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  bool          cut;

  if (b >= n) return;
  CrsvBlock block = rows_of_block(row_ptr, rows, share, b, &cut);
  block.log_lanes = log_lanes_for(block.rows);
  block.uneven    = is_uneven(row_ptr, block);
  blocks[b]       = block;
}

/* The number of rows plus nonzeros that begin in a block. It is small enough that the last row nearly always ends in
   the block, too: rows of equal length fit exactly, rows of different lengths leave space for a row of twice the
   mean. */
int64_t share_of(int64_t rows, int64_t nnz, int64_t longest)
{
  const double mean = rows ? (double)nnz / (double)rows : 0;

  if (longest > 0 && longest <= CRSV_CAPACITY && (double)longest < 1.15 * mean)
    return std::min((int64_t)CRSV_ROWS, CRSV_CAPACITY / longest * (longest + 1));
  return CRSV_CAPACITY - std::min({longest, (int64_t)(2 * mean) + 8, (int64_t)CRSV_CAPACITY / 4});
}

template <typename I>
SpmvStatus count_rows(const I *row_ptr, const SpmvPattern *p, CrsvCounts *counts, SpmvExec *exec)
{
  const int64_t       rows = p->rows;
  SpmvScopedArena     arena(exec);
  LongNumbers        *before, total;
  unsigned long long *found, longest;

  SPMV_TRY(arena.array(1, "longest row", &found));
  SPMV_CUDA(exec, cudaMemsetAsync(found, 0, sizeof *found, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, crsv_find_longest<I>, std::min(spmv_blocks(rows, THREADS), (int64_t)LONGEST_BLOCKS), THREADS, 0,
              row_ptr, rows, found);
  SPMV_TRY(spmv_fetch(&longest, found, sizeof longest, exec));
  counts->share  = share_of(rows, p->nnz, (int64_t)longest);
  counts->blocks = rows ? (rows + p->nnz) / counts->share + 1 : 0;
  SPMV_TRY(scan_cut(row_ptr, rows, counts, &arena, &before, exec));
  SPMV_TRY(spmv_fetch(&total, before + counts->blocks, sizeof total, exec));
  counts->pieces    = total.of[PIECES];
  counts->slots     = total.of[SLOTS];
  counts->long_rows = total.of[LONG_ROWS];
  return SPMV_SUCCESS;
}

template <typename I>
__global__ void crsv_make_pieces(const I *row_ptr, const CrsvBlock *blocks, int64_t block_count,
                                 const LongNumbers *before, CrsvPiece *pieces, SpmvLongRow *long_rows)
{
  const int64_t b = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (b >= block_count) return;
  const LongNumbers c = before[b];
  const int64_t     n = before[b + 1].of[PIECES] - c.of[PIECES];
  if (n == 0) return;
  const int64_t i = blocks[b].row0 + blocks[b].rows, end = row_ptr[i + 1];

  for (int64_t k = 0; k < n; k++) {
    const int64_t begin      = row_ptr[i] + k * CRSV_PIECE;
    pieces[c.of[PIECES] + k] = {i, begin, (int32_t)min((int64_t)CRSV_PIECE, end - begin),
                                n > 1 ? (int32_t)(c.of[SLOTS] + k) : -1};
  }
  if (n > 1) long_rows[c.of[LONG_ROWS]] = {i, 1, (int32_t)c.of[SLOTS], (int32_t)n};
}

template <typename I>
SpmvStatus fill_tables(CrsvDevicePlan *plan, SpmvExec *exec)
{
  const CrsvCounts &c       = plan->counts;
  const int64_t     rows    = plan->base.rows;
  const I          *row_ptr = (const I *)plan->row_ptr;
  SpmvScopedArena   arena(exec);
  LongNumbers      *before;

  SPMV_LAUNCH(exec, crsv_make_blocks<I>, spmv_blocks(c.blocks, THREADS), THREADS, 0, row_ptr, rows, c.share,
              plan->blocks, c.blocks);
  if (c.pieces == 0) return SPMV_SUCCESS;
  SPMV_TRY(scan_cut(row_ptr, rows, &c, &arena, &before, exec));
  SPMV_LAUNCH(exec, crsv_make_pieces<I>, spmv_blocks(c.blocks, THREADS), THREADS, 0, row_ptr, plan->blocks, c.blocks,
              before, plan->pieces, plan->long_rows);
  return spmv_stream_wait(exec); /* the arena, which holds `before`, leaves scope */
}
} // namespace

SpmvStatus crsv_count(const SpmvPattern *p, CrsvCounts *counts, SpmvExec *exec)
{
  *counts = {};
  return p->index_type == SPMV_I64 ? count_rows((const int64_t *)p->row_ptr, p, counts, exec)
                                   : count_rows((const int32_t *)p->row_ptr, p, counts, exec);
}

SpmvStatus crsv_fill_tables(CrsvDevicePlan *plan, SpmvExec *exec)
{
  return plan->base.index_type == SPMV_I64 ? fill_tables<int64_t>(plan, exec) : fill_tables<int32_t>(plan, exec);
}
