/* gen_shapes.c - matrices of simple shapes, for corner cases. */
#include "gen.h"
#include "gen_private.h"
#include <string.h>

GenSpec gen_spec(int64_t rows, int64_t cols, GenRow row)
{
  GenSpec s;

  memset(&s, 0, sizeof s);
  s.rows = rows;
  s.cols = cols;
  s.row  = row;
  return s;
}

static int64_t empty_row(const GenSpec *s, int64_t i, int64_t *col)
{
  (void)s;
  (void)i;
  (void)col;
  return 0;
}

GenSpec gen_empty(int64_t rows, int64_t cols) { return gen_spec(rows, cols, empty_row); }

static int64_t diagonal_row(const GenSpec *s, int64_t i, int64_t *col)
{
  if (i >= s->cols) return 0;
  col[0] = i;
  return 1;
}

GenSpec gen_diagonal(int64_t n) { return gen_spec(n, n, diagonal_row); }

static int64_t full_row(const GenSpec *s, int64_t *col)
{
  for (int64_t j = 0; j < s->cols; j++) col[j] = j;
  return s->cols;
}

static int64_t dense_row(const GenSpec *s, int64_t i, int64_t *col)
{
  (void)i;
  return full_row(s, col);
}

GenSpec gen_dense(int64_t rows, int64_t cols) { return gen_spec(rows, cols, dense_row); }

static int64_t one_full_row(const GenSpec *s, int64_t i, int64_t *col)
{
  return i == s->rows / 2 ? full_row(s, col) : diagonal_row(s, i, col);
}

GenSpec gen_full_row(int64_t rows, int64_t cols) { return gen_spec(rows, cols, one_full_row); }

static int64_t full_column_row(const GenSpec *s, int64_t i, int64_t *col)
{
  const int64_t middle = s->cols / 2;

  if (i == middle || i >= s->cols) {
    col[0] = middle;
    return 1;
  }
  col[0] = i < middle ? i : middle;
  col[1] = i < middle ? middle : i;
  return 2;
}

GenSpec gen_full_column(int64_t rows, int64_t cols) { return gen_spec(rows, cols, full_column_row); }

static int64_t runs_row(const GenSpec *s, int64_t i, int64_t *col)
{
  const int64_t length = s->cycle[0], step = length + s->cycle[1];
  int64_t       count = 0;

  for (int64_t first = i % 3; first + length <= s->cols; first += step)
    for (int64_t j = first; j < first + length; j++) col[count++] = j;
  return count;
}

GenSpec gen_runs(int64_t rows, int64_t cols, int64_t length, int64_t gap)
{
  GenSpec s = gen_spec(rows, cols, runs_row);

  s.cycle[0] = length;
  s.cycle[1] = gap;
  return s;
}

enum { EDGE_BODY = 78, EDGE_TAIL = 600, EDGE_COLS = 128 };

/* Whether row i of the body or the tail has column j */
static int edge_has(const GenSpec *s, int64_t i, int64_t j)
{
  const int64_t group = s->cycle[0], run = s->cycle[1], at = j - i / group % 3;

  if (i < EDGE_BODY) return at >= 0 && at % (run + 1) < run && j - at % (run + 1) + run <= EDGE_COLS;
  switch ((GenEdge)s->cycle[2]) {
  case GEN_LAST:
    return j == EDGE_COLS - 1;
  case GEN_LAST_TWO:
    return j >= EDGE_COLS - 2;
  case GEN_FIRST:
    return j == 0;
  case GEN_LAST_OR_NONE:
    return j == EDGE_COLS - 1 && i % 2 == 0;
  case GEN_NONE:
    break;
  }
  return 0;
}

static int64_t edge_row(const GenSpec *s, int64_t i, int64_t *col)
{
  int64_t count = 0;

  for (int64_t j = 0; j < s->cols; j++)
    if (s->cols == EDGE_COLS ? edge_has(s, i, j) : edge_has(s, j, i)) col[count++] = j;
  return count;
}

GenSpec gen_edge(int group, int run, GenEdge edge)
{
  GenSpec s = gen_spec(EDGE_BODY + EDGE_TAIL, EDGE_COLS, edge_row);

  s.cycle[0] = group;
  s.cycle[1] = run;
  s.cycle[2] = edge;
  return s;
}

GenSpec gen_edge_transposed(int group, int run, GenEdge edge)
{
  GenSpec s = gen_edge(group, run, edge);

  s.cols = s.rows;
  s.rows = EDGE_COLS;
  return s;
}
