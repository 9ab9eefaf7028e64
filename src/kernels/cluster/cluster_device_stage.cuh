/* cluster_device_stage.cuh - what a thread block has in shared memory, and how it is fetched while others multiply. */
#ifndef SPMV_CLUSTER_DEVICE_STAGE_CUH
#define SPMV_CLUSTER_DEVICE_STAGE_CUH

#include "../device/async.cuh"
#include "cluster_device.cuh"

namespace
{
enum { ALIGN = 16, HEADS = 4, LISTS = 3, SIDE_BY_SIDE = 4 };

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
  __device__ uint16_t *order(int n) const { return (uint16_t *)(memory + at.order + n % LISTS * at.order_bytes); }
  __device__ uint16_t *index(int n) const { return (uint16_t *)(memory + at.index + n % 2 * at.index_bytes); }
};

/* The threads that fetch together, and which of them this one is */
struct Crew {
  int thread, threads;
};

/* A crew copies `count` T */
template <typename T>
__device__ inline void copy_all(const Crew &crew, T *to, const T *from, int count)
{
#pragma unroll 4
  for (int i = crew.thread; i < count; i += crew.threads) spmv_async_copy(to + i, from + i);
}

/* Where the lists of a cluster are; h[1] is the head behind it */
template <int D>
__device__ inline ClusterLists lists_of(const ClusterHead *h)
{
  return cluster_lists(D, h[1].step - h->step, h->own, h->pairs);
}

/* As many copies of 16 bytes as so many numbers of 16 bits take */
__device__ inline int units(int numbers) { return (numbers + CLUSTER_UNIT - 1) / CLUSTER_UNIT; }

/* The head of a cluster and the one behind it, which says where it ends */
template <typename S>
__device__ inline void fetch_head(const Crew &crew, const ClusterArrays &a, const Stage<S> &stage, int64_t cluster,
                                  int n)
{
  if (cluster < a.shape.clusters)
    copy_all(crew, (int4 *)stage.head(n), (const int4 *)(a.clusters + cluster),
             2 * (int)(sizeof(ClusterHead) / sizeof(int4)));
}

/* What a cluster needs before its x can be fetched and its first values be asked for */
template <typename S, int D>
__device__ inline void fetch_lists(const Crew &crew, const ClusterArrays &a, const Stage<S> &stage, int64_t cluster,
                                   int n)
{
  if (cluster >= a.shape.clusters) return;
  const ClusterHead *h = stage.head(n);

  copy_all(crew, (int *)stage.slices(n), (const int *)(a.slices + h->slice),
           h->slices * (int)(sizeof(ClusterSlice) / 4));
  copy_all(crew, (int4 *)stage.nodes(n), (const int4 *)(a.nodes + h->node),
           (int)(h[1].node - h->node) / CLUSTER_NODES_UNIT);
  copy_all(crew, (int4 *)stage.order(n), (const int4 *)cluster_order(a, *h), units(lists_of<D>(h).order_count));
}

/* Copies the x of `count` nodes to `to`, that of the i-th one being x[node(i) * D]. So many copies of a thread begin
   one behind the other: their nodes are read before, since no read passes the beginning of a copy. */
template <typename S, int D, typename Node, typename Place>
__device__ inline void copy_x(const Crew &crew, S *to, const S *x, int count, const Node &node, const Place &place)
{
  for (int i = crew.thread; i < count * D; i += SIDE_BY_SIDE * crew.threads) {
    int from[SIDE_BY_SIDE], at[SIDE_BY_SIDE];

#pragma unroll
    for (int u = 0; u < SIDE_BY_SIDE; u++) {
      const int k = i + u * crew.threads;
      if (k >= count * D) continue;
      at[u]   = place(k / D);
      from[u] = node(at[u]);
    }
#pragma unroll
    for (int u = 0; u < SIDE_BY_SIDE; u++) {
      const int k = i + u * crew.threads;
      if (k < count * D) spmv_async_copy(to + at[u] * D + k % D, x + (int64_t)from[u] * D + k % D);
    }
  }
}

/* The x of a cluster, with zeros behind it, and its index. That of own nodes is read in ascending order, so that a warp
   touches few sectors, and goes to the places of the lanes. */
template <typename S, int D>
__device__ inline void fetch_x(const Crew &crew, const ClusterArrays &a, const Stage<S> &stage, int64_t cluster, int n,
                               const S *x)
{
  if (cluster >= a.shape.clusters) return;
  const ClusterHead *h     = stage.head(n);
  const ClusterLists lists = lists_of<D>(h);
  const int32_t     *nodes = stage.nodes(n), *halo = nodes + h->own;
  const uint16_t    *ascending = stage.order(n) + lists.ascending;
  const int          own       = a.shape.square ? h->own : 0;
  S                 *to        = stage.x(n);

  copy_x<S, D>(
      crew, to, x, own, [&](int lane) { return nodes[lane]; }, [&](int k) { return ascending[k]; });
  copy_x<S, D>(
      crew, to + own * D, x, h->halo, [&](int k) { return halo[k]; }, [&](int k) { return k; });
  if (crew.thread < D) to[(own + h->halo) * D + crew.thread] = S(0);
  copy_all(crew, (int4 *)stage.index(n), (const int4 *)cluster_index(a, *h), units(lists.index_count));
}

} // namespace

#endif
