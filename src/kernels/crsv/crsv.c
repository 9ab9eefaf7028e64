/*
  crsv.c - format crsv: y = alpha A x + beta y straight from CSR, no conversion, no copy of the matrix.

  Source: Mukunoki and Takahashi, "CRS-vector" (threads a row by the mean row length). This file has the slots of the
  interface; crsv_host.inc has the arithmetic on the host, crsv_device*.cu all of the GPU.
*/
#include "crsv.h"
#if defined(SPMV_HAVE_CUDA)
  #include "crsv_device.h"
#endif

#define SPMV_BODY "crsv/crsv_host.inc"
#include "core/instantiate.h"

static SpmvStatus crsv_analyze(const SpmvPattern *pattern, SpmvScalar scalar, const SpmvOptions *options,
                               SpmvExec *exec, SpmvAnalysis *analysis)
{
  const int64_t index_bytes = spmv_index_bytes(pattern->index_type);

  (void)options;
  spmv_memory_add(&analysis->memory, "values", SPMV_ARRAY_VALUES, pattern->nnz * spmv_scalar_bytes(scalar));
  spmv_memory_add(&analysis->memory, "col", SPMV_ARRAY_INDICES, pattern->nnz * index_bytes);
  spmv_memory_add(&analysis->memory, "row_ptr", SPMV_ARRAY_POINTERS, (pattern->rows + 1) * index_bytes);
#if defined(SPMV_HAVE_CUDA)
  if (exec->space == SPMV_DEVICE) return crsv_device_analyze(pattern, scalar, options, exec, analysis);
#endif
  (void)exec;
  return SPMV_SUCCESS;
}

static SpmvStatus crsv_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvExec *exec, SpmvPlan **out)
{
  CrsvPlan  *plan;
  void      *block;
  SpmvStatus status;

#if defined(SPMV_HAVE_CUDA)
  if (exec->space == SPMV_DEVICE) return crsv_device_build(csr, analysis, exec, out);
#endif
  status = spmv_alloc(exec, SPMV_HOST, sizeof *plan, "plan", &block);
  if (status) return status;
  plan = block;
  spmv_plan_init(&plan->base, csr, analysis, exec);
  plan->row_ptr = csr->pattern.row_ptr;
  plan->col     = csr->pattern.col;
  plan->values  = csr->values;
  *out          = &plan->base;
  return SPMV_SUCCESS;
}

static SpmvStatus crsv_update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
#if defined(SPMV_HAVE_CUDA)
  if (base->space == SPMV_DEVICE) return crsv_device_update_values(base, values, values_space, exec);
#endif
  if (values_space != base->space)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "crsv borrows its values: they must lie in the space of the plan");
  ((CrsvPlan *)base)->values = values;
  return SPMV_SUCCESS;
}

static SpmvStatus crsv_mult(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                            void *work, SpmvExec *exec)
{
#if defined(SPMV_HAVE_CUDA)
  if (base->space == SPMV_DEVICE) return crsv_device_mult(base, alpha, x, beta, y, work, exec);
#endif
  (void)work;
  (void)exec;
  SPMV_SELECT(crsv_mult, base->index_type, base->scalar_type)((const CrsvPlan *)base, alpha, x, beta, y);
  return SPMV_SUCCESS;
}

static SpmvStatus crsv_multtranspose(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                                     void *work, SpmvExec *exec)
{
#if defined(SPMV_HAVE_CUDA)
  if (base->space == SPMV_DEVICE) return crsv_device_multtranspose(base, alpha, x, beta, y, work, exec);
#endif
  (void)work;
  (void)exec;
  SPMV_SELECT(crsv_multtranspose, base->index_type, base->scalar_type)((const CrsvPlan *)base, alpha, x, beta, y);
  return SPMV_SUCCESS;
}

#if defined(SPMV_HAVE_CUDA)
static SpmvStatus crsv_prepare_transpose(SpmvPlan *base, SpmvExec *exec)
{
  return base->space == SPMV_DEVICE ? crsv_device_prepare_transpose(base, exec) : SPMV_SUCCESS;
}
#endif

