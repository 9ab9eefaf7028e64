/* Tests of lists of coordinates: patterns, values and off-process entries, compared with results from qsort() and
   sequential additions. Values and packed entries also on the host, from copies of the maps. They need a device. */
#include "coo_test.h"
#include "aggregate/aggregate_test.h"
#include "coo.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef SPMV_HAVE_CUDA
  #include <cuda_runtime_api.h>
#endif

static void note(const char *what, const CooCase *c, const SpmvCooList *l, const SpmvExec *exec)
{
  char text[2 * SPMV_MESSAGE_MAX];

  snprintf(text, sizeof text, "%s of the list \"%s\": columns %s, list in space %d, values in space %d: %s", what,
           c->name, l->outside ? "outside" : "inside", (int)l->space, (int)exec->space, exec->message);
  unit_check(0, __FILE__, __LINE__, text);
}

static int64_t index_at(SpmvIndex index, const void *array, int64_t k)
{
  return index == SPMV_I64 ? ((const int64_t *)array)[k] : ((const int32_t *)array)[k];
}

/* ---- patterns and values ---- */

static void check_values(const CooCase *c, const SpmvCooList *l, const SpmvCoo *coo, SpmvExec *exec)
{
  for (int scalar = SPMV_F64; scalar <= SPMV_F32; scalar++)
    for (int add = 0; add <= 1; add++) {
      CooCsr expected = coo_expected(c, l, (SpmvScalar)scalar, add);
      CooCsr got      = coo_got(c, coo, (SpmvScalar)scalar, add, exec);
      if (!coo_csr_same(&expected, &got)) note(add ? "sums" : "values", c, l, exec);
      coo_csr_free(&expected);
      coo_csr_free(&got);
    }
}

static void check_list(const CooCase *c, const SpmvCooList *l)
{
  SpmvExec exec, host;
  SpmvCoo *coo, *copy;

  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_exec_init(&host, SPMV_HOST);
  if (spmv_coo_create(l, &exec, &coo)) {
    note("no pattern", c, l, &exec);
    return;
  }
  check_values(c, l, coo, &exec);
  if (spmv_coo_copy(coo, &host, &copy)) note("no copy", c, l, &host);
  else check_values(c, l, copy, &host);
  spmv_coo_destroy(&copy);
  spmv_coo_destroy(&coo);
  UNIT_CHECK(!coo && !copy);
}

/* ---- coordinates of a pattern ---- */

/* Numbers of n rows or columns on the device: 0, 3, 6, ... */
static void *spread_numbers(int64_t n, SpmvIndex index)
{
  const int64_t bytes = spmv_index_bytes(index);
  char         *here  = calloc((size_t)n + 1, (size_t)bytes);

  for (int64_t k = 0; k < n; k++)
    if (index == SPMV_I64) ((int64_t *)here)[k] = 3 * k;
    else ((int32_t *)here)[k] = (int32_t)(3 * k);
  void *there = test_put(SPMV_DEVICE, here, n * bytes);
  free(here);
  return there;
}

/* Compares i and j of the library with those of the expected CSR; numbers are first + by times those of the CSR */
static int same_coordinates(const CooCsr *csr, const void *i, const void *j, SpmvIndex index, int64_t first, int64_t by)
{
  for (int64_t r = 0; r < csr->rows; r++)
    for (int64_t k = csr->row_ptr[r]; k < csr->row_ptr[r + 1]; k++)
      if (index_at(index, i, k) != first + by * r || index_at(index, j, k) != first + by * csr->col[k]) return 0;
  return 1;
}

static void check_coordinates(const CooCase *c, const SpmvCooList *l)
{
  CooCsr      expected = coo_expected(c, l, SPMV_F64, 0);
  SpmvExec    exec;
  SpmvCoo    *coo;
  SpmvPattern p;

  spmv_exec_init(&exec, SPMV_DEVICE);
  if (spmv_coo_create(l, &exec, &coo)) note("no pattern", c, l, &exec);
  else {
    spmv_coo_pattern(coo, &p);
    const int64_t bytes = p.nnz * spmv_index_bytes(p.index_type);
    void         *rows  = spread_numbers(p.rows, p.index_type);
    void         *cols  = spread_numbers(p.cols, p.index_type);
    /* numbers as they are, from 7 on, and from an array */
    const SpmvCooNumbers of_rows[] = {{NULL, 0}, {NULL, 7}, {rows, 0}}, of_cols[] = {{NULL, 0}, {NULL, 7}, {cols, 0}};
    for (int way = 0; way < 3; way++) {
      void            *i = test_put(SPMV_DEVICE, NULL, bytes), *j = test_put(SPMV_DEVICE, NULL, bytes);
      void            *i_here = calloc((size_t)bytes + 1, 1), *j_here = calloc((size_t)bytes + 1, 1);
      const SpmvStatus status = spmv_coo_coordinates(&p, of_rows[way], of_cols[way], i, j, &exec);
      test_take(SPMV_DEVICE, i, i_here, bytes);
      test_take(SPMV_DEVICE, j, j_here, bytes);
      if (status || !same_coordinates(&expected, i_here, j_here, p.index_type, way == 1 ? 7 : 0, way == 2 ? 3 : 1))
        note("coordinates", c, l, &exec);
      free(i_here);
      free(j_here);
    }
    test_take(SPMV_DEVICE, rows, NULL, 0);
    test_take(SPMV_DEVICE, cols, NULL, 0);
    spmv_coo_destroy(&coo);
  }
  coo_csr_free(&expected);
}

