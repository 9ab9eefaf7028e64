/*
  aggregate_device.cu - aggregates on the device (Bell, Dalton, Olson: Exposing fine-grained parallelism in algebraic
  multigrid methods, 2012). In each round an undecided vertex whose rank is the highest within `distance` edges becomes
  a root, and vertices within `distance` edges of a root are out. Because ranks stay the same in all rounds, the roots
  are those that the host finds one after the other.

  The first round looks at all vertices. A later round looks only at the vertices around which the round before it has
  decided one: they are in lists.
*/
#include "aggregate.h"
#include "device/csr.cuh"
#include "device/staging.h"
#include "device/vector.cuh"
#include <cmath>

namespace
{
enum {
  THREADS        = 256,
  LANES          = 8, /* of a vertex, in kernels of many blocks */
  ROWS_PER_BLOCK = THREADS / LANES,
  BLOCKS_MAX     = 1024, /* of a kernel that works on a list, whose length the host does not know */
  ROUNDS_FIRST   = 8,    /* launched before the host waits for the first time */
  FINISH_THREADS = 1024,
  FINISH_LANES   = 4,   /* so that one block has 256 vertices in flight */
  FINISH_MAX     = 2048 /* vertices in a list that one block works on */
};

/* The state, rank and number of a vertex in one key. A root has a greater key than any undecided vertex, and a vertex
   that is out has key 0, so that the greatest key nearby decides. */
typedef unsigned long long Key;
enum { OUT = 0, UNDECIDED = 1, ROOT = 2, STATE_SHIFT = 62 };

__device__ inline int     state_of(Key key) { return (int)(key >> STATE_SHIFT); }
__device__ inline int32_t vertex_of(Key key) { return (int32_t)(key & 0x7fffffffu); }
__device__ inline Key     with_state(Key key, int state)
{
  return (key & (((Key)1 << STATE_SHIFT) - 1)) | (Key)state << STATE_SHIFT;
}

typedef struct {
  unsigned listed[3]; /* lengths of lists: phase p reads entry p mod 3, counts in the next one and clears the third */
  unsigned rounds;    /* done by spmv_aggregate_finish() */
  int      left;      /* whether a vertex is undecided at the end */
  unsigned members;
  int32_t  roots;
} Counts;

/* Marks of vertices that a list has: a list is a set */
enum { IN_FRONT = 1, IN_READY = 2 };

typedef struct {
  int32_t            n;
  const int32_t     *row_ptr, *col, *beyond;
  int                distance;
  SpmvAggregateOrder order;
  Key               *key, *near; /* [n]; the key of each vertex, and the greatest of it and its neighbours */
  int32_t           *front;      /* [n]; vertices whose near may have changed */
  int32_t           *ready;      /* [n]; vertices that their near, or that of a neighbour, may decide */
  int32_t           *mark;       /* [n]; IN_FRONT + IN_READY */
  Counts            *counts;
} Graph;

/* The greatest key of the vertex and its neighbours, in all lanes of its team; 0 unless `looks` */
template <int TEAM>
__device__ inline Key greatest_around(const Graph &g, const Key *key, int32_t v, bool looks)
{
  Key most = looks ? key[v] : 0;

  if (looks)
    for (int32_t k = g.row_ptr[v] + threadIdx.x % TEAM; k < g.row_ptr[v + 1]; k += TEAM) {
      const Key other = key[g.col[k]];
      if (other > most) most = other;
    }
  return spmv_max_lanes(most, TEAM);
}

/* The vertex of the calling team; n or more for teams without a vertex */
__device__ inline int64_t team_vertex() { return blockIdx.x * (int64_t)ROWS_PER_BLOCK + threadIdx.x / LANES; }
template <int TEAM>
__device__ inline bool leads()
{
  return threadIdx.x % TEAM == 0;
}

/* Puts v into a list that does not have it yet; all lanes of the warp must call it */
__device__ inline void put(const Graph &g, bool wants, int32_t v, int mark, int32_t *list, unsigned *count)
{
  const unsigned all  = __ballot_sync(0xffffffffu, wants && !(atomicOr(&g.mark[v], mark) & mark));
  const int      lane = threadIdx.x % 32, first = __ffs((int)all) - 1;
  unsigned       at = 0;

  if (all == 0) return;
  if (lane == first) at = atomicAdd(count, (unsigned)__popc(all));
  at = __shfl_sync(0xffffffffu, at, first);
  if (all >> lane & 1) list[at + __popc(all & ((1u << lane) - 1))] = v;
}

/* Calls visit(whether the lane has one, vertex) for v and its neighbours, if `wants`; all lanes of the warp call visit()
   together */
template <int TEAM, typename Visit>
__device__ inline void visit_around(const Graph &g, int32_t v, bool wants, const Visit &visit)
{
  const int32_t end = wants ? g.row_ptr[v + 1] : 0;

  visit(wants && leads<TEAM>(), v);
  for (int32_t k = wants ? g.row_ptr[v] + (int32_t)threadIdx.x % TEAM : 0; __any_sync(0xffffffffu, k < end); k += TEAM)
    visit(k < end, k < end ? g.col[k] : v);
}

__global__ void spmv_aggregate_narrow(int64_t n, const int64_t *from, int32_t *to)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i < n) to[i] = (int32_t)from[i];
}

