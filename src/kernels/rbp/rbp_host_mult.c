/* rbp_host_mult.c - products of the packed host layout, one body for all type pairs and instruction sets. */
#include "rbp_host.h"
#include <string.h>
#if SPMV_HAVE_X86_VARIANTS
  #include <immintrin.h>
#endif

#define RBP_EACH_GROUP_SIZE(do_) do_(1) do_(2) do_(3) do_(4) do_(5) do_(6)
_Static_assert(RBP_MAX_GROUP == 6, "RBP_EACH_GROUP_SIZE names every size of a group");

#define SPMV_BODY "rbp/rbp_host_head.inc"
#include "core/instantiate.h"

#define SPMV_ISA_BODY "rbp/rbp_host_mult.inc"
#include "core/instantiate_isas.h"

#define SPMV_BODY "rbp/rbp_host_transpose.inc"
#include "core/instantiate.h"

void rbp_host_mult_by(SpmvIsa isa, const RbpHostPacked *plan, const void *alpha, const void *x, const void *beta,
                      void *y)
{
  SPMV_SELECT_ISA(isa, SPMV_SELECT, mult, plan->base.index_type, plan->base.scalar_type)(plan, alpha, x, beta, y);
}

SpmvStatus rbp_host_add_transposed(const SpmvPlan *plan, const void *alpha, const void *x, void *y, SpmvExec *exec)
{
  (void)exec;
  SPMV_SELECT(add_transposed, plan->index_type, plan->scalar_type)((const RbpHostPacked *)plan, alpha, x, y);
  return SPMV_SUCCESS;
}
