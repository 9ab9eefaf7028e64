/*
  rbp_device_update.cu - copies values between CSR order and the planes of format packed. The encoding of a block gives
  the CSR positions of the values of each unit, so neither CSR indices nor a permutation is kept.
*/
#include "device/search.cuh"
#include "rbp_device_packed.cuh"
#include <cub/block/block_scan.cuh>

namespace
{
/* The CSR positions of the values of a unit */
struct UnitSource {
  int64_t first;  /* position of column 0 of row 0 of the group, or of the piece */
  int     length; /* nonzeros from a row of the group to the next one */
  int     column; /* of the unit within the row */
  int     valid;  /* number of columns of the unit */
  int     rows;   /* of the group */
  int     row;    /* first one of the group */
  int     start;  /* column of the matrix */
};

/* One value of a unit: its positions in the plan and in the CSR; for padding, CSR position and column are negative */
struct Entry {
  int64_t in_plan, in_csr;
  int     row, column;
};

/* Base of visitors that process every block */
struct EachBlock {
  __device__ bool wants(const RbpBlock &, int) const { return true; }
};

/* Copies CSR values to the plan. A thread loads all its values before it stores the first one, since a load must not be
   moved before a store that might alias it. */
template <typename S>
struct Fill : EachBlock {
  typedef S Value;
  const S  *csr;
  S        *values;

  Fill(const S *from, S *to) : csr(from), values(to) {}
  __device__ S    load(const Entry &e) const { return e.in_csr < 0 ? S(0) : csr[e.in_csr]; }
  __device__ void store(const Entry &e, S v) const { values[e.in_plan] = v; }
};

/* The same for values first .. first+count-1 of the CSR; other values stay. Padding is written in each such pass. */
template <typename S>
struct FillPart {
  typedef S Value;
  const S  *csr; /* points to value `first` */
  S        *values;
  int64_t   first, count;

  /* Whether a block with units of at most `size` values may contain some of these values. Rows of a piece lie
     row_length apart. */
  __device__ bool wants(const RbpBlock &b, int size) const
  {
    const int64_t apart = b.flags & RBP_BLOCK_PIECE ? (int64_t)b.rows * b.row_length : 0;
    return b.csr0 < first + count && b.csr0 + apart + (int64_t)b.units * size > first;
  }
  __device__ bool has(const Entry &e) const { return e.in_csr >= first && e.in_csr < first + count; }
  __device__ S    load(const Entry &e) const { return has(e) ? csr[e.in_csr - first] : S(0); }
  __device__ void store(const Entry &e, S v) const
  {
    if (e.in_csr < 0 || has(e)) values[e.in_plan] = v;
  }
};

/* Copies values of the plan to the list of nonzeros */
template <typename S>
struct List : EachBlock {
  typedef S    Value;
  const S     *values;
  SpmvNonzeros to;

  List(const S *from, const SpmvNonzeros &list) : values(from), to(list) {}
  __device__ S    load(const Entry &e) const { return e.in_csr < 0 ? S(0) : values[e.in_plan]; }
  __device__ void store(const Entry &e, S v) const
  {
    if (e.in_csr < 0) return;
    ((S *)to.values)[e.in_csr] = v;
    if (!to.row) return;
    to.row[e.in_csr] = e.row;
    to.col[e.in_csr] = e.column;
  }
};

/* Copies values of the plan to the diagonal */
template <typename S>
struct Diagonal : EachBlock {
  typedef S Value;
  const S  *values;
  S        *to;

