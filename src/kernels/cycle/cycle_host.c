/* cycle_host.c - a cycle on the host: its vector operations, and the dense product of the coarsest level. */
#include "cycle.h"
#include "engine/point.h"

#define SPMV_BODY "cycle/cycle_host.inc"
#define SPMV_SCALAR_ONLY
#include "core/instantiate.h"

static SpmvStatus point(const SpmvCycle *cycle, const SpmvCycleGrid *grid, const SpmvCycleOp *op, const void *x,
                        const void *b, const void *w, void *out, SpmvExec *exec)
{
  (void)exec;
  if (cycle->options.scalar_type == SPMV_F32) point_f32(cycle, grid, op, x, b, w, out);
  else point_f64(cycle, grid, op, x, b, w, out);
  return SPMV_SUCCESS;
}

static SpmvStatus coarsest(const SpmvCycle *cycle, const void *b, void *x, int adds, SpmvExec *exec)
{
  (void)exec;
  (void)adds; /* always 0: on the host no dense matrix replaces several levels */
  if (cycle->options.scalar_type == SPMV_F32) dense_f32(cycle->grid[0].def.rows, cycle->options.inverse, b, x);
  else dense_f64(cycle->grid[0].def.rows, cycle->options.inverse, b, x);
  return SPMV_SUCCESS;
}

const SpmvCycleSlots spmv_cycle_host_slots = {.point         = point,
                                              .coarsest      = coarsest,
                                              .outer_sum     = spmv_outer_host_sum,
                                              .outer_enter   = spmv_outer_host_enter,
                                              .outer_convert = spmv_outer_host_convert};
