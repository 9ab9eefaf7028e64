/* Tests of estimates of extreme eigenvalues: the small matrices, whole spectra, a few steps, waits, failures. */
#include "aggregate/aggregate_test.h"
#include "cg/cg_test.h"
#include "extremes.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef SPMV_EMULATED
  #include <spmv_emulator.h>
#endif

static int close_to(double expected, double got, double tolerance) { return fabs(got - expected) <= tolerance; }

/* ---- small matrices ---- */

UNIT_TEST(small_singular_values)
{
  double a[3][4] = {{3, 0, 0, 9}, {0, -4, 0, 9}, {0, 0, 0.5, 9}}, least, largest; /* the leading dimension is 4 */
  double b[2][2] = {{1, 1}, {1, 1}};

  spmv_small_singular(3, 4, &a[0][0], &least, &largest);
  UNIT_CHECK(least == 0.5 && largest == 4);
  spmv_small_singular(2, 2, &b[0][0], &least, &largest);
  UNIT_CHECK(close_to(0, least, 1e-15) && close_to(2, largest, 1e-15));
}

/* The companion matrix, by columns, of a polynomial with leading coefficient 1 and these others from x^0 on */
static void companion(int n, const double *coefficient, double *h)
{
  memset(h, 0, (size_t)(n * n) * sizeof *h);
  for (int j = 0; j + 1 < n; j++) h[j * n + j + 1] = 1;
  for (int i = 0; i < n; i++) h[(n - 1) * n + i] = -coefficient[i];
}

UNIT_TEST(small_real_parts_of_eigenvalues)
{
  /* x^2 + 2 x + 5: -1 +- 2i; (x^2 + 4)(x - 3): real parts 0 and 3; x^4 - 1, which needs another shift: -1 and 1 */
  static const double coefficient[3][4] = {{5, 2}, {-12, 4, -3}, {-1, 0, 0, 0}};
  static const double expected[3][2]    = {{-1, -1}, {0, 3}, {-1, 1}};
  double              h[16], least, largest;

  for (int i = 0; i < 3; i++) {
    companion(2 + i, coefficient[i], h);
    UNIT_CHECK(spmv_small_real_parts(2 + i, 2 + i, h, &least, &largest));
    UNIT_CHECK(close_to(expected[i][0], least, 1e-13) && close_to(expected[i][1], largest, 1e-13));
  }
  h[0] = NAN;
  UNIT_CHECK(!spmv_small_real_parts(2, 2, h, &least, &largest));
}

UNIT_TEST(small_real_parts_of_a_large_symmetric_matrix)
{
  const int n                                            = SPMV_EXTREMES_STEPS;
  double    h[SPMV_EXTREMES_STEPS * SPMV_EXTREMES_STEPS] = {0}, least, largest;

  for (int i = 0; i < n; i++) {
    h[i * n + i] = 2;
    if (i > 0) h[i * n + i - 1] = h[(i - 1) * n + i] = -1;
  }
  UNIT_CHECK(spmv_small_real_parts(n, n, h, &least, &largest));
  UNIT_CHECK(close_to(2 - 2 * cos(M_PI / (n + 1)), least, 1e-13));
  UNIT_CHECK(close_to(2 + 2 * cos(M_PI / (n + 1)), largest, 1e-13));
}

/* ---- matrices on the device ---- */

/* D^-1 A, dense, by columns; symmetric: D^-1/2 A D^-1/2, which has the same eigenvalues */
static double *dense(const CgMatrix *a, int symmetric)
{
  const int      n = (int)a->pattern.rows;
  const int32_t *p = a->pattern.row_ptr, *col = a->pattern.col;
  double        *d = calloc((size_t)n * (size_t)n, sizeof *d);

  for (int i = 0; i < n; i++)
    for (int32_t k = p[i]; k < p[i + 1]; k++) {
      const double row = *cg_diagonal(a, i), other = *cg_diagonal(a, col[k]);
      d[(size_t)col[k] * (size_t)n + (size_t)i] = a->values[k] / (symmetric ? sqrt(row * other) : row);
    }
  return d;
}

