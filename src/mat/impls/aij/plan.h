/*
  plan.h - the part of the Mat class that solvers use: the plan of a matrix and the cache that keeps it up to date, the
  entries of vectors in the memory of a plan, the CSR arrays of a matrix.

  Solvers include no other header of the class.
*/
#pragma once

#include <petsc/private/matimpl.h>
#include <petscpack.h>
#include <spmv_graph.h>
#include <spmv_aggregate.h>
#include "sys/status.h"

/* Identifies the source of a plan: a matrix with a pattern and values. Structure and values are compared separately:
   see decision 0003. */
typedef struct {
  PetscObjectId    id;
  PetscObjectState nonzero_state, value_state;
  SpmvPattern      pattern; /* on the host; its arrays belong to the matrix */
} AIJFmtKey;

/* A plan and its source. All zeros: an empty cache. */
typedef struct {
  AIJFmtKey   key;
  PetscBool   valid;           /* key describes the matrix as last seen, whether or not it has a plan */
  SpmvPlan   *plan;            /* NULL: none */
  void       *work;            /* scratch memory of a product, in the plan's space */
  PetscInt64  serial;          /* changes whenever the plan or the address of its borrowed values changes */
  SpmvPattern built_from;      /* addresses of the pattern when the plan was built */
  const void *borrowed_values; /* device address of the values of a plan that borrows them */
  PetscBool   transpose_ready; /* spmv_prepare_transpose() was called for the current values */
} AIJFmtPlanCache;

/* The plan of a matrix, for a solver that calls spmv_mult() itself */
typedef struct {
  const SpmvPlan *plan; /* NULL: there is none on the device */
  void           *work;
  PetscInt64      serial;   /* while it is unchanged, so are all addresses in the plan; CUDA graphs rely on it */
  const char     *why_host; /* why the user wants products through MatMult(); NULL: the user does not */
} AIJFmtPlanOnDevice;

/* How the entries of a vector are used */
typedef enum { AIJFMT_READ, AIJFMT_WRITE, AIJFMT_UPDATE } AIJFmtAccess;

/* The entries of a vector in the memory of a plan: its own array, or a copy on the device that is kept for the next
   use. All zeros: no copy. */
typedef struct {
  Vec          vec;
  AIJFmtAccess access;
  PetscInt     n;
  PetscScalar *array; /* the array that the vector gave last */
  PetscMemType memtype;
  PetscBool    staged; /* data points to the copy */
  void        *data;   /* passed to a product or an engine */
  int64_t      bytes;  /* size of the copy */
  void        *device, *pinned;
} AIJFmtVector;

/* Parts of a CSR */
enum { AIJFMT_PATTERN = 1, AIJFMT_VALUES = 2 };

/* The CSR arrays of a matrix, on the host or on the device: see AIJFmtArraysGet(). All zeros: none. */
typedef struct {
  /* in, for values written on the device */
  PetscBool stays;   /* they stay in the parent's CSR: AIJFmtDeviceCsrDecide() says so; else they go to the host */
  PetscBool fresh;   /* the pattern was set just now, so the parent has no CSR of it */
  PetscBool follows; /* a plan takes them from the device; PETSc will raise the state once more */
  /* in, for a pattern that is read on the device */
  PetscBool narrow; /* indices of 32 bits, also if PetscInt is wider */
  /* out */
  SpmvCsr      csr;
  SpmvBlocks   blocks; /* of its pattern, with AIJFMT_PATTERN */
  PetscScalar *values; /* of csr, if they are written */
  /* private */
  unsigned           parts;
  AIJFmtAccess       access;
  PetscBool          of_parent, copied; /* from the parent's CSR; to memory of their own, NULL if it has no nonzero */
  PetscBool          shared;            /* the device works on values of the host */
  const PetscScalar *here;
  void              *block;
} AIJFmtArrays;

