/* Tests of a cycle that removes a null space from its result, with numbers for which sums are exact. They need a
   device, except for that of the arguments. */
#include "unit.h"
#include <spmv_cycle.h>
#include <math.h>
#include <stdlib.h>

enum { VECTORS = 2 };

/* One level with the identity as matrix, of 2^(2 k) rows */
typedef struct {
  SpmvScalar type;
  int        k;
  int64_t    rows;
  int        sums;  /* number of sums that were added over processes */
  int        outer; /* the cycle is in single precision between vectors in double precision */
} Case;

static SpmvStatus same(void *ctx, const void *b, void *x, SpmvExec *exec)
{
  const Case *c = ctx;

  return spmv_copy(x, exec->space, b, exec->space, c->rows * spmv_scalar_bytes(c->type), exec);
}

/* Simulates a second process with the same sums */
static SpmvStatus twice(void *ctx, double *sums, int n, SpmvExec *exec)
{
  double     there[SPMV_SUMS_MAX];
  SpmvStatus status = spmv_copy(there, SPMV_HOST, sums, exec->space, n * (int64_t)sizeof *sums, exec);

  if (!status) status = spmv_stream_wait(exec);
  for (int i = 0; i < n; i++) there[i] *= 2;
  if (!status) status = spmv_copy(sums, exec->space, there, SPMV_HOST, n * (int64_t)sizeof *sums, exec);
  if (!status) status = spmv_stream_wait(exec); /* before `there` goes out of scope */
  ((Case *)ctx)->sums += n;
  return status;
}

static void *put(const Case *c, SpmvExec *exec, const double *from, int64_t n)
{
  const int64_t bytes  = n * spmv_scalar_bytes(c->type);
  float        *single = malloc((size_t)n * sizeof *single + 1);
  void         *to;

  for (int64_t i = 0; i < n; i++) single[i] = (float)from[i];
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(exec, exec->space, bytes + 1, "a test", &to));
  UNIT_EQUAL(SPMV_SUCCESS,
             spmv_copy(to, exec->space, c->type == SPMV_F32 ? (void *)single : (void *)from, SPMV_HOST, bytes, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(exec));
  free(single);
  return to;
}

static void check(Case *c, SpmvExec *exec, int several)
{
  const int64_t        n     = c->rows;
  const double         size  = 1.0 / (1 << c->k); /* absolute value of the entries of the orthonormal vectors */
  const double         scale = 4;
  const SpmvProcesses  many  = {.ctx = c, .add = twice};
  const SpmvCycleLevel level = {.rows = n, .matrix.processes = several ? &many : NULL};
  double              *b = malloc((size_t)n * sizeof *b + 1), *v = malloc((size_t)n * VECTORS * sizeof *v + 1);
  double               mean = 0, alternating = 0;
  SpmvCycleOptions     options;
  SpmvCycle           *cycle;

  for (int64_t i = 0; i < n; i++) {
    const double sign = i % 2 ? -1 : 1;

    b[i]     = (double)(i % 5 == 0 ? 7 : i % 3) - 1;
    v[i]     = size;
    v[n + i] = size * sign;
    mean += size * size * b[i];
    alternating += size * size * sign * b[i];
  }
  void *b_there = put(c, exec, b, n), *x = put(c, exec, b, n), *v_there = put(c, exec, v, VECTORS * n);
  spmv_cycle_options_init(&options);
  options.levels       = 1;
  options.level        = &level;
  options.scalar_type  = c->outer ? SPMV_F32 : c->type;
  options.matrix_scale = c->outer ? &scale : NULL;
  options.coarse       = same;
  options.coarse_ctx   = c;
  options.null_space   = v_there;
  options.null_vectors = VECTORS;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cycle_create(&options, exec, &cycle));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cycle_renew(cycle, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cycle_apply(cycle, b_there, x, exec));
  UNIT_EQUAL(several ? VECTORS + c->outer : 0, c->sums);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(v, SPMV_HOST, x, exec->space, n * spmv_scalar_bytes(c->type), exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(exec));
  for (int64_t i = 0, wrong = 0; i < n && !wrong; i++) {
    const double taken    = (several ? 2 : 1) * (mean + (i % 2 ? -1 : 1) * alternating);
    const double got      = c->type == SPMV_F32 ? (double)((float *)v)[i] : v[i];
    const double expected = c->type == SPMV_F32 ? (double)((float)b[i] - (float)taken) : b[i] - taken;
    wrong                 = !UNIT_CHECK(got == expected);
  }
  spmv_cycle_destroy(&cycle);
  spmv_exec_free(exec, exec->space, b_there);
  spmv_exec_free(exec, exec->space, x);
  spmv_exec_free(exec, exec->space, v_there);
  free(b);
  free(v);
}

UNIT_TEST(cycle_takes_a_null_space_out_of_its_result)
{
  if (!spmv_device_count(NULL)) return;
  for (int type = 0; type < 3; type++)
    for (int k = 1; k <= 9; k += 4) /* the last has more rows than the kernel of the sums has threads */
      for (int several = 0; several < 2; several++) {
        Case     c = {.type = type == 1 ? SPMV_F32 : SPMV_F64, .k = k, .rows = (int64_t)1 << 2 * k, .outer = type == 2};
        SpmvExec exec;

        spmv_exec_init(&exec, SPMV_DEVICE);
        check(&c, &exec, several);
      }
}

UNIT_TEST(cycle_with_a_null_space_without_rows)
{
  if (!spmv_device_count(NULL)) return;
  for (int outer = 0; outer < 2; outer++) {
    Case     c = {.type = SPMV_F64, .outer = outer};
    SpmvExec exec;

    spmv_exec_init(&exec, SPMV_DEVICE);
    check(&c, &exec, 1);
  }
}

UNIT_TEST(cycle_refuses_what_is_no_null_space)
{
  SpmvCycleLevel   level = {.rows = 1};
  SpmvCycleOptions options;
  SpmvCycle       *cycle;
  Case             c = {.type = SPMV_F64, .rows = 1};
  SpmvExec         exec;

  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_cycle_options_init(&options);
  options.levels     = 1;
  options.level      = &level;
  options.coarse     = same;
  options.coarse_ctx = &c;
  options.null_space = &level;
  for (int i = 0; i < 3; i++) {
    static const int count[] = {-1, SPMV_SUMS_MAX + 1, 1};

    if (i == 2) options.null_space = NULL;
    options.null_vectors = count[i];
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cycle_create(&options, &exec, &cycle));
    UNIT_CONTAINS(i < 2 ? "vectors of a null space, which must be 0 to 64" : "vectors of the null space is NULL",
                  exec.message);
  }
}