static void true_extremes(const CgMatrix *a, int symmetric, double *least, double *largest)
{
  double *d = dense(a, symmetric);

  spmv_small_singular((int)a->pattern.rows, (int)a->pattern.rows, d, least, largest);
  free(d);
}

/* A matrix and its diagonal on the device */
typedef struct {
  CgEngine            e; /* without a solver in use */
  SpmvExtremesOptions options;
  void               *diagonal;
} Operator;

static void operator_open(Operator *o, const CgMatrix *a, SpmvExtremesKind kind, int steps, SpmvScalar scalar)
{
  const int64_t n = a->pattern.rows;
  double       *d = malloc((size_t)n * sizeof *d);
  CgSetup       u = cg_setup(SPMV_CG_CHUNK, SPMV_CG_NORM_NONE, 0);

  u.scalar = scalar;
  for (int i = 0; i < n; i++) d[i] = *cg_diagonal(a, i);
  cg_engine_open(&o->e, a, &u, NULL);
  o->diagonal = cg_put(&o->e, d, n);
  o->options  = (SpmvExtremesOptions){.rows           = n,
                                      .scalar_type    = scalar,
                                      .kind           = kind,
                                      .steps          = steps,
                                      .preconditioner = SPMV_PC_DIAGONAL,
                                      .m              = o->diagonal,
                                      .inverse        = 1,
                                      .tolerance      = 1e-12,
                                      .product        = spmv_operator_product,
                                      .product_ctx    = &o->e.product};
  free(d);
}

static void operator_close(Operator *o)
{
  cg_release(&o->e, o->diagonal);
  cg_engine_close(&o->e);
}

static SpmvExtremes estimate(const CgMatrix *a, SpmvExtremesKind kind, int steps, SpmvScalar scalar)
{
  SpmvExtremes found;
  Operator     o;

  operator_open(&o, a, kind, steps, scalar);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_extremes(&o.options, &o.e.plain, &found));
  operator_close(&o);
  return found;
}

/* After as many steps as there are rows, all kinds are exact */
UNIT_TEST(extremes_of_a_whole_spectrum)
{
  CgMatrix a = cg_matrix(4);

  for (int kind = SPMV_EXTREMES_LANCZOS; kind <= SPMV_EXTREMES_REAL && spmv_device_count(NULL); kind++) {
    const SpmvExtremes got = estimate(&a, (SpmvExtremesKind)kind, (int)a.pattern.rows, SPMV_F64);
    double             least, largest;
    true_extremes(&a, kind != SPMV_EXTREMES_SINGULAR, &least, &largest);
    UNIT_EQUAL(a.pattern.rows, got.steps);
    UNIT_CHECK(close_to(least, got.least, 1e-10) && close_to(largest, got.largest, 1e-10));
  }
  cg_matrix_free(&a);
}

/* Ten steps find the largest one to within a tenth, from below */
UNIT_TEST(extremes_after_ten_steps)
{
  for (int i = 0; i < CG_MATRICES - 1 && spmv_device_count(NULL); i++) {
    CgMatrix a = cg_matrix(i);
    double   least, largest;
    true_extremes(&a, 1, &least, &largest);
    for (int scalar = SPMV_F32; scalar <= SPMV_F64 && a.pattern.rows > 10; scalar++)
      for (int kind = SPMV_EXTREMES_LANCZOS; kind <= SPMV_EXTREMES_REAL; kind++) {
        const SpmvExtremes got   = estimate(&a, (SpmvExtremesKind)kind, 10, (SpmvScalar)scalar);
        const double       above = kind == SPMV_EXTREMES_LANCZOS ? 1 + 1e-5 : 1.1;
        UNIT_EQUAL(10, got.steps);
        UNIT_CHECK(got.largest >= 0.9 * largest && got.largest <= above * largest);
        UNIT_CHECK(got.least > 0 && got.least < got.largest);
        UNIT_CHECK(kind != SPMV_EXTREMES_LANCZOS || got.least >= least * (1 - 1e-5));
      }
    cg_matrix_free(&a);
  }
}

