/* totals.h - what all matrices and solvers of the process did, for the line of -petscpack_summary. */
#pragma once

#include "../impls/seqaijfmt/seqaijfmt.h"

PETSC_INTERN void           PetscPackCountProduct(const Mat_AIJFmt *, PetscBool by_plan);
PETSC_INTERN void           PetscPackCountSolve(PetscInt iterations, const char why_host[]);
PETSC_INTERN PetscErrorCode PetscPackTotalsFromOptions(void);
