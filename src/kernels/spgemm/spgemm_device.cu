/* spgemm_device.cu - on the device: finds the blocks of the operands, copies their patterns in blocks, and expands the
   result to single entries. */
#include "device/upload.cuh"
#include "spgemm_device.cuh"

namespace
{
enum { THREADS = 256, LANES = 8, ROWS_PER_BLOCK = THREADS / LANES };

/* Faults that rule out a block size: rows that do not come in pairs or triples with equal columns, columns that do not
   come in full aligned pairs or triples */
enum { ROW_PAIRS = 1, ROW_TRIPLES = 2, COL_PAIRS = 4, COL_TRIPLES = 8, ALL_FAULTS = 15 };

template <typename I>
__global__ void spmv_spgemm_find_faults(const I *row_ptr, const I *col, int64_t rows, unsigned *faults)
{
  const int64_t row  = blockIdx.x * (int64_t)ROWS_PER_BLOCK + threadIdx.x / LANES;
  unsigned      mine = 0;

  if (row >= rows || *(volatile unsigned *)faults == ALL_FAULTS) return;
  const I   *own = col + row_ptr[row], *before = row > 0 ? col + row_ptr[row - 1] : own;
  const int  n        = (int)(row_ptr[row + 1] - row_ptr[row]);
  const bool compared = row % 2 || row % 3;
  bool       differs  = compared && row_ptr[row] - row_ptr[row - 1] != n;
  if (n % 2) mine |= COL_PAIRS;
  if (n % 3) mine |= COL_TRIPLES;
  for (int k = threadIdx.x % LANES; k < n; k += LANES) {
    const int  c       = (int)own[k];
    const bool follows = k > 0 && (int)own[k - 1] == c - 1;
    if (c % 2 != k % 2 || (k % 2 && !follows)) mine |= COL_PAIRS;
    if (c % 3 != k % 3 || (k % 3 && !follows)) mine |= COL_TRIPLES;
    if (compared && !differs) differs = (int)before[k] != c;
  }
  if (differs) mine |= (row % 2 ? ROW_PAIRS : 0) | (row % 3 ? ROW_TRIPLES : 0);
  if (mine & ~*(volatile unsigned *)faults) atomicOr(faults, mine);
}

template <typename I>
__global__ void spmv_spgemm_compress(const I *row_ptr, const I *col, SpmvSpgemmPattern to)
{
  const int64_t row = blockIdx.x * (int64_t)ROWS_PER_BLOCK + threadIdx.x / LANES;

  if (row > to.rows) return;
  const int64_t begin = (int64_t)row_ptr[row * to.block_rows], first = begin / (to.block_rows * to.block_cols);
  if (threadIdx.x % LANES == 0) to.row_ptr[row] = (int32_t)first;
  if (row == to.rows) return;
  const int n = (int)(row_ptr[row * to.block_rows + 1] - begin) / to.block_cols;
  for (int k = threadIdx.x % LANES; k < n; k += LANES)
    to.col[first + k] = (int32_t)col[begin + (int64_t)k * to.block_cols] / to.block_cols;
}

template <typename I>
__global__ void spmv_spgemm_expand(SpmvSpgemmPattern from, I *row_ptr, I *col)
{
  const int64_t row  = blockIdx.x * (int64_t)ROWS_PER_BLOCK + threadIdx.x / LANES;
  const int64_t node = row / from.block_rows, rows = from.rows * from.block_rows;

  if (row > rows) return;
  const int     first = from.row_ptr[node], n = row < rows ? from.row_ptr[node + 1] - first : 0;
  const int64_t begin = ((int64_t)first * from.block_rows + row % from.block_rows * n) * from.block_cols;
  if (threadIdx.x % LANES == 0) row_ptr[row] = (I)begin;
  for (int k = threadIdx.x % LANES; k < n * from.block_cols; k += LANES)
    col[begin + k] = (I)from.col[first + k / from.block_cols] * from.block_cols + k % from.block_cols;
}

SpmvStatus find_faults(const SpmvPattern *p, unsigned *faults, SpmvExec *exec)
{
  const int64_t blocks = spmv_blocks(p->rows, ROWS_PER_BLOCK);

  return spmv_with_index(p->index_type, [&](auto index) -> SpmvStatus {
    typedef decltype(index) I;
    SPMV_LAUNCH(exec, spmv_spgemm_find_faults<I>, blocks, THREADS, 0, (const I *)p->row_ptr, (const I *)p->col, p->rows,
                faults);
    return SPMV_SUCCESS;
  });
}

/* The faults of groups of so many rows and columns */
unsigned faults_of(int64_t rows, int64_t cols)
{
  return (rows % 2 ? ROW_PAIRS : 0) | (rows % 3 ? ROW_TRIPLES : 0) | (cols % 2 ? COL_PAIRS : 0) |
         (cols % 3 ? COL_TRIPLES : 0);
}

/* The faults of both operands: those of known blocks, or those that are found. A number of rows or columns that is not a
   multiple of 2 or 3 is a fault, too. */
SpmvStatus fetch_faults(const SpmvPattern *a, const SpmvPattern *b, const SpmvBlocks known[2], unsigned faults[2],
                        SpmvExec *exec)
{
  const SpmvPattern *operand[] = {a, b};
  SpmvScopedArena    scratch(exec);
  unsigned          *found;

  if (!known[0].rows || !known[1].rows) {
    SPMV_TRY(scratch.array(2, "faults of blocks", &found));
    SPMV_CUDA(exec, cudaMemsetAsync(found, 0, 2 * sizeof *found, (cudaStream_t)exec->stream));
    for (int i = 0; i < 2; i++)
      if (!known[i].rows) SPMV_TRY(find_faults(operand[i], found + i, exec));
    SPMV_TRY(spmv_fetch(faults, found, 2 * sizeof *found, exec));
  }
  for (int i = 0; i < 2; i++) {
    if (known[i].rows) faults[i] = faults_of(known[i].rows, known[i].cols);
    faults[i] |= faults_of(operand[i]->rows, operand[i]->cols);
  }
  return SPMV_SUCCESS;
}

/* The largest block size that these faults allow: 1, 2, 3 or 6. Faults of columns have to be shifted to those of
   rows. */
int block_size(unsigned row_faults) { return (row_faults & ROW_PAIRS ? 1 : 2) * (row_faults & ROW_TRIPLES ? 1 : 3); }

/* Sets the block sizes of both operands; sizes along the dimensions that are summed over must agree */
void choose_blocks(SpmvSpgemmKind kind, const unsigned faults[2], SpmvSpgemmPattern *a, SpmvSpgemmPattern *b)
{
  const unsigned a_rows = faults[0] & 3, a_cols = faults[0] >> 2, b_rows = faults[1] & 3, b_cols = faults[1] >> 2;

  a->block_rows = block_size(a_rows);
  a->block_cols = block_size(a_cols);
  b->block_rows = block_size(b_rows);
  b->block_cols = block_size(b_cols);
  if (kind == SPMV_SPGEMM_AB) a->block_cols = b->block_rows = block_size(a_cols | b_rows);
  if (kind == SPMV_SPGEMM_ATB) a->block_rows = b->block_rows = block_size(a_rows | b_rows);
  if (kind == SPMV_SPGEMM_PTAP) a->block_rows = a->block_cols = b->block_rows = block_size(a_rows | a_cols | b_rows);
  if (kind == SPMV_SPGEMM_RART) a->block_rows = a->block_cols = b->block_cols = block_size(a_rows | a_cols | b_cols);
}

SpmvStatus compress(SpmvSpgemm *p, const SpmvPattern *from, SpmvSpgemmPattern *to, SpmvExec *exec)
{
  to->rows             = from->rows / to->block_rows;
  to->cols             = from->cols / to->block_cols;
  to->nnz              = from->nnz / (to->block_rows * to->block_cols);
  const int64_t blocks = spmv_blocks(to->rows + 1, ROWS_PER_BLOCK);
  SPMV_TRY(spmv_spgemm_hold_pattern(p, to, "copy of a pattern", exec));
  return spmv_with_index(from->index_type, [&](auto index) -> SpmvStatus {
    typedef decltype(index) I;
    SPMV_LAUNCH(exec, spmv_spgemm_compress<I>, blocks, THREADS, 0, (const I *)from->row_ptr, (const I *)from->col, *to);
    return SPMV_SUCCESS;
  });
}

SpmvStatus copy(SpmvSpgemm *p, const SpmvPattern *a, const SpmvPattern *b, SpmvExec *exec)
{
  unsigned faults[2];

  SPMV_TRY(fetch_faults(a, b, p->known, faults, exec));
  choose_blocks(p->kind, faults, &p->a, &p->b);
  SPMV_TRY(compress(p, a, &p->a, exec));
  return compress(p, b, &p->b, exec);
}

SpmvStatus result(SpmvSpgemm *p, SpmvExec *exec)
{
  const SpmvSpgemmPattern *c    = &p->c;
  const int64_t            rows = c->rows * c->block_rows, nnz = spmv_spgemm_entries(c);
  const int64_t index_bytes = spmv_index_bytes(p->index_type), bytes[] = {(rows + 1) * index_bytes, nnz * index_bytes};
  void *row_ptr, *col, **const array[] = {&row_ptr, &col};
  const int64_t blocks = spmv_blocks(rows + 1, ROWS_PER_BLOCK);

  p->result = {rows, c->cols * c->block_cols, nnz, p->index_type, SPMV_DEVICE, c->row_ptr, c->col};
  if (p->index_type == SPMV_I32 && c->block_rows * c->block_cols == 1) return SPMV_SUCCESS;
  SPMV_TRY(spmv_spgemm_hold(p, exec, 2, bytes, "pattern of a product", array));
  p->result.row_ptr = row_ptr;
  p->result.col     = col;
  return spmv_with_index(p->index_type, [&](auto index) -> SpmvStatus {
    typedef decltype(index) I;
    SPMV_LAUNCH(exec, spmv_spgemm_expand<I>, blocks, THREADS, 0, *c, (I *)row_ptr, (I *)col);
    return SPMV_SUCCESS;
  });
}
} // namespace

extern "C" const SpmvSpgemmSlots spmv_spgemm_device_slots = {copy,   spmv_spgemm_transpose, spmv_spgemm_multiply,
                                                             result, spmv_spgemm_reorder,   spmv_spgemm_values};
