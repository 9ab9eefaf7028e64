/* outer.c - the conversions around a cycle in single precision between vectors in double precision: their
   sequence. */
#include "cycle.h"

/* Computes the scaling and the right-hand side of the finest level from b */
SpmvStatus spmv_outer_enter(const SpmvCycle *cycle, const void *b, SpmvExec *exec)
{
  const SpmvProcesses *processes = cycle->grid[cycle->options.levels - 1].def.matrix.processes;

  SPMV_TRY(cycle->slots->outer_sum(cycle, b, exec));
  /* all processes must use the same factor */
  if (processes) SPMV_TRY(processes->add(processes->ctx, cycle->outer.sums, 1, exec));
  return cycle->slots->outer_enter(cycle, b, exec);
}

/* Computes x from the solution of the finest level */
SpmvStatus spmv_outer_leave(const SpmvCycle *cycle, void *x, SpmvExec *exec)
{
  const SpmvCycleGrid *finest = &cycle->grid[cycle->options.levels - 1];

  return cycle->slots->outer_convert(cycle, SPMV_OUTER_LEAVE, finest->def.rows, finest->vector[SPMV_CYCLE_X0], x, exec);
}

/* Calls the function on the coarsest level with unscaled numbers, since it may compare them with tolerances */
SpmvStatus spmv_outer_coarse(const SpmvCycle *cycle, const void *b, void *x, SpmvExec *exec)
{
  const SpmvCycleOptions *o    = &cycle->options;
  const int64_t           rows = cycle->grid[0].def.rows;

  SPMV_TRY(cycle->slots->outer_convert(cycle, SPMV_OUTER_WIDEN, rows, b, cycle->outer.coarse_b, exec));
  SPMV_TRY(o->coarse(o->coarse_ctx, cycle->outer.coarse_b, cycle->outer.coarse_x, exec));
  return cycle->slots->outer_convert(cycle, SPMV_OUTER_NARROW, rows, cycle->outer.coarse_x, x, exec);
}
