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
  Block<V, D, ARE>  block[AHEAD<V, D, ARE>];
  Source<V, D, ARE> source;
};

/* Loads the next steps, from step k on, as far as the share goes. All loads of a thread count down one counter, so
   that a wait for one of them is a wait for those behind it too. Therefore a thread multiplies all that it has loaded
   before it loads anew; and values come first, where the compiler has it wait until nothing is on its way. */
template <typename V, int D, ClusterMirrors ARE>
__device__ inline void load_steps(Flight<V, D, ARE> &flight, const ClusterSlice *slices, int k, int end, int lane)
{
#pragma unroll
  for (int i = 0; i < AHEAD<V, D, ARE>; i++) flight.block[i].settle();
#pragma unroll
  for (int i = 0; i < AHEAD<V, D, ARE>; i++) {
    if (k + i >= end) break;
    flight.block[i].load(flight.source, k, i, lane);
  }
#pragma unroll
  for (int i = 0; ARE != CLUSTER_EQUAL && i < AHEAD<V, D, ARE>; i++) {
    if (k + i >= end) break;
    flight.block[i].load_mirrors(flight.source, slices, k + i, lane);
  }
}

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
  flight.source.begin(a, *h, stage.order(n), share.first, lane);
  if (ARE != CLUSTER_EQUAL) {
    const SliceCursor at = slice_of(slices, h->slices, share.first);
    flight.source.begin_mirrors(a, h->pair_step + pair_steps_before(slices[at.slice], share.first), at, lane);
  }
  load_steps(flight, slices, share.first, share.end, lane);
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
  int                 lane, plane, last_own;
  const uint16_t     *columns; /* of this lane in the first step of the cluster, as products */
  const S            *x;
  S                  *products;
  const ClusterSlice *slices;
  SliceCursor         at;
  S                   sum[D], own[D];

  /* The warp has come to its first step of a slice */
  __device__ void enter_slice(const Stage<S> &stage, int step)
  {
    const int  node  = min(at.slice * 32 + lane, last_own);
    const bool pairs = slices[at.slice].pair_steps > 0; /* otherwise the x of own nodes may be elsewhere */

    if (lane == 0 && (step > share.first || step == slices[at.slice].steps_before))
      stage.warps()[at.slice].first = (unsigned char)(threadIdx.x / 32);
#pragma unroll
    for (int r = 0; r < D; r++) {
      sum[r] = S(0);
      own[r] = pairs ? x[node * D + r] : S(0);
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

/* Multiplies the block of a step with the x of its column */
template <typename S, typename V, int D, ClusterMirrors ARE>
__device__ inline void multiply_step(const ClusterArrays &a, const Stage<S> &stage, int n, Steps<S, D> &s, int step,
                                     const Block<V, D, ARE> &block, const S (&x)[D])
{
  if (step >= s.at.end) {
    s.leave_slice(stage, step);
    s.at.move_to(s.slices, step);
    s.enter_slice(stage, step);
  }
  if (!block.is_there()) return;
  add_product<S, V, D>(block.v, x, s.sum);
  if (step >= s.at.pairs_end) return;
  const int pair_step = step + s.at.pairs_from_steps;
  S        *to        = s.products + pair_step * 32;
  const V  *far =
      block.has_far_mirror() ? (const V *)a.mirrors + (stage.head(n)->pair_step + pair_step) * 32 * D * D : nullptr;
  if (far) leave_product<S, V, D, ARE>(block, far, s.lane, s.own, to, s.plane);
  else leave_product<S, V, D, ARE>(block, nullptr, s.lane, s.own, to, s.plane);
}

/* Multiplies the steps in flight, from step k on, as far as the share goes, and loads as many behind them. Where a
   block is one value, what the steps read from shared memory is on its way at the same time. */
template <typename S, typename V, int D, ClusterMirrors ARE>
__device__ inline void multiply_steps(const ClusterArrays &a, const Stage<S> &stage, int n, Steps<S, D> &s, int k,
                                      Flight<V, D, ARE> &flight)
{
  constexpr int COUNT = AHEAD<V, D, ARE>, EARLY = D == 1 ? COUNT : 1;
  S             x[EARLY][D];

#pragma unroll
  for (int i = 0; D == 1 && i < EARLY; i++) x[i][0] = s.x[k + i < s.share.end ? s.columns[(k + i) * 32] : 0];
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    if (k + i >= s.share.end) break;
#pragma unroll
    for (int c = 0; D > 1 && c < D; c++) x[0][c] = s.x[s.columns[(k + i) * 32] * D + c];
    multiply_step(a, stage, n, s, k + i, flight.block[i], x[D == 1 ? i : 0]);
  }
  load_steps(flight, s.slices, k + COUNT, s.share.end, s.lane);
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
                            stage.index(n) + lane,
                            (const S *)(stage.memory + in_register(stage.at.x + n % 2 * stage.at.x_bytes)),
                            stage.products() + lane,
                            stage.slices(n),
                            at};

  s.enter_slice(stage, share.first);
  for (int k = share.first; k < share.end; k += AHEAD<V, D, ARE>) multiply_steps(a, stage, n, s, k, flight);
  s.leave_slice(stage, share.end);
}

} // namespace

#endif
