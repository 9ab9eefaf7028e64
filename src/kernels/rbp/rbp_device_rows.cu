/*
  rbp_device_rows.cu - chooses the group height and unit width with the fewest predicted bytes for a device CSR in
  format packed.
*/
#include "device/vector.cuh"
#include "rbp_device_span.cuh"

namespace
{
constexpr int COUNTERS = RBP_MAX_G * (RBP_MAX_U + 1);

/* Adds the counts of the threads of a block to the totals, and updates the longest row */
__device__ inline void add_to_totals(const unsigned long long (&count)[COUNTERS], unsigned long long most,
                                     RbpTotals *totals)
{
  __shared__ unsigned long long sum[SPAN_THREADS / 32][COUNTERS + 1]; /* per warp; the last entry is its longest row */
  const int                     warp = threadIdx.x / 32;
#pragma unroll
  for (int c = 0; c < COUNTERS; c++) {
    const unsigned long long s = spmv_add_lanes(count[c], 32);
    if (threadIdx.x % 32 == 0) sum[warp][c] = s;
  }
  most = spmv_max_lanes(most, 32);
  if (threadIdx.x % 32 == 0) sum[warp][COUNTERS] = most;
  __syncthreads();
  if (threadIdx.x > COUNTERS) return;
  unsigned long long all = 0;
  for (int w = 0; w < SPAN_THREADS / 32; w++)
    all = threadIdx.x < COUNTERS ? all + sum[w][threadIdx.x] : max(all, sum[w][COUNTERS]);
  if (threadIdx.x < COUNTERS) atomicAdd(&totals->count[0][0] + threadIdx.x, all);
  else atomicMax(&totals->longest, all);
}

/* One thread block per span. Adds the groups and units for each choice of G and U to totals, and updates the longest
   row. */
template <typename I>
__global__ void __launch_bounds__(SPAN_THREADS)
    rbp_count_units(const I *__restrict__ row_ptr, const RbpRowSummary *__restrict__ summary, int64_t rows,
                    int span_rows, RbpTotals *totals)
{
  __shared__ SpanRows span;
  const int64_t       first           = blockIdx.x * (int64_t)span_rows;
  const int           n               = (int)min((int64_t)span_rows, rows - first);
  unsigned long long  count[COUNTERS] = {0}, most = 0;

  mark_distinct(summary + first, n, span);
  for (int i0 = threadIdx.x; i0 < n; i0 += SPAN_LOADS * SPAN_THREADS) {
    I             length[SPAN_LOADS];
    RbpRowSummary known[SPAN_LOADS];
    load_rows(row_ptr, summary, first, i0, n, length, known);
#pragma unroll
    for (int j = 0; j < SPAN_LOADS; j++) {
      if (i0 + j * SPAN_THREADS >= n) break;
      const int number = equals_before(span, i0 + j * SPAN_THREADS);
      most             = max(most, (unsigned long long)length[j]);
#pragma unroll
      for (int G = 1; G <= RBP_MAX_G; G++) {
        if (number % G) continue;
        count[(G - 1) * (RBP_MAX_U + 1)]++;
#pragma unroll
        for (int U = 1; U <= RBP_MAX_U; U++)
          count[(G - 1) * (RBP_MAX_U + 1) + U] += rbp_row_units(known[j], length[j], U);
      }
    }
  }
  add_to_totals(count, most, totals);
}

/* Bytes that a product reads and writes. The time to gather x and to add up sums is converted to bytes (measured: a
   unit costs about 2 bytes, a sum in shared memory about 1). */
double predicted_bytes(const RbpVariant *v, const RbpTotals *t, int64_t scalar_bytes)
{
  const double units = (double)t->count[v->group_rows - 1][v->unit_columns];
  return units * (double)(v->group_rows * v->unit_columns * scalar_bytes + 2 + 2 + v->group_rows);
}

/* An upper bound on the number of blocks that are not pieces of long groups. Two neighbouring blocks of a span have
   together more units than the capacity, or the first of them has the maximum number of groups. */
int64_t bound_of_blocks(const RbpDeviceShape *s, int64_t spans)
{
  return 2 * s->units / s->capacity + s->groups / s->capacity + spans;
}
} // namespace

SpmvStatus rbp_choose_variant(RbpDeviceAnalysis *a, SpmvScalar scalar, int64_t min_run, SpmvExec *exec)
{
  const SpmvPattern *p    = &a->pattern;
  const int64_t      wide = spmv_scalar_bytes(scalar);
  const RbpVariant  *best = &rbp_variants[0];
  RbpTotals          totals;

  SPMV_TRY(spmv_with_index(p->index_type, [&](auto index) -> SpmvStatus {
    typedef decltype(index) I;
    SPMV_LAUNCH(exec, rbp_count_units<I>, a->spans, SPAN_THREADS, 0, (const I *)p->row_ptr, a->summary, p->rows,
                a->span_rows, a->totals);
    return SPMV_SUCCESS;
  }));
  SPMV_TRY(spmv_fetch(&totals, a->totals, sizeof totals, exec));

  for (const RbpVariant &v : rbp_variants) {
    if (v.unit_columns > 1 && v.unit_columns < min_run) continue;
    if (predicted_bytes(&v, &totals, wide) < predicted_bytes(best, &totals, wide)) best = &v;
  }
  RbpDeviceShape *s      = &a->shape;
  const int64_t   enough = 3000 * (int64_t)RBP_THREADS * best->units_large; /* units; with fewer, the GPU is partly
                                                                               idle */
  s->group_rows          = best->group_rows;
  s->unit_columns        = best->unit_columns;
  s->groups              = (int64_t)totals.count[s->group_rows - 1][0];
  s->units               = (int64_t)totals.count[s->group_rows - 1][s->unit_columns];
  s->capacity            = RBP_THREADS * (s->units < enough ? best->units_small : best->units_large);
  a->blocks_most =
      p->nnz < RBP_FEW_NONZEROS && (int64_t)totals.longest <= s->capacity ? bound_of_blocks(s, a->spans) : -1;
  return SPMV_SUCCESS;
}
