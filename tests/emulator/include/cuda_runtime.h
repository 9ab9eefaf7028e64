/*
  cuda_runtime.h of the emulator - CUDA C++ as far as petscpack's kernels use it, for an ordinary C++ compiler.

  A kernel is a function that is called once per thread; emulator.h says how threads synchronize. Shared variables are
  static, because blocks run one after the other; a block that has begun early runs in a thread of the host of its own,
  and so has its own shared variables.
*/
#ifndef SPMV_EMULATED_CUDA_RUNTIME_H
#define SPMV_EMULATED_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus
  #include "emulator.h"
  #include <algorithm>
  #include <cmath>
  #include <cstdint>
  #include <cstring>

  #define __global__
  #define __device__
  #define __host__
  #define __constant__    const
  #define __forceinline__ inline __attribute__((always_inline))
  #define __launch_bounds__(...)
  #define __shared__ static thread_local

  /* device/launch.cuh calls kernels by these macros; without the emulator they are <<<>>> */
  #define SPMV_EMULATOR_CALL(kind, kernel, blocks, threads, shared, stream, ...)                                       \
    spmv_emulator::launch(kind, (blocks), (threads), (shared), (stream), kernel, __VA_ARGS__)
  #define SPMV_KERNEL_CALL(...) SPMV_EMULATOR_CALL(spmv_emulator::Kind::PLAIN, __VA_ARGS__)
  #define SPMV_KERNEL_CALL_OVERLAPPED(...)                                                                             \
    SPMV_EMULATOR_CALL(spmv_device_overlaps() ? spmv_emulator::Kind::OVERLAPPED : spmv_emulator::Kind::PLAIN,          \
                       __VA_ARGS__)
  #define SPMV_KERNEL_CALL_COOPERATIVE(...) SPMV_EMULATOR_CALL(spmv_emulator::Kind::COOPERATIVE, __VA_ARGS__)
  #define SPMV_KERNEL_WAIT()                spmv_emulator::wait_for_previous()
  #define SPMV_KERNEL_YIELD(tries)          spmv_emulator::yield(tries)

  #define SPMV_DYNAMIC_SHARED(name) unsigned char *const name = (unsigned char *)spmv_emulator::dynamic_shared()

  #define threadIdx (spmv_emulator::position.thread)
  #define blockIdx  (spmv_emulator::position.block)
  #define blockDim  (spmv_emulator::position.block_size)
  #define gridDim   (spmv_emulator::position.grid_size)
  #define warpSize  32

using std::max;
using std::min;

template <typename T, int N>
struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) SpmvVector;
template <typename T>
struct alignas(2 * sizeof(T)) SpmvVector<T, 2> {
  T x, y;
};
template <typename T>
struct alignas(sizeof(T) * 4 > 16 ? 16 : sizeof(T) * 4) SpmvVector<T, 4> {
  T x, y, z, w;
};
typedef SpmvVector<int, 2> int2;
typedef SpmvVector<int, 4> int4;

/* Operations that are not fused with other ones */
inline double __dmul_rn(double a, double b)
{
  const volatile double product = a * b;
  return product;
}
inline float __fmul_rn(float a, float b)
{
  const volatile float product = a * b;
  return product;
}
inline double __dadd_rn(double a, double b) { return a + b; }
inline float  __fadd_rn(float a, float b) { return a + b; }

/* The compiler must not leave out a load whose value is not used: the compiler for GPUs does not, and the address may be
   wrong */
template <typename T>
inline T __ldg(const T *p)
{
  const T value = *p;
  asm volatile("" : : "m"(value));
  return value;
}
template <typename T>
inline T __ldcg(const T *p)
{
  return __ldg(p);
}
template <typename T>
inline T __ldca(const T *p)
{
  return __ldg(p);
}
template <typename T>
inline T __ldcs(const T *p)
{
  return __ldg(p);
}
template <typename To, typename From>
inline To spmv_emulated_bits(From v)
{
  To bits;
  static_assert(sizeof bits == sizeof v, "the same bits");
  memcpy(&bits, &v, sizeof bits);
  return bits;
}
inline long long __double_as_longlong(double v) { return spmv_emulated_bits<long long>(v); }
inline double    __longlong_as_double(long long v) { return spmv_emulated_bits<double>(v); }
inline int       __float_as_int(float v) { return spmv_emulated_bits<int>(v); }
inline float     __int_as_float(int v) { return spmv_emulated_bits<float>(v); }
inline int       __popc(unsigned v) { return __builtin_popcount(v); }
inline int       __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int       __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
inline int       __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
inline int       __ffs(int v) { return __builtin_ffs(v); }
inline int       __ffsll(long long v) { return __builtin_ffsll(v); }

