/*
  pctypes.h - private declarations of the PC types mgdevice and gamgdevice

  A PC of these types is a PCMG or a PCGAMG, made by PETSc's own creator. Some of its operations are ours:

    create.c    the types: creation, reset, destruction, the names mg and gamg for them
    setup.c     PCSetUp() is PETSc's and then takes the hierarchy to the device; KSPSolve() asks what has changed since
    apply.c     PCApply() is a cycle on the device; applications of PETSc's that are made of it
    compare.c   a cycle in single precision against PETSc's
    watch.c     solves with a cycle in single precision
    pcview.c    PCView(), PCMGDeviceGetInfo()

  Where the hierarchy cannot be served, PCApply() is PETSc's, with a reason. The state lies in a container composed on the
  PC, because pc->data belongs to PETSc's type.
*/
#pragma once

#include "hierarchy.h"

typedef struct {
  struct _PCOps    parent; /* the operations of PETSc's type, for this PC */
  MGDevHierarchy   hierarchy;
  PetscBool        compare;  /* cycles in single precision, with PETSc's, at set-up */
  PetscInt         prepared; /* the number of set-ups of the hierarchy, when vectors were placed and cycles compared */
  PetscBool        serves;   /* the hierarchy is that of the last set-up, and on the device */
  PetscObjectState finest;   /* of the matrix of the finest level, when the hierarchy was brought up to date */
  AIJFmtVector     b, x;
  Vec              correction; /* of Richardson's iteration */
  PetscInt         applies_device, applies_petsc;
  char             reason[SPMV_MESSAGE_MAX]; /* why the last application was PETSc's, or why the next will be */
} PC_MGDevice;

/* create.c. MGDevStateGet() leaves NULL for a PC of another type, also where that type has been made from ours: then the
   PC has the operations of PETSc again. */
PETSC_INTERN PetscErrorCode MGDevStateGet(PC, PC_MGDevice **);
PETSC_INTERN PetscErrorCode MGDevStateForget(PC_MGDevice *);

/* setup.c */
PETSC_INTERN PetscErrorCode PCSetUp_MGDevice(PC);
PETSC_INTERN PetscErrorCode MGDevStateUpdate(PC, PC_MGDevice *);
PETSC_INTERN PetscErrorCode PCPreSolve_MGDevice(PC, KSP, Vec, Vec);

/* compare.c, watch.c */
PETSC_INTERN PetscErrorCode MGDevCompare(PC, PC_MGDevice *, Vec, Vec, char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode MGDevWatchNext(KSP);

/* apply.c. MGDevCycleOnce() counts nothing, and wants vectors of a kind that was placed */
PETSC_INTERN PetscErrorCode MGDevCycleOnce(PC, PC_MGDevice *, Vec, Vec);
PETSC_INTERN PetscErrorCode PCApply_MGDevice(PC, Vec, Vec);
PETSC_INTERN PetscErrorCode PCApplyTranspose_MGDevice(PC, Vec, Vec);
PETSC_INTERN PetscErrorCode PCMatApply_MGDevice(PC, Mat, Mat);
PETSC_INTERN PetscErrorCode PCApplyRichardson_MGDevice(PC, Vec, Vec, Vec, PetscReal, PetscReal, PetscReal, PetscInt,
                                                       PetscBool, PetscInt *, PCRichardsonConvergedReason *);

/* pcview.c */
PETSC_INTERN PetscErrorCode PCView_MGDevice(PC, PetscViewer);
