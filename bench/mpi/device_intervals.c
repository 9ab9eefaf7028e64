/* device_intervals.c - records kernels and copies on the GPU for mult_timeline, by CUPTI of the CUDA toolkit. */
#include "timeline.h"
#ifdef TIMELINE_CUPTI
  #include <cuda_runtime.h>
  #include <cupti.h>
  #include <stdlib.h>

enum { BUFFER = 1 << 20 };

static void CUPTIAPI GiveBuffer(uint8_t **buffer, size_t *size, size_t *most)
{
  *buffer = aligned_alloc(8, BUFFER);
  *size   = *buffer ? BUFFER : 0;
  *most   = 0; /* as many records as fit */
}

static const char *NameOfCopy(uint8_t kind)
{
  switch (kind) {
  case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    return "host to device";
  case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    return "device to host";
  case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    return "within the device";
  case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
    return "device to device";
  default:
    return "copy";
  }
}

static void TakeRecord(const CUpti_Activity *record)
{
  if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const CUpti_ActivityKernel10 *kernel = (const CUpti_ActivityKernel10 *)record;
    TimelineAdd("kernel", kernel->name, kernel->start, kernel->end);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const CUpti_ActivityMemcpy6 *copy = (const CUpti_ActivityMemcpy6 *)record;
    TimelineAdd("copy", NameOfCopy(copy->copyKind), copy->start, copy->end);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
    const CUpti_ActivityMemcpyPtoP4 *copy = (const CUpti_ActivityMemcpyPtoP4 *)record;
    TimelineAdd("copy", "device to device", copy->start, copy->end);
  }
}

static void CUPTIAPI TakeBuffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
  CUpti_Activity *record = NULL;

  (void)context;
  (void)stream;
  (void)size;
  while (valid && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) TakeRecord(record);
  free(buffer);
}

static const char *Reason(CUptiResult code)
{
  const char *text = "an unknown error of CUPTI";

  if (code == CUPTI_SUCCESS) return NULL;
  (void)cuptiGetResultString(code, &text);
  return text;
}

const char *DeviceIntervalsBegin(void)
{
  static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                             CUPTI_ACTIVITY_KIND_MEMCPY2};
  CUptiResult                     code    = cuptiActivityRegisterTimestampCallback(TimelineNow);

  if (!code) code = cuptiActivityRegisterCallbacks(GiveBuffer, TakeBuffer);
  for (size_t i = 0; !code && i < sizeof kinds / sizeof *kinds; i++) code = cuptiActivityEnable(kinds[i]);
  return Reason(code);
}

const char *DeviceIntervalsEnd(void)
{
  if (cudaDeviceSynchronize() != cudaSuccess) return "the device has failed";
  return Reason(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}
#else
const char *DeviceIntervalsBegin(void) { return "built without CUPTI"; }
const char *DeviceIntervalsEnd(void) { return "built without CUPTI"; }
#endif
