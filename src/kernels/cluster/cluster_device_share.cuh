/* cluster_device_share.cuh - what a warp multiplies of a cluster: its share of the steps. */
#ifndef SPMV_CLUSTER_DEVICE_SHARE_CUH
#define SPMV_CLUSTER_DEVICE_SHARE_CUH

#include "cluster_device_block.cuh"
#include "cluster_device_stage.cuh"

namespace
{
/* The part of the steps of each cluster that a warp takes, from one of so many to another */
struct Part {
  enum { OF = 1 << 16 };
  unsigned from, to;

  __device__ Part(int warp, int warps) : from((unsigned)(warp * OF / warps)), to((unsigned)((warp + 1) * OF / warps)) {}
};

/* The steps of a cluster that a warp takes. Each warp takes as many as any other, so that none waits for another: they
   may belong to several slices, and a slice to several warps. */
struct Share {
  int first, end;

  __device__ Share(const ClusterHead *h, const Part &part)
  {
    const unsigned steps = (unsigned)(h[1].step - h->step);

    first = (int)(steps * part.from / Part::OF);
    end   = (int)(steps * part.to / Part::OF);
  }
};

/* The slice that a step belongs to; the lanes of a warp look at one each, so that they must ask together */
__device__ inline SliceCursor slice_of(const ClusterSlice *slices, int count, int step)
{
  static_assert(CLUSTER_MOST_NODES / CLUSTER_DEVICE_LANES <= 32, "a lane for each slice");
  const int   lane = threadIdx.x % 32, mine = min(lane, count - 1);
  const bool  is_before = lane < count && slices[mine].steps_before + slices[mine].steps <= step;
  SliceCursor at;

  at.set(slices, __popc(__ballot_sync(0xffffffffu, is_before)));
  return at;
}

/* The blocks of the next steps of a thread, and what it loads behind them */
template <typename V, int D, ClusterMirrors ARE>
struct Flight {
  Block<V, D, ARE>  block[AHEAD<V, D, ARE> / TOGETHER<D>][TOGETHER<D>];
  Source<V, D, ARE> source;
};

/* Begins the first loads of a share, as many as a thread keeps in flight */
template <typename S, typename V, int D, ClusterMirrors ARE>
__device__ inline void begin_share(const ClusterArrays &a, const Stage<S> &stage, int n, const Part &part,
                                   Flight<V, D, ARE> &flight)
{
  const ClusterHead  *h      = stage.head(n);
  const ClusterSlice *slices = stage.slices(n);
  const Share         share  = Share(h, part);
  const int           lane   = threadIdx.x % 32;

  if (share.first == share.end) return;
  flight.source.begin(a, *h, stage.collect(n), share.first, lane);
  if (ARE != CLUSTER_EQUAL) {
    const SliceCursor at = slice_of(slices, h->slices, share.first);
    flight.source.begin_mirrors(a, h->pair_step + pair_steps_before(slices[at.slice], share.first), at, lane);
  }
#pragma unroll
  for (int u = 0; u < AHEAD<V, D, ARE>; u++) {
    if (share.first + u < share.end)
      flight.block[u / TOGETHER<D>][u % TOGETHER<D>].load(flight.source, slices, share.first, u, lane);
  }
}

/* sum += the block times the x of its column */
template <typename S, typename V, int D>
__device__ inline void add_product(const V (&v)[D * D], const S (&x)[D], S (&sum)[D])
{
#pragma unroll
  for (int c = 0; c < D; c++) {
#pragma unroll
    for (int r = 0; r < D; r++) sum[r] += (S)v[r * D + c] * x[c];
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
  Share               share;
  int                 lane, plane, last_own, pair_step; /* the next one with pairs, of the cluster */
  const uint16_t     *columns;                          /* of this lane in the first step of the cluster, as products */
  const S            *x;
  S                  *products;
  const ClusterSlice *slices;
  SliceCursor         at;
  S                   sum[D], own[D];

  /* The warp has come to its first step of a slice */
  __device__ void enter_slice(const Stage<S> &stage, int step)
  {
    const int node = min(at.slice * 32 + lane, last_own);

    if (lane == 0 && (step > share.first || step == slices[at.slice].steps_before))
      stage.warps()[at.slice].first = (unsigned char)(threadIdx.x / 32);
#pragma unroll
    for (int r = 0; r < D; r++) {
      sum[r] = S(0);
      own[r] = x[node * D + r];
    }
  }
  /* ... and is done with it, or with its share, before another step */
  __device__ void leave_slice(const Stage<S> &stage, int step)
  {
    S *to = stage.sums(at.slice, threadIdx.x / 32) + lane * D;

    if (lane == 0 && step == at.end) stage.warps()[at.slice].last = (unsigned char)(threadIdx.x / 32);
#pragma unroll
    for (int r = 0; r < D; r++) to[r] = sum[r];
  }
};

/* Multiplies COUNT steps from step k on, as far as the share goes, and loads as many behind those in flight. What
   several steps read from shared memory is on its way at the same time. */
template <int COUNT, typename S, typename V, int D, ClusterMirrors ARE>
__device__ inline void multiply_steps(const ClusterArrays &a, const Stage<S> &stage, int n, Steps<S, D> &s, int k,
                                      Block<V, D, ARE> (&block)[COUNT], Source<V, D, ARE> &source)
{
  int column[COUNT];
  S   x[COUNT][D];

#pragma unroll
  for (int i = 0; i < COUNT; i++) column[i] = k + i < s.share.end ? s.columns[(k + i) * 32] * D : 0;
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
#pragma unroll
    for (int c = 0; c < D; c++) x[i][c] = s.x[column[i] + c];
  }
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    if (k + i >= s.share.end) continue;
    if (k + i >= s.at.end) {
      s.leave_slice(stage, k + i);
      s.at.move_to(s.slices, k + i);
      s.enter_slice(stage, k + i);
    }
    const bool keeps = k + i < s.at.pairs_end;
    S         *to    = s.products + s.pair_step * 32;

    s.pair_step += keeps;
    if (!block[i].is_there()) continue;
    add_product<S, V, D>(block[i].v, x[i], s.sum);
    if (!keeps) continue;
    if (block[i].has_far_mirror()) {
      const V *far = (const V *)a.mirrors + (stage.head(n)->pair_step + s.pair_step - 1) * 32 * D * D;
      leave_product<S, V, D, ARE>(block[i], far, s.lane, s.own, to, s.plane);
    } else leave_product<S, V, D, ARE>(block[i], nullptr, s.lane, s.own, to, s.plane);
  }
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    if (k + i + AHEAD<V, D, ARE> < s.share.end) block[i].load(source, s.slices, k, i + AHEAD<V, D, ARE>, s.lane);
  }
}

