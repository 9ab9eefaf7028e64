/* Tests of the analysis: nodes, levels, the order of rows, and all index arrays on the host and on the device, against
   their definitions, written down for a dense matrix; and patterns that the device must refuse. */
#include "factor.h"
#include "factor_test.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

static int last_space(void) { return spmv_device_count(NULL) ? SPMV_DEVICE : SPMV_HOST; }

/* ---- definitions ---- */

typedef struct {
  FactorMatrix m;
  int          is_icc, most; /* rows of a node */
  int32_t     *entry;        /* [n][n]: the entry of the factor or, for what is only in A, -2; -1: none */
  int32_t     *node;         /* [n]: the first row of the node */
  int32_t     *block;        /* [n] */
} Case;

static int is_entry(const Case *c, int32_t i, int32_t j) { return c->entry[i * c->m.n + j] != -1; }

/* At most so many consecutive rows with equal columns, from the first row on */
static void find_nodes(Case *c)
{
  const int32_t n = c->m.n;

  for (int32_t i = 0; i < n; i++) {
    int joins = i > 0 && c->block[i] == c->block[i - 1] && i - c->node[i - 1] < c->most;
    for (int32_t j = 0; joins && j < n; j++) joins = is_entry(c, i, j) == is_entry(c, i - 1, j);
    c->node[i] = joins ? c->node[i - 1] : i;
  }
}

/* The lengths of PETSc's blocks, from PCSetUp() of PCBJACOBI */
static void find_blocks(Case *c, int32_t blocks, int32_t unit)
{
  const int32_t units = c->m.n / unit;
  int32_t       row   = 0;

  for (int32_t i = 0; i < blocks; i++)
    for (int32_t k = unit * (units / blocks + (units % blocks > i)); k > 0; k--) c->block[row++] = i;
  UNIT_EQUAL(c->m.n, row);
}

/* Options without blocks have zeros */
static Case case_of(FactorMatrix m, const SpmvFactorOptions *o)
{
  Case    c     = {.m = m, .is_icc = o->kind == SPMV_FACTOR_ICC, .most = o->node_rows > 1 ? o->node_rows : 6};
  int32_t count = 0;

  c.entry = malloc((size_t)m.n * (size_t)m.n * sizeof *c.entry + 1);
  c.node  = malloc((size_t)m.n * sizeof *c.node + 1);
  c.block = malloc((size_t)m.n * sizeof *c.block + 1);
  find_blocks(&c, o->blocks ? o->blocks : 1, o->unit_rows ? o->unit_rows : 1);
  for (int32_t k = 0; k < m.n * m.n; k++) c.entry[k] = -1;
  for (int32_t i = 0; i < m.n; i++)
    for (int32_t k = m.row_ptr[i]; k < m.row_ptr[i + 1]; k++)
      c.entry[i * m.n + m.col[k]] = c.block[i] != c.block[m.col[k]] || (c.is_icc && m.col[k] < i) ? -2 : count++;
  find_nodes(&c);
  return c;
}

static void case_free(Case *c)
{
  free(c->entry);
  free(c->node);
  free(c->block);
  factor_matrix_free(&c->m);
}

/* The entry of the factor by which row i of a triangle needs row j, or a negative number */
static int32_t needed(const Case *c, int which, int32_t i, int32_t j)
{
  const int is_upper = which == SPMV_UPPER || which == SPMV_LOWER_T;
  const int turned   = which == SPMV_UPPER_T || which == SPMV_LOWER_T;

  if (is_upper ? j <= i : j >= i) return -1;
  return c->entry[turned ? j * c->m.n + i : i * c->m.n + j];
}

/* Row n in the order of a triangle */
static int32_t natural(const Case *c, int which, int32_t n)
{
  return which == SPMV_UPPER || which == SPMV_LOWER_T ? c->m.n - 1 - n : n;
}

/* A node has the level above those of all rows outside of it that one of its rows needs */
static void find_levels(const Case *c, int which, int32_t *level)
{
  for (int32_t n = 0; n < c->m.n; n++) {
    const int32_t first = c->node[natural(c, which, n)];
    int32_t       above = 0;

    for (int32_t i = first; i < c->m.n && c->node[i] == first; i++)
      for (int32_t j = 0; j < c->m.n; j++)
        if (c->node[j] != first && needed(c, which, i, j) >= 0 && level[j] >= above) above = level[j] + 1;
    level[natural(c, which, n)] = above;
  }
}