/* ---- off-process entries ---- */

typedef struct {
  int64_t i, position;
} Sent;

static int by_row(const void *one, const void *other)
{
  const Sent *a = one, *b = other;
  return a->i != b->i ? (a->i > b->i ? 1 : -1) : (a->position > b->position ? 1 : -1);
}

static int64_t expected_others(const CooCase *c, const SpmvCooList *l, Sent *sent)
{
  int64_t n = 0;

  for (int64_t k = 0; k < c->count[0]; k++)
    if (c->i[k] >= 0 && c->j[k] >= 0 && (c->i[k] < l->first_row || c->i[k] >= l->first_row + l->rows))
      sent[n++] = (Sent){c->i[k], k};
  qsort(sent, (size_t)n, sizeof *sent, by_row);
  return n;
}

/* Gathers the values of the off-process entries; returns how many differ from the values at the positions of `sent` */
static int64_t wrong_values(const CooCase *c, const SpmvCooOthers *others, const Sent *sent, int64_t n,
                            SpmvScalar scalar, SpmvExec *exec)
{
  const int64_t bytes = spmv_scalar_bytes(scalar);
  void         *v = test_scalars(scalar, c->count[0], c->v), *there = test_put(exec->space, v, c->count[0] * bytes);
  void         *out   = test_put(exec->space, NULL, n * bytes);
  int64_t       wrong = spmv_coo_gather(others, scalar, there, out, exec) != SPMV_SUCCESS;

  void *packed = calloc((size_t)n + 1, 8);
  test_take(exec->space, out, packed, n * bytes);
  test_take(exec->space, there, NULL, 0);
  for (int64_t k = 0; k < n; k++)
    wrong += memcmp((char *)packed + k * bytes, (char *)v + sent[k].position * bytes, (size_t)bytes) != 0;
  free(packed);
  free(v);
  return wrong;
}

static void check_others(const CooCase *c, const SpmvCooList *l)
{
  Sent          *sent = calloc((size_t)c->count[0] + 1, sizeof *sent);
  const int64_t  n    = expected_others(c, l, sent);
  SpmvCooOthers *others, *copy;
  SpmvCooPart    part;
  SpmvExec       exec, host;
  int64_t        wrong = 0, *at[2];

  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_exec_init(&host, SPMV_HOST);
  if (spmv_coo_others(l, &exec, &others)) note("no entries of others", c, l, &exec);
  else {
    spmv_coo_others_part(others, &part);
    wrong += part.count != n;
    for (int a = 0; a < 2; a++) at[a] = test_fetch_indices(exec.space, l->index_type, part.count, a ? part.j : part.i);
    for (int64_t k = 0; k < n && !wrong; k++) wrong += at[0][k] != sent[k].i || at[1][k] != c->j[sent[k].position];
    for (int a = 0; a < 2; a++) free(at[a]);
    wrong += spmv_coo_others_copy(others, &host, &copy) != SPMV_SUCCESS;
    for (int scalar = SPMV_F64; scalar <= SPMV_F32 && !wrong; scalar++)
      wrong += wrong_values(c, others, sent, n, (SpmvScalar)scalar, &exec) +
               wrong_values(c, copy, sent, n, (SpmvScalar)scalar, &host);
    if (wrong) note("entries of others", c, l, &exec);
    spmv_coo_others_destroy(&others);
    spmv_coo_others_destroy(&copy);
    UNIT_CHECK(!others && !copy);
  }
  free(sent);
}

/* ---- all lists ---- */

static void check_case(const CooCase *c, CooWindow window, SpmvIndex index)
{
  for (int list = SPMV_HOST; list <= SPMV_DEVICE; list++) {
    CooPlaced p = coo_place(c, window, index, (SpmvSpace)list);
    check_list(c, &p.list);
    if (coo_case_is_low(c) && c->all_cols < 1 << 24) check_coordinates(c, &p.list);
    check_others(c, &p.list);
    coo_unplace(&p);
  }
}

