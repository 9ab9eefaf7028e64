/*
  aijfmt.h - private declarations of the one Mat class behind all formats

  A matrix of type seqaij<format> is a MATSEQAIJ whose products go through a plan of libspmvpack; mpiaij<format> is a
  MATMPIAIJ whose two blocks are of type seqaij<format>. The parent type does everything else. The flow:

    MatSetType():  mat_operations.c (the creator) -> create.c (parent type, state) -> options.c (defaults, database) ->
    create.c
                   (the operations of the table in mat_operations.c)
    first product: mult.c -> sync.c (no plan yet) -> choose.c (the format of aijauto) -> places.c (which CSR to read) ->
                   plan.c (build); then mult.c -> vectors.c (vectors) -> spmv_mult()
    new values:    mult.c -> sync.c (the state of the matrix has grown) -> places.c -> plan.c (refresh); then as above

  The state lies in a container composed on the Mat: A->data and A->spptr belong to the parent type.

  README.md has the files and their order.
*/
#pragma once

#include <spmv_graph.h>
#include <spmv_predict.h>
#include "plan.h"
#include "tables.h"

/* One row of types.def, as names of PETSc types; or AIJFmtReplaced, whose names are PETSc's own */
typedef struct {
  const char *format;         /* "rbp", or "auto" */
  MatType     seq, mpi, root; /* "seqaijrbp", "mpiaijrbp", "aijrbp"; "seqaij", "mpiaij", "aij" */
} AIJFmtRow;

typedef enum { AIJFMT_PARENT_HOST, AIJFMT_PARENT_CUDA, AIJFMT_PARENT_COUNT } AIJFmtParentKind;

/* Composed functions that our types replace: rows of the table in mat_operations.c */
typedef enum {
  AIJFMT_RETRIEVE_VALUES,
  AIJFMT_STORE_VALUES,
  AIJFMT_KRON,
  AIJFMT_PREALLOCATE_COO,
  AIJFMT_SET_VALUES_COO,
  AIJFMT_COPY_SUB_ARRAY,
  AIJFMT_MERGE_LOCAL,
  AIJFMT_INODE_SIZES,
  AIJFMT_ANY_PRODUCT,
  AIJFMT_COMPOSED_COUNT
} AIJFmtComposed;

typedef struct Mat_AIJFmt Mat_AIJFmt;

/* The map of a list of coordinates, from its entries to nonzeros: see coo.h */
typedef struct AIJFmtCooStruct AIJFmtCoo;

/* The option MAT_IGNORE_OFF_PROC_ENTRIES, which MatGetOption() does not return */
typedef enum { AIJFMT_OFF_PROCESS_UNKNOWN, AIJFMT_OFF_PROCESS_SENT, AIJFMT_OFF_PROCESS_IGNORED } AIJFmtOffProcess;

/* Whether a row of a table applies to a matrix */
typedef PetscBool AIJFmtWhen(Mat, const Mat_AIJFmt *);

/* An operation of a matrix */
typedef struct {
  size_t         offset;  /* of the operation in A->ops */
  AIJFmtFunction ours[2]; /* by [parallel]; NULL keeps the parent's */
  AIJFmtWhen    *when;    /* NULL: always */
} AIJFmtOperation;

/* A function composed on a matrix */
typedef struct {
  AIJFmtFunction ours[2]; /* by [parallel]; NULL keeps the parent's */
  AIJFmtWhen    *when;    /* NULL: always */
  PetscBool      adds;    /* composed even if the parent composes none */
} AIJFmtComposition;

/* A pair of parent types, with the operations and composed functions of template matrices */
typedef struct {
  AIJFmtParentKind kind;
  MatType          seq_type, mpi_type;
  struct _MatOps   seq, mpi;
  AIJFmtFunction   composed[AIJFMT_COMPOSED_COUNT][2]; /* by [..][parallel]; NULL where the parent has none */
} AIJFmtParent;

enum { AIJFMT_CANDIDATES_MAX = 16 };

/* What is known about the time of a candidate */
typedef enum {
  AIJFMT_BOUND,     /* a lower bound */
  AIJFMT_ANALYZED,  /* predicted from an analysis; for the parent type, from the pattern */
  AIJFMT_IMPOSSIBLE /* reason tells why */
} AIJFmtCandidateState;

