/*
  streams.cpp - streams, events and graphs of the emulator, and the number of copies. A stream only remembers whether it is
  being captured.
*/
#include "runtime.h"
#include <utility>

using namespace spmv_emulator;

void spmv_emulator::count_copy(size_t bytes)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);

  machine().copies[bytes]++;
}

extern "C" {
long spmv_emulator_copies(size_t bytes)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);

  return machine().copies[bytes];
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
  if (const cudaError_t error = refused(SPMV_POINT_CALL)) return error;
  *stream           = new CUstream_st;
  (*stream)->device = current_device;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
  *least    = 0;
  *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
  if (priority > 0 || priority < -5) return result(cudaErrorInvalidValue);
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
  catch_up();
  if (machine().working == stream) working_now(nullptr);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
  if (const cudaError_t error = refused(SPMV_POINT_CALL)) return error;
  if (capturing()) return result(cudaErrorStreamCaptureUnsupported);
  if (stream_of(stream)->has_work) count_wait(&Machine::waits);
  stream_of(stream)->has_work = false;
  catch_up();
  host_waited(&stream_of(stream)->before);
  return cudaSuccess;
}
/* A stream that waits for an event of a capture joins the capture. A capture cannot wait for an event outside it, and
   no stream can wait for an event of a capture that has ended: both are errors. */
cudaError_t cudaStreamWaitEvent(cudaStream_t stream_, cudaEvent_t event, unsigned)
{
  CUstream_st *stream = stream_of(stream_);

  if (const cudaError_t error = refused(SPMV_POINT_CALL)) return error;
  if (event->captured == stream->captured) {
    if (!event->captured) {
      finish_kernels(); /* the next kernel depends on more than the previous one */
      add(&stream->before, event->before);
    }
    return cudaSuccess;
  }
  if (!event->captured || stream->captured || !machine().captures.count(event->captured))
    return result(cudaErrorStreamCaptureUnsupported);
  stream->captured = event->captured;
  stream->captured->streams.push_back(stream);
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
  if (const cudaError_t error = refused(SPMV_POINT_CALL)) return error;
  if (CUgraph_st *graph = stream_of(stream)->captured)
    graph->steps.push_back([=](cudaStream_t) {
      const Opened memory;
      catch_up();
      function(data);
    });
  else {
    stream_of(stream)->has_work = true;
    catch_up();
    function(data); /* host code, so device memory stays inaccessible */
  }
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
  if (const cudaError_t error = refused(SPMV_POINT_CALL)) return error;
  if (!stream || stream->captured) return result(cudaErrorStreamCaptureUnsupported);
  stream->captured = new CUgraph_st;
  stream->captured->streams.push_back(stream);
  machine().captures.insert(stream->captured);
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
  if (!stream || !stream->captured) return result(cudaErrorInvalidValue);
  *graph = stream->captured;
  for (CUstream_st *joined : (*graph)->streams) joined->captured = nullptr;
  machine().captures.erase(*graph);
  const cudaError_t error = refused(SPMV_POINT_CALL);
  if (!error) return cudaSuccess;
  delete *graph; /* the capture has ended even if the call fails */
  *graph = nullptr;
  return error;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
  *status = stream_of(stream)->captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode)
{
  std::swap(*mode, capture_mode);
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
  if (!graph) return result(cudaErrorInvalidValue);
  if (const cudaError_t error = refused(SPMV_POINT_LAUNCH)) return error;
  *exec          = new CUgraphExec_st;
  (*exec)->steps = graph->steps;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
  if (!exec) return result(cudaErrorInvalidValue);
  if (const cudaError_t error = refused(SPMV_POINT_LAUNCH)) return error;
  if (CUgraph_st *graph = stream_of(stream)->captured)
    graph->steps.insert(graph->steps.end(), exec->steps.begin(), exec->steps.end());
  else {
    stream_of(stream)->has_work = true;
    finish_kernels(); /* a graph begins when all earlier work has ended */
    begin_work(stream_of(stream));
    const Opened memory;
    for (const Step &step : exec->steps) step(stream);
  }
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
  delete exec;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
  if (const cudaError_t error = refused(SPMV_POINT_CALL)) return error;
  *event           = new CUevent_st;
  (*event)->device = current_device;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
  if (const cudaError_t error = refused(SPMV_POINT_CALL)) return error;
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);

  if (event->device != (stream ? stream->device : current_device)) return result(cudaErrorInvalidResourceHandle);
  event->captured = stream_of(stream)->captured;
  if (!event->captured) finish_kernels();
  settle();
  event->before = stream_of(stream)->before;
  event->copies = machine().put_off;
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event)
{
  if (capturing()) return result(cudaErrorStreamCaptureUnsupported);
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  const long                                  done = machine().put_off - (long)machine().late.size();

  if (machine().held > 0) {
    machine().held--;
    return result(cudaErrorNotReady);
  }
  if (done >= event->copies) {
    host_waited(&event->before);
    return cudaSuccess;
  }
  catch_up(done + 1); /* progress, so that repeated queries succeed in the end */
  return result(cudaErrorNotReady);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
  if (const cudaError_t error = refused(SPMV_POINT_CALL)) return error;
  if (capturing()) return result(cudaErrorStreamCaptureUnsupported);
  count_wait(&Machine::waits);
  catch_up(event->copies);
  host_waited(&event->before);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
  delete event;
  return cudaSuccess;
}
}
