/* Tests of the tentative prolongator and its smoothing: their defining properties, and the device against the host. */
#include "unit.h"
#include "aggregate_test.h"
#include "gen.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int last_space(void) { return spmv_device_count(NULL) ? SPMV_DEVICE : SPMV_HOST; }

/* ---- the tentative prolongator ---- */

typedef enum {
  CONSTANTS,  /* no near-null space is given */
  RANDOM,     /* independent random vectors */
  RIGID,      /* rigid motions of points far from the origin: nearly dependent within an aggregate */
  DEPENDENT,  /* the second vector is twice the first, the third is 0, the fourth is random */
  FEW_VALUES, /* 0 and 1, so that many sums are equal */
  NEAR_NULL_KINDS
} NearNull;

/* [columns][3 n], for points that lie anywhere around (100, 200, 300) */
static double *rigid_motions(int64_t n)
{
  double *b = calloc((size_t)(18 * n) + 1, sizeof *b);

  for (int64_t v = 0; v < n; v++) {
    double x[3];
    for (int d = 0; d < 3; d++) x[d] = 100 * (d + 1) + gen_uniform((uint64_t)v, (uint64_t)d);
    for (int d = 0; d < 3; d++) {
      const int d1 = (d + 1) % 3, d2 = (d + 2) % 3;
      b[d * 3 * n + 3 * v + d]        = 1;
      b[(d + 3) * 3 * n + 3 * v + d1] = -x[d2];
      b[(d + 3) * 3 * n + 3 * v + d2] = x[d1];
    }
  }
  return b;
}

static double *near_null_of(NearNull kind, int64_t n, int block, int columns)
{
  const int64_t rows = n * block;
  double       *b;

  if (kind == CONSTANTS) return NULL;
  if (kind == RIGID) return rigid_motions(n);
  b = calloc((size_t)(rows * columns) + 1, sizeof *b);
  for (int c = 0; c < columns; c++)
    for (int64_t i = 0; i < rows; i++) {
      const double v  = gen_uniform((uint64_t)i, (uint64_t)c) - 0.5;
      b[c * rows + i] = kind == FEW_VALUES            ? v > 0
                        : kind == DEPENDENT && c == 1 ? 2 * b[i]
                        : kind == DEPENDENT && c == 2 ? 0
                                                      : v;
    }
  return b;
}

static double given(const SpmvTentative *t, int64_t row, int c)
{
  if (t->near_null) return ((const double *)t->near_null)[c * t->vertices * t->block_size + row];
  return c == row % t->block_size;
}

static double eps_of(SpmvScalar scalar) { return scalar == SPMV_F32 ? 0x1p-23 : 0x1p-52; }

/* Counts the entries in which P0 R differs from B by more than the bound for dependent vectors */
static int64_t wrong_products(const SpmvTentative *t, const TestTentative *r)
{
  int64_t wrong = 0;

  for (int64_t row = 0; row < r->rows; row++)
    for (int c = 0; r->row_ptr[row + 1] > r->row_ptr[row] && c < t->columns; c++) {
      double sum = 0, size = 0;
      for (int64_t k = r->row_ptr[row]; k < r->row_ptr[row + 1]; k++)
        sum += r->values[k] * r->coarse[c * r->coarse_rows + r->col[k]];
      /* the norm of the vector in the aggregate */
      for (int b = 0; b < t->columns; b++)
        size = hypot(size, r->coarse[c * r->coarse_rows + r->col[r->row_ptr[row]] + b]);
      wrong += !(fabs(sum - given(t, row, c)) <= 1100 * eps_of(t->scalar_type) * size);
    }
  return wrong;
}

