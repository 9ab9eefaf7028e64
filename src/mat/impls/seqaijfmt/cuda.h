/*
  cuda.h - what a PETSc with CUDA adds: parents MATSEQAIJCUSPARSE and MATMPIAIJCUSPARSE where a GPU is there, which
  bring vectors, assembly and factors on the device. Without CUDA in PETSc there is no such parent, and these functions
  have nothing to do. Plans on the GPU do not need it: stage.c brings host vectors there.
*/
#pragma once

#include "seqaijfmt.h"

/* Our matrices pass as the CUDA parent by name while one of its functions runs that checks the name */
typedef struct {
  char *saved; /* NULL: nothing to give back */
} AIJFmtNameGuard;

/* 3.20: the current stream has a public getter */
#if defined(PETSC_HAVE_CUDA) && PETSC_VERSION_GE(3, 20, 0)
  #define AIJFMT_HAVE_CUDA_PARENT 1

/* 3.26: indices of the device CSR are PetscInt */
  #if PETSC_VERSION_LT(3, 26, 0)
typedef int AIJFmtCusparseIndex;
  #else
typedef PetscInt AIJFmtCusparseIndex;
  #endif

PETSC_INTERN PetscErrorCode AIJFmtIsCudaParent(const Mat_AIJFmt *, PetscBool *);
PETSC_INTERN PetscErrorCode AIJFmtCudaAdopt(Mat, Mat_AIJFmt *, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtCudaInstall(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtCudaRemove(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtCudaRebind(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtCudaRegister(void);
PETSC_INTERN PetscErrorCode AIJFmtCudaStream(SpmvExec *);
PETSC_INTERN PetscErrorCode AIJFmtCudaHostWritten(Mat);
PETSC_INTERN PetscErrorCode AIJFmtCudaValuesChanged(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtCudaCsr(Mat, Mat_AIJFmt *, SpmvCsr *, PetscBool *);
PETSC_INTERN PetscBool      AIJFmtCudaIsCurrent(Mat, const Mat_AIJFmt *);
PETSC_INTERN PetscErrorCode AIJFmtCudaArraysGet(Mat, Mat_AIJFmt *, SpmvCsr *);
PETSC_INTERN PetscErrorCode AIJFmtCudaScale(Mat, Mat_AIJFmt *, PetscScalar, PetscBool *);
PETSC_INTERN PetscErrorCode AIJFmtCudaDiagonalScale(Mat, Mat_AIJFmt *, Vec, Vec, PetscBool *);
PETSC_INTERN PetscErrorCode AIJFmtCudaShift(Mat, Mat_AIJFmt *, PetscScalar, PetscBool *);
PETSC_INTERN PetscErrorCode AIJFmtCudaDiagonal(Mat, Mat_AIJFmt *, void *, PetscBool *);
PETSC_INTERN PetscErrorCode AIJFmtCudaValuesGetWrite(Mat, Mat_AIJFmt *, const char[], PetscScalar **, PetscBool *);
PETSC_INTERN PetscErrorCode AIJFmtCudaValuesRestore(Mat, Mat_AIJFmt *, PetscScalar **);
PETSC_INTERN PetscErrorCode AIJFmtCudaValuesInstall(Mat);
PETSC_INTERN PetscErrorCode AIJFmtCudaFetch(Mat);
PETSC_INTERN PetscErrorCode AIJFmtCudaHostCopyInstall(Mat);
PETSC_INTERN PetscErrorCode AIJFmtCudaMAIJRegister(void);
PETSC_INTERN void           AIJFmtCudaList(Mat, Mat_AIJFmt *);
PETSC_INTERN void           AIJFmtCudaUnlist(Mat_AIJFmt *);
PETSC_INTERN void           AIJFmtCudaHeaderFreed(PetscObject);
PETSC_INTERN PetscErrorCode AIJFmtCudaIsVec(Vec, PetscBool *);
PETSC_INTERN PetscErrorCode AIJFmtCudaMultiplies(Mat, const Mat_AIJFmt *, Vec, Vec, Vec, PetscBool *);
PETSC_INTERN PetscErrorCode AIJFmtNameGuardBegin(Mat, const Mat_AIJFmt *, AIJFmtNameGuard *);
PETSC_INTERN PetscErrorCode AIJFmtNameGuardEnd(Mat, AIJFmtNameGuard *);

#else

static inline void AIJFmtCudaUnlist(Mat_AIJFmt *s) { (void)s; }

static inline void AIJFmtCudaHeaderFreed(PetscObject header) { (void)header; }

static inline PetscErrorCode AIJFmtCudaAdopt(Mat A, Mat_AIJFmt *s, const Mat_AIJFmt *outer)
{
  (void)A;
  (void)s;
  (void)outer;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaInstall(Mat A, const Mat_AIJFmt *s)
{
  (void)A;
  (void)s;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaRemove(Mat A, const Mat_AIJFmt *s)
{
  (void)A;
  (void)s;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaRebind(Mat A, const Mat_AIJFmt *s)
{
  (void)A;
  (void)s;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaRegister(void) { return PETSC_SUCCESS; }

static inline PetscErrorCode AIJFmtCudaHostWritten(Mat A)
{
  (void)A;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaValuesChanged(Mat A, const Mat_AIJFmt *s)
{
  (void)A;
  (void)s;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtIsCudaParent(const Mat_AIJFmt *s, PetscBool *is)
{
  (void)s;
  *is = PETSC_FALSE;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaIsVec(Vec v, PetscBool *is)
{
  (void)v;
  *is = PETSC_FALSE;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaStream(SpmvExec *exec)
{
  (void)exec;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaCsr(Mat A, Mat_AIJFmt *s, SpmvCsr *csr, PetscBool *done)
{
  (void)A;
  (void)s;
  (void)csr;
  *done = PETSC_FALSE;
  return PETSC_SUCCESS;
}

static inline PetscBool AIJFmtCudaIsCurrent(Mat A, const Mat_AIJFmt *s)
{
  (void)A;
  (void)s;
  return PETSC_FALSE;
}

static inline PetscErrorCode AIJFmtCudaArraysGet(Mat A, Mat_AIJFmt *s, SpmvCsr *csr)
{
  (void)A;
  (void)s;
  (void)csr;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaScale(Mat A, Mat_AIJFmt *s, PetscScalar a, PetscBool *done)
{
  (void)A;
  (void)s;
  (void)a;
  *done = PETSC_FALSE;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaDiagonalScale(Mat A, Mat_AIJFmt *s, Vec l, Vec r, PetscBool *done)
{
  (void)A;
  (void)s;
  (void)l;
  (void)r;
  *done = PETSC_FALSE;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaShift(Mat A, Mat_AIJFmt *s, PetscScalar a, PetscBool *done)
{
  (void)A;
  (void)s;
  (void)a;
  *done = PETSC_FALSE;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaDiagonal(Mat A, Mat_AIJFmt *s, void *diagonal, PetscBool *done)
{
  (void)A;
  (void)s;
  (void)diagonal;
  *done = PETSC_FALSE;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaValuesGetWrite(Mat A, Mat_AIJFmt *s, const char operation[],
                                                      PetscScalar **values, PetscBool *done)
{
  (void)A;
  (void)s;
  (void)operation;
  *values = NULL;
  *done   = PETSC_FALSE;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaValuesRestore(Mat A, Mat_AIJFmt *s, PetscScalar **values)
{
  (void)A;
  (void)s;
  (void)values;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaFetch(Mat A)
{
  (void)A;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtCudaMultiplies(Mat A, const Mat_AIJFmt *s, Vec x, Vec z, Vec y, PetscBool *device)
{
  (void)A;
  (void)s;
  (void)x;
  (void)z;
  (void)y;
  *device = PETSC_FALSE;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtNameGuardBegin(Mat A, const Mat_AIJFmt *s, AIJFmtNameGuard *guard)
{
  (void)A;
  (void)s;
  guard->saved = NULL;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode AIJFmtNameGuardEnd(Mat A, AIJFmtNameGuard *guard)
{
  (void)A;
  (void)guard;
  return PETSC_SUCCESS;
}

#endif
