/* Tests of copies of maps to the host and on the device: values from a copy equal those from the original. */
#include "aggregate/aggregate_test.h"
#include "coo_test.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

static void check_values(const CooCase *c, const SpmvCooList *l, const SpmvCoo *from, SpmvSpace space)
{
  SpmvExec exec;
  SpmvCoo *copy;

  spmv_exec_init(&exec, space);
  if (!UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_copy(from, &exec, &copy))) return;
  for (int add = 0; add <= 1; add++) {
    CooCsr expected = coo_expected(c, l, SPMV_F64, add), got = coo_got(c, copy, SPMV_F64, add, &exec);
    UNIT_CHECK(coo_csr_same(&expected, &got));
    coo_csr_free(&expected);
    coo_csr_free(&got);
  }
  spmv_coo_destroy(&copy);
}

/* The values of the off-process entries; the caller frees them */
static double *gathered(const CooCase *c, const SpmvCooOthers *others, int64_t n, SpmvExec *exec)
{
  void   *v = test_put(exec->space, c->v, c->count[0] * 8), *out = test_put(exec->space, NULL, n * 8);
  double *here = calloc((size_t)n + 1, 8);

  UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_gather(others, SPMV_F64, v, out, exec));
  test_take(exec->space, out, here, n * 8);
  test_take(exec->space, v, NULL, 0);
  return here;
}

static void check_others(const CooCase *c, const SpmvCooOthers *from, SpmvExec *from_exec, SpmvSpace space)
{
  SpmvExec       exec;
  SpmvCooOthers *copy;
  SpmvCooPart    part[2];

  spmv_exec_init(&exec, space);
  if (!UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_others_copy(from, &exec, &copy))) return;
  spmv_coo_others_part(from, &part[0]);
  spmv_coo_others_part(copy, &part[1]);
  const int64_t n = part[0].count;
  UNIT_EQUAL(n, part[1].count);
  for (int a = 0; a < 2; a++) {
    int64_t *is  = test_fetch_indices(space, SPMV_I32, n, a ? part[1].j : part[1].i);
    int64_t *was = test_fetch_indices(from_exec->space, SPMV_I32, n, a ? part[0].j : part[0].i);

    UNIT_CHECK(!memcmp(is, was, (size_t)n * sizeof *is));
    free(is);
    free(was);
  }
  double *one = gathered(c, from, n, from_exec), *other = gathered(c, copy, n, &exec);
  UNIT_CHECK(!memcmp(one, other, (size_t)n * 8));
  free(one);
  free(other);
  spmv_coo_others_destroy(&copy);
}

UNIT_TEST(copies_give_the_values_of_their_originals)
{
  if (!spmv_device_count(NULL)) return;
  CooCase        c      = coo_case_named("scattered");
  CooPlaced      p      = coo_place(&c, COO_INSIDE, SPMV_I32, SPMV_HOST);
  SpmvCoo       *coo    = NULL;
  SpmvCooOthers *others = NULL;
  SpmvExec       exec;

  spmv_exec_init(&exec, SPMV_DEVICE);
  if (UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_create(&p.list, &exec, &coo)) &&
      UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_others(&p.list, &exec, &others)))
    for (int space = SPMV_HOST; space <= SPMV_DEVICE; space++) {
      check_values(&c, &p.list, coo, (SpmvSpace)space);
      check_others(&c, others, &exec, (SpmvSpace)space);
    }
  spmv_coo_destroy(&coo);
  spmv_coo_others_destroy(&others);
  coo_unplace(&p);
  coo_case_free(&c);
}
