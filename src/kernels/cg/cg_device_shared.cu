/*
  cg_device_shared.cu - sums over the processes of one host, without waiting for the host: each GPU writes its sums to
  page-locked memory that all processes share, and reads those of the others there.

  Slots are in two sets, which calls use in turn. A process writes to a set again when it has read all sums of the call
  before, which the others write only when they have read those of the call before that.
*/
#include "cg.h"
#include "device/launch.cuh"

namespace
{
enum { SHARED_THREADS = 32 };

/* What one process says in one call; of a cache line, so that two processes never write to the same one */
struct alignas(64) Slot {
  double   sums[2];
  uint64_t call; /* the number of the call that they belong to */
};

__device__ inline void pause()
{
#ifdef __CUDA_ARCH__
  __nanosleep(50);
#endif
}

/* One thread block. Thread i waits for the processes i, i + 32, ...; sums are added in the order of processes, so that
   all have the same bits. */
__global__ void spmv_cg_add_shared(Slot *slots, int rank, int processes, double *sums, int n, uint64_t call)
{
  volatile Slot *all = slots;

  if (threadIdx.x == 0) {
    for (int k = 0; k < n; k++) all[rank].sums[k] = sums[k];
    __threadfence_system();
    all[rank].call = call;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < processes; i += SHARED_THREADS)
    while (all[i].call != call) pause();
  __threadfence_system();
  __syncthreads();
  if ((int)threadIdx.x >= n) return;
  double sum = 0;
  for (int i = 0; i < processes; i++) sum += all[i].sums[threadIdx.x];
  sums[threadIdx.x] = sum;
}
} // namespace

extern "C" int64_t spmv_cg_shared_bytes(int processes) { return 2 * (int64_t)sizeof(Slot) * processes; }

extern "C" SpmvStatus spmv_cg_shared_open(SpmvCgShared *s, SpmvExec *exec)
{
  s->calls  = 0;
  s->mapped = nullptr;
  SPMV_CUDA(exec, cudaHostRegister(s->memory, (size_t)spmv_cg_shared_bytes(s->processes), cudaHostRegisterMapped));
  const SpmvStatus status =
      spmv_cuda_status(exec, cudaHostGetDevicePointer(&s->mapped, s->memory, 0), "shared memory on the device");
  if (status) (void)cudaHostUnregister(s->memory);
  return status;
}

extern "C" void spmv_cg_shared_close(SpmvCgShared *s)
{
  if (s->mapped) (void)cudaHostUnregister(s->memory);
  s->mapped = nullptr;
}

extern "C" SpmvStatus spmv_cg_shared_reduce(void *ctx, double *sums, int n, SpmvExec *exec)
{
  SpmvCgShared  *s     = (SpmvCgShared *)ctx;
  const uint64_t call  = ++s->calls;
  Slot          *slots = (Slot *)s->mapped + call % 2 * s->processes;

  SPMV_LAUNCH(exec, spmv_cg_add_shared, 1, SHARED_THREADS, 0, slots, s->rank, s->processes, sums, n, call);
  return SPMV_SUCCESS;
}
