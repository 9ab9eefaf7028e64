/*
  overlap.h - the blocks of a PCASM: which entries of the residual each block gets, and which entries of its result count.
  Both are products with matrices of zeros and ones, which exchange the rows of other processes.
*/
#pragma once

#include <petsc/private/pcimpl.h>
#include "pc/impls/point/product.h"

/* Identifies the blocks of a PCASM that is set up, and its type. All zeros: none. Compared bytewise. */
typedef struct {
  PetscObjectId pc, first; /* of the PC, and of the index set of its first block */
  PetscInt64    type;
} PCOverlapKey;

typedef struct PCOverlapStruct *PCOverlap;

/* overlap.c. WhyNot leaves a reason if the blocks are not added up as the device does it. Create is collective; *o is NULL if
   there is a reason, then one on all processes, or if the only block of each process is its part of the system. */
PETSC_INTERN PetscErrorCode PCOverlapKeyGet(PC, PCOverlapKey *);
PETSC_INTERN PetscErrorCode PCOverlapWhyNot(PC, char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode PCOverlapCreate(PC, SpmvExec *, PCOverlap *o, char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode PCOverlapDestroy(PCOverlap *, SpmvExec *);
PETSC_INTERN PetscBool      PCOverlapWaits(const PCOverlap);
/* Begin: *entries are those of r for all blocks, one block after the other; *results has room for what they make of them.
   End: z is the sum. All processes call both, also after a failure. */
PETSC_INTERN SpmvStatus PCOverlapBegin(PCOverlap, const void *r, const void **entries, void **results, SpmvExec *);
PETSC_INTERN SpmvStatus PCOverlapEnd(PCOverlap, void *z, SpmvExec *);
