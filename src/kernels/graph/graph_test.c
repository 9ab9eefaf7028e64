/* Tests of graphs: the host against dense loops, the device against the host bit for bit. Device tests are skipped
   without a device. */
#include <spmv_graph.h>
#include "aggregate/aggregate_test.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 24 /* block rows of a case */, BLOCK_MAX = 6, MOST = SIDE * BLOCK_MAX };

/* A matrix with 64-bit indices and double values */
typedef struct {
  int64_t rows, cols, block, row_ptr[MOST + 1], col[MOST * MOST];
  double  value[MOST * MOST];
} Matrix;

typedef struct {
  const char *name;
  int         block, dense; /* blocks are full */
  int         odd;          /* percentage of additional single entries */
} Shape;

static const Shape shapes[] = {
    {"entries", 1, 1, 0},
    {"blocks of 2", 2, 1, 0},
    {"blocks of 3", 3, 1, 0},
    {"blocks of 6", 6, 1, 0},
    {"parts of blocks of 2", 2, 0, 5},
    {"parts of blocks of 3", 3, 0, 3},
    {"parts of blocks of 6", 6, 0, 2},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static uint32_t draw(uint32_t *seed)
{
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

/* A quarter of the block rows is empty, for isolated vertices; some values and diagonals are zero */
static Matrix *matrix_of(const Shape *s, uint32_t seed)
{
  Matrix *m = calloc(1, sizeof *m);
  char    there[SIDE][SIDE];

  m->block = s->block;
  m->rows = m->cols = (int64_t)SIDE * s->block;
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) there[i][j] = i % 4 != 1 && (draw(&seed) % 100 < 12 || (i == j && i % 3 > 0));
  for (int64_t i = 0, k = 0; i < m->rows; i++) {
    for (int64_t j = 0; j < m->cols; j++) {
      const int block = there[i / s->block][j / s->block] && (s->dense || draw(&seed) % 3 > 0);
      if (!block && (i / s->block % 4 == 1 || (int)(draw(&seed) % 100) >= s->odd)) continue;
      m->col[k]     = j;
      m->value[k++] = (double)(int)(draw(&seed) % 9) - 4;
    }
    m->row_ptr[i + 1] = k;
  }
  return m;
}

/* ---- the graph by dense loops ---- */

typedef struct {
  int    there;
  double weight;
} Edge;

static double weight_at(const Matrix *m, int64_t i, int64_t j, int *there)
{
  for (int64_t k = m->row_ptr[i]; k < m->row_ptr[i + 1]; k++)
    if (m->col[k] == j) {
      *there = 1;
      return m->value[k];
    }
  return 0;
}

static int is_listed(const SpmvGraphOptions *o, int64_t row)
{
  for (int n = 0; n < o->index_count; n++)
    if (o->index[n] == row) return 1;
  return o->index_count == 0;
}

static void collapse_dense(const Matrix *m, const SpmvGraphOptions *o, Edge *e)
{
  const int64_t b = m->block;

  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t j = 0; j < m->cols; j++) {
      Edge  *at = e + i / b * SIDE + j / b;
      double v  = weight_at(m, i, j, &at->there);
      if (b > 1 && !(is_listed(o, i % b) && is_listed(o, j % b))) continue;
      at->weight += b > 1 || o->magnitudes ? fabs(v) : v;
    }
}

static void finish_dense(const SpmvGraphOptions *o, Edge *e)
{
  double factor[SIDE];

  for (int i = 0; i < SIDE && o->add_transpose; i++)
    for (int j = 0; j <= i; j++) {
      Edge *a = e + i * SIDE + j, *b = e + j * SIDE + i;
      a->there = b->there = a->there || b->there;
      a->weight = b->weight = a->weight + b->weight;
    }
  for (int i = 0; i < SIDE; i++) {
    const double d = e[i * SIDE + i].weight;
    factor[i]      = d == 0 ? 0 : sqrt(fabs(1 / d));
  }
  for (int i = 0; i < SIDE && o->scale; i++)
    for (int j = 0; j < SIDE; j++) e[i * SIDE + j].weight = e[i * SIDE + j].weight * factor[i] * factor[j];
  for (int i = 0; i < SIDE && o->filter; i++)
    for (int j = 0; j < SIDE; j++) {
      Edge *at = e + i * SIDE + j;
      if (fabs(at->weight) > o->threshold) continue;
      if (o->filter == SPMV_GRAPH_KEEP_ABOVE || i != j) at->there = 0;
      at->weight = 0;
    }
}

