/* Tests that spmv_pattern_check() finds every broken invariant, for both index types. */
#include "gen.h"
#include "unit.h"
#include <string.h>

enum { ROWS = 3, COLS = 4, NNZ = 5 };

/* A valid pattern and its arrays in both types */
typedef struct {
  int64_t     row_ptr[ROWS + 1], col[NNZ];
  int32_t     row_ptr_i32[ROWS + 1], col_i32[NNZ];
  SpmvPattern pattern;
  SpmvExec    exec;
} Sample;

static Sample valid_sample(void)
{
  Sample s = {.row_ptr = {0, 2, 2, 5}, .col = {1, 3, 0, 2, 3}};

  s.pattern = (SpmvPattern){.rows = ROWS, .cols = COLS, .nnz = NNZ, .space = SPMV_HOST};
  spmv_exec_init(&s.exec, SPMV_HOST);
  return s;
}

static SpmvStatus check_as(Sample *s, SpmvIndex type)
{
  for (int i = 0; i <= ROWS; i++) s->row_ptr_i32[i] = (int32_t)s->row_ptr[i];
  for (int k = 0; k < NNZ; k++) s->col_i32[k] = (int32_t)s->col[k];
  s->pattern.index_type = type;
  s->pattern.row_ptr    = type == SPMV_I64 ? (const void *)s->row_ptr : s->row_ptr_i32;
  s->pattern.col        = type == SPMV_I64 ? (const void *)s->col : s->col_i32;
  return spmv_pattern_check(&s->pattern, &s->exec);
}

static void refused(Sample s, const char *message)
{
  for (SpmvIndex type = SPMV_I32; type <= SPMV_I64; type++) {
    UNIT_EQUAL(SPMV_ERR_MATRIX, check_as(&s, type));
    UNIT_TEXT(message, s.exec.message);
  }
}

UNIT_TEST(a_valid_pattern_passes)
{
  Sample s = valid_sample();

  for (SpmvIndex type = SPMV_I32; type <= SPMV_I64; type++) UNIT_EQUAL(SPMV_SUCCESS, check_as(&s, type));
}

UNIT_TEST(row_ptr_must_run_from_0_to_nnz)
{
  Sample s = valid_sample();

  s.row_ptr[0] = 1;
  refused(s, "row_ptr runs from 1 to 5, not from 0 to the 5 nonzeros");
  s            = valid_sample();
  s.row_ptr[3] = 4;
  refused(s, "row_ptr runs from 0 to 4, not from 0 to the 5 nonzeros");
}

UNIT_TEST(row_ptr_must_not_decrease)
{
  Sample s = valid_sample();

  s.row_ptr[1] = 4;
  for (int k = 0; k < 4; k++) s.col[k] = k;
  refused(s, "row 1: row_ptr goes from 4 to 2, but must not decrease or pass 5");
}

UNIT_TEST(columns_must_lie_in_the_matrix)
{
  Sample s = valid_sample();

  s.col[4] = COLS;
  refused(s, "row 2: column 4 is outside 0 .. 3");
  s        = valid_sample();
  s.col[0] = -1;
  refused(s, "row 0: column -1 is outside 0 .. 3");
}

UNIT_TEST(columns_must_ascend_strictly)
{
  Sample s = valid_sample();

  s.col[3] = 0;
  refused(s, "row 2: column 0 follows 0; sort the rows and sum up duplicates");
  s        = valid_sample();
  s.col[0] = 3, s.col[1] = 1;
  refused(s, "row 0: column 1 follows 3; sort the rows and sum up duplicates");
}

UNIT_TEST(sizes_and_pointers_must_make_sense)
{
  Sample s = valid_sample();

  s.pattern.cols = -4;
  refused(s, "negative size: 3 rows, -4 columns, 5 nonzeros");
  s                 = valid_sample();
  s.pattern.row_ptr = NULL;
  s.pattern.col     = s.col;
  UNIT_EQUAL(SPMV_ERR_MATRIX, spmv_pattern_check(&s.pattern, &s.exec));
  UNIT_TEXT("row_ptr or col is NULL", s.exec.message);
}

UNIT_TEST(a_pattern_on_the_device_cannot_be_checked)
{
  Sample s = valid_sample();

  s.pattern.space = SPMV_DEVICE;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, check_as(&s, SPMV_I32));
}

UNIT_TEST(row_ptr_that_points_beyond_the_columns_is_refused_before_they_are_read)
{
  /* row 0 claims more entries than col has: the check must find it by row_ptr alone, without reading col */
  const int32_t row_ptr[] = {0, 1000000, 1}, col[] = {0};
  SpmvPattern   p = {.rows = 2, .cols = 2000000, .nnz = 1, .index_type = SPMV_I32, .row_ptr = row_ptr, .col = col};
  SpmvExec      exec;

  spmv_exec_init(&exec, SPMV_HOST);
  UNIT_EQUAL(SPMV_ERR_MATRIX, spmv_pattern_check(&p, &exec));
  UNIT_TEXT("row 0: row_ptr goes from 0 to 1000000, but must not decrease or pass 1", exec.message);
}

UNIT_TEST(patterns_without_nonzeros_need_no_columns)
{
  const int32_t row_ptr[4] = {0, 0, 0, 0};
  SpmvExec      exec;
  SpmvPattern   p = {.rows = 3, .cols = 0, .nnz = 0, .index_type = SPMV_I32, .row_ptr = row_ptr, .col = NULL};

  spmv_exec_init(&exec, SPMV_HOST);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_pattern_check(&p, &exec));
  p.rows = 0;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_pattern_check(&p, &exec));
}
