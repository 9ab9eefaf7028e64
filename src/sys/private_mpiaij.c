/* private_mpiaij.c - the layout of MATMPIAIJ's private struct: see private.h. */
#include "private.h"
#include <petsc/private/matimpl.h>

typedef struct {
  Mat          A, B;
  PetscMPIInt  size, rank;
  PetscBool    donotstash;
  MPI_Request *send_waits, *recv_waits;
  PetscInt     nsends, nrecvs;
  PetscScalar *svalues, *rvalues;
  PetscInt     rmax;
  void        *colmap;
  PetscInt    *garray;
} MPIAIJ;

static PetscBool tested, fits;

PetscErrorCode PetscPackMPIAIJGiveColumns(Mat A, PetscInt n, PetscInt columns[])
{
  MPIAIJ *m = (MPIAIJ *)A->data;

  PetscFunctionBegin;
  m->garray = columns;
  PetscCall(PetscLayoutDestroy(&m->B->cmap));
  PetscCall(PetscLayoutCreateFromSizes(PETSC_COMM_SELF, n, n, 1, &m->B->cmap));
  m->B->nonzerostate++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix on one process, whose off-diagonal block has no entries, but two columns */
static PetscErrorCode TestMPIAIJ(void)
{
  const PetscInt *found;
  PetscInt       *columns;
  MPIAIJ         *m;
  Mat             A, blocks[2];

  PetscFunctionBegin;
  tested = PETSC_TRUE;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, 2, 2, 2, 2));
  PetscCall(MatSetType(A, MATMPIAIJ));
  PetscCall(MatMPIAIJSetPreallocation(A, 1, NULL, 0, NULL));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], NULL));
  m = (MPIAIJ *)A->data;
  fits =
      m->A == blocks[0] && m->B == blocks[1] && m->size == 1 && m->rank == 0 && !m->garray ? PETSC_TRUE : PETSC_FALSE;
  if (fits) {
    PetscCall(PetscMalloc1(2, &columns));
    columns[0] = 0;
    columns[1] = 1;
    PetscCall(PetscPackMPIAIJGiveColumns(A, 2, columns));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &blocks[1], &found));
    fits = found == columns && blocks[1]->cmap->n == 2 ? PETSC_TRUE : PETSC_FALSE;
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackMPIAIJKnown(PetscBool *known)
{
  PetscFunctionBegin;
  if (!tested) PetscCall(TestMPIAIJ());
  *known = fits;
  PetscFunctionReturn(PETSC_SUCCESS);
}
