/* gmres.c - GMRES: argument checks, memory, and what needs no CUDA. */
#include "gmres.h"
#include <string.h>

enum { CHUNK_MAX = 64, STRIDE = 32 /* scalars: vectors of the basis begin at a multiple of 128 bytes */ };

static const char who[] = "GMRES";

/* NULL without CUDA: then no solver can be created */
static const SpmvGmresSlots *const slots = SPMV_DEVICE_SLOTS(spmv_gmres_device_slots);

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
  if ((int)o->mode < SPMV_GMRES_CHUNK || o->mode > SPMV_GMRES_GRAPH || (int)o->refine < SPMV_GMRES_REFINE_NEVER ||
      o->refine > SPMV_GMRES_REFINE_ALWAYS || (o->scalar_type != SPMV_F64 && o->scalar_type != SPMV_F32))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: unknown mode, refinement or scalar type", who);
  SPMV_TRY(spmv_check_preconditioner(who, o->preconditioner, o->block_size, o->apply, o->rows, exec));
  if (o->mode == SPMV_GMRES_GRAPH &&
      (spmv_processes_wait(o->processes) || (o->preconditioner == SPMV_PC_FUNCTION && o->apply_waits)))
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED,
                     "%s does not run in graphs if communication or the preconditioner waits for the host: use chunks",
                     who);
  if (!o->product) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: no product", who);
  if (o->hessenberg && (o->mode != SPMV_GMRES_CHUNK || o->preconditioner == SPMV_PC_FUNCTION))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: a Hessenberg matrix with graphs or a function", who);
  return spmv_check_device(who, exec);
}

/* Sets the addresses of the arrays of a state, one after the other in `small`, or NULL. Returns the number of
   doubles. */
static int64_t lay_out(SpmvGmresState *s, double *small, const SpmvGmresOptions *o)
{
  const int64_t  n = o->restart, n1 = n + 1;
  double **const array[] = {&s->scale,  &s->sums, &s->h, &s->take, &s->g,
                            &s->cosine, &s->sine, &s->y, &s->r,    &s->hessenberg};
  const int64_t  count[] = {n1, n1, n1, n1, n1, n, n, n, n * n1, n * n1};
  int64_t        all     = 0;

  for (int i = 0; i < (o->hessenberg ? 10 : 9); i++) {
    *array[i] = small ? small + all : NULL;
    all += count[i];
  }
  return all;
}

static int64_t bytes_kept(const SpmvGmres *g)
{
  SpmvGmresState unused;

  return 2 * (int64_t)sizeof(SpmvRecord) + lay_out(&unused, NULL, &g->options) * (int64_t)sizeof(double);
}

static SpmvStatus allocate(SpmvGmres *g, SpmvExec *exec)
{
  enum { ARRAYS = 7 };
  const SpmvGmresOptions *o        = &g->options;
  const int64_t           S        = spmv_scalar_bytes(o->scalar_type);
  const int               wants_u  = o->right || spmv_gmres_has_function(g);
  const int64_t           partials = SPMV_SUM_GRID_MAX + (int64_t)SPMV_GMRES_DOTS_GRID * (o->restart + 1);

  g->stride                  = (o->rows + STRIDE - 1) / STRIDE * STRIDE;
  void **const array[ARRAYS] = {
      &g->basis, &g->t, &g->u, (void **)&g->state, (void **)&g->kept, (void **)&g->partial, (void **)&g->history};
  const int64_t bytes[ARRAYS] = {(o->restart + 1) * g->stride * S,
                                 o->rows * S,
                                 wants_u ? o->rows * S : 0,
                                 sizeof(SpmvGmresState),
                                 bytes_kept(g),
                                 partials * (int64_t)sizeof(double),
                                 o->history * (int64_t)sizeof(double)};

  SPMV_TRY(spmv_object_hold(&g->object, SPMV_DEVICE, ARRAYS, bytes, "basis of GMRES", array, exec));
  g->small = (double *)(g->kept + 2);
  if (!o->hessenberg) return SPMV_SUCCESS;
  return spmv_object_hold_zeros(&g->object, bytes_kept(g), "matrices of GMRES", &g->host, exec);
}

/* Words and flops of an iteration beside the product. One kernel reads t, M and the basis and writes the new vector;
   the other reads that and the basis and writes it and, on the right, M v. The basis has (restart + 1) / 2 vectors on
   average. */
static void describe(SpmvGmres *g)
{
  const int    block = spmv_gmres_block(g), of_m = block > 0 ? block : 0;
  const double rows = (double)g->options.rows, mean = (g->options.restart + 1) / 2.0;

  g->info.bytes         = g->object.bytes;
  g->info.words         = rows * (2 * mean + 4 + of_m + (g->options.right ? 1 : 0));
  g->info.traffic_bytes = g->info.words * (double)spmv_scalar_bytes(g->options.scalar_type);
  g->info.flops         = rows * (4 * mean + 3 + (of_m ? 2 * of_m - 1 : 0));
}

