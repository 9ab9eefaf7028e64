/* Tests of format codsell: arrays computed by hand, every kind of slice, sorted windows, long and far rows, and equal
   arrays on device and host. */
#include "unit.h"
#include "unit_plan.h"
#include "codsell_host.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* 10 x 10 tridiagonal; values are 1, 2, ... */
enum { TRI_ROWS = 10, TRI_NNZ = 28 };
typedef struct {
  int32_t row_ptr[TRI_ROWS + 1], col[TRI_NNZ];
  double  values[TRI_NNZ];
} Tridiagonal;

static SpmvCsr tridiagonal(Tridiagonal *t)
{
  int32_t n = 0;

  for (int32_t i = 0; i < TRI_ROWS; i++) {
    t->row_ptr[i] = n;
    for (int32_t j = i - 1; j <= i + 1; j++)
      if (j >= 0 && j < TRI_ROWS) t->col[n++] = j;
  }
  t->row_ptr[TRI_ROWS] = n;
  for (int k = 0; k < n; k++) t->values[k] = k + 1;
  return (SpmvCsr){.pattern = {.rows = TRI_ROWS, .cols = TRI_ROWS, .nnz = n, .row_ptr = t->row_ptr, .col = t->col},
                   .values  = t->values};
}

static UnitPlan build_in(SpmvSpace space, const SpmvCsr *csr, const char *c, int sigma, const char *word)
{
  return unit_plan(space, "codsell", csr, "c=%s sigma=%d word=%s", c, sigma, word);
}

static UnitPlan build(const SpmvCsr *csr, const char *c, int sigma, const char *word)
{
  return build_in(SPMV_HOST, csr, c, sigma, word);
}

static void check_slice(const CodsellSlice *s, int column0, int width, int kind, int ragged, int permuted, int code0)
{
  UNIT_EQUAL(column0, s->column0);
  UNIT_EQUAL(width, s->width);
  UNIT_EQUAL(kind, s->kind);
  UNIT_EQUAL(ragged, s->ragged);
  UNIT_EQUAL(permuted, s->permuted);
  UNIT_EQUAL(code0, s->code0);
}

/* Words of 4. Rows 1 .. 8 have the word -1 0 1 1, and relative to their start 0 1 2 2: eight occurrences each. Row 0
   has the word 0 1 1 1, as have rows 0 and 9 relative to their start: three occurrences. Row 9 has the word -1 0 0 0,
   which occurs once and gets no id. */
UNIT_TEST(codsell_arrays_by_hand)
{
  Tridiagonal        t;
  const SpmvCsr      csr    = tridiagonal(&t);
  UnitPlan           b      = build(&csr, "8", 1, "4");
  const CodsellPlan *p      = (const CodsellPlan *)b.plan;
  const double      *values = p->values;

  UNIT_EQUAL(3, p->shape.words);
  UNIT_ARRAY(int32_t, p->dictionary, -1, 0, 1, 1, 0, 1, 2, 2, 0, 1, 1, 1);
  check_slice(&p->slices[0], 0, 3, CODSELL_IDS8, 1, 0, 0);
  check_slice(&p->slices[1], 3, 3, CODSELL_STARTS16_IDS8, 1, 0, 16);
  UNIT_ARRAY(uint8_t, p->codes, 2, 0, 0, 0, 0, 0, 0, 0, 2, 3, 3, 3, 3, 3, 3, 3);
  UNIT_ARRAY(uint8_t, p->codes + 16, 255, 255, 255, 255, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0,
             0, 0, 0, 3, 2, 0, 0, 0, 0, 0, 0);
  UNIT_EQUAL(16 + 36, p->shape.code_bytes);
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 16; i++) {
      const int n = i < TRI_ROWS ? t.row_ptr[i + 1] - t.row_ptr[i] : 0;
      UNIT_EQUAL(k < n ? t.row_ptr[i] + k + 1 : 0, values[(3 * (i / 8) + k) * 8 + i % 8]);
    }
  UNIT_EQUAL(48 * 8 + 52 + 2 * 16 + 3 * 16 + 8, p->base.memory.total_bytes);
  UNIT_EQUAL((48 - 28) * 8, p->base.memory.padding_bytes);
  UNIT_CHECK(!p->order && !p->long_rows);
  unit_plan_clear(&b);
}

