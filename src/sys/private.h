/*
  private.h - data of PETSc that has no getter and whose struct is in no installed header. This file alone knows such
  layouts, with the versions for which they were compared in PETSc's sources.

  Each layout is tested in the process before its first use: values are set by PETSc's functions and looked for where
  they are expected. The result is the same on all processes. Where a layout does not fit, whatever reads it is off.
*/
#pragma once

#include "compat.h"
#include <petscksp.h>

/* 3.18 to 3.26: the scale of KSPRICHARDSON, and whether it computes one itself */
PETSC_INTERN PetscErrorCode PetscPackRichardsonGet(KSP, PetscReal *scale, PetscBool *itself, PetscBool *known);

/* 3.18 to 3.26: the kind of KSPCHEBYSHEV, its bounds, by the user or else from estimates, and the coefficients of its
   optimized fourth kind, or NULL */
typedef struct {
  enum { PETSCPACK_FIRST, PETSCPACK_FOURTH, PETSCPACK_OPT_FOURTH } kind;
  PetscReal        emin, emax;
  const PetscReal *beta;
  PetscInt         betas;
} PetscPackChebyshev;
PETSC_INTERN PetscErrorCode PetscPackChebyshevGet(KSP, PetscPackChebyshev *, PetscBool *known);

/* 3.18 to 3.21: destroys the MatCoarsen that PCGAMGAGG has made for its next step; nothing in later versions, which
   destroy it themselves */
PETSC_INTERN PetscErrorCode PetscPackGamgAggForgetCoarsen(PC);

/* 3.18 to 3.26: the field of a MATSEQAIJ that holds the address `values` of its values, found by its contents; NULL if it
   cannot be told for certain. The only layout that is tested at each use. */
PETSC_INTERN PetscScalar **PetscPackSeqAIJValues(Mat, const PetscScalar values[]);

/* 3.18 to 3.26: whether a MATSEQAIJCUSPARSE has a CSR on the device, for this pattern or an earlier one: the first word of
   its second private struct */
PETSC_INTERN PetscBool PetscPackCusparseCsrExists(Mat);

/* Whether the objects of the running PETSc are laid out as in the headers that this library was built with: the packages
   and devices of a PETSc change them */
PETSC_INTERN PetscErrorCode PetscPackHeadersFit(PetscBool *fit);