static void check_all(SpmvIndex index)
{
  for (int n = 0; n < coo_case_count() && spmv_device_count(NULL); n++) {
    CooCase c = coo_case(n);
    for (int window = COO_WHOLE; window < COO_WINDOWS; window++)
      if ((index == SPMV_I64 || coo_case_is_short(&c)) && (window != COO_WHOLE || coo_case_is_low(&c)))
        check_case(&c, (CooWindow)window, index);
    coo_case_free(&c);
  }
}

UNIT_TEST(lists_with_short_indices_become_the_csr_of_sorted_entries) { check_all(SPMV_I32); }
UNIT_TEST(lists_with_long_indices_become_the_csr_of_sorted_entries) { check_all(SPMV_I64); }

/* Positions of 64 bits, as for lists of 2^32 entries */
UNIT_TEST(lists_with_wide_positions_become_the_same)
{
  const int64_t usual = spmv_coo_wide_from;

  spmv_coo_wide_from = 1;
  check_all(SPMV_I32);
  check_all(SPMV_I64);
  spmv_coo_wide_from = usual;
}

UNIT_TEST(sums_of_the_cases_depend_on_the_order)
{
  CooCase       c       = coo_case_named("heavy");
  const int64_t n       = c.count[0] + c.count[1];
  double        forward = 0, backward = 0;

  for (int64_t k = 0; k < n; k++) {
    const int64_t other = n - 1 - k;
    if (c.i[k] == c.i[1] && c.j[k] == c.j[1]) forward += c.v[k];
    if (c.i[other] == c.i[1] && c.j[other] == c.j[1]) backward += c.v[other];
  }
  UNIT_CHECK(forward != backward);
  coo_case_free(&c);
}

/* ---- setting values only enqueues ---- */

#ifdef SPMV_HAVE_CUDA
/* A graph captured from both calls gives the same results as the calls, with the values that v has at the launch */
static void check_captured(const CooCase *c, SpmvCoo *coo, SpmvCooOthers *others, SpmvExec *exec)
{
  SpmvPattern p;
  SpmvCooPart sent;

  spmv_coo_pattern(coo, &p);
  spmv_coo_others_part(others, &sent);
  const int64_t   n = c->count[0] + c->count[1], m = p.nnz + sent.count;
  double         *v = test_put(SPMV_DEVICE, NULL, n * 8), *to = test_put(SPMV_DEVICE, NULL, m * 8);
  double         *by_graph = calloc((size_t)m + 1, 8), *plain = calloc((size_t)m + 1, 8);
  const void     *parts[] = {v, v + c->count[0]};
  cudaGraph_t     graph;
  cudaGraphExec_t run;

  UNIT_EQUAL(cudaSuccess, cudaStreamBeginCapture(exec->stream, cudaStreamCaptureModeGlobal));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_values(coo, SPMV_F64, parts, 0, to, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_gather(others, SPMV_F64, v, to + p.nnz, exec));
  UNIT_EQUAL(cudaSuccess, cudaStreamEndCapture(exec->stream, &graph));
  UNIT_EQUAL(cudaSuccess, cudaGraphInstantiate(&run, graph, 0));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(v, SPMV_DEVICE, c->v, SPMV_HOST, n * 8, exec));
  UNIT_EQUAL(cudaSuccess, cudaGraphLaunch(run, exec->stream));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(by_graph, SPMV_HOST, to, SPMV_DEVICE, m * 8, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_values(coo, SPMV_F64, parts, 0, to, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_gather(others, SPMV_F64, v, to + p.nnz, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(plain, SPMV_HOST, to, SPMV_DEVICE, m * 8, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(exec));
  UNIT_CHECK(m > 0 && !memcmp(by_graph, plain, (size_t)m * 8));
  UNIT_EQUAL(cudaSuccess, cudaGraphExecDestroy(run));
  UNIT_EQUAL(cudaSuccess, cudaGraphDestroy(graph));
  test_take(SPMV_DEVICE, v, NULL, 0);
  test_take(SPMV_DEVICE, to, NULL, 0);
  free(by_graph);
  free(plain);
}

UNIT_TEST(values_can_be_captured_in_a_graph)
{
  CooCase        c = coo_case_named("scattered");
  CooPlaced      p = coo_place(&c, COO_INSIDE, SPMV_I32, SPMV_HOST);
  SpmvExec       exec;
  SpmvCoo       *coo    = NULL;
  SpmvCooOthers *others = NULL;

  spmv_exec_init(&exec, SPMV_DEVICE);
  if (spmv_device_count(NULL) && UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_create(&exec, &exec.stream))) {
    if (UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_create(&p.list, &exec, &coo)) &&
        UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_others(&p.list, &exec, &others)))
      check_captured(&c, coo, others, &exec);
    spmv_coo_destroy(&coo);
    spmv_coo_others_destroy(&others);
    spmv_stream_destroy(exec.stream);
  }
  coo_unplace(&p);
  coo_case_free(&c);
}
#endif
