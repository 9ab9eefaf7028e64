/* estimate.h - extreme eigenvalues of M A, estimated on the device in place of a solver of PETSc. */
#pragma once

#include <petscksp.h>
#include <spmv_extremes.h>
#include "mat/impls/aij/plan.h"

/* estimate.c. WhyNot leaves a reason, known before any work and the same on all processes, if a solver of PETSc for A and P
   must estimate. PetscPackEstimate() estimates for A; the caller sets kind, steps, tolerance and M. On
   several processes it is collective, and one may have a reason before; afterwards all have one, or none. */
PETSC_INTERN PetscErrorCode PetscPackEstimateWhyNot(PetscObject about, Mat A, Mat P, const SpmvExtremesOptions *,
                                                    char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode PetscPackEstimate(PetscObject about, Mat A, SpmvExtremesOptions *o, SpmvExec *exec,
                                              SpmvExtremes *found, char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode PetscPackEstimateRegister(void);

/* chebyshev.c */
PETSC_INTERN PetscErrorCode PetscPackChebyshevRegister(void);
