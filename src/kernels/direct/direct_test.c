/* Tests of factorizations: with a replacement of cuDSS (tests/direct) on the emulated GPU, and with cuDSS itself where it and
   a GPU are. What only the replacement does when asked is tested with it alone. */
#include <math.h>
#include <spmv_direct.h>
#include <stdlib.h>
#include <string.h>
#include "unit.h"
#include "unit_plan.h"
#ifdef FAKE_LIBRARIES
  #include <spmv_emulator.h>
#endif

enum { SIDE = 7, N = SIDE * SIDE, COLUMNS = 3 };

UNIT_TEST(cudss_that_is_not_there_is_named)
{
  SpmvExec exec = unit_device_exec();
  int      version;

  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_direct_load("/no/such/libcudss.so", &version, &exec));
  UNIT_EQUAL(0, version);
  UNIT_CONTAINS(spmv_device_count(NULL) ? "/no/such/libcudss.so" : "CUDA", exec.message);
}

#ifdef FAKE_LIBRARIES
UNIT_TEST(cudss_that_does_not_serve_is_refused)
{
  SpmvExec exec = unit_device_exec();
  int      version;

  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_direct_load(FAKE_LIBRARIES "/libfake_cudss_without.so", &version, &exec));
  UNIT_CONTAINS("has no function cudssExecute()", exec.message);
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_direct_load(FAKE_LIBRARIES "/libfake_cudss_old.so", &version, &exec));
  UNIT_EQUAL(701, version);
  UNIT_CONTAINS("is cuDSS 0.7.1", exec.message);
  setenv("SPMV_FAKE_CUDSS_FAIL", "cudssGetProperty", 1);
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_direct_load(FAKE_LIBRARIES "/libfake_cudss.so", &version, &exec));
  UNIT_CONTAINS("cudssGetProperty", exec.message);
  unsetenv("SPMV_FAKE_CUDSS_FAIL");
}
  #define LIBRARY FAKE_LIBRARIES "/libfake_cudss.so"
#else
  #define LIBRARY NULL
#endif

/* Opens the library; 0 where there is none */
static int open_library(SpmvExec *exec)
{
  int version;

  return spmv_direct_load(LIBRARY, &version, exec) == SPMV_SUCCESS;
}

/* A matrix on a square grid: symmetric and positive definite, plus skew * its first derivative, plus shift * I */
typedef struct {
  int32_t row_ptr[N + 1], col[5 * N];
  double  values[5 * N], b[COLUMNS * N], x[COLUMNS * N];
  void   *on_device[5]; /* row_ptr, col, values, b, x */
  SpmvCsr csr;
} Problem;

static void add(Problem *p, int row, int dx, int dy, double value)
{
  const int x = row % SIDE + dx, y = row / SIDE + dy;

  if (x < 0 || x >= SIDE || y < 0 || y >= SIDE) return;
  p->col[p->row_ptr[row + 1]]      = y * SIDE + x;
  p->values[p->row_ptr[row + 1]++] = value;
}

static void fill(Problem *p, double scale, double skew, double shift)
{
  for (int i = 0; i < N; i++) {
    p->row_ptr[i + 1] = p->row_ptr[i];
    add(p, i, 0, -1, -scale);
    add(p, i, -1, 0, scale * (-1 - skew));
    add(p, i, 0, 0, scale * (4 + shift));
    add(p, i, 1, 0, scale * (-1 + skew));
    add(p, i, 0, 1, -scale);
  }
  for (int i = 0; i < COLUMNS * N; i++) p->b[i] = 1 + i * 7 % 11;
}

static Problem *problem(SpmvExec *exec, double scale, double skew, double shift)
{
  Problem *p = calloc(1, sizeof *p);

  fill(p, scale, skew, shift);
  const void   *from[]  = {p->row_ptr, p->col, p->values, p->b, p->x};
  const int64_t bytes[] = {sizeof p->row_ptr, sizeof p->col, sizeof p->values, sizeof p->b, sizeof p->x};

  for (int i = 0; i < 5; i++) p->on_device[i] = unit_on_device(exec, from[i], bytes[i]);
  p->csr = (SpmvCsr){.pattern      = {.rows       = N,
                                      .cols       = N,
                                      .nnz        = p->row_ptr[N],
                                      .index_type = SPMV_I32,
                                      .space      = SPMV_DEVICE,
                                      .row_ptr    = p->on_device[0],
                                      .col        = p->on_device[1]},
                     .scalar_type  = SPMV_F64,
                     .values_space = SPMV_DEVICE,
                     .values       = p->on_device[2]};
  return p;
}

