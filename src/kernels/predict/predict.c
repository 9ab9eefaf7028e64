/* The model: seconds of a product as a sum of terms, whose constants bench/fit_model.py writes to constants.inc. */
#include <spmv_predict.h>
#include <string.h>

/* How often each part of a product is paid for. No constant is negative, so a prediction grows with every number in. */
typedef struct {
  SpmvSpace     space;
  SpmvProcessor processor; /* of the host */
  const char   *format;
  double        launches;     /* launches of empty kernels that take as long as one product of an empty matrix */
  double        sums;         /* more of them where partial sums are added afterwards */
  double        bytes;        /* all arrays, x and y, at the speed of the memory that holds them */
  double        work;         /* bytes of partial sums */
  double        rows, uneven; /* rows at the rate of the machine */
  double        nonzeros, repeated, loose;                              /* and nonzeros */
  double        far;                                                    /* cache lines of x from memory */
  double        convert_launches, convert_start, convert_rows, convert; /* of a conversion: start is in nonzeros */
  double        refresh_launches, refresh;                              /* of a refresh; per nonzero */
} Constants;

static const Constants table[] = {
#include "constants.inc"
};

enum { CACHE_LINE = 64, VECTOR_ELEMENT = 8 };

static const Constants *constants_of(const SpmvWorkload *w, SpmvProcessor processor)
{
  const SpmvProcessor whose = w->space == SPMV_DEVICE             ? SPMV_PROCESSOR_OTHER
                              : processor == SPMV_PROCESSOR_OTHER ? SPMV_PROCESSOR_AMD
                                                                  : processor;

  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (table[i].space == w->space && table[i].processor == whose && !strcmp(table[i].format, w->format))
      return &table[i];
  return NULL;
}

void spmv_workload(const SpmvAnalysis *analysis, const SpmvPatternFacts *facts, SpmvWorkload *w)
{
  *w = (SpmvWorkload){.space      = analysis->space,
                      .format     = analysis->format->name,
                      .rows       = analysis->rows,
                      .cols       = analysis->cols,
                      .nnz        = analysis->nnz,
                      .bytes      = analysis->memory.total_bytes,
                      .work_bytes = analysis->memory.work_bytes,
                      .facts      = *facts};
}

void spmv_workload_csr(const SpmvPattern *pattern, SpmvScalar scalar, SpmvSpace space, const SpmvPatternFacts *facts,
                       SpmvWorkload *w)
{
  *w = (SpmvWorkload){.space  = space,
                      .format = SPMV_PARENT_CSR,
                      .rows   = pattern->rows,
                      .cols   = pattern->cols,
                      .nnz    = pattern->nnz,
                      .bytes  = spmv_csr_bytes(pattern, scalar),
                      .facts  = *facts};
}

void spmv_workload_least(const SpmvFormat *format, const SpmvPattern *pattern, SpmvScalar scalar, SpmvSpace space,
                         const SpmvPatternFacts *facts, SpmvWorkload *w)
{
  spmv_workload_csr(pattern, scalar, space, facts, w);
  w->format = format->name;
  w->bytes  = pattern->nnz * (int64_t)(scalar == SPMV_F64 ? sizeof(double) : sizeof(float));
}

/* Seconds to read all arrays and x, and to write y */
static double read_all(const SpmvWorkload *w, const SpmvMachine *m)
{
  const double bytes = (double)w->bytes + VECTOR_ELEMENT * ((double)w->rows + (double)w->cols);

  return bytes / (bytes <= m->cache_bytes ? m->cache_bandwidth : m->bandwidth);
}

int spmv_predict(const SpmvWorkload *w, const SpmvMachine *m, SpmvPrediction *p)
{
  const Constants        *c = constants_of(w, m->processor);
  const SpmvPatternFacts *f = &w->facts;

  *p = (SpmvPrediction){.product = read_all(w, m)};
  if (!c) return 0;
  p->product = m->launch * (c->launches + (w->work_bytes > 0 ? c->sums : 0)) + c->bytes * read_all(w, m) +
               (c->work * (double)w->work_bytes + c->far * CACHE_LINE * (double)f->far) / m->bandwidth +
               (c->rows * (double)w->rows + c->uneven * (double)f->uneven + c->nonzeros * (double)w->nnz +
                c->repeated * (double)f->repeated + c->loose * (double)f->loose) /
                   m->rate;
  p->convert = m->launch * c->convert_launches +
               (c->convert_start + c->convert_rows * (double)w->rows + c->convert * (double)w->nnz) / m->rate;
  p->refresh = m->launch * c->refresh_launches + c->refresh * (double)w->nnz / m->rate;
  return 1;
}
