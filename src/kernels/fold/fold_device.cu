/*
  fold_device.cu - the slots of format fold for plans in device memory: uploads a host pattern or values where needed,
  and hands on to the steps of fold_device.cuh.
*/
#include "../device/overlap.cuh"
#include "../device/upload.cuh"
#include "fold_device.cuh"
#include <cstdio>
#include <cstring>

namespace
{
int64_t row_ptr_bytes(const SpmvPattern *p) { return (p->rows + 1) * spmv_index_bytes(p->index_type); }

/* ---- analysis ---- */

void free_analysis(FoldDeviceAnalysis *a, SpmvExec *exec)
{
  if (a->streamed) fold_layout_free(&exec->host, &exec->device, SPMV_HOST, &a->layout);
  spmv_arena_free(&a->arena, exec);
  spmv_exec_free(exec, SPMV_HOST, a);
}

void destroy_analysis(SpmvAnalysis *analysis, SpmvExec *exec)
{
  free_analysis((FoldDeviceAnalysis *)analysis->data, exec);
}

int64_t work_bytes(const FoldSizes *s, const SpmvOptions *options, SpmvScalar scalar)
{
  const int64_t gathered = fold_gather_of(options) == FOLD_GATHER_DEVICE ? s->steps * FOLD_LANES : 0;
  return (fold_partial_sums(s) + gathered) * spmv_scalar_bytes(scalar);
}

SpmvStatus analyze(const SpmvPattern *p, SpmvScalar scalar, const SpmvOptions *options, SpmvExec *exec,
                   FoldDeviceAnalysis *a, SpmvMemory *memory)
{
  const void *row_ptr;

  if (fold_is_streamed(options)) return fold_stream_analyze(p, scalar, options, exec, a, memory);

  a->arena.chunk_bytes = 24 * p->rows + (1 << 20); /* nearly what sorting the rows takes */
  SPMV_TRY(spmv_on_device(p->row_ptr, p->space, row_ptr_bytes(p), "uploaded row_ptr", &a->arena, exec, &row_ptr));
  if (p->space == SPMV_HOST) a->row_ptr = row_ptr;
  SPMV_TRY(fold_device_lay_out(row_ptr, p->index_type, p, scalar, options, exec, a));
  fold_memory(&a->sizes, SPMV_I32, scalar, memory);
  memory->work_bytes = work_bytes(&a->sizes, options, scalar);
  return SPMV_SUCCESS;
}

/* ---- build ---- */

SpmvStatus copy_array(const void *from, int64_t bytes, const char *name, SpmvExec *exec, void **to)
{
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, bytes, name, to));
  return spmv_copy(*to, SPMV_DEVICE, from, SPMV_DEVICE, bytes, exec);
}

SpmvStatus make_table(const FoldDeviceAnalysis *a, SpmvScalar scalar, SpmvExec *exec, FoldTable *table)
{
  const FoldSizes *s  = &a->sizes;
  FoldLayout      *to = &table->layout;

  table->sizes       = *s;
  table->column_type = SPMV_I32;
  SPMV_TRY(copy_array(a->layout.slice_ptr, fold_slice_ptr_bytes(s), "slice_ptr", exec, (void **)&to->slice_ptr));
  SPMV_TRY(copy_array(a->layout.order, fold_order_bytes(s), "order", exec, (void **)&to->order));
  SPMV_TRY(copy_array(a->layout.owner, fold_owner_bytes(s), "owner", exec, (void **)&to->owner));
  SPMV_TRY(copy_array(a->layout.full_ptr, fold_full_ptr_bytes(s), "full_ptr", exec, (void **)&to->full_ptr));
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, fold_columns_bytes(s, SPMV_I32), "columns", &table->columns));
  return spmv_alloc(exec, SPMV_DEVICE, fold_values_bytes(s, scalar), "values", &table->values);
}

SpmvStatus fill_table(const SpmvCsr *csr, const FoldDeviceAnalysis *a, SpmvExec *exec, FoldTable *table)
{
  SpmvScopedArena    uploaded(exec);
  const SpmvPattern *p            = &csr->pattern;
  const int64_t      scalar_bytes = spmv_scalar_bytes(csr->scalar_type), index_bytes = spmv_index_bytes(p->index_type);
  const void        *row_ptr = p->space == SPMV_DEVICE ? p->row_ptr : a->row_ptr, *col, *values;

  SPMV_TRY(make_table(a, csr->scalar_type, exec, table));
  SPMV_TRY(spmv_on_device(p->col, p->space, p->nnz * index_bytes, "uploaded col", &uploaded.arena, exec, &col));
  SPMV_TRY(fold_device_fill_columns(table, p->index_type, row_ptr, col, exec));
  SPMV_TRY(spmv_on_device(csr->values, csr->values_space, p->nnz * scalar_bytes, "uploaded values", &uploaded.arena,
                          exec, &values));
  SPMV_TRY(fold_device_fill_values(table, p->index_type, csr->scalar_type, row_ptr, values, exec));
  SPMV_TRY(spmv_settle(exec));
  return uploaded.arena.chunks ? spmv_stream_wait(exec) : SPMV_SUCCESS; /* uploads must be read before they are freed */
}

void free_plan(FoldDevicePlan *plan)
{
  const SpmvAllocator host = plan->base.host, device = plan->base.device;

  spmv_transposed_free(&plan->base, &plan->transposed);
  fold_stream_free(plan);
  spmv_free(&host, &device, SPMV_DEVICE, plan->table.columns);
  spmv_free(&host, &device, SPMV_DEVICE, plan->table.values);
  fold_layout_free(&host, &device, SPMV_DEVICE, &plan->table.layout);
  spmv_free(&host, &device, SPMV_HOST, plan);
}
} // namespace

