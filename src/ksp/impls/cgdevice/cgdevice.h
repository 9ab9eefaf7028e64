/*
  cgdevice.h - private declarations of KSPCGDEVICE, conjugate gradients by the engine of libspmvpack

  A solver of this type is a KSPCG, made by PETSc's own creator, whose solve is ours:

    create.c -> options.c
    KSPSolve(): solve.c -> accept.c (may the engine serve?) -> matrix.c, pc.c, vector.c, engine.c (what it needs)
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
#include "mat/impls/seqaijfmt/seqaijfmt.h"

enum {
  /* Norms that the device keeps: so many iterations may be done before PETSc is told about them */
  CGDEV_HISTORY = 4096,
  /* Iterations between two looks of a monitor that needs the norms alone: often enough for a reader */
  CGDEV_MONITOR_STEP = 100,
  CGDEV_FORMAT_MAX   = 32 /* bytes of a format's name */
};

/* The product on the device: the plan of the matrix, or a plan or CSR that this solver made of a matrix without one */
typedef struct {
  SpmvCgPlan       call; /* the context of spmv_cg_plan_product(); its address is part of graphs */
  SpmvPlan        *own;  /* a plan of this solver, or NULL; then `work` belongs to it */
  void            *work;
  SpmvCsr          csr;     /* on the device, with 32-bit indices; csr.values is NULL when there is none */
  PetscObjectId    id;      /* the matrix that own or csr was made of ... */
  PetscObjectState nonzero; /* ... its nonzero state ... */
  PetscObjectState values;  /* ... and the state of the values that they have */
  char             format[CGDEV_FORMAT_MAX]; /* of own */
  PetscInt64       serial;                   /* of the plan or CSR in use: another one has another number */
  PetscInt64       serials;                  /* that were given to own plans and CSRs, as negative numbers */
  PetscInt         nonzeros, plans, refreshes;
} CGDevProduct;

/* The values of the plan in single precision, for solves in mixed precision */
typedef struct {
  void            *values;
  int64_t          bytes;
  PetscInt64       serial; /* of the plan that they were taken from ... */
  PetscObjectId    id;     /* ... which is that of this matrix ... */
  PetscObjectState state;  /* ... in this state; id is 0 where there are none */
} CGDevRounded;

/* The preconditioner on the device, and what it was taken from */
typedef struct {
  SpmvCgPreconditioner kind;
  PetscInt             block;
  void                *values;
  int64_t              bytes;
  PetscObjectId        id;
  char                 type[32];
  PetscInt             variant; /* the options of PCJACOBI */
  unsigned char        matrix_state[sizeof(((struct _p_PC *)NULL)->matstate)];
} CGDevPC;

/* The entries of a vector on the device: its own, or a copy in a buffer that stays from solve to solve */
typedef struct {
  Vec          vec;
  PetscScalar *array; /* what the vector gave last */
  PetscBool    staged;
  void        *buffer, *data; /* data: what the engine gets */
  int64_t      bytes;         /* of buffer */
} CGDevVector;

/* What the engine needs on several processes; comm is MPI_COMM_NULL before the first such solve */
typedef struct {
  Mat               A;
  CGDevVector       p, w;
  MPI_Comm          comm;
  double           *sums;         /* [2], page-locked */
  SpmvCgShared      shared;       /* sums by the GPUs */
  KSPCGDeviceReduce chosen, used; /* the option, and what it came to */
#if defined(PETSC_HAVE_MPI_PROCESS_SHARED_MEMORY)
  MPI_Win window;
#endif
} CGDevParallel;

/* Mixed precision: what a solve does, and what the last one did */
typedef struct {
  PetscBool        on;                    /* products are with the rounded matrix */
  PetscInt         corrections;           /* of the last solve */
  char             why[SPMV_MESSAGE_MAX]; /* why it was, or ended, in double precision although mixed was asked for */
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

  SpmvExec      exec;
  PetscBool     several; /* processes solve the system */
  CGDevProduct  product;
  CGDevRounded  rounded;
  CGDevParallel parallel;
  CGDevMixed    mixed;
  CGDevPC       pc;
  CGDevVector   x, r;
  SpmvCg       *engine;
  SpmvCgOptions engine_options; /* that it was made with ... */
  PetscInt64    engine_serial;  /* ... for this product ... */
  const void   *engine_rounded; /* ... with these rounded values, or NULL */
  PetscInt      graphs;         /* of engines that are gone */
  PetscBool     no_persistent;  /* the device cannot run the persistent kernel */
  PetscBool     residual_away;  /* the residual of the last solve is in r.buffer, not in ksp->work[0] */
  PetscBool     value_unknown;  /* KSPCG does not know its objective function, as the engine did the last solve */

  KSPCGDeviceMode used; /* of the last solve: AUTO before the first one */
  PetscInt        solves_device, solves_host;
  char            reason[SPMV_MESSAGE_MAX]; /* why the last solve was done on the host; "" if it was not */
} KSP_CGDevice;

PETSC_INTERN PetscLogEvent KSP_CGDeviceSetUp, KSP_CGDeviceLoop;

