/* Tests of format fold on a device: layout, rows of very many pieces, and streamed tables. Without a device or without
   CUDA they pass trivially. */
#include "unit.h"
#include "unit_plan.h"
#include "aggregate/aggregate_test.h"
#include "check.h"
#include "papers/fold_published.h"
#include "fold/stream/fold_gather.h"
#include "fold/stream/fold_stream.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Slices of 3, 2, 1 and 4 steps */
UNIT_TEST(fold_cuts_a_table_into_chunks)
{
  const int64_t   slice_ptr[] = {0, 3, 5, 6, 10};
  const FoldSizes s           = {.rows = 128, .nnz = 300, .table_rows = 128, .slices = 4, .steps = 10, .width = 4};
  FoldStreamSizes t;
  FoldChunk       chunk[4];

  fold_stream_cut(&s, slice_ptr, FOLD_GATHER_CACHE, SPMV_F64, 1, 0, &t); /* no resident part: two buffers of 4 steps */
  UNIT_EQUAL(0, t.resident_slices);
  UNIT_EQUAL(4, t.chunk_steps);
  UNIT_EQUAL(4 * 32 * 12, t.buffer_bytes);
  UNIT_EQUAL(3, t.chunks);
  fold_stream_chunks(&s, slice_ptr, &t, chunk);
  UNIT_CHECK(chunk[0].begin == 0 && chunk[0].end == 1 && chunk[0].first_step == 0 && chunk[0].steps == 3);
  UNIT_CHECK(chunk[1].begin == 1 && chunk[1].end == 3 && chunk[1].first_step == 3 && chunk[1].steps == 3);
  UNIT_CHECK(chunk[2].begin == 3 && chunk[2].end == 4 && chunk[2].first_step == 6 && chunk[2].steps == 4);

  fold_stream_cut(&s, slice_ptr, FOLD_GATHER_CACHE, SPMV_F64, 5 * 8 + 10 * 32 * 12, 0, &t); /* the whole table just
                                                                                               fits */
  UNIT_EQUAL(4, t.resident_slices);
  UNIT_EQUAL(0, t.buffer_bytes);
  UNIT_EQUAL(1, t.chunks);

  fold_stream_cut(&s, slice_ptr, FOLD_GATHER_HOST, SPMV_F32, 0, 7, &t); /* values are resident, x comes in chunks */
  UNIT_EQUAL(4, t.resident_slices);
  UNIT_EQUAL(4 * 32 * 4, t.buffer_bytes);
  UNIT_EQUAL(256, t.partial_bytes);
  UNIT_EQUAL(3, t.chunks);
}

/* 20 slices of 3 steps. The limit leaves 40 steps: two buffers of 5, and 30 resident steps. */
UNIT_TEST(fold_keeps_on_the_device_what_the_buffers_leave)
{
  int64_t         slice_ptr[21];
  const FoldSizes s = {.rows = 640, .nnz = 1900, .table_rows = 640, .slices = 20, .steps = 60, .width = 3};
  FoldStreamSizes t;
  FoldChunk       chunk[11];

  for (int i = 0; i <= 20; i++) slice_ptr[i] = 3 * i;
  fold_stream_cut(&s, slice_ptr, FOLD_GATHER_CACHE, SPMV_F64, 21 * 8 + 40 * 32 * 12, 0, &t);
  UNIT_EQUAL(5, t.chunk_steps);
  UNIT_EQUAL(5 * 32 * 12, t.buffer_bytes);
  UNIT_EQUAL(10, t.resident_slices);
  UNIT_EQUAL(30, t.resident_steps);
  UNIT_EQUAL(11, t.chunks);
  fold_stream_chunks(&s, slice_ptr, &t, chunk);
  UNIT_CHECK(chunk[0].resident && chunk[0].begin == 0 && chunk[0].end == 10 && chunk[0].steps == 30);
  for (int k = 1; k < 11; k++)
    UNIT_CHECK(!chunk[k].resident && chunk[k].begin == 9 + k && chunk[k].first_step == 27 + 3 * k &&
               chunk[k].steps == 3);
}

typedef struct {
  SpmvThreads *threads;
  int64_t      seed;
  int          wrong;
} Gathering;

