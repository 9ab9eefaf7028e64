/*
  rbp_host.h - the layout of format "packed" on the host: sliced, jagged, without padding.

  A *group* is a set of at most RBP_MAX_GROUP consecutive rows with equal columns (the degrees of freedom of a node);
  its rows share one list of columns. Each run of a group is cut from the left into *units* of `unit` columns, each
  stored by its first column (its start); the remaining columns are *singles*. Rows lie in *windows* of RBP_WINDOW rows;
  inside a window the groups are sorted by rows, units and singles, all descending, and cut into *slices* of RBP_LANES
  groups with equal numbers of rows. The product processes slice after slice, with one lane per group.

  The first full_units units and full_singles singles, which all lanes of a slice have, are its *full steps*. The
  remaining units and singles of a lane are its *tail*, processed by scalar code; a slice with fewer groups than lanes
  is all tail. So there is no padding: values has exactly nnz entries, and no product reads an entry of x outside the
  pattern.

    slice_head    I    of each slice: base column of the differences, full_units, full_singles, flags; then, if the
                       slice has a tail, for each group the units and the singles of its tail
    group_row     u16  [groups] first row of each group, minus the first row of its window
    narrow, wide  u16, I   for each full step RBP_LANES differences between a start and the previous start in the same
                       lane (the first unit and the first single count from the base column). Slices in which a
                       difference does not fit 16 bits use wide, all other slices use narrow
    tail_columns  I    starts of the tails, units before singles, group by group
    values        S    [nnz] full steps, ordered by slice, step, column of the unit, row of the group, lane; then, from
                       full_values on, tails, ordered by group, start, column of the unit, row of the group

  I is base.index_type, S is base.scalar_type. Slices are processed in order, so no pointers are stored.
*/
#pragma once

#include "rbp.h"
#include "core/simd.h"

enum {
  RBP_LANES  = 8,
  RBP_WINDOW = 1920, /* rows; a multiple of 1 .. 6, so that groups of equal height do not cross windows */
  RBP_HEAD   = 4     /* entries of slice_head without a tail */
};

/* Fields of the flags in slice_head */
enum {
  RBP_FLAG_ROWS   = 0x7,  /* rows of a group, 1 .. RBP_MAX_GROUP */
  RBP_FLAG_LANES  = 0x78, /* groups of the slice, 1 .. RBP_LANES */
  RBP_LANES_SHIFT = 3,
  RBP_FLAG_WIDE   = 0x80,
  RBP_FLAG_TAIL   = 0x100,
  RBP_FLAG_LAST   = 0x200 /* the last slice of its window */
};

/* Entries of each array */
typedef struct {
  int64_t slices, groups, head_entries, narrow_entries, wide_entries, tail_entries;
  int64_t full_values; /* values in full steps */
  int     unit;
} RbpHostSizes;

typedef struct {
  SpmvPlan     base; /* first */
  RbpCounts    counts;
  RbpHostSizes sizes;
  void        *slice_head;   /* [head_entries] I */
  uint16_t    *group_row;    /* [groups] */
  uint16_t    *narrow;       /* [narrow_entries] */
  void        *wide;         /* [wide_entries] I */
  void        *tail_columns; /* [tail_entries] I */
  void        *values;       /* [nnz] S */
} RbpHostPacked;

/* One entry of slice_head, decoded */
typedef struct {
  int64_t full_units, full_singles, full_steps;
  int     rows, lanes, is_wide, has_tail, is_last;
  int     head_entries; /* of this slice */
} RbpSlice;

/* The unit, 1 or min_run .. RBP_MAX_UNIT, with the smallest predicted cost of starts */
int rbp_choose_unit(const RbpGroupCounts *, int64_t min_run);

/* Computes the sizes of the layout of a pattern on the host; sizes->unit must be set. Takes scratch memory from
   exec. */
SpmvStatus rbp_host_measure(const SpmvPattern *, SpmvExec *, RbpHostSizes *sizes);
void       rbp_host_memory(const RbpHostSizes *, int64_t nnz, SpmvIndex, SpmvScalar, SpmvMemory *);

SpmvStatus rbp_host_build(const SpmvCsr *, const RbpCounts *, const RbpHostSizes *, RbpHostPacked *, SpmvExec *);
/* The product with the given instruction set, which the processor must support */
void rbp_host_mult_by(SpmvIsa, const RbpHostPacked *, const void *alpha, const void *x, const void *beta, void *y);
void rbp_host_view(const RbpHostPacked *, SpmvPrint, void *ctx);
/* Slots */
SpmvStatus rbp_host_update(SpmvPlan *, const void *values, SpmvSpace values_space, SpmvExec *);
SpmvStatus rbp_host_extract(const SpmvPlan *, void *values, SpmvExec *);
SpmvStatus rbp_host_add_transposed(const SpmvPlan *, const void *alpha, const void *x, void *y, SpmvExec *);
void       rbp_host_clear(SpmvPlan *);
