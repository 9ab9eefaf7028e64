/* crsv_device.cuh - the plan of format crsv on the device, and the steps of its making. */
#ifndef SPMV_CRSV_DEVICE_CUH
#define SPMV_CRSV_DEVICE_CUH

#include "../device/transpose.cuh"
#include "crsv_device.h"

enum {
  CRSV_THREADS     = 128,
  CRSV_ITEMS_SMALL = 4, /* nonzeros a thread in a pass of the streaming kernel, for matrices that leave the GPU idle */
  CRSV_ITEMS_LARGE = 8,
  CRSV_ENOUGH_BLOCKS = 2000,
  CRSV_PIECE         = 8192 /* nonzeros of a piece of a long row */
};

/* A block of the streaming kernel: rows row0 .. row0+rows-1, nonzeros begin .. begin+count-1; long rows left out */
struct CrsvBlock {
  int64_t row0, begin;
  int32_t rows, count;
};

/* Nonzeros begin .. begin+count-1 of a long row. slot: where its sum goes in the work space; -1: the row is one piece
 */
struct CrsvPiece {
  int64_t row, begin;
  int32_t count, slot;
};

/* A long row of several pieces: the sums at slot .. slot+count-1 */
struct CrsvLongRow {
  int64_t row;
  int32_t slot, count;
};

/* Counts that size the arrays of a plan; all 0 unless nt = auto */
struct CrsvCounts {
  int64_t items; /* nonzeros a thread in a pass */
  int64_t blocks, pieces, slots, long_rows;
};

typedef struct {
  SpmvPlan     base; /* first */
  SpmvOptions  options;
  const void  *row_ptr, *col, *values;             /* on the device */
  void        *own_row_ptr, *own_col, *own_values; /* uploads; NULL when borrowed */
  int          lanes;                              /* threads a row; 0: the streaming kernel */
  CrsvCounts   counts;
  CrsvBlock   *blocks;    /* [counts.blocks] */
  CrsvPiece   *pieces;    /* [counts.pieces] */
  CrsvLongRow *long_rows; /* [counts.long_rows] */

  SpmvTransposed transposed;
  void          *transposed_csr[3]; /* row_ptr, col and values that the plan of A^T borrows */
} CrsvDevicePlan;

/* Counts blocks and pieces of a pattern that lies on the device */
SpmvStatus crsv_count(const SpmvPattern *, int64_t items, CrsvCounts *, SpmvExec *);
/* Fills the tables of a plan, whose row_ptr is set */
SpmvStatus crsv_fill_tables(CrsvDevicePlan *, SpmvExec *);

#endif
