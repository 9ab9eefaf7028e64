/* queue.cu - the host's side of records and events; see queue.cuh. */
#include "queue.cuh"
#include <chrono>

SpmvStatus spmv_queue_open(SpmvQueue *q, const char *who, const SpmvProcesses *processes, bool graphs, SpmvExec *exec)
{
  q->who       = who;
  q->processes = processes;
  SPMV_TRY(spmv_pinned_alloc(exec, SPMV_RECORDS_BYTES, (void **)&q->records));
  for (cudaEvent_t &event : q->event) SPMV_CUDA(exec, cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  if (graphs) SPMV_CUDA(exec, cudaStreamCreateWithFlags(&q->stream, cudaStreamNonBlocking));
  return SPMV_SUCCESS;
}

void spmv_queue_close(SpmvQueue *q)
{
  for (int i = 0; i < 2; i++) {
    if (q->recorded[i]) (void)cudaEventSynchronize(q->event[i]);
    if (q->event[i]) (void)cudaEventDestroy(q->event[i]);
  }
  if (q->stream) (void)cudaStreamDestroy(q->stream);
  spmv_pinned_free(q->records);
}

SpmvStatus spmv_queue_follow(SpmvQueue *q, SpmvExec *exec)
{
  for (int i = 0; i < 2; i++)
    if (q->recorded[i]) SPMV_CUDA(exec, cudaStreamWaitEvent((cudaStream_t)exec->stream, q->event[i], 0));
  return SPMV_SUCCESS;
}

SpmvStatus spmv_queue_record(SpmvQueue *q, int i, SpmvExec *exec)
{
  SPMV_CUDA(exec, cudaEventRecord(q->event[i], (cudaStream_t)exec->stream));
  q->recorded[i] = true;
  return SPMV_SUCCESS;
}

/* Fails if only some processes end, because the remaining ones would wait for them for ever */
static SpmvStatus agree_on_end(const SpmvQueue *q, const SpmvRecord *record, SpmvExec *exec)
{
  const SpmvProcesses *all  = q->processes;
  const int            mine = record->reason != SPMV_ITERATING;
  int                  end  = mine;

  if (!all || !all->agree) return SPMV_SUCCESS;
  SPMV_TRY(all->agree(all->ctx, &end, exec));
  if (end == mine) return SPMV_SUCCESS;
  return spmv_fail(
      exec, SPMV_ERR_DEVICE,
      "%s: another process has come to an end after %lld iterations: its sums differ from those of this one", q->who,
      (long long)record->iterations);
}

/* Waits for an event, and checks from time to time that the other processes are alive */
static SpmvStatus wait_for_event(const SpmvProcesses *all, cudaEvent_t event, SpmvExec *exec)
{
  using Clock                 = std::chrono::steady_clock;
  constexpr double look_after = 0.01; /* seconds: longer than any wait of a healthy solve */
  const auto       begin      = Clock::now();

  if (!all || !all->alive) {
    SPMV_CUDA(exec, cudaEventSynchronize(event));
    return SPMV_SUCCESS;
  }
  for (double looked = 0;;) {
    const cudaError_t error = cudaEventQuery(event);
    if (error != cudaErrorNotReady) return spmv_cuda_status(exec, error, "wait for iterations");
    (void)cudaGetLastError(); /* clears cudaErrorNotReady */
    const double waited = std::chrono::duration<double>(Clock::now() - begin).count();
    if (waited < looked + look_after) continue;
    SPMV_TRY(all->alive(all->ctx, waited, exec));
    looked = waited;
  }
}

SpmvStatus spmv_queue_wait(SpmvQueue *q, int i, SpmvRecord *record, SpmvExec *exec)
{
  SPMV_TRY(wait_for_event(q->processes, q->event[i], exec));
  *record = q->records[i];
  return agree_on_end(q, record, exec);
}

SpmvStatus spmv_queue_watch(const SpmvProcesses *processes, SpmvExec *exec)
{
  cudaEvent_t event;

  if (!processes || !processes->alive) return SPMV_SUCCESS;
  SPMV_CUDA(exec, cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  const cudaError_t error  = cudaEventRecord(event, (cudaStream_t)exec->stream);
  SpmvStatus        status = spmv_cuda_status(exec, error, "wait for iterations");
  if (!status) status = wait_for_event(processes, event, exec);
  (void)cudaEventDestroy(event);
  return status;
}

void spmv_queue_grow(SpmvQueue *q, int i, int64_t iterations)
{
  enum { GROWN_CHUNK = 16 /* beyond it, the host's work per iteration is negligible */ };

  if (q->processes || q->chunk >= GROWN_CHUNK || 32 * (int64_t)q->chunk > iterations) return;
  if (cudaEventQuery(q->event[i]) == cudaSuccess) q->chunk = 2 * q->chunk < GROWN_CHUNK ? 2 * q->chunk : GROWN_CHUNK;
  else (void)cudaGetLastError(); /* clears cudaErrorNotReady */
}

int spmv_queue_chunk(const SpmvProcesses *processes, double iteration)
{
  const double most = 200e-6 / iteration;

  return most < 1 || spmv_processes_wait(processes) ? 1 : (int)most;
}
