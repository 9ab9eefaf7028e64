/*
  cgdevice.h - private declarations of KSPCGDEVICE, conjugate gradients by the engine of libspmvpack

  A solver of this type is a KSPCG, made by PETSc's own creator, with a different solve operation:

    create.c -> options.c
    KSPSolve(): solve.c -> accept.c (may the engine serve?)
                        -> ../device/pc.c, precision.c, engine.c -> ../device/matrix.c or matrix.c
                        -> iterate.c (iteration 0, the engine's iterations, reports to PETSc)
                        -> mixed.c (mixed precision: checks with the true residual)
                        -> single.c (multigrid cycle in single precision: whether it is good enough)

  Solves that the engine cannot do are left to KSPCG, with a reason. The state lies in a container composed on the KSP,
  because ksp->data belongs to KSPCG.
*/
#pragma once

#include <spmv_cg.h>
#include <spmv_values.h>
#include "ksp/impls/device/device.h"

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
  KSPCGDeviceMode      mode;
  KSPCGDevicePrecision precision;

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
  SpmvCgOptions engine_options;              /* options of the current engine ... */
  PetscInt64    engine_serial[KSPDEV_PARTS]; /* ... and the product, ... */
  const void   *engine_rounded;              /* ... the rounded values, or NULL, ... */
  PetscInt64    engine_cycle;                /* ... and the multigrid cycle, or 0, for which it was made */
  PetscBool     no_persistent;               /* the device cannot run the persistent kernel */
  PetscBool     residual_away; /* the residual of the last solve is in r.device, and ksp->work[0] is stale */
  PetscBool     value_unknown; /* the engine did the last solve, so KSPCG does not know its objective function */

  KSPCGDeviceMode used; /* mode of the last solve; AUTO before the first one */
} KSP_CGDevice;

PETSC_INTERN PetscLogEvent KSP_CGDeviceSetUp, KSP_CGDeviceLoop;

/* state.c */
PETSC_INTERN const char     CGDevContainerName[];
PETSC_INTERN PetscErrorCode CGDevStateGet(KSP, KSP_CGDevice **);
PETSC_INTERN PetscErrorCode CGDevRequire(KSP, KSP_CGDevice **);

/* create.c */
PETSC_INTERN PetscErrorCode CGDevRegister(void);
PETSC_INTERN PetscErrorCode CGDevReplaceCG(PetscBool);

/* parent.c */
PETSC_INTERN PetscErrorCode CGDevParentInstall(KSP, KSP_CGDevice *);
PETSC_INTERN PetscErrorCode KSPBuildResidual_CGDevice(KSP, Vec, Vec, Vec *);

/* options.c */
PETSC_INTERN PetscErrorCode KSPSetFromOptions_CGDevice(KSP, AIJFmtOptionItems);

/* precision.c */
PETSC_INTERN PetscErrorCode CGDevMixedBegin(KSP, KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevMixedDecline(KSP, KSP_CGDevice *, const char why[]);
PETSC_INTERN PetscErrorCode CGDevRoundedGet(KSP, KSP_CGDevice *, Mat);
PETSC_INTERN PetscErrorCode CGDevRoundedForget(KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevPrecisionFromOptions(KSP, const KSP_CGDevice *, AIJFmtOptionItems);

/* view.c */
PETSC_INTERN PetscErrorCode KSPView_CGDevice(KSP, PetscViewer);

/* solve.c */
PETSC_INTERN PetscErrorCode KSPSetUp_CGDevice(KSP);
PETSC_INTERN PetscErrorCode KSPSolve_CGDevice(KSP);
PETSC_INTERN PetscErrorCode CGDevForget(KSP_CGDevice *);

/* accept.c: leaves a reason in s->reason if the engine must not serve */
PETSC_INTERN PetscErrorCode CGDevAccept(KSP, KSP_CGDevice *);

/* matrix.c, engine.c: prepare a solve, or leave a reason in s->reason */
PETSC_INTERN PetscErrorCode CGDevMatrixCsr(KSP_CGDevice *, Mat);
PETSC_INTERN PetscErrorCode CGDevEngineGet(KSP, KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevEngineForget(KSP_CGDevice *);

/* iterate.c */
PETSC_INTERN PetscErrorCode CGDevIterate(KSP, KSP_CGDevice *);

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
  /* A multigrid cycle in single precision */
  MGDevNorms norms; /* counted in iterations of this engine */
} CGDevRun;

/* iterate.c, for mixed.c */
PETSC_INTERN PetscErrorCode CGDevStart(KSP, KSP_CGDevice *, const CGDevRun *, PetscReal tolerance);
PETSC_INTERN SpmvCgTest     CGDevTest(KSP, const CGDevRun *, PetscReal tolerance);
PETSC_INTERN PetscErrorCode CGDevNorm(KSP, Vec R, Vec Z, PetscReal *norm);

/* single.c */
PETSC_INTERN PetscErrorCode CGDevSingleWatch(KSP, KSP_CGDevice *, CGDevRun *);
PETSC_INTERN PetscErrorCode CGDevSingleFirst(KSP, KSP_CGDevice *, PetscBool *left);
PETSC_INTERN PetscErrorCode CGDevSingleCheck(KSP, KSP_CGDevice *, CGDevRun *, PetscBool *left);

/* mixed.c */
PETSC_INTERN PetscErrorCode CGDevGoOn(KSP, KSP_CGDevice *, CGDevRun *);
PETSC_INTERN PetscErrorCode CGDevMixedCheck(KSP, KSP_CGDevice *, CGDevRun *, int64_t before);
PETSC_INTERN void           CGDevMixedInit(KSP, CGDevRun *);
PETSC_INTERN PetscReal      CGDevMixedTolerance(KSP, const CGDevRun *);
