/* codsell_mult.c - products on the host, one body for all scalar types and instruction sets. */
#include "codsell_host.h"
#include <string.h>
#if SPMV_HAVE_X86_VARIANTS
  #include <immintrin.h>
#endif

/* The product of the slices, in which long rows are empty, is followed by that of the long rows */
#define SPMV_BODY "codsell/codsell_long.inc"
#include "core/instantiate.h"

/* The slices need no index type, since their positions have 32 bits */
#define SPMV_SCALAR_ONLY
#define SPMV_ISA_BODY "codsell/codsell_mult.inc"
#include "core/instantiate_isas.h"

void codsell_host_mult_by(SpmvIsa isa, const CodsellPlan *plan, const void *alpha, const void *x, const void *beta,
                          void *y)
{
  const SpmvScalar scalar = plan->base.scalar_type;

  SPMV_SELECT_ISA(isa, SPMV_SELECT_SCALAR, mult, scalar)(plan, alpha, x, beta, y);
  SPMV_SELECT(add_long_rows, plan->base.index_type, scalar)(plan, alpha, x, y);
}

SpmvStatus codsell_host_mult(const SpmvPlan *plan, const void *alpha, const void *x, const void *beta, void *y,
                             void *work, SpmvExec *exec)
{
  (void)work;
  (void)exec;
  codsell_host_mult_by(spmv_isa(), (const CodsellPlan *)plan, alpha, x, beta, y);
  return SPMV_SUCCESS;
}

SpmvStatus codsell_host_add_transposed(const SpmvPlan *plan, const void *alpha, const void *x, void *y, SpmvExec *exec)
{
  (void)exec;
  SPMV_SELECT(add_transposed, plan->index_type, plan->scalar_type)((const CodsellPlan *)plan, alpha, x, y);
  return SPMV_SUCCESS;
}
