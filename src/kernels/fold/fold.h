/*
  fold.h - the Fold method (Tanabe, Kogou, Ogawa, Takata and Joe): rows longer than a width w are cut into pieces of at
  most w nonzeros. One thread works on each piece, so that threads do nearly equal work. This header declares the
  functions of the folder.

  A *table row* is the work of one thread. The table consists of

    rows 0 .. N-1            the first piece of each row of the matrix: its first min(length, w) nonzeros
    N .. N+full_pieces-1     further pieces of exactly w nonzeros, grouped by row
    .. N+full_pieces+folded  the last piece of each folded row

  and empty rows up to a multiple of FOLD_LANES. FOLD_LANES table rows are a *slice*; slice s has
  width(s) = slice_ptr[s+1] - slice_ptr[s] columns and is stored by columns: entry j of lane l lies at
  (slice_ptr[s] + j) * FOLD_LANES + l. An entry without a nonzero has column -1 and value 0; it never touches x.

    columns    C   [entries]       C has 32 bits if the columns of the matrix fit, else 64
    values     S   [entries]
    slice_ptr  i64 [slices+1]
    order      u8  [N], or NULL: table row t < N is row t / FOLD_WINDOW * FOLD_WINDOW + order[t]
    owner      i64 [folded]        the row of each folded row's last piece: rows with more than FOLD_MANY full pieces
                                   beyond the first one come first, then those with any, then those with none
    full_ptr   i64 [cut_often+1], or NULL: the full pieces of owner f are full_ptr[f] .. full_ptr[f+1]-1, f < cut_often

  With `order`, the rows of a window are sorted by length, descending. A window is the rows of one thread block, so that
  its x stays in one cache. The owners are always sorted by the length of their last piece, in windows; the windows of
  each of the three kinds of owners are separate.
*/
#pragma once

#include "plan/plan.h"
#include "core/simd.h"

SPMV_C_BEGIN

enum {
  FOLD_LANES    = 32,
  FOLD_WINDOW   = 256,  /* rows sorted together; order has 8 bits */
  FOLD_OWNERS   = 1024, /* owners sorted together */
  FOLD_MANY     = 256,  /* rows with more full pieces are added up by several thread blocks, other rows by one warp */
  FOLD_BATCH    = 8,    /* entries that a device thread loads before its first multiplication */
  FOLD_LONG     = 1024, /* the histogram counts all rows of at least this length together */
  FOLD_UNSORTED = 511   /* rows of at least this length compare equal in sorts: a sort key has 9 bits for the length */
};

/* Positions in the table of options, and the choices of `layout` and `gather` */
enum { FOLD_OPTION_Q = 0, FOLD_OPTION_R, FOLD_OPTION_LAYOUT, FOLD_OPTION_GATHER, FOLD_OPTION_DEVICE_MEMORY };
enum { FOLD_LAYOUT_SLICED = 0, FOLD_LAYOUT_UNIFORM };
enum { FOLD_GATHER_CACHE = 0, FOLD_GATHER_HOST, FOLD_GATHER_DEVICE };

/* natural: rows in matrix order, each slice as wide as its longest piece. sorted: the same with `order`. uniform: the
   paper's table, rows in matrix order and every slice w wide. */
typedef enum { FOLD_NATURAL = 0, FOLD_SORTED, FOLD_UNIFORM } FoldOrder;

/* Statistics of a pattern for the choice of w. Entry FOLD_LONG of an array counts all lengths of at least FOLD_LONG. */
typedef struct {
  int64_t rows, nnz, longest;
  double  sum_squares;             /* of the row lengths */
  int64_t length[FOLD_LONG + 1];   /* rows by length */
  int64_t slice[2][FOLD_LONG + 1]; /* slices by the length of their longest row; [FOLD_NATURAL], [FOLD_SORTED] */
  int64_t long_slice_sum[2];       /* sum of the longest rows over the slices counted in entry FOLD_LONG */
} FoldHistogram;

