/* Tests of incomplete factorizations and sweeps: against dense loops, the device against the host bit by bit, new values,
   numbers that are none, graphs. */
#include "factor_test.h"
#include "factor.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef SPMV_HAVE_CUDA
  #include <cuda_runtime_api.h>
#endif

static int last_space(void) { return spmv_device_count(NULL) ? SPMV_DEVICE : SPMV_HOST; }

/* ---- against dense loops ---- */

/* Gaussian elimination that changes only entries of the pattern; L and U are in one array */
static double *dense_factor(const FactorMatrix *m)
{
  const int32_t n     = m->n;
  double       *a     = calloc((size_t)n * (size_t)n + 1, sizeof *a);
  char         *there = calloc((size_t)n * (size_t)n + 1, 1);

  for (int32_t i = 0; i < n; i++)
    for (int32_t k = m->row_ptr[i]; k < m->row_ptr[i + 1]; k++) {
      a[i * n + m->col[k]]     = m->value[k];
      there[i * n + m->col[k]] = 1;
    }
  for (int32_t k = 0; k < n; k++)
    for (int32_t i = k + 1; i < n; i++) {
      if (!there[i * n + k]) continue;
      a[i * n + k] /= a[k * n + k];
      for (int32_t j = k + 1; j < n; j++)
        if (there[i * n + j]) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
  free(there);
  return a;
}

/* y = L U x, or y = U^T L^T x */
static double *dense_product(const double *lu, int32_t n, int transposed, const double *x)
{
  double *u = calloc((size_t)n + 1, sizeof *u), *y = calloc((size_t)n + 1, sizeof *y);

  for (int32_t i = 0; i < n; i++) {
    if (transposed)
      for (int32_t j = i; j < n; j++) u[i] += (j == i ? 1 : lu[j * n + i]) * x[j];
    else
      for (int32_t j = i; j < n; j++) u[i] += lu[i * n + j] * x[j];
  }
  for (int32_t i = 0; i < n; i++) {
    if (transposed)
      for (int32_t j = 0; j <= i; j++) y[i] += lu[j * n + i] * u[j];
    else
      for (int32_t j = 0; j <= i; j++) y[i] += (j == i ? 1 : lu[i * n + j]) * u[j];
  }
  free(u);
  return y;
}

static void compare(const double *expected, const double *got, int32_t n, double bound, int line)
{
  double scale = 0, error = 0;

  for (int32_t i = 0; i < n; i++) {
    scale = fmax(scale, fabs(expected[i]));
    error = fmax(error, isfinite(got[i]) ? fabs(expected[i] - got[i]) : INFINITY);
  }
  unit_check(error <= bound * scale, "factor_test.c", line, "the numbers differ from those of dense loops");
}

UNIT_TEST(solves_are_those_of_dense_factors)
{
  for (int number = 0; number < FACTOR_SHAPES + 12; number++)
    for (int kind = SPMV_FACTOR_ILU; kind <= SPMV_FACTOR_ICC; kind++) {
      FactorMatrix            m  = factor_matrix(number, kind == SPMV_FACTOR_ICC);
      double                 *lu = dense_factor(&m), *b = factor_numbers(m.n, 5);
      const SpmvFactorOptions o = factor_options((SpmvFactorKind)kind);
      double                 *x = factor_results(&m, &o, SPMV_F64, SPMV_HOST, m.value, b, 2);

      for (int transposed = 0; transposed < 2; transposed++) {
        double *again = dense_product(lu, m.n, transposed, x + transposed * m.n);
        compare(b, again, m.n, 1e-13, __LINE__);
        free(again);
      }
      free(x);
      free(lu);
      free(b);
      factor_matrix_free(&m);
    }
}

static void dense_sweep(const FactorMatrix *m, int descending, double omega, const double *b, double *x)
{
  for (int32_t r = 0; r < m->n; r++) {
    const int32_t i   = descending ? m->n - 1 - r : r;
    double        sum = b[i], diagonal = 0;

    for (int32_t k = m->row_ptr[i]; k < m->row_ptr[i + 1]; k++)
      if (m->col[k] == i) diagonal = m->value[k];
      else sum -= m->value[k] * x[m->col[k]];
    x[i] = (1 - omega) * x[i] + omega * sum / diagonal;
  }
}

UNIT_TEST(sweeps_are_those_of_plain_loops)
{
  const SpmvFactorOptions o = factor_options(SPMV_FACTOR_SOR);

  for (int number = 0; number < FACTOR_SHAPES + 4; number++) {
    FactorMatrix m = factor_matrix(number, 0);
    double      *b = factor_numbers(m.n, 5), *x = factor_numbers(m.n, 6);
    double      *all = factor_results(&m, &o, SPMV_F64, SPMV_HOST, m.value, b, 6);

    for (int i = 0; i < 6; i++) {
      if (i < 3) memset(x, 0, (size_t)m.n * sizeof *x);
      if (i % 3 != 1) dense_sweep(&m, 0, factor_omegas[i % 2], b, x);
      if (i % 3 != 0) dense_sweep(&m, 1, factor_omegas[i % 2], b, x);
      compare(x, all + i * m.n, m.n, 1e-14, __LINE__);
    }
    free(all);
    free(b);
    free(x);
    factor_matrix_free(&m);
  }
}

/* ---- the device against the host ---- */

static void check_spaces(int number, SpmvFactorKind kind, SpmvScalar scalar)
{
  const int               actions = kind == SPMV_FACTOR_SOR ? 6 : 2;
  FactorMatrix            m       = factor_matrix(number, kind == SPMV_FACTOR_ICC);
  double                 *b       = factor_numbers(m.n, 11);
  const SpmvFactorOptions o       = factor_options(kind);
  double                 *host    = factor_results(&m, &o, scalar, SPMV_HOST, m.value, b, actions);

  double *device = factor_results(&m, &o, scalar, SPMV_DEVICE, m.value, b, actions);
  UNIT_CHECK(factor_same(host, device, m.n * actions));
  free(host);
  free(device);
  free(b);
  factor_matrix_free(&m);
}

UNIT_TEST(the_device_has_the_bits_of_the_host)
{
  if (spmv_device_count(NULL) == 0) return;
  for (int number = 0; number < FACTOR_SHAPES + 40; number++)
    for (int kind = SPMV_FACTOR_ILU; kind <= SPMV_FACTOR_SOR; kind++)
      for (int scalar = SPMV_F64; scalar <= SPMV_F32; scalar++)
        check_spaces(number, (SpmvFactorKind)kind, (SpmvScalar)scalar);
}

static void compare_spaces(const FactorMatrix *m)
{
  double *b = factor_numbers(m->n, 4);

  for (int kind = SPMV_FACTOR_ILU; kind <= SPMV_FACTOR_ICC; kind++) {
    const SpmvFactorOptions o    = factor_options((SpmvFactorKind)kind);
    double                 *host = factor_results(m, &o, SPMV_F64, SPMV_HOST, m->value, b, 2);
    double                 *last = factor_results(m, &o, SPMV_F64, (SpmvSpace)last_space(), m->value, b, 2);

    UNIT_CHECK(factor_same(host, last, 2 * m->n));
    free(host);
    free(last);
  }
  free(b);
}

/* A warp keeps rows of up to 128 entries in shared memory */
UNIT_TEST(long_rows_have_the_bits_of_the_host)
{
  enum { N = 140 };
  double *dense = factor_numbers(N * N, 3);

  for (int i = 0; i < N; i++) dense[i * N + i] = N;
  FactorMatrix m = factor_of_dense(N, dense);
  compare_spaces(&m);
  free(dense);
  factor_matrix_free(&m);
}

enum { LAYER = 2400, LAYERS = 3, LONG = 100 };

/* Layers of nodes with two rows, each of which meets the same node of the layers beside it, and a first and a last row that
   meet LONG rows */
static int32_t columns_of_layers(int32_t row, int32_t *col)
{
  const int32_t n     = LAYER * LAYERS;
  int32_t       count = 0;

  for (int32_t c = 0; c < n; c++) {
    const int is_near =
        c / LAYER - row / LAYER <= 1 && row / LAYER - c / LAYER <= 1 && c % LAYER / 2 == row % LAYER / 2;
    if (is_near || (row == n - 1 && c < LONG) || (row == 0 && c >= n - LONG)) col[count++] = c;
  }
  return count;
}

/* Wide levels: half a warp has a row of a factorization (factor_device.cu), in shared memory up to 64 entries. Rows of a
   node wait for each other in a warp. */
UNIT_TEST(wide_levels_have_the_bits_of_the_host)
{
  enum { N = LAYER * LAYERS, MOST = 8 * N };
  FactorMatrix m = {N, calloc(N + 1, sizeof(int32_t)), calloc(MOST, sizeof(int32_t)), factor_numbers(MOST, 9)};
  const SpmvFactorOptions o = factor_options(SPMV_FACTOR_ICC);
  SpmvFactorInfo          info;
  FactorLife              l;

  for (int32_t i = 0; i < N; i++) {
    m.row_ptr[i + 1] = m.row_ptr[i] + columns_of_layers(i, m.col + m.row_ptr[i]);
    for (int32_t k = m.row_ptr[i]; k < m.row_ptr[i + 1]; k++)
      if (m.col[k] == i) m.value[k] = LONG;
  }
  factor_open(&l, SPMV_HOST, NULL, &m, SPMV_F64);
  UNIT_EQUAL(SPMV_SUCCESS, factor_make(&l, &m, &o));
  spmv_factor_info(l.f, &info);
  UNIT_CHECK(info.factor_nonzeros >= 4000 * info.levels[0] && info.factor_nonzeros < 32 * N);
  factor_close(&l);
  compare_spaces(&m);
  factor_matrix_free(&m);
}

/* ---- levels ---- */

static SpmvFactorInfo info_of(int number, SpmvFactorKind kind, SpmvSpace space)
{
  FactorMatrix            m = factor_matrix(number, 0);
  const SpmvFactorOptions o = factor_options(kind);
  SpmvFactorInfo          info;
  FactorLife              l;

  factor_open(&l, space, NULL, &m, SPMV_F64);
  UNIT_EQUAL(SPMV_SUCCESS, factor_make(&l, &m, &o));
  spmv_factor_info(l.f, &info);
  UNIT_CHECK(info.rows == m.n && info.nonzeros == m.row_ptr[m.n] && info.bytes > 0 && info.zero_row == -1);
  factor_close(&l);
  factor_matrix_free(&m);
  return info;
}

UNIT_TEST(levels_are_those_of_the_pattern)
{
  for (int kind = SPMV_FACTOR_ILU; kind <= SPMV_FACTOR_SOR; kind++) {
    SpmvFactorInfo i = info_of(3, (SpmvFactorKind)kind, SPMV_HOST);
    UNIT_CHECK(i.levels[0] == 300 && i.levels[1] == 300 && i.widest[0] == 1 && i.widest[1] == 1);
    i = info_of(2, (SpmvFactorKind)kind, SPMV_HOST);
    UNIT_CHECK(i.levels[0] == 1 && i.levels[1] == 1 && i.widest[0] == 300 && i.widest[1] == 300);
    i = info_of(6, (SpmvFactorKind)kind, (SpmvSpace)last_space());
    UNIT_CHECK(i.levels[0] == 33 && i.levels[1] == 33 && i.widest[0] == 17 && i.widest[1] == 17);
    UNIT_EQUAL(kind == SPMV_FACTOR_ICC ? 289 + 2 * 17 * 16 : 289 + 4 * 17 * 16, i.factor_nonzeros);
  }
}

/* A chain of nodes with three unknowns each: a node costs one level, also where its rows are dealt to two thread blocks */
UNIT_TEST(nodes_have_one_level)
{
  enum { NODES = 50, N = 3 * NODES };
  double *dense = calloc((size_t)N * N, sizeof *dense), *b = factor_numbers(N, 3);

  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      if (i / 3 - j / 3 <= 1 && j / 3 - i / 3 <= 1) dense[i * N + j] = i == j ? 9 : -1.0 / (1 + i % 4 + j % 4);
  FactorMatrix m = factor_of_dense(N, dense);
  for (int space = SPMV_HOST; space <= last_space(); space++) {
    const SpmvFactorOptions o = factor_options(SPMV_FACTOR_ILU);
    SpmvFactorInfo          info;
    FactorLife              l;

    factor_open(&l, (SpmvSpace)space, NULL, &m, SPMV_F64);
    UNIT_EQUAL(SPMV_SUCCESS, factor_make(&l, &m, &o));
    spmv_factor_info(l.f, &info);
    UNIT_CHECK(info.levels[0] == NODES && info.levels[1] == NODES && info.widest[0] == 3 && info.widest[1] == 3);
    factor_close(&l);
  }
  const SpmvFactorOptions o    = factor_options(SPMV_FACTOR_ILU);
  double                 *host = factor_results(&m, &o, SPMV_F64, SPMV_HOST, m.value, b, 2);
  double                 *last = factor_results(&m, &o, SPMV_F64, (SpmvSpace)last_space(), m.value, b, 2);
  UNIT_CHECK(factor_same(host, last, 2 * N));
  free(host);
  free(last);
  free(dense);
  free(b);
  factor_matrix_free(&m);
}

/* ---- nodes of SOR ---- */

enum { LIMIT = 4 }; /* rows of a node; some meshes have nodes of 5 unknowns, of which the last is then alone */

/* A chain of nodes with 1 to 5 unknowns each, whose diagonal blocks need row interchanges: their diagonals are small */
static FactorMatrix node_matrix(void)
{
  enum { NODES = 60 };
  int32_t of[5 * NODES], n = 0;

  for (int32_t node = 0; node < NODES; node++)
    for (int32_t i = 0; i < 1 + node * 7 % 5; i++) of[n++] = node;
  double *dense = calloc((size_t)n * (size_t)n, sizeof *dense), *random = factor_numbers(n * n, 17);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) {
      if (abs(of[i] - of[j]) > 1 && (of[i] + of[j]) % 11) continue;
      const int size   = 1 + of[i] * 7 % 5,
                turned = i % size + j % size == size - 1; /* up to a turn of the node's rows */
      dense[i * n + j] = random[i * n + j] / (of[i] == of[j] ? 8 : 32) + (of[i] == of[j] && turned ? 2 : 0);
    }
  FactorMatrix m = factor_of_dense(n, dense);
  free(dense);
  free(random);
  return m;
}

