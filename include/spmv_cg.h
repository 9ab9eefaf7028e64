/*
  spmv_cg.h - the preconditioned method of conjugate gradients for A x = b, on the host or on one GPU.

  A is symmetric and positive definite; where (p, A p) or (r, M r) shows that A or the preconditioner M is not, the
  solve ends with a reason. On the GPU the host waits for nothing within an iteration: sums, the test of convergence and
  the history of norms stay on the device. Method: Hestenes and Stiefel (1952); order of the operations, counting of
  iterations and tests are those of PETSc 3.26: KSPSolve_CG() and KSPConvergedDefault().

    spmv_cg_options_init(&options);  options.rows = ...;
    spmv_cg_create(&options, &exec, &cg);
    spmv_cg_start(cg, x, r, m, &test, &exec);          r = b - A x on entry
    spmv_cg_run(cg, INT64_MAX, &result, &exec);        x is the solution when result.reason > 0
    spmv_cg_destroy(&cg);

  All calls for one object come from one thread at a time, with the same current device, and with execs of the space and
  the allocation hooks that it was made with; the stream may be another one from start to start.
  src/kernels/cg/README.md says what each kernel reads and writes.
*/
#ifndef SPMV_CG_H
#define SPMV_CG_H

#include "spmv_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the iterations are done. SPMV_CG_HOST belongs to SPMV_HOST, the others to SPMV_DEVICE. */
typedef enum {
  SPMV_CG_HOST,      /* one thread of the host */
  SPMV_CG_CHUNK,     /* plain launches; some iterations are enqueued ahead of the host's look at the norm */
  SPMV_CG_GRAPH,     /* some iterations are captured in a CUDA graph once, and launched again and again */
  SPMV_CG_PERSISTENT /* one cooperative kernel for all iterations, with a product of its own: for small matrices */
} SpmvCgMode;

/* The norm that is tested and recorded: none (all are 0), of z = M r, of r, or sqrt(|(r, z)|) */
typedef enum { SPMV_CG_NORM_NONE, SPMV_CG_PRECONDITIONED, SPMV_CG_UNPRECONDITIONED, SPMV_CG_NATURAL } SpmvCgNorm;

typedef struct {
  int64_t            rows;        /* of this process */
  SpmvScalar         scalar_type; /* of all vectors, of M and of the matrix; sums and norms are double */
  SpmvCgMode         mode;
  SpmvPreconditioner preconditioner;
  int                block_size; /* of SPMV_PC_BLOCKS; divides rows */
  /* w = A p. On the device it is called again for each iteration, or once for each iteration of a graph while that is
     captured: on exec->stream, which may be another stream than the caller's; it must not wait or allocate then. Not
     called in mode SPMV_CG_PERSISTENT. spmv_operator_product() is one for a plan. */
  SpmvApply product;
  void     *product_ctx;
  /* z = M r of SPMV_PC_FUNCTION, which is linear and the same in each call; not for SPMV_CG_PERSISTENT */
  SpmvApply apply;
  void     *apply_ctx;
  int       apply_waits; /* it waits for the host or allocates, and must not be captured in a graph */
  void     *p, *w;       /* NULL, or arrays [rows] of the caller that serve as p and w */
  /* For SPMV_CG_PERSISTENT: the matrix on the device with 32-bit indices. The struct is copied, its arrays are
     borrowed: they outlive the object, values may change between solves. */
  const SpmvCsr       *matrix;
  const SpmvProcesses *processes; /* NULL for one process; with others not SPMV_CG_PERSISTENT, and SPMV_CG_GRAPH only if
                                     their functions just enqueue */
  int64_t              history;   /* the last so many norms are kept for spmv_cg_history(): 8 bytes each; 0: none */
  int                  chunk;     /* iterations that are enqueued together, 1 to 64; 0: by the number of rows. With
                                     SPMV_PC_FUNCTION one at a time. */
} SpmvCgOptions;

/* Zeros, with double precision, SPMV_CG_HOST, no preconditioner */
SPMV_API void spmv_cg_options_init(SpmvCgOptions *);

/* When to end, by which norm; by.untested follows from that */
typedef struct {
  SpmvCgNorm norm;
  SpmvTest   by;
} SpmvCgTest;

