/* Tests of CSR matrices in device memory. They pass without a device. */
#include "plan.h"
#include "unit.h"
#include "unit_plan.h"
#include <stdlib.h>
#include <string.h>

#ifdef SPMV_HAVE_CUDA
  #include "aggregate/aggregate_test.h"

enum { BEFORE = 11, MIDDLE = 30 /* columns of a matrix that is cut into three */ };

/* The columns of a CSR with 32-bit indices from `first` on, or, with outside, all others, renumbered; on the device */
static SpmvCsr cut(const SpmvCsr *whole, int first, int cols, int outside)
{
  const SpmvPattern *p       = &whole->pattern;
  const int32_t     *row_ptr = p->row_ptr, *col = p->col;
  const double      *values = whole->values;
  int32_t           *to_row = calloc((size_t)p->rows + 1, sizeof *to_row), *to_col = malloc((size_t)p->nnz * 4);
  double            *to   = malloc((size_t)p->nnz * sizeof *to);
  SpmvCsr            part = *whole;
  int32_t            n    = 0;

  for (int64_t i = 0; i < p->rows; i++) {
    for (int32_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) {
      const int inside = col[k] >= first && col[k] < first + cols;
      if (inside == outside) continue;
      to_col[n] = inside ? col[k] - first : col[k] < first ? col[k] : col[k] - cols;
      to[n++]   = values[k];
    }
    to_row[i + 1] = n;
  }
  part.pattern.cols    = outside ? p->cols - cols : cols;
  part.pattern.nnz     = n;
  part.pattern.space   = SPMV_DEVICE;
  part.values_space    = SPMV_DEVICE;
  part.pattern.row_ptr = test_put(SPMV_DEVICE, to_row, (p->rows + 1) * 4);
  part.pattern.col     = test_put(SPMV_DEVICE, to_col, n * 4);
  part.values          = test_put(SPMV_DEVICE, to, n * 8);
  free(to_row);
  free(to_col);
  free(to);
  return part;
}

static void release(SpmvCsr *m, void *row_ptr, void *col, void *values)
{
  const SpmvPattern *p = &m->pattern;

  test_take(SPMV_DEVICE, (void *)p->row_ptr, row_ptr, row_ptr ? (p->rows + 1) * 4 : 0);
  test_take(SPMV_DEVICE, (void *)p->col, col, col ? p->nnz * 4 : 0);
  test_take(SPMV_DEVICE, (void *)m->values, values, values ? p->nnz * 8 : 0);
}

/* A matrix whose middle columns are taken out and put back */
static void check_beside(void)
{
  const GenSpec spec = gen_random(90, 70, 6, 3);
  UnitProblem   p    = unit_problem(&spec, SPMV_I32, SPMV_F64);
  const int64_t rows = p.csr.pattern.rows, nnz = p.csr.pattern.nnz;
  SpmvCsr       middle = cut(&p.csr, BEFORE, MIDDLE, 0), others = cut(&p.csr, BEFORE, MIDDLE, 1), to = middle, again;
  int32_t      *row_ptr = malloc((size_t)(rows + 1) * 4), *col = malloc((size_t)nnz * 4);
  double       *values = malloc((size_t)nnz * 8);
  SpmvExec      exec;

  spmv_exec_init(&exec, SPMV_DEVICE);
  to.pattern.nnz     = nnz;
  to.pattern.row_ptr = test_put(SPMV_DEVICE, NULL, (rows + 1) * 4);
  to.pattern.col     = test_put(SPMV_DEVICE, NULL, nnz * 4);
  to.values          = NULL;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_csr_beside(&middle, &others, BEFORE, &to, &exec));
  again                 = to;
  again.pattern.row_ptr = again.pattern.col = NULL;
  again.values = to.values = test_put(SPMV_DEVICE, NULL, nnz * 8);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_csr_beside(&middle, &others, BEFORE, &again, &exec));
  release(&to, row_ptr, col, values);
  UNIT_CHECK(!memcmp(row_ptr, p.csr.pattern.row_ptr, (size_t)(rows + 1) * 4));
  UNIT_CHECK(!memcmp(col, p.csr.pattern.col, (size_t)nnz * 4));
  UNIT_CHECK(!memcmp(values, p.csr.values, (size_t)nnz * 8));
  others.pattern.rows++;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_csr_beside(&middle, &others, BEFORE, &to, &exec));
  others.pattern.rows--;
  release(&middle, NULL, NULL, NULL);
  release(&others, NULL, NULL, NULL);
  free(row_ptr);
  free(col);
  free(values);
  unit_problem_clear(&p);
}

