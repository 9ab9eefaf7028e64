/*
  gmresdevice.h - private declarations of KSPGMRESDEVICE, GMRES by the engine of libspmvpack

  A solver of this type is a KSPGMRES, made by PETSc's own creator, with a different solve operation.
*/
#pragma once

#include <spmv_gmres.h>
#include "ksp/impls/device/kspdevice.h"

typedef struct {
  KSPDEVICEHEADER
  /* Tolerances that KSPGMRES keeps in its private struct, noted by wrappers around the functions that it composed */
  PetscReal happy, breakdown;
  PetscErrorCode (*parent_happy)(KSP, PetscReal);
  PetscErrorCode (*parent_breakdown)(KSP, PetscReal);

  AIJFmtVector     b, seen; /* seen: the solution that a monitor asks for */
  SpmvGmres       *engine;
  SpmvGmresOptions engine_options; /* of the current engine */
  PetscBool        running;        /* x does not contain all iterations yet */
} KSP_GMRESDevice;

/* gmres_create.c */
PETSC_INTERN KSPDevClass GMRESDevClass;

/* gmres_engine.c */
PETSC_INTERN PetscErrorCode GMRESDevWhyParent(KSP, KSPDevice *, const char **why);
PETSC_INTERN PetscErrorCode GMRESDevEngine(KSP, KSPDevice *);
PETSC_INTERN PetscErrorCode GMRESDevVectors(KSP, KSPDevice *);
PETSC_INTERN PetscErrorCode GMRESDevForget(KSPDevice *);

/* gmres_iterate.c */
PETSC_INTERN PetscErrorCode GMRESDevIterate(KSP, KSPDevice *);
PETSC_INTERN PetscErrorCode KSPBuildSolution_GMRESDevice(KSP, Vec, Vec *);
