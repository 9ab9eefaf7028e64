/* cg_cases.c - for the tests of conjugate gradients: a textbook implementation, and a solver with its matrix; see
   cg_test.h. */
#include "cg/cg_test.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int32_t *row_ptr_of(const CgMatrix *a) { return a->pattern.row_ptr; }
static const int32_t *col_of(const CgMatrix *a) { return a->pattern.col; }

void cg_set_mode(CgSetup *u, int mode)
{
  u->single_reduction = mode > SPMV_CG_PERSISTENT;
  u->mode             = (SpmvCgMode)(u->single_reduction ? mode - CG_SINGLE_CHUNK : mode);
}

CgSetup cg_setup(int mode, SpmvCgNorm norm, int block)
{
  CgSetup u = {.norm           = norm,
               .block          = block,
               .rtol           = 1e-9,
               .divtol         = INFINITY,
               .max_iterations = 1000,
               .check_after    = -1,
               .step           = INT64_MAX};

  cg_set_mode(&u, mode);
  return u;
}

void cg_outcome_free(CgOutcome *o)
{
  free(o->x);
  free(o->norms);
}

void cg_check_x(const CgMatrix *a, const double *got, const double *expected, double tolerance)
{
  double largest = 0;

  for (int64_t i = 0; i < a->pattern.rows; i++) largest = fmax(largest, fabs(expected[i]));
  for (int64_t i = 0; i < a->pattern.rows; i++)
    if (!unit_check(fabs(got[i] - expected[i]) <= tolerance * largest, a->name, __LINE__, "x differs")) break;
}

/* The inverse of the diagonal block of n rows from row `first` on, stored by columns; by elimination without
   pivoting */
static void invert_block(const CgMatrix *a, int first, int n, double *inverse)
{
  double b[SPMV_PC_BLOCK_MAX][2 * SPMV_PC_BLOCK_MAX] = {{0}};

  for (int i = 0; i < n; i++) {
    for (int32_t k = row_ptr_of(a)[first + i]; k < row_ptr_of(a)[first + i + 1]; k++)
      if (col_of(a)[k] >= first && col_of(a)[k] < first + n) b[i][col_of(a)[k] - first] = a->values[k];
    b[i][n + i] = 1;
  }
  for (int p = 0; p < n; p++) {
    const double pivot = b[p][p];
    for (int j = 0; j < 2 * n; j++) b[p][j] /= pivot;
    for (int i = 0; i < n; i++) {
      const double factor = b[i][p];
      for (int j = 0; j < 2 * n && i != p; j++) b[i][j] -= factor * b[p][j];
    }
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) inverse[j * n + i] = b[i][n + j];
}

double *cg_preconditioner(const CgMatrix *a, int block)
{
  const int n = (int)a->pattern.rows;
  double   *m = calloc((size_t)n * (size_t)(block + 1) + 1, sizeof *m);

  for (int i = 0; block && i < n; i += block) invert_block(a, i, block, m + (size_t)i * (size_t)block);
  return m;
}

void cg_apply(const double *m, int block, int n, const double *r, double *z)
{
  for (int i = 0; i < n; i++) {
    const int first = block ? i - i % block : 0;
    z[i]            = block ? 0 : r[i];
    for (int j = 0; j < block; j++) z[i] += m[first * block + j * block + i - first] * r[first + j];
  }
}

double cg_dot(int n, const double *x, const double *y)
{
  double sum = 0;

  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

double cg_norm(SpmvCgNorm norm, int n, const double *r, const double *z)
{
  switch (norm) {
  case SPMV_CG_PRECONDITIONED:
    return sqrt(cg_dot(n, z, z));
  case SPMV_CG_UNPRECONDITIONED:
    return sqrt(cg_dot(n, r, r));
  case SPMV_CG_NATURAL:
    return sqrt(fabs(cg_dot(n, r, z)));
  default:
    return 0;
  }
}

void cg_multiply(const CgMatrix *a, const double *p, double *w)
{
  for (int i = 0; i < a->pattern.rows; i++) {
    w[i] = 0;
    for (int32_t k = row_ptr_of(a)[i]; k < row_ptr_of(a)[i + 1]; k++) w[i] += a->values[k] * p[col_of(a)[k]];
  }
}

CgOutcome cg_textbook(const CgMatrix *a, const CgSetup *u)
{
  const int n = (int)a->pattern.rows;
  double   *v = calloc(4 * (size_t)n + 1, sizeof *v), *r = v, *z = v + n, *p = z + n, *w = p + n;
  double   *m = cg_preconditioner(a, u->block), beta_before = 1;
  CgOutcome o = {.x = calloc((size_t)n + 1, sizeof *o.x), .norms = calloc(CG_HISTORY, sizeof *o.norms)};

  memcpy(r, a->b, (size_t)n * sizeof *r);
  cg_apply(m, u->block, n, r, z);
  o.norms[0]         = cg_norm(u->norm, n, r, z);
  const double limit = u->rtol * o.norms[0];
  double       beta  = cg_dot(n, r, z);
  while (o.result.completed < u->max_iterations) {
    for (int i = 0; i < n; i++) p[i] = o.result.completed ? z[i] + beta / beta_before * p[i] : z[i];
    cg_multiply(a, p, w);
    const double alpha = beta / cg_dot(n, p, w);
    for (int i = 0; i < n; i++) {
      o.x[i] += alpha * p[i];
      r[i] -= alpha * w[i];
    }
    cg_apply(m, u->block, n, r, z);
    beta_before                   = beta;
    beta                          = cg_dot(n, r, z);
    o.norms[++o.result.completed] = cg_norm(u->norm, n, r, z);
    o.result.norm                 = o.norms[o.result.completed];
    if (u->norm != SPMV_CG_NORM_NONE && o.result.norm <= limit) break;
  }
  free(v);
  free(m);
  return o;
}

static void *put(CgEngine *e, const void *from, int64_t bytes)
{
  void *to = NULL;

  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&e->plain, e->plain.space, bytes + 1, "a test", &to));
  if (from) UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(to, e->plain.space, from, SPMV_HOST, bytes, &e->plain));
  return to;
}