/* ---- the graph by the library ---- */

/* A graph on the host, converted to 64-bit indices and double weights */
typedef struct {
  SpmvStatus status;
  int64_t    rows, cols, nnz, *row_ptr, *col;
  double    *weight;
  char       message[SPMV_MESSAGE_MAX];
} Result;

static SpmvCsr csr_of(const Matrix *m, SpmvIndex index, SpmvScalar scalar, SpmvExec *exec)
{
  const int64_t n = m->rows + 1, nnz = m->row_ptr[m->rows], i_bytes = spmv_index_bytes(index);
  SpmvCsr csr = {.pattern = {.rows = m->rows, .cols = m->cols, .nnz = nnz, .index_type = index, .space = exec->space},
                 .scalar_type  = scalar,
                 .values_space = exec->space};

  csr.pattern.row_ptr = test_move(exec->space, test_indices(index, n, m->row_ptr), n * i_bytes);
  csr.pattern.col     = test_move(exec->space, test_indices(index, nnz, m->col), nnz * i_bytes);
  csr.values          = test_move(exec->space, test_scalars(scalar, nnz, m->value), nnz * spmv_scalar_bytes(scalar));
  return csr;
}

static void drop(const void *array, SpmvExec *exec) { test_take(exec->space, (void *)(uintptr_t)array, NULL, 0); }

static void csr_drop(const SpmvCsr *csr, SpmvExec *exec)
{
  drop(csr->pattern.row_ptr, exec);
  drop(csr->pattern.col, exec);
  drop(csr->values, exec);
}

static Result graph_of(const SpmvCsr *csr, const SpmvGraphOptions *o, SpmvExec *exec)
{
  SpmvGraph *g;
  SpmvCsr    got;
  Result     r = {.status = spmv_graph_create(csr, o, exec, &g)};

  memcpy(r.message, exec->message, sizeof r.message);
  if (r.status) {
    UNIT_CHECK(!g && r.message[0]);
    return r;
  }
  spmv_graph_csr(g, &got);
  const SpmvPattern *p = &got.pattern;
  UNIT_CHECK(p->space == exec->space && got.values_space == exec->space && p->index_type == csr->pattern.index_type &&
             got.scalar_type == csr->scalar_type);
  r.rows    = p->rows;
  r.cols    = p->cols;
  r.nnz     = p->nnz;
  r.row_ptr = test_fetch_indices(p->space, p->index_type, p->rows + 1, p->row_ptr);
  r.col     = test_fetch_indices(p->space, p->index_type, p->nnz, p->col);
  r.weight  = test_fetch_scalars(p->space, got.scalar_type, p->nnz, got.values);
  spmv_graph_destroy(&g);
  UNIT_CHECK(!g);
  return r;
}

static Result result_of(const Matrix *m, const SpmvGraphOptions *o, SpmvIndex index, SpmvScalar scalar, SpmvExec *exec)
{
  const SpmvCsr csr = csr_of(m, index, scalar, exec);
  const Result  r   = graph_of(&csr, o, exec);

  csr_drop(&csr, exec);
  return r;
}

static void result_free(Result *r)
{
  free(r->row_ptr);
  free(r->col);
  free(r->weight);
}

/* ---- comparisons ---- */

/* All combinations of the steps; the list of rows is used with full blocks only */
enum { VARIANTS = 2 * 2 * 4 * 2 };

static SpmvGraphOptions variant(int n, const Shape *s)
{
  SpmvGraphOptions o = {.block_size = s->block, .add_transpose = n & 1, .scale = n >> 1 & 1};

  o.magnitudes = o.scale;
  switch (n >> 2 & 3) {
  case 1:
    o.filter = SPMV_GRAPH_KEEP_DIAGONAL;
    break;
  case 2:
    o.filter    = SPMV_GRAPH_KEEP_DIAGONAL;
    o.threshold = o.scale ? 0.2917 : 3;
    break;
  case 3:
    o.filter    = SPMV_GRAPH_KEEP_ABOVE;
    o.threshold = o.scale ? 0.2917 : 3;
    break;
  }
  if (n >> 4 && s->dense && s->block > 1) {
    o.index_count = 2;
    o.index[0]    = 0;
    o.index[1]    = s->block - 1;
  }
  return o;
}