/* A CSR in device memory, of PETSc's types */
static inline SpmvCsr AIJFmtCsrOnDevice(int64_t rows, int64_t cols, int64_t nnz, const void *row_ptr, const void *col,
                                        const void *values)
{
  return (SpmvCsr){.pattern      = {.rows       = rows,
                                    .cols       = cols,
                                    .nnz        = nnz,
                                    .index_type = AIJFMT_INDEX,
                                    .space      = SPMV_DEVICE,
                                    .row_ptr    = row_ptr,
                                    .col        = col},
                   .scalar_type  = AIJFMT_SCALAR,
                   .values_space = SPMV_DEVICE,
                   .values       = values};
}

/* arrays.c, from_device.c */
PETSC_INTERN PetscErrorCode AIJFmtArraysGet(Mat, unsigned parts, AIJFmtAccess, SpmvExec *, AIJFmtArrays *,
                                            SpmvStatus *);
PETSC_INTERN PetscErrorCode AIJFmtArraysRestore(Mat, SpmvExec *, AIJFmtArrays *, SpmvStatus *);
PETSC_INTERN PetscErrorCode AIJFmtBlocksSet(Mat, SpmvBlocks);
PETSC_INTERN PetscErrorCode AIJFmtFromDevice(Mat, const SpmvCsr *, SpmvExec *);
PETSC_INTERN PetscErrorCode AIJFmtParallelFromDevice(Mat, const SpmvCsr block[2], SpmvExec *);
PETSC_INTERN PetscErrorCode AIJFmtLengthsFetch(SpmvExec *, const SpmvPattern *, PetscInt **lengths);
PETSC_INTERN PetscErrorCode AIJFmtColumnsFetch(SpmvExec *, const SpmvPattern *, Mat);

/* decide.c. AIJFmtBoundByProgram() is for matrices of any type: in a PETSc with devices those of its host types are always
   bound to the host, and no program has asked for it. AIJFmtFactorDecide() leaves a reason if A, of any sequential AIJ
   type, should be factored or relaxed on the host; *asked: not because it is small, and set if A or an option asks for the
   GPU. */
PETSC_INTERN PetscBool      AIJFmtBoundByProgram(Mat);
PETSC_INTERN PetscErrorCode AIJFmtFactorDecide(Mat, PetscBool *asked, char why[SPMV_MESSAGE_MAX]);

/* inodes.c. AIJFmtSweepRan() counts a call of MatSOR(); reason: why the parent type did it; "" if it did not. */
PETSC_INTERN PetscErrorCode AIJFmtInodesFind(Mat, const char operation[]);
PETSC_INTERN PetscErrorCode AIJFmtParentSOR(Mat, Vec, PetscReal, MatSORType, PetscReal, PetscInt, PetscInt, Vec);
PETSC_INTERN PetscErrorCode AIJFmtSweepRan(Mat, const char reason[]);

/* places.c: values that are on the device only come to the host, for functions of PETSc that read them there directly */
PETSC_INTERN PetscErrorCode AIJFmtHostFetch(Mat);

/* sync.c */
PETSC_INTERN PetscErrorCode AIJFmtWhyHost(Mat, const char **why);
PETSC_INTERN PetscErrorCode AIJFmtDevicePlan(Mat, Vec, AIJFmtPlanOnDevice *);
PETSC_INTERN PetscErrorCode AIJFmtDevicePlanTranspose(Mat, PetscBool *ready);

/* plan.c */
PETSC_INTERN PetscErrorCode AIJFmtPlanFromHost(AIJFmtPlanCache *, Mat, int, const char *const formats[], SpmvExec *,
                                               SpmvStatus *);
PETSC_INTERN SpmvStatus     AIJFmtPlanFromCsr(AIJFmtPlanCache *, const SpmvCsr *, PetscBool same, int,
                                              const char *const formats[], SpmvExec *);
