/*
  pctypes.h - private declarations of the PC types mgdevice and gamgdevice

  A PC of these types is a PCMG or a PCGAMG, made by PETSc's own creator. Some of its operations are ours.

  If the hierarchy cannot be served, PCApply() is PETSc's, with a reason. The state lies in a container composed on the
  PC, because pc->data belongs to PETSc's type.
*/
#pragma once

#include "hierarchy.h"

typedef struct {
  struct _PCOps        parent; /* the operations of PETSc's type, for this PC */
  const struct _PCOps *ours;   /* the operations that replace them */
  MGDevHierarchy       hierarchy;
  PetscBool            compare;    /* compare cycles in single precision with PETSc's at set-up */
  PetscInt             prepared;   /* updates of the hierarchy when vectors were last placed and cycles compared */
  PetscBool            limit_set;  /* rows per process: the program or an option has set the limit of PCGAMG, ... */
  PetscBool            limit_ours; /* ... or the last set-up had ours */
  PetscBool            serves;     /* the hierarchy is on the device and belongs to the last set-up */
  PetscObjectState     finest;     /* of the matrix of the finest level, when the hierarchy was last updated */
  AIJFmtVector         b, x;
  Vec                  correction; /* of Richardson's iteration */
  PetscInt             applies_device, applies_petsc;
  char                 reason[SPMV_MESSAGE_MAX]; /* why PETSc did the last application, or will do the next one */
} PC_MGDevice;

/* pcstate.c. MGDevStateGet() gives NULL for a PC of another type, also if that type was made from ours: then it has
   restored PETSc's operations. petsc: PETSc's operations in either case, or NULL */
PETSC_INTERN PetscErrorCode MGDevStateGet(PC, PC_MGDevice **, const struct _PCOps **petsc);
PETSC_INTERN PetscErrorCode MGDevStateForget(PC_MGDevice *);
PETSC_INTERN PetscErrorCode MGDevStateCreate(PC, const struct _PCOps *ours);
PETSC_INTERN PetscErrorCode MGDevStateFree(PC);

/* pcsetup.c */
PETSC_INTERN PetscErrorCode MGDevWhyNoDevice(char reason[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode PCSetUp_MGDevice(PC);
PETSC_INTERN PetscErrorCode MGDevStateUpdate(PC, PC_MGDevice *);
PETSC_INTERN PetscErrorCode PCPreSolve_MGDevice(PC, KSP, Vec, Vec);

/* pclimit.c */
PETSC_INTERN PetscErrorCode MGDevLimitWatch(PC);
PETSC_INTERN PetscErrorCode MGDevLimitFromOptions(PC, PC_MGDevice *);
PETSC_INTERN PetscErrorCode MGDevLimitSetUp(PC, PC_MGDevice *);
PETSC_INTERN PetscErrorCode MGDevLimitView(const PC_MGDevice *, PetscViewer);

/* single_watch.c */
PETSC_INTERN PetscErrorCode MGDevWatchNext(KSP);

/* pcapply.c. MGDevCycleOnce() counts nothing, and needs vectors of a kind that was placed */
PETSC_INTERN PetscErrorCode MGDevCycleOnce(PC, PC_MGDevice *, Vec, Vec);
PETSC_INTERN PetscErrorCode PCApply_MGDevice(PC, Vec, Vec);
PETSC_INTERN PetscErrorCode PCApplyTranspose_MGDevice(PC, Vec, Vec);
PETSC_INTERN PetscErrorCode PCMatApply_MGDevice(PC, Mat, Mat);
PETSC_INTERN PetscErrorCode PCApplyRichardson_MGDevice(PC, Vec, Vec, Vec, PetscReal, PetscReal, PetscReal, PetscInt,
                                                       PetscBool, PetscInt *, PCRichardsonConvergedReason *);

/* pctypes.c, for pchypre.c */
PETSC_INTERN PetscErrorCode PCSetFromOptions_MGDevice(PC, AIJFmtOptionItems);
PETSC_INTERN PetscErrorCode PCDestroy_MGDevice(PC);
PETSC_INTERN PetscErrorCode MGDevCreateAsGamg(PC);

/* pcview.c */
PETSC_INTERN PetscErrorCode PCView_MGDevice(PC, PetscViewer);
