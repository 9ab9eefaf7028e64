/* point.h - a point or point-block preconditioner as numbers on the device, and the key of a PC. */
#pragma once

#include <petsc/private/pcimpl.h>
#include <spmv_engine.h>
#include "mat/impls/aij/plan.h"

/* Identifies the state of a PC when data was taken from it: another PC, type, matrix or value has another key, also if
   PCSetUp() has not been called yet. All zeros: none. */
typedef struct {
  PetscObjectId    id, matrix;                                       /* of the PC, and of its matrix, ... */
  PetscObjectState state, pattern;                                   /* ... which has these states ... */
  unsigned char    set_up[sizeof(((struct _p_PC *)NULL)->matstate)]; /* ... and had these in the last set-up */
  char             type[32];
} MGDevKey;

/* A preconditioner M on the device, and the key of its source. All zeros: none. */
typedef struct {
  SpmvPreconditioner kind;
  PetscInt           block;
  void              *values;
  int64_t            bytes;
  PetscInt           variant; /* encodes the options of PCJACOBI */
  PetscBool          reused;  /* if wanted: PCSetReusePreconditioner(), so a new matrix changes nothing */
  MGDevKey           key;
} MGDevPoint;

/* point.c. Keys are compared by PetscMemcmp(). */
PETSC_INTERN PetscErrorCode MGDevKeyGet(PC, MGDevKey *);
PETSC_INTERN PetscErrorCode MGDevPointSame(const MGDevPoint *, const MGDevPoint *wanted, PetscBool *same);
PETSC_INTERN PetscErrorCode MGDevPointDescribe(PC, MGDevPoint *, char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode MGDevPointGet(MGDevPoint *, const MGDevPoint *wanted, PC, SpmvExec *, PetscBool *renewed,
                                          char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN void           MGDevPointFree(MGDevPoint *, SpmvExec *);

/* null_vectors.c */
PETSC_INTERN PetscInt       MGDevNullVectorsCount(MatNullSpace);
PETSC_INTERN void           MGDevNullVectorsWhyNot(MatNullSpace, const char **why);
PETSC_INTERN PetscErrorCode MGDevNullVectorsCopy(MatNullSpace, Mat A, void *to, SpmvExec *, SpmvStatus *);
