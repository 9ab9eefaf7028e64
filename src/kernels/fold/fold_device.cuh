/*
  fold_device.cuh - declarations for the device files of format fold: analysis, and the steps of conversions and
  products.

  On the device columns have 32 bits. A product writes one partial sum per table row beyond N to work, and for each of
  the cut_up rows FOLD_SHARES sums of equal shares of its full pieces. A second kernel adds these sums to y in a fixed
  order.

    work  S  [full_pieces + folded]       partial sums, in the order of the table
             [cut_up * FOLD_SHARES]       sums of shares
*/
#pragma once

#include "device/products.cuh"
#include "device/upload.cuh"
#include "fold.h"

enum {
  FOLD_SHARES  = 32, /* shares of a cut_up row: one per lane of the warp that adds them */
  FOLD_THREADS = 256
};

/* The data of an analysis; build takes over its arrays. arena holds the arrays of layout, and an uploaded row_ptr. */
typedef struct {
  SpmvArena   arena;
  FoldSizes   sizes;
  FoldLayout  layout;  /* in device memory */
  const void *row_ptr; /* in device memory: an upload; NULL if none was needed */
} FoldDeviceAnalysis;

/* The number of sums of shares and partial sums in work */
static inline int64_t fold_partial_sums(const FoldSizes *s)
{
  return s->full_pieces + s->folded + s->cut_up * FOLD_SHARES;
}

static inline int fold_gather_of(const SpmvOptions *options) { return (int)options->value[FOLD_OPTION_GATHER]; }

/* ---- fold_device_layout.cu: sizes and layout from a row_ptr in device memory ---- */

SpmvStatus fold_device_lay_out(const void *row_ptr, SpmvIndex, const SpmvPattern *, SpmvScalar, FoldGiven, SpmvExec *,
                               FoldDeviceAnalysis *);

/* ---- fold_device_fill.cu: between a CSR and a table, both in device memory ---- */

SpmvStatus fold_device_fill_columns(const FoldTable *, SpmvIndex, const void *row_ptr, const void *col, SpmvExec *);
SpmvStatus fold_device_fill_values(const FoldTable *, SpmvIndex, SpmvScalar, const void *row_ptr, const void *values,
                                   SpmvExec *);
/* Recovers row_ptr [rows+1], in 64 bits; arena provides scratch space */
SpmvStatus fold_device_recover_row_ptr(const FoldTable *, SpmvArena *, SpmvExec *, int64_t *row_ptr);
SpmvStatus fold_device_list(const FoldTable *, SpmvScalar, const int64_t *row_ptr, const SpmvNonzeros *, SpmvExec *);
/* Writes those entries of the diagonal that exist; needs no row_ptr */
SpmvStatus fold_device_list_diagonal(const FoldTable *, SpmvScalar, void *diagonal, SpmvExec *);

/* ---- fold_device_mult.cu ---- */

/* Slices begin .. end-1, for a part of a product. columns and values point to slice `begin`. If gathered is not NULL,
   it is x in their order, and columns are not read. first_step is slice_ptr[begin]. */
typedef struct {
  int64_t     begin, end, first_step;
  const void *columns, *values, *gathered;
} FoldPart;

/* The operands of a product; work is laid out as above */
typedef struct {
  const void *alpha, *x, *beta;
  void       *y, *work;
} FoldOperands;

SpmvStatus fold_device_multiply_part(const FoldTable *, SpmvScalar, const FoldPart *, const FoldOperands *, SpmvExec *);
/* Adds the partial sums of folded rows to y */
SpmvStatus fold_device_finish(const FoldTable *, SpmvScalar, const FoldOperands *, SpmvExec *);

/* Products with a whole table */
struct FoldMultiply {
  template <typename V, typename OUT>
  static SpmvStatus run(const SpmvPlan *, const V *const values[2], const void *x, const OUT &, void *work, SpmvExec *);
};
extern template struct SpmvProducts<FoldMultiply>;

/* ---- fold_device.cu ---- */

/* The slot for analyses, with the table prescribed */
SpmvStatus fold_device_analyze(const SpmvPattern *, FoldGiven, SpmvAnalysis *, SpmvExec *);
/* Prints the first lines of a view, which are common to all tables on the device */
void fold_device_view(const SpmvPlan *, SpmvPrint, void *ctx);

/* ---- stream/fold_device_stream.cu: streamed tables ---- */

/* 1 if the options select a streamed table */
int                    fold_is_streamed(const SpmvOptions *);
extern const SpmvSlots fold_stream_slots;
