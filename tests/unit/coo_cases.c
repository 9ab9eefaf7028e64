/* Lists of coordinates for tests, and the CSR that they must give. */
#include "coo/coo_test.h"
#include "aggregate/aggregate_test.h"
#include "core/format.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

/* The row and the column of an entry */
typedef struct {
  int64_t i, j;
} Pair;

static int64_t drawn(int64_t k, uint64_t seed, int64_t below)
{
  return (int64_t)(spmv_mix((uint64_t)k * 977 + seed) % (uint64_t)below);
}

static Pair negative(const CooCase *c, int64_t k)
{
  (void)c;
  return (Pair){k % 3 ? -1 - k : 2, k % 3 == 1 ? 1 : -7};
}

static Pair equal(const CooCase *c, int64_t k)
{
  (void)k;
  return (Pair){c->all_rows / 2, c->all_cols / 2};
}

/* Each nonzero three times */
static Pair sorted(const CooCase *c, int64_t k) { return (Pair){k / 3 / c->all_cols, k / 3 % c->all_cols}; }

static Pair reversed(const CooCase *c, int64_t k)
{
  const Pair p = sorted(c, k);
  return (Pair){c->all_rows - 1 - p.i, c->all_cols - 1 - p.j};
}

/* One entry in 16 has a negative row */
static Pair scattered(const CooCase *c, int64_t k)
{
  const Pair p = {drawn(k, 1, c->all_rows), drawn(k, 2, c->all_cols)};
  return drawn(k, 3, 16) ? p : (Pair){-p.i - 1, p.j};
}

/* Only every tenth row of the first half has entries */
static Pair with_gaps(const CooCase *c, int64_t k)
{
  return (Pair){drawn(k, 4, c->all_rows / 20) * 10, drawn(k, 5, c->all_cols)};
}

static Pair in_one_row(const CooCase *c, int64_t k) { return (Pair){c->all_rows - 2, drawn(k, 6, c->all_cols)}; }

/* Half of the entries belong to one nonzero in the middle of the matrix */
static Pair heavy(const CooCase *c, int64_t k)
{
  const Pair p = scattered(c, k);
  return k % 2 ? (Pair){c->all_rows / 2, c->all_cols / 2} : p;
}

/* In rows of this process and 100 columns, which are few so that entries repeat, and in pairs far apart */
static Pair far_apart(const CooCase *c, int64_t k)
{
  return (Pair){drawn(k, 7, c->rows) + c->first_row, c->all_cols / 50 * drawn(k, 8, 50) + drawn(k, 9, 2)};
}

/* Half of the entries are in the few rows of this process, half in rows spread over the whole matrix */
static Pair far_down(const CooCase *c, int64_t k)
{
  return k % 2 ? far_apart(c, k) : (Pair){c->all_rows / 40 * drawn(k, 10, 40), drawn(k, 11, c->all_cols)};
}

/* Element matrices, row by row: 4 nodes per element, 3 unknowns per node */
static Pair of_elements(const CooCase *c, int64_t k)
{
  const int64_t element = k / 144, row = k % 144 / 12, col = k % 12, points = c->all_rows / 3;
  return (Pair){3 * drawn(element * 4 + row / 3, 12, points) + row % 3,
                3 * drawn(element * 4 + col / 3, 12, points) + col % 3};
}

#define FAR ((int64_t)1 << 40)
static const struct {
  const char *name;
  int64_t     all_rows, all_cols, count[2];
  Pair (*pair)(const CooCase *, int64_t);
} cases[] = {{"empty", 5, 7, {0, 0}, scattered},
             {"no rows", 0, 0, {0, 0}, scattered},
             {"one entry", 5, 7, {1, 0}, equal},
             {"one entry of another", 5, 7, {0, 1}, equal},
             {"one place", 1, 1, {3, 2}, equal},
             {"negative", 5, 7, {20, 9}, negative},
             {"equal", 5, 7, {5000, 700}, equal},
             {"sorted", 40, 41, {4000, 0}, sorted},
             {"reversed", 40, 41, {2000, 1800}, reversed},
             {"scattered", 300, 200, {9000, 4000}, scattered},
             {"dense", 17, 15, {5000, 0}, scattered},
             {"gaps", 900, 70000, {2000, 100}, with_gaps},
             {"one row", 100, 60, {6000, 10}, in_one_row},
             {"one column", 500, 1, {3000, 100}, scattered},
             {"heavy", 200, 260, {12000, 500}, heavy},
             {"wide", 30, FAR, {3000, 300}, far_apart},
             {"widest", 30, INT64_MAX, {3000, 0}, far_apart},
             {"tall", FAR, 90, {4000, 300}, far_down},
             {"elements", 240, 240, {144 * 60, 144 * 7}, of_elements}};