/* create.c */
PETSC_INTERN PetscErrorCode CGDevRegister(void);
PETSC_INTERN PetscErrorCode CGDevForget(KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevStateGet(KSP, KSP_CGDevice **);

/* parent.c */
PETSC_INTERN PetscErrorCode CGDevParentInstall(KSP, KSP_CGDevice *);
PETSC_INTERN PetscErrorCode KSPBuildResidual_CGDevice(KSP, Vec, Vec, Vec *);

/* options.c */
PETSC_INTERN PetscErrorCode KSPSetFromOptions_CGDevice(KSP, AIJFmtOptionItems);
PETSC_INTERN PetscErrorCode CGDevRequire(KSP, KSP_CGDevice **);

/* parallel.c */
PETSC_INTERN void           CGDevParallelInit(KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevAgree(KSP, KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevParallelOptions(KSP, KSP_CGDevice *, Mat, SpmvCgOptions *);
PETSC_INTERN PetscErrorCode CGDevParallelForget(KSP_CGDevice *);

/* precision.c */
PETSC_INTERN PetscErrorCode CGDevPrecisionFromOptions(KSP, const KSP_CGDevice *, AIJFmtOptionItems);

/* view.c */
PETSC_INTERN PetscErrorCode KSPView_CGDevice(KSP, PetscViewer);

/* solve.c */
PETSC_INTERN PetscErrorCode KSPSolve_CGDevice(KSP);

/* accept.c: leaves a reason in s->reason where the engine must not serve */
PETSC_INTERN PetscErrorCode CGDevAccept(KSP, KSP_CGDevice *);

/* matrix.c, pc.c, vector.c, engine.c: prepare a solve, or leave a reason in s->reason */
PETSC_INTERN PetscErrorCode CGDevProductPlan(KSP, KSP_CGDevice *, Mat);
PETSC_INTERN PetscErrorCode CGDevProductCsr(KSP, KSP_CGDevice *, Mat);
PETSC_INTERN PetscErrorCode CGDevProductForget(KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevPCGet(KSP, KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevPCForget(KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevVectorPrepare(KSP_CGDevice *, CGDevVector *, Vec);
PETSC_INTERN PetscErrorCode CGDevVectorForget(KSP_CGDevice *, CGDevVector *);
PETSC_INTERN PetscErrorCode CGDevEngineGet(KSP, KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevEngineForget(KSP_CGDevice *);

/* vector.c */
PETSC_INTERN PetscErrorCode CGDevVectorBegin(CGDevVector *);
PETSC_INTERN PetscErrorCode CGDevVectorEnd(CGDevVector *);
PETSC_INTERN PetscErrorCode CGDevVectorSend(KSP_CGDevice *, CGDevVector *);
PETSC_INTERN PetscErrorCode CGDevVectorFetch(KSP_CGDevice *, CGDevVector *);

/* iterate.c */
PETSC_INTERN PetscErrorCode CGDevIterate(KSP, KSP_CGDevice *);

PETSC_INTERN PetscErrorCode CGDevRefuse(KSP_CGDevice *, SpmvStatus);

/* A solve under way */
typedef struct {
  PetscBool    own_test; /* a convergence test that the engine does not know: PETSc calls it after each iteration */
  PetscBool    sees_x;   /* a monitor or test may look at the solution or the residual in each iteration */
  PetscBool    norms;    /* somebody wants every norm */
  int64_t      step;     /* iterations that are done at a time */
  int64_t      offset;   /* iterations of an engine before this one */
  SpmvCgResult result;   /* of this engine */
  PetscReal    checked;  /* mixed precision: the norm of the last true residual, and ... */
  PetscReal    drop;     /* ... the part of it at which the next one is due */
  int64_t      stage;    /* iterations of this engine up to the last true residual, ... */
  int64_t      first;    /* ... up to the first one, and ... */
  int64_t      limit;    /* ... those by which the next one must have come */
} CGDevRun;

/* iterate.c, for mixed.c */
PETSC_INTERN PetscErrorCode CGDevStart(KSP, KSP_CGDevice *, const CGDevRun *, PetscReal tolerance);
PETSC_INTERN SpmvCgTest     CGDevTest(KSP, const CGDevRun *, PetscReal tolerance);
PETSC_INTERN PetscErrorCode CGDevTellNorm(KSP, PetscInt iteration, PetscReal norm);
PETSC_INTERN PetscErrorCode CGDevNorm(KSP, Vec R, Vec Z, PetscReal *norm);

/* mixed.c */
PETSC_INTERN PetscErrorCode CGDevMixedBegin(KSP, KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevMixedDecline(KSP, KSP_CGDevice *, const char why[]);
PETSC_INTERN PetscErrorCode CGDevRoundedGet(KSP, KSP_CGDevice *, Mat);
PETSC_INTERN PetscErrorCode CGDevRoundedForget(KSP_CGDevice *);
PETSC_INTERN PetscErrorCode CGDevMixedCheck(KSP, KSP_CGDevice *, CGDevRun *, int64_t before);
PETSC_INTERN void           CGDevMixedRun(KSP, CGDevRun *);
PETSC_INTERN PetscReal      CGDevMixedTolerance(KSP, const CGDevRun *);

/* Goes on after success; a refusal of the library, such as too little memory on the device, becomes the reason to
   solve on the host, and the function returns; a failure becomes an error. With several processes CGDevAgree() must
   follow before the next collective call. */
#define CGDevTry(s, call)                                                                                              \
  do {                                                                                                                 \
    PetscCall(CGDevRefuse(s, (call)));                                                                                 \
    if ((s)->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);                                                            \
  } while (0)
