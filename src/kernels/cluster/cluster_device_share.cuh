/* cluster_device_share.cuh - what a warp multiplies of a cluster: the steps of a slice, or a part of them. */
#ifndef SPMV_CLUSTER_DEVICE_SHARE_CUH
#define SPMV_CLUSTER_DEVICE_SHARE_CUH

#include "cluster_device_block.cuh"
#include "cluster_device_stage.cuh"

namespace
{
/* The steps of a slice that a warp takes, and their first values */
struct Share {
  int first, end;
  int slice;
};

template <typename S, int D>
__device__ inline Share share_of(const Stage<S> &stage, int n, int item)
{
  constexpr int       parts = parts_of(D);
  const int           slice = item / parts, part = item % parts;
  const ClusterSlice &s = stage.slices(n)[slice];

  return {s.steps * part / parts, s.steps * (part + 1) / parts, slice};
}

/* The blocks of the next steps of a thread, and what it loads behind them */
template <typename V, int D, ClusterMirrors ARE>
struct Flight {
  Block<V, D, ARE>  block[AHEAD<V, D, ARE> / TOGETHER<D>][TOGETHER<D>];
  Source<V, D, ARE> source;
};

/* Begins the first loads of a share, as many as a thread keeps in flight */
template <typename S, typename V, int D, ClusterMirrors ARE>
__device__ inline void begin_share(const ClusterArrays &a, const Stage<S> &stage, int n, int item,
                                   Flight<V, D, ARE> &flight)
{
  const ClusterHead *h = stage.head(n);
  if (item >= h->slices * parts_of(D)) return;
  const Share        share = share_of<S, D>(stage, n, item);
  const ClusterSlice s     = stage.slices(n)[share.slice];
  const int          lane  = threadIdx.x % 32;

  flight.source.begin(a, *h, stage.collect(n) + s.steps_before, h->pair_step + s.pair_steps_before, share.first, lane);
#pragma unroll
  for (int u = 0; u < AHEAD<V, D, ARE>; u++) {
    const int k = share.first + u;
    if (k < share.end)
      flight.block[u / TOGETHER<D>][u % TOGETHER<D>].load(flight.source, share.first, u, k < s.pair_steps, lane);
  }
}

/* sum += the block times the x of its column */
template <typename S, typename V, int D>
__device__ inline void add_product(const V (&v)[D * D], const S *x, S (&sum)[D])
{
#pragma unroll
  for (int c = 0; c < D; c++) {
    const S xc = x[c];
#pragma unroll
    for (int r = 0; r < D; r++) sum[r] += (S)v[r * D + c] * xc;
  }
}

/* Leaves the transposed product of a pair where the other end finds it; far: Block::mirror() */
template <typename S, typename V, int D, ClusterMirrors ARE>
__device__ inline void leave_product(const Block<V, D, ARE> &block, const V *far, int lane, const S (&own)[D], S *to,
                                     int plane)
{
#pragma unroll
  for (int c = 0; c < D; c++) {
    S product = (S)block.mirror(far, c, lane) * own[0];
#pragma unroll
    for (int r = 1; r < D; r++) product += (S)block.mirror(far, r * D + c, lane) * own[r];
    to[c * plane] = product;
  }
}

/* What a thread needs for the steps of its share, beside the blocks in flight */
template <typename S, int D>
struct Steps {
  int             end, pairs_end, lane, plane; /* of the steps, and of those with pairs */
  int64_t         pair_step;                   /* the first one of the slice, of all */
  const uint16_t *columns;                     /* of this lane in the first step of the slice, as products */
  const S        *x;
  S              *products;
  S               sum[D], own[D];
};

/* Multiplies COUNT steps from step k on, as far as the share goes, and loads as many behind those in flight. What
   several steps read from shared memory is on its way at the same time. */
template <int COUNT, typename S, typename V, int D, ClusterMirrors ARE>
__device__ inline void multiply_steps(const ClusterArrays &a, Steps<S, D> &s, int k, Block<V, D, ARE> (&block)[COUNT],
                                      Source<V, D, ARE> &source)
{
  int column[COUNT];

#pragma unroll
  for (int i = 0; i < COUNT; i++) column[i] = k + i < s.end ? s.columns[(k + i) * 32] * D : 0;
#pragma unroll
  for (int i = 0; i < COUNT; i++)
    if (k + i < s.end && block[i].is_there()) add_product<S, V, D>(block[i].v, s.x + column[i], s.sum);
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    S *to = s.products + (k + i) * 32;

    if (k + i >= s.pairs_end || !block[i].is_there()) continue;
    if (block[i].has_far_mirror()) {
      const V *far = (const V *)a.mirrors + (s.pair_step + k + i) * 32 * D * D;
      leave_product<S, V, D, ARE>(block[i], far, s.lane, s.own, to, s.plane);
    } else leave_product<S, V, D, ARE>(block[i], nullptr, s.lane, s.own, to, s.plane);
  }
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    const int later = k + i + AHEAD<V, D, ARE>;
    if (later < s.end) block[i].load(source, k, i + AHEAD<V, D, ARE>, later < s.pairs_end, s.lane);
  }
}

/* Multiplies a share, whose first loads have begun */
template <typename S, typename V, int D, ClusterMirrors ARE>
__device__ inline void multiply_share(const ClusterArrays &a, const Stage<S> &stage, int n, int item,
                                      Flight<V, D, ARE> &flight)
{
  const Share        share = share_of<S, D>(stage, n, item);
  const ClusterSlice slice = stage.slices(n)[share.slice];
  const ClusterHead *h     = stage.head(n);
  const int          lane = in_register(threadIdx.x % 32), node = min(share.slice * 32 + lane, h->own - 1);
  Steps<S, D>        s = {share.end,
                          min((int)slice.pair_steps, share.end),
                          lane,
                          stage.at.plane,
                          h->pair_step + slice.pair_steps_before,
                          stage.columns(n) + slice.steps_before * 32 + lane,
                          (const S *)(stage.memory + in_register(stage.at.x + n % 2 * stage.at.x_bytes)),
                          stage.products() + slice.pair_steps_before * 32 + lane};

#pragma unroll
  for (int r = 0; r < D; r++) {
    s.sum[r] = S(0);
    s.own[r] = slice.pair_steps > 0 ? s.x[node * D + r] : S(0);
  }
  for (int k = share.first; k < share.end; k += AHEAD<V, D, ARE>) {
#pragma unroll
    for (int g = 0; g < AHEAD<V, D, ARE> / TOGETHER<D>; g++)
      multiply_steps(a, s, k + g * TOGETHER<D>, flight.block[g], flight.source);
  }
  S *to = stage.sums() + item % parts_of(D) * stage.at.sum_part + (share.slice * 32 + lane) * D;
#pragma unroll
  for (int r = 0; r < D; r++) to[r] = s.sum[r];
}

} // namespace

#endif
