/*
  spmv_cg.h - the preconditioned method of conjugate gradients for A x = b, on one GPU.

  A is symmetric and positive definite; if (p, A p) or (r, M r) shows that A or the preconditioner M is not, the solve
  ends with SPMV_INDEFINITE_MATRIX or SPMV_INDEFINITE_PC. The host never waits within an iteration: sums, the
  convergence test and the history of norms stay on the device. Method: Hestenes and Stiefel (1952); the order of
  operations, the count of iterations and the tests are those of PETSc 3.26: KSPSolve_CG() and KSPConvergedDefault().

    spmv_cg_options_init(&options);  options.rows = ...;
    spmv_cg_create(&options, &exec, &cg);
    spmv_cg_start(cg, x, r, m, norm, &exec);               r = b - A x on entry
    spmv_cg_run(cg, INT64_MAX, &test, &result, &exec);     x is the solution when result.reason > 0
    spmv_cg_destroy(&cg);

  Only one thread at a time may use an object, with the device that was current when it was made and with an exec of the
  same allocation hooks; each spmv_cg_start() may choose another stream. src/kernels/cg/README.md says what each kernel
  reads and writes.
*/
#ifndef SPMV_CG_H
#define SPMV_CG_H

#include "spmv_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How iterations run */
typedef enum {
  SPMV_CG_CHUNK,     /* plain launches; the host enqueues some iterations ahead of its check of the norm */
  SPMV_CG_GRAPH,     /* some iterations are captured in a CUDA graph once, and the graph is launched repeatedly */
  SPMV_CG_PERSISTENT /* one cooperative kernel runs all iterations, with its own product: for small matrices */
} SpmvCgMode;

/* The norm that is tested and recorded: none (all are 0), of z = M r, of r, or sqrt(|(r, z)|) */
typedef enum { SPMV_CG_NORM_NONE, SPMV_CG_PRECONDITIONED, SPMV_CG_UNPRECONDITIONED, SPMV_CG_NATURAL } SpmvCgNorm;

typedef struct {
  int64_t            rows;        /* of this process */
  SpmvScalar         scalar_type; /* of vectors, M and matrix; sums and norms are double */
  SpmvCgMode         mode;
  SpmvPreconditioner preconditioner;
  int                block_size; /* of SPMV_PC_BLOCKS; divides rows */
  /* w = A p. It is called once per iteration, or once for each iteration of a graph during its capture.
     It must enqueue on exec->stream, which may differ from the caller's stream, and must neither wait nor allocate. Not
     called in mode SPMV_CG_PERSISTENT. For plans, use spmv_operator_product(). */
  SpmvApply product;
  void     *product_ctx;
  /* z = M r for SPMV_PC_FUNCTION; M is linear and does not change within a solve. Not for SPMV_CG_PERSISTENT. */
  SpmvApply apply;
  void     *apply_ctx;
  int       apply_waits; /* apply waits for the host or allocates, so it cannot be captured in a graph */
  void     *p, *w;       /* NULL, or arrays [rows] of the caller that serve as p and w */
  /* For SPMV_CG_PERSISTENT: the matrix on the device with 32-bit indices. The struct is copied, its arrays are
     borrowed: they must outlive the object; values may change between solves. */
  const SpmvCsr *matrix;
  /* 0: conjugate gradients. Another number: Richardson's iteration x += step M (b - A x) by the same engine: the direction
     is p = M r, any A and M are accepted, and tests, norms and counts are as above. */
  double step;
  /* Chronopoulos and Gear (1989), as KSPSolve_CG_SingleReduction(): the product is that with z = M r, w = A p is
     updated as p is, and (p, w) follows from (z, A z). So processes->add is called once per iteration, for three sums,
     at the price of two vectors and of more rounding. Not with SPMV_CG_PERSISTENT, step, lanczos or
     spmv_cg_correct(). */
  int                  single_reduction;
  const SpmvProcesses *processes; /* NULL for one process. Otherwise not with SPMV_CG_PERSISTENT, and with SPMV_CG_GRAPH
                                     only if its functions just enqueue */
  int64_t              history;   /* number of the latest norms that are kept for spmv_cg_history(), 8 bytes each; 0:
                                     none */
  int                  chunk;     /* iterations enqueued together, 1 to 64; 0: chosen by the number of rows. With
                                     SPMV_PC_FUNCTION always 1. */
  /* 0, or the number of iterations, 1 to 64, of spmv_cg_lanczos(), which alone runs this object: mode
     SPMV_CG_CHUNK, no function as preconditioner. The object has no page-locked memory. */
  int lanczos;
} SpmvCgOptions;

/* All zero: double precision, SPMV_CG_CHUNK, no preconditioner */
SPMV_API void spmv_cg_options_init(SpmvCgOptions *);

