/*
  cgdevice.h - private declarations of KSPCGDEVICE, conjugate gradients by the engine of libspmvpack

  A solver of this type is a KSPCG, made by PETSc's own creator, whose solve is ours:

    create.c -> options.c
    KSPSolve(): solve.c -> accept.c (may the engine serve?)
                        -> pc.c, precision.c, engine.c -> matrix.c or, on several processes, parallel.c (what it needs)
                        -> iterate.c (iteration 0, the engine's iterations, what PETSc is told about them)
                        -> mixed.c (in mixed precision: when the recurrence says that the solve is done)

  Whatever the engine does not do is left to the solve of KSPCG, with a reason. The state lies in a container composed
  on the KSP, because ksp->data belongs to KSPCG.
*/
#pragma once

#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>
#include <petscpack.h>
#include <spmv_cg.h>
#include <spmv_values.h>
#include "mat/impls/seqaijfmt/plan.h"
#include "parallel/processes.h"
#include "pc/impls/mgdevice/mgdevice.h"

enum {
  /* Norms that the device keeps: at most so many iterations between two reports to PETSc */
  CGDEV_HISTORY = 4096,
  /* Iterations between two looks of a monitor that needs the norms alone: often enough for a reader */
  CGDEV_MONITOR_STEP = 100,
  CGDEV_FORMAT_MAX   = 32 /* bytes of a format's name */
};

/* The matrix on the device: its plan, or a plan or a CSR that this solver made of a matrix without one */
typedef struct {
  SpmvOperator    call;       /* the context of spmv_operator_product(); its address is part of graphs */
  AIJFmtPlanCache own;        /* a plan of this solver, or none */
  const char     *format;     /* of the plan of the last solve, whose owner may have freed it since */
  SpmvCsr         csr;        /* on the device, with 32-bit indices; valid where ... */
  void           *csr_arrays; /* ... its arrays are there, in one block */
  AIJFmtKey       csr_key;    /* what csr was made from */
  PetscInt64      serial;     /* of the plan or CSR in use: another one has another number */
  PetscInt        nonzeros;
  PetscInt        conversions, refreshes; /* of own and csr */
} CGDevMatrix;

/* The values of the plan in single precision, for solves in mixed precision */
typedef struct {
  void            *values;
  int64_t          bytes;
  PetscInt64       serial; /* of the plan that they were taken from ... */
  PetscObjectId    id;     /* ... which is that of this matrix ... */
  PetscObjectState state;  /* ... in this state; id is 0 where there are none */
} CGDevRounded;

/* What the engine needs on several processes */
typedef struct {
  Mat                A; /* of the solve, set by CGDevParallelOptions() */
  AIJFmtVector       p, w;
  PetscPackProcesses all;
  SpmvCgShared       shared;  /* sums by the GPUs ... */
  SpmvProcesses      by_gpus; /* ... as the engine calls for them */
  KSPCGDeviceReduce  chosen;  /* the option when `all` was opened, ... */
  KSPCGDeviceReduce  used;    /* ... and what it came to: mpi or shared */
#if defined(PETSC_HAVE_MPI_PROCESS_SHARED_MEMORY)
  MPI_Win window;
#endif
} CGDevParallel;

/* Mixed precision: what a solve does, and what the last one did */
typedef struct {
  PetscBool        on;                    /* products are with the rounded matrix */
  PetscInt         corrections;           /* of the last solve */
  char             why[SPMV_MESSAGE_MAX]; /* why the solve was not, or not to its end, in mixed precision */
  PetscObjectId    failed_id;             /* a matrix for which it was not enough, with ... */
  PetscObjectState failed_nonzero;        /* ... this nonzero state: not tried again */
} CGDevMixed;

typedef struct {
  struct _KSPOps       parent; /* the operations of KSPCG, for this solver */
  KSPCGDeviceMode      mode;
  KSPCGDevicePrecision precision;
  KSPCGDeviceReduce    reduce;
  PetscInt             chunk;
  char                 format[CGDEV_FORMAT_MAX];

  /* What was asked of KSPCG that the engine does not do; the functions that KSPCG composed for that */
  PetscBool single_reduction;
  PetscReal radius, objective;
  PetscErrorCode (*parent_single_reduction)(KSP, PetscBool);
  PetscErrorCode (*parent_radius)(KSP, PetscReal);
  PetscErrorCode (*parent_objective)(KSP, PetscReal);
  PetscErrorCode (*parent_value)(KSP, PetscReal *);

  SpmvExec       exec;
  PetscBool      several; /* processes solve the system */
  CGDevMatrix    matrix;
  CGDevRounded   rounded;
  CGDevParallel  parallel;
  CGDevMixed     mixed;
  MGDevPoint     pc;        /* its kind is SPMV_PC_FUNCTION where ... */
  MGDevHierarchy multigrid; /* ... the preconditioner is the cycle of this, which is made when it is needed first */
  PetscBool      of_pc;     /* it is that of a PC of type mgdevice or gamgdevice, and here is a reference */
  PetscInt       cycles;    /* that the device has done */
  AIJFmtVector   x, r;
  SpmvCg        *engine;
  SpmvCgOptions  engine_options; /* that it was made with ... */
  PetscInt64     engine_serial;  /* ... for this product ... */
  const void    *engine_rounded; /* ... with these rounded values, or NULL */
  PetscInt64     engine_cycle;   /* ... and this cycle of multigrid, or 0 */
  PetscInt       graphs;         /* of engines that are gone */
  PetscBool      no_persistent;  /* the device cannot run the persistent kernel */
  PetscBool      residual_away;  /* the residual of the last solve is in r.device, and ksp->work[0] is old */
  PetscBool      value_unknown;  /* KSPCG does not know its objective function, as the engine did the last solve */

  KSPCGDeviceMode used; /* of the last solve: AUTO before the first one */
  PetscInt        solves_device, solves_host;
  char            reason[SPMV_MESSAGE_MAX]; /* why the last solve was done on the host; "" if it was not */
} KSP_CGDevice;

