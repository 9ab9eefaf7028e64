/*
  spmv_gmres.h - the generalized minimal residual method with restarts, GMRES(m), for A x = b, on the host or on one GPU.

  A is any square matrix. On the GPU the host waits for nothing within a cycle: scalar products, rotations, the test of
  convergence and the history of norms stay on the device. Method: Saad and Schultz (1986) with classical Gram-Schmidt;
  order of the operations, counting of iterations and tests are those of PETSc 3.26: KSPSolve_GMRES(),
  KSPOrthogonalizationClassicalGramSchmidt() and KSPConvergedDefault().

    spmv_gmres_options_init(&options);  options.rows = ...;
    spmv_gmres_create(&options, &exec, &gmres);
    spmv_gmres_start(gmres, x, b, m, 0, &test, &exec);
    spmv_gmres_run(gmres, INT64_MAX, &result, &exec);     x is the solution when result.reason > 0
    spmv_gmres_destroy(&gmres);

  All calls for one object come from one thread at a time, with the same current device, and with execs of the space and
  the allocation hooks that it was made with; the stream may be another one from start to start.
  src/kernels/gmres/README.md says what each kernel reads and writes.
*/
#ifndef SPMV_GMRES_H
#define SPMV_GMRES_H

#include "spmv_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the iterations are done. SPMV_GMRES_HOST belongs to SPMV_HOST, the others to SPMV_DEVICE. */
typedef enum {
  SPMV_GMRES_HOST,  /* one thread of the host */
  SPMV_GMRES_CHUNK, /* plain launches; some iterations are enqueued ahead of the host's look at the norm */
  SPMV_GMRES_GRAPH  /* the iterations of a cycle are captured in CUDA graphs once, and launched again in each cycle */
} SpmvGmresMode;

/* Whether a new vector is orthogonalized a second time: if needed, when its norm is less than that of what was taken out */
typedef enum { SPMV_GMRES_REFINE_NEVER, SPMV_GMRES_REFINE_IF_NEEDED, SPMV_GMRES_REFINE_ALWAYS } SpmvGmresRefine;

enum { SPMV_GMRES_RESTART_MAX = 1000 };

typedef struct {
  int64_t         rows;        /* of this process */
  SpmvScalar      scalar_type; /* of all vectors, of M and of the matrix; sums and norms are double */
  SpmvGmresMode   mode;
  int             restart; /* iterations of a cycle, 1 to SPMV_GMRES_RESTART_MAX: restart + 1 vectors form the basis */
  SpmvGmresRefine refine;
  SpmvPreconditioner preconditioner;
  int                block_size; /* of SPMV_PC_BLOCKS; divides rows */
  int                right; /* M is applied before A, and norms are those of b - A x; else they are of M (b - A x) */
  /* w = A p. On the device it is called again for each iteration, or once for each iteration of a graph while that is
     captured: on exec->stream, which may be another stream than the caller's; it must not wait or allocate then.
     spmv_operator_product() is one for a plan. */
  SpmvApply product;
  void     *product_ctx;
  /* z = M r of SPMV_PC_FUNCTION, which is linear and the same in each call */
  SpmvApply apply;
  void     *apply_ctx;
  int       apply_waits; /* it waits for the host or allocates, and must not be captured in a graph */
  double    happy;       /* PETSc's haptol: a new vector whose norm is less ends the cycle */
  double    breakdown;   /* PETSc's breakdown_tolerance, relative to the norm at the beginning of a cycle, of the
                                         difference between the norm of its end and that of the residual computed anew */
  const SpmvProcesses *processes; /* NULL for one process; otherwise the mode is SPMV_GMRES_HOST or SPMV_GMRES_CHUNK */
  int64_t              history;   /* the last so many norms are kept for spmv_gmres_history(): 8 bytes each; 0: none */
  int                  chunk;     /* iterations that are enqueued together, 1 to 64; 0: by the number of rows. With
                                         SPMV_PC_FUNCTION one at a time. */
} SpmvGmresOptions;