/* Level by level, within a level in natural order; returns the number of levels */
static int32_t find_order(const Case *c, int which, const int32_t *level, int32_t *row, int32_t *widest)
{
  int32_t placed = 0, l = 0;

  for (*widest = 0; placed < c->m.n; l++) {
    const int32_t before = placed;
    for (int32_t n = 0; n < c->m.n; n++)
      if (level[natural(c, which, n)] == l) row[placed++] = natural(c, which, n);
    if (placed - before > *widest) *widest = placed - before;
  }
  return l;
}

/* ---- comparisons ---- */

static int32_t *brought(const FactorLife *l, const int32_t *from, int64_t count)
{
  int32_t *to   = malloc((size_t)count * sizeof *to + 1);
  SpmvExec exec = l->exec;

  if (count > 0) UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(to, SPMV_HOST, from, l->f->object.space, count * 4, &exec));
  if (l->f->object.space == SPMV_DEVICE) UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&exec));
  return to;
}

/* Compares the arrays of a triangle with those of its rows in this order */
static void compare_triangle(const Case *c, int which, const FactorLife *l, const int32_t *row)
{
  const SpmvTriangle *t     = &l->f->triangle[which];
  const int32_t       n     = c->m.n;
  int32_t            *place = malloc((size_t)n * sizeof *place + 1), *rows = brought(l, t->row, n);
  int32_t            *row_ptr = brought(l, t->row_ptr, n + 1), *col = brought(l, t->col, n ? row_ptr[n] : 0);
  int32_t            *from = brought(l, t->from, n ? row_ptr[n] : 0), at = 0, equal = 1;

  UNIT_CHECK(!memcmp(row, rows, (size_t)n * sizeof *row));
  for (int32_t q = 0; q < n; q++) place[row[q]] = q;
  for (int32_t q = 0; q < n; q++) {
    equal = equal && row_ptr[q] == at;
    for (int32_t k = 0; equal && k < n; k++) {
      const int32_t j = natural(c, which, k), entry = needed(c, which, row[q], j);
      if (entry < 0) continue;
      equal = at < row_ptr[n] && col[at] == place[j] && from[at] == entry;
      at++;
    }
  }
  UNIT_CHECK(equal && (n == 0 || row_ptr[n] == at));
  free(place);
  free(rows);
  free(row_ptr);
  free(col);
  free(from);
}

/* The factor by rows: ILU and SOR have the pattern, ICC its upper triangle, blocks what is in them, and where it is in A */
static void compare_factor(const Case *c, const FactorLife *l)
{
  const SpmvFactorRows *f       = &l->f->factor;
  const int32_t         n       = c->m.n;
  const int64_t         entries = l->f->info.factor_nonzeros;
  int32_t              *row_ptr = brought(l, f->row_ptr, n + 1), *col = brought(l, f->col, entries),
          *a_first = brought(l, f->a_first, n), *a_end = brought(l, f->a_end, n);
  int32_t *diagonal = brought(l, f->diagonal, n), *source = brought(l, f->source, f->source ? entries : 0), count = 0;

  for (int32_t i = 0; i < n; i++) {
    int     equal = row_ptr[i] == count && diagonal[i] == c->entry[i * n + i];
    int32_t first = -1, end = -1; /* in A, of the block */
    for (int32_t k = c->m.row_ptr[i]; k < c->m.row_ptr[i + 1]; k++) {
      if (c->block[c->m.col[k]] == c->block[i]) {
        if (first < 0) first = k;
        end = k + 1;
      }
      if (c->entry[i * n + c->m.col[k]] < 0) continue;
      equal = equal && col[count] == c->m.col[k] && (f->source ? source[count] : count) == k;
      count++;
    }
    equal = equal && a_first[i] == first && a_end[i] == end;
    UNIT_CHECK(equal);
  }
  UNIT_CHECK(count == entries && (n == 0 || row_ptr[n] == count));
  free(row_ptr);
  free(col);
  free(a_first);
  free(a_end);
  free(diagonal);
  free(source);
}

