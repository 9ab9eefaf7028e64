/* estimate.h - extreme eigenvalues of M A, estimated on the device in place of a solver of PETSc. */
#pragma once

#include <petscksp.h>
#include <spmv_extremes.h>
#include "mat/impls/aij/plan.h"

/* estimate.c: an estimate for A, with vectors like x. The caller sets kind, steps and tolerance before the first function,
   which sets the product, to `call`; then M. Each leaves a reason if a solver of PETSc must estimate. */
PETSC_INTERN PetscErrorCode PetscPackEstimateBegin(PetscObject about, Mat A, Vec x, SpmvExtremesOptions *o,
                                                   SpmvOperator *call, char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode PetscPackEstimate(PetscObject about, Mat A, const SpmvExtremesOptions *o, SpmvExec *exec,
                                              SpmvExtremes *found, char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode PetscPackEstimateRegister(void);

/* chebyshev.c */
PETSC_INTERN PetscErrorCode PetscPackChebyshevRegister(void);
