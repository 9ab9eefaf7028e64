/*
  spmv_predict.h - a cost model of products: how long y = A x will take in each format, before anything is converted.
  It needs spmv_kernels.h alone, and belongs to libspmvpack.

    SpmvPatternFacts   what the bytes do not tell: read off the pattern in one pass, on the host
    SpmvWorkload       one product: sizes, bytes and facts
    spmv_predict()     seconds: a sum of terms, whose coefficients bench/fit_model.py fits to committed measurements

  Nothing here looks at a clock or at the machine. There is one set of coefficients per space, and the seconds are those
  of the machines that were measured: an NVIDIA H200, and one core of a server. On another machine all formats are
  faster or slower together, so a comparison of formats holds where the seconds do not. The same pattern gives the same
  numbers in every run.
*/
#ifndef SPMV_PREDICT_H
#define SPMV_PREDICT_H

#include "spmv_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int64_t repeated; /* nonzeros in rows that have the columns of the row before */
  int64_t loose;    /* nonzeros in rows that have neither these nor all of them plus 1, as neighbours in a stencil do */
  int64_t uneven;   /* rows of another length than the row before */
  int64_t far;      /* nonzeros whose x is not in a cache of 256 KiB when the rows are read from first to last */
} SpmvPatternFacts;

/* Predictions err by some percent: a format is worth its conversion if it is faster than the baseline by this factor.
   bench/fit_model.py reads it here. */
#define SPMV_PREDICT_MARGIN 1.05

/* Products for which a conversion must pay where nothing else is known: two or three solves by a Krylov method */
#define SPMV_PREDICT_PRODUCTS 500

/* The baseline: PETSc's aij on the host, CSR of cuSPARSE on the GPU */
#define SPMV_BASELINE_CSR "csr"

/* One product */
typedef struct {
  SpmvSpace        space;
  const char      *format; /* of libspmvpack, or SPMV_BASELINE_CSR */
  int64_t          rows, cols, nnz;
  int64_t          bytes, work_bytes; /* of all arrays, and of the partial sums */
  SpmvPatternFacts facts;             /* used on the host alone */
} SpmvWorkload;

typedef struct {
  double product, convert; /* seconds; a conversion includes the analysis */
} SpmvPrediction;

/* Reads a pattern that lies on the host */
SPMV_API void spmv_pattern_facts(const SpmvPattern *, SpmvPatternFacts *);

/* The product of the plan that an analysis leads to, and that of the baseline */
SPMV_API SpmvWorkload spmv_workload(const SpmvAnalysis *, const SpmvPatternFacts *);
SPMV_API SpmvWorkload spmv_workload_csr(const SpmvPattern *, SpmvScalar, SpmvSpace, const SpmvPatternFacts *);
/* A lower bound without an analysis: a plan that holds the values and nothing else */
SPMV_API SpmvWorkload spmv_workload_least(const SpmvFormat *, const SpmvPattern *, SpmvScalar, SpmvSpace,
                                          const SpmvPatternFacts *);

/* Predicts a product. Returns 0 when the format has no coefficients: then product is the time to read its bytes, and
   convert is 0. */
SPMV_API int spmv_predict(const SpmvWorkload *, SpmvPrediction *);

#ifdef __cplusplus
}
#endif
#endif
