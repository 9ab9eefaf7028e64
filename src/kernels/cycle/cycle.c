/* cycle.c - multigrid cycles: argument checks, memory, and what needs no CUDA. */
#include "cycle.h"
#include "engine/solve.h"
#include <math.h>
#include <string.h>

enum { STEPS_MAX = 1000 /* of one smoother */, VISITS_MAX = 100000 /* of the coarsest level by one call */ };

void spmv_cycle_options_init(SpmvCycleOptions *o)
{
  memset(o, 0, sizeof *o);
  o->cycles     = 1;
  o->dense_rows = -1;
}

/* ---- arguments ---- */

static SpmvStatus check_operator(const SpmvOperator *a, const char *name, int level, int64_t rows, int64_t cols,
                                 const SpmvCycleOptions *o, SpmvExec *exec)
{
  const SpmvPlan *plan = a->plan;

  if (!plan || plan->scalar_type != o->scalar_type || plan->space != SPMV_DEVICE ||
      (a->transposed ? plan->cols : plan->rows) != rows || (a->transposed ? plan->rows : plan->cols) != cols)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "cycle, level %d: the plan of the %s is missing, not on the device, of another scalar type or not "
                     "of %lld rows and %lld columns",
                     level, name, (long long)rows, (long long)cols);
  return SPMV_SUCCESS;
}

static SpmvStatus check_smoother(const SpmvCycleSmoother *s, const char *name, int level, int64_t rows, int scaled,
                                 SpmvExec *exec)
{
  if (s->steps < 0 || s->steps > STEPS_MAX)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "cycle, level %d: %d steps %s the correction, which must be 0 to %d",
                     level, s->steps, name, (int)STEPS_MAX);
  if (s->steps == 0) return SPMV_SUCCESS;
  if (!s->step)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "cycle, level %d: the array of factors of the %d steps %s the correction is NULL", level, s->steps,
                     name);
  if ((int)s->kind < SPMV_PC_IDENTITY || s->kind > SPMV_PC_FUNCTION ||
      (s->kind == SPMV_PC_FUNCTION && (!s->apply || scaled)))
    return spmv_fail(
        exec, SPMV_ERR_ARGUMENT,
        "cycle, level %d: M of the smoother %s the correction is of kind %d, but must be the identity, a diagonal, "
        "blocks, or a function, which is not NULL, without matrix_scale",
        level, name, (int)s->kind);
  if ((s->kind == SPMV_PC_DIAGONAL || s->kind == SPMV_PC_BLOCKS) && rows && !s->values)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "cycle, level %d: the values of M of the smoother %s the correction are NULL", level, name);
  if (s->kind == SPMV_PC_BLOCKS && (s->block_size < 2 || s->block_size > SPMV_PC_BLOCK_MAX || rows % s->block_size))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "cycle, level %d: %lld rows in blocks of %d, which must be 2 to %d and divide the rows", level,
                     (long long)rows, s->block_size, (int)SPMV_PC_BLOCK_MAX);
  return SPMV_SUCCESS;
}

static SpmvStatus check_level(const SpmvCycleOptions *o, int l, SpmvExec *exec)
{
  const SpmvCycleLevel *level = &o->level[l];

  if (level->rows < 0)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "cycle, level %d: %lld rows, which must be 0 or more", l,
                     (long long)level->rows);
  if (l == 0) return SPMV_SUCCESS;
  if (level->visits < 1)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "cycle, level %d: %d visits of the next coarser level, which must be 1 or "
                     "more",
                     l, level->visits);
  SPMV_TRY(check_operator(&level->matrix, "matrix", l, level->rows, level->rows, o, exec));
  SPMV_TRY(check_operator(&level->interpolation, "interpolation", l, level->rows, o->level[l - 1].rows, o, exec));
  SPMV_TRY(check_operator(&level->restriction, "restriction", l, o->level[l - 1].rows, level->rows, o, exec));
  SPMV_TRY(check_smoother(&level->down, "before", l, level->rows, o->matrix_scale != NULL, exec));
  return check_smoother(&level->up, "after", l, level->rows, o->matrix_scale != NULL, exec);
}

/* The length of the list of operations grows with the number of visits */
static SpmvStatus check_visits(const SpmvCycleOptions *o, SpmvExec *exec)
{
  double visits = o->cycles;

  for (int l = 1; l < o->levels; l++) visits *= o->level[l].visits;
  if (visits > VISITS_MAX)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "cycle: %.0f visits of the coarsest level in a call, which must be at most %d", visits,
                     (int)VISITS_MAX);
  return SPMV_SUCCESS;
}

