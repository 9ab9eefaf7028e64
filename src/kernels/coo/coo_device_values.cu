/* Values of lists on the device. Each thread computes one nonzero ("place"). The threads of a block first load the
   entries of all their places to shared memory together; then each thread adds up the entries of its own place, in the
   order of the list. */
#include "coo_device.cuh"

namespace
{
enum {
  THREADS  = 256,
  EACH     = 4,
  CHUNK    = 8 * THREADS, /* entries in shared memory at a time */
  RESIDENT = 8            /* thread blocks per multiprocessor */
};

/* The values of both parts of a list */
template <typename S>
struct Parts {
  const S *own, *received;
  int64_t  count; /* entries of own */

  __device__ S of(uint64_t position) const
  {
    return position < (uint64_t)count ? own[position] : received[position - (uint64_t)count];
  }
};

/* Copies the values of n entries to shared memory. Each thread starts EACH loads before it stores, to overlap their
   latencies. */
template <typename P, typename S>
__device__ inline void bring(int n, const P *__restrict__ map, const Parts<S> &v, S *entry)
{
  for (int k = threadIdx.x; k < n; k += EACH * THREADS) {
    S value[EACH];

#pragma unroll
    for (int e = 0; e < EACH; e++)
      if (k + e * THREADS < n) value[e] = v.of(map[k + e * THREADS]);
#pragma unroll
    for (int e = 0; e < EACH; e++)
      if (k + e * THREADS < n) entry[k + e * THREADS] = value[e];
  }
}

/* Sums have the same bits as on the host: entries are only added, so the compiler cannot contract to fused
   multiply-adds */
template <typename P, typename S, bool ADD>
__global__ void __launch_bounds__(THREADS, spmv_resident_blocks(THREADS, RESIDENT))
    spmv_coo_sum(int64_t nnz, const P *start, const P *map, const Parts<S> v, S *values)
{
  __shared__ S  entry[CHUNK];
  const int64_t first = blockIdx.x * (int64_t)THREADS, place = first + threadIdx.x;
  const int64_t end = start[min(first + THREADS, nnz)], mine = start[min(place, nnz)],
                next = start[min(place + 1, nnz)];
  S sum              = 0;

  for (int64_t chunk = start[first]; chunk < end; chunk += CHUNK) {
    const int n = (int)min(end - chunk, (int64_t)CHUNK);
    bring(n, map + chunk, v, entry);
    __syncthreads();
    const int last = (int)(min(max(next, chunk), chunk + n) - chunk);
    for (int k = (int)(min(max(mine, chunk), chunk + n) - chunk); k < last; k++) sum += entry[k];
    __syncthreads();
  }
  if (place < nnz) values[place] = ADD ? values[place] + sum : sum;
}

template <typename P, typename S>
SpmvStatus sum_up(const SpmvCoo *coo, const void *v[2], int add, void *values, SpmvExec *exec)
{
  const Parts<S> parts  = {(const S *)v[0], (const S *)v[1], coo->count[0]};
  const int64_t  blocks = spmv_blocks(coo->nnz, THREADS);
  const P       *start = (const P *)coo->start, *map = (const P *)coo->map;

  if (add) SPMV_LAUNCH(exec, (spmv_coo_sum<P, S, true>), blocks, THREADS, 0, coo->nnz, start, map, parts, (S *)values);
  else SPMV_LAUNCH(exec, (spmv_coo_sum<P, S, false>), blocks, THREADS, 0, coo->nnz, start, map, parts, (S *)values);
  return SPMV_SUCCESS;
}

template <typename P, typename S>
SpmvStatus pack(const SpmvCooOthers *others, const void *v, void *out, SpmvExec *exec)
{
  return spmv_take((const P *)others->place, (const S *)v, others->count, (S *)out, exec);
}

/* f<P, S>(...) by the width of positions and the type of values */
#define BY_POSITION(f, wide, scalar, ...)                                                                              \
  ((scalar) == SPMV_F32 ? ((wide) ? f<uint64_t, float>(__VA_ARGS__) : f<uint32_t, float>(__VA_ARGS__))                 \
                        : ((wide) ? f<uint64_t, double>(__VA_ARGS__) : f<uint32_t, double>(__VA_ARGS__)))
} // namespace

SpmvStatus spmv_coo_device_values(const SpmvCoo *coo, SpmvScalar scalar, const void *v[2], int add, void *values,
                                  SpmvExec *exec)
{
  return BY_POSITION(sum_up, coo->wide, scalar, coo, v, add, values, exec);
}

SpmvStatus spmv_coo_device_gather(const SpmvCooOthers *others, SpmvScalar scalar, const void *v, void *out,
                                  SpmvExec *exec)
{
  return BY_POSITION(pack, others->wide, scalar, others, v, out, exec);
}
