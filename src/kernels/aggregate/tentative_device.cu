/* tentative_device.cu - the tentative prolongator, one warp per aggregate, and its smoothing, 8 lanes per row, on the
   device. */
#include "aggregate.h"
#include "device/csr.cuh"
#include "device/staging.h"
#include "device/vector.cuh"
#include "tentative_qr.h"

namespace
{
enum { THREADS = 256, TEAM = 32, TEAMS_PER_BLOCK = THREADS / TEAM, LANES = 8, ROWS_PER_BLOCK = THREADS / LANES };

__device__ inline int64_t least_of_warp(int64_t v)
{
  for (int offset = 16; offset; offset /= 2) {
    const int64_t other = __shfl_xor_sync(0xffffffffu, v, offset);
    if (other < v) v = other;
  }
  return v;
}

#define SPMV_TEAM          static __device__ inline
#define SPMV_LANE          (int)(threadIdx.x % TEAM)
#define SPMV_LANES         TEAM
#define SPMV_TEAM_SUM(v)   spmv_add_lanes(v, TEAM)
#define SPMV_TEAM_LEAST(v) least_of_warp(v)
#define SPMV_BODY          "aggregate/tentative_qr.inc"
#define SPMV_SCALAR_ONLY
#include "core/instantiate.h"

__device__ inline void factor(const SpmvQr *q, const double *near_null, double *values, double *coarse, int64_t stride)
{
  factor_f64(q, near_null, values, coarse, stride);
}
__device__ inline void factor(const SpmvQr *q, const float *near_null, float *values, float *coarse, int64_t stride)
{
  factor_f32(q, near_null, values, coarse, stride);
}

/* The lists of SpmvQr for all aggregates. place [vertices+1]; member [vertices], sorted by aggregate, with vertices
   without an aggregate last; first [count+1]: the first member of each aggregate. */
typedef struct {
  int32_t *place, *member, *first;
} Members;

/* Prepares the sort: the aggregate of each vertex, or count without one; its number; and whether it is in an
   aggregate */
__global__ void spmv_tentative_list(SpmvTentative t, int32_t *aggregate, int32_t *vertex, int32_t *is_in)
{
  const int64_t v = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (v > t.vertices) return;
  const bool in = v < t.vertices && t.aggregate[v] >= 0 && t.aggregate[v] < t.found.count;
  is_in[v]      = in;
  if (v == t.vertices) return;
  aggregate[v] = in ? t.aggregate[v] : (int32_t)t.found.count;
  vertex[v]    = (int32_t)v;
}

template <typename I>
__global__ void spmv_tentative_rows(SpmvTentative t, const int32_t *place, I *row_ptr, I *col)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x, rows = t.vertices * t.block_size;

  if (row > rows) return;
  const int64_t v  = row / t.block_size;
  const int32_t a  = row < rows ? t.aggregate[v] : -1;
  int64_t       at = ((int64_t)place[v] * t.block_size + (a >= 0 ? row % t.block_size : 0)) * t.columns;
  row_ptr[row]     = (I)at;
  for (int c = 0; a >= 0 && c < t.columns; c++) col[at++] = (I)a * t.columns + c;
}

template <typename S>
__global__ void spmv_tentative_factor(SpmvTentative t, Members m, S *values, S *coarse)
{
  const int64_t a = blockIdx.x * (int64_t)TEAMS_PER_BLOCK + threadIdx.x / TEAM;

  if (a >= t.found.count) return;
  const int32_t first = m.first[a];
  const SpmvQr  q     = {m.member + first, m.place,   m.first[a + 1] - first,
                         t.block_size,     t.columns, t.vertices * t.block_size};
  factor(&q, (const S *)t.near_null, values, coarse + a * t.columns, t.found.count * t.columns);
}

/* Lanes share a row of the product. Each looks up its columns in the row of P0, which has few. */
template <typename I, typename S>
__global__ void spmv_tentative_smooth(double omega, const S *diagonal, SpmvPattern p0, const S *p_values,
                                      SpmvPattern product, S *values, int32_t *missing)
{
  const int64_t row     = blockIdx.x * (int64_t)ROWS_PER_BLOCK + threadIdx.x / LANES;
  const I      *row_ptr = (const I *)product.row_ptr, *col = (const I *)product.col, *p_row_ptr = (const I *)p0.row_ptr;
  int           found = 0;
  I             n     = 0;

  if (row < product.rows) {
    const I      *p_col = (const I *)p0.col + p_row_ptr[row];
    const double  by    = diagonal[row] == 0 ? 0 : -omega / (double)diagonal[row];
    const int64_t begin = row_ptr[row], end = row_ptr[row + 1];

    n = p_row_ptr[row + 1] - p_row_ptr[row];
    for (int64_t k = begin + threadIdx.x % LANES; k < end; k += LANES) {
      const I at  = spmv_first_not_below(n, col[k], [&](I i) { return p_col[i]; });
      double  sum = by == 0 ? 0 : by * (double)values[k];
      if (at < n && p_col[at] == col[k]) {
        sum += (double)p_values[p_row_ptr[row] + at];
        found++;
      }
      values[k] = (S)sum;
    }
  }
  found = spmv_add_lanes(found, LANES);
  if (threadIdx.x % LANES == 0 && found < n) atomicMax(missing, (int32_t)row + 1);
}