void *cg_put(CgEngine *e, const double *from, int64_t n)
{
  float *single = calloc((size_t)n + 1, sizeof *single);

  for (int64_t i = 0; i < n; i++) single[i] = (float)from[i];
  void *to = e->setup.scalar == SPMV_F32 ? put(e, single, n * 4) : put(e, from, n * 8);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&e->plain));
  free(single);
  return to;
}

static void *put_values(CgEngine *e)
{
  const int64_t nnz     = e->matrix->pattern.nnz;
  double       *rounded = calloc((size_t)nnz + 1, sizeof *rounded);

  for (int64_t k = 0; k < nnz; k++) rounded[k] = (double)(float)e->matrix->values[k];
  void *to = cg_put(e, e->setup.rounded ? rounded : e->matrix->values, nnz);
  free(rounded);
  return to;
}

void cg_get(CgEngine *e, const void *from, double *to, int64_t n)
{
  float *single = calloc((size_t)n + 1, sizeof *single);
  void  *there  = e->setup.scalar == SPMV_F32 ? (void *)single : (void *)to;

  UNIT_EQUAL(SPMV_SUCCESS,
             spmv_copy(there, SPMV_HOST, from, e->plain.space, n * spmv_scalar_bytes(e->setup.scalar), &e->plain));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&e->plain));
  for (int64_t i = 0; i < n && e->setup.scalar == SPMV_F32; i++) to[i] = single[i];
  free(single);
}

void cg_release(CgEngine *e, void *block) { spmv_exec_free(&e->plain, e->plain.space, block); }

static void open_matrix(CgEngine *e)
{
  const SpmvPattern *p      = &e->matrix->pattern;
  const SpmvFormat  *format = spmv_format_find("crsv");
  SpmvAnalysis       analysis;
  SpmvOptions        options;

  e->row_ptr             = put(e, p->row_ptr, (p->rows + 1) * 4);
  e->col                 = put(e, p->col, p->nnz * 4);
  e->values              = put_values(e);
  e->csr.pattern         = *p;
  e->csr.pattern.space   = e->plain.space;
  e->csr.pattern.row_ptr = e->row_ptr;
  e->csr.pattern.col     = e->col;
  e->csr.scalar_type     = e->setup.scalar;
  e->csr.values_space    = e->plain.space;
  e->csr.values          = e->values;
  spmv_options_init(&options, format);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_analyze(format, &e->csr.pattern, e->setup.scalar, &options, &e->plain, &analysis));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_build(&e->csr, &analysis, &e->plain, &e->plan));
  spmv_analysis_clear(&analysis, &e->plain);
  e->work    = e->plan->memory.work_bytes ? put(e, NULL, e->plan->memory.work_bytes) : NULL;
  e->product = (SpmvOperator){.plan = e->plan, .work = e->work};
}

void cg_engine_open(CgEngine *e, const CgMatrix *a, const CgSetup *u, Hooks *hooks)
{
  cg_engine_open_by(e, a, u, hooks, spmv_operator_product, &e->product);
}

