/*
  aggregate_device.cu - aggregates on the device (Bell, Dalton, Olson: Exposing fine-grained parallelism in algebraic
  multigrid methods, 2012). In each round an undecided vertex whose rank is the highest within `distance` edges becomes
  a root, and vertices within `distance` edges of a root are out. Because ranks stay the same in all rounds, the roots
  are those that the host finds one after the other.
*/
#include "aggregate.h"
#include "device/csr.cuh"
#include "device/staging.h"
#include "device/vector.cuh"

namespace
{
enum { THREADS = 256, LANES = 8, ROWS_PER_BLOCK = THREADS / LANES, ROUNDS_FIRST = 4 };

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
  int32_t            n;
  const int32_t     *row_ptr, *col, *beyond;
  int                distance;
  SpmvAggregateOrder order;
  Key               *key, *near; /* [n]; the key of each vertex, and the greatest of it and its neighbours */
  int               *left;       /* whether the last round left undecided vertices */
} Graph;

/* The greatest key of the vertex and its neighbours, in all lanes of its team; 0 unless `looks` */
__device__ inline Key greatest_around(const Graph &g, const Key *key, int32_t v, bool looks)
{
  Key most = looks ? key[v] : 0;

  if (looks)
    for (int32_t k = g.row_ptr[v] + threadIdx.x % LANES; k < g.row_ptr[v + 1]; k += LANES) {
      const Key other = key[g.col[k]];
      if (other > most) most = other;
    }
  return spmv_max_lanes(most, LANES);
}

/* The vertex of the calling team; n or more for teams without a vertex */
__device__ inline int64_t team_vertex() { return blockIdx.x * (int64_t)ROWS_PER_BLOCK + threadIdx.x / LANES; }
__device__ inline bool    leads() { return threadIdx.x % LANES == 0; }

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

/* near[v] is computed again only while it is the key of an undecided vertex: once it is a root, or 0, v needs no more
   work. At the end `all` are computed once more, because a root of a higher rank may have come later. */
__global__ void spmv_aggregate_near(Graph g, bool all)
{
  const int64_t v     = team_vertex();
  const bool    looks = v < g.n && (all || state_of(g.near[v]) == UNDECIDED);
  const Key     most  = greatest_around(g, g.key, (int32_t)v, looks);

  if (looks && leads()) g.near[v] = most;
}

__global__ void spmv_aggregate_decide(Graph g)
{
  const int64_t v     = team_vertex();
  const Key     mine  = v < g.n ? g.key[v] : 0;
  const bool    looks = state_of(mine) == UNDECIDED;
  Key           most  = looks ? g.near[v] : 0;

  if (g.distance == 2) most = greatest_around(g, g.near, (int32_t)v, looks);
  if (!looks || !leads()) return;
  if (most == mine) g.key[v] = with_state(mine, ROOT);
  else if (state_of(most) == ROOT) g.key[v] = 0;
  else *g.left = 1;
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
  const Key     second = greatest_around(g, g.near, (int32_t)v, looks);

  if (v >= g.n || !leads()) return;
  if (looks) most = second;
  aggregate[v] = state_of(most) == ROOT ? number[vertex_of(most)] : -1;
  if (root && state_of(g.key[v]) == ROOT) root[number[v]] = (int32_t)v;
}

__global__ void spmv_aggregate_count_members(int64_t n, const int32_t *aggregate, unsigned *members)
{
  const int64_t v     = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  const int     count = __syncthreads_count(v < n && aggregate[v] >= 0);
  if (threadIdx.x == 0 && count > 0) atomicAdd(members, (unsigned)count);
}

__global__ void spmv_aggregate_join(int64_t n, int32_t *aggregate, const int32_t *next)
{
  const int64_t v = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (v < n && aggregate[v] >= 0) aggregate[v] = next[aggregate[v]];
}