/* Gathers lists of several lengths, the longest first, so that later rounds leave some threads without a share */
static void *gather_lists(void *gathering_)
{
  enum { N = 300001, COLS = 1000 };
  Gathering *g       = gathering_;
  int32_t   *columns = malloc(N * sizeof *columns);
  double    *x = malloc(COLS * sizeof *x), *to = malloc(N * sizeof *to);

  for (int i = 0; i < COLS; i++) x[i] = i + 0.5;
  for (int e = 0; e < N; e++) columns[e] = e % 7 == 0 ? -1 : (int32_t)(gen_hash((uint64_t)g->seed, (uint64_t)e) % COLS);
  for (int n = N; n > 0; n /= 5) {
    memset(to, 0xFF, N * sizeof *to);
    fold_gather(g->threads, columns, n, SPMV_F64, x, to);
    for (int e = 0; e < n; e++) g->wrong += to[e] != (columns[e] < 0 ? 0 : columns[e] + 0.5);
    if (n < N) g->wrong += to[n] == to[n]; /* still NaN, so not written */
  }
  fold_gather(g->threads, columns, 0, SPMV_F32, x, to);
  free(columns);
  free(x);
  free(to);
  return NULL;
}

UNIT_TEST(fold_gathers_by_several_threads)
{
  SpmvThreads threads;
  Gathering   g[2] = {{&threads, 1, 0}, {&threads, 2, 0}};
  pthread_t   other;

  UNIT_EQUAL(1, fold_gather_threads(100));
  UNIT_EQUAL(spmv_threads_available(), fold_gather_threads(300001));
  spmv_threads_start(&threads, 5); /* independent of the number of processors */
  UNIT_EQUAL(0, pthread_create(&other, NULL, gather_lists, &g[1]));
  gather_lists(&g[0]);
  pthread_join(other, NULL);
  UNIT_EQUAL(0, g[0].wrong + g[1].wrong);
  spmv_threads_stop(&threads);
}

#if defined(SPMV_HAVE_CUDA)
typedef struct {
  UnitProblem problem;
  UnitPlan    built;
  void       *x, *y, *work; /* on the device */
} Device;

static int build(Device *d, const GenSpec *spec, SpmvIndex index, SpmvScalar scalar, double q, const char *gather,
                 double limit)
{
  if (spmv_device_count(NULL) == 0) return 0;
  d->problem = unit_problem(spec, index, scalar);
  d->built = unit_plan(SPMV_DEVICE, "fold", &d->problem.csr, "q=%.17g device_memory=%.17g gather=%s", q, limit, gather);
  const int64_t bytes = d->problem.most * spmv_scalar_bytes(scalar);
  d->x                = test_put(SPMV_DEVICE, d->problem.x, bytes);
  d->y                = test_put(SPMV_DEVICE, NULL, bytes);
  d->work             = test_put(SPMV_DEVICE, NULL, d->built.plan->memory.work_bytes);
  return 1;
}

static void clear(Device *d)
{
  spmv_exec_free(&d->built.exec, SPMV_DEVICE, d->x);
  spmv_exec_free(&d->built.exec, SPMV_DEVICE, d->y);
  spmv_exec_free(&d->built.exec, SPMV_DEVICE, d->work);
  unit_plan_clear(&d->built);
  unit_problem_clear(&d->problem);
}

