/* cycle_textbook.c - a textbook cycle for the tests, recursive and with dense matrices. It shares no code with the
   kernels. */
#include "cycle/cycle_test.h"
#include <stdlib.h>
#include <string.h>

/* y = A x with A of shape [rows][cols] */
static void multiply(const double *a, int rows, int cols, const double *x, double *y)
{
  for (int i = 0; i < rows; i++) {
    y[i] = 0;
    for (int j = 0; j < cols; j++)
      if (a[(size_t)i * cols + j] != 0) y[i] += a[(size_t)i * cols + j] * x[j];
  }
}

/* z = M r with blocks of `block` rows, each stored by columns */
static void precondition(const double *m, int block, int rows, const double *r, double *z)
{
  for (int i = 0; i < rows; i++) {
    const int first = block > 1 ? i / block * block : i;
    z[i]            = block == 0 ? r[i] : 0;
    for (int j = 0; j < block; j++) z[i] += m[(size_t)first * block + j * block + (i - first)] * r[first + j];
  }
}

/* r = b - A x */
static void residual(const CycleLevel *l, const double *b, const double *x, double *r)
{
  multiply(l->a, l->rows, l->rows, x, r);
  for (int i = 0; i < l->rows; i++) r[i] = b[i] - r[i];
}

/* The steps of a smoother, from any x */
static void smooth(const CycleLevel *l, const CycleSetup *u, int up, const double *b, double *x)
{
  const int n    = l->rows;
  double   *work = calloc(3 * (size_t)n + 1, sizeof *work), *r = work, *z = r + n, *before = z + n;

  for (int k = 0; k < u->steps[up]; k++) {
    const SpmvFactors *f = &l->step[up][k];
    residual(l, b, x, r);
    precondition(l->m[up], u->block[up], n, r, z);
    for (int i = 0; i < n; i++) {
      const double next = f->current * x[i] + (k ? f->before * before[i] : 0) + f->correction * z[i];
      before[i]         = x[i];
      x[i]              = next;
    }
  }
  free(work);
}

static void visit(const CycleCase *c, int level, const double *b, double *x)
{
  const CycleLevel *l = &c->level[level];

  if (level == 0) {
    multiply(c->inverse, l->rows, l->rows, b, x);
    return;
  }
  double *work = calloc(2 * (size_t)(l->rows + l->cols) + 1, sizeof *work), *r = work, *added = r + l->rows;
  double *coarse_b = added + l->rows, *coarse_x = coarse_b + l->cols;
  smooth(l, &c->setup, 0, b, x);
  residual(l, b, x, r);
  multiply(l->r, l->cols, l->rows, r, coarse_b);
  for (int i = 0; i < c->setup.visits; i++) visit(c, level - 1, coarse_b, coarse_x);
  multiply(l->p, l->rows, l->cols, coarse_x, added);
  for (int i = 0; i < l->rows; i++) x[i] += added[i];
  smooth(l, &c->setup, 1, b, x);
  free(work);
}

void cycle_textbook(const CycleCase *c, const double *b, double *x)
{
  memset(x, 0, (size_t)cycle_rows(c) * sizeof *x);
  for (int i = 0; i < c->setup.cycles; i++) visit(c, c->setup.levels - 1, b, x);
}

void cycle_finest(const CycleCase *c, const double *x, double *y)
{
  multiply(c->level[c->setup.levels - 1].a, cycle_rows(c), cycle_rows(c), x, y);
}
