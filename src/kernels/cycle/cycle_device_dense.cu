/*
  cycle_device_dense.cu - the coarsest levels of a cycle as one dense matrix C.

  On small levels a launch takes longer than its work. The cycle on these levels is a linear function of the right-hand
  side that stays the same until values change. So C is computed once, column by column from unit vectors, and each
  cycle multiplies by it. A thread block runs the list of operations on its own vectors for COLUMNS unit vectors at a
  time, without waiting for other thread blocks. Matrices are CSR copies of the plans, with 32-bit indices.
*/
#include "cycle_device.cuh"
#include "device/arena.cuh"
#include "device/tuning.h"
#include "device/vector.cuh"
#include "engine/point.h"
#include <cstring>

namespace
{
enum {
  THREADS    = 512,
  COLUMNS    = 4,       /* columns of C that a thread block computes at a time */
  ROWS_MOST  = 2048,    /* rows of C, by default */
  NONZEROS   = 4000000, /* in all matrices of these levels: with more, set-up takes too long */
  MATRIX     = 0,
  UP         = 1, /* the interpolation */
  DOWN       = 2, /* the restriction */
  MATRICES   = 3,
  ALL_ARRAYS = SPMV_CYCLE_LEVELS * MATRICES * 3 + 3
};

struct Csr {
  const int32_t *row_ptr, *col;
  const void    *values;
  int32_t        rows, lanes;
};

/* A level on the device. vector: the offset of each vector in the memory of a thread block, in entries of COLUMNS
   numbers. */
struct Level {
  Csr         a[MATRICES];
  const void *m[2]; /* of the smoothers down and up */
  int32_t     block[2];
  int32_t     vector[SPMV_CYCLE_VECTORS];
};
} // namespace

struct SpmvCycleDense {
  void            *matrix;
  Level           *level; /* [levels] */
  SpmvCycleOp     *op;    /* [program.ops] */
  SpmvCycleProgram program;
  SpmvCsr          csr[SPMV_CYCLE_LEVELS][MATRICES];
  const SpmvPlan  *plan[SPMV_CYCLE_LEVELS][MATRICES]; /* the sources of the values of csr */
  int              levels;
  int64_t          rows, scratch_bytes; /* rows of C; bytes of the vectors of a thread block */
};

namespace
{
/* One entry of each of COLUMNS vectors */
template <typename S>
struct Entry {
  S column[COLUMNS];

  __device__ inline Entry &add(S factor, const Entry &e)
  {
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) column[c] += factor * e.column[c];
    return *this;
  }
};

template <typename S>
__device__ inline Entry<S> add_lanes(Entry<S> e, int lanes)
{
#pragma unroll
  for (int c = 0; c < COLUMNS; c++) e.column[c] = spmv_add_lanes(e.column[c], lanes);
  return e;
}

/* A x with `lanes` threads per row, in a fixed order; one thread per row calls put(row, sum) */
template <typename S, typename Put>
__device__ void multiply(const Csr &a, const Entry<S> *x, const Put &put)
{
  const int32_t lane = threadIdx.x % a.lanes, rows_at_once = THREADS / a.lanes;

  for (int32_t first = 0; first < a.rows; first += rows_at_once) {
    const int32_t row = first + threadIdx.x / a.lanes;
    Entry<S>      sum = {};
    if (row < a.rows)
      for (int32_t k = a.row_ptr[row] + lane, end = a.row_ptr[row + 1]; k < end; k += a.lanes)
        sum.add(((const S *)a.values)[k], x[a.col[k]]);
    sum = add_lanes(sum, a.lanes);
    if (row < a.rows && lane == 0) put(row, sum);
  }
}

/* out = current x + before out + correction z */
template <typename S>
__device__ inline void combine(const SpmvCycleOp &op, const SpmvFactors &f, const Entry<S> *x, const Entry<S> &z,
                               int32_t row, Entry<S> *out)
{
  Entry<S> v = {};

  v.add((S)f.correction, z);
  if (x) v.add((S)f.current, x[row]);
  if (op.adds) v.add((S)f.before, out[row]);
  out[row] = v;
}

