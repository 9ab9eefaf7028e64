/*
  fold_cost.c - which w: the cost of a product as a function of w, from a histogram of the row lengths and of the
  longest rows of the slices. What it adds up is bytes; on a device also the launch of the kernel that adds partial
  sums, and the time that the thread of a widest slice takes from batch to batch of columns when there is no other work
  to hide it.
*/
#include "fold.h"
#include <math.h>

/* Bytes a microsecond that a product streams at; microseconds of one more kernel, and of FOLD_BATCH columns of a thread
   that nothing else hides */
typedef struct {
  double bytes_per_us, launch_us, batch_us;
} Machine;

/* The device's are of the order of magnitude of a data-centre GPU: a batch waits for its columns and then for x, and
   half of that is hidden on the average. On the host only bytes count. */
static const Machine machines[] = {[SPMV_HOST] = {1e4, 0, 0}, [SPMV_DEVICE] = {4e6, 2, 0.32}};

/* Sorting must save this share of the time, or it is left alone */
static const double SORTING_GAIN = 0.01;

/* What a nonzero costs, in bytes of the same time, when neighbouring lanes read x at columns that are farther apart: in
   sorted rows, and in pieces beyond the first */
static const double FAR_X_BYTES = 1;

double fold_mean(const FoldHistogram *h) { return h->rows ? (double)h->nnz / (double)h->rows : 0; }

double fold_sigma(const FoldHistogram *h)
{
  const double mean = fold_mean(h), square = h->rows ? h->sum_squares / (double)h->rows : 0;

  return square > mean * mean ? sqrt(square - mean * mean) : 0;
}

static int64_t longest_width(const FoldHistogram *h) { return h->longest > 1 ? h->longest : 1; }

int64_t fold_width(const FoldHistogram *h, double q, double r)
{
  const double w = round(q * fold_mean(h) + r * fold_sigma(h));

  if (w >= (double)longest_width(h)) return longest_width(h);
  return w > 1 ? (int64_t)w : 1;
}

/* Sums over the rows of length 1 .. FOLD_LONG-1, and over the longer ones apart: lengths there are known in sum only */
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

/* Rows that w cuts, their table rows beyond the first, and the nonzeros of those */
typedef struct {
  double folded, extra_rows, extra_nonzeros;
} Cut;

static Cut cut(const FoldHistogram *h, const Sums *s, int64_t w)
{
  Cut c = {0, 0, 0};

  if (w >= h->longest) return c;
  if (w >= FOLD_LONG) { /* as if all rows of at least FOLD_LONG nonzeros were of their mean length */
    const double rows = (double)s->at_least[FOLD_LONG], mean = (double)s->nonzeros[FOLD_LONG] / rows;
    const double length = mean > (double)w ? mean : (double)h->longest;
    c.folded            = mean > (double)w ? rows : 1;
    c.extra_rows        = c.folded * (ceil(length / (double)w) - 1);
    c.extra_nonzeros    = c.folded * (length - (double)w);
    return c;
  }
  const double long_rows = (double)s->at_least[FOLD_LONG], long_sum = (double)s->nonzeros[FOLD_LONG];
  c.folded         = (double)s->at_least[w + 1];
  c.extra_nonzeros = (double)s->nonzeros[w + 1] - c.folded * (double)w;
  for (int64_t l = w; l < FOLD_LONG; l += w) c.extra_rows += (double)(s->at_least[l + 1] - s->at_least[FOLD_LONG]);
  c.extra_rows += long_rows > 0 ? long_sum / (double)w - 0.5 * long_rows : 0; /* ceil() - 1 on the average */
  return c;
}

static double main_steps(const FoldHistogram *h, FoldOrder order, const Sums *s, int64_t w)
{
  const int sorted = order == FOLD_SORTED;

  if (w <= FOLD_LONG) return (double)s->steps[w];
  const double in_long = fmin((double)h->long_slice_sum[sorted], (double)w * (double)s->slices[FOLD_LONG]);
  return (double)s->steps[FOLD_LONG - 1] - (double)(FOLD_LONG - 1) * (double)s->slices[FOLD_LONG] + in_long;
}

