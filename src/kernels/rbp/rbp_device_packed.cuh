/*
  rbp_device_packed.cuh - the layout of format packed in device memory, its plan, and declarations for conversion,
  product and refresh.

  A group is a set of at most G consecutive rows with equal columns (the degrees of freedom of a node). The columns of a
  group are cut into units of at most U adjacent columns, each stored by its first column. A block is the work of one
  thread block: consecutive groups with together at most `capacity` units, or a piece of a longer group (which is cut by
  position, so that units do not cross pieces). G and U are chosen for each matrix by predicted bytes.

  values    block after block. A block has G*U planes of `stride` values: plane q*U+j holds the value in row q and
            column j of every unit, in the order of the units. A plane has `units` values and is padded to a multiple of
            RBP_ALIGN. If the unit has no such column, or the group no such row, the value is 0; it is multiplied with
            an entry of x that the row reads anyway.

  pattern   16-bit words: one encoding per block. Blocks with equal encodings share one. An encoding consists of:

            [groups+1]       the first unit of each group
            [groups+1]       in an uneven block: the first row of each group, relative to the block
            [0 or 1]         padding to an even number of words
            [2*RBP_SEGMENTS] in a segmented block: the first column of each segment minus base, in 32 bits
            [units]          the start of each unit, as (column - base) / scale
                             in a segmented block: segment << RBP_SEGMENT_BITS | (column - base) % 4096
                             in a wide block: column - base, in 32 bits
            [units]          in a ragged block: the number of columns of each unit

  blocks    [blocks] RbpBlock, 64 bytes each

  pieces    [long_groups] SpmvLongRow: groups that are cut into pieces
*/
#pragma once

#include "device/long_rows.cuh"
#include "device/products.cuh"
#include "rbp.h"

enum { RBP_THREADS = 128 /* of a product block */ };

enum { RBP_ALIGN = 4 /* values of a plane: one 32-byte sector of doubles */ };

enum {
  RBP_BLOCK_WIDE      = 1,  /* 32-bit starts */
  RBP_BLOCK_UNEVEN    = 2,  /* some group has fewer than G rows: row positions are stored */
  RBP_BLOCK_RAGGED    = 4,  /* some unit has fewer than U columns: lengths are stored */
  RBP_BLOCK_PIECE     = 8,  /* a piece of a long group: sums go to work[slot ...] */
  RBP_BLOCK_SHARED    = 16, /* uses the encoding of another block */
  RBP_BLOCK_SEGMENTED = 32  /* 16-bit starts in at most RBP_SEGMENTS segments of columns */
};

enum {
  RBP_SEGMENTS     = 16,
  RBP_SEGMENT_BITS = 12 /* 4096 columns */
};

typedef struct {
  int64_t  value0;   /* first value, in elements */
  int64_t  pattern0; /* first word of its pattern */
  int64_t  csr0;     /* first nonzero of its first row in the CSR; of a piece: position of the piece in that row */
  int32_t  row0;     /* first row */
  int32_t  base;     /* smallest start column, or U columns before the last */
  int32_t  stride;   /* values per plane */
  int32_t  slot;     /* of a piece: its position in work, in units of G sums */
  int32_t  groups, units;
  int32_t  row_length; /* of a piece: nonzeros of the row it belongs to */
  uint16_t scale;      /* of the starts: 1 or U */
  uint8_t  lanes;      /* threads that add up one row: a power of 2 */
  uint8_t  flags;
  int32_t  rows;  /* rows of all groups */
  int32_t  words; /* length of its encoding */
} RbpBlock;

/* The parameters and sizes of a plan, computed by the analysis; all sizes are in elements */
typedef struct {
  int     group_rows, unit_columns; /* G, U */
  int     capacity;                 /* units per block */
  int64_t groups, units, blocks, long_groups, pieces;
  int64_t value_count, pattern_words;
  int64_t shared_blocks; /* blocks that use the encoding of another block */
  int64_t padding;       /* values that hold no nonzero */
} RbpDeviceShape;

typedef struct {
  SpmvPlan       base; /* first */
  RbpDeviceShape shape;
  void          *values;  /* [value_count] S */
  uint16_t      *pattern; /* [pattern_words] */
  RbpBlock      *blocks;  /* [blocks] */
  SpmvLongRow   *pieces;  /* [long_groups] */
} RbpDevicePacked;

