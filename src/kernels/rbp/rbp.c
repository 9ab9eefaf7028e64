/*
  rbp.c - format rbp, Row Block Packing: the slots of the interface, options, view, and the choice between the layouts.

  Source: Kawamura, Yoneda, Iwamura, Watanabe and Inoguchi, a compression scheme of sparse matrices for simulations on
  GPUs on site. rbp_published.c has the three formats of the paper, rbp_sliced.h describes `packed`, ours.
*/
#include "rbp_sliced.h"
#include <stdio.h>
#include <string.h>
#if defined(SPMV_HAVE_CUDA)
  #include "rbp_device.h"
#endif

static const char *const format_names[] = {"packed", "csr", "ell", "ellr", NULL};

static const SpmvOptionDesc options[] = {
    [RBP_OPTION_FORMAT]  = {"format", SPMV_OPTION_ENUM, RBP_PACKED, 0, 0, format_names,
                            "layout: packed, or one of the published csr, ell, ellr"},
    [RBP_OPTION_MIN_RUN] = {"min_run", SPMV_OPTION_INT, 2, 2, 1000000, NULL,
                            "shortest run of adjacent columns that is packed"},
    {NULL, SPMV_OPTION_INT, 0, 0, 0, NULL, NULL},
};

/* What build takes over from analyze on the host */
typedef struct {
  RbpCounts      counts;
  RbpSlicedSizes sizes; /* of packed only */
} RbpAnalysis;

#define SPMV_BODY "rbp/rbp_scale.inc"
#include "core/instantiate.h"

void rbp_scale(int64_t n, SpmvScalar scalar, const void *beta, void *y)
{
  if (scalar == SPMV_F32) scale_i32_f32(n, beta, y);
  else scale_i32_f64(n, beta, y);
}

int rbp_is_zero(const void *value, SpmvScalar scalar)
{
  return scalar == SPMV_F32 ? *(const float *)value == 0 : *(const double *)value == 0;
}

void rbp_plan_init(RbpPlan *plan, const SpmvCsr *csr, const SpmvAnalysis *analysis, const RbpCounts *counts,
                   const SpmvExec *exec)
{
  spmv_plan_init(&plan->base, csr, analysis, exec);
  plan->format  = (RbpFormat)analysis->options.value[RBP_OPTION_FORMAT];
  plan->min_run = (int64_t)analysis->options.value[RBP_OPTION_MIN_RUN];
  plan->counts  = *counts;
}

static void free_analysis(SpmvAnalysis *analysis, SpmvExec *exec) { spmv_exec_free(exec, SPMV_HOST, analysis->data); }

static SpmvStatus measure_packed(const SpmvPattern *pattern, int64_t min_run, SpmvExec *exec, RbpSlicedSizes *sizes)
{
  RbpGroupCounts   groups;
  const SpmvStatus status = rbp_count_groups(pattern, RBP_MAX_GROUP, &groups);

  if (status) return status;
  sizes->unit = rbp_choose_unit(&groups, min_run);
  return rbp_sliced_measure(pattern, exec, sizes);
}

static SpmvStatus rbp_analyze(const SpmvPattern *pattern, SpmvScalar scalar, const SpmvOptions *chosen, SpmvExec *exec,
                              SpmvAnalysis *analysis)
{
  const RbpFormat format  = (RbpFormat)chosen->value[RBP_OPTION_FORMAT];
  const int64_t   min_run = (int64_t)chosen->value[RBP_OPTION_MIN_RUN];
  RbpAnalysis    *data;
  SpmvStatus      status;

#if defined(SPMV_HAVE_CUDA)
  if (exec->space == SPMV_DEVICE) return rbp_device_analyze(pattern, scalar, chosen, exec, analysis);
#endif
  status = spmv_alloc(exec, SPMV_HOST, sizeof *data, "analysis", &analysis->data);
  if (status) return status;
  analysis->destroy_data = free_analysis;
  data                   = memset(analysis->data, 0, sizeof *data);
  status                 = rbp_count_runs(pattern, min_run, &data->counts);
  if (status) return spmv_fail(exec, status, "the pattern has no row_ptr or col on the host");
  if (format == RBP_PACKED) {
    status = measure_packed(pattern, min_run, exec, &data->sizes);
    if (status) return status;
    rbp_sliced_memory(&data->sizes, pattern->nnz, pattern->index_type, scalar, &analysis->memory);
  } else rbp_published_memory(format, &data->counts, pattern->index_type, scalar, &analysis->memory);
  rbp_decide(&data->counts, format_names[format], analysis);
  return SPMV_SUCCESS;
}