PETSC_INTERN SpmvStatus     AIJFmtPlanTranspose(AIJFmtPlanCache *, SpmvExec *);
PETSC_INTERN SpmvStatus     AIJFmtPlanBuild(AIJFmtPlanCache *, const SpmvCsr *, const SpmvAnalysis *, SpmvExec *);
PETSC_INTERN SpmvStatus     AIJFmtPlanRefresh(AIJFmtPlanCache *, const SpmvCsr *, SpmvExec *, PetscBool *moved);
PETSC_INTERN void           AIJFmtPlanDrop(AIJFmtPlanCache *, SpmvExec *);
PETSC_INTERN PetscInt64     AIJFmtSerialNext(void);
PETSC_INTERN PetscBool      AIJFmtSameStructure(const AIJFmtKey *, const AIJFmtKey *);
PETSC_INTERN PetscErrorCode AIJFmtKeyGet(Mat, AIJFmtKey *);
PETSC_INTERN PetscErrorCode AIJFmtKeyRestore(Mat, AIJFmtKey *);
PETSC_INTERN PetscErrorCode AIJFmtCudaStream(SpmvExec *);

PETSC_INTERN PetscErrorCode AIJFmtHostPatternGet(Mat, SpmvPattern *);
PETSC_INTERN PetscErrorCode AIJFmtHostPatternRestore(Mat, SpmvPattern *);
PETSC_INTERN PetscErrorCode AIJFmtPatternIsRight(Mat);
PETSC_INTERN PetscErrorCode AIJFmtPatternCheck(Mat, const SpmvPattern *, SpmvExec *, SpmvStatus *);
PETSC_INTERN PetscErrorCode AIJFmtNonzeros(Mat, int64_t *);
PETSC_INTERN PetscErrorCode AIJFmtPatternNarrow(const SpmvPattern *, SpmvPattern *narrow, int32_t *block[2]);
PETSC_INTERN PetscErrorCode AIJFmtUpload(SpmvExec *, const SpmvPattern *, const PetscScalar *, SpmvIndex, SpmvCsr *,
                                         void **block, SpmvStatus *);

/* vectors.c */
PETSC_INTERN PetscErrorCode AIJFmtVectorTry(SpmvExec *, AIJFmtVector *, Vec, AIJFmtAccess, SpmvStatus *);
PETSC_INTERN PetscErrorCode AIJFmtVectorGet(SpmvExec *, AIJFmtVector *, Vec, AIJFmtAccess);
PETSC_INTERN PetscErrorCode AIJFmtVectorGive(SpmvExec *, AIJFmtVector *, SpmvStatus *);
PETSC_INTERN PetscErrorCode AIJFmtVectorRestore(SpmvExec *, AIJFmtVector *);
PETSC_INTERN PetscErrorCode AIJFmtVectorPlace(SpmvExec *, AIJFmtVector *, Vec, SpmvStatus *);
PETSC_INTERN PetscErrorCode AIJFmtVectorPlacePinned(SpmvExec *, AIJFmtVector *, Vec, SpmvStatus *);
PETSC_INTERN PetscErrorCode AIJFmtVectorBegin(AIJFmtVector *);
PETSC_INTERN PetscErrorCode AIJFmtVectorEnd(AIJFmtVector *);
PETSC_INTERN PetscErrorCode AIJFmtVectorSend(SpmvExec *, AIJFmtVector *);
PETSC_INTERN PetscErrorCode AIJFmtVectorFetch(SpmvExec *, AIJFmtVector *);
PETSC_INTERN PetscErrorCode AIJFmtDiagonalCopy(SpmvExec *, Mat, void *to, SpmvStatus *);
PETSC_INTERN PetscErrorCode AIJFmtVectorCopy(SpmvExec *, Vec, void *to, SpmvStatus *);
PETSC_INTERN PetscErrorCode AIJFmtFetch(SpmvExec *, const void *from, SpmvSpace, int64_t bytes, void *to, SpmvStatus *);
PETSC_INTERN void           AIJFmtVectorFree(SpmvExec *, AIJFmtVector *);
PETSC_INTERN PetscErrorCode AIJFmtVecIsOnDevice(Vec, PetscBool *);

/* Whether the key describes A as it is */
static inline PetscBool AIJFmtKeyHolds(const AIJFmtPlanCache *c, Mat A)
{
  return c->valid && c->key.id == ((PetscObject)A)->id && c->key.value_state == ((PetscObject)A)->state &&
                 c->key.nonzero_state == A->nonzerostate
             ? PETSC_TRUE
             : PETSC_FALSE;
}
