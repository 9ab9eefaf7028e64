/*
  rbp_published_device.cu - the slots of the layouts csr, ell and ellr of the paper on the device; all kernels use one
  thread per row. The host makes the index arrays, also from a CSR on the device.
*/
#include "device/csr.cuh"
#include "device/upload.cuh"
#include "device/vector.cuh"
#include "rbp_published.h"

namespace
{
enum { ROW_THREADS = 128 };

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
          p->base.rows,          p->counts.max_run_columns / 2, p->layout == RBP_CSR};
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
  return spmv_sum_before(length, *rows, n, &scratch->arena, exec);
}

template <typename I, typename S>
SpmvStatus refill(const RbpPublished *plan, const void *csr, SpmvExec *exec)
{
  SpmvScopedArena scratch(exec);
  int64_t        *rows;
  const int64_t   n = plan->base.rows, padded = plan->layout == RBP_CSR ? 0 : n * plan->counts.max_run_values;

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

/* A pattern on the host, a copy if it lies on the device */
struct HostPattern {
  SpmvExec   *exec;
  SpmvPattern pattern;
  void       *row_ptr = nullptr, *col = nullptr;

  ~HostPattern()
  {
    spmv_exec_free(exec, SPMV_HOST, row_ptr);
    spmv_exec_free(exec, SPMV_HOST, col);
  }
  SpmvStatus fetch()
  {
    const int64_t I = spmv_index_bytes(pattern.index_type), rows = (pattern.rows + 1) * I, nnz = pattern.nnz * I;

    if (pattern.space == SPMV_HOST) return SPMV_SUCCESS;
    SPMV_TRY(spmv_alloc(exec, SPMV_HOST, rows, "row_ptr", &row_ptr));
    SPMV_TRY(spmv_alloc(exec, SPMV_HOST, nnz, "col", &col));
    SPMV_TRY(spmv_fetch(row_ptr, pattern.row_ptr, rows, exec));
    if (nnz > 0) SPMV_TRY(spmv_fetch(col, pattern.col, nnz, exec));
    pattern.space   = SPMV_HOST;
    pattern.row_ptr = row_ptr;
    pattern.col     = col;
    return SPMV_SUCCESS;
  }
};

SpmvStatus analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  HostPattern host = {exec, *pattern};

  SPMV_TRY(spmv_check_counts(analysis, 0, exec));
  SPMV_TRY(host.fetch());
  return rbp_published_analyze(&host.pattern, analysis, exec);
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
  RbpPublished *plan = (RbpPublished *)base;
  HostPattern   host = {exec, csr->pattern};

  SPMV_TRY(rbp_published_init(plan, analysis, exec));
  SPMV_TRY(host.fetch());
  SPMV_TRY(rbp_published_upload(plan, analysis, &host.pattern, exec));
  return update_values(base, csr->values, csr->values_space, exec);
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
    nullptr, /* mult_rounded */
    nullptr, /* step */
};
