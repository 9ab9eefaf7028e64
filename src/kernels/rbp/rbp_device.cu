/*
  rbp_device.cu - the slots of format rbp for plans in device memory: uploads a host pattern or values where needed, and
  hands on to format packed (rbp_device_*.cu) or to the published formats (rbp_device_published.cu).
*/
#include "../device/overlap.cuh"
#include "../device/upload.cuh"
#include "rbp_device_analyze.cuh"
#include "rbp_device_published.cuh"
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace
{
/* The share of CSR's bytes below which packed is also faster: above it the columns are far apart everywhere, and what a
   product waits for is x */
constexpr double WORTHWHILE = 0.975;

RbpFormat format_of(const SpmvOptions *options) { return (RbpFormat)(int)options->value[RBP_OPTION_FORMAT]; }

bool is_packed(const SpmvPlan *plan) { return ((const RbpDevicePlan *)plan)->format == RBP_PACKED; }

/* What the steps of an analysis take, at most nearly. Each nonzero may be a unit: so it is assumed of short rows, while
   that is little beside CSR and plan. Long rows rather have units of many nonzeros. Where the rest is more, it is a
   second allocation, whose size is known by then (rbp_make_blocks). */
int64_t scratch_bytes(const SpmvPattern *p, SpmvScalar scalar)
{
  const int64_t index = spmv_index_bytes(p->index_type), value = spmv_scalar_bytes(scalar);
  const int64_t upload    = p->space == SPMV_HOST ? (p->nnz + p->rows + 1) * index : 0;
  const int64_t all       = 12 * p->rows + p->nnz / 16 * 39;
  const bool    is_short  = p->nnz <= 16 * p->rows;
  const bool    is_little = p->nnz < RBP_FEW_NONZEROS || (is_short && all < p->nnz * (2 * value + index) / 4);

  return upload + (is_little ? all : 9 * p->rows + (is_short ? 0 : p->nnz / 3 * 2)) + (1 << 20);
}

/* ---- packed ---- */

void free_packed_analysis(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  spmv_arena_free(&a->arena, exec);
  spmv_exec_free(exec, SPMV_HOST, a);
}

void destroy_packed_analysis(SpmvAnalysis *analysis, SpmvExec *exec)
{
  free_packed_analysis((RbpDeviceAnalysis *)analysis->data, exec);
}

SpmvStatus analyze_steps(RbpDeviceAnalysis *a, const SpmvPattern *pattern, SpmvScalar scalar, int64_t min_run,
                         SpmvExec *exec)
{
  a->arena.chunk_bytes = scratch_bytes(pattern, scalar);
  SPMV_TRY(spmv_pattern_on_device(pattern, &a->arena, exec, &a->pattern));
  SPMV_TRY(rbp_scan_pattern(a, exec));
  SPMV_TRY(rbp_choose_variant(a, scalar, min_run, exec));
  SPMV_TRY(rbp_make_blocks(a, exec));
  SPMV_TRY(rbp_describe_blocks(a, exec));
  return rbp_place_blocks(a, exec);
}

void report_memory(const RbpDeviceShape *s, SpmvScalar scalar, SpmvMemory *m)
{
  const int64_t scalar_bytes = spmv_scalar_bytes(scalar);

  spmv_memory_add(m, "values", SPMV_ARRAY_VALUES, s->value_count * scalar_bytes);
  spmv_memory_add(m, "pattern", SPMV_ARRAY_INDICES, s->pattern_words * 2);
  spmv_memory_add(m, "blocks", SPMV_ARRAY_POINTERS, s->blocks * (int64_t)sizeof(RbpBlock));
  spmv_memory_add(m, "pieces", SPMV_ARRAY_POINTERS, s->long_groups * (int64_t)sizeof(RbpLongGroup));
  m->padding_bytes = s->padding * scalar_bytes;
  m->work_bytes    = s->pieces * s->group_rows * scalar_bytes;
}
} // namespace

