/*
  The kernel library without PETSc: every format multiplies the same small matrix, and says how many bytes it takes.

    cc ex3_kernels_only.c $(pkg-config --cflags --libs petscpack)      (a petscpack without the plugin), or
    cc -I<prefix>/include ex3_kernels_only.c -L<prefix>/lib -lspmvpack
*/
#include <spmv_kernels.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 1000, DOFS = 3, ROWS = POINTS * DOFS, MAX_NNZ = ROWS * 3 * DOFS };

/* A chain of points with three unknowns each, coupled to both neighbours: nine adjacent columns per row */
static SpmvCsr chain(int32_t *row_ptr, int32_t *col, double *values)
{
  int32_t nnz = 0;

  for (int32_t row = 0; row < ROWS; row++) {
    const int32_t point = row / DOFS;
    row_ptr[row]        = nnz;
    for (int32_t j = (point > 0 ? point - 1 : 0) * DOFS; j < ROWS && j < (point + 2) * DOFS; j++) {
      col[nnz]      = j;
      values[nnz++] = j == row ? 4 : -1.0 / (1 + abs(row - j));
    }
  }
  row_ptr[ROWS] = nnz;
  return (SpmvCsr){
      .pattern      = {.rows = ROWS, .cols = ROWS, .nnz = nnz, .index_type = SPMV_I32, .row_ptr = row_ptr, .col = col},
      .scalar_type  = SPMV_F64,
      .values_space = SPMV_HOST,
      .values       = values,
  };
}

static double largest_error(const SpmvCsr *csr, const double *x, const double *y)
{
  const int32_t *row_ptr = csr->pattern.row_ptr, *col = csr->pattern.col;
  const double  *values  = csr->values;
  double         largest = 0;

  for (int32_t i = 0; i < ROWS; i++) {
    double error = -y[i];
    for (int32_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) error += values[k] * x[col[k]];
    if (error < 0) error = -error;
    if (error > largest) largest = error;
  }
  return largest;
}

/* Analyse, build, multiply: the three calls that a caller of the library needs */
static SpmvStatus multiply(const SpmvFormat *format, const SpmvCsr *csr, const double *x, double *y, SpmvExec *exec)
{
  const double one = 1, zero = 0;
  SpmvOptions  options;
  SpmvAnalysis analysis;
  SpmvPlan    *plan = NULL;
  void        *work = NULL;
  SpmvStatus   status;

  spmv_options_init(&options, format);
  status = spmv_analyze(format, &csr->pattern, csr->scalar_type, &options, exec, &analysis);
  if (status) return status;
  printf("%-8s %8lld bytes, CSR has %lld%s%s\n", format->name, (long long)analysis.memory.total_bytes,
         (long long)analysis.memory.csr_bytes, analysis.accepted ? "" : "; would rather not: ", analysis.reason);
  status = spmv_build(csr, &analysis, exec, &plan);
  if (!status) status = spmv_alloc(exec, SPMV_HOST, analysis.memory.work_bytes, "work", &work);
  if (!status) status = spmv_mult(plan, &one, x, &zero, y, work, exec);
  spmv_exec_free(exec, SPMV_HOST, work);
  spmv_destroy(&plan);
  spmv_analysis_clear(&analysis, exec);
  return status;
}

int main(void)
{
  static int32_t row_ptr[ROWS + 1], col[MAX_NNZ];
  static double  values[MAX_NNZ], x[ROWS], y[ROWS];
  const SpmvCsr  csr = chain(row_ptr, col, values);
  SpmvExec       exec;

  for (int i = 0; i < ROWS; i++) x[i] = 1 + i % 7;
  spmv_exec_init(&exec, SPMV_HOST);
  for (int i = 0; i < spmv_format_count(); i++) {
    const SpmvFormat *format = spmv_format_get(i);
    const SpmvStatus  status = multiply(format, &csr, x, y, &exec);

    if (status) {
      fprintf(stderr, "%s: %s: %s\n", format->name, spmv_status_text(status), exec.message);
      return EXIT_FAILURE;
    }
    if (largest_error(&csr, x, y) > 1e-12) {
      fprintf(stderr, "%s: wrong product\n", format->name);
      return EXIT_FAILURE;
    }
  }
  return EXIT_SUCCESS;
}