/* Sorted: rows 1 .. 8 fill a slice with one shared id; rows 0 and 9 have the same word relative to their start */
UNIT_TEST(codsell_sorts_where_that_saves_padding)
{
  Tridiagonal        t;
  const SpmvCsr      csr = tridiagonal(&t);
  UnitPlan           b   = build(&csr, "8", 0, "4");
  const CodsellPlan *p   = (const CodsellPlan *)b.plan;

  UNIT_EQUAL(1, p->shape.sorted);
  UNIT_EQUAL(256, p->shape.window);
  for (int i = 0; i < 16; i++) UNIT_EQUAL(i < 8 ? i + 1 : i == 8 ? 0 : i, p->order[i]);
  check_slice(&p->slices[0], 0, 3, CODSELL_UNIFORM, 0, 1, 0);
  check_slice(&p->slices[1], 3, 2, CODSELL_STARTS16_UNIFORM, 1, 1, 4);
  UNIT_ARRAY(uint8_t, p->codes, 0, 0, 0, 0);
  UNIT_ARRAY(uint8_t, p->codes + 4, 248, 255, 255, 255, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2, 2, 0,
             0, 0, 0, 0, 0, 0, 0);
  UNIT_EQUAL(36, p->shape.code_bytes);
  UNIT_EQUAL((40 - 28) * 8, p->base.memory.padding_bytes);
  unit_plan_clear(&b);
  b = build(&csr, "8", 1, "4");
  UNIT_EQUAL(0, ((const CodsellPlan *)b.plan)->shape.sorted);
  unit_plan_clear(&b);
}

/* Rows of three triples of columns: one near the diagonal, two at arbitrary columns */
static int64_t triples_row(const GenSpec *spec, int64_t i, int64_t *col)
{
  const int64_t node = i / 3, nodes = spec->cols / 3;
  const int64_t at[] = {0, node < nodes ? node : nodes - 1,
                        node + 1 + (int64_t)(gen_hash(spec->seed, (uint64_t)node) % (uint64_t)spec->period)};
  int64_t       n    = 0;

  for (int t = node == 0; t < 3; t++)
    for (int j = 0; j < 3; j++) col[n++] = 3 * at[t] + j;
  return n;
}

/* The distances of row i from the diagonal form one of `period` different words */
static int64_t patterns_row(const GenSpec *spec, int64_t i, int64_t *col)
{
  const int64_t pattern = i % spec->period;

  col[0] = i;
  col[1] = i + 1 + pattern % 37;
  col[2] = i + 100 + pattern;
  return 3;
}

/* Even rows have runs of 2 columns, odd rows single columns, at arbitrary positions */
static int64_t mixed_row(const GenSpec *spec, int64_t i, int64_t *col)
{
  const int64_t part = spec->cols / 4;

  for (int k = 0; k < 4; k++) {
    col[2 * k]     = k * part + (int64_t)(gen_hash(spec->seed, (uint64_t)(8 * i + k)) % (uint64_t)(part - 3));
    col[2 * k + 1] = col[2 * k] + 1 + i % 2;
  }
  return 8;
}

static GenSpec own(GenRow row, int64_t rows, int64_t cols, int64_t period)
{
  return (GenSpec){.rows = rows, .cols = cols, .row = row, .period = period, .seed = 5};
}

static void mult(UnitPlan *b, SpmvIsa isa, const void *alpha, const void *x, const void *beta, void *y)
{
  codsell_host_mult_by(isa, (const CodsellPlan *)b->plan, alpha, x, beta, y);
}

/* kind: a kind of slice that must occur, or -1 */
static void check_products(const GenSpec *spec, SpmvIndex index, SpmvScalar scalar, const char *c, int sigma,
                           const char *word, int kind)
{
  UnitProblem p = unit_problem(spec, index, scalar);
  UnitPlan    b = build(&p.csr, c, sigma, word);

  if (kind >= 0) UNIT_CHECK(((const CodsellPlan *)b.plan)->shape.kinds[kind] > 0);
  unit_check_products(&p, &b, mult);
  unit_plan_clear(&b);
  unit_problem_clear(&p);
}

typedef struct {
  GenSpec     spec;
  const char *word;
  int         sigma, kind;
} KindCase;

enum { KIND_CASES = 11 };

