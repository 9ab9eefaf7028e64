/* coo.h - what coo.c, coo_values.c and coo_parallel.c share: lists of coordinates (MatSetPreallocationCOO()) of which the GPU has the map
   of entries to places. */
#pragma once

#include <spmv_coo.h>
#include "seqaijfmt.h"

/* Entries that go to other processes, or come from them: those of neighbour k are number first[k] .. first[k+1]-1 */
typedef struct {
  PetscMPIInt  neighbours;
  PetscMPIInt *rank;
  PetscInt    *first; /* [neighbours+1] */
  void        *here;  /* their values on the host, page-locked, and ... */
  void        *there; /* ... in the space of the map */
} AIJFmtCooMessages;

struct AIJFmtCooStruct {
  int      users;    /* the matrix and its duplicates, which have the same pattern */
  SpmvExec exec;     /* its space is that of the map: the device, or the host since there was no room for values */
  int64_t  count;    /* entries of the list on this process */
  SpmvCoo *block[2]; /* of a sequential matrix the first one alone */
  /* of a parallel matrix */
  MPI_Comm          comm; /* MPI_COMM_NULL: it is sequential */
  PetscMPIInt       tag;
  SpmvCooOthers    *others; /* NULL: entries with rows of other processes are ignored */
  AIJFmtCooMessages out, in;
  MPI_Request      *request; /* [neighbours of both] */
  void             *values;  /* the block with there of both */
};

/* What one MatSetValuesCOO() needs, in the space of the map */
typedef struct {
  const void *values[2]; /* of both parts of the list */
  void       *block, *list, *sums;
} AIJFmtCooWork;

/* coo.c */
PETSC_INTERN PetscErrorCode AIJFmtCooWhyHost(Mat, const Mat_AIJFmt *, PetscCount, char reason[SPMV_MESSAGE_MAX],
                                             PetscBool *asks);
PETSC_INTERN PetscErrorCode AIJFmtCooCreate(MPI_Comm, int64_t count, AIJFmtCoo **);
PETSC_INTERN PetscErrorCode AIJFmtCooSpaceOf(const void *, SpmvSpace *);
PETSC_INTERN PetscErrorCode AIJFmtCooPatternDone(Mat, Mat_AIJFmt *, AIJFmtCoo *);
PETSC_INTERN PetscErrorCode AIJFmtCooByParent(Mat, PetscCount, PetscInt[], PetscInt[], const char reason[]);
PETSC_INTERN PetscErrorCode AIJFmtCooValuesByParent(Mat, const PetscScalar[], InsertMode);
PETSC_INTERN PetscErrorCode AIJFmtCooRefuse(const SpmvExec *, SpmvStatus, char reason[SPMV_MESSAGE_MAX]);
PETSC_INTERN double         AIJFmtCooEagerSet(Mat_AIJFmt *, double);
PETSC_INTERN PetscErrorCode AIJFmtCooZero(Mat block);
PETSC_INTERN PetscErrorCode AIJFmtCooHolds(Mat, const Mat_AIJFmt *);

/* coo_values.c */
PETSC_INTERN PetscErrorCode AIJFmtCooWorkGet(Mat, const Mat_AIJFmt *, const PetscScalar[], AIJFmtCooWork *);
PETSC_INTERN void           AIJFmtCooWorkRestore(AIJFmtCoo *, AIJFmtCooWork *);
PETSC_INTERN PetscErrorCode AIJFmtCooAdd(Mat block, const SpmvCoo *, SpmvExec *, const AIJFmtCooWork *, InsertMode);

/* coo_parallel.c */
PETSC_INTERN PetscErrorCode AIJFmtCooMessagesFree(AIJFmtCoo *);
PETSC_INTERN PetscErrorCode AIJFmtCooMessagesToHost(AIJFmtCoo *, SpmvExec *host);