/* A warp without a step, because the cluster has fewer steps than warps, may be between those of a slice */
template <typename S, int D>
__device__ inline void leave_nothing(const Stage<S> &stage, int n, int step)
{
  const ClusterHead *h = stage.head(n);
  if (step == h[1].step - h->step) return;
  S *to = stage.sums(slice_of(stage.slices(n), h->slices, step).slice, threadIdx.x / 32);

  for (int i = threadIdx.x % 32; i < 32 * D; i += 32) to[i] = S(0);
}

/* Multiplies a share, whose first loads have begun */
template <typename S, typename V, int D, ClusterMirrors ARE>
__device__ inline void multiply_share(const ClusterArrays &a, const Stage<S> &stage, int n, const Part &part,
                                      Flight<V, D, ARE> &flight)
{
  const ClusterHead *h     = stage.head(n);
  const Share        share = Share(h, part);
  if (share.first == share.end) return leave_nothing<S, D>(stage, n, share.first);
  const int         lane = in_register(threadIdx.x % 32);
  const SliceCursor at   = slice_of(stage.slices(n), h->slices, share.first);
  Steps<S, D>       s    = {share,
                            lane,
                            stage.at.plane,
                            h->own - 1,
                            pair_steps_before(stage.slices(n)[at.slice], share.first),
                            stage.columns(n) + lane,
                            (const S *)(stage.memory + in_register(stage.at.x + n % 2 * stage.at.x_bytes)),
                            stage.products() + lane,
                            stage.slices(n),
                            at};

  s.enter_slice(stage, share.first);
  for (int k = share.first; k < share.end; k += AHEAD<V, D, ARE>) {
#pragma unroll
    for (int g = 0; g < AHEAD<V, D, ARE> / TOGETHER<D>; g++)
      multiply_steps(a, stage, n, s, k + g * TOGETHER<D>, flight.block[g], flight.source);
  }
  s.leave_slice(stage, share.end);
}

} // namespace

#endif