/* Zeros, with double precision, SPMV_GMRES_HOST, no preconditioner; and PETSc's defaults: restart 30, happy 1e-30,
   breakdown 0.1 */
SPMV_API void spmv_gmres_options_init(SpmvGmresOptions *);

typedef struct {
  /* Any SpmvReason but those of indefinite matrices. SPMV_BREAKDOWN is PETSc's CONVERGED_HAPPY_BREAKDOWN. */
  SpmvReason reason;
  int64_t    iterations; /* as KSPGetIterationNumber() counts; the history has as many norms */
  double     norm;       /* of the last of them; NaN where that is the reason */
} SpmvGmresResult;

typedef struct SpmvGmres SpmvGmres;

/* Makes an engine for matrices of one size, and allocates the basis. Options are copied. *gmres is NULL after a failure.
   SPMV_ERR_UNSUPPORTED: no device. It may wait. */
SPMV_API SpmvStatus spmv_gmres_create(const SpmvGmresOptions *, SpmvExec *, SpmvGmres **gmres);

/* Begins a solve: the residual of x and its norm. x and b have shape [rows], m is NULL or the values of M. The three
   belong to the caller, lie in the space of exec, need not be those of the solve before, and must stay until the solve
   ends. x is updated in place; with x_is_zero it holds zeros, and its product is spared. Only enqueues. */
SPMV_API SpmvStatus spmv_gmres_start(SpmvGmres *, void *x, const void *b, const void *m, int x_is_zero,
                                     const SpmvTest *, SpmvExec *);

/* The norm of iteration 0, NaN or infinite where its sum is. The tolerance of the caller may depend on that norm:
   spmv_gmres_set_test() replaces the test. Both are called between spmv_gmres_start() and the first spmv_gmres_run();
   spmv_gmres_first_norm() waits. */
SPMV_API SpmvStatus spmv_gmres_first_norm(SpmvGmres *, double *norm, SpmvExec *);
SPMV_API SpmvStatus spmv_gmres_set_test(SpmvGmres *, const SpmvTest *, SpmvExec *);

/* Does up to so many further iterations, until there is a reason to end; then x is the solution that belongs to the
   norm. May be called again while the reason is SPMV_ITERATING; x is then that of the beginning of the cycle. When it
   returns, kernels that update x, or no longer change it, may still be in the stream. After a failure x is that of the
   beginning of some cycle, once the stream has been waited for; the engine must be started again. */
SPMV_API SpmvStatus spmv_gmres_run(SpmvGmres *, int64_t iterations, SpmvGmresResult *, SpmvExec *);

/* Enqueues `to` = the solution after the iterations of the last spmv_gmres_run(), without changing the solve; to has
   shape [rows] and is not x */
SPMV_API SpmvStatus spmv_gmres_solution(SpmvGmres *, void *to, SpmvExec *);

/* Copies the norms of iterations first .. first+count-1, counted from 1, to norms [count] on the host; waits. That of
   the last iteration of a cycle is the norm of the residual computed anew, unless the solve ended with it.
   SPMV_ERR_ARGUMENT where one is not completed or no longer kept. */
SPMV_API SpmvStatus spmv_gmres_history(SpmvGmres *, int64_t first, int64_t count, double *norms, SpmvExec *);

typedef struct {
  int64_t bytes, pinned_bytes; /* that the object holds: in its space, and in page-locked host memory */
  int     graphs;              /* that were captured since it was made */
  /* Of the mean iteration of a cycle without its product and without second orthogonalizations: additions and
     multiplications, vector elements that are read or written, and the bytes of these and of M */
  double flops, words, traffic_bytes;
} SpmvGmresInfo;
SPMV_API void spmv_gmres_info(const SpmvGmres *, SpmvGmresInfo *);

/* Waits for what is in the stream of the last run, frees the object and sets the pointer to NULL; NULL and a pointer to
   NULL are accepted */
SPMV_API void spmv_gmres_destroy(SpmvGmres **);

#ifdef __cplusplus
}
#endif
#endif
