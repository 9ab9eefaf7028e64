/*
  cuda_runtime_api.h of the emulator - the part of the CUDA runtime that petscpack calls, for C and C++.

  Names, values and meaning are those of the CUDA toolkit's header, which this one replaces in an emulated build. The
  calling thread does work at once: a stream only remembers whether it is being captured. Only copies from pinned memory
  are done as late as possible.
*/
#ifndef SPMV_EMULATED_CUDA_RUNTIME_API_H
#define SPMV_EMULATED_CUDA_RUNTIME_API_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUDART_VERSION 12040

typedef enum cudaError {
  cudaSuccess                       = 0,
  cudaErrorInvalidValue             = 1,
  cudaErrorMemoryAllocation         = 2,
  cudaErrorInvalidConfiguration     = 9,
  cudaErrorInsufficientDriver       = 35,
  cudaErrorNoDevice                 = 100,
  cudaErrorInvalidDevice            = 101,
  cudaErrorInvalidResourceHandle    = 400,
  cudaErrorNotReady                 = 600,
  cudaErrorIllegalAddress           = 700,
  cudaErrorLaunchOutOfResources     = 701,
  cudaErrorStreamCaptureUnsupported = 900
} cudaError_t;

typedef enum cudaMemcpyKind {
  cudaMemcpyHostToHost     = 0,
  cudaMemcpyHostToDevice   = 1,
  cudaMemcpyDeviceToHost   = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault        = 4
} cudaMemcpyKind;

typedef enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal      = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed     = 2
} cudaStreamCaptureMode;

enum { cudaGraphInstantiateFlagUseNodePriority = 8 };
typedef enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone        = 0,
  cudaStreamCaptureStatusActive      = 1,
  cudaStreamCaptureStatusInvalidated = 2
} cudaStreamCaptureStatus;

typedef enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost         = 1,
  cudaMemoryTypeDevice       = 2,
  cudaMemoryTypeManaged      = 3
} cudaMemoryType;

typedef struct cudaPointerAttributes {
  cudaMemoryType type;
  int            device;
  void          *devicePointer, *hostPointer;
} cudaPointerAttributes;

enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaEventDefault = 0, cudaEventDisableTiming = 2 };
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostRegisterMapped = 2 };

typedef enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount              = 16,
  cudaDevAttrPciBusId                         = 33,
  cudaDevAttrPciDeviceId                      = 34,
  cudaDevAttrPciDomainId                      = 50,
  cudaDevAttrComputeCapabilityMajor           = 75,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrCooperativeLaunch                = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin     = 97,
  cudaDevAttrConcurrentManagedAccess          = 89,
  cudaDevAttrReservedSharedMemoryPerBlock     = 111,
  cudaDevAttrMemoryPoolsSupported             = 115
} cudaDeviceAttr;

typedef enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 } cudaFuncAttribute;

typedef struct cudaFuncAttributes {
  int    ptxVersion;
  size_t sharedSizeBytes;
} cudaFuncAttributes;

enum { cudaMemAttachGlobal = 1 };
enum { cudaMemAllocationTypePinned = 1, cudaMemLocationTypeDevice = 1 };
typedef enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 } cudaMemPoolAttr;
typedef struct cudaMemPoolProps {
  int allocType;
  struct {
    int type, id;
  } location;
} cudaMemPoolProps;

typedef struct CUmemPool_st   *cudaMemPool_t;
typedef struct CUstream_st    *cudaStream_t;
typedef struct CUevent_st     *cudaEvent_t;
typedef struct CUgraph_st     *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef void (*cudaHostFn_t)(void *);

#define cudaStreamPerThread ((cudaStream_t)2) /* defined for comparisons only: the emulator has no such stream */

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorName(cudaError_t);
const char *cudaGetErrorString(cudaError_t);

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, const void *function);

cudaError_t cudaMemPoolCreate(cudaMemPool_t *, const cudaMemPoolProps *);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t keep);
cudaError_t cudaMallocFromPoolAsync(void **block, size_t bytes, cudaMemPool_t, cudaStream_t);
cudaError_t cudaFreeAsync(void *block, cudaStream_t);

cudaError_t cudaMalloc(void **block, size_t bytes);
cudaError_t cudaFree(void *block);
cudaError_t cudaMallocHost(void **block, size_t bytes);
cudaError_t cudaHostAlloc(void **block, size_t bytes, unsigned flags);
cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *memory);
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags);
cudaError_t cudaFreeHost(void *block);
cudaError_t cudaMallocManaged(void **block, size_t bytes, unsigned flags);
cudaError_t cudaMemPrefetchAsync(const void *, size_t bytes, int device, cudaStream_t);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *, const void *);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemsetAsync(void *block, int value, size_t bytes, cudaStream_t);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *, unsigned flags, int priority);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned flags);
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *);
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *);
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *);
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void *data);

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventDestroy(cudaEvent_t);

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);

#ifdef __cplusplus
}
#endif
#endif
