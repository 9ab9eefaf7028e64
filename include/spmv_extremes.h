/*
  spmv_extremes.h - estimates of the extreme eigenvalues of M A by a few iterations of a Krylov method, on one GPU, for
  smoothers and prolongators of multigrid.

  The right-hand side, the iterations and the small matrix are those of PETSc: KSPSetNoisy_Private(), then KSPCG with its
  Lanczos matrix or KSPGMRES with its Hessenberg matrix. So are the estimates, up to rounding.
*/
#ifndef SPMV_EXTREMES_H
#define SPMV_EXTREMES_H

#include "spmv_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is estimated: the eigenvalues of the Lanczos matrix of conjugate gradients, for a symmetric positive definite A;
   the singular values of the triangle that GMRES makes of its Hessenberg matrix; or the real parts of the eigenvalues of
   that Hessenberg matrix */
typedef enum { SPMV_EXTREMES_LANCZOS, SPMV_EXTREMES_SINGULAR, SPMV_EXTREMES_REAL } SpmvExtremesKind;

enum { SPMV_EXTREMES_STEPS = 30 }; /* the most steps: a cycle of PETSc's GMRES */

typedef struct {
  int64_t            rows;
  SpmvScalar         scalar_type;
  SpmvExtremesKind   kind;
  int                steps;          /* 1 to SPMV_EXTREMES_STEPS */
  SpmvPreconditioner preconditioner; /* not SPMV_PC_FUNCTION */
  int                block_size;     /* of SPMV_PC_BLOCKS */
  const void        *m;              /* the values of M on the device, or NULL for SPMV_PC_IDENTITY */
  int                inverse;        /* m is a diagonal whose inverse is M; where it is 0, M is 1 */
  SpmvApply          product;        /* as for spmv_cg_create() */
  void              *product_ctx;
  /* NULL, or the processes that own the other rows, of which each calls spmv_extremes(); first_row is that of this one */
  const SpmvProcesses *processes;
  int64_t              first_row;
  /* The iterations end early if the norm of M r has become so small, relative to the first one. Beyond 1e-12 the method
     has found all that it can, and goes on with rounding errors. */
  double tolerance;
  /* Orthonormal vectors, of shape [null_vectors][rows] on the device, that A maps to 0: their components are removed from
     each M r, and with null_rhs, which SPMV_EXTREMES_LANCZOS needs, from the right-hand side first. At most
     SPMV_SUMS_MAX. */
  int         null_vectors, null_rhs;
  const void *null_space;
} SpmvExtremesOptions;

typedef struct {
  double least, largest;
  int    steps; /* done */
} SpmvExtremes;

/* Waits once. All memory is taken and freed in the order of exec->stream, as scratch memory. SPMV_ERR_MATRIX: the
   iterations gave no estimate, because A is not what the kind needs, or holds something that is no number. */
SPMV_API SpmvStatus spmv_extremes(const SpmvExtremesOptions *, SpmvExec *, SpmvExtremes *);

#ifdef __cplusplus
}
#endif
#endif