static void compare_with_dense(const Matrix *m, const SpmvGraphOptions *o, SpmvScalar scalar, const char *name)
{
  Edge    *e = calloc(SIDE * SIDE, sizeof *e);
  SpmvExec exec;
  int64_t  k = 0, wrong = 0;

  spmv_exec_init(&exec, SPMV_HOST);
  collapse_dense(m, o, e);
  finish_dense(o, e);
  Result r = result_of(m, o, SPMV_I32, scalar, &exec);
  if (!unit_check(!r.status && r.rows == SIDE && r.cols == SIDE, name, __LINE__, "the graph could not be made")) return;
  for (int64_t i = 0; i < SIDE; i++) {
    wrong += r.row_ptr[i] != k;
    for (int64_t j = 0; j < SIDE; j++) {
      if (!e[i * SIDE + j].there) continue;
      const double expected = e[i * SIDE + j].weight, bound = scalar == SPMV_F32 ? 1e-6 : 1e-15;
      wrong += k >= r.nnz || r.col[k] != j || !(fabs(r.weight[k] - expected) <= bound * fabs(expected));
      k++;
    }
  }
  unit_check(!wrong && k == r.nnz, name, __LINE__, "the graph differs from that of dense loops");
  result_free(&r);
  free(e);
}

UNIT_TEST(graphs_on_the_host_are_those_of_dense_loops)
{
  for (int s = 0; s < SHAPES; s++) {
    Matrix *m = matrix_of(&shapes[s], 7u + (uint32_t)s);
    for (int n = 0; n < VARIANTS; n++) {
      const SpmvGraphOptions o = variant(n, &shapes[s]);
      compare_with_dense(m, &o, n % 3 ? SPMV_F64 : SPMV_F32, shapes[s].name);
    }
    free(m);
  }
}

static void compare_results(const Result *a, const Result *b, const char *name)
{
  const int same = !a->status && !b->status && a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz;

  if (!unit_check(same, name, __LINE__, "the sizes on the device differ")) return;
  unit_check(!memcmp(a->row_ptr, b->row_ptr, (size_t)(a->rows + 1) * 8) && !memcmp(a->col, b->col, (size_t)a->nnz * 8),
             name, __LINE__, "the edges on the device differ");
  unit_check(!memcmp(a->weight, b->weight, (size_t)a->nnz * 8), name, __LINE__, "the weights on the device differ");
}

UNIT_TEST(graphs_on_the_device_are_those_on_the_host)
{
  SpmvExec host, device;

  if (spmv_device_count(NULL) == 0) return;
  spmv_exec_init(&host, SPMV_HOST);
  spmv_exec_init(&device, SPMV_DEVICE);
  for (int s = 0; s < SHAPES; s++) {
    Matrix *m = matrix_of(&shapes[s], 70u + (uint32_t)s);
    for (int n = 0; n < VARIANTS; n++) {
      const SpmvGraphOptions o      = variant(n, &shapes[s]);
      const SpmvIndex        index  = n % 2 ? SPMV_I32 : SPMV_I64;
      const SpmvScalar       scalar = n % 5 ? SPMV_F64 : SPMV_F32;
      Result                 a = result_of(m, &o, index, scalar, &host), b = result_of(m, &o, index, scalar, &device);
      compare_results(&a, &b, shapes[s].name);
      result_free(&a);
      result_free(&b);
    }
    free(m);
  }
}

/* ---- blocks that only seem to be full ---- */

static void check_blocks(const int64_t lengths[4], const int64_t columns[4][4], int full, int seems_full)
{
  for (int space = SPMV_HOST; space <= (spmv_device_count(NULL) ? SPMV_DEVICE : SPMV_HOST); space++) {
    Matrix  *m = calloc(1, sizeof *m);
    SpmvExec exec;
    int      is_full, seems;

    spmv_exec_init(&exec, (SpmvSpace)space);
    m->rows = m->cols = 4;
    for (int i = 0, k = 0; i < 4; i++) {
      for (int j = 0; j < lengths[i]; j++) m->col[k++] = columns[i][j];
      m->row_ptr[i + 1] = k;
    }
    const SpmvCsr csr = csr_of(m, SPMV_I32, SPMV_F64, &exec);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_graph_full_blocks(&csr.pattern, 2, &exec, &is_full, &seems));
    UNIT_EQUAL(full, is_full);
    UNIT_EQUAL(seems_full, seems);
    csr_drop(&csr, &exec);
    free(m);
  }
}

