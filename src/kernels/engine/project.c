/* project.c - the projection of project.h: the sequence of steps, and the steps on the host. */
#include "project.h"

#define SPMV_BODY "engine/project.inc"
#define SPMV_SCALAR_ONLY
#include "core/instantiate.h"

static SpmvStatus dots(const SpmvProjection *p, const void *x, SpmvExec *exec)
{
  (void)exec;
  if (p->scalar_type == SPMV_F32) dots_f32(p, p->vectors, x);
  else dots_f64(p, p->vectors, x);
  return SPMV_SUCCESS;
}

static SpmvStatus subtract(const SpmvProjection *p, void *x, SpmvExec *exec)
{
  (void)exec;
  if (p->scalar_type == SPMV_F32) subtract_f32(p, p->vectors, x);
  else subtract_f64(p, p->vectors, x);
  return SPMV_SUCCESS;
}

static const SpmvProjectSlots on_host = {dots, subtract};

SpmvStatus spmv_project(const SpmvProjection *p, void *x, SpmvExec *exec)
{
  const SpmvProjectSlots *slots = exec->space == SPMV_DEVICE ? SPMV_DEVICE_SLOTS(spmv_project_device) : &on_host;

  if (p->count == 0) return SPMV_SUCCESS;
  SPMV_TRY(slots->dots(p, x, exec));
  if (p->processes) SPMV_TRY(p->processes->add(p->processes->ctx, p->work, p->count, exec));
  return slots->subtract(p, x, exec);
}
