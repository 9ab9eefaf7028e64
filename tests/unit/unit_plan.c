#include "unit_plan.h"
#include "check.h"
#include "unit.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VIEW_BYTES = 8 * SPMV_MESSAGE_MAX };

SpmvExec unit_device_exec(void)
{
  SpmvExec exec;

  spmv_exec_init(&exec, SPMV_DEVICE);
  return exec;
}

void *unit_on_device(SpmvExec *exec, const void *from, int64_t bytes)
{
  void *to = NULL;

  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(exec, SPMV_DEVICE, bytes, "a test", &to));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(to, SPMV_DEVICE, from, SPMV_HOST, bytes, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(exec));
  return to;
}

static void set_options(SpmvOptions *options, char *text)
{
  char message[SPMV_MESSAGE_MAX] = "", *rest = text;

  for (char *key = strtok_r(text, " ", &rest); key; key = strtok_r(NULL, " ", &rest)) {
    char *value = strchr(key, '=');

    UNIT_CHECK(value != NULL);
    if (!value) continue;
    *value = 0;
    UNIT_EQUAL(SPMV_SUCCESS, spmv_options_set_text(options, key, value + 1, message));
    UNIT_TEXT("", message);
  }
}

static UnitPlan make_plan(SpmvSpace space, const char *format, const SpmvCsr *csr, const char *options,
                          va_list arguments)
{
  const SpmvFormat *f = spmv_format_find(format);
  UnitPlan          u = {.plan = NULL};
  char              text[SPMV_MESSAGE_MAX];
  SpmvOptions       values;

  vsnprintf(text, sizeof text, options, arguments);
  spmv_exec_init(&u.exec, space);
  spmv_options_init(&values, f);
  set_options(&values, text);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_analyze(f, &csr->pattern, csr->scalar_type, &values, &u.exec, &u.analysis));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_build(csr, &u.analysis, &u.exec, &u.plan));
  return u;
}

UnitPlan unit_plan(SpmvSpace space, const char *format, const SpmvCsr *csr, const char *options, ...)
{
  va_list arguments;

  va_start(arguments, options);
  const UnitPlan u = make_plan(space, format, csr, options, arguments);
  va_end(arguments);
  return u;
}

void unit_plan_clear(UnitPlan *u)
{
  spmv_destroy(&u->plan);
  spmv_analysis_clear(&u->analysis, &u->exec);
}

static void append_line(void *text, const char *line)
{
  const size_t used = strlen(text);
  snprintf((char *)text + used, VIEW_BYTES - used, "%s\n", line);
}

const char *unit_view(const UnitPlan *u)
{
  static char text[VIEW_BYTES];

  text[0] = 0;
  spmv_view(u->plan, append_line, text);
  return text;
}

UnitProblem unit_problem(const GenSpec *spec, SpmvIndex index, SpmvScalar scalar)
{
  UnitProblem  p = {.csr  = {.scalar_type = scalar, .values_space = SPMV_HOST},
                    .most = spec->rows > spec->cols ? spec->rows : spec->cols};
  const size_t S = (size_t)spmv_scalar_bytes(scalar);

  UNIT_EQUAL(SPMV_SUCCESS, gen_pattern(spec, index, &p.csr.pattern));
  p.values = malloc((size_t)p.csr.pattern.nnz * S + 1);
  p.x      = malloc((size_t)p.most * S + 1);
  p.y      = malloc((size_t)p.most * S + 1);
  gen_values(GEN_EXACT, 5, 10, scalar, p.csr.pattern.nnz, p.values);
  gen_values(GEN_EXACT, 6, 10, scalar, p.most, p.x);
  p.csr.values = p.values;
  return p;
}

void unit_problem_clear(UnitProblem *p)
{
  free(p->values);
  free(p->x);
  free(p->y);
  gen_pattern_free(&p->csr.pattern);
}

void unit_mult(UnitPlan *u, SpmvIsa isa, const void *alpha, const void *x, const void *beta, void *y)
{
  (void)isa;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_mult(u->plan, alpha, x, beta, y, NULL, &u->exec));
}

void unit_check_products(UnitProblem *p, UnitPlan *u, UnitMult *mult)
{
  const SpmvScalar scalar = p->csr.scalar_type;
  const double     two = 2, zero = 0;
  const float      two_f = 2, zero_f = 0;
  const void      *alpha = scalar == SPMV_F32 ? (const void *)&two_f : &two;
  const void      *beta  = scalar == SPMV_F32 ? (const void *)&zero_f : &zero;

  for (int transpose = 0; transpose < 2; transpose++) {
    CheckReference reference;
    CheckFault     fault;

    UNIT_EQUAL(SPMV_SUCCESS, check_reference(&p->csr.pattern, scalar, p->values, p->x, transpose, &reference));
    for (int isa = 0; isa <= (transpose ? 0 : (int)spmv_isa()); isa++) {
      memset(p->y, 0xFF, (size_t)(p->most * spmv_scalar_bytes(scalar))); /* fills y with NaN */
      if (transpose) spmv_multtranspose(u->plan, alpha, p->x, beta, p->y, NULL, &u->exec);
      else mult(u, (SpmvIsa)isa, alpha, p->x, beta, p->y);
      UNIT_CHECK(check_vector(&reference, scalar, GEN_EXACT, 2, 0, NULL, p->y, &fault));
    }
    check_reference_free(&reference);
  }
}

void unit_check_format(const GenSpec *spec, SpmvIndex index, SpmvScalar scalar, UnitMult *mult, const char *format,
                       const char *options, ...)
{
  UnitProblem p = unit_problem(spec, index, scalar);
  va_list     arguments;

  va_start(arguments, options);
  UnitPlan u = make_plan(SPMV_HOST, format, &p.csr, options, arguments);
  va_end(arguments);
  unit_check_products(&p, &u, mult);
  unit_plan_clear(&u);
  unit_problem_clear(&p);
}

void unit_check_extracted(const UnitProblem *p, UnitPlan *u)
{
  const size_t bytes = (size_t)(p->csr.pattern.nnz * spmv_scalar_bytes(p->csr.scalar_type));
  void        *back  = malloc(bytes);

  UNIT_EQUAL(SPMV_SUCCESS, spmv_extract_values(u->plan, back, SPMV_HOST, &u->exec));
  UNIT_CHECK(!memcmp(back, p->values, bytes));
  free(back);
}