static SpmvStatus check_options(const SpmvCycleOptions *o, SpmvExec *exec)
{
  if (o->levels < 1 || o->levels > SPMV_CYCLE_LEVELS)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "cycle: %d levels, which must be 1 to %d", o->levels,
                     (int)SPMV_CYCLE_LEVELS);
  if (!o->level) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "cycle: the array of levels is NULL");
  if (o->cycles < 1)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "cycle: %d cycles a call, which must be 1 or more", o->cycles);
  if (o->scalar_type != SPMV_F64 && o->scalar_type != SPMV_F32)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "cycle: unknown scalar type %d", (int)o->scalar_type);
  if (o->matrix_scale && o->scalar_type != SPMV_F32)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "cycle: matrix_scale is allowed only in single precision");
  if (o->level[0].rows > 0 && !o->inverse == !o->coarse)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "cycle: the coarsest level has %s, but needs either an inverse or a function",
                     o->inverse ? "both" : "neither");
  if (o->null_vectors < 0 || o->null_vectors > SPMV_SUMS_MAX)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "cycle: %d vectors of a null space, which must be 0 to %d",
                     o->null_vectors, (int)SPMV_SUMS_MAX);
  if (o->null_vectors > 0 && o->level[o->levels - 1].rows > 0 && !o->null_space)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "cycle: the array of the %d vectors of the null space is NULL",
                     o->null_vectors);
  for (int l = 0; l < o->levels; l++) SPMV_TRY(check_level(o, l, exec));
  SPMV_TRY(check_visits(o, exec));
  return spmv_check_device("cycle", exec);
}

/* ---- memory ---- */

/* Whether the cycle allocates a vector of a level. On the finest level the right-hand side and one iterate are the
   caller's, unless these are in another precision. */
static int has_vector(const SpmvCycle *cycle, int l, int vector)
{
  const int finest = l == cycle->options.levels - 1 && !cycle->options.matrix_scale;

  if (vector == SPMV_CYCLE_X0 || vector == SPMV_CYCLE_B) return !finest;
  if (vector == SPMV_CYCLE_Z) return l > 0 && spmv_cycle_has_function(&cycle->grid[l].def);
  return l > 0;
}

/* Adds the arrays for a caller's vectors in double precision to the list; returns the new number of arrays */
static int outer_arrays(SpmvCycle *cycle, int n, void **array[], int64_t bytes[])
{
  const int64_t coarse = cycle->options.coarse ? (cycle->grid[0].def.rows + 1) * (int64_t)sizeof(double) : 0;

  if (!cycle->options.matrix_scale) return n;
  array[n]   = (void **)&cycle->outer.sums;
  bytes[n++] = (1 + SPMV_OUTER_PARTS) * (int64_t)sizeof *cycle->outer.sums;
  array[n]   = (void **)&cycle->outer.factors;
  bytes[n++] = (int64_t)sizeof *cycle->outer.factors;
  array[n]   = &cycle->outer.coarse_b;
  bytes[n++] = coarse;
  array[n]   = &cycle->outer.coarse_x;
  bytes[n++] = coarse;
  return n;
}

static SpmvStatus allocate(SpmvCycle *cycle, SpmvExec *exec)
{
  enum { MOST = SPMV_CYCLE_LEVELS * SPMV_CYCLE_VECTORS + 6 };
  const int64_t scalar = spmv_scalar_bytes(cycle->options.scalar_type);
  int64_t       bytes[MOST];
  void        **array[MOST];
  int           n = 0;

  for (int l = 0; l < cycle->options.levels; l++)
    for (int v = 0; v < SPMV_CYCLE_VECTORS; v++)
      if (has_vector(cycle, l, v)) {
        array[n]   = &cycle->grid[l].vector[v];
        bytes[n++] = (cycle->grid[l].def.rows + 1) * scalar; /* + 1: NULL would mean the caller's vector */
      }
  array[n]   = (void **)&cycle->steps;
  bytes[n++] = cycle->count * (int64_t)sizeof *cycle->steps;
  array[n]   = (void **)&cycle->null_space.work;
  bytes[n++] = cycle->null_space.count * SPMV_PROJECT_WORK * (int64_t)sizeof(double);
  n          = outer_arrays(cycle, n, array, bytes);
  return spmv_object_hold(&cycle->object, SPMV_DEVICE, n, bytes, "vectors of a cycle", array, exec);
}

