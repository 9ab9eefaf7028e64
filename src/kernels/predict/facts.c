/* The inputs of the cost model from a pattern, besides its sizes, in one pass over it. */
#include <spmv_predict.h>

/* Model of a direct-mapped cache of 256 KiB: for each of its LINES places, the number of the line of x there, plus 1 */
enum { X_PER_LINE = 8, LINES = 4096 };

static int64_t index_at(const void *array, SpmvIndex type, int64_t i)
{
  return type == SPMV_I64 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

/* The common difference between the columns of a row and those of the previous row, which has the same length: 0, 1, or
   -1 for anything else */
static int64_t shift_of(const SpmvPattern *p, int64_t before, int64_t begin, int64_t end)
{
  int64_t shift = -1;

  for (int64_t k = begin; k < end; k++) {
    const int64_t by = index_at(p->col, p->index_type, k) - index_at(p->col, p->index_type, before + k - begin);

    if (by < 0 || by > 1 || (k > begin && by != shift)) return -1;
    shift = by;
  }
  return shift;
}

/* Number of these nonzeros whose line of x is not in the cache; loads these lines */
static int64_t read_x(const SpmvPattern *p, int64_t begin, int64_t end, int64_t line_at[LINES])
{
  int64_t far = 0;

  for (int64_t k = begin; k < end; k++) {
    const int64_t line = index_at(p->col, p->index_type, k) / X_PER_LINE;

    far += line_at[line % LINES] != line + 1;
    line_at[line % LINES] = line + 1;
  }
  return far;
}

void spmv_pattern_facts(const SpmvPattern *p, SpmvPatternFacts *facts)
{
  int64_t line_at[LINES] = {0}, before = 0, begin = 0;

  *facts = (SpmvPatternFacts){.repeated = 0};
  for (int64_t i = 0; p->nnz > 0 && i < p->rows; i++) {
    const int64_t end = index_at(p->row_ptr, p->index_type, i + 1), length = end - begin;
    const int     even  = i > 0 && length == begin - before;
    const int64_t shift = even ? shift_of(p, before, begin, end) : -1;

    facts->uneven += !even;
    facts->repeated += shift == 0 ? length : 0;
    facts->loose += shift < 0 ? length : 0;
    facts->far += read_x(p, begin, end, line_at);
    before = begin;
    begin  = end;
  }
}
