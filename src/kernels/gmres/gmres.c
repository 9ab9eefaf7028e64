/* gmres.c - GMRES: argument checks, memory, and what host and device have in common. */
#include "gmres.h"
#include <string.h>

enum { CHUNK_MAX = 64, STRIDE = 32 /* scalars: vectors of the basis begin at a multiple of 128 bytes */ };

static const char who[] = "GMRES";

void spmv_gmres_options_init(SpmvGmresOptions *o)
{
  memset(o, 0, sizeof *o);
  o->restart   = 30;
  o->happy     = 1e-30;
  o->breakdown = 0.1;
}

static SpmvStatus check_options(const SpmvGmresOptions *o, SpmvExec *exec)
{
  if (o->rows < 0 || o->history < 0 || o->chunk < 0 || o->chunk > CHUNK_MAX)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: %lld rows, %lld norms to keep, chunks of %d", who,
                     (long long)o->rows, (long long)o->history, o->chunk);
  if (o->restart < 1 || o->restart > SPMV_GMRES_RESTART_MAX)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: a restart after %d iterations, which must be 1 to %d", who,
                     o->restart, SPMV_GMRES_RESTART_MAX);
  if ((int)o->mode < SPMV_GMRES_HOST || o->mode > SPMV_GMRES_GRAPH || (int)o->refine < SPMV_GMRES_REFINE_NEVER ||
      o->refine > SPMV_GMRES_REFINE_ALWAYS || (o->scalar_type != SPMV_F64 && o->scalar_type != SPMV_F32))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: unknown mode, refinement or scalar type", who);
  SPMV_TRY(spmv_check_preconditioner(who, o->preconditioner, o->block_size, o->apply, o->rows, exec));
  if (o->mode == SPMV_GMRES_GRAPH &&
      (spmv_processes_wait(o->processes) || (o->preconditioner == SPMV_PC_FUNCTION && o->apply_waits)))
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED,
                     "%s does not run in graphs if communication or the preconditioner waits for the host: use chunks",
                     who);
  if (!o->product) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: no product", who);
  return spmv_check_space(who, o->mode == SPMV_GMRES_HOST ? SPMV_HOST : SPMV_DEVICE, exec);
}

/* Sets the addresses of the arrays of a state, one after the other in `small`, or NULL. Returns the number of
   doubles. */
static int64_t lay_out(SpmvGmresState *s, double *small, int restart)
{
  const int64_t  n = restart, n1 = n + 1;
  double **const array[] = {&s->scale, &s->sums, &s->h, &s->take, &s->g, &s->cosine, &s->sine, &s->y, &s->r};
  const int64_t  count[] = {n1, n1, n1, n1, n1, n, n, n, n * n1};
  int64_t        all     = 0;

  for (int i = 0; i < 9; i++) {
    *array[i] = small ? small + all : NULL;
    all += count[i];
  }
  return all;
}

static SpmvStatus allocate(SpmvGmres *g, SpmvExec *exec)
{
  const SpmvGmresOptions *o        = &g->options;
  const int64_t           S        = spmv_scalar_bytes(o->scalar_type);
  const int               wants_u  = o->right || spmv_gmres_has_function(g);
  const int64_t           partials = SPMV_SUM_GRID_MAX + (int64_t)SPMV_GMRES_DOTS_GRID * (o->restart + 1);

  g->stride                    = (o->rows + STRIDE - 1) / STRIDE * STRIDE;
  const SpmvSolverArray list[] = {
      {&g->basis, (o->restart + 1) * g->stride * S},
      {&g->t, o->rows * S},
      {&g->u, wants_u ? o->rows * S : 0},
      {(void **)&g->state, sizeof(SpmvGmresState)},
      {(void **)&g->small, lay_out(&g->start, NULL, o->restart) * (int64_t)sizeof(double)},
      {(void **)&g->partial, partials * (int64_t)sizeof(double)},
      {(void **)&g->history, o->history * (int64_t)sizeof(double)},
  };
  return spmv_solver_alloc(list, sizeof list / sizeof *list, "basis of GMRES", &g->block, &g->bytes, exec);
}

/* Words and flops of an iteration beside the product. One kernel reads t, M and the basis and writes the new vector;
   the other reads that and the basis and writes it and, on the right, M v. The basis has (restart + 1) / 2 vectors on
   average. */
static void describe(SpmvGmres *g)
{
  const int    block = spmv_gmres_block(g), of_m = block > 0 ? block : 0;
  const double rows = (double)g->options.rows, mean = (g->options.restart + 1) / 2.0;

  g->info.bytes         = g->bytes;
  g->info.words         = rows * (2 * mean + 4 + of_m + (g->options.right ? 1 : 0));
  g->info.traffic_bytes = g->info.words * (double)spmv_scalar_bytes(g->options.scalar_type);
  g->info.flops         = rows * (4 * mean + 3 + (of_m ? 2 * of_m - 1 : 0));
}

