/*
  fold_device_stream_mult.cu - the product with a streamed table.

  It only enqueues. Copies run on streams of the plan, ordered with exec->stream by events; the host gathers x in host
  functions on those streams. Buffers on the device are part of work. Host buffers for a gathered x belong to the plan,
  so with gather=host the products of one plan are serialized.
*/
#include "fold_device_stream.cuh"

namespace
{
void gather_on_host(void *job_)
{
  const GatherJob *job = (const GatherJob *)job_;
  fold_gather(job->threads, job->columns, job->entries, job->scalar, job->x, job->to);
}

/* Makes `later` wait for all work enqueued on `earlier` */
SpmvStatus order(cudaStream_t earlier, cudaEvent_t event, cudaStream_t later, SpmvExec *exec)
{
  SPMV_CUDA(exec, cudaEventRecord(event, earlier));
  SPMV_CUDA(exec, cudaStreamWaitEvent(later, event, 0));
  return SPMV_SUCCESS;
}

/* One product: its operands, and the state of chunks and buffers */
struct Product {
  const FoldStreamPlan *stream;
  const FoldOperands   *operands;
  SpmvExec             *exec;
  int64_t               sent = 0; /* chunks copied so far */

  cudaStream_t main() const { return (cudaStream_t)exec->stream; }
  int64_t      scalar_bytes() const { return spmv_scalar_bytes(stream->device.base.scalar_type); }
  char        *buffer(int64_t b) const
  {
    return (char *)operands->work + stream->sizes.partial_bytes + b * stream->sizes.buffer_bytes;
  }

  /* The resident part of a chunk */
  FoldPart resident_part(const FoldChunk *c) const
  {
    const int64_t first = c->first_step * FOLD_LANES;
    FoldPart      part  = {c->begin, c->end, c->first_step, NULL, NULL, NULL};

    if (!c->resident) return part;
    part.values = (const char *)stream->device.table.values + first * scalar_bytes();
    if (stream->device.table.columns) part.columns = (const int32_t *)stream->device.table.columns + first;
    return part;
  }

  /* Enqueues the copies of a chunk, and the gathering of its x, into the next buffer; makes main() wait for them */
  SpmvStatus send(int64_t k, FoldPart *part)
  {
    const FoldStreamPlan *s     = stream;
    const FoldChunk      *c     = &s->chunk[k];
    const bool            host  = fold_host_gathers(&s->sizes);
    const int64_t         b     = sent % FOLD_BUFFERS;
    const int64_t         bytes = c->steps * FOLD_LANES * scalar_bytes();
    const int64_t         plane = s->sizes.chunk_steps * FOLD_LANES * scalar_bytes();
    const int64_t skip = (c->first_step - s->sizes.resident_steps) * FOLD_LANES; /* index of the chunk in the host's
                                                                                    arrays */
    cudaStream_t  copy = s->copy[host ? b : 0];
    char         *to   = buffer(b);

    if (sent >= FOLD_BUFFERS) SPMV_CUDA(exec, cudaStreamWaitEvent(copy, s->done[b], 0));
    sent++;
    if (host) {
      part->gathered = to;
      to += plane;
    }
    if (!c->resident) {
      part->values = to;
      SPMV_CUDA(exec, cudaMemcpyAsync(to, (const char *)s->host.values + skip * scalar_bytes(), (size_t)bytes,
                                      cudaMemcpyHostToDevice, copy));
    }
    if (!c->resident && !host) {
      part->columns = to + plane;
      SPMV_CUDA(exec, cudaMemcpyAsync(to + plane, (const int32_t *)s->host.columns + skip,
                                      (size_t)(c->steps * FOLD_LANES * 4), cudaMemcpyHostToDevice, copy));
    }
    if (host) {
      SPMV_CUDA(exec, cudaLaunchHostFunc(copy, gather_on_host, &s->job[k]));
      SPMV_CUDA(exec, cudaMemcpyAsync(buffer(b), s->gathered[b], (size_t)bytes, cudaMemcpyHostToDevice, copy));
    }
    return order(copy, s->ready[b], main(), exec);
  }

  SpmvStatus multiply(int64_t k)
  {
    const FoldStreamPlan *s     = stream;
    const FoldChunk      *c     = &s->chunk[k];
    const bool            comes = fold_host_gathers(&s->sizes) || !c->resident;
    FoldPart              part  = resident_part(c);

    if (comes) SPMV_TRY(send(k, &part));
    SPMV_TRY(fold_device_multiply_part(&stream->device.table, stream->device.base.scalar_type, &part, operands, exec));
    if (comes) SPMV_CUDA(exec, cudaEventRecord(s->done[(sent - 1) % FOLD_BUFFERS], main()));
    return SPMV_SUCCESS;
  }

  SpmvStatus run()
  {
    const FoldStreamPlan *s    = stream;
    const bool            host = fold_host_gathers(&s->sizes);

    SPMV_TRY(order(main(), s->start, s->copy[0], exec));
    if (host) {
      SPMV_CUDA(exec, cudaMemcpyAsync(s->x, operands->x, (size_t)(stream->device.base.cols * scalar_bytes()),
                                      cudaMemcpyDeviceToHost, s->copy[0]));
      SPMV_TRY(order(s->copy[0], s->fetched, s->copy[1], exec));
    }
    for (int64_t k = 0; k < s->sizes.chunks; k++) SPMV_TRY(multiply(k));
    /* The next product overwrites x on the host, so it must wait for both streams. A stream capture must also end on
       the stream where it began. */
    if (host) SPMV_TRY(order(s->copy[1], s->fetched, s->copy[0], exec));
    SPMV_TRY(order(s->copy[0], s->start, main(), exec));
    return fold_device_finish(&stream->device.table, stream->device.base.scalar_type, operands, exec);
  }
};

} // namespace

SpmvStatus fold_stream_mult(const SpmvPlan *plan, const void *alpha, const void *x, const void *beta, void *y,
                            void *work, SpmvExec *exec)
{
  FoldStreamPlan    *stream   = (FoldStreamPlan *)plan; /* not const: a product takes its lock */
  const FoldOperands operands = {alpha, x, beta, y, work};
  Product            product  = {stream, &operands, exec};

  pthread_mutex_lock(&stream->one_at_a_time);
  const SpmvStatus status = product.run();
  pthread_mutex_unlock(&stream->one_at_a_time);
  return status;
}
