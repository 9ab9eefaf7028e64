/* cluster_device.cuh - what the files of cluster's GPU code share. */
#ifndef SPMV_CLUSTER_DEVICE_CUH
#define SPMV_CLUSTER_DEVICE_CUH

#include "../device/launch.cuh"
#include "cluster.h"

/* Where scalar k = row * D + column of the block of a lane is, from the first value of its step on, which has values of
   `lanes` lanes: two at a time lie side by side, so that a thread loads them as one */
template <int D>
__device__ inline int cluster_at(int k, int lane, int lanes)
{
  const int pairs = D * D / 2 * 2;
  return k < pairs ? k / 2 * (2 * lanes) + lane * 2 + k % 2 : k * lanes + lane;
}

/* The values of a step of a cluster: the first one, in values, and the lanes that have some; starts are those of the
   cluster, value is that of its head */
struct ClusterStep {
  int64_t first;
  int     lanes;
};
template <int D>
__device__ inline ClusterStep cluster_step(int64_t value, const uint16_t *starts, int step)
{
  if (D == 1) return {value + step * CLUSTER_DEVICE_LANES, CLUSTER_DEVICE_LANES};
  const int start = starts[step];
  return {(value + start * CLUSTER_GRAIN) * (D * D), (starts[step + 1] - start) * CLUSTER_GRAIN};
}

/* The same for a correction, in bytes: four of a lane are a word */
template <int D>
__device__ inline int cluster_correction_at(int k, int lane)
{
  return D == 1 ? lane : (k / 4 * 32 + lane) * 4 + k % 4;
}

/* Bytes of the corrections of a step */
template <int D>
constexpr int CLUSTER_CORRECTION_STEP = D == 1 ? 32 : (D *D + 3) / 4 * 4 * 32;

/* The arrays of a plan, for kernels */
struct ClusterArrays {
  void               *values, *mirrors;
  int8_t             *corrections;
  const uint16_t     *index, *order;
  const void         *places;
  const int32_t      *nodes, *row_entries;
  const int64_t      *row_begin;
  const ClusterSlice *slices;
  const ClusterHead  *clusters;
  const int64_t      *long_begin;
  const int32_t      *long_columns;
  void               *long_values;
  ClusterShape        shape;
};

static inline ClusterArrays cluster_arrays(const ClusterPlan *p)
{
  return {p->values,   p->mirrors,    p->corrections,  p->index,       p->order,
          p->places,   p->nodes,      p->row_entries,  p->row_begin,   p->slices,
          p->clusters, p->long_begin, p->long_columns, p->long_values, p->shape};
}

/* The lists of a cluster; those of its steps are counted from its first one */
__device__ inline const uint16_t *cluster_index(const ClusterArrays &a, const ClusterHead &h)
{
  return a.index + h.index * CLUSTER_UNIT;
}
__device__ inline const uint16_t *cluster_order(const ClusterArrays &a, const ClusterHead &h)
{
  return a.order + h.order * CLUSTER_UNIT;
}

/* How a thread block of the product divides its shared memory: places in bytes */
struct ClusterStage {
  int x, products, sums, warps, heads, slices, nodes, order, index; /* the first place of each */
  int x_bytes, slice_bytes, node_bytes, order_bytes, index_bytes;   /* of one of its copies */
  int plane, sum; /* scalars: of the products of one row of a block, of the sums of a slice by one warp */
  int bytes;
};

/* Threads of a block, by what mirrors are; most where they are equal */
int          cluster_threads(const ClusterShape *, ClusterMirrors);
ClusterStage cluster_stage(const ClusterShape *, SpmvScalar);

/* Bytes of shared memory that a thread block may have on this device */
SpmvStatus cluster_most_shared(int *bytes, SpmvExec *);
/* and where so many thread blocks shall be on one multiprocessor */
SpmvStatus cluster_share_of_shared(int blocks, int64_t *bytes, SpmvExec *);

/* Counts the thread blocks of products, of which the device must hold all at a time to be busy to the end */
SpmvStatus cluster_device_prepare(ClusterPlan *, SpmvExec *);
SpmvStatus cluster_device_mult(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y,
                               void *work, SpmvExec *);
int64_t    cluster_rounded_count(const SpmvPlan *);
SpmvStatus cluster_device_round(const SpmvPlan *, float *rounded, SpmvExec *);
SpmvStatus cluster_device_mult_rounded(const SpmvPlan *, const float *rounded, const void *alpha, const void *x,
                                       const void *beta, void *y, void *work, SpmvExec *);
SpmvStatus cluster_device_fill(ClusterPlan *, const void *values, SpmvExec *);
SpmvStatus cluster_device_list(const SpmvPlan *, const SpmvNonzeros *, SpmvExec *);

/* Calls action.run<S, D>() by the types of a plan */
template <typename S, typename Action>
static inline SpmvStatus cluster_with_block(const ClusterPlan *p, const Action &action)
{
  switch (p->shape.block) {
  case 1:
    return action.template run<S, 1>();
  case 2:
    return action.template run<S, 2>();
  case 3:
    return action.template run<S, 3>();
  default:
    return action.template run<S, 6>();
  }
}

template <typename Action>
static inline SpmvStatus cluster_with_types(const ClusterPlan *p, const Action &action)
{
  return p->base.scalar_type == SPMV_F32 ? cluster_with_block<float>(p, action) : cluster_with_block<double>(p, action);
}

#endif