static SpmvStatus fill(SpmvGmres *g, const SpmvGmresOptions *options, SpmvExec *exec)
{
  g->options = *options;
  if (options->preconditioner == SPMV_PC_IDENTITY) g->options.right = 0; /* left and right are the same */
  SPMV_TRY(allocate(g, exec));
  describe(g);
  return slots->prepare(g, exec);
}

SpmvStatus spmv_gmres_create(const SpmvGmresOptions *options, SpmvExec *exec, SpmvGmres **out)
{
  SPMV_TRY(spmv_object_create(check_options(options, exec), sizeof **out, who, exec, out));
  SPMV_OBJECT_MADE(fill(*out, options, exec), spmv_gmres_destroy, out);
}

SpmvStatus spmv_gmres_start(SpmvGmres *g, void *x, const void *b, const void *m, int x_is_zero, SpmvExec *exec)
{
  const SpmvPreconditioner kind  = g->options.preconditioner;
  const int                wants = kind == SPMV_PC_DIAGONAL || kind == SPMV_PC_BLOCKS;

  exec->message[0] = '\0';
  g->started       = 0;
  if (exec->space != SPMV_DEVICE) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: exec is not on the device", who);
  if (g->options.rows > 0 && (!x || !b || !m != !wants))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "%s: x, b or M is missing, or M is given although the options have no preconditioner with values",
                     who);
  memset(&g->start, 0, sizeof g->start);
  (void)lay_out(&g->start, g->small, &g->options);
  g->start.begins    = 1;
  g->start.happy     = g->options.happy;
  g->start.breakdown = g->options.breakdown;
  g->start.restart   = g->options.restart;
  g->start.m         = m;
  g->start.history   = g->history;
  g->start.kept      = g->options.history;
  memset(&g->last, 0, sizeof g->last);
  g->x        = x;
  g->b        = b;
  g->position = 0;
  SPMV_TRY(slots->start(g, x_is_zero, exec));
  g->started = 1;
  return SPMV_SUCCESS;
}

static SpmvStatus check_started(const SpmvGmres *g, int hessenberg, SpmvExec *exec)
{
  exec->message[0] = '\0';
  if (exec->space != SPMV_DEVICE || !g->started || !g->options.hessenberg != !hessenberg)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: not started, not on the device, or made for another purpose", who);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_gmres_run(SpmvGmres *g, int64_t iterations, const SpmvTest *test, SpmvGmresResult *result,
                          SpmvExec *exec)
{
  const int64_t left = test->max_iterations - g->last.iterations;
  SpmvRecord    record;

  memset(result, 0, sizeof *result);
  SPMV_TRY(check_started(g, 0, exec));
  if (iterations < 0 || test->max_iterations < 1)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: %lld iterations requested of at most %lld", who,
                     (long long)iterations, (long long)test->max_iterations);
  if (g->last.reason == SPMV_ITERATING && left <= 0) g->last.reason = SPMV_DIVERGED_ITERATIONS;
  if (g->last.reason == SPMV_ITERATING) {
    const SpmvStatus status = slots->run(g, iterations < left ? iterations : left, test, &record, exec);
    if (status) {
      g->started = 0;
      return status;
    }
    g->last = (SpmvGmresResult){(SpmvReason)record.reason, record.iterations, record.norm, record.first};
  }
  *result = g->last;
  return SPMV_SUCCESS;
}

SpmvStatus spmv_gmres_hessenberg(SpmvGmres *g, const SpmvTest *test, SpmvGmresMatrices *m, SpmvGmresResult *result,
                                 SpmvExec *exec)
{
  SpmvRecord    *r = g->host;
  SpmvGmresState s = g->start;

  memset(result, 0, sizeof *result);
  SPMV_TRY(check_started(g, 1, exec));
  g->started = 0; /* the next call must be spmv_gmres_start() */
  SPMV_TRY(slots->hessenberg(g, test, r, bytes_kept(g), exec));
  *result = (SpmvGmresResult){(SpmvReason)r->reason, r->iterations, r->norm, r->first};
  (void)lay_out(&s, (double *)(r + 2), &g->options);
  *m = (SpmvGmresMatrices){s.hessenberg, s.r, s.restart + 1};
  return SPMV_SUCCESS;
}

SpmvStatus spmv_gmres_solution(SpmvGmres *g, void *to, SpmvExec *exec)
{
  SPMV_TRY(check_started(g, 0, exec));
  if (g->options.rows > 0 && (!to || to == g->x))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: the array for the solution is missing, or is x", who);
  return slots->solution(g, to, exec);
}

SpmvStatus spmv_gmres_history(SpmvGmres *g, int64_t first, int64_t count, double *norms, SpmvExec *exec)
{
  const SpmvNorms kept = {g->history, g->options.history, g->last.iterations};

  exec->message[0] = '\0';
  return spmv_norms_get(who, &kept, first, count, norms, exec);
}

void spmv_gmres_info(const SpmvGmres *g, SpmvGmresInfo *info) { *info = g->info; }

void spmv_gmres_destroy(SpmvGmres **out)
{
  if (out && *out) slots->clear(*out);
  spmv_object_destroy(out);
}
