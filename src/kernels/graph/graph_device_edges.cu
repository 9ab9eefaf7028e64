/* graph_device_edges.cu - the steps on edges on the device: G + G^T, scaling, the filter. */
#include "graph_device.cuh"
#include <cub/device/device_radix_sort.cuh>

namespace
{
enum { THREADS = SPMV_GRAPH_THREADS, LANES = SPMV_GRAPH_LANES, ROWS_PER_BLOCK = THREADS / LANES };

/* A graph, to be read or written */
template <typename I, typename S>
struct Edges {
  int64_t rows;
  I      *row_ptr, *col;
  S      *values;

  explicit Edges(const SpmvGraphArrays *g)
      : rows(g->rows), row_ptr((I *)g->row_ptr), col((I *)g->col), values((S *)g->values)
  {
  }
};

int bits_of(int64_t below)
{
  int bits = 1;
  while ((int64_t)1 << bits < below) bits++;
  return bits;
}

/* ---- G + G^T ---- */

/* G^T: row i has entries k = ptr[i] .. ptr[i+1]-1, with column row[k], which are the entries order[k] of G */
struct Transposed {
  int32_t *ptr, *row, *order;
};

template <typename I>
__global__ void __launch_bounds__(THREADS)
    spmv_graph_list(int64_t rows, const I *row_ptr, const I *col, int32_t *key, int32_t *number, int32_t *row_of)
{
  const int64_t row = blockIdx.x * (int64_t)ROWS_PER_BLOCK + threadIdx.x / LANES;

  if (row >= rows) return;
  for (int64_t k = row_ptr[row] + threadIdx.x % LANES; k < row_ptr[row + 1]; k += LANES) {
    key[k]    = (int32_t)col[k];
    number[k] = (int32_t)k;
    row_of[k] = (int32_t)row;
  }
}

__global__ void __launch_bounds__(THREADS)
    spmv_graph_take(const int32_t *order, const int32_t *from, int32_t *to, int64_t n)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i < n) to[i] = from[order[i]];
}

/* Makes G^T by a stable sort of the columns, with only as many bits as they need */
template <typename I>
SpmvStatus transpose(const SpmvGraphArrays *g, SpmvScopedArena *kept, Transposed *t, SpmvExec *exec)
{
  const int64_t   n = g->nnz;
  SpmvScopedArena temporary(exec);
  int32_t        *key, *number, *row_of, *sorted;

  kept->arena.chunk_bytes     = 8 * n + 4 * g->rows + 4096;
  temporary.arena.chunk_bytes = 24 * n + (1 << 16);
  SPMV_TRY(kept->array(g->rows + 1, "row_ptr of a transposed graph", &t->ptr));
  SPMV_TRY(kept->array(n, "rows of a transposed graph", &t->row));
  SPMV_TRY(kept->array(n, "order of a transposed graph", &t->order));
  SPMV_TRY(temporary.array(n, "columns of edges", &key));
  SPMV_TRY(temporary.array(n, "numbers of edges", &number));
  SPMV_TRY(temporary.array(n, "rows of edges", &row_of));
  SPMV_TRY(temporary.array(n, "sorted columns", &sorted));
  SPMV_LAUNCH(exec, spmv_graph_list<I>, spmv_blocks(g->rows, ROWS_PER_BLOCK), THREADS, 0, g->rows,
              (const I *)g->row_ptr, (const I *)g->col, key, number, row_of);
  if (n > 0)
    SPMV_CUB(exec, &temporary.arena,
             cub::DeviceRadixSort::SortPairs(scratch, bytes, key, sorted, number, t->order, n, 0, bits_of(g->rows),
                                             (cudaStream_t)exec->stream));
  SPMV_TRY(spmv_row_starts(sorted, n, g->rows, t->ptr, exec));
  SPMV_LAUNCH(exec, spmv_graph_take, spmv_blocks(n, THREADS), THREADS, 0, t->order, row_of, t->row, n);
  return SPMV_SUCCESS;
}

/* Counts or fills in the edges of a row of G + G^T by merging two ascending rows */
template <typename I, typename S, bool FILL>
__global__ void __launch_bounds__(THREADS) spmv_graph_unite(Edges<I, S> g, Transposed t, Edges<I, S> to)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (row >= g.rows) return;
  int64_t k = g.row_ptr[row], m = t.ptr[row], n = FILL ? (int64_t)to.row_ptr[row] : 0;
  for (; k < g.row_ptr[row + 1] || m < t.ptr[row + 1]; n++) {
    const int64_t own   = k < g.row_ptr[row + 1] ? (int64_t)g.col[k] : INT64_MAX;
    const int64_t other = m < t.ptr[row + 1] ? (int64_t)t.row[m] : INT64_MAX, j = min(own, other);
    if (FILL) {
      S v = own == j ? g.values[k] : g.values[t.order[m]];
      if (own == other) v += g.values[t.order[m]];
      to.col[n]    = (I)j;
      to.values[n] = v;
    }
    k += own == j;
    m += other == j;
  }
  if (!FILL) to.row_ptr[row] = (I)n;
}

