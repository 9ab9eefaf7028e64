/*
  One body of host code for several instruction sets, chosen at run time. As in codsell/codsell_mult.c:

    #define CODSELL_ISA_NAME(f) f##_base
    #include "codsell_mult_types.inc"          the portable version, mult_base_f64() and mult_base_f32()
    #if SPMV_HAVE_X86_VARIANTS
    SPMV_BEGIN_AVX2
      #define CODSELL_ISA_NAME(f) f##_avx2
      #include "codsell_mult_types.inc"        the same body for AVX2
    SPMV_END_ISA
    #endif

  and the caller takes the function for spmv_isa(), the best set of the processor that it runs on. Nothing here needs a
  compiler option, so every build system gets the same code.
*/
#ifndef SPMV_SIMD_H
#define SPMV_SIMD_H

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
#endif

typedef enum { SPMV_ISA_BASE = 0, SPMV_ISA_AVX2 = 1, SPMV_ISA_AVX512 = 2 } SpmvIsa;

/* The best instruction set of this processor, not above the environment variable SPMV_ISA=base|avx2|avx512, if set */
SpmvIsa spmv_isa(void);

#endif
