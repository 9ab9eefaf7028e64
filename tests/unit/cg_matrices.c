/* cg_matrices.c - matrices for the tests of conjugate gradients; see cg_test.h. */
#include "cg/cg_test.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>

static GenSpec spec_of(int i, const char **name)
{
  static const char *const names[CG_MATRICES] = {"stencil7",   "stencil5", "hexahedra",     "tetrahedra",
                                                 "seven_rows", "one_row",  "several_blocks"};

  *name = names[i];
  switch (i) {
  case 0:
    return gen_stencil(7, 7, 5, 4);
  case 1:
    return gen_stencil(5, 16, 15, 1);
  case 2:
    return gen_elasticity_hex(4, 4, 3);
  case 3:
    return gen_tetrahedra(4, GEN_P1, GEN_NATURAL, 3);
  case 4:
    return gen_stencil(3, 7, 1, 1);
  case 5:
    return gen_diagonal(1);
  default:
    return gen_stencil(7, 14, 12, 10);
  }
}

static const int32_t *row_ptr_of(const CgMatrix *a) { return a->pattern.row_ptr; }
static const int32_t *col_of(const CgMatrix *a) { return a->pattern.col; }

double *cg_diagonal(const CgMatrix *a, int row)
{
  int32_t k = row_ptr_of(a)[row];

  while (col_of(a)[k] != row) k++;
  return a->values + k;
}

CgMatrix cg_matrix(int i)
{
  CgMatrix      a;
  const GenSpec spec = spec_of(i, &a.name);

  UNIT_EQUAL(SPMV_SUCCESS, gen_pattern(&spec, SPMV_I32, &a.pattern));
  const int n = (int)a.pattern.rows;
  a.values    = calloc((size_t)a.pattern.nnz + 1, sizeof *a.values);
  a.b         = calloc((size_t)n + 1, sizeof *a.b);
  for (int r = 0; r < n; r++) {
    double sum = 1;
    for (int32_t k = row_ptr_of(&a)[r]; k < row_ptr_of(&a)[r + 1]; k++) {
      const int c = col_of(&a)[k];
      if (c != r) sum -= a.values[k] = -0.1 - gen_uniform((uint64_t)(r < c ? r : c), (uint64_t)(r < c ? c : r));
    }
    *cg_diagonal(&a, r) = sum;
    a.b[r]              = 1 + sin(0.7 * r);
  }
  for (int r = 0; r < n; r++)
    for (int32_t k = row_ptr_of(&a)[r]; k < row_ptr_of(&a)[r + 1]; k++)
      a.values[k] *= (1 + 0.3 * (r % 5)) * (1 + 0.3 * (col_of(&a)[k] % 5));
  return a;
}

void cg_matrix_free(CgMatrix *a)
{
  gen_pattern_free(&a->pattern);
  free(a->values);
  free(a->b);
}
