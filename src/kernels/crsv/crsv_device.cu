/* crsv_device.cu - the slots of format crsv for plans in device memory. */
#include "../device/upload.cuh"
#include "crsv_device.cuh"
#include <cstdio>

namespace
{
/* Threads per row for an option nt; 0: the streaming kernel. The rule is the paper's: the next power of two not below
   the mean row, at most a warp. */
int lanes_of(const SpmvOptions *options, int64_t rows, int64_t nnz)
{
  const int nt    = (int)options->value[CRSV_OPTION_NT];
  int       lanes = 1;

  if (nt == CRSV_NT_AUTO) return 0;
  if (nt != CRSV_NT_RULE) return 1 << (nt - CRSV_NT_1);
  while (lanes < 32 && lanes * rows < nnz) lanes *= 2;
  return lanes;
}

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
  SPMV_TRY(borrow_or_upload(csr->values, csr->values_space, p->nnz * spmv_scalar_bytes(csr->scalar_type), "values",
                            &plan->values, &plan->own_values, exec));
  if (plan->lanes) return SPMV_SUCCESS;
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, c.blocks * (int64_t)sizeof(CrsvBlock), "blocks", (void **)&plan->blocks));
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, c.pieces * (int64_t)sizeof(CrsvPiece), "pieces", (void **)&plan->pieces));
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, c.long_rows * (int64_t)sizeof(CrsvLongRow), "long rows",
                      (void **)&plan->long_rows));
  return crsv_fill_tables(plan, exec);
}

template <typename I>
__global__ void crsv_expand_rows(const I *row_ptr, const I *col, int64_t rows, SpmvNonzeros to)
{
  const int64_t i = (blockIdx.x * (int64_t)CRSV_THREADS + threadIdx.x) / 32;
  if (i >= rows) return;
  for (int64_t k = row_ptr[i] + threadIdx.x % 32; k < (int64_t)row_ptr[i + 1]; k += 32) {
    to.row[k] = (int32_t)i;
    to.col[k] = (int32_t)col[k];
  }
}

SpmvCsr csr_of(const CrsvDevicePlan *plan)
{
  const SpmvPlan &b = plan->base;

  return {{b.rows, b.cols, b.nnz, b.index_type, SPMV_DEVICE, plan->row_ptr, plan->col, nullptr, nullptr},
          b.scalar_type,
          SPMV_DEVICE,
          plan->values};
}

SpmvStatus list_nonzeros(const SpmvPlan *base, const SpmvNonzeros *to, SpmvExec *exec)
{
  const CrsvDevicePlan *plan   = (const CrsvDevicePlan *)base;
  const SpmvCsr         csr    = csr_of(plan);
  const int64_t         blocks = to->row ? spmv_blocks(base->rows * 32, CRSV_THREADS) : 0;

  if (to->diagonal) return spmv_csr_diagonal(&csr, to->diagonal, exec);
  if (base->index_type == SPMV_I64)
    SPMV_LAUNCH(exec, crsv_expand_rows<int64_t>, blocks, CRSV_THREADS, 0, (const int64_t *)plan->row_ptr,
                (const int64_t *)plan->col, base->rows, *to);
  else
    SPMV_LAUNCH(exec, crsv_expand_rows<int32_t>, blocks, CRSV_THREADS, 0, (const int32_t *)plan->row_ptr,
                (const int32_t *)plan->col, base->rows, *to);
  return spmv_copy(to->values, SPMV_DEVICE, plan->values, SPMV_DEVICE, base->nnz * spmv_scalar_bytes(base->scalar_type),
                   exec);
}

SpmvStatus analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  SpmvMemory *m      = &analysis->memory;
  CrsvCounts *counts = (CrsvCounts *)analysis->data;

  crsv_report_csr(pattern, analysis);
  if (lanes_of(&analysis->options, pattern->rows, pattern->nnz)) return SPMV_SUCCESS;
  SPMV_TRY(count(pattern, counts, exec));
  spmv_memory_add(m, "blocks", SPMV_ARRAY_POINTERS, counts->blocks * (int64_t)sizeof(CrsvBlock));
  spmv_memory_add(m, "pieces", SPMV_ARRAY_POINTERS, counts->pieces * (int64_t)sizeof(CrsvPiece));
  spmv_memory_add(m, "long_rows", SPMV_ARRAY_POINTERS, counts->long_rows * (int64_t)sizeof(CrsvLongRow));
  m->work_bytes = counts->slots * spmv_scalar_bytes(analysis->scalar_type);
  return SPMV_SUCCESS;
}

SpmvStatus build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *base, SpmvExec *exec)
{
  CrsvDevicePlan *plan = (CrsvDevicePlan *)base;

  plan->lanes  = lanes_of(&base->options, base->rows, base->nnz);
  plan->counts = *(const CrsvCounts *)analysis->data;
  SPMV_TRY(fill(plan, csr, exec));
  SPMV_TRY(spmv_overlap_fence(exec));
  return csr->pattern.space == SPMV_HOST ? spmv_stream_wait(exec) : SPMV_SUCCESS; /* the uploads read the caller's
                                                                                     arrays */
}

SpmvStatus update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  CrsvDevicePlan *plan  = (CrsvDevicePlan *)base;
  const int64_t   bytes = base->nnz * spmv_scalar_bytes(base->scalar_type);

  if (values_space == SPMV_DEVICE) {
    spmv_plan_free(base, SPMV_DEVICE, plan->own_values);
    plan->own_values = nullptr;
    plan->values     = values;
    return spmv_overlap_fence(exec); /* the previous kernel of the stream may have written the values */
  }
  if (!plan->own_values) SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, bytes, "values", &plan->own_values));
  plan->values = plan->own_values;
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
  if (plan->lanes)
    snprintf(line, sizeof line, "threads per row: %d, variant: %s", plan->lanes,
             base->format->options[CRSV_OPTION_VARIANT].choices[(int)base->options.value[CRSV_OPTION_VARIANT]]);
  else
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

/* The paper's kernels have no product with rounded values */
int64_t rounded_count(const SpmvPlan *base) { return ((const CrsvDevicePlan *)base)->lanes ? 0 : base->nnz; }

SpmvStatus round_values(const SpmvPlan *base, float *rounded, SpmvExec *exec)
{
  return spmv_device_round((const double *)((const CrsvDevicePlan *)base)->values, rounded, base->nnz, exec);
}

const SpmvRoundedSlots rounded_slots = {rounded_count, round_values, crsv_device_mult_rounded};
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
    crsv_device_mult,
    nullptr, /* add_transposed */
    list_nonzeros,
    nullptr, /* prepare_transpose */
    view,
    clear,
    &rounded_slots,
    crsv_device_step,
};
