/* cycle_matrices.c - hierarchies for the tests of cycles; see cycle_test.h. */
#include "cycle/cycle_test.h"
#include "gen.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void cycle_set_levels(CycleSetup *u, int levels, int coarsest)
{
  u->levels = levels;
  for (int l = 0; l < levels; l++) u->nodes[l] = l ? 2 * u->nodes[l - 1] - 1 : coarsest;
}

CycleSetup cycle_setup(void)
{
  CycleSetup u = {.format     = "crsv",
                  .dofs       = 1,
                  .steps      = {2, 2},
                  .block      = {1, 1},
                  .factors    = CYCLE_THREE_TERMS,
                  .visits     = 1,
                  .cycles     = 1,
                  .dense_rows = 0,
                  .size       = 1,
                  .b_size     = 1,
                  .jump       = 1};

  cycle_set_levels(&u, 4, 3);
  return u;
}

static double *zeros(int64_t n) { return calloc((size_t)n + 1, sizeof(double)); }

/* C = A B of shapes [n][m] and [m][k] */
static double *product(const double *a, const double *b, int n, int m, int k)
{
  double *c = zeros((int64_t)n * k);

  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (a[(size_t)i * m + j] != 0)
        for (int l = 0; l < k; l++) c[(size_t)i * k + l] += a[(size_t)i * m + j] * b[(size_t)j * k + l];
  return c;
}

/* Symmetric, positive definite and diagonally dominant; neighbours are at most two nodes away. With a jump, the first
   half of the nodes has smaller coefficients. */
static double *finest(const CycleSetup *u, int nodes)
{
  const int dofs = u->dofs, n = nodes * dofs, half = nodes / 2 * dofs;
  double   *a = zeros((int64_t)n * n);

  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (i != j && abs(i / dofs - j / dofs) <= 2) {
        const double of      = u->size / (i < half || j < half ? u->jump : 1);
        const double v       = of * (-0.1 - gen_uniform((uint64_t)(i < j ? i : j), (uint64_t)(i < j ? j : i)));
        a[(size_t)i * n + j] = v;
        a[(size_t)i * n + i] -= v;
      }
  for (int i = 0; i < n; i++) a[(size_t)i * n + i] += u->size / (i < half ? u->jump : 1) * (0.2 + 0.1 * (i % 3));
  return a;
}

/* Every node has one or two coarse nodes; weights differ, so that a wrong entry is noticed */
static double *interpolation(int fine, int coarse, int dofs)
{
  const int cols = coarse * dofs;
  double   *p    = zeros((int64_t)fine * dofs * cols);

  for (int i = 0; i < fine && coarse; i++) {
    const int first = (int)((int64_t)i * coarse / fine), both = i % 2 && first + 1 < coarse;
    for (int k = first; k <= first + both; k++)
      for (int d = 0; d < dofs; d++)
        p[((size_t)i * dofs + d) * cols + k * dofs + d] = (both ? 0.5 : 1) + 0.1 * sin(3.0 * i + k + d);
  }
  return p;
}

static double *restriction(const double *p, int rows, int cols, int own)
{
  double *r = zeros((int64_t)rows * cols);

  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++)
      r[(size_t)j * rows + i] = p[(size_t)i * cols + j] * (own ? 1 + 0.2 * sin(i + 5.0 * j) : 1);
  return r;
}

/* M is close to the inverse of the diagonal; blocks also have off-diagonal entries */
static double *preconditioner(const double *a, int n, int block, int up)
{
  double *m = zeros((int64_t)n * (block ? block : 1));

  for (int i = 0; i < n && block; i++)
    for (int j = 0; j < block; j++) {
      const int    first = i / block * block, row = first + j;
      const double diagonal = a[(size_t)row * n + row];
      /* column i - first of the block */
      m[(size_t)first * block + (size_t)(i - first) * block + j] =
          (row == i ? 1 + 0.1 * sin(i + up) : 0.2 * sin(2.0 * i + j + up)) / (diagonal > 0 ? diagonal : 1);
    }
  return m;
}

/* The factors of step k. Step 0 must not use `before`. */
static SpmvFactors factors_of(CycleFactors kind, int level, int up, int k)
{
  const double correction = 0.5 + 0.06 * k - 0.02 * level, c = k ? 0.1 + 0.02 * k + 0.01 * level + 0.05 * up : 0;

  if (kind == CYCLE_RICHARDSON) return (SpmvFactors){1, 0, 0.6 + 0.02 * level};
  if (kind == CYCLE_THREE_TERMS) return (SpmvFactors){1 + c, -c, correction};
  return (SpmvFactors){1.1 + 0.05 * k, k ? 0.02 * k - c : 7, correction};
}

