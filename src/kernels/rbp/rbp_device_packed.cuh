/*
  rbp_device_packed.cuh - the plan of format packed on the device, and what its conversion, product and refresh share.
*/
#ifndef SPMV_RBP_DEVICE_PACKED_CUH
#define SPMV_RBP_DEVICE_PACKED_CUH

#include "../device/transpose.cuh"
#include "rbp_device.h"

enum { RBP_THREADS = 128 /* of a product block */ };

/* What every plan of rbp in device memory begins with */
typedef struct {
  SpmvPlan       base; /* first */
  RbpFormat      format;
  SpmvTransposed transposed; /* a packed plan, whatever the format */
} RbpDevicePlan;

typedef struct {
  RbpDevicePlan  plan; /* first */
  RbpDeviceShape shape;
  void          *arrays;  /* the allocation that holds the following */
  void          *values;  /* [value_count] S */
  uint16_t      *pattern; /* [pattern_words] */
  RbpBlock      *blocks;  /* [blocks] */
  RbpLongGroup  *pieces;  /* [long_groups] */
} RbpDevicePacked;

/* Units a thread multiplies, the two choices of capacity / RBP_THREADS for a (G, U): the larger keeps more loads in
   flight, the smaller fills the device when there are few units. Measured on an H200, like the blocks that must fit a
   multiprocessor at a time: 32 registers a thread pay wherever the values of a thread's units leave room for them. */
struct RbpVariant {
  int group_rows, unit_columns, units_small, units_large;
};

#define RBP_VARIANT_LIST(X)                                                                                            \
  X(1, 1, 4, 6) X(1, 2, 2, 4) X(1, 3, 2, 4) X(2, 1, 2, 4) X(2, 2, 2, 3) X(3, 1, 2, 4) X(3, 3, 1, 2)

static constexpr RbpVariant rbp_variants[] = {
#define RBP_ROW(G, U, SMALL, LARGE) {G, U, SMALL, LARGE},
    RBP_VARIANT_LIST(RBP_ROW)
#undef RBP_ROW
};

/* Thread blocks that a multiprocessor has registers for, by the values that a thread loads at a time */
static constexpr int rbp_resident_blocks(int values)
{
  return spmv_resident_blocks(RBP_THREADS, values <= 12 ? 16 : 10);
}

/* action.run<S, G, U, P>() for the scalar type, the variant and the units a thread of a plan */
template <typename S, typename Action>
SpmvStatus rbp_with_shape(const RbpDeviceShape &s, const Action &action, SpmvExec *exec)
{
#define RBP_TRY(G, U, SMALL, LARGE)                                                                                    \
  if (s.group_rows == G && s.unit_columns == U)                                                                        \
    return s.capacity == (SMALL)*RBP_THREADS ? action.template run<S, G, U, SMALL>()                                   \
                                             : action.template run<S, G, U, LARGE>();
  RBP_VARIANT_LIST(RBP_TRY)
#undef RBP_TRY
  return spmv_fail(exec, SPMV_ERR_FORMAT, "rbp packed: no kernel for %d rows by %d columns", s.group_rows,
                   s.unit_columns);
}

template <typename Action>
SpmvStatus rbp_with_kernel(const RbpDevicePacked *plan, const Action &action, SpmvExec *exec)
{
  return plan->plan.base.scalar_type == SPMV_F32 ? rbp_with_shape<float>(plan->shape, action, exec)
                                                 : rbp_with_shape<double>(plan->shape, action, exec);
}

/* Offsets inside a block's stream of pattern words */
__host__ __device__ inline int rbp_starts_offset(int groups, int flags)
{
  return (((groups + 1) * (flags & RBP_BLOCK_UNEVEN ? 2 : 1) + 1) & ~1) +
         (flags & RBP_BLOCK_WINDOWED ? 2 * RBP_WINDOWS : 0);
}

__host__ __device__ inline int rbp_lengths_offset(int groups, int units, int flags)
{
  return rbp_starts_offset(groups, flags) + units * (flags & RBP_BLOCK_WIDE ? 2 : 1);
}

/* Words of a stream, even so that the next one begins at 4 bytes */
__host__ __device__ inline int rbp_pattern_words(int groups, int units, int flags)
{
  return (rbp_lengths_offset(groups, units, flags) + (flags & RBP_BLOCK_RAGGED ? units : 0) + 1) & ~1;
}

/* The start of unit u, relative to the base */
__device__ inline int rbp_start(const RbpBlock &b, const uint16_t *starts, int u)
{
  if (b.flags & RBP_BLOCK_WIDE) return (int)__ldg((const unsigned *)starts + u);
  const unsigned word = __ldg(starts + u);
  if (!(b.flags & RBP_BLOCK_WINDOWED)) return (int)word * b.scale;
  return (int)__ldg((const unsigned *)starts - RBP_WINDOWS + (word >> RBP_WINDOW_BITS)) +
         (int)(word & ((1 << RBP_WINDOW_BITS) - 1));
}

/* Slots that serve format packed only; the dispatch is in rbp_device.cu */
SpmvStatus rbp_device_packed_analyze(const SpmvPattern *, SpmvScalar, const SpmvOptions *, SpmvExec *, SpmvAnalysis *);
SpmvStatus rbp_device_packed_build(const SpmvCsr *, const SpmvAnalysis *, SpmvExec *, SpmvPlan **);
SpmvStatus rbp_device_packed_update(RbpDevicePacked *, const void *values, SpmvExec *);
SpmvStatus rbp_device_packed_mult(const RbpDevicePacked *, const void *alpha, const void *x, const void *beta, void *y,
                                  void *work, SpmvExec *);
void       rbp_device_packed_free(RbpDevicePacked *);

/* Writes a plan's nonzeros in CSR order; the arrays are there */
SpmvStatus rbp_device_packed_coordinates(const RbpDevicePacked *, const SpmvCoordinates *, SpmvExec *);

#endif
