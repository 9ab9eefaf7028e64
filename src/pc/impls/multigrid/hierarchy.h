/*
  hierarchy.h - private declarations of the hierarchy on the device

    MGDevHierarchyUpdate():  hierarchy.c -> accept.c            may the cycle serve? Decided before anything is computed
                                         -> ...Holds()  nothing has changed on any process? Then that is all
                                         -> level_plans.c       A, P and R of each level as operators
                                         -> smoother.c          M and the steps, by sys/private.c, steps.c and point.c
                                         -> coarse.c            the coarsest level: an inverse, or PETSc's solver
                                         -> nullspace.c         the null space that is projected out of the result
                                         -> single_precision.c  in single precision: A, P, R, M and the inverse rounded
                             then a new SpmvCycle if a size, a count or an address has changed, else new values
*/
#pragma once

#include <petsc/private/kspimpl.h>
#include <spmv_direct.h>
#include "mgdevice.h"
#include "parallel/processes.h"
#include "pc/impls/factor/pcfactor.h"
#include "sys/private.h"

enum {
  MGDEV_STEPS_MAX = 64, /* of one smoother */
  /* Largest coarsest level, in rows, that is solved by its inverse */
  MGDEV_INVERSE_MAX = 512,
  /* ... and whose inverse is found by elimination, in less than a millisecond and without waiting for PETSc's
     factorization */
  MGDEV_ELIMINATION_MAX = 128
};

/* Numbers in single precision on the device, rounded from double precision. All zeros: none. */
typedef struct {
  void     *data;
  int64_t   bytes;
  PetscBool valid;   /* data holds factor times the numbers that ... */
  MGDevKey  key;     /* ... key and variant describe */
  PetscInt  variant; /* of MGDevPoint */
  double    factor;
} MGDevRoundedArray;

/* The plan of a sequential matrix in single precision */
typedef struct {
  AIJFmtPlanCache   cache;
  MGDevRoundedArray values; /* read by a plan that borrows its values */
  double            factor; /* the matrix is multiplied by this factor, ... */
  double            made_with;
  PetscBool         scaled; /* ... which is h->single.scale; 1 for interpolations and restrictions */
} MGDevSinglePlan;

/* A matrix as it was when data was taken from it. All zeros: none. */
typedef struct {
  PetscObjectId    id;
  PetscObjectState state, pattern; /* pattern: its nonzero state */
  PetscInt64       plan;           /* serial number of its own plan on the device; 0: it has none */
} MGDevSeen;

/* A sequential matrix: its plan on the device, or a plan that the hierarchy made */
typedef struct {
  AIJFmtPlanCache    own;
  MGDevSinglePlan    single;
  AIJFmtPlanOnDevice found;   /* the plan in use: own, the one in single precision, or the matrix's */
  AIJFmtPlanOnDevice doubled; /* with single precision: the plan in double, own or the matrix's */
  PetscBool          shared;  /* a solver multiplies by doubled, so it is always needed */
  MGDevSeen          seen;
} MGDevBlock;

/* A matrix of the hierarchy. On several processes it has two blocks: the columns of this process, and the columns of
   other processes, whose entries the halo fetches, or adds there in products with the transpose. */
typedef struct {
  MGDevBlock    block, ghost_columns;
  PetscPackHalo halo;
  MGDevSeen     seen; /* the matrix for which plans and halo were made */
} MGDevMatrix;

typedef enum { MGDEV_RICHARDSON, MGDEV_FIRST, MGDEV_FOURTH, MGDEV_OPT_FOURTH } MGDevPolynomial;

/* The numbers from which the steps of a smoother are computed; all padding is zero, so that two of them can be compared
   bytewise */
typedef struct {
  PetscObjectId   id;
  PetscInt        steps;
  MGDevPolynomial kind;
  PetscReal       scale, emin, emax; /* of Richardson's iteration; of Chebyshev's */
  PetscReal       beta[MGDEV_STEPS_MAX];
} MGDevRecurrence;

