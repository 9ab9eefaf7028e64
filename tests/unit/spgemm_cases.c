/* spgemm_cases.c - the table of products for spgemm_test.c; see spgemm_test.h. */
#include "aggregate/aggregate_test.h"
#include "gen.h"
#include "spgemm/spgemm_test.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Full blocks of nodes[0] rows and nodes[1] columns; each block row has one to three neighbouring blocks near the
   scaled diagonal. Row number `period`, if it exists, lacks its last entry. */
static int64_t aggregates_row(const GenSpec *s, int64_t i, int64_t *col)
{
  const int64_t node = i / s->nodes[0], nodes = s->rows / s->nodes[0], aggregates = s->cols / s->nodes[1];
  const int64_t own = node * aggregates / nodes, more = (int64_t)(gen_hash(s->seed, (uint64_t)node) % 3);
  int64_t       n = 0;

  for (int64_t g = own; g <= own + more && g < aggregates; g++)
    for (int64_t k = 0; k < s->nodes[1]; k++) col[n++] = g * s->nodes[1] + k;
  return i == s->period ? n - 1 : n;
}

static GenSpec aggregates(int64_t rows, int64_t cols, int block_rows, int block_cols, int64_t incomplete_row)
{
  GenSpec s = gen_empty(rows, cols);

  s.row      = aggregates_row;
  s.nodes[0] = block_rows;
  s.nodes[1] = block_cols;
  s.period   = incomplete_row;
  s.seed     = 7;
  return s;
}

/* Row i begins at column i and has `period` columns, of which some between the first and the last are missing */
static int64_t staircase_row(const GenSpec *s, int64_t i, int64_t *col)
{
  int64_t n = 0;

  for (int64_t j = i; j < i + s->period && j < s->cols; j++)
    if (j == i || j == i + s->period - 1 || gen_hash(s->seed, (uint64_t)(i * s->cols + j)) % 8) col[n++] = j;
  return n;
}

static GenSpec staircase(int64_t rows, int64_t cols, int64_t columns)
{
  GenSpec s = gen_empty(rows, cols);

  s.row    = staircase_row;
  s.period = columns;
  s.seed   = 11;
  return s;
}

/* The product of band() and climb(n) has rows of at most n columns, and some of n */
enum { BAND = 5, BAND_ROWS = 90 };
static GenSpec band(void) { return staircase(BAND_ROWS, BAND_ROWS, BAND); }
static GenSpec climb(int64_t n) { return staircase(BAND_ROWS, BAND_ROWS + n - BAND, n - BAND + 1); }

typedef struct {
  const char *name;
  ProductTier tier;
  int         kinds; /* a bit for each SpmvSpgemmKind */
  GenSpec     a, b;
} Shape;

enum {
  AB      = 1 << SPMV_SPGEMM_AB,
  ATB     = 1 << SPMV_SPGEMM_ATB,
  PTAP    = 1 << SPMV_SPGEMM_PTAP,
  RART    = 1 << SPMV_SPGEMM_RART,
  ALL     = AB | ATB | PTAP | RART,
  KINDS   = 4,
  THREE   = AB | ATB | PTAP,
  SHAPES  = 37,
  NO_ROW  = -1,
  SPOILED = 11 /* one in so many values becomes 0, infinite or NaN */
};