/* The parent type or a format that may do the products of a matrix of type aijauto; times in seconds */
typedef struct {
  const SpmvFormat    *format; /* NULL: the parent type */
  AIJFmtCandidateState state;
  PetscBool            known; /* the cost model has coefficients for it */
  SpmvPrediction       predicted;
  PetscLogDouble       measured; /* least measured time of a product; 0: not measured */
  char                 reason[SPMV_MESSAGE_MAX];
} AIJFmtCandidate;

/* The plan of the first format of a trial, kept while the second one is tried */
typedef struct {
  int             candidate;
  AIJFmtPlanCache cache; /* cache.plan is NULL: none */
} AIJFmtAside;

/* A copy of the host's arrays in device memory, kept until the set-up of PCGAMG ends */
typedef struct {
  SpmvExec           exec;
  SpmvCsr            csr;
  void              *block; /* NULL: no copy */
  AIJFmtKey          key;
  struct Mat_AIJFmt *after; /* the next state in aijfmt_process.copied */
} AIJFmtCopy;

/* The choice of a matrix of type aijauto for one pattern */
typedef struct {
  AIJFmtKey        key;
  PetscBool        valid;
  SpmvSpace        space;
  SpmvPatternFacts facts;
  PetscLogDouble   expected;        /* number of products */
  PetscLogDouble   products_before; /* products of the matrix when the choice was made */
  int              count, chosen;
  AIJFmtCandidate  candidate[AIJFMT_CANDIDATES_MAX];
  SpmvOptions      options;  /* of the chosen format; options.format is NULL: the parent type */
  int              analyzed; /* the candidate whose analysis is kept for its conversion; 0: none */
  SpmvAnalysis     analysis;
  SpmvPattern      pattern;     /* read by analyses; on the GPU if they run there */
  void            *on_gpu;      /* device memory of the pattern; NULL: it is on the host */
  PetscBool        trial;       /* a trial is in progress */
  int              conversions; /* formats converted in the trial */
  int              runs;        /* products by the candidate whose turn it is */
  PetscLogDouble   done;        /* products by all candidates */
  PetscLogDouble   start;       /* start time of the last product */
  AIJFmtAside      aside;
} AIJFmtChoice;

/* What a reason in the state of a matrix explains; views print the reasons in this order, up to the one of COO lists */
typedef enum {
  AIJFMT_WHY_PARENT,     /* the parent type does the products */
  AIJFMT_WHY_TRANSPOSED, /* the parent type does the transposed products */
  AIJFMT_WHY_PRODUCT,    /* the parent type did the last product despite the plan */
  AIJFMT_WHY_SPACE,      /* the plan is on the host although there is a GPU */
  AIJFMT_WHY_VALUES,     /* the values are on the GPU, or do not fit there */
  AIJFMT_WHY_GRAPH,      /* PETSc's function made the graph */
  AIJFMT_WHY_PATTERN,    /* the host found the pattern of a product of matrices */
  AIJFMT_WHY_NUMERIC,    /* the host computed the values of a product of matrices */
  AIJFMT_WHY_TRANSPOSE,  /* the parent type made the last transposed matrix */
  AIJFMT_WHY_SWEEP,      /* the parent type did the last MatSOR() */
  AIJFMT_WHY_INODES,     /* what the parent type looked for inodes for, in a matrix that the GPU has made: inodes.c */
  AIJFMT_WHY_COO,        /* the host sorted the last COO list or sums its values */
  AIJFMT_WHY_COUNT
} AIJFmtWhy;

struct Mat_AIJFmt {
  const AIJFmtRow    *row;
  const AIJFmtParent *parent; /* the parent type, whose operations ours call */
  SpmvOptions         format_options, class_options;
  PetscBool           parallel; /* state of an mpiaij<format>: plan, choice and counters are in its blocks */
  const char         *alias;    /* type name set by a name guard; NULL: its own name */

