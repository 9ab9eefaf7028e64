/* codsell_mult.c - products on the host, one body for all scalar types and instruction sets. */
#include "codsell_host.h"
#include <string.h>
#if SPMV_HAVE_X86_VARIANTS
  #include <immintrin.h>
#endif

/* Values are prefetched so many bytes ahead of their use: with hardware prefetching alone, one core does not reach its
   share of the memory bandwidth (docs/host-performance.md) */
enum { CODSELL_PREFETCH_BYTES = 2048 };

#if SPMV_HAVE_X86_VARIANTS
  #define CODSELL_UNALIGNED(type, bytes) __attribute__((vector_size(bytes), aligned(sizeof(type)), may_alias))
typedef double CodsellF64x8  CODSELL_UNALIGNED(double, 64);
typedef double CodsellF64x4  CODSELL_UNALIGNED(double, 32);
typedef float CodsellF32x8   CODSELL_UNALIGNED(float, 32);
typedef int32_t CodsellI32x8 CODSELL_UNALIGNED(int32_t, 32);
typedef int32_t CodsellI32x4 CODSELL_UNALIGNED(int32_t, 16);
  #undef CODSELL_UNALIGNED
#endif

/* Long rows follow the slices, which hold them as empty */
#define SPMV_BODY "codsell/codsell_long.inc"
#include "core/instantiate.h"

/* The slices need no index type: all their positions are 32 bits */
#define CODSELL_ISA_LEVEL   0
#define CODSELL_ISA_NAME(f) f##_base
#include "codsell_mult_types.inc"

#if SPMV_HAVE_X86_VARIANTS
SPMV_BEGIN_AVX2
  #define CODSELL_ISA_LEVEL   1
  #define CODSELL_ISA_NAME(f) f##_avx2
  #include "codsell_mult_types.inc"
SPMV_END_ISA

SPMV_BEGIN_AVX512
  #define CODSELL_ISA_LEVEL   2
  #define CODSELL_ISA_NAME(f) f##_avx512
  #include "codsell_mult_types.inc"
SPMV_END_ISA
#endif

void codsell_host_mult_by(SpmvIsa isa, const CodsellPlan *plan, const void *alpha, const void *x, const void *beta,
                          void *y)
{
  const SpmvScalar scalar = plan->base.scalar_type;

  (void)isa;
#if SPMV_HAVE_X86_VARIANTS
  if (isa == SPMV_ISA_AVX512) {
    if (scalar == SPMV_F32) mult_avx512_f32(plan, alpha, x, beta, y);
    else mult_avx512_f64(plan, alpha, x, beta, y);
  } else if (isa == SPMV_ISA_AVX2) {
    if (scalar == SPMV_F32) mult_avx2_f32(plan, alpha, x, beta, y);
    else mult_avx2_f64(plan, alpha, x, beta, y);
  } else
#endif
      if (scalar == SPMV_F32)
    mult_base_f32(plan, alpha, x, beta, y);
  else mult_base_f64(plan, alpha, x, beta, y);
  SPMV_SELECT(add_long_rows, plan->base.index_type, scalar)(plan, alpha, x, y);
}

SpmvStatus codsell_host_mult(const SpmvPlan *plan, const void *alpha, const void *x, const void *beta, void *y,
                             void *work, SpmvExec *exec)
{
  (void)work;
  (void)exec;
  codsell_host_mult_by(spmv_isa(), (const CodsellPlan *)plan, alpha, x, beta, y);
  return SPMV_SUCCESS;
}

SpmvStatus codsell_host_add_transposed(const SpmvPlan *plan, const void *alpha, const void *x, void *y, SpmvExec *exec)
{
  (void)exec;
  SPMV_SELECT(add_transposed, plan->index_type, plan->scalar_type)((const CodsellPlan *)plan, alpha, x, y);
  return SPMV_SUCCESS;
}
