/*
  seqaijfmt.h - private declarations of the one Mat class behind all formats

  A matrix of type seqaij<format> is a MATSEQAIJ whose products go through a plan of libspmvpack; mpiaij<format> is a
  MATMPIAIJ whose two blocks are of type seqaij<format>. All else is the parent type. The flow:

    register.c -> create.c (parent made, state composed, products replaced) -> options.c
    first product: mult.c -> sync.c (the only caller of build and update_values) -> stage.c -> slot mult

  The state lies in a container composed on the Mat: A->data and A->spptr belong to the parent type.
*/
#pragma once

#include <petsc/private/matimpl.h>
#include <petscpack.h>
#include <spmv_kernels.h>
#include <spmv_predict.h>
#include "compat.h"
#include "tables.h"

/* One row of types.def as PETSc types */
typedef struct {
  const char *format;         /* "rbp", or "auto" */
  MatType     seq, mpi, root; /* "seqaijrbp", "mpiaijrbp", "aijrbp" */
} AIJFmtRow;

typedef enum { AIJFMT_PARENT_HOST, AIJFMT_PARENT_CUDA, AIJFMT_PARENT_COUNT } AIJFmtParentKind;

/* A pair of parent types, with their operations as template matrices have them */
typedef struct {
  AIJFmtParentKind kind;
  MatType          seq_type, mpi_type;
  struct _MatOps   seq, mpi;
  PetscErrorCode (*retrieve_values)(Mat); /* composed functions of the sequential one; NULL where it has none */
  AIJFmtFunction kron;
} AIJFmtParent;

/* The key of a plan: the matrix that it was made from. Structure and values are compared separately: see decision 0003.
 */
typedef struct {
  PetscObjectId    id;
  PetscObjectState nonzero_state, value_state;
  SpmvPattern      pattern; /* on the host; its arrays belong to the matrix */
} AIJFmtKey;

/* The CSR arrays of a matrix, and what gives them back */
typedef struct {
  SpmvCsr            csr;
  const PetscScalar *host_values; /* NULL: the values lie on the device */
} AIJFmtCsr;

/* Copies of a vector for a plan in another space than the vector: one in page-locked memory, one on the device */
typedef struct {
  size_t bytes;
  void  *pinned, *device;
} AIJFmtBuffer;

enum { AIJFMT_CANDIDATES_MAX = 16 };

/* What is known of the times of a candidate */
typedef enum {
  AIJFMT_BOUND,     /* a lower bound */
  AIJFMT_ANALYZED,  /* the prediction from an analysis, or of the parent type */
  AIJFMT_IMPOSSIBLE /* reason says why */
} AIJFmtCandidateState;

/* What may serve the products of a matrix of type aijauto, with its times in seconds */
typedef struct {
  const SpmvFormat    *format; /* NULL: the parent type */
  AIJFmtCandidateState state;
  PetscBool            known; /* the model has coefficients for it */
  SpmvPrediction       predicted;
  PetscLogDouble       measured; /* the least time of a product; 0: none was measured */
  char                 reason[SPMV_MESSAGE_MAX];
} AIJFmtCandidate;

/* The plan of a candidate that may get its place back when a trial ends */
typedef struct {
  int         candidate;
  AIJFmtKey   key;
  SpmvPlan   *plan; /* NULL: none */
  SpmvPattern built_from;
  const void *borrowed_values;
  PetscInt64  serial;
  void       *work;
} AIJFmtAside;

/* The choice of a matrix of type aijauto for one pattern */
typedef struct {
  AIJFmtKey        key;
  PetscBool        valid;
  SpmvSpace        space;
  SpmvPatternFacts facts;
  PetscLogDouble   expected;        /* products */
  PetscLogDouble   products_before; /* of the matrix, when the choice was made */
  int              count, chosen;
  AIJFmtCandidate  candidate[AIJFMT_CANDIDATES_MAX];
  SpmvOptions      options;  /* of the format chosen */
  int              analyzed; /* the candidate whose analysis is kept for its conversion; 0: none */
  SpmvAnalysis     analysis;
  SpmvPattern      pattern;           /* that analyses read: on the GPU, where these are done there */
  void            *on_gpu;            /* its arrays, in one block; NULL: it is that of the host */
  PetscBool        trial;             /* goes on */
  int              conversions, runs; /* in the trial; products of the candidate that has its turn ... */
  PetscLogDouble   done, start;       /* ... and of all; when the last one began */
  AIJFmtAside      aside;
} AIJFmtChoice;

