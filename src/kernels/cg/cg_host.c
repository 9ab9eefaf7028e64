/* cg_host.c - conjugate gradients on the host, with the same decisions as on the device. */
#include "cg.h"

/* The vector operations of one scalar type */
typedef struct {
  void (*sums)(const SpmvCg *, int keep_z); /* (r, z) and the norm's sum of squares; p = z if keep_z */
  double (*curvature)(const SpmvCg *);
  void (*advance)(const SpmvCg *); /* updates x and r */
  void (*direction)(const SpmvCg *);
} Kind;

#define SPMV_BODY "cg/cg_host.inc"
#define SPMV_SCALAR_ONLY
#include "core/instantiate.h"

static const Kind *kind_of(const SpmvCg *cg) { return cg->options.scalar_type == SPMV_F32 ? &kind_f32 : &kind_f64; }

static SpmvStatus start(SpmvCg *cg, const SpmvCgState *begin, SpmvExec *exec)
{
  SpmvCgState *s = cg->state;

  *s = *begin;
  SPMV_TRY(spmv_cg_apply(cg, s->r, exec));
  kind_of(cg)->sums(cg, 1);
  SPMV_TRY(spmv_cg_add(cg, s->sums, 2, exec));
  spmv_cg_take_first(s, s->sums[0], s->sums[1]);
  return SPMV_SUCCESS;
}

static SpmvStatus set_test(SpmvCg *cg, const SpmvCgTest *test, SpmvExec *exec)
{
  (void)exec;
  cg->state->test = *test;
  return SPMV_SUCCESS;
}

static SpmvStatus first_norm(SpmvCg *cg, double *norm, SpmvExec *exec)
{
  (void)exec;
  *norm = cg->state->first_norm;
  return SPMV_SUCCESS;
}

static SpmvStatus correct(SpmvCg *cg, const SpmvCgTest *test, int restart, SpmvExec *exec)
{
  SpmvCgState *s = cg->state;

  spmv_cg_begin_correction(s, test, restart);
  SPMV_TRY(spmv_cg_apply(cg, s->r, exec));
  kind_of(cg)->sums(cg, 0);
  SPMV_TRY(spmv_cg_add(cg, s->sums, 2, exec));
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
  SPMV_TRY(spmv_cg_add(cg, s->sums, 1, exec));
  spmv_cg_take_curvature(s, s->sums[0]);
  if (!s->active) return SPMV_SUCCESS;
  kind->advance(cg);
  if (spmv_cg_tests_early(cg)) {
    kind->sums(cg, 0);
    SPMV_TRY(spmv_cg_add(cg, s->sums, 2, exec));
    spmv_cg_take_squares(s, s->sums[1]);
    if (!s->active) return SPMV_SUCCESS;
  }
  SPMV_TRY(spmv_cg_apply(cg, s->r, exec));
  kind->sums(cg, 0);
  SPMV_TRY(spmv_cg_add(cg, s->sums, 2, exec));
  if (spmv_cg_tests_early(cg)) spmv_cg_take_beta(s, s->sums[0]);
  else spmv_cg_take_residual(s, s->sums[0], s->sums[1]);
  if (s->active) kind->direction(cg);
  return SPMV_SUCCESS;
}

static SpmvStatus run(SpmvCg *cg, int64_t iterations, SpmvRecord *record, SpmvExec *exec)
{
  SpmvCgState  *s    = cg->state;
  const int64_t left = s->test.by.max_iterations - s->record.completed;

  s->stop_at = s->record.completed + (iterations < left ? iterations : left);
  while (!spmv_cg_stopped(s)) SPMV_TRY(iterate(cg, exec));
  *record = s->record;
  return SPMV_SUCCESS;
}

const SpmvCgSteps spmv_cg_host_steps = {
    .start = start, .set_test = set_test, .first_norm = first_norm, .correct = correct, .run = run};
