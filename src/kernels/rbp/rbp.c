/*
  rbp.c - format rbp, Row Block Packing: options, and the slots on the host.

  Source: Kawamura, Yoneda, Iwamura, Watanabe and Inoguchi, a compression scheme of sparse matrices for high-precision
  numerical simulations on site by GPUs. papers/rbp_published.h describes the three layouts of the paper, rbp_host.h our
  layout `packed`.
*/
#include "rbp_host.h"
#include <stdio.h>

static const char *const layout_names[] = {"packed", "csr", "ell", "ellr", NULL};

static const SpmvOptionDesc options[] = {
    [RBP_OPTION_LAYOUT]  = {"layout", SPMV_OPTION_ENUM, RBP_PACKED, 0, 0, layout_names, "for comparison",
                            "packed, or one of the published csr, ell, ellr for comparison with the paper"},
    [RBP_OPTION_MIN_RUN] = {"min_run", SPMV_OPTION_INT, 2, 2, 1000000, NULL, "shortest run of columns that is packed",
                            NULL},
    {.key = NULL},
};

static const double paper_from[SPMV_OPTIONS_MAX] = {[RBP_OPTION_LAYOUT] = RBP_CSR};

/* The data of an analysis, for build */
typedef struct {
  RbpCounts    counts;
  RbpHostSizes sizes;
} RbpAnalysis;

static SpmvStatus measure_packed(const SpmvPattern *pattern, int64_t min_run, SpmvExec *exec, RbpHostSizes *sizes)
{
  RbpGroupCounts groups;

  SPMV_TRY(rbp_count_groups(pattern, RBP_MAX_GROUP, &groups));
  sizes->unit = rbp_choose_unit(&groups, min_run);
  return rbp_host_measure(pattern, exec, sizes);
}

static SpmvStatus analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  const int64_t min_run = rbp_min_run_of(&analysis->options);
  RbpAnalysis  *data    = analysis->data;

  SPMV_TRY(rbp_count_runs(pattern, min_run, &data->counts));
  SPMV_TRY(measure_packed(pattern, min_run, exec, &data->sizes));
  rbp_host_memory(&data->sizes, pattern->nnz, pattern->index_type, analysis->scalar_type, &analysis->memory);
  return SPMV_SUCCESS;
}

static SpmvStatus build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *plan, SpmvExec *exec)
{
  const RbpAnalysis *data = analysis->data;
  return rbp_host_build(csr, &data->counts, &data->sizes, (RbpHostPacked *)plan, exec);
}

static SpmvStatus mult(const SpmvPlan *plan, const void *alpha, const void *x, const void *beta, void *y, void *work,
                       SpmvExec *exec)
{
  (void)work;
  (void)exec;
  rbp_host_mult_by(spmv_isa(), (const RbpHostPacked *)plan, alpha, x, beta, y);
  return SPMV_SUCCESS;
}

static void view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  const RbpHostPacked *plan = (const RbpHostPacked *)base;

  rbp_view_format(base, print, ctx);
  rbp_view_counts(&plan->counts, print, ctx);
  rbp_host_view(plan, print, ctx);
}

static const SpmvSlots host_slots = {
    .analysis_bytes = sizeof(RbpAnalysis),
    .plan_bytes     = sizeof(RbpHostPacked),
    .analyze        = analyze,
    .build          = build,
    .update_values  = rbp_host_update,
    .extract_values = rbp_host_extract,
    .mult           = mult,
    .add_transposed = rbp_host_add_transposed,
    .view           = view,
    .clear          = rbp_host_clear,
};

/*MC
   MATAIJRBP = "aijrbp" - A sparse matrix stored by Row Block Packing: one index stands for
   several adjacent columns, and consecutive rows with equal columns share their column indices.

   Options Database Keys:
+  -mat_type aijrbp - sets the type during a call to `MatSetFromOptions()`
.  -mat_aijrbp_layout - the layout of the arrays
-  -mat_aijrbp_min_run - the shortest run of adjacent columns that is packed

   Level: beginner

   Notes:
   The page docs/options/aijrbp.md has the values and the defaults of the options. Nonzeros of runs shorter than
   `min_run` go to the CSR remainder of the published layouts; the layout `packed` cuts runs into units of one column or
   of at least `min_run` columns.

   Except for its products the matrix behaves as `MATAIJ`: it is assembled, factored and multiplied with other matrices
   in the same way.

   The type is fastest for finite element matrices, above all with several degrees of freedom per node. If the packed
   layout would take more bytes than CSR, the products are those of `MATAIJ`, and the view gives the reason.

   Source: T. Kawamura, K. Yoneda, T. Iwamura, M. Watanabe and Y. Inoguchi, a compression scheme of sparse matrices for
   high-precision numerical simulations on site by GPUs. The layout `packed` is not from that paper.

.seealso: `MatAIJFmtSetOption()`, `MATAIJCRSV`, `MATAIJ`
M*/
const SpmvFormat spmv_format_rbp = {
    .abi        = SPMV_ABI,
    .name       = "rbp",
    .summary    = "Row Block Packing: runs of adjacent columns",
    .options    = options,
    .host       = &host_slots,
    .device     = SPMV_DEVICE_SLOTS(rbp_device_slots),
    .paper_from = paper_from,
};