/* Block-wide operations */
inline void __syncthreads() { (void)spmv_emulator::block_barrier(0); }
inline int  __syncthreads_or(int v) { return spmv_emulator::block_barrier(v != 0) > 0; }
inline int  __syncthreads_count(int v) { return spmv_emulator::block_barrier(v != 0); }
inline int  __syncthreads_and(int v) { return spmv_emulator::block_barrier(v == 0) == 0; }

/* Warp-wide operations */
inline void     __syncwarp(unsigned mask = 0xffffffffu) { spmv_emulator::warp_sync(mask); }
inline unsigned __ballot_sync(unsigned mask, int v) { return spmv_emulator::warp_ballot(mask, v != 0); }
inline int      __any_sync(unsigned mask, int v) { return spmv_emulator::warp_ballot(mask, v != 0) != 0; }
inline int      __all_sync(unsigned mask, int v) { return spmv_emulator::warp_ballot(mask, v == 0) == 0; }
inline unsigned __activemask() = delete; /* its result depends on the hardware: no code may rely on it */
template <typename T>
inline T __shfl_sync(unsigned mask, T v, int lane, int width = 32)
{
  return spmv_emulator::warp_shuffle(mask, v, (int)(threadIdx.x % 32 & ~(unsigned)(width - 1)) + (lane & (width - 1)));
}
template <typename T>
inline T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32)
{
  const int lane = threadIdx.x % 32, from = lane ^ bits;
  return spmv_emulator::warp_shuffle(mask, v, from / width == lane / width ? from : lane);
}
template <typename T>
inline T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32)
{
  const int lane = threadIdx.x % 32, from = lane - (int)by;
  return spmv_emulator::warp_shuffle(mask, v, from < lane / width * width ? lane : from);
}
template <typename T>
inline T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32)
{
  const int lane = threadIdx.x % 32, from = lane + (int)by;
  return spmv_emulator::warp_shuffle(mask, v, from / width == lane / width ? from : lane);
}
template <typename T>
inline unsigned __match_any_sync(unsigned mask, T v)
{
  unsigned equal = 0;
  for (int lane = 0; lane < 32; lane++)
    if (mask >> lane & 1) equal |= spmv_emulator::warp_shuffle(mask, v, lane) == v ? 1u << lane : 0;
  return equal;
}

/* Atomic without effort: one thread runs at a time, and only barriers and warp-wide operations switch threads */
template <typename T, typename V, typename Op>
inline T spmv_emulated_atomic(T *p, V v, Op op)
{
  const T old = *p;
  *p          = op(old, (T)v);
  return old;
}
  #define SPMV_EMULATED_ATOMIC(name, result)                                                                           \
    template <typename T, typename V>                                                                                  \
    inline T name(T *p, V v)                                                                                           \
    {                                                                                                                  \
      return spmv_emulated_atomic(p, v, [](T a, T b) -> T {                                                            \
        (void)a;                                                                                                       \
        return result;                                                                                                 \
      });                                                                                                              \
    }
SPMV_EMULATED_ATOMIC(atomicAdd, (T)(a + b))
SPMV_EMULATED_ATOMIC(atomicMax, a > b ? a : b)
SPMV_EMULATED_ATOMIC(atomicMin, a < b ? a : b)
SPMV_EMULATED_ATOMIC(atomicOr, (T)(a | b))
  #undef SPMV_EMULATED_ATOMIC
template <typename T, typename C, typename V>
inline T atomicCAS(T *p, C compare, V value)
{
  const T old = *p;
  if (old == (T)compare) *p = (T)value;
  return old;
}
inline void __threadfence() {}
inline void __threadfence_system() { __sync_synchronize(); }
inline void __threadfence_block() {}

template <typename Kernel>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel, int, size_t)
{
  *blocks = 1;
  return cudaSuccess;
}
template <typename Kernel>
inline cudaError_t cudaFuncSetAttribute(Kernel, cudaFuncAttribute, int bytes)
{
  int most = 0;

  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
  return bytes <= most ? cudaSuccess : cudaErrorInvalidValue;
}
template <typename T>
inline cudaError_t cudaMalloc(T **block, size_t bytes)
{
  return cudaMalloc((void **)block, bytes);
}
#endif
#endif