SpmvStatus spmv_gmres_create(const SpmvGmresOptions *options, SpmvExec *exec, SpmvGmres **out)
{
  void *memory;

  *out             = NULL;
  exec->message[0] = '\0';
  SPMV_TRY(check_options(options, exec));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof **out, who, &memory));
  SpmvGmres *g = memory;
  memset(g, 0, sizeof *g);
  g->steps   = exec->space == SPMV_DEVICE ? SPMV_DEVICE_SLOTS(spmv_gmres_device_steps) : &spmv_gmres_host_steps;
  g->options = *options;
  if (options->preconditioner == SPMV_PC_IDENTITY) g->options.right = 0; /* left and right are the same */
  g->space          = exec->space;
  g->host           = exec->host;
  g->device         = exec->device;
  SpmvStatus status = allocate(g, exec);
  if (!status) describe(g);
  if (!status && g->steps->prepare) status = g->steps->prepare(g, exec);
  if (status) spmv_gmres_destroy(&g);
  *out = g;
  return status;
}

static SpmvStatus check_test(const SpmvTest *test, SpmvExec *exec)
{
  if (test->max_iterations < 1)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: max_iterations %lld is below 1", who,
                     (long long)test->max_iterations);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_gmres_start(SpmvGmres *g, void *x, const void *b, const void *m, int x_is_zero, const SpmvTest *test,
                            SpmvExec *exec)
{
  const SpmvPreconditioner kind  = g->options.preconditioner;
  const int                wants = kind == SPMV_PC_DIAGONAL || kind == SPMV_PC_BLOCKS;

  exec->message[0] = '\0';
  g->started       = 0;
  if (exec->space != g->space)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: the solver was created for another space", who);
  if (g->options.rows > 0 && (!x || !b || !m != !wants))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "%s: x, b or M is missing, or M is given although the options have no preconditioner with values",
                     who);
  SPMV_TRY(check_test(test, exec));
  memset(&g->start, 0, sizeof g->start);
  (void)lay_out(&g->start, g->small, g->options.restart);
  g->start.begins    = 1;
  g->start.happy     = g->options.happy;
  g->start.breakdown = g->options.breakdown;
  g->start.restart   = g->options.restart;
  g->start.test      = *test;
  g->start.m         = m;
  g->start.history   = g->history;
  g->start.kept      = g->options.history;
  memset(&g->last, 0, sizeof g->last);
  g->most     = test->max_iterations;
  g->x        = x;
  g->b        = b;
  g->position = g->run = 0;
  SPMV_TRY(g->steps->start(g, x_is_zero, exec));
  g->started = 1;
  return SPMV_SUCCESS;
}

static SpmvStatus check_started(const SpmvGmres *g, int may_have_run, SpmvExec *exec)
{
  exec->message[0] = '\0';
  if (exec->space != g->space || !g->started || (g->run && !may_have_run))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: not started, in another space, or already run", who);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_gmres_first_norm(SpmvGmres *g, double *norm, SpmvExec *exec)
{
  *norm = 0;
  SPMV_TRY(check_started(g, 0, exec));
  return g->steps->first_norm(g, norm, exec);
}

SpmvStatus spmv_gmres_set_test(SpmvGmres *g, const SpmvTest *test, SpmvExec *exec)
{
  SPMV_TRY(check_started(g, 0, exec));
  SPMV_TRY(check_test(test, exec));
  g->most = test->max_iterations;
  return g->steps->set_test(g, test, exec);
}

SpmvStatus spmv_gmres_run(SpmvGmres *g, int64_t iterations, SpmvGmresResult *result, SpmvExec *exec)
{
  const int64_t left = g->most - g->last.iterations;
  SpmvRecord    record;

  memset(result, 0, sizeof *result);
  SPMV_TRY(check_started(g, 1, exec));
  if (iterations < 1)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: %lld iterations requested, which must be 1 or more", who,
                     (long long)iterations);
  g->run = 1;
  if (g->last.reason == SPMV_ITERATING) {
    const SpmvStatus status = g->steps->run(g, iterations < left ? iterations : left, &record, exec);
    if (status) {
      g->started = 0;
      return status;
    }
    g->last = (SpmvGmresResult){(SpmvReason)record.reason, record.iterations, record.norm};
  }
  *result = g->last;
  return SPMV_SUCCESS;
}

SpmvStatus spmv_gmres_solution(SpmvGmres *g, void *to, SpmvExec *exec)
{
  SPMV_TRY(check_started(g, 1, exec));
  if (g->options.rows > 0 && (!to || to == g->x))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: the array for the solution is missing, or is x", who);
  return g->steps->solution(g, to, exec);
}

SpmvStatus spmv_gmres_history(SpmvGmres *g, int64_t first, int64_t count, double *norms, SpmvExec *exec)
{
  const SpmvNorms kept = {g->history, g->space, g->options.history, g->last.iterations};

  exec->message[0] = '\0';
  return spmv_norms_get(who, &kept, first, count, norms, exec);
}

void spmv_gmres_info(const SpmvGmres *g, SpmvGmresInfo *info) { *info = g->info; }

void spmv_gmres_destroy(SpmvGmres **out)
{
  if (!out || !*out) return;
  SpmvGmres          *g    = *out;
  const SpmvAllocator host = g->host, device = g->device;

  if (g->steps->clear) g->steps->clear(g);
  spmv_free(&host, &device, g->space, g->block);
  spmv_free(&host, &device, SPMV_HOST, g);
  *out = NULL;
}