SpmvStatus rbp_device_packed_analyze(const SpmvPattern *pattern, SpmvScalar scalar, const SpmvOptions *options,
                                     SpmvExec *exec, SpmvAnalysis *analysis)
{
  RbpDeviceAnalysis *a;
  void              *block;

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof *a, "analysis", &block));
  a                       = (RbpDeviceAnalysis *)memset(block, 0, sizeof *a);
  const SpmvStatus status = analyze_steps(a, pattern, scalar, (int64_t)options->value[RBP_OPTION_MIN_RUN], exec);
  if (status) {
    free_packed_analysis(a, exec);
    return status;
  }
  analysis->data         = a;
  analysis->destroy_data = destroy_packed_analysis;
  report_memory(&a->shape, scalar, &analysis->memory);
  const SpmvMemory *m = &analysis->memory;
  analysis->accepted  = (double)m->total_bytes < WORTHWHILE * (double)m->csr_bytes;
  if (!analysis->accepted)
    snprintf(analysis->reason, sizeof analysis->reason,
             "packed would take %lld bytes on the device, not less than %g of the %lld of CSR",
             (long long)m->total_bytes, WORTHWHILE, (long long)m->csr_bytes);
  return SPMV_SUCCESS;
}

namespace
{
SpmvStatus allocate_packed(RbpDevicePacked *plan, int64_t scalar_bytes, SpmvExec *exec)
{
  const RbpDeviceShape *s = &plan->shape;
  const int64_t bytes[]   = {s->value_count * scalar_bytes, s->blocks * (int64_t)sizeof(RbpBlock), s->pattern_words * 2,
                             s->long_groups * (int64_t)sizeof(RbpLongGroup)};
  void **const  array[]   = {&plan->values, (void **)&plan->blocks, (void **)&plan->pattern, (void **)&plan->pieces};

  return spmv_alloc_arrays(exec, 4, bytes, "packed matrix", array, &plan->arrays);
}

SpmvStatus fill_packed(RbpDevicePacked *plan, const SpmvCsr *csr, const RbpDeviceAnalysis *a, SpmvExec *exec)
{
  SPMV_TRY(allocate_packed(plan, spmv_scalar_bytes(csr->scalar_type), exec));
  SPMV_TRY(spmv_copy(plan->pieces, SPMV_DEVICE, a->pieces, SPMV_DEVICE,
                     a->shape.long_groups * (int64_t)sizeof(RbpLongGroup), exec));
  SPMV_TRY(rbp_copy_streams(a, plan->blocks, plan->pattern, exec));
  return rbp_device_update_values(&plan->plan.base, csr->values, csr->values_space, exec);
}
} // namespace

SpmvStatus rbp_device_packed_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvExec *exec, SpmvPlan **out)
{
  const RbpDeviceAnalysis *a = (const RbpDeviceAnalysis *)analysis->data;
  void                    *block;

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof(RbpDevicePacked), "plan", &block));
  RbpDevicePacked *plan = (RbpDevicePacked *)memset(block, 0, sizeof(RbpDevicePacked));
  spmv_plan_init(&plan->plan.base, csr, analysis, exec);
  plan->plan.format       = RBP_PACKED;
  plan->shape             = a->shape;
  const SpmvStatus status = fill_packed(plan, csr, a, exec);
  if (status) rbp_device_packed_free(plan);
  else *out = &plan->plan.base;
  return status;
}

void rbp_device_packed_free(RbpDevicePacked *plan)
{
  const SpmvAllocator host = plan->plan.base.host, device = plan->plan.base.device;

  spmv_free(&host, &device, SPMV_DEVICE, plan->arrays);
  spmv_free(&host, &device, SPMV_HOST, plan);
}

/* ---- published ---- */

namespace
{
SpmvStatus analyze_published(const SpmvPattern *pattern, SpmvScalar scalar, const SpmvOptions *options, SpmvExec *exec,
                             SpmvAnalysis *analysis)
{
  SpmvScopedArena scratch(exec);
  SpmvPattern     p;

  SPMV_TRY(spmv_pattern_on_device(pattern, &scratch.arena, exec, &p));
  return rbp_device_published_analyze(&p, scalar, options, exec, analysis);
}

SpmvStatus build_published(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvExec *exec, SpmvPlan **plan)
{
  SpmvScopedArena scratch(exec);
  SpmvPattern     p;

  SPMV_TRY(spmv_pattern_on_device(&csr->pattern, &scratch.arena, exec, &p));
  SPMV_TRY(rbp_device_published_build(&p, csr, analysis, exec, plan));
  return spmv_stream_wait(exec); /* the uploaded pattern leaves scope */
}
} // namespace