/* Solves d y = r by elimination with row interchanges; both are overwritten */
static void small_solve(int32_t size, double d[][LIMIT], double *r)
{
  for (int32_t c = 0; c < size; c++) {
    int32_t best = c;
    for (int32_t i = c + 1; i < size; i++)
      if (fabs(d[i][c]) > fabs(d[best][c])) best = i;
    for (int32_t j = 0; j <= size; j++) {
      double *a = j < size ? &d[c][j] : &r[c], *b = j < size ? &d[best][j] : &r[best], v = *a;
      *a = *b;
      *b = v;
    }
    for (int32_t i = c + 1; i < size; i++) {
      const double factor = d[i][c] / d[c][c];
      for (int32_t j = c; j < size; j++) d[i][j] -= factor * d[c][j];
      r[i] -= factor * r[c];
    }
  }
  for (int32_t i = size - 1; i >= 0; i--) {
    for (int32_t j = i + 1; j < size; j++) r[i] -= d[i][j] * r[j];
    r[i] /= d[i][i];
  }
}

/* Relaxes the rows first to first + size - 1 together */
static void relax_node(const FactorMatrix *m, int32_t first, int32_t size, double omega, const double *b, double *x)
{
  double d[LIMIT][LIMIT], r[LIMIT];

  for (int32_t i = 0; i < size; i++) {
    r[i] = b[first + i];
    for (int32_t k = m->row_ptr[first + i]; k < m->row_ptr[first + i + 1]; k++)
      if (m->col[k] >= first && m->col[k] < first + size) d[i][m->col[k] - first] = m->value[k];
      else r[i] -= m->value[k] * x[m->col[k]];
  }
  small_solve(size, d, r);
  for (int32_t i = 0; i < size; i++) x[first + i] = (1 - omega) * x[first + i] + omega * r[i];
}