void cg_engine_open_by(CgEngine *e, const CgMatrix *a, const CgSetup *u, Hooks *hooks, SpmvApply product, void *ctx)
{
  SpmvCgOptions o;

  memset(e, 0, sizeof *e);
  e->matrix = a;
  e->setup  = *u;
  spmv_exec_init(&e->plain, SPMV_DEVICE);
  if (u->own_stream) UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_create(&e->plain, &e->plain.stream));
  e->exec = e->plain;
  if (hooks) hooks_exec(hooks, e->plain.space, e->plain.stream, &e->exec);
  open_matrix(e);
  spmv_cg_options_init(&o);
  o.rows             = a->pattern.rows;
  o.scalar_type      = u->scalar;
  o.mode             = u->mode;
  o.preconditioner   = u->block > 1 ? SPMV_PC_BLOCKS : u->block ? SPMV_PC_DIAGONAL : SPMV_PC_IDENTITY;
  o.block_size       = u->block;
  o.product          = product;
  o.product_ctx      = ctx;
  o.matrix           = &e->csr;
  o.processes        = u->processes;
  o.history          = u->history ? u->history : CG_HISTORY;
  o.chunk            = u->chunk;
  o.single_reduction = u->single_reduction;
  e->status          = spmv_cg_create(&o, &e->exec, &e->cg);
}

void cg_engine_renew(CgEngine *e)
{
  const int64_t nnz    = e->matrix->pattern.nnz;
  void         *values = put_values(e);

  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(e->values, e->plain.space, values, e->plain.space,
                                     nnz * spmv_scalar_bytes(e->setup.scalar), &e->plain));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(e->plan, e->values, e->plain.space, &e->plain));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&e->plain));
  cg_release(e, values);
}

void cg_engine_close(CgEngine *e)
{
  void *const blocks[] = {e->work, e->x, e->r, e->m, e->row_ptr, e->col, e->values};

  spmv_cg_destroy(&e->cg);
  spmv_destroy(&e->plan);
  for (int i = 0; i < 7; i++) cg_release(e, blocks[i]);
  spmv_stream_destroy(e->plain.stream);
}

/* Allocates x = 0, r = b and M. Returns the norm of iteration 0. */
static double begin(CgEngine *e)
{
  const CgSetup *u = &e->setup;
  const int      n = (int)e->matrix->pattern.rows;
  double        *m = cg_preconditioner(e->matrix, u->block), *z = calloc((size_t)n + 1, sizeof *z), norm;

  if (u->m) memcpy(m, u->m, (size_t)n * sizeof *m);
  cg_release(e, e->x);
  cg_release(e, e->r);
  cg_release(e, e->m);
  e->x = cg_put(e, z, n);
  e->r = cg_put(e, e->matrix->b, n);
  e->m = u->block ? cg_put(e, m, (int64_t)n * u->block) : NULL;
  cg_apply(m, u->block, n, e->matrix->b, z);
  norm = cg_norm(u->norm, n, e->matrix->b, z);
  free(m);
  free(z);
  return norm;
}

/* The test of a setup with these tolerances */
static SpmvTest test_of(const CgSetup *u, int relative, double tolerance, double divergence)
{
  return (SpmvTest){.relative       = relative,
                    .tolerance      = tolerance,
                    .absolute       = u->absolute,
                    .divergence     = divergence,
                    .min_iterations = u->min_iterations,
                    .max_iterations = u->max_iterations,
                    .check_after    = u->check_after,
                    .max_is_success = u->max_is_success};
}

/* r = b - A x in double precision; returns its norm */
static double true_residual(CgEngine *e)
{
  const CgSetup *u = &e->setup;
  const int      n = (int)e->matrix->pattern.rows;
  const double  *b = e->matrix->b;
  double        *m = cg_preconditioner(e->matrix, u->block), *x = calloc(3 * (size_t)n + 1, sizeof *x);
  double        *r = x + n, *z = r + n, norm;

  cg_get(e, e->x, x, n);
  cg_multiply(e->matrix, x, r);
  for (int i = 0; i < n; i++) r[i] = b[i] - r[i];
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(e->r, e->plain.space, r, SPMV_HOST, n * (int64_t)sizeof *r, &e->plain));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&e->plain));
  cg_apply(m, u->block, n, r, z);
  norm = cg_norm(u->norm, n, r, z);
  free(x);
  free(m);
  return norm;
}

CgOutcome cg_engine_refine(CgEngine *e, double drop, int restart, int *corrections)
{
  const CgSetup *u    = &e->setup;
  const int64_t  n    = e->matrix->pattern.rows;
  CgOutcome      o    = {.x = calloc((size_t)n + 1, sizeof *o.x), .norms = calloc(CG_HISTORY, sizeof *o.norms)};
  double         norm = begin(e), limit = u->rtol * norm;
  SpmvTest       test = test_of(u, 0, fmax(limit, drop * norm), u->divtol * norm);

  *corrections = 0;
  o.status     = spmv_cg_start(e->cg, e->x, e->r, e->m, u->norm, &e->exec);
  while (!o.status) {
    o.status = spmv_cg_run(e->cg, u->step, &test, &o.result, &e->exec);
    if (o.status || o.result.reason < 0) break;
    if (o.result.reason == SPMV_ITERATING) continue;
    norm = true_residual(e);
    if (norm <= limit || drop == 0) break;
    test.tolerance = fmax(limit, drop * norm);
    o.status       = spmv_cg_correct(e->cg, restart, &e->exec);
    ++*corrections;
  }
  o.norms[0] = norm;
  cg_get(e, e->x, o.x, n);
  return o;
}

