/* codsell_device.cu - the slots of format codsell for plans in device memory; uploads a host pattern or values where
   needed. */
#include "../device/overlap.cuh"
#include "../device/upload.cuh"
#include "codsell_device.cuh"
#include <climits>
#include <cstdio>
#include <cstring>

namespace
{
/* Threads that keep a large device busy, and the loads that each should have to issue */
constexpr int64_t THREADS_WANTED = 1 << 18, NONZEROS_WANTED = 8;

/* What the steps of an analysis take in all, nearly: lengths, order and slices; a hash table, with 24 bytes more for a
   word to be ranked, which three quarters of the entries may be; and a dictionary, of at most 2 MB */
int64_t scratch_bytes(const SpmvPattern *p, int log_c)
{
  static const int words[] = {1, 2, 3, 4, 5, 6, 7, 8};
  const int64_t    upload  = p->space == SPMV_HOST ? (p->nnz + p->rows + 1) * spmv_index_bytes(p->index_type) : 0;
  int64_t          stride, capacity;

  codsell_sample_size(words, CODSELL_WORDS, CODSELL_SAMPLE_ALL, p->rows, p->nnz, &stride, &capacity);
  return upload + 4 * p->rows + 48 * (p->rows >> log_c) + capacity * (int64_t)(sizeof(CodsellEntry) + 18) + (3 << 20);
}

void free_analysis(CodsellDeviceAnalysis *a, SpmvExec *exec)
{
  spmv_arena_free(&a->arena, exec);
  spmv_exec_free(exec, SPMV_HOST, a);
}

void destroy_analysis(SpmvAnalysis *analysis, SpmvExec *exec)
{
  free_analysis((CodsellDeviceAnalysis *)analysis->data, exec);
}

/* Threads that share a row: more while there are few rows and each thread keeps enough nonzeros */
int choose_parts(const CodsellShape *s)
{
  const int64_t slots = s->slices << s->log_c;
  int           parts = 1;

  while (2 * parts <= 8 && (2 * parts) << s->log_c <= CODSELL_SUMMERS && slots * parts < THREADS_WANTED &&
         s->slices > 0 && s->columns / s->slices >= 2 * parts * NONZEROS_WANTED)
    parts *= 2;
  return parts;
}

SpmvStatus analyze_steps(CodsellDeviceAnalysis *a, const SpmvPattern *pattern, const SpmvOptions *options,
                         SpmvExec *exec)
{
  const int64_t most = INT_MAX - CODSELL_MAX_SIGMA; /* slots are counted in 32 bits */
  int64_t       sigma;
  int           word;

  if (pattern->rows > most || pattern->cols > most)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW,
                     "codsell takes at most %lld rows and columns on the device, not %lld x %lld", (long long)most,
                     (long long)pattern->rows, (long long)pattern->cols);
  codsell_read_options(options, &a->shape.log_c, &sigma, &word);
  a->arena.chunk_bytes = scratch_bytes(pattern, a->shape.log_c);
  SPMV_TRY(spmv_pattern_on_device(pattern, &a->arena, exec, &a->pattern));
  SPMV_TRY(codsell_device_rows(a, sigma, exec));
  SPMV_TRY(codsell_device_dictionary(a, word, exec));
  SPMV_TRY(codsell_device_slices(a, exec));
  a->shape.parts = choose_parts(&a->shape);
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus codsell_device_analyze(const SpmvPattern *pattern, SpmvScalar scalar, const SpmvOptions *options,
                                  SpmvExec *exec, SpmvAnalysis *analysis)
{
  void *block;

  SPMV_TRY(spmv_check_device(pattern, "codsell", CODSELL_MAX_SIGMA, exec));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof(CodsellDeviceAnalysis), "analysis", &block));
  CodsellDeviceAnalysis *a      = (CodsellDeviceAnalysis *)memset(block, 0, sizeof(CodsellDeviceAnalysis));
  const SpmvStatus       status = analyze_steps(a, pattern, options, exec);
  if (status) {
    free_analysis(a, exec);
    return status;
  }
  analysis->data         = a;
  analysis->destroy_data = destroy_analysis;
  codsell_memory(&a->shape, SPMV_I32, scalar, &analysis->memory);
  codsell_decide(&a->shape, analysis);
  return SPMV_SUCCESS;
}

