/*
  fold_cost.c - the choice of w: predicts the time of a product as a function of w, from histograms of the row lengths
  and of the longest rows of the slices. On the host only bytes count. On a device latency and launches count, too;
  their constants are fitted to the times of all (q, r) of bench/papers/fold_sweep.py for 18 matrices on an NVIDIA H200
  in double precision (see README.md).
*/
#include "fold.h"
#include "device/tuning.h"
#include <math.h>

typedef struct {
  double bytes_per_us; /* streamed */
  double x_bytes;      /* bytes of x read per nonzero, in addition to x once */
  double far_bytes; /* additional bytes of x per nonzero, and relative additional bytes of y, if neighbouring lanes work
                       on distant rows */
  double start_us;  /* launch of the kernel for the table */
  double batch_us;  /* per FOLD_BATCH columns of the widest slice: latency in the last blocks, which no later block
                       hides */
  double second_wave_us; /* if the last blocks can begin only after earlier blocks have ended */
  double add_us;         /* launch of the kernel that adds partial sums */
  double folded_us;      /* per folded row, since this kernel reads and writes y in scattered order */
  double cut_often_us;   /* in addition per row of more than two pieces, which a warp adds up instead of a thread */
} Machine;

/* far_bytes is an estimate on the host; measurements on the device show no such cost */
static const Machine machines[] = {
    [SPMV_HOST]   = {.bytes_per_us = 1e4, .far_bytes = 1},
    [SPMV_DEVICE] = {.bytes_per_us   = SPMV_STREAMED_PER_US,
                     .x_bytes        = 1,
                     .start_us       = 1.5,
                     .batch_us       = 0.62,
                     .second_wave_us = 2.4,
                     .add_us         = 1.5,
                     .folded_us      = 7.1e-6,
                     .cut_often_us   = 121e-6},
};

/* Thread blocks of the product kernel resident on a multiprocessor: the kernel takes 48 registers per thread in double
   precision, 32 in single */
static const double BLOCKS_HELD[] = {[SPMV_F64] = 5, [SPMV_F32] = 8};

/* Rows are sorted only if that saves this fraction of the time */
static const double SORTING_GAIN = 0.01;

double fold_mean(const FoldHistogram *h) { return h->rows ? (double)h->nnz / (double)h->rows : 0; }

double fold_sigma(const FoldHistogram *h)
{
  const double mean = fold_mean(h), square = h->rows ? h->sum_squares / (double)h->rows : 0;

  return square > mean * mean ? sqrt(square - mean * mean) : 0;
}

static int64_t longest_width(const FoldHistogram *h) { return h->longest > 1 ? h->longest : 1; }

/* Cumulative sums over rows shorter than FOLD_LONG, and separate sums over longer rows, for which only the total length
   is known */
typedef struct {
  int64_t at_least[FOLD_LONG + 2]; /* rows of at least l nonzeros */
  int64_t nonzeros[FOLD_LONG + 2]; /* their nonzeros */
  int64_t slices[FOLD_LONG + 2];   /* slices whose longest row has at least l */
  int64_t steps[FOLD_LONG + 2];    /* steps[w] = the sum of min(w, longest row) over all slices */
} Sums;

static void sum_up(const FoldHistogram *h, FoldOrder order, Sums *s)
{
  const int64_t *slice     = h->slice[order == FOLD_SORTED];
  int64_t        long_rows = h->length[FOLD_LONG], long_sum = h->nnz;

  for (int64_t l = 0; l < FOLD_LONG; l++) long_sum -= l * h->length[l];
  s->at_least[FOLD_LONG] = long_rows;
  s->nonzeros[FOLD_LONG] = long_sum;
  s->slices[FOLD_LONG]   = slice[FOLD_LONG];
  for (int64_t l = FOLD_LONG - 1; l >= 0; l--) {
    s->at_least[l] = s->at_least[l + 1] + h->length[l];
    s->nonzeros[l] = s->nonzeros[l + 1] + l * h->length[l];
    s->slices[l]   = s->slices[l + 1] + slice[l];
  }
  s->steps[0] = 0;
  for (int64_t w = 1; w <= FOLD_LONG; w++) s->steps[w] = s->steps[w - 1] + s->slices[w];
}