/* A table that is prescribed, as by a paper; {0}: the cheapest one */
typedef struct {
  int64_t (*width)(const FoldHistogram *, const SpmvOptions *); /* NULL: the cheapest */
  const SpmvOptions *options;                                   /* the argument of width */
  int                is_uniform; /* FOLD_UNIFORM; 0: the cheaper one of the other orders */
} FoldGiven;

/* The predicted cost of a product with a given w */
typedef struct {
  int64_t entries;            /* of the table, with padding */
  int64_t folded, extra_rows; /* rows that are cut, table rows beyond N */
  double  bytes, time;        /* bytes read and written by a product; predicted microseconds */
  double  add_time;           /* the part of time for adding partial sums, without their bytes */
} FoldPrediction;

typedef struct {
  int64_t   rows, nnz;
  int64_t   width; /* w */
  FoldOrder order;
  int       automatic; /* w was chosen by the cost model */
  int64_t   longest;
  double    mean, sigma; /* of the row lengths */
  int64_t   folded;      /* rows of more than one piece */
  int64_t   cut_often;   /* rows of more than two pieces */
  int64_t   cut_up;      /* rows of more than FOLD_MANY + 2 pieces */
  int64_t   full_pieces;
  int64_t   table_rows, slices, steps; /* steps: sum of all widths; entries = steps * FOLD_LANES */
} FoldSizes;

typedef struct {
  int64_t *slice_ptr, *owner, *full_ptr;
  uint8_t *order;
} FoldLayout;

/* A whole table, in one space */
typedef struct {
  FoldSizes  sizes;
  FoldLayout layout;
  SpmvIndex  column_type;
  void      *columns, *values;
} FoldTable;

/* The data of an analysis on the host; build takes over its layout */
typedef struct {
  FoldSizes  sizes;
  FoldLayout layout;
} FoldAnalysis;

/* A plan in either space whose table is not streamed */
typedef struct {
  SpmvPlan  base; /* first */
  FoldTable table;
} FoldPlan;

/* ---- fold.c: the slots on the host; the one for analyses gives {0} to fold_analyze() ---- */

SpmvStatus fold_analyze(const SpmvPattern *, FoldGiven, SpmvAnalysis *, SpmvExec *);
void       fold_clear_analysis(void *data, SpmvExec *);
SpmvStatus fold_build(const SpmvCsr *, const SpmvAnalysis *, SpmvPlan *, SpmvExec *);
SpmvStatus fold_update_values(SpmvPlan *, const void *values, SpmvSpace, SpmvExec *);
SpmvStatus fold_extract_values(const SpmvPlan *, void *values, SpmvExec *);
SpmvStatus fold_mult(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y, void *work,
                     SpmvExec *);
SpmvStatus fold_add_transposed(const SpmvPlan *, const void *alpha, const void *x, void *y, SpmvExec *);
void       fold_view(const SpmvPlan *, SpmvPrint, void *ctx);
extern const SpmvSlots fold_device_slots;

/* ---- fold_cost.c: the choice of w ---- */

double fold_mean(const FoldHistogram *);
double fold_sigma(const FoldHistogram *);
/* The cost of a product in that space; for w above FOLD_LONG, entries and bytes are estimates */
FoldPrediction fold_predict(const FoldHistogram *, FoldOrder, int64_t width, SpmvScalar, SpmvSpace);
/* The best w for an order */
int64_t fold_best_width(const FoldHistogram *, FoldOrder, SpmvScalar, SpmvSpace, FoldPrediction *);
/* 1 if sorting could save more than it costs, because slices in natural order have much padding */
int fold_sorting_may_pay(const FoldHistogram *, SpmvScalar, SpmvSpace, FoldGiven);
/* Sets width, order, automatic and the statistics of sizes; uses histogram.slice[FOLD_SORTED] only if sorted_known */
void fold_choose(const FoldHistogram *, int sorted_known, SpmvScalar, SpmvSpace, FoldGiven, FoldSizes *);

