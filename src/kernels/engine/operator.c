/* operator.c - the product of a solver: by a plan, its transpose or its rounded values; on several processes it adds
   the product with the ghost columns, which other processes own, or, if transposed, sends this product to them. */
#include "core/format.h"
#include "solve.h"
#include <spmv_engine.h>
#include <spmv_values.h>

/* alpha and beta as scalars of the plan */
typedef struct {
  double d;
  float  f;
} Scalar;

static const void *of_type(SpmvScalar type, double value, Scalar *s)
{
  s->d = value;
  s->f = (float)value;
  return type == SPMV_F32 ? (const void *)&s->f : (const void *)&s->d;
}

static SpmvStatus multiply(const SpmvOperator *o, const void *alpha, const void *x, const void *beta, void *y,
                           SpmvExec *exec)
{
  if (o->transposed) return spmv_multtranspose(o->plan, alpha, x, beta, y, o->work, exec);
  if (o->rounded) return spmv_mult_rounded(o->plan, o->rounded, alpha, x, beta, y, o->work, exec);
  return spmv_mult(o->plan, alpha, x, beta, y, o->work, exec);
}

/* The transposed product on several processes. What other processes add travels during the product with the own
   columns. After a failure this process still takes part in the exchange, because the other processes wait for it. */
static SpmvStatus multiply_back(const SpmvOperator *o, const void *alpha, const void *x, const void *beta, void *y,
                                SpmvExec *exec)
{
  const SpmvProcesses *all    = o->processes;
  SpmvStatus           status = SPMV_SUCCESS, other;
  Scalar               zero;

  if (o->ghost_plan)
    status = spmv_multtranspose(o->ghost_plan, alpha, x, of_type(o->plan->scalar_type, 0, &zero), o->ghosts,
                                o->ghost_work, exec);
  other = all->begin_back(all->ctx, o->halo, o->ghosts, exec);
  if (other) return status ? status : other;
  other = multiply(o, alpha, x, beta, y, exec);
  if (!status) status = other;
  other = all->end_back(all->ctx, o->halo, y, exec);
  return status ? status : other;
}

SpmvStatus spmv_operator_mult(const SpmvOperator *o, double alpha, const void *x, double beta, void *y, SpmvExec *exec)
{
  Scalar      a, b;
  const void *by_a = of_type(o->plan->scalar_type, alpha, &a), *by_b = of_type(o->plan->scalar_type, beta, &b);

  if (o->processes && o->transposed) return multiply_back(o, by_a, x, by_b, y, exec);
  if (o->processes) SPMV_TRY(o->processes->begin(o->processes->ctx, o->halo, x, o->ghosts, exec));
  /* the exchange is ended even if the product fails, because the other processes wait for it */
  SpmvStatus status = multiply(o, by_a, x, by_b, y, exec);
  if (o->processes) {
    const SpmvStatus ended = o->processes->end(o->processes->ctx, o->halo, o->ghosts, exec);
    if (!status) status = ended;
  }
  if (status) return status;
  if (!o->ghost_plan) return SPMV_SUCCESS;
  by_b = of_type(o->plan->scalar_type, 1, &b);
  return spmv_mult(o->ghost_plan, by_a, o->ghosts, by_b, y, o->ghost_work, exec);
}

static int streams(const SpmvPlan *plan) { return plan && plan->space == SPMV_DEVICE && plan->memory.host_bytes > 0; }

int spmv_operator_waits(const SpmvOperator *o)
{
  return spmv_processes_wait(o->processes) || streams(o->plan) || streams(o->ghost_plan);
}

SpmvStatus spmv_operator_product(void *product, const void *p, void *w, SpmvExec *exec)
{
  return spmv_operator_mult((const SpmvOperator *)product, 1, p, 0, w, exec);
}
