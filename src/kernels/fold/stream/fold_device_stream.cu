/*
  fold_device_stream.cu - plans of streamed tables: analysis, build and refresh. fold_stream.h describes how the table
  is cut.
*/
#include "fold_device_stream.cuh"
#include <cstdio>
#include <cstring>

namespace
{
/* Gives an array on the host: the array itself, or a download into scratch */
SpmvStatus on_host(const void *from, SpmvSpace space, int64_t bytes, const char *name, FoldHostScratch *scratch,
                   SpmvExec *exec, const void **array)
{
  *array = space == SPMV_HOST ? from : NULL;
  if (*array || bytes == 0) return SPMV_SUCCESS;
  SPMV_TRY(scratch->alloc(bytes, name));
  *array = scratch->block;
  return spmv_fetch(scratch->block, from, bytes, exec);
}

int64_t row_ptr_bytes(const SpmvPattern *p) { return (p->rows + 1) * spmv_index_bytes(p->index_type); }

int64_t layout_bytes(const FoldSizes *s)
{
  return fold_slice_ptr_bytes(s) + fold_order_bytes(s) + fold_owner_bytes(s) + fold_full_ptr_bytes(s);
}

/* Numbers of columns and values on the device and on the host */
struct Parts {
  int64_t columns, values, host_columns, host_values;
};

Parts parts_of(const FoldSizes *s, const FoldStreamSizes *t)
{
  const int64_t resident = t->resident_steps * FOLD_LANES, rest = s->steps * FOLD_LANES - resident;
  return {fold_host_gathers(t) ? 0 : resident, resident, fold_host_gathers(t) ? resident + rest : rest, rest};
}

void report_memory(const FoldSizes *s, const FoldStreamSizes *t, const SpmvPattern *p, SpmvScalar scalar, SpmvMemory *m)
{
  const int64_t S     = spmv_scalar_bytes(scalar);
  const Parts   parts = parts_of(s, t);

  spmv_memory_add(m, "values", SPMV_ARRAY_VALUES, parts.values * S);
  spmv_memory_add(m, "columns", SPMV_ARRAY_INDICES, parts.columns * 4);
  spmv_memory_add(m, "slice_ptr", SPMV_ARRAY_POINTERS, fold_slice_ptr_bytes(s));
  spmv_memory_add(m, "order", SPMV_ARRAY_INDICES, fold_order_bytes(s));
  spmv_memory_add(m, "owner", SPMV_ARRAY_POINTERS, fold_owner_bytes(s));
  spmv_memory_add(m, "full_ptr", SPMV_ARRAY_POINTERS, fold_full_ptr_bytes(s));
  m->host_bytes = -m->total_bytes;
  spmv_memory_add(m, "host values", SPMV_ARRAY_VALUES, parts.host_values * S);
  spmv_memory_add(m, "host columns", SPMV_ARRAY_INDICES, parts.host_columns * 4);
  spmv_memory_add(m, "host layout", SPMV_ARRAY_POINTERS, layout_bytes(s));
  spmv_memory_add(m, "host row_ptr", SPMV_ARRAY_POINTERS, row_ptr_bytes(p));
  spmv_memory_add(m, "host chunks", SPMV_ARRAY_POINTERS,
                  t->chunks * (int64_t)(sizeof(FoldChunk) + (fold_host_gathers(t) ? sizeof(GatherJob) : 0)));
  if (fold_host_gathers(t))
    spmv_memory_add(m, "host x", SPMV_ARRAY_POINTERS, (p->cols + FOLD_BUFFERS * t->chunk_steps * FOLD_LANES) * S);
  m->host_bytes += m->total_bytes;
  m->padding_bytes = (s->steps * FOLD_LANES - s->nnz) * S;
  m->work_bytes    = t->partial_bytes + FOLD_BUFFERS * t->buffer_bytes;
}

/* ---- build ---- */

/* Allocates pinned memory: a copy from pageable memory would make a product wait */
SpmvStatus pinned(int64_t bytes, const char *name, SpmvExec *exec, void **block)
{
  const SpmvStatus status = spmv_pinned_alloc(exec, bytes, block);

  if (status == SPMV_ERR_MEMORY)
    return spmv_fail(exec, status, "no %lld bytes of pinned host memory for array %s", (long long)bytes, name);
  return status;
}

/* Makes layout and resident part of the table in device memory */
SpmvStatus make_resident(FoldStreamPlan *stream, const FoldLayout *from, SpmvExec *exec)
{
  FoldTable          *table    = &stream->device.table;
  const FoldSizes    *s        = &table->sizes;
  FoldLayout         *to       = &table->layout;
  const Parts         parts    = parts_of(s, &stream->sizes);
  const int64_t       S        = spmv_scalar_bytes(stream->device.base.scalar_type);
  const SpmvPlanArray arrays[] = {
      {"values", SPMV_ARRAY_VALUES, parts.values * S, &table->values},
      {"columns", SPMV_ARRAY_INDICES, parts.columns * 4, &table->columns},
      {"slice_ptr", SPMV_ARRAY_POINTERS, fold_slice_ptr_bytes(s), (void **)&to->slice_ptr},
      {"order", SPMV_ARRAY_INDICES, fold_order_bytes(s), (void **)&to->order},
      {"owner", SPMV_ARRAY_POINTERS, fold_owner_bytes(s), (void **)&to->owner},
      {"full_ptr", SPMV_ARRAY_POINTERS, fold_full_ptr_bytes(s), (void **)&to->full_ptr},
  };

  SPMV_TRY(spmv_arrays_alloc(&stream->device.base, arrays, 6, exec));
  return fold_copy_layout(s, to, SPMV_DEVICE, from, SPMV_HOST, exec);
}

SpmvStatus make_streams(FoldStreamPlan *stream, SpmvExec *exec)
{
  cudaEvent_t *const event[] = {&stream->start,    &stream->fetched, &stream->ready[0],
                                &stream->ready[1], &stream->done[0], &stream->done[1]};

  for (cudaStream_t &copy : stream->copy) SPMV_CUDA(exec, cudaStreamCreateWithFlags(&copy, cudaStreamNonBlocking));
  for (cudaEvent_t *e : event) SPMV_CUDA(exec, cudaEventCreateWithFlags(e, cudaEventDisableTiming));
  return SPMV_SUCCESS;
}

/* Makes the host buffers of x and of its gathered chunks in pinned memory, and the job of the host for each chunk */
SpmvStatus make_gather(FoldStreamPlan *stream, SpmvExec *exec)
{
  const FoldStreamSizes *t      = &stream->sizes;
  const SpmvScalar       scalar = stream->device.base.scalar_type;
  const int64_t          S = spmv_scalar_bytes(scalar), cols = stream->device.base.cols;
  void                  *jobs;

  SPMV_TRY(pinned(cols * S, "host x", exec, &stream->x));
  for (void *&to : stream->gathered) SPMV_TRY(pinned(t->chunk_steps * FOLD_LANES * S, "gathered x", exec, &to));
  spmv_threads_start(&stream->threads, fold_gather_threads(t->chunk_steps * FOLD_LANES));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, t->chunks * (int64_t)sizeof(GatherJob), "chunks", &jobs));
  stream->job = (GatherJob *)jobs;
  for (int64_t k = 0; k < t->chunks; k++)
    stream->job[k] = {(const int32_t *)stream->host.columns + stream->chunk[k].first_step * FOLD_LANES,
                      stream->chunk[k].steps * FOLD_LANES,
                      scalar,
                      stream->x,
                      stream->gathered[k % FOLD_BUFFERS],
                      &stream->threads};
  return SPMV_SUCCESS;
}