  Diagonal(const S *from, S *diagonal) : values(from), to(diagonal) {}
  __device__ S    load(const Entry &e) const { return e.row == e.column ? values[e.in_plan] : S(0); }
  __device__ void store(const Entry &e, S v) const
  {
    if (e.row == e.column) to[e.row] = v;
  }
};

template <int P>
struct Tables {
  uint16_t first_unit[RBP_THREADS * P + 1], first_row[RBP_THREADS * P + 1];
  int      first_column[RBP_THREADS * P + 1]; /* columns before a unit, in the block */
  int      first_value[RBP_THREADS * P + 1];  /* nonzeros before a group, in the block */
};

/* The group of unit u: the last group that begins at or before u (an empty group begins where the next group does) */
__device__ inline int group_of(const uint16_t *first_unit, int groups, int u)
{
  int after = 1, end = groups;

  SPMV_BISECT(after, end, middle, first_unit[middle] <= u);
  return after - 1;
}

/* sums[i] = the sum of count(0) .. count(i-1) for i = 0 .. n, by the whole block; n <= RBP_THREADS * P */
template <int P, typename Count>
__device__ inline void sum_before(int *sums, int n, Count count)
{
  typedef cub::BlockScan<int, RBP_THREADS> Scan;
  __shared__ typename Scan::TempStorage    temp;
  int                                      items[P], total;

#pragma unroll
  for (int i = 0; i < P; i++) items[i] = (int)threadIdx.x * P + i < n ? count(threadIdx.x * P + i) : 0;
  __syncthreads(); /* the previous scan may still use temp */
  Scan(temp).ExclusiveSum(items, items, total);
#pragma unroll
  for (int i = 0; i < P; i++)
    if ((int)threadIdx.x * P + i < n) sums[threadIdx.x * P + i] = items[i];
  if (threadIdx.x == 0) sums[n] = total;
  __syncthreads();
}

template <int G, int U, int P>
__device__ void make_tables(const RbpBlock &b, const uint16_t *encoding, Tables<P> &t)
{
  const uint16_t *length = encoding + rbp_lengths_offset(b.groups, b.units, b.flags);
  const bool      uneven = b.flags & RBP_BLOCK_UNEVEN, ragged = b.flags & RBP_BLOCK_RAGGED;

  for (int g = threadIdx.x; g <= b.groups; g += RBP_THREADS) {
    t.first_unit[g] = encoding[g];
    t.first_row[g]  = uneven ? encoding[b.groups + 1 + g] : (uint16_t)(g * G);
    if (!uneven && !ragged) t.first_value[g] = encoding[g] * (G * U);
  }
  if (!ragged)
    for (int u = threadIdx.x; u <= b.units; u += RBP_THREADS) t.first_column[u] = u * U;
  __syncthreads();
  if (ragged) sum_before<P>(t.first_column, b.units, [&](int u) { return (int)length[u]; });
  if (uneven || ragged)
    sum_before<P>(t.first_value, b.groups, [&](int g) {
      return (t.first_column[t.first_unit[g + 1]] - t.first_column[t.first_unit[g]]) *
             (t.first_row[g + 1] - t.first_row[g]);
    });
}

template <int P>
__device__ UnitSource source_of(const RbpBlock &b, const Tables<P> &t, const uint16_t *starts, int u)
{
  if (u >= b.units) return {};
  const int g = group_of(t.first_unit, b.groups, u), begin = t.first_column[t.first_unit[g]];
  return {b.csr0 + t.first_value[g],
          b.flags & RBP_BLOCK_PIECE ? b.row_length : t.first_column[t.first_unit[g + 1]] - begin,
          t.first_column[u] - begin,
          t.first_column[u + 1] - t.first_column[u],
          t.first_row[g + 1] - t.first_row[g],
          b.row0 + t.first_row[g],
          b.base + rbp_start(b, starts, u)};
}

/* Units per thread whose loads are in flight together */
enum { AT_ONCE = 2 };

template <int G, int U, int P, typename Visit>
__global__ void __launch_bounds__(RBP_THREADS)
    rbp_visit_values(const RbpBlock *__restrict__ blocks, const uint16_t *__restrict__ pattern, Visit visit)
{
  __shared__ Tables<P> t;
  const RbpBlock       b        = blocks[blockIdx.x];
  const uint16_t      *encoding = pattern + b.pattern0;
  const uint16_t      *starts   = encoding + rbp_starts_offset(b.groups, b.flags);

  if (!visit.wants(b, G * U)) return;
  make_tables<G, U, P>(b, encoding, t);
  for (int u0 = threadIdx.x; u0 < b.stride; u0 += AT_ONCE * RBP_THREADS) {
    UnitSource            from[AT_ONCE];
    typename Visit::Value value[AT_ONCE][G * U];

    const auto entry = [&](int i, int q, int j) {
      const UnitSource &s       = from[i];
      const int64_t     in_plan = b.value0 + (int64_t)(q * U + j) * b.stride + u0 + i * RBP_THREADS;
      if (q >= s.rows || j >= s.valid) return Entry{in_plan, -1, 0, -1};
      return Entry{in_plan, s.first + (int64_t)q * s.length + s.column + j, s.row + q, s.start + j};
    };
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) from[i] = source_of<P>(b, t, starts, u0 + i * RBP_THREADS);
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
#pragma unroll
      for (int k = 0; k < G * U; k++) value[i][k] = visit.load(entry(i, k / U, k % U));
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
      if (u0 + i * RBP_THREADS >= b.stride) break;
#pragma unroll
      for (int k = 0; k < G * U; k++) visit.store(entry(i, k / U, k % U), value[i][k]);
    }
  }
}

template <int G, int U, int P, typename Visit>
SpmvStatus visit_blocks(const RbpDevicePacked *plan, Visit visit, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, (rbp_visit_values<G, U, P, Visit>), plan->shape.blocks, RBP_THREADS, 0, plan->blocks, plan->pattern,
              visit);
  return SPMV_SUCCESS;
}

struct FillAction {
  RbpDevicePacked *plan;
  const void      *csr;
  int64_t          first, count;
  SpmvExec        *exec;
  template <typename S, int G, int U, int P>
  SpmvStatus run() const
  {
    if (count < plan->base.nnz)
      return visit_blocks<G, U, P>(plan, FillPart<S>{(const S *)csr, (S *)plan->values, first, count}, exec);
    return visit_blocks<G, U, P>(plan, Fill<S>{(const S *)csr, (S *)plan->values}, exec);
  }
};

struct ListAction {
  const RbpDevicePacked *plan;
  SpmvNonzeros           to;
  SpmvExec              *exec;
  template <typename S, int G, int U, int P>
  SpmvStatus run() const
  {
    if (to.diagonal) return visit_blocks<G, U, P>(plan, Diagonal<S>{(const S *)plan->values, (S *)to.diagonal}, exec);
    return visit_blocks<G, U, P>(plan, List<S>{(const S *)plan->values, to}, exec);
  }
};
} // namespace

SpmvStatus rbp_device_fill(RbpDevicePacked *plan, const void *values, int64_t first, int64_t count, SpmvExec *exec)
{
  return rbp_with_kernel(plan, FillAction{plan, values, first, count, exec}, exec);
}

SpmvStatus rbp_device_list(const SpmvPlan *base, const SpmvNonzeros *to, SpmvExec *exec)
{
  const RbpDevicePacked *plan = (const RbpDevicePacked *)base;
  return rbp_with_kernel(plan, ListAction{plan, *to, exec}, exec);
}