/* Whether a conversion may be worth it, and the seconds for it and all products to come */
typedef PetscBool (*AIJFmtWorth)(const AIJFmtChoice *, int candidate, double *cost);

typedef struct Mat_AIJFmt Mat_AIJFmt;

struct Mat_AIJFmt {
  const AIJFmtRow    *row;
  const AIJFmtParent *parent; /* what the matrix is beneath our operations */
  SpmvOptions         format_options, class_options;
  PetscBool           parallel; /* the state of an mpiaij<format>: only the options above are in use */
  PetscBool           inner;    /* a block of a parallel matrix, which builds it at assembly when eager */
  const char         *alias;    /* the type name that the matrix has for a while, instead of its own; NULL: its own */

  AIJFmtKey   key;
  PetscBool   key_valid;
  SpmvExec    exec;
  SpmvPlan   *plan;                               /* NULL: not converted yet, or left to the parent type */
  SpmvPattern built_from;                         /* where the pattern lay when the plan was built */
  const void *borrowed_values;                    /* on the device, in the place of values of a plan that borrows */
  PetscInt64  serial;                             /* another plan, or other arrays in it, have another number */
  void       *work;                               /* scratch of a product, in the plan's space */
  PetscBool   transpose_ready;                    /* prepare_transpose was called for the values that the plan has */
  PetscInt    nonzero_rows;                       /* of the matrix in key, for the count of flops */
  char        reason[SPMV_MESSAGE_MAX];           /* why the parent type does the products; "" if it does not */
  char        space_reason[SPMV_MESSAGE_MAX];     /* why the plan is on the host although the GPU was asked for */
  char        transpose_reason[SPMV_MESSAGE_MAX]; /* why the parent type does the transposed products */
  char        values_reason[SPMV_MESSAGE_MAX];    /* why the values are on the GPU, or have no room there */
  PetscBool   keeps_host;   /* PETSc reads values on the host without asking for them: they are always current there */
  PetscInt    host_changes; /* changes of the plan that followed those of the host, since the values were packed */
  PetscBool   device_csr;   /* the CUDA parent has made its CSR on the device */
  PetscBool   diagonal_known, diagonal_full; /* whether each row has its diagonal entry, in the pattern of ... */
  PetscObjectState diagonal_state;           /* ... this nonzero state */
  /* Whether this pattern and another one are equal, as found last; of the matrices in key and other */
  struct {
    AIJFmtKey key, other;
    PetscBool known, same;
  } compared;
  AIJFmtBuffer  buffer_x, buffer_y;
  AIJFmtChoice *choice; /* NULL before the first */
  MatAIJFmtInfo info;   /* counters and times only; the rest is filled when asked for */
  Mat           self;   /* whose state this is, as seen last; NULL: not known */
  PetscBool     listed; /* in the list of cuda_maij.c, between these two */
  Mat_AIJFmt   *before, *after;
};

/* The plan of a matrix for a solver that multiplies by itself */
typedef struct {
  const SpmvPlan *plan; /* NULL: none on the device */
  void           *work;
  PetscInt64      serial;   /* while it stays, so do all addresses in the plan, for graphs that hold them */
  const char     *why_host; /* the user wants the products where MatMult() does them; NULL: no such wish */
} AIJFmtPlanOnDevice;

