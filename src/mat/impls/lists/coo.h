/* coo.h - lists of coordinates (MatSetPreallocationCOO()) whose map from entries to nonzeros is ours. */
#pragma once

#include <spmv_coo.h>
#include "parallel/neighbours.h"
#include "mat/impls/aij/aijfmt.h"

struct AIJFmtCooStruct {
  int      users;    /* reference count: the matrix and its duplicates, which have the same pattern */
  SpmvExec exec;     /* its space is that of the map: the device; the host after the device had no memory for values */
  int64_t  count;    /* entries of the list of this process */
  SpmvCoo *block[2]; /* diagonal and off-diagonal block; a sequential matrix has only the first */
  /* The list has the nonzeros of this matrix in this nonzero state, with rows and columns exchanged; id 0: it does not */
  PetscObjectId    transposed_id;
  PetscObjectState transposed_state;
  /* only in a parallel matrix: */
  PetscPackNeighbours neighbours; /* NULL: the matrix is sequential */
  SpmvCooOthers      *others;     /* off-process entries; NULL: they are ignored */
  int64_t             bytes[2];   /* size of the values of off-process entries, to send and to receive */
  void               *here[2];    /* buffers for them, or their rows and columns, on the host, page-locked, and ... */
  void               *there[2];   /* ... in the space of the map */
  void               *values;     /* device memory that holds there */
};

/* coo.c */
PETSC_INTERN PetscErrorCode AIJFmtCooFree(AIJFmtCoo **);
PETSC_INTERN PetscErrorCode AIJFmtCooShare(Mat, const Mat_AIJFmt *, Mat, Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtCooStay(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtCooText(const AIJFmtCoo *, char[], size_t);
PETSC_INTERN PetscErrorCode MatSetPreallocationCOO_AIJFmt(Mat, PetscCount, PetscInt[], PetscInt[]);
PETSC_INTERN PetscErrorCode AIJFmtCooWhyHost(Mat, const Mat_AIJFmt *, PetscCount, char reason[SPMV_MESSAGE_MAX],
                                             PetscBool *asks);
PETSC_INTERN PetscErrorCode AIJFmtCooAgree(Mat, const Mat_AIJFmt *, PetscCount, char reason[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode AIJFmtCooCreate(int64_t count, AIJFmtCoo **);
PETSC_INTERN PetscErrorCode AIJFmtCooSpaceOf(const void *, SpmvSpace *);
PETSC_INTERN PetscErrorCode AIJFmtCooPatternDone(Mat, Mat_AIJFmt *, AIJFmtCoo *);
PETSC_INTERN PetscErrorCode AIJFmtCooValuesByParent(Mat, const PetscScalar[], InsertMode);
PETSC_INTERN PetscErrorCode AIJFmtCooRefuse(const SpmvExec *, SpmvStatus, char reason[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode AIJFmtCooReady(Mat block, PetscBool zeroes);
PETSC_INTERN PetscErrorCode AIJFmtCooSequential(Mat, Mat_AIJFmt *, PetscCount, const PetscInt[], const PetscInt[],
                                                SpmvSpace, PetscBool zeroes, char reason[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode AIJFmtCooHolds(Mat, const Mat_AIJFmt *, PetscBool *holds);

/* coo_values.c */
PETSC_INTERN PetscErrorCode MatSetValuesCOO_AIJFmt(Mat, const PetscScalar[], InsertMode);
PETSC_INTERN PetscErrorCode AIJFmtCooValues(Mat, const PetscScalar[], SpmvSpace, InsertMode);

/* coo_parallel.c */
PETSC_INTERN PetscErrorCode MatSetOption_MPIAIJFmt(Mat, MatOption, PetscBool);
PETSC_INTERN PetscErrorCode AIJFmtCooParallel(Mat, Mat_AIJFmt *, PetscCount, const PetscInt[], const PetscInt[],
                                              SpmvSpace, PetscBool zeroes, char reason[SPMV_MESSAGE_MAX]);
PETSC_INTERN SpmvStatus     AIJFmtCooListAlloc(int64_t n, SpmvExec *, PetscInt *list[2]);
PETSC_INTERN PetscErrorCode AIJFmtCooMake(Mat, PetscCount, PetscInt *list[2], SpmvExec *, SpmvStatus,
                                          char reason[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode AIJFmtCooFill(Mat, void *values, SpmvExec *, SpmvStatus, char reason[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode AIJFmtCooMessagesToHost(AIJFmtCoo *, SpmvExec *host);
PETSC_INTERN SpmvStatus     AIJFmtCooPack(AIJFmtCoo *, const void *values);
PETSC_INTERN PetscErrorCode AIJFmtCooSend(AIJFmtCoo *, const void **received);
