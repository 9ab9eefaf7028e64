/*
  spmv_predict.h - a cost model of products: predicts the time of y = A x in each format before anything is converted.
  It belongs to libspmvpack and needs only spmv_kernels.h.

    SpmvPatternFacts   properties of the pattern besides sizes, from one pass over it on the host
    SpmvWorkload       one product: sizes, bytes and facts
    spmv_predict()     seconds: a sum of terms, whose coefficients bench/fit_model.py fits to committed measurements

  The model neither reads a clock nor queries the machine, so the same pattern gives the same numbers in every run.
  There is one set of coefficients per space, and the seconds are those of the measured machines: an NVIDIA H200, and
  one core of a server. On another machine all formats become faster or slower together, so comparisons of formats
  remain valid even though the seconds do not.
*/
#ifndef SPMV_PREDICT_H
#define SPMV_PREDICT_H

#include "spmv_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int64_t repeated; /* nonzeros in rows with the columns of the previous row */
  int64_t loose;    /* nonzeros in rows with neither these columns nor these plus 1 (as in a stencil) */
  int64_t uneven;   /* rows whose length differs from that of the previous row */
  int64_t far;      /* nonzeros whose x misses a cache of 256 KiB when the rows are read in order */
} SpmvPatternFacts;

/* Predictions are off by some percent: a format is worth its conversion only if it is faster than the baseline by this
   factor. bench/fit_model.py reads the value from this line. */
#define SPMV_PREDICT_MARGIN 1.05

/* Number of products over which a conversion must pay off by default: two or three solves by a Krylov method */
#define SPMV_PREDICT_PRODUCTS 500

/* The baseline: PETSc's aij on the host, CSR of cuSPARSE on the GPU */
#define SPMV_BASELINE_CSR "csr"

/* One product */
typedef struct {
  SpmvSpace        space;
  const char      *format; /* of libspmvpack, or SPMV_BASELINE_CSR */
  int64_t          rows, cols, nnz;
  int64_t          bytes, work_bytes; /* of all arrays of the plan, and of the partial sums */
  SpmvPatternFacts facts;             /* used only for SPMV_HOST */
} SpmvWorkload;

typedef struct {
  double product, convert; /* seconds; a conversion includes the analysis */
} SpmvPrediction;

/* Reads a pattern that lies on the host */
SPMV_API void spmv_pattern_facts(const SpmvPattern *, SpmvPatternFacts *);

/* The workload of the plan that an analysis describes, and that of the baseline */
SPMV_API SpmvWorkload spmv_workload(const SpmvAnalysis *, const SpmvPatternFacts *);
SPMV_API SpmvWorkload spmv_workload_csr(const SpmvPattern *, SpmvScalar, SpmvSpace, const SpmvPatternFacts *);
/* A lower bound that needs no analysis: a plan that holds only the values */
SPMV_API SpmvWorkload spmv_workload_least(const SpmvFormat *, const SpmvPattern *, SpmvScalar, SpmvSpace,
                                          const SpmvPatternFacts *);

/* Predicts a product. Returns 0 when the format has no coefficients: then product is the time to read its bytes, and
   convert is 0. */
SPMV_API int spmv_predict(const SpmvWorkload *, SpmvPrediction *);

#ifdef __cplusplus
}
#endif
#endif