template <typename S>
__device__ void point(const Level &l, const SpmvCycleOp &op, const SpmvFactors &f, const Entry<S> *x, const Entry<S> *b,
                      Entry<S> *out)
{
  const int32_t side = l.block[op.up];
  const S      *m    = (const S *)l.m[op.up];

  for (int32_t row = threadIdx.x; row < l.a[MATRIX].rows; row += THREADS) {
    Entry<S> z = {};
    if (side == 0) z = b[row];
    else if (side == 1) z.add(m[row], b[row]);
    else
      for (int32_t j = 0, i = row % side; j < side; j++)
        z.add(m[(int64_t)(row - i) * side + j * side + i], b[row - i + j]);
    combine(op, f, x, z, row, out);
  }
}

/* A step of a smoother without blocks */
template <typename S>
__device__ void step(const Level &l, const SpmvCycleOp &op, const SpmvFactors &f, const Entry<S> *x, const Entry<S> *b,
                     Entry<S> *out)
{
  const S *m = l.block[op.up] ? (const S *)l.m[op.up] : nullptr;

  multiply<S>(l.a[MATRIX], x, [&](int32_t row, const Entry<S> &sum) {
    const S  by = m ? m[row] : S(1);
    Entry<S> z  = {};
    z.add(by, b[row]).add(-by, sum);
    combine(op, f, x, z, row, out);
  });
}

template <typename S>
__device__ void coarsest(int32_t n, const S *inverse, const Entry<S> *b, Entry<S> *x)
{
  for (int32_t first = 0; first < n; first += THREADS / 32) {
    const int32_t row = first + threadIdx.x / 32;
    Entry<S>      sum = {};
    if (row < n)
      for (int32_t j = threadIdx.x % 32; j < n; j += 32) sum.add(inverse[(int64_t)row * n + j], b[j]);
    sum = add_lanes(sum, 32);
    if (row < n && threadIdx.x % 32 == 0) x[row] = sum;
  }
}

template <typename S>
__device__ void operate(const Level *levels, const SpmvCycleOp &op, const SpmvFactors *factors, const S *inverse,
                        Entry<S> *vectors)
{
  const Level    &l      = levels[op.level];
  const Level    &x_has  = op.kind == SPMV_CYCLE_INTERPOLATE ? levels[op.level - 1] : l;
  const Level    &out_of = op.kind == SPMV_CYCLE_RESTRICT ? levels[op.level - 1] : l;
  const Entry<S> *x      = op.x == SPMV_CYCLE_NONE ? nullptr : vectors + x_has.vector[op.x];
  const Entry<S> *b      = vectors + l.vector[op.b];
  Entry<S>       *out    = vectors + out_of.vector[op.out];

  switch (op.kind) {
  case SPMV_CYCLE_STEP:
    return step(l, op, factors[op.step], x, b, out);
  case SPMV_CYCLE_POINT:
    return point(l, op, factors[op.step], x, b, out);
  case SPMV_CYCLE_RESIDUAL:
    return multiply<S>(l.a[MATRIX], x, [&](int32_t row, const Entry<S> &sum) {
      Entry<S> r = b[row];
      out[row]   = r.add(S(-1), sum);
    });
  case SPMV_CYCLE_RESTRICT:
    return multiply<S>(l.a[DOWN], x, [&](int32_t row, const Entry<S> &sum) { out[row] = sum; });
  case SPMV_CYCLE_INTERPOLATE:
    return multiply<S>(l.a[UP], x, [&](int32_t row, const Entry<S> &sum) {
      Entry<S> v = sum;
      out[row]   = op.adds ? v.add(S(1), out[row]) : v;
    });
  default:
    return coarsest(l.a[MATRIX].rows, inverse, b, out);
  }
}

/* Column j of the matrix is the result of the operations for unit vector j */
template <typename S>
__global__ void __launch_bounds__(THREADS)
    spmv_cycle_columns(const Level *levels, int finest, const SpmvCycleOp *ops, int count, const SpmvFactors *factors,
                       const S *inverse, char *scratch, int64_t scratch_bytes, S *matrix)
{
  const int32_t n       = levels[finest].a[MATRIX].rows;
  Entry<S>     *vectors = (Entry<S> *)(scratch + blockIdx.x * scratch_bytes);
  Entry<S>     *b       = vectors + levels[finest].vector[SPMV_CYCLE_B];
  Entry<S>     *x       = vectors + levels[finest].vector[SPMV_CYCLE_X0];

  for (int32_t first = blockIdx.x * COLUMNS; first < n; first += gridDim.x * COLUMNS) {
    for (int32_t row = threadIdx.x; row < n; row += THREADS)
      for (int c = 0; c < COLUMNS; c++) b[row].column[c] = row == first + c;
    __syncthreads();
    for (int i = 0; i < count; i++) {
      operate(levels, ops[i], factors, inverse, vectors);
      __syncthreads();
    }
    for (int32_t row = threadIdx.x; row < n; row += THREADS)
      for (int c = 0; c < COLUMNS && first + c < n; c++) matrix[(int64_t)row * n + first + c] = x[row].column[c];
    __syncthreads();
  }
}

