/* incomplete_matrices.c - the matrices of incomplete_test: stencils and unstructured elements with random numbers. */
#include "incomplete_test.h"

static GenSpec ShapeGet(int shape)
{
  switch (shape) {
  case 0:
    return gen_stencil(5, 13, 12, 1);
  case 1:
    return gen_stencil(7, 5, 6, 5);
  case 2:
    return gen_tetrahedra(4, GEN_P1, GEN_RCM, 1);
  case 3:
    return gen_tetrahedra(3, GEN_P1, GEN_NATURAL, 3);
  case 5: /* a chain */
    return gen_stencil(5, 17000, 1, 1);
  case 6: /* 462 nonzeros a level */
    return gen_stencil(7, 20, 20, 20);
  default:
    return gen_diagonal(1);
  }
}

/* The entry at (i, j), of a symmetric matrix for skew 0 */
static double Entry(const IncompleteCase *c, int64_t i, int64_t j)
{
  const int64_t low = i < j ? i : j, high = i < j ? j : i;
  const double  part = gen_uniform((uint64_t)(low * 100003 + high), (uint64_t)c->step);

  return -(1.1 + 0.9 * part) * (i < j ? 1 + c->skew : 1 - c->skew);
}

PetscErrorCode IncompleteFill(const IncompleteCase *c, Mat A)
{
  const GenSpec spec = ShapeGet(c->shape);
  int64_t      *col;
  PetscInt      first, last;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)spec.cols, &col));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    const int64_t n   = spec.row(&spec, i, col);
    double        sum = 0.01;

    for (int64_t k = 0; k < n; k++) {
      const double v = Entry(c, i, col[k]);

      if (col[k] == i) continue;
      sum += v < 0 ? -v : v;
      PetscCall(MatSetValue(A, i, (PetscInt)col[k], (PetscScalar)v, INSERT_VALUES));
    }
    PetscCall(MatSetValue(A, i, i, (PetscScalar)(c->zero && i == 0 ? 0 : c->factor * sum), INSERT_VALUES));
  }
  PetscCall(PetscFree(col));
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IncompleteMatrix(MPI_Comm comm, const IncompleteCase *c, MatType type, Mat *A)
{
  PetscInt n = (PetscInt)ShapeGet(c->shape).rows, local = PETSC_DECIDE;

  PetscFunctionBeginUser;
  if (c->unit) PetscCall(PetscSplitOwnershipBlock(comm, c->unit, &local, &n));
  PetscCall(TestCreate(comm, type, local, local, n, n, 1, 90, A));
  if (c->unit) PetscCall(MatSetBlockSize(*A, c->unit));
  PetscCall(IncompleteFill(c, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
