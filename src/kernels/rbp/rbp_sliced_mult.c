/* rbp_sliced_mult.c - products of the packed host layout, one body for all type pairs and instruction sets. */
#include "rbp_sliced.h"
#if SPMV_HAVE_X86_VARIANTS
  #include <immintrin.h>
#endif

/* How far ahead of their use values are fetched: one core with hardware prefetching alone does not fill its share of
   the memory bandwidth (docs/host-performance.md) */
enum { RBP_PREFETCH_BYTES = 2048 };

#define RBP_EACH_GROUP_SIZE(do_) do_(1) do_(2) do_(3) do_(4) do_(5) do_(6)
_Static_assert(RBP_MAX_GROUP == 6, "RBP_EACH_GROUP_SIZE names every size of a group");

#if SPMV_HAVE_X86_VARIANTS
  #define RBP_UNALIGNED(type, bytes) __attribute__((vector_size(bytes), aligned(sizeof(type)), may_alias))
typedef double RbpF64x8  RBP_UNALIGNED(double, 64);
typedef double RbpF64x4  RBP_UNALIGNED(double, 32);
typedef float RbpF32x8   RBP_UNALIGNED(float, 32);
typedef float RbpF32x4   RBP_UNALIGNED(float, 16);
typedef int64_t RbpI64x8 RBP_UNALIGNED(int64_t, 64);
typedef int64_t RbpI64x4 RBP_UNALIGNED(int64_t, 32);
typedef int32_t RbpI32x8 RBP_UNALIGNED(int32_t, 32);
typedef int32_t RbpI32x4 RBP_UNALIGNED(int32_t, 16);
  #undef RBP_UNALIGNED
#endif

#define SPMV_BODY "rbp/rbp_sliced_head.inc"
#include "core/instantiate.h"

#define RBP_ISA_LEVEL   0
#define RBP_ISA_NAME(f) f##_base
#define SPMV_BODY       "rbp/rbp_sliced_mult.inc"
#include "core/instantiate.h"
#undef RBP_ISA_LEVEL
#undef RBP_ISA_NAME

#if SPMV_HAVE_X86_VARIANTS
SPMV_BEGIN_AVX2
  #define RBP_ISA_LEVEL   1
  #define RBP_ISA_NAME(f) f##_avx2
  #define SPMV_BODY       "rbp/rbp_sliced_mult.inc"
  #include "core/instantiate.h"
  #undef RBP_ISA_LEVEL
  #undef RBP_ISA_NAME
SPMV_END_ISA

SPMV_BEGIN_AVX512
  #define RBP_ISA_LEVEL   2
  #define RBP_ISA_NAME(f) f##_avx512
  #define SPMV_BODY       "rbp/rbp_sliced_mult.inc"
  #include "core/instantiate.h"
  #undef RBP_ISA_LEVEL
  #undef RBP_ISA_NAME
SPMV_END_ISA
#endif

#define SPMV_BODY "rbp/rbp_sliced_transpose.inc"
#include "core/instantiate.h"

void rbp_sliced_mult_by(SpmvIsa isa, const RbpSliced *plan, const void *alpha, const void *x, const void *beta, void *y)
{
  const SpmvIndex  index  = plan->base.index_type;
  const SpmvScalar scalar = plan->base.scalar_type;

  (void)isa;
#if SPMV_HAVE_X86_VARIANTS
  if (isa == SPMV_ISA_AVX512) {
    SPMV_SELECT(mult_avx512, index, scalar)(plan, alpha, x, beta, y);
    return;
  }
  if (isa == SPMV_ISA_AVX2) {
    SPMV_SELECT(mult_avx2, index, scalar)(plan, alpha, x, beta, y);
    return;
  }
#endif
  SPMV_SELECT(mult_base, index, scalar)(plan, alpha, x, beta, y);
}

void rbp_sliced_add_transposed(const RbpSliced *plan, const void *alpha, const void *x, void *y)
{
  SPMV_SELECT(add_transposed, plan->base.index_type, plan->base.scalar_type)(plan, alpha, x, y);
}
