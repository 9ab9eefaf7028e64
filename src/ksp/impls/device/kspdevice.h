/*
  kspdevice.h - the common part of the solvers whose iterations run on the device: the operations of the parent class,
  the matrix and the preconditioner on the device, the reason to leave a solve to the parent, the needs of monitors and
  tests

  A state begins with KSPDEVICEHEADER, as in PETSc's structs that derive from one another; KSPDEV() is that part of it.
*/
#pragma once

#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>
#include <petscpack.h>
#include <spmv_direct.h>
#include <spmv_factor.h>
#include <spmv_engine.h>
#include "mat/impls/aij/plan.h"
#include "parallel/processes.h"
#include "pc/impls/factor/pcfactor.h"
#include "pc/impls/multigrid/mgdevice.h"

enum {
  /* Norms kept on the device: the largest number of iterations between two reports to PETSc */
  KSPDEV_HISTORY = 4096,
  /* Iterations between two calls of a monitor that needs norms only: frequent enough for a human reader */
  KSPDEV_MONITOR_STEP = 100,
  KSPDEV_FORMAT_MAX   = 32, /* bytes of a format's name */
  KSPDEV_PARTS        = 3   /* of a product */
};

/* The matrix on the device: its own plan, or a plan or CSR that this solver made for it */
typedef struct {
  SpmvOperator     call;                 /* the context of spmv_operator_product(); its address is part of graphs */
  AIJFmtPlanCache  own;                  /* a plan made by this solver, or none */
  AIJFmtPlanCache  ghost_columns;        /* the same for the columns of other processes, whose entries of x ... */
  PetscPackHalo    halo;                 /* ... arrive through this halo, of the matrix ... */
  PetscObjectId    id;                   /* ... with this number, or 0 ... */
  PetscObjectState pattern;              /* ... and this nonzero state */
  const char      *format;               /* of the plan of the last solve, which its owner may have freed */
  SpmvCsr          csr;                  /* on the device, with 32-bit indices; valid if ... */
  void            *csr_arrays;           /* ... its arrays, in one block, exist */
  AIJFmtKey        csr_key;              /* identifies the source of csr */
  PetscInt64       serial[KSPDEV_PARTS]; /* of plan or CSR, plan of others, halo; 0: none */
  PetscInt         nonzeros;
  PetscInt         conversions, refreshes; /* of own and csr */
} KSPDevMatrix;

/* What an engine was made for, besides its options: the product, the function for M or 0, and rounded values or NULL */
typedef struct {
  PetscInt64  product[KSPDEV_PARTS], function;
  const void *rounded;
} KSPDevEngineKey;

typedef struct KSPDevClass KSPDevClass;

#define KSPDEVICEHEADER                                                                                                \
  const KSPDevClass *of;                                                                                               \
  struct _KSPOps     parent;        /* the operations of the parent class, for this solver */                          \
  PetscBool          parent_set_up; /* its set-up waits until it solves */                                             \
  KSPDeviceMode      mode, used;    /* as set; of the last solve: HOST by the parent, AUTO before the first */         \
  char               format[KSPDEV_FORMAT_MAX];                                                                        \
  PetscInt           chunk;                                                                                            \
  SpmvExec           exec;                                                                                             \
  PetscBool          several; /* several processes solve the system ... */                                             \
  PetscPackProcesses all;     /* ... and communicate through this */                                                   \
  KSPDevMatrix       matrix;                                                                                           \
  MGDevPoint         pc;        /* kind SPMV_PC_FUNCTION: ... */                                                       \
  PCFunction         function;  /* ... factors or sweeps of the PC, or, if it is NULL, ... */                          \
  MGDevHierarchy     multigrid; /* ... the cycle of this hierarchy, made when first needed */                          \
  PetscBool          of_pc;     /* it is shared with a PC of type mgdevice or gamgdevice, and this is a reference */   \
  PetscInt           cycles;    /* done on the device */                                                               \
  PetscBool          single;    /* the cycle is in single precision, ... */                                            \
  MGDevNorms         norms;     /* ... its norms are watched, ... */                                                   \
  const char        *fault;     /* ... and this is why it was not good enough, or NULL */                              \
  AIJFmtVector       x;                                                                                                \
  Vec                work[2]; /* NULL until KSPDevWork() */                                                            \
  KSPDevEngineKey    engine_key;                                                                                       \
  SpmvFailure        failure; /* of calls of the engine, on several processes */                                       \
  PetscInt           graphs;  /* captured by engines that no longer exist */                                           \
  PetscInt           solves_device, solves_host;                                                                       \
  char               reason[SPMV_MESSAGE_MAX]; /* why the last solve was left to the parent; "" if it was not */