static void forget(SpmvExec *exec, Problem *p)
{
  for (int i = 0; i < 5; i++) spmv_exec_free(exec, SPMV_DEVICE, p->on_device[i]);
  free(p);
}

/* |b - A x| / (|A| |x| + |b|) in the maximum norm, the largest of all columns */
static double backward_error(const Problem *p, int transposed, int columns)
{
  double worst = 0;

  for (int c = 0; c < columns; c++) {
    const double *b = p->b + c * N, *x = p->x + c * N;
    double        r[N], size[N], most = 0, scale = 0, norm_x = 0, norm_b = 0;

    memcpy(r, b, sizeof r);
    memset(size, 0, sizeof size);
    for (int i = 0; i < N; i++)
      for (int k = p->row_ptr[i]; k < p->row_ptr[i + 1]; k++) {
        const int to = transposed ? p->col[k] : i, from = transposed ? i : p->col[k];

        r[to] -= p->values[k] * x[from];
        size[to] += fabs(p->values[k]);
      }
    for (int i = 0; i < N; i++) {
      most   = fmax(most, fabs(r[i]));
      scale  = fmax(scale, size[i]);
      norm_x = fmax(norm_x, fabs(x[i]));
      norm_b = fmax(norm_b, fabs(b[i]));
    }
    const double error = most / (scale * norm_x + norm_b);
    worst              = error <= worst ? worst : error; /* also NaN */
  }
  return worst;
}

