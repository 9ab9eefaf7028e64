/* cluster_device_stage.cuh - what a thread block has in shared memory, and how it is fetched while others multiply. */
#ifndef SPMV_CLUSTER_DEVICE_STAGE_CUH
#define SPMV_CLUSTER_DEVICE_STAGE_CUH

#include "../device/async.cuh"
#include "cluster_device.cuh"

namespace
{
enum { ALIGN = 16, HEADS = 4, LISTS = 3, SIDE_BY_SIDE = 3 };

constexpr int aligned(int64_t bytes) { return (int)((bytes + ALIGN - 1) / ALIGN * ALIGN); }

/* The warps that multiply steps of a slice, from the first to the last one */
struct SliceWarps {
  unsigned char first, last;
};

/* What a thread block has in shared memory; n counts the clusters that it has begun */
template <typename S>
struct Stage {
  unsigned char *memory;
  ClusterStage   at;

  __device__ S *x(int n) const { return (S *)(memory + at.x + n % 2 * at.x_bytes); }
  __device__ S *products() const { return (S *)(memory + at.products); }
  /* of a slice, by one warp: going through the steps, either number rises, so that no two have the same sum */
  __device__ S            *sums(int slice, int warp) const { return (S *)(memory + at.sums) + (slice + warp) * at.sum; }
  __device__ SliceWarps   *warps() const { return (SliceWarps *)(memory + at.warps); }
  __device__ ClusterHead  *head(int n) const { return (ClusterHead *)(memory + at.heads) + n % HEADS * 2; }
  __device__ ClusterSlice *slices(int n) const
  {
    return (ClusterSlice *)(memory + at.slices + n % LISTS * at.slice_bytes);
  }
  __device__ int32_t  *nodes(int n) const { return (int32_t *)(memory + at.nodes + n % LISTS * at.node_bytes); }
  __device__ uint16_t *columns(int n) const { return (uint16_t *)(memory + at.columns + n % 2 * at.column_bytes); }
  __device__ uint16_t *collect(int n) const { return (uint16_t *)(memory + at.collect + n % LISTS * at.collect_bytes); }
};

/* The threads of a block copy `count` T */
template <typename T>
__device__ inline void copy_all(T *to, const T *from, int count)
{
  for (int i = threadIdx.x; i < count; i += blockDim.x) spmv_async_copy(to + i, from + i);
}

/* The head of a cluster and the one behind it, which says where it ends */
template <typename S>
__device__ inline void fetch_head(const ClusterArrays &a, const Stage<S> &stage, int64_t cluster, int n)
{
  if (cluster < a.shape.clusters)
    copy_all((int4 *)stage.head(n), (const int4 *)(a.clusters + cluster),
             2 * (int)(sizeof(ClusterHead) / sizeof(int4)));
}

template <typename S>
__device__ inline void fetch_lists(const ClusterArrays &a, const Stage<S> &stage, int64_t cluster, int n)
{
  if (cluster >= a.shape.clusters) return;
  const ClusterHead *h = stage.head(n);

  copy_all((int *)stage.slices(n), (const int *)(a.slices + h->slice), h->slices * (int)(sizeof(ClusterSlice) / 4));
  copy_all((int *)stage.nodes(n), a.nodes + h->node, h->own + h->halo);
  copy_all((int4 *)stage.collect(n), (const int4 *)(a.collect + h->collect_step * 8),
           (int)(h[1].collect_step - h->collect_step));
}

/* The x of a cluster, with zeros behind it, and its columns */
template <typename S, int D>
__device__ inline void fetch_x(const ClusterArrays &a, const Stage<S> &stage, int64_t cluster, int n, const S *x)
{
  if (cluster >= a.shape.clusters) return;
  const ClusterHead *h     = stage.head(n);
  const int32_t     *nodes = stage.nodes(n) + (a.shape.square ? 0 : h->own);
  const int          count = (h->halo + (a.shape.square ? h->own : 0)) * D;
  S                 *to    = stage.x(n);

  for (int i = threadIdx.x; i < count; i += SIDE_BY_SIDE * blockDim.x) {
    int node[SIDE_BY_SIDE]; /* read before the first copy begins, which no read may pass */

#pragma unroll
    for (int u = 0; u < SIDE_BY_SIDE; u++) node[u] = nodes[min(i + u * (int)blockDim.x, count - 1) / D];
#pragma unroll
    for (int u = 0; u < SIDE_BY_SIDE; u++) {
      const int at = i + u * blockDim.x;
      if (at < count) spmv_async_copy(to + at, x + (int64_t)node[u] * D + at % D);
    }
  }
  if (threadIdx.x < D) to[count + threadIdx.x] = S(0);
  copy_all((int4 *)stage.columns(n), (const int4 *)(a.columns + h->step * 32), (int)(h[1].step - h->step) * 4);
}

} // namespace

#endif