CgOutcome cg_engine_solve(CgEngine *e)
{
  const CgSetup *u    = &e->setup;
  const int64_t  n    = e->matrix->pattern.rows;
  CgOutcome      o    = {.x = calloc((size_t)n + 1, sizeof *o.x), .norms = calloc(CG_HISTORY, sizeof *o.norms)};
  SpmvTest       test = test_of(u, 1, u->rtol, u->divtol);

  o.status = e->status;
  (void)begin(e);
  if (!o.status) o.status = spmv_cg_start(e->cg, e->x, e->r, e->m, u->norm, &e->exec);
  if (!o.status && u->asks_first) {
    o.status = spmv_cg_run(e->cg, 0, &(SpmvTest){.max_iterations = 1}, &o.result, &e->exec);
    test     = test_of(u, 0, fmax(u->rtol * o.result.first, u->absolute), u->divtol * o.result.first);
  }
  for (int64_t before = 0; !o.status;) {
    o.status = spmv_cg_run(e->cg, u->step, &test, &o.result, &e->exec);
    if (o.status || o.result.reason != SPMV_ITERATING) break;
    UNIT_EQUAL(before + u->step, o.result.completed);
    before = o.result.completed;
  }
  o.norms[0] = o.result.first;
  if (!o.status) {
    o.status = spmv_cg_history(e->cg, 1, o.result.completed, o.norms + 1, &e->exec);
    spmv_cg_info(e->cg, &o.info);
  }
  cg_get(e, e->x, o.x, n);
  return o;
}

CgOutcome cg_solve(const CgMatrix *a, const CgSetup *u)
{
  CgEngine  e;
  CgOutcome o;

  cg_engine_open(&e, a, u, NULL);
  o = cg_engine_solve(&e);
  if (o.status) unit_check(0, a->name, __LINE__, e.exec.message);
  cg_engine_close(&e);
  return o;
}

/* ---- functions of the caller, and faults ---- */

SpmvStatus cg_add_alone(void *other_, double *sums, int n, SpmvExec *exec)
{
  const CgOther *other = other_;

  (void)sums;
  (void)n;
  return other && other->fails ? spmv_fail(exec, SPMV_ERR_DEVICE, "the sum fails on purpose") : SPMV_SUCCESS;
}

SpmvStatus cg_agree(void *other_, int *end, SpmvExec *exec)
{
  CgOther *other = other_;

  (void)exec;
  other->ends += *end;
  if (++other->asked == other->most) *end = 1;
  return SPMV_SUCCESS;
}

SpmvStatus cg_add_twice(void *twice_, double *sums, int n, SpmvExec *exec)
{
  CgTwice *twice = twice_;

  twice->calls++;
  twice->sums += n;
  return spmv_convert(n, 2, SPMV_F64, sums, SPMV_F64, sums, exec);
}

SpmvStatus cg_count_calls(void *calls, const void *p, void *w, SpmvExec *exec)
{
  (void)p;
  (void)w;
  (void)exec;
  if (calls) ++*(int *)calls;
  return SPMV_SUCCESS;
}

SpmvStatus cg_failing_product(void *failing, const void *p, void *w, SpmvExec *exec)
{
  FailingProduct *f = failing;

  if (++f->calls == f->fail_at) return spmv_fail(exec, SPMV_ERR_DEVICE, "the product fails on purpose");
  return spmv_operator_product(f->plan, p, w, exec);
}

void cg_fail_each_allocation(SpmvSpace fault, SpmvStatus (*attempt)(void *ctx, Hooks *, int *made), void *ctx)
{
  int64_t fail_at = 0, calls;

  do {
    Hooks hooks;
    int   made = 0;
    hooks_init(&hooks);
    hooks_counter(&hooks, fault)->fail_at = ++fail_at;
    const SpmvStatus status               = attempt(ctx, &hooks, &made);
    calls                                 = hooks_counter(&hooks, fault)->calls;
    UNIT_EQUAL(calls >= fail_at ? SPMV_ERR_MEMORY : SPMV_SUCCESS, status);
    UNIT_CHECK(made == (calls < fail_at));
    UNIT_CHECK(hooks_clean(&hooks));
    hooks_drop(&hooks);
  } while (calls >= fail_at && fail_at < 50);
  UNIT_CHECK(fail_at > 1 && fail_at < 50);
}
