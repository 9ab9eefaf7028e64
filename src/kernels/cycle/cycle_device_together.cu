/*
  cycle_device_together.cu - the coarsest levels of a cycle in one cooperative kernel.

  There a launch takes longer than its work. The kernel reads the list of operations, and all of its thread blocks wait
  for each other after each; a row is done by `lanes` threads of a warp, a step is one pass. Operations on so few nonzeros
  that one thread block does them sooner than all could meet belong to the first thread block: the others wait for the next
  larger one. Matrices are CSR copies of the plans, with 32-bit indices.
*/
#include "cycle_device.cuh"
#include "device/cooperative.cuh"
#include "device/vector.cuh"
#include "engine/point.h"
#include <cstring>

namespace
{
enum {
  THREADS     = 512,
  ALONE       = 6000,    /* nonzeros that one thread block does sooner than all */
  ROWS_MOST   = 10000,   /* of all levels, by default */
  NONZEROS    = 4000000, /* the most of all levels */
  MATRIX      = 0,
  UP          = 1, /* the interpolation */
  DOWN        = 2, /* the restriction */
  MATRICES    = 3,
  BLOCK_CYCLE = SPMV_CYCLE_LEVELS * MATRICES
};

struct Csr {
  const int32_t *row_ptr, *col;
  const void    *values;
  int32_t        rows, lanes;
};

struct Level {
  Csr         a[MATRICES];
  const void *m[2]; /* of the smoothers down and up */
  int32_t     block[2];
  void       *vector[SPMV_CYCLE_VECTORS];
};

struct DeviceOp {
  SpmvCycleOp op;
  int32_t     alone; /* for the first thread block */
};
} // namespace

/* What the kernel reads, in one block of device memory */
struct SpmvCycleTogether {
  void           *block;
  Level          *level; /* [info.together] */
  DeviceOp       *op;    /* [ops] */
  SpmvCsr         csr[SPMV_CYCLE_LEVELS][MATRICES];
  const SpmvPlan *plan[SPMV_CYCLE_LEVELS][MATRICES]; /* that the values come from */
  int             blocks;
};