static void node_sweep(const FactorMatrix *m, int descending, double omega, const double *b, double *x)
{
  int32_t begin[400], nodes = 0;

  for (int32_t i = 0; i < m->n; i++) {
    const int32_t count = m->row_ptr[i + 1] - m->row_ptr[i], *here = m->col + m->row_ptr[i];
    if (i == 0 || i - begin[nodes - 1] == LIMIT || m->row_ptr[i] - m->row_ptr[i - 1] != count ||
        memcmp(here, here - count, (size_t)count * sizeof *here))
      begin[nodes++] = i;
  }
  begin[nodes] = m->n;
  for (int32_t k = 0; k < nodes; k++) {
    const int32_t node = descending ? nodes - 1 - k : k;
    relax_node(m, begin[node], begin[node + 1] - begin[node], omega, b, x);
  }
}

UNIT_TEST(rows_of_a_node_are_relaxed_together)
{
  SpmvFactorOptions o = factor_options(SPMV_FACTOR_SOR);
  FactorMatrix      m = node_matrix();
  double           *b = factor_numbers(m.n, 5), *x = factor_numbers(m.n, 6);

  o.node_rows = LIMIT;
  for (int scalar = SPMV_F64; scalar <= SPMV_F32; scalar++) {
    double *host = factor_results(&m, &o, (SpmvScalar)scalar, SPMV_HOST, m.value, b, 6);
    double *last = factor_results(&m, &o, (SpmvScalar)scalar, (SpmvSpace)last_space(), m.value, b, 6);

    UNIT_CHECK(factor_same(host, last, 6 * m.n));
    for (int i = 0; i < 6; i++) {
      if (i < 3) memset(x, 0, (size_t)m.n * sizeof *x);
      if (i % 3 != 1) node_sweep(&m, 0, factor_omegas[i % 2], b, x);
      if (i % 3 != 0) node_sweep(&m, 1, factor_omegas[i % 2], b, x);
      compare(x, host + i * m.n, m.n, scalar == SPMV_F64 ? 1e-13 : 1e-5, __LINE__);
    }
    free(host);
    free(last);
  }
  free(b);
  free(x);
  factor_matrix_free(&m);
}

