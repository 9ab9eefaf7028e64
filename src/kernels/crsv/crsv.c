/*
  crsv.c - format crsv: y = alpha A x + beta y directly from CSR, without conversion or copy of the matrix.

  Source: Mukunoki and Takahashi, "CRS-vector" (threads per row by the mean row length). This file has the slots of the
  interface, crsv_host.inc the host product, crsv_device*.cu the GPU code.
*/
#include "crsv.h"

#define SPMV_BODY "crsv/crsv_host.inc"
#include "core/instantiate.h"

void crsv_report_csr(const SpmvPattern *pattern, SpmvAnalysis *analysis)
{
  const int64_t index_bytes = spmv_index_bytes(pattern->index_type);
  SpmvMemory   *m           = &analysis->memory;

  spmv_memory_add(m, "values", SPMV_ARRAY_VALUES, pattern->nnz * spmv_scalar_bytes(analysis->scalar_type));
  spmv_memory_add(m, "col", SPMV_ARRAY_INDICES, pattern->nnz * index_bytes);
  spmv_memory_add(m, "row_ptr", SPMV_ARRAY_POINTERS, (pattern->rows + 1) * index_bytes);
}

static SpmvStatus crsv_analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  (void)exec;
  crsv_report_csr(pattern, analysis);
  return SPMV_SUCCESS;
}

static SpmvStatus crsv_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *base, SpmvExec *exec)
{
  CrsvPlan *plan = (CrsvPlan *)base;

  (void)analysis;
  (void)exec;
  plan->row_ptr = csr->pattern.row_ptr;
  plan->col     = csr->pattern.col;
  plan->values  = csr->values;
  return SPMV_SUCCESS;
}

static SpmvStatus crsv_update_values(SpmvPlan *plan, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  (void)values_space;
  (void)exec;
  ((CrsvPlan *)plan)->values = values;
  return SPMV_SUCCESS;
}

static SpmvStatus crsv_extract_values(const SpmvPlan *plan, void *values, SpmvExec *exec)
{
  const int64_t bytes = plan->nnz * spmv_scalar_bytes(plan->scalar_type);
  return spmv_copy(values, SPMV_HOST, ((const CrsvPlan *)plan)->values, SPMV_HOST, bytes, exec);
}

static SpmvStatus crsv_mult(const SpmvPlan *plan, const void *alpha, const void *x, const void *beta, void *y,
                            void *work, SpmvExec *exec)
{
  (void)work;
  (void)exec;
  SPMV_SELECT(crsv_rows, plan->index_type, plan->scalar_type)((const CrsvPlan *)plan, alpha, x, beta, y);
  return SPMV_SUCCESS;
}

static SpmvStatus crsv_add_transposed(const SpmvPlan *plan, const void *alpha, const void *x, void *y, SpmvExec *exec)
{
  (void)exec;
  SPMV_SELECT(crsv_rows_transposed, plan->index_type, plan->scalar_type)((const CrsvPlan *)plan, alpha, x, y);
  return SPMV_SUCCESS;
}

static void crsv_view(const SpmvPlan *plan, SpmvPrint print, void *ctx)
{
  (void)plan;
  print(ctx, "uses the CSR arrays in place");
}

static const SpmvSlots host_slots = {
    .plan_bytes     = sizeof(CrsvPlan),
    .analyze        = crsv_analyze,
    .build          = crsv_build,
    .update_values  = crsv_update_values,
    .extract_values = crsv_extract_values,
    .mult           = crsv_mult,
    .add_transposed = crsv_add_transposed,
    .view           = crsv_view,
};

static const char *const nt_choices[]      = {"auto", "rule", "1", "2", "4", "8", "16", "32", NULL};
static const char *const variant_choices[] = {"all", "no_readonly", "outer_loop", "shared", NULL};
static const char *const device_options[]  = {"nt", "variant", NULL};

static const SpmvOptionDesc crsv_options[] = {
    {"nt", SPMV_OPTION_ENUM, CRSV_NT_AUTO, 0, 0, nt_choices, "threads per row on a GPU",
     "threads per row on a GPU: auto streams the matrix and splits long rows, rule is the paper's, the "
     "power of two next to the mean row length"},
    {"variant", SPMV_OPTION_ENUM, CRSV_ALL, 0, 0, variant_choices, "for comparison",
     "the paper's kernel (nt=rule unless nt is given) without one of its improvements, to compare: without the "
     "read-only path, with a loop over rows, or adding up in shared memory"},
    {.key = NULL},
};

static const double paper_from[SPMV_OPTIONS_MAX] = {
    [CRSV_OPTION_NT] = CRSV_NT_RULE, [CRSV_OPTION_VARIANT] = CRSV_NO_READONLY};

/*MC
   MATAIJCRSV = "aijcrsv" - A sparse matrix whose product works on the plain CSR arrays that `MATAIJ` holds, with
   several lanes per row: without conversion, and with almost no additional memory.

   Options Database Keys:
+  -mat_type aijcrsv      - sets the type during a call to `MatSetFromOptions()`
.  -mat_aijcrsv_nt        - threads per row on a GPU
-  -mat_aijcrsv_variant   - removes one of the improvements of the published kernel, for the paper's comparisons

   Level: beginner

   Notes:
   The page docs/options/aijcrsv.md has the values and the defaults of the options. They concern products on a GPU; on
   the host the product is one loop per row. A fixed number of threads, and `rule`, do not split rows: a few very long
   rows then take most of the time.

   If PETSc is configured with CUDA, the product works on the device arrays of `MATAIJCUSPARSE`, without a copy.

   Source: D. Mukunoki and D. Takahashi, CRS-vector.

.seealso: `MatAIJFmtSetOption()`, `MATAIJRBP`, `MATAIJ`
M*/
const SpmvFormat spmv_format_crsv = {
    .abi            = SPMV_ABI,
    .borrows        = 1,
    .name           = "crsv",
    .summary        = "CRS-vector: plain CSR, several lanes per row",
    .options        = crsv_options,
    .device_options = device_options,
    .host           = &host_slots,
    .device         = SPMV_DEVICE_SLOTS(crsv_device_slots),
    .paper_from     = paper_from,
};
