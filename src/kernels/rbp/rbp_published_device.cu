/*
  rbp_published_device.cu - the slots of the layouts csr, ell and ellr of the paper on the device; all kernels use one
  thread per row.
*/
#include "device/upload.cuh"
#include "device/vector.cuh"
#include "rbp_published.h"
#include <cub/device/device_scan.cuh>

namespace
{
enum { ROW_THREADS = 128 };

/* Values in runs, ends of runs, and singles of every row; the row pointers are their running sums */
template <typename I>
struct RowCounts {
  I *values, *columns, *singles; /* [rows+1]; the last entry is 0 */
};

/* The arrays of a plan, typed; the first column of run r of row i is at [column0 + 2 r stride], its last column stride
   further */
template <typename I, typename S>
struct Arrays {
  const I *val_ptr, *col_ptr, *row_length, *comp_columns, *row_ptr, *columns;
  S       *comp_values, *values;
  int64_t  rows, max_runs;
  int      is_csr;

  __device__ int64_t stride() const { return is_csr ? 1 : rows; }
  __device__ int64_t value0(int64_t i) const { return is_csr ? (int64_t)val_ptr[i] : i; }
  __device__ int64_t column0(int64_t i) const { return is_csr ? (int64_t)col_ptr[i] : i; }
  __device__ int64_t runs(int64_t i) const
  {
    return is_csr ? (int64_t)(col_ptr[i + 1] - col_ptr[i]) / 2 : row_length ? (int64_t)row_length[i] : max_runs;
  }
};

template <typename I, typename S>
Arrays<I, S> arrays_of(const RbpPublished *p)
{
  return {(const I *)p->val_ptr, (const I *)p->col_ptr,         (const I *)p->row_length, (const I *)p->comp_columns,
          (const I *)p->row_ptr, (const I *)p->columns,         (S *)p->comp_values,      (S *)p->values,
          p->base.rows,          p->counts.max_run_columns / 2, p->format == RBP_CSR};
}

/* One past the last position of the run of adjacent columns that begins at position k */
template <typename I>
__device__ inline int64_t run_end(const I *col, int64_t k, int64_t end)
{
  for (k++; k < end && col[k] == col[k - 1] + 1;) k++;
  return k;
}

/* Counters over all rows: sums and maxima, named as in RbpCounts */
enum { RUNS, RUN_VALUES, SINGLES, MAX_ROW, MAX_RUN_VALUES, MAX_RUN_COLUMNS, LONGEST_RUN, TOTALS };

template <typename I>
__global__ void rbp_count_rows(const I *row_ptr, const I *col, int64_t rows, int64_t min_run, RowCounts<I> counts,
                               unsigned long long *totals)
{
  const int64_t i    = blockIdx.x * (int64_t)ROW_THREADS + threadIdx.x;
  long long     runs = 0, values = 0, singles = 0, longest = 0;
  if (i > rows) return;
  if (i < rows) {
    const int64_t end = row_ptr[i + 1];
    for (int64_t k = row_ptr[i], next; k < end; k = next) {
      next                = run_end(col, k, end);
      const long long len = next - k;
      if (len >= 2 && len > longest) longest = len;
      if (len < min_run) singles += len;
      else {
        runs++;
        values += len;
      }
    }
    atomicAdd(&totals[RUNS], runs);
    atomicAdd(&totals[RUN_VALUES], values);
    atomicAdd(&totals[SINGLES], singles);
    atomicMax(&totals[MAX_ROW], values + singles);
    atomicMax(&totals[MAX_RUN_VALUES], values);
    atomicMax(&totals[MAX_RUN_COLUMNS], 2 * runs);
    atomicMax(&totals[LONGEST_RUN], longest);
  }
  if (!counts.values) return;
  counts.values[i]  = (I)values;
  counts.columns[i] = (I)(2 * runs);
  counts.singles[i] = (I)singles;
}

template <typename I>
__global__ void rbp_fill_columns(const I *csr_row, const I *col, int64_t rows, int64_t min_run, int is_csr,
                                 int64_t max_runs, const I *col_ptr, I *row_length, I *comp_columns, const I *row_ptr,
                                 I *columns)
{
  const int64_t i = blockIdx.x * (int64_t)ROW_THREADS + threadIdx.x;
  if (i >= rows) return;
  const int64_t stride = is_csr ? 1 : rows, end = csr_row[i + 1];
  int64_t       at = is_csr ? (int64_t)col_ptr[i] : i, single = row_ptr[i], runs = 0;

  for (int64_t k = csr_row[i], next; k < end; k = next) {
    next = run_end(col, k, end);
    if (next - k < min_run) {
      while (k < next) columns[single++] = col[k++];
      continue;
    }
    comp_columns[at]          = col[k];
    comp_columns[at + stride] = col[next - 1];
    at += 2 * stride;
    runs++;
  }
  if (row_length) row_length[i] = (I)runs;
  for (int64_t r = runs; !is_csr && r < max_runs; r++, at += 2 * stride) {
    comp_columns[at]          = 0;
    comp_columns[at + stride] = -1;
  }
}

/* Calls visit(position in the CSR, column, pointer to the value) for the nonzeros of row i, in CSR order */
template <typename I, typename S, typename Visit>
__device__ void for_row(const Arrays<I, S> &a, int64_t i, int64_t position, Visit visit)
{
  const int64_t stride = a.stride(), end = a.row_ptr[i + 1], runs = a.runs(i);
  int64_t       single = a.row_ptr[i], at = a.column0(i), value = a.value0(i);

  for (int64_t r = 0; r < runs; r++, at += 2 * stride) {
    const I first = a.comp_columns[at], last = a.comp_columns[at + stride];
    if (last < first) break;
    for (; single < end && a.columns[single] < first; single++) visit(position++, a.columns[single], a.values + single);
    for (I c = first; c <= last; c++, value += stride) visit(position++, c, a.comp_values + value);
  }
  for (; single < end; single++) visit(position++, a.columns[single], a.values + single);
}

template <typename I, typename S>
__global__ void rbp_row_lengths(Arrays<I, S> a, int64_t *length)
{
  const int64_t i = blockIdx.x * (int64_t)ROW_THREADS + threadIdx.x;
  if (i > a.rows) return;
  int64_t n = 0;
  if (i < a.rows) for_row(a, i, 0, [&](int64_t, I, S *) { n++; });
  length[i] = n;
}

template <typename I, typename S>
__global__ void rbp_refill(Arrays<I, S> a, const int64_t *csr_row, const S *csr)
{
  const int64_t i = blockIdx.x * (int64_t)ROW_THREADS + threadIdx.x;
  if (i < a.rows) for_row(a, i, csr_row[i], [&](int64_t k, I, S *value) { *value = csr[k]; });
}

template <typename I, typename S>
__global__ void rbp_list_nonzeros(Arrays<I, S> a, const int64_t *csr_row, SpmvNonzeros to)
{
  const int64_t i = blockIdx.x * (int64_t)ROW_THREADS + threadIdx.x;
  if (i >= a.rows) return;
  for_row(a, i, csr_row[i], [&](int64_t k, I column, S *value) {
    ((S *)to.values)[k] = *value;
    if (!to.row) return;
    to.row[k] = (int32_t)i;
    to.col[k] = (int32_t)column;
  });
}

template <typename I, typename S>
__global__ void rbp_list_diagonal(Arrays<I, S> a, S *diagonal)
{
  const int64_t i = blockIdx.x * (int64_t)ROW_THREADS + threadIdx.x;
  if (i >= a.rows) return;
  for_row(a, i, 0, [&](int64_t, I column, S *value) {
    if (column == i) diagonal[i] = *value;
  });
}

/* The paper's algorithm: first the runs by their ends, then the remainder */
template <typename I, typename S>
__global__ void rbp_row_per_thread(Arrays<I, S> a, S alpha, const S *__restrict__ x, S beta, S *__restrict__ y)
{
  const int64_t i = blockIdx.x * (int64_t)ROW_THREADS + threadIdx.x;
  if (i >= a.rows) return;
  const int64_t stride = a.stride(), runs = a.runs(i), end = a.row_ptr[i + 1];
  int64_t       at = a.column0(i), value = a.value0(i);
  S             sum = 0;

  for (int64_t r = 0; r < runs; r++, at += 2 * stride) {
    const I last = a.comp_columns[at + stride];
    for (I c = a.comp_columns[at]; c <= last; c++, value += stride) sum += a.comp_values[value] * x[c];
  }
  for (int64_t k = a.row_ptr[i]; k < end; k++) sum += a.values[k] * x[a.columns[k]];
  y[i] = spmv_axpby(alpha, sum, beta, y + i);
}

template <typename I>
SpmvStatus count(const SpmvPattern *p, int64_t min_run, RowCounts<I> rows, RbpCounts *c, SpmvExec *exec)
{
  unsigned long long  total[TOTALS] = {0};
  SpmvScopedArena     scratch(exec);
  unsigned long long *totals;

  SPMV_TRY(scratch.array((int64_t)TOTALS, "totals", &totals));
  SPMV_CUDA(exec, cudaMemsetAsync(totals, 0, sizeof total, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, rbp_count_rows<I>, spmv_blocks(p->rows + 1, ROW_THREADS), ROW_THREADS, 0, (const I *)p->row_ptr,
              (const I *)p->col, p->rows, min_run, rows, totals);
  if (!c) return SPMV_SUCCESS;
  SPMV_TRY(spmv_fetch(total, totals, sizeof total, exec));
  *c = {p->rows,
        p->nnz,
        (int64_t)total[RUNS],
        (int64_t)total[RUN_VALUES],
        (int64_t)total[SINGLES],
        (int64_t)total[MAX_ROW],
        (int64_t)total[MAX_RUN_VALUES],
        (int64_t)total[MAX_RUN_COLUMNS],
        (int64_t)total[LONGEST_RUN]};
  return SPMV_SUCCESS;
}

template <typename I>
SpmvStatus sum_up(const I *counts, I *pointers, int64_t n, SpmvArena *arena, SpmvExec *exec)
{
  SPMV_CUB(exec, arena, cub::DeviceScan::ExclusiveSum(scratch, bytes, counts, pointers, n, (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}

template <typename I>
SpmvStatus fill_indices(RbpPublished *plan, const SpmvPattern *p, SpmvExec *exec)
{
  const int64_t   n = p->rows + 1;
  SpmvScopedArena scratch(exec);
  RowCounts<I>    row;

  SPMV_TRY(scratch.array(n, "row counts", &row.values));
  SPMV_TRY(scratch.array(n, "row counts", &row.columns));
  SPMV_TRY(scratch.array(n, "row counts", &row.singles));
  SPMV_TRY(count<I>(p, plan->min_run, row, nullptr, exec));
  if (plan->val_ptr) SPMV_TRY(sum_up(row.values, (I *)plan->val_ptr, n, &scratch.arena, exec));
  if (plan->col_ptr) SPMV_TRY(sum_up(row.columns, (I *)plan->col_ptr, n, &scratch.arena, exec));
  SPMV_TRY(sum_up(row.singles, (I *)plan->row_ptr, n, &scratch.arena, exec));
  SPMV_LAUNCH(exec, rbp_fill_columns<I>, spmv_blocks(p->rows, ROW_THREADS), ROW_THREADS, 0, (const I *)p->row_ptr,
              (const I *)p->col, p->rows, plan->min_run, plan->format == RBP_CSR, plan->counts.max_run_columns / 2,
              (const I *)plan->col_ptr, (I *)plan->row_length, (I *)plan->comp_columns, (const I *)plan->row_ptr,
              (I *)plan->columns);
  return SPMV_SUCCESS;
}

/* Computes the CSR position of each row from the plan */
template <typename I, typename S>
SpmvStatus csr_rows(const RbpPublished *plan, SpmvScopedArena *scratch, int64_t **rows, SpmvExec *exec)
{
  const int64_t n = plan->base.rows + 1;
  int64_t      *length;

  SPMV_TRY(scratch->array(n, "row lengths", &length));
  SPMV_TRY(scratch->array(n, "row starts", rows));
  SPMV_LAUNCH(exec, (rbp_row_lengths<I, S>), spmv_blocks(n, ROW_THREADS), ROW_THREADS, 0, (arrays_of<I, S>(plan)),
              length);
  return sum_up(length, *rows, n, &scratch->arena, exec);
}

template <typename I, typename S>
SpmvStatus refill(const RbpPublished *plan, const void *csr, SpmvExec *exec)
{
  SpmvScopedArena scratch(exec);
  int64_t        *rows;
  const int64_t   n = plan->base.rows, padded = plan->format == RBP_CSR ? 0 : n * plan->counts.max_run_values;

  SPMV_TRY((csr_rows<I, S>(plan, &scratch, &rows, exec)));
  if (padded)
    SPMV_CUDA(exec, cudaMemsetAsync(plan->comp_values, 0, (size_t)padded * sizeof(S), (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, (rbp_refill<I, S>), spmv_blocks(n, ROW_THREADS), ROW_THREADS, 0, (arrays_of<I, S>(plan)), rows,
              (const S *)csr);
  return spmv_stream_wait(exec); /* rows leaves scope */
}

template <typename I, typename S>
SpmvStatus list(const RbpPublished *plan, const SpmvNonzeros *to, SpmvExec *exec)
{
  SpmvScopedArena scratch(exec);
  int64_t        *rows;

  if (to->diagonal) {
    SPMV_LAUNCH(exec, (rbp_list_diagonal<I, S>), spmv_blocks(plan->base.rows, ROW_THREADS), ROW_THREADS, 0,
                (arrays_of<I, S>(plan)), (S *)to->diagonal);
    return SPMV_SUCCESS;
  }
  SPMV_TRY((csr_rows<I, S>(plan, &scratch, &rows, exec)));
  SPMV_LAUNCH(exec, (rbp_list_nonzeros<I, S>), spmv_blocks(plan->base.rows, ROW_THREADS), ROW_THREADS, 0,
              (arrays_of<I, S>(plan)), rows, *to);
  return spmv_stream_wait(exec); /* rows leaves scope */
}

template <typename I, typename S>
SpmvStatus multiply(const RbpPublished *plan, const void *alpha, const void *x, const void *beta, void *y,
                    SpmvExec *exec)
{
  SPMV_LAUNCH(exec, (rbp_row_per_thread<I, S>), spmv_blocks(plan->base.rows, ROW_THREADS), ROW_THREADS, 0,
              (arrays_of<I, S>(plan)), *(const S *)alpha, (const S *)x, *(const S *)beta, (S *)y);
  return SPMV_SUCCESS;
}

SpmvStatus analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  const int64_t   min_run = rbp_min_run_of(&analysis->options);
  RbpCounts      *c       = (RbpCounts *)analysis->data;
  SpmvScopedArena scratch(exec);
  SpmvPattern     p;

  SPMV_TRY(spmv_check_counts(analysis, 0, exec));
  SPMV_TRY(spmv_pattern_on_device(pattern, &scratch.arena, exec, &p));
  if (p.index_type == SPMV_I64) SPMV_TRY(count<int64_t>(&p, min_run, {}, c, exec));
  else SPMV_TRY(count<int32_t>(&p, min_run, {}, c, exec));
  rbp_published_report(p.index_type, analysis);
  return SPMV_SUCCESS;
}

SpmvStatus update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  const RbpPublished *plan = (const RbpPublished *)base;

  return spmv_fill_values(base, values, values_space, exec, [&](const void *there) {
    return SPMV_BY_TYPES(refill, base->index_type, base->scalar_type, plan, there, exec);
  });
}

SpmvStatus build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *base, SpmvExec *exec)
{
  RbpPublished   *plan = (RbpPublished *)base;
  SpmvScopedArena scratch(exec);
  SpmvPattern     p;

  SPMV_TRY(spmv_pattern_on_device(&csr->pattern, &scratch.arena, exec, &p));
  SPMV_TRY(rbp_published_init(plan, analysis, exec));
  SPMV_TRY(p.index_type == SPMV_I64 ? fill_indices<int64_t>(plan, &p, exec) : fill_indices<int32_t>(plan, &p, exec));
  SPMV_TRY(update_values(base, csr->values, csr->values_space, exec));
  return spmv_stream_wait(exec); /* the uploaded pattern leaves scope */
}

SpmvStatus mult(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y, void *work,
                SpmvExec *exec)
{
  (void)work;
  return SPMV_BY_TYPES(multiply, base->index_type, base->scalar_type, (const RbpPublished *)base, alpha, x, beta, y,
                       exec);
}

SpmvStatus list_nonzeros(const SpmvPlan *base, const SpmvNonzeros *to, SpmvExec *exec)
{
  return SPMV_BY_TYPES(list, base->index_type, base->scalar_type, (const RbpPublished *)base, to, exec);
}

/* A^T always has the layout packed: if A has a long column, ell of A^T would not fit in memory */
SpmvStatus prepare_transpose(SpmvPlan *base, SpmvExec *exec)
{
  SpmvOptions options;

  spmv_options_init(&options, base->format);
  return spmv_transpose_listed(base, &options, exec);
}
} // namespace

const SpmvSlots rbp_published_device_slots = {
    sizeof(RbpCounts),
    sizeof(RbpPublished),
    nullptr, /* choose */
    analyze,
    nullptr, /* clear_analysis */
    build,
    update_values,
    nullptr, /* extract_values: by list_nonzeros */
    mult,
    nullptr, /* add_transposed */
    list_nonzeros,
    prepare_transpose,
    rbp_published_view,
    rbp_published_clear,
    nullptr, /* rounded */
    nullptr, /* step */
};
