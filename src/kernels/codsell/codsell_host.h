/*
  codsell_host.h - the steps of the conversion on the host, in order:

    codsell_host_rows        rows in slices, their lengths and order, windows, long rows  (codsell_rows.c)
    codsell_host_dictionary  W and the dictionary, from a sample of the slices            (codsell_dictionary.c)
    codsell_host_slices      kind and offsets of each slice, which completes the layout   (codsell_build.c)
    codsell_host_build       the plan                                                     (codsell_build.c)
*/
#pragma once

#include "codsell_code.h"
#include "core/simd.h"

/* The data of an analysis. All arrays come from the host hooks. */
typedef struct {
  CodsellShape  shape;
  uint16_t     *length;     /* [slices * C] nonzeros of the row in a slot; 0 for long rows and unused slots */
  uint16_t     *order;      /* [slices * C], or NULL */
  int64_t      *windows;    /* [windows] */
  CodsellLong  *long_rows;  /* [long_rows + 1] */
  CodsellSlice *slices;     /* [slices] */
  CodsellEntry *table;      /* [capacity] the words of length shape.word */
  int64_t       capacity;   /* a power of 2 */
  int32_t      *dictionary; /* [shape.words * shape.stride]; unused words may follow */
} CodsellAnalysis;

/* Slots */
SpmvStatus codsell_host_analyze(const SpmvPattern *, SpmvAnalysis *, SpmvExec *);
void       codsell_host_clear_analysis(void *data, SpmvExec *);
SpmvStatus codsell_host_build(const SpmvCsr *, const SpmvAnalysis *, SpmvPlan *, SpmvExec *);
SpmvStatus codsell_host_update(SpmvPlan *, const void *values, SpmvSpace values_space, SpmvExec *);
SpmvStatus codsell_host_extract(const SpmvPlan *, void *values, SpmvExec *);
SpmvStatus codsell_host_mult(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y, void *work,
                             SpmvExec *);
SpmvStatus codsell_host_add_transposed(const SpmvPlan *, const void *alpha, const void *x, void *y, SpmvExec *);

SpmvStatus codsell_host_rows(const SpmvPattern *, int64_t sigma, SpmvExec *, CodsellAnalysis *);
SpmvStatus codsell_host_dictionary(const SpmvPattern *, int word, SpmvExec *, CodsellAnalysis *);
/* Fills slices and the rest of the shape */
void codsell_host_slices(const SpmvPattern *, CodsellAnalysis *);

/* Summarizes the words and columns of a slice for codsell_choose(), with the words of the given length in the table.
   verify: compare words with the dictionary itself, not only by fingerprints. */
void codsell_host_summarize(const SpmvPattern *, const CodsellAnalysis *, int64_t slice, int word, int verify,
                            int *width, int *ragged, CodsellSummary *);

/* The product with the given instruction set, which the processor must support */
void codsell_host_mult_by(SpmvIsa, const CodsellPlan *, const void *alpha, const void *x, const void *beta, void *y);

/* A decoded slice of a plan. Columns are relative to the first slot of the slice. */
typedef struct {
  int            kind, width, word, stride, c, ragged;
  int32_t        base;  /* 0 in kinds without starts */
  int32_t        scale; /* columns per unit of a start */
  const uint8_t *starts, *ids, *lengths;
  const int32_t *dictionary;
  const int32_t *row; /* of each lane, minus the first slot; points to permuted, or to the identity 0, 1, 2 ... */
  int32_t        permuted[CODSELL_MAX_C];
} CodsellView;

void codsell_view(const CodsellPlan *, int64_t slice, CodsellView *);
int  codsell_view_length(const CodsellView *, int lane);
int  codsell_view_has_empty_rows(const CodsellView *);
/* column[lane] = column of nonzero k of each row; unspecified for shorter rows */
void codsell_view_columns(const CodsellView *, int k, int32_t *column);
