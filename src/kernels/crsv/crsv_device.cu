/* crsv_device.cu - the slots of format crsv for plans in device memory. */
#include "../device/overlap.cuh"
#include "../device/upload.cuh"
#include "crsv_device.cuh"
#include <cstdio>
#include <cstring>

namespace
{
/* Threads a row for an option nt; 0: the streaming kernel. The rule is the paper's: the next power of two not below the
   mean row, at most a warp. */
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
SpmvStatus take(const void *array, SpmvSpace space, int64_t bytes, const char *name, const void **taken, void **own,
                SpmvExec *exec)
{
  *taken = array;
  if (space == SPMV_DEVICE) return SPMV_SUCCESS;
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, bytes, name, own));
  *taken = *own;
  return spmv_copy(*own, SPMV_DEVICE, array, SPMV_HOST, bytes, exec);
}

/* An analysis needs row_ptr on the device for a moment */
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

  SPMV_TRY(
      take(p->row_ptr, p->space, (p->rows + 1) * index_bytes, "row_ptr", &plan->row_ptr, &plan->own_row_ptr, exec));
  SPMV_TRY(take(p->col, p->space, p->nnz * index_bytes, "col", &plan->col, &plan->own_col, exec));
  SPMV_TRY(take(csr->values, csr->values_space, p->nnz * spmv_scalar_bytes(csr->scalar_type), "values", &plan->values,
                &plan->own_values, exec));
  if (plan->lanes) return SPMV_SUCCESS;
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, c.blocks * (int64_t)sizeof(CrsvBlock), "blocks", (void **)&plan->blocks));
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, c.pieces * (int64_t)sizeof(CrsvPiece), "pieces", (void **)&plan->pieces));
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, c.long_rows * (int64_t)sizeof(CrsvLongRow), "long rows",
                      (void **)&plan->long_rows));
  return crsv_fill_tables(plan, exec);
}

template <typename I>
__global__ void crsv_expand_rows(const I *row_ptr, const I *col, int64_t rows, SpmvCoordinates to)
{
  const int64_t i = (blockIdx.x * (int64_t)CRSV_THREADS + threadIdx.x) / 32;
  if (i >= rows) return;
  for (int64_t k = row_ptr[i] + threadIdx.x % 32; k < (int64_t)row_ptr[i + 1]; k += 32) {
    to.row[k] = (int32_t)i;
    to.col[k] = (int32_t)col[k];
  }
}

__global__ void crsv_narrow(const int64_t *from, int32_t *to, int64_t n)
{
  const int64_t i = blockIdx.x * (int64_t)CRSV_THREADS + threadIdx.x;
  if (i < n) to[i] = (int32_t)from[i];
}

/* A copy of n 64-bit indices, in the index type of the plan */
SpmvStatus keep_indices(const void *from, int64_t n, SpmvIndex type, const char *name, void **kept, SpmvExec *exec)
{
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, n * spmv_index_bytes(type), name, kept));
  if (type == SPMV_I64) return spmv_copy(*kept, SPMV_DEVICE, from, SPMV_DEVICE, n * 8, exec);
  SPMV_LAUNCH(exec, crsv_narrow, spmv_blocks(n, CRSV_THREADS), CRSV_THREADS, 0, (const int64_t *)from, (int32_t *)*kept,
              n);
  return SPMV_SUCCESS;
}

void free_transposed(CrsvDevicePlan *plan)
{
  const SpmvAllocator host = plan->base.host, device = plan->base.device;

  spmv_transposed_free(&plan->base, &plan->transposed);
  for (void *&array : plan->transposed_csr) {
    spmv_free(&host, &device, SPMV_DEVICE, array);
    array = nullptr;
  }
}