/* The first node whose block is singular is named, and new values help */
UNIT_TEST(singular_blocks_of_nodes_are_refused)
{
  for (int space = SPMV_HOST; space <= last_space(); space++) {
    SpmvFactorOptions o   = factor_options(SPMV_FACTOR_SOR);
    const double      a[] = {1, 2, 1, 1, 2, 4, 1, 1, 0, 0, 3, 1, 0, 0, 1, 3}; /* nodes of two rows */
    const double      b[] = {1, 2, 1, 1, 2, 5, 1, 1, 3, 1, 1, 3};
    FactorMatrix      m   = factor_of_dense(4, a);
    SpmvFactorInfo    info;
    FactorLife        l;

    o.node_rows = 2;
    factor_open(&l, (SpmvSpace)space, NULL, &m, SPMV_F64);
    UNIT_EQUAL(SPMV_SUCCESS, factor_make(&l, &m, &o));
    factor_set(&l, m.value, NULL, NULL);
    UNIT_EQUAL(SPMV_ERR_MATRIX, spmv_factor_numeric(l.f, l.values, &l.exec));
    UNIT_CHECK(strstr(l.exec.message, "node from row 0 on is singular") != NULL);
    spmv_factor_info(l.f, &info);
    UNIT_EQUAL(0, info.zero_row);
    factor_set(&l, b, NULL, NULL);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_factor_numeric(l.f, l.values, &l.exec));
    factor_close(&l);
    o.node_rows = SPMV_NODE_ROWS + 1;
    factor_open(&l, (SpmvSpace)space, NULL, &m, SPMV_F64);
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, factor_make(&l, &m, &o));
    factor_close(&l);
    factor_matrix_free(&m);
  }
}

