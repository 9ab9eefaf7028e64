/* apply.c - does the operations of a cycle, one after the other. */
#include "cycle.h"

/* Whether the product with A can do a step and the residual in the same kernel */
static int in_product(const SpmvOperator *a)
{
  return !a->processes && !a->transposed && !a->rounded && spmv_has_step(a->plan);
}

/* A fused step; or w = A x and a vector operation */
static SpmvStatus step(const SpmvCycle *cycle, const SpmvCycleOp *op, const void *x, const void *b, void *out,
                       SpmvExec *exec)
{
  const SpmvCycleGrid     *grid = &cycle->grid[op->level];
  const SpmvOperator      *a    = &grid->def.matrix;
  const SpmvCycleSmoother *s    = spmv_cycle_smoother(grid, op->up);
  void                    *w    = grid->vector[SPMV_CYCLE_W];

  if (in_product(a)) {
    const SpmvStep in_it = {cycle->steps + op->step, s->kind == SPMV_PC_DIAGONAL ? s->values : NULL, b, op->adds};
    return spmv_mult_step(a->plan, x, &in_it, out, a->work, exec);
  }
  SPMV_TRY(spmv_operator_mult(a, 1, x, 0, w, exec));
  return cycle->slots->point(cycle, grid, op, x, b, w, out, exec);
}

static SpmvStatus residual(const SpmvCycle *cycle, const SpmvCycleOp *op, const void *x, const void *b, void *out,
                           SpmvExec *exec)
{
  const SpmvCycleLevel *level = &cycle->grid[op->level].def;
  const SpmvOperator   *a     = &level->matrix;
  const int64_t         bytes = level->rows * spmv_scalar_bytes(cycle->options.scalar_type);

  if (in_product(a)) {
    const SpmvStep only = {.b = b};
    return spmv_mult_step(a->plan, x, &only, out, a->work, exec);
  }
  SPMV_TRY(spmv_copy(out, SPMV_DEVICE, b, SPMV_DEVICE, bytes, exec));
  return spmv_operator_mult(a, -1, x, 1, out, exec);
}

static SpmvStatus coarsest(const SpmvCycle *cycle, const void *b, void *x, int adds, SpmvExec *exec)
{
  const SpmvCycleOptions *o = &cycle->options;

  if (o->coarse && o->matrix_scale) return spmv_outer_coarse(cycle, b, x, exec);
  if (o->coarse) return o->coarse(o->coarse_ctx, b, x, exec);
  return o->inverse ? cycle->slots->coarsest(cycle, b, x, adds, exec) : SPMV_SUCCESS; /* no rows on this process */
}

static SpmvStatus operate(const SpmvCycle *cycle, const SpmvCycleOp *op, const void *rhs, void *solution,
                          SpmvExec *exec)
{
  const int            l       = op->level;
  const SpmvCycleGrid *grid    = &cycle->grid[l];
  const int            x_level = op->kind == SPMV_CYCLE_INTERPOLATE ? l - 1 : l;
  const void          *x       = spmv_cycle_vector(cycle, x_level, op->x, rhs, solution);
  const void          *b       = spmv_cycle_vector(cycle, l, op->b, rhs, solution);
  void *out = spmv_cycle_vector(cycle, op->kind == SPMV_CYCLE_RESTRICT ? l - 1 : l, op->out, rhs, solution);

  switch ((SpmvCycleKind)op->kind) {
  case SPMV_CYCLE_STEP:
    return step(cycle, op, x, b, out, exec);
  case SPMV_CYCLE_POINT:
    return cycle->slots->point(cycle, grid, op, x, b, NULL, out, exec);
  case SPMV_CYCLE_RESIDUAL:
    return residual(cycle, op, x, b, out, exec);
  case SPMV_CYCLE_APPLY:
    return spmv_cycle_smoother(grid, op->up)->apply(spmv_cycle_smoother(grid, op->up)->ctx, b, out, exec);
  case SPMV_CYCLE_RESTRICT:
    return spmv_operator_mult(&grid->def.restriction, 1, x, 0, out, exec);
  case SPMV_CYCLE_INTERPOLATE:
    return spmv_operator_mult(&grid->def.interpolation, 1, x, op->adds, out, exec);
  default:
    return coarsest(cycle, b, out, op->adds, exec);
  }
}

SpmvStatus spmv_cycle_apply(SpmvCycle *cycle, const void *b, void *x, SpmvExec *exec)
{
  exec->message[0] = '\0';
  if (exec->space != SPMV_DEVICE || !cycle->renewed)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "cycle: not on the device, or without spmv_cycle_renew()");
  if (cycle->grid[cycle->options.levels - 1].def.rows > 0 && (!b || !x))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "cycle: b or x is missing");
  if (cycle->options.matrix_scale) SPMV_TRY(spmv_outer_enter(cycle, b, exec));
  for (int i = 0; i < cycle->program.ops; i++) SPMV_TRY(operate(cycle, &cycle->program.op[i], b, x, exec));
  if (cycle->options.matrix_scale) SPMV_TRY(spmv_outer_leave(cycle, x, exec));
  return spmv_project(&cycle->null_space, x, exec);
}

SpmvStatus spmv_cycle_function(void *cycle, const void *b, void *x, SpmvExec *exec)
{
  return spmv_cycle_apply((SpmvCycle *)cycle, b, x, exec);
}
