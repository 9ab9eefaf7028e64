/* graph_device_edges.cu - the steps on edges on the device: G + G^T, scaling, the filter. */
#include "graph_device.cuh"

namespace
{
enum { THREADS = SPMV_GRAPH_THREADS, LANES = SPMV_GRAPH_LANES, ROWS_PER_BLOCK = THREADS / LANES };

template <typename I, typename S>
using Edges = typename SpmvGraphRows<I, S>::Edges;

template <typename I, typename S>
Edges<I, S> edges(const SpmvGraphArrays *g)
{
  return {g->rows, (I *)g->row_ptr, (I *)g->col, (S *)g->values};
}

/* ---- G + G^T ---- */

template <typename I, typename S, bool FILL>
__global__ void __launch_bounds__(THREADS)
    spmv_graph_unite(Edges<I, S> g, typename SpmvGraphRows<I, S>::Transposed t, Edges<I, S> to)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (row >= g.rows) return;
  const int64_t at = FILL ? (int64_t)to.row_ptr[row] : 0;
  const int64_t n  = SpmvGraphRows<I, S>::unite(&g, &t, row, FILL ? to.col + at : nullptr, to.values + at);
  if (!FILL) to.row_ptr[row] = (I)n;
}

template <typename I, typename S>
SpmvStatus add_transpose(const SpmvGraphArrays *g, SpmvGraphArrays *to, SpmvExec *exec)
{
  const int64_t                    blocks = spmv_blocks(g->rows, THREADS);
  SpmvScopedArena                  kept(exec);
  SpmvTransposed<int32_t, int32_t> t;

  if (2 * g->nnz >= INT32_MAX) /* the scan of the lengths of rows is in the index type of the graph */
    return spmv_fail(exec, SPMV_ERR_OVERFLOW, "G + G^T: G has %lld edges, and must have fewer than %d",
                     (long long)g->nnz, INT32_MAX / 2);
  kept.arena.chunk_bytes = 8 * g->nnz + 4 * g->rows + 4096;
  SPMV_TRY(kept.array(g->rows + 1, "row_ptr of a transposed graph", &t.row_ptr));
  SPMV_TRY(kept.array(g->nnz, "rows of a transposed graph", &t.col));
  SPMV_TRY(kept.array(g->nnz, "order of a transposed graph", &t.order));
  SPMV_TRY(spmv_transpose_pattern(g->rows, g->rows, g->nnz, (const I *)g->row_ptr, (const I *)g->col, t, exec));
  const typename SpmvGraphRows<I, S>::Transposed made = {t.row_ptr, t.col, t.order};
  SPMV_TRY(spmv_graph_hold_rows(to, exec));
  SPMV_LAUNCH(exec, (spmv_graph_unite<I, S, false>), blocks, THREADS, 0, edges<I, S>(g), made, edges<I, S>(to));
  SPMV_TRY(spmv_graph_sum_rows<I>(to, exec));
  SPMV_LAUNCH(exec, (spmv_graph_unite<I, S, true>), blocks, THREADS, 0, edges<I, S>(g), made, edges<I, S>(to));
  return SPMV_SUCCESS;
}

/* ---- scaling ---- */

template <typename I, typename S>
__global__ void __launch_bounds__(THREADS) spmv_graph_factors(Edges<I, S> g, S *factors)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (row < g.rows) factors[row] = SpmvGraphRows<I, S>::factor_of(&g, row);
}

template <typename I, typename S>
__global__ void __launch_bounds__(THREADS) spmv_graph_multiply(Edges<I, S> g, const S *factors)
{
  const int64_t row = blockIdx.x * (int64_t)ROWS_PER_BLOCK + threadIdx.x / LANES;

  if (row >= g.rows) return;
  for (int64_t k = g.row_ptr[row] + threadIdx.x % LANES; k < g.row_ptr[row + 1]; k += LANES)
    g.values[k] = g.values[k] * factors[row] * factors[g.col[k]];
}

template <typename I, typename S>
SpmvStatus scale(SpmvGraphArrays *g, SpmvExec *exec)
{
  SpmvScopedArena scratch(exec);
  S              *factors;

  SPMV_TRY(scratch.array(g->rows, "factors of a graph", &factors));
  SPMV_LAUNCH(exec, (spmv_graph_factors<I, S>), spmv_blocks(g->rows, THREADS), THREADS, 0, edges<I, S>(g), factors);
  SPMV_LAUNCH(exec, (spmv_graph_multiply<I, S>), spmv_blocks(g->rows, ROWS_PER_BLOCK), THREADS, 0, edges<I, S>(g),
              (const S *)factors);
  return SPMV_SUCCESS;
}

/* ---- the filter ---- */

template <typename I, typename S, bool FILL>
__global__ void __launch_bounds__(THREADS) spmv_graph_sift(Edges<I, S> g, S most, bool above, Edges<I, S> to)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (row >= g.rows) return;
  const int64_t at = FILL ? (int64_t)to.row_ptr[row] : 0;
  const int64_t n  = SpmvGraphRows<I, S>::sift(&g, row, most, above, FILL ? to.col + at : nullptr, to.values + at);
  if (!FILL) to.row_ptr[row] = (I)n;
}

template <typename I, typename S>
SpmvStatus filter(const SpmvGraphArrays *g, const SpmvGraphOptions *o, SpmvGraphArrays *to, SpmvExec *exec)
{
  const int64_t blocks = spmv_blocks(g->rows, THREADS);
  const bool    above  = o->filter == SPMV_GRAPH_KEEP_ABOVE;
  const S       most   = (S)o->threshold;

  SPMV_TRY(spmv_graph_hold_rows(to, exec));
  SPMV_LAUNCH(exec, (spmv_graph_sift<I, S, false>), blocks, THREADS, 0, edges<I, S>(g), most, above, edges<I, S>(to));
  SPMV_TRY(spmv_graph_sum_rows<I>(to, exec));
  SPMV_LAUNCH(exec, (spmv_graph_sift<I, S, true>), blocks, THREADS, 0, edges<I, S>(g), most, above, edges<I, S>(to));
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus spmv_graph_add_transpose(const SpmvGraphArrays *from, SpmvGraphArrays *to, SpmvExec *exec)
{
  return SPMV_BY_TYPES(add_transpose, from->index_type, from->scalar_type, from, to, exec);
}

SpmvStatus spmv_graph_scale(SpmvGraphArrays *g, SpmvExec *exec)
{
  return SPMV_BY_TYPES(scale, g->index_type, g->scalar_type, g, exec);
}

SpmvStatus spmv_graph_filter(const SpmvGraphArrays *from, const SpmvGraphOptions *o, SpmvGraphArrays *to,
                             SpmvExec *exec)
{
  return SPMV_BY_TYPES(filter, from->index_type, from->scalar_type, from, o, to, exec);
}