int coo_case_count(void) { return (int)(sizeof cases / sizeof *cases); }

CooCase coo_case(int number)
{
  CooCase       c = {cases[number].name,
                     cases[number].all_rows,
                     cases[number].all_cols,
                     {cases[number].count[0], cases[number].count[1]},
                     0,
                     0,
                     0,
                     0,
                     NULL,
                     NULL,
                     NULL};
  const int64_t n = c.count[0] + c.count[1];

  c.first_row = c.all_rows / 4;
  c.rows      = c.all_rows > INT_MAX ? 60 : c.all_rows / 2;
  if (c.name[0] == 'w') { /* "wide" and "widest": one process has all rows */
    c.first_row = 0;
    c.rows      = c.all_rows;
  }
  c.first_col = c.all_cols / 5;
  c.own_cols  = c.all_cols / 2;
  c.i         = calloc((size_t)n + 1, sizeof *c.i);
  c.j         = calloc((size_t)n + 1, sizeof *c.j);
  c.v         = calloc((size_t)n + 1, sizeof *c.v);
  for (int64_t k = 0; k < n; k++) {
    const Pair p = cases[number].pair(&c, k);
    c.i[k]       = p.i;
    c.j[k]       = p.j;
    c.v[k]       = 1.0 / (double)(1 + drawn(k, 13, 1000)) - (double)(k % 7); /* sums depend on the order */
  }
  return c;
}

CooCase coo_case_named(const char *name)
{
  for (int i = 0; i < coo_case_count(); i++)
    if (!strcmp(cases[i].name, name)) return coo_case(i);
  abort();
}

void coo_case_free(CooCase *c)
{
  free(c->i);
  free(c->j);
  free(c->v);
}

int coo_case_is_short(const CooCase *c) { return c->all_rows <= INT32_MAX && c->all_cols <= INT32_MAX; }
int coo_case_is_low(const CooCase *c) { return c->all_rows <= INT32_MAX; }

/* ---- copying a list to a space ---- */

static void *copied(const int64_t *from, int64_t n, SpmvIndex index, SpmvSpace space)
{
  void *here = test_indices(index, n, from), *there = test_put(space, here, n * spmv_index_bytes(index));

  free(here);
  return there;
}

CooPlaced coo_place(const CooCase *c, CooWindow window, SpmvIndex index, SpmvSpace space)
{
  const int whole = window == COO_WHOLE;
  CooPlaced p     = {.list = {.index_type = index,
                              .space      = space,
                              .all_rows   = c->all_rows,
                              .all_cols   = c->all_cols,
                              .first_row  = whole ? 0 : c->first_row,
                              .rows       = whole ? c->all_rows : c->rows,
                              .first_col  = whole ? 0 : c->first_col,
                              .own_cols   = whole ? c->all_cols : c->own_cols,
                              .outside    = window == COO_OUTSIDE}};

  for (int part = 0; part < 2; part++) {
    const int64_t from = part ? c->count[0] : 0, n = c->count[part];
    p.array[2 * part]     = copied(c->i + from, n, index, space);
    p.array[2 * part + 1] = copied(c->j + from, n, index, space);
    p.list.part[part]     = (SpmvCooPart){n, p.array[2 * part], p.array[2 * part + 1]};
  }
  return p;
}

void coo_unplace(CooPlaced *p)
{
  for (int a = 0; a < 4; a++) test_take(p->list.space, p->array[a], NULL, 0);
}

/* ---- the expected CSR ---- */

typedef struct {
  int64_t i, j, position;
} Entry;

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int in_order(const void *one, const void *other)
{
  const Entry *a = one, *b = other;

  if (a->i != b->i) return compare(a->i, b->i);
  return a->j != b->j ? compare(a->j, b->j) : compare(a->position, b->position);
}

static int has_place(const SpmvCooList *l, int64_t i, int64_t j)
{
  const int own = j >= l->first_col && j < l->first_col + l->own_cols;
  return i >= 0 && j >= 0 && i >= l->first_row && i < l->first_row + l->rows && own != l->outside;
}

static double plus(SpmvScalar scalar, double a, double b) { return scalar == SPMV_F32 ? (float)a + (float)b : a + b; }