/* ---- new values, in place, numbers that are none ---- */

UNIT_TEST(new_values_need_no_analysis)
{
  for (int space = SPMV_HOST; space <= last_space(); space++)
    for (int kind = SPMV_FACTOR_ILU; kind <= SPMV_FACTOR_ICC; kind++) {
      FactorMatrix            m = factor_matrix(9, kind == SPMV_FACTOR_ICC);
      const SpmvFactorOptions o = factor_options((SpmvFactorKind)kind);
      double                 *b = factor_numbers(m.n, 2), *other = calloc((size_t)m.row_ptr[m.n], sizeof *other);
      FactorLife              l;
      SpmvFactorInfo          info;

      for (int32_t k = 0; k < m.row_ptr[m.n]; k++) other[k] = 3 * m.value[k];
      factor_open(&l, (SpmvSpace)space, NULL, &m, SPMV_F64);
      UNIT_EQUAL(SPMV_SUCCESS, factor_make(&l, &m, &o));
      factor_set(&l, other, b, NULL);
      UNIT_EQUAL(SPMV_SUCCESS, spmv_factor_numeric(l.f, l.values, &l.exec));
      factor_set(&l, m.value, NULL, b);
      UNIT_EQUAL(SPMV_SUCCESS, spmv_factor_numeric(l.f, l.values, &l.exec));
      UNIT_EQUAL(SPMV_SUCCESS, spmv_factor_solve(l.f, 0, l.x, l.x, &l.exec)); /* in place */
      double *x = factor_x(&l), *fresh = factor_results(&m, &o, SPMV_F64, (SpmvSpace)space, m.value, b, 1);
      UNIT_CHECK(factor_same(x, fresh, m.n));
      spmv_factor_info(l.f, &info);
      UNIT_CHECK(info.factorizations == 2 && info.solves == 1 && info.sweeps == 0);
      factor_close(&l);
      free(x);
      free(fresh);
      free(b);
      free(other);
      factor_matrix_free(&m);
    }
}

