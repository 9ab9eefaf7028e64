/*
  fold_device_stream.cu - plans whose table lies in host memory beyond what the device may hold, or whose x the host
  gathers: analysis, build, refresh, and the way back to a CSR. fold_stream.h tells how the table is cut.
*/
#include "fold_device_stream.cuh"
#include <cstdio>
#include <cstring>

namespace
{
/* A block of host memory that is freed when its scope ends */
class HostScratch
{
  SpmvExec *exec;

public:
  void *block = nullptr;
  explicit HostScratch(SpmvExec *e) : exec(e) {}
  HostScratch(const HostScratch &)            = delete;
  HostScratch &operator=(const HostScratch &) = delete;
  ~HostScratch() { spmv_exec_free(exec, SPMV_HOST, block); }
  SpmvStatus alloc(int64_t bytes, const char *name) { return spmv_alloc(exec, SPMV_HOST, bytes, name, &block); }
};

/* An array on the host: where it is, its copy there, or a download into scratch */
SpmvStatus on_host(const void *from, SpmvSpace space, const void *host_copy, int64_t bytes, const char *name,
                   HostScratch *scratch, SpmvExec *exec, const void **array)
{
  *array = space == SPMV_HOST ? from : host_copy;
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

/* Entries of the parts of a table: columns and values on the device, then on the host */
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
  m->work_bytes    = t->partial_bytes + t->gathered_bytes + FOLD_BUFFERS * t->buffer_bytes;
}

/* ---- build ---- */

/* A copy from memory that is not pinned would make a product wait */
SpmvStatus pinned(int64_t bytes, const char *name, SpmvExec *exec, void **block)
{
  const SpmvStatus status = spmv_pinned_alloc(exec, bytes, block);

  if (status == SPMV_ERR_MEMORY)
    return spmv_fail(exec, status, "no %lld bytes of pinned host memory for array %s", (long long)bytes, name);
  return status;
}

SpmvStatus copy_to(SpmvSpace space, const void *from, int64_t bytes, const char *name, SpmvExec *exec, void **to)
{
  SPMV_TRY(spmv_alloc(exec, space, bytes, name, to));
  return spmv_copy(*to, space, from, SPMV_HOST, bytes, exec);
}

SpmvStatus copy_layout(SpmvSpace space, const FoldSizes *s, const FoldLayout *from, SpmvExec *exec, FoldLayout *to)
{
  SPMV_TRY(copy_to(space, from->slice_ptr, fold_slice_ptr_bytes(s), "slice_ptr", exec, (void **)&to->slice_ptr));
  SPMV_TRY(copy_to(space, from->order, fold_order_bytes(s), "order", exec, (void **)&to->order));
  SPMV_TRY(copy_to(space, from->owner, fold_owner_bytes(s), "owner", exec, (void **)&to->owner));
  return copy_to(space, from->full_ptr, fold_full_ptr_bytes(s), "full_ptr", exec, (void **)&to->full_ptr);
}

SpmvStatus make_streams(FoldStream *stream, SpmvExec *exec)
{
  cudaEvent_t *const event[] = {&stream->start,    &stream->fetched, &stream->ready[0],
                                &stream->ready[1], &stream->done[0], &stream->done[1]};

  for (cudaStream_t &copy : stream->copy) SPMV_CUDA(exec, cudaStreamCreateWithFlags(&copy, cudaStreamNonBlocking));
  for (cudaEvent_t *e : event) SPMV_CUDA(exec, cudaEventCreateWithFlags(e, cudaEventDisableTiming));
  return SPMV_SUCCESS;
}

/* x and its gathered chunks in pinned memory, and what the host does for each chunk */
SpmvStatus make_gather(FoldStream *stream, int64_t cols, SpmvScalar scalar, SpmvExec *exec)
{
  const FoldStreamSizes *t = &stream->sizes;
  const int64_t          S = spmv_scalar_bytes(scalar);
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

SpmvStatus make_arrays(FoldDevicePlan *plan, const FoldDeviceAnalysis *a, const SpmvPattern *p, SpmvExec *exec)
{
  FoldStream      *stream = plan->stream;
  const SpmvScalar scalar = plan->base.scalar_type;
  const int64_t    S      = spmv_scalar_bytes(scalar);
  const Parts      parts  = parts_of(&a->sizes, &a->stream);
  void            *chunks;

  stream->sizes            = a->stream;
  stream->columns_begin    = fold_host_gathers(&a->stream) ? 0 : a->stream.resident_slices;
  plan->table.sizes        = a->sizes;
  plan->table.column_type  = SPMV_I32;
  stream->host.sizes       = a->sizes;
  stream->host.column_type = SPMV_I32;
  SPMV_TRY(copy_layout(SPMV_DEVICE, &a->sizes, &a->layout, exec, &plan->table.layout));
  SPMV_TRY(copy_layout(SPMV_HOST, &a->sizes, &a->layout, exec, &stream->host.layout));
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, parts.columns * 4, "columns", &plan->table.columns));
  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, parts.values * S, "values", &plan->table.values));
  SPMV_TRY(pinned(parts.host_columns * 4, "host columns", exec, &stream->host.columns));
  SPMV_TRY(pinned(parts.host_values * S, "host values", exec, &stream->host.values));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, row_ptr_bytes(p), "row_ptr", &stream->row_ptr));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, a->stream.chunks * (int64_t)sizeof(FoldChunk), "chunks", &chunks));
  stream->chunk = (FoldChunk *)chunks;
  fold_stream_chunks(&a->sizes, a->layout.slice_ptr, &a->stream, stream->chunk);
  if (fold_host_gathers(&a->stream)) SPMV_TRY(make_gather(stream, p->cols, scalar, exec));
  return make_streams(stream, exec);
}

