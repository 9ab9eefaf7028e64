/*
  cgdevice.h - private declarations of KSPCGDEVICE, conjugate gradients by the engine of libspmvpack, and of
  KSPRICHARDSONDEVICE, by the same engine

  A solver of this type is a KSPCG, made by PETSc's own creator, with a different solve operation:

    ../device/frame.c (the life of a solver, KSPSetUp() and KSPSolve())
      -> cg_create.c (what CG adds: may the engine serve? vectors, counters)
      -> cg_engine.c -> ../device/solver_pc.c, cg_precision.c, ../device/solver_matrix.c or cg_persistent_csr.c
      -> cg_iterate.c (iteration 0, the engine's iterations, reports to PETSc)
      -> cg_mixed.c (mixed precision: checks with the true residual)
*/
#pragma once

#include <spmv_cg.h>
#include <spmv_values.h>
#include "ksp/impls/device/kspdevice.h"

/* The values of the plan rounded to single precision, for solves in mixed precision */
typedef struct {
  void            *values;
  int64_t          bytes;
  PetscInt64       serial; /* of the plan whose values were rounded ... */
  PetscObjectId    id;     /* ... which belongs to this matrix ... */
  PetscObjectState state;  /* ... in this state; id is 0 if there are none */
} CGDevRounded;

/* Mixed precision: settings of a solve, and results of the last one */
typedef struct {
  PetscBool        on;                    /* products use the rounded matrix */
  PetscInt         corrections;           /* of the last solve */
  char             why[SPMV_MESSAGE_MAX]; /* why the solve ran, or ended, in double precision */
  PetscObjectId    failed_id;             /* a matrix for which mixed precision was not enough, with ... */
  PetscObjectState failed_nonzero;        /* ... this nonzero state: it is not tried again */
} CGDevMixed;

typedef struct {
  KSPDEVICEHEADER
  KSPCGDevicePrecision precision;
  PetscReal            scale; /* of KSPRICHARDSONDEVICE; 0: CG */

  /* Settings of KSPCG that the engine does not have, noted by wrappers around the functions that KSPCG composed */
  PetscBool single_reduction;
  PetscReal radius, objective;
  PetscErrorCode (*parent_single_reduction)(KSP, PetscBool);
  PetscErrorCode (*parent_radius)(KSP, PetscReal);
  PetscErrorCode (*parent_objective)(KSP, PetscReal);
  PetscErrorCode (*parent_value)(KSP, PetscReal *);

  CGDevRounded  rounded;
  CGDevMixed    mixed;
  AIJFmtVector  r;
  SpmvCg       *engine;
  SpmvCgOptions engine_options; /* of the current engine */
  PetscBool     no_persistent;  /* the device cannot run the persistent kernel */
  PetscBool     residual_away;  /* the residual of the last solve is in r.device alone */
  PetscBool     value_unknown;  /* the engine did the last solve, so KSPCG does not know its objective function */
} KSP_CGDevice;

/* cg_create.c */
PETSC_INTERN KSPDevClass CGDevClass, RichardsonDevClass;

/* cg_parent.c */
PETSC_INTERN PetscErrorCode CGDevParentInstall(KSP, KSPDevice *);

/* cg_precision.c */
PETSC_INTERN PetscErrorCode CGDevMixedBegin(KSP, KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevMixedDecline(KSP, KSP_CGDevice *, const char why[]);
PETSC_INTERN PetscErrorCode CGDevRoundedGet(KSP, KSP_CGDevice *, Mat);
PETSC_INTERN PetscErrorCode CGDevRoundedForget(KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevPrecisionFromOptions(KSP, KSPDevice *, AIJFmtOptionItems);
PETSC_INTERN PetscErrorCode CGDevPrecisionView(const KSPDevice *, PetscViewer);

/* cg_persistent_csr.c, cg_engine.c: prepare a solve, or leave a reason in s->reason */
PETSC_INTERN PetscErrorCode CGDevMatrixCsr(KSP_CGDevice *, Mat);
PETSC_INTERN PetscErrorCode CGDevEngineGet(KSP, KSP_CGDevice *);

/* cg_iterate.c */
PETSC_INTERN PetscErrorCode CGDevIterate(KSP, KSPDevice *);

/* A solve in progress */
typedef struct {
  KSPDevWatch  watch;
  int64_t      offset; /* iterations by earlier engines in this solve */
  SpmvCgResult result; /* of the current engine */
  /* Mixed precision */
  PetscReal checked; /* the norm of the last true residual */
  PetscReal drop;    /* compute the next true residual when the norm of the recurrence is below drop * checked ... */
  int64_t   limit;   /* ... or after this many iterations of this engine */
  int64_t   stage;   /* iterations of this engine at the last true residual ... */
  int64_t   first;   /* ... and at the first one */
} CGDevRun;

/* cg_iterate.c, for cg_mixed.c */
PETSC_INTERN PetscErrorCode CGDevStart(KSP, KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevNorm(KSP, KSP_CGDevice *, PetscReal *norm);
PETSC_INTERN PetscErrorCode CGDevResidualFetch(KSP, KSP_CGDevice *);

/* cg_mixed.c */
PETSC_INTERN PetscErrorCode CGDevMixedCheck(KSP, KSP_CGDevice *, CGDevRun *, int64_t before);
PETSC_INTERN void           CGDevMixedInit(KSP, CGDevRun *);
PETSC_INTERN PetscReal      CGDevMixedTolerance(KSP, const CGDevRun *);
