/* The cost model: seconds of a product as a sum of terms. bench/fit_model.py writes the coefficients to
   constants.inc. */
#include <spmv_predict.h>
#include <string.h>

/* Cost coefficients of a format, for products and conversions. No coefficient is negative, so a prediction grows with
   every input. */
typedef struct {
  SpmvSpace   space;
  const char *format;
  /* clang-format off */
  double start, sums; /* microseconds: of every product; additionally of one with partial sums */
  double bytes;       /* factor of the time to read the arrays and x, and to write y */
  double work, rows, uneven, nonzeros, repeated, loose, far; /* picoseconds each */
  double convert_start;                   /* microseconds */
  double convert_rows, convert_nonzeros;  /* picoseconds each */
  /* clang-format on */
} Coefficients;

/* Speed of the memory in picoseconds per byte; up to cache_bytes are read from the last-level cache */
typedef struct {
  double memory, cache, cache_bytes;
} Memory;

#include "constants.inc"

enum { VECTOR_ELEMENT = 8 };
static const double MICRO = 1e-6, PICO = 1e-12;

static const Coefficients *coefficients_of(const SpmvWorkload *w)
{
  for (size_t i = 0; i < sizeof coefficients / sizeof coefficients[0]; i++)
    if (coefficients[i].space == w->space && !strcmp(coefficients[i].format, w->format)) return &coefficients[i];
  return NULL;
}

SpmvWorkload spmv_workload(const SpmvAnalysis *analysis, const SpmvPatternFacts *facts)
{
  return (SpmvWorkload){.space      = analysis->space,
                        .format     = analysis->format->name,
                        .rows       = analysis->rows,
                        .cols       = analysis->cols,
                        .nnz        = analysis->nnz,
                        .bytes      = analysis->memory.total_bytes,
                        .work_bytes = analysis->memory.work_bytes,
                        .facts      = *facts};
}

SpmvWorkload spmv_workload_csr(const SpmvPattern *pattern, SpmvScalar scalar, SpmvSpace space,
                               const SpmvPatternFacts *facts)
{
  return (SpmvWorkload){.space  = space,
                        .format = SPMV_BASELINE_CSR,
                        .rows   = pattern->rows,
                        .cols   = pattern->cols,
                        .nnz    = pattern->nnz,
                        .bytes  = spmv_csr_bytes(pattern, scalar),
                        .facts  = *facts};
}

SpmvWorkload spmv_workload_least(const SpmvFormat *format, const SpmvPattern *pattern, SpmvScalar scalar,
                                 SpmvSpace space, const SpmvPatternFacts *facts)
{
  SpmvWorkload w = spmv_workload_csr(pattern, scalar, space, facts);

  w.format = format->name;
  w.bytes  = pattern->nnz * spmv_scalar_bytes(scalar);
  return w;
}

/* Picoseconds to read all arrays and x, and to write y */
static double read_all(const SpmvWorkload *w)
{
  const Memory *m     = &memory_of[w->space];
  const double  bytes = (double)w->bytes + VECTOR_ELEMENT * ((double)w->rows + (double)w->cols);

  return bytes * (bytes <= m->cache_bytes ? m->cache : m->memory);
}

int spmv_predict(const SpmvWorkload *w, SpmvPrediction *p)
{
  const Coefficients     *c = coefficients_of(w);
  const SpmvPatternFacts *f = &w->facts;

  *p = (SpmvPrediction){.product = PICO * read_all(w)};
  if (!c) return 0;
  p->product = MICRO * (c->start + (w->work_bytes > 0 ? c->sums : 0)) +
               PICO * (c->bytes * read_all(w) + c->work * (double)w->work_bytes + c->rows * (double)w->rows +
                       c->uneven * (double)f->uneven + c->nonzeros * (double)w->nnz +
                       c->repeated * (double)f->repeated + c->loose * (double)f->loose + c->far * (double)f->far);
  p->convert =
      MICRO * c->convert_start + PICO * (c->convert_rows * (double)w->rows + c->convert_nonzeros * (double)w->nnz);
  return 1;
}