/* Calls visit(range) for the resident slices, a chunk at a time; staging is room for a chunk */
template <typename Visit>
SpmvStatus each_resident_range(const FoldStream *stream, const Visit &visit)
{
  const FoldStreamSizes *t         = &stream->sizes;
  const int64_t         *slice_ptr = stream->host.layout.slice_ptr;

  for (int64_t begin = 0, end; begin < t->resident_slices; begin = end) {
    end = fold_stream_range_end(slice_ptr, t->chunk_steps, begin, t->resident_slices);
    SPMV_TRY(visit(begin, end, slice_ptr[begin] * FOLD_LANES, (slice_ptr[end] - slice_ptr[begin]) * FOLD_LANES));
  }
  return SPMV_SUCCESS;
}

SpmvStatus write_columns(FoldDevicePlan *plan, const SpmvPattern *p, const void *col, SpmvExec *exec)
{
  FoldStream     *stream = plan->stream;
  const FoldRange rest   = {stream->columns_begin, stream->host.sizes.slices, stream->host.columns, NULL};
  HostScratch     staging(exec);

  fold_fill_columns(&stream->host, &rest, p->index_type, stream->row_ptr, col);
  if (stream->columns_begin == 0) return SPMV_SUCCESS;
  SPMV_TRY(staging.alloc(stream->sizes.chunk_steps * FOLD_LANES * 4, "staged columns"));
  return each_resident_range(stream, [&](int64_t begin, int64_t end, int64_t first, int64_t entries) {
    const FoldRange range = {begin, end, staging.block, NULL};
    fold_fill_columns(&stream->host, &range, p->index_type, stream->row_ptr, col);
    SPMV_TRY(
        spmv_copy((int32_t *)plan->table.columns + first, SPMV_DEVICE, staging.block, SPMV_HOST, entries * 4, exec));
    return spmv_stream_wait(exec);
  });
}

SpmvStatus write_values(FoldDevicePlan *plan, const void *values, SpmvExec *exec)
{
  FoldStream      *stream = plan->stream;
  const SpmvIndex  index  = plan->base.index_type;
  const SpmvScalar scalar = plan->base.scalar_type;
  const int64_t    S      = spmv_scalar_bytes(scalar);
  const FoldRange  rest   = {stream->sizes.resident_slices, stream->host.sizes.slices, NULL, stream->host.values};
  HostScratch      staging(exec);

  fold_fill_values(&stream->host, &rest, index, scalar, stream->row_ptr, values);
  if (stream->sizes.resident_slices == 0) return SPMV_SUCCESS;
  SPMV_TRY(staging.alloc(stream->sizes.chunk_steps * FOLD_LANES * S, "staged values"));
  return each_resident_range(stream, [&](int64_t begin, int64_t end, int64_t first, int64_t entries) {
    const FoldRange range = {begin, end, NULL, staging.block};
    fold_fill_values(&stream->host, &range, index, scalar, stream->row_ptr, values);
    SPMV_TRY(
        spmv_copy((char *)plan->table.values + first * S, SPMV_DEVICE, staging.block, SPMV_HOST, entries * S, exec));
    return spmv_stream_wait(exec);
  });
}

