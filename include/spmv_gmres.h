/*
  spmv_gmres.h - the restarted generalized minimal residual method, GMRES(m), for A x = b, on one GPU.

  A is any square matrix. The host never waits within a cycle: scalar products, rotations, the convergence
  test and the history of norms stay on the device. Method: Saad and Schultz (1986) with classical Gram-Schmidt; the
  order of operations, the count of iterations and the tests are those of PETSc 3.26: KSPSolve_GMRES(),
  KSPOrthogonalizationClassicalGramSchmidt() and KSPConvergedDefault().

    spmv_gmres_options_init(&options);  options.rows = ...;
    spmv_gmres_create(&options, &exec, &gmres);
    spmv_gmres_start(gmres, x, b, m, 0, &exec);
    spmv_gmres_run(gmres, INT64_MAX, &test, &result, &exec);     x is the solution when result.reason > 0
    spmv_gmres_destroy(&gmres);

  Only one thread at a time may use an object, with the device that was current when it was made and with an exec of the
  same allocation hooks; each spmv_gmres_start() may choose another stream. src/kernels/gmres/README.md says what each
  kernel reads and writes.
*/
#ifndef SPMV_GMRES_H
#define SPMV_GMRES_H

#include "spmv_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How iterations run */
typedef enum {
  SPMV_GMRES_CHUNK, /* plain launches; the host enqueues some iterations ahead of its check of the norm */
  SPMV_GMRES_GRAPH  /* the iterations of a cycle are captured in CUDA graphs once, which are launched in each cycle */
} SpmvGmresMode;

/* Whether a new vector is orthogonalized a second time. It is needed when its norm is less than that of the part that
   was subtracted. */
typedef enum { SPMV_GMRES_REFINE_NEVER, SPMV_GMRES_REFINE_IF_NEEDED, SPMV_GMRES_REFINE_ALWAYS } SpmvGmresRefine;

enum { SPMV_GMRES_RESTART_MAX = 1000 };

typedef struct {
  int64_t         rows;        /* of this process */
  SpmvScalar      scalar_type; /* of vectors, M and matrix; sums and norms are double */
  SpmvGmresMode   mode;
  int             restart; /* iterations of a cycle, 1 to SPMV_GMRES_RESTART_MAX; the basis has restart + 1 vectors */
  SpmvGmresRefine refine;
  SpmvPreconditioner preconditioner;
  int                block_size; /* of SPMV_PC_BLOCKS; divides rows */
  int                right;      /* right preconditioning, with norms of b - A x; otherwise left, with norms of M (b - A
                               x) */
  /* w = A p. It is called once per iteration, or once for each iteration of a graph during its capture.
     It must enqueue on exec->stream, which may differ from the caller's stream, and must neither wait nor allocate. For
     plans, use spmv_operator_product(). */
  SpmvApply product;
  void     *product_ctx;
  /* z = M r for SPMV_PC_FUNCTION; M is linear and does not change within a solve */
  SpmvApply apply;
  void     *apply_ctx;
  int       apply_waits; /* apply waits for the host or allocates, so it cannot be captured in a graph */
  double    happy;       /* PETSc's haptol: a new basis vector with a smaller norm ends the cycle */
  double    breakdown;   /* PETSc's breakdown_tolerance: bound on the difference between the recurrence's norm at the
                                         end of a cycle and the norm of the computed residual, relative to the norm at
                                         the beginning of the cycle */
  const SpmvProcesses
         *processes; /* NULL for one process; otherwise SPMV_GMRES_GRAPH only if its functions just enqueue */
  int64_t history;   /* number of the latest norms that are kept for spmv_gmres_history(), 8 bytes each; 0:
                                     none */
  int     chunk;     /* iterations enqueued together, 1 to 64; 0: chosen by the number of rows. With
                                         SPMV_PC_FUNCTION always 1. */
  /* Only spmv_gmres_hessenberg() runs this object: mode SPMV_GMRES_CHUNK, no function as preconditioner.
     The object has no page-locked memory. */
  int hessenberg;
} SpmvGmresOptions;

/* Zeros (double precision, SPMV_GMRES_CHUNK, no preconditioner), except for PETSc's defaults: restart 30, happy 1e-30,
   breakdown 0.1 */
