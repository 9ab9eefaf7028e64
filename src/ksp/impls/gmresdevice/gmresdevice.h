/*
  gmresdevice.h - private declarations of KSPGMRESDEVICE, GMRES by the engine of libspmvpack

  A solver of this type is a KSPGMRES, made by PETSc's own creator, with a different solve operation:

    ../device/frame.c (the life of a solver, KSPSetUp() and KSPSolve())
      -> create.c (what GMRES adds)
      -> engine.c (may the engine serve? its data) -> ../device/pc.c, ../device/matrix.c
      -> iterate.c (the engine's iterations, reports to PETSc)
*/
#pragma once

#include <spmv_gmres.h>
#include "ksp/impls/device/device.h"

typedef struct {
  KSPDEVICEHEADER
  /* Tolerances that KSPGMRES keeps in its private struct, noted by wrappers around the functions that it composed */
  PetscReal happy, breakdown;
  PetscErrorCode (*parent_happy)(KSP, PetscReal);
  PetscErrorCode (*parent_breakdown)(KSP, PetscReal);

  Vec              work[2]; /* for PCApply() of unit vectors; NULL until needed */
  AIJFmtVector     b, seen; /* seen: the solution that a monitor asks for */
  SpmvGmres       *engine;
  SpmvGmresOptions engine_options; /* of the current engine */
  PetscBool        running;        /* x does not contain all iterations yet */
} KSP_GMRESDevice;

/* create.c */
PETSC_INTERN KSPDevClass GMRESDevClass;

/* engine.c */
PETSC_INTERN PetscErrorCode GMRESDevWhyParent(KSP, KSPDevice *, const char **why);
PETSC_INTERN PetscErrorCode GMRESDevEngine(KSP, KSPDevice *);
PETSC_INTERN PetscErrorCode GMRESDevVectors(KSP, KSPDevice *);
PETSC_INTERN PetscErrorCode GMRESDevForget(KSPDevice *);

/* iterate.c */
PETSC_INTERN PetscErrorCode GMRESDevIterate(KSP, KSPDevice *);
PETSC_INTERN PetscErrorCode KSPBuildSolution_GMRESDevice(KSP, Vec, Vec *);
