/* cg.c - conjugate gradients: argument checks, memory, and what host and device have in common. */
#include "cg.h"
#include <string.h>

enum { CHUNK_MAX = 64 };

static const char who[] = "conjugate gradients";

void spmv_cg_options_init(SpmvCgOptions *o) { memset(o, 0, sizeof *o); }

static SpmvStatus check_matrix(const SpmvCgOptions *o, SpmvExec *exec)
{
  const SpmvCsr *a = o->matrix;

  if (!a || a->pattern.rows != o->rows || a->pattern.cols != o->rows || a->scalar_type != o->scalar_type)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "persistent conjugate gradients: the matrix is missing, or its sizes or "
                     "its scalar type differ from those of the options");
  if (a->pattern.space != SPMV_DEVICE || a->values_space != SPMV_DEVICE || a->pattern.index_type != SPMV_I32)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED,
                     "persistent conjugate gradients need a matrix on the device, with 32-bit indices");
  return SPMV_SUCCESS;
}

static SpmvStatus check_function(const SpmvCgOptions *o, SpmvExec *exec)
{
  if (o->mode == SPMV_CG_PERSISTENT || (o->mode == SPMV_CG_GRAPH && o->apply_waits))
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED,
                     "conjugate gradients with a function as preconditioner do not run in one kernel, nor in graphs "
                     "if the function waits for the host: use chunks");
  return SPMV_SUCCESS;
}

static SpmvStatus check_options(const SpmvCgOptions *o, SpmvExec *exec)
{
  if (o->rows < 0 || o->history < 0 || o->chunk < 0 || o->chunk > CHUNK_MAX)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "conjugate gradients: %lld rows, %lld norms to keep, chunks of %d",
                     (long long)o->rows, (long long)o->history, o->chunk);
  if ((int)o->mode < SPMV_CG_HOST || o->mode > SPMV_CG_PERSISTENT ||
      (o->scalar_type != SPMV_F64 && o->scalar_type != SPMV_F32))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "conjugate gradients: unknown mode or scalar type");
  SPMV_TRY(spmv_check_preconditioner(who, o->preconditioner, o->block_size, o->apply, o->rows, exec));
  if ((o->processes && o->mode == SPMV_CG_PERSISTENT) ||
      (spmv_processes_wait(o->processes) && o->mode == SPMV_CG_GRAPH))
    return spmv_fail(
        exec, SPMV_ERR_UNSUPPORTED,
        "conjugate gradients on several processes do not run in one kernel, nor in graphs if communication waits "
        "for the host: use chunks");
  if (o->preconditioner == SPMV_PC_FUNCTION) SPMV_TRY(check_function(o, exec));
  if (o->mode == SPMV_CG_PERSISTENT) SPMV_TRY(check_matrix(o, exec));
  else if (!o->product) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "conjugate gradients: no product");
  return spmv_check_space(who, o->mode == SPMV_CG_HOST ? SPMV_HOST : SPMV_DEVICE, exec);
}

static SpmvStatus allocate(SpmvCg *cg, SpmvExec *exec)
{
  const SpmvCgOptions  *o      = &cg->options;
  const int64_t         vector = o->rows * spmv_scalar_bytes(o->scalar_type);
  const SpmvSolverArray list[] = {{&cg->p, o->p ? 0 : vector},
                                  {&cg->w, o->w ? 0 : vector},
                                  {&cg->z, o->preconditioner == SPMV_PC_FUNCTION ? vector : 0},
                                  {(void **)&cg->state, sizeof(SpmvCgState)},
                                  {(void **)&cg->partial, 4 * SPMV_SUM_GRID_MAX * (int64_t)sizeof(double)},
                                  {(void **)&cg->history, o->history * (int64_t)sizeof(double)}};

  SPMV_TRY(spmv_solver_alloc(list, sizeof list / sizeof *list, "vectors of conjugate gradients", &cg->block, &cg->bytes,
                             exec));
  if (o->p) cg->p = o->p;
  if (o->w) cg->w = o->w;
  return SPMV_SUCCESS;
}

/* Words read and written, and flops, of an iteration without the product A p. Three kernels run: (p, w) reads p, w; the
   update of x and r reads p, w, x, r, M and writes x, r; the new direction reads r, p, M and writes p. If M is a
   function, the update does not read M, a fourth kernel reads r, z for (r, z), and the direction reads z, p. */
static void describe(SpmvCg *cg)
{
  const int    block = spmv_cg_block_size(&cg->options);
  const double rows  = (double)cg->options.rows;

  cg->info.bytes         = cg->bytes;
  cg->info.words         = rows * (block == SPMV_POINT_STORED ? 13 : 11 + 2 * block);
  cg->info.traffic_bytes = cg->info.words * (double)spmv_scalar_bytes(cg->options.scalar_type);
  cg->info.flops         = rows * (12 + (block > 0 ? 2 * block - 1 : 0));
}

SpmvStatus spmv_cg_create(const SpmvCgOptions *options, SpmvExec *exec, SpmvCg **out)
{
  void *memory;

  *out             = NULL;
  exec->message[0] = '\0';
  SPMV_TRY(check_options(options, exec));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof **out, "conjugate gradients", &memory));
  SpmvCg *cg = memory;
  memset(cg, 0, sizeof *cg);
  cg->steps   = exec->space == SPMV_DEVICE ? SPMV_DEVICE_SLOTS(spmv_cg_device_steps) : &spmv_cg_host_steps;
  cg->options = *options;
  if (options->mode == SPMV_CG_PERSISTENT) cg->matrix = *options->matrix;
  cg->options.matrix = &cg->matrix;
  cg->space          = exec->space;
  cg->host           = exec->host;
  cg->device         = exec->device;
  SpmvStatus status  = allocate(cg, exec);
  if (!status) describe(cg);
  if (!status && cg->steps->prepare) status = cg->steps->prepare(cg, exec);
  if (status) spmv_cg_destroy(&cg);
  *out = cg;
  return status;
}