/* Numbers on the device, in an index type */
static void *put_indices(SpmvIndex index, const int64_t *from, int64_t n)
{
  int32_t *narrow = malloc((size_t)n * sizeof *narrow);
  void    *there;

  for (int64_t k = 0; k < n; k++) narrow[k] = (int32_t)from[k];
  there = test_put(SPMV_DEVICE, index == SPMV_I32 ? (const void *)narrow : from, n * spmv_index_bytes(index));
  free(narrow);
  return there;
}

/* Columns 2, 5, 8, ... of 70 occur, in several rows */
static void check_used(SpmvIndex index)
{
  enum { ROWS = 40, ROW = 7, COLS = 70, NNZ = ROWS * ROW };
  const int64_t each = spmv_index_bytes(index);
  int64_t       row_ptr[ROWS + 1], col[NNZ], numbers[NNZ], used[COLS], count = 0, last = -1;
  SpmvPattern   p = {.rows = ROWS, .cols = COLS, .nnz = NNZ, .index_type = index, .space = SPMV_DEVICE};
  SpmvExec      exec;
  void         *there[2];

  spmv_exec_init(&exec, SPMV_DEVICE);
  for (int k = 0; k < NNZ; k++) col[k] = 2 + 3 * ((k / ROW + k % ROW * 5) % 22);
  for (int i = 0; i <= ROWS; i++) row_ptr[i] = ROW * i;
  p.row_ptr = test_put(SPMV_DEVICE, row_ptr, (ROWS + 1) * each); /* not read */
  p.col     = put_indices(index, col, NNZ);
  for (int a = 0; a < 2; a++) there[a] = test_put(SPMV_DEVICE, NULL, (a ? COLS : NNZ) * each);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_csr_used_columns(&p, there[0], there[1], &count, &exec));
  UNIT_EQUAL(22, count);
  test_take(SPMV_DEVICE, there[0], numbers, NNZ * each);
  test_take(SPMV_DEVICE, there[1], used, COLS * each);
  for (int64_t c = 0; c < count; c++) {
    const int64_t now = index == SPMV_I32 ? ((int32_t *)used)[c] : used[c];
    UNIT_CHECK(now > last);
    last = now;
  }
  for (int k = 0; k < NNZ; k++) {
    const int64_t n = index == SPMV_I32 ? ((int32_t *)numbers)[k] : numbers[k];
    UNIT_EQUAL(col[k], index == SPMV_I32 ? ((int32_t *)used)[n] : used[n]);
  }
  p.space = SPMV_HOST;
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_csr_used_columns(&p, there[0], there[1], &count, &exec));
  test_take(SPMV_DEVICE, (void *)p.row_ptr, NULL, 0);
  test_take(SPMV_DEVICE, (void *)p.col, NULL, 0);
}

