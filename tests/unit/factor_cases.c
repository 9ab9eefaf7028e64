/* factor_cases.c - see src/kernels/factor/factor_test.h. */
#include "factor/factor_test.h"
#include "aggregate/aggregate_test.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t draw(uint32_t *seed)
{
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

FactorMatrix factor_of_dense(int32_t n, const double *dense)
{
  FactorMatrix m = {.n = n};
  int32_t      k = 0;

  m.row_ptr = calloc((size_t)n + 1, sizeof *m.row_ptr);
  m.col     = calloc((size_t)n * (size_t)n + 1, sizeof *m.col);
  m.value   = calloc((size_t)n * (size_t)n + 1, sizeof *m.value);
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) {
      if (dense[i * n + j] == 0 && i != j) continue;
      m.col[k]     = j;
      m.value[k++] = dense[i * n + j];
    }
    m.row_ptr[i + 1] = k;
  }
  return m;
}

static int is_there(int number, int32_t i, int32_t j, uint32_t *seed)
{
  switch (number) {
  case 2: /* diagonal */
    return 0;
  case 3: /* chain */
    return abs(i - j) == 1;
  case 4: /* arrows, to the last row and from the first */
    return i == 0 || j == 0 || j % 97 == 96 || i % 97 == 96;
  case 5: /* dense */
    return 1;
  case 6: /* grid */
    return abs(i - j) == 17 || (abs(i - j) == 1 && (i > j ? i : j) % 17 > 0);
  default:
    return draw(seed) % 100 < (uint32_t)(2 + number % 5 * 6);
  }
}

FactorMatrix factor_matrix(int number, int symmetric)
{
  const int32_t sizes[] = {1, 0, 300, 300, 200, 40, 289}, n = number < 7 ? sizes[number] : 20 + number * 13 % 150;
  double       *dense = calloc((size_t)n * (size_t)n + 1, sizeof *dense);
  uint32_t      seed  = 7u * (uint32_t)number + 3;

  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++)
      if (i != j && !(symmetric && j < i) && is_there(number, i, j, &seed)) {
        dense[i * n + j] = (double)(int)(draw(&seed) % 2001) / 1000 - 1;
        if (symmetric) dense[j * n + i] = dense[i * n + j];
      }
  for (int32_t i = 0; i < n; i++) {
    double sum = 0.5;
    for (int32_t j = 0; j < n; j++) sum += fabs(dense[i * n + j]) / 2 + fabs(dense[j * n + i]) / 2;
    dense[i * n + i] = symmetric || i % 3 ? sum : -sum;
  }
  const FactorMatrix m = factor_of_dense(n, dense);
  free(dense);
  return m;
}

void factor_matrix_free(FactorMatrix *m)
{
  free(m->row_ptr);
  free(m->col);
  free(m->value);
}

SpmvPattern factor_pattern(const FactorMatrix *m)
{
  return (SpmvPattern){.rows       = m->n,
                       .cols       = m->n,
                       .nnz        = m->row_ptr[m->n],
                       .index_type = SPMV_I32,
                       .space      = SPMV_HOST,
                       .row_ptr    = m->row_ptr,
                       .col        = m->col};
}

double *factor_numbers(int32_t n, uint32_t seed)
{
  double *v = calloc((size_t)n + 1, sizeof *v);

  for (int32_t i = 0; i < n; i++) v[i] = (double)(int)(draw(&seed) % 20001) / 10000 - 1;
  return v;
}

void factor_open(FactorLife *l, SpmvSpace space, Hooks *hooks, const FactorMatrix *m, SpmvScalar scalar)
{
  memset(l, 0, sizeof *l);
  if (hooks) hooks_exec(hooks, space, NULL, &l->exec);
  else spmv_exec_init(&l->exec, space);
  l->scalar = scalar;
  l->n      = m->n;
  l->nnz    = m->row_ptr[m->n];
  l->values = test_put(space, NULL, l->nnz * 8);
  l->b      = test_put(space, NULL, (int64_t)m->n * 8);
  l->x      = test_put(space, NULL, (int64_t)m->n * 8);
}

SpmvStatus factor_make(FactorLife *l, const FactorMatrix *m, const SpmvFactorOptions *o)
{
  const SpmvPattern p = factor_pattern(m);

  return spmv_factor_create(&p, l->scalar, o, &l->exec, &l->f);
}

static void put(FactorLife *l, void *to, int64_t n, const double *from)
{
  void    *scalars = test_scalars(l->scalar, n, from);
  SpmvExec exec;

  spmv_exec_init(&exec, l->exec.space);
  exec.stream = l->exec.stream;
  if (spmv_copy(to, exec.space, scalars, SPMV_HOST, n * spmv_scalar_bytes(l->scalar), &exec)) abort();
  if (exec.space == SPMV_DEVICE && spmv_stream_wait(&exec)) abort();
  free(scalars);
}

void factor_set(FactorLife *l, const double *values, const double *b, const double *x)
{
  if (values) put(l, l->values, l->nnz, values);
  if (b) put(l, l->b, l->n, b);
  if (x) put(l, l->x, l->n, x);
}

SpmvStatus factor_do(FactorLife *l, FactorAction action, double omega, int zero_guess)
{
  if (action <= FACTOR_SOLVE_T) return spmv_factor_solve(l->f, action == FACTOR_SOLVE_T, l->b, l->x, &l->exec);
  return spmv_factor_sor(l->f, (SpmvSorSweep)(action - FACTOR_FORWARD), omega, zero_guess, l->b, l->x, &l->exec);
}

double *factor_x(FactorLife *l) { return test_fetch_scalars(l->exec.space, l->scalar, l->n, l->x); }

void factor_close(FactorLife *l)
{
  spmv_factor_destroy(&l->f);
  test_take(l->exec.space, l->values, NULL, 0);
  test_take(l->exec.space, l->b, NULL, 0);
  test_take(l->exec.space, l->x, NULL, 0);
}

SpmvFactorOptions factor_options(SpmvFactorKind kind)
{
  SpmvFactorOptions o;

  spmv_factor_options_init(&o);
  o.kind       = kind;
  o.transposes = 1;
  return o;
}

const double factor_omegas[] = {1, 1.3};

double *factor_results(const FactorMatrix *m, const SpmvFactorOptions *o, SpmvScalar scalar, SpmvSpace space,
                       const double *values, const double *b, int actions)
{
  double    *all = calloc((size_t)(m->n * actions) + 1, sizeof *all);
  FactorLife l;

  factor_open(&l, space, NULL, m, scalar);
  UNIT_EQUAL(SPMV_SUCCESS, factor_make(&l, m, o));
  factor_set(&l, values, b, b);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_factor_numeric(l.f, l.values, &l.exec));
  for (int i = 0; i < actions; i++) {
    const FactorAction action =
        o->kind == SPMV_FACTOR_SOR ? (FactorAction)(FACTOR_FORWARD + i % 3) : (FactorAction)(i % 2);
    UNIT_EQUAL(SPMV_SUCCESS, factor_do(&l, action, factor_omegas[i % 2], i < 3));
    double *x = factor_x(&l);
    memcpy(all + i * m->n, x, (size_t)m->n * sizeof *x);
    free(x);
  }
  factor_close(&l);
  return all;
}

int factor_same(const double *a, const double *b, int32_t n)
{
  for (int32_t i = 0; i < n; i++)
    if (!(isnan(a[i]) && isnan(b[i])) && memcmp(&a[i], &b[i], sizeof *a)) return 0;
  return 1;
}
