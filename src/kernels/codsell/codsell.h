/*
  codsell.h - CoD-SELL: SELL-C-sigma whose positions are compressed by a dictionary (Murakami). The layout of a plan,
  which is the same on the host and on a device, and declarations for both conversions.

  Slots hold the rows in the order of the product: sorted by length, longest first, inside windows of sigma rows. C
  slots form a slice, as wide as its longest row. A row is cut into words of W positions; the last position of a row is
  repeated to fill its last word. A word is stored as offsets from the row's index, or as offsets from its own first
  column, which is then stored as its start. Both kinds of offsets are in one dictionary, the most frequent words first.

    values      S    [columns * C] nonzero k of the row in lane l of a slice: values[(column0 + k) * C + l]; padding 0
    slices           [slices] CodsellSlice
    codes       u8   [code_bytes] for each slice, in this order, the parts that its kind has (n: words of the width)
                       base    i32  smallest column of the slice minus its first slot
                       starts  u16 | i32 [n * C], in a kind without words [width * C]: column minus first slot minus
                               base; divided by W if the slice is scaled
                       ids     u16 [n] if all lanes share the ids, else u8 | u16 [n * C]
                       lengths u8 [C] if the slice is ragged, u16 if it is wider than 255
                     Word w of lane l is at w * C + l. Each slice is padded with 0 to a multiple of 4 bytes.
    dictionary  i32  [words * stride] W offsets each
    order       u16  [slices * C] the row in a slot, minus the first row of its window; absent if every row lies in the
                     slot of its number
    windows     i64  [windows] CSR position of the first nonzero of each window of rows
    long_rows        [long_rows + 1] CodsellLong: rows that are too long for a slice or have a column too far from the
                     diagonal. In slices they are empty rows; the product adds them afterwards.
    long_columns I   [long_nnz]
    long_values S    [long_nnz]
    pieces           [pieces] CodsellPiece, on a device: long rows are cut into pieces of CODSELL_PIECE nonzeros, each
                     summed up by one thread block into work; a second kernel adds the sums of a row in order

  S is base.scalar_type; I is base.index_type on the host and 32 bits on a device.
*/
#pragma once

#include "plan/plan.h"

SPMV_C_BEGIN

enum {
  CODSELL_MAX_WORD   = 8,       /* positions per word */
  CODSELL_MAX_C      = 64,      /* rows per slice */
  CODSELL_MAX_SIGMA  = 4096,    /* rows per window, so that order fits 16 bits and a window fits the shared memory of a
                                   thread block */
  CODSELL_WINDOW     = 256,     /* rows per window without sorting; a multiple of every C */
  CODSELL_SHORTEST   = 128,     /* a row of at most this many nonzeros always lies in a slice */
  CODSELL_LONGEST    = 1024,    /* a row of more nonzeros never lies in a slice */
  CODSELL_MEAN_ROWS  = 4,       /* a row between these lengths lies in a slice if it has at most this multiple of the
                                   mean row */
  CODSELL_FAR        = 1 << 29, /* a row with a column at least this far from the diagonal is treated as a long row */
  CODSELL_DICTIONARY = 1 << 16, /* maximum number of words */
  CODSELL_NO_ID      = 1 << 20  /* a word that is not in the dictionary */
};

/* Positions in the table of options */
enum { CODSELL_OPTION_C = 0, CODSELL_OPTION_SIGMA, CODSELL_OPTION_WORD };

/* Number of word lengths. Option "word" is "auto" or one of them; option "c" is 8, 16, 32 or 64 */
enum { CODSELL_WORDS = 8 };
#define CODSELL_WORD_LIST(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)

/* The storage of the positions of a slice */
typedef enum {
  CODSELL_UNIFORM = 0,      /* all rows have the same offsets: one id per word */
  CODSELL_IDS8,             /* one id per word and row, 8 bits */
  CODSELL_IDS16,            /* one id per word and row, 16 bits */
  CODSELL_STARTS16_UNIFORM, /* one start per word and row, 16 bits; one id per word: relative to its start, a word is
                               the same in all rows */
  CODSELL_STARTS16_IDS8,    /* one start per word and row, 16 bits; one id per word and row, 8 bits */
  CODSELL_STARTS32_UNIFORM, /* as STARTS16_UNIFORM, with starts of 32 bits */
  CODSELL_STARTS32_IDS8,    /* as STARTS16_IDS8, with starts of 32 bits */
  CODSELL_COLUMNS16,        /* no words: one column per nonzero, 16 bits */
  CODSELL_COLUMNS32,        /* no words: one column per nonzero, 32 bits */
  CODSELL_KINDS
} CodsellKind;

typedef struct {
  uint64_t column0 : 44; /* sum of the widths of all previous slices */
  uint64_t width : 12;
  uint64_t kind : 4;
  uint64_t ragged : 1;   /* some row is shorter than the width */
  uint64_t permuted : 1; /* some slot does not hold the row of its number */
  uint64_t scaled : 1;   /* its starts are in units of W columns */
  uint64_t unused : 1;
  uint64_t code0; /* first byte of its codes */
} CodsellSlice;

typedef struct {
  int64_t row;
  int64_t first; /* position in long_columns and long_values */
} CodsellLong;

/* Piece `number` of a long row, on a device */
typedef struct {
  int32_t long_row, number;
} CodsellPiece;

/* The sizes and parameters that an analysis computes for a pattern */
typedef struct {
  int     log_c, word, stride; /* C = 1 << log_c; W; entries of a dictionary word, a power of 2 */
  int     parts;               /* device: threads that share a row */
  int     longest;             /* nonzeros of the longest row that may lie in a slice */
  int     sorted;              /* order exists */
  int64_t window;              /* rows; sigma if rows are sorted */
  int64_t rows, slices, windows, columns, code_bytes, words;
  int64_t long_rows, long_nnz, pieces; /* pieces: on a device, of long rows */
  int64_t padding;                     /* values that hold no nonzero */
  int64_t kinds[CODSELL_KINDS];        /* slices of each kind, without slices of width 0 */
} CodsellShape;

/* A plan in either space; its arrays lie in that space */
typedef struct {
  SpmvPlan      base; /* first */
  CodsellShape  shape;
  void         *values;
  uint8_t      *codes;
  CodsellSlice *slices;
  int32_t      *dictionary;
  uint16_t     *order;
  int64_t      *windows;
  CodsellLong  *long_rows;
  void         *long_columns, *long_values;
  CodsellPiece *pieces; /* [pieces], on a device */
} CodsellPlan;

static inline int64_t codsell_slice_values(const CodsellPlan *plan) { return plan->shape.columns << plan->shape.log_c; }

void codsell_memory(const CodsellShape *, SpmvIndex long_index, SpmvScalar, SpmvMemory *);
/* Allocates all arrays of a plan in its space; after a failure the caller must call codsell_free_arrays() */
SpmvStatus codsell_alloc(CodsellPlan *, SpmvIndex long_index, SpmvExec *);
void       codsell_free_arrays(SpmvPlan *);
/* Prints the first lines of a view, which are common to both spaces */
void codsell_print(const SpmvPlan *, SpmvPrint, void *ctx);
/* The options of an analysis, decoded: log2 of C, sigma (0: automatic), W (0: automatic) */
void codsell_read_options(const SpmvOptions *, int *log_c, int64_t *sigma, int *word);

extern const SpmvSlots codsell_device_slots;

SPMV_C_END
