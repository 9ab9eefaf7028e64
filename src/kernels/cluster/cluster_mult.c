/* cluster_mult.c - products on the host, cluster by cluster, one body for all types and instruction sets. */
#include "cluster_host.h"
#include <string.h>
#if SPMV_HAVE_X86_VARIANTS
  #include <immintrin.h>
#endif

/* How far ahead of their use values are fetched: twice as far as in format rbp, since more is done with each */
enum { CLUSTER_PREFETCH_BYTES = 4096, LANES = CLUSTER_HOST_LANES, ALIGNMENT = 64 };

/* All values of D that a matrix may have */
#define CLUSTER_EACH_BLOCK(do_) do_(1) do_(2) do_(3) do_(6)

enum { CLUSTER_BYTES = 32 };
typedef int8_t ClusterBytes __attribute__((vector_size(CLUSTER_BYTES), aligned(1), may_alias));

/* Scalars of the three parts of work: x of a cluster with its block of zeros, and what the unused lanes of the last
   slice may read behind it; transposed products with one that is 0 in a plane for each row of a block, and sums in the
   same way */
static int64_t x_scalars(const ClusterShape *s) { return (s->most_x + 1 + LANES) * s->block / LANES * LANES + LANES; }
static int64_t product_plane(const ClusterShape *s) { return s->most_products + LANES; }
static int64_t sum_plane(const ClusterShape *s) { return (s->most_own + LANES - 1) / LANES * LANES; }

int64_t cluster_host_work(const ClusterShape *s, SpmvScalar scalar)
{
  const int64_t all = x_scalars(s) + (product_plane(s) + sum_plane(s)) * s->block;
  return s->clusters > 0 ? all * spmv_scalar_bytes(scalar) + ALIGNMENT : 0;
}

/* The parts of work, aligned as the vectors of a product want them */
typedef struct {
  void *x, *products, *sums;
} Staged;

static Staged divide_work(const ClusterPlan *plan, void *work)
{
  const int64_t S    = spmv_scalar_bytes(plan->base.scalar_type);
  char *const   x    = (char *)(((uintptr_t)work + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  char *const   next = x + x_scalars(&plan->shape) * S;

  return (Staged){x, next, next + product_plane(&plan->shape) * plan->shape.block * S};
}

#define CLUSTER_ISA_LEVEL   0
#define CLUSTER_ISA_NAME(f) f##_base
#include "cluster_mult_types.inc"

#if SPMV_HAVE_X86_VARIANTS
SPMV_BEGIN_AVX2
  #define CLUSTER_ISA_LEVEL   1
  #define CLUSTER_ISA_NAME(f) f##_avx2
  #include "cluster_mult_types.inc"
SPMV_END_ISA

SPMV_BEGIN_AVX512
  #define CLUSTER_ISA_LEVEL   2
  #define CLUSTER_ISA_NAME(f) f##_avx512
  #include "cluster_mult_types.inc"
SPMV_END_ISA
#endif

#define CLUSTER_MULT(isa)                                                                                              \
  do {                                                                                                                 \
    if (plan->base.scalar_type == SPMV_F32) mult_##isa##_f32(plan, alpha, x, beta, y, work);                           \
    else mult_##isa##_f64(plan, alpha, x, beta, y, work);                                                              \
  } while (0)

void cluster_host_mult_by(SpmvIsa isa, const ClusterPlan *plan, const void *alpha, const void *x, const void *beta,
                          void *y, void *work)
{
  (void)isa;
#if SPMV_HAVE_X86_VARIANTS
  if (isa == SPMV_ISA_AVX512) {
    CLUSTER_MULT(avx512);
    return;
  }
  if (isa == SPMV_ISA_AVX2) {
    CLUSTER_MULT(avx2);
    return;
  }
#endif
  CLUSTER_MULT(base);
}
