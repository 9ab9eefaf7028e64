/*
  spmv_predict.h - how long a product will take in each format, before anything is converted. It needs spmv_kernels.h
  alone, and belongs to libspmvpack.

    SpmvPatternFacts   what the bytes do not tell: read off the pattern in one pass over it, on the host
    SpmvMachine        a few numbers of the machine: measured by spmv_machine_measure(), or from a file of the caller
    spmv_predict()     seconds; a sum of terms, each with a constant that bench/fit_model.py has fitted to measurements

  The same numbers in give the same prediction: nothing here looks at a clock but spmv_machine_measure().
*/
#ifndef SPMV_PREDICT_H
#define SPMV_PREDICT_H

#include "spmv_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makers of processors differ in what a product costs besides memory, such as gathers: each has constants of its own.
   Those of AMD stand for OTHER, as a guess. */
typedef enum { SPMV_PROCESSOR_OTHER, SPMV_PROCESSOR_AMD, SPMV_PROCESSOR_INTEL } SpmvProcessor;

/* The machine as one product sees it: one core of the host, or the GPU */
typedef struct {
  double        bandwidth;       /* bytes per second from memory */
  double        cache_bandwidth; /* from the caches of the core; on the GPU that of memory */
  double        cache_bytes;     /* of the last cache; 0 on the GPU */
  double        rate;      /* nonzeros per second of plain CSR in the cache; on the GPU, values that bandwidth brings */
  double        launch;    /* seconds from one launch of an empty kernel to the next; 0 on the host */
  SpmvProcessor processor; /* of the host */
} SpmvMachine;

typedef struct {
  int64_t repeated; /* nonzeros in rows that have the columns of the row before */
  int64_t loose;    /* nonzeros in rows that have neither these nor all of them plus 1, as neighbours in a stencil do */
  int64_t uneven;   /* rows of another length than the row before */
  int64_t far;      /* nonzeros whose x is not in a cache of 256 KiB when the rows are read from first to last */
} SpmvPatternFacts;

/* A product, as the model sees it */
typedef struct {
  SpmvSpace        space;
  const char      *format; /* of libspmvpack, or SPMV_PARENT_CSR */
  int64_t          rows, cols, nnz;
  int64_t          bytes, work_bytes; /* that the product reads of the arrays, and of its work */
  int64_t          pairs, corrected;  /* of SpmvMemory */
  SpmvPatternFacts facts;             /* the host's model alone reads them */
} SpmvWorkload;

/* CSR by others: PETSc's aij on the host, cuSPARSE on the GPU */
#define SPMV_PARENT_CSR "csr"

typedef struct {
  double product, convert, refresh; /* seconds; a conversion includes the analysis */
} SpmvPrediction;

/* Reads a pattern that lies on the host */
SPMV_API void spmv_pattern_facts(const SpmvPattern *, SpmvPatternFacts *);

/* The workload of a plan that the analysis would have, of a plan, and of CSR */
SPMV_API void spmv_workload(const SpmvAnalysis *, const SpmvPatternFacts *, SpmvWorkload *);
SPMV_API void spmv_workload_plan(const SpmvPlan *, const SpmvPatternFacts *, SpmvWorkload *);
SPMV_API void spmv_workload_csr(const SpmvPattern *, SpmvScalar, SpmvSpace, const SpmvPatternFacts *, SpmvWorkload *);
/* A format should be predicted to be faster than CSR by others by this factor before it is taken, as predictions err by
   so much */
#define SPMV_PREDICT_MARGIN 1.15

/* A format that somebody has asked for by name should be left for CSR by others where it is predicted to be slower by
   more than this factor: on the host, on the GPU */
#define SPMV_DECLINE_HOST 1.1
#define SPMV_DECLINE_GPU  1.2

/* Predicts a product. 0 when there are no constants for the format: then prediction is what its bytes alone take, which
   no product can beat, and nothing is known about conversions. */
SPMV_API int spmv_predict(const SpmvWorkload *, const SpmvMachine *, SpmvPrediction *);
/* The same without an analysis, for the least that a plan with these options may read, which is its values, of some
   formats not even all of them. The product is not above that of the analysis; the conversion is the same. */
SPMV_API int spmv_predict_least(const SpmvOptions *, const SpmvPattern *, SpmvScalar, SpmvSpace,
                                const SpmvPatternFacts *, const SpmvMachine *, SpmvPrediction *);

/* Measures the machine for plans in exec->space: a tenth of a second on the host, less on the GPU, and 64 MiB there,
   for as long as it takes */
SPMV_API SpmvStatus spmv_machine_measure(SpmvMachine *, SpmvExec *);

/* The NVIDIA H200 that the constants of the GPU come from, for predictions on a machine without one */
SPMV_API void spmv_machine_h200(SpmvMachine *);

/* The maker of the processor that this process runs on */
SPMV_API SpmvProcessor spmv_processor(void);

/* A machine for predictions that must not depend on a clock: a core of the EPYC or of the Xeon that the constants of
   the host come from, or the H200 */
SPMV_API void spmv_machine_reference(SpmvMachine *, SpmvSpace, SpmvProcessor);

#ifdef __cplusplus
}
#endif
#endif