template <typename I, typename S>
SpmvStatus add_transpose(const SpmvGraphArrays *g, SpmvGraphArrays *to, SpmvExec *exec)
{
  const int64_t   blocks = spmv_blocks(g->rows, THREADS);
  SpmvScopedArena kept(exec);
  Transposed      t;

  if (2 * g->nnz >= INT32_MAX) /* the scan of the lengths of rows is in the index type of the graph */
    return spmv_fail(exec, SPMV_ERR_OVERFLOW, "G + G^T: G has %lld edges, and must have fewer than %d",
                     (long long)g->nnz, INT32_MAX / 2);
  SPMV_TRY(transpose<I>(g, &kept, &t, exec));
  SPMV_TRY(spmv_graph_hold_rows(to, exec));
  SPMV_LAUNCH(exec, (spmv_graph_unite<I, S, false>), blocks, THREADS, 0, Edges<I, S>(g), t, Edges<I, S>(to));
  SPMV_TRY(spmv_graph_sum_rows<I>(to, exec));
  SPMV_LAUNCH(exec, (spmv_graph_unite<I, S, true>), blocks, THREADS, 0, Edges<I, S>(g), t, Edges<I, S>(to));
  return SPMV_SUCCESS;
}

/* ---- scaling ---- */

template <typename I, typename S>
__global__ void __launch_bounds__(THREADS) spmv_graph_factors(Edges<I, S> g, S *factors)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (row >= g.rows) return;
  const int64_t begin = g.row_ptr[row], n = g.row_ptr[row + 1] - begin;
  const int64_t k = spmv_first_not_below(n, row, [&](int64_t e) { return (int64_t)g.col[begin + e]; });
  const S       d = k < n && g.col[begin + k] == row ? g.values[begin + k] : (S)0, inverse = d == 0 ? (S)0 : 1 / d;
  factors[row] = sqrt(inverse < 0 ? -inverse : inverse);
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
  SPMV_LAUNCH(exec, (spmv_graph_factors<I, S>), spmv_blocks(g->rows, THREADS), THREADS, 0, Edges<I, S>(g), factors);
  SPMV_LAUNCH(exec, (spmv_graph_multiply<I, S>), spmv_blocks(g->rows, ROWS_PER_BLOCK), THREADS, 0, Edges<I, S>(g),
              (const S *)factors);
  return SPMV_SUCCESS;
}

/* ---- the filter ---- */

/* Counts or copies the edges of a row that stay. Comparisons with NaN are false. */
template <typename I, typename S, bool FILL>
__global__ void __launch_bounds__(THREADS) spmv_graph_sift(Edges<I, S> g, S most, bool above, Edges<I, S> to)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (row >= g.rows) return;
  int64_t n = FILL ? (int64_t)to.row_ptr[row] : 0;
  for (int64_t k = g.row_ptr[row]; k < g.row_ptr[row + 1]; k++) {
    const S    v = g.values[k], size = v < 0 ? -v : v;
    const bool small = above ? !(size > most) : size <= most;
    if (small && (above || g.col[k] != row)) continue;
    if (FILL) {
      to.col[n]    = g.col[k];
      to.values[n] = small ? (S)0 : v;
    }
    n++;
  }
  if (!FILL) to.row_ptr[row] = (I)n;
}

template <typename I, typename S>
SpmvStatus filter(const SpmvGraphArrays *g, const SpmvGraphOptions *o, SpmvGraphArrays *to, SpmvExec *exec)
{
  const int64_t blocks = spmv_blocks(g->rows, THREADS);
  const bool    above  = o->filter == SPMV_GRAPH_KEEP_ABOVE;
  const S       most   = (S)o->threshold;

  SPMV_TRY(spmv_graph_hold_rows(to, exec));
  SPMV_LAUNCH(exec, (spmv_graph_sift<I, S, false>), blocks, THREADS, 0, Edges<I, S>(g), most, above, Edges<I, S>(to));
  SPMV_TRY(spmv_graph_sum_rows<I>(to, exec));
  SPMV_LAUNCH(exec, (spmv_graph_sift<I, S, true>), blocks, THREADS, 0, Edges<I, S>(g), most, above, Edges<I, S>(to));
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