static SpmvStatus rbp_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvExec *exec, SpmvPlan **plan)
{
  const RbpAnalysis *data = analysis->data;

#if defined(SPMV_HAVE_CUDA)
  if (exec->space == SPMV_DEVICE) return rbp_device_build(csr, analysis, exec, plan);
#endif
  if (csr->values_space != SPMV_HOST)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a host plan of format rbp needs its values on the host");
  if (csr->pattern.rows != data->counts.rows || csr->pattern.nnz != data->counts.nnz)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "the analysis is of %lld rows and %lld nonzeros, not of %lld and %lld",
                     (long long)data->counts.rows, (long long)data->counts.nnz, (long long)csr->pattern.rows,
                     (long long)csr->pattern.nnz);
  if ((RbpFormat)analysis->options.value[RBP_OPTION_FORMAT] == RBP_PACKED)
    return rbp_sliced_build(csr, analysis, &data->counts, &data->sizes, exec, plan);
  return rbp_published_build(csr, analysis, &data->counts, exec, plan);
}

static SpmvStatus rbp_update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
#if defined(SPMV_HAVE_CUDA)
  if (base->space == SPMV_DEVICE) return rbp_device_update_values(base, values, values_space, exec);
#endif
  if (values_space != SPMV_HOST)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a host plan of format rbp needs its values on the host");
  if (((RbpPlan *)base)->format == RBP_PACKED) rbp_sliced_update((RbpSliced *)base, values);
  else rbp_published_update((RbpPublished *)base, values);
  return SPMV_SUCCESS;
}

static SpmvStatus rbp_mult(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                           void *work, SpmvExec *exec)
{
#if defined(SPMV_HAVE_CUDA)
  if (base->space == SPMV_DEVICE) return rbp_device_mult(base, alpha, x, beta, y, work, exec);
#endif
  (void)work;
  (void)exec;
  if (((const RbpPlan *)base)->format == RBP_PACKED) rbp_sliced_mult((const RbpSliced *)base, alpha, x, beta, y);
  else rbp_published_mult((const RbpPublished *)base, alpha, x, beta, y);
  return SPMV_SUCCESS;
}

#if defined(SPMV_HAVE_CUDA)
static SpmvStatus rbp_prepare_transpose(SpmvPlan *base, SpmvExec *exec)
{
  return base->space == SPMV_DEVICE ? rbp_device_prepare_transpose(base, exec) : SPMV_SUCCESS;
}
#endif

static SpmvStatus rbp_multtranspose(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                                    void *work, SpmvExec *exec)
{
#if defined(SPMV_HAVE_CUDA)
  if (base->space == SPMV_DEVICE) return rbp_device_multtranspose(base, alpha, x, beta, y, work, exec);
#endif
  (void)work;
  (void)exec;
  if (((const RbpPlan *)base)->format == RBP_PACKED)
    rbp_sliced_multtranspose((const RbpSliced *)base, alpha, x, beta, y);
  else rbp_published_multtranspose((const RbpPublished *)base, alpha, x, beta, y);
  return SPMV_SUCCESS;
}

static SpmvStatus rbp_memory(const SpmvPlan *base, SpmvMemory *memory)
{
  *memory = base->memory;
  return SPMV_SUCCESS;
}

static SpmvStatus rbp_view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  const RbpPlan   *plan = (const RbpPlan *)base;
  const RbpCounts *c    = &plan->counts;
  char             line[SPMV_MESSAGE_MAX];