/* y = 2 A x, or 2 A^T x, compared bit for bit with the reference; twice, since a product might change its plan */
static void check_product(Device *d, int transpose)
{
  UnitProblem     *p      = &d->problem;
  SpmvPlan        *plan   = d->built.plan;
  SpmvExec        *exec   = &d->built.exec;
  const SpmvScalar scalar = p->csr.scalar_type;
  const double     two = 2, zero = 0;
  const float      two_f = 2, zero_f = 0;
  const void      *alpha = scalar == SPMV_F32 ? (const void *)&two_f : &two;
  const void      *beta  = scalar == SPMV_F32 ? (const void *)&zero_f : &zero;
  const int64_t    bytes = p->most * spmv_scalar_bytes(scalar);
  CheckReference   reference;
  CheckFault       fault;

  UNIT_EQUAL(SPMV_SUCCESS, check_reference(&p->csr.pattern, scalar, p->values, p->x, transpose, &reference));
  if (transpose) UNIT_EQUAL(SPMV_SUCCESS, spmv_prepare_transpose(plan, exec));
  for (int i = 0; i < 2; i++) {
    memset(p->y, 0xFF, (size_t)bytes); /* NaN */
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(d->y, SPMV_DEVICE, p->y, SPMV_HOST, bytes, exec));
    UNIT_EQUAL(SPMV_SUCCESS,
               (transpose ? spmv_multtranspose : spmv_mult)(plan, alpha, d->x, beta, d->y, d->work, exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(p->y, SPMV_HOST, d->y, SPMV_DEVICE, bytes, exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(exec));
    UNIT_CHECK(check_vector(&reference, scalar, GEN_EXACT, 2, 0, NULL, p->y, &fault));
  }
  check_reference_free(&reference);
}

static void check_products(const GenSpec *spec, SpmvIndex index, SpmvScalar scalar, double q, const char *gather,
                           double limit)
{
  Device d;

  if (!build(&d, spec, index, scalar, q, gather, limit)) return;
  UNIT_CHECK(((const FoldPlan *)d.built.plan)->table.sizes.folded > 0);
  check_product(&d, 0);
  check_product(&d, 1);
  gen_values(GEN_EXACT, 7, 10, scalar, d.problem.csr.pattern.nnz, d.problem.values);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(d.built.plan, d.problem.values, SPMV_HOST, &d.built.exec));
  check_product(&d, 0);
  check_product(&d, 1);
  clear(&d);
}

UNIT_TEST(fold_device_adds_rows_of_very_many_pieces)
{
  const int64_t lengths[] = {5, 900, 30, 700, 0, 64, 258, 257};
  const GenSpec spec[]    = {gen_long_rows(50, 70000, 5, 70000, 40, 11), gen_lengths(70, 5000, 8, lengths, 3)};

  for (int m = 0; m < 2; m++) {
    check_products(&spec[m], SPMV_I32, SPMV_F64, m ? 0.003 : 0.002, "cache", 0);
    check_products(&spec[m], SPMV_I64, SPMV_F32, 0.0001, "device", 0);
  }
}

UNIT_TEST(fold_device_streams_what_does_not_fit)
{
  static const char *const gather[]  = {"cache", "host"};
  const int64_t            lengths[] = {3, 40, 0, 9, 17, 1, 700, 8};
  const GenSpec            spec = gen_lengths(700, 900, 8, lengths, 3); /* about 800 kB; the long rows are folded */

  for (int g = 0; g < 2; g++) {
    check_products(&spec, SPMV_I32, SPMV_F64, 0, gather[g], 1);
    check_products(&spec, SPMV_I64, SPMV_F32, 0, gather[g], 40000);
    check_products(&spec, SPMV_I32, SPMV_F64, 0, gather[g], 400000);
    check_products(&spec, SPMV_I32, SPMV_F64, 0, gather[g], 1e9);
  }
}

UNIT_TEST(fold_device_keeps_to_its_limit)
{
  static const char *const gather[] = {"cache", "host"};
  const GenSpec            spec     = gen_random(20000, 3000, 11, 15);

  for (int g = 0; g < 2; g++)
    for (double limit = 100e3; limit < 3e6; limit = floor(1.7 * limit)) {
      Device d;
      if (!build(&d, &spec, SPMV_I32, SPMV_F64, 0, gather[g], limit)) return;
      const SpmvMemory *m = &d.built.plan->memory;
      UNIT_CHECK((double)(m->total_bytes - m->host_bytes + m->work_bytes) <= limit);
      UNIT_CHECK(limit > 2e6 || m->host_bytes > m->total_bytes / 4);
      clear(&d);
    }
}

/* Pinned memory does not come from hooks. The emulator makes the n-th block fail, and counts live blocks: a leak in one
   attempt would make a later attempt fail earlier. On a real device every attempt succeeds. */