static void compare_levels(const Case *c, int which, const FactorLife *l)
{
  const int is_upper = which == SPMV_UPPER;
  int32_t  *level = malloc((size_t)c->m.n * sizeof *level + 1), *row = malloc((size_t)c->m.n * sizeof *row + 1), widest;

  find_levels(c, which, level);
  const int32_t levels = find_order(c, which, level, row, &widest);
  if (is_upper || which == (c->is_icc ? SPMV_UPPER_T : SPMV_LOWER)) {
    UNIT_EQUAL(levels, l->f->info.levels[is_upper]);
    UNIT_EQUAL(widest, l->f->info.widest[is_upper]);
  }
  for (int32_t n = 0; l->f->object.space == SPMV_HOST && n < c->m.n; n++) row[n] = natural(c, which, n);
  compare_triangle(c, which, l, row);
  free(level);
  free(row);
}

/* Takes the matrix */
static void check_options(FactorMatrix m, SpmvScalar scalar, const SpmvFactorOptions *o)
{
  Case c = case_of(m, o);

  for (int space = SPMV_HOST; space <= last_space(); space++) {
    FactorLife l;
    int        triangles = 0;

    factor_open(&l, (SpmvSpace)space, NULL, &m, scalar);
    UNIT_EQUAL(SPMV_SUCCESS, factor_make(&l, &m, o));
    compare_factor(&c, &l);
    if (o->kind == SPMV_FACTOR_SOR && o->node_rows > 1) {
      int32_t *node = brought(&l, l.f->factor.nodes.first, m.n);
      UNIT_CHECK(!memcmp(c.node, node, (size_t)m.n * sizeof *node));
      free(node);
    }
    for (int which = 0; which < SPMV_TRIANGLES; which++) {
      if (!l.f->triangle[which].row_ptr) continue;
      compare_levels(&c, which, &l);
      triangles++;
    }
    UNIT_EQUAL(o->transposes && o->kind == SPMV_FACTOR_ILU ? 4 : 2, triangles);
    factor_close(&l);
  }
  case_free(&c);
}

static void check_analysis(FactorMatrix m, SpmvFactorKind kind, SpmvScalar scalar, int transposes, int node_rows)
{
  SpmvFactorOptions o;

  spmv_factor_options_init(&o);
  o.kind       = kind;
  o.transposes = transposes;
  o.node_rows  = node_rows;
  check_options(m, scalar, &o);
}

UNIT_TEST(orders_are_those_of_the_definition)
{
  for (int number = 0; number < FACTOR_SHAPES + 16; number++)
    for (int kind = SPMV_FACTOR_ILU; kind <= SPMV_FACTOR_SOR; kind++)
      check_analysis(factor_matrix(number, 0), (SpmvFactorKind)kind, (SpmvScalar)(number % 2), number / 2 % 2, 0);
}

/* Each row of a random matrix becomes one to nine rows with equal columns, so that some runs of equal rows have more than one
   node. Off the diagonal they have two of three columns of a node: in a transpose, rows of a node differ. */
static FactorMatrix matrix_with_nodes(int number)
{
  FactorMatrix base = factor_matrix(FACTOR_SHAPES + number, 0);
  int32_t      first[26], n = 0;
  const int    bases = base.n < 25 ? base.n : 25;

  for (int i = 0; i < bases; i++) {
    first[i] = n;
    n += 1 + (i * 7 + number) % 9;
  }
  first[bases]  = n;
  double *dense = calloc((size_t)n * (size_t)n, sizeof *dense);
  for (int b = 0; b < bases; b++)
    for (int32_t k = base.row_ptr[b]; k < base.row_ptr[b + 1]; k++)
      for (int32_t i = first[b]; i < first[b + 1]; i++)
        for (int32_t j = base.col[k] < bases ? first[base.col[k]] : n; j < n && j < first[base.col[k] + 1]; j++)
          dense[i * n + j] = i == j ? n : base.col[k] == b || (b * 5 + j * 7) % 3 > 0;
  const FactorMatrix m = factor_of_dense(n, dense);
  free(dense);
  factor_matrix_free(&base);
  return m;
}

UNIT_TEST(orders_of_nodes_are_those_of_the_definition)
{
  for (int number = 0; number < 12; number++)
    for (int kind = SPMV_FACTOR_ILU; kind <= SPMV_FACTOR_SOR; kind++)
      check_analysis(matrix_with_nodes(number), (SpmvFactorKind)kind, SPMV_F64, 1, 0);
  for (int node_rows = 1; node_rows <= SPMV_NODE_ROWS; node_rows++)
    check_analysis(matrix_with_nodes(node_rows), SPMV_FACTOR_SOR, SPMV_F64, 0, node_rows);
}

