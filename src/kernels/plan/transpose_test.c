/* Tests of plans of A^T whose order has 64 bits, as those of matrices with more than 2^31 - 1 nonzeros. They pass
   without a device. */
#include "check.h"
#include "plan.h"
#include "unit.h"
#include "unit_plan.h"
#include <stdlib.h>
#include <string.h>

#ifdef SPMV_HAVE_CUDA
  #include "aggregate/aggregate_test.h"

/* 2 A^T x with the values that the plan has */
static void check_transposed(UnitProblem *p, UnitPlan *u)
{
  const SpmvScalar scalar = p->csr.scalar_type;
  const int64_t    bytes  = p->most * spmv_scalar_bytes(scalar);
  const double     two = 2, zero = 0;
  const float      two_f = 2, zero_f = 0;
  void            *x = test_put(SPMV_DEVICE, p->x, bytes), *y = test_put(SPMV_DEVICE, NULL, bytes);
  CheckReference   reference;
  CheckFault       fault;

  UNIT_EQUAL(SPMV_SUCCESS, spmv_prepare_transpose(u->plan, &u->exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_multtranspose(u->plan, scalar == SPMV_F32 ? (const void *)&two_f : &two, x,
                                              scalar == SPMV_F32 ? (const void *)&zero_f : &zero, y, NULL, &u->exec));
  test_take(SPMV_DEVICE, y, p->y, bytes);
  test_take(SPMV_DEVICE, x, NULL, 0);
  UNIT_EQUAL(SPMV_SUCCESS, check_reference(&p->csr.pattern, scalar, p->values, p->x, 1, &reference));
  UNIT_CHECK(check_vector(&reference, scalar, GEN_EXACT, 2, 0, NULL, p->y, &fault));
  check_reference_free(&reference);
}

static void check_wide_order(const char *format, SpmvIndex index, SpmvScalar scalar)
{
  const GenSpec spec  = gen_random(90, 70, 6, 3);
  UnitProblem   p     = unit_problem(&spec, index, scalar);
  UnitPlan      u     = unit_plan(SPMV_DEVICE, format, &p.csr, " ");
  const int64_t bytes = u.plan->memory.total_bytes;

  check_transposed(&p, &u);
  UNIT_CHECK(u.plan->memory.total_bytes >= bytes + 8 * p.csr.pattern.nnz);
  gen_values(GEN_EXACT, 8, 10, scalar, p.csr.pattern.nnz, p.values);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(u.plan, p.values, SPMV_HOST, &u.exec));
  check_transposed(&p, &u);
  unit_plan_clear(&u);
  unit_problem_clear(&p);
}

static void check_formats(void)
{
  const int64_t usual = spmv_transpose_wide_from;

  spmv_transpose_wide_from = 1;
  for (int i = 0; i < spmv_format_count() && spmv_device_count(NULL); i++)
    for (int index = SPMV_I32; index <= SPMV_I64; index++)
      for (int scalar = SPMV_F64; scalar <= SPMV_F32; scalar++)
        check_wide_order(spmv_format_get(i)->name, (SpmvIndex)index, (SpmvScalar)scalar);
  spmv_transpose_wide_from = usual;
}
#else
/* A library without CUDA finds no device */
static void check_formats(void) {}
#endif

UNIT_TEST(transposed_plans_with_wide_orders) { check_formats(); }