/* A right-hand side of 0xFF bytes, single NaN in it, and NaN and infinities in the matrix: the device ends, with NaN where
   the host has it */
UNIT_TEST(numbers_that_are_none_go_through)
{
  for (int way = 0; way < 9 && last_space() == SPMV_DEVICE; way++) {
    const SpmvFactorKind    kind = (SpmvFactorKind)(way % 3);
    FactorMatrix            m    = factor_matrix(6, kind == SPMV_FACTOR_ICC);
    const SpmvFactorOptions o    = factor_options(kind);
    double                 *b    = factor_numbers(m.n, 4);

    if (way < 3) memset(b, 0xff, (size_t)m.n * sizeof *b);
    else if (way < 6) b[100] = NAN;
    else m.value[m.row_ptr[51] - 1] = way == 7 ? INFINITY : NAN; /* above the diagonal, which IC reads */
    double *host   = factor_results(&m, &o, SPMV_F64, SPMV_HOST, m.value, b, 3);
    double *device = factor_results(&m, &o, SPMV_F64, SPMV_DEVICE, m.value, b, 3);
    UNIT_CHECK(factor_same(host, device, 3 * m.n));
    int32_t none = 0;
    for (int32_t i = 0; i < 3 * m.n; i++) none += isnan(host[i]) != 0;
    UNIT_CHECK(none > 0);
    free(host);
    free(device);
    free(b);
    factor_matrix_free(&m);
  }
}

