/*
  rbp_device.h - format rbp in device memory: the slots that rbp.c calls for plans of space SPMV_DEVICE, and the layout
  of `packed` there.

  Rows are collected into groups: at most G consecutive rows with equal columns (the degrees of freedom of a node). The
  columns of a group are cut into units: at most U adjacent columns, kept by their first one. A block is what one thread
  block multiplies: some consecutive groups with at most `capacity` units, or a piece of one group that is longer (a
  long row is cut by position, so that a unit never crosses a piece). G and U are chosen per matrix by predicted bytes.

  values   block after block; inside a block G*U planes of `stride` values: plane q*U+j holds, unit after unit, the
  value of row q and column j of the unit. A plane has `units` values and is padded to a multiple of RBP_ALIGN. A
  position whose column or row the unit or group does not have holds 0 and multiplies a column of the row's
           neighbourhood.
  pattern  16-bit words, one stream a block: the first unit of each group [groups+1]; in an uneven block the first row
           of each group relative to the block [groups+1]; then, at an even position, the starts of the units [units]:
           (column - base) / scale in 16 bits; in a windowed block (window << 12) | (column - base) % 4096 behind a
  table of the windows' first columns - base, RBP_WINDOWS of two words; in a wide block column - base in 32 bits; in a
           ragged block then the number of columns of each unit [units], one word each. Blocks with equal streams share
  one. blocks   RbpBlock [blocks], 64 bytes each. pieces   RbpLongGroup [long groups]: whose partial sums lie in work
  and are added in their order by a second kernel.
*/
#ifndef SPMV_RBP_DEVICE_H
#define SPMV_RBP_DEVICE_H

#include "rbp.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RBP_ALIGN = 4 /* values of a plane: one 32-byte sector of doubles */ };

enum {
  RBP_BLOCK_WIDE     = 1,  /* 32-bit starts */
  RBP_BLOCK_UNEVEN   = 2,  /* some group has fewer than G rows: row positions are stored */
  RBP_BLOCK_RAGGED   = 4,  /* some unit has fewer than U columns: lengths are stored */
  RBP_BLOCK_PIECE    = 8,  /* a piece of a long group: sums go to work[slot ...] */
  RBP_BLOCK_SHARED   = 16, /* the stream is another block's */
  RBP_BLOCK_WINDOWED = 32  /* 16-bit starts in at most RBP_WINDOWS windows of columns */
};

enum {
  RBP_WINDOWS     = 16,
  RBP_WINDOW_BITS = 12 /* 4096 columns */
};

typedef struct {
  int64_t  value0;   /* first value, in elements */
  int64_t  pattern0; /* first word of its pattern */
  int64_t  csr0;     /* first nonzero of its first row in the CSR; of a piece: position of the piece in that row */
  int32_t  row0;     /* first row */
  int32_t  base;     /* smallest start column */
  int32_t  stride;   /* values a plane */
  int32_t  slot;     /* of a piece: its position in work, in units of G sums */
  int32_t  groups, units;
  int32_t  row_length; /* of a piece: nonzeros of the row it belongs to */
  uint16_t scale;      /* of the starts: 1 or U */
  uint8_t  lanes;      /* threads that add up one row: a power of 2 */
  uint8_t  flags;
  int32_t  rows;  /* rows of all groups */
  int32_t  words; /* of its stream */
} RbpBlock;

typedef struct {
  int32_t row0, rows;  /* of the group */
  int32_t slot, count; /* its pieces: slots slot .. slot+count-1 */
} RbpLongGroup;

/* What the analysis of a pattern finds out, all sizes in elements */
typedef struct {
  int     group_rows, unit_columns; /* G, U */
  int     capacity;                 /* units a block */
  int64_t groups, units, blocks, long_groups, pieces;
  int64_t value_count, pattern_words;
  int64_t shared_blocks; /* with the stream of another */
  int64_t padding;       /* values that hold no nonzero */
} RbpDeviceShape;

SpmvStatus rbp_device_analyze(const SpmvPattern *, SpmvScalar, const SpmvOptions *, SpmvExec *, SpmvAnalysis *);
SpmvStatus rbp_device_build(const SpmvCsr *, const SpmvAnalysis *, SpmvExec *, SpmvPlan **);
SpmvStatus rbp_device_update_values(SpmvPlan *, const void *values, SpmvSpace values_space, SpmvExec *);
SpmvStatus rbp_device_mult(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y, void *work,
                           SpmvExec *);
SpmvStatus rbp_device_prepare_transpose(SpmvPlan *, SpmvExec *);
SpmvStatus rbp_device_multtranspose(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y,
                                    void *work, SpmvExec *);
SpmvStatus rbp_device_view(const SpmvPlan *, SpmvPrint, void *ctx);
void       rbp_device_destroy(SpmvPlan **);

#ifdef __cplusplus
}
#endif
#endif