/* ---- slots ---- */

SpmvStatus fold_device_analyze(const SpmvPattern *pattern, SpmvScalar scalar, const SpmvOptions *options,
                               SpmvExec *exec, SpmvAnalysis *analysis)
{
  FoldDeviceAnalysis *a;
  void               *block;

  SPMV_TRY(spmv_check_device(pattern, "fold", 0, exec));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof *a, "analysis", &block));
  a                       = (FoldDeviceAnalysis *)memset(block, 0, sizeof *a);
  const SpmvStatus status = analyze(pattern, scalar, options, exec, a, &analysis->memory);
  if (status) {
    free_analysis(a, exec);
    return status;
  }
  analysis->data         = a;
  analysis->destroy_data = destroy_analysis;
  fold_decide(&a->sizes, SPMV_I32, analysis);
  return SPMV_SUCCESS;
}

SpmvStatus fold_device_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvExec *exec, SpmvPlan **out)
{
  const FoldDeviceAnalysis *a = (const FoldDeviceAnalysis *)analysis->data;
  void                     *block;

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof(FoldDevicePlan), "plan", &block));
  FoldDevicePlan *plan = (FoldDevicePlan *)memset(block, 0, sizeof(FoldDevicePlan));
  spmv_plan_init(&plan->base, csr, analysis, exec);
  plan->options = analysis->options;
  const SpmvStatus status =
      a->streamed ? fold_stream_build(csr, a, exec, plan) : fill_table(csr, a, exec, &plan->table);
  if (status) free_plan(plan);
  else *out = &plan->base;
  return status;
}

SpmvStatus fold_device_update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  SpmvScopedArena arena(exec);
  FoldDevicePlan *plan         = (FoldDevicePlan *)base;
  const int64_t   values_bytes = base->nnz * spmv_scalar_bytes(base->scalar_type);
  const void     *on_the_device;
  int64_t        *row_ptr;

  spmv_transposed_free(base, &plan->transposed);
  if (plan->stream) return fold_stream_update(plan, values, values_space, exec);
  arena.arena.chunk_bytes = 16 * (base->rows + 1) + (values_space == SPMV_HOST ? values_bytes : 0) + (1 << 20);
  SPMV_TRY(spmv_on_device(values, values_space, values_bytes, "uploaded values", &arena.arena, exec, &on_the_device));
  SPMV_TRY(arena.array(base->rows + 1, "row_ptr", &row_ptr));
  SPMV_TRY(fold_device_recover_row_ptr(&plan->table, &arena.arena, exec, row_ptr));
  SPMV_TRY(fold_device_fill_values(&plan->table, SPMV_I64, base->scalar_type, row_ptr, on_the_device, exec));
  return spmv_stream_wait(exec); /* the arena leaves scope */
}

SpmvStatus fold_device_mult(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                            void *work, SpmvExec *exec)
{
  const FoldDevicePlan *plan     = (const FoldDevicePlan *)base;
  const FoldTable      *table    = &plan->table;
  const SpmvScalar      scalar   = base->scalar_type;
  const FoldOperands    operands = {alpha, x, beta, y, work};
  FoldPart              part     = {0, table->sizes.slices, 0, table->columns, table->values, NULL};

  if (fold_is_zero(alpha, scalar)) return fold_device_scale(base->rows, scalar, beta, y, exec);
  if (plan->stream) return fold_stream_mult(plan, &operands, exec);
  if (fold_gather_of(&plan->options) == FOLD_GATHER_DEVICE) {
    void *gathered = (char *)work + fold_partial_sums(&table->sizes) * spmv_scalar_bytes(scalar);
    SPMV_TRY(fold_device_gather(table->columns, table->sizes.steps * FOLD_LANES, scalar, x, gathered, exec));
    part.gathered = gathered;
  }
  SPMV_TRY(fold_device_multiply_part(table, scalar, &part, &operands, exec));
  return fold_device_finish(table, scalar, &operands, exec);
}

SpmvStatus fold_device_multtranspose(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                                     void *work, SpmvExec *exec)
{
  (void)work;
  return spmv_transposed_mult(&((const FoldDevicePlan *)base)->transposed, alpha, x, beta, y, exec);
}

SpmvStatus fold_device_view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  const FoldDevicePlan *plan = (const FoldDevicePlan *)base;
  char                  line[SPMV_MESSAGE_MAX];

  fold_view_sizes(&plan->table.sizes, print, ctx);
  snprintf(line, sizeof line, "on the device, gather: %s",
           base->format->options[FOLD_OPTION_GATHER].choices[fold_gather_of(&plan->options)]);
  print(ctx, line);
  if (plan->stream) fold_stream_view(plan, print, ctx);
  if (plan->transposed.plan) {
    snprintf(line, sizeof line, "transposed products keep a folded transpose of %lld bytes more",
             (long long)plan->transposed.plan->memory.total_bytes);
    print(ctx, line);
  }
  return SPMV_SUCCESS;
}

const FoldTable *fold_device_table(const SpmvPlan *plan) { return &((const FoldDevicePlan *)plan)->table; }

void fold_device_destroy(SpmvPlan **plan)
{
  if (!plan || !*plan) return;
  free_plan((FoldDevicePlan *)*plan);
  *plan = NULL;
}