SpmvStatus make_arrays(FoldStreamPlan *stream, const FoldStreamAnalysis *a, const SpmvPattern *p, SpmvExec *exec)
{
  const int64_t S     = spmv_scalar_bytes(stream->device.base.scalar_type);
  const Parts   parts = parts_of(&a->sizes, &a->stream);
  FoldTable    *there = &stream->device.table;
  void         *chunks;

  stream->sizes            = a->stream;
  stream->columns_begin    = fold_host_gathers(&a->stream) ? 0 : a->stream.resident_slices;
  there->sizes             = a->sizes;
  there->column_type       = SPMV_I32;
  stream->host.sizes       = a->sizes;
  stream->host.column_type = SPMV_I32;
  SPMV_TRY(make_resident(stream, &a->layout, exec));
  SPMV_TRY(fold_layout_alloc(&a->sizes, exec, &stream->host.layout));
  SPMV_TRY(fold_copy_layout(&a->sizes, &stream->host.layout, SPMV_HOST, &a->layout, SPMV_HOST, exec));
  SPMV_TRY(pinned(parts.host_columns * 4, "host columns", exec, &stream->host.columns));
  SPMV_TRY(pinned(parts.host_values * S, "host values", exec, &stream->host.values));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, row_ptr_bytes(p), "row_ptr", &stream->row_ptr));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, a->stream.chunks * (int64_t)sizeof(FoldChunk), "chunks", &chunks));
  stream->chunk = (FoldChunk *)chunks;
  fold_stream_chunks(&a->sizes, a->layout.slice_ptr, &a->stream, stream->chunk);
  if (fold_host_gathers(&a->stream)) SPMV_TRY(make_gather(stream, exec));
  return make_streams(stream, exec);
}