/* ---- slots ---- */

SpmvStatus rbp_device_analyze(const SpmvPattern *pattern, SpmvScalar scalar, const SpmvOptions *options, SpmvExec *exec,
                              SpmvAnalysis *analysis)
{
  SPMV_TRY(spmv_check_device(pattern, "rbp", 0, exec));
  if (format_of(options) == RBP_PACKED) return rbp_device_packed_analyze(pattern, scalar, options, exec, analysis);
  return analyze_published(pattern, scalar, options, exec, analysis);
}

SpmvStatus rbp_device_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvExec *exec, SpmvPlan **plan)
{
  if (format_of(&analysis->options) == RBP_PACKED) return rbp_device_packed_build(csr, analysis, exec, plan);
  return build_published(csr, analysis, exec, plan);
}

SpmvStatus rbp_device_update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  SpmvScopedArena uploaded(exec);
  RbpDevicePlan  *plan = (RbpDevicePlan *)base;

  spmv_transposed_free(base, &plan->transposed);
  SPMV_TRY(spmv_on_device(values, values_space, base->nnz * spmv_scalar_bytes(base->scalar_type), "uploaded values",
                          &uploaded.arena, exec, &values));
  SPMV_TRY(is_packed(base) ? rbp_device_packed_update((RbpDevicePacked *)base, values, exec)
                           : rbp_device_published_update((RbpDevicePublished *)base, values, exec));
  SPMV_TRY(spmv_settle(exec));
  return uploaded.arena.chunks ? spmv_stream_wait(exec) : SPMV_SUCCESS; /* an upload must be read before it is freed */
}

SpmvStatus rbp_device_mult(const SpmvPlan *plan, const void *alpha, const void *x, const void *beta, void *y,
                           void *work, SpmvExec *exec)
{
  if (is_packed(plan)) return rbp_device_packed_mult((const RbpDevicePacked *)plan, alpha, x, beta, y, work, exec);
  return rbp_device_published_mult((const RbpDevicePublished *)plan, alpha, x, beta, y, exec);
}

SpmvStatus rbp_device_multtranspose(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                                    void *work, SpmvExec *exec)
{
  (void)work;
  return spmv_transposed_mult(&((const RbpDevicePlan *)base)->transposed, alpha, x, beta, y, exec);
}

static void view_counts(const RbpDevicePublished *plan, SpmvPrint print, void *ctx)
{
  const RbpCounts *c = &plan->counts;
  char             line[SPMV_MESSAGE_MAX];

  snprintf(line, sizeof line, "runs: %lld, mean run: %.2f, longest run: %lld, singles: %lld", (long long)c->runs,
           c->runs ? (double)c->run_values / (double)c->runs : 0.0, (long long)c->longest_run, (long long)c->singles);
  print(ctx, line);
}

static void view_packed(const RbpDevicePacked *plan, SpmvPrint print, void *ctx)
{
  const RbpDeviceShape *s = &plan->shape;
  char                  line[SPMV_MESSAGE_MAX];

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

SpmvStatus rbp_device_view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  const RbpDevicePlan *plan = (const RbpDevicePlan *)base;
  char                 line[SPMV_MESSAGE_MAX];

  snprintf(line, sizeof line, "format: %s, on the device",
           base->format->options[RBP_OPTION_FORMAT].choices[plan->format]);
  print(ctx, line);
  if (is_packed(base)) view_packed((const RbpDevicePacked *)base, print, ctx);
  else view_counts((const RbpDevicePublished *)base, print, ctx);
  if (plan->transposed.plan) {
    snprintf(line, sizeof line, "transposed products keep a packed transpose of %lld bytes more",
             (long long)plan->transposed.plan->memory.total_bytes);
    print(ctx, line);
  }
  return SPMV_SUCCESS;
}

void rbp_device_destroy(SpmvPlan **plan)
{
  if (!plan || !*plan) return;
  spmv_transposed_free(*plan, &((RbpDevicePlan *)*plan)->transposed);
  if (is_packed(*plan)) rbp_device_packed_free((RbpDevicePacked *)*plan);
  else rbp_device_published_free((RbpDevicePublished *)*plan);
  *plan = NULL;
}
