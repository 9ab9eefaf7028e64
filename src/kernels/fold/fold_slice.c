/*
  fold_slice.c - the inner loop of the host product. SIMD vectors run over the rows of a slice. Only the masked gathers
  need intrinsics; the mask prevents padding from reading x.
*/
#include "fold_slice.h"
#include <string.h>
#if SPMV_HAVE_X86_VARIANTS
  #include <immintrin.h>
#endif

#define SPMV_BODY "fold/fold_slice.inc"
#include "core/instantiate.h"

#if SPMV_HAVE_X86_VARIANTS
  #define PREFETCH(address) _mm_prefetch((const char *)(address) + SPMV_PREFETCH_BYTES, _MM_HINT_T0)

SPMV_BEGIN_AVX2
static void slice_sums_f64_avx2(const void *columns, const void *values, int64_t width, const void *x, void *out)
{
  enum { PART = 4, PARTS = FOLD_LANES / PART };
  const int32_t *c = columns;
  const double  *v = values;
  __m256d        sum[PARTS];

  for (int p = 0; p < PARTS; p++) sum[p] = _mm256_setzero_pd();
  for (int64_t j = 0; j < width; j++, c += FOLD_LANES, v += FOLD_LANES) {
    for (int l = 0; l < FOLD_LANES; l += 8) PREFETCH(v + l);
    for (int l = 0; l < FOLD_LANES; l += 16) PREFETCH(c + l);
  #pragma GCC unroll 8
    for (int p = 0; p < PARTS; p++) {
      const __m128i column = _mm_loadu_si128((const __m128i *)(c + p * PART));
      const __m256d mask   = _mm256_castsi256_pd(_mm256_cvtepi32_epi64(_mm_xor_si128(column, _mm_set1_epi32(-1))));
      const __m256d xs     = _mm256_mask_i32gather_pd(_mm256_setzero_pd(), x, column, mask, 8);
      sum[p]               = _mm256_fmadd_pd(_mm256_loadu_pd(v + p * PART), xs, sum[p]);
    }
  }
  memcpy(out, sum, sizeof sum);
}

static void slice_sums_f32_avx2(const void *columns, const void *values, int64_t width, const void *x, void *out)
{
  enum { PART = 8, PARTS = FOLD_LANES / PART };
  const int32_t *c = columns;
  const float   *v = values;
  __m256         sum[PARTS];

  for (int p = 0; p < PARTS; p++) sum[p] = _mm256_setzero_ps();
  for (int64_t j = 0; j < width; j++, c += FOLD_LANES, v += FOLD_LANES) {
    for (int l = 0; l < FOLD_LANES; l += 16) PREFETCH(v + l);
    for (int l = 0; l < FOLD_LANES; l += 16) PREFETCH(c + l);
  #pragma GCC unroll 4
    for (int p = 0; p < PARTS; p++) {
      const __m256i column = _mm256_loadu_si256((const __m256i *)(c + p * PART));
      const __m256  mask   = _mm256_castsi256_ps(_mm256_xor_si256(column, _mm256_set1_epi32(-1)));
      const __m256  xs     = _mm256_mask_i32gather_ps(_mm256_setzero_ps(), x, column, mask, 4);
      sum[p]               = _mm256_fmadd_ps(_mm256_loadu_ps(v + p * PART), xs, sum[p]);
    }
  }
  memcpy(out, sum, sizeof sum);
}
SPMV_END_ISA

SPMV_BEGIN_AVX512
static void slice_sums_f64_avx512(const void *columns, const void *values, int64_t width, const void *x, void *out)
{
  enum { PART = 8, PARTS = FOLD_LANES / PART };
  const int32_t *c = columns;
  const double  *v = values;
  __m512d        sum[PARTS];

  for (int p = 0; p < PARTS; p++) sum[p] = _mm512_setzero_pd();
  for (int64_t j = 0; j < width; j++, c += FOLD_LANES, v += FOLD_LANES) {
    for (int l = 0; l < FOLD_LANES; l += 8) PREFETCH(v + l);
    for (int l = 0; l < FOLD_LANES; l += 16) PREFETCH(c + l);
  #pragma GCC unroll 4
    for (int p = 0; p < PARTS; p++) {
      const __m256i  column = _mm256_loadu_si256((const __m256i *)(c + p * PART));
      const __mmask8 mask   = (__mmask8)~_mm256_movepi32_mask(column);
      const __m512d  xs     = _mm512_mask_i32gather_pd(_mm512_setzero_pd(), mask, column, x, 8);
      sum[p]                = _mm512_fmadd_pd(_mm512_loadu_pd(v + p * PART), xs, sum[p]);
    }
  }
  memcpy(out, sum, sizeof sum);
}

static void slice_sums_f32_avx512(const void *columns, const void *values, int64_t width, const void *x, void *out)
{
  enum { PART = 16, PARTS = FOLD_LANES / PART };
  const int32_t *c = columns;
  const float   *v = values;
  __m512         sum[PARTS];

  for (int p = 0; p < PARTS; p++) sum[p] = _mm512_setzero_ps();
  for (int64_t j = 0; j < width; j++, c += FOLD_LANES, v += FOLD_LANES) {
    for (int l = 0; l < FOLD_LANES; l += 16) PREFETCH(v + l);
    for (int l = 0; l < FOLD_LANES; l += 16) PREFETCH(c + l);
  #pragma GCC unroll 2
    for (int p = 0; p < PARTS; p++) {
      const __m512i   column = _mm512_loadu_si512(c + p * PART);
      const __mmask16 mask   = (__mmask16)~_mm512_movepi32_mask(column);
      const __m512    xs     = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), mask, column, x, 4);
      sum[p]                 = _mm512_fmadd_ps(_mm512_loadu_ps(v + p * PART), xs, sum[p]);
    }
  }
  memcpy(out, sum, sizeof sum);
}
SPMV_END_ISA
#endif

FoldSliceSums fold_slice_sums(SpmvIsa isa, SpmvIndex column_type, SpmvScalar scalar)
{
  (void)isa;
#if SPMV_HAVE_X86_VARIANTS
  if (column_type == SPMV_I32 && isa == SPMV_ISA_AVX512)
    return scalar == SPMV_F32 ? slice_sums_f32_avx512 : slice_sums_f64_avx512;
  if (column_type == SPMV_I32 && isa == SPMV_ISA_AVX2)
    return scalar == SPMV_F32 ? slice_sums_f32_avx2 : slice_sums_f64_avx2;
#endif
  return SPMV_SELECT(slice_sums, column_type, scalar);
}