static SpmvStatus crsv_memory(const SpmvPlan *base, SpmvMemory *memory)
{
  *memory = base->memory;
  return SPMV_SUCCESS;
}

static SpmvStatus crsv_view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
#if defined(SPMV_HAVE_CUDA)
  if (base->space == SPMV_DEVICE) return crsv_device_view(base, print, ctx);
#endif
  (void)base;
  print(ctx, "uses the CSR arrays in place");
  return SPMV_SUCCESS;
}

static void crsv_destroy(SpmvPlan **plan)
{
  if (!plan || !*plan) return;
#if defined(SPMV_HAVE_CUDA)
  if ((*plan)->space == SPMV_DEVICE) {
    crsv_device_destroy(plan);
    return;
  }
#endif
  SpmvAllocator host = (*plan)->host, device = (*plan)->device;
  spmv_free(&host, &device, SPMV_HOST, *plan);
  *plan = NULL;
}

static const char *const nt_choices[]      = {"auto", "rule", "1", "2", "4", "8", "16", "32", NULL};
static const char *const variant_choices[] = {"all", "no_readonly", "outer_loop", "shared", NULL};

static const SpmvOptionDesc crsv_options[] = {
    {"nt", SPMV_OPTION_ENUM, CRSV_NT_AUTO, 0, 0, nt_choices,
     "threads a row on a GPU: auto streams the matrix and splits long rows, rule is the paper's"},
    {"variant", SPMV_OPTION_ENUM, CRSV_ALL, 0, 0, variant_choices,
     "with nt other than auto: the paper's kernel without one of its improvements, to compare"},
    {NULL, SPMV_OPTION_INT, 0, 0, 0, NULL, NULL},
};

/*MC
   MATAIJCRSV = "aijcrsv" - A sparse matrix whose product works on the plain CSR arrays that `MATAIJ` holds, with
   several lanes a row: no conversion, and next to no further memory.

   Options Database Keys:
+  -mat_type aijcrsv      - sets the type during a call to `MatSetFromOptions()`
.  -mat_aijcrsv_nt        - threads a row on a GPU: `auto` (default) streams the matrix in blocks and splits long rows;
                            `rule` takes the power of two next to the mean row; 1, 2, 4, 8, 16 or 32
-  -mat_aijcrsv_variant   - `all` (default), or the kernel of a fixed number of threads without the read-only path
                            (`no_readonly`), with a loop over rows (`outer_loop`), or adding up in shared memory
                            (`shared`): what the paper compares

   Level: beginner

   Notes:
   The options concern products on a GPU; on the host a row is one loop. With a PETSc that has CUDA the product works on
   the device arrays of `MATAIJCUSPARSE`, without a copy. A fixed number of threads, and `rule`, do not split rows:
   a few very long ones then take most of the time.

   Source: D. Mukunoki and D. Takahashi, CRS-vector.

.seealso: `MatAIJCRSVSetThreads()`, `MatAIJCRSVSetVariant()`, `MATAIJRBP`, `MATAIJ`
M*/
const SpmvFormat spmv_format_crsv = {
    .abi  = SPMV_ABI,
    .caps = SPMV_CAP_HOST | SPMV_CAP_TRANSPOSE | SPMV_CAP_UPDATE | SPMV_CAP_BITWISE | SPMV_CAP_F32 | SPMV_CAP_I64 |
#if defined(SPMV_HAVE_CUDA)
            SPMV_CAP_DEVICE | SPMV_CAP_DEVICE_BUILD |
#endif
            SPMV_CAP_BORROWS,
    .name          = "crsv",
    .summary       = "CRS-vector: plain CSR, several lanes a row",
    .options       = crsv_options,
    .analyze       = crsv_analyze,
    .build         = crsv_build,
    .update_values = crsv_update_values,
    .mult          = crsv_mult,
    .multtranspose = crsv_multtranspose,
#if defined(SPMV_HAVE_CUDA)
    .prepare_transpose = crsv_prepare_transpose,
#endif
    .memory  = crsv_memory,
    .view    = crsv_view,
    .destroy = crsv_destroy,
};