  SpmvExec         exec;
  AIJFmtPlanCache  cache;        /* cache.plan is NULL: not converted yet, or left to the parent type */
  PetscInt         nonzero_rows; /* of the matrix in cache.key, to count flops */
  char             why[AIJFMT_WHY_COUNT][SPMV_MESSAGE_MAX]; /* reasons; "" if there is nothing to explain */
  PetscBool        keeps_host;       /* PETSc reads the host's values unasked: keep them current */
  PetscInt         joint_changes;    /* operations applied to host and plan alike since the values were packed */
  PetscBool        device_csr_used;  /* the class has asked the CUDA parent for its CSR on the device; never reset */
  PetscBool        device_csr_known; /* that CSR was seen, for the pattern of ... */
  PetscObjectState device_csr_state; /* ... this nonzero state */
  PetscBool        diagonal_known, diagonal_full; /* whether each row has a diagonal entry, in the pattern of ... */
  PetscObjectState diagonal_state;                /* ... this nonzero state */
  SpmvBlocks       blocks;                        /* of the pattern of ... */
  AIJFmtKey        blocks_key;                    /* ... this key */
  PetscObjectId    checked_id;                    /* the matrix whose pattern was checked and found valid, in ... */
  PetscObjectState checked_state;                 /* ... this nonzero state */
  AIJFmtCopy       copy;
  const void      *shared_columns; /* columns in shared memory that the matrix was given, or NULL: shared.c */
  /* The last result of SamePattern() in values.c: whether the patterns of key and other are equal */
  struct {
    AIJFmtKey key, other;
    PetscBool known, same;
  } compared;
  AIJFmtCoo       *coo;          /* NULL: no list, or PETSc has sorted it */
  PetscObjectState coo_state[2]; /* nonzero state of the matrix, or of its blocks, when coo was made */
  AIJFmtOffProcess off_process;  /* of a parallel matrix */

  AIJFmtVector  x, y;   /* of a product, with their copies on the device */
  AIJFmtChoice *choice; /* NULL before the first choice */
  MatAIJFmtInfo info;   /* counters and times only; MatAIJFmtGetInfo() fills the other fields */
  Mat           self;   /* the matrix of this state, as last seen; NULL: unknown */
  PetscBool     listed; /* in the list aijfmt_process.listed, between before and after */
  Mat_AIJFmt   *before, *after;
};

/* An operation of PETSc that runs while a matrix has its parent's name: see petsc_names.c */
typedef struct {
  const char    *type;              /* type of the object that has the operation, such as "hem" of a MatCoarsen */
  AIJFmtFunction create, operation; /* PETSc's own functions; NULL until they are known */
} AIJFmtWrapped;

/* Data of the class for the whole process. PetscPackFinalizePackage() clears what PetscFinalize() invalidates. The
   pointers to PETSc's own functions stay, because our functions call them and remain in PETSc's lists as long as the
   process lives. */
typedef struct {
  PetscBool                initialized;     /* PetscPackInitializePackage() was called */
  PetscInt64               device_keep;     /* PetscPackSetDeviceKeep() */
  const AIJFmtOperation   *operation_table; /* [operation_count], in mat_operations.c */
  int                      operation_count;
  const AIJFmtComposition *composition_table; /* [AIJFMT_COMPOSED_COUNT], in mat_operations.c */
  PetscErrorCode (*coo_free)(AIJFmtCoo **);   /* of mat/impls/lists, which lies above this folder */
  PetscErrorCode (*coo_share)(Mat, const Mat_AIJFmt *, Mat, Mat_AIJFmt *);
  PetscErrorCode (*coo_stay)(Mat, const Mat_AIJFmt *);
  PetscErrorCode (*coo_text)(const AIJFmtCoo *, char[], size_t);
  AIJFmtParent  parent[AIJFMT_PARENT_COUNT];
  PetscBool     parent_known[AIJFMT_PARENT_COUNT];
  PetscInt64    serial; /* the last serial given to a plan */
  AIJFmtWrapped coloring[2], coarsen[1];
  struct {
    char           name[64];
    AIJFmtFunction order; /* PETSc's own function */
  } ordering[64];
  int ordering_count;                 /* number of known orderings */
  PetscErrorCode (*create_maij)(Mat); /* PETSc's creator of MATSEQMAIJ */
  PetscErrorCode (*create[2])(Mat);   /* PETSc's creators of MATSEQAIJ and MATMPIAIJ while ours replace them */
  int plain;                          /* while it is above 0, new matrices of these types stay PETSc's own */
  PetscErrorCode (*duplicate)(Mat, MatDuplicateOption, Mat *); /* ours, by which a matrix of ours is known */
  PetscErrorCode (*numeric_gpu)(Mat); /* numeric phase of a product of matrices on the GPU, in matmat.c */
  AIJFmtFunction gamg_coarsen;        /* PCGAMGAGG's own step; during it, ... */
  Mat            squared;             /* ... the graph whose square needs its pattern only, or NULL */
  Mat_AIJFmt    *listed;              /* the states of all sequential matrices over the CUDA parent */
  Mat_AIJFmt    *copied;              /* the states of all matrices with a copy on the device */
  SpmvGraph    **graph;               /* receives a graph that is to stay on the device, or NULL */
  int            set_ups;             /* set-ups of PCGAMG in progress */
  PetscBool      reads_shared; /* in these the device reads shared arrays, and the host has not waited for that */
  Mat            merging;      /* MatHeaderMerge() moves the contents of another matrix into it, or NULL */
} AIJFmtProcess;

