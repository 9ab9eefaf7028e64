/* Tests of the generators of the test matrices: patterns must be valid, equal for both index types, and of the
   documented shape. */
#include "cases.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

static const int32_t *row_ptr_of(const SpmvPattern *p) { return p->row_ptr; }

static int64_t row_length(const SpmvPattern *p, int64_t i) { return row_ptr_of(p)[i + 1] - row_ptr_of(p)[i]; }

static void make(GenSpec spec, SpmvPattern *p)
{
  SpmvExec exec;

  spmv_exec_init(&exec, SPMV_HOST);
  UNIT_EQUAL(SPMV_SUCCESS, gen_pattern(&spec, SPMV_I32, p));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_pattern_check(p, &exec));
}

UNIT_TEST(every_matrix_of_the_table_is_valid_in_both_index_types)
{
  for (int m = 0; m < case_matrix_count(); m++) {
    const GenSpec spec = case_matrix(m)->spec();
    SpmvPattern   a, b;
    SpmvExec      exec;
    make(spec, &a);
    spmv_exec_init(&exec, SPMV_HOST);
    UNIT_EQUAL(SPMV_SUCCESS, gen_pattern(&spec, SPMV_I64, &b));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_pattern_check(&b, &exec));
    UNIT_TEXT("", exec.message);
    UNIT_CHECK(a.rows == b.rows && a.cols == b.cols && a.nnz == b.nnz);
    int equal = 1;
    for (int64_t k = 0; k < a.nnz; k++) equal &= ((const int32_t *)a.col)[k] == ((const int64_t *)b.col)[k];
    UNIT_CHECK(equal);
    gen_pattern_free(&a);
    gen_pattern_free(&b);
  }
}

UNIT_TEST(names_in_the_table_are_unique)
{
  for (int m = 0; m < case_matrix_count(); m++)
    for (int n = 0; n < m; n++) UNIT_CHECK(strcmp(case_matrix(m)->name, case_matrix(n)->name));
}

UNIT_TEST(stencils_have_their_points)
{
  static const struct {
    int     points;
    int64_t nx, ny, nz, nnz;
  } grid[] = {{3, 10, 1, 1, 28},
              {5, 4, 3, 1, 12 + 2 * 17},
              {7, 3, 3, 3, 27 + 2 * 54},
              {9, 4, 3, 1, 10 * 7},
              {27, 3, 3, 3, 343}};

  for (int g = 0; g < 5; g++) {
    SpmvPattern p;
    make(gen_stencil(grid[g].points, grid[g].nx, grid[g].ny, grid[g].nz), &p);
    UNIT_EQUAL(grid[g].nnz, p.nnz);
    gen_pattern_free(&p);
  }
}

UNIT_TEST(unknowns_of_a_node_have_equal_rows)
{
  SpmvPattern p;

  make(gen_elasticity_hex(3, 4, 2), &p);
  UNIT_EQUAL(3 * 24, p.rows);
  for (int64_t i = 0; i < p.rows; i += 3)
    for (int d = 1; d < 3; d++) {
      const int32_t *col = p.col, *ptr = p.row_ptr;
      UNIT_EQUAL(row_length(&p, i), row_length(&p, i + d));
      UNIT_CHECK(!memcmp(col + ptr[i], col + ptr[i + d], (size_t)row_length(&p, i) * sizeof *col));
    }
  gen_pattern_free(&p);
  make(gen_mesh(3, 6, 1, 1, "120"), &p); /* six nodes with 1, 2, 0, 1, 2, 0 unknowns */
  UNIT_EQUAL(6, p.rows);
  UNIT_EQUAL(3, row_length(&p, 0));
  UNIT_EQUAL(3, row_length(&p, 2));
  UNIT_EQUAL(3, row_length(&p, 5));
  gen_pattern_free(&p);
}

UNIT_TEST(runs_have_exactly_their_length)
{
  SpmvPattern p;

  make(gen_runs(9, 70, 5, 2), &p);
  for (int64_t i = 0; i < p.rows; i++) {
    const int32_t *col = (const int32_t *)p.col + row_ptr_of(&p)[i];
    for (int64_t k = 0, n = row_length(&p, i); k < n; k++) UNIT_EQUAL(i % 3 + k / 5 * 7 + k % 5, col[k]);
  }
  UNIT_EQUAL(50, row_length(&p, 0));
  gen_pattern_free(&p);
}

UNIT_TEST(rows_have_the_lengths_that_were_asked_for)
{
  const int64_t lengths[] = {0, 1, 32, 100, 500};
  SpmvPattern   p;

  make(gen_lengths(10, 100, 5, lengths, 3), &p);
  for (int64_t i = 0; i < 10; i++) UNIT_EQUAL(lengths[i % 5] < 100 ? lengths[i % 5] : 100, row_length(&p, i));
  gen_pattern_free(&p);
  make(gen_long_rows(20, 5000, 5, 5000, 20, 1), &p);
  UNIT_EQUAL(19 * 5 + 5000, p.nnz);
  gen_pattern_free(&p);
}

UNIT_TEST(random_graphs_have_about_their_mean_and_a_tail)
{
  SpmvPattern p;
  int64_t     longest = 0;

  make(gen_random(4000, 100000, 8, 1), &p);
  UNIT_CHECK(p.nnz > 4000 * 7.7 && p.nnz < 4000 * 8.3);
  gen_pattern_free(&p);
  make(gen_power_law(4000, 2, 2.1, 1), &p);
  for (int64_t i = 0; i < p.rows; i++) longest = row_length(&p, i) > longest ? row_length(&p, i) : longest;
  UNIT_CHECK(longest > 200);
  UNIT_CHECK(p.nnz < 40 * p.rows);
  gen_pattern_free(&p);
  make(gen_circuit(4000, 7, 1), &p);
  UNIT_CHECK(row_length(&p, 0) > 500 && row_length(&p, 100) < 10);
  gen_pattern_free(&p);
}

UNIT_TEST(counts_beyond_32_bits_are_refused_in_32_bits)
{
  const GenSpec too_many_columns = gen_empty(1, (int64_t)1 << 31), too_many_nonzeros = gen_dense(50000, 50000);
  SpmvPattern   p;

  UNIT_EQUAL(SPMV_ERR_OVERFLOW, gen_pattern(&too_many_columns, SPMV_I32, &p));
  UNIT_EQUAL(SPMV_ERR_OVERFLOW, gen_pattern(&too_many_nonzeros, SPMV_I32, &p));
  UNIT_CHECK(p.row_ptr == NULL && p.col == NULL);
}

UNIT_TEST(numbers_repeat_by_seed_and_keep_their_kind)
{
  double a[200], b[200];
  int    zeros = 0, differ = 0;

  gen_values(GEN_EXACT, 5, 0, SPMV_F64, 200, a);
  gen_values(GEN_EXACT, 5, 0, SPMV_F64, 200, b);
  UNIT_CHECK(!memcmp(a, b, sizeof a));
  for (int i = 0; i < 200; i++) UNIT_CHECK(a[i] == (int)a[i] && a[i] >= -4 && a[i] <= 4);
  gen_values(GEN_RANDOM, 5, 0, SPMV_F64, 200, a);
  gen_values(GEN_RANDOM, 6, 50, SPMV_F64, 200, b);
  for (int i = 0; i < 200; i++) {
    UNIT_CHECK(a[i] >= -1 && a[i] <= 1);
    zeros += b[i] == 0;
    differ += a[i] != b[i];
  }
  UNIT_CHECK(zeros > 60 && zeros < 140 && differ > 190);
}
