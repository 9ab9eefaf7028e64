/*
  gmres_device_vector.cu - the kernels of an iteration beside the product: all scalar products with the basis, and the
  update of the new vector by them.

  Each begins while the previous kernel ends (device/overlap.cuh). The thread block that writes its partial sums last
  adds the sums of all blocks, always in the same order, and decides whether the solve goes on. The kernels of
  iterations enqueued after convergence return at once: spmv_gmres_dots() sets `active` to 0, and the others read it.
*/
#include "device/overlap.cuh"
#include "gmres_device.cuh"

namespace
{
enum {
  DOTS_THREADS = 512,
  DOTS_WARPS   = DOTS_THREADS / 32,
  PARTS_MAX    = 16, /* parts of a tile, which warps multiply separately if there are few vectors */
  TILE_UNIT    = 32 * PARTS_MAX,
  TILE_MAX     = 4 * TILE_UNIT,
  ITEMS_WANTED = 3 * DOTS_WARPS /* parts of all vectors, enough to balance the warps */
};

/* The basis: vector j begins at v + j stride */
template <typename S>
struct Basis {
  int64_t rows, stride;
  S      *v;
};

template <typename S>
Basis<S> basis_of(const SpmvGmres *g)
{
  return {g->options.rows, g->stride, (S *)g->basis};
}

/* One row of M from. It reads the whole block of `from`, which this kernel must not write. */
template <typename S>
__device__ S row_of(const S *m, int block, int64_t row, const S *from)
{
  if (block < 2) return block ? m[row] * from[row] : from[row];
  const int64_t first = row - row % block;
  S             z     = 0;
  for (int j = 0; j < block; j++) z += m[first * block + j * block + (row - first)] * from[first + j];
  return z;
}

/* The decisions after the scalar products, by all threads of a block */
__device__ void decide_dots(SpmvGmresState *s, int k, bool second)
{
  bool numbers = true;

  for (int j = threadIdx.x; j <= k; j += blockDim.x)
    if (!spmv_gmres_take_dot(s, j, s->sums[j], second)) numbers = false;
  numbers = __syncthreads_and(numbers);
  if (threadIdx.x == 0) spmv_gmres_take_dots(s, numbers);
}

/* With several processes, sums over processes come between kernels, so decisions are kernels of their own */
__global__ void spmv_gmres_decide_dots(SpmvGmresState *s, int k, bool second)
{
  if (second ? s->active != 0 : !spmv_gmres_stopped(s)) decide_dots(s, k, second);
}
__global__ void spmv_gmres_decide_norm(SpmvGmresState *s, int k, bool may_refine, SpmvRecord *records)
{
  if (s->active) spmv_gmres_take_squares(s, k, s->sums[0], may_refine);
  spmv_gmres_put_record(records, s);
}

/* The new vector, not orthogonalized yet: w = scale M from; its tile is kept in shared memory */
template <typename S>
__device__ void unroll_tile(const Basis<S> &basis, int k, int64_t begin, int n, const S *from, int block,
                            const SpmvGmresState *s, double *tile)
{
  const S  scale = (S)s->scale[k];
  const S *m     = (const S *)s->m;
  S       *w     = basis.v + (k + 1) * basis.stride;

  for (int i = threadIdx.x; i < n; i += DOTS_THREADS) {
    const S z    = scale * row_of(m, block, begin + i, from);
    w[begin + i] = z;
    tile[i]      = (double)z;
  }
}

/* Adds a tile's part of the scalar products to sums [items]. An item is a part of the tile times a vector; each warp
   always has the same items, so the order of additions is fixed. */
template <typename S>
__device__ void add_tile(const Basis<S> &basis, int items, int parts, int64_t begin, int n, int length,
                         const double *tile, double *sums)
{
  const int lane = threadIdx.x % 32;

  for (int item = threadIdx.x / 32; item < items; item += DOTS_WARPS) {
    const int part = item % parts, end = min(n, (part + 1) * length);
    const S  *v   = basis.v + item / parts * basis.stride + begin;
    double    sum = 0;
#pragma unroll 8
    for (int i = part * length + lane; i < end; i += 32) sum += tile[i] * (double)v[i];
    sum = spmv_add_lanes(sum, 32);
    if (lane == 0) sums[item] += sum;
  }
}

/* Writes the partial sums of this thread block */
__device__ void put_partial(int vectors, int parts, const double *sums, double *partial)
{
  for (int j = threadIdx.x; j < vectors; j += DOTS_THREADS) {
    double sum = 0;
    for (int part = 0; part < parts; part++) sum += sums[j * parts + part];
    partial[j * SPMV_GMRES_DOTS_GRID + blockIdx.x] = sum;
  }
}

/* Adds the partial sums of all thread blocks, one vector per warp */
__device__ void add_partial(int vectors, const double *partial, double *total)
{
  const int lane = threadIdx.x % 32;

  for (int j = threadIdx.x / 32; j < vectors; j += DOTS_WARPS) {
    double sum = 0;
    for (unsigned i = lane; i < gridDim.x; i += 32) sum += __ldcg(partial + j * SPMV_GMRES_DOTS_GRID + i);
    sum = spmv_add_lanes(sum, 32);
    if (lane == 0) total[j] = sum;
  }
}

/* (v_j, w) for all vectors of the basis, with w in shared memory tile by tile, so that the basis is read once. In the
   first orthogonalization w is made of the product, and written; in the second it is read. */
template <typename S>
__global__ void __launch_bounds__(DOTS_THREADS, spmv_resident_blocks(DOTS_THREADS, 2))
    spmv_gmres_dots(Basis<S> basis, int k, int tile_rows, int parts, const S *from, int block, double *partial,
                    SpmvGmresState *s, bool second, bool decide)
{
  SPMV_DYNAMIC_SHARED(shared);
  const int items = (k + 1) * parts;
  double   *tile = (double *)shared, *sums = tile + tile_rows;

  spmv_let_next_begin();
  spmv_wait_for_previous(basis.v, from, partial, s);
  if (second && !s->active) return;
  if (!second && spmv_gmres_stopped(s)) {
    if (blockIdx.x == 0 && threadIdx.x == 0) s->active = 0;
    return;
  }
  for (int i = threadIdx.x; i < items; i += DOTS_THREADS) sums[i] = 0;
  for (int64_t begin = (int64_t)blockIdx.x * tile_rows; begin < basis.rows; begin += (int64_t)gridDim.x * tile_rows) {
    const int n = (int)min((int64_t)tile_rows, basis.rows - begin);
    __syncthreads();
    if (second)
      for (int i = threadIdx.x; i < n; i += DOTS_THREADS) tile[i] = (double)from[begin + i];
    else unroll_tile(basis, k, begin, n, from, block, s, tile);
    __syncthreads();
    add_tile(basis, items, parts, begin, n, tile_rows / parts, tile, sums);
  }
  __syncthreads();
  put_partial(k + 1, parts, sums, partial);
  __syncthreads();
  if (!spmv_arrives_last(&s->arrived)) return;
  add_partial(k + 1, partial, s->sums);
  if (threadIdx.x == 0) s->arrived = 0;
  __syncthreads();
  if (decide) decide_dots(s, k, second);
}

/* What follows the update of the new vector. NONE: a second orthogonalization. MAY_REFINE: the norm, which decides
   whether there is a second one. LAST: the norm, and the end of the iteration. */
enum Measure { NONE, MAY_REFINE, LAST };

/* w -= V h and the norm of w; next = M w for the next product, if next is given. Rows go from the last to the first,
   because the second-level cache still has the rows that the scalar products read last. */
template <typename S>
__global__ void __launch_bounds__(SPMV_SUM_THREADS, spmv_resident_blocks(SPMV_SUM_THREADS, SPMV_SUM_RESIDENT))
    spmv_gmres_update(Basis<S> basis, int k, S *next, int block, double *partial, SpmvGmresState *s, Measure measure,
                      bool decide, SpmvRecord *records)
{
  SPMV_DYNAMIC_SHARED(shared);
  const int     lane = threadIdx.x % 32, rows_of_warp = spmv_point_rows_of(block);
  const int64_t warps = (int64_t)gridDim.x * SPMV_SUM_WARPS, pieces = (basis.rows + rows_of_warp - 1) / rows_of_warp;
  double       *take = (double *)shared, v[1] = {0};

  spmv_let_next_begin();
  spmv_wait_for_previous(basis.v, next, partial, s, records);
  if (!s->active) {
    spmv_gmres_pass(records, s);
    return;
  }
  for (int j = threadIdx.x; j <= k; j += SPMV_SUM_THREADS) take[j] = s->take[j];
  __syncthreads();
  S       *w = basis.v + (k + 1) * basis.stride;
  const S *m = (const S *)s->m;
  /* one thread does it while the other threads read vectors; in spmv_gmres_take_norm() all would wait for it */
  if (measure != NONE && blockIdx.x == 0 && threadIdx.x == 0) spmv_gmres_rotate(s, k);
  for (int64_t piece = blockIdx.x * (int64_t)SPMV_SUM_WARPS + threadIdx.x / 32; piece < pieces; piece += warps) {
    const int64_t row   = (pieces - 1 - piece) * rows_of_warp + lane;
    const bool    there = lane < rows_of_warp && row < basis.rows;
    S             w_row = 0;
    if (there) {
      double   sum = 0;
      const S *at  = basis.v + row;
#pragma unroll 8
      for (int j = 0; j <= k; j++) sum += take[j] * (double)at[j * basis.stride];
      w_row  = (S)((double)w[row] - sum);
      w[row] = w_row;
    }
    v[0] += (double)w_row * (double)w_row;
    if (!next) continue;
    const S z = spmv_point_of(m, block, row, there, w_row);
    if (there) next[row] = z;
  }
  if (measure == NONE || !spmv_sum_grid(v, partial, &s->arrived, s->sums) || !decide) return;
  spmv_gmres_take_squares(s, k, v[0], measure == MAY_REFINE);
  spmv_gmres_put_record(records, s);
}

/* Rows of a tile: few enough that all thread blocks have a tile, at most TILE_MAX */
int tile_rows(int64_t rows)
{
  const int64_t units = spmv_blocks(rows, (int64_t)SPMV_GMRES_DOTS_GRID * TILE_UNIT), most = TILE_MAX / TILE_UNIT;

  return TILE_UNIT * (int)(units < 1 ? 1 : units < most ? units : most);
}

SpmvStatus enqueue_dots(SpmvGmres *g, int k, const void *from, bool second, SpmvExec *exec)
{
  const bool    alone   = !g->options.processes;
  const int     tile    = tile_rows(g->options.rows);
  const int64_t tiles   = spmv_blocks(g->options.rows, tile);
  const int64_t grid    = tiles < 1 ? 1 : tiles < SPMV_GMRES_DOTS_GRID ? tiles : (int64_t)SPMV_GMRES_DOTS_GRID;
  double *const partial = g->partial + SPMV_SUM_GRID_MAX;
  int           parts   = 1;

  while (parts < PARTS_MAX && (k + 1) * parts < ITEMS_WANTED) parts *= 2;
  const size_t shared = (size_t)(tile + (k + 1) * parts) * sizeof(double);
  SPMV_TRY(spmv_with_scalar(g->options.scalar_type, [&](auto s) -> SpmvStatus {
    using S = decltype(s);
    SPMV_LAUNCH_OVERLAPPED(exec, spmv_gmres_dots<S>, grid, DOTS_THREADS, shared, basis_of<S>(g), k, tile, parts,
                           (const S *)from, spmv_gmres_left(g), partial, g->state, second, alone);
    return SPMV_SUCCESS;
  }));
  if (alone) return SPMV_SUCCESS;
  SPMV_TRY(spmv_add_sums(g->options.processes, g->start.sums, k + 1, exec));
  SPMV_LAUNCH(exec, spmv_gmres_decide_dots, 1, DOTS_THREADS, 0, g->state, k, second);
  return SPMV_SUCCESS;
}

SpmvStatus enqueue_update(SpmvGmres *g, int k, Measure measure, SpmvRecord *records, SpmvExec *exec)
{
  const bool alone = !g->options.processes;
  const int  block = spmv_gmres_right(g);

  SPMV_TRY(spmv_with_scalar(g->options.scalar_type, [&](auto s) -> SpmvStatus {
    using S = decltype(s);
    SPMV_LAUNCH_OVERLAPPED(exec, spmv_gmres_update<S>, spmv_sum_grid_of(g->options.rows, spmv_point_rows_of(block)),
                           SPMV_SUM_THREADS, spmv_gmres_shared_factors(k + 1), basis_of<S>(g), k,
                           measure == NONE ? nullptr : (S *)spmv_gmres_next(g), block, g->partial, g->state, measure,
                           alone, alone ? records : nullptr);
    return SPMV_SUCCESS;
  }));
  if (alone || measure == NONE) return SPMV_SUCCESS;
  SPMV_TRY(spmv_add_sums(g->options.processes, g->start.sums, 1, exec));
  SPMV_LAUNCH(exec, spmv_gmres_decide_norm, 1, 1, 0, g->state, k, measure == MAY_REFINE, records);
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus spmv_gmres_enqueue_product(SpmvGmres *g, int k, SpmvExec *exec)
{
  if (spmv_gmres_has_function(g) && g->options.right) SPMV_TRY(spmv_gmres_enqueue_function(g, exec));
  return spmv_gmres_multiply(g, k, exec);
}

SpmvStatus spmv_gmres_enqueue_vector(SpmvGmres *g, int k, SpmvRecord *records, SpmvExec *exec)
{
  const SpmvGmresRefine refine = g->options.refine;
  const bool            left   = spmv_gmres_has_function(g) && !g->options.right;

  if (left) SPMV_TRY(spmv_gmres_enqueue_function(g, exec));
  SPMV_TRY(enqueue_dots(g, k, left ? g->u : g->t, false, exec));
  if (refine == SPMV_GMRES_REFINE_NEVER) return enqueue_update(g, k, LAST, records, exec);
  SPMV_TRY(enqueue_update(g, k, refine == SPMV_GMRES_REFINE_ALWAYS ? NONE : MAY_REFINE, nullptr, exec));
  SPMV_TRY(enqueue_dots(g, k, spmv_gmres_vector(g, k + 1), true, exec));
  return enqueue_update(g, k, LAST, records, exec);
}