namespace
{
/* The threads that do one operation: all of the grid, or those of one thread block */
struct Team {
  int32_t thread, threads;
};

/* The sums of all rows, by `lanes` threads each, in a fixed order; put(row, sum) is called by one of them */
template <typename S, typename Put>
__device__ void multiply(const Csr &a, const S *x, Team team, const Put &put)
{
  const int32_t lane = team.thread % a.lanes, rows_at_once = team.threads / a.lanes;

  for (int32_t first = 0; first < a.rows; first += rows_at_once) {
    const int32_t row = first + team.thread / a.lanes;
    S             sum = 0;
    if (row < a.rows)
      for (int32_t k = __ldg(a.row_ptr + row) + lane, end = __ldg(a.row_ptr + row + 1); k < end; k += a.lanes)
        sum += __ldcg((const S *)a.values + k) * __ldcg(x + __ldg(a.col + k));
    sum = spmv_add_lanes(sum, a.lanes);
    if (row < a.rows && lane == 0) put(row, sum);
  }
}

/* out = current x + before out + correction M b */
template <typename S>
__device__ void point(const Level &l, const SpmvCycleOp &op, const SpmvFactors &step, const S *x, const S *b, S *out,
                      Team team)
{
  const int32_t side = l.block[op.up];
  const S      *m    = (const S *)l.m[op.up];

  for (int32_t row = team.thread; row < l.a[MATRIX].rows; row += team.threads) {
    S z = 0;
    if (side == 0) z = __ldcg(b + row);
    else if (side == 1) z = __ldcg(m + row) * __ldcg(b + row);
    else
      for (int32_t j = 0, i = row % side; j < side; j++)
        z += __ldcg(m + (int64_t)(row - i) * side + j * side + i) * __ldcg(b + row - i + j);
    S v = (S)step.correction * z;
    if (x) v += (S)step.current * __ldcg(x + row);
    if (op.adds) v += (S)step.before * __ldcg(out + row);
    out[row] = v;
  }
}

/* The same with b - A x in place of b, of a smoother without blocks */
template <typename S>
__device__ void step_of(const Level &l, const SpmvCycleOp &op, const SpmvFactors &step, const S *x, const S *b, S *out,
                        Team team)
{
  const S *m = l.block[op.up] ? (const S *)l.m[op.up] : nullptr;

  multiply(l.a[MATRIX], x, team, [&](int32_t row, S sum) {
    S v = __ldcg(b + row) - sum;
    if (m) v *= __ldcg(m + row);
    v = (S)step.correction * v + (S)step.current * __ldcg(x + row);
    if (op.adds) v += (S)step.before * __ldcg(out + row);
    out[row] = v;
  });
}

template <typename S>
__device__ void dense(int32_t n, const S *inverse, const S *b, S *x, Team team)
{
  const int32_t lane = team.thread % 32, rows_at_once = team.threads / 32;

  for (int32_t first = 0; first < n; first += rows_at_once) {
    const int32_t row = first + team.thread / 32;
    S             sum = 0;
    if (row < n)
      for (int32_t j = lane; j < n; j += 32) sum += __ldcg(inverse + (int64_t)row * n + j) * __ldcg(b + j);
    sum = spmv_add_lanes(sum, 32);
    if (row < n && lane == 0) x[row] = sum;
  }
}

/* Vectors of the caller are NULL in a level */
template <typename S>
__device__ S *vector_of(const Level &l, int32_t v, const S *b, S *x)
{
  if (v == SPMV_CYCLE_NONE) return nullptr;
  if (l.vector[v]) return (S *)l.vector[v];
  return v == SPMV_CYCLE_B ? (S *)b : x;
}

template <typename S>
__device__ void operate(const Level *levels, const SpmvCycleOp &op, const SpmvFactors *steps, const S *inverse,
                        const S *rhs, S *solution, Team team)
{
  const Level &l   = levels[op.level];
  const Level &lx  = op.kind == SPMV_CYCLE_INTERPOLATE ? levels[op.level - 1] : l;
  const Level &lo  = op.kind == SPMV_CYCLE_RESTRICT ? levels[op.level - 1] : l;
  const S     *x   = vector_of(lx, op.x, rhs, solution);
  const S     *b   = vector_of(l, op.b, rhs, solution);
  S           *out = vector_of(lo, op.out, rhs, solution);

  switch (op.kind) {
  case SPMV_CYCLE_STEP:
    step_of(l, op, steps[op.step], x, b, out, team);
    break;
  case SPMV_CYCLE_POINT:
    point(l, op, steps[op.step], x, b, out, team);
    break;
  case SPMV_CYCLE_RESIDUAL:
    multiply(l.a[MATRIX], x, team, [&](int32_t row, S sum) { out[row] = __ldcg(b + row) - sum; });
    break;
  case SPMV_CYCLE_RESTRICT:
    multiply(l.a[DOWN], x, team, [&](int32_t row, S sum) { out[row] = sum; });
    break;
  case SPMV_CYCLE_INTERPOLATE:
    multiply(l.a[UP], x, team, [&](int32_t row, S sum) { out[row] = op.adds ? __ldcg(out + row) + sum : sum; });
    break;
  default:
    dense(l.a[MATRIX].rows, inverse, b, out, team);
  }
}

template <typename S>
__global__ void __launch_bounds__(THREADS)
    spmv_cycle_together(const Level *levels, const DeviceOp *ops, int count, const SpmvFactors *steps, const S *inverse,
                        const S *b, S *x)
{
  const Team grid = {(int32_t)(blockIdx.x * THREADS + threadIdx.x), (int32_t)(gridDim.x * THREADS)};
  const Team here = {(int32_t)threadIdx.x, THREADS};

  for (int i = 0; i < count; i++) {
    const DeviceOp op = ops[i];
    if (!op.alone) operate(levels, op.op, steps, inverse, b, x, grid);
    else if (blockIdx.x == 0) operate(levels, op.op, steps, inverse, b, x, here);
    if (i + 1 == count) return;
    if (op.alone && ops[i + 1].alone) __syncthreads();
    else cooperative_groups::this_grid().sync();
  }
}

const SpmvPlan *plan_of(const SpmvOperator &o) { return o.transposed ? o.plan->transpose.plan : o.plan; }

/* The levels that are done together: as many as have few rows and nonzeros, and whose matrices can be listed */
int levels_together(const SpmvCycle *cycle)
{
  const SpmvCycleOptions &o        = cycle->options;
  const int64_t           most     = o.together < 0 ? (int64_t)ROWS_MOST : o.together;
  int64_t                 rows     = cycle->grid[0].def.rows;
  int64_t                 nonzeros = rows * rows;
  int                     levels   = 1;

  if (!o.inverse || cycle->info.waits || rows > most || nonzeros > NONZEROS) return 0;
  for (; levels < o.levels; levels++) {
    const SpmvCycleLevel &l     = cycle->grid[levels].def;
    const SpmvOperator    all[] = {l.matrix, l.interpolation, l.restriction};
    rows += l.rows;
    for (const SpmvOperator &a : all) {
      if (!plan_of(a)) return levels;
      nonzeros += plan_of(a)->nnz;
    }
    if (rows > most || nonzeros > NONZEROS) return levels;
  }
  return levels;
}

int lanes_for(int64_t rows, int64_t nonzeros)
{
  int lanes = 1;

  while (lanes < 32 && (int64_t)lanes * 2 * rows < nonzeros) lanes *= 2;
  return lanes;
}

/* Arrays of all matrices, levels and operations in one block, and CSR structs that point to them */
SpmvStatus allocate(SpmvCycle *cycle, int levels, SpmvExec *exec)
{
  SpmvCycleTogether *t = cycle->together;
  int64_t            bytes[3 * BLOCK_CYCLE + 2];
  void              *array[3 * BLOCK_CYCLE + 2], **to[3 * BLOCK_CYCLE + 2];
  int                n = 0;

  for (int l = 1; l < levels; l++) {
    const SpmvCycleLevel &def   = cycle->grid[l].def;
    const SpmvOperator    all[] = {def.matrix, def.interpolation, def.restriction};
    for (int k = 0; k < MATRICES; k++) {
      const SpmvPlan *plan = plan_of(all[k]);
      t->plan[l][k]        = plan;
      bytes[n++]           = (plan->rows + 1) * (int64_t)sizeof(int32_t);
      bytes[n++]           = plan->nnz * (int64_t)sizeof(int32_t);
      bytes[n++]           = plan->nnz * spmv_scalar_bytes(plan->scalar_type);
    }
  }
  bytes[n++] = levels * (int64_t)sizeof(Level);
  bytes[n++] = cycle->ops * (int64_t)sizeof(DeviceOp);
  for (int i = 0; i < n; i++) {
    to[i] = &array[i];
    cycle->info.bytes += bytes[i];
  }
  SPMV_TRY(spmv_alloc_arrays(exec, n, bytes, "coarse levels of a cycle", to, &t->block));
  n = 0;
  for (int l = 1; l < levels; l++)
    for (int k = 0; k < MATRICES; k++, n += 3) {
      const SpmvPlan *plan = t->plan[l][k];
      SpmvCsr        &csr  = t->csr[l][k];
      csr.pattern          = {plan->rows, plan->cols,   plan->nnz, SPMV_I32, SPMV_DEVICE,
                              array[n],   array[n + 1], nullptr,   nullptr};
      csr.scalar_type      = plan->scalar_type;
      csr.values_space     = SPMV_DEVICE;
      csr.values           = array[n + 2];
    }
  t->level = (Level *)array[n];
  t->op    = (DeviceOp *)array[n + 1];
  return SPMV_SUCCESS;
}

Level describe(const SpmvCycle *cycle, int l)
{
  const SpmvCycleGrid &grid = cycle->grid[l];
  Level                level;

  memset(&level, 0, sizeof level);
  memcpy(level.vector, grid.vector, sizeof level.vector);
  for (int up = 0; up < 2; up++) {
    const SpmvCycleSmoother *s = spmv_cycle_smoother(&grid, up);
    level.m[up]                = s->values;
    level.block[up]            = spmv_point_block(s->kind, s->block_size);
  }
  for (int k = 0; k < MATRICES && l > 0; k++) {
    const SpmvCsr &csr = cycle->together->csr[l][k];
    level.a[k]         = {(const int32_t *)csr.pattern.row_ptr, (const int32_t *)csr.pattern.col, csr.values,
                          (int32_t)csr.pattern.rows, lanes_for(csr.pattern.rows, csr.pattern.nnz)};
  }
  level.a[MATRIX].rows = (int32_t)grid.def.rows;
  return level;
}

/* Nonzeros that an operation reads, or the rows of one without a matrix */
int64_t work_of(const SpmvCycle *cycle, const SpmvCycleOp &op)
{
  const SpmvCsr *a    = cycle->together->csr[op.level];
  const int64_t  rows = cycle->grid[op.level].def.rows;

  switch (op.kind) {
  case SPMV_CYCLE_POINT:
    return rows;
  case SPMV_CYCLE_COARSEST:
    return rows * rows;
  case SPMV_CYCLE_RESTRICT:
    return a[DOWN].pattern.nnz;
  case SPMV_CYCLE_INTERPOLATE:
    return a[UP].pattern.nnz;
  default:
    return a[MATRIX].pattern.nnz;
  }
}

/* Writes levels and operations, and chooses the number of thread blocks */
SpmvStatus write_program(SpmvCycle *cycle, int levels, int most_blocks, SpmvExec *exec)
{
  SpmvCycleTogether *t    = cycle->together;
  int64_t            most = 0;
  void              *memory;
  Level              level[SPMV_CYCLE_LEVELS];

  for (int l = 0; l < levels; l++) level[l] = describe(cycle, l);
  SPMV_TRY(spmv_copy(t->level, SPMV_DEVICE, level, SPMV_HOST, levels * (int64_t)sizeof *level, exec));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, cycle->ops * (int64_t)sizeof(DeviceOp), "operations of a cycle", &memory));
  DeviceOp *op = (DeviceOp *)memory;
  for (int i = 0; i < cycle->ops; i++) {
    const bool    here = cycle->op[i].level < levels;
    const int64_t work = here ? work_of(cycle, cycle->op[i]) : 0;
    op[i]              = {cycle->op[i], work <= ALONE};
    if (work > most) most = work;
  }
  const SpmvStatus status = spmv_copy(t->op, SPMV_DEVICE, op, SPMV_HOST, cycle->ops * (int64_t)sizeof(DeviceOp), exec);
  spmv_exec_free(exec, SPMV_HOST, memory);
  const int64_t wanted = most <= ALONE ? 1 : spmv_blocks(most, 4 * THREADS);
  t->blocks            = (int)(wanted < most_blocks ? wanted : most_blocks);
  return status;
}

