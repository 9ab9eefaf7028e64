/* Tests of products by an SpmvOperator: alpha and beta, transposes, and ghost columns. They pass without a device. */
#include "unit.h"
#include "unit_plan.h"
#include <spmv_engine.h>
#include <stdlib.h>

enum { ROWS = 40, COLS = 30, GHOSTS = 12, MOST = 64 };

static int last_space(void) { return spmv_device_count(NULL) ? SPMV_DEVICE : SPMV_HOST; }

/* A process that is its own neighbour twice, by halves: the entries of x that it fetches, and how often it did. Both
   halves may have the same entries. */
typedef struct {
  int32_t    *index; /* [GHOSTS], in the space of the product */
  int         calls, open;
  const void *sent;
} Halo;

static SpmvStatus begin(void *ctx, void *halo, const void *x, void *ghosts, SpmvExec *exec)
{
  Halo *h = halo;

  UNIT_EQUAL(0, h->open++);
  h->calls++;
  if (exec->space == SPMV_DEVICE) return spmv_gather(GHOSTS, h->index, *(SpmvScalar *)ctx, x, ghosts, exec);
  for (int i = 0; i < GHOSTS; i++)
    if (*(SpmvScalar *)ctx == SPMV_F32) ((float *)ghosts)[i] = ((const float *)x)[h->index[i]];
    else ((double *)ghosts)[i] = ((const double *)x)[h->index[i]];
  return SPMV_SUCCESS;
}

static SpmvStatus end(void *ctx, void *halo, void *ghosts, SpmvExec *exec)
{
  Halo *h = halo;

  (void)ctx;
  (void)ghosts;
  (void)exec;
  UNIT_EQUAL(1, h->open--);
  return SPMV_SUCCESS;
}

static SpmvStatus begin_back(void *ctx, void *halo, const void *ghosts, SpmvExec *exec)
{
  Halo *h = halo;

  (void)ctx;
  (void)exec;
  UNIT_EQUAL(0, h->open++);
  h->calls++;
  h->sent = ghosts;
  return SPMV_SUCCESS;
}

static SpmvStatus end_back(void *ctx, void *halo, void *y, SpmvExec *exec)
{
  const SpmvScalar type = *(SpmvScalar *)ctx;
  Halo            *h    = halo;

  UNIT_EQUAL(1, h->open--);
  for (int i = 0; i < GHOSTS && exec->space == SPMV_DEVICE; i += GHOSTS / 2) {
    const char *from = (const char *)h->sent + i * spmv_scalar_bytes(type);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_scatter_add(GHOSTS / 2, h->index + i, type, from, y, exec));
  }
  for (int i = 0; i < GHOSTS && exec->space == SPMV_HOST; i++)
    if (type == SPMV_F32) ((float *)y)[h->index[i]] += ((const float *)h->sent)[i];
    else ((double *)y)[h->index[i]] += ((const double *)h->sent)[i];
  return SPMV_SUCCESS;
}

static double number(SpmvScalar type, const void *from, int64_t i)
{
  return type == SPMV_F32 ? (double)((const float *)from)[i] : ((const double *)from)[i];
}

/* y += A x or A^T x of small integers */
static void add_product(const UnitProblem *p, int transposed, const double *x, double *y)
{
  const SpmvCsr *a       = &p->csr;
  const int32_t *row_ptr = a->pattern.row_ptr, *col = a->pattern.col;

  for (int64_t i = 0; i < a->pattern.rows; i++)
    for (int32_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) {
      const double v = number(a->scalar_type, p->values, k);
      if (transposed) y[col[k]] += v * x[i];
      else y[i] += v * x[col[k]];
    }
}

/* n numbers in the space of exec */
static void *put(SpmvExec *exec, SpmvScalar type, const double *from, int n)
{
  float       single[MOST];
  const void *source = type == SPMV_F32 ? (const void *)single : (const void *)from;
  void       *to;

  for (int i = 0; i < n; i++) single[i] = (float)from[i];
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(exec, exec->space, n * 8, "a test", &to));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(to, exec->space, source, SPMV_HOST, n * spmv_scalar_bytes(type), exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(exec));
  return to;
}

static void check_equal(SpmvExec *exec, SpmvScalar type, const void *got, const double *expected, int n)
{
  double there[MOST];

  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(there, SPMV_HOST, got, exec->space, n * spmv_scalar_bytes(type), exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(exec));
  for (int i = 0; i < n; i++) UNIT_CHECK(number(type, there, i) == expected[i]);
}

