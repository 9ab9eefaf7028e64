/* gmres_cases.c - for the tests of GMRES: a textbook implementation, and a solver with its matrix; see gmres_test.h. */
#include "gmres/gmres_test.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

CgMatrix gmres_matrix(int i, GmresKind kind)
{
  CgMatrix       a       = cg_matrix(i);
  const int32_t *row_ptr = a.pattern.row_ptr, *col = a.pattern.col;
  const int      n = (int)a.pattern.rows;
  double        *x = calloc((size_t)n + 1, sizeof *x);

  for (int r = 0; r < n; r++) {
    double sum = 0;
    for (int32_t k = row_ptr[r]; k < row_ptr[r + 1]; k++)
      if (col[k] != r) sum += fabs(a.values[k] *= col[k] < r ? 1.8 : 0.2);
    double *diagonal = cg_diagonal(&a, r);
    *diagonal        = kind == GMRES_SINGULAR ? sum : 0.3 + 1.1 * sum;
    if (kind == GMRES_INDEFINITE && r % 3 == 0) *diagonal *= -1;
    x[r] = cos(0.4 * r);
  }
  if (kind == GMRES_SINGULAR) cg_multiply(&a, x, a.b);
  free(x);
  return a;
}

GmresSetup gmres_setup(SpmvGmresMode mode)
{
  return (GmresSetup){.mode           = mode,
                      .restart        = 30,
                      .rtol           = 1e-8,
                      .divtol         = INFINITY,
                      .breakdown      = 0.1,
                      .max_iterations = 300,
                      .check_after    = -1,
                      .step           = INT64_MAX};
}

void gmres_outcome_free(GmresOutcome *o)
{
  free(o->x);
  free(o->norms);
}

/* ---- the textbook ---- */

typedef struct {
  const CgMatrix   *a;
  const GmresSetup *u;
  int               n;
  double           *m, *v, *t, *h, *c, *s, *g, *y; /* v: [restart + 1][n], h: [restart][restart + 1] */
} Book;

static void precondition(const Book *k, const double *r, double *z)
{
  if (k->u->function) cg_multiply(k->a, r, z);
  else cg_apply(k->m, k->u->block, k->n, r, z);
}

/* z = M A r, or A M r */
static void operate(const Book *k, const double *r, double *z)
{
  if (k->u->right) {
    precondition(k, r, k->t);
    cg_multiply(k->a, k->t, z);
  } else {
    cg_multiply(k->a, r, k->t);
    precondition(k, k->t, z);
  }
}

static double normalize(int n, double *x)
{
  const double norm = sqrt(cg_dot(n, x, x));

  for (int i = 0; i < n && norm > 0; i++) x[i] /= norm;
  return norm;
}

/* The first vector of a cycle; returns its norm */
static double begin_cycle(const Book *k, const double *x)
{
  double *r = k->v + k->n;

  cg_multiply(k->a, x, r);
  for (int i = 0; i < k->n; i++) r[i] = k->a->b[i] - r[i];
  if (k->u->right) memcpy(k->v, r, (size_t)k->n * sizeof *r);
  else precondition(k, r, k->v);
  k->g[0] = normalize(k->n, k->v);
  return k->g[0];
}

static double orthogonalize(const Book *k, int it)
{
  double *w = k->v + (it + 1) * k->n, *h = k->h + it * (k->u->restart + 1), lost = 0;

  for (int j = 0; j <= it; j++) h[j] = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int j = 0; j <= it; j++) k->y[j] = cg_dot(k->n, w, k->v + j * k->n);
    for (int j = 0; j <= it; j++) {
      for (int i = 0; i < k->n; i++) w[i] -= k->y[j] * k->v[j * k->n + i];
      h[j] += k->y[j];
      lost += k->y[j] * k->y[j];
    }
    if (k->u->refine == SPMV_GMRES_REFINE_NEVER) break;
    if (k->u->refine == SPMV_GMRES_REFINE_IF_NEEDED && sqrt(cg_dot(k->n, w, w)) >= sqrt(lost)) break;
  }
  return normalize(k->n, w);
}