/* Solves and returns the backward error */
static double solved(SpmvDirect *d, Problem *p, int transposed, int columns, SpmvExec *exec)
{
  const int64_t bytes = (int64_t)sizeof(double) * columns * N;

  UNIT_EQUAL(SPMV_SUCCESS, spmv_direct_solve(d, transposed, columns, p->on_device[3], N, p->on_device[4], N, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(p->x, SPMV_HOST, p->on_device[4], SPMV_DEVICE, bytes, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(exec));
  return backward_error(p, transposed, columns);
}

static SpmvDirectOptions of_kind(SpmvDirectKind kind)
{
  SpmvDirectOptions o;

  spmv_direct_options_init(&o);
  o.kind = kind;
  return o;
}

static SpmvStatus made(Problem *p, SpmvDirectOptions o, SpmvExec *exec, SpmvDirect **d)
{
  const SpmvStatus status = spmv_direct_create(&p->csr, &o, exec, d);

  return status ? status : spmv_direct_factor(*d, p->csr.values, exec);
}

static int64_t memory_used(SpmvExec *exec)
{
  int64_t free_bytes = 0, total = 0;

  spmv_direct_release();
  spmv_device_release();
  UNIT_EQUAL(SPMV_SUCCESS, spmv_device_memory(&free_bytes, &total, exec));
  return total - free_bytes;
}

UNIT_TEST(factorizations_solve_and_take_new_values)
{
  static const double scales[] = {1, 1e-12, 1e12};
  SpmvExec            exec     = unit_device_exec();

  if (!open_library(&exec)) return;
  for (int kind = SPMV_DIRECT_GENERAL; kind <= SPMV_DIRECT_SPD; kind++)
    for (int s = 0; s < 3; s++) {
      SpmvDirectInfo info;
      SpmvDirect    *d = NULL;
      Problem       *p = problem(&exec, scales[s], kind == SPMV_DIRECT_GENERAL ? 0.5 : 0, 0.1);

      UNIT_EQUAL(SPMV_SUCCESS, made(p, of_kind((SpmvDirectKind)kind), &exec, &d));
      UNIT_CHECK(solved(d, p, 0, 1, &exec) <= 1e-14);
      UNIT_CHECK(solved(d, p, 1, COLUMNS, &exec) <= 1e-14);
      fill(p, 3 * scales[s], 0, 0.5);
      UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(p->on_device[2], SPMV_DEVICE, p->values, SPMV_HOST, sizeof p->values, &exec));
      UNIT_EQUAL(SPMV_SUCCESS, spmv_direct_factor(d, p->csr.values, &exec));
      UNIT_CHECK(solved(d, p, 0, COLUMNS, &exec) <= 1e-14);
      spmv_direct_info(d, &info);
      UNIT_EQUAL(2, info.factorizations);
      UNIT_EQUAL(3, info.solves);
      UNIT_EQUAL(0, info.replaced);
      UNIT_EQUAL(N, info.rows);
      UNIT_CHECK(info.factor_nonzeros >= p->csr.pattern.nnz / 2 && info.bytes > 0);
      spmv_direct_destroy(&d, &exec);
      forget(&exec, p);
    }
}

/* t A with t = 1 + i / 2: t x solves with A */
UNIT_TEST(complex_matrices_are_factored_as_pairs_of_doubles)
{
  SpmvExec    exec = unit_device_exec();
  SpmvDirect *d    = NULL;
  double      values[2 * 5 * N], b[2 * N], x[2 * N];

  if (!open_library(&exec)) return;
  for (int kind = SPMV_DIRECT_GENERAL; kind <= SPMV_DIRECT_SYMMETRIC; kind++) {
    SpmvDirectOptions o = of_kind((SpmvDirectKind)kind);
    const double      t = 0.5;
    Problem          *p = problem(&exec, 1e-12, kind == SPMV_DIRECT_GENERAL ? 0.5 : 0, 0.1);

    for (int i = 0; i < 5 * N; i++) {
      values[2 * i]     = p->values[i];
      values[2 * i + 1] = t * p->values[i];
    }
    for (int i = 0; i < N; i++) {
      b[2 * i]     = p->b[i];
      b[2 * i + 1] = 0;
    }
    void *const on_device[] = {unit_on_device(&exec, values, sizeof values), unit_on_device(&exec, b, sizeof b),
                               unit_on_device(&exec, x, sizeof x)};
    SpmvCsr     csr         = p->csr;

    csr.values   = on_device[0];
    o.is_complex = 1;
    UNIT_EQUAL(SPMV_SUCCESS, spmv_direct_create(&csr, &o, &exec, &d));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_direct_factor(d, csr.values, &exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_direct_solve(d, 0, 1, on_device[1], N, on_device[2], N, &exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(x, SPMV_HOST, on_device[2], SPMV_DEVICE, sizeof x, &exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&exec));
    double most = 0, imaginary = 0;
    for (int i = 0; i < N; i++) {
      p->x[i]   = x[2 * i] - t * x[2 * i + 1];
      most      = fmax(most, fabs(p->x[i]));
      imaginary = fmax(imaginary, fabs(x[2 * i + 1] + t * x[2 * i]));
    }
    UNIT_CHECK(backward_error(p, 0, 1) <= 1e-14 && imaginary <= 1e-13 * most);
    spmv_direct_destroy(&d, &exec);
    for (int i = 0; i < 3; i++) spmv_exec_free(&exec, SPMV_DEVICE, on_device[i]);
    forget(&exec, p);
  }
}

UNIT_TEST(an_indefinite_matrix_has_an_inertia_and_no_cholesky_factor)
{
  SpmvExec       exec = unit_device_exec();
  SpmvDirectInfo info;
  SpmvDirect    *d = NULL;

  if (!open_library(&exec)) return;
  Problem *p = problem(&exec, 1, 0, -3.03);
  UNIT_EQUAL(SPMV_SUCCESS, made(p, of_kind(SPMV_DIRECT_SYMMETRIC), &exec, &d));
  UNIT_CHECK(solved(d, p, 0, 1, &exec) <= 1e-12);
  spmv_direct_info(d, &info);
  int negative = 0;
  for (int i = 1; i <= SIDE; i++)
    for (int j = 1; j <= SIDE; j++)
      negative += 0.97 - 2 * cos(i * M_PI / (SIDE + 1)) - 2 * cos(j * M_PI / (SIDE + 1)) < 0;
  UNIT_EQUAL(negative, info.negative);
  UNIT_EQUAL(N - negative, info.positive);
  spmv_direct_destroy(&d, &exec);
  UNIT_EQUAL(SPMV_ERR_MATRIX, made(p, of_kind(SPMV_DIRECT_SPD), &exec, &d));
  UNIT_CONTAINS("ended at pivot", exec.message);
  spmv_direct_destroy(&d, &exec);
  forget(&exec, p);
}

/* The first half of the rows of [0 I; I A] has a diagonal of zeros */
UNIT_TEST(a_zero_diagonal_is_replaced_and_told_or_matched)
{
  static const int32_t row_ptr[] = {0, 2, 4, 6, 8}, col[] = {0, 2, 1, 3, 0, 2, 1, 3};
  static const double  values[] = {0, 1, 0, 2, 1, 3, 2, 5}, b[] = {1, 2, 3, 4};
  SpmvExec             exec = unit_device_exec();
  SpmvDirectOptions    o    = of_kind(SPMV_DIRECT_GENERAL);
  SpmvDirectInfo       info;
  SpmvDirect          *d = NULL;
  double               x[4];

  if (!open_library(&exec)) return;
  void         *on_device[] = {unit_on_device(&exec, row_ptr, sizeof row_ptr), unit_on_device(&exec, col, sizeof col),
                               unit_on_device(&exec, values, sizeof values), unit_on_device(&exec, b, sizeof b),
                               unit_on_device(&exec, x, sizeof x)};
  const SpmvCsr csr         = {.pattern      = {.rows       = 4,
                                                .cols       = 4,
                                                .nnz        = 8,
                                                .index_type = SPMV_I32,
                                                .space      = SPMV_DEVICE,
                                                .row_ptr    = on_device[0],
                                                .col        = on_device[1]},
                               .scalar_type  = SPMV_F64,
                               .values_space = SPMV_DEVICE,
                               .values       = on_device[2]};
  for (o.matching = 0; o.matching < 2; o.matching++) {
    UNIT_EQUAL(SPMV_SUCCESS, spmv_direct_create(&csr, &o, &exec, &d));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_direct_factor(d, csr.values, &exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_direct_solve(d, 0, 1, on_device[3], 4, on_device[4], 4, &exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(x, SPMV_HOST, on_device[4], SPMV_DEVICE, sizeof x, &exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&exec));
    spmv_direct_info(d, &info);
    const int right =
        fabs(x[0]) < 1e-12 && fabs(x[1] + 0.5) < 1e-12 && fabs(x[2] - 1) < 1e-12 && fabs(x[3] - 1) < 1e-12;
    UNIT_CHECK(right || (info.replaced > 0 && !o.matching)); /* cuDSS may exchange rows within a block */
    spmv_direct_destroy(&d, &exec);
  }
  for (int i = 0; i < 5; i++) spmv_exec_free(&exec, SPMV_DEVICE, on_device[i]);
}

UNIT_TEST(values_that_are_no_numbers_end_a_factorization)
{
  SpmvExec    exec = unit_device_exec();
  SpmvDirect *d    = NULL;

  if (!open_library(&exec)) return;
  Problem *p   = problem(&exec, 1, 0, 0);
  p->values[7] = NAN;
  UNIT_EQUAL(SPMV_SUCCESS, made(p, of_kind(SPMV_DIRECT_GENERAL), &exec, &d));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(p->on_device[2], SPMV_DEVICE, p->values, SPMV_HOST, sizeof p->values, &exec));
  UNIT_EQUAL(SPMV_ERR_MATRIX, spmv_direct_factor(d, p->csr.values, &exec));
  UNIT_CONTAINS("NaN", exec.message);
  spmv_direct_destroy(&d, &exec);
  UNIT_EQUAL(SPMV_ERR_MATRIX, made(p, of_kind(SPMV_DIRECT_GENERAL), &exec, &d));
  UNIT_CHECK(!d);
  forget(&exec, p);
}

UNIT_TEST(many_factorizations_live_at_a_time_and_free_all_memory)
{
  SpmvExec    exec = unit_device_exec();
  SpmvDirect *d[10];
  int32_t     reversed[N];

  if (!open_library(&exec)) return;
  for (int i = 0; i < N; i++) reversed[i] = N - 1 - i;
  const int64_t before = memory_used(&exec);
  Problem      *p      = problem(&exec, 1, 0, 0.1);
  for (int i = 0; i < 10; i++) {
    SpmvDirectOptions o = of_kind((SpmvDirectKind)(i % 3));

    o.order         = i % 2 ? reversed : NULL;
    o.refine        = i % 3;
    o.deterministic = i == 4;
    UNIT_EQUAL(SPMV_SUCCESS, made(p, o, &exec, &d[i]));
  }
  for (int i = 0; i < 10; i++) {
    const int j = i * 3 % 10;

    UNIT_CHECK(solved(d[j], p, 0, 1, &exec) <= 1e-14);
    spmv_direct_destroy(&d[j], &exec);
  }
  forget(&exec, p);
  UNIT_EQUAL(before, memory_used(&exec));
}

UNIT_TEST(a_matrix_of_another_kind_is_refused)
{
  SpmvExec          exec = unit_device_exec();
  SpmvDirectOptions o    = of_kind(SPMV_DIRECT_GENERAL);
  SpmvDirect       *d    = NULL;
  double            none = 0;
  int32_t           zero = 0;

  if (!open_library(&exec)) return;
  void   *empty = unit_on_device(&exec, &zero, sizeof zero), *values = unit_on_device(&exec, &none, sizeof none);
  SpmvCsr csr = {.pattern      = {.index_type = SPMV_I32, .space = SPMV_DEVICE, .row_ptr = empty, .col = empty},
                 .scalar_type  = SPMV_F64,
                 .values_space = SPMV_DEVICE,
                 .values       = values};
  UNIT_EQUAL(SPMV_SUCCESS, spmv_direct_create(&csr, &o, &exec, &d));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_direct_factor(d, values, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_direct_solve(d, 0, 1, values, 0, values, 0, &exec));
  spmv_direct_destroy(&d, &exec);
  csr.scalar_type = SPMV_F32;
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_direct_create(&csr, &o, &exec, &d));
  UNIT_CONTAINS("square matrix of doubles", exec.message);
  spmv_exec_free(&exec, SPMV_DEVICE, empty);
  spmv_exec_free(&exec, SPMV_DEVICE, values);
}

#ifdef FAKE_LIBRARIES
/* What fails is told, and the next try succeeds */
UNIT_TEST(what_the_library_cannot_do_is_told)
{
  static const char *const fails[] = {
      "cudssCreate",    "cudssConfigCreate", "cudssDataCreate", "cudssMatrixCreateCsr", "cudssMatrixCreateDn",
      "cudssConfigSet", "cudssDataGet",      "analysis",        "factorization"};
  SpmvExec    exec = unit_device_exec();
  SpmvDirect *d    = NULL;

  if (!open_library(&exec)) return;
  Problem *p = problem(&exec, 1, 0, 0);
  for (size_t i = 0; i < sizeof fails / sizeof *fails; i++) {
    spmv_direct_release();
    setenv("SPMV_FAKE_CUDSS_FAIL", fails[i], 1);
    UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, made(p, of_kind(SPMV_DIRECT_SPD), &exec, &d));
    UNIT_CONTAINS("cuDSS", exec.message);
    unsetenv("SPMV_FAKE_CUDSS_FAIL");
    spmv_direct_destroy(&d, &exec);
  }
  UNIT_EQUAL(SPMV_SUCCESS, made(p, of_kind(SPMV_DIRECT_SPD), &exec, &d));
  UNIT_CHECK(solved(d, p, 0, 1, &exec) <= 1e-14);
  spmv_direct_destroy(&d, &exec);
  forget(&exec, p);
}

UNIT_TEST(memory_refused_at_any_point_is_told_and_freed)
{
  SpmvExec    exec = unit_device_exec();
  SpmvDirect *d    = NULL;
  SpmvStatus  status;
  long        point = 0;

  if (!open_library(&exec)) return;
  Problem      *p      = problem(&exec, 1, 0, 0);
  const int64_t before = memory_used(&exec);
  do {
    (void)spmv_emulator_refuse(SPMV_POINT_DEVICE, point++, 0);
    status = made(p, of_kind(SPMV_DIRECT_SPD), &exec, &d);
    UNIT_EQUAL(status ? 1 : 0, spmv_emulator_refuse(0, -1, 0) > 0);
    UNIT_CHECK(!status || status == SPMV_ERR_MEMORY);
    if (status) spmv_direct_destroy(&d, &exec);
    if (status) UNIT_EQUAL(before, memory_used(&exec));
  } while (status && point < 100);
  UNIT_CHECK(point > 2);
  spmv_direct_destroy(&d, &exec);
  forget(&exec, p);
}
#endif