UNIT_TEST(fold_device_says_when_memory_cannot_be_pinned)
{
  const GenSpec spec  = gen_random(2000, 3000, 11, 15);
  int           built = 0, failures = 0;

  if (spmv_device_count(NULL) == 0) return;
  spmv_staging_release(); /* frees buffers that other tests have left */
  UnitProblem p = unit_problem(&spec, SPMV_I32, SPMV_F64);
  spmv_device_keep(0); /* no page-locked block is kept for the next */
  for (int most = 0; most < 20 && built < 3; most++) {
    SpmvOptions  options;
    SpmvAnalysis analysis;
    SpmvExec     exec;
    SpmvPlan    *plan = NULL;
    char         text[16];

    snprintf(text, sizeof text, "%d", most);
    setenv("SPMV_EMULATOR_PINNED_BLOCKS", text, 1);
    spmv_exec_init(&exec, SPMV_DEVICE);
    spmv_options_init(&options, spmv_format_find("fold"));
    options.value[FOLD_OPTION_GATHER]        = FOLD_GATHER_HOST;
    options.value[FOLD_OPTION_DEVICE_MEMORY] = 100000;
    UNIT_EQUAL(SPMV_SUCCESS, spmv_analyze(options.format, &p.csr.pattern, SPMV_F64, &options, &exec, &analysis));
    const SpmvStatus status = spmv_build(&p.csr, &analysis, &exec, &plan);
    UNIT_CHECK(status == SPMV_SUCCESS || status == SPMV_ERR_MEMORY);
    UNIT_CHECK((status == SPMV_SUCCESS) == (plan != NULL));
    if (status) UNIT_CONTAINS("bytes of pinned host memory for array ", exec.message);
    built += !status;
    failures += status != SPMV_SUCCESS;
    spmv_destroy(&plan);
    spmv_analysis_clear(&analysis, &exec);
  }
  spmv_device_keep(-1);
  unsetenv("SPMV_EMULATOR_PINNED_BLOCKS");
  UNIT_EQUAL(3, built);
  UNIT_CHECK(failures == 0 || failures == 5); /* columns, values, x, two buffers */
  unit_problem_clear(&p);
}

/* Checks that device and host make the same layout from a row_ptr */
static void check_layout(const GenSpec *spec, double q)
{
  Device           d;
  FoldSizes        s;
  FoldLayout       expected;
  SpmvAllocator    none = {0};
  const FoldTable *table;

  if (!build(&d, spec, SPMV_I32, SPMV_F64, q, "cache", 0)) return;
  table = &((FoldPlan *)d.built.plan)->table;
  UNIT_EQUAL(SPMV_SUCCESS,
             fold_analyze_rows(d.problem.csr.pattern.row_ptr, &d.problem.csr.pattern, SPMV_F64, SPMV_DEVICE,
                               fold_given(&d.built.plan->options), &d.built.exec, &s, &expected));
  UNIT_CHECK(!memcmp(&s, &table->sizes, sizeof s));
  const struct {
    const void *expected, *got;
    int64_t     bytes;
  } array[] = {{expected.slice_ptr, table->layout.slice_ptr, fold_slice_ptr_bytes(&s)},
               {expected.order, table->layout.order, fold_order_bytes(&s)},
               {expected.owner, table->layout.owner, fold_owner_bytes(&s)},
               {expected.full_ptr, table->layout.full_ptr, fold_full_ptr_bytes(&s)}};
  for (int i = 0; i < 4; i++) {
    void *got = malloc((size_t)array[i].bytes + 1);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(got, SPMV_HOST, array[i].got, SPMV_DEVICE, array[i].bytes, &d.built.exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&d.built.exec));
    UNIT_CHECK(array[i].bytes == 0 || !memcmp(array[i].expected, got, (size_t)array[i].bytes));
    free(got);
  }
  fold_layout_free(&none, &none, SPMV_HOST, &expected);
  clear(&d);
}

UNIT_TEST(fold_device_lays_out_like_the_host)
{
  const int64_t lengths[] = {3, 40, 0, 9, 17, 1, 33, 8}, long_ones[] = {5, 3000, 30, 700, 0, 64, 258, 1025};
  const GenSpec spec[] = {gen_lengths(5001, 90, 8, lengths, 3), gen_lengths(700, 5000, 8, long_ones, 3),
                          gen_power_law(5000, 2, 2.1, 6), gen_stencil(7, 12, 12, 12), gen_empty(100, 100)};

  for (size_t m = 0; m < sizeof spec / sizeof spec[0]; m++) {
    check_layout(&spec[m], 0);
    check_layout(&spec[m], 0.01);
    check_layout(&spec[m], 0.6);
    check_layout(&spec[m], 100);
  }
}
#endif
