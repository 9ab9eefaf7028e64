/* Checks of a smoother's step and of the residual, in the kernel of a product: exact data, so results must be equal. */
#include "conf.h"
#include <stdlib.h>
#include <string.h>

/* Small integers, so that all sums stay exact */
static const SpmvFactors factors = {.current = 3, .before = -2, .correction = 2};

typedef struct {
  ConfRun      *run;
  GuardedVector x, y, b, m, work, factors;
  void         *host; /* [rows] what is copied to and from the device */
} Steps;

static const void *x_of(const Steps *s) { return problem_x(s->run->problem, 0, CASE_NUMBERS); }
static const void *y_of(const Steps *s) { return problem_y(s->run->problem, 0, CASE_NUMBERS); }
static const void *b_of(const Steps *s) { return problem_x(s->run->problem, 1, CASE_NUMBERS); }

/* Entry i of a diagonal of 1 and -1 */
static double m_of(int64_t i) { return i / 3 % 2 ? -1 : 1; }

static void set_number(const Steps *s, void *array, int64_t i, double value)
{
  if (s->run->problem->scalar_type == SPMV_F32) ((float *)array)[i] = (float)value;
  else ((double *)array)[i] = value;
}

static double number(const Steps *s, const void *array, int64_t i)
{
  return (double)check_scalar(s->run->problem->scalar_type, array, i);
}

static int steps_init(Steps *s, ConfRun *run)
{
  const int64_t        bytes    = run->plan->rows * spmv_scalar_bytes(run->problem->scalar_type);
  const int            tight    = run->settings->tight;
  GuardedVector *const vector[] = {&s->x, &s->y, &s->b, &s->m};
  SpmvStatus           status;

  memset(s, 0, sizeof *s);
  s->run  = run;
  s->host = malloc((size_t)bytes + 1);
  status  = s->host ? SPMV_SUCCESS : SPMV_ERR_MEMORY;
  for (int i = 0; i < 4 && !status; i++) status = guarded_init(vector[i], run->space, bytes, 0, tight, &run->exec);
  if (!status) status = guarded_init(&s->work, run->space, run->plan->memory.work_bytes, 0, tight, &run->exec);
  if (!status) status = guarded_init(&s->factors, run->space, (int64_t)sizeof factors, 0, tight, &run->exec);
  for (int64_t i = 0; i < run->plan->rows && !status; i++) set_number(s, s->host, i, m_of(i));
  if (!status) status = guarded_put(&s->m, s->host, &run->exec);
  if (!status) status = guarded_put(&s->x, x_of(s), &run->exec);
  if (!status) status = guarded_put(&s->b, b_of(s), &run->exec);
  if (!status) status = guarded_put(&s->factors, &factors, &run->exec);
  return conf_ready(run, status, "making vectors of a step");
}

static void steps_free(Steps *s)
{
  GuardedVector *const vector[] = {&s->x, &s->y, &s->b, &s->m, &s->work, &s->factors};

  for (int i = 0; i < 6; i++) guarded_free(vector[i]);
  free(s->host);
}

/* Calls the step; if y is not read, it holds NaN */
static SpmvStatus call_step(Steps *s, const SpmvStep *step)
{
  ConfRun   *run    = s->run;
  SpmvStatus status = step->adds ? guarded_put(&s->y, y_of(s), &run->exec)
                                 : poison_bytes(s->y.data, run->space, s->y.bytes, &run->exec);

  if (!status) status = poison_bytes(s->work.data, run->space, s->work.bytes, &run->exec);
  if (!status)
    status = spmv_mult_step(run->plan, s->x.data, step, s->y.data, s->work.bytes > 0 ? s->work.data : NULL, &run->exec);
  return status ? status : guarded_get(&s->y, s->host, &run->exec);
}

/* Multiplies the result y, in s->host, by m, which gives -correction A x + rest */
static void separate(Steps *s, const SpmvStep *step, const SpmvFactors *f, void *rest)
{
  for (int64_t i = 0; i < s->run->plan->rows; i++) {
    const double m = step->m ? m_of(i) : 1, y = step->adds ? f->before * number(s, y_of(s), i) : 0;

    set_number(s, s->host, i, m * number(s, s->host, i));
    set_number(s, rest, i, m * (f->current * number(s, x_of(s), i) + y) + f->correction * number(s, b_of(s), i));
  }
}

static void check_step(Steps *s, const SpmvStep *step, const char *what)
{
  ConfRun          *run   = s->run;
  const Problem    *p     = run->problem;
  const SpmvFactors f     = step->factors ? factors : (SpmvFactors){.correction = 1};
  const int64_t     calls = run->hooks.host.calls + run->hooks.device.calls;
  void             *rest  = malloc((size_t)s->y.bytes + 1);
  CheckFault        fault = {0};

  if (conf_ready(run, rest ? SPMV_SUCCESS : SPMV_ERR_MEMORY, what) && conf_success(run, call_step(s, step), what)) {
    report_check(run->report, run->hooks.host.calls + run->hooks.device.calls == calls, what, "allocates memory");
    separate(s, step, &f, rest);
    const int right = check_vector(problem_reference(p, 0, 0, CASE_NUMBERS), p->scalar_type, p->data, -f.correction, 1,
                                   rest, s->host, &fault);
    report_check(run->report, right, what, "row %lld: got %.17Lg, expected %.17Lg", (long long)fault.row, fault.got,
                 fault.expected);
    report_check(run->report, guarded_intact(&s->y, &run->exec) && guarded_intact(&s->work, &run->exec), what,
                 "wrote outside its arrays");
  }
  free(rest);
}

void conf_step(ConfRun *run)
{
  Steps s;

  if (run->problem->data != GEN_EXACT || run->plan->rows != run->plan->cols || !spmv_has_step(run->plan)) return;
  if (steps_init(&s, run)) {
    const SpmvFactors *f = s.factors.data;

    check_step(&s, &(SpmvStep){.b = s.b.data}, "residual");
    check_step(&s, &(SpmvStep){.factors = f, .b = s.b.data}, "step with the identity");
    check_step(&s, &(SpmvStep){.factors = f, .m = s.m.data, .b = s.b.data, .adds = 1}, "step");
  }
  steps_free(&s);
}