static void make_shapes(Shape *shape)
{
  const Shape made[SHAPES] = {
      {"empty 0 x 0", PRODUCT_SMALL, ALL, gen_empty(0, 0), gen_empty(0, 0)},
      {"no columns", PRODUCT_SMALL, AB | PTAP, gen_empty(5, 5), gen_empty(5, 0)},
      {"nothing between", PRODUCT_SMALL, AB, gen_empty(4, 0), gen_empty(0, 7)},
      {"no entries", PRODUCT_SMALL, ALL, gen_dense(6, 6), gen_empty(6, 6)},
      {"1 x 1", PRODUCT_SMALL, ALL, gen_dense(1, 1), gen_dense(1, 1)},
      {"empty rows", PRODUCT_SMALL, ALL, gen_random(40, 40, 1.2, 3), gen_random(40, 40, 0.8, 4)},
      {"rectangular", PRODUCT_SMALL, AB, gen_random(30, 50, 4, 1), gen_random(50, 20, 3, 2)},
      {"rectangular, transposed", PRODUCT_SMALL, ATB, gen_random(50, 30, 4, 1), gen_random(50, 20, 3, 2)},
      {"dense", PRODUCT_SMALL, ALL, gen_dense(24, 24), gen_dense(24, 24)},
      {"a dense row", PRODUCT_SMALL, ALL, gen_full_row(70, 70), gen_random(70, 70, 2, 5)},
      {"a dense column", PRODUCT_SMALL, ALL, gen_full_column(70, 70), gen_random(70, 70, 2, 6)},
      {"random", PRODUCT_SMALL, ALL, gen_random(60, 60, 6, 8), gen_random(60, 60, 3, 9)},
      {"3x3 with 3x6", PRODUCT_SMALL, THREE, gen_mesh(7, 3, 3, 3, "3"), aggregates(81, 24, 3, 6, NO_ROW)},
      {"6x3 with 3x3", PRODUCT_SMALL, RART, gen_mesh(7, 3, 3, 3, "3"), aggregates(24, 81, 6, 3, NO_ROW)},
      {"2x2 with 2x3", PRODUCT_SMALL, THREE, gen_mesh(9, 5, 5, 1, "2"), aggregates(50, 12, 2, 3, NO_ROW)},
      {"almost 3x6", PRODUCT_SMALL, THREE, gen_mesh(7, 3, 3, 3, "3"), aggregates(81, 24, 3, 6, 40)},
      {"6x6 with 6x2", PRODUCT_SMALL, THREE, gen_mesh(5, 4, 3, 1, "6"), aggregates(72, 8, 6, 2, NO_ROW)},
      {"6x6 with 6x6", PRODUCT_SMALL, THREE, gen_mesh(5, 4, 3, 1, "6"), aggregates(72, 24, 6, 6, NO_ROW)},
      {"elasticity", PRODUCT_ALL, AB | PTAP, gen_mesh(27, 6, 6, 5, "3"), aggregates(540, 90, 3, 6, NO_ROW)},
      {"stencil", PRODUCT_ALL, AB | PTAP, gen_stencil(7, 9, 9, 9), aggregates(729, 81, 1, 1, NO_ROW)},
      {"long rows", PRODUCT_ALL, AB | RART, gen_long_rows(700, 700, 2, 690, 350, 3), gen_random(700, 700, 2, 2)},
      {"few aggregates", PRODUCT_ALL, PTAP, gen_mesh(27, 6, 6, 5, "3"), aggregates(540, 12, 3, 6, NO_ROW)},
      {"long left rows", PRODUCT_ALL, AB, gen_random(20, 300, 80, 3), gen_random(300, 400, 3, 4)},
      {"wide blocks", PRODUCT_ALL, AB | ATB, gen_full_row(600, 600), aggregates(600, 1200, 3, 6, NO_ROW)},
      {"very wide", PRODUCT_ALL, AB, gen_full_row(60, 60), gen_long_rows(60, 300000, 5, 90000, 30, 4)},
      {"rows of 8", PRODUCT_SMALL, THREE, band(), climb(8)},
      {"rows of 16", PRODUCT_SMALL, THREE, band(), climb(16)},
      {"rows of 17", PRODUCT_SMALL, THREE, band(), climb(17)},
      {"rows of 32", PRODUCT_SMALL, THREE, band(), climb(32)},
      {"rows of 33", PRODUCT_ALL, THREE, band(), climb(33)},
      {"rows of 64", PRODUCT_ALL, THREE, band(), climb(64)},
      {"rows of 65", PRODUCT_ALL, THREE, band(), climb(65)},
      {"rows of 96", PRODUCT_ALL, THREE, band(), climb(96)},
      {"rows of 97", PRODUCT_ALL, THREE, band(), climb(97)},
      {"rows of 128", PRODUCT_ALL, THREE, band(), climb(128)},
      {"rows of 129", PRODUCT_ALL, THREE, band(), climb(129)},
      {"one wide row", PRODUCT_ALL, THREE, gen_full_row(400, 400), staircase(400, 402, 3)}};

  memcpy(shape, made, sizeof made);
}

int64_t operand_row(const ProductOperand *m, int64_t i)
{
  return m->pattern.index_type == SPMV_I64 ? ((const int64_t *)m->pattern.row_ptr)[i]
                                           : ((const int32_t *)m->pattern.row_ptr)[i];
}

int64_t operand_col(const ProductOperand *m, int64_t k)
{
  return m->pattern.index_type == SPMV_I64 ? ((const int64_t *)m->pattern.col)[k]
                                           : ((const int32_t *)m->pattern.col)[k];
}

double operand_value(const ProductOperand *m, int64_t k)
{
  return m->scalar == SPMV_F32 ? ((const float *)m->values)[k] : ((const double *)m->values)[k];
}

static void set_value(ProductOperand *m, int64_t k, double value)
{
  if (m->scalar == SPMV_F32) ((float *)m->values)[k] = (float)value;
  else ((double *)m->values)[k] = value;
}

static ProductOperand make_operand(const GenSpec *spec, SpmvIndex index, SpmvScalar scalar, uint64_t seed)
{
  ProductOperand m = {.scalar = scalar};

  if (gen_pattern(spec, index, &m.pattern)) abort();
  m.values = malloc((size_t)(m.pattern.nnz * spmv_scalar_bytes(scalar)) + 1);
  gen_values(GEN_RANDOM, seed, 0, scalar, m.pattern.nnz, m.values);
  return m;
}

int product_case_count(void) { return SHAPES * KINDS * 2; }

