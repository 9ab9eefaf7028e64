/*
  simd.h - instruction sets, chosen at run time. core/instantiate_isas.h compiles a body of host code for each
  instruction set, and the caller selects the function for spmv_isa(), the best set of the processor. No compiler option
  is needed, so every build system produces the same code.
*/
#pragma once

#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__)
  #define SPMV_HAVE_X86_VARIANTS 1
#else
  #define SPMV_HAVE_X86_VARIANTS 0
#endif

#if SPMV_HAVE_X86_VARIANTS
  #define SPMV_PRAGMA(text) _Pragma(#text)
  #if defined(__clang__)
    #define SPMV_BEGIN_ISA(list) SPMV_PRAGMA(clang attribute push(__attribute__((target(list))), apply_to = function))
    #define SPMV_BEGIN_AVX512    SPMV_BEGIN_ISA("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")
    #define SPMV_END_ISA         SPMV_PRAGMA(clang attribute pop)
  #else
    #define SPMV_BEGIN_ISA(list) SPMV_PRAGMA(GCC push_options) SPMV_PRAGMA(GCC target(list))
    #define SPMV_BEGIN_AVX512    SPMV_BEGIN_ISA("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")
    #define SPMV_END_ISA         SPMV_PRAGMA(GCC pop_options)
  #endif
  #define SPMV_BEGIN_AVX2 SPMV_BEGIN_ISA("avx2,fma")

  /* Vectors of a full or half register at any address: operands and results of gathers */
  #define SPMV_UNALIGNED(type, bytes) __attribute__((vector_size(bytes), aligned(sizeof(type)), may_alias))
typedef double SpmvF64x8  SPMV_UNALIGNED(double, 64);
typedef double SpmvF64x4  SPMV_UNALIGNED(double, 32);
typedef float SpmvF32x8   SPMV_UNALIGNED(float, 32);
typedef float SpmvF32x4   SPMV_UNALIGNED(float, 16);
typedef int64_t SpmvI64x8 SPMV_UNALIGNED(int64_t, 64);
typedef int64_t SpmvI64x4 SPMV_UNALIGNED(int64_t, 32);
typedef int32_t SpmvI32x8 SPMV_UNALIGNED(int32_t, 32);
typedef int32_t SpmvI32x4 SPMV_UNALIGNED(int32_t, 16);
  #undef SPMV_UNALIGNED
#endif

/* Distance of software prefetches ahead of use: with hardware prefetching alone, one core does not reach its share of
   the memory bandwidth (docs/performance.md) */
enum { SPMV_PREFETCH_BYTES = 2048 };

typedef enum { SPMV_ISA_BASE = 0, SPMV_ISA_AVX2 = 1, SPMV_ISA_AVX512 = 2 } SpmvIsa;

/* The best instruction set of this processor; the environment variable SPMV_ISA=base|avx2|avx512 is an upper limit, if
   set */
SpmvIsa spmv_isa(void);

/* SELECT(f_<set>, ...) for an instruction set; SELECT is SPMV_SELECT or SPMV_SELECT_SCALAR of core/instantiate.h */
#if SPMV_HAVE_X86_VARIANTS
  #define SPMV_SELECT_ISA(isa, SELECT, f, ...)                                                                         \
    ((isa) == SPMV_ISA_AVX512 ? SELECT(f##_avx512, __VA_ARGS__)                                                        \
     : (isa) == SPMV_ISA_AVX2 ? SELECT(f##_avx2, __VA_ARGS__)                                                          \
                              : SELECT(f##_base, __VA_ARGS__))
#else
  #define SPMV_SELECT_ISA(isa, SELECT, f, ...) ((void)(isa), SELECT(f##_base, __VA_ARGS__))
#endif