PETSC_INTERN AIJFmtProcess aijfmt_process;

/* Gives a matrix of ours the type name of a parent for a while; guards of one matrix may be nested */
typedef struct {
  Mat_AIJFmt   *state; /* NULL: nothing to restore */
  PetscObjectId id;
  char         *name;  /* the previous name ... */
  const char   *alias; /* ... and the previous alias of the state */
} AIJFmtNameGuard;

/* A call of PETSc while n matrices, some of which may be NULL, have the type name of a parent. They get their names back
   also if the call fails. */
#define AIJFmtAsAll(n, mats, kind, call)                                                                               \
  do {                                                                                                                 \
    AIJFmtNameGuard aijfmt_guard_[n];                                                                                  \
    PetscErrorCode  aijfmt_error_;                                                                                     \
    for (int g_ = 0; g_ < (n); g_++) PetscCall(AIJFmtNameGuardBegin((mats)[g_], kind, &aijfmt_guard_[g_]));            \
    aijfmt_error_ = (call);                                                                                            \
    for (int g_ = 0; g_ < (n); g_++) PetscCall(AIJFmtNameGuardEnd((mats)[g_], &aijfmt_guard_[g_]));                    \
    PetscCall(aijfmt_error_);                                                                                          \
  } while (0)

#define AIJFmtAs(A, kind, call) AIJFmtAsAll(1, &(A), kind, call)

/* Calls an operation of the host parent for sequential matrices: AIJFmtHost(scale, A, a) */
#define AIJFmtHost(operation, ...)                                                                                     \
  do {                                                                                                                 \
    const AIJFmtParent *aijfmt_host_;                                                                                  \
    PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &aijfmt_host_));                                                     \
    PetscCall(aijfmt_host_->seq.operation(__VA_ARGS__));                                                               \
  } while (0)

/* Calls an operation of the parent of A, with A as its first argument. mats: seq or mpi */
#define AIJFmtSuper(mats, operation, A, ...)                                                                           \
  do {                                                                                                                 \
    const AIJFmtParent *aijfmt_parent_;                                                                                \
    PetscCall(AIJFmtParentOf(A, &aijfmt_parent_));                                                                     \
    PetscCall(aijfmt_parent_->mats.operation(A, __VA_ARGS__));                                                         \
  } while (0)

/* Where the current values of a sequential matrix are: in at least one of these places */
typedef struct {
  PetscBool host;       /* the CSR arrays of MATSEQAIJ */
  PetscBool device_csr; /* the CSR arrays of the CUDA parent on the device */
  PetscBool plan;       /* the packed arrays */
} AIJFmtPlaces;

/* When an operation wants the values in the device CSR, if they are not there yet */
typedef enum {
  AIJFMT_WANTS_FILLED,    /* if the plan fills it; else the first change is made on the host and in the plan alike */
  AIJFMT_WANTS_WITH_PLAN, /* if there is a plan */
  AIJFMT_WANTS            /* always */
} AIJFmtWish;

/* The expected result of a product, and the error bound of each row */
typedef struct {
  PetscInt   n;
  Vec        reference;
  PetscReal *bound; /* shape [n] */
} AIJFmtCheck;