/* Matrices in which each kind of slice occurs */
static void kind_cases(KindCase list[KIND_CASES])
{
  const KindCase cases[KIND_CASES] = {
      {gen_stencil(27, 96, 4, 4), "auto", 1, CODSELL_UNIFORM},
      {gen_stencil(27, 40, 6, 5), "3", 64, CODSELL_IDS8},
      {own(patterns_row, 6000, 8000, 700), "3", 1, CODSELL_IDS16},
      {own(triples_row, 600, 3000, 800), "auto", 1, CODSELL_STARTS16_UNIFORM},
      {own(triples_row, 600, 150000, 40000), "3", 1, CODSELL_STARTS16_UNIFORM},
      {own(mixed_row, 500, 4000, 0), "2", 1, CODSELL_STARTS16_IDS8},
      {own(triples_row, 600, 300000, 90000), "auto", 1, CODSELL_STARTS32_UNIFORM},
      {own(mixed_row, 500, 400000, 0), "2", 1, CODSELL_STARTS32_IDS8},
      {gen_random(700, 5000, 9, 3), "auto", 0, CODSELL_COLUMNS16},
      {gen_random(700, 90000, 9, 3), "auto", 0, CODSELL_COLUMNS32},
      {gen_long_rows(3000, 90000, 4, 900, 700, 2), "auto", 0, -1},
  };

  memcpy(list, cases, sizeof cases);
}

UNIT_TEST(codsell_products_of_every_kind_of_slice)
{
  static const char *const c[] = {"32", "8", "16", "64"};
  KindCase                 cases[KIND_CASES];

  kind_cases(cases);
  for (int m = 0; m < KIND_CASES; m++)
    for (int t = 0; t < 4; t++)
      for (int s = 0; s < 4; s++)
        check_products(&cases[m].spec, (SpmvIndex)(t & 1), (SpmvScalar)(t >> 1), c[s], cases[m].sigma, cases[m].word,
                       s == 0 ? cases[m].kind : -1);
}

/* Triples of columns over 3 x 40000 columns: words of 3, and 16-bit starts in units of 3 columns */
UNIT_TEST(codsell_words_follow_the_unknowns_of_a_node)
{
  const GenSpec      spec    = own(triples_row, 600, 150000, 40000);
  UnitProblem        problem = unit_problem(&spec, SPMV_I32, SPMV_F64);
  UnitPlan           b       = build(&problem.csr, "32", 0, "auto");
  const CodsellPlan *p       = (const CodsellPlan *)b.plan;

  UNIT_EQUAL(3, p->shape.word);
  UNIT_EQUAL(1, p->slices[1].scaled);
  UNIT_EQUAL(CODSELL_STARTS16_UNIFORM, p->slices[1].kind);
  unit_plan_clear(&b);
  unit_problem_clear(&problem);
}

/* Columns 2^29 + 1 or more from the diagonal exceed the offsets of a slice. The vector is that long, but only the pages
   that are touched take memory. */
UNIT_TEST(codsell_far_columns_go_to_the_long_rows)
{
  const int32_t row_ptr[] = {0, 2, 3, 5}, col[] = {0, CODSELL_FAR, 7, 1, CODSELL_FAR + 3};
  const float   values[] = {1, 2, 3, 4, 5}, one = 1, zero = 0;
  const size_t  bytes = ((size_t)CODSELL_FAR + 8) * sizeof(float);
  float        *x = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), y[3];
  const SpmvCsr csr = {
      .pattern     = {.rows = 3, .cols = CODSELL_FAR + 8, .nnz = 5, .row_ptr = row_ptr, .col = col},
      .scalar_type = SPMV_F32,
      .values      = values,
  };

  UNIT_CHECK(x != MAP_FAILED);
  if (x == MAP_FAILED) return;
  x[0] = 1, x[1] = 2, x[7] = 3, x[CODSELL_FAR] = 10, x[CODSELL_FAR + 3] = 100;
  UnitPlan           b = build(&csr, "32", 1, "auto");
  const CodsellPlan *p = (const CodsellPlan *)b.plan;
  UNIT_EQUAL(1, p->shape.long_rows);
  UNIT_EQUAL(2, p->long_rows[0].row);
  UNIT_EQUAL(2, p->shape.long_nnz);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_mult(b.plan, &one, x, &zero, y, NULL, &b.exec));
  UNIT_CHECK(y[0] == 21 && y[1] == 9 && y[2] == 508);
  unit_plan_clear(&b);
  munmap(x, bytes);
}

static void equal_arrays(const void *host, const void *device, int64_t bytes, SpmvExec *exec)
{
  void *copy = malloc((size_t)bytes + 1);

  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(copy, SPMV_HOST, device, SPMV_DEVICE, bytes, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(exec));
  UNIT_CHECK(bytes == 0 || !memcmp(host, copy, (size_t)bytes));
  free(copy);
}

