/*
  device.h - what the solvers whose iterations run on the device have in common: the operations of the parent class, the
  matrix and the preconditioner there, the reason to leave a solve to the parent, what monitors and tests need

  A state begins with KSPDEVICEHEADER, as PETSc's structs do that derive from one another; KSPDEV() is that part of it.
*/
#pragma once

#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>
#include <petscpack.h>
#include <spmv_engine.h>
#include "mat/impls/seqaijfmt/plan.h"
#include "parallel/processes.h"
#include "pc/impls/mgdevice/mgdevice.h"

enum {
  /* Norms that the device keeps: at most so many iterations between two reports to PETSc */
  KSPDEV_HISTORY = 4096,
  /* Iterations between two looks of a monitor that needs the norms alone: often enough for a reader */
  KSPDEV_MONITOR_STEP = 100,
  KSPDEV_FORMAT_MAX   = 32, /* bytes of a format's name */
  KSPDEV_PARTS        = 3   /* of a product */
};

/* The matrix on the device: its plan, or a plan or a CSR that this solver made of a matrix without one */
typedef struct {
  SpmvOperator     call;           /* the context of spmv_operator_product(); its address is part of graphs */
  AIJFmtPlanCache  own;            /* a plan of this solver, or none */
  AIJFmtPlanCache  others;         /* the same of the columns of other processes, whose entries of x ... */
  PetscPackHalo    halo;           /* ... come by this: of the matrix ... */
  PetscObjectId    id;             /* ... with this number, or 0 ... */
  PetscObjectState pattern;        /* ... and this nonzero state */
  const char      *format;         /* of the plan of the last solve, whose owner may have freed it since */
  SpmvCsr          csr;            /* on the device, with 32-bit indices; valid where ... */
  void            *csr_arrays;     /* ... its arrays are there, in one block */
  AIJFmtKey        csr_key;        /* what csr was made from */
  PetscInt64 serial[KSPDEV_PARTS]; /* of the plan or CSR, of the plan of others, of the halo: another one has another
                                           number; 0: none */
  PetscInt   nonzeros;
  PetscInt   conversions, refreshes; /* of own and csr */
} KSPDevMatrix;

#define KSPDEVICEHEADER                                                                                                  \
  struct _KSPOps     parent; /* the operations of the parent class, for this solver */                                   \
  char               format[KSPDEV_FORMAT_MAX];                                                                          \
  PetscInt           chunk;                                                                                              \
  SpmvExec           exec;                                                                                               \
  PetscBool          several; /* processes solve the system, ... */                                                      \
  PetscPackProcesses all;     /* ... and work together in this way */                                                    \
  KSPDevMatrix       matrix;                                                                                             \
  MGDevPoint         pc;        /* its kind is SPMV_PC_FUNCTION where ... */                                             \
  MGDevHierarchy     multigrid; /* ... the preconditioner is the cycle of this, which is made when it is needed first */ \
  PetscBool          of_pc;     /* it is that of a PC of type mgdevice or gamgdevice, and here is a reference */         \
  PetscInt           cycles;    /* that the device has done */                                                           \
  AIJFmtVector       x;                                                                                                  \
  PetscInt           graphs; /* of engines that are gone */                                                              \
  PetscInt           solves_device, solves_host;                                                                         \
  char               reason[SPMV_MESSAGE_MAX]; /* why the last solve was left to the parent; "" if it was not */

typedef struct {
  KSPDEVICEHEADER
} KSPDevice;
#define KSPDEV(s) ((KSPDevice *)(s))

/* state.c */
PETSC_INTERN PetscErrorCode KSPDevRequire(KSP, const char container[], KSPType, void **state);
PETSC_INTERN PetscErrorCode KSPDevRefuse(KSPDevice *, SpmvStatus);
PETSC_INTERN PetscErrorCode KSPDevVectorPlace(KSPDevice *, AIJFmtVector *, Vec);
PETSC_INTERN PetscErrorCode KSPDevAgree(KSP, KSPDevice *);
PETSC_INTERN PetscErrorCode KSPDevCountCycles(KSPDevice *, int64_t cycles);

/* options.c */
PETSC_INTERN PetscErrorCode KSPDevSetChunk(KSP, KSPDevice *, PetscInt);
PETSC_INTERN PetscErrorCode KSPDevSetFormat(KSP, KSPDevice *, const char format[]);
PETSC_INTERN PetscErrorCode KSPDevFromOptions(KSP, KSPDevice *, const char type[], const char functions[],
                                              AIJFmtOptionItems);

/* accept.c: a reason, where the matrix, of one process or of several, or its null space are beyond the engines */
PETSC_INTERN PetscErrorCode KSPDevWhyMatrix(const KSPDevice *, Mat, const char **why);
PETSC_INTERN PetscErrorCode KSPDevWhyNullSpace(PC, Mat, const char **why);

/* matrix.c, pc.c: prepare a solve, or leave a reason in s->reason */
PETSC_INTERN PetscErrorCode KSPDevMatrixPlan(KSP, KSPDevice *, Mat, Vec);
PETSC_INTERN PetscErrorCode KSPDevMatrixForget(KSPDevice *);
PETSC_INTERN PetscErrorCode KSPDevProcessesForget(KSPDevice *); /* collective on several processes; after the engine */
PETSC_INTERN PetscErrorCode KSPDevPCGet(KSP, KSPDevice *, Vec unit, Vec result);
PETSC_INTERN PetscErrorCode KSPDevPCForget(KSPDevice *);
PETSC_INTERN PetscErrorCode KSPDevPCIsSingle(KSPDevice *, PetscBool *);

/* watch.c */
typedef struct {
  PetscBool user_test;  /* PETSc calls a convergence test after each iteration that the engine does not know */
  PetscBool sees_x;     /* a monitor or test may look at the solution or the residual in each iteration */
  PetscBool want_norms; /* of each iteration, for monitors, a history or a test */
  int64_t   step;       /* iterations for each call of the engine */
} KSPDevWatch;
PETSC_INTERN PetscErrorCode KSPDevWatchBegin(KSP, KSPDevWatch *);
PETSC_INTERN PetscErrorCode KSPDevTellNorm(KSP, PetscInt iteration, PetscReal norm);
PETSC_INTERN PetscErrorCode KSPDevTestFirst(KSP, PetscReal norm);
PETSC_INTERN SpmvTest       KSPDevTest(KSP, PetscReal tolerance);
PETSC_INTERN void           KSPDevSetReason(KSP, SpmvReason, KSPConvergedReason breakdown);

/* Goes on after success; a refusal of the library, such as too little memory on the device, becomes the reason to
   solve on the host, and the function returns; a failure becomes an error. With several processes KSPDevAgree() must
   follow before the next collective call. */
#define KSPDevTry(s, call)                                                                                             \
  do {                                                                                                                 \
    PetscCall(KSPDevRefuse(KSPDEV(s), (call)));                                                                        \
    if ((s)->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);                                                            \
  } while (0)