typedef struct {
  MGDevRecurrence   wanted; /* as accept.c has read it last, ... */
  MGDevPoint        wanted_point;
  MGDevRecurrence   recurrence; /* ... and from which step was made */
  SpmvFactors       step[MGDEV_STEPS_MAX];
  MGDevPoint        point;
  MGDevRoundedArray rounded;  /* M in single precision */
  PetscBool         coarser;  /* of a level below the finest, which is on the device whatever its size */
  PCFunction        function; /* M of kind SPMV_PC_FUNCTION, or NULL. Its matrix may be gone after a solve. */
} MGDevSmoother;

/* The conversion of a MAIJ matrix, by which a DM with several unknowns per point interpolates */
typedef struct {
  Mat              aij;
  PetscObjectId    id; /* of the MAIJ matrix, with its state when it was converted */
  PetscObjectState state;
} MGDevConverted;

typedef struct {
  MGDevMatrix    matrix, interpolation, restriction;
  MGDevConverted of_interpolation, of_restriction;
  MGDevSmoother  down, up; /* up is empty if both smoothers are one solver */
} MGDevLevel;

/* The input of a cycle; compared as a whole */
typedef struct {
  SpmvCycleOptions options; /* its level points to the next field */
  SpmvCycleLevel   level[SPMV_CYCLE_LEVELS];
  /* of the plans of A, P and R, each with both blocks, and of the functions of the smoothers down and up */
  PetscInt64 serial[SPMV_CYCLE_LEVELS][8];
} MGDevMade;

/* The precision of the cycle */
typedef struct {
  PetscBool         wanted, on;            /* single precision: wanted by the caller; in use */
  char              why[SPMV_MESSAGE_MAX]; /* why it is wanted but not in use */
  PetscObjectId     failed_id;             /* a matrix for which single precision was not enough, with ... */
  PetscObjectState  failed_nonzero;        /* ... this nonzero state: it is not tried again */
  double            scale;                 /* factor of all matrices, by the diagonal of the finest one */
  MGDevRoundedArray inverse;
} MGDevSingle;

struct MGDevHierarchyStruct {
  PetscInt   references;
  SpmvExec  *exec, own_exec; /* exec is the creator's, or points to own_exec */
  MPI_Comm   comm;           /* of the PC */
  PetscBool  several;
  char       reason[SPMV_MESSAGE_MAX];
  PetscInt   levels;
  MGDevLevel level[SPMV_CYCLE_LEVELS];
  MGDevMade *now, *made;
  PetscBool  renew; /* values or steps of the cycle must be updated */
  MGDevInfo  info;
  PetscInt   updates; /* times that PETSc's hierarchy was found changed; the same on all processes */
  PetscBool  holds; /* keeps scratch memory of the kernel library, because values have changed and will change again */

  PetscPackProcesses processes;
  MGDevSingle        single;

  /* The coarsest level: its inverse [rows][rows], by rows, or the solver and its vectors */
  PetscInt    rows;
  PetscBool   direct; /* the solver is direct on this process */
  SpmvDirect *factor; /* its factorization on the device, of a level that is too large for an inverse, or NULL */
  void       *inverse;
  PetscBool   singular; /* no inverse: the solver is direct, and the matrix has a null space that PETSc does not know */
  MGDevKey    inverse_key; /* of the solver when the inverse or the factor was taken */
  PC          pc;
  KSP         coarse;
  Vec         b, x;

  void         *null_space; /* [vectors][rows of the finest level] */
  PetscObjectId null_space_id;
};

/* accept.c; leaves a reason in h->reason if the cycle must not serve. MGDevAccept() also describes the smoothers. */
PETSC_INTERN PetscErrorCode MGDevAcceptType(MGDevHierarchy, PC);
PETSC_INTERN PetscErrorCode MGDevAccept(MGDevHierarchy, PC);

/* level_plans.c */
PETSC_INTERN PetscErrorCode MGDevMatrixForget(MGDevHierarchy, MGDevMatrix *);
PETSC_INTERN PetscErrorCode MGDevLevelPlans(MGDevHierarchy, PC_MG_Levels **, PetscInt i);
PETSC_INTERN PetscErrorCode MGDevLevelPlansHold(MGDevHierarchy, PC_MG_Levels **, PetscInt i, PetscBool *hold);
PETSC_INTERN PetscErrorCode MGDevLevelMatrix(const PC_MG_Levels *, Mat *);
PETSC_INTERN PetscErrorCode MGDevIsMAIJ(Mat, PetscBool *);