#if defined(SPMV_HAVE_CUDA)
  if (base->space == SPMV_DEVICE) return rbp_device_view(base, print, ctx);
#endif
  snprintf(line, sizeof line, "format: %s, min_run: %lld", format_names[plan->format], (long long)plan->min_run);
  print(ctx, line);
  snprintf(line, sizeof line, "runs: %lld, mean run: %.2f, longest run: %lld, singles: %lld", (long long)c->runs,
           c->runs ? (double)c->run_values / (double)c->runs : 0.0, (long long)c->longest_run, (long long)c->singles);
  print(ctx, line);
  if (plan->format == RBP_PACKED) rbp_sliced_view((const RbpSliced *)base, print, ctx);
  else {
    snprintf(line, sizeof line, "longest row: %lld nonzeros (K), %lld in runs (Kv), %lld ends of runs (Kc)",
             (long long)c->max_row, (long long)c->max_run_values, (long long)c->max_run_columns);
    print(ctx, line);
  }
  return SPMV_SUCCESS;
}

static void rbp_destroy(SpmvPlan **plan)
{
  if (!plan || !*plan) return;
#if defined(SPMV_HAVE_CUDA)
  if ((*plan)->space == SPMV_DEVICE) {
    rbp_device_destroy(plan);
    return;
  }
#endif
  if (((RbpPlan *)*plan)->format == RBP_PACKED) rbp_sliced_free((RbpSliced *)*plan);
  else rbp_published_free((RbpPublished *)*plan);
  *plan = NULL;
}

#if defined(SPMV_HAVE_CUDA)
  #define RBP_DEVICE_CAPS (SPMV_CAP_DEVICE | SPMV_CAP_DEVICE_BUILD)
#else
  #define RBP_DEVICE_CAPS 0
#endif

/*MC
   MATAIJRBP = "aijrbp" - A sparse matrix stored by Row Block Packing: runs of adjacent columns are kept by their ends,
   and consecutive rows with equal columns share them.

   Options Database Keys:
+  -mat_type aijrbp - sets the type during a call to `MatSetFromOptions()`
.  -mat_aijrbp_format <packed,csr,ell,ellr> - the layout: `packed` (default) or one of the three published ones
-  -mat_aijrbp_min_run <2> - the shortest run of adjacent columns that is packed; nonzeros of shorter runs go to the CSR
   remainder of the published layouts, and `packed` cuts runs into pieces of at least so many columns

   Level: beginner

   Notes:
   The matrix stays `MATAIJ` for everything but its products: it is assembled, factored and multiplied with other
   matrices as one.

   The type pays for matrices of finite elements, above all with several degrees of freedom a node. Where the packed
   layout would not be smaller than the plain one, the products are those of `MATAIJ`, and the view gives the reason.

   Source: T. Kawamura, K. Yoneda, T. Iwamura, M. Watanabe and Y. Inoguchi, a compression scheme of sparse matrices for
   high-precision numerical simulations on site by GPUs. The layout `packed` is not part of it.

.seealso: `MatAIJRBPSetFormat()`, `MatAIJRBPSetMinRun()`, `MATAIJCRSV`, `MATAIJ`
M*/
const SpmvFormat spmv_format_rbp = {
    .abi  = SPMV_ABI,
    .caps = SPMV_CAP_HOST | SPMV_CAP_TRANSPOSE | SPMV_CAP_UPDATE | SPMV_CAP_BITWISE | SPMV_CAP_F32 | SPMV_CAP_I64 |
            RBP_DEVICE_CAPS,
    .name          = "rbp",
    .summary       = "Row Block Packing: runs of adjacent columns",
    .options       = options,
    .analyze       = rbp_analyze,
    .build         = rbp_build,
    .update_values = rbp_update_values,
    .mult          = rbp_mult,
    .multtranspose = rbp_multtranspose,
#if defined(SPMV_HAVE_CUDA)
    .prepare_transpose = rbp_prepare_transpose,
#endif
    .memory  = rbp_memory,
    .view    = rbp_view,
    .destroy = rbp_destroy,
};