typedef struct {
  /* Any SpmvReason. SPMV_BREAKDOWN: (r, M r) is 0, PETSc's CONVERGED_ATOL "due to beta = 0". SPMV_INDEFINITE_PC: (r, M
     r) changed its sign. SPMV_INDEFINITE_MATRIX: (p, A p) is 0 or changed its sign; x is that of the iteration
     before. */
  SpmvReason reason;
  int64_t    iterations; /* as KSPGetIterationNumber() counts: an iteration that ended early counts, too */
  int64_t    completed;  /* iterations that ended with a norm; the history has as many norms */
  double     norm;       /* of the last completed iteration, and so of x; NaN if that is the reason */
  double     first;      /* the norm of iteration 0; NaN or infinite if its sum is */
} SpmvCgResult;

/* Whether SPMV_CG_PERSISTENT is faster than SPMV_CG_GRAPH for a matrix with 32-bit indices, by measurements on the GPU
   that the library is tuned for */
SPMV_API int spmv_cg_persistent_pays(int64_t rows, int64_t nnz, SpmvScalar);

typedef struct SpmvCg SpmvCg;

/* Makes an engine for matrices of one size; the exec is for the device. Options are copied. *cg is NULL after a
   failure. SPMV_ERR_UNSUPPORTED: no device, or no cooperative launch for SPMV_CG_PERSISTENT. It may wait. */
SPMV_API SpmvStatus spmv_cg_create(const SpmvCgOptions *, SpmvExec *, SpmvCg **cg);

/* Begins a solve: z = M r, p = z, and the norm that all of its tests use. x and r have shape [rows], m is NULL or the
   values of M. All three belong to the caller, lie on the device, may differ from solve to solve, and must stay until
   the solve ends. x and r are updated in place; the caller must change neither r nor m. Only enqueues. */
SPMV_API SpmvStatus spmv_cg_start(SpmvCg *, void *x, void *r, const void *m, SpmvCgNorm, SpmvExec *);

/* Runs at most that many further iterations, until there is a reason to end; x and r are then those of the last
   completed iteration. With 0 iterations it only gives result->first. May be called again, also with another test, while
   the reason is SPMV_ITERATING; between calls the caller may read x and r, and change x. When it returns, the stream may still hold kernels that no longer change x or r. After a failure x
   and r are those of some iteration, once the caller has waited for the stream; the next call must be
   spmv_cg_start(). */
SPMV_API SpmvStatus spmv_cg_run(SpmvCg *, int64_t iterations, const SpmvTest *, SpmvCgResult *, SpmvExec *);

/* Lets the solve go on after a run that ended with SPMV_RTOL or SPMV_ATOL, when the product is that of an
   approximation of A (a rounded one) and the caller has stored b - A x in r. The direction becomes p = z + scale p with
   scale from the new (r, z) and the previous one (reliable updates: Sleijpen and van der Vorst, 1996). With restart it
   becomes p = z, which makes the iterations between two corrections the inner solver of an iterative refinement. The
   count of iterations goes on; if the next test has no more of them, its reason is SPMV_DIVERGED_ITERATIONS. Only
   enqueues. */
SPMV_API SpmvStatus spmv_cg_correct(SpmvCg *, int restart, SpmvExec *);

/* alpha and (r, M r) of an iteration. Their Lanczos matrix, whose eigenvalues approximate those of M A, has the diagonal
   1 / alpha_i + q_i / alpha_i-1 and beside it sqrt(q_i) / alpha_i-1, where q_i = rz_i / rz_i-1. */
typedef struct {
  double alpha, rz;
} SpmvCgCoefficients;

/* After spmv_cg_start(): enqueues options.lanczos iterations, waits once, and returns the coefficients of the completed
   ones, in an array of options.lanczos */
SPMV_API SpmvStatus spmv_cg_lanczos(SpmvCg *, const SpmvTest *, SpmvCgCoefficients *, SpmvCgResult *, SpmvExec *);

/* Copies the norms of iterations first .. first+count-1, counted from 1, to norms [count] on the host; waits.
   SPMV_ERR_ARGUMENT if one of these iterations is not completed or its norm is no longer kept. */
SPMV_API SpmvStatus spmv_cg_history(SpmvCg *, int64_t first, int64_t count, double *norms, SpmvExec *);

typedef struct {
  int64_t bytes, pinned_bytes; /* memory of the object: on the device, and page-locked on the host */
  int     graphs;              /* captured since the object was made */
  int     blocks, lanes;       /* thread blocks of the persistent kernel, and lanes per row; 0 in other modes */
  /* Cost of one iteration without its product: additions and multiplications, vector elements read or written, and the
     bytes of these and of M */
  double flops, words, traffic_bytes;
} SpmvCgInfo;
SPMV_API void spmv_cg_info(const SpmvCg *, SpmvCgInfo *);

/* Waits for the stream of the last run, frees the object and sets the pointer to NULL; NULL and a pointer to NULL are
   accepted */
SPMV_API void spmv_cg_destroy(SpmvCg **);

#ifdef __cplusplus
}
#endif
#endif
