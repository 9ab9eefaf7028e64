/*
  op_device.c - matrices and vectors in different memories. With a PETSc with CUDA and a GPU, vectors and coordinate
  values of the type under test are on the device where an operation asks for it; otherwise everything is on the host.
  The results must be the same.
*/
#include "ops.h"

static PetscBool HaveDevice(const Conf *c)
{
  return c->format[0] && PetscDefined(HAVE_CUDA) && spmv_device_count(NULL) > 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* A vector for the columns of A, or for its rows */
static PetscErrorCode CreateVecOn(const Conf *c, PetscBool device, Mat A, PetscBool rows, uint64_t seed, Vec *v)
{
  PetscInt size[2];

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &size[0], &size[1]));
  PetscCall(VecCreate(c->comm, v));
  PetscCall(VecSetSizes(*v, size[rows ? 0 : 1], PETSC_DETERMINE));
  PetscCall(VecSetType(*v, device && HaveDevice(c) ? VECCUDA : VECSTANDARD));
  PetscCall(ConfSetVec(*v, seed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All products, with x, the added vector and y on the host or on the device according to the bits of `sides` */
static PetscErrorCode SeeProductsOn(Conf *c, const char *what, Mat A, int sides)
{
  PetscBool device[3];
  Vec       x, y, z, w;

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) device[k] = sides >> k & 1 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(CreateVecOn(c, device[0], A, PETSC_FALSE, 11, &x));
  PetscCall(CreateVecOn(c, device[1], A, PETSC_TRUE, 12, &y));
  PetscCall(CreateVecOn(c, device[2], A, PETSC_TRUE, 13, &z));
  PetscCall(CreateVecOn(c, device[2], A, PETSC_FALSE, 14, &w));
  PetscCall(MatMult(A, x, y));
  PetscCall(ConfSeeVec(c, what, y));
  PetscCall(MatMultAdd(A, x, y, z));
  PetscCall(ConfSeeVec(c, what, z));
  PetscCall(MatMultTranspose(A, y, w));
  PetscCall(ConfSeeVec(c, what, w));
  PetscCall(MatMultTransposeAdd(A, z, w, w));
  PetscCall(ConfSeeVec(c, what, w));
  PetscCall(TestDestroyVecs(&x, &y));
  PetscCall(TestDestroyVecs(&z, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MixedVectors(Conf *c)
{
  PetscFunctionBeginUser;
  for (int sides = 0; sides < 8; sides++) PetscCall(SeeProductsOn(c, "vectors on both sides", c->A, sides));
  PetscCall(MatScale(c->A, 2));
  for (int sides = 7; sides >= 0; sides -= 7) PetscCall(SeeProductsOn(c, "after MatScale", c->A, sides));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Binds the matrix to the host and unbinds it, with and without new values in between */
static PetscErrorCode BindToCPU(Conf *c)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatBindToCPU(c->A, PETSC_TRUE));
  PetscCall(ConfSeeProducts(c, "bound", c->A));
  PetscCall(SeeProductsOn(c, "bound, vectors on the device", c->A, 7));
  PetscCall(MatScale(c->A, OpFactor(c)));
  PetscCall(MatDuplicate(c->A, MAT_COPY_VALUES, &B));
  PetscCall(ConfSeeProducts(c, "bound, new values", c->A));
  PetscCall(MatBindToCPU(c->A, PETSC_FALSE));
  PetscCall(ConfSeeMat(c, "back again", c->A));
  PetscCall(MatScale(c->A, 0.5));
  PetscCall(SeeProductsOn(c, "back again, new values", c->A, 7));
  PetscCall(MatBindToCPU(c->A, PETSC_TRUE));
  PetscCall(MatBindToCPU(c->A, PETSC_FALSE));
  PetscCall(ConfSeeMat(c, "duplicate of a bound matrix", B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the values of the coordinates from an array on the device; plain AIJ takes them on the host only */
static PetscErrorCode SetCOOFromDevice(Conf *c, Mat A, uint64_t seed, InsertMode mode)
{
  const PetscBool    device = c->suffix[0] ? HaveDevice(c) : PETSC_FALSE;
  const PetscScalar *value;
  PetscMemType       where;
  Vec                v;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_SELF, &v));
  PetscCall(VecSetSizes(v, (PetscInt)c->coordinates, PETSC_DETERMINE));
  PetscCall(VecSetType(v, device ? VECCUDA : VECSTANDARD));
  PetscCall(ConfSetVec(v, seed + (uint64_t)c->rank));
  PetscCall(VecGetArrayReadAndMemType(v, &value, &where));
  PetscCheck(PetscMemTypeDevice(where) == device || c->coordinates == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "values are on the wrong side");
  PetscCall(MatSetValuesCOO(A, value, mode));
  PetscCall(VecRestoreArrayReadAndMemType(v, &value));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DeviceCOO(Conf *c)
{
  Mat A, B;

  PetscFunctionBeginUser;
  PetscCall(ConfCreateEmpty(c, &A));
  PetscCall(MatSetType(A, c->type));
  PetscCall(OpPreallocateCoordinates(c, A));
  PetscCall(SetCOOFromDevice(c, A, 31, INSERT_VALUES));
  PetscCall(SeeProductsOn(c, "COO on the device", A, 7));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(SetCOOFromDevice(c, A, 32, ADD_VALUES));
  PetscCall(SeeProductsOn(c, "added on the device", A, 7));
  PetscCall(ConfSeeMat(c, "seen by the host", A));
  PetscCall(MatScale(A, 3));
  PetscCall(SetCOOFromDevice(c, A, 33, ADD_VALUES));
  PetscCall(ConfSeeMat(c, "added to what the host scaled", A));
  PetscCall(MatBindToCPU(A, PETSC_TRUE));
  PetscCall(ConfSeeProducts(c, "COO, then bound", A));
  PetscCall(ConfSeeMat(c, "duplicate of device values", B));
  PetscCall(TestDestroyMats(&A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets an entry in every row i with i mod 3 == rest, or in all rows if rest is negative */
static PetscErrorCode SetThirds(Conf *c, Mat A, PetscInt rest, PetscInt shift, PetscScalar value)
{
  PetscFunctionBeginUser;
  for (PetscInt i = c->row_start; i < c->row_start + c->m && c->N; i++) {
    if (rest < 0 || i % 3 == rest) PetscCall(MatSetValue(A, i, (i + shift) % c->N, value, INSERT_VALUES));
  }
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Most rows are empty, so the device CSR of aijcusparse holds only the others. Then all rows get nonzeros on the host,
   and the values are zeroed before the device has the new pattern. */
static PetscErrorCode EmptyRows(Conf *c)
{
  Mat       A;
  Vec       diagonal;
  PetscBool square;

  PetscFunctionBeginUser;
  PetscCall(ConfCreateEmpty(c, &A));
  PetscCall(MatSetType(A, c->type));
  PetscCall(MatSetUp(A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(SetThirds(c, A, 1, 1, 5));
  PetscCall(SetThirds(c, A, 1, 0, 3));
  PetscCall(SeeProductsOn(c, "a third of the rows", A, 7));
  PetscCall(MatHasCongruentLayouts(A, &square));
  if (square) {
    PetscCall(CreateVecOn(c, PETSC_TRUE, A, PETSC_TRUE, 15, &diagonal));
    PetscCall(MatGetDiagonal(A, diagonal));
    PetscCall(ConfSeeVec(c, "diagonal of a third of the rows", diagonal));
    PetscCall(VecDestroy(&diagonal));
  }
  PetscCall(SetThirds(c, A, -1, 2, 7));
  PetscCall(MatZeroEntries(A));
  PetscCall(SetThirds(c, A, -1, 2, 4));
  PetscCall(SeeProductsOn(c, "all rows", A, 7));
  PetscCall(ConfSeeMat(c, "all rows", A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation op_device[] = {{"mixed_vectors", MixedVectors, OP_RARE, .ways = 1},
                                   {"bind_to_cpu", BindToCPU, 0, .ways = 1},
                                   {"device_coo", DeviceCOO, OP_SPEC, .ways = 1},
                                   {"empty_rows", EmptyRows, OP_SPEC, .ways = 1},
                                   {.name = NULL}};
