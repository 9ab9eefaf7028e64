/*
  host_matrix.h - the matrices of host_bench and coo_bench, from the catalogue or from PETSc binary files, as CSR arrays
  that PETSc and libspmvpack share.
*/
#ifndef SPMV_HOST_MATRIX_H
#define SPMV_HOST_MATRIX_H

#include "gen.h"
#include <petscmat.h>

#if defined(PETSC_USE_COMPLEX)
  #error "host_bench compares real matrices"
#endif

enum { HOST_MATRIX_NAME = 128 };

typedef struct {
  char    name[HOST_MATRIX_NAME];
  SpmvCsr csr;
  Mat     file; /* the owner of the arrays if the matrix is from a file, else NULL */
} HostMatrix;

/* A matrix of the catalogue by its name ("hex3:60"), with random values, equal for both entries of a pair */
PetscErrorCode HostMatrixGenerate(const char name[], HostMatrix *matrix);
/* Loads a sequential matrix in PETSc's binary format; its name is that of the file without folder and extension */
PetscErrorCode HostMatrixLoad(const char path[], HostMatrix *matrix);
PetscErrorCode HostMatrixDestroy(HostMatrix *matrix);

/* A new SEQAIJ matrix on the same arrays */
PetscErrorCode HostMatrixWrap(const HostMatrix *matrix, Mat *A);

#endif