SpmvStatus write_columns(FoldStreamPlan *stream, const SpmvPattern *p, const void *col, SpmvExec *exec)
{
  const FoldRange rest    = {stream->columns_begin, stream->host.sizes.slices, stream->host.columns, NULL};
  int32_t        *columns = (int32_t *)stream->device.table.columns;
  FoldHostScratch staging(exec);

  fold_fill_columns(&stream->host, &rest, p->index_type, stream->row_ptr, col);
  if (stream->columns_begin == 0) return SPMV_SUCCESS;
  SPMV_TRY(staging.alloc(stream->sizes.chunk_steps * FOLD_LANES * 4, "staged columns"));
  return fold_each_resident_range(stream, [&](int64_t begin, int64_t end, int64_t first, int64_t entries) {
    const FoldRange range = {begin, end, staging.block, NULL};
    fold_fill_columns(&stream->host, &range, p->index_type, stream->row_ptr, col);
    SPMV_TRY(spmv_copy(columns + first, SPMV_DEVICE, staging.block, SPMV_HOST, entries * 4, exec));
    return spmv_stream_wait(exec);
  });
}

SpmvStatus write_values(FoldStreamPlan *stream, const void *csr_values, SpmvExec *exec)
{
  const SpmvIndex  index  = stream->device.base.index_type;
  const SpmvScalar scalar = stream->device.base.scalar_type;
  const int64_t    S      = spmv_scalar_bytes(scalar);
  const FoldRange  rest   = {stream->sizes.resident_slices, stream->host.sizes.slices, NULL, stream->host.values};
  char            *values = (char *)stream->device.table.values;
  FoldHostScratch  staging(exec);

  fold_fill_values(&stream->host, &rest, index, scalar, stream->row_ptr, csr_values);
  if (stream->sizes.resident_slices == 0) return SPMV_SUCCESS;
  SPMV_TRY(staging.alloc(stream->sizes.chunk_steps * FOLD_LANES * S, "staged values"));
  return fold_each_resident_range(stream, [&](int64_t begin, int64_t end, int64_t first, int64_t entries) {
    const FoldRange range = {begin, end, NULL, staging.block};
    fold_fill_values(&stream->host, &range, index, scalar, stream->row_ptr, csr_values);
    SPMV_TRY(spmv_copy(values + first * S, SPMV_DEVICE, staging.block, SPMV_HOST, entries * S, exec));
    return spmv_stream_wait(exec);
  });
}

/* ---- slots ---- */

SpmvStatus analyze(const SpmvPattern *p, SpmvAnalysis *analysis, SpmvExec *exec)
{
  FoldStreamAnalysis *a       = (FoldStreamAnalysis *)analysis->data;
  const SpmvOptions  *options = &analysis->options;
  const SpmvScalar    scalar  = analysis->scalar_type;
  FoldHostScratch     scratch(exec);
  const void         *row_ptr;

  SPMV_TRY(spmv_check_counts(analysis, 0, exec));
  SPMV_TRY(on_host(p->row_ptr, p->space, row_ptr_bytes(p), "row_ptr", &scratch, exec, &row_ptr));
  SPMV_TRY(fold_analyze_rows(row_ptr, p, scalar, SPMV_DEVICE, {}, exec, &a->sizes, &a->layout));
  fold_stream_cut(&a->sizes, a->layout.slice_ptr, fold_gather_of(options), scalar,
                  (int64_t)options->value[FOLD_OPTION_DEVICE_MEMORY], fold_partial_sums(&a->sizes), &a->stream);
  report_memory(&a->sizes, &a->stream, p, scalar, &analysis->memory);
  return SPMV_SUCCESS;
}

void clear_analysis(void *data, SpmvExec *exec)
{
  fold_layout_free(&exec->host, &exec->device, SPMV_HOST, &((FoldStreamAnalysis *)data)->layout);
}