/* M as numbers, and the same diagonal from which they are made, give the same bits; a test of the norm ends early */
UNIT_TEST(extremes_with_a_preconditioner_and_a_tolerance)
{
  CgMatrix     a;
  SpmvExtremes got[2], early;
  Operator     o;

  if (spmv_device_count(NULL) == 0) return;
  a = cg_matrix(0);
  for (int kind = SPMV_EXTREMES_LANCZOS; kind <= SPMV_EXTREMES_REAL; kind++) {
    operator_open(&o, &a, (SpmvExtremesKind)kind, 12, SPMV_F64);
    double *m = cg_preconditioner(&a, 1);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_extremes(&o.options, &o.e.plain, &got[0]));
    o.options.m       = cg_put(&o.e, m, a.pattern.rows);
    o.options.inverse = 0;
    UNIT_EQUAL(SPMV_SUCCESS, spmv_extremes(&o.options, &o.e.plain, &got[1]));
    UNIT_CHECK(!memcmp(&got[0], &got[1], sizeof got[0]));
    o.options.tolerance = 0.1;
    UNIT_EQUAL(SPMV_SUCCESS, spmv_extremes(&o.options, &o.e.plain, &early));
    UNIT_CHECK(early.steps > 0 && early.steps < 12);
    cg_release(&o.e, (void *)o.options.m);
    free(m);
    operator_close(&o);
  }
  cg_matrix_free(&a);
}

/* One row: the second step finds nothing, and the first one is the spectrum */
UNIT_TEST(extremes_of_one_row)
{
  CgMatrix a = cg_matrix(5);

  for (int kind = SPMV_EXTREMES_LANCZOS; kind <= SPMV_EXTREMES_REAL && spmv_device_count(NULL); kind++) {
    const SpmvExtremes got = estimate(&a, (SpmvExtremesKind)kind, 10, SPMV_F64);
    UNIT_EQUAL(1, got.steps);
    UNIT_CHECK(close_to(1, got.least, 1e-14) && close_to(1, got.largest, 1e-14));
  }
  cg_matrix_free(&a);
}

/* The positive eigenvalues of the Laplacian of a graph, which maps constants to 0: adding the square of its null vector
   moves the eigenvalue 0 of D^-1/2 A D^-1/2 to 1, between the others */
UNIT_TEST(extremes_beside_a_null_space)
{
  CgMatrix     a = cg_matrix(4);
  const int    n = (int)a.pattern.rows;
  double       constant[SPMV_EXTREMES_STEPS], least, largest, trace = 0, *d;
  SpmvExtremes got;
  Operator     o;

  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int32_t k = ((int32_t *)a.pattern.row_ptr)[i]; k < ((int32_t *)a.pattern.row_ptr)[i + 1]; k++)
      if (((int32_t *)a.pattern.col)[k] != i) sum -= a.values[k];
    *cg_diagonal(&a, i) = sum;
    trace += sum;
    constant[i] = 1 / sqrt(n);
  }
  d = dense(&a, 1);
  for (int i = 0; i < n * n; i++) d[i] += sqrt(*cg_diagonal(&a, i / n) * *cg_diagonal(&a, i % n)) / trace;
  spmv_small_singular(n, n, d, &least, &largest);
  free(d);
  for (int c = 0; c < 4 && spmv_device_count(NULL); c++) { /* each kind with and without the projection of b */
    operator_open(&o, &a, c < 2 ? SPMV_EXTREMES_REAL : SPMV_EXTREMES_LANCZOS, n - 1, SPMV_F64);
    o.options.null_vectors = 1;
    o.options.null_space   = cg_put(&o.e, constant, n);
    o.options.null_rhs     = c % 2;
    UNIT_EQUAL(c == 2 ? SPMV_ERR_UNSUPPORTED : SPMV_SUCCESS, spmv_extremes(&o.options, &o.e.plain, &got));
    UNIT_CHECK(c == 2 || (close_to(least, got.least, 1e-9) && close_to(largest, got.largest, 1e-9)));
    cg_release(&o.e, (void *)o.options.null_space);
    operator_close(&o);
  }
  cg_matrix_free(&a);
}

/* ---- failures ---- */

