/*
  hierarchy.h - private declarations of the hierarchy on the device

    MGDevHierarchyUpdate():  hierarchy.c -> accept.c    may the cycle serve? Nothing is computed before that is known
                                         -> plans.c     A, P and R of each level as operators
                                         -> smoother.c  M and the steps, by hidden.c, steps.c and point.c
                                         -> coarse.c    the coarsest level: an inverse, or PETSc's solver
                                         -> nullspace.c what is taken out of the result
                                         -> single.c    in single precision: A, P, R, M and the inverse rounded
                             then a new SpmvCycle where a size, a count or an address is another one, else new values
*/
#pragma once

#include <petsc/private/kspimpl.h>
#include <petsc/private/pcmgimpl.h>
#include "mgdevice.h"
#include "parallel/processes.h"

enum {
  MGDEV_STEPS_MAX = 64, /* of one smoother */
  /* Rows of the coarsest level, up to which it is done by its inverse */
  MGDEV_INVERSE_MAX = 512,
  /* ... and up to which that is found by elimination, in less than a millisecond and before PETSc's solver has factored */
  MGDEV_ELIMINATION_MAX = 128
};

/* Numbers in single precision on the device, from others in double precision. Zeros are none. */
typedef struct {
  void     *data;
  int64_t   bytes;
  PetscBool valid;   /* the numbers are factor times those that ... */
  MGDevKey  key;     /* ... these two describe */
  PetscInt  variant; /* of MGDevPoint */
  double    factor;
} MGDevRoundedArray;

/* The plan of a sequential matrix in single precision */
typedef struct {
  AIJFmtPlanCache   cache;
  MGDevRoundedArray values; /* that a plan which borrows reads */
  double            factor; /* what the matrix is to be multiplied by, ... */
  double            made_with;
  PetscBool         scaled; /* ... which is h->single.scale, or 1 for interpolations and restrictions */
} MGDevSinglePlan;

/* A sequential matrix: the plan that it has on the device, or one that the hierarchy made of its values */
typedef struct {
  AIJFmtPlanCache    own;
  MGDevSinglePlan    single;
  AIJFmtPlanOnDevice found;   /* that in use: own, that in single precision, or that of the matrix */
  AIJFmtPlanOnDevice doubled; /* in single precision: own, or that of the matrix */
  PetscBool          shared;  /* a solver multiplies by doubled, so that it is needed in any case */
} MGDevBlock;

/* A matrix of the hierarchy. On several processes it is the block of the columns of this process, and that of the columns
   of others, whose entries the halo fetches. */
typedef struct {
  MGDevBlock       block, others;
  Mat              T; /* on several processes such a product is one with this matrix */
  PetscPackHalo    halo;
  PetscObjectState pattern; /* nonzero state for which halo and T were made */
  PetscObjectId    id;      /* of the matrix ... */
  PetscObjectState state;   /* ... and its state when the plans were brought up to date */
} MGDevMatrix;

typedef enum { MGDEV_RICHARDSON, MGDEV_FIRST, MGDEV_FOURTH, MGDEV_OPT_FOURTH } MGDevPolynomial;

/* What the steps of a smoother follow from; no padding that is not zero, so that two of them can be compared */
typedef struct {
  PetscObjectId   id;
  PetscInt        steps;
  MGDevPolynomial kind;
  PetscReal       scale, emin, emax; /* of Richardson's iteration; of Chebyshev's */
  PetscReal       beta[MGDEV_STEPS_MAX];
} MGDevRecurrence;

typedef struct {
  MGDevRecurrence   recurrence; /* that step was made from */
  SpmvFactors       step[MGDEV_STEPS_MAX];
  MGDevPoint        point;
  MGDevRoundedArray rounded; /* M in single precision */
} MGDevSmoother;

/* What was made of a matrix of type MAIJ, which a DM with several unknowns of a point interpolates by */
typedef struct {
  Mat              aij;
  PetscObjectId    id; /* of that matrix, and its state then */
  PetscObjectState state;
} MGDevConverted;

typedef struct {
  MGDevMatrix    matrix, interpolation, restriction;
  MGDevConverted of_interpolation, of_restriction;
  MGDevSmoother  down, up; /* up is empty where both are one solver */
} MGDevLevel;

/* What a cycle was made for; compared as a whole */
typedef struct {
  SpmvCycleOptions options; /* its level points to the next field */
  SpmvCycleLevel   level[SPMV_CYCLE_LEVELS];
  PetscInt64       serial[SPMV_CYCLE_LEVELS][6]; /* of the plans of A, P and R, each of both blocks */
} MGDevMade;

/* The precision of the cycle */
typedef struct {
  PetscBool         wanted, on;            /* single precision: by the caller; now */
  char              why[SPMV_MESSAGE_MAX]; /* why it is wanted and not on */
  PetscObjectId     failed_id;             /* a matrix for which it was not enough, with ... */
  PetscObjectState  failed_nonzero;        /* ... this nonzero state: not tried again */
  double            scale;                 /* of all matrices, from ... */
  PetscObjectId     scale_id;              /* ... the finest one, ... */
  PetscObjectState  scale_state;           /* ... in this state */
  MGDevRoundedArray inverse;
} MGDevSingle;

