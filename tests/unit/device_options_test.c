/* Tests of SpmvFormat.device_options: conformance on the host leaves their settings out, so they must do nothing there. */
#include "cases.h"
#include "unit.h"
#include "unit_plan.h"
#include <stdlib.h>
#include <string.h>

static char message[SPMV_MESSAGE_MAX];

UNIT_TEST(device_options_are_options_of_their_format)
{
  for (int i = 0; i < spmv_format_count(); i++) {
    const SpmvFormat *f = spmv_format_get(i);
    SpmvOptions       options;
    double            value;

    spmv_options_init(&options, f);
    for (const char *const *key = f->device_options; key && *key; key++)
      UNIT_EQUAL(SPMV_SUCCESS, spmv_options_get(&options, *key, &value, message));
  }
}

/* y = A x by a host plan with this setting: the memory of the plan, and the result, bit for bit */
static SpmvMemory product(const UnitProblem *p, const SpmvOptions *options)
{
  const double one = 1, zero = 0;
  UnitPlan     u = {.plan = NULL};
  SpmvMemory   memory;

  spmv_exec_init(&u.exec, SPMV_HOST);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_analyze(options->format, &p->csr.pattern, SPMV_F64, options, &u.exec, &u.analysis));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_build(&p->csr, &u.analysis, &u.exec, &u.plan));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_mult(u.plan, &one, p->x, &zero, p->y, NULL, &u.exec));
  memory = u.plan->memory;
  unit_plan_clear(&u);
  return memory;
}

/* The setting with the defaults of the options that concern the device alone */
static SpmvOptions on_host(SpmvOptions options)
{
  for (const char *const *key = options.format->device_options; *key; key++)
    for (int o = 0; options.format->options[o].key; o++)
      if (!strcmp(options.format->options[o].key, *key)) options.value[o] = options.format->options[o].default_value;
  return options;
}

static void check_setting(const UnitProblem *p, const SpmvOptions *options, const char *text)
{
  const size_t      bytes    = (size_t)p->csr.pattern.rows * sizeof(double);
  void             *expected = malloc(bytes);
  const SpmvOptions same     = on_host(*options);
  const SpmvMemory  memory   = product(p, &same);

  memcpy(expected, p->y, bytes);
  UNIT_EQUAL(memory.total_bytes, product(p, options).total_bytes);
  if (!UNIT_CHECK(!memcmp(expected, p->y, bytes))) UNIT_TEXT("", text);
  free(expected);
}

static void check_format(const UnitProblem *p, const SpmvFormat *f)
{
  char        text[CASE_VARIANT_TEXT];
  SpmvOptions options;
  int         settings = 0;

  for (int v = 0; v < case_variant_count(f, CASE_QUICK); v++) {
    case_variant(f, CASE_QUICK, v, &options, text);
    if (case_variant_matters(&options, SPMV_HOST)) continue;
    check_setting(p, &options, text);
    settings++;
  }
  UNIT_CHECK(settings > 0);
}

UNIT_TEST(device_options_do_nothing_on_the_host)
{
  const GenSpec spec = gen_power_law(2000, 2, 2.1, 3);
  UnitProblem   p    = unit_problem(&spec, SPMV_I32, SPMV_F64);

  gen_values(GEN_RANDOM, 5, 10, SPMV_F64, p.csr.pattern.nnz, p.values);
  gen_values(GEN_RANDOM, 6, 10, SPMV_F64, p.most, p.x);
  for (int i = 0; i < spmv_format_count(); i++)
    if (spmv_format_get(i)->device_options) check_format(&p, spmv_format_get(i));
  unit_problem_clear(&p);
}