PETSC_INTERN PetscLogEvent MAT_AIJFmtConvert, MAT_AIJFmtRefresh;

/* types.c */
PETSC_INTERN const char *const AIJFmtComposedNames[AIJFMT_COMPOSED_COUNT];
PETSC_INTERN const AIJFmtRow   AIJFmtReplaced;
PETSC_INTERN PetscInt          AIJFmtRowCount(void);
PETSC_INTERN const AIJFmtRow  *AIJFmtRowGet(PetscInt);
PETSC_INTERN PetscErrorCode    AIJFmtRowFind(const char *, const AIJFmtRow **);
PETSC_INTERN PetscErrorCode    AIJFmtParentGet(AIJFmtParentKind, const AIJFmtParent **);
PETSC_INTERN PetscErrorCode    AIJFmtParentFind(MatType, const AIJFmtParent **);

/* state.c */
PETSC_INTERN const char *const  AIJFmtWhyLabels[AIJFMT_WHY_COUNT];
PETSC_INTERN PetscErrorCode     AIJFmtStateGet(Mat, Mat_AIJFmt **);
PETSC_INTERN PetscErrorCode     AIJFmtStateOfAnyType(Mat, Mat_AIJFmt **);
PETSC_INTERN PetscErrorCode     AIJFmtStateRequire(Mat, const char *, Mat_AIJFmt **);
PETSC_INTERN PetscErrorCode     AIJFmtStateCompose(Mat, Mat_AIJFmt **, PetscBool *);
PETSC_INTERN PetscErrorCode     AIJFmtStateForget(Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode     AIJFmtExplain(Mat, Mat_AIJFmt *, AIJFmtWhy, const char *);
PETSC_INTERN PetscErrorCode     AIJFmtStateCopyOptions(const Mat_AIJFmt *, Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode     AIJFmtParentOf(Mat, const AIJFmtParent **);
PETSC_INTERN PetscBool          AIJFmtIsAuto(const Mat_AIJFmt *);
PETSC_INTERN PetscBool          AIJFmtHasKernels(const Mat_AIJFmt *);
PETSC_INTERN const SpmvOptions *AIJFmtPlanOptions(const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode     AIJFmtChoiceForget(Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode     AIJFmtChoiceAnalysisClear(Mat_AIJFmt *);
PETSC_INTERN PetscBool          AIJFmtTrialAsideFree(Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode     AIJFmtBlocksGet(Mat, Mat[2]);
PETSC_INTERN PetscErrorCode     AIJFmtBlocksSetSizes(Mat);
PETSC_INTERN PetscErrorCode     AIJFmtBlocksCopyOptions(Mat, const Mat_AIJFmt *);
PETSC_INTERN void               AIJFmtListAdd(Mat_AIJFmt *);
PETSC_INTERN void               AIJFmtListRemove(Mat_AIJFmt *);
PETSC_INTERN void               AIJFmtListHeaderFreed(PetscObject);
PETSC_INTERN void               AIJFmtCopyFree(Mat_AIJFmt *);

/* name_guard.c */
PETSC_INTERN PetscErrorCode AIJFmtNameGuardBegin(Mat, AIJFmtParentKind, AIJFmtNameGuard *);
PETSC_INTERN PetscErrorCode AIJFmtNameGuardEnd(Mat, AIJFmtNameGuard *);

/* places.c */
PETSC_INTERN PetscBool      AIJFmtPlanHasValues(Mat, const Mat_AIJFmt *);
PETSC_INTERN AIJFmtPlaces   AIJFmtPlacesGet(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtParentCsrStaleIfBoth(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtHostKeepFactors(Mat product);
PETSC_INTERN PetscErrorCode AIJFmtPlanWritten(Mat_AIJFmt *, PetscObjectState);
PETSC_INTERN void           AIJFmtParentCsrStale(Mat);
PETSC_INTERN void           AIJFmtParentCsrFilled(Mat, PetscBool filled);
PETSC_INTERN PetscErrorCode AIJFmtMAIJRegister(void);

/* arrays.c, from_device.c */
PETSC_INTERN PetscErrorCode AIJFmtAssembleBlocks(Mat);
PETSC_INTERN PetscErrorCode AIJFmtPatternFromDevice(Mat, const SpmvPattern *, PetscBool with_values, SpmvExec *);
PETSC_INTERN PetscErrorCode AIJFmtBlocksFromDevice(Mat, const SpmvPattern block[2], PetscBool with_values, SpmvExec *);
PETSC_INTERN PetscErrorCode AIJFmtArraysForPlan(Mat, Mat_AIJFmt *, const AIJFmtKey *, PetscBool pattern,
                                                AIJFmtArrays *);
PETSC_INTERN PetscBool      AIJFmtParentHasCsr(Mat, const Mat_AIJFmt *);
PETSC_INTERN void           AIJFmtParentCsrSeen(Mat, Mat_AIJFmt *);
PETSC_INTERN void           AIJFmtCopiesBegin(void);
PETSC_INTERN PetscErrorCode AIJFmtCopiesEnd(void);

/* shared.c */
PETSC_INTERN PetscErrorCode AIJFmtSharedMake(Mat, Mat_AIJFmt *, const SpmvPattern *, PetscBool with_values, SpmvExec *,
                                             PetscBool *made);
PETSC_INTERN PetscErrorCode AIJFmtSharedKeep(Mat, const Mat_AIJFmt *, PetscObjectState);
PETSC_INTERN PetscErrorCode AIJFmtSharedAssemble(Mat, const Mat_AIJFmt *, const SpmvPattern *, SpmvExec *);
PETSC_INTERN PetscErrorCode AIJFmtSharedIsAssembled(Mat, const Mat_AIJFmt *, PetscBool *);
PETSC_INTERN PetscErrorCode AIJFmtSharedTakeInodes(Mat, PetscBool *lacked);
PETSC_INTERN PetscErrorCode AIJFmtSharedDropStale(Mat, Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtSharedPattern(Mat, SpmvPattern *, PetscBool *shares);
PETSC_INTERN PetscErrorCode AIJFmtSharedArray(Mat, const PetscScalar **);

/* decide.c */
PETSC_INTERN const char    *AIJFmtWhyNotDevice(Mat, const Mat_AIJFmt *, PetscBool needs_values);
PETSC_INTERN PetscBool      AIJFmtAsksDevice(const Mat_AIJFmt *, int64_t size, PetscBool there);
PETSC_INTERN PetscErrorCode AIJFmtSizeGet(Mat, int64_t *nonzeros, PetscBool *there);
PETSC_INTERN PetscErrorCode AIJFmtRan(Mat, AIJFmtWhy, const char reason[]);
PETSC_INTERN PetscErrorCode AIJFmtSharedValues(Mat, const Mat_AIJFmt *, const PetscScalar **);
PETSC_INTERN PetscErrorCode AIJFmtSharedToCsr(Mat, Mat_AIJFmt *, const char[]);
PETSC_INTERN PetscErrorCode AIJFmtNewValuesDecide(Mat, Mat_AIJFmt *, const char[], PetscBool *stays);
PETSC_INTERN PetscErrorCode AIJFmtDeviceCsrDecide(Mat, Mat_AIJFmt *, const char[], AIJFmtWish, PetscBool *);

/* sync.c */
PETSC_INTERN PetscErrorCode AIJFmtSync(Mat, Mat_AIJFmt *, Vec);
PETSC_INTERN PetscErrorCode AIJFmtSyncTranspose(Mat, Mat_AIJFmt *, PetscBool *);
PETSC_INTERN PetscErrorCode AIJFmtSyncIfOnDevice(Mat, Mat_AIJFmt *, Vec);

/* choose.c */
PETSC_INTERN PetscErrorCode AIJFmtChoose(Mat, Mat_AIJFmt *, const AIJFmtKey *, char[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode AIJFmtCandidateText(const AIJFmtChoice *, int, char[], size_t);
PETSC_INTERN PetscErrorCode AIJFmtTrialBegin(Mat, Mat_AIJFmt *, Vec);
PETSC_INTERN PetscErrorCode AIJFmtTrialEnd(Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtTrialConclude(Mat, Mat_AIJFmt *, Vec);

/* check.c */
PETSC_INTERN PetscErrorCode AIJFmtCheckBegin(Mat, PetscBool, Vec, Vec, AIJFmtCheck *);
PETSC_INTERN PetscErrorCode AIJFmtCheckEnd(Mat, Vec, AIJFmtCheck *);

/* mult.c */
PETSC_INTERN PetscErrorCode MatMult_AIJFmt(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMultAdd_AIJFmt(Mat, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMultTranspose_AIJFmt(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMultTransposeAdd_AIJFmt(Mat, Vec, Vec, Vec);

/* values.c */
PETSC_INTERN PetscErrorCode MatScale_SeqAIJFmt(Mat, PetscScalar);
PETSC_INTERN PetscErrorCode MatDiagonalScale_SeqAIJFmt(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatShift_SeqAIJFmt(Mat, PetscScalar);
PETSC_INTERN PetscErrorCode MatDiagonalSet_SeqAIJFmt(Mat, Vec, InsertMode);
PETSC_INTERN PetscErrorCode MatGetDiagonal_SeqAIJFmt(Mat, Vec);
PETSC_INTERN PetscErrorCode MatAXPY_SeqAIJFmt(Mat, PetscScalar, Mat, MatStructure);
PETSC_INTERN PetscErrorCode MatCopy_SeqAIJFmt(Mat, Mat, MatStructure);
PETSC_INTERN PetscErrorCode MatZeroEntries_SeqAIJFmt(Mat);
PETSC_INTERN PetscErrorCode MatRetrieveValues_SeqAIJFmt(Mat);
PETSC_INTERN PetscErrorCode MatStoreValues_SeqAIJFmt(Mat);

/* dispatch.c */
PETSC_INTERN PetscErrorCode AIJFmtTripleProductsCompose(Mat, const Mat_AIJFmt *, PetscBool remove);
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_AIJFmt(Mat);

/* inodes.c */
PETSC_INTERN PetscErrorCode MatInodeGetInodeSizes_SeqAIJFmt(Mat, PetscInt *, PetscInt *[], PetscInt *);

/* petsc_names.c */
PETSC_INTERN PetscErrorCode AIJFmtWrappedFind(AIJFmtWrapped[], int, const char[], AIJFmtWrapped **);
PETSC_INTERN PetscErrorCode AIJFmtWrappedCreators(AIJFmtWrapped[], int, PetscFunctionList *, AIJFmtFunction);
PETSC_INTERN PetscErrorCode AIJFmtNamesRegister(void);
PETSC_INTERN PetscErrorCode MatSeqAIJKron_AIJFmt(Mat, Mat, MatReuse, Mat *);

/* options.c */
PETSC_INTERN PetscErrorCode AIJFmtOptionsInit(Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtOptionsRead(Mat, Mat_AIJFmt *, AIJFmtOptionItems);
PETSC_INTERN PetscErrorCode MatSetFromOptions_AIJFmt(Mat, AIJFmtOptionItems);
PETSC_INTERN PetscErrorCode AIJFmtTableRead(PetscObject, SpmvOptions *, const char *, AIJFmtOptionItems);

/* view.c */
PETSC_INTERN PetscErrorCode MatGetInfo_SeqAIJFmt(Mat, MatInfoType, MatInfo *);
PETSC_INTERN PetscErrorCode MatView_AIJFmt(Mat, PetscViewer);

/* transpose.c */
PETSC_INTERN PetscErrorCode MatTranspose_AIJFmt(Mat, MatReuse, Mat *);

/* cuda.c */
PETSC_INTERN PetscErrorCode AIJFmtCudaAdopt(Mat, Mat_AIJFmt *, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtCudaRelease(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtCudaRebind(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtCudaRegister(void);
PETSC_INTERN PetscErrorCode MatBindToCPU_SeqAIJFmt(Mat, PetscBool);
PETSC_INTERN PetscErrorCode MatBindToCPU_SeqAIJFmt_Host(Mat, PetscBool);
PETSC_INTERN PetscErrorCode MatNorm_MPIAIJFmt(Mat, NormType, PetscReal *);
PETSC_INTERN PetscErrorCode MatGetColumnReductions_SeqAIJFmt(Mat, PetscInt, PetscReal *);
PETSC_INTERN PetscErrorCode MatEliminateZeros_SeqAIJFmt(Mat, PetscBool);
PETSC_INTERN PetscErrorCode MatLoad_SeqAIJFmt(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatMPIAIJGetLocalMatMerge_MPIAIJFmt(Mat, MatReuse, IS *, Mat *);
PETSC_INTERN PetscErrorCode MatSeqAIJCopySubArray_SeqAIJFmt(Mat, PetscInt, const PetscInt[], PetscScalar[]);

/* create.c */
PETSC_INTERN PetscErrorCode AIJFmtCreate(Mat, const AIJFmtRow *, PetscBool);
PETSC_INTERN PetscErrorCode AIJFmtReplace(PetscBool);
PETSC_INTERN PetscErrorCode AIJFmtOperationsInstall(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode MatConvert_SeqAIJ_AIJFmt(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatConvert_AIJFmt_Any(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatConvertFrom_AIJFmt(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode AIJFmtInstall(Mat, const AIJFmtRow *, PetscBool, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtSetTypeLike(Mat, Mat);
PETSC_INTERN PetscErrorCode AIJFmtStrip(Mat);
PETSC_INTERN PetscErrorCode AIJFmtBlocksStrip(Mat);
PETSC_INTERN PetscErrorCode MatDuplicate_AIJFmt(Mat, MatDuplicateOption, Mat *);
PETSC_INTERN PetscErrorCode MatAssemblyEnd_SeqAIJFmt(Mat, MatAssemblyType);
PETSC_INTERN PetscErrorCode MatAssemblyEnd_MPIAIJFmt(Mat, MatAssemblyType);
PETSC_INTERN PetscErrorCode MatTransposeSymbolic_SeqAIJFmt(Mat, Mat *);
PETSC_INTERN PetscErrorCode MatDestroy_SeqAIJFmt_Host(Mat);
PETSC_INTERN PetscErrorCode MatDestroy_MPIAIJFmt_Host(Mat);
PETSC_INTERN PetscErrorCode MatDestroy_SeqAIJFmt_CUDA(Mat);
PETSC_INTERN PetscErrorCode MatDestroy_MPIAIJFmt_CUDA(Mat);

/* Whether the parent is the CUDA parent, which only a PETSc with CUDA has: vectors, assembly and factors are then on
   the GPU too. Otherwise a plan on the GPU still serves; vectors.c copies the vectors. */
static inline PetscBool AIJFmtIsOverCuda(const Mat_AIJFmt *s)
{
  return AIJFMT_HAVE_CUDA_PARENT && s && s->parent && s->parent->kind == AIJFMT_PARENT_CUDA ? PETSC_TRUE : PETSC_FALSE;
}

/* The plan of A if it is on the GPU, else NULL */
static inline SpmvPlan *AIJFmtPlanOnGpu(const Mat_AIJFmt *s)
{
  return s->cache.plan && s->cache.plan->space == SPMV_DEVICE ? s->cache.plan : NULL;
}

/* The state that A will have when the function of PETSc that called the operation has raised it. MatScale(), MatShift(),
   MatDiagonalSet() and the assembly at the end of MatSetValuesCOO() do so once, and PETSc's containers call these
   functions, never the operations: the test mat_states holds PETSc to that. No other key may be newer than its matrix,
   because a caller that raised otherwise would make stale values look current. */
static inline PetscObjectState AIJFmtStateAfter(Mat A) { return ((PetscObject)A)->state + 1; }

/* Whether the matrix keeps PETSc's name for its type: -petscpack_replace aij */
static inline PetscBool AIJFmtKeepsName(const Mat_AIJFmt *s)
{
  return s->row == &AIJFmtReplaced ? PETSC_TRUE : PETSC_FALSE;
}

/* The host type that the matrix is a subclass of */
static inline MatType AIJFmtHostType(const Mat_AIJFmt *s) { return s->parallel ? MATMPIAIJ : MATSEQAIJ; }

static inline PetscBool AIJFmtClassFlag(const Mat_AIJFmt *s, int option)
{
  return s->class_options.value[option] != 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* A matrix with fewer nonzeros and vectors on the host stays on the host, because copies and kernel launch would take
   as long as the whole product there. If its vectors are on the GPU, they would have to be copied to the host, so a
   matrix of any size goes to the GPU. */
enum { AIJFMT_DEVICE_MIN_NONZEROS = 50000 };
