/* gen_scattered.c - the irregular matrices of the benchmarks. They must never change, because results are compared
   across runs. */
#include "gen.h"
#include "gen_private.h"
#include <math.h>

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* The k-th random number of row i, different from those of other generators */
static uint64_t draw(const GenSpec *s, int64_t i, int64_t k)
{
  return gen_mix((uint64_t)i * 1024 + (uint64_t)k) ^ s->seed;
}

enum { HUBS_LONGEST = 20000, HUBS_SHORTEST = 4 };

static int64_t hubs_row(const GenSpec *s, int64_t i, int64_t *col)
{
  const uint64_t first  = draw(s, i, 0);
  const double   wanted = HUBS_SHORTEST * pow(1 - gen_fraction(first), -1 / 1.1); /* Pareto, of exponent 2.1 */
  const int64_t  length = (int64_t)fmin((double)smaller(HUBS_LONGEST, s->cols), wanted);

  for (int64_t k = 0; k < length; k++) {
    const double popular = pow(gen_fraction(gen_mix(first + (uint64_t)k + 1)), 3.0);
    col[k]               = (int64_t)(gen_mix((uint64_t)(popular * (double)s->cols)) % (uint64_t)s->cols);
  }
  return gen_sort_unique(col, length);
}

GenSpec gen_hubs_anywhere(int64_t n)
{
  GenSpec s = gen_spec(n, n, hubs_row);

  s.seed = 0x90e5;
  return s;
}

enum { NETS = 8, NET_EVERY = 200, NET_NODES_MIN = 16 };

static int64_t net_row(const GenSpec *s, int64_t i, int64_t *col)
{
  const int64_t each = s->rows / NETS, length = larger(s->rows / NET_EVERY, 1);
  int64_t       count = 0;

  col[count++] = i;
  if (s->rows < NET_NODES_MIN) return count;
  if (i % each == each / 2) {
    for (; count < length; count++)
      col[count] = (int64_t)(gen_mix(draw(s, i, 0) + (uint64_t)count) % (uint64_t)s->rows);
    return gen_sort_unique(col, count);
  }
  for (int64_t k = 1; k <= 1 + (int64_t)(draw(s, i, 0) % 4); k++) {
    const int64_t step = (int64_t)exp(gen_fraction(draw(s, i, k)) * 7);
    const int64_t at   = draw(s, i, k) & 1 ? i + step : i - step;
    if (at >= 0 && at < s->rows) col[count++] = at;
  }
  if (draw(s, i, 5) % 8 == 0) col[count++] = (int64_t)(draw(s, i, 6) % (uint64_t)s->rows);
  return gen_sort_unique(col, count);
}

GenSpec gen_supply_nets(int64_t n)
{
  GenSpec s = gen_spec(n, n, net_row);

  s.seed = 0xc1c;
  return s;
}

enum { LONG_ROWS = 4, SHORT_LENGTH = 5 };

/* The columns are as scattered as those of a long row, so that matrices with and without long rows read x alike */
static int64_t short_row(const GenSpec *s, int64_t i, int64_t length, int64_t *col)
{
  for (int64_t k = 0; k < length; k++) col[k] = (i + k * (s->rows / length)) % s->rows;
  return gen_sort_unique(col, length);
}

/* period is the distance between the columns of a long row */
static int64_t long_length(const GenSpec *s) { return (s->rows + s->period - 1) / s->period; }

static int64_t four_long_row(const GenSpec *s, int64_t i, int64_t *col)
{
  const int64_t each  = larger(s->rows / LONG_ROWS, 1);
  int64_t       count = 0;

  if (i % each != each / 2 || i / each >= LONG_ROWS) return short_row(s, i, smaller(SHORT_LENGTH, s->rows), col);
  for (int64_t c = 0; c < s->rows; c += s->period) col[count++] = c;
  return count;
}

static int64_t no_long_row(const GenSpec *s, int64_t i, int64_t *col)
{
  const int64_t extra = LONG_ROWS * (long_length(s) - SHORT_LENGTH);

  return short_row(s, i, smaller(SHORT_LENGTH + extra / s->rows + (i < extra % s->rows), s->rows), col);
}

static GenSpec long_spec(int64_t n, int64_t length, GenRow row)
{
  GenSpec s = gen_spec(n, n, row);

  s.period = larger(n / length, 1);
  return s;
}

GenSpec gen_four_long_rows(int64_t n, int64_t length) { return long_spec(n, length, four_long_row); }

GenSpec gen_no_long_rows(int64_t n, int64_t length) { return long_spec(n, length, no_long_row); }