/* Checks y = 2 A x - y, and y = A x by spmv_operator_product() */
static void check_products(SpmvOperator *o, SpmvExec *exec, SpmvScalar type, const double *x, int n, const double *ax,
                           int m)
{
  double before[MOST], expected[MOST];

  for (int i = 0; i < m; i++) {
    before[i]   = i % 7 - 3;
    expected[i] = 2 * ax[i] - before[i];
  }
  void *there = put(exec, type, x, n), *y = put(exec, type, before, m);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_operator_mult(o, 2, there, -1, y, exec));
  check_equal(exec, type, y, expected, m);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_operator_product(o, there, y, exec));
  check_equal(exec, type, y, ax, m);
  spmv_exec_free(exec, exec->space, there);
  spmv_exec_free(exec, exec->space, y);
}

static void *work_of(const SpmvPlan *plan, SpmvExec *exec)
{
  void *work;

  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(exec, exec->space, plan->memory.work_bytes, "a test", &work));
  return work;
}

static void check_format(const char *format, SpmvSpace space, SpmvScalar type)
{
  const GenSpec own_spec = gen_random(ROWS, COLS, 4, 1), ghost_spec = gen_random(ROWS, GHOSTS, 2, 2);
  UnitProblem   own = unit_problem(&own_spec, SPMV_I32, type), other = unit_problem(&ghost_spec, SPMV_I32, type);
  UnitPlan      a = unit_plan(space, format, &own.csr, "%s", ""), g = unit_plan(space, format, &other.csr, "%s", "");
  SpmvExec     *exec = &a.exec;
  SpmvOperator  o    = {.plan = a.plan, .work = work_of(a.plan, exec)};
  double        x[MOST], ghosts[GHOSTS], y[MOST] = {0}, yt[MOST] = {0}, back[GHOSTS] = {0};
  int32_t       index[GHOSTS];

  for (int i = 0; i < MOST; i++) x[i] = i % 5 - 2;
  for (int i = 0; i < GHOSTS; i++) ghosts[i] = x[index[i] = 7 * (i % (GHOSTS / 2)) % COLS + i / 9];
  add_product(&own, 0, x, y);
  check_products(&o, exec, type, x, COLS, y, ROWS);
  o.transposed = 1;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_prepare_transpose(a.plan, exec));
  add_product(&own, 1, x, yt);
  check_products(&o, exec, type, x, ROWS, yt, COLS);

  Halo                halo = {0};
  const SpmvProcesses both = {.ctx = &type, .begin = begin, .end = end, .begin_back = begin_back, .end_back = end_back};
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(exec, space, sizeof index, "a test", (void **)&halo.index));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(halo.index, space, index, SPMV_HOST, sizeof index, exec));
  o.transposed = 0;
  o.processes  = &both;
  o.halo       = &halo;
  o.ghosts     = put(exec, type, x, GHOSTS);
  check_products(&o, exec, type, x, COLS, y, ROWS); /* without ghost columns it still takes part in the exchange */
  UNIT_EQUAL(2, halo.calls);
  o.ghost_plan = g.plan;
  o.ghost_work = work_of(g.plan, exec);
  add_product(&other, 0, ghosts, y);
  check_products(&o, exec, type, x, COLS, y, ROWS);
  UNIT_EQUAL(4, halo.calls);
  o.transposed = 1;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_prepare_transpose(g.plan, exec));
  add_product(&other, 1, x, back);
  for (int i = 0; i < GHOSTS; i++) yt[index[i]] += back[i];
  check_products(&o, exec, type, x, ROWS, yt, COLS);
  UNIT_EQUAL(6, halo.calls);

  void *const blocks[] = {o.work, o.ghost_work, o.ghosts, halo.index};
  for (int i = 0; i < 4; i++) spmv_exec_free(exec, space, blocks[i]);
  unit_plan_clear(&a);
  unit_plan_clear(&g);
  unit_problem_clear(&own);
  unit_problem_clear(&other);
}

UNIT_TEST(operator_multiplies_by_what_it_is_made_of)
{
  for (int i = 0; i < spmv_format_count(); i++)
    for (int space = SPMV_HOST; space <= last_space(); space++)
      for (int type = SPMV_F64; type <= SPMV_F32; type++)
        check_format(spmv_format_get(i)->name, (SpmvSpace)space, (SpmvScalar)type);
}