__global__ void spmv_aggregate_begin(Graph g)
{
  const int64_t v = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (v >= g.n) return;
  const int64_t degree =
      (int64_t)g.row_ptr[v + 1] - g.row_ptr[v] + (g.beyond ? (int64_t)g.beyond[v + 1] - g.beyond[v] : 0);
  const Key key = (Key)spmv_vertex_rank(v, g.order, degree) << 32 | (Key)v;
  g.key[v]      = spmv_vertex_has_edge(g.row_ptr, g.col, g.beyond, v) ? with_state(key, UNDECIDED) : 0;
  g.near[v]     = g.key[v];
}

/* near[v] is computed again only while it is the key of an undecided vertex. At the end `all` are computed once more,
   because a root of a higher rank may have come later. */
__global__ void spmv_aggregate_near(Graph g, bool all)
{
  const int64_t v     = team_vertex();
  const bool    looks = v < g.n && (all || state_of(g.near[v]) == UNDECIDED);
  const Key     most  = greatest_around<LANES>(g, g.key, (int32_t)v, looks);

  if (looks && leads<LANES>()) g.near[v] = most;
  if (all && v < g.n && state_of(g.key[v]) == UNDECIDED) g.counts->left = 1;
}

/* near of v, which is in the front or negative, and the vertices that it decides */
template <int TEAM>
__device__ inline void renew_near(const Graph &g, int32_t v, unsigned *ready)
{
  const Key  old = v < 0 ? 0 : g.near[v], most = greatest_around<TEAM>(g, g.key, v, v >= 0);
  const bool by_root = v >= 0 && state_of(most) == ROOT, next = v >= 0 && state_of(most) == UNDECIDED && most != old;
  const bool one = g.distance == 1 ? by_root || (next && vertex_of(most) == v) : next;

  if (v >= 0 && leads<TEAM>()) {
    g.near[v] = most;
    atomicAdd(&g.mark[v], -IN_FRONT);
  }
  put(g, one && leads<TEAM>(), by_root ? v : vertex_of(most), IN_READY, g.ready, ready);
  visit_around<TEAM>(g, v, by_root && g.distance == 2, [&](bool has, int32_t u) {
    put(g, has && state_of(g.key[u]) == UNDECIDED, u, IN_READY, g.ready, ready);
  });
}

/* Decides v, which may be negative, if that is possible. Then near changes where it was the key of v and, for a new
   root, where it is the key of another undecided vertex. */
template <int TEAM>
__device__ inline void decide(const Graph &g, int32_t v, unsigned *front)
{
  const Key  mine  = v < 0 ? 0 : g.key[v];
  const bool looks = state_of(mine) == UNDECIDED;
  Key        most  = looks ? g.near[v] : 0;

  if (g.distance == 2) most = greatest_around<TEAM>(g, g.near, v, looks);
  const bool root = looks && most == mine, out = looks && state_of(most) == ROOT;
  visit_around<TEAM>(g, v, root || out, [&](bool has, int32_t w) {
    const Key near = has ? g.near[w] : 0;
    put(g, has && (near == mine || (root && state_of(near) == UNDECIDED)), w, IN_FRONT, g.front, front);
  });
  if ((root || out) && leads<TEAM>()) g.key[v] = root ? with_state(mine, ROOT) : 0; /* all lanes have read it */
}

/* The first round: of all vertices */
__global__ void spmv_aggregate_decide(Graph g, int phase)
{
  const int64_t v = team_vertex();
  decide<LANES>(g, v < g.n ? (int32_t)v : -1, &g.counts->listed[(phase + 1) % 3]);
}