/* In each aggregate the columns must be orthonormal, those past its number of rows 0, and R upper triangular */
static int64_t wrong_columns(const SpmvTentative *t, const TestTentative *r)
{
  const int k    = t->columns;
  double   *gram = calloc((size_t)(t->found.count * k * k) + 1, sizeof *gram);
  int64_t  *rows = calloc((size_t)t->found.count + 1, sizeof *rows), wrong = 0;

  for (int64_t row = 0; row < r->rows; row++) {
    const int64_t at = r->row_ptr[row], a = r->row_ptr[row + 1] > at ? r->col[at] / k : -1;
    if (a < 0) continue;
    rows[a]++;
    for (int b = 0; b < k; b++)
      for (int c = 0; c < k; c++) gram[(a * k + b) * k + c] += r->values[at + b] * r->values[at + c];
  }
  for (int64_t a = 0; a < t->found.count; a++)
    for (int b = 0; b < k; b++)
      for (int c = 0; c < k; c++) {
        const double expected = b == c && b < rows[a];
        wrong += !(fabs(gram[(a * k + b) * k + c] - expected) <= (50 + (double)rows[a] / 4) * eps_of(t->scalar_type));
        if (b > c) wrong += r->coarse[c * r->coarse_rows + a * k + b] != 0;
        if (b < c && b >= rows[a]) wrong += r->coarse[c * r->coarse_rows + a * k + b] != 0;
      }
  free(gram);
  free(rows);
  return wrong;
}

static int64_t wrong_pattern(const SpmvTentative *t, const TestTentative *r)
{
  int64_t wrong = r->row_ptr[0] != 0 || r->row_ptr[r->rows] != r->nnz, at = 0;

  for (int64_t row = 0; row < r->rows; row++) {
    const int32_t a = t->aggregate[row / t->block_size];
    wrong += r->row_ptr[row] != at;
    for (int c = 0; a >= 0 && c < t->columns; c++, at++) wrong += r->col[at] != a * (int64_t)t->columns + c;
  }
  return wrong;
}

static const struct {
  NearNull kind;
  int      block, columns;
} spaces[] = {{CONSTANTS, 1, 1}, {CONSTANTS, 3, 3},  {RANDOM, 1, 1},     {RANDOM, 2, 3},
              {RANDOM, 1, 7},    {RIGID, 3, 6},      {RANDOM, 6, 12},    {DEPENDENT, 2, 4},
              {DEPENDENT, 1, 4}, {FEW_VALUES, 1, 5}, {FEW_VALUES, 3, 6}, {RANDOM, 1, 32}};
enum { SPACES = sizeof spaces / sizeof *spaces };

/* Calls check(t, graph) for one in `every` of all pairs of a graph and a near-null space */
static void for_tentative(int every, void (*check)(const SpmvTentative *, const TestGraph *))
{
  for (int i = 0; i < test_graph_count(); i++)
    for (int s = 0; s < SPACES; s++) {
      if ((i + s) % every != 0) continue;
      TestGraph            g = test_graph(i);
      SpmvAggregateOptions o;
      spmv_aggregate_options_init(&o);
      o.distance               = 1 + s % 2;
      TestAggregates      r    = test_aggregates(&g, &o, SPMV_HOST, NULL);
      double             *near = near_null_of(spaces[s].kind, g.n, spaces[s].block, spaces[s].columns);
      const SpmvTentative t    = {g.n,
                                  r.found,
                                  r.aggregate,
                                  spaces[s].block,
                                  spaces[s].columns,
                                  (SpmvIndex)(s % 3 == 1),
                                  (SpmvScalar)((i + s) % 3 == 0),
                                  near,
                                  s % 2};
      check(&t, &g);
      free(near);
      test_aggregates_free(&r);
      test_graph_free(&g);
    }
}

static void check_on_host(const SpmvTentative *t, const TestGraph *g)
{
  TestTentative r = test_tentative(t, SPMV_HOST, NULL);

  UNIT_EQUAL(SPMV_SUCCESS, r.status);
  unit_check(wrong_pattern(t, &r) == 0, g->name, __LINE__, "the pattern of P0");
  /* in single precision B is rounded first, so that the product differs */
  if (t->scalar_type == SPMV_F64 || t->near_null == NULL)
    unit_check(wrong_products(t, &r) == 0, g->name, __LINE__, "P0 times the coarse near-null space");
  unit_check(wrong_columns(t, &r) == 0, g->name, __LINE__, "orthonormal columns");
  test_tentative_free(&r);
}