SpmvStatus transpose(CrsvDevicePlan *plan, SpmvExec *exec)
{
  SpmvPlan       *base  = &plan->base;
  const SpmvIndex type  = base->index_type;
  const int64_t   bytes = base->nnz * spmv_scalar_bytes(base->scalar_type);
  SpmvScopedArena scratch(exec);
  SpmvCoordinates list;
  SpmvCsr         csr;

  SPMV_TRY(spmv_coordinates_alloc(&list, base->nnz, base->scalar_type, &scratch.arena, exec));
  if (type == SPMV_I64)
    SPMV_LAUNCH(exec, crsv_expand_rows<int64_t>, spmv_blocks(base->rows * 32, CRSV_THREADS), CRSV_THREADS, 0,
                (const int64_t *)plan->row_ptr, (const int64_t *)plan->col, base->rows, list);
  else
    SPMV_LAUNCH(exec, crsv_expand_rows<int32_t>, spmv_blocks(base->rows * 32, CRSV_THREADS), CRSV_THREADS, 0,
                (const int32_t *)plan->row_ptr, (const int32_t *)plan->col, base->rows, list);
  SPMV_TRY(spmv_copy(list.values, SPMV_DEVICE, plan->values, SPMV_DEVICE, bytes, exec));
  SPMV_TRY(spmv_transpose_coordinates(base, &list, &scratch.arena, exec, &csr));
  SPMV_TRY(
      keep_indices(csr.pattern.row_ptr, base->cols + 1, type, "transposed row_ptr", &plan->transposed_csr[0], exec));
  SPMV_TRY(keep_indices(csr.pattern.col, base->nnz, type, "transposed col", &plan->transposed_csr[1], exec));
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, bytes, "transposed values", &plan->transposed_csr[2]));
  SPMV_TRY(spmv_copy(plan->transposed_csr[2], SPMV_DEVICE, csr.values, SPMV_DEVICE, bytes, exec));
  csr.pattern.index_type = type;
  csr.pattern.row_ptr    = plan->transposed_csr[0];
  csr.pattern.col        = plan->transposed_csr[1];
  csr.values             = plan->transposed_csr[2];
  return spmv_transposed_build(base, &csr, &plan->options, exec, &plan->transposed);
}
} // namespace

SpmvStatus crsv_device_analyze(const SpmvPattern *pattern, SpmvScalar scalar, const SpmvOptions *options,
                               SpmvExec *exec, SpmvAnalysis *analysis)
{
  SpmvMemory *m = &analysis->memory;
  CrsvCounts *counts;
  char        reason[SPMV_MESSAGE_MAX];
  void       *block;

  if (spmv_device_count(reason) == 0) return spmv_fail(exec, SPMV_ERR_DEVICE, "%s", reason);
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof *counts, "analysis", &block));
  analysis->data         = block;
  analysis->destroy_data = [](SpmvAnalysis *a, SpmvExec *e) { spmv_exec_free(e, SPMV_HOST, a->data); };
  counts                 = (CrsvCounts *)block;
  *counts                = {};
  if (lanes_of(options, pattern->rows, pattern->nnz)) return SPMV_SUCCESS;
  SPMV_TRY(count(pattern, counts, exec));
  spmv_memory_add(m, "blocks", SPMV_ARRAY_POINTERS, counts->blocks * (int64_t)sizeof(CrsvBlock));
  spmv_memory_add(m, "pieces", SPMV_ARRAY_POINTERS, counts->pieces * (int64_t)sizeof(CrsvPiece));
  spmv_memory_add(m, "long_rows", SPMV_ARRAY_POINTERS, counts->long_rows * (int64_t)sizeof(CrsvLongRow));
  m->work_bytes = counts->slots * spmv_scalar_bytes(scalar);
  return SPMV_SUCCESS;
}