const SpmvPlan *plan_of(const SpmvOperator &o) { return o.transposed ? o.plan->transpose.plan : o.plan; }

/* The number of levels that become one matrix: up to the finest level with few rows and nonzeros, and whose operators
   have a plan and no ghost columns; 0 without an inverse, or if the cycle waits for the host */
int levels_of(const SpmvCycle *cycle)
{
  const SpmvCycleOptions &o        = cycle->options;
  const int64_t           most     = o.dense_rows < 0 ? (int64_t)ROWS_MOST : o.dense_rows;
  int64_t                 nonzeros = 0;
  int                     levels   = 1;

  if (!o.inverse || cycle->info.waits) return 0;
  for (; levels < o.levels; levels++) {
    const SpmvCycleLevel &l = cycle->grid[levels].def;
    for (const SpmvOperator &a : {l.matrix, l.interpolation, l.restriction}) {
      if (!plan_of(a) || a.processes) return levels;
      nonzeros += plan_of(a)->nnz;
    }
    if (l.rows > most || l.rows == 0 || nonzeros > NONZEROS || spmv_cycle_has_function(&l)) return levels;
  }
  return levels;
}

/* Allocates all arrays in one block: three for each matrix, then C, levels and operations */
SpmvStatus allocate(SpmvCycle *cycle, SpmvExec *exec)
{
  SpmvCycleDense *d      = cycle->dense;
  const int64_t   scalar = spmv_scalar_bytes(cycle->options.scalar_type);
  int64_t         bytes[ALL_ARRAYS];
  void           *array[ALL_ARRAYS], **to[ALL_ARRAYS];
  int             n = 0;

  for (int l = 1; l < d->levels; l++)
    for (int k = 0; k < MATRICES; k++) {
      bytes[n++] = (d->plan[l][k]->rows + 1) * (int64_t)sizeof(int32_t);
      bytes[n++] = d->plan[l][k]->nnz * (int64_t)sizeof(int32_t);
      bytes[n++] = d->plan[l][k]->nnz * scalar;
    }
  bytes[n++] = d->rows * d->rows * scalar;
  bytes[n++] = d->levels * (int64_t)sizeof(Level);
  bytes[n++] = d->program.ops * (int64_t)sizeof(SpmvCycleOp);
  for (int i = 0; i < n; i++) to[i] = &array[i];
  SPMV_TRY(spmv_object_hold(&cycle->object, SPMV_DEVICE, n, bytes, "coarse levels of a cycle", to, exec));
  n = 0;
  for (int l = 1; l < d->levels; l++)
    for (int k = 0; k < MATRICES; k++, n += 3) {
      const SpmvPlan *plan = d->plan[l][k];
      SpmvCsr        &csr  = d->csr[l][k];
      csr.pattern          = {plan->rows, plan->cols, plan->nnz, SPMV_I32, SPMV_DEVICE, array[n], array[n + 1]};
      csr.scalar_type      = plan->scalar_type;
      csr.values_space     = SPMV_DEVICE;
      csr.values           = array[n + 2];
    }
  d->matrix = array[n];
  d->level  = (Level *)array[n + 1];
  d->op     = (SpmvCycleOp *)array[n + 2];
  return SPMV_SUCCESS;
}

/* Lanes per row, each with about two nonzeros of an average row */
int lanes_for(const SpmvPattern &p)
{
  int lanes = 1;

  while (lanes < 32 && (int64_t)lanes * 2 * p.rows < p.nnz) lanes *= 2;
  return lanes;
}

Level describe(const SpmvCycle *cycle, int l, int32_t *entries)
{
  const SpmvCycleGrid &grid = cycle->grid[l];
  Level                level;

  memset(&level, 0, sizeof level);
  for (int v = 0; v < SPMV_CYCLE_Z; v++) {
    level.vector[v] = *entries;
    *entries += (int32_t)grid.def.rows;
  }
  for (int up = 0; up < 2; up++) {
    const SpmvCycleSmoother *s = spmv_cycle_smoother(&grid, up);
    level.m[up]                = s->values;
    level.block[up]            = spmv_point_block(s->kind, s->block_size);
  }
  for (int k = 0; k < MATRICES && l > 0; k++) {
    const SpmvCsr &csr = cycle->dense->csr[l][k];
    level.a[k]         = {(const int32_t *)csr.pattern.row_ptr, (const int32_t *)csr.pattern.col, csr.values,
                          (int32_t)csr.pattern.rows, lanes_for(csr.pattern)};
  }
  level.a[MATRIX].rows = (int32_t)grid.def.rows;
  return level;
}

