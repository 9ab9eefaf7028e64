/* petsc_test.h - for all tests that use PETSc: what its older versions lack, and steps that many tests take. */
#pragma once

#include <petscmat.h>
#include <stdio.h>
#include <stdlib.h>

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

static inline PetscErrorCode TestAssemble(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TestAssembleVec(Vec v)
{
  PetscFunctionBeginUser;
  PetscCall(VecAssemblyBegin(v));
  PetscCall(VecAssemblyEnd(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TestDestroyVecs(Vec *x, Vec *y)
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(x));
  PetscCall(VecDestroy(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TestDestroyMats(Mat *A, Mat *B)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(A));
  PetscCall(MatDestroy(B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix with these local and global sizes, and room for `nonzeros` entries in a row of each block */
static inline PetscErrorCode TestCreate(MPI_Comm comm, MatType type, PetscInt m, PetscInt n, PetscInt M, PetscInt N,
                                        PetscInt block_size, PetscInt nonzeros, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, m, n, M, N));
  PetscCall(MatSetBlockSize(*A, block_size));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, nonzeros, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, nonzeros, NULL, nonzeros, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norm of x - y, and of y */
static inline PetscErrorCode TestDistance(Vec x, Vec y, NormType type, PetscReal *distance, PetscReal *size)
{
  Vec d;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(y, &d));
  PetscCall(VecCopy(x, d)); /* VecWAXPY() needs vectors of one type */
  PetscCall(VecAXPY(d, -1, y));
  PetscCall(VecNorm(d, type, distance));
  PetscCall(VecNorm(y, type, size));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum { TEST_VIEW = 1 << 16 /* characters of the longest view */ };

/* What a view of a matrix or solver says, on all processes */
static inline PetscErrorCode TestView(PetscObject object, PetscViewerFormat format, char text[TEST_VIEW])
{
  MPI_Comm    comm    = PetscObjectComm(object);
  char       *written = NULL;
  size_t      length;
  FILE       *file = open_memstream(&written, &length);
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerASCIIOpenWithFILE(comm, file, &viewer)); /* the first process writes */
  PetscCall(PetscViewerPushFormat(viewer, format));
  PetscCall(PetscObjectView(object, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  (void)fclose(file);
  PetscCheck(length < TEST_VIEW, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a view of %d characters", (int)length);
  PetscCall(PetscStrncpy(text, written, TEST_VIEW));
  free(written);
  PetscCallMPI(MPI_Bcast(text, TEST_VIEW, MPI_CHAR, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