SpmvStatus most_blocks(SpmvScalar scalar, int *blocks, SpmvExec *exec)
{
  return scalar == SPMV_F32 ? spmv_cooperative_blocks(spmv_cycle_together<float>, THREADS, blocks, exec)
                            : spmv_cooperative_blocks(spmv_cycle_together<double>, THREADS, blocks, exec);
}
} // namespace

SpmvStatus spmv_cycle_together_create(SpmvCycle *cycle, SpmvExec *exec)
{
  const int levels = levels_together(cycle);
  int       blocks = 0;
  void     *memory;

  if (levels < 2) return SPMV_SUCCESS; /* the coarsest alone is one kernel anyway */
  SPMV_TRY(most_blocks(cycle->options.scalar_type, &blocks, exec));
  if (blocks == 0) return SPMV_SUCCESS;
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof(SpmvCycleTogether), "coarse levels of a cycle", &memory));
  cycle->together = (SpmvCycleTogether *)memory;
  memset(cycle->together, 0, sizeof *cycle->together);
  SPMV_TRY(allocate(cycle, levels, exec));
  SPMV_TRY(write_program(cycle, levels, blocks, exec));
  for (int l = 1; l < levels; l++)
    for (int k = 0; k < MATRICES; k++)
      SPMV_TRY(spmv_csr_of_plan(cycle->together->plan[l][k], &cycle->together->csr[l][k], exec));
  cycle->info.together = levels;
  return SPMV_SUCCESS;
}