/* The two choices of units per thread (capacity / RBP_THREADS) for a (G, U). The larger choice keeps more loads in
   flight, the smaller one fills the device if there are few units. Both were tuned on an H200, as was the number of
   resident blocks per multiprocessor: limiting a thread to 32 registers pays whenever these hold the values of its
   units. */
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

/* The number of thread blocks for which a multiprocessor has registers, by the number of values that a thread loads at
   a time */
static constexpr int rbp_resident_blocks(int values)
{
  return spmv_resident_blocks(RBP_THREADS, values <= 12 ? 16 : 10);
}

/* action.run<T, G, U, P>() for the variant and the units per thread of a plan, and for the type T of the caller: of
   scalars in a product, of indices in an analysis */
template <typename T, typename Action>
SpmvStatus rbp_with_shape(const RbpDeviceShape &s, const Action &action, SpmvExec *exec)
{
#define RBP_TRY(G, U, SMALL, LARGE)                                                                                    \
  if (s.group_rows == G && s.unit_columns == U)                                                                        \
    return s.capacity == (SMALL)*RBP_THREADS ? action.template run<T, G, U, SMALL>()                                   \
                                             : action.template run<T, G, U, LARGE>();
  RBP_VARIANT_LIST(RBP_TRY)
#undef RBP_TRY
  return spmv_fail(exec, SPMV_ERR_FORMAT, "rbp packed: no kernel for %d rows by %d columns", s.group_rows,
                   s.unit_columns);
}

template <typename Action>
SpmvStatus rbp_with_kernel(const RbpDevicePacked *plan, const Action &action, SpmvExec *exec)
{
  return plan->base.scalar_type == SPMV_F32 ? rbp_with_shape<float>(plan->shape, action, exec)
                                            : rbp_with_shape<double>(plan->shape, action, exec);
}

/* Offsets inside the encoding of a block, in words */
__host__ __device__ inline int rbp_starts_offset(int groups, int flags)
{
  return (((groups + 1) * (flags & RBP_BLOCK_UNEVEN ? 2 : 1) + 1) & ~1) +
         (flags & RBP_BLOCK_SEGMENTED ? 2 * RBP_SEGMENTS : 0);
}

__host__ __device__ inline int rbp_lengths_offset(int groups, int units, int flags)
{
  return rbp_starts_offset(groups, flags) + units * (flags & RBP_BLOCK_WIDE ? 2 : 1);
}

/* The number of words of an encoding. It is even, so that the next encoding is aligned to 4 bytes. */
__host__ __device__ inline int rbp_pattern_words(int groups, int units, int flags)
{
  return (rbp_lengths_offset(groups, units, flags) + (flags & RBP_BLOCK_RAGGED ? units : 0) + 1) & ~1;
}

/* The start of unit u, relative to the base */
__device__ inline int rbp_start(const RbpBlock &b, const uint16_t *starts, int u)
{
  if (b.flags & RBP_BLOCK_WIDE) return (int)__ldg((const unsigned *)starts + u);
  const unsigned word = __ldg(starts + u);
  if (!(b.flags & RBP_BLOCK_SEGMENTED)) return (int)word * b.scale;
  return (int)__ldg((const unsigned *)starts - RBP_SEGMENTS + (word >> RBP_SEGMENT_BITS)) +
         (int)(word & ((1 << RBP_SEGMENT_BITS) - 1));
}

/* Copies values first .. first+count-1 of the CSR, in device memory, to the planes; rbp_device_update.cu */
SpmvStatus rbp_device_fill(RbpDevicePacked *, const void *values, int64_t first, int64_t count, SpmvExec *);

/* Slots */
SpmvStatus rbp_device_list(const SpmvPlan *, const SpmvNonzeros *, SpmvExec *);
struct RbpMultiply {
  template <typename V, typename OUT>
  static SpmvStatus run(const SpmvPlan *, const V *const values[2], const void *x, const OUT &, void *work, SpmvExec *);
};
extern template struct SpmvProducts<RbpMultiply>;
