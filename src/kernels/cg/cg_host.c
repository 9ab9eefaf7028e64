/* Conjugate gradients on the host: the steps of the device, one after the other. */
#include "cg.h"

/* Vector operations for one type */
typedef struct {
  double (*first)(const SpmvCg *);     /* p = z and (r, z) */
  double (*corrected)(const SpmvCg *); /* (r, z) alone */
  double (*curvature)(const SpmvCg *);
  void (*residual)(const SpmvCg *);
  void (*direction)(const SpmvCg *);
} Kind;

#define S       double
#define NAME(x) x##_f64
#include "cg_host.inc"
#undef S
#undef NAME
#define S       float
#define NAME(x) x##_f32
#include "cg_host.inc"

static const Kind *kind_of(const SpmvCg *cg) { return cg->options.scalar_type == SPMV_F32 ? &kind_f32 : &kind_f64; }

static SpmvStatus reduce(SpmvCg *cg, double *sums, int n, SpmvExec *exec)
{
  return cg->options.reduce ? cg->options.reduce(cg->options.reduce_ctx, sums, n, exec) : SPMV_SUCCESS;
}

static SpmvStatus start(SpmvCg *cg, const SpmvCgState *begin, SpmvExec *exec)
{
  SpmvCgState *s = cg->state;

  *s         = *begin;
  s->sums[0] = kind_of(cg)->first(cg);
  SPMV_TRY(reduce(cg, s->sums, 1, exec));
  spmv_cg_take_first(s, s->sums[0]);
  return SPMV_SUCCESS;
}

static SpmvStatus correct(SpmvCg *cg, const SpmvCgTest *test, int restart, SpmvExec *exec)
{
  SpmvCgState *s = cg->state;

  spmv_cg_begin_correction(s, test, restart);
  s->sums[0] = kind_of(cg)->corrected(cg);
  SPMV_TRY(reduce(cg, s->sums, 1, exec));
  spmv_cg_take_corrected(s, s->sums[0]);
  if (s->active) kind_of(cg)->direction(cg);
  return SPMV_SUCCESS;
}

static SpmvStatus iterate(SpmvCg *cg, SpmvExec *exec)
{
  const Kind  *kind = kind_of(cg);
  SpmvCgState *s    = cg->state;

  SPMV_TRY(cg->options.product(cg->options.product_ctx, cg->p, cg->w, exec));
  s->sums[0] = kind->curvature(cg);
  SPMV_TRY(reduce(cg, s->sums, 1, exec));
  spmv_cg_take_curvature(s, s->sums[0]);
  if (!s->active) return SPMV_SUCCESS;
  kind->residual(cg);
  SPMV_TRY(reduce(cg, s->sums, 2, exec));
  spmv_cg_take_residual(s, s->sums[0], s->sums[1]);
  if (s->active) kind->direction(cg);
  return SPMV_SUCCESS;
}

static SpmvStatus run(SpmvCg *cg, int64_t iterations, SpmvCgRecord *record, SpmvExec *exec)
{
  SpmvCgState  *s    = cg->state;
  const int64_t left = s->test.max_iterations - s->record.completed;

  s->stop_at = s->record.completed + (iterations < left ? iterations : left);
  while (!spmv_cg_stopped(s)) SPMV_TRY(iterate(cg, exec));
  *record = s->record;
  return SPMV_SUCCESS;
}

const SpmvCgSteps spmv_cg_host_steps = {.start = start, .correct = correct, .run = run};