UNIT_TEST(extremes_without_a_device)
{
  const SpmvExtremesOptions o = {.rows = 1, .scalar_type = SPMV_F64, .steps = 1, .product = spmv_operator_product};
  SpmvExtremes              found;
  SpmvExec                  exec;

  spmv_exec_init(&exec, spmv_device_count(NULL) ? SPMV_HOST : SPMV_DEVICE);
  UNIT_CHECK(spmv_extremes(&o, &exec, &found) != SPMV_SUCCESS);
  UNIT_CHECK(exec.message[0]);
}

UNIT_TEST(extremes_of_matrices_without_an_estimate)
{
  CgMatrix     a;
  SpmvExtremes found;
  Operator     o;

  if (spmv_device_count(NULL) == 0) return;
  a = cg_matrix(0);
  *cg_diagonal(&a, 7) *= -1;
  operator_open(&o, &a, SPMV_EXTREMES_LANCZOS, 10, SPMV_F64);
  UNIT_EQUAL(SPMV_ERR_MATRIX, spmv_extremes(&o.options, &o.e.plain, &found));
  o.options.kind = SPMV_EXTREMES_REAL; /* needs no definite matrix */
  UNIT_EQUAL(SPMV_SUCCESS, spmv_extremes(&o.options, &o.e.plain, &found));
  operator_close(&o);
  a.values[3] = NAN;
  for (int kind = SPMV_EXTREMES_LANCZOS; kind <= SPMV_EXTREMES_REAL; kind++) {
    operator_open(&o, &a, (SpmvExtremesKind)kind, 10, SPMV_F64);
    UNIT_EQUAL(SPMV_ERR_MATRIX, spmv_extremes(&o.options, &o.e.plain, &found));
    UNIT_CONTAINS("extreme eigenvalues", o.e.plain.message);
    operator_close(&o);
  }
  cg_matrix_free(&a);
}

UNIT_TEST(extremes_refuses_options_that_make_no_sense)
{
  CgMatrix     a;
  SpmvExtremes found;
  Operator     o;

  if (spmv_device_count(NULL) == 0) return;
  a = cg_matrix(0);
  operator_open(&o, &a, SPMV_EXTREMES_LANCZOS, 31, SPMV_F64);
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_extremes(&o.options, &o.e.plain, &found));
  UNIT_CONTAINS("31 steps", o.e.plain.message);
  o.options.steps          = 10;
  o.options.preconditioner = SPMV_PC_IDENTITY; /* whose values cannot be inverted */
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_extremes(&o.options, &o.e.plain, &found));
  o.options.inverse = 0;
  o.e.plain.space   = SPMV_HOST;
  o.options.m       = NULL;
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_extremes(&o.options, &o.e.plain, &found));
  o.e.plain.space = SPMV_DEVICE;
  operator_close(&o);
  cg_matrix_free(&a);
}

#ifdef SPMV_EMULATED
/* Refuses each allocation and each launch in turn. The next estimate has the same bits as without a failure. */
UNIT_TEST(extremes_with_each_point_refused)
{
  static const unsigned points[] = {SPMV_POINT_DEVICE, SPMV_POINT_LAUNCH, SPMV_POINT_CALL};
  CgMatrix              a        = cg_matrix(0);
  SpmvExtremes          expected, found;
  Operator              o;

  for (int kind = SPMV_EXTREMES_LANCZOS; kind <= SPMV_EXTREMES_SINGULAR; kind++) {
    operator_open(&o, &a, (SpmvExtremesKind)kind, 5, SPMV_F64);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_extremes(&o.options, &o.e.plain, &expected));
    for (int p = 0; p < 3; p++) {
      long before = 0, refused = 1;
      for (; refused && before < 100; before++) {
        (void)spmv_emulator_refuse(points[p], before, 1);
        const SpmvStatus status = spmv_extremes(&o.options, &o.e.plain, &found);
        refused                 = spmv_emulator_refuse(0, -1, 0);
        UNIT_EQUAL(refused ? SPMV_ERR_MEMORY : SPMV_SUCCESS, status);
        UNIT_EQUAL(SPMV_SUCCESS, spmv_extremes(&o.options, &o.e.plain, &found));
        UNIT_CHECK(!memcmp(&expected, &found, sizeof found));
      }
      UNIT_CHECK(before > 2 && before < 100);
    }
    operator_close(&o);
  }
  cg_matrix_free(&a);
}
#endif