/* New values for a matrix on host and device: without the CSR's pointers, a device fills plans by another kernel */
static void check_device_refresh(UnitPlan *host, UnitPlan *device, double *values)
{
  const CodsellPlan *a = (const CodsellPlan *)host->plan, *b = (const CodsellPlan *)device->plan;
  const int64_t      bytes = (a->shape.columns << a->shape.log_c) * (int64_t)sizeof *values;

  gen_values(GEN_RANDOM, 6, 0, SPMV_F64, a->base.nnz, values);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(host->plan, values, SPMV_HOST, &host->exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(device->plan, values, SPMV_HOST, &device->exec));
  equal_arrays(a->values, b->values, bytes, &device->exec);
  equal_arrays(a->long_values, b->long_values, a->shape.long_nnz * (int64_t)sizeof *values, &device->exec);
}

/* Builds plans of a matrix on host and device, and compares them array by array */
static void check_device_arrays(const GenSpec *spec, const char *c, int sigma, const char *word)
{
  UnitProblem p = unit_problem(spec, SPMV_I32, SPMV_F64);

  gen_values(GEN_RANDOM, 5, 0, SPMV_F64, p.csr.pattern.nnz, p.values);
  UnitPlan           h = build(&p.csr, c, sigma, word), d = build_in(SPMV_DEVICE, &p.csr, c, sigma, word);
  const CodsellPlan *a = (const CodsellPlan *)h.plan, *b = (const CodsellPlan *)d.plan;
  const void        *host[]   = {a->values,  a->codes,     a->slices,       a->dictionary, a->order,
                                 a->windows, a->long_rows, a->long_columns, a->long_values};
  const void        *device[] = {b->values,  b->codes,     b->slices,       b->dictionary, b->order,
                                 b->windows, b->long_rows, b->long_columns, b->long_values};

  UNIT_EQUAL(a->shape.word, b->shape.word);
  for (size_t i = 0; i < sizeof host / sizeof host[0]; i++) {
    UNIT_EQUAL(a->base.memory.array[i].bytes, b->base.memory.array[i].bytes);
    if (a->base.memory.array[i].bytes == b->base.memory.array[i].bytes)
      equal_arrays(host[i], device[i], a->base.memory.array[i].bytes, &d.exec);
  }
  check_device_refresh(&h, &d, p.values);
  unit_plan_clear(&h);
  unit_plan_clear(&d);
  unit_problem_clear(&p);
}

UNIT_TEST(codsell_device_has_the_arrays_of_the_host)
{
  static const char *const c[] = {"8", "16", "32", "64"}, *const word[] = {"auto", "3", "auto", "8"};
  static const int sigma[] = {0, 4096, 1, 500};
  const GenSpec    mesh = gen_mesh(27, 12, 10, 9, "33231303"), circuit = gen_circuit(3000, 7, 7);
  const GenSpec    sampled = gen_stencil(27, 50, 40, 20), uneven = gen_long_rows(30000, 90000, 4, 900, 700, 2);
  KindCase         cases[KIND_CASES];

  if (spmv_device_count(NULL) == 0) return;
  kind_cases(cases);
  for (int m = 0; m < KIND_CASES; m++) check_device_arrays(&cases[m].spec, "32", cases[m].sigma, cases[m].word);
  check_device_arrays(&mesh, "16", 0, "auto");
  check_device_arrays(&circuit, "64", 0, "auto");
  for (int i = 0; i < 4; i++) {
    check_device_arrays(&sampled, c[i], sigma[i], word[i]);
    check_device_arrays(&uneven, c[i], sigma[i], word[i]);
  }
}

/* Many windows in a thread block, windows that do not fill a thread block, and a partly filled window */
UNIT_TEST(codsell_device_sorts_windows_of_any_size)
{
  static const char *const c[]     = {"8", "8", "16", "32", "64", "64"};
  static const int         sigma[] = {2, 65, 1000, 2049, 3000, 4095};
  const GenSpec            large = gen_circuit(9001, 7, 7), small = gen_circuit(75, 7, 7);

  if (spmv_device_count(NULL) == 0) return;
  for (int i = 0; i < 6; i++) {
    check_device_arrays(&large, c[i], sigma[i], "3");
    check_device_arrays(&small, c[i], sigma[i], "3");
  }
}

/* Words for many buckets of the ranking on the device */
UNIT_TEST(codsell_device_ranks_many_words)
{
  const GenSpec circuit = gen_circuit(40000, 7, 7);

  if (spmv_device_count(NULL) == 0) return;
  check_device_arrays(&circuit, "32", 0, "1");
  check_device_arrays(&circuit, "32", 0, "auto");
}