SpmvStatus crsv_device_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvExec *exec, SpmvPlan **out)
{
  void *block;

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof(CrsvDevicePlan), "plan", &block));
  CrsvDevicePlan *plan = (CrsvDevicePlan *)memset(block, 0, sizeof(CrsvDevicePlan));
  spmv_plan_init(&plan->base, csr, analysis, exec);
  plan->options     = analysis->options;
  plan->lanes       = lanes_of(&plan->options, plan->base.rows, plan->base.nnz);
  plan->counts      = *(const CrsvCounts *)analysis->data;
  *out              = &plan->base;
  SpmvStatus status = fill(plan, csr, exec);
  if (!status) status = spmv_settle(exec);
  if (!status && csr->pattern.space == SPMV_HOST)
    status = spmv_stream_wait(exec); /* uploads from the caller's arrays */
  if (status) crsv_device_destroy(out);
  return status;
}

SpmvStatus crsv_device_update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  CrsvDevicePlan     *plan = (CrsvDevicePlan *)base;
  const SpmvAllocator host = base->host, device = base->device;
  const int64_t       bytes = base->nnz * spmv_scalar_bytes(base->scalar_type);

  free_transposed(plan);
  if (values_space == SPMV_DEVICE) {
    spmv_free(&host, &device, SPMV_DEVICE, plan->own_values);
    plan->own_values = nullptr;
    plan->values     = values;
    return spmv_settle(exec); /* the caller may have written them just now */
  }
  if (!plan->own_values) SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, bytes, "values", &plan->own_values));
  plan->values = plan->own_values;
  SPMV_TRY(spmv_copy(plan->own_values, SPMV_DEVICE, values, SPMV_HOST, bytes, exec));
  return spmv_stream_wait(exec);
}

SpmvStatus crsv_device_prepare_transpose(SpmvPlan *base, SpmvExec *exec)
{
  CrsvDevicePlan *plan = (CrsvDevicePlan *)base;

  if (plan->transposed.plan) return SPMV_SUCCESS;
  if (base->rows >= INT_MAX || base->cols >= INT_MAX)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW,
                     "crsv transposes at most %d rows and columns on the device, not %lld x %lld", INT_MAX - 1,
                     (long long)base->rows, (long long)base->cols);
  const SpmvStatus status = transpose(plan, exec);
  if (status) free_transposed(plan);
  return status;
}

SpmvStatus crsv_device_multtranspose(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                                     void *work, SpmvExec *exec)
{
  (void)work;
  return spmv_transposed_mult(&((const CrsvDevicePlan *)base)->transposed, alpha, x, beta, y, exec);
}

SpmvStatus crsv_device_view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  const CrsvDevicePlan *plan = (const CrsvDevicePlan *)base;
  const CrsvCounts     *c    = &plan->counts;
  char                  line[SPMV_MESSAGE_MAX];

  print(ctx, plan->own_values || plan->own_col ? "keeps a copy of CSR arrays on the device"
                                               : "uses the CSR arrays in place, on the device");
  if (plan->lanes)
    snprintf(line, sizeof line, "threads a row: %d, variant: %s", plan->lanes,
             base->format->options[CRSV_OPTION_VARIANT].choices[(int)plan->options.value[CRSV_OPTION_VARIANT]]);
  else
    snprintf(line, sizeof line, "streams in %lld blocks of %lld rows and nonzeros, long rows in %lld pieces",
             (long long)c->blocks, (long long)c->share, (long long)c->pieces);
  print(ctx, line);
  return SPMV_SUCCESS;
}

void crsv_device_destroy(SpmvPlan **base)
{
  if (!base || !*base) return;
  CrsvDevicePlan     *plan = (CrsvDevicePlan *)*base;
  const SpmvAllocator host = plan->base.host, device = plan->base.device;

  free_transposed(plan);
  void *const blocks[] = {plan->own_row_ptr, plan->own_col, plan->own_values,
                          plan->blocks,      plan->pieces,  plan->long_rows};
  for (void *block : blocks) spmv_free(&host, &device, SPMV_DEVICE, block);
  spmv_free(&host, &device, SPMV_HOST, plan);
  *base = nullptr;
}
