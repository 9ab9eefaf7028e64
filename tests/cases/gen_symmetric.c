/* gen_symmetric.c - values that are symmetric, or nearly so, as the assembly of finite elements leaves them. */
#include "gen.h"
#include <string.h>

enum { PERCENT_EQUAL = 7, FAR_PERMILLE = 2, FAR_TIMES = 300 };

static int64_t at(SpmvIndex type, const void *array, int64_t i)
{
  return type == SPMV_I64 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

/* How many numbers lie between the value of an entry below the diagonal and that above it */
static int64_t distance(uint64_t h, int ulps)
{
  const int64_t steps = (int64_t)((h >> 32) % (2 * (uint64_t)ulps + 1)) - ulps;

  if (ulps == 0 || (int)(h % 100) < PERCENT_EQUAL) return 0;
  return (h >> 8) % 1000 < FAR_PERMILLE ? FAR_TIMES * (steps + ulps + 1) : steps;
}

void gen_symmetric_values(const SpmvPattern *p, uint64_t seed, int ulps, SpmvScalar scalar_type, void *values)
{
  for (int64_t i = 0; i < p->rows; i++)
    for (int64_t k = at(p->index_type, p->row_ptr, i); k < at(p->index_type, p->row_ptr, i + 1); k++) {
      const int64_t  j = at(p->index_type, p->col, k), low = i < j ? i : j, high = i < j ? j : i;
      const uint64_t h     = gen_hash(seed + (uint64_t)low, (uint64_t)high);
      const double   value = 0.125 + 0.875 * gen_fraction(h); /* a sign has no place among the distances */
      const int64_t  apart = i > j ? distance(gen_scramble(h), ulps) : 0;

      if (scalar_type == SPMV_F32) {
        float   v = (float)(h & 1 ? -value : value);
        int32_t bits;

        memcpy(&bits, &v, sizeof bits);
        bits += (int32_t)apart;
        memcpy((float *)values + k, &bits, sizeof bits);
      } else {
        double  v = h & 1 ? -value : value;
        int64_t bits;

        memcpy(&bits, &v, sizeof bits);
        bits += apart;
        memcpy((double *)values + k, &bits, sizeof bits);
      }
    }
}
