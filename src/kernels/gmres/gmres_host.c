/* gmres_host.c - GMRES on the host, with the same decisions as on the device. */
#include "gmres.h"

/* The vector operations of one scalar type */
typedef struct {
  void (*residual)(const SpmvGmres *, int zero,
                   int stored);     /* b - A x; stored: in t only, for a function on the left */
  void (*begin)(const SpmvGmres *); /* the first vector from u, for a function on the left */
  double (*squares)(const SpmvGmres *, int k);
  void (*unroll)(const SpmvGmres *, int k, const void *from, int block); /* the new vector from the product */
  double (*dot)(const SpmvGmres *, int j, int k);
  void (*take)(const SpmvGmres *, int k);
  void (*next)(const SpmvGmres *, int k); /* the argument of the next product */
  void (*combine)(const SpmvGmres *, void *to);
  void (*add)(const SpmvGmres *, void *to);
} Kind;

#define SPMV_BODY "gmres/gmres_host.inc"
#define SPMV_SCALAR_ONLY
#include "core/instantiate.h"

static const Kind *kind_of(const SpmvGmres *g) { return g->options.scalar_type == SPMV_F32 ? &kind_f32 : &kind_f64; }

/* Begins a cycle, if x has changed */
static SpmvStatus begin_cycle(SpmvGmres *g, int zero, SpmvExec *exec)
{
  SpmvGmresState *s    = g->state;
  const Kind     *kind = kind_of(g);

  if (!s->begins) return SPMV_SUCCESS;
  if (!zero) SPMV_TRY(spmv_gmres_product(g, g->x, g->t, exec));
  const int stored = spmv_gmres_has_function(g) && !g->options.right;
  kind->residual(g, zero, stored);
  if (stored) {
    SPMV_TRY(spmv_gmres_apply(g, exec));
    kind->begin(g);
  }
  s->sums[0] = kind->squares(g, 0);
  SPMV_TRY(spmv_add_sums(g->options.processes, s->sums, 1, exec));
  spmv_gmres_take_residual(s, s->sums[0]);
  g->position = 0;
  return SPMV_SUCCESS;
}

static SpmvStatus start(SpmvGmres *g, int x_is_zero, SpmvExec *exec)
{
  *g->state = g->start;
  return begin_cycle(g, x_is_zero, exec);
}

static SpmvStatus set_test(SpmvGmres *g, const SpmvTest *test, SpmvExec *exec)
{
  (void)exec;
  g->state->test = *test;
  return SPMV_SUCCESS;
}

static SpmvStatus first_norm(SpmvGmres *g, double *norm, SpmvExec *exec)
{
  (void)exec;
  *norm = g->state->first;
  return SPMV_SUCCESS;
}

/* Orthogonalizes vector k + 1 against vectors 0 .. k of the basis */
static SpmvStatus orthogonalize(SpmvGmres *g, int k, int second, SpmvExec *exec)
{
  SpmvGmresState *s       = g->state;
  int             numbers = 1;

  for (int j = 0; j <= k; j++) s->sums[j] = kind_of(g)->dot(g, j, k);
  SPMV_TRY(spmv_add_sums(g->options.processes, s->sums, k + 1, exec));
  for (int j = 0; j <= k; j++) numbers &= spmv_gmres_take_dot(s, j, s->sums[j], second);
  spmv_gmres_take_dots(s, numbers);
  if (s->active) kind_of(g)->take(g, k);
  return SPMV_SUCCESS;
}

static SpmvStatus measure(SpmvGmres *g, int k, int may_refine, SpmvExec *exec)
{
  SpmvGmresState *s = g->state;

  s->sums[0] = kind_of(g)->squares(g, k + 1);
  SPMV_TRY(spmv_add_sums(g->options.processes, s->sums, 1, exec));
  spmv_gmres_rotate(s, k);
  spmv_gmres_take_squares(s, k, s->sums[0], may_refine);
  return SPMV_SUCCESS;
}

static SpmvStatus iterate(SpmvGmres *g, SpmvExec *exec)
{
  const SpmvGmresRefine refine   = g->options.refine;
  const int             function = spmv_gmres_has_function(g), k = g->position++;
  SpmvGmresState       *s = g->state;

  if (function && g->options.right) SPMV_TRY(spmv_gmres_apply(g, exec));
  SPMV_TRY(spmv_gmres_multiply(g, k, exec));
  if (function && !g->options.right) SPMV_TRY(spmv_gmres_apply(g, exec));
  kind_of(g)->unroll(g, k, function && !g->options.right ? g->u : g->t, spmv_gmres_left(g));
  SPMV_TRY(orthogonalize(g, k, 0, exec));
  if (s->active && refine != SPMV_GMRES_REFINE_ALWAYS)
    SPMV_TRY(measure(g, k, refine == SPMV_GMRES_REFINE_IF_NEEDED, exec));
  if (s->active) { /* it is orthogonalized a second time */
    SPMV_TRY(orthogonalize(g, k, 1, exec));
    if (s->active) SPMV_TRY(measure(g, k, 0, exec));
  }
  if (spmv_gmres_next(g)) kind_of(g)->next(g, k + 1);
  return SPMV_SUCCESS;
}

/* Writes the solution to `to`, if there is one to write */
static SpmvStatus solve(SpmvGmres *g, void *to, int look, SpmvExec *exec)
{
  SpmvGmresState *s       = g->state;
  const int       columns = spmv_gmres_due(s, look);

  for (int j = 0; j < columns; j++) s->y[j] = s->g[j];
  for (int i = columns - 1; i >= 0; i--) spmv_gmres_eliminate(s, i, 0, 1);
  for (int i = 0; i < columns; i++) spmv_gmres_unscale(s, i);
  spmv_gmres_close_cycle(s, columns, look);
  if (columns == 0 && !look) return SPMV_SUCCESS;
  kind_of(g)->combine(g, to);
  if (!spmv_gmres_has_function(g) || !g->options.right) return SPMV_SUCCESS;
  SPMV_TRY(spmv_gmres_apply(g, exec));
  kind_of(g)->add(g, to);
  if (look) kind_of(g)->next(g, g->position); /* restores t, which was overwritten */
  return SPMV_SUCCESS;
}

static SpmvStatus run(SpmvGmres *g, int64_t iterations, SpmvRecord *record, SpmvExec *exec)
{
  SpmvGmresState *s = g->state;

  s->stop_at = s->record.completed + iterations;
  while (!spmv_gmres_stopped(s)) {
    SPMV_TRY(iterate(g, exec));
    SPMV_TRY(solve(g, g->x, 0, exec));
    SPMV_TRY(begin_cycle(g, 0, exec));
  }
  *record = s->record;
  return SPMV_SUCCESS;
}

static SpmvStatus solution(SpmvGmres *g, void *to, SpmvExec *exec) { return solve(g, to, 1, exec); }

const SpmvGmresSteps spmv_gmres_host_steps = {
    .start = start, .set_test = set_test, .first_norm = first_norm, .run = run, .solution = solution};