CooCsr coo_expected(const CooCase *c, const SpmvCooList *l, SpmvScalar scalar, int add)
{
  const int64_t n = c->count[0] + c->count[1];
  Entry        *e = calloc((size_t)n + 1, sizeof *e);
  CooCsr        r = {.rows = l->rows, .cols = l->outside ? l->all_cols : l->own_cols};

  for (int64_t k = 0; k < n; k++)
    if (has_place(l, c->i[k], c->j[k])) e[r.entries++] = (Entry){c->i[k], c->j[k], k};
  qsort(e, (size_t)r.entries, sizeof *e, in_order);
  r.row_ptr  = calloc((size_t)r.rows + 1, sizeof *r.row_ptr);
  r.col      = calloc((size_t)n + 1, sizeof *r.col);
  r.values   = calloc((size_t)n + 1, sizeof *r.values);
  r.position = calloc((size_t)n + 1, sizeof *r.position);
  for (int64_t k = 0; k < r.entries; k++) {
    const int is_new = k == 0 || e[k].i != e[k - 1].i || e[k].j != e[k - 1].j;
    r.nnz += is_new;
    r.col[r.nnz - 1]    = e[k].j - (l->outside ? 0 : l->first_col);
    r.values[r.nnz - 1] = plus(scalar, is_new ? 0 : r.values[r.nnz - 1], c->v[e[k].position]);
    r.position[k]       = e[k].position;
    r.row_ptr[e[k].i - l->first_row + 1] += is_new;
  }
  for (int64_t row = 0; row < r.rows; row++) r.row_ptr[row + 1] += r.row_ptr[row];
  for (int64_t p = 0; p < r.nnz && add; p++) r.values[p] = plus(scalar, -5, r.values[p]);
  free(e);
  return r;
}

/* ---- the CSR from the library ---- */

static int64_t *fetched(const void *there, int64_t n, SpmvIndex index, SpmvExec *exec)
{
  const int64_t bytes = spmv_index_bytes(index);
  int64_t      *to    = calloc((size_t)n + 1, sizeof *to);
  char         *raw   = calloc((size_t)n + 1, 8);

  if (spmv_copy(raw, SPMV_HOST, there, exec->space, n * bytes, exec)) abort();
  if (exec->space == SPMV_DEVICE && spmv_stream_wait(exec)) abort();
  for (int64_t k = 0; k < n; k++) to[k] = index == SPMV_I64 ? ((int64_t *)raw)[k] : ((int32_t *)raw)[k];
  free(raw);
  return to;
}

CooCsr coo_got(const CooCase *c, const SpmvCoo *coo, SpmvScalar scalar, int add, SpmvExec *exec)
{
  const int64_t bytes = spmv_scalar_bytes(scalar), n = c->count[0] + c->count[1];
  SpmvPattern   p;
  CooCsr        r = {0};

  spmv_coo_pattern(coo, &p);
  int64_t held;
  spmv_coo_info(coo, &r.entries, &held);
  r.rows         = p.rows;
  r.cols         = p.cols;
  r.nnz          = p.nnz;
  r.row_ptr      = fetched(p.row_ptr, p.rows + 1, p.index_type, exec);
  r.col          = fetched(p.col, p.nnz, p.index_type, exec);
  double *before = calloc((size_t)p.nnz + 1, sizeof *before);
  for (int64_t k = 0; k < p.nnz; k++) before[k] = -5;
  void       *v = test_scalars(scalar, n, c->v), *old = test_scalars(scalar, p.nnz, before);
  void       *csr = test_put(exec->space, old, p.nnz * bytes), *there = test_put(exec->space, v, n * bytes);
  const void *parts[] = {there, (char *)there + c->count[0] * bytes};
  if (spmv_coo_values(coo, scalar, parts, add, csr, exec)) r.nnz = -1; /* differs from every expected nnz */
  test_take(exec->space, csr, old, p.nnz * bytes);
  test_take(exec->space, there, NULL, 0);
  r.values = test_doubles(scalar, p.nnz, old);
  free(before);
  free(v);
  free(old);
  return r;
}

void coo_csr_free(CooCsr *r)
{
  free(r->row_ptr);
  free(r->col);
  free(r->values);
  free(r->position);
}

int coo_csr_same(const CooCsr *a, const CooCsr *b)
{
  return a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz && a->entries == b->entries &&
         !memcmp(a->row_ptr, b->row_ptr, (size_t)(a->rows + 1) * 8) && !memcmp(a->col, b->col, (size_t)a->nnz * 8) &&
         !memcmp(a->values, b->values, (size_t)a->nnz * 8);
}