SpmvStatus list_members(const SpmvTentative &t, Members *m, SpmvScopedArena *temporary, SpmvExec *exec)
{
  const int64_t n = t.vertices;
  int32_t      *aggregate, *sorted, *vertex, members = (int32_t)t.found.members;

  temporary->arena.chunk_bytes = 28 * n + 4 * t.found.count + (1 << 16);
  SPMV_TRY(temporary->array(n, "aggregates", &aggregate));
  SPMV_TRY(temporary->array(n, "sorted aggregates", &sorted));
  SPMV_TRY(temporary->array(n, "vertices", &vertex));
  SPMV_TRY(temporary->array(n, "members of aggregates", &m->member));
  SPMV_TRY(temporary->array(n + 1, "places of vertices", &m->place));
  SPMV_TRY(temporary->array(t.found.count + 1, "first members of aggregates", &m->first));
  SPMV_LAUNCH(exec, spmv_tentative_list, spmv_blocks(n + 1, THREADS), THREADS, 0, t, aggregate, vertex, m->place);
  SPMV_TRY(spmv_sum_before(m->place, m->place, n + 1, &temporary->arena, exec));
  if (!t.counted) SPMV_TRY(spmv_fetch(&members, m->place + n, sizeof members, exec));
  if (members != t.found.members) return spmv_tentative_mismatch(&t, exec);
  SPMV_TRY(spmv_sort_pairs(aggregate, sorted, vertex, m->member, n, t.found.count + 1, &temporary->arena, exec));
  return spmv_row_starts(sorted, n, t.found.count, m->first, exec);
}
} // namespace

extern "C" SpmvStatus spmv_tentative_device(const SpmvTentative *t, void *row_ptr, void *col, void *values,
                                            void *coarse, SpmvExec *exec)
{
  const int64_t   rows = t->vertices * t->block_size, teams = spmv_blocks(t->found.count, TEAMS_PER_BLOCK);
  SpmvScopedArena temporary(exec);
  Members         m;

  SPMV_TRY(list_members(*t, &m, &temporary, exec));
  SPMV_TRY(spmv_with_index(t->index_type, [&](auto index) -> SpmvStatus {
    typedef decltype(index) I;
    SPMV_LAUNCH(exec, spmv_tentative_rows<I>, spmv_blocks(rows + 1, THREADS), THREADS, 0, *t, m.place, (I *)row_ptr,
                (I *)col);
    return SPMV_SUCCESS;
  }));
  return spmv_with_scalar(t->scalar_type, [&](auto number) -> SpmvStatus {
    typedef decltype(number) S;
    SPMV_LAUNCH(exec, spmv_tentative_factor<S>, teams, THREADS, 0, *t, m, (S *)values, (S *)coarse);
    return SPMV_SUCCESS;
  });
}

namespace
{
template <typename I, typename S>
SpmvStatus smooth(double omega, const void *diagonal, const SpmvCsr *p0, const SpmvPattern *product, void *values,
                  int32_t *missing, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, (spmv_tentative_smooth<I, S>), spmv_blocks(product->rows, ROWS_PER_BLOCK), THREADS, 0, omega,
              (const S *)diagonal, p0->pattern, (const S *)p0->values, *product, (S *)values, missing);
  return SPMV_SUCCESS;
}
} // namespace

extern "C" SpmvStatus spmv_smooth_device(double omega, const void *diagonal, const SpmvCsr *p0,
                                         const SpmvPattern *product, void *values, int64_t *missing, SpmvExec *exec)
{
  SpmvScopedArena temporary(exec);
  int32_t        *counter, row;

  SPMV_TRY(temporary.array(1, "missing entries", &counter));
  SPMV_CUDA(exec, cudaMemsetAsync(counter, 0, sizeof *counter, (cudaStream_t)exec->stream));
  SPMV_TRY(
      SPMV_BY_TYPES(smooth, product->index_type, p0->scalar_type, omega, diagonal, p0, product, values, counter, exec));
  SPMV_TRY(spmv_fetch(&row, counter, sizeof row, exec));
  *missing = row;
  return SPMV_SUCCESS;
}