/* One half of a round: renews near in the front, or decides what is ready */
template <bool DECIDES>
__global__ void spmv_aggregate_listed(Graph g, int phase)
{
  const int64_t  count = g.counts->listed[phase % 3];
  unsigned      *next  = &g.counts->listed[(phase + 1) % 3];
  const int32_t *list  = DECIDES ? g.ready : g.front;

  if (blockIdx.x == 0 && threadIdx.x == 0) g.counts->listed[(phase + 2) % 3] = 0;
  for (int64_t begin = blockIdx.x * (int64_t)ROWS_PER_BLOCK; begin < count; begin += gridDim.x * ROWS_PER_BLOCK) {
    const int64_t i = begin + threadIdx.x / LANES;
    const int32_t v = i < count ? list[i] : -1;
    if (DECIDES && v >= 0 && leads<LANES>()) atomicAdd(&g.mark[v], -IN_READY);
    if (DECIDES) decide<LANES>(g, v, next);
    else renew_near<LANES>(g, v, next);
  }
}

/* Rounds by one thread block without launches, at most `most`, while the front is short */
__global__ void __launch_bounds__(FINISH_THREADS) spmv_aggregate_finish(Graph g, int phase, int64_t most)
{
  enum { TEAMS = FINISH_THREADS / FINISH_LANES };
  __shared__ unsigned front, ready;
  const unsigned      team  = threadIdx.x / FINISH_LANES;
  int64_t             round = 0;

  if (threadIdx.x == 0) front = g.counts->listed[phase % 3];
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  for (; front > 0 && front <= FINISH_MAX && round < most; round++) {
    const unsigned renewed = front;
    for (unsigned i = 0; i < renewed; i += TEAMS)
      renew_near<FINISH_LANES>(g, i + team < renewed ? g.front[i + team] : -1, &ready);
    __syncthreads();
    const unsigned decided = ready;
    if (threadIdx.x == 0) front = 0;
    for (unsigned i = threadIdx.x; i < decided; i += FINISH_THREADS) atomicAdd(&g.mark[g.ready[i]], -IN_READY);
    __syncthreads();
    if (threadIdx.x == 0) ready = 0;
    for (unsigned i = 0; i < decided; i += TEAMS)
      decide<FINISH_LANES>(g, i + team < decided ? g.ready[i + team] : -1, &front);
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  g.counts->listed[phase % 3] = front;
  g.counts->rounds += (unsigned)round;
}

__global__ void spmv_aggregate_mark_roots(Graph g, int32_t *is_root)
{
  const int64_t v = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (v <= g.n) is_root[v] = v < g.n && state_of(g.key[v]) == ROOT;
}

/* number [n+1]: the number of roots before each vertex. A vertex belongs to the root beside it, else to the root of the
   highest rank at two edges. */
__global__ void spmv_aggregate_assign(Graph g, const int32_t *number, int32_t *aggregate, int32_t *root)
{
  const int64_t v      = team_vertex();
  Key           most   = v < g.n ? g.near[v] : 0;
  const bool    looks  = v < g.n && g.distance == 2 && state_of(most) != ROOT;
  const Key     second = greatest_around<LANES>(g, g.near, (int32_t)v, looks);

  if (v >= g.n || !leads<LANES>()) return;
  if (looks) most = second;
  aggregate[v] = state_of(most) == ROOT ? number[vertex_of(most)] : -1;
  if (root && state_of(g.key[v]) == ROOT) root[number[v]] = (int32_t)v;
}

/* roots: NULL, or where the number of roots is */
__global__ void spmv_aggregate_count_members(int64_t n, const int32_t *aggregate, const int32_t *roots, Counts *counts)
{
  const int64_t v     = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  const int     count = __syncthreads_count(v < n && aggregate[v] >= 0);
  if (threadIdx.x == 0 && count > 0) atomicAdd(&counts->members, (unsigned)count);
  if (v == 0 && roots) counts->roots = *roots;
}

__global__ void spmv_aggregate_join(int64_t n, int32_t *aggregate, const int32_t *next)
{
  const int64_t v = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (v < n && aggregate[v] >= 0) aggregate[v] = next[aggregate[v]];
}

/* Counts members, and brings all counts to the host */
SpmvStatus count_members(int64_t n, const int32_t *aggregate, const int32_t *roots, Counts *counts, Counts *found,
                         SpmvExec *exec)
{
  SPMV_CUDA(exec, cudaMemsetAsync(&counts->members, 0, sizeof counts->members, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, spmv_aggregate_count_members, spmv_blocks(n, THREADS), THREADS, 0, n, aggregate, roots, counts);
  return spmv_fetch(found, counts, sizeof *found, exec);
}

/* By number, a mesh in the plane takes about 2 sqrt(n) rounds, one in space fewer; in random order about 15 */
int64_t rounds_max(int64_t n) { return (int64_t)std::sqrt(16. * (double)n + 4096); }

/* Enqueues a round of all vertices, `batch` rounds of lists, and rounds of one block, in all at most `most`, until the lists
   are empty. The number of launches does not depend on that of the rounds once the front is short. Surplus rounds find
   nothing to do. */
SpmvStatus find_roots(const Graph &g, int64_t batch, int64_t most, SpmvExec *exec)
{
  const int64_t blocks = spmv_blocks(g.n, ROWS_PER_BLOCK), some = blocks < BLOCKS_MAX ? blocks : (int64_t)BLOCKS_MAX;
  int           phase = 1;

  SPMV_CUDA(exec, cudaMemsetAsync(g.mark, 0, (size_t)g.n * sizeof *g.mark, (cudaStream_t)exec->stream));
  SPMV_CUDA(exec, cudaMemsetAsync(g.counts, 0, sizeof *g.counts, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, spmv_aggregate_near, blocks, THREADS, 0, g, false);
  SPMV_LAUNCH(exec, spmv_aggregate_decide, blocks, THREADS, 0, g, phase - 1);
  for (int64_t i = 0; i < batch; i++, phase += 2) {
    SPMV_LAUNCH(exec, spmv_aggregate_listed<false>, some, THREADS, 0, g, phase);
    SPMV_LAUNCH(exec, spmv_aggregate_listed<true>, some, THREADS, 0, g, phase + 1);
  }
  SPMV_LAUNCH(exec, spmv_aggregate_finish, 1, FINISH_THREADS, 0, g, phase, most - 1 - batch);
  return SPMV_SUCCESS;
}

SpmvStatus narrow(int64_t n, const int64_t *from, int32_t *to, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, spmv_aggregate_narrow, spmv_blocks(n, THREADS), THREADS, 0, n, from, to);
  return SPMV_SUCCESS;
}

/* Host memory that is freed at the end of its scope */
class HostArray
{
  SpmvExec *exec;

public:
  void *block = nullptr;
  explicit HostArray(SpmvExec *e) : exec(e) {}
  HostArray(const HostArray &)            = delete;
  HostArray &operator=(const HostArray &) = delete;
  ~HostArray() { spmv_exec_free(exec, SPMV_HOST, block); }
  SpmvStatus get(int64_t bytes) { return spmv_alloc(exec, SPMV_HOST, bytes, "graph on the host", &block); }
};

/* Aggregates on the host instead: on a long chain with roots in the order of vertex numbers, a round decides next to
   nothing, and the device would take about n / 2 rounds. */
SpmvStatus aggregate_there(const SpmvPattern *graph, const SpmvAggregateOptions *o, int32_t *aggregate, int32_t *root,
                           SpmvAggregates *found, SpmvExec *exec)
{
  const int64_t        n = graph->rows, pointers = 4 * (n + 1);
  HostArray            memory(exec);
  SpmvPattern          here    = *graph;
  SpmvAggregateOptions options = *o;

  SPMV_TRY(memory.get(3 * pointers + 4 * n + 4 * graph->nnz));
  char *row_ptr = (char *)memory.block, *beyond = row_ptr + pointers, *mine = beyond + pointers, *roots = mine + 4 * n;
  char *col = roots + pointers;
  SPMV_TRY(spmv_copy(row_ptr, SPMV_HOST, graph->row_ptr, SPMV_DEVICE, pointers, exec));
  SPMV_TRY(spmv_copy(col, SPMV_HOST, graph->col, SPMV_DEVICE, 4 * graph->nnz, exec));
  if (o->beyond) SPMV_TRY(spmv_copy(beyond, SPMV_HOST, o->beyond, SPMV_DEVICE, pointers, exec));
  SPMV_TRY(spmv_stream_wait(exec));
  here.space   = SPMV_HOST;
  here.row_ptr = row_ptr;
  here.col     = col;
  if (o->beyond) options.beyond = (const int32_t *)beyond;
  SPMV_TRY(spmv_aggregate_host_slots.aggregate(&here, &options, (int32_t *)mine, (int32_t *)roots, found, exec));
  SPMV_TRY(spmv_copy(aggregate, SPMV_DEVICE, mine, SPMV_HOST, 4 * n, exec));
  if (root) SPMV_TRY(spmv_copy(root, SPMV_DEVICE, roots, SPMV_HOST, 4 * found->count, exec));
  return spmv_stream_wait(exec);
}

/* Makes aggregates of the roots. counts->left: vertices are undecided, because there was still a front, or because the
   pattern is not symmetric; the aggregates are then worthless. number [n+1]: temporary */
SpmvStatus number_roots(const Graph &g, int32_t *number, int32_t *aggregate, int32_t *root, SpmvArena *arena,
                        Counts *counts, SpmvExec *exec)
{
  const int64_t n = g.n, blocks = spmv_blocks(n, ROWS_PER_BLOCK);

  SPMV_LAUNCH(exec, spmv_aggregate_near, blocks, THREADS, 0, g, true);
  SPMV_LAUNCH(exec, spmv_aggregate_mark_roots, spmv_blocks(n + 1, THREADS), THREADS, 0, g, number);
  SPMV_TRY(spmv_sum_before(number, number, n + 1, arena, exec));
  SPMV_LAUNCH(exec, spmv_aggregate_assign, blocks, THREADS, 0, g, number, aggregate, root);
  return count_members(n, aggregate, number + n, g.counts, counts, exec);
}

SpmvStatus aggregate_device(const SpmvPattern *graph, const SpmvAggregateOptions *o, int32_t *aggregate, int32_t *root,
                            SpmvAggregates *found, SpmvExec *exec)
{
  const int64_t   n = graph->rows;
  SpmvScopedArena temporary(exec);
  Graph           g      = {};
  Counts          counts = {};
  int64_t         rounds = 0;

  *found = {0, 0};
  if (n == 0) return SPMV_SUCCESS;
  g.n                         = (int32_t)n;
  g.row_ptr                   = (const int32_t *)graph->row_ptr;
  g.col                       = (const int32_t *)graph->col;
  g.beyond                    = (const int32_t *)o->beyond;
  g.distance                  = o->distance;
  g.order                     = o->order;
  g.mark                      = aggregate; /* written at the end only */
  temporary.arena.chunk_bytes = 24 * n + (1 << 16);
  SPMV_TRY(temporary.array(n, "keys of vertices", &g.key));
  SPMV_TRY(temporary.array(n, "keys around vertices", &g.near));
  SPMV_TRY(temporary.array(n + 1, "vertices to look at, and numbers of roots", &g.front));
  SPMV_TRY(temporary.array(n, "vertices to decide", &g.ready));
  SPMV_TRY(temporary.array(1, "counts of vertices", &g.counts));
  SPMV_LAUNCH(exec, spmv_aggregate_begin, spmv_blocks(n, THREADS), THREADS, 0, g);
  counts.left = 1;
  for (int64_t batch = n > FINISH_MAX ? ROUNDS_FIRST : 0; counts.left; batch *= 2) {
    SPMV_TRY(find_roots(g, batch, rounds_max(n) - rounds, exec));
    SPMV_TRY(number_roots(g, g.front, aggregate, root, &temporary.arena, &counts, exec));
    rounds += 1 + batch + counts.rounds;
    if (rounds >= rounds_max(n)) return aggregate_there(graph, o, aggregate, root, found, exec);
  }
  *found = {counts.roots, counts.members};
  return SPMV_SUCCESS;
}

SpmvStatus join_device(int64_t n, int32_t *aggregate, int32_t *root, const int32_t *next, const int32_t *next_root,
                       SpmvAggregates *found, SpmvExec *exec)
{
  SpmvScopedArena temporary(exec);
  const int64_t   count = found->count;
  Counts         *counts, joined;
  int32_t        *roots;

  SPMV_LAUNCH(exec, spmv_aggregate_join, spmv_blocks(n, THREADS), THREADS, 0, n, aggregate, next);
  if (root && count > 0) {
    SPMV_TRY(temporary.array(count, "roots", &roots));
    SPMV_TRY(spmv_take(next_root, root, count, roots, exec));
    SPMV_CUDA(exec, cudaMemcpyAsync(root, roots, (size_t)count * sizeof *root, cudaMemcpyDeviceToDevice,
                                    (cudaStream_t)exec->stream));
  }
  SPMV_TRY(temporary.array(1, "count of members", &counts));
  SPMV_TRY(count_members(n, aggregate, nullptr, counts, &joined, exec));
  found->members = joined.members;
  return SPMV_SUCCESS;
}
} // namespace

extern "C" const SpmvAggregateSlots spmv_aggregate_device_slots = {narrow, aggregate_device, join_device,
                                                                   spmv_tentative_device, spmv_smooth_device};
