/*
  mgdevice.h - what solvers and PC types take from here: the hierarchy that PETSc's PCMG or PCGAMG has set up, as a cycle
  on the device; and the preconditioner of a point or a block of points as numbers there.

  A hierarchy is taken as PETSc made it, and cycle by cycle it does what PCApply() does, but for rounding. Whatever it
  does not do is left to PETSc, with a reason. hierarchy.h has the flow.
*/
#pragma once

#include <petsc/private/pcimpl.h>
#include <petscpack.h>
#include <spmv_cycle.h>
#include "mat/impls/seqaijfmt/plan.h"

/* What was seen of a PC when something was taken from it: another PC, type, matrix or value has another key. Zeros are
   none. */
typedef struct {
  PetscObjectId id, matrix; /* of the PC, and of the matrix that it is made from */
  char          type[32];
  unsigned char matrix_state[sizeof(((struct _p_PC *)NULL)->matstate)];
} MGDevKey;

/* A preconditioner M on the device, and what it was taken from. Zeros are none. */
typedef struct {
  SpmvPreconditioner kind;
  PetscInt           block;
  void              *values;
  int64_t            bytes;
  PetscInt           variant; /* the options of PCJACOBI */
  MGDevKey           key;
} MGDevPoint;

/* key.c */
PETSC_INTERN PetscErrorCode MGDevKeyGet(PC, MGDevKey *);
PETSC_INTERN PetscErrorCode MGDevKeySame(const MGDevKey *, const MGDevKey *, PetscBool *same);

/* point.c */
PETSC_INTERN PetscErrorCode MGDevPointDescribe(PC, MGDevPoint *, char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode MGDevPointReserve(MGDevPoint *, const MGDevPoint *wanted, PetscInt rows, SpmvExec *,
                                              SpmvStatus *, PetscBool *current);
PETSC_INTERN PetscErrorCode MGDevPointFill(MGDevPoint *, const MGDevPoint *wanted, PC, Vec unit, Vec result,
                                           SpmvExec *);
PETSC_INTERN void           MGDevPointFree(MGDevPoint *, SpmvExec *);

typedef struct MGDevHierarchyStruct *MGDevHierarchy;

typedef struct {
  SpmvCycle    *cycle;  /* the context of spmv_cycle_function() */
  PetscInt64    serial; /* while it stays, so do all addresses in the cycle, for graphs that hold them */
  SpmvCycleInfo cycle_info;
  int64_t       bytes;   /* on the device, those of the cycle included */
  PetscInt      set_ups; /* how often something was taken from PETSc */
  PetscBool     single;  /* the cycle is in single precision between vectors in double precision */
} MGDevInfo;

/* hierarchy.c. Where Update leaves a reason, nothing else may be asked for before the next Update or Forget. */
PETSC_INTERN PetscErrorCode MGDevHierarchyCreate(SpmvExec *, MGDevHierarchy *);
PETSC_INTERN PetscErrorCode MGDevHierarchyUpdate(MGDevHierarchy, PC, char reason[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode MGDevHierarchyForget(MGDevHierarchy);
PETSC_INTERN PetscErrorCode MGDevHierarchyDestroy(MGDevHierarchy *);
PETSC_INTERN PetscErrorCode MGDevHierarchyInfo(MGDevHierarchy, MGDevInfo *);
PETSC_INTERN PetscErrorCode MGDevHierarchyPlan(MGDevHierarchy, Mat, AIJFmtPlanOnDevice *);
PETSC_INTERN PetscErrorCode MGDevHierarchyView(MGDevHierarchy, PetscViewer);
PETSC_INTERN PetscErrorCode MGDevIsHierarchy(PC, PetscBool *);
/* single.c; before Update */
PETSC_INTERN PetscErrorCode MGDevHierarchySetPrecision(MGDevHierarchy, PetscBool single);
PETSC_INTERN PetscErrorCode MGDevHierarchySetFromOptions(MGDevHierarchy, PC);
PETSC_INTERN PetscErrorCode MGDevHierarchyDecline(MGDevHierarchy, PC, const char why[]);
PETSC_INTERN PetscErrorCode MGDevRegister(void);

/* watch.c: whether a cycle in single precision may be to blame for how a solve goes */
enum { MGDEV_LOOK = 25 }; /* iterations from one look at the norm to the next, of a solver on the device */
typedef struct {
  PetscReal best;              /* the smallest norm so far, less what is too little, ... */
  PetscInt  began_at, best_at; /* ... and its iteration */
} MGDevNorms;
PETSC_INTERN void        MGDevNormsBegin(MGDevNorms *, PetscInt iteration, PetscReal);
PETSC_INTERN const char *MGDevNormsTell(MGDevNorms *, PetscInt iteration, PetscReal);
PETSC_INTERN const char *MGDevNormsEnd(const MGDevNorms *, KSP);
/* ... and the solve anew, in double precision: Begin, the first try, End; after *again an update, Again, the second try */
typedef struct {
  Vec       guess;   /* a copy of the initial guess, or NULL where that is zero */
  size_t    history; /* norms that are kept of earlier solves */
  PetscBool error;   /* a solve that does not converge is an error */
} MGDevTrial;
PETSC_INTERN PetscErrorCode MGDevTrialBegin(KSP, MGDevTrial *);
PETSC_INTERN PetscErrorCode MGDevTrialEnd(KSP, MGDevTrial *, const char why[], MGDevHierarchy, PetscBool *again);
PETSC_INTERN PetscErrorCode MGDevTrialAgain(KSP, MGDevTrial *);
/* Other solvers with a PC of these types are watched; a solver on the device says that it does that itself, and asks for it
   where it leaves a solve to its parent class */
typedef PetscErrorCode (*MGDevSolve)(KSP);
PETSC_INTERN void           MGDevWatchesItself(MGDevSolve);
PETSC_INTERN PetscErrorCode MGDevSolveWatched(KSP, MGDevSolve);

/* setup.c, create.c: the PC types, which have a hierarchy of their own */
PETSC_INTERN PetscErrorCode MGDevOfPC(PC, MGDevHierarchy *, char reason[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode MGDevTypesRegister(void);
PETSC_INTERN PetscErrorCode MGDevReplaceMG(PetscBool);
PETSC_INTERN PetscErrorCode MGDevReplaceGAMG(PetscBool);

/* For the cycles that a solver had enqueued: MGDevLogCycles() counts their operations */
PETSC_INTERN PetscLogEvent  MGDev_SetUp, MGDev_Cycle;
PETSC_INTERN PetscErrorCode MGDevLogCycles(MGDevHierarchy, PetscLogDouble cycles);
