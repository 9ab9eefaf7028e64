/* Tests of the products of matrices: the host against dense loops, the device against the host. Device tests are
   skipped without a device. */
#include "emulated.h"
#include "unit.h"
#include "gen.h"
#include "hooks.h"
#include "spgemm_test.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An entry of a dense matrix: the number of terms, their sum, and the sum of their absolute values */
typedef struct {
  double terms, sum, size;
} Entry;

static Entry *dense_of(const ProductOperand *m, int transposed)
{
  const SpmvPattern *p = &m->pattern;
  Entry             *d = calloc((size_t)(p->rows * p->cols) + 1, sizeof *d);

  for (int64_t i = 0; i < p->rows; i++)
    for (int64_t k = operand_row(m, i); k < operand_row(m, i + 1); k++) {
      const int64_t j  = operand_col(m, k);
      Entry        *at = d + (transposed ? j * p->rows + i : i * p->cols + j);
      at->terms        = 1;
      at->sum          = operand_value(m, k);
      at->size         = fabs(at->sum);
    }
  return d;
}

/* x y, where x is n x m and y is m x l; frees both */
static Entry *dense_product(Entry *x, Entry *y, int64_t n, int64_t m, int64_t l)
{
  Entry *z = calloc((size_t)(n * l) + 1, sizeof *z);

  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < m; k++)
      for (int64_t j = 0; j < l; j++) {
        const Entry *a = x + i * m + k, *b = y + k * l + j;
        if (a->terms == 0 || b->terms == 0) continue;
        z[i * l + j].terms += a->terms * b->terms;
        z[i * l + j].sum += a->sum * b->sum;
        z[i * l + j].size += a->size * b->size;
      }
  free(x);
  free(y);
  return z;
}

static Entry *dense_result(const ProductCase *c)
{
  const SpmvPattern *a = &c->a.pattern, *b = &c->b.pattern;

  switch (c->kind) {
  case SPMV_SPGEMM_AB:
    return dense_product(dense_of(&c->a, 0), dense_of(&c->b, 0), a->rows, a->cols, b->cols);
  case SPMV_SPGEMM_ATB:
    return dense_product(dense_of(&c->a, 1), dense_of(&c->b, 0), a->cols, a->rows, b->cols);
  case SPMV_SPGEMM_PTAP:
    return dense_product(dense_of(&c->b, 1),
                         dense_product(dense_of(&c->a, 0), dense_of(&c->b, 0), a->rows, a->cols, b->cols), b->cols,
                         b->rows, b->cols);
  default:
    return dense_product(dense_of(&c->b, 0),
                         dense_product(dense_of(&c->a, 0), dense_of(&c->b, 1), a->rows, a->cols, b->rows), b->rows,
                         b->cols, b->rows);
  }
}

static int close_enough(double got, double expected, double terms, double size, SpmvScalar scalar)
{
  const double eps = scalar == SPMV_F32 ? 0x1p-23 : 0x1p-52;

  if (isnan(expected) || isinf(expected)) return isnan(expected) ? isnan(got) : got == expected;
  return fabs(got - expected) <= (2 * terms + 4) * eps * size;
}

static void check_against_dense(const ProductCase *c)
{
  ProductResult r = product_result(c, SPMV_HOST, NULL);
  Entry        *d = dense_result(c);
  int64_t       k = 0, wrong = 0;

  for (int64_t i = 0; i < r.pattern.rows; i++) {
    wrong += r.row_ptr[i] != k;
    for (int64_t j = 0; j < r.pattern.cols; j++) {
      const Entry *e = d + i * r.pattern.cols + j;
      if (e->terms == 0) continue;
      wrong += k >= r.pattern.nnz || r.col[k] != j || !close_enough(r.values[k], e->sum, e->terms, e->size, c->scalar);
      k++;
    }
  }
  if (wrong || k != r.pattern.nnz) unit_check(0, c->name, __LINE__, "the host product differs from the dense one");
  product_result_free(&r);
  free(d);
}

UNIT_TEST(products_on_the_host_are_those_of_dense_matrices)
{
  for (int i = 0; i < product_case_count(); i++) {
    ProductCase c;
    if (!product_case(i, PRODUCT_SMALL, &c)) continue;
    check_against_dense(&c);
    product_case_free(&c);
  }
}

#ifdef EMULATED
/* Whether parts of left rows are summed apart, so that sums are rounded otherwise than on the host */
static int is_summed_in_parts(const ProductCase *c)
{
  return !strcmp(c->name, "few aggregates") || !strcmp(c->name, "long left rows");
}
#endif

/* The device against the host: the same pattern, and values within rounding errors, or the same bits if the device is
   emulated; repeated, the same bits */