UNIT_TEST(tentative_prolongators_are_orthonormal_and_keep_the_near_null_space) { for_tentative(1, check_on_host); }

static double largest_difference(int64_t n, const double *a, const double *b)
{
  double most = 0;

  for (int64_t i = 0; i < n; i++)
    if (!(fabs(a[i] - b[i]) <= most)) most = fabs(a[i] - b[i]);
  return most;
}

/* The tolerance is wide, because P0 amplifies rounding errors for rigid motions of points close together and far from
   the origin, and for random vectors in aggregates with as many rows as vectors */
static void check_on_device(const SpmvTentative *t, const TestGraph *g)
{
  TestTentative expected = test_tentative(t, SPMV_HOST, NULL), r = test_tentative(t, SPMV_DEVICE, NULL),
                again = test_tentative(t, SPMV_DEVICE, NULL);

  UNIT_EQUAL(SPMV_SUCCESS, r.status);
  unit_check(!memcmp(expected.row_ptr, r.row_ptr, (size_t)(r.rows + 1) * 8) &&
                 !memcmp(expected.col, r.col, (size_t)r.nnz * 8),
             g->name, __LINE__, "the pattern of P0 on the device");
  unit_check(!memcmp(again.values, r.values, (size_t)r.nnz * 8) &&
                 !memcmp(again.coarse, r.coarse, (size_t)(r.coarse_rows * t->columns) * 8),
             g->name, __LINE__, "another call gives other bits");
  unit_check(wrong_columns(t, &r) == 0, g->name, __LINE__, "orthonormal columns on the device");
  if (t->scalar_type == SPMV_F64) {
    unit_check(wrong_products(t, &r) == 0, g->name, __LINE__, "P0 times the coarse near-null space on the device");
    unit_check(largest_difference(r.nnz, expected.values, r.values) < 1e-7, g->name, __LINE__,
               "P0 on the device differs");
    unit_check(largest_difference(r.coarse_rows * t->columns, expected.coarse, r.coarse) < 1e-7, g->name, __LINE__,
               "the coarse near-null space on the device differs");
  }
  test_tentative_free(&expected);
  test_tentative_free(&r);
  test_tentative_free(&again);
}

UNIT_TEST(tentative_prolongators_on_the_device_are_those_on_the_host)
{
  if (last_space() == SPMV_DEVICE) for_tentative(3, check_on_device);
}

UNIT_TEST(what_is_not_a_number_stays_in_its_aggregate)
{
  const int32_t aggregate[] = {0, 0, 1, 1, -1};
  const double  near[]      = {1, NAN, 3, 4, NAN};

  for (int space = SPMV_HOST; space <= last_space(); space++) {
    const SpmvTentative t = {5, {2, 4}, aggregate, 1, 1, SPMV_I32, SPMV_F64, near, 0};
    TestTentative       r = test_tentative(&t, (SpmvSpace)space, NULL);
    UNIT_EQUAL(SPMV_SUCCESS, r.status);
    UNIT_CHECK(isnan(r.coarse[0]) && isnan(r.values[0]) && isnan(r.values[1]));
    UNIT_CHECK(fabs(r.coarse[1] - 5) < 1e-14 && fabs(r.values[2] - 0.6) < 1e-15 && fabs(r.values[3] - 0.8) < 1e-15);
    test_tentative_free(&r);
  }
}

/* ---- its smoothing ---- */

/* Two matrices with the same rows: the pattern of P0 is a part of the product's */
typedef struct {
  int64_t rows, cols, nnz, p_nnz, *row_ptr, *col, *p_row_ptr, *p_col;
  double *values, *p_values, *diagonal;
} SmoothCase;