/* Writes patterns, levels and operations to the device */
SpmvStatus write_arrays(SpmvCycle *cycle, SpmvExec *exec)
{
  SpmvCycleDense *d       = cycle->dense;
  int32_t         entries = 0;
  Level           level[SPMV_CYCLE_LEVELS];

  for (int l = 0; l < d->levels; l++) level[l] = describe(cycle, l, &entries);
  d->scratch_bytes = entries * (int64_t)COLUMNS * spmv_scalar_bytes(cycle->options.scalar_type);
  SPMV_TRY(spmv_copy(d->level, SPMV_DEVICE, level, SPMV_HOST, d->levels * (int64_t)sizeof *level, exec));
  SPMV_TRY(
      spmv_copy(d->op, SPMV_DEVICE, d->program.op, SPMV_HOST, d->program.ops * (int64_t)sizeof(SpmvCycleOp), exec));
  for (int l = 1; l < d->levels; l++)
    for (int k = 0; k < MATRICES; k++) SPMV_TRY(spmv_csr_of_plan(d->plan[l][k], &d->csr[l][k], exec));
  return SPMV_SUCCESS;
}

template <typename S>
SpmvStatus enqueue(const SpmvCycle *cycle, int64_t blocks, char *scratch, SpmvExec *exec)
{
  const SpmvCycleDense *d = cycle->dense;

  SPMV_LAUNCH(exec, spmv_cycle_columns<S>, blocks, THREADS, 0, (const Level *)d->level, d->levels - 1,
              (const SpmvCycleOp *)d->op, d->program.ops, (const SpmvFactors *)cycle->steps,
              (const S *)cycle->options.inverse, scratch, d->scratch_bytes, (S *)d->matrix);
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus spmv_cycle_dense_create(SpmvCycle *cycle, SpmvExec *exec)
{
  const int levels = levels_of(cycle);

  if (levels < 2) return SPMV_SUCCESS; /* the coarsest level alone has its inverse */
  SPMV_TRY(
      spmv_object_hold_zeros(&cycle->object, sizeof(SpmvCycleDense), "coarse levels of a cycle", &cycle->dense, exec));
  SpmvCycleDense *d = cycle->dense;
  d->levels         = levels;
  d->rows           = cycle->grid[levels - 1].def.rows;
  for (int l = 1; l < levels; l++) {
    const SpmvCycleLevel &def   = cycle->grid[l].def;
    const SpmvOperator   *all[] = {&def.matrix, &def.interpolation, &def.restriction};
    for (int k = 0; k < MATRICES; k++) d->plan[l][k] = plan_of(*all[k]);
  }
  SPMV_TRY(spmv_cycle_program(cycle, 0, levels - 1, 1, &d->program, exec));
  SPMV_TRY(allocate(cycle, exec));
  SPMV_TRY(write_arrays(cycle, exec));
  cycle->bottom     = levels - 1;
  cycle->info.dense = levels;
  return SPMV_SUCCESS;
}

SpmvStatus spmv_cycle_dense_renew(SpmvCycle *cycle, SpmvExec *exec)
{
  SpmvCycleDense *d   = cycle->dense;
  const int64_t   all = spmv_blocks(d->rows, COLUMNS), blocks = all < SPMV_DENSE_GRID ? all : (int64_t)SPMV_DENSE_GRID;
  SpmvScopedScratch scratch(exec);

  for (int l = 1; l < d->levels; l++)
    for (int k = 0; k < MATRICES; k++)
      SPMV_TRY(spmv_extract_values(d->plan[l][k], (void *)d->csr[l][k].values, SPMV_DEVICE, exec));
  SPMV_TRY(scratch.take(blocks * d->scratch_bytes, "coarse levels of a cycle"));
  return cycle->options.scalar_type == SPMV_F32 ? enqueue<float>(cycle, blocks, (char *)scratch.block, exec)
                                                : enqueue<double>(cycle, blocks, (char *)scratch.block, exec);
}

const void *spmv_cycle_dense_matrix(const SpmvCycle *cycle) { return cycle->dense->matrix; }
