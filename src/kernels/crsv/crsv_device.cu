/* crsv_device.cu - the slots of format crsv for plans in device memory. */
#include "device/csr.cuh"
#include "device/upload.cuh"
#include "crsv_device.cuh"
#include <cstdio>

namespace
{
/* A device pointer to an array: itself, or an upload that the caller owns */
SpmvStatus borrow_or_upload(const void *array, SpmvSpace space, int64_t bytes, const char *name, const void **used,
                            void **own, SpmvExec *exec)
{
  *used = array;
  if (space == SPMV_DEVICE) return SPMV_SUCCESS;
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, bytes, name, own));
  *used = *own;
  return spmv_copy(*own, SPMV_DEVICE, array, SPMV_HOST, bytes, exec);
}

/* Counts blocks and pieces; row_ptr is uploaded for the time of the analysis if it lies on the host */
SpmvStatus count(const SpmvPattern *pattern, CrsvCounts *counts, SpmvExec *exec)
{
  SpmvScopedArena uploaded(exec);
  SpmvPattern     p = *pattern;

  if (p.rows > 0)
    SPMV_TRY(spmv_on_device(p.row_ptr, p.space, (p.rows + 1) * spmv_index_bytes(p.index_type), "uploaded row_ptr",
                            &uploaded.arena, exec, &p.row_ptr));
  return crsv_count(&p, counts, exec);
}

SpmvStatus fill(CrsvDevicePlan *plan, const SpmvCsr *csr, SpmvExec *exec)
{
  const SpmvPattern *p           = &csr->pattern;
  const int64_t      index_bytes = spmv_index_bytes(p->index_type);
  const CrsvCounts  &c           = plan->counts;

  SPMV_TRY(borrow_or_upload(p->row_ptr, p->space, (p->rows + 1) * index_bytes, "row_ptr", &plan->row_ptr,
                            &plan->own_row_ptr, exec));
  SPMV_TRY(borrow_or_upload(p->col, p->space, p->nnz * index_bytes, "col", &plan->col, &plan->own_col, exec));
  plan->base.values[0].bytes = p->nnz * spmv_scalar_bytes(csr->scalar_type);
  SPMV_TRY(borrow_or_upload(csr->values, csr->values_space, plan->base.values[0].bytes, "values",
                            &plan->base.values[0].array, &plan->own_values, exec));
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, c.blocks * (int64_t)sizeof(CrsvBlock), "blocks", (void **)&plan->blocks));
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, c.pieces * (int64_t)sizeof(CrsvPiece), "pieces", (void **)&plan->pieces));
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, c.long_rows * (int64_t)sizeof(SpmvLongRow), "long rows",
                      (void **)&plan->long_rows));
  return crsv_fill_tables(plan, exec);
}

SpmvCsr csr_of(const CrsvDevicePlan *plan)
{
  const SpmvPlan &b = plan->base;

  return {{b.rows, b.cols, b.nnz, b.index_type, SPMV_DEVICE, plan->row_ptr, plan->col},
          b.scalar_type,
          SPMV_DEVICE,
          b.values[0].array};
}

SpmvStatus list_nonzeros(const SpmvPlan *base, const SpmvNonzeros *to, SpmvExec *exec)
{
  const CrsvDevicePlan *plan = (const CrsvDevicePlan *)base;
  const SpmvCsr         csr  = csr_of(plan);

  if (to->diagonal) return spmv_csr_diagonal(&csr, to->diagonal, exec);
  if (to->row)
    SPMV_TRY(spmv_with_index(base->index_type, [&](auto index) {
      typedef decltype(index) I;
      return spmv_list_pattern<32>(base->rows, (const I *)plan->row_ptr, (const I *)plan->col, to->row, to->col,
                                   nullptr, exec);
    }));
  return spmv_copy(to->values, SPMV_DEVICE, base->values[0].array, SPMV_DEVICE, base->values[0].bytes, exec);
}

SpmvStatus analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  SpmvMemory *m      = &analysis->memory;
  CrsvCounts *counts = (CrsvCounts *)analysis->data;

  crsv_report_csr(pattern, analysis);
  SPMV_TRY(count(pattern, counts, exec));
  spmv_memory_add(m, "blocks", SPMV_ARRAY_POINTERS, counts->blocks * (int64_t)sizeof(CrsvBlock));
  spmv_memory_add(m, "pieces", SPMV_ARRAY_POINTERS, counts->pieces * (int64_t)sizeof(CrsvPiece));
  spmv_memory_add(m, "long_rows", SPMV_ARRAY_POINTERS, counts->long_rows * (int64_t)sizeof(SpmvLongRow));
  m->work_bytes = counts->slots * spmv_scalar_bytes(analysis->scalar_type);
  return SPMV_SUCCESS;
}

SpmvStatus build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *base, SpmvExec *exec)
{
  CrsvDevicePlan *plan = (CrsvDevicePlan *)base;

  plan->counts = *(const CrsvCounts *)analysis->data;
  SPMV_TRY(fill(plan, csr, exec));
  SPMV_TRY(spmv_overlap_fence(exec));
  return csr->pattern.space == SPMV_HOST ? spmv_stream_wait(exec) : SPMV_SUCCESS; /* the uploads read the caller's
                                                                                     arrays */
}

SpmvStatus update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  CrsvDevicePlan *plan  = (CrsvDevicePlan *)base;
  const int64_t   bytes = base->values[0].bytes;

  if (values_space == SPMV_DEVICE) {
    spmv_plan_free(base, SPMV_DEVICE, plan->own_values);
    plan->own_values      = nullptr;
    base->values[0].array = values;
    return spmv_overlap_fence(exec); /* the previous kernel of the stream may have written the values */
  }
  if (!plan->own_values) SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, bytes, "values", &plan->own_values));
  base->values[0].array = plan->own_values;
  SPMV_TRY(spmv_copy(plan->own_values, SPMV_DEVICE, values, SPMV_HOST, bytes, exec));
  return spmv_stream_wait(exec);
}

void view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  const CrsvDevicePlan *plan = (const CrsvDevicePlan *)base;
  const CrsvCounts     *c    = &plan->counts;
  char                  line[SPMV_MESSAGE_MAX];

  print(ctx, plan->own_values || plan->own_col ? "keeps a copy of CSR arrays on the device"
                                               : "uses the CSR arrays in place, on the device");
  snprintf(line, sizeof line, "streams in %lld blocks of %lld rows and nonzeros, long rows in %lld pieces",
           (long long)c->blocks, (long long)c->share, (long long)c->pieces);
  print(ctx, line);
}

void clear(SpmvPlan *base)
{
  const CrsvDevicePlan *plan     = (const CrsvDevicePlan *)base;
  void *const           blocks[] = {plan->own_row_ptr, plan->own_col, plan->own_values,
                                    plan->blocks,      plan->pieces,  plan->long_rows};

  for (void *block : blocks) spmv_plan_free(base, SPMV_DEVICE, block);
}
} // namespace

const SpmvSlots crsv_device_slots = {
    sizeof(CrsvCounts),
    sizeof(CrsvDevicePlan),
    nullptr, /* choose */
    analyze,
    nullptr, /* clear_analysis */
    build,
    update_values,
    nullptr, /* extract_values: by list_nonzeros */
    SpmvProducts<CrsvMultiply>::mult,
    nullptr, /* add_transposed */
    list_nonzeros,
    nullptr, /* prepare_transpose */
    view,
    clear,
    SpmvProducts<CrsvMultiply>::rounded,
    SpmvProducts<CrsvMultiply>::step,
};
