/*
  mgdevice.h - the part of this folder that solvers and PC types use: a hierarchy that PCMG or PCGAMG has set up, as a
  cycle on the device.

  The hierarchy is used as PETSc made it; each cycle has the same result as PCApply(), up to rounding. Cycles that
  cannot run on the device are left to PETSc, with a reason. hierarchy.h has the flow.
*/
#pragma once

#include <spmv_cycle.h>
#include "pc/impls/point/point.h"

typedef struct MGDevHierarchyStruct *MGDevHierarchy;

typedef struct {
  SpmvCycle    *cycle;  /* the context of spmv_cycle_function(), or NULL */
  PetscInt64    serial; /* while it is unchanged, so are all addresses in the cycle; CUDA graphs rely on it */
  SpmvCycleInfo cycle_info;
  PetscInt      set_ups; /* number of times that data was taken from PETSc */
  PetscBool     single;  /* the cycle is in single precision, its input and output vectors in double */
} MGDevInfo;

/* hierarchy.c. A reason that Update leaves is one on all processes. The caller may pass a reason of this process. Info and
   Bytes take NULL, too. */
PETSC_INTERN PetscErrorCode   MGDevHierarchyCreate(SpmvExec *, MGDevHierarchy *);
PETSC_INTERN PetscErrorCode   MGDevHierarchyUpdate(MGDevHierarchy, PC, char reason[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode   MGDevHierarchyForget(MGDevHierarchy);
PETSC_INTERN PetscErrorCode   MGDevHierarchyDestroy(MGDevHierarchy *);
PETSC_INTERN const MGDevInfo *MGDevHierarchyInfo(MGDevHierarchy);
PETSC_INTERN int64_t          MGDevHierarchyBytes(MGDevHierarchy);
PETSC_INTERN PetscErrorCode   MGDevHierarchyPlan(MGDevHierarchy, Mat, AIJFmtPlanOnDevice *);
PETSC_INTERN PetscErrorCode   MGDevHierarchyView(MGDevHierarchy, PetscViewer);
PETSC_INTERN PetscErrorCode   MGDevIsHierarchy(PC, PetscBool *);
PETSC_INTERN PetscErrorCode   MGDevRegister(void);
/* single_precision.c; called before Update */
PETSC_INTERN PetscErrorCode MGDevHierarchySetPrecision(MGDevHierarchy, PetscBool single);
PETSC_INTERN PetscErrorCode MGDevHierarchySetFromOptions(MGDevHierarchy, PC);
PETSC_INTERN PetscErrorCode MGDevHierarchyDecline(MGDevHierarchy, PC, const char why[]);

/* single_watch.c: whether a cycle in single precision may be the cause of a bad solve */
enum { MGDEV_LOOK = 25 }; /* iterations between two checks of the norm, in a solver on the device */
typedef struct {
  PetscReal best;              /* the smallest norm so far, ignoring decreases that are too small, ... */
  PetscInt  began_at, best_at; /* ... and its iteration */
} MGDevNorms;
PETSC_INTERN void        MGDevNormsBegin(MGDevNorms *, PetscInt iteration, PetscReal);
PETSC_INTERN const char *MGDevNormsTell(MGDevNorms *, PetscInt iteration, PetscReal);
PETSC_INTERN const char *MGDevNormsEnd(const MGDevNorms *, KSP);
/* ... and repeating the solve in double precision. Order of calls: Begin, first solve, End; if *again: an update,
   Again, second solve. */
typedef struct {
  Vec       guess;   /* a copy of the initial guess, or NULL if that is zero */
  size_t    history; /* number of norms kept from earlier solves */
  PetscBool error;   /* non-convergence is an error */
} MGDevTrial;
PETSC_INTERN PetscErrorCode MGDevTrialBegin(KSP, MGDevTrial *);
PETSC_INTERN PetscErrorCode MGDevTrialEnd(KSP, MGDevTrial *, const char why[], MGDevHierarchy, PetscBool *again);
PETSC_INTERN PetscErrorCode MGDevTrialAgain(KSP, MGDevTrial *);
/* Solvers with a PC of these types are watched from outside, except solvers on the device, which register here because
   they watch themselves; they ask for it when they leave a solve to their parent class */
typedef PetscErrorCode (*MGDevSolve)(KSP);
PETSC_INTERN void           MGDevWatchesItself(MGDevSolve);
PETSC_INTERN PetscErrorCode MGDevSolveWatched(KSP, MGDevSolve);

/* pcsetup.c, pctypes.c, pchypre.c: the PC types, each with a hierarchy of its own */
PETSC_INTERN PetscErrorCode MGDevOfPC(PC, MGDevHierarchy *, char reason[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode MGDevTypesRegister(void);
PETSC_INTERN PetscErrorCode MGDevReplaceMG(PetscBool);
PETSC_INTERN PetscErrorCode MGDevReplaceGAMG(PetscBool);
PETSC_INTERN PetscErrorCode MGDevReplaceHypre(PetscBool);

/* For cycles that a solver has enqueued: MGDevLogCycles() logs their flops */
PETSC_INTERN PetscLogEvent  MGDev_SetUp, MGDev_Cycle;
PETSC_INTERN PetscErrorCode MGDevLogCycles(MGDevHierarchy, PetscLogDouble cycles);
