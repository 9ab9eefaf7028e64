/*
  gmresdevice.h - private declarations of KSPGMRESDEVICE, GMRES by the engine of libspmvpack

  A solver of this type is a KSPGMRES, made by PETSc's own creator, with a different solve operation:

    KSPSolve(): solve.c (may the engine serve? the data that it needs) -> ../device
                -> single.c (a cycle in single precision that is not good enough)
                -> iterate.c (the engine's iterations, reports to PETSc)

  Solves that the engine cannot do are left to KSPGMRES, with a reason. The state lies in a container composed on the
  KSP, because ksp->data belongs to KSPGMRES.
*/
#pragma once

#include <spmv_gmres.h>
#include "ksp/impls/device/device.h"

typedef struct {
  KSPDEVICEHEADER
  KSPGMRESDeviceMode mode;
  /* Tolerances that KSPGMRES keeps in its private struct, noted by wrappers around the functions that it composed */
  PetscReal happy, breakdown;
  PetscErrorCode (*parent_happy)(KSP, PetscReal);
  PetscErrorCode (*parent_breakdown)(KSP, PetscReal);

  Vec              work[2]; /* for PCApply() of unit vectors; NULL until needed */
  AIJFmtVector     b, seen; /* seen: the solution that a monitor asks for */
  SpmvGmres       *engine;
  SpmvGmresOptions engine_options;              /* options of the current engine ... */
  PetscInt64       engine_serial[KSPDEV_PARTS]; /* ... the product ... */
  PetscInt64       engine_cycle;                /* ... and the multigrid cycle, or 0, for which it was made */
  PetscBool        running;                     /* x does not contain all iterations yet */
  PetscBool        by_parent;                   /* a solve by KSPGMRES is in progress, or was the last one */
  PetscBool        single;                      /* the cycle is in single precision, ... */
  MGDevNorms       norms;                       /* ... and its norms are watched */
  const char      *fault;                       /* why the cycle was not good enough, or NULL */
} KSP_GMRESDevice;

/* create.c */
PETSC_INTERN PetscErrorCode GMRESDevRegister(void);
PETSC_INTERN PetscErrorCode GMRESDevReplace(PetscBool);
PETSC_INTERN PetscErrorCode GMRESDevStateGet(KSP, KSP_GMRESDevice **);
PETSC_INTERN PetscErrorCode GMRESDevRequire(KSP, KSP_GMRESDevice **);

/* options.c */
PETSC_INTERN PetscErrorCode KSPSetFromOptions_GMRESDevice(KSP, AIJFmtOptionItems);

/* solve.c */
PETSC_INTERN PetscErrorCode KSPSolve_GMRESDevice(KSP);
PETSC_INTERN PetscErrorCode GMRESDevPrepare(KSP, KSP_GMRESDevice *);
PETSC_INTERN PetscErrorCode GMRESDevForget(KSP_GMRESDevice *);

/* single.c */
PETSC_INTERN PetscErrorCode GMRESDevSolve(KSP, KSP_GMRESDevice *);
PETSC_INTERN void           GMRESDevSingleWatch(KSP, KSP_GMRESDevice *, KSPDevWatch *);
PETSC_INTERN void           GMRESDevSingleCheck(KSP, KSP_GMRESDevice *, const SpmvGmresResult *);

/* iterate.c */
PETSC_INTERN PetscErrorCode GMRESDevIterate(KSP, KSP_GMRESDevice *);
PETSC_INTERN PetscErrorCode KSPBuildSolution_GMRESDevice(KSP, Vec, Vec *);