SPMV_API void spmv_gmres_options_init(SpmvGmresOptions *);

typedef struct {
  /* Any SpmvReason except SPMV_INDEFINITE_PC and SPMV_INDEFINITE_MATRIX. SPMV_BREAKDOWN is PETSc's
     CONVERGED_HAPPY_BREAKDOWN. */
  SpmvReason reason;
  int64_t    iterations; /* as KSPGetIterationNumber() counts; the history has as many norms */
  double     norm;       /* of the last iteration; NaN if that is the reason */
  double     first;      /* the norm of iteration 0; NaN or infinite if its sum is */
} SpmvGmresResult;

typedef struct SpmvGmres SpmvGmres;

/* Makes an engine for matrices of one size, and allocates the basis; the exec is for the device. Options are copied.
   *gmres is NULL after a failure. SPMV_ERR_UNSUPPORTED: no device. It may wait. */
SPMV_API SpmvStatus spmv_gmres_create(const SpmvGmresOptions *, SpmvExec *, SpmvGmres **gmres);

/* Begins a solve: the residual of x and its norm. x and b have shape [rows], m is NULL or the values of M. All three
   belong to the caller, lie on the device, may differ from solve to solve, and must stay until the solve ends. x
   is updated in place. x_is_zero says that x holds zeros, so that the product A x is skipped. Only enqueues. */
SPMV_API SpmvStatus spmv_gmres_start(SpmvGmres *, void *x, const void *b, const void *m, int x_is_zero, SpmvExec *);

/* Runs at most that many further iterations, until there is a reason to end; x is then the solution that belongs to the
   norm. With 0 iterations it only gives result->first. May be called again, also with another test, while the reason is
   SPMV_ITERATING; x is then that of the beginning of the cycle. When it
   returns, the stream may still hold kernels that update x. After a failure x is that of the beginning of some cycle,
   once the caller has waited for the stream; the next call must be spmv_gmres_start(). */
SPMV_API SpmvStatus spmv_gmres_run(SpmvGmres *, int64_t iterations, const SpmvTest *, SpmvGmresResult *, SpmvExec *);

/* The matrices of a cycle on the host, by columns of length ld: the Hessenberg matrix, and the triangle that rotations
   make of it. What is below these entries is undefined. They belong to the object, and the next cycle overwrites them. */
typedef struct {
  double *hessenberg, *triangle;
  int     ld;
} SpmvGmresMatrices;

/* After spmv_gmres_start() of an object with options.hessenberg: enqueues the iterations of one cycle, waits once, and
   gives its matrices. x is not updated. */
SPMV_API SpmvStatus spmv_gmres_hessenberg(SpmvGmres *, const SpmvTest *, SpmvGmresMatrices *, SpmvGmresResult *,
                                          SpmvExec *);

/* Enqueues `to` = the solution after the iterations of the last spmv_gmres_run(), without changing the state of the
   solve. to has shape [rows] and does not overlap x. */
SPMV_API SpmvStatus spmv_gmres_solution(SpmvGmres *, void *to, SpmvExec *);

/* Copies the norms of iterations first .. first+count-1, counted from 1, to norms [count] on the host; waits. For the
   last iteration of a cycle it is the norm of the residual computed from x, unless the solve ended there.
   SPMV_ERR_ARGUMENT if one of these iterations is not completed or its norm is no longer kept. */
SPMV_API SpmvStatus spmv_gmres_history(SpmvGmres *, int64_t first, int64_t count, double *norms, SpmvExec *);

typedef struct {
  int64_t bytes, pinned_bytes; /* memory of the object: on the device, and page-locked on the host */
  int     graphs;              /* captured since the object was made */
  /* Cost of the mean iteration of a cycle, without its product and without second orthogonalizations: additions and
     multiplications, vector elements read or written, and the bytes of these and of M */
  double flops, words, traffic_bytes;
} SpmvGmresInfo;
SPMV_API void spmv_gmres_info(const SpmvGmres *, SpmvGmresInfo *);

/* Waits for the stream of the last run, frees the object and sets the pointer to NULL; NULL and a pointer to NULL are
   accepted */
SPMV_API void spmv_gmres_destroy(SpmvGmres **);

#ifdef __cplusplus
}
#endif
#endif