/* The inverse by elimination; a row without a diagonal entry is taken as one of the identity */
static double *inverse_of(const double *of, int n)
{
  double *a = zeros((int64_t)n * n), *inverse = zeros((int64_t)n * n);

  memcpy(a, of, (size_t)n * n * sizeof *a);
  for (int i = 0; i < n; i++) {
    inverse[(size_t)i * n + i] = 1;
    if (a[(size_t)i * n + i] == 0) a[(size_t)i * n + i] = 1;
  }
  for (int k = 0; k < n; k++) {
    const double pivot = a[(size_t)k * n + k];
    for (int j = 0; j < n; j++) {
      a[(size_t)k * n + j] /= pivot;
      inverse[(size_t)k * n + j] /= pivot;
    }
    for (int i = 0; i < n; i++) {
      const double factor = a[(size_t)i * n + k];
      for (int j = 0; j < n && i != k && factor != 0; j++) {
        a[(size_t)i * n + j] -= factor * a[(size_t)k * n + j];
        inverse[(size_t)i * n + j] -= factor * inverse[(size_t)k * n + j];
      }
    }
  }
  free(a);
  return inverse;
}

int cycle_rows(const CycleCase *c) { return c->level[c->setup.levels - 1].rows; }

CycleCase cycle_case(const CycleSetup *u)
{
  CycleCase c = {.setup = *u};

  for (int l = u->levels - 1; l >= 0; l--) {
    CycleLevel       *to   = &c.level[l];
    const CycleLevel *fine = to + 1;
    to->rows               = u->nodes[l] * u->dofs;
    if (l == u->levels - 1) to->a = finest(u, u->nodes[l]);
    else {
      double *ap = product(fine->a, fine->p, fine->rows, fine->rows, to->rows);
      to->a      = product(fine->r, ap, to->rows, fine->rows, to->rows);
      free(ap);
    }
    for (int up = 0; up < 2; up++)
      for (int k = 0; k < 8; k++) {
        to->step[up][k] = factors_of(u->factors, l, up, k);
        if (u->block[up] == 0) to->step[up][k].correction /= u->size;
      }
    if (l == 0) break;
    to->cols = u->nodes[l - 1] * u->dofs;
    to->p    = interpolation(u->nodes[l], u->nodes[l - 1], u->dofs);
    to->r    = restriction(to->p, to->rows, to->cols, u->own_restriction);
    for (int up = 0; up < 2; up++) to->m[up] = preconditioner(to->a, to->rows, u->block[up], up);
  }
  c.inverse = inverse_of(c.level[0].a, c.level[0].rows);
  c.b       = zeros(cycle_rows(&c));
  for (int i = 0; i < cycle_rows(&c); i++) c.b[i] = u->b_size * (1 + sin(0.7 * i));
  return c;
}

void cycle_case_free(CycleCase *c)
{
  for (int l = 0; l < c->setup.levels; l++) {
    CycleLevel *level = &c->level[l];
    free(level->a);
    free(level->p);
    free(level->r);
    for (int up = 0; up < 2; up++) free(level->m[up]);
  }
  free(c->inverse);
  free(c->b);
}

static void change(double *values, int64_t n)
{
  for (int64_t i = 0; i < n && values; i++) values[i] *= 1 + 0.1 * sin(1.3 * (double)(i % 1001));
}

void cycle_case_change(CycleCase *c)
{
  const CycleSetup *u = &c->setup;

  for (int l = 0; l < u->levels; l++) {
    CycleLevel   *level = &c->level[l];
    const int64_t rows = level->rows, cols = level->cols;
    change(level->a, rows * rows);
    change(level->p, rows * cols);
    free(level->r);
    level->r = l ? restriction(level->p, level->rows, level->cols, u->own_restriction) : NULL;
    for (int up = 0; up < 2; up++) {
      change(level->m[up], rows * u->block[up]);
      for (int k = 0; k < 8; k++) level->step[up][k].correction *= 0.9;
    }
  }
  change(c->inverse, (int64_t)c->level[0].rows * c->level[0].rows);
}