typedef struct {
  /* Any SpmvReason. SPMV_BREAKDOWN: (r, M r) is 0, PETSc's CONVERGED_ATOL "due to beta = 0". SPMV_INDEFINITE_PC: (r, M r)
     changed its sign. SPMV_INDEFINITE_MATRIX: (p, A p) is 0 or changed its sign; x is that of the iteration before. */
  SpmvReason reason;
  int64_t    iterations; /* as KSPGetIterationNumber() counts: an iteration that ended early is one, too */
  int64_t    completed;  /* iterations that ended with a norm, which is that of x; the history has as many */
  double     norm;       /* of the last of them; NaN where that is the reason; 0 before the first */
} SpmvCgResult;

typedef struct SpmvCg SpmvCg;

/* Makes an engine for matrices of one size. Options are copied. *cg is NULL after a failure. SPMV_ERR_UNSUPPORTED: no
   device, or no cooperative launch for SPMV_CG_PERSISTENT. It may wait. */
SPMV_API SpmvStatus spmv_cg_create(const SpmvCgOptions *, SpmvExec *, SpmvCg **cg);

/* Begins a solve: z = M r, p = z. x and r have shape [rows], m is NULL or the values of M. The three belong to the
   caller, lie in the space of exec, need not be those of the solve before, and must stay until the solve ends. x and r
   are updated in place; the caller changes neither r nor m. Only enqueues. */
SPMV_API SpmvStatus spmv_cg_start(SpmvCg *, void *x, void *r, const void *m, const SpmvCgTest *, SpmvExec *);

/* Does up to so many further iterations, until there is a reason to end; then x and r are those of the last completed
   iteration. May be called again while the reason is SPMV_ITERATING; the caller may look at x and r, and change x,
   between the calls. When it returns, kernels that no longer change x or r may still be in the stream. After a failure
   x and r are those of some iteration, once the stream has been waited for; the engine must be started again. */
SPMV_API SpmvStatus spmv_cg_run(SpmvCg *, int64_t iterations, SpmvCgResult *, SpmvExec *);

/* The norm of iteration 0, of the kind that the test of spmv_cg_start() names; NaN or infinite where its sum is. The
   tolerance of the caller may depend on that norm: spmv_cg_set_test() replaces the test by one with the same kind of norm.
   Both are called between spmv_cg_start() and the first spmv_cg_run(); spmv_cg_first_norm() waits. */
SPMV_API SpmvStatus spmv_cg_first_norm(SpmvCg *, double *norm, SpmvExec *);
SPMV_API SpmvStatus spmv_cg_set_test(SpmvCg *, const SpmvCgTest *, SpmvExec *);

/* Goes on with a new test after a run that ended with SPMV_RTOL or SPMV_ATOL, and after the caller has put b - A
   x into r, where the product is that of another matrix than A, a rounded one. The direction becomes p = z + scale p
   with scale from the new (r, z) and the one before it (reliable updates: Sleijpen and van der Vorst, 1996), or p = z
   with restart, which makes the iterations between two corrections the inner solver of an iterative refinement. Counts
   of iterations go on; where none is left, the reason becomes SPMV_DIVERGED_ITERATIONS. Only enqueues. */
SPMV_API SpmvStatus spmv_cg_correct(SpmvCg *, const SpmvCgTest *, int restart, SpmvExec *);

/* Copies the norms of iterations first .. first+count-1, counted from 1, to norms [count] on the host; waits.
   SPMV_ERR_ARGUMENT where one is not completed or no longer kept. */
SPMV_API SpmvStatus spmv_cg_history(SpmvCg *, int64_t first, int64_t count, double *norms, SpmvExec *);

typedef struct {
  int64_t bytes, pinned_bytes; /* that the object holds: in its space, and in page-locked host memory */
  int     graphs;              /* that were captured since it was made */
  int     blocks, lanes;       /* thread blocks of the persistent kernel, and lanes for each of its rows; 0 otherwise */
  /* Of one iteration without its product: additions and multiplications, vector elements that are read or written, and
     the bytes of these and of M */
  double flops, words, traffic_bytes;
} SpmvCgInfo;
SPMV_API void spmv_cg_info(const SpmvCg *, SpmvCgInfo *);

/* Waits for what is in the stream of the last run, frees the object and sets the pointer to NULL; NULL and a pointer to
   NULL are accepted */
SPMV_API void spmv_cg_destroy(SpmvCg **);

#ifdef __cplusplus
}
#endif
#endif