UNIT_TEST(blocks_are_full_or_seem_so)
{
  check_blocks((int64_t[]){2, 2, 0, 0}, (const int64_t[4][4]){{0, 1}, {0, 1}}, 1, 1);
  check_blocks((int64_t[]){2, 2, 4, 4}, (const int64_t[4][4]){{2, 3}, {2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}}, 1, 1);
  check_blocks((int64_t[]){2, 2, 0, 0}, (const int64_t[4][4]){{0, 3}, {0, 3}}, 1, 1); /* PETSc accepts it, too */
  check_blocks((int64_t[]){2, 2, 0, 0}, (const int64_t[4][4]){{0, 1}, {0, 2}}, 0, 1);
  check_blocks((int64_t[]){2, 2, 0, 0}, (const int64_t[4][4]){{1, 2}, {1, 2}}, 0, 1);
  check_blocks((int64_t[]){0, 2, 0, 0}, (const int64_t[4][4]){{0}, {0, 1}}, 0, 1);
  check_blocks((int64_t[]){2, 0, 0, 0}, (const int64_t[4][4]){{0, 1}}, 0, 0);
  check_blocks((int64_t[]){2, 2, 1, 1}, (const int64_t[4][4]){{0, 1}, {0, 1}, {2}, {2}}, 0, 0);
  check_blocks((int64_t[]){2, 2, 2, 2}, (const int64_t[4][4]){{0, 1}, {0, 1}, {0, 1}, {2, 3}}, 0, 0);
}

/* ---- columns that other processes own ---- */

UNIT_TEST(groups_give_the_columns_of_edges)
{
  for (int space = SPMV_HOST; space <= (spmv_device_count(NULL) ? SPMV_DEVICE : SPMV_HOST); space++) {
    Matrix       *m         = calloc(1, sizeof *m);
    const int64_t columns[] = {0, 1, 2, 3, 0, 2}, groups[] = {4, 4, 7, 9};
    SpmvExec      exec;

    spmv_exec_init(&exec, (SpmvSpace)space);
    m->rows       = 2;
    m->cols       = 4;
    m->row_ptr[1] = 4;
    m->row_ptr[2] = 6;
    memcpy(m->col, columns, sizeof columns);
    for (int k = 0; k < 6; k++) m->value[k] = k % 2 ? -k : k;
    const SpmvCsr    csr = csr_of(m, SPMV_I64, SPMV_F64, &exec);
    SpmvGraphOptions o   = {.block_size = 2, .group = test_put(exec.space, groups, sizeof groups), .group_count = 12};
    Result           r   = graph_of(&csr, &o, &exec);
    UNIT_EQUAL(SPMV_SUCCESS, r.status);
    UNIT_EQUAL(1, r.rows);
    UNIT_EQUAL(12, r.cols);
    UNIT_EQUAL(3, r.nnz);
    UNIT_ARRAY(int64_t, r.col, 4, 7, 9);
    UNIT_ARRAY(double, r.weight, 0 + 1 + 4, 2 + 5, 3);
    result_free(&r);
    o.scale = 1;
    r       = graph_of(&csr, &o, &exec);
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, r.status);
    drop(o.group, &exec);
    csr_drop(&csr, &exec);
    free(m);
  }
}

/* ---- NaN, empty graphs, invalid arguments, out of memory ---- */

UNIT_TEST(what_is_no_number_stays_as_petsc_has_it)
{
  for (int space = SPMV_HOST; space <= (spmv_device_count(NULL) ? SPMV_DEVICE : SPMV_HOST); space++) {
    Matrix          *m = calloc(1, sizeof *m);
    SpmvGraphOptions o = {.block_size = 1, .filter = SPMV_GRAPH_KEEP_DIAGONAL, .threshold = 1};
    SpmvExec         exec;

    spmv_exec_init(&exec, (SpmvSpace)space);
    m->rows = m->cols = m->row_ptr[1] = m->row_ptr[2] = 2;
    m->col[1]                                         = 1;
    m->value[0]                                       = 0.5;
    m->value[1]                                       = NAN;
    Result r                                          = result_of(m, &o, SPMV_I32, SPMV_F64, &exec);
    UNIT_EQUAL(2, r.nnz);
    UNIT_CHECK(r.nnz == 2 && r.weight[0] == 0 && isnan(r.weight[1]));
    result_free(&r);
    o.filter = SPMV_GRAPH_KEEP_ABOVE;
    r        = result_of(m, &o, SPMV_I32, SPMV_F64, &exec);
    UNIT_EQUAL(0, r.nnz);
    result_free(&r);
    free(m);
  }
}