/* A vector's entries in the memory of the plan */
typedef struct {
  Vec           vec;
  PetscScalar  *array; /* what the vector gave */
  void         *data;  /* what a product gets: array, or the device copy of buffer */
  PetscMemType  memtype;
  AIJFmtBuffer *buffer; /* NULL when data is array */
  PetscBool     write, update;
  PetscInt      n;
} AIJFmtOperand;

/* A matrix of ours that has the type name of the host parent for a while */
typedef struct {
  Mat_AIJFmt   *state; /* NULL: nothing to give back */
  PetscObjectId id;
  char         *own_name;
} AIJFmtAlias;

/* The expected result of a product, and the bound of the difference for each row */
typedef struct {
  PetscInt   n;
  Vec        reference;
  PetscReal *bound; /* shape [n] */
} AIJFmtCheck;

PETSC_INTERN PetscLogEvent MAT_AIJFmtConvert, MAT_AIJFmtRefresh;

/* rows.c */
PETSC_INTERN PetscInt         AIJFmtRowCount(void);
PETSC_INTERN const AIJFmtRow *AIJFmtRowGet(PetscInt);
PETSC_INTERN PetscErrorCode   AIJFmtRowFind(const char *, const AIJFmtRow **);

/* types.c */
PETSC_INTERN PetscErrorCode AIJFmtTypesRegister(void);

/* parent.c */
PETSC_INTERN PetscErrorCode AIJFmtParentGet(AIJFmtParentKind, const AIJFmtParent **);
PETSC_INTERN PetscErrorCode AIJFmtParentFind(MatType, const AIJFmtParent **);
PETSC_INTERN PetscErrorCode AIJFmtParentOf(Mat, const AIJFmtParent **);
PETSC_INTERN PetscErrorCode AIJFmtParentsReset(void);