/* ---- fold_layout.c: layout of a table, on the host ---- */

void fold_count(const void *row_ptr, int64_t rows, SpmvIndex, FoldHistogram *);
void fold_count_sorted(const void *row_ptr, int64_t rows, SpmvIndex, FoldHistogram *);
/* Completes the sizes that fold_choose() has begun, and makes the arrays of the layout in host memory */
SpmvStatus fold_lay_out(const void *row_ptr, SpmvIndex, SpmvExec *, FoldSizes *, FoldLayout *);
void       fold_layout_free(const SpmvAllocator *host, const SpmvAllocator *device, SpmvSpace, FoldLayout *);
/* Analysis of a row_ptr on the host: histogram, choice, layout */
SpmvStatus fold_analyze_rows(const void *row_ptr, const SpmvPattern *, SpmvScalar, SpmvSpace, FoldGiven, SpmvExec *,
                             FoldSizes *, FoldLayout *);

/* Makes the table of a plan in its space: sets sizes, allocates the arrays, and copies a layout that lies in this
   space */
SpmvStatus fold_make_table(FoldPlan *, const FoldSizes *, const FoldLayout *, SpmvIndex column_type, SpmvExec *);
void       fold_clear_table(SpmvPlan *);
/* Allocates the arrays of a layout in host memory; after a failure the caller must call fold_layout_free() */
SpmvStatus fold_layout_alloc(const FoldSizes *, SpmvExec *, FoldLayout *);
SpmvStatus fold_copy_layout(const FoldSizes *, FoldLayout *to, SpmvSpace to_space, const FoldLayout *from,
                            SpmvSpace from_space, SpmvExec *);

int64_t fold_slice_ptr_bytes(const FoldSizes *);
int64_t fold_order_bytes(const FoldSizes *);
int64_t fold_owner_bytes(const FoldSizes *);
int64_t fold_full_ptr_bytes(const FoldSizes *);
int64_t fold_columns_bytes(const FoldSizes *, SpmvIndex column_type);
int64_t fold_values_bytes(const FoldSizes *, SpmvScalar);
/* The narrowest type for the columns of the table */
SpmvIndex fold_column_type(int64_t cols);
/* Adds all arrays, and the padding, to a memory report */
void fold_memory(const FoldSizes *, SpmvIndex column_type, SpmvScalar, SpmvMemory *);
/* Prints the lines of a view about a table */
void fold_view_sizes(const FoldSizes *, SpmvPrint, void *ctx);

/* ---- fold_fill.c: between CSR and a table on the host ---- */

/* Slices begin .. end-1 of a table; columns and values point to slice `begin` */
typedef struct {
  int64_t begin, end;
  void   *columns, *values;
} FoldRange;

FoldRange fold_whole(const FoldTable *);
void      fold_fill_columns(const FoldTable *, const FoldRange *, SpmvIndex, const void *row_ptr, const void *col);
void      fold_fill_values(const FoldTable *, const FoldRange *, SpmvIndex, SpmvScalar, const void *row_ptr,
                           const void *values);
/* Recovers the row_ptr [rows+1] of the CSR from the table */
void fold_recover_row_ptr(const FoldTable *, SpmvIndex, void *row_ptr);
/* Writes col and values of the CSR from the slices of a range; col may be NULL */
void fold_unfill(const FoldTable *, const FoldRange *, SpmvIndex, SpmvScalar, const void *row_ptr, void *col,
                 void *values);

/* ---- fold_mult.c: products on the host ---- */

/* The slots mult and add_transposed; fold_host_mult() uses the given instruction set, which the processor must
   support */
void fold_host_mult(SpmvIsa, const FoldPlan *, const void *alpha, const void *x, const void *beta, void *y);
void fold_host_add_transposed(const FoldPlan *, const void *alpha, const void *x, void *y);

SPMV_C_END