static SmoothCase smooth_case(int64_t rows, int64_t cols)
{
  SmoothCase   c   = {.rows = rows, .cols = cols};
  const size_t all = (size_t)(rows * cols) + 1;

  c.row_ptr   = calloc((size_t)rows + 1, 8);
  c.p_row_ptr = calloc((size_t)rows + 1, 8);
  c.col       = calloc(all, 8);
  c.p_col     = calloc(all, 8);
  c.values    = calloc(all, 8);
  c.p_values  = calloc(all, 8);
  c.diagonal  = calloc((size_t)rows + 1, 8);
  for (int64_t i = 0; i < rows; i++) {
    c.diagonal[i] = i % 7 == 3 ? 0 : 0.5 + gen_uniform((uint64_t)i, 11);
    for (int64_t j = 0; j < cols; j++) {
      const uint64_t kind = gen_hash((uint64_t)i, (uint64_t)j) % 8;
      if (i % 5 == 4 || kind < 5) continue;
      c.values[c.nnz] = gen_uniform((uint64_t)(i * cols + j), 12) - 0.5;
      c.col[c.nnz++]  = j;
      if (kind < 7) continue;
      c.p_values[c.p_nnz] = gen_uniform((uint64_t)(i * cols + j), 13) - 0.5;
      c.p_col[c.p_nnz++]  = j;
    }
    c.row_ptr[i + 1]   = c.nnz;
    c.p_row_ptr[i + 1] = c.p_nnz;
  }
  return c;
}

static void smooth_case_free(SmoothCase *c)
{
  free(c->row_ptr);
  free(c->p_row_ptr);
  free(c->col);
  free(c->p_col);
  free(c->values);
  free(c->p_values);
  free(c->diagonal);
}

/* The new values, or NULL after a failure */
static double *smoothed(const SmoothCase *c, SpmvIndex index, SpmvScalar scalar, SpmvSpace space, SpmvStatus *status,
                        Hooks *hooks)
{
  const int64_t i = spmv_index_bytes(index), s = spmv_scalar_bytes(scalar);
  void         *row_ptr     = test_move(space, test_indices(index, c->rows + 1, c->row_ptr), (c->rows + 1) * i);
  void         *col         = test_move(space, test_indices(index, c->nnz, c->col), (c->nnz) * i);
  void         *p_row_ptr   = test_move(space, test_indices(index, c->rows + 1, c->p_row_ptr), (c->rows + 1) * i);
  void         *p_col       = test_move(space, test_indices(index, c->p_nnz, c->p_col), (c->p_nnz) * i);
  void         *values      = test_move(space, test_scalars(scalar, c->nnz, c->values), (c->nnz) * s);
  void         *p_values    = test_move(space, test_scalars(scalar, c->p_nnz, c->p_values), (c->p_nnz) * s);
  void         *diagonal    = test_move(space, test_scalars(scalar, c->rows, c->diagonal), (c->rows) * s),
       *host                = malloc((size_t)(c->nnz * s) + 8);
  const SpmvPattern product = {c->rows, c->cols, c->nnz, index, space, row_ptr, col};
  const SpmvCsr     p0      = {{c->rows, c->cols, c->p_nnz, index, space, p_row_ptr, p_col}, scalar, space, p_values};
  SpmvExec          exec;

  spmv_exec_init(&exec, space);
  if (hooks) hooks_exec(hooks, space, NULL, &exec);
  *status = spmv_prolongator_smooth(0.7, diagonal, &p0, &product, values, &exec);
  if (*status == SPMV_ERR_MATRIX) UNIT_CONTAINS("store the diagonal", exec.message);
  test_take(space, row_ptr, NULL, 0);
  test_take(space, col, NULL, 0);
  test_take(space, p_row_ptr, NULL, 0);
  test_take(space, p_col, NULL, 0);
  test_take(space, p_values, NULL, 0);
  test_take(space, diagonal, NULL, 0);
  test_take(space, values, host, c->nnz * s);
  double *out = *status ? NULL : test_doubles(scalar, c->nnz, host);
  free(host);
  return out;
}