/* The effect of w: number of rows that are cut, of rows that are cut more than once, of their table rows beyond the
   first, and of the nonzeros of these table rows */
typedef struct {
  double folded, often, extra_rows, extra_nonzeros;
} Cut;

/* Rows of more than l nonzeros. Rows of at least FOLD_LONG nonzeros are assumed to have their mean length; if that is
   less than l, only the longest row is counted. */
static double longer_than(const FoldHistogram *h, const Sums *s, int64_t l)
{
  const double rows = (double)s->at_least[FOLD_LONG];

  if (l >= h->longest) return 0;
  if (l < FOLD_LONG) return (double)s->at_least[l + 1];
  return (double)s->nonzeros[FOLD_LONG] > rows * (double)l ? rows : 1;
}

static Cut cut(const FoldHistogram *h, const Sums *s, int64_t w)
{
  const double long_rows = (double)s->at_least[FOLD_LONG], long_sum = (double)s->nonzeros[FOLD_LONG];
  Cut          c = {.folded = longer_than(h, s, w), .often = longer_than(h, s, 2 * w)};

  if (c.folded == 0) return c;
  if (w >= FOLD_LONG) {
    const double length = long_sum > long_rows * (double)w ? long_sum / long_rows : (double)h->longest;
    c.extra_rows        = c.folded * (ceil(length / (double)w) - 1);
    c.extra_nonzeros    = c.folded * (length - (double)w);
    return c;
  }
  c.extra_nonzeros = (double)s->nonzeros[w + 1] - c.folded * (double)w;
  for (int64_t l = w; l < FOLD_LONG; l += w) c.extra_rows += (double)(s->at_least[l + 1] - s->at_least[FOLD_LONG]);
  c.extra_rows += long_rows > 0 ? long_sum / (double)w - 0.5 * long_rows : 0; /* ceil() - 1 on average */
  return c;
}

static double main_steps(const FoldHistogram *h, FoldOrder order, const Sums *s, int64_t w)
{
  const int sorted = order == FOLD_SORTED;

  if (w <= FOLD_LONG) return (double)s->steps[w];
  const double in_long = fmin((double)h->long_slice_sum[sorted], (double)w * (double)s->slices[FOLD_LONG]);
  return (double)s->steps[FOLD_LONG - 1] - (double)(FOLD_LONG - 1) * (double)s->slices[FOLD_LONG] + in_long;
}

/* Entries of the table rows beyond N. Full pieces have no padding. Last pieces are sorted in windows, so that the
   lengths within a slice differ only by the step between neighbouring slices. The first and the last slice may be
   partly filled. */
static double extra_entries(const Cut *c, int64_t w)
{
  if (c->folded == 0) return 0;
  return c->extra_nonzeros + c->folded * (double)w * FOLD_LANES / (2.0 * FOLD_OWNERS) + (double)w * FOLD_LANES / 2;
}

/* Microseconds of the kernel for these bytes and a table of this many rows. All blocks run at once as long as the GPU
   holds them; the fewer blocks, the more of the latency of a slice is hidden behind the time for the bytes. Blocks
   beyond that number begin late. */
static double table_time(const Machine *m, SpmvScalar scalar, double bytes, double table_rows, double widest)
{
  const double blocks = ceil(table_rows / FOLD_WINDOW), held = SPMV_MULTIPROCESSORS * BLOCKS_HELD[scalar];
  const double late    = fmax(0, fmin(1, (blocks - held) / SPMV_MULTIPROCESSORS)); /* 1: one excess block per
                                                                                 multiprocessor */
  const double waiting = m->batch_us * ceil(widest / FOLD_BATCH);
  const double time    = bytes / m->bytes_per_us + waiting * fmin(1, blocks / held) + m->second_wave_us * late;

  return m->start_us + fmax(time, waiting);
}