/* Iteration `it` of a cycle; returns the norm of the residual */
static double iterate(const Book *k, int it)
{
  double *h = k->h + it * (k->u->restart + 1);

  operate(k, k->v + it * k->n, k->v + (it + 1) * k->n);
  h[it + 1] = orthogonalize(k, it);
  for (int j = 0; j < it; j++) {
    const double low = h[j];
    h[j]             = k->c[j] * low + k->s[j] * h[j + 1];
    h[j + 1]         = k->c[j] * h[j + 1] - k->s[j] * low;
  }
  const double length = sqrt(h[it] * h[it] + h[it + 1] * h[it + 1]);
  k->c[it]            = h[it] / length;
  k->s[it]            = h[it + 1] / length;
  k->g[it + 1]        = -k->s[it] * k->g[it];
  k->g[it] *= k->c[it];
  h[it] = length;
  return fabs(k->g[it + 1]);
}

static void update(const Book *k, int columns, double *x)
{
  double *sum = calloc(2 * (size_t)k->n + 1, sizeof *sum), *z = sum + k->n;

  for (int i = columns - 1; i >= 0; i--) {
    k->y[i] = k->g[i];
    for (int j = i + 1; j < columns; j++) k->y[i] -= k->h[j * (k->u->restart + 1) + i] * k->y[j];
    k->y[i] /= k->h[i * (k->u->restart + 1) + i];
    for (int r = 0; r < k->n; r++) sum[r] += k->y[i] * k->v[i * k->n + r];
  }
  if (k->u->right) precondition(k, sum, z);
  for (int r = 0; r < k->n; r++) x[r] += k->u->right ? z[r] : sum[r];
  free(sum);
}

static void guess(const GmresSetup *u, int n, double *x)
{
  for (int i = 0; i < n && u->guess; i++) x[i] = 0.3 * sin(1.3 * i);
}

GmresOutcome gmres_textbook(const CgMatrix *a, const GmresSetup *u)
{
  const size_t n = (size_t)a->pattern.rows, m = (size_t)u->restart + 2;
  double      *all = calloc((m + 2) * n + m * m + 4 * m, sizeof *all);
  Book         k   = {.a = a, .u = u, .n = (int)n, .m = cg_preconditioner(a, u->block), .v = all, .t = all + m * n};
  GmresOutcome o   = {.x = calloc(n + 1, sizeof *o.x), .norms = calloc(CG_HISTORY, sizeof *o.norms)};

  k.h = k.t + 2 * n;
  k.c = k.h + m * m;
  k.s = k.c + m;
  k.g = k.s + m;
  k.y = k.g + m;
  guess(u, k.n, o.x);
  double norm = o.norms[0] = begin_cycle(&k, o.x), limit = u->rtol * norm;
  while ((u->untested || norm > limit) && o.result.iterations < u->max_iterations) {
    int it = 0;
    while (it < u->restart && o.result.iterations < u->max_iterations && (it == 0 || u->untested || norm > limit)) {
      norm                           = iterate(&k, it++);
      o.norms[++o.result.iterations] = norm;
    }
    update(&k, it, o.x);
    if ((u->untested || norm > limit) && o.result.iterations < u->max_iterations)
      o.norms[o.result.iterations] = norm = begin_cycle(&k, o.x);
  }
  o.result.norm = norm;
  free(all);
  free(k.m);
  return o;
}

/* ---- the solver ---- */

void gmres_engine_open_by(GmresEngine *e, const CgMatrix *a, const GmresSetup *u, Hooks *hooks, SpmvApply product,
                          void *ctx)
{
  CgSetup          plain = cg_setup(SPMV_CG_CHUNK, SPMV_CG_NORM_NONE, 0);
  SpmvGmresOptions o;

  memset(e, 0, sizeof *e);
  e->setup         = *u;
  plain.scalar     = u->scalar;
  plain.own_stream = u->own_stream;
  cg_engine_open(&e->matrix, a, &plain, NULL);
  e->exec = e->matrix.plain;
  if (hooks) hooks_exec(hooks, e->exec.space, e->exec.stream, &e->exec);
  spmv_gmres_options_init(&o);
  o.rows           = a->pattern.rows;
  o.scalar_type    = u->scalar;
  o.mode           = u->mode;
  o.restart        = u->restart;
  o.refine         = u->refine;
  o.preconditioner = u->function    ? SPMV_PC_FUNCTION
                     : u->block > 1 ? SPMV_PC_BLOCKS
                     : u->block     ? SPMV_PC_DIAGONAL
                                    : SPMV_PC_IDENTITY;
  o.block_size     = u->block;
  o.right          = u->right;
  o.product        = product ? product : spmv_operator_product;
  o.product_ctx    = ctx ? ctx : &e->matrix.product;
  o.apply          = spmv_operator_product;
  o.apply_ctx      = &e->matrix.product;
  o.breakdown      = u->breakdown;
  if (u->happy > 0) o.happy = u->happy;
  o.processes = u->processes;
  o.history   = CG_HISTORY;
  o.chunk     = u->chunk;
  e->status   = spmv_gmres_create(&o, &e->exec, &e->gmres);
}