static double entry_of_p0(const SmoothCase *c, int64_t i, int64_t j)
{
  for (int64_t k = c->p_row_ptr[i]; k < c->p_row_ptr[i + 1]; k++)
    if (c->p_col[k] == j) return c->p_values[k];
  return 0;
}

UNIT_TEST(smoothed_prolongators)
{
  static const int64_t sizes[][2] = {{0, 0}, {4, 0}, {1, 1}, {40, 30}, {9, 300}};

  for (int space = SPMV_HOST; space <= last_space(); space++)
    for (int types = 0; types < 4; types++)
      for (int k = 0; k < 5; k++) {
        SmoothCase       c      = smooth_case(sizes[k][0], sizes[k][1]);
        const SpmvScalar scalar = (SpmvScalar)(types / 2);
        int64_t          wrong  = 0;
        SpmvStatus       status;
        double          *got = smoothed(&c, (SpmvIndex)(types % 2), scalar, (SpmvSpace)space, &status, NULL);
        UNIT_EQUAL(SPMV_SUCCESS, status);
        for (int64_t i = 0; got && i < c.rows; i++)
          for (int64_t e = c.row_ptr[i]; e < c.row_ptr[i + 1]; e++) {
            const double expected =
                entry_of_p0(&c, i, c.col[e]) - (c.diagonal[i] == 0 ? 0 : 0.7 / c.diagonal[i] * c.values[e]);
            wrong += !(fabs(got[e] - expected) <= 8 * eps_of(scalar));
          }
        UNIT_EQUAL(0, wrong);
        free(got);
        if (c.p_nnz > 0) { /* make the product lack an entry of P0 */
          int64_t row = 0;
          while (c.p_row_ptr[row + 1] == 0) row++;
          for (int64_t e = c.row_ptr[row]; e < c.row_ptr[row + 1]; e++)
            if (c.col[e] == c.p_col[0]) c.col[e] += e + 1 < c.row_ptr[row + 1] && c.col[e + 1] == c.col[e] + 1 ? -1 : 1;
          (void)smoothed(&c, (SpmvIndex)(types % 2), scalar, (SpmvSpace)space, &status, NULL);
          UNIT_EQUAL(SPMV_ERR_MATRIX, status);
        }
        smooth_case_free(&c);
      }
}

/* ---- the whole coarsening ---- */

/* The Laplacian of a graph: each row adds up to 0, and the diagonal is stored */
static TestGraph laplacian(const TestGraph *g, double **values, double **diagonal)
{
  TestGraph a  = {g->name, g->n, calloc((size_t)g->n + 1, 4), malloc((size_t)(g->row_ptr[g->n] + g->n) * 4 + 4)};
  int32_t   at = 0;

  *values   = calloc((size_t)(g->row_ptr[g->n] + g->n) + 1, 8);
  *diagonal = calloc((size_t)g->n + 1, 8);
  for (int32_t v = 0; v < g->n; v++) {
    int32_t k = g->row_ptr[v];
    for (; k < g->row_ptr[v + 1] && g->col[k] < v; k++) (*values)[at] = -1, a.col[at++] = g->col[k];
    (*diagonal)[v] = (*values)[at] = test_graph_degree(g, v);
    a.col[at++]                    = v;
    for (; k < g->row_ptr[v + 1]; k++)
      if (g->col[k] > v) (*values)[at] = -1, a.col[at++] = g->col[k];
    a.row_ptr[v + 1] = at;
  }
  return a;
}

/* Counts the rows of a CSR in a space whose product with x (on the host) differs from `expected` by more than
   rounding */
static int64_t wrong_rows(const SpmvPattern *p, void *values, const double *x, double expected)
{
  int64_t *row_ptr = test_fetch_indices(p->space, SPMV_I32, p->rows + 1, p->row_ptr), wrong = 0;
  int64_t *col = test_fetch_indices(p->space, SPMV_I32, p->nnz, p->col);
  double  *v   = test_fetch_scalars(p->space, SPMV_F64, p->nnz, values);

  for (int64_t i = 0; i < p->rows; i++) {
    double sum = 0, size = 1;
    for (int64_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) sum += v[k] * x[col[k]], size += fabs(v[k] * x[col[k]]);
    wrong += row_ptr[i + 1] > row_ptr[i] && !(fabs(sum - expected) <= 1e-11 * size);
  }
  free(row_ptr);
  free(col);
  free(v);
  return wrong;
}