PETSC_INTERN PetscLogEvent KSP_CGDeviceSetUp, KSP_CGDeviceLoop;

/* state.c */
PETSC_INTERN const char     CGDevContainerName[];
PETSC_INTERN PetscErrorCode CGDevStateGet(KSP, KSP_CGDevice **);
PETSC_INTERN PetscErrorCode CGDevRequire(KSP, KSP_CGDevice **);
PETSC_INTERN PetscErrorCode CGDevRefuse(KSP_CGDevice *, SpmvStatus);
PETSC_INTERN PetscErrorCode CGDevVectorPlace(KSP_CGDevice *, AIJFmtVector *, Vec);

/* create.c */
PETSC_INTERN PetscErrorCode CGDevRegister(void);
PETSC_INTERN PetscErrorCode CGDevReplaceCG(PetscBool);

/* parent.c */
PETSC_INTERN PetscErrorCode CGDevParentInstall(KSP, KSP_CGDevice *);
PETSC_INTERN PetscErrorCode KSPBuildResidual_CGDevice(KSP, Vec, Vec, Vec *);

/* options.c */
PETSC_INTERN PetscErrorCode KSPSetFromOptions_CGDevice(KSP, AIJFmtOptionItems);

/* parallel.c */
PETSC_INTERN void           CGDevParallelInit(KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevAgree(KSP, KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevParallelOptions(KSP, KSP_CGDevice *, Mat, SpmvCgOptions *);
PETSC_INTERN PetscErrorCode CGDevParallelForget(KSP_CGDevice *);

/* precision.c */
PETSC_INTERN PetscErrorCode CGDevMixedBegin(KSP, KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevMixedDecline(KSP, KSP_CGDevice *, const char why[]);
PETSC_INTERN PetscErrorCode CGDevRoundedGet(KSP, KSP_CGDevice *, Mat);
PETSC_INTERN PetscErrorCode CGDevRoundedForget(KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevPrecisionFromOptions(KSP, const KSP_CGDevice *, AIJFmtOptionItems);

/* view.c */
PETSC_INTERN PetscErrorCode KSPView_CGDevice(KSP, PetscViewer);

/* solve.c */
PETSC_INTERN PetscErrorCode KSPSolve_CGDevice(KSP);
PETSC_INTERN PetscErrorCode CGDevForget(KSP_CGDevice *);

/* accept.c: leaves a reason in s->reason where the engine must not serve */
PETSC_INTERN PetscErrorCode CGDevAccept(KSP, KSP_CGDevice *);

/* matrix.c, pc.c, engine.c: prepare a solve, or leave a reason in s->reason */
PETSC_INTERN PetscErrorCode CGDevMatrixPlan(KSP, KSP_CGDevice *, Mat);
PETSC_INTERN PetscErrorCode CGDevMatrixCsr(KSP_CGDevice *, Mat);
PETSC_INTERN PetscErrorCode CGDevMatrixForget(KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevPCGet(KSP, KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevPCForget(KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevEngineGet(KSP, KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevEngineForget(KSP_CGDevice *);

/* iterate.c */
PETSC_INTERN PetscErrorCode CGDevIterate(KSP, KSP_CGDevice *);

/* A solve in progress */
typedef struct {
  PetscBool    user_test;  /* PETSc calls a convergence test after each iteration that the engine does not know */
  PetscBool    sees_x;     /* a monitor or test may look at the solution or the residual in each iteration */
  PetscBool    want_norms; /* of each iteration, for monitors, a history or a test */
  int64_t      step;       /* iterations for each call of the engine */
  int64_t      offset;     /* iterations by earlier engines of this solve */
  SpmvCgResult result;     /* of this engine */
  /* Mixed precision */
  PetscReal checked; /* the norm of the last true residual */
  PetscReal drop;    /* the next true residual is due when the norm of the recurrence is below drop * checked, ... */
  int64_t   limit;   /* ... or after so many iterations of this engine */
  int64_t   stage;   /* iterations of this engine at the last true residual, ... */
  int64_t   first;   /* ... and at the first one */
} CGDevRun;

/* iterate.c, for mixed.c */
PETSC_INTERN PetscErrorCode CGDevStart(KSP, KSP_CGDevice *, const CGDevRun *, PetscReal tolerance);
PETSC_INTERN SpmvCgTest     CGDevTest(KSP, const CGDevRun *, PetscReal tolerance);
PETSC_INTERN PetscErrorCode CGDevTellNorm(KSP, PetscInt iteration, PetscReal norm);
PETSC_INTERN PetscErrorCode CGDevNorm(KSP, Vec R, Vec Z, PetscReal *norm);

/* mixed.c */
PETSC_INTERN PetscErrorCode CGDevMixedCheck(KSP, KSP_CGDevice *, CGDevRun *, int64_t before);
PETSC_INTERN void           CGDevMixedInit(KSP, CGDevRun *);
PETSC_INTERN PetscReal      CGDevMixedTolerance(KSP, const CGDevRun *);

/* Goes on after success; a refusal of the library, such as too little memory on the device, becomes the reason to
   solve on the host, and the function returns; a failure becomes an error. With several processes CGDevAgree() must
   follow before the next collective call. */
#define CGDevTry(s, call)                                                                                              \
  do {                                                                                                                 \
    PetscCall(CGDevRefuse(s, (call)));                                                                                 \
    if ((s)->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);                                                            \
  } while (0)