void gmres_engine_open(GmresEngine *e, const CgMatrix *a, const GmresSetup *u, Hooks *hooks)
{
  gmres_engine_open_by(e, a, u, hooks, NULL, NULL);
}

static void forget_vectors(GmresEngine *e)
{
  cg_release(&e->matrix, e->x);
  cg_release(&e->matrix, e->b);
  cg_release(&e->matrix, e->m);
  e->x = e->b = e->m = NULL;
}

void gmres_engine_close(GmresEngine *e)
{
  spmv_gmres_destroy(&e->gmres);
  forget_vectors(e);
  cg_engine_close(&e->matrix);
}

/* Allocates x, b and M, and starts a solve. *test has tolerances relative to the norm of iteration 0, or made of it. */
SpmvStatus gmres_engine_begin(GmresEngine *e, SpmvTest *test)
{
  const GmresSetup *u = &e->setup;
  const CgMatrix   *a = e->matrix.matrix;
  const int         n = (int)a->pattern.rows;
  double           *m = cg_preconditioner(a, u->block), *x = calloc((size_t)n + 1, sizeof *x);
  SpmvGmresResult   result;

  forget_vectors(e);
  guess(u, n, x);
  e->x = cg_put(&e->matrix, x, n);
  e->b = cg_put(&e->matrix, a->b, n);
  e->m = u->block && !u->function ? cg_put(&e->matrix, m, (int64_t)n * u->block) : NULL;
  free(m);
  free(x);
  if (e->fail_after) (void)e->fail_after(e->calls);
  *test = (SpmvTest){
      u->untested,      1, u->rtol, u->absolute, u->divtol, u->min_iterations, u->max_iterations, u->check_after,
      u->max_is_success};
  SpmvStatus status = spmv_gmres_start(e->gmres, e->x, e->b, e->m, !u->guess, &e->exec);
  if (status || !u->asks_first) return status;
  status           = spmv_gmres_run(e->gmres, 0, &(SpmvTest){.max_iterations = 1}, &result, &e->exec);
  test->relative   = 0;
  test->tolerance  = fmax(u->rtol * result.first, u->absolute);
  test->divergence = u->divtol * result.first;
  return status;
}

GmresOutcome gmres_engine_solve(GmresEngine *e)
{
  const int64_t n = e->matrix.matrix->pattern.rows;
  GmresOutcome  o = {.x = calloc((size_t)n + 1, sizeof *o.x), .norms = calloc(CG_HISTORY, sizeof *o.norms)};

  SpmvTest test;

  o.status = e->status;
  if (!o.status) o.status = gmres_engine_begin(e, &test);
  for (int64_t before = 0; !o.status; before = o.result.iterations) {
    o.status = spmv_gmres_run(e->gmres, e->setup.step, &test, &o.result, &e->exec);
    if (o.status || o.result.reason != SPMV_ITERATING) break;
    UNIT_EQUAL(before + e->setup.step, o.result.iterations);
  }
  o.norms[0] = o.result.first;
  if (!o.status) {
    o.status = spmv_gmres_history(e->gmres, 1, o.result.iterations, o.norms + 1, &e->exec);
    spmv_gmres_info(e->gmres, &o.info);
  }
  if (e->fail_after) e->failed = e->fail_after(-1);
  e->fail_after = NULL;
  if (e->x) cg_get(&e->matrix, e->x, o.x, n);
  return o;
}

GmresOutcome gmres_solve(const CgMatrix *a, const GmresSetup *u)
{
  GmresEngine  e;
  GmresOutcome o;

  gmres_engine_open(&e, a, u, NULL);
  o = gmres_engine_solve(&e);
  if (o.status) unit_check(0, a->name, __LINE__, e.exec.message);
  gmres_engine_close(&e);
  return o;
}