void destroy_stream(FoldStream *stream, const SpmvAllocator *host, const SpmvAllocator *device)
{
  cudaEvent_t const event[] = {stream->start,    stream->fetched, stream->ready[0],
                               stream->ready[1], stream->done[0], stream->done[1]};

  for (cudaStream_t copy : stream->copy)
    if (copy) {
      (void)cudaStreamSynchronize(copy); /* what is enqueued reads the arrays that are freed now */
      (void)cudaStreamDestroy(copy);
    }
  for (cudaEvent_t e : event)
    if (e) (void)cudaEventDestroy(e);
  spmv_threads_stop(&stream->threads);
  spmv_pinned_free(stream->host.columns);
  spmv_pinned_free(stream->host.values);
  spmv_pinned_free(stream->x);
  for (void *block : stream->gathered) spmv_pinned_free(block);
  fold_layout_free(host, device, SPMV_HOST, &stream->host.layout);
  spmv_free(host, device, SPMV_HOST, stream->row_ptr);
  spmv_free(host, device, SPMV_HOST, stream->chunk);
  spmv_free(host, device, SPMV_HOST, stream->job);
  (void)pthread_mutex_destroy(&stream->one_at_a_time);
  spmv_free(host, device, SPMV_HOST, stream);
}
} // namespace

int fold_is_streamed(const SpmvOptions *options)
{
  return options->value[FOLD_OPTION_DEVICE_MEMORY] > 0 || fold_gather_of(options) == FOLD_GATHER_HOST;
}

SpmvStatus fold_stream_analyze(const SpmvPattern *p, SpmvScalar scalar, const SpmvOptions *options, SpmvExec *exec,
                               FoldDeviceAnalysis *a, SpmvMemory *memory)
{
  HostScratch scratch(exec);
  const void *row_ptr;

  a->streamed = 1;
  SPMV_TRY(on_host(p->row_ptr, p->space, p->host_row_ptr, row_ptr_bytes(p), "row_ptr", &scratch, exec, &row_ptr));
  SPMV_TRY(fold_analyze_rows(row_ptr, p, scalar, SPMV_DEVICE, options, exec, &a->sizes, &a->layout));
  a->sizes.device_time = 0; /* what a product waits for are the copies, and a CSR would not fit either */
  fold_stream_cut(&a->sizes, a->layout.slice_ptr, fold_gather_of(options), scalar,
                  (int64_t)options->value[FOLD_OPTION_DEVICE_MEMORY], fold_partial_sums(&a->sizes), &a->stream);
  report_memory(&a->sizes, &a->stream, p, scalar, memory);
  return SPMV_SUCCESS;
}

SpmvStatus fold_stream_build(const SpmvCsr *csr, const FoldDeviceAnalysis *a, SpmvExec *exec, FoldDevicePlan *plan)
{
  const SpmvPattern *p = &csr->pattern;
  HostScratch        row_ptrs(exec), cols(exec), numbers(exec);
  const void        *row_ptr, *col, *values;
  void              *block;

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof(FoldStream), "stream", &block));
  plan->stream = (FoldStream *)memset(block, 0, sizeof(FoldStream));
  (void)pthread_mutex_init(&plan->stream->one_at_a_time, NULL);
  SPMV_TRY(make_arrays(plan, a, p, exec));
  SPMV_TRY(on_host(p->row_ptr, p->space, p->host_row_ptr, row_ptr_bytes(p), "row_ptr", &row_ptrs, exec, &row_ptr));
  memcpy(plan->stream->row_ptr, row_ptr, (size_t)row_ptr_bytes(p));
  SPMV_TRY(on_host(p->col, p->space, p->host_col, p->nnz * spmv_index_bytes(p->index_type), "col", &cols, exec, &col));
  SPMV_TRY(write_columns(plan, p, col, exec));
  SPMV_TRY(on_host(csr->values, csr->values_space, NULL, p->nnz * spmv_scalar_bytes(csr->scalar_type), "values",
                   &numbers, exec, &values));
  SPMV_TRY(write_values(plan, values, exec));
  return spmv_stream_wait(exec); /* the layout of the analysis has been read */
}