typedef struct {
  KSPDEVICEHEADER
} KSPDevice;
#define KSPDEV(s) ((KSPDevice *)(s))
/* Whether the preconditioner is a multigrid cycle */
#define KSPDevHasCycle(s) ((s)->pc.kind == SPMV_PC_FUNCTION && !(s)->function)

/* A type that stands around a KSP type of PETSc. Functions leave a reason in s->reason if the device cannot serve. */
struct KSPDevClass {
  KSPType     type, parent_type;
  const char *parent_name;                                          /* in views */
  int         modes;                                                /* the first so many of KSPDeviceModes */
  size_t      bytes;                                                /* of the state */
  PetscErrorCode (*create)(KSP);                                    /* KSPDevCreate() with this class */
  PetscErrorCode (*install)(KSP, KSPDevice *);                      /* more operations of a new solver, or NULL */
  PetscErrorCode (*options)(KSP, KSPDevice *, AIJFmtOptionItems);   /* more options, or NULL */
  PetscErrorCode (*why_parent)(KSP, KSPDevice *, const char **why); /* features of the parent that the engine lacks */
  PetscErrorCode (*engine)(KSP, KSPDevice *);                       /* makes or keeps it, with its preconditioner */
  PetscErrorCode (*vectors)(KSP, KSPDevice *);                      /* places those besides x */
  PetscErrorCode (*iterate)(KSP, KSPDevice *);
  SpmvStatus (*make)(KSPDevice *, const void *wanted); /* makes an engine with these options */
  void (*unmake)(KSPDevice *);
  SpmvStatus (*history)(KSPDevice *, int64_t first, int64_t n, double norms[]);
  PetscErrorCode (*forget)(KSPDevice *);                  /* frees what belongs to the engine */
  void (*info)(const KSPDevice *, KSPDeviceInfo *);       /* adds what the engine has */
  PetscErrorCode (*view)(const KSPDevice *, PetscViewer); /* more lines, or NULL */
  PetscErrorCode (*create_parent)(KSP);                   /* PETSc's creator; set by KSPDevRegister() */
};

/* frame.c; state: the address of a pointer to the state */
PETSC_INTERN PetscErrorCode KSPDevEventsRegister(void);
PETSC_INTERN PetscErrorCode KSPDevRegister(KSPDevClass *);
PETSC_INTERN PetscErrorCode KSPDevReplace(const KSPDevClass *, PetscBool);
PETSC_INTERN PetscErrorCode KSPDevCreate(KSP, const KSPDevClass *);
PETSC_INTERN PetscErrorCode KSPDevStateGet(KSP, const KSPDevClass *, void *state);
PETSC_INTERN PetscErrorCode KSPDevParentSetUp(KSP, KSPDevice *);
PETSC_INTERN PetscErrorCode KSPDevStateRequire(KSP, const KSPDevClass *, void *state);
PETSC_INTERN PetscErrorCode KSPSolve_Device(KSP);

/* solver_options.c */
PETSC_INTERN PetscErrorCode KSPSetFromOptions_Device(KSP, AIJFmtOptionItems);
PETSC_INTERN PetscErrorCode KSPView_Device(KSP, PetscViewer);

/* solver_state.c */
PETSC_INTERN void           KSPDevEngineBegin(KSPDevice *);
PETSC_INTERN PetscErrorCode KSPDevEngineEnd(KSP, KSPDevice *, size_t history);
PETSC_INTERN PetscErrorCode KSPDevWork(KSP, KSPDevice *, int which, Vec *); /* 0 or 1 */
PETSC_INTERN PetscErrorCode KSPDevVectorPlace(KSPDevice *, AIJFmtVector *, Vec);
PETSC_INTERN PetscErrorCode KSPDevAgree(KSP, KSPDevice *);
PETSC_INTERN PetscErrorCode KSPDevCountApplies(KSPDevice *, int64_t applies); /* of a function */
/* Keeps the engine if it was made for the product, the cycle and the options of now, or makes another one. wanted,
   options: of that many bytes, those of now and of the engine */