static FoldPrediction predict(const FoldHistogram *h, FoldOrder order, const Sums *s, int64_t w, SpmvScalar scalar,
                              SpmvSpace space)
{
  const Machine *m = &machines[space];
  const double   S = (double)spmv_scalar_bytes(scalar), rows = (double)h->rows;
  const Cut      c       = cut(h, s, w);
  const double   entries = order == FOLD_UNIFORM ? (rows + c.extra_rows) * (double)w
                                                 : FOLD_LANES * main_steps(h, order, s, w) + extra_entries(&c, w);
  FoldPrediction p = {.entries = (int64_t)entries, .folded = (int64_t)c.folded, .extra_rows = (int64_t)c.extra_rows};

  p.bytes = entries * (S + 4) + (rows + c.extra_rows) / FOLD_LANES * 8 + 2 * rows * S; /* table, slice_ptr, x, y */
  p.bytes += m->x_bytes * (double)h->nnz + m->far_bytes * (order == FOLD_SORTED ? (double)h->nnz : c.extra_nonzeros);
  if (order == FOLD_SORTED) p.bytes += rows + m->far_bytes * rows * S; /* order, and partial sectors of y */
  p.bytes += c.extra_rows * 2 * S + c.folded * (8 + 2 * S);            /* partial sums written and read; owner; y read
                                                                          and written again */
  if (c.folded > 0) p.add_time = m->add_us + m->folded_us * c.folded + m->cut_often_us * c.often;
  p.time = table_time(m, scalar, p.bytes, rows + c.extra_rows, (double)w) + p.add_time;
  return p;
}

FoldPrediction fold_predict(const FoldHistogram *h, FoldOrder order, int64_t w, SpmvScalar scalar, SpmvSpace space)
{
  Sums s;

  sum_up(h, order, &s);
  return predict(h, order, &s, w, scalar, space);
}

int64_t fold_best_width(const FoldHistogram *h, FoldOrder order, SpmvScalar scalar, SpmvSpace space,
                        FoldPrediction *prediction)
{
  const int64_t longest = longest_width(h), last = longest < FOLD_LONG ? longest : FOLD_LONG;
  int64_t       best = last;
  Sums          s;

  sum_up(h, order, &s);
  *prediction = predict(h, order, &s, last, scalar, space);
  for (int64_t w = 1; w < last; w++) {
    const FoldPrediction p = predict(h, order, &s, w, scalar, space);
    if (p.time >= prediction->time) continue;
    *prediction = p;
    best        = w;
  }
  return best;
}

/* w for an order, and its prediction */
static int64_t wanted_width(const FoldHistogram *h, FoldOrder order, SpmvScalar scalar, SpmvSpace space,
                            const FoldGiven *given, FoldPrediction *p)
{
  if (!given->width) return fold_best_width(h, order, scalar, space, p);
  const int64_t w = given->width(h, given->options);
  *p              = fold_predict(h, order, w, scalar, space);
  return w;
}

int fold_sorting_may_pay(const FoldHistogram *h, SpmvScalar scalar, SpmvSpace space, FoldGiven given)
{
  FoldPrediction p;

  if (given.is_uniform || h->rows <= FOLD_LANES) return 0;
  (void)wanted_width(h, FOLD_NATURAL, scalar, space, &given, &p);
  return (double)(p.entries - h->nnz) > SORTING_GAIN * (double)p.entries || p.add_time > SORTING_GAIN * p.time;
}

void fold_choose(const FoldHistogram *h, int sorted_known, SpmvScalar scalar, SpmvSpace space, FoldGiven given,
                 FoldSizes *sizes)
{
  FoldPrediction p, sorted;

  *sizes       = (FoldSizes){.rows      = h->rows,
                             .nnz       = h->nnz,
                             .longest   = h->longest,
                             .mean      = fold_mean(h),
                             .sigma     = fold_sigma(h),
                             .automatic = !given.width};
  sizes->order = given.is_uniform ? FOLD_UNIFORM : FOLD_NATURAL;
  sizes->width = wanted_width(h, sizes->order, scalar, space, &given, &p);
  if (sorted_known && sizes->order == FOLD_NATURAL) {
    const int64_t w = wanted_width(h, FOLD_SORTED, scalar, space, &given, &sorted);
    if (sorted.time <= (1 - SORTING_GAIN) * p.time) {
      sizes->order = FOLD_SORTED;
      sizes->width = w;
    }
  }
}
