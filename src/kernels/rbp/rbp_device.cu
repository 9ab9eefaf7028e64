/* rbp_device.cu - the slots of format packed in device memory; they upload a host pattern or host values if needed. */
#include "device/upload.cuh"
#include "rbp_device_analyze.cuh"
#include <cstdio>

namespace
{
/* An estimate, nearly a bound, of the scratch memory of an analysis. Each nonzero may be a unit; this is assumed if
   rows are short, since the memory is then small compared to CSR and plan. Long rows tend to have units of many
   nonzeros. If the estimate is too small, rbp_make_blocks() makes a second allocation of the exact size. */
int64_t scratch_bytes(const SpmvPattern *p, SpmvScalar scalar)
{
  const int64_t index = spmv_index_bytes(p->index_type), value = spmv_scalar_bytes(scalar);
  const int64_t upload    = p->space == SPMV_HOST ? (p->nnz + p->rows + 1) * index : 0;
  const int64_t all       = 12 * p->rows + p->nnz / 16 * 39;
  const bool    is_short  = p->nnz <= 16 * p->rows;
  const bool    is_little = p->nnz < RBP_FEW_NONZEROS || (is_short && all < p->nnz * (2 * value + index) / 4);

  return upload + (is_little ? all : 9 * p->rows + (is_short ? 0 : p->nnz / 3 * 2)) + (1 << 20);
}

enum { ARRAYS = 4 };

void list_arrays(RbpDevicePacked *p, SpmvScalar scalar, SpmvPlanArray (&list)[ARRAYS])
{
  const RbpDeviceShape *s = &p->shape;

  list[0] = {"values", SPMV_ARRAY_VALUES, s->value_count * spmv_scalar_bytes(scalar), &p->values};
  list[1] = {"pattern", SPMV_ARRAY_INDICES, s->pattern_words * 2, (void **)&p->pattern};
  list[2] = {"blocks", SPMV_ARRAY_POINTERS, s->blocks * (int64_t)sizeof(RbpBlock), (void **)&p->blocks};
  list[3] = {"pieces", SPMV_ARRAY_POINTERS, s->long_groups * (int64_t)sizeof(SpmvLongRow), (void **)&p->pieces};
}

void report_memory(const RbpDeviceShape *s, SpmvScalar scalar, SpmvMemory *m)
{
  RbpDevicePacked plan = {};
  SpmvPlanArray   list[ARRAYS];

  plan.shape = *s;
  list_arrays(&plan, scalar, list);
  spmv_arrays_report(list, ARRAYS, m);
  m->padding_bytes = s->padding * spmv_scalar_bytes(scalar);
  m->work_bytes    = s->pieces * s->group_rows * spmv_scalar_bytes(scalar);
}

SpmvStatus analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  RbpDeviceAnalysis *a      = (RbpDeviceAnalysis *)analysis->data;
  const SpmvScalar   scalar = analysis->scalar_type;

  SPMV_TRY(spmv_check_counts(analysis, 0, exec));
  a->arena.chunk_bytes = scratch_bytes(pattern, scalar);
  SPMV_TRY(spmv_pattern_on_device(pattern, &a->arena, exec, &a->pattern));
  SPMV_TRY(rbp_scan_pattern(a, exec));
  SPMV_TRY(rbp_choose_variant(a, scalar, rbp_min_run_of(&analysis->options), exec));
  SPMV_TRY(rbp_make_blocks(a, exec));
  SPMV_TRY(rbp_describe_blocks(a, exec));
  SPMV_TRY(rbp_position_blocks(a, exec));
  report_memory(&a->shape, scalar, &analysis->memory);
  return SPMV_SUCCESS;
}

void clear_analysis(void *data, SpmvExec *exec) { spmv_arena_free(&((RbpDeviceAnalysis *)data)->arena, exec); }

SpmvStatus update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  return spmv_fill_in_pieces(base, values, values_space, exec, [&](const void *there, int64_t first, int64_t count) {
    return rbp_device_fill((RbpDevicePacked *)base, there, first, count, exec);
  });
}

SpmvStatus build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *base, SpmvExec *exec)
{
  const RbpDeviceAnalysis *a    = (const RbpDeviceAnalysis *)analysis->data;
  RbpDevicePacked         *plan = (RbpDevicePacked *)base;
  SpmvPlanArray            list[ARRAYS];

  plan->shape = a->shape;
  list_arrays(plan, base->scalar_type, list);
  SPMV_TRY(spmv_arrays_alloc(base, list, ARRAYS, exec));
  SPMV_TRY(spmv_copy(plan->pieces, SPMV_DEVICE, a->pieces, SPMV_DEVICE,
                     a->shape.long_groups * (int64_t)sizeof(SpmvLongRow), exec));
  SPMV_TRY(rbp_copy_encodings(a, plan->blocks, plan->pattern, exec));
  return update_values(base, csr->values, csr->values_space, exec);
}

void view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  const RbpDeviceShape *s = &((const RbpDevicePacked *)base)->shape;
  char                  line[SPMV_MESSAGE_MAX];

  rbp_view_format(base, print, ctx);
  snprintf(line, sizeof line, "groups of %d rows: %lld, units of %d columns: %lld, padding: %.2f %%", s->group_rows,
           (long long)s->groups, s->unit_columns, (long long)s->units,
           s->value_count ? 100.0 * (double)s->padding / (double)s->value_count : 0.0);
  print(ctx, line);
  snprintf(line, sizeof line,
           "blocks: %lld of at most %d units, %lld with the pattern of another; long rows: %lld groups in %lld pieces",
           (long long)s->blocks, s->capacity, (long long)s->shared_blocks, (long long)s->long_groups,
           (long long)s->pieces);
  print(ctx, line);
}

void clear(SpmvPlan *base) { spmv_arrays_free(base, nullptr, 0); }
} // namespace

const SpmvSlots rbp_device_slots = {
    sizeof(RbpDeviceAnalysis),
    sizeof(RbpDevicePacked),
    nullptr, /* choose */
    analyze,
    clear_analysis,
    build,
    update_values,
    nullptr, /* extract_values: by list_nonzeros */
    SpmvProducts<RbpMultiply>::mult,
    nullptr, /* add_transposed */
    rbp_device_list,
    nullptr, /* prepare_transpose */
    view,
    clear,
    SpmvProducts<RbpMultiply>::rounded,
    SpmvProducts<RbpMultiply>::step,
};