/* ---- SpmvCycleInfo ---- */

static double nonzeros(const SpmvOperator *a)
{
  return (double)a->plan->nnz + (a->ghost_plan ? (double)a->ghost_plan->nnz : 0);
}

/* Flops of a smoother step without the product by A: the product by M, and the sum of the terms with x_k and x_(k-1) */
static double point_flops(const SpmvCycle *cycle, const SpmvCycleOp *op)
{
  const SpmvCycleGrid     *grid = &cycle->grid[op->level];
  const SpmvCycleSmoother *s    = spmv_cycle_smoother(grid, op->up);
  const double             of_m = s->kind == SPMV_PC_BLOCKS ? 2 * s->block_size - 1 : s->kind == SPMV_PC_DIAGONAL;

  return (double)grid->def.rows * (1 + of_m + (op->x == SPMV_CYCLE_NONE ? 0 : 2) + (op->adds ? 2 : 0));
}

static double op_flops(const SpmvCycle *cycle, const SpmvCycleOp *op)
{
  const SpmvCycleLevel *level = &cycle->grid[op->level].def;
  const double          rows  = (double)level->rows;

  switch ((SpmvCycleKind)op->kind) {
  case SPMV_CYCLE_STEP:
    return 2 * nonzeros(&level->matrix) + point_flops(cycle, op);
  case SPMV_CYCLE_POINT:
    return point_flops(cycle, op);
  case SPMV_CYCLE_RESIDUAL:
    return 2 * nonzeros(&level->matrix);
  case SPMV_CYCLE_APPLY:
    return spmv_cycle_smoother(&cycle->grid[op->level], op->up)->flops;
  case SPMV_CYCLE_RESTRICT:
    return 2 * nonzeros(&level->restriction);
  case SPMV_CYCLE_INTERPOLATE:
    return 2 * nonzeros(&level->interpolation);
  default:
    return cycle->options.inverse ? (2 * rows + op->adds) * rows : 0;
  }
}

static int waits(const SpmvCycleOptions *o)
{
  if (o->coarse) return 1;
  for (int l = 1; l < o->levels; l++)
    if (spmv_operator_waits(&o->level[l].matrix) || spmv_operator_waits(&o->level[l].interpolation) ||
        spmv_operator_waits(&o->level[l].restriction))
      return 1;
  return 0;
}

/* ---- the object ---- */

static void take_levels(SpmvCycle *cycle)
{
  for (int l = 0; l < cycle->options.levels; l++) {
    SpmvCycleGrid *grid = &cycle->grid[l];

    grid->def           = cycle->options.level[l];
    grid->first_step[0] = cycle->count;
    if (l > 0) cycle->count += grid->def.down.steps;
    grid->first_step[1] = cycle->count;
    if (l > 0) cycle->count += grid->def.up.steps;
  }
  cycle->null_space =
      (SpmvProjection){.rows        = cycle->options.level[cycle->options.levels - 1].rows,
                       .count       = cycle->options.null_vectors,
                       .vectors     = cycle->options.null_space,
                       .scalar_type = cycle->options.matrix_scale ? SPMV_F64 : cycle->options.scalar_type,
                       .processes   = cycle->grid[cycle->options.levels - 1].def.matrix.processes};
  cycle->info.waits    = waits(&cycle->options);
  cycle->options.level = NULL; /* the caller's */
}

static SpmvStatus fill(SpmvCycle *cycle, const SpmvCycleOptions *options, SpmvExec *exec)
{
  const int finest = options->levels - 1;

  cycle->slots   = SPMV_DEVICE_SLOTS(spmv_cycle_device_slots);
  cycle->options = *options;
  take_levels(cycle);
  SPMV_TRY(allocate(cycle, exec));
  SPMV_TRY(cycle->slots->dense_create(cycle, exec));
  SPMV_TRY(spmv_cycle_program(cycle, cycle->bottom, finest, cycle->options.cycles, &cycle->program, exec));
  for (int i = 0; i < cycle->program.ops; i++) cycle->info.flops += op_flops(cycle, &cycle->program.op[i]);
  cycle->info.flops += 4.0 * cycle->null_space.count * (double)cycle->null_space.rows;
  if (cycle->options.matrix_scale) cycle->info.flops += 3.0 * (double)cycle->null_space.rows;
  cycle->info.bytes = cycle->object.bytes;
  return SPMV_SUCCESS;
}

