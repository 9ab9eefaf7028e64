/* graph_device.cu - blocks and their sums on the device. One thread, or a team of 8 lanes, has a block row. */
#include "graph_device.cuh"

namespace
{
enum { THREADS = SPMV_GRAPH_THREADS, LANES = SPMV_GRAPH_LANES, ROWS_PER_BLOCK = THREADS / LANES };

template <typename I, typename S>
using Blocks = typename SpmvGraphRows<I, S>::Blocks;

/* ---- full blocks ---- */

/* Sets wrong[0] if some block row does not have full blocks, and wrong[1] if it does not pass PETSc's quicker test
   either. One warp per block row: rows of coarse levels are long. */
template <typename I>
__global__ void __launch_bounds__(THREADS)
    spmv_graph_look(const I *row_ptr, const I *col, int64_t rows, int size, int *wrong)
{
  const int64_t row   = blockIdx.x * (int64_t)(THREADS / 32) + threadIdx.x / 32;
  int           fails = 0, seems_not = 0;

  if (row >= rows) return;
  const int64_t at = row_ptr[row * size];
  const int     n  = (int)(row_ptr[row * size + 1] - at);
  if (n % size) fails = seems_not = 1;
  for (int i = 0; i < size; i++) {
    const int64_t begin = row_ptr[row * size + i];
    const bool    same  = row_ptr[row * size + i + 1] - begin == n;
    if (!same) fails = 1;
    if (n > 0 && (!same || col[begin] != col[at])) seems_not = 1;
    for (int k = (int)threadIdx.x % 32; same && k < n; k += 32)
      if (col[begin + k] != col[at + k] || (int)(col[begin + k] % size) != k % size) fails = 1;
  }
  if (fails) atomicOr(&wrong[0], 1);
  if (seems_not) atomicOr(&wrong[1], 1);
}

template <typename I, typename S>
SpmvStatus look(const SpmvPattern *p, int64_t size, SpmvExec *exec, int *full, int *seems_full)
{
  SpmvScopedArena scratch(exec);
  int            *there, wrong[2];

  SPMV_TRY(scratch.array(2, "what was seen of blocks", &there));
  SPMV_CUDA(exec, cudaMemsetAsync(there, 0, sizeof wrong, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, spmv_graph_look<I>, spmv_blocks(p->rows / size, THREADS / 32), THREADS, 0, (const I *)p->row_ptr,
              (const I *)p->col, p->rows / size, (int)size, there);
  SPMV_TRY(spmv_fetch(wrong, there, sizeof wrong, exec));
  *full       = !wrong[0];
  *seems_full = !wrong[1];
  return SPMV_SUCCESS;
}

/* ---- collapse ---- */

/* With full blocks, row pointers are those of the matrix divided by the entries of a block */
template <typename I, typename S>
__global__ void __launch_bounds__(THREADS) spmv_graph_full_rows(Blocks<I, S> b, I *row_ptr)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (row <= b.rows) row_ptr[row] = (I)(b.row_ptr[row * b.size] / ((int64_t)b.size * b.size));
}

/* Counts or fills in the edges of a block row */
template <typename I, typename S, bool FILL>
__global__ void __launch_bounds__(THREADS) spmv_graph_any_rows(Blocks<I, S> b, I *row_ptr, I *col)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (row >= b.rows) return;
  const int64_t n = SpmvGraphRows<I, S>::edges_of(&b, row, FILL ? col + row_ptr[row] : nullptr);
  if (!FILL) row_ptr[row] = (I)n;
}

template <typename I, typename S>
__global__ void __launch_bounds__(THREADS)
    spmv_graph_full_edges(Blocks<I, S> b, SpmvGraphListed listed, bool magnitudes, const I *row_ptr, I *col, S *values)
{
  typedef SpmvGraphRows<I, S> Rows;
  const int64_t               row = blockIdx.x * (int64_t)ROWS_PER_BLOCK + threadIdx.x / LANES;

  if (row >= b.rows) return;
  const int64_t from = b.row_ptr[row * b.size], at = row_ptr[row], n = row_ptr[row + 1] - at;
  for (int64_t k = threadIdx.x % LANES; k < n; k += LANES) {
    col[at + k]    = (I)Rows::block_of(&b, from + k * b.size);
    values[at + k] = magnitudes ? Rows::weight_of_full(&b, row, k, &listed) : b.values[from + k];
  }
}

