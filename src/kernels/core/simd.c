/* Which instruction set the host products use; the processor is queried once. */
#include "simd.h"
#include <stdlib.h>
#include <string.h>

static SpmvIsa processor_isa(void)
{
#if SPMV_HAVE_X86_VARIANTS
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma"))
    return SPMV_ISA_AVX512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return SPMV_ISA_AVX2;
#endif
  return SPMV_ISA_BASE;
}

SpmvIsa spmv_isa(void)
{
  static int  known = -1; /* two threads that race here store the same value */
  const char *limit;
  SpmvIsa     isa;

  if (known >= 0) return (SpmvIsa)known;
  isa   = processor_isa();
  limit = getenv("SPMV_ISA");
  if (limit && !strcmp(limit, "base")) isa = SPMV_ISA_BASE;
  if (limit && !strcmp(limit, "avx2") && isa > SPMV_ISA_AVX2) isa = SPMV_ISA_AVX2;
  known = (int)isa;
  return isa;
}