struct MGDevHierarchyStruct {
  PetscInt   references;
  SpmvExec  *exec, own_exec; /* exec is that of the creator, or own_exec */
  MPI_Comm   comm;           /* of the PC */
  PetscBool  several;
  char       reason[SPMV_MESSAGE_MAX];
  PetscInt   levels;
  MGDevLevel level[SPMV_CYCLE_LEVELS];
  MGDevMade *now, *made;
  PetscBool  renew; /* values or steps are others than those that the cycle has */
  SpmvCycle *cycle;
  PetscInt64 serial;
  PetscInt   set_ups;
  PetscBool  holds; /* scratch memory of the kernel library: there were new values, and will be more */

  PetscPackProcesses processes;
  MGDevSingle        single;

  /* The coarsest level: its inverse [rows][rows], by rows, or the solver and its vectors */
  PetscInt  rows;
  void     *inverse;
  PetscBool singular; /* the solver is direct and the matrix has a null space that PETSc does not know: no inverse */
  MGDevKey  inverse_key;
  PC        pc;
  KSP       coarse;
  Vec       b, x;

  void         *null_space; /* [vectors][rows of the finest level] */
  PetscObjectId null_space_id;
};

/* accept.c */
PETSC_INTERN PetscErrorCode MGDevAccept(MGDevHierarchy, PC);

/* hierarchy.c: all processes go on, or all have a reason not to. Collective, after what may fail on one of them. */
PETSC_INTERN PetscErrorCode MGDevAgree(MGDevHierarchy);

/* plans.c */
PETSC_INTERN PetscErrorCode MGDevMatrixForget(MGDevHierarchy, MGDevMatrix *);
PETSC_INTERN PetscErrorCode MGDevLevelPlans(MGDevHierarchy, PC_MG_Levels **, PetscInt i);
PETSC_INTERN PetscErrorCode MGDevLevelMatrix(const PC_MG_Levels *, Mat *);
PETSC_INTERN PetscErrorCode MGDevIsMAIJ(Mat, PetscBool *);

/* smoother.c */
PETSC_INTERN PetscErrorCode MGDevSmootherGet(MGDevHierarchy, KSP, MGDevSmoother *, SpmvCycleSmoother *);

/* hidden.c */
PETSC_INTERN PetscErrorCode MGDevRecurrenceGet(KSP, MGDevRecurrence *, char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode MGDevRecurrenceCheck(KSP, const MGDevRecurrence *, char why[SPMV_MESSAGE_MAX]);

/* steps.c */
PETSC_INTERN PetscBool MGDevSteps(const MGDevRecurrence *, SpmvFactors[]);

/* nullspace.c */
PETSC_INTERN PetscErrorCode MGDevNullSpaceCount(PC, PetscInt *);
PETSC_INTERN PetscErrorCode MGDevNullSpaceAccept(PC, KSP smoother, PetscBool finest, const char **why);
PETSC_INTERN PetscErrorCode MGDevNullSpaceGet(MGDevHierarchy, PC, SpmvCycleOptions *);
PETSC_INTERN void           MGDevNullSpaceForget(MGDevHierarchy);
PETSC_INTERN PetscErrorCode MGDevCoarseNull(MGDevHierarchy, PetscInt most, Vec q[], PetscInt *found);
PETSC_INTERN PetscErrorCode MGDevCoarseIsNull(MGDevHierarchy, Vec q, PetscBool *null);
PETSC_INTERN PetscErrorCode MGDevProject(Vec x, PetscInt found, const Vec q[]);

/* invert.c */
PETSC_INTERN PetscReal MGDevInvert(PetscInt n, PetscScalar a[], PetscScalar inverse[]);

/* coarse.c */
PETSC_INTERN PetscErrorCode MGDevCoarseGet(MGDevHierarchy, PC, SpmvCycleOptions *);
PETSC_INTERN PetscErrorCode MGDevCoarseForget(MGDevHierarchy);

/* single.c */
PETSC_INTERN PetscErrorCode MGDevSingleDecide(MGDevHierarchy, PC, PetscBool *single);
PETSC_INTERN PetscErrorCode MGDevSingleScale(MGDevHierarchy, Mat finest, Vec work);
PETSC_INTERN void           MGDevSingleFactors(MGDevHierarchy, PetscInt level);
PETSC_INTERN PetscErrorCode MGDevSingleBlock(MGDevHierarchy, MGDevBlock *, Mat, PetscBool transposed);
PETSC_INTERN PetscErrorCode MGDevSinglePoint(MGDevHierarchy, MGDevSmoother *, SpmvCycleSmoother *);
PETSC_INTERN PetscErrorCode MGDevSingleOptions(MGDevHierarchy, SpmvCycleOptions *);
PETSC_INTERN void           MGDevSingleForget(MGDevHierarchy, MGDevSinglePlan *);
PETSC_INTERN void           MGDevRoundedFree(MGDevHierarchy, MGDevRoundedArray *);

/* Goes on after success; a refusal of the kernel library becomes the reason not to serve, and the function returns; a
   failure becomes an error */
#define MGDevTry(h, call)                                                                                              \
  do {                                                                                                                 \
    PetscCall(AIJFmtRefuse((h)->exec, (call), (h)->reason));                                                           \
    if ((h)->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);                                                            \
  } while (0)