/* Also more blocks than rows, some of which then are empty, and nodes that end where a block does */
UNIT_TEST(orders_of_blocks_are_those_of_the_definition)
{
  static const int counts[] = {2, 3, 7, 40, 1000};

  for (int number = 0; number < FACTOR_SHAPES + 8; number++)
    for (int i = 0; i < 5; i++) {
      FactorMatrix      m = number < FACTOR_SHAPES + 4 ? factor_matrix(number, 0) : matrix_with_nodes(number);
      SpmvFactorOptions o;

      spmv_factor_options_init(&o);
      o.kind       = (number + i) % 2 ? SPMV_FACTOR_ICC : SPMV_FACTOR_ILU;
      o.transposes = i % 3 == 0;
      o.blocks     = counts[i];
      for (o.unit_rows = 4; m.n % o.unit_rows; o.unit_rows--) continue;
      check_options(m, SPMV_F64, &o);
    }
}

/* ---- patterns that are refused ---- */

/* The same status and message in both spaces, and the object is not made */
static void check_refused(SpmvStatus expected, const char *part, const SpmvPattern *p)
{
  for (int kind = SPMV_FACTOR_ILU; kind <= SPMV_FACTOR_SOR; kind++)
    for (int space = SPMV_HOST; space <= last_space(); space++) {
      SpmvFactorization *f;
      SpmvFactorOptions  o;
      SpmvExec           exec;

      spmv_factor_options_init(&o);
      o.kind = (SpmvFactorKind)kind;
      spmv_exec_init(&exec, (SpmvSpace)space);
      UNIT_EQUAL(expected, spmv_factor_create(p, SPMV_F64, &o, &exec, &f));
      UNIT_CONTAINS(part, exec.message);
      UNIT_CHECK(!f);
    }
}

UNIT_TEST(patterns_that_are_wrong_are_refused_in_both_spaces)
{
  int32_t     row_ptr[] = {0, 2, 4, 5}, col[] = {0, 1, 1, 2, 2, 2};
  SpmvPattern p = {3, 3, 5, SPMV_I32, SPMV_HOST, row_ptr, col};

  col[2] = 0; /* row 1 has the columns 0 and 2, */
  check_refused(SPMV_ERR_MATRIX, "row 1 has no diagonal entry", &p);
  col[4] = 1; /* and row 2 the column 1: the first is named */
  check_refused(SPMV_ERR_MATRIX, "row 1 has no diagonal entry", &p);
  col[2] = 1, col[4] = 2;
  col[1] = 0;
  check_refused(SPMV_ERR_MATRIX, "column 0 follows 0", &p);
  col[1] = 3;
  check_refused(SPMV_ERR_MATRIX, "row 0", &p);
  col[0] = -1, col[1] = 0;
  check_refused(SPMV_ERR_MATRIX, "row 0", &p);
  col[0] = 0, col[1] = 1;
  row_ptr[1] = 5, row_ptr[2] = 4; /* descends */
  check_refused(SPMV_ERR_MATRIX, "row", &p);
  row_ptr[1] = INT32_MAX, row_ptr[2] = INT32_MIN;
  check_refused(SPMV_ERR_MATRIX, "row", &p);
  row_ptr[1] = 2, row_ptr[2] = 4, row_ptr[0] = 1, col[1] = 0;
  check_refused(SPMV_ERR_MATRIX, "row_ptr", &p);
  row_ptr[0] = 0, row_ptr[3] = 4, col[1] = 1;
  check_refused(SPMV_ERR_MATRIX, "row_ptr", &p);
  row_ptr[3] = 5;
  p.nnz      = 2;
  check_refused(SPMV_ERR_MATRIX, "row_ptr", &p);
  p.nnz = 6;
  check_refused(SPMV_ERR_MATRIX, "row_ptr", &p);
  p.nnz = 5, p.cols = 4;
  check_refused(SPMV_ERR_ARGUMENT, "3 x 4", &p);
  p.cols = 3, p.col = NULL;
  check_refused(SPMV_ERR_MATRIX, "NULL", &p);
  p.row_ptr = NULL;
  check_refused(SPMV_ERR_MATRIX, "NULL", &p);
  p.rows = p.cols = -1;
  check_refused(SPMV_ERR_MATRIX, "negative", &p);
}
