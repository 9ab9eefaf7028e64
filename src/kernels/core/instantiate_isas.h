/*
  Includes SPMV_ISA_BODY through core/instantiate.h for portable code and, on x86, for AVX2 and AVX-512. The body can
  test SPMV_ISA_LEVEL, which is 0, 1 or 2, and names its functions

    SPMV_NAME(SPMV_ISA_NAME(f))   f_base_i32_f64, f_avx2_i32_f64, f_avx512_i32_f64 and so on

  There is no include guard, since a file may instantiate several bodies. SPMV_ISA_BODY is undefined at the end.
*/
#if defined(SPMV_SCALAR_ONLY)
  #define SPMV_ISA_SCALAR_ONLY
#endif

#define SPMV_ISA_LEVEL   0
#define SPMV_ISA_NAME(f) f##_base
#define SPMV_BODY        SPMV_ISA_BODY
#include "instantiate.h"
#undef SPMV_ISA_LEVEL
#undef SPMV_ISA_NAME

#if SPMV_HAVE_X86_VARIANTS
SPMV_BEGIN_AVX2
  #if defined(SPMV_ISA_SCALAR_ONLY)
    #define SPMV_SCALAR_ONLY
  #endif
  #define SPMV_ISA_LEVEL   1
  #define SPMV_ISA_NAME(f) f##_avx2
  #define SPMV_BODY        SPMV_ISA_BODY
  #include "instantiate.h"
  #undef SPMV_ISA_LEVEL
  #undef SPMV_ISA_NAME
SPMV_END_ISA

SPMV_BEGIN_AVX512
  #if defined(SPMV_ISA_SCALAR_ONLY)
    #define SPMV_SCALAR_ONLY
  #endif
  #define SPMV_ISA_LEVEL   2
  #define SPMV_ISA_NAME(f) f##_avx512
  #define SPMV_BODY        SPMV_ISA_BODY
  #include "instantiate.h"
  #undef SPMV_ISA_LEVEL
  #undef SPMV_ISA_NAME
SPMV_END_ISA
#endif

#undef SPMV_ISA_SCALAR_ONLY
#undef SPMV_ISA_BODY
