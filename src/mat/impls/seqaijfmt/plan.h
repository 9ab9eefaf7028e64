/*
  plan.h - what solvers take from the Mat class, and the class uses itself: the plan of a matrix and the cache that keeps
  one up to date, the entries of vectors where a plan is, the CSR arrays of a matrix.

  Solvers include this header of the class alone.
*/
#pragma once

#include <petsc/private/matimpl.h>
#include <petscpack.h>
#include <spmv_graph.h>
#include <spmv_kernels.h>
#include "sys/compat.h"

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

PETSC_INTERN PetscErrorCode AIJFmtErrorCode(SpmvStatus);
PETSC_INTERN PetscErrorCode AIJFmtRefuse(const SpmvExec *, SpmvStatus, char reason[SPMV_MESSAGE_MAX]);

/* Turns a status of the kernel layer into a PETSc error with its message */
#define AIJFmtCallSpmv(exec_pointer, call)                                                                             \
  do {                                                                                                                 \
    const SpmvStatus aijfmt_status_ = (call);                                                                          \
    PetscCheck(!aijfmt_status_, PETSC_COMM_SELF, AIJFmtErrorCode(aijfmt_status_), "%s: %s",                            \
               spmv_status_text(aijfmt_status_), (exec_pointer)->message);                                             \
  } while (0)

/* What a plan is made from: a matrix with a pattern and values. Structure and values are compared separately: see
   decision 0003. */
typedef struct {
  PetscObjectId    id;
  PetscObjectState nonzero_state, value_state;
  SpmvPattern      pattern; /* on the host; its arrays belong to the matrix */
} AIJFmtKey;

/* A plan, and what it was made from. Zeros are an empty one. */
typedef struct {
  AIJFmtKey   key;
  PetscBool   valid;           /* key describes the matrix as it was seen last, whether a plan was made of it or not */
  SpmvPlan   *plan;            /* NULL: none */
  void       *work;            /* scratch of a product, in the plan's space */
  PetscInt64  serial;          /* another plan, or another address of values that it reads, has another number */
  SpmvPattern built_from;      /* where the pattern lay when the plan was built */
  const void *borrowed_values; /* on the device, in the place of values of a plan that borrows */
  PetscBool   transpose_ready; /* spmv_prepare_transpose() was called for the values that the plan has */
} AIJFmtPlanCache;

/* The plan of a matrix for a solver that multiplies by itself */
typedef struct {
  const SpmvPlan *plan; /* NULL: none on the device */
  void           *work;
  PetscInt64      serial;   /* while it stays, so do all addresses in the plan, for graphs that hold them */
  const char     *why_host; /* the user wants the products where MatMult() does them; NULL: no such wish */
} AIJFmtPlanOnDevice;

/* What happens to the entries of a vector */
typedef enum { AIJFMT_READ, AIJFMT_WRITE, AIJFMT_UPDATE } AIJFmtAccess;

/* The entries of a vector in the memory of a plan: its own array, or a copy on the device that stays from one use to the
   next. Zeros are one without a copy. */
typedef struct {
  Vec          vec;
  AIJFmtAccess access;
  PetscInt     n;
  PetscScalar *array; /* what the vector gave last */
  PetscMemType memtype;
  PetscBool    staged; /* data is the copy */
  void        *data;   /* what a product or an engine gets */
  int64_t      bytes;  /* of the copy */
  void        *device, *pinned;
} AIJFmtVector;

/* The CSR arrays of a matrix in device memory */
typedef struct {
  SpmvCsr csr;
  void   *block; /* to be freed, or NULL */
} AIJFmtThere;

/* there.c */
PETSC_INTERN PetscErrorCode AIJFmtThereGet(Mat, PetscBool values, SpmvExec *, AIJFmtThere *, SpmvStatus *);
PETSC_INTERN void           AIJFmtThereRestore(SpmvExec *, AIJFmtThere *);
PETSC_INTERN PetscErrorCode AIJFmtFromDevice(Mat, const SpmvCsr *, SpmvExec *);

/* graph.c */
PETSC_INTERN void AIJFmtGraphKeep(SpmvGraph **);

/* prolongator.c */
PETSC_INTERN PetscErrorCode AIJFmtProlongatorSmooth(Mat S, Mat P0, PetscReal omega, Vec diagonal, PetscBool *device,
                                                    char reason[SPMV_MESSAGE_MAX]);

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
PETSC_INTERN PetscErrorCode AIJFmtKeyGet(Mat, PetscObjectState value_state, AIJFmtKey *);
PETSC_INTERN PetscErrorCode AIJFmtKeyRestore(Mat, AIJFmtKey *);
PETSC_INTERN PetscErrorCode AIJFmtCudaStream(SpmvExec *);

PETSC_INTERN PetscErrorCode AIJFmtHostPatternGet(Mat, SpmvPattern *);
PETSC_INTERN PetscErrorCode AIJFmtHostPatternRestore(Mat, SpmvPattern *);
PETSC_INTERN PetscErrorCode AIJFmtNonzeros(Mat, int64_t *);
PETSC_INTERN PetscErrorCode AIJFmtLengthsFetch(SpmvExec *, const SpmvPattern *, PetscInt **lengths);
PETSC_INTERN PetscErrorCode AIJFmtColumnsFetch(SpmvExec *, const SpmvPattern *, Mat);
PETSC_INTERN PetscErrorCode AIJFmtUpload(SpmvExec *, const SpmvPattern *, const PetscScalar *, SpmvIndex, SpmvCsr *,
                                         void **block, SpmvStatus *);

/* stage.c */
PETSC_INTERN PetscErrorCode AIJFmtVectorGet(SpmvExec *, AIJFmtVector *, Vec, AIJFmtAccess);
PETSC_INTERN PetscErrorCode AIJFmtVectorRestore(SpmvExec *, AIJFmtVector *);
PETSC_INTERN PetscErrorCode AIJFmtVectorPlace(SpmvExec *, AIJFmtVector *, Vec, SpmvStatus *);
PETSC_INTERN PetscErrorCode AIJFmtVectorPlacePinned(SpmvExec *, AIJFmtVector *, Vec, SpmvStatus *);
PETSC_INTERN PetscErrorCode AIJFmtVectorBegin(AIJFmtVector *);
PETSC_INTERN PetscErrorCode AIJFmtVectorEnd(AIJFmtVector *);
PETSC_INTERN PetscErrorCode AIJFmtVectorSend(SpmvExec *, AIJFmtVector *);
PETSC_INTERN PetscErrorCode AIJFmtVectorFetch(SpmvExec *, AIJFmtVector *);
PETSC_INTERN void           AIJFmtVectorFree(SpmvExec *, AIJFmtVector *);
PETSC_INTERN PetscErrorCode AIJFmtVecIsOnDevice(Vec, PetscBool *);

/* Whether the key describes A with values of that state. At assembly this is the state of A and one more, because
   MatAssemblyEnd() raises it afterwards. */
static inline PetscBool AIJFmtKeyHolds(const AIJFmtPlanCache *c, Mat A, PetscObjectState value_state)
{
  return c->valid && c->key.id == ((PetscObject)A)->id && c->key.value_state == value_state &&
                 c->key.nonzero_state == A->nonzerostate
             ? PETSC_TRUE
             : PETSC_FALSE;
}
