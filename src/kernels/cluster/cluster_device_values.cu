/*
  cluster_device_values.cu - values of plans on the device: filling, what mirrors are, and the list of nonzeros. The
  plan itself tells where each value lies in the CSR.

  Lanes of a step have values of different rows, and mirrors are anywhere in the cluster. So a thread block that fills
  first copies the rows of its cluster to shared memory (cluster_device_rows.cuh).
*/
#include "../device/upload.cuh"
#include "../device/vector.cuh"
#include "cluster_device_rows.cuh"

namespace
{
enum { THREADS = 256, WARPS = THREADS / 32, LONG_THREADS = 256 };

/* What a refresh counts: ClusterPlan.unequal, far and most_ulps */
struct Counts {
  unsigned long long unequal, far, most_ulps;
};

__device__ inline int place_of(const ClusterArrays &a, int64_t at)
{
  if (a.shape.place_bytes == 1) {
    const int place = ((const uint8_t *)a.places)[at];
    return place == (CLUSTER_NO_PLACE & 0xff) ? -1 : place;
  }
  const int place = ((const uint16_t *)a.places)[at];
  return place == CLUSTER_NO_PLACE ? -1 : place;
}

/* The mirror of a pair by its step, counted from the first of all */
__device__ inline int mirror_place_of(const ClusterArrays &a, int64_t pair_step, int lane)
{
  return place_of(a, (a.shape.steps + pair_step) * 32 + lane);
}

/* Position in the CSR of scalar k of the entry of a node, and of its mirror, whose rows are those of the other end */
template <int D>
__device__ inline int64_t position(const Node &n, int place, int k)
{
  return n.begin + k / D * n.length + (int64_t)place * D + k % D;
}
template <int D>
__device__ inline int64_t mirror_position(const Node &n, int place, int k)
{
  return n.begin + k % D * n.length + (int64_t)place * D + k / D;
}

template <typename S>
struct Bits;
template <>
struct Bits<double> {
  typedef long long Type;
};
template <>
struct Bits<float> {
  typedef int Type;
};

template <typename S>
__device__ inline typename Bits<S>::Type bits_of(S v)
{
  typename Bits<S>::Type bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

/* The correction of a mirror; counts it */
template <typename S>
__device__ inline int correct(S value, S mirror, Counts &c)
{
  const long long          v = bits_of(value), m = bits_of(mirror);
  const unsigned long long ulps =
      m < v ? (unsigned long long)v - (unsigned long long)m : (unsigned long long)m - (unsigned long long)v;
  const bool far = ulps >= (unsigned long long)-CLUSTER_FAR;

  c.unequal += ulps > 0;
  c.far += far;
  c.most_ulps = max(c.most_ulps, ulps);
  return far ? (int)CLUSTER_FAR : (int)(m - v);
}

/* Adds up the counts of a thread block; they are integers, so the order does not matter. Warps add up theirs first:
   threads that add to one number do so one after the other. */
__device__ inline void add_counts(Counts mine, Counts *all)
{
  __shared__ Counts block;

  if (threadIdx.x == 0) block = {0, 0, 0};
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    mine.unequal += __shfl_down_sync(0xffffffffu, mine.unequal, step);
    mine.far += __shfl_down_sync(0xffffffffu, mine.far, step);
    mine.most_ulps = max(mine.most_ulps, __shfl_down_sync(0xffffffffu, mine.most_ulps, step));
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0 && mine.unequal) {
    atomicAdd(&block.unequal, mine.unequal);
    atomicAdd(&block.far, mine.far);
    atomicMax(&block.most_ulps, mine.most_ulps);
  }
  __syncthreads();
  if (threadIdx.x > 0 || block.unequal == 0) return;
  atomicAdd(&all->unequal, block.unequal);
  atomicAdd(&all->far, block.far);
  atomicMax(&all->most_ulps, block.most_ulps);
}

/* One pair in one lane, whose other end is own node `column`: its mirror, and the corrections */
template <typename S, int D>
__device__ inline void fill_mirror(const ClusterArrays &a, const ClusterHead &h, int column, int64_t pair_step,
                                   int lane, const Rows<S> &rows, const S (&value)[D * D], Counts &counts)
{
  const int  place = mirror_place_of(a, pair_step, lane);
  const Node other = rows.template of_node<D>(a, h, place < 0 ? 0 : column);
  unsigned   word  = 0;

#pragma unroll
  for (int k = 0; k < D * D; k++) {
    const S   mirror     = place < 0 ? value[k] : rows.values[mirror_position<D>(other, place, k)];
    const int correction = correct(value[k], mirror, counts);

    if (!a.mirrors) continue;
    ((S *)a.mirrors)[pair_step * 32 * D * D + cluster_at<D>(k, lane, 32)] = mirror;
    if (D == 1) a.corrections[pair_step * 32 + lane] = (int8_t)correction;
    word |= (unsigned)(correction & 0xff) << (k % 4 * 8);
    if (D > 1 && (k % 4 == 3 || k == D * D - 1)) {
      int8_t *to = a.corrections + pair_step * CLUSTER_CORRECTION_STEP<D> + cluster_correction_at<D>(k / 4 * 4, lane);

      *(unsigned *)to = word;
      word            = 0;
    }
  }
}

/* A warp takes one of FILL_WARPS steps of each slice */
template <typename S, int D>
__global__ void __launch_bounds__(FILL_THREADS) cluster_fill(ClusterArrays a, const S *csr, int capacity, Counts *all)
{
  SPMV_DYNAMIC_SHARED(memory);
  const ClusterHead h      = a.clusters[blockIdx.x];
  const int         lane   = threadIdx.x % 32;
  const uint16_t   *starts = cluster_order(a, h), *columns = cluster_index(a, h) + lane;
  const Rows<S>     rows = copy_rows<S, D>(a, h, csr, capacity, memory);
  Counts            counts{0, 0, 0};

  for (int s = 0; s < h.slices; s++) {
    const ClusterSlice slice = a.slices[h.slice + s];
    const Node         node  = rows.template of_node<D>(a, h, min(s * 32 + lane, h.own - 1));

    for (int k0 = threadIdx.x / 32; k0 < slice.steps; k0 += FILL_WARPS) {
      const int64_t step  = h.step + slice.steps_before + k0;
      const int     place = place_of(a, step * 32 + lane);
      S             value[D * D];

#pragma unroll
      for (int k = 0; k < D * D; k++) value[k] = place < 0 ? S(0) : rows.values[position<D>(node, place, k)];
      const ClusterStep at = cluster_step<D>(h.value, starts, slice.steps_before + k0);
#pragma unroll
      for (int k = 0; lane < at.lanes && k < D * D; k++)
        ((S *)a.values)[at.first + cluster_at<D>(k, lane, at.lanes)] = value[k];
      if (k0 < slice.pair_steps)
        fill_mirror<S, D>(a, h, columns[(slice.steps_before + k0) * 32], h.pair_step + slice.pair_steps_before + k0,
                          lane, rows, value, counts);
    }
  }
  if (all) add_counts(counts, all);
}

/* One thread block for each long row: from the CSR to the plan, or the other way round */
template <typename S>
__global__ void __launch_bounds__(LONG_THREADS) cluster_fill_long(ClusterArrays a, const S *csr)
{
  const int64_t begin = a.long_begin[blockIdx.x], end = a.long_begin[blockIdx.x + 1];
  const S      *from = csr + a.long_begin[a.shape.long_rows + 1 + blockIdx.x];

  for (int64_t k = begin + threadIdx.x; k < end; k += LONG_THREADS) ((S *)a.long_values)[k] = from[k - begin];
}

template <typename S>
__global__ void __launch_bounds__(LONG_THREADS) cluster_list_long(ClusterArrays a, SpmvNonzeros to)
{
  const int64_t begin = a.long_begin[blockIdx.x], end = a.long_begin[blockIdx.x + 1];
  const int64_t first = a.long_begin[a.shape.long_rows + 1 + blockIdx.x];
  const int32_t row   = a.long_columns[a.shape.long_nnz + blockIdx.x];

  for (int64_t k = begin + threadIdx.x; k < end; k += LONG_THREADS) {
    const S       value = ((const S *)a.long_values)[k];
    const int32_t col   = a.long_columns[k];

    if (to.diagonal) {
      if (row == col) ((S *)to.diagonal)[row] = value;
      continue;
    }
    ((S *)to.values)[first + k - begin] = value;
    if (!to.row) continue;
    to.row[first + k - begin] = row;
    to.col[first + k - begin] = col;
  }
}

template <typename S>
__device__ inline void put(const SpmvNonzeros &to, int64_t at, int row, int col, S value)
{
  ((S *)to.values)[at] = value;
  if (!to.row) return;
  to.row[at] = row;
  to.col[at] = col;
}

template <typename S, int D>
__global__ void __launch_bounds__(THREADS) cluster_list(ClusterArrays a, SpmvNonzeros to)
{
  const ClusterHead h    = a.clusters[blockIdx.x];
  const int         lane = threadIdx.x % 32, halo = a.shape.square ? 0 : h.own;
  const uint16_t   *starts = cluster_order(a, h), *columns = cluster_index(a, h) + lane;

  for (int s = threadIdx.x / 32; s < h.slices; s += WARPS) {
    const ClusterSlice slice = a.slices[h.slice + s];
    const int          own = min(s * 32 + lane, h.own - 1), number = a.nodes[h.node + own];
    const Node         node = node_of<D>(a, h, own);

    for (int k0 = 0; k0 < slice.steps; k0++) {
      const int64_t step = h.step + slice.steps_before + k0, pair = h.pair_step + slice.pair_steps_before + k0;
      const int     place = place_of(a, step * 32 + lane), local = columns[(slice.steps_before + k0) * 32];

      if (place < 0) continue;
      const int         other = a.nodes[h.node + halo + local];
      const ClusterStep at    = cluster_step<D>(h.value, starts, slice.steps_before + k0);
      const S          *value = (const S *)a.values + at.first;

      if (to.diagonal) {
        for (int d = 0; other == number && d < D; d++)
          ((S *)to.diagonal)[number * D + d] = value[cluster_at<D>(d * D + d, lane, at.lanes)];
        continue;
      }
      for (int k = 0; k < D * D; k++)
        put(to, position<D>(node, place, k), number * D + k / D, other * D + k % D,
            value[cluster_at<D>(k, lane, at.lanes)]);
      const int mirror_place = k0 < slice.pair_steps ? mirror_place_of(a, pair, lane) : -1;
      if (mirror_place < 0) continue;
      const Node end    = node_of<D>(a, h, local);
      const S   *mirror = a.mirrors ? (const S *)a.mirrors + pair * 32 * D * D : value;
      const int  lanes  = a.mirrors ? 32 : at.lanes;

      for (int k = 0; k < D * D; k++)
        put(to, mirror_position<D>(end, mirror_place, k), other * D + k % D, number * D + k / D,
            mirror[cluster_at<D>(k, lane, lanes)]);
    }
  }
}

struct Fill {
  const ClusterPlan *plan;
  const void        *csr;
  Counts            *counts;
  SpmvExec          *exec;
  template <typename S, int D>
  SpmvStatus run() const
  {
    const ClusterArrays a                                       = cluster_arrays(plan);
    void (*const fill)(ClusterArrays, const S *, int, Counts *) = cluster_fill<S, D>;
    cudaFuncAttributes kernel;
    int                shared = 0;

    SPMV_TRY(cluster_most_shared(&shared, exec));
    SPMV_CUDA(exec, cudaFuncGetAttributes(&kernel, (const void *)fill));
    const int64_t capacity = capacity_of(plan, shared - (int64_t)kernel.sharedSizeBytes);
    const int64_t bytes    = capacity > 0 ? bytes_beside_rows(a.shape.most_own) + capacity * (int64_t)sizeof(S) : 0;
    SPMV_CUDA(exec, cudaFuncSetAttribute(cluster_fill<S, D>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    SPMV_LAUNCH(exec, (cluster_fill<S, D>), a.shape.clusters, FILL_THREADS, (size_t)bytes, a, (const S *)csr,
                (int)capacity, counts);
    SPMV_LAUNCH(exec, cluster_fill_long<S>, a.shape.long_rows, LONG_THREADS, 0, a, (const S *)csr);
    return SPMV_SUCCESS;
  }
};

struct List {
  const ClusterPlan *plan;
  SpmvNonzeros       to;
  SpmvExec          *exec;
  template <typename S, int D>
  SpmvStatus run() const
  {
    const ClusterArrays a = cluster_arrays(plan);

    SPMV_LAUNCH(exec, (cluster_list<S, D>), a.shape.clusters, THREADS, 0, a, to);
    SPMV_LAUNCH(exec, cluster_list_long<S>, a.shape.long_rows, LONG_THREADS, 0, a, to);
    return SPMV_SUCCESS;
  }
};
} // namespace

SpmvStatus cluster_device_fill(ClusterPlan *plan, const void *values, SpmvExec *exec)
{
  SpmvScopedArena scratch(exec);
  Counts         *counts = nullptr, found{0, 0, 0};

  if (plan->shape.pairs > 0) {
    SPMV_TRY(scratch.array(1, "counts of mirrors", &counts));
    SPMV_CUDA(exec, cudaMemsetAsync(counts, 0, sizeof found, (cudaStream_t)exec->stream));
  }
  SPMV_TRY(cluster_with_types(plan, Fill{plan, values, counts, exec}));
  if (plan->shape.pairs > 0) SPMV_TRY(spmv_fetch(&found, counts, sizeof found, exec));
  plan->unequal   = (int64_t)found.unequal;
  plan->far       = (int64_t)found.far;
  plan->most_ulps = found.most_ulps;
  cluster_decide_mirrors(plan);
  return SPMV_SUCCESS;
}

SpmvStatus cluster_device_list(const SpmvPlan *base, const SpmvNonzeros *to, SpmvExec *exec)
{
  const ClusterPlan *plan = (const ClusterPlan *)base;
  return cluster_with_types(plan, List{plan, *to, exec});
}
