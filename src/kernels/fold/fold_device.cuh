/*
  fold_device.cuh - what the device files of format fold share: the plan, the analysis, and the steps between them.

  On the device columns have 32 bits. A product writes one partial sum per table row beyond N to work, and, for each of
  the cut_up rows, FOLD_SHARES sums of equal shares of its full pieces; a second kernel adds them to y in a fixed order.

    work  S  [full_pieces + folded]       partial sums, in the order of the table
             [cut_up * FOLD_SHARES]       sums of shares
             [entries], gather=device     x in the order of the table
*/
#pragma once

#include "../device/upload.cuh"
#include "fold_stream.h"

enum {
  FOLD_SHARES  = 32, /* shares of a row cut into very many pieces: one per lane of the warp that adds them */
  FOLD_THREADS = 256
};

/* The data of an analysis, which build takes over. arena holds the arrays of layout, and an uploaded row_ptr. */
typedef struct {
  SpmvArena   arena;
  FoldSizes   sizes;
  FoldLayout  layout;  /* in device memory */
  const void *row_ptr; /* in device memory: the upload, or NULL */
} FoldDeviceAnalysis;

/* Sums of shares, and partial sums, that a product keeps in work */
static inline int64_t fold_partial_sums(const FoldSizes *s)
{
  return s->full_pieces + s->folded + s->cut_up * FOLD_SHARES;
}

static inline int fold_gather_of(const SpmvOptions *options) { return (int)options->value[FOLD_OPTION_GATHER]; }

/* ---- fold_device_layout.cu: sizes and layout of a row_ptr in device memory ---- */

SpmvStatus fold_device_lay_out(const void *row_ptr, SpmvIndex, const SpmvPattern *, SpmvScalar, const SpmvOptions *,
                               SpmvExec *, FoldDeviceAnalysis *);

/* ---- fold_device_fill.cu: between a CSR and a table, both in device memory ---- */

SpmvStatus fold_device_fill_columns(const FoldTable *, SpmvIndex, const void *row_ptr, const void *col, SpmvExec *);
SpmvStatus fold_device_fill_values(const FoldTable *, SpmvIndex, SpmvScalar, const void *row_ptr, const void *values,
                                   SpmvExec *);
/* row_ptr [rows+1], 64 bits wide; arena lends scratch space */
SpmvStatus fold_device_recover_row_ptr(const FoldTable *, SpmvArena *, SpmvExec *, int64_t *row_ptr);
SpmvStatus fold_device_list(const FoldTable *, SpmvScalar, const int64_t *row_ptr, const SpmvNonzeros *, SpmvExec *);
/* The entries that the diagonal has; needs no row_ptr */
SpmvStatus fold_device_list_diagonal(const FoldTable *, SpmvScalar, void *diagonal, SpmvExec *);

/* ---- fold_device_mult.cu ---- */

/* A product with slices begin .. end-1. columns and values begin with slice `begin`; where gathered is not NULL, it is
   x in their order, and columns are not read. first_step is slice_ptr[begin]. */
typedef struct {
  int64_t     begin, end, first_step;
  const void *columns, *values, *gathered;
} FoldPart;

/* The operands of a product; work is that of the plan, as above */
typedef struct {
  const void *alpha, *x, *beta;
  void       *y, *work;
} FoldOperands;

SpmvStatus fold_device_multiply_part(const FoldTable *, SpmvScalar, const FoldPart *, const FoldOperands *, SpmvExec *);
/* Adds the partial sums of folded rows to y */
SpmvStatus fold_device_finish(const FoldTable *, SpmvScalar, const FoldOperands *, SpmvExec *);
/* gathered[e] = x[columns[e]], 0 for padding */
SpmvStatus fold_device_gather(const void *columns, int64_t entries, SpmvScalar, const void *x, void *gathered,
                              SpmvExec *);

/* ---- fold_device.cu ---- */

/* Prints the first lines of a view, which all tables on the device have */
void fold_device_view(const SpmvPlan *, SpmvPrint, void *ctx);

/* ---- fold_device_stream.cu: tables of which some part, or x, comes from the host ---- */

/* 1 when the options select a table in two memories, or an x that the host gathers */
int                    fold_is_streamed(const SpmvOptions *);
extern const SpmvSlots fold_stream_slots;
