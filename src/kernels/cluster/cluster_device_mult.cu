/*
  cluster_device_mult.cu - the product on the device.

  As many thread blocks as the multiprocessors hold go through the clusters. While a block multiplies one of them, its
  last warp fetches what is needed of the next ones to shared memory: the x and the index of the next cluster, the nodes
  and slices of the one after that, the head of the third. Values go straight to registers, some steps ahead, also
  across the end of a cluster. Each of the other warps takes as many steps of a cluster as any other, of one slice or
  several.
*/
#include "../device/overlap.cuh"
#include "../device/vector.cuh"
#include "cluster_device_share.cuh"
#include <type_traits>

namespace
{
/* The most threads of a block, and the blocks that a multiprocessor shall hold. Corrections take registers. */
constexpr int most_threads(int block, ClusterMirrors are)
{
  return block == 1 ? 288 : block == 3 && are == CLUSTER_CORRECTED ? 256 : 320;
}
constexpr int resident(int block, ClusterMirrors are)
{
  return block == 1 && are == CLUSTER_EQUAL ? 3 : block == 6 ? 1 : 2;
}

/* Adds up what the warps and other nodes have for the rows of a cluster, and writes y in ascending order */
template <typename S, int D>
__device__ inline void write_rows(const Stage<S> &stage, int n, S alpha, S beta, S *y)
{
  const ClusterHead *h        = stage.head(n);
  const S           *products = stage.products();
  const ClusterLists at       = lists_of<D>(h);
  const uint16_t    *begins = stage.index(n) + at.begins, *lists = stage.index(n) + at.lists;
  const uint16_t    *ascending = stage.order(n) + at.ascending;
  const bool         has_pairs = h->pairs > 0;

  for (int i = threadIdx.x; i < h->own * D; i += blockDim.x) {
    const int        lane = ascending[i / D], r = i % D, end = has_pairs ? begins[lane + 1] : 0;
    const SliceWarps warps = stage.warps()[lane / 32];
    const S         *part  = stage.sums(lane / 32, warps.first) + lane % 32 * D + r;
    S                sum   = *part;

    for (int w = warps.first; w < warps.last; w++) sum += *(part += stage.at.sum);
#pragma unroll 4
    for (int q = has_pairs ? begins[lane] : 0; q < end; q++) sum += products[lists[q] + r * stage.at.plane];
    S *to = y + (int64_t)stage.nodes(n)[lane] * D + r;
    *to   = spmv_axpby(alpha, sum, beta, to);
  }
}

/* Values are of type V, which is S, or float for rounded values */
template <typename S, typename V, int D, ClusterMirrors ARE>
__global__ void __launch_bounds__(most_threads(D, ARE), spmv_resident_blocks(most_threads(D, ARE), resident(D, ARE)))
    cluster_mult(const ClusterArrays a, const ClusterStage at, const S *x, S *y, S alpha, S beta)
{
  SPMV_DYNAMIC_SHARED(memory);
  const Stage<S>    stage{memory, at};
  const int         warp = threadIdx.x / 32, multiply = blockDim.x / 32 - 1; /* as many warps do */
  const Crew        all{(int)threadIdx.x, (int)blockDim.x}, last_warp{(int)threadIdx.x % 32, 32};
  const Part        part{warp, multiply};
  const int64_t     every = gridDim.x;
  int               n     = 0;
  Flight<V, D, ARE> flight;

  spmv_let_next_begin();
  for (int i = 0; i < HEADS - 1; i++) fetch_head(all, a, stage, blockIdx.x + i * every, i);
  spmv_async_wait();
  __syncthreads();
  for (int i = 0; i < LISTS - 1; i++) fetch_lists<S, D>(all, a, stage, blockIdx.x + i * every, i);
  spmv_async_wait();
  __syncthreads();
  if (warp < multiply) begin_share<S, V, D>(a, stage, 0, part, flight);
  spmv_wait_for_previous(x, y);
  fetch_x<S, D>(all, a, stage, blockIdx.x, 0, x);
  for (int64_t c = blockIdx.x; c < a.shape.clusters; c += every, n++) {
    spmv_async_wait();
    __syncthreads(); /* all that was fetched is there, and nobody uses what was there before it */
    if (warp == multiply) {
      fetch_x<S, D>(last_warp, a, stage, c + every, n + 1, x);
      fetch_lists<S, D>(last_warp, a, stage, c + 2 * every, n + 2);
      fetch_head(last_warp, a, stage, c + 3 * every, n + 3);
    } else {
      multiply_share<S, V, D>(a, stage, n, part, flight);
      if (c + every < a.shape.clusters) begin_share<S, V, D>(a, stage, n + 1, part, flight);
    }
    __syncthreads(); /* sums and products are there */
    write_rows<S, D>(stage, n, alpha, beta, y);
  }
}

enum { LONG_THREADS = 256 };

/* One thread block for each long row */
template <typename S, typename V>
__global__ void __launch_bounds__(LONG_THREADS)
    cluster_mult_long(const ClusterArrays a, const S *x, S *y, S alpha, S beta)
{
  const int64_t begin = a.long_begin[blockIdx.x], end = a.long_begin[blockIdx.x + 1];
  const int32_t row = a.long_columns[a.shape.long_nnz + blockIdx.x];
  S             sum = 0;

  spmv_let_next_begin();
  spmv_wait_for_previous(x, y);
  for (int64_t k = begin + threadIdx.x; k < end; k += LONG_THREADS)
    sum += (S)__ldcs((const V *)a.long_values + k) * __ldca(x + a.long_columns[k]);
  sum = spmv_add_block<LONG_THREADS>(sum);
  if (threadIdx.x == 0) y[row] = spmv_axpby(alpha, sum, beta, y + row);
}

/* Lets a kernel have as much shared memory as the device has, and counts the blocks that are resident with `bytes` */
template <typename Kernel>
SpmvStatus count_blocks(Kernel kernel, int threads, int bytes, int *blocks, SpmvExec *exec)
{
  int device = 0, most = 0, multiprocessors = 0, each = 0;

  SPMV_CUDA(exec, cudaGetDevice(&device));
  SPMV_CUDA(exec, cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  SPMV_CUDA(exec, cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  SPMV_CUDA(exec, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  SPMV_CUDA(exec, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, (size_t)bytes));
  *blocks = multiprocessors * (each > 0 ? each : 1);
  return SPMV_SUCCESS;
}

/* Counts the blocks of all products of a plan */
struct Prepare {
  ClusterPlan *plan;
  SpmvExec    *exec;

  template <typename S, int D>
  SpmvStatus run() const
  {
    SPMV_TRY((count<S, S, D, CLUSTER_EQUAL>(plan->blocks)));
    SPMV_TRY((count<S, S, D, CLUSTER_CORRECTED>(plan->blocks)));
    SPMV_TRY((count<S, S, D, CLUSTER_FULL>(plan->blocks)));
    if (plan->base.scalar_type == SPMV_F32) return SPMV_SUCCESS;
    SPMV_TRY((count<S, float, D, CLUSTER_EQUAL>(plan->blocks_rounded)));
    return count<S, float, D, CLUSTER_FULL>(plan->blocks_rounded);
  }
  template <typename S, typename V, int D, ClusterMirrors ARE>
  SpmvStatus count(int *blocks) const
  {
    return count_blocks(cluster_mult<S, V, D, ARE>, cluster_threads(&plan->shape, ARE),
                        cluster_stage(&plan->shape, plan->base.scalar_type).bytes, &blocks[ARE], exec);
  }
};

struct Mult {
  const ClusterPlan  *plan;
  const ClusterArrays a; /* of the plan, or with rounded values */
  ClusterMirrors      are;
  const int          *blocks;
  const void         *alpha, *x, *beta;
  void               *y;
  SpmvExec           *exec;

  template <typename S, int D>
  SpmvStatus run() const
  {
    return run_with<S, S, D>();
  }
  template <typename S, typename V, int D>
  SpmvStatus run_with() const
  {
    if (are == CLUSTER_EQUAL) SPMV_TRY((launch<S, V, D, CLUSTER_EQUAL>()));
    else if (are == CLUSTER_FULL) SPMV_TRY((launch<S, V, D, CLUSTER_FULL>()));
    else if constexpr (std::is_same_v<S, V>) SPMV_TRY((launch<S, V, D, CLUSTER_CORRECTED>()));
    SPMV_LAUNCH_OVERLAPPED(exec, (cluster_mult_long<S, V>), a.shape.long_rows, LONG_THREADS, 0, a, (const S *)x, (S *)y,
                           *(const S *)alpha, *(const S *)beta);
    return SPMV_SUCCESS;
  }
  template <typename S, typename V, int D, ClusterMirrors ARE>
  SpmvStatus launch() const
  {
    const ClusterStage at      = cluster_stage(&a.shape, plan->base.scalar_type);
    const int64_t      count   = min((int64_t)blocks[ARE], a.shape.clusters);
    const int          threads = cluster_threads(&a.shape, ARE);

    SPMV_LAUNCH_OVERLAPPED(exec, (cluster_mult<S, V, D, ARE>), count, threads, (size_t)at.bytes, a, at, (const S *)x,
                           (S *)y, *(const S *)alpha, *(const S *)beta);
    return SPMV_SUCCESS;
  }
};

/* Rounded values are in single precision whatever the type of x and y */
struct MultRounded : Mult {
  template <typename S, int D>
  SpmvStatus run() const
  {
    return run_with<S, float, D>();
  }
};

/* How many rounded values there are of each kind, in the order in which they lie. One value stands for both of a pair
   where a correction would have told them apart: they are closer to each other than rounding moves them. */
struct RoundedParts {
  int64_t values, long_values, mirrors;

  RoundedParts(const ClusterPlan *p)
      : values(p->shape.value_lanes * p->shape.block * p->shape.block), long_values((p->shape.long_nnz + 3) / 4 * 4),
        mirrors(p->far > 0 && !p->shape.declared
                    ? p->shape.pair_steps * p->shape.lanes * p->shape.block * p->shape.block
                    : 0)
  {
  }
};
} // namespace

int cluster_threads(const ClusterShape *s, ClusterMirrors are)
{
  const int64_t threads = s->most_slices * (s->block == 1 ? 32 : 64) + 32; /* one warp fetches */
  const int64_t most    = most_threads(s->block, are);
  return (int)(threads > most ? most : threads < 64 ? 64 : threads);
}

ClusterStage cluster_stage(const ClusterShape *s, SpmvScalar scalar)
{
  const int64_t S = spmv_scalar_bytes(scalar), D = s->block;
  ClusterStage  at;
  int64_t       next = 0;
  const auto    take = [&next](int copies, int bytes) {
    const int64_t place = next;
    next += (int64_t)copies * bytes;
    return (int)(place < INT32_MAX / 2 ? place : INT32_MAX / 2);
  };

  at.plane       = (int)(s->most_products > 0 ? s->most_products : 1);
  at.sum         = (int)(32 * D);
  at.x_bytes     = aligned((s->most_x + 1) * D * S);
  at.slice_bytes = aligned(s->most_slices * (int64_t)sizeof(ClusterSlice));
  at.node_bytes  = aligned(s->most_listed * 4);
  at.order_bytes = aligned(s->most_order * CLUSTER_UNIT * (int)sizeof(uint16_t));
  at.index_bytes = aligned(s->most_index * CLUSTER_UNIT * (int)sizeof(uint16_t));
  at.x           = take(2, at.x_bytes);
  at.products    = take(1, aligned(at.plane * D * S));
  at.sums        = take((int)(s->most_slices + cluster_threads(s, CLUSTER_EQUAL) / 32 - 2), aligned(at.sum * S));
  at.warps       = take(1, aligned(s->most_slices * (int64_t)sizeof(SliceWarps)));
  at.heads       = take(HEADS, 2 * (int)sizeof(ClusterHead));
  at.slices      = take(LISTS, at.slice_bytes);
  at.nodes       = take(LISTS, at.node_bytes);
  at.order       = take(LISTS, at.order_bytes);
  at.index       = take(2, at.index_bytes);
  at.bytes       = next < INT32_MAX / 2 ? (int)next : INT32_MAX / 2;
  return at;
}

SpmvStatus cluster_device_prepare(ClusterPlan *plan, SpmvExec *exec)
{
  return cluster_with_types(plan, Prepare{plan, exec});
}

SpmvStatus cluster_device_mult(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                               void *work, SpmvExec *exec)
{
  const ClusterPlan *p = (const ClusterPlan *)base;

  (void)work;
  return cluster_with_types(p, Mult{p, cluster_arrays(p), p->mirrors_are, p->blocks, alpha, x, beta, y, exec});
}

int64_t cluster_rounded_count(const SpmvPlan *base)
{
  const RoundedParts parts((const ClusterPlan *)base);
  return parts.values + parts.long_values + parts.mirrors;
}

SpmvStatus cluster_device_round(const SpmvPlan *base, float *rounded, SpmvExec *exec)
{
  const ClusterPlan *p = (const ClusterPlan *)base;
  const RoundedParts parts(p);

  SPMV_TRY(spmv_device_round((const double *)p->values, rounded, parts.values, exec));
  SPMV_TRY(spmv_device_round((const double *)p->long_values, rounded + parts.values, p->shape.long_nnz, exec));
  return spmv_device_round((const double *)p->mirrors, rounded + parts.values + parts.long_values, parts.mirrors, exec);
}

SpmvStatus cluster_device_mult_rounded(const SpmvPlan *base, const float *rounded, const void *alpha, const void *x,
                                       const void *beta, void *y, void *work, SpmvExec *exec)
{
  const ClusterPlan   *p = (const ClusterPlan *)base;
  const RoundedParts   parts(p);
  const ClusterMirrors are = parts.mirrors > 0 ? CLUSTER_FULL : CLUSTER_EQUAL;
  ClusterArrays        a   = cluster_arrays(p);

  (void)work;
  a.values      = (void *)rounded;
  a.long_values = (void *)(rounded + parts.values);
  a.mirrors     = (void *)(rounded + parts.values + parts.long_values);
  return cluster_with_block<double>(p, MultRounded{{p, a, are, p->blocks_rounded, alpha, x, beta, y, exec}});
}
