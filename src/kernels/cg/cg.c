/* cg.c - conjugate gradients: argument checks, memory, and what needs no CUDA. */
#include "cg.h"
#include <string.h>

enum { CHUNK_MAX = 64 };

static const char who[] = "conjugate gradients";

/* NULL without CUDA: then no solver can be created */
static const SpmvCgSlots *const slots = SPMV_DEVICE_SLOTS(spmv_cg_device_slots);

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
  if ((int)o->mode < SPMV_CG_CHUNK || o->mode > SPMV_CG_PERSISTENT ||
      (o->scalar_type != SPMV_F64 && o->scalar_type != SPMV_F32))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "conjugate gradients: unknown mode or scalar type");
  SPMV_TRY(spmv_check_preconditioner(who, o->preconditioner, o->block_size, o->apply, o->rows, exec));
  if ((o->processes && o->mode == SPMV_CG_PERSISTENT) ||
      (spmv_processes_wait(o->processes) && o->mode == SPMV_CG_GRAPH))
    return spmv_fail(
        exec, SPMV_ERR_UNSUPPORTED,
        "conjugate gradients on several processes do not run in one kernel, nor in graphs if communication waits "
        "for the host: use chunks");
  if (o->lanczos < 0 || o->lanczos > CHUNK_MAX ||
      (o->lanczos && (o->mode != SPMV_CG_CHUNK || o->preconditioner == SPMV_PC_FUNCTION)))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "%s: %d iterations for a Lanczos matrix, or a mode or a function beside them", who, o->lanczos);
  if (o->preconditioner == SPMV_PC_FUNCTION) SPMV_TRY(check_function(o, exec));
  if (o->single_reduction && (o->mode == SPMV_CG_PERSISTENT || o->lanczos || o->step != 0))
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED,
                     "%s: a single reduction neither runs in one kernel nor with a fixed step or a Lanczos matrix",
                     who);
  if (o->mode == SPMV_CG_PERSISTENT) SPMV_TRY(check_matrix(o, exec));
  else if (!o->product) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "conjugate gradients: no product");
  return spmv_check_device(who, exec);
}

int spmv_cg_persistent_pays(int64_t rows, int64_t nnz, SpmvScalar scalar)
{
  const double index = sizeof(int32_t), S = (double)spmv_scalar_bytes(scalar);

  return (double)nnz * (index + S) + (double)rows * (index + 5 * S) <= SPMV_PERSISTENT_BYTES &&
         (double)nnz <= SPMV_PERSISTENT_NONZEROS(rows);
}

static int64_t bytes_kept(const SpmvCgOptions *o)
{
  return 2 * (int64_t)sizeof(SpmvRecord) + o->lanczos * (int64_t)sizeof(SpmvCgCoefficients);
}

static SpmvStatus allocate(SpmvCg *cg, SpmvExec *exec)
{
  enum { ARRAYS = 8 };
  const SpmvCgOptions *o             = &cg->options;
  const int64_t        vector        = o->rows * spmv_scalar_bytes(o->scalar_type);
  const int            function      = o->preconditioner == SPMV_PC_FUNCTION;
  void **const         array[ARRAYS] = {&cg->p,
                                        &cg->w,
                                        &cg->z,
                                        &cg->az,
                                        (void **)&cg->state,
                                        (void **)&cg->partial,
                                        (void **)&cg->history,
                                        (void **)&cg->kept};
  const int64_t        bytes[ARRAYS] = {o->p ? 0 : vector,
                                 o->w ? 0 : vector,
                                 function || o->single_reduction ? vector : 0,
                                 o->single_reduction ? vector : 0,
                                 sizeof(SpmvCgState),
                                 4 * SPMV_SUM_GRID_MAX * (int64_t)sizeof(double),
                                 o->history * (int64_t)sizeof(double),
                                 o->lanczos ? bytes_kept(o) : 0};

  SPMV_TRY(spmv_object_hold(&cg->object, SPMV_DEVICE, ARRAYS, bytes, "vectors of conjugate gradients", array, exec));
  if (o->p) cg->p = o->p;
  if (o->w) cg->w = o->w;
  return SPMV_SUCCESS;
}

/* Words read and written, and flops, of an iteration without the product A p. Three kernels run: (p, w) reads p, w; the
   update of r reads w, r, M and writes r; that of x and the direction reads r, p, x, M and writes p, x. If M is a
   function, the update of r has x, too, so it reads p, w, x, r and writes x, r, a fourth kernel reads r, z for (r, z),
   and the direction reads z, p. With a single reduction one kernel reads z, A z, p, w, x, r, M and writes p, w, x, r, and
   z unless M is a function; another reads r, z, A z. */
static void describe(SpmvCg *cg)
{
  const int    block  = spmv_cg_block_size(&cg->options);
  const double rows   = (double)cg->options.rows;
  const int    single = cg->options.single_reduction;

  cg->info.bytes         = cg->object.bytes;
  cg->info.words         = rows * (block == SPMV_POINT_STORED ? 13 : single ? 14 + block : 10 + 2 * block);
  cg->info.traffic_bytes = cg->info.words * (double)spmv_scalar_bytes(cg->options.scalar_type);
  cg->info.flops         = rows * ((single ? 14 : 12) + (block > 0 ? 2 * block - 1 : 0));
}

static SpmvStatus fill(SpmvCg *cg, const SpmvCgOptions *options, SpmvExec *exec)
{
  cg->options = *options;
  if (options->mode == SPMV_CG_PERSISTENT) cg->matrix = *options->matrix;
  cg->options.matrix = &cg->matrix;
  SPMV_TRY(allocate(cg, exec));
  describe(cg);
  return slots->prepare(cg, exec);
}

