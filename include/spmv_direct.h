/*
  spmv_direct.h - LU, LDL^T and Cholesky factorizations on the GPU by NVIDIA's library cuDSS, which is opened at run time:
  building and loading this library does not need it.

    spmv_direct_load(NULL, &version, &exec);
    spmv_direct_options_init(&options);
    spmv_direct_create(&csr, &options, &exec, &d);            reorders, and finds the pattern of the factors
    spmv_direct_factor(d, values, &exec);                     again and again, for new values
    spmv_direct_solve(d, 0, 1, b, n, x, n, &exec);
    spmv_direct_destroy(&d, &exec);

  Only one thread at a time may use objects of a device, with that device current. cuDSS replaces pivots that are too
  small and goes on: a caller must look at `replaced` after each factorization, and judge a solution if it is not 0.
*/
#ifndef SPMV_DIRECT_H
#define SPMV_DIRECT_H

#include "spmv_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Versions of cuDSS whose interface is known, as 10000 major + 100 minor + patch: at least the first, below the second */
enum { SPMV_DIRECT_LEAST = 10000, SPMV_DIRECT_BELOW = 20000 };

/* Opens the library once per process; later calls return the version of the open library. path names the library file;
   NULL means libcudss.so.1 in the process, beside this library as pip lays packages out, and on the loader's search path.
   *version is 0 if it could not be asked for. SPMV_ERR_UNSUPPORTED if the library is missing, lacks a function or has
   another version, or if there is no device; the message says which. */
SPMV_API SpmvStatus spmv_direct_load(const char *path, int *version, SpmvExec *);
/* Frees what the library keeps for each device, once no object exists. The library stays open. */
SPMV_API void spmv_direct_release(void);

typedef enum {
  SPMV_DIRECT_GENERAL,   /* LU */
  SPMV_DIRECT_SYMMETRIC, /* LDL^T with Bunch-Kaufman pivots; the lower triangle is not read */
  SPMV_DIRECT_SPD        /* Cholesky of a real matrix; the lower triangle is not read */
} SpmvDirectKind;

typedef struct {
  SpmvDirectKind kind;
  int            is_complex;    /* values are pairs of doubles, real and imaginary part */
  int            matching;      /* large entries are moved to the diagonal, and rows and columns are scaled, first */
  int            deterministic; /* the same bits in each run; slower, with more memory, without refinement, and without
                                   pivots in LDL^T: judge each factorization */
  int            refine;        /* steps of iterative refinement in each solve */
  const int32_t *order;         /* NULL: the library orders; else [rows] on the host: new row i is old row order[i] */
  int64_t        most_bytes; /* of device memory for the factorization; 0: what is free when the pattern is analysed */
} SpmvDirectOptions;
SPMV_API void spmv_direct_options_init(SpmvDirectOptions *);

typedef struct SpmvDirect SpmvDirect;

/* Copies the matrix, square, of SPMV_F64 (is_complex: of pairs of it) with indices of 32 bits, in device memory, and analyses
   its pattern; takes up to seconds on the host. Columns ascend within a row. If the factors need more device memory than
   there may be, they are kept in the host's memory in part, which makes factorizations and solves many times slower;
   SPMV_ERR_MEMORY if even the rest does not fit. *out is NULL after a failure. */
SPMV_API SpmvStatus spmv_direct_create(const SpmvCsr *, const SpmvDirectOptions *, SpmvExec *, SpmvDirect **out);
/* Waits for the stream. Accepts a pointer to NULL. */
SPMV_API void spmv_direct_destroy(SpmvDirect **, SpmvExec *);

/* Factors the matrix with these values, [nnz] in device memory, and waits. SPMV_ERR_MATRIX if the factorization ends at a
   pivot, as Cholesky's does for a matrix that is not positive definite, or if a value is NaN or infinite. */
SPMV_API SpmvStatus spmv_direct_factor(SpmvDirect *, const void *values, SpmvExec *);
/* X = A^-1 B, or A^-T B if transposed, for that many columns, stored one after the other at distances ldb and ldx, in
   device memory. Work is enqueued on exec->stream, but the library may wait for it, so graphs cannot contain it. */
SPMV_API SpmvStatus spmv_direct_solve(SpmvDirect *, int transposed, int64_t columns, const void *b, int64_t ldb,
                                      void *x, int64_t ldx, SpmvExec *);
/* Sets the steps of iterative refinement in each solve, from the next one on */
SPMV_API SpmvStatus spmv_direct_refine(SpmvDirect *, int steps, SpmvExec *);
/* Enqueues z = A^-1 r, as an SpmvApply whose context is the object */
SPMV_API SpmvStatus spmv_direct_function(void *direct, const void *r, void *z, SpmvExec *);

typedef struct {
  int64_t rows, nonzeros;     /* of the matrix */
  int64_t factor_nonzeros;    /* after the analysis */
  int64_t bytes;              /* of device memory that the object holds now */
  int64_t replaced;           /* pivots of the last factorization that were too small and replaced */
  int64_t positive, negative; /* eigenvalues, after LDL^T; wrong if pivots were replaced */
  int64_t factorizations, solves;
  int64_t applied; /* the part of the solves by spmv_direct_function() */
  int     hybrid;  /* the factors are in the host's memory in part */
} SpmvDirectInfo;
SPMV_API void spmv_direct_info(const SpmvDirect *, SpmvDirectInfo *);

#ifdef __cplusplus
}
#endif
#endif
