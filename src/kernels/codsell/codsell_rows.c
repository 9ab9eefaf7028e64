/* codsell_rows.c - selects and orders the rows of slices: lengths, sigma, windows, long rows. */
#include "codsell_host.h"
#include <string.h>

#define SPMV_BODY "codsell/codsell_rows.inc"
#define SPMV_INDEX_ONLY
#include "core/instantiate.h"

/* Values of sigma, tried in ascending order until padding is small enough */
static const int64_t sigma_choices[] = {256, 1024, 4096};
enum { SIGMA_CHOICES = sizeof sigma_choices / sizeof sigma_choices[0] };
static const double PADDING_ACCEPTED = 0.02;

/* after[l] = the number of rows of the window that are longer than l */
static void count_longer(const uint16_t *length, int64_t rows, int *after)
{
  memset(after, 0, (CODSELL_LONGEST + 1) * sizeof *after);
  for (int64_t i = 0; i < rows; i++) after[length[i]]++;
  for (int l = CODSELL_LONGEST, longer = 0; l >= 0; l--) {
    const int here = after[l];
    after[l]       = longer;
    longer += here;
  }
}

/* The sum of the widths of all slices if rows are sorted in windows of sigma; 1: without sorting */
static int64_t count_columns(const uint16_t *length, int64_t rows, int c, int64_t sigma)
{
  int     after[CODSELL_LONGEST + 1];
  int64_t columns = 0;

  for (int64_t begin = 0, step = sigma > 1 ? sigma : c; begin < rows; begin += step) {
    const int64_t n     = rows - begin < step ? rows - begin : step;
    int           width = 0, first = 0;

    if (sigma > 1) count_longer(length + begin, n, after);
    else
      for (int64_t i = 0; i < n; i++) width = length[begin + i] > width ? length[begin + i] : width;
    columns += width;
    for (int l = CODSELL_LONGEST; sigma > 1 && l > 0; l--) /* rows of length l are after[l] .. after[l-1]-1 */
      for (; first < after[l - 1]; first += c) columns += l;
  }
  return columns;
}

static int64_t choose_sigma(const uint16_t *length, int64_t rows, int64_t nnz, int c)
{
  int64_t best = 1, least = count_columns(length, rows, c, 1);

  for (int i = 0; i < SIGMA_CHOICES && (double)(least * c) > (1 + PADDING_ACCEPTED) * (double)nnz; i++) {
    const int64_t columns = count_columns(length, rows, c, sigma_choices[i]);
    if (columns < least) {
      best  = sigma_choices[i];
      least = columns;
    }
  }
  return best;
}

/* Sorts a window: fills order and length from the lengths in row order; returns whether any row moves to another
   slot */
static int sort_window(const uint16_t *row_length, int64_t rows, uint16_t *order, uint16_t *length)
{
  int after[CODSELL_LONGEST + 1], permuted = 0;

  count_longer(row_length, rows, after);
  for (int64_t i = 0; i < rows; i++) {
    const int slot = after[row_length[i]]++;

    order[slot]  = (uint16_t)i;
    length[slot] = row_length[i];
    permuted |= slot != i;
  }
  return permuted;
}

static SpmvStatus sort_rows(CodsellAnalysis *a, int64_t slots, SpmvExec *exec)
{
  CodsellShape *s = &a->shape;
  void         *block;
  SpmvStatus    status;

  status = spmv_alloc(exec, SPMV_HOST, slots * (int64_t)sizeof(uint16_t), "order", (void **)&a->order);
  if (!status) status = spmv_alloc(exec, SPMV_HOST, s->rows * (int64_t)sizeof(uint16_t), "lengths of rows", &block);
  if (status) return status;
  memcpy(block, a->length, (size_t)s->rows * sizeof(uint16_t));
  for (int64_t begin = 0; begin < s->rows; begin += s->window)
    s->sorted |= sort_window((uint16_t *)block + begin, s->rows - begin < s->window ? s->rows - begin : s->window,
                             a->order + begin, a->length + begin);
  for (int64_t slot = s->rows; slot < slots; slot++) a->order[slot] = (uint16_t)(slot % s->window);
  spmv_exec_free(exec, SPMV_HOST, block);
  if (s->sorted) return SPMV_SUCCESS;
  spmv_exec_free(exec, SPMV_HOST, a->order);
  a->order = NULL;
  return SPMV_SUCCESS;
}

SpmvStatus codsell_host_rows(const SpmvPattern *p, int64_t sigma, SpmvExec *exec, CodsellAnalysis *a)
{
  CodsellShape *s = &a->shape;
  const int64_t c = (int64_t)1 << s->log_c;
  SpmvStatus    status;

  s->rows    = p->rows;
  s->slices  = (p->rows + c - 1) / c;
  s->longest = codsell_longest(p->rows, p->nnz);
  status     = spmv_alloc(exec, SPMV_HOST, s->slices * c * (int64_t)sizeof(uint16_t), "lengths", (void **)&a->length);
  if (status) return status;
  if (p->rows > 0) memset(a->length, 0, (size_t)(s->slices * c) * sizeof(uint16_t));
  if (p->index_type == SPMV_I64) count_rows_i64(p, a);
  else count_rows_i32(p, a);
  if (sigma == 0) sigma = choose_sigma(a->length, p->rows, p->nnz - s->long_nnz, (int)c);
  s->window = sigma > 1 ? (sigma + c - 1) / c * c : CODSELL_WINDOW;
  if (sigma > 1 && p->rows > 0) status = sort_rows(a, s->slices * c, exec);
  s->windows = (p->rows + s->window - 1) / s->window;
  if (!status)
    status = spmv_alloc(exec, SPMV_HOST, s->windows * (int64_t)sizeof(int64_t), "windows", (void **)&a->windows);
  if (!status && s->long_rows > 0)
    status = spmv_alloc(exec, SPMV_HOST, (s->long_rows + 1) * (int64_t)sizeof(CodsellLong), "long rows",
                        (void **)&a->long_rows);
  if (status) return status;
  if (p->index_type == SPMV_I64) list_rows_i64(p, a);
  else list_rows_i32(p, a);
  return SPMV_SUCCESS;
}