SpmvStatus build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *base, SpmvExec *exec)
{
  const FoldStreamAnalysis *a      = (const FoldStreamAnalysis *)analysis->data;
  FoldStreamPlan           *stream = (FoldStreamPlan *)base;
  const SpmvPattern        *p      = &csr->pattern;
  FoldHostScratch           row_ptrs(exec), cols(exec), numbers(exec);
  const void               *row_ptr, *col, *values;

  (void)pthread_mutex_init(&stream->one_at_a_time, NULL);
  SPMV_TRY(make_arrays(stream, a, p, exec));
  SPMV_TRY(on_host(p->row_ptr, p->space, row_ptr_bytes(p), "row_ptr", &row_ptrs, exec, &row_ptr));
  memcpy(stream->row_ptr, row_ptr, (size_t)row_ptr_bytes(p));
  SPMV_TRY(on_host(p->col, p->space, p->nnz * spmv_index_bytes(p->index_type), "col", &cols, exec, &col));
  SPMV_TRY(write_columns(stream, p, col, exec));
  SPMV_TRY(on_host(csr->values, csr->values_space, p->nnz * spmv_scalar_bytes(csr->scalar_type), "values", &numbers,
                   exec, &values));
  SPMV_TRY(write_values(stream, values, exec));
  return spmv_stream_wait(exec); /* the copies read the layout of the analysis */
}

SpmvStatus update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  FoldStreamPlan *stream = (FoldStreamPlan *)base;
  FoldHostScratch numbers(exec);
  const void     *host_values;

  SPMV_TRY(spmv_stream_wait(exec)); /* products that are already enqueued must see the old values */
  for (cudaStream_t copy : stream->copy) SPMV_CUDA(exec, cudaStreamSynchronize(copy));
  SPMV_TRY(on_host(values, values_space, base->nnz * spmv_scalar_bytes(base->scalar_type), "values", &numbers, exec,
                   &host_values));
  return write_values(stream, host_values, exec);
}

void view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  const FoldStreamPlan  *stream = (const FoldStreamPlan *)base;
  const FoldStreamSizes *t      = &stream->sizes;
  const int64_t          steps  = stream->host.sizes.steps;
  char                   line[SPMV_MESSAGE_MAX];

  fold_device_view(base, print, ctx);
  snprintf(line, sizeof line, "%.1f %% of the table are on the device, %lld bytes of the plan in host memory",
           steps ? 100.0 * (double)t->resident_steps / (double)steps : 100.0, (long long)base->memory.host_bytes);
  print(ctx, line);
  snprintf(line, sizeof line, "a product takes %lld chunks; two buffers of %lld bytes", (long long)t->chunks,
           (long long)t->buffer_bytes);
  print(ctx, line);
}

void clear(SpmvPlan *base)
{
  FoldStreamPlan   *stream  = (FoldStreamPlan *)base;
  cudaEvent_t const event[] = {stream->start,    stream->fetched, stream->ready[0],
                               stream->ready[1], stream->done[0], stream->done[1]};

  for (cudaStream_t copy : stream->copy)
    if (copy) {
      (void)cudaStreamSynchronize(copy); /* enqueued work may read the arrays that are freed below */
      (void)cudaStreamDestroy(copy);
    }
  for (cudaEvent_t e : event)
    if (e) (void)cudaEventDestroy(e);
  spmv_threads_stop(&stream->threads);
  spmv_pinned_free(stream->host.columns);
  spmv_pinned_free(stream->host.values);
  spmv_pinned_free(stream->x);
  for (void *block : stream->gathered) spmv_pinned_free(block);
  fold_layout_free(&base->host, &base->device, SPMV_HOST, &stream->host.layout);
  for (void *block : {stream->row_ptr, (void *)stream->chunk, (void *)stream->job})
    spmv_plan_free(base, SPMV_HOST, block);
  (void)pthread_mutex_destroy(&stream->one_at_a_time);
  fold_clear_table(base);
}
} // namespace

int fold_is_streamed(const SpmvOptions *options)
{
  return options->value[FOLD_OPTION_DEVICE_MEMORY] > 0 || fold_gather_of(options) == FOLD_GATHER_HOST;
}

const SpmvSlots fold_stream_slots = {
    sizeof(FoldStreamAnalysis),
    sizeof(FoldStreamPlan),
    nullptr, /* choose */
    analyze,
    clear_analysis,
    build,
    update_values,
    fold_stream_extract,
    fold_stream_mult,
    nullptr, /* add_transposed */
    nullptr, /* list_nonzeros */
    fold_stream_prepare_transpose,
    view,
    clear,
    nullptr, /* mult_rounded */
    nullptr, /* step */
};