SpmvStatus spmv_cycle_together_renew(SpmvCycle *cycle, SpmvExec *exec)
{
  SpmvCycleTogether *t = cycle->together;

  for (int l = 1; l < cycle->info.together; l++)
    for (int k = 0; k < MATRICES; k++)
      SPMV_TRY(spmv_extract_values(t->plan[l][k], (void *)t->csr[l][k].values, SPMV_DEVICE, exec));
  return SPMV_SUCCESS;
}

template <typename S>
static SpmvStatus enqueue(const SpmvCycle *cycle, int begin, int end, const void *b, void *x, SpmvExec *exec)
{
  const SpmvCycleTogether *t = cycle->together;

  SPMV_LAUNCH_COOPERATIVE(exec, spmv_cycle_together<S>, t->blocks, THREADS, 0, (const Level *)t->level,
                          (const DeviceOp *)t->op + begin, end - begin, (const SpmvFactors *)cycle->steps,
                          (const S *)cycle->options.inverse, (const S *)b, (S *)x);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_cycle_together_apply(const SpmvCycle *cycle, int begin, int end, const void *b, void *x, SpmvExec *exec)
{
  return cycle->options.scalar_type == SPMV_F32 ? enqueue<float>(cycle, begin, end, b, x, exec)
                                                : enqueue<double>(cycle, begin, end, b, x, exec);
}

void spmv_cycle_together_destroy(SpmvCycle *cycle)
{
  SpmvCycleTogether *t = cycle->together;

  if (!t) return;
  spmv_free(&cycle->host, &cycle->device, SPMV_DEVICE, t->block);
  spmv_free(&cycle->host, &cycle->device, SPMV_HOST, t);
  cycle->together = nullptr;
}
