/*
  cluster_device_rows.cuh - the rows of a cluster as a thread block reads them when values come in: from the CSR, or
  from a copy of them in shared memory, one behind the other, where they do fit.
*/
#ifndef SPMV_CLUSTER_DEVICE_ROWS_CUH
#define SPMV_CLUSTER_DEVICE_ROWS_CUH

#include "../device/async.cuh"
#include "cluster_device.cuh"

namespace
{
enum { FILL_THREADS = 512, FILL_WARPS = FILL_THREADS / 32 };

/* Where the first row of an own node lies, in the CSR or in a copy, and how long its rows are */
struct Node {
  int64_t begin, length;
};

template <int D>
__device__ inline Node node_of(const ClusterArrays &a, const ClusterHead &h, int own)
{
  return {a.row_begin[h.own_node + own], (int64_t)a.row_entries[h.own_node + own] * D};
}

/* What a copy of rows has beside them in shared memory, for each own node of the cluster */
struct Copies {
  int64_t *from;    /* where its first row lies in the CSR */
  int     *begins;  /* where it lies in the copy, and behind the last one how many scalars the copy takes */
  int     *lengths; /* the scalars of each of its rows */

  __device__ Copies(unsigned char *memory, int own)
      : from((int64_t *)memory), begins((int *)(from + own)), lengths(begins + own + 1)
  {
  }
};
__host__ __device__ inline int64_t bytes_beside_rows(int64_t own) { return (own * 16 + 4 + 7) / 8 * 8; }

/* The values of a cluster: in the CSR, or copied to shared memory, where the rows of node i are `begins[i]` behind the
   first */
template <typename S>
struct Rows {
  const S   *values;
  const int *begins, *lengths; /* NULL: in the CSR */

  template <int D>
  __device__ Node of_node(const ClusterArrays &a, const ClusterHead &h, int own) const
  {
    if (!begins) return node_of<D>(a, h, own);
    return {begins[own], lengths[own]};
  }
};

/* Finds where the rows of each own node are and begin when they are copied: an odd number of scalars for each node, so
   that the same entry of 32 nodes lies in as many banks as there are */
template <int D>
__device__ inline void place_rows(const ClusterArrays &a, const ClusterHead &h, const Copies &to)
{
  const int lane = threadIdx.x;
  int       sum  = 0;

  for (int i = threadIdx.x; i < h.own; i += FILL_THREADS) to.from[i] = a.row_begin[h.own_node + i];
  if (lane >= 32) return;
  for (int first = 0; first < h.own; first += 32) {
    const int length = first + lane < h.own ? a.row_entries[h.own_node + first + lane] * D : 0;
    const int count  = first + lane < h.own ? length * D | 1 : 0;
    int       upto   = count;

#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int before = __shfl_up_sync(0xffffffffu, upto, step);
      if (lane >= step) upto += before;
    }
    if (first + lane < h.own) {
      to.begins[first + lane]  = sum + upto - count;
      to.lengths[first + lane] = length;
    }
    sum += __shfl_sync(0xffffffffu, upto, 31);
  }
  if (lane == 0) to.begins[h.own] = sum;
}

/* Copies the rows of a cluster where `capacity` scalars suffice; all threads of the block take part */
template <typename S, int D>
__device__ inline Rows<S> copy_rows(const ClusterArrays &a, const ClusterHead &h, const S *csr, int capacity,
                                    unsigned char *memory)
{
  const Copies copies(memory, h.own);
  S           *to = (S *)(memory + bytes_beside_rows(h.own));

  if (capacity == 0) return {csr, nullptr, nullptr};
  place_rows<D>(a, h, copies);
  __syncthreads();
  if (copies.begins[h.own] > capacity) return {csr, nullptr, nullptr};
  for (int i = threadIdx.x / 32; i < h.own; i += FILL_WARPS) {
    const S  *from  = csr + copies.from[i];
    S        *there = to + copies.begins[i];
    const int count = copies.lengths[i] * D;
    for (int k = threadIdx.x % 32; k < count; k += 32) spmv_async_copy(there + k, from + k);
  }
  spmv_async_wait();
  __syncthreads();
  return {to, copies.begins, copies.lengths};
}

/* The scalars that the rows of a cluster may take in shared memory, a quarter more than those of the mean: where a
   cluster has more, and where so many do not fit, rows are read where they are */
inline int64_t capacity_of(const ClusterPlan *plan, int64_t shared)
{
  const ClusterShape *s      = &plan->shape;
  const int64_t       each   = spmv_scalar_bytes(plan->base.scalar_type);
  const int64_t       mean   = s->clusters > 0 ? s->entries / s->clusters + 1 : 0;
  const int64_t       wanted = (mean * s->block * s->block + s->own / (s->clusters > 0 ? s->clusters : 1)) * 5 / 4;
  const int64_t       there  = (shared - bytes_beside_rows(s->most_own)) / each;

  return wanted * 4 / 5 <= there ? (wanted < there ? wanted : there) : 0;
}

} // namespace

#endif