/* dispatch.c */
PETSC_INTERN PetscErrorCode AIJFmtDispatchInstall(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtDispatchRemove(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtKeepHost(Mat);
PETSC_INTERN PetscErrorCode AIJFmtProductKeepHost(Mat);

/* names.c */
PETSC_INTERN PetscErrorCode AIJFmtAliasBegin(Mat, AIJFmtAlias *);
PETSC_INTERN PetscErrorCode AIJFmtAliasEnd(Mat, AIJFmtAlias *);
PETSC_INTERN PetscErrorCode AIJFmtNamesInstall(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtNamesRemove(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtNamesRegister(void);

/* merge.c */
PETSC_INTERN PetscErrorCode AIJFmtMergeInstall(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtMergeRemove(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtMergeWatch(Mat);

/* state.c */
PETSC_INTERN PetscErrorCode AIJFmtStateGet(Mat, Mat_AIJFmt **);
PETSC_INTERN PetscErrorCode AIJFmtStateOfAnyType(Mat, Mat_AIJFmt **);
PETSC_INTERN PetscErrorCode AIJFmtStateRequire(Mat, const char *, Mat_AIJFmt **);
PETSC_INTERN PetscErrorCode AIJFmtStateCompose(Mat, Mat_AIJFmt **, PetscBool *);
PETSC_INTERN PetscErrorCode AIJFmtStateForget(Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtStateCopyOptions(const Mat_AIJFmt *, Mat_AIJFmt *);

/* create.c */
PETSC_INTERN PetscErrorCode AIJFmtCreate(Mat, const AIJFmtRow *, PetscBool);
PETSC_INTERN PetscErrorCode AIJFmtInstall(Mat, const AIJFmtRow *, PetscBool, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtOperationsInstall(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtStrip(Mat);
PETSC_INTERN PetscErrorCode AIJFmtBlocksStrip(Mat);

/* convert.c */
PETSC_INTERN PetscErrorCode MatConvert_AIJ_AIJFmt(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatConvert_AIJFmt_Any(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatConvertFrom_AIJFmt(Mat, MatType, MatReuse, Mat *);

/* options.c */
PETSC_INTERN PetscErrorCode AIJFmtOptionsInit(Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtOptionsRead(Mat, Mat_AIJFmt *, AIJFmtOptionItems);
PETSC_INTERN PetscErrorCode MatSetFromOptions_AIJFmt(Mat, AIJFmtOptionItems);
PETSC_INTERN PetscErrorCode AIJFmtTableRead(PetscObject, SpmvOptions *, const char *, AIJFmtOptionItems);
PETSC_INTERN PetscErrorCode AIJFmtTableSetText(SpmvOptions *, const SpmvOptionDesc *, const char[]);
PETSC_INTERN PetscErrorCode AIJFmtTableSetNumber(SpmvOptions *, const SpmvOptionDesc *, double);

/* api.c */

/* sync.c */
PETSC_INTERN PetscErrorCode AIJFmtSync(Mat, Mat_AIJFmt *, Vec, PetscObjectState);
PETSC_INTERN PetscErrorCode AIJFmtSyncTranspose(Mat, Mat_AIJFmt *, PetscBool *);
PETSC_INTERN PetscErrorCode AIJFmtSyncIfOnDevice(Mat, Mat_AIJFmt *, Vec);
PETSC_INTERN PetscBool      AIJFmtSameStructure(const AIJFmtKey *, const AIJFmtKey *);
PETSC_INTERN PetscErrorCode AIJFmtDevicePlan(Mat, Vec, AIJFmtPlanOnDevice *);

/* choose.c */
PETSC_INTERN PetscBool          AIJFmtIsAuto(const Mat_AIJFmt *);
PETSC_INTERN PetscBool          AIJFmtHasKernels(const Mat_AIJFmt *);
PETSC_INTERN const SpmvOptions *AIJFmtPlanOptions(const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode     AIJFmtChoose(Mat, Mat_AIJFmt *, const AIJFmtKey *, char[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode     AIJFmtChoiceForget(Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode     AIJFmtChoiceSearch(Mat_AIJFmt *, const SpmvPattern *, AIJFmtWorth, int *);
PETSC_INTERN PetscErrorCode     AIJFmtChoiceAnalysisClear(Mat_AIJFmt *);
PETSC_INTERN PetscBool          AIJFmtWorthByPrediction(const AIJFmtChoice *, int, double *);
PETSC_INTERN void               AIJFmtChooseCandidate(AIJFmtChoice *, int);
PETSC_INTERN PetscErrorCode     AIJFmtCandidateText(const AIJFmtChoice *, int, char[], size_t);
PETSC_INTERN PetscErrorCode     AIJFmtChoiceInfo(Mat, const AIJFmtChoice *);

/* trial.c */
PETSC_INTERN void           AIJFmtTrialStart(Mat_AIJFmt *, PetscBool *);
PETSC_INTERN PetscErrorCode AIJFmtTrialBegin(Mat, Mat_AIJFmt *, Vec);
PETSC_INTERN PetscErrorCode AIJFmtTrialEnd(Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtTrialSettle(Mat, Mat_AIJFmt *, Vec);
PETSC_INTERN PetscBool      AIJFmtTrialAsideFree(Mat_AIJFmt *);

/* csr.c */
PETSC_INTERN PetscErrorCode AIJFmtHostPatternGet(Mat, SpmvPattern *);
PETSC_INTERN PetscErrorCode AIJFmtHostPatternRestore(Mat, SpmvPattern *);
PETSC_INTERN PetscErrorCode AIJFmtNonzeros(Mat, int64_t *);
PETSC_INTERN PetscErrorCode AIJFmtCsrGet(Mat, Mat_AIJFmt *, const SpmvPattern *, AIJFmtCsr *);
PETSC_INTERN PetscErrorCode AIJFmtCsrRestore(Mat, AIJFmtCsr *);

/* values.c */
PETSC_INTERN PetscBool      AIJFmtPlanFollows(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtValuesInstall(Mat);

/* product_choice.c */
PETSC_INTERN PetscErrorCode AIJFmtProductKind(MatProductType, SpmvSpgemmKind *, const char **, PetscBool *);
PETSC_INTERN PetscErrorCode AIJFmtProductsInstall(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtParallelProductChoose(Mat, PetscBool *);

/* matproduct.c */
PETSC_INTERN PetscErrorCode MatProductSymbolic_AIJFmt(Mat);
PETSC_INTERN PetscBool      AIJFmtIsHostProduct(Mat);

/* stage.c */
PETSC_INTERN PetscErrorCode AIJFmtOperandGet(Mat_AIJFmt *, Vec, AIJFmtBuffer *, PetscBool, PetscBool, AIJFmtOperand *);
PETSC_INTERN PetscErrorCode AIJFmtOperandRestore(Mat_AIJFmt *, AIJFmtOperand *);
PETSC_INTERN PetscErrorCode AIJFmtBufferFree(Mat_AIJFmt *, AIJFmtBuffer *);

/* mult.c */
PETSC_INTERN PetscErrorCode AIJFmtMultInstall(Mat);

/* check.c */
PETSC_INTERN PetscErrorCode AIJFmtCheckBegin(Mat, PetscBool, Vec, Vec, AIJFmtCheck *);
PETSC_INTERN PetscErrorCode AIJFmtCheckEnd(Mat, Vec, AIJFmtCheck *);

/* blocks.c */
PETSC_INTERN PetscErrorCode AIJFmtBlocksGet(Mat, Mat[2]);
PETSC_INTERN PetscErrorCode AIJFmtBlocksSetSizes(Mat);
PETSC_INTERN PetscErrorCode AIJFmtBlocksCopyOptions(Mat, const Mat_AIJFmt *);

/* info.c */
PETSC_INTERN PetscErrorCode AIJFmtInfoLocal(Mat, MatAIJFmtInfo *);
PETSC_INTERN PetscErrorCode MatGetInfo_SeqAIJFmt(Mat, MatInfoType, MatInfo *);

/* view.c */
PETSC_INTERN PetscErrorCode MatView_AIJFmt(Mat, PetscViewer);

/* Whether A still is what s->key describes, or is about to be, with that state of its values */
static inline PetscBool AIJFmtKeyHolds(Mat A, const Mat_AIJFmt *s, PetscObjectState value_state)
{
  return s->key_valid && s->key.id == ((PetscObject)A)->id && s->key.value_state == value_state &&
                 s->key.nonzero_state == A->nonzerostate
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* The type without a GPU that the matrix is a subclass of */
static inline MatType AIJFmtHostType(const Mat_AIJFmt *s) { return s->parallel ? MATMPIAIJ : MATSEQAIJ; }

static inline PetscBool AIJFmtClassFlag(const Mat_AIJFmt *s, int option)
{
  return s->class_options.value[option] != 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* The scalar and index types of this PETSc, as types of the kernel layer. With any other scalar type the creation of a
   matrix is an error. */
#if defined(PETSC_USE_REAL_SINGLE)
  #define AIJFMT_SCALAR SPMV_F32
#else
  #define AIJFMT_SCALAR SPMV_F64
#endif
#if defined(PETSC_USE_64BIT_INDICES)
  #define AIJFMT_INDEX SPMV_I64
#else
  #define AIJFMT_INDEX SPMV_I32
#endif

/* With fewer nonzeros and vectors of the host, the copies and the launch on a GPU take as long as the whole product on
   the host. Vectors on the GPU would have to be copied to the host: with these a matrix of any size lies on the GPU. */
enum { AIJFMT_DEVICE_MIN_NONZEROS = 50000 };

PETSC_INTERN PetscErrorCode AIJFmtErrorCode(SpmvStatus);

/* Turns a status of the kernel layer into a PETSc error with its message */
#define AIJFmtCallSpmv(exec_pointer, call)                                                                             \
  do {                                                                                                                 \
    const SpmvStatus aijfmt_status_ = (call);                                                                          \
    PetscCheck(!aijfmt_status_, PETSC_COMM_SELF, AIJFmtErrorCode(aijfmt_status_), "%s: %s",                            \
               spmv_status_text(aijfmt_status_), (exec_pointer)->message);                                             \
  } while (0)