/* smoother.c */
PETSC_INTERN PetscErrorCode MGDevRecurrenceGet(KSP, MGDevRecurrence *, char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode MGDevSmootherGet(MGDevHierarchy, KSP, MGDevSmoother *, SpmvCycleSmoother *);
PETSC_INTERN PetscErrorCode MGDevSmootherHolds(KSP, const MGDevSmoother *, PetscBool *holds);

/* steps.c */
PETSC_INTERN PetscBool MGDevSteps(const MGDevRecurrence *, SpmvFactors[]);

/* nullspace.c */
PETSC_INTERN PetscErrorCode MGDevNullSpaceCount(PC, PetscInt *);
PETSC_INTERN PetscErrorCode MGDevNullSpaceAccept(PC, KSP smoother, PetscBool finest, const char **why);
PETSC_INTERN PetscErrorCode MGDevNullSpaceGet(MGDevHierarchy, PC, SpmvCycleOptions *);
PETSC_INTERN PetscErrorCode MGDevNullSpaceHolds(MGDevHierarchy, PC, PetscBool *holds);
PETSC_INTERN void           MGDevNullSpaceForget(MGDevHierarchy);
PETSC_INTERN PetscErrorCode MGDevCoarseNull(MGDevHierarchy, PetscInt most, Vec q[], PetscInt *found);
PETSC_INTERN PetscErrorCode MGDevCoarseIsNull(MGDevHierarchy, Vec q, PetscBool *null);
PETSC_INTERN PetscErrorCode MGDevProject(Vec x, PetscInt found, const Vec q[]);

/* invert.c */
PETSC_INTERN PetscReal MGDevInvert(PetscInt n, PetscScalar a[], PetscScalar inverse[]);

/* coarse.c */
PETSC_INTERN PetscErrorCode MGDevCoarseGet(MGDevHierarchy, PC, SpmvCycleOptions *);
PETSC_INTERN PetscErrorCode MGDevCoarseHolds(MGDevHierarchy, PC, PetscBool *holds);
PETSC_INTERN PetscErrorCode MGDevCoarseForget(MGDevHierarchy);

/* single_precision.c */
PETSC_INTERN PetscErrorCode MGDevSingleDecide(MGDevHierarchy, PC, PetscBool *single);
PETSC_INTERN PetscErrorCode MGDevSingleScale(MGDevHierarchy, const PC_MG_Levels *finest);
PETSC_INTERN void           MGDevSingleFactors(MGDevHierarchy, PetscInt level);
PETSC_INTERN PetscErrorCode MGDevSingleBlock(MGDevHierarchy, MGDevBlock *, Mat, PetscBool transposed);
PETSC_INTERN PetscErrorCode MGDevSinglePoint(MGDevHierarchy, MGDevSmoother *, SpmvCycleSmoother *);
PETSC_INTERN PetscErrorCode MGDevSingleOptions(MGDevHierarchy, SpmvCycleOptions *);
PETSC_INTERN void           MGDevSingleForget(MGDevHierarchy, MGDevSinglePlan *);
PETSC_INTERN void           MGDevRoundedFree(MGDevHierarchy, MGDevRoundedArray *);

/* A ...Holds() function clears *holds if PETSc's object differs from that from which data was taken; it takes nothing,
   may update plans of matrices, and is not collective */

/* Goes on after success. A refusal of the kernel library becomes the reason not to serve, and the function returns. A
   failure becomes an error. */
#define MGDevTry(h, call)                                                                                              \
  do {                                                                                                                 \
    PetscCall(AIJFmtRefuse((h)->exec, (call), (h)->reason));                                                           \
    if ((h)->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);                                                            \
  } while (0)

/* Afterwards all processes have a reason, or none has. Collective. */
static inline PetscErrorCode MGDevAgree(MGDevHierarchy h)
{
  PetscFunctionBegin;
  if (h->several) PetscCall(PetscPackAgree(h->comm, h->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}
