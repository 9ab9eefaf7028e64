/* Checks of products with rounded values: those of a plan that has the rounded values, bit by bit. The plan has these
   afterwards. */
#include "conf.h"
#include <spmv_values.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  ConfRun      *run;
  GuardedVector rounded, x, y, work;
  double       *values, *first, *second; /* on the host: the rounded values, and y of both products */
} Rounded;

static const double alpha = 0.7, beta = -1.3;

static int rounded_init(Rounded *s, ConfRun *run)
{
  const Problem *p     = run->problem;
  const int      tight = run->settings->tight;
  const int64_t  each = (int64_t)sizeof(double), nnz = run->plan->nnz;
  const int64_t  bytes  = spmv_rounded_bytes(run->plan);
  const double  *values = p->values[0];
  SpmvStatus     status;

  memset(s, 0, sizeof *s);
  s->run    = run;
  s->values = malloc((size_t)(nnz * each) + 1);
  s->first  = malloc((size_t)(p->y_length[0] * each) + 1);
  s->second = malloc((size_t)(p->y_length[0] * each) + 1);
  status    = s->values && s->first && s->second ? SPMV_SUCCESS : SPMV_ERR_MEMORY;
  for (int64_t k = 0; !status && k < nnz; k++) s->values[k] = (double)(float)values[k];
  if (!status) status = guarded_init(&s->rounded, run->space, bytes, 0, tight, &run->exec);
  if (!status) status = guarded_init(&s->x, run->space, p->x_length[0] * each, 0, tight, &run->exec);
  if (!status) status = guarded_init(&s->y, run->space, p->y_length[0] * each, 0, tight, &run->exec);
  if (!status) status = guarded_init(&s->work, run->space, run->plan->memory.work_bytes, 0, tight, &run->exec);
  return conf_ready(run, status, "making rounded values");
}

static void rounded_free(Rounded *s)
{
  guarded_free(&s->rounded);
  guarded_free(&s->x);
  guarded_free(&s->y);
  guarded_free(&s->work);
  free(s->values);
  free(s->first);
  free(s->second);
}

static int product(Rounded *s, int with_rounded, double *result)
{
  ConfRun      *run   = s->run;
  void         *work  = s->work.bytes > 0 ? s->work.data : NULL;
  const int64_t calls = run->hooks.host.calls + run->hooks.device.calls;
  SpmvStatus    status;

  status = guarded_put(&s->x, problem_x(run->problem, 0, CASE_NUMBERS), &run->exec);
  if (!status) status = guarded_put(&s->y, problem_y(run->problem, 0, CASE_NUMBERS), &run->exec);
  if (!status) status = poison_bytes(s->work.data, run->space, s->work.bytes, &run->exec);
  if (!status)
    status = with_rounded
                 ? spmv_mult_rounded(run->plan, s->rounded.data, &alpha, s->x.data, &beta, s->y.data, work, &run->exec)
                 : spmv_mult(run->plan, &alpha, s->x.data, &beta, s->y.data, work, &run->exec);
  report_check(run->report, run->hooks.host.calls + run->hooks.device.calls == calls, "mult_rounded",
               "the product allocates memory");
  if (!status) status = guarded_get(&s->y, result, &run->exec);
  return conf_success(run, status, "mult_rounded");
}

static void check_products(Rounded *s)
{
  ConfRun *run = s->run;

  if (!conf_success(run, spmv_round_values(run->plan, s->rounded.data, &run->exec), "round_values") ||
      !product(s, 1, s->first) ||
      !conf_success(run, spmv_update_values(run->plan, s->values, SPMV_HOST, &run->exec), "update_values") ||
      !product(s, 0, s->second))
    return;
  report_check(run->report, !memcmp(s->first, s->second, (size_t)s->y.bytes), "mult_rounded",
               "is not the product of a matrix with rounded values");
  report_check(run->report,
               guarded_intact(&s->rounded, &run->exec) && guarded_intact(&s->y, &run->exec) &&
                   guarded_intact(&s->work, &run->exec),
               "mult_rounded", "wrote outside its arrays");
}

static void check_refused(ConfRun *run)
{
  const int  has_nonzeros = run->plan->nnz > 0;
  double     unused       = 0;
  SpmvStatus status       = spmv_round_values(run->plan, &unused, &run->exec);

  report_check(run->report, !has_nonzeros || (status == SPMV_ERR_UNSUPPORTED && run->exec.message[0]), "round_values",
               "is not refused: %s", spmv_status_text(status));
  status = has_nonzeros ? spmv_mult_rounded(run->plan, &unused, &alpha, &unused, &beta, &unused, NULL, &run->exec)
                        : SPMV_ERR_UNSUPPORTED;
  report_check(run->report, status == SPMV_ERR_UNSUPPORTED, "mult_rounded", "is not refused: %s",
               spmv_status_text(status));
}

void conf_rounded(ConfRun *run)
{
  Rounded s;

  if (spmv_rounded_bytes(run->plan) == 0) {
    check_refused(run);
    return;
  }
  if (rounded_init(&s, run)) check_products(&s);
  rounded_free(&s);
}
