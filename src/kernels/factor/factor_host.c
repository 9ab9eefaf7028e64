/* factor_host.c - factorizations and solves on the host: the reference for the device. It is compiled without fused
   additions, so that both have the same bits. */
#include "core/csr.h"
#include "factor.h"

#define SPMV_ROW         static
#define SPMV_LANE        0
#define SPMV_LANES       1
#define SPMV_TIMES(a, b) ((a) * (b))

#define SPMV_BODY "factor/factor_host.inc"
#define SPMV_SCALAR_ONLY
#include "core/instantiate.h"

static SpmvStatus attempt(SpmvFactorization *f, const void *values, const SpmvAttempt *a, SpmvFound *found,
                          SpmvExec *exec)
{
  (void)exec;
  SPMV_SELECT_SCALAR(attempt, f->scalar)(f, values, a, found);
  return SPMV_SUCCESS;
}

static SpmvStatus gather(SpmvFactorization *f, SpmvExec *exec)
{
  (void)exec;
  SPMV_SELECT_SCALAR(gather, f->scalar)(f);
  return SPMV_SUCCESS;
}

static SpmvStatus solve(SpmvFactorization *f, const SpmvTriangle *t, const SpmvFactorStep *step, SpmvExec *exec)
{
  (void)exec;
  SPMV_SELECT_SCALAR(solve, f->scalar)(f, t, step);
  return SPMV_SUCCESS;
}

static SpmvStatus relabel(int64_t count, const int32_t *table, int32_t *numbers, SpmvExec *exec)
{
  (void)exec;
  for (int64_t k = 0; k < count; k++) numbers[k] = table[numbers[k]];
  return SPMV_SUCCESS;
}

const SpmvFactorSlots spmv_factor_host_slots = {spmv_factor_analyse_on_host, attempt, gather, solve, relabel};
