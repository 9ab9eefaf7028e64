/*
  crsv_device.cuh - the plan of format crsv on the device, and the steps that make it.

  A plan borrows arrays of the CSR that lie on the device, and uploads arrays that lie on the host. It adds a table of blocks: block b of the streaming kernel owns the rows i with row_ptr[i] + i in [b share, (b+1) share),
  which bounds both its rows and its nonzeros. A row that exceeds the capacity of its block is a long row, and is cut
  into pieces instead.
*/
#pragma once

#include "device/long_rows.cuh"
#include "device/products.cuh"
#include "crsv.h"

enum {
  CRSV_THREADS     = 128,
  CRSV_ITEMS       = 4,                         /* nonzeros per thread of the streaming kernel; larger numbers were
                                                   slower */
  CRSV_BLOCKS      = 16,                        /* thread blocks per multiprocessor: they use all its threads */
  CRSV_BLOCKS_WIDE = 10,                        /* the same with 64-bit indices */
  CRSV_CAPACITY    = CRSV_ITEMS * CRSV_THREADS, /* nonzeros of a block */
  CRSV_ROWS        = CRSV_CAPACITY * 5 / 4,     /* rows of a block, at most */
  CRSV_WARP_ROW    = 64,                        /* in an uneven block, a warp adds up each row of more nonzeros */
  CRSV_PIECE       = 2048                       /* nonzeros of a piece of a long row */
};

/* The operands of a product. Values have type V: S, or float for rounded values. OUT, SpmvSum<S> or SpmvSmooth<S>,
   receives the sums of rows. */
template <typename I, typename S, typename V, typename OUT>
struct CrsvCsr {
  const I *__restrict__ row_ptr;
  const I *__restrict__ col;
  const V *__restrict__ values;
  const S *__restrict__ x;
  OUT out;
};

/* A block of the streaming kernel: rows row0 .. row0+rows-1, nonzeros begin .. begin+count-1, without long rows. The
   table is computed once at conversion, since the kernel is limited by instructions nearly as much as by memory. */
struct CrsvBlock {
  int64_t  row0, begin;
  uint16_t rows, count;
  uint8_t  log_lanes; /* 2^log_lanes threads add up a row */
  uint8_t  uneven;    /* some row is much longer than the mean: a warp adds up each row longer than CRSV_WARP_ROW */
};

/* Nonzeros begin .. begin+count-1 of a long row. slot: index of its sum in `work`; -1: the row is a single piece, and
   its sum goes to y */
struct CrsvPiece {
  int64_t row, begin;
  int32_t count, slot;
};

/* Counts that size the arrays of a plan; all 0 for the kernel of the paper */
struct CrsvCounts {
  int64_t share; /* row i belongs to block (row_ptr[i] + i) / share, which bounds the nonzeros and rows of a block */
  int64_t blocks, pieces, slots, long_rows;
};

typedef struct {
  SpmvPlan     base;                               /* first */
  const void  *row_ptr, *col;                      /* on the device, as base.values[0] */
  void        *own_row_ptr, *own_col, *own_values; /* uploads; NULL when borrowed */
  CrsvCounts   counts;
  CrsvBlock   *blocks;    /* [counts.blocks] */
  CrsvPiece   *pieces;    /* [counts.pieces] */
  SpmvLongRow *long_rows; /* [counts.long_rows]: those of several pieces */
} CrsvDevicePlan;

/* Counts blocks and pieces of a pattern that lies on the device */
SpmvStatus crsv_count(const SpmvPattern *, CrsvCounts *, SpmvExec *);
/* Fills the tables of a plan; its row_ptr must be set */
SpmvStatus crsv_fill_tables(CrsvDevicePlan *, SpmvExec *);

/* Products; crsv_device_stream.cu */
struct CrsvMultiply {
  template <typename V, typename OUT>
  static SpmvStatus run(const SpmvPlan *, const V *const values[2], const void *x, const OUT &, void *work, SpmvExec *);
};
extern template struct SpmvProducts<CrsvMultiply>;