PETSC_INTERN PetscErrorCode KSPDevEngineGet(KSPDevice *, const void *wanted, void *options, size_t bytes);
PETSC_INTERN void           KSPDevEngineForget(KSPDevice *);
/* Reports the norms of iterations first .. last of the engine to PETSc, where they are number offset + first, ... */
PETSC_INTERN PetscErrorCode KSPDevTellNorms(KSP, KSPDevice *, int64_t offset, int64_t first, int64_t last);

/* solver_matrix.c, solver_pc.c: prepare a solve, or leave a reason in s->reason */
PETSC_INTERN PetscErrorCode KSPDevMatrixPlan(KSP, KSPDevice *, Mat);
PETSC_INTERN PetscErrorCode KSPDevMatrixForget(KSPDevice *);
PETSC_INTERN PetscErrorCode KSPDevProcessesForget(KSPDevice *); /* collective on several processes; after the engine */
PETSC_INTERN PetscErrorCode KSPDevPCGet(KSP, KSPDevice *);
PETSC_INTERN PetscErrorCode KSPDevPCForget(KSPDevice *);
/* The preconditioner as a function, for an engine. waits: it cannot be part of a graph */
typedef struct {
  SpmvApply apply;
  void     *ctx;
  int       waits;
} KSPDevFunction;
PETSC_INTERN KSPDevFunction KSPDevFunctionGet(KSPDevice *);
/* Checks a norm of a solve whose cycle is in single precision. A failed solve is repeated in double precision by
   frame.c, because a basis belongs to one preconditioner. */
PETSC_INTERN void KSPDevSingleCheck(KSP, KSPDevice *, int64_t iteration, double norm);

/* callbacks.c */
typedef struct {
  PetscBool user_test;  /* PETSc calls, after each iteration, a convergence test that the engine does not have */
  PetscBool sees_x;     /* a monitor or test may read the solution or the residual in each iteration */
  PetscBool want_norms; /* of each iteration, for monitors, a history or a test */
  PetscBool relative;   /* tolerances are relative to the norm of iteration 0, and the engine tests it */
  PetscBool begun;      /* PETSc has the norm of iteration 0 */
  int64_t   step;       /* iterations per call of the engine ... */
  int64_t   first;      /* ... and of the first one; 0: PETSc needs the norm of iteration 0 before the others begin */
} KSPDevWatch;
PETSC_INTERN PetscErrorCode KSPDevWatchBegin(KSP, const KSPDevice *, KSPDevWatch *);
PETSC_INTERN PetscErrorCode KSPDevTellNorm(KSP, PetscInt iteration, PetscReal norm);
PETSC_INTERN PetscErrorCode KSPDevTestFirst(KSP, KSPDevice *, KSPDevWatch *, PetscReal norm);
PETSC_INTERN SpmvTest       KSPDevTest(KSP, const KSPDevWatch *);
PETSC_INTERN void           KSPDevSetReason(KSP, SpmvReason, KSPConvergedReason breakdown);

/* Goes on after success. A refusal of the library, such as too little device memory, becomes the reason to solve on the
   host, and the function returns. A failure becomes an error. With several processes KSPDevAgree() must follow before
   the next collective call, or the program hangs; between KSPDevEngineBegin() and KSPDevEngineEnd() that is
   KSPDevTryAll(). */
#define KSPDevTry(s, call)                                                                                             \
  do {                                                                                                                 \
    PetscCall(AIJFmtRefuse(&(s)->exec, (call), (s)->reason));                                                          \
    if ((s)->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);                                                            \
  } while (0)

/* The same for all processes of a solve, whose engines have done the same calls */
#define KSPDevTryAll(ksp, s, call)                                                                                     \
  do {                                                                                                                 \
    SpmvStatus kspdev_status_ = (call);                                                                                \
    PetscCall(PetscPackRefuse(PetscObjectComm((PetscObject)(ksp)), &(s)->exec, &kspdev_status_, (s)->reason));         \
    if ((s)->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);                                                            \
  } while (0)