SpmvStatus spmv_cg_create(const SpmvCgOptions *options, SpmvExec *exec, SpmvCg **out)
{
  SPMV_TRY(spmv_object_create(check_options(options, exec), sizeof **out, who, exec, out));
  SPMV_OBJECT_MADE(fill(*out, options, exec), spmv_cg_destroy, out);
}

static int wants_values(const SpmvCgOptions *o)
{
  return o->preconditioner == SPMV_PC_DIAGONAL || o->preconditioner == SPMV_PC_BLOCKS;
}

SpmvStatus spmv_cg_start(SpmvCg *cg, void *x, void *r, const void *m, SpmvCgNorm norm, SpmvExec *exec)
{
  SpmvCgState begin;

  exec->message[0] = '\0';
  cg->started      = 0;
  if (exec->space != SPMV_DEVICE)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "conjugate gradients: exec is not on the device");
  if (cg->options.rows > 0 && (!x || !r || !m != !wants_values(&cg->options)))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "conjugate gradients: x, r or M is missing, or M is given although the options "
                     "have no preconditioner with values");
  if ((int)norm < SPMV_CG_NORM_NONE || norm > SPMV_CG_NATURAL)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "conjugate gradients: unknown norm");
  memset(&begin, 0, sizeof begin);
  begin.norm    = norm;
  begin.step    = cg->options.step;
  begin.x       = x;
  begin.r       = r;
  begin.m       = spmv_cg_has_function(cg) ? cg->z : m;
  begin.history = cg->history;
  begin.kept    = cg->options.history;
  begin.lanczos = cg->kept ? (SpmvCgCoefficients *)(cg->kept + 2) : NULL;
  memset(&cg->last, 0, sizeof cg->last);
  cg->norm = norm;
  SPMV_TRY(slots->start(cg, &begin, exec));
  cg->started = 1;
  return SPMV_SUCCESS;
}

SpmvStatus spmv_cg_correct(SpmvCg *cg, int restart, SpmvExec *exec)
{
  exec->message[0] = '\0';
  if (exec->space != SPMV_DEVICE || !cg->started || cg->options.single_reduction ||
      (cg->last.reason != SPMV_RTOL && cg->last.reason != SPMV_ATOL))
    return spmv_fail(
        exec, SPMV_ERR_ARGUMENT,
        "conjugate gradients: not started, not on the device, with a single reduction, or not converged, so "
        "that nothing is to be corrected");
  cg->last.reason         = SPMV_ITERATING;
  const SpmvStatus status = slots->correct(cg, restart, exec);
  if (status) cg->started = 0;
  return status;
}

SpmvStatus spmv_cg_run(SpmvCg *cg, int64_t iterations, const SpmvTest *test, SpmvCgResult *result, SpmvExec *exec)
{
  SpmvTest   mine = *test;
  SpmvRecord record;

  exec->message[0] = '\0';
  memset(result, 0, sizeof *result);
  if (exec->space != SPMV_DEVICE || !cg->started || iterations < 0 || test->max_iterations < 1 || cg->options.lanczos)
    return spmv_fail(
        exec, SPMV_ERR_ARGUMENT,
        "conjugate gradients: not started, not on the device, or %lld iterations requested of at most %lld",
        (long long)iterations, (long long)test->max_iterations);
  mine.untested = cg->norm == SPMV_CG_NORM_NONE;
  if (cg->last.reason == SPMV_ITERATING && cg->last.completed >= test->max_iterations)
    cg->last.reason = SPMV_DIVERGED_ITERATIONS;
  if (cg->last.reason == SPMV_ITERATING) {
    const SpmvStatus status = slots->run(cg, iterations, &mine, &record, exec);
    if (status) {
      cg->started = 0;
      return status;
    }
    cg->last =
        (SpmvCgResult){(SpmvReason)record.reason, record.iterations, record.completed, record.norm, record.first};
  }
  *result = cg->last;
  return SPMV_SUCCESS;
}

SpmvStatus spmv_cg_lanczos(SpmvCg *cg, const SpmvTest *test, SpmvCgCoefficients *coefficients, SpmvCgResult *result,
                           SpmvExec *exec)
{
  struct {
    SpmvRecord         record[2];
    SpmvCgCoefficients of[CHUNK_MAX];
  } kept;
  const SpmvRecord *r    = &kept.record[0];
  SpmvTest          mine = *test;

  exec->message[0] = '\0';
  memset(result, 0, sizeof *result);
  if (exec->space != SPMV_DEVICE || !cg->started || !cg->options.lanczos)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: not started, not on the device, or made without lanczos", who);
  mine.untested = cg->norm == SPMV_CG_NORM_NONE;
  cg->started   = 0; /* the next call must be spmv_cg_start() */
  SPMV_TRY(slots->lanczos(cg, &mine, &kept, bytes_kept(&cg->options), exec));
  *result = (SpmvCgResult){(SpmvReason)r->reason, r->iterations, r->completed, r->norm, r->first};
  memcpy(coefficients, kept.of, (size_t)r->completed * sizeof *coefficients);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_cg_history(SpmvCg *cg, int64_t first, int64_t count, double *norms, SpmvExec *exec)
{
  const SpmvNorms kept = {cg->history, cg->options.history, cg->last.completed};

  exec->message[0] = '\0';
  return spmv_norms_get(who, &kept, first, count, norms, exec);
}

void spmv_cg_info(const SpmvCg *cg, SpmvCgInfo *info) { *info = cg->info; }

void spmv_cg_destroy(SpmvCg **out)
{
  if (out && *out) slots->clear(*out);
  spmv_object_destroy(out);
}
