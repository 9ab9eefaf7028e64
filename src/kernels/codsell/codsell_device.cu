/* codsell_device.cu - the slots of format codsell for plans in device memory; they upload a host pattern or host values
   if needed. */
#include "device/upload.cuh"
#include "codsell_device.cuh"
#include <cstdio>

namespace
{
/* The number of threads that keep a large device busy, and the minimum number of nonzeros per thread */
constexpr int64_t THREADS_WANTED = 1 << 18, NONZEROS_WANTED = 8;

/* An estimate of the scratch memory of an analysis: lengths, order and slices; a hash table, plus 24 bytes per ranked
   word (at most three quarters of its entries); and a dictionary of at most 2 MB */
int64_t scratch_bytes(const SpmvPattern *p, int log_c)
{
  static const int words[] = {1, 2, 3, 4, 5, 6, 7, 8};
  const int64_t    upload  = p->space == SPMV_HOST ? (p->nnz + p->rows + 1) * spmv_index_bytes(p->index_type) : 0;
  int64_t          stride, capacity;

  codsell_sample_size(words, CODSELL_WORDS, CODSELL_SAMPLE_ALL, p->rows, p->nnz, &stride, &capacity);
  return upload + 4 * p->rows + 48 * (p->rows >> log_c) + capacity * (int64_t)(sizeof(CodsellEntry) + 18) + (3 << 20);
}

/* Threads per row: doubled as long as there are few rows and each thread keeps enough nonzeros */
int choose_parts(const CodsellShape *s)
{
  const int64_t slots = s->slices << s->log_c;
  int           parts = 1;

  while (2 * parts <= 8 && (2 * parts) << s->log_c <= CODSELL_PRODUCT_THREADS && slots * parts < THREADS_WANTED &&
         s->slices > 0 && s->columns / s->slices >= 2 * parts * NONZEROS_WANTED)
    parts *= 2;
  return parts;
}

SpmvStatus analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  CodsellDeviceAnalysis *a = (CodsellDeviceAnalysis *)analysis->data;
  int64_t                sigma;
  int                    word;

  SPMV_TRY(spmv_check_counts(analysis, CODSELL_MAX_SIGMA, exec)); /* slots are counted in 32 bits */
  codsell_read_options(&analysis->options, &a->shape.log_c, &sigma, &word);
  a->arena.chunk_bytes = scratch_bytes(pattern, a->shape.log_c);
  SPMV_TRY(spmv_pattern_on_device(pattern, &a->arena, exec, &a->pattern));
  SPMV_TRY(codsell_device_rows(a, sigma, exec));
  SPMV_TRY(codsell_device_dictionary(a, word, exec));
  SPMV_TRY(codsell_device_slices(a, exec));
  a->shape.parts = choose_parts(&a->shape);
  codsell_memory(&a->shape, SPMV_I32, analysis->scalar_type, &analysis->memory);
  return SPMV_SUCCESS;
}

void clear_analysis(void *data, SpmvExec *exec) { spmv_arena_free(&((CodsellDeviceAnalysis *)data)->arena, exec); }

/* The arrays that are copied from an analysis to the plan, in units of 16 bytes. One kernel copies all of them, since
   most are so small that a separate copy would take longer to start than to run. */
constexpr int COPIES = 4, COPY_THREADS = 256;
struct Copies {
  int4       *to[COPIES];
  const int4 *from[COPIES];
  int64_t     up_to[COPIES]; /* units of this array and of all previous arrays */
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

  for (int i = 0; i < COPIES;
       i++) { /* arrays begin at multiples of 256 bytes, so the last unit of each array is fully allocated */
    c.to[i]    = (int4 *)arrays[i].to;
    c.from[i]  = (const int4 *)arrays[i].from;
    c.up_to[i] = all += spmv_blocks(arrays[i].bytes, sizeof(int4));
  }
  SPMV_LAUNCH(exec, codsell_copy, spmv_blocks(all, COPY_THREADS), COPY_THREADS, 0, c);
  return SPMV_SUCCESS;
}

SpmvStatus build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *base, SpmvExec *exec)
{
  const CodsellDeviceAnalysis *a      = (const CodsellDeviceAnalysis *)analysis->data;
  CodsellPlan                 *plan   = (CodsellPlan *)base;
  SpmvPattern                  source = a->pattern;

  if (csr->pattern.space == SPMV_DEVICE) { /* the caller may have moved the arrays since the analysis */
    source.row_ptr = csr->pattern.row_ptr;
    source.col     = csr->pattern.col;
  }
  plan->shape = a->shape;
  SPMV_TRY(codsell_alloc(plan, SPMV_I32, exec));
  SPMV_TRY(copy_arrays(plan, a, exec));
  SPMV_TRY(codsell_device_codes(a, &source, plan, exec));
  return spmv_fill_values(base, csr->values, csr->values_space, exec,
                          [&](const void *values) { return codsell_device_fill(plan, &source, values, exec); });
}

SpmvStatus update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  return spmv_fill_values(base, values, values_space, exec, [&](const void *there) {
    return codsell_device_fill((CodsellPlan *)base, nullptr, there, exec);
  });
}

void view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  const CodsellShape *s = &((const CodsellPlan *)base)->shape;
  char                line[SPMV_MESSAGE_MAX];

  codsell_print(base, print, ctx);
  snprintf(line, sizeof line, "threads per row: %d, pieces of long rows: %lld", s->parts, (long long)s->pieces);
  print(ctx, line);
}
} // namespace

const SpmvSlots codsell_device_slots = {
    sizeof(CodsellDeviceAnalysis),
    sizeof(CodsellPlan),
    nullptr, /* choose */
    analyze,
    clear_analysis,
    build,
    update_values,
    nullptr, /* extract_values: by list_nonzeros */
    SpmvProducts<CodsellMultiply>::mult,
    nullptr, /* add_transposed */
    codsell_device_list,
    nullptr, /* prepare_transpose */
    view,
    codsell_free_arrays,
    SpmvProducts<CodsellMultiply>::rounded,
    SpmvProducts<CodsellMultiply>::step,
};
