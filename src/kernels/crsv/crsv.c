/*
  crsv.c - format crsv: y = alpha A x + beta y straight from CSR, no conversion, no memory of its own.

  Source: Mukunoki and Takahashi, "CRS-vector" (threads a row by the mean row length). This file has the slots of the
  interface; crsv_host.inc has the arithmetic.
*/
#include "crsv.h"

#define SPMV_BODY "crsv/crsv_host.inc"
#include "core/instantiate.h"

static SpmvStatus crsv_analyze(const SpmvPattern *pattern, SpmvScalar scalar, const SpmvOptions *options,
                               SpmvExec *exec, SpmvAnalysis *analysis)
{
  const int64_t index_bytes = spmv_index_bytes(pattern->index_type);

  (void)options;
  (void)exec;
  spmv_memory_add(&analysis->memory, "values", SPMV_ARRAY_VALUES, pattern->nnz * spmv_scalar_bytes(scalar));
  spmv_memory_add(&analysis->memory, "col", SPMV_ARRAY_INDICES, pattern->nnz * index_bytes);
  spmv_memory_add(&analysis->memory, "row_ptr", SPMV_ARRAY_POINTERS, (pattern->rows + 1) * index_bytes);
  return SPMV_SUCCESS;
}

static SpmvStatus crsv_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvExec *exec, SpmvPlan **out)
{
  CrsvPlan  *plan;
  void      *block;
  SpmvStatus status = spmv_alloc(exec, SPMV_HOST, sizeof *plan, "plan", &block);

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
  if (values_space != base->space)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "crsv borrows its values: they must lie in the space of the plan");
  ((CrsvPlan *)base)->values = values;
  return SPMV_SUCCESS;
}

static SpmvStatus crsv_mult(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                            void *work, SpmvExec *exec)
{
  (void)work;
  (void)exec;
  SPMV_SELECT(crsv_mult, base->index_type, base->scalar_type)((const CrsvPlan *)base, alpha, x, beta, y);
  return SPMV_SUCCESS;
}

static SpmvStatus crsv_multtranspose(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                                     void *work, SpmvExec *exec)
{
  (void)work;
  (void)exec;
  SPMV_SELECT(crsv_multtranspose, base->index_type, base->scalar_type)((const CrsvPlan *)base, alpha, x, beta, y);
  return SPMV_SUCCESS;
}

static SpmvStatus crsv_memory(const SpmvPlan *base, SpmvMemory *memory)
{
  *memory = base->memory;
  return SPMV_SUCCESS;
}

static SpmvStatus crsv_view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  (void)base;
  print(ctx, "uses the CSR arrays in place");
  return SPMV_SUCCESS;
}

static void crsv_destroy(SpmvPlan **plan)
{
  if (!plan || !*plan) return;
  SpmvAllocator host = (*plan)->host, device = (*plan)->device;
  spmv_free(&host, &device, SPMV_HOST, *plan);
  *plan = NULL;
}

/*MC
   MATAIJCRSV = "aijcrsv" - A sparse matrix whose product works on the plain CSR arrays that `MATAIJ` holds, with
   several lanes a row: no conversion and no further memory.

   Options Database Key:
.  -mat_type aijcrsv - sets the type during a call to `MatSetFromOptions()`

   Level: beginner

   Note:
   Source: D. Mukunoki and D. Takahashi, CRS-vector.

.seealso: `MATAIJRBP`, `MATAIJ`
M*/
const SpmvFormat spmv_format_crsv = {
    .abi  = SPMV_ABI,
    .caps = SPMV_CAP_HOST | SPMV_CAP_TRANSPOSE | SPMV_CAP_UPDATE | SPMV_CAP_BITWISE | SPMV_CAP_F32 | SPMV_CAP_I64 |
            SPMV_CAP_BORROWS,
    .name          = "crsv",
    .summary       = "CRS-vector: plain CSR, several lanes a row",
    .options       = NULL,
    .analyze       = crsv_analyze,
    .build         = crsv_build,
    .update_values = crsv_update_values,
    .mult          = crsv_mult,
    .multtranspose = crsv_multtranspose,
    .memory        = crsv_memory,
    .view          = crsv_view,
    .destroy       = crsv_destroy,
};