static void check_on_device(ProductCase *c)
{
  ProductResult got = product_result(c, SPMV_DEVICE, NULL), again = product_result(c, SPMV_DEVICE, NULL);
  ProductResult expected = product_result(c, SPMV_HOST, NULL);
  const int64_t nnz      = expected.pattern.nnz;

  product_case_sizes(c, 1);
  ProductResult size = product_result(c, SPMV_HOST, NULL);
  product_case_sizes(c, 0);
  ProductResult terms = product_result(c, SPMV_HOST, NULL);
  if (!unit_check(got.pattern.rows == expected.pattern.rows && got.pattern.cols == expected.pattern.cols &&
                      got.pattern.nnz == nnz &&
                      !memcmp(got.row_ptr, expected.row_ptr, (size_t)(expected.pattern.rows + 1) * 8) &&
                      !memcmp(got.col, expected.col, (size_t)nnz * 8),
                  c->name, __LINE__, "the pattern on the device differs"))
    goto end;
  int64_t wrong = 0;
  for (int64_t k = 0; k < nnz; k++)
    wrong += !close_enough(got.values[k], expected.values[k], terms.values[k], size.values[k], c->scalar);
  unit_check(wrong == 0, c->name, __LINE__, "values on the device differ");
#ifdef EMULATED
  unit_check((memcmp(got.values, expected.values, (size_t)nnz * 8) != 0) == is_summed_in_parts(c), c->name, __LINE__,
             "other bits than the host's, or none in a result that is summed in parts");
#endif
  unit_check(!memcmp(got.values, again.values, (size_t)nnz * 8), c->name, __LINE__, "a repeated product differs");
  unit_check(got.flops == expected.flops, c->name, __LINE__, "the operations differ");
end:
  product_result_free(&got);
  product_result_free(&again);
  product_result_free(&expected);
  product_result_free(&size);
  product_result_free(&terms);
}

UNIT_TEST(products_on_the_device_are_those_on_the_host)
{
  if (spmv_device_count(NULL) == 0) return;
  for (int i = 0; i < product_case_count(); i++) {
    ProductCase c;
    if (!product_case(i, PRODUCT_ALL, &c)) continue;
    check_on_device(&c);
    product_case_free(&c);
  }
}

/* Every term of the pattern is added, also 0 times infinity, and no other term */
UNIT_TEST(products_add_what_is_not_a_number)
{
  for (int space = SPMV_HOST; space <= SPMV_DEVICE; space++)
    for (int i = 0; i < product_case_count(); i++) {
      if (space == SPMV_DEVICE && spmv_device_count(NULL) == 0) return;
      ProductCase c;
      if (!product_case(i, PRODUCT_SMALL, &c)) continue;
      product_case_spoil(&c);
      ProductResult expected = product_result(&c, SPMV_HOST, NULL), got = product_result(&c, (SpmvSpace)space, NULL);
      int64_t       wrong = 0;
      for (int64_t k = 0; k < expected.pattern.nnz; k++)
        wrong += !close_enough(got.values[k], expected.values[k], 1, 0, c.scalar);
      unit_check(wrong == 0, c.name, __LINE__, "NaN or infinity is lost or spread");
      if (space == SPMV_HOST) check_against_dense(&c);
      product_result_free(&expected);
      product_result_free(&got);
      product_case_free(&c);
    }
}

/* The product of this name; without such a case a status other than success, and an empty case */
static ProductResult device_product(const char *name, SpmvSpgemmKind kind, SpmvIndex index, ProductCase *c)
{
  ProductResult r = {.status = SPMV_ERR_ARGUMENT};
  Hooks         hooks;

  hooks_init(&hooks);
  for (int i = 0; i < product_case_count(); i++) {
    if (!product_case(i, PRODUCT_ALL, c)) continue;
    if (!strcmp(c->name, name) && c->kind == kind && c->a.pattern.index_type == index) {
      r = product_result(c, SPMV_DEVICE, &hooks);
      break;
    }
    product_case_free(c);
    memset(c, 0, sizeof *c);
  }
  UNIT_CHECK(hooks_clean(&hooks));
  return r;
}

static int64_t held_bytes(const char *name)
{
  ProductCase   c;
  ProductResult r = device_product(name, SPMV_SPGEMM_PTAP, SPMV_I64, &c);

  UNIT_EQUAL(SPMV_SUCCESS, r.status);
  UNIT_EQUAL(r.live_bytes, r.bytes);
  product_result_free(&r);
  product_case_free(&c);
  return r.bytes;
}

/* The two cases differ in one entry of P, which prevents blocks. Most of the memory is C's, so it shows the block
   size. */
UNIT_TEST(products_on_the_device_find_blocks)
{
  if (spmv_device_count(NULL) == 0) return;
  const int64_t blocks = held_bytes("3x3 with 3x6"), entries = held_bytes("almost 3x6");
  UNIT_CHECK(blocks > 0 && 3 * blocks < 2 * entries);
}

static int64_t sum_of_arrays(const int64_t bytes[], int count)
{
  int64_t sum = 0;

  for (int i = 0; i < count; i++) sum += (bytes[i] / 256 + 1) * 256;
  return sum;
}

/* What a product holds to the byte: `bits` marks for each entry of A, and the columns of B unless all rows of C have
   marks */
