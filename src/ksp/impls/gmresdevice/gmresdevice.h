/*
  gmresdevice.h - private declarations of KSPGMRESDEVICE, GMRES by the engine of libspmvpack

  A solver of this type is a KSPGMRES, made by PETSc's own creator, whose solve is ours:

    KSPSolve(): solve.c (may the engine serve? what it needs) -> ../device
                -> single.c (a cycle in single precision that is not good enough)
                -> iterate.c (the engine's iterations, what PETSc is told about them)

  Whatever the engine does not do is left to the solve of KSPGMRES, with a reason. The state lies in a container composed
  on the KSP, because ksp->data belongs to KSPGMRES.
*/
#pragma once

#include <spmv_gmres.h>
#include "ksp/impls/device/device.h"

typedef struct {
  KSPDEVICEHEADER
  KSPGMRESDeviceMode mode;
  /* What KSPGMRES keeps in a struct of its own: taken note of by the functions that it composed */
  PetscReal happy, breakdown;
  PetscErrorCode (*parent_happy)(KSP, PetscReal);
  PetscErrorCode (*parent_breakdown)(KSP, PetscReal);

  Vec              work[2]; /* for what the PC makes of unit vectors; NULL until they are needed */
  AIJFmtVector     b, seen; /* seen: a solution that a monitor asks for */
  SpmvGmres       *engine;
  SpmvGmresOptions engine_options;              /* that it was made with ... */
  PetscInt64       engine_serial[KSPDEV_PARTS]; /* ... for this product ... */
  PetscInt64       engine_cycle;                /* ... and this cycle of multigrid, or 0 */
  PetscBool        running;                     /* x does not have all iterations */
  PetscBool        by_parent;                   /* a solve of KSPGMRES is going on, or was the last one */
  PetscBool        single;                      /* the cycle is in single precision, ... */
  MGDevNorms       norms;                       /* ... and the norms are watched */
  const char      *fault;                       /* why it was not good enough, or NULL */
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