/* P reproduces constants, and the coarse matrix maps them to 0, because A does */
static void coarsen(const TestGraph *g, SpmvSpace space, int distance)
{
  double       *a_values, *a_diagonal;
  TestGraph     a = laplacian(g, &a_values, &a_diagonal);
  const int64_t n = g->n, nnz = a.row_ptr[n];
  void         *row_ptr = test_put(space, a.row_ptr, (n + 1) * 4), *col = test_put(space, a.col, nnz * 4);
  void         *values = test_put(space, a_values, nnz * 8), *diagonal = test_put(space, a_diagonal, n * 8);
  void         *aggregate = test_put(space, NULL, n * 4), *p_row_ptr = test_put(space, NULL, (n + 1) * 4);
  void         *p_col = test_put(space, NULL, n * 4), *p_values = test_put(space, NULL, n * 8),
       *coarse                 = test_put(space, NULL, n * 8);
  const SpmvPattern    pattern = {n, n, nnz, SPMV_I32, space, row_ptr, col};
  SpmvAggregateOptions o;
  SpmvAggregates       found;
  SpmvPattern          product, galerkin;
  SpmvSpgemm          *ap, *ptap;
  SpmvExec             exec;

  spmv_exec_init(&exec, space);
  spmv_aggregate_options_init(&o);
  o.distance = distance;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_aggregate(&pattern, &o, aggregate, NULL, &found, &exec));
  const SpmvTentative t = {n, found, aggregate, 1, 1, SPMV_I32, SPMV_F64, NULL, 0};
  const SpmvCsr p0 = {{n, found.count, found.members, SPMV_I32, space, p_row_ptr, p_col}, SPMV_F64, space, p_values};
  UNIT_EQUAL(SPMV_SUCCESS, spmv_tentative(&t, p_row_ptr, p_col, p_values, coarse, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_spgemm_symbolic(SPMV_SPGEMM_AB, &pattern, &p0.pattern, SPMV_F64, &exec, &ap));
  spmv_spgemm_pattern(ap, &product);
  void *p = test_put(space, NULL, product.nnz * 8);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_spgemm_numeric(ap, values, p_values, p, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_prolongator_smooth(0.66, diagonal, &p0, &product, p, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_spgemm_symbolic(SPMV_SPGEMM_PTAP, &pattern, &product, SPMV_F64, &exec, &ptap));
  spmv_spgemm_pattern(ptap, &galerkin);
  void   *c = test_put(space, NULL, galerkin.nnz * 8);
  double *x = calloc((size_t)n + 1, 8);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_spgemm_numeric(ptap, values, p, c, &exec));
  test_take(space, coarse, x, found.count * 8);
  unit_check(wrong_rows(&product, p, x, 1) == 0, g->name, __LINE__, "P times the coarse constants");
  unit_check(wrong_rows(&galerkin, c, x, 0) == 0, g->name, __LINE__, "the coarse matrix times the coarse constants");
  spmv_spgemm_destroy(&ap);
  spmv_spgemm_destroy(&ptap);
  void *const copies[] = {row_ptr, col, values, diagonal, aggregate, p_row_ptr, p_col, p_values, p, c};
  for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) test_take(space, copies[i], NULL, 0);
  test_graph_free(&a);
  free(a_values);
  free(a_diagonal);
  free(x);
}

UNIT_TEST(coarse_matrices_keep_constants)
{
  for (int space = SPMV_HOST; space <= last_space(); space++)
    for (int i = 0; i < test_graph_count(); i++) {
      TestGraph g = test_graph(i);
      coarsen(&g, (SpmvSpace)space, 1 + i % 2);
      test_graph_free(&g);
    }
}
