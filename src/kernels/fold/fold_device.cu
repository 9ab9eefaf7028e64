/*
  fold_device.cu - the slots of format fold for plans in device memory: they upload a host pattern or host values if
  needed, and call the steps of fold_device.cuh.
*/
#include "device/upload.cuh"
#include "fold_device.cuh"
#include <cstdio>

namespace
{
int64_t row_ptr_bytes(const SpmvPattern *p) { return (p->rows + 1) * spmv_index_bytes(p->index_type); }

const SpmvSlots *choose(const SpmvOptions *options)
{
  return fold_is_streamed(options) ? &fold_stream_slots : &fold_device_slots;
}

/* ---- analysis ---- */

SpmvStatus analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  return fold_device_analyze(pattern, {}, analysis, exec);
}

void clear_analysis(void *data, SpmvExec *exec) { spmv_arena_free(&((FoldDeviceAnalysis *)data)->arena, exec); }

/* ---- values ---- */

SpmvStatus build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *base, SpmvExec *exec)
{
  SpmvScopedArena           uploaded(exec);
  const FoldDeviceAnalysis *a           = (const FoldDeviceAnalysis *)analysis->data;
  FoldPlan                 *plan        = (FoldPlan *)base;
  const SpmvPattern        *p           = &csr->pattern;
  const int64_t             index_bytes = spmv_index_bytes(p->index_type);
  const void               *row_ptr     = p->space == SPMV_DEVICE ? p->row_ptr : a->row_ptr, *col, *values;

  SPMV_TRY(fold_make_table(plan, &a->sizes, &a->layout, SPMV_I32, exec));
  SPMV_TRY(spmv_on_device(p->col, p->space, p->nnz * index_bytes, "uploaded col", &uploaded.arena, exec, &col));
  SPMV_TRY(fold_device_fill_columns(&plan->table, p->index_type, row_ptr, col, exec));
  SPMV_TRY(spmv_on_device(csr->values, csr->values_space, p->nnz * spmv_scalar_bytes(csr->scalar_type),
                          "uploaded values", &uploaded.arena, exec, &values));
  SPMV_TRY(fold_device_fill_values(&plan->table, p->index_type, csr->scalar_type, row_ptr, values, exec));
  SPMV_TRY(spmv_overlap_fence(exec));
  return uploaded.arena.chunks ? spmv_stream_wait(exec) : SPMV_SUCCESS; /* the uploads are freed when their arena leaves
                                                                           scope */
}

/* Does not use spmv_fill_values(), so that scratch space and upload come from one allocation */
SpmvStatus update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  SpmvScopedArena  arena(exec);
  const FoldTable *table        = &((FoldPlan *)base)->table;
  const int64_t    values_bytes = base->nnz * spmv_scalar_bytes(base->scalar_type);
  int64_t         *row_ptr;

  arena.arena.chunk_bytes = 16 * (base->rows + 1) + (values_space == SPMV_HOST ? values_bytes : 0) + (1 << 20);
  SPMV_TRY(spmv_on_device(values, values_space, values_bytes, "uploaded values", &arena.arena, exec, &values));
  SPMV_TRY(arena.array(base->rows + 1, "row_ptr", &row_ptr));
  SPMV_TRY(fold_device_recover_row_ptr(table, &arena.arena, exec, row_ptr));
  SPMV_TRY(fold_device_fill_values(table, SPMV_I64, base->scalar_type, row_ptr, values, exec));
  return spmv_stream_wait(exec); /* the arena leaves scope */
}

SpmvStatus list_nonzeros(const SpmvPlan *base, const SpmvNonzeros *to, SpmvExec *exec)
{
  SpmvScopedArena  arena(exec);
  const FoldTable *table = &((const FoldPlan *)base)->table;
  int64_t         *row_ptr;

  if (to->diagonal) return fold_device_list_diagonal(table, base->scalar_type, to->diagonal, exec);
  arena.arena.chunk_bytes = 16 * (base->rows + 1) + (1 << 20);
  SPMV_TRY(arena.array(base->rows + 1, "row_ptr", &row_ptr));
  SPMV_TRY(fold_device_recover_row_ptr(table, &arena.arena, exec, row_ptr));
  SPMV_TRY(fold_device_list(table, base->scalar_type, row_ptr, to, exec));
  return spmv_stream_wait(exec); /* the arena leaves scope */
}
} // namespace

SpmvStatus fold_device_analyze(const SpmvPattern *p, FoldGiven given, SpmvAnalysis *analysis, SpmvExec *exec)
{
  FoldDeviceAnalysis *a      = (FoldDeviceAnalysis *)analysis->data;
  const SpmvScalar    scalar = analysis->scalar_type;
  const void         *row_ptr;

  SPMV_TRY(spmv_check_counts(analysis, 0, exec));
  a->arena.chunk_bytes = 24 * p->rows + (1 << 20); /* about the scratch memory that sorting the rows takes */
  SPMV_TRY(spmv_on_device(p->row_ptr, p->space, row_ptr_bytes(p), "uploaded row_ptr", &a->arena, exec, &row_ptr));
  if (p->space == SPMV_HOST) a->row_ptr = row_ptr;
  SPMV_TRY(fold_device_lay_out(row_ptr, p->index_type, p, scalar, given, exec, a));
  fold_memory(&a->sizes, SPMV_I32, scalar, &analysis->memory);
  analysis->memory.work_bytes = fold_partial_sums(&a->sizes) * spmv_scalar_bytes(scalar);
  return SPMV_SUCCESS;
}

void fold_device_view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  char line[SPMV_MESSAGE_MAX];

  fold_view_sizes(&((const FoldPlan *)base)->table.sizes, print, ctx);
  snprintf(line, sizeof line, "on the device, gather: %s",
           base->format->options[FOLD_OPTION_GATHER].choices[fold_gather_of(&base->options)]);
  print(ctx, line);
}

const SpmvSlots fold_device_slots = {
    sizeof(FoldDeviceAnalysis),
    sizeof(FoldPlan),
    choose,
    analyze,
    clear_analysis,
    build,
    update_values,
    nullptr, /* extract_values: by list_nonzeros */
    SpmvProducts<FoldMultiply>::mult,
    nullptr, /* add_transposed */
    list_nonzeros,
    nullptr, /* prepare_transpose */
    fold_device_view,
    fold_clear_table,
    SpmvProducts<FoldMultiply>::rounded,
    SpmvProducts<FoldMultiply>::step,
};