namespace
{
/* Arrays that a plan has from its analysis, in units of 16 bytes. One kernel copies all of them: most are so small that
   a copy of each costs more time to begin than to do. */
constexpr int COPIES = 4, COPY_THREADS = 256;
struct Copies {
  int4       *to[COPIES];
  const int4 *from[COPIES];
  int64_t     up_to[COPIES]; /* units of this array and those before */
};

__global__ void codsell_copy(const Copies c)
{
  const int64_t i = blockIdx.x * (int64_t)COPY_THREADS + threadIdx.x;
  int           k = 0;

  if (i >= c.up_to[COPIES - 1]) return;
  while (i >= c.up_to[k]) k++;
  const int64_t unit = i - (k > 0 ? c.up_to[k - 1] : 0);
  c.to[k][unit]      = c.from[k][unit];
}

SpmvStatus copy_arrays(CodsellPlan *plan, const CodsellDeviceAnalysis *a, SpmvExec *exec)
{
  const CodsellShape *s = &a->shape;
  const struct {
    void       *to;
    const void *from;
    int64_t     bytes;
  } arrays[COPIES] = {
      {plan->slices, a->slices, s->slices * (int64_t)sizeof(CodsellSlice)},
      {plan->dictionary, a->dictionary, s->words * s->stride * (int64_t)sizeof(int32_t)},
      {plan->order, a->order, s->sorted ? (s->slices << s->log_c) * (int64_t)sizeof(uint16_t) : 0},
      {plan->long_rows, a->long_rows, s->long_rows > 0 ? (s->long_rows + 1) * (int64_t)sizeof(CodsellLong) : 0},
  };
  Copies  c;
  int64_t all = 0;

  for (int i = 0; i < COPIES; i++) { /* arrays begin at multiples of 256 bytes: their last units are there as a whole */
    c.to[i]    = (int4 *)arrays[i].to;
    c.from[i]  = (const int4 *)arrays[i].from;
    c.up_to[i] = all += spmv_blocks(arrays[i].bytes, sizeof(int4));
  }
  SPMV_LAUNCH(exec, codsell_copy, spmv_blocks(all, COPY_THREADS), COPY_THREADS, 0, c);
  return SPMV_SUCCESS;
}

/* pattern: on the device, or NULL */
SpmvStatus fill_values(CodsellPlan *plan, const SpmvPattern *pattern, const void *values, SpmvSpace space,
                       SpmvExec *exec)
{
  const SpmvPlan *base = &plan->base;
  SpmvScopedArena uploaded(exec);

  SPMV_TRY(spmv_on_device(values, space, base->nnz * spmv_scalar_bytes(base->scalar_type), "uploaded values",
                          &uploaded.arena, exec, &values));
  SPMV_TRY(codsell_device_fill(plan, pattern, values, exec));
  SPMV_TRY(spmv_settle(exec));
  return uploaded.arena.chunks ? spmv_stream_wait(exec) : SPMV_SUCCESS; /* an upload must be read before it is freed */
}

SpmvStatus fill_plan(CodsellPlan *plan, const SpmvCsr *csr, const CodsellDeviceAnalysis *a, SpmvExec *exec)
{
  SpmvPattern source = a->pattern;

  if (csr->pattern.space == SPMV_DEVICE) { /* the arrays may have moved since the analysis */
    source.row_ptr = csr->pattern.row_ptr;
    source.col     = csr->pattern.col;
  }
  SPMV_TRY(codsell_alloc(plan, SPMV_I32, exec));
  SPMV_TRY(copy_arrays(plan, a, exec));
  SPMV_TRY(codsell_device_codes(a, &source, plan, exec));
  return fill_values(plan, &source, csr->values, csr->values_space, exec);
}
} // namespace

SpmvStatus codsell_device_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvExec *exec, SpmvPlan **out)
{
  const CodsellDeviceAnalysis *a = (const CodsellDeviceAnalysis *)analysis->data;
  void                        *block;

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof(CodsellDevicePlan), "plan", &block));
  CodsellDevicePlan *plan = (CodsellDevicePlan *)memset(block, 0, sizeof(CodsellDevicePlan));
  SpmvPlan          *base = &plan->plan.base;
  spmv_plan_init(base, csr, analysis, exec);
  plan->plan.shape        = a->shape;
  const SpmvStatus status = fill_plan(&plan->plan, csr, a, exec);
  if (status) codsell_device_destroy(&base);
  else *out = base;
  return status;
}

SpmvStatus codsell_device_update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  spmv_transposed_free(base, &((CodsellDevicePlan *)base)->transposed);
  return fill_values((CodsellPlan *)base, NULL, values, values_space, exec);
}

SpmvStatus codsell_device_prepare_transpose(SpmvPlan *base, SpmvExec *exec)
{
  CodsellDevicePlan *plan = (CodsellDevicePlan *)base;
  SpmvScopedArena    scratch(exec);
  SpmvCoordinates    list;
  SpmvOptions        options;
  SpmvCsr            csr;

  if (plan->transposed.plan) return SPMV_SUCCESS;
  SPMV_TRY(spmv_coordinates_alloc(&list, base->nnz, base->scalar_type, &scratch.arena, exec));
  SPMV_TRY(codsell_device_list(&plan->plan, &list, exec));
  SPMV_TRY(spmv_transpose_coordinates(base, &list, &scratch.arena, exec, &csr));
  spmv_options_init(&options, base->format);
  return spmv_transposed_build(base, &csr, &options, exec, &plan->transposed);
}

SpmvStatus codsell_device_multtranspose(const SpmvPlan *base, const void *alpha, const void *x, const void *beta,
                                        void *y, void *work, SpmvExec *exec)
{
  (void)work;
  return spmv_transposed_mult(&((const CodsellDevicePlan *)base)->transposed, alpha, x, beta, y, exec);
}

void codsell_device_view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  const CodsellDevicePlan *plan = (const CodsellDevicePlan *)base;
  char                     line[SPMV_MESSAGE_MAX];

  snprintf(line, sizeof line, "threads a row: %d, pieces of long rows: %lld", plan->plan.shape.parts,
           (long long)plan->plan.shape.pieces);
  print(ctx, line);
  if (!plan->transposed.plan) return;
  snprintf(line, sizeof line, "transposed products keep a transpose of %lld bytes more",
           (long long)plan->transposed.plan->memory.total_bytes);
  print(ctx, line);
}

void codsell_device_destroy(SpmvPlan **plan)
{
  if (!plan || !*plan) return;
  const SpmvAllocator host = (*plan)->host, device = (*plan)->device;

  spmv_transposed_free(*plan, &((CodsellDevicePlan *)*plan)->transposed);
  codsell_free_arrays((CodsellPlan *)*plan);
  spmv_free(&host, &device, SPMV_HOST, *plan);
  *plan = NULL;
}
