/* cluster_values.c - values of plans on the host: filling, extracting, what mirrors are, transposed products. */
#include "cluster_host.h"
#include <string.h>

/* Far mirrors are read one by one, at the price of eight that are corrected: where there are more, all are read */
enum { MOST_FAR = 8 };

#define CLUSTER_INLINE static inline __attribute__((always_inline))

void cluster_decide_mirrors(ClusterPlan *plan)
{
  const int64_t scalars = plan->shape.pairs * plan->shape.block * plan->shape.block;

  if (plan->shape.declared || plan->unequal == 0) plan->mirrors_are = CLUSTER_EQUAL;
  else plan->mirrors_are = plan->far * MOST_FAR > scalars ? CLUSTER_FULL : CLUSTER_CORRECTED;
  plan->base.memory.unread_bytes = plan->base.memory.total_bytes - cluster_bytes_read(plan);
  plan->base.memory.corrected    = plan->mirrors_are == CLUSTER_CORRECTED ? plan->base.memory.pairs : 0;
}

/* Which of its node's entries an entry is, or -1 for padding: entry `at` of places */
CLUSTER_INLINE int64_t place_at(const ClusterPlan *plan, int64_t at)
{
  if (plan->shape.place_bytes == 1) {
    const int place = ((const uint8_t *)plan->places)[at];
    return place == (CLUSTER_NO_PLACE & 0xff) ? -1 : place;
  }
  const int place = ((const uint16_t *)plan->places)[at];
  return place == CLUSTER_NO_PLACE ? -1 : place;
}

CLUSTER_INLINE int64_t cluster_place(const ClusterPlan *plan, int64_t entry) { return place_at(plan, entry); }

CLUSTER_INLINE int64_t cluster_mirror_place(const ClusterPlan *plan, int64_t mirror)
{
  return place_at(plan, plan->shape.steps * plan->shape.lanes + mirror);
}

/* What a refresh finds out about the mirrors: ClusterPlan */
typedef struct {
  int64_t  unequal, far;
  uint64_t most_ulps;
} ClusterCounts;

#define SPMV_NAME(f) f##_f64
#define SPMV_SCALAR  double
#define CLUSTER_BITS int64_t
#include "cluster_values.inc"
#undef SPMV_NAME
#undef SPMV_SCALAR
#undef CLUSTER_BITS
#define SPMV_NAME(f) f##_f32
#define SPMV_SCALAR  float
#define CLUSTER_BITS int32_t
#include "cluster_values.inc"

void cluster_host_fill(ClusterPlan *plan, const void *values)
{
  if (plan->base.scalar_type == SPMV_F32) fill_f32(plan, values);
  else fill_f64(plan, values);
  cluster_decide_mirrors(plan);
}

void cluster_host_extract(const ClusterPlan *plan, void *values)
{
  if (plan->base.scalar_type == SPMV_F32) extract_f32(plan, values);
  else extract_f64(plan, values);
}

void cluster_host_add_transposed(const ClusterPlan *plan, const void *alpha, const void *x, void *y)
{
  if (plan->base.scalar_type == SPMV_F32) add_transposed_f32(plan, alpha, x, y);
  else add_transposed_f64(plan, alpha, x, y);
}