/* Rows 5, 12, 19, ... of 90, and on from the first ones, with numbers of columns from an array or from 1,000 on */
static void check_rows(SpmvIndex index, SpmvScalar scalar, int mapped)
{
  enum { ROWS = 90, COLS = 70, TAKEN = 20, FIRST = 1000 };
  const GenSpec spec = gen_random(ROWS, COLS, 6, 3);
  UnitProblem   p    = unit_problem(&spec, index, scalar);
  const int64_t each = spmv_index_bytes(index), size = spmv_scalar_bytes(scalar), nnz = p.csr.pattern.nnz;
  int64_t      *start = test_fetch_indices(SPMV_HOST, index, ROWS + 1, p.csr.pattern.row_ptr);
  int64_t      *col   = test_fetch_indices(SPMV_HOST, index, nnz, p.csr.pattern.col), *row_ptr, *cols;
  double       *value = test_fetch_scalars(SPMV_HOST, scalar, nnz, p.csr.values), *values;
  int64_t       row[TAKEN], number[COLS], n = 0;
  SpmvCsr       from = p.csr, to;
  SpmvExec      exec;
  void         *there[2];

  spmv_exec_init(&exec, SPMV_DEVICE);
  for (int64_t k = 0; k < TAKEN; k++) row[k] = (5 + 7 * k) % ROWS;
  for (int64_t c = 0; c < COLS; c++) number[c] = mapped ? 3 * c + 4 : FIRST + c;
  there[0]           = put_indices(index, row, TAKEN);
  there[1]           = put_indices(index, number, COLS);
  from.pattern.space = from.values_space = SPMV_DEVICE;
  from.pattern.row_ptr                   = put_indices(index, start, ROWS + 1);
  from.pattern.col                       = put_indices(index, col, nnz);
  from.values                            = test_put(SPMV_DEVICE, p.csr.values, nnz * size);
  to                                     = from;
  to.pattern.rows                        = TAKEN;
  to.pattern.row_ptr                     = test_put(SPMV_DEVICE, NULL, (TAKEN + 1) * each);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_csr_rows_begin(&from.pattern, TAKEN, there[0], (void *)to.pattern.row_ptr, &exec));
  row_ptr        = test_fetch_indices(SPMV_DEVICE, index, TAKEN + 1, to.pattern.row_ptr);
  to.pattern.col = test_put(SPMV_DEVICE, NULL, row_ptr[TAKEN] * each);
  to.values      = NULL;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_csr_rows(&from, there[0], mapped ? there[1] : NULL, FIRST, &to, &exec));
  cols = test_fetch_indices(SPMV_DEVICE, index, row_ptr[TAKEN], to.pattern.col);
  test_take(SPMV_DEVICE, (void *)to.pattern.col, NULL, 0);
  to.pattern.col = NULL;
  to.values      = test_put(SPMV_DEVICE, NULL, row_ptr[TAKEN] * size);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_csr_rows(&from, there[0], NULL, 0, &to, &exec));
  values = test_fetch_scalars(SPMV_DEVICE, scalar, row_ptr[TAKEN], to.values);
  for (int64_t r = 0; r < TAKEN; r++) {
    UNIT_EQUAL(n, row_ptr[r]);
    for (int64_t k = start[row[r]]; k < start[row[r] + 1]; k++, n++)
      UNIT_CHECK(number[col[k]] == cols[n] && value[k] == values[n]);
  }
  UNIT_CHECK(n > 0 && n == row_ptr[TAKEN]);
  for (int a = 0; a < 2; a++) test_take(SPMV_DEVICE, there[a], NULL, 0);
  release(&from, NULL, NULL, NULL);
  release(&to, NULL, NULL, NULL);
  for (int a = 0; a < 6; a++) free((void *[]){start, col, value, row_ptr, cols, values}[a]);
  unit_problem_clear(&p);
}

#else
/* A library without CUDA finds no device */
static void check_beside(void) {}
static void check_used(SpmvIndex index) { (void)index; }
static void check_rows(SpmvIndex index, SpmvScalar scalar, int mapped) { (void)index, (void)scalar, (void)mapped; }
#endif

UNIT_TEST(matrices_side_by_side)
{
  if (spmv_device_count(NULL)) check_beside();
}

UNIT_TEST(columns_that_occur)
{
  if (spmv_device_count(NULL) == 0) return;
  check_used(SPMV_I32);
  check_used(SPMV_I64);
}

UNIT_TEST(rows_that_are_listed)
{
  if (spmv_device_count(NULL) == 0) return;
  for (int mapped = 0; mapped < 2; mapped++) {
    check_rows(SPMV_I32, SPMV_F64, mapped);
    check_rows(SPMV_I64, SPMV_F32, mapped);
  }
}
