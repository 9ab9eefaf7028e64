/*
  codsell_device.cuh - plans of format codsell on a device, and the steps of their analysis, in order:

    codsell_device_rows        lengths, sigma, order, long rows                        (codsell_device_rows.cu)
    codsell_device_dictionary  W and the dictionary, from samples of the slices   (codsell_device_words.cu, _rank.cu)
    codsell_device_slices      kind and offsets of each slice                        (codsell_device_slices.cu)

  and of the build: codsell_device_codes (codsell_device_codes.cu), codsell_device_fill (codsell_device_update.cu). The
  resulting arrays equal those of the host. Everything is enqueued on exec->stream; the host waits for sizes three
  times: after the rows, after the choice of W, and after the slices.
*/
#pragma once

#include "device/products.cuh"
#include "device/running_sums.cuh"
#include "device/search.cuh"
#include "device/upload.cuh"
#include "codsell_code.h"

enum {
  CODSELL_LOG_THREADS     = 8,
  CODSELL_THREADS         = 1 << CODSELL_LOG_THREADS, /* per thread block of conversion kernels */
  CODSELL_PRODUCT_THREADS = 128,                      /* per thread block of product kernels; a multiple of every C */
  CODSELL_PIECE           = 8 * CODSELL_PRODUCT_THREADS
};

/* Results of the analysis for a slice that the build needs for its codes */
typedef struct {
  int32_t base; /* the smallest column minus the first slot */
  int32_t row;  /* a row as long as the slice is wide */
  int32_t used; /* 1 + the largest id */
} CodsellFound;

/* The data of an analysis. All arrays are in device memory, in the arena. */
typedef struct {
  SpmvArena       arena;
  CodsellShape    shape;
  SpmvPattern     pattern;
  uint16_t       *length;    /* [slices * C], by slot */
  uint16_t       *order;     /* [slices * C], or NULL */
  int            *permuted;  /* whether any row has another slot than its number */
  CodsellLong    *long_rows; /* [long_rows + 1] */
  SpmvNumbers<2> *before;    /* [long_rows + 1] nonzeros and pieces of the long rows before */
  CodsellSlice   *slices;    /* [slices] */
  CodsellFound   *found;     /* [slices] */
  CodsellEntry   *table;     /* [capacity] */
  int64_t         capacity;
  int32_t        *dictionary; /* [words * stride] */
  int64_t        *words;      /* number of selected words; only the first CODSELL_DICTIONARY have an id */
} CodsellDeviceAnalysis;

/* The data of an analysis that kernels read */
typedef struct {
  int64_t             rows, slices, window, capacity;
  int                 log_c, word, stride;
  const uint16_t     *length, *order;
  const CodsellEntry *table;
  const int32_t      *dictionary;
  const int64_t      *words;
} CodsellSource;

static inline CodsellSource codsell_source(const CodsellDeviceAnalysis *a)
{
  const CodsellShape *s = &a->shape;
  return {s->rows,   s->slices, s->window, a->capacity, s->log_c,      s->word,
          s->stride, a->length, a->order,  a->table,    a->dictionary, a->words};
}

SpmvStatus codsell_device_rows(CodsellDeviceAnalysis *, int64_t sigma, SpmvExec *);
SpmvStatus codsell_device_dictionary(CodsellDeviceAnalysis *, int word, SpmvExec *);
SpmvStatus codsell_device_slices(CodsellDeviceAnalysis *, SpmvExec *);
/* Adds to bytes[l] the cost of the slices of a sample with word length word[l], for which the dictionary has number[l]
   words. number and bytes lie in device memory. */
SpmvStatus codsell_device_estimate(const CodsellDeviceAnalysis *, const int *word, int lengths, int64_t stride,
                                   const int64_t *number, unsigned long long *bytes, SpmvExec *);
/* Makes all arrays except the values, from the analysis and the pattern */
SpmvStatus codsell_device_codes(const CodsellDeviceAnalysis *, const SpmvPattern *, CodsellPlan *, SpmvExec *);
/* Copies values in CSR order to the plan. The pattern may be NULL; with it, row positions are found faster. */
SpmvStatus codsell_device_fill(CodsellPlan *, const SpmvPattern *, const void *values, SpmvExec *);

/* Slots */
SpmvStatus codsell_device_list(const SpmvPlan *, const SpmvNonzeros *, SpmvExec *);
struct CodsellMultiply {
  template <typename V, typename OUT>
  static SpmvStatus run(const SpmvPlan *, const V *const values[2], const void *x, const OUT &, void *work, SpmvExec *);
};
extern template struct SpmvProducts<CodsellMultiply>;

/* A mark in the arena. Returning to it frees all memory taken after the mark; if the arena has got new chunks since,
   only the last chunk is freed. Kernels already enqueued may still use that memory, since only later kernels of the
   stream overwrite it. */
typedef struct {
  int     chunks;
  char   *next;
  int64_t left;
} CodsellMark;

static inline CodsellMark codsell_mark(const SpmvArena *a) { return {a->chunks, a->next, a->left}; }

static inline void codsell_release(SpmvArena *a, CodsellMark mark)
{
  const bool same = a->chunks == mark.chunks;

  a->next = same ? mark.next : (char *)a->chunk[a->chunks - 1];
  a->left = same ? mark.left : a->chunk_bytes / 2; /* the next chunk shall be twice as large as the last one */
}

/* codsell_row() without a 64-bit division */
__device__ inline int codsell_row_in_slot(const uint16_t *order, int64_t window, int slot)
{
  const unsigned at = (unsigned)slot, rows = (unsigned)window;

  return order ? (int)(at / rows * rows) + order[slot] : slot;
}

/* Reads the offsets of word w of a row with n nonzeros and first column col[0]; the last position fills the rest of the
   word */
template <typename I>
__device__ inline void codsell_read_word(const I *col, int n, int w, int word, int64_t row,
                                         int32_t (&offset)[CODSELL_MAX_WORD])
{
#pragma unroll
  for (int j = 0; j < CODSELL_MAX_WORD; j++)
    if (j < word) offset[j] = (int32_t)((int64_t)col[min(w * word + j, n - 1)] - row);
}