/* Entries of the table rows beyond N: full pieces are not padded; last pieces, sorted in windows, are by the step from
   one slice to the next; and a slice may begin or end in the middle */
static double extra_entries(const Cut *c, int64_t w)
{
  if (c->folded == 0) return 0;
  return c->extra_nonzeros + c->folded * (double)w * FOLD_LANES / (2.0 * FOLD_OWNERS) + (double)w * FOLD_LANES / 2;
}

static FoldPrediction predict(const FoldHistogram *h, FoldOrder order, const Sums *s, int64_t w, SpmvScalar scalar,
                              SpmvSpace space)
{
  const Machine *m = &machines[space];
  const double   S = (double)spmv_scalar_bytes(scalar), rows = (double)h->rows;
  const Cut      c       = cut(h, s, w);
  const double   entries = order == FOLD_UNIFORM ? (rows + c.extra_rows) * (double)w
                                                 : FOLD_LANES * main_steps(h, order, s, w) + extra_entries(&c, w);
  FoldPrediction p       = {(int64_t)entries, (int64_t)c.folded, (int64_t)c.extra_rows, 0, 0};

  p.bytes = entries * (S + 4) + (rows + c.extra_rows) / FOLD_LANES * 8 + rows * S; /* table, slice_ptr, y */
  if (order == FOLD_SORTED) p.bytes += rows * (1 + S); /* order, and y in parts of sectors */
  p.bytes += FAR_X_BYTES * (order == FOLD_SORTED ? (double)h->nnz : c.extra_nonzeros);
  p.bytes += c.extra_rows * 2 * S + c.folded * (8 + 2 * S); /* partial sums out and in; owner, y once more */
  p.time = p.bytes / m->bytes_per_us + m->batch_us * ceil((double)w / FOLD_BATCH) + (c.folded > 0 ? m->launch_us : 0);
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

static int is_uniform(const SpmvOptions *options)
{
  return (int)options->value[FOLD_OPTION_LAYOUT] == FOLD_LAYOUT_UNIFORM;
}

static int is_automatic(const SpmvOptions *options)
{
  return options->value[FOLD_OPTION_Q] == 0 && options->value[FOLD_OPTION_R] == 0;
}

/* w and its prediction for an order, by the options */
static int64_t wanted_width(const FoldHistogram *h, FoldOrder order, SpmvScalar scalar, SpmvSpace space,
                            const SpmvOptions *options, FoldPrediction *p)
{
  if (is_automatic(options)) return fold_best_width(h, order, scalar, space, p);
  const int64_t w = fold_width(h, options->value[FOLD_OPTION_Q], options->value[FOLD_OPTION_R]);
  *p              = fold_predict(h, order, w, scalar, space);
  return w;
}

int fold_sorting_may_pay(const FoldHistogram *h, SpmvScalar scalar, SpmvSpace space, const SpmvOptions *options)
{
  FoldPrediction p;

  if (is_uniform(options) || h->rows <= FOLD_LANES) return 0;
  (void)wanted_width(h, FOLD_NATURAL, scalar, space, options, &p);
  return (double)(p.entries - h->nnz) > SORTING_GAIN * (double)p.entries;
}

void fold_choose(const FoldHistogram *h, int sorted_known, SpmvScalar scalar, SpmvSpace space,
                 const SpmvOptions *options, FoldSizes *sizes)
{
  FoldPrediction p, sorted;

  *sizes       = (FoldSizes){.rows      = h->rows,
                             .nnz       = h->nnz,
                             .longest   = h->longest,
                             .mean      = fold_mean(h),
                             .sigma     = fold_sigma(h),
                             .automatic = is_automatic(options)};
  sizes->order = is_uniform(options) ? FOLD_UNIFORM : FOLD_NATURAL;
  sizes->width = wanted_width(h, sizes->order, scalar, space, options, &p);
  if (!sorted_known || sizes->order == FOLD_UNIFORM) return;
  const int64_t w = wanted_width(h, FOLD_SORTED, scalar, space, options, &sorted);
  if (sorted.time > (1 - SORTING_GAIN) * p.time) return;
  sizes->order = FOLD_SORTED;
  sizes->width = w;
}