static SpmvStatus take_test(const SpmvCgTest *test, SpmvCgTest *mine, SpmvExec *exec)
{
  if ((int)test->norm < SPMV_CG_NORM_NONE || test->norm > SPMV_CG_NATURAL || test->by.max_iterations < 1)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "conjugate gradients: unknown norm, or max_iterations %lld is below 1",
                     (long long)test->by.max_iterations);
  *mine             = *test;
  mine->by.untested = test->norm == SPMV_CG_NORM_NONE;
  return SPMV_SUCCESS;
}

static int wants_values(const SpmvCgOptions *o)
{
  return o->preconditioner == SPMV_PC_DIAGONAL || o->preconditioner == SPMV_PC_BLOCKS;
}

SpmvStatus spmv_cg_start(SpmvCg *cg, void *x, void *r, const void *m, const SpmvCgTest *test, SpmvExec *exec)
{
  SpmvCgState begin;

  exec->message[0] = '\0';
  cg->started      = 0;
  if (exec->space != cg->space)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "conjugate gradients: the solver was created for another space");
  if (cg->options.rows > 0 && (!x || !r || !m != !wants_values(&cg->options)))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "conjugate gradients: x, r or M is missing, or M is given although the options "
                     "have no preconditioner with values");
  memset(&begin, 0, sizeof begin);
  SPMV_TRY(take_test(test, &begin.test, exec));
  begin.x       = x;
  begin.r       = r;
  begin.m       = spmv_cg_has_function(cg) ? cg->z : m;
  begin.history = cg->history;
  begin.kept    = cg->options.history;
  memset(&cg->last, 0, sizeof cg->last);
  cg->most = test->by.max_iterations;
  cg->norm = test->norm;
  SPMV_TRY(cg->steps->start(cg, &begin, exec));
  cg->started = 1;
  return SPMV_SUCCESS;
}

static SpmvStatus check_not_run(const SpmvCg *cg, SpmvExec *exec)
{
  exec->message[0] = '\0';
  if (exec->space != cg->space || !cg->started || cg->last.iterations > 0)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "conjugate gradients: not started, in another space, or already run");
  return SPMV_SUCCESS;
}

SpmvStatus spmv_cg_first_norm(SpmvCg *cg, double *norm, SpmvExec *exec)
{
  *norm = 0;
  SPMV_TRY(check_not_run(cg, exec));
  return cg->steps->first_norm(cg, norm, exec);
}

SpmvStatus spmv_cg_set_test(SpmvCg *cg, const SpmvCgTest *test, SpmvExec *exec)
{
  SpmvCgTest mine;

  SPMV_TRY(check_not_run(cg, exec));
  SPMV_TRY(take_test(test, &mine, exec));
  if (test->norm != cg->norm)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "conjugate gradients: the norm of a test differs from that at the start");
  cg->most = test->by.max_iterations;
  return cg->steps->set_test(cg, &mine, exec);
}

SpmvStatus spmv_cg_correct(SpmvCg *cg, const SpmvCgTest *test, int restart, SpmvExec *exec)
{
  SpmvCgTest mine;

  exec->message[0] = '\0';
  if (exec->space != cg->space || !cg->started || (cg->last.reason != SPMV_RTOL && cg->last.reason != SPMV_ATOL))
    return spmv_fail(
        exec, SPMV_ERR_ARGUMENT,
        "conjugate gradients: not started, in another space, or not converged, so that nothing is to be corrected");
  SPMV_TRY(take_test(test, &mine, exec));
  cg->most = test->by.max_iterations;
  if (cg->last.completed >= cg->most) {
    cg->last.reason = SPMV_DIVERGED_ITERATIONS;
    return SPMV_SUCCESS;
  }
  cg->last.reason         = SPMV_ITERATING;
  const SpmvStatus status = cg->steps->correct(cg, &mine, restart, exec);
  if (status) cg->started = 0;
  return status;
}

SpmvStatus spmv_cg_run(SpmvCg *cg, int64_t iterations, SpmvCgResult *result, SpmvExec *exec)
{
  SpmvRecord record;

  exec->message[0] = '\0';
  memset(result, 0, sizeof *result);
  if (exec->space != cg->space || !cg->started || iterations < 1)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "conjugate gradients: not started, in another space, or %lld iterations requested",
                     (long long)iterations);
  if (cg->last.reason == SPMV_ITERATING) {
    const SpmvStatus status = cg->steps->run(cg, iterations, &record, exec);
    if (status) {
      cg->started = 0;
      return status;
    }
    cg->last = (SpmvCgResult){(SpmvReason)record.reason, record.iterations, record.completed, record.norm};
  }
  *result = cg->last;
  return SPMV_SUCCESS;
}

SpmvStatus spmv_cg_history(SpmvCg *cg, int64_t first, int64_t count, double *norms, SpmvExec *exec)
{
  const SpmvNorms kept = {cg->history, cg->space, cg->options.history, cg->last.completed};

  exec->message[0] = '\0';
  return spmv_norms_get(who, &kept, first, count, norms, exec);
}

void spmv_cg_info(const SpmvCg *cg, SpmvCgInfo *info) { *info = cg->info; }

void spmv_cg_destroy(SpmvCg **out)
{
  if (!out || !*out) return;
  SpmvCg             *cg   = *out;
  const SpmvAllocator host = cg->host, device = cg->device;

  if (cg->steps->clear) cg->steps->clear(cg);
  spmv_free(&host, &device, cg->space, cg->block);
  spmv_free(&host, &device, SPMV_HOST, cg);
  *out = NULL;
}
