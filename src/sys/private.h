/*
  private.h - data of PETSc that has no getter. Some structs are in no installed header: this file alone knows their
  layouts, with the versions of PETSc that have them; scripts/check_layouts.sh compares them with PETSc's sources of each
  minor version. The structs of installed private headers can differ too, if the running PETSc was configured otherwise.

  Each layout but that of MATSEQAIJCUSPARSE is tested in the process before its first use: values are set by PETSc's functions and looked for where
  they are expected. The result is the same on all processes. Where a layout does not fit, whatever reads it is off.
*/
#pragma once

#include "compat.h"
#include <petsc/private/pcgamgimpl.h>
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

/* 3.18 to 3.26: begins KSPSetUp() of a KSPCHEBYSHEV. *estimates: it may estimate eigenvalues; *estimator: the solver that
   will do so with noise as its right-hand side, or NULL. The second function sets estimates, so that it will not. */
PETSC_INTERN PetscErrorCode PetscPackChebyshevEstimator(KSP, Mat A, Mat P, PetscBool *estimates, KSP *estimator);
PETSC_INTERN PetscErrorCode PetscPackChebyshevEstimated(KSP, Mat A, Mat P, PetscReal least, PetscReal largest);

/* The structs of PCMG and of the types derived from it, and of PCGAMG. fit: they are as in the headers. */
PETSC_INTERN PC_MG         *PetscPackMG(PC);
PETSC_INTERN PC_GAMG       *PetscPackGamg(PC);
PETSC_INTERN PetscErrorCode PetscPackIsGamg(PC, PetscBool *is); /* by its functions: it may have another type name */
PETSC_INTERN PetscErrorCode PetscPackMGFits(PetscBool *fits);
PETSC_INTERN PetscErrorCode PetscPackGamgFits(PetscBool *fits);
#define PETSCPACK_OTHER_MG "the multigrid of this PETSc is laid out otherwise than in its headers"

/* 3.18 to 3.21: destroys the MatCoarsen that PCGAMGAGG has made for its next step; nothing in later versions, which
   destroy it themselves */
PETSC_INTERN PetscErrorCode PetscPackGamgAggForgetCoarsen(PC);

/* 3.18 to 3.26: the field of a MATSEQAIJ that holds the address of its values */
PETSC_INTERN PetscErrorCode PetscPackSeqAIJValues(Mat, PetscScalar ***field, PetscBool *known);

/* 3.18 to 3.26: preallocates a MATSEQAIJ, frees the arrays that it had, and gives it *col [nnz] and values [nnz], which the
   caller fills before the assembly; NULL: PETSc allocates them. PETSc does not free those that it is given, nor, with
   them, *row_ptr [rows+1], its row pointers: PetscPackSeqAIJRowPtrFree(). The caller fills these, too, and calls
   PetscPackSeqAIJRows(). *known is false, and the matrix as it was, in a version with other private structs. */
PETSC_INTERN PetscErrorCode PetscPackSeqAIJGive(Mat, PetscInt nnz, PetscInt **col, PetscScalar values[],
                                                PetscInt **row_ptr, PetscBool *known);
PETSC_INTERN PetscErrorCode PetscPackSeqAIJRows(Mat);
PETSC_INTERN PetscErrorCode PetscPackSeqAIJRowPtrFree(PetscInt *row_ptr);
/* Does what the assembly of a matrix with given arrays would do for its row pointers. *diagonal: memory for the
   positions of the diagonal entries [rows], as MatMarkDiagonal_SeqAIJ() leaves them, to be filled by the caller; NULL from
   3.25 on, where PETSc marks them when it needs them. diagonal may be NULL: nobody asks for them. */
PETSC_INTERN PetscErrorCode PetscPackSeqAIJAssemble(Mat, PetscInt **diagonal);
/* 3.18 to 3.26: the number of rows of a MATSEQAIJ that are not empty, as its assembly has counted them; all if unknown */
PETSC_INTERN PetscErrorCode PetscPackSeqAIJNonzeroRows(Mat, PetscInt *);
/* private_mpiaij.c, 3.18 to 3.26: before the first assembly of a MATMPIAIJ whose off-diagonal block has local columns
   already, gives it their numbers in the whole matrix, `columns` [n], which A then owns; PETSc would find them in a hash
   table. Not collective. */
PETSC_INTERN PetscErrorCode PetscPackMPIAIJKnown(PetscBool *known);
PETSC_INTERN PetscErrorCode PetscPackMPIAIJGiveColumns(Mat A, PetscInt n, PetscInt columns[]);
/* Copies the arrays that PETSc does not free to arrays of its own. From 3.22 on MatSetValues() frees the old arrays,
   whoever owns them, if a new nonzero has no room. */
PETSC_INTERN PetscErrorCode PetscPackSeqAIJOwn(Mat);

/* 3.18 to 3.26: whether a MATSEQAIJCUSPARSE has a CSR on the device, for this pattern or an earlier one: the first word of
   its second private struct */
PETSC_INTERN PetscBool PetscPackCusparseCsrExists(Mat);

/* Whether Mat, MatNullSpace, KSP and PC of the running PETSc are laid out as in the headers that this library was built
   with: the packages and devices of a PETSc change them */
PETSC_INTERN PetscErrorCode PetscPackHeadersFit(PetscBool *fit);