SpmvStatus fold_stream_update(FoldDevicePlan *plan, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  HostScratch numbers(exec);
  const void *host_values;

  SPMV_TRY(spmv_stream_wait(exec)); /* products that are enqueued have the old values */
  for (cudaStream_t copy : plan->stream->copy) SPMV_CUDA(exec, cudaStreamSynchronize(copy));
  SPMV_TRY(on_host(values, values_space, NULL, plan->base.nnz * spmv_scalar_bytes(plan->base.scalar_type), "values",
                   &numbers, exec, &host_values));
  return write_values(plan, host_values, exec);
}

SpmvStatus fold_stream_transpose(const FoldDevicePlan *plan, SpmvExec *exec, SpmvCsr *csr,
                                 void *block[FOLD_TRANSPOSE_BLOCKS])
{
  const FoldStream *stream = plan->stream;
  const SpmvPlan   *b      = &plan->base;
  const int64_t     S = spmv_scalar_bytes(b->scalar_type), I = spmv_index_bytes(b->index_type);
  const int64_t     resident = stream->sizes.resident_slices, room = stream->sizes.chunk_steps * FOLD_LANES;
  HostScratch       columns(exec), values(exec);

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, b->nnz * I, "col", &block[0]));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, b->nnz * S, "values", &block[1]));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, (b->cols + 1) * I, "transposed row_ptr", &block[2]));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, b->nnz * I, "transposed col", &block[3]));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, b->nnz * S, "transposed values", &block[4]));
  SPMV_TRY(columns.alloc(room * 4, "staged columns"));
  SPMV_TRY(values.alloc(room * S, "staged values"));
  SPMV_TRY(each_resident_range(stream, [&](int64_t begin, int64_t end, int64_t first, int64_t entries) {
    FoldRange range = {begin, end, (int32_t *)stream->host.columns + first, values.block};
    SPMV_TRY(spmv_fetch(values.block, (const char *)plan->table.values + first * S, entries * S, exec));
    if (plan->table.columns) {
      range.columns = columns.block;
      SPMV_TRY(spmv_fetch(columns.block, (const int32_t *)plan->table.columns + first, entries * 4, exec));
    }
    fold_unfill(&stream->host, &range, b->index_type, b->scalar_type, stream->row_ptr, block[0], block[1]);
    return SPMV_SUCCESS;
  }));
  const int64_t   skip = (stream->columns_begin < resident ? stream->sizes.resident_steps : 0) * FOLD_LANES;
  const FoldRange rest = {resident, stream->host.sizes.slices, (int32_t *)stream->host.columns + skip,
                          stream->host.values};
  fold_unfill(&stream->host, &rest, b->index_type, b->scalar_type, stream->row_ptr, block[0], block[1]);
  const SpmvPattern p = {b->rows, b->cols, b->nnz, b->index_type, SPMV_HOST, stream->row_ptr, block[0], NULL, NULL};
  fold_transpose_csr(&p, b->scalar_type, block[1], block[2], block[3], block[4]);
  *csr = {{b->cols, b->rows, b->nnz, b->index_type, SPMV_HOST, block[2], block[3], NULL, NULL},
          b->scalar_type,
          SPMV_HOST,
          block[4]};
  return SPMV_SUCCESS;
}

void fold_stream_view(const FoldDevicePlan *plan, SpmvPrint print, void *ctx)
{
  const FoldStreamSizes *t     = &plan->stream->sizes;
  const int64_t          steps = plan->table.sizes.steps;
  char                   line[SPMV_MESSAGE_MAX];

  snprintf(line, sizeof line, "%.1f %% of the table are on the device, %lld bytes of the plan in host memory",
           steps ? 100.0 * (double)t->resident_steps / (double)steps : 100.0, (long long)plan->base.memory.host_bytes);
  print(ctx, line);
  snprintf(line, sizeof line, "a product takes %lld chunks; two buffers of %lld bytes", (long long)t->chunks,
           (long long)t->buffer_bytes);
  print(ctx, line);
}

void fold_stream_free(FoldDevicePlan *plan)
{
  const SpmvAllocator host = plan->base.host, device = plan->base.device;

  if (plan->stream) destroy_stream(plan->stream, &host, &device);
  plan->stream = NULL;
}