/* Solves and factorizations around the largest number of a launch, which begins again behind it */
UNIT_TEST(numbers_of_launches_begin_again)
{
  const uint32_t number = UINT32_MAX - 3;

  for (int kind = SPMV_FACTOR_ILU; kind <= SPMV_FACTOR_ICC && last_space() == SPMV_DEVICE; kind++) {
    FactorMatrix            m     = factor_matrix(6, kind == SPMV_FACTOR_ICC);
    const SpmvFactorOptions o     = factor_options((SpmvFactorKind)kind);
    double                 *b     = factor_numbers(m.n, 4);
    double                 *fresh = factor_results(&m, &o, SPMV_F64, SPMV_DEVICE, m.value, b, 1);
    FactorLife              l;
    uint32_t                last;

    factor_open(&l, SPMV_DEVICE, NULL, &m, SPMV_F64);
    UNIT_EQUAL(SPMV_SUCCESS, factor_make(&l, &m, &o));
    char *epoch = (char *)l.f->turns + SPMV_TURNS_EPOCH;
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(epoch, SPMV_DEVICE, &number, SPMV_HOST, sizeof number, &l.exec));
    for (int turn = 0; turn < 3; turn++) {
      factor_set(&l, m.value, b, NULL);
      if (turn != 1) UNIT_EQUAL(SPMV_SUCCESS, spmv_factor_numeric(l.f, l.values, &l.exec));
      UNIT_EQUAL(SPMV_SUCCESS, spmv_factor_solve(l.f, 0, l.b, l.x, &l.exec));
      double *x = factor_x(&l);
      UNIT_CHECK(factor_same(x, fresh, m.n));
      free(x);
    }
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(&last, SPMV_HOST, epoch, SPMV_DEVICE, sizeof last, &l.exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&l.exec));
    UNIT_EQUAL(8 - 3, last);
    factor_close(&l);
    free(fresh);
    free(b);
    factor_matrix_free(&m);
  }
}

/* ---- graphs ---- */

#ifdef SPMV_HAVE_CUDA
/* The graph of a solve is launched twice, between other solves, with another right-hand side each time */
UNIT_TEST(solves_and_sweeps_can_be_captured)
{
  for (int action = FACTOR_SOLVE; action <= FACTOR_SYMMETRIC && last_space() == SPMV_DEVICE; action++) {
    const SpmvFactorOptions o = factor_options(action < FACTOR_FORWARD ? SPMV_FACTOR_ILU : SPMV_FACTOR_SOR);
    FactorMatrix            m = factor_matrix(6, 0);
    cudaGraph_t             graph;
    cudaGraphExec_t         run;
    FactorLife              l;

    factor_open(&l, SPMV_DEVICE, NULL, &m, SPMV_F64);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_create(&l.exec, &l.exec.stream));
    UNIT_EQUAL(SPMV_SUCCESS, factor_make(&l, &m, &o));
    factor_set(&l, m.value, NULL, NULL);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_factor_numeric(l.f, l.values, &l.exec));
    UNIT_EQUAL(cudaSuccess, cudaStreamBeginCapture(l.exec.stream, cudaStreamCaptureModeGlobal));
    UNIT_EQUAL(SPMV_SUCCESS, factor_do(&l, (FactorAction)action, 1.1, 1));
    UNIT_EQUAL(cudaSuccess, cudaStreamEndCapture(l.exec.stream, &graph));
    UNIT_EQUAL(cudaSuccess, cudaGraphInstantiate(&run, graph, 0));
    for (uint32_t turn = 0; turn < 3; turn++) {
      double *b = factor_numbers(m.n, turn);
      factor_set(&l, NULL, b, b);
      UNIT_EQUAL(SPMV_SUCCESS, factor_do(&l, (FactorAction)action, 1.1, 1));
      UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&l.exec));
      double *plain = factor_x(&l);
      factor_set(&l, NULL, b, b);
      UNIT_EQUAL(cudaSuccess, cudaGraphLaunch(run, l.exec.stream));
      UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&l.exec));
      double *by_graph = factor_x(&l);
      UNIT_CHECK(factor_same(plain, by_graph, m.n));
      free(plain);
      free(by_graph);
      free(b);
    }
    UNIT_EQUAL(cudaSuccess, cudaGraphExecDestroy(run));
    UNIT_EQUAL(cudaSuccess, cudaGraphDestroy(graph));
    void *stream = l.exec.stream;
    factor_close(&l);
    spmv_stream_destroy(stream);
    factor_matrix_free(&m);
  }
}
#endif