UNIT_TEST(empty_matrices_have_empty_graphs)
{
  for (int space = SPMV_HOST; space <= (spmv_device_count(NULL) ? SPMV_DEVICE : SPMV_HOST); space++)
    for (int n = 0; n < VARIANTS; n++) {
      Matrix          *m = calloc(1, sizeof *m);
      SpmvGraphOptions o = variant(n, &shapes[2]);
      SpmvExec         exec;

      spmv_exec_init(&exec, (SpmvSpace)space);
      m->rows = m->cols = n % 2 ? 0 : 6;
      Result r          = result_of(m, &o, SPMV_I32, SPMV_F64, &exec);
      UNIT_EQUAL(SPMV_SUCCESS, r.status);
      UNIT_EQUAL(m->rows / 3, r.rows);
      UNIT_EQUAL(0, r.nnz);
      result_free(&r);
      free(m);
    }
}

static void check_refused(SpmvStatus expected, const char *part, Matrix *m, SpmvGraphOptions o)
{
  SpmvExec exec;

  spmv_exec_init(&exec, SPMV_HOST);
  Result r = result_of(m, &o, SPMV_I32, SPMV_F64, &exec);
  UNIT_EQUAL(expected, r.status);
  UNIT_CONTAINS(part, r.message);
}

UNIT_TEST(bad_arguments_are_refused)
{
  Matrix *m = matrix_of(&shapes[1], 1);

  check_refused(SPMV_ERR_ARGUMENT, "the block size is 5, and its matrix has 48 rows", m,
                (SpmvGraphOptions){.block_size = 5});
  check_refused(SPMV_ERR_ARGUMENT, "the block size is 0", m, (SpmvGraphOptions){.block_size = 0});
  check_refused(SPMV_ERR_ARGUMENT, "row 2 of a block is listed, but blocks have 2 rows", m,
                (SpmvGraphOptions){.block_size = 2, .index_count = 1, .index = {2}});
  check_refused(SPMV_ERR_UNSUPPORTED, "65 rows of a block are listed", m,
                (SpmvGraphOptions){.block_size = 2, .index_count = SPMV_GRAPH_INDEX_MAX + 1});
  m->cols++;
  check_refused(SPMV_ERR_ARGUMENT, "its matrix is 48 x 49", m, (SpmvGraphOptions){.block_size = 2});
  free(m);
}

/* Lets allocation number 1, 2, ... fail until no allocation is left to fail */
static void fail_each_allocation(SpmvSpace space, SpmvSpace fault, int shape)
{
  const SpmvGraphOptions o       = variant(3 + 8, &shapes[shape]);
  Matrix                *m       = matrix_of(&shapes[shape], 3);
  int64_t                fail_at = 0, calls;

  do {
    Hooks      hooks;
    SpmvExec   plain, exec;
    SpmvGraph *g;

    hooks_init(&hooks);
    spmv_exec_init(&plain, space);
    hooks_exec(&hooks, space, NULL, &exec);
    const SpmvCsr csr                     = csr_of(m, SPMV_I32, SPMV_F64, &plain);
    hooks_counter(&hooks, fault)->fail_at = ++fail_at;
    const SpmvStatus status               = spmv_graph_create(&csr, &o, &exec, &g);
    calls                                 = hooks_counter(&hooks, fault)->calls;
    UNIT_EQUAL(calls >= fail_at ? SPMV_ERR_MEMORY : SPMV_SUCCESS, status);
    UNIT_CHECK(!status == !!g);
    spmv_graph_destroy(&g);
    UNIT_CHECK(hooks_clean(&hooks));
    csr_drop(&csr, &plain);
  } while (calls >= fail_at && fail_at < 60);
  UNIT_CHECK(fail_at > 1);
  free(m);
}

UNIT_TEST(lack_of_memory_leaves_nothing_behind)
{
  fail_each_allocation(SPMV_HOST, SPMV_HOST, 2);
  if (spmv_device_count(NULL) == 0) return;
  fail_each_allocation(SPMV_DEVICE, SPMV_HOST, 2);
  fail_each_allocation(SPMV_DEVICE, SPMV_DEVICE, 2);
  fail_each_allocation(SPMV_DEVICE, SPMV_DEVICE, 5);
}