SpmvStatus spmv_cycle_create(const SpmvCycleOptions *options, SpmvExec *exec, SpmvCycle **out)
{
  SPMV_TRY(spmv_object_create(check_options(options, exec), sizeof **out, "cycle", exec, out));
  SPMV_OBJECT_MADE(fill(*out, options, exec), spmv_cycle_destroy, out);
}

/* Whether the program visits the dense level from a nonzero guess */
static int reenters_dense(const SpmvCycle *cycle)
{
  for (int i = 0; i < cycle->program.ops && cycle->dense; i++)
    if (cycle->program.op[i].kind == SPMV_CYCLE_COARSEST && cycle->program.op[i].adds) return 1;
  return 0;
}

/* The dense matrix C replaces several levels; from a nonzero guess it gives x + C (b - A x). That equals the cycle on
   these levels only if the exact solution is a fixed point of each step, so the factors `current` and `before` must
   add up to 1. A NaN passes the check and makes the result NaN. */
static SpmvStatus check_fixed_point(const SpmvCycleSmoother *s, const char *name, int level, SpmvExec *exec)
{
  for (int k = 0; k < s->steps; k++) {
    const double sum = s->step[k].current + (k > 0 ? s->step[k].before : 0);
    if (fabs(sum - 1) > 1e-6)
      return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                       "cycle, level %d: factors of step %d %s the correction add up to %g, which must be 1 on levels "
                       "of a dense matrix: set dense_rows to 0",
                       level, k, name, sum);
  }
  return SPMV_SUCCESS;
}

/* Copies the steps of a smoother. If the matrices are scaled, the caller has divided M by the scale; for the
   identity, which has no values, the factor `correction` is divided instead. */
static SpmvStatus copy_steps(const SpmvCycle *cycle, const SpmvCycleSmoother *s, SpmvFactors *to, SpmvExec *exec)
{
  if (s->steps == 0) return SPMV_SUCCESS;
  if (!cycle->options.matrix_scale || s->kind != SPMV_PC_IDENTITY)
    return spmv_copy(to, SPMV_DEVICE, s->step, SPMV_HOST, s->steps * (int64_t)sizeof *to, exec);
  for (int k = 0; k < s->steps; k++) {
    SpmvFactors step = s->step[k];
    step.correction /= *cycle->options.matrix_scale;
    SPMV_TRY(spmv_copy(to + k, SPMV_DEVICE, &step, SPMV_HOST, (int64_t)sizeof step, exec));
  }
  return SPMV_SUCCESS;
}

static SpmvStatus renew_scale(const SpmvCycle *cycle, SpmvExec *exec)
{
  const SpmvOuterFactors now = {.scale = cycle->options.matrix_scale ? *cycle->options.matrix_scale : 1};
  int                    exponent;

  if (!cycle->options.matrix_scale) return SPMV_SUCCESS;
  if (!(now.scale > 0) || frexp(now.scale, &exponent) != 0.5)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "cycle: the matrices are scaled by %g, which must be a power of two",
                     now.scale);
  return spmv_copy(cycle->outer.factors, SPMV_DEVICE, &now, SPMV_HOST, (int64_t)sizeof now, exec);
}

SpmvStatus spmv_cycle_renew(SpmvCycle *cycle, SpmvExec *exec)
{
  const int fixed = reenters_dense(cycle);

  exec->message[0] = '\0';
  cycle->renewed   = 0;
  if (exec->space != SPMV_DEVICE) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "cycle: exec is not on the device");
  SPMV_TRY(renew_scale(cycle, exec));
  for (int l = 1; l < cycle->options.levels; l++)
    for (int up = 0; up < 2; up++) {
      const SpmvCycleGrid     *grid = &cycle->grid[l];
      const SpmvCycleSmoother *s    = spmv_cycle_smoother(grid, up);
      if (fixed && l <= cycle->bottom) SPMV_TRY(check_fixed_point(s, up ? "after" : "before", l, exec));
      SPMV_TRY(copy_steps(cycle, s, cycle->steps + grid->first_step[up], exec));
    }
  if (cycle->dense) SPMV_TRY(cycle->slots->dense_renew(cycle, exec));
  cycle->renewed = 1;
  return SPMV_SUCCESS;
}

void spmv_cycle_info(const SpmvCycle *cycle, SpmvCycleInfo *info) { *info = cycle->info; }

void spmv_cycle_destroy(SpmvCycle **cycle) { spmv_object_destroy(cycle); }