template <typename I, typename S>
__global__ void __launch_bounds__(THREADS)
    spmv_graph_any_edges(Blocks<I, S> b, const I *row_ptr, const I *col, S *values)
{
  const int64_t row = blockIdx.x * (int64_t)ROWS_PER_BLOCK + threadIdx.x / LANES;

  if (row >= b.rows) return;
  for (int64_t e = row_ptr[row] + threadIdx.x % LANES; e < row_ptr[row + 1]; e += LANES)
    values[e] = SpmvGraphRows<I, S>::weight_of_any(&b, row, col[e]);
}

template <typename I, typename S>
SpmvStatus collapse_full(const Blocks<I, S> &b, const SpmvGraphOptions *o, int64_t nnz, SpmvGraphArrays *g,
                         SpmvExec *exec)
{
  SPMV_LAUNCH(exec, (spmv_graph_full_rows<I, S>), spmv_blocks(b.rows + 1, THREADS), THREADS, 0, b, (I *)g->row_ptr);
  SPMV_TRY(spmv_graph_hold_edges(g, nnz / ((int64_t)b.size * b.size), exec));
  SPMV_LAUNCH(exec, (spmv_graph_full_edges<I, S>), spmv_blocks(b.rows, ROWS_PER_BLOCK), THREADS, 0, b,
              spmv_graph_listed(o), b.size > 1 || o->magnitudes, (const I *)g->row_ptr, (I *)g->col, (S *)g->values);
  return SPMV_SUCCESS;
}

template <typename I, typename S>
SpmvStatus collapse_typed(const SpmvCsr *a, const SpmvGraphOptions *o, SpmvGraphArrays *g, SpmvExec *exec)
{
  const SpmvPattern *p      = &a->pattern;
  const Blocks<I, S> b      = {(const I *)p->row_ptr, (const I *)p->col, (const I *)o->group,
                               (const S *)a->values,  g->rows,           (int)o->block_size};
  const int64_t      blocks = spmv_blocks(b.rows, THREADS);
  I                 *row_ptr;

  SPMV_TRY(spmv_graph_hold_rows(g, exec));
  row_ptr = (I *)g->row_ptr;
  if (o->blocks == SPMV_GRAPH_FULL_BLOCKS) return collapse_full<I, S>(b, o, p->nnz, g, exec);
  SPMV_LAUNCH(exec, (spmv_graph_any_rows<I, S, false>), blocks, THREADS, 0, b, row_ptr, (I *)nullptr);
  SPMV_TRY(spmv_graph_sum_rows<I>(g, exec));
  SPMV_LAUNCH(exec, (spmv_graph_any_rows<I, S, true>), blocks, THREADS, 0, b, row_ptr, (I *)g->col);
  SPMV_LAUNCH(exec, (spmv_graph_any_edges<I, S>), spmv_blocks(b.rows, ROWS_PER_BLOCK), THREADS, 0, b,
              (const I *)row_ptr, (const I *)g->col, (S *)g->values);
  return SPMV_SUCCESS;
}
} // namespace

static SpmvStatus full_blocks(const SpmvPattern *p, int64_t size, SpmvExec *exec, int *full, int *seems_full)
{
  return SPMV_BY_TYPES(look, p->index_type, SPMV_F64, p, size, exec, full, seems_full);
}

static SpmvStatus collapse(const SpmvCsr *a, const SpmvGraphOptions *o, SpmvGraphArrays *g, SpmvExec *exec)
{
  return SPMV_BY_TYPES(collapse_typed, g->index_type, g->scalar_type, a, o, g, exec);
}

extern "C" const SpmvGraphSlots spmv_graph_device_slots = {full_blocks, collapse, spmv_graph_add_transpose,
                                                           spmv_graph_scale, spmv_graph_filter};