SpmvStatus count_members(int64_t n, const int32_t *aggregate, SpmvScopedArena *temporary, int64_t *members,
                         SpmvExec *exec)
{
  unsigned *counter, count;

  SPMV_TRY(temporary->array(1, "count of members", &counter));
  SPMV_CUDA(exec, cudaMemsetAsync(counter, 0, sizeof *counter, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, spmv_aggregate_count_members, spmv_blocks(n, THREADS), THREADS, 0, n, aggregate, counter);
  SPMV_TRY(spmv_fetch(&count, counter, sizeof count, exec));
  *members = count;
  return SPMV_SUCCESS;
}

/* By number, a mesh in the plane takes about 2 sqrt(n) rounds, one in space fewer; in random order about 15 */
bool too_many(int64_t rounds, int64_t n) { return rounds * rounds >= 16 * n + 4096; }

/* Runs rounds until every vertex is decided. They end, because each decides at least the undecided vertex of the
   highest rank. The host reads `left` after 4, 8, 16 ... rounds; surplus rounds find nothing to do. *left: given up
   after too many rounds. */
SpmvStatus find_roots(const Graph &g, int *left, SpmvExec *exec)
{
  const int64_t blocks = spmv_blocks(g.n, ROWS_PER_BLOCK);

  *left = 1;
  SPMV_LAUNCH(exec, spmv_aggregate_begin, spmv_blocks(g.n, THREADS), THREADS, 0, g);
  for (int round = 0, look = ROUNDS_FIRST; *left && !too_many(round, g.n); look *= 2) {
    for (; round < look; round++) {
      SPMV_LAUNCH(exec, spmv_aggregate_near, blocks, THREADS, 0, g, false);
      if (round == look - 1) SPMV_CUDA(exec, cudaMemsetAsync(g.left, 0, sizeof *g.left, (cudaStream_t)exec->stream));
      SPMV_LAUNCH(exec, spmv_aggregate_decide, blocks, THREADS, 0, g);
    }
    SPMV_TRY(spmv_fetch(left, g.left, sizeof *left, exec));
  }
  if (!*left) SPMV_LAUNCH(exec, spmv_aggregate_near, blocks, THREADS, 0, g, true);
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

SpmvStatus aggregate_device(const SpmvPattern *graph, const SpmvAggregateOptions *o, int32_t *aggregate, int32_t *root,
                            SpmvAggregates *found, SpmvExec *exec)
{
  const int64_t   n = graph->rows;
  SpmvScopedArena temporary(exec);
  int32_t        *number, count;
  int             left;
  Graph           g = {(int32_t)n,
                       (const int32_t *)graph->row_ptr,
                       (const int32_t *)graph->col,
                       o->beyond,
                       o->distance,
                       o->order,
                       nullptr,
                       nullptr,
                       nullptr};

  *found = {0, 0};
  if (n == 0) return SPMV_SUCCESS;
  temporary.arena.chunk_bytes = 20 * n + (1 << 16);
  SPMV_TRY(temporary.array(n, "keys of vertices", &g.key));
  SPMV_TRY(temporary.array(n, "keys around vertices", &g.near));
  SPMV_TRY(temporary.array(1, "whether vertices are left", &g.left));
  SPMV_TRY(temporary.array(n + 1, "numbers of roots", &number));
  SPMV_TRY(find_roots(g, &left, exec));
  if (left) return aggregate_there(graph, o, aggregate, root, found, exec);
  SPMV_LAUNCH(exec, spmv_aggregate_mark_roots, spmv_blocks(n + 1, THREADS), THREADS, 0, g, number);
  SPMV_TRY(spmv_sum_before(number, number, n + 1, &temporary.arena, exec));
  SPMV_LAUNCH(exec, spmv_aggregate_assign, spmv_blocks(n, ROWS_PER_BLOCK), THREADS, 0, g, number, aggregate, root);
  SPMV_TRY(count_members(n, aggregate, &temporary, &found->members, exec));
  SPMV_TRY(spmv_fetch(&count, number + n, sizeof count, exec));
  found->count = count;
  return SPMV_SUCCESS;
}

SpmvStatus join_device(int64_t n, int32_t *aggregate, int32_t *root, const int32_t *next, const int32_t *next_root,
                       SpmvAggregates *found, SpmvExec *exec)
{
  SpmvScopedArena temporary(exec);
  const int64_t   count = found->count;
  int32_t        *roots;

  SPMV_LAUNCH(exec, spmv_aggregate_join, spmv_blocks(n, THREADS), THREADS, 0, n, aggregate, next);
  if (root && count > 0) {
    SPMV_TRY(temporary.array(count, "roots", &roots));
    SPMV_TRY(spmv_take(next_root, root, count, roots, exec));
    SPMV_CUDA(exec, cudaMemcpyAsync(root, roots, (size_t)count * sizeof *root, cudaMemcpyDeviceToDevice,
                                    (cudaStream_t)exec->stream));
  }
  return count_members(n, aggregate, &temporary, &found->members, exec);
}
} // namespace

extern "C" const SpmvAggregateSlots spmv_aggregate_device_slots = {aggregate_device, join_device, spmv_tentative_device,
                                                                   spmv_smooth_device};
