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

/* Columns 2, 5, 8, ... of 70 occur, in several rows */
static void check_used(SpmvIndex index)
{
  enum { ROWS = 40, ROW = 7, COLS = 70, NNZ = ROWS * ROW };
  const int64_t each = index == SPMV_I32 ? 4 : 8;
  int64_t       row_ptr[ROWS + 1], col[NNZ], numbers[NNZ], used[COLS], count = 0, last = -1;
  int32_t       narrow[NNZ];
  SpmvPattern   p = {.rows = ROWS, .cols = COLS, .nnz = NNZ, .index_type = index, .space = SPMV_DEVICE};
  SpmvExec      exec;
  void         *there[2];

  spmv_exec_init(&exec, SPMV_DEVICE);
  for (int k = 0; k < NNZ; k++) narrow[k] = (int32_t)(col[k] = 2 + 3 * ((k / ROW + k % ROW * 5) % 22));
  for (int i = 0; i <= ROWS; i++) row_ptr[i] = ROW * i;
  p.row_ptr = test_put(SPMV_DEVICE, row_ptr, (ROWS + 1) * each); /* not read */
  p.col     = test_put(SPMV_DEVICE, index == SPMV_I32 ? (void *)narrow : (void *)col, NNZ * each);
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

#else
/* A library without CUDA finds no device */
static void check_beside(void) {}
static void check_used(SpmvIndex index) { (void)index; }
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
