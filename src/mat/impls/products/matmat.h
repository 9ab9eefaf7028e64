/* matmat.h - products of matrices: shared by matmat.c, matmat_parallel.c and ghost_rows.c */
#pragma once

#include "mat/impls/aij/aijfmt.h"
#include <spmv_coo.h>

/* Why the host makes a product: the kernels give it no entries that are in no product of two nonzeros */
#define AIJFMT_FORCED_DIAGONAL "MAT_FORCE_DIAGONAL_ENTRIES is set"
#define AIJFMT_PRODUCT_SMALL   "both factors are small, and -mat_aijfmt_device is auto"

/* Identity and pattern of a factor in the symbolic phase */
typedef struct {
  PetscObjectId    id;
  PetscObjectState nonzero_state;
} AIJFmtFactor;

/* Whether a product was computed once, and keeps the scratch memory of the kernel library */
typedef struct {
  PetscBool computed, holds;
} AIJFmtKeptScratch;

/* Rows of a matrix that other processes own */
typedef struct AIJFmtGhostRowsStruct *AIJFmtGhostRows;

/* matmat.c */
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_SeqAIJFmt(Mat);
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_MPIAIJFmt(Mat);
PETSC_INTERN PetscErrorCode MatProductNumeric_AIJFmt(Mat);
PETSC_INTERN AIJFmtFactor   AIJFmtFactorOf(Mat);
PETSC_INTERN PetscBool      AIJFmtFactorsSame(const AIJFmtFactor before[2], const Mat factor[2]);
PETSC_INTERN void           AIJFmtScratchKeep(AIJFmtKeptScratch *);
PETSC_INTERN void           AIJFmtScratchLeave(AIJFmtKeptScratch *);
PETSC_INTERN PetscErrorCode AIJFmtProductWhyNot(Mat, const char **why);
PETSC_INTERN PetscErrorCode AIJFmtProductBlockSizes(Mat);
PETSC_INTERN PetscErrorCode AIJFmtProductSymbolicByHost(Mat, PetscErrorCode (*free_data)(void *), const char reason[]);
PETSC_INTERN PetscErrorCode AIJFmtProductNumericByHost(Mat, const char reason[]);

/* ghost_rows.c */
PETSC_INTERN PetscErrorCode AIJFmtGhostRowsMake(PetscLayout, PetscInt n, const PetscInt needed[], const SpmvCsr *B,
                                                SpmvCooNumbers, PetscInt cols, SpmvExec *, AIJFmtGhostRows *,
                                                SpmvStatus *);
PETSC_INTERN PetscErrorCode AIJFmtGhostRowsFill(AIJFmtGhostRows, const SpmvCsr *B, SpmvExec *, SpmvStatus *);
PETSC_INTERN PetscErrorCode AIJFmtGhostRowsDestroy(AIJFmtGhostRows *, SpmvExec *);
PETSC_INTERN const SpmvCsr *AIJFmtGhostRowsCsr(AIJFmtGhostRows);
