/* matmat.h - products of matrices: shared by matmat.c and matmat_parallel.c */
#pragma once

#include "seqaijfmt.h"

/* Identity and pattern of a factor in the symbolic phase */
typedef struct {
  PetscObjectId    id;
  PetscObjectState nonzero_state;
} AIJFmtFactor;

/* Whether a product was computed once, and keeps the scratch memory of the kernel library */
typedef struct {
  PetscBool computed, holds;
} AIJFmtKeptScratch;

/* matmat.c */
PETSC_INTERN AIJFmtFactor   AIJFmtFactorOf(Mat);
PETSC_INTERN PetscBool      AIJFmtFactorsSame(const AIJFmtFactor before[2], const Mat factor[2]);
PETSC_INTERN void           AIJFmtScratchKeep(AIJFmtKeptScratch *);
PETSC_INTERN void           AIJFmtScratchLeave(AIJFmtKeptScratch *);
PETSC_INTERN PetscErrorCode AIJFmtProductMayChoose(Mat, PetscBool *may);
PETSC_INTERN PetscErrorCode AIJFmtProductBlockSizes(Mat);
PETSC_INTERN PetscErrorCode AIJFmtProductCount(Mat);
PETSC_INTERN PetscErrorCode AIJFmtProductSymbolicByHost(Mat, const char reason[]);
PETSC_INTERN PetscErrorCode AIJFmtProductNumericByHost(Mat);