static void check_marks(const char *name, int64_t bits, int64_t pieces)
{
  ProductCase   c;
  ProductResult r    = device_product(name, SPMV_SPGEMM_AB, SPMV_I32, &c);
  const int64_t rows = c.a.pattern.rows, nnz = c.a.pattern.nnz;
  const int64_t held[] = {4 * (rows + 1), 4 * nnz,           4 * (c.b.pattern.rows + 1),
                          4 * (rows + 1), 4 * r.pattern.nnz, nnz * bits / 8,
                          4 * pieces,     4 * pieces,        4 * c.b.pattern.nnz};

  UNIT_EQUAL(SPMV_SUCCESS, r.status);
  UNIT_EQUAL(sum_of_arrays(held, bits == 0 || pieces > 0 ? 9 : 8), r.bytes);
  UNIT_EQUAL(r.live_bytes, r.bytes);
  product_result_free(&r);
  product_case_free(&c);
}

UNIT_TEST(products_of_narrow_rows_hold_marks)
{
  if (spmv_device_count(NULL) == 0) return;
  check_marks("rows of 8", 16, 0);
  check_marks("rows of 16", 16, 0);
  check_marks("rows of 17", 32, 0);
  check_marks("rows of 33", 64, 0);
  check_marks("rows of 65", 96, 0);
  check_marks("rows of 128", 128, 0);
  check_marks("rows of 129", 0, 0);
  check_marks("one wide row", 16, 1);
}

/* Lets allocation number 1, 2, ... fail until no allocation is left to fail */
static void fail_each_allocation(ProductCase *c, SpmvSpace space, SpmvSpace fault_space)
{
  int64_t calls = 0, fail_at = 0;

  do {
    Hooks hooks;
    hooks_init(&hooks);
    hooks_counter(&hooks, fault_space)->fail_at = ++fail_at;
    ProductResult r                             = product_result(c, space, &hooks);
    calls                                       = hooks_counter(&hooks, fault_space)->calls;
    UNIT_EQUAL(calls >= fail_at ? SPMV_ERR_MEMORY : SPMV_SUCCESS, r.status);
    UNIT_CHECK(hooks_clean(&hooks));
    product_result_free(&r);
    hooks_drop(&hooks);
  } while (calls >= fail_at && fail_at < 200);
  UNIT_CHECK(fail_at > 1 && fail_at < 200);
}

UNIT_TEST(a_product_without_memory_leaves_nothing)
{
  for (int space = SPMV_HOST; space <= SPMV_DEVICE; space++)
    for (int i = 0; i < product_case_count(); i += 7) {
      if (space == SPMV_DEVICE && spmv_device_count(NULL) == 0) return;
      ProductCase c;
      if (!product_case(i, PRODUCT_SMALL, &c)) continue;
      for (int fault = SPMV_HOST; fault <= space; fault++) fail_each_allocation(&c, (SpmvSpace)space, (SpmvSpace)fault);
      product_case_free(&c);
    }
}

UNIT_TEST(products_refuse_what_does_not_fit)
{
  const int32_t     ptr[3] = {0, 1, 2}, col[2] = {0, 1};
  const SpmvPattern two   = {2, 2, 2, SPMV_I32, SPMV_HOST, ptr, col};
  SpmvPattern       other = two;
  SpmvSpgemm       *p;
  SpmvExec          exec;

  spmv_exec_init(&exec, SPMV_HOST);
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_spgemm_symbolic((SpmvSpgemmKind)9, &two, &two, SPMV_F64, &exec, &p));
  other.index_type = SPMV_I64;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_spgemm_symbolic(SPMV_SPGEMM_AB, &two, &other, SPMV_F64, &exec, &p));
  UNIT_CONTAINS("index types", exec.message);
  other      = two;
  other.rows = 1;
  other.nnz  = 1;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_spgemm_symbolic(SPMV_SPGEMM_PTAP, &two, &other, SPMV_F64, &exec, &p));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_spgemm_symbolic(SPMV_SPGEMM_PTAP, &other, &two, SPMV_F64, &exec, &p));
  UNIT_CONTAINS("A is 1 x 2", exec.message);
  other      = two;
  other.cols = (int64_t)1 << 33;
  UNIT_EQUAL(SPMV_ERR_OVERFLOW, spmv_spgemm_symbolic(SPMV_SPGEMM_AB, &two, &other, SPMV_F64, &exec, &p));
  UNIT_CHECK(p == NULL);
  exec.space = SPMV_DEVICE;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_spgemm_symbolic(SPMV_SPGEMM_AB, &two, &two, SPMV_F64, &exec, &p));
  if (spmv_device_count(NULL) == 0) {
    other       = two;
    other.space = SPMV_DEVICE;
    UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_spgemm_symbolic(SPMV_SPGEMM_AB, &other, &other, SPMV_F64, &exec, &p));
    UNIT_CHECK(exec.message[0] != '\0');
  }
  spmv_spgemm_destroy(&p);
  spmv_spgemm_destroy(NULL);
}