int product_case(int i, ProductTier tier, ProductCase *c)
{
  Shape     shape[SHAPES];
  const int number = i / 2 / KINDS, kind = i / 2 % KINDS;

  memset(c, 0, sizeof *c);
  make_shapes(shape);
  if (!(shape[number].kinds >> kind & 1) || shape[number].tier > tier) return 0;
  const SpmvIndex index = (number + kind + i) % 2 ? SPMV_I64 : SPMV_I32;
  c->name               = shape[number].name;
  c->kind               = (SpmvSpgemmKind)kind;
  c->scalar             = i % 2 ? SPMV_F32 : SPMV_F64;
  c->a                  = make_operand(&shape[number].a, index, c->scalar, 1);
  c->b                  = make_operand(&shape[number].b, index, c->scalar, 2);
  return 1;
}

static void operand_free(ProductOperand *m)
{
  gen_pattern_free(&m->pattern);
  free(m->values);
}

void product_case_free(ProductCase *c)
{
  operand_free(&c->a);
  operand_free(&c->b);
}

static void operand_sizes(ProductOperand *m, int magnitudes)
{
  for (int64_t k = 0; k < m->pattern.nnz; k++) set_value(m, k, magnitudes ? fabs(operand_value(m, k)) : 1);
}

void product_case_sizes(ProductCase *c, int magnitudes)
{
  operand_sizes(&c->a, magnitudes);
  operand_sizes(&c->b, magnitudes);
}

static void operand_spoil(ProductOperand *m, uint64_t seed)
{
  const double bad[] = {INFINITY, -INFINITY, NAN, 0, 0};

  for (int64_t k = 0; k < m->pattern.nnz; k++) {
    const uint64_t h = gen_hash(seed, (uint64_t)k);
    set_value(m, k, h % SPOILED ? (double)(h / SPOILED % 7) - 3 : bad[h / SPOILED % 5]);
  }
}

void product_case_spoil(ProductCase *c)
{
  operand_spoil(&c->a, 1);
  operand_spoil(&c->b, 2);
}

static SpmvPattern pattern_to(SpmvSpace space, const SpmvPattern *p)
{
  const int64_t bytes = spmv_index_bytes(p->index_type);
  SpmvPattern   there = *p;

  there.space   = space;
  there.row_ptr = test_put(space, p->row_ptr, (p->rows + 1) * bytes);
  there.col     = test_put(space, p->col, p->nnz * bytes);
  return there;
}

static void pattern_free(SpmvPattern *p)
{
  test_take(p->space, (void *)(uintptr_t)p->row_ptr, NULL, 0);
  test_take(p->space, (void *)(uintptr_t)p->col, NULL, 0);
}

/* Computes the values of a product, first from other values, then from those of the case */
static SpmvStatus compute(const ProductCase *c, SpmvSpgemm *product, SpmvExec *exec, ProductResult *r)
{
  const int64_t bytes   = spmv_scalar_bytes(c->scalar);
  const int64_t a_bytes = c->a.pattern.nnz * bytes, b_bytes = c->b.pattern.nnz * bytes;
  void         *a = test_put(exec->space, c->a.values, a_bytes), *b = test_put(exec->space, NULL, b_bytes);
  void         *values = test_put(exec->space, NULL, r->pattern.nnz * bytes);
  SpmvStatus    status = spmv_spgemm_numeric(product, a, b, values, exec);

  test_take(exec->space, b, NULL, 0);
  b = test_put(exec->space, c->b.values, b_bytes);
  if (!status) status = spmv_spgemm_numeric(product, a, b, values, exec);
  if (!status) r->values = test_fetch_scalars(exec->space, c->scalar, r->pattern.nnz, values);
  test_take(exec->space, a, NULL, 0);
  test_take(exec->space, b, NULL, 0);
  test_take(exec->space, values, NULL, 0);
  return status;
}

ProductResult product_result(const ProductCase *c, SpmvSpace space, Hooks *hooks)
{
  SpmvPattern   a = pattern_to(space, &c->a.pattern), b = pattern_to(space, &c->b.pattern);
  SpmvSpgemm   *product = NULL;
  ProductResult r       = {0};
  SpmvExec      exec;
  int64_t       scratch_bytes;

  spmv_exec_init(&exec, space);
  if (hooks) hooks_exec(hooks, space, NULL, &exec);
  r.status = spmv_spgemm_symbolic(c->kind, &a, &b, c->scalar, &exec, &product);
  pattern_free(&a);
  pattern_free(&b);
  if (r.status) return r;
  spmv_spgemm_pattern(product, &r.pattern);
  spmv_spgemm_info(product, &r.bytes, &scratch_bytes, &r.flops);
  if (hooks) r.live_bytes = hooks_counter(hooks, space)->live_bytes;
  r.row_ptr = test_fetch_indices(space, r.pattern.index_type, r.pattern.rows + 1, r.pattern.row_ptr);
  r.col     = test_fetch_indices(space, r.pattern.index_type, r.pattern.nnz, r.pattern.col);
  r.status  = compute(c, product, &exec, &r);
  spmv_spgemm_destroy(&product);
  return r;
}

void product_result_free(ProductResult *r)
{
  free(r->row_ptr);
  free(r->col);
  free(r->values);
}
