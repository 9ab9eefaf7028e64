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
  double        pairs, corrected;                                       /* lanes of symmetric pairs */
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

/* What memory tells of a product; sizes and facts are set */
static void add_memory(const SpmvMemory *memory, SpmvWorkload *w)
{
  w->bytes      = memory->total_bytes - memory->unread_bytes;
  w->work_bytes = memory->work_bytes;
  w->pairs      = memory->pairs;
  w->corrected  = memory->corrected;
}

void spmv_workload(const SpmvAnalysis *analysis, const SpmvPatternFacts *facts, SpmvWorkload *w)
{
  *w = (SpmvWorkload){.space  = analysis->space,
                      .format = analysis->format->name,
                      .rows   = analysis->rows,
                      .cols   = analysis->cols,
                      .nnz    = analysis->nnz,
                      .facts  = *facts};
  add_memory(&analysis->memory, w);
}

void spmv_workload_plan(const SpmvPlan *plan, const SpmvPatternFacts *facts, SpmvWorkload *w)
{
  *w = (SpmvWorkload){.space  = plan->space,
                      .format = plan->format->name,
                      .rows   = plan->rows,
                      .cols   = plan->cols,
                      .nnz    = plan->nnz,
                      .facts  = *facts};
  add_memory(&plan->memory, w);
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
                c->repeated * (double)f->repeated + c->loose * (double)f->loose + c->pairs * (double)w->pairs +
                c->corrected * (double)w->corrected) /
                   m->rate;
  p->convert = m->launch * c->convert_launches +
               (c->convert_start + c->convert_rows * (double)w->rows + c->convert * (double)w->nnz) / m->rate;
  p->refresh = m->launch * c->refresh_launches + c->refresh * (double)w->nnz / m->rate;
  return 1;
}

int spmv_predict_least(const SpmvOptions *options, const SpmvPattern *pattern, SpmvScalar scalar, SpmvSpace space,
                       const SpmvPatternFacts *facts, const SpmvMachine *machine, SpmvPrediction *p)
{
  const SpmvFormat *format = options->format;
  SpmvWorkload      w;
  SpmvPrediction    paired;

  spmv_workload_csr(pattern, scalar, space, facts, &w);
  w.format = format->name;
  w.bytes  = pattern->nnz * spmv_scalar_bytes(scalar);
  if (!format->least) return spmv_predict(&w, machine, p);

  SpmvMemory least[2] = {{.count = 0}, {.count = 0}};
  for (int all = 0; all < 2; all++) format->least(options, pattern, scalar, all, &least[all]);
  add_memory(&least[1], &w);
  (void)spmv_predict(&w, machine, &paired);
  add_memory(&least[0], &w);
  const int known = spmv_predict(&w, machine, p);
  if (paired.product < p->product) p->product = paired.product; /* pairs may cost more than they save */
  return known;
}
