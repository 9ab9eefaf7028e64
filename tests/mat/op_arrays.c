/*
  op_arrays.c - values set through arrays, and coordinates
*/
#include "ops.h"

/* MatSetValues() of a parallel AIJ frees the arrays of the off-diagonal block in the way that suits the diagonal block.
   Before 3.26 the two were allocated differently, and new nonzeros after coordinates corrupted the heap
   (docs/notebook). */
#define COO_CORRUPTS PETSC_VERSION_LT(3, 26, 0)

static PetscErrorCode WriteBlock(Conf *c, Mat block, PetscBool all)
{
  const uint64_t seed = OpNext(c);
  PetscScalar   *value;
  PetscInt       nonzeros;
  MatInfo        info;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(block, MAT_LOCAL, &info));
  nonzeros = (PetscInt)info.nz_used;
  PetscCall((all ? MatSeqAIJGetArrayWrite : MatSeqAIJGetArray)(block, &value));
  for (PetscInt k = 0; k < nonzeros; k += all ? 1 : 3)
    value[k] = OpNumber(seed, (uint64_t)k) + (all ? 0 : value[k] / 2);
  PetscCall((all ? MatSeqAIJRestoreArrayWrite : MatSeqAIJRestoreArray)(block, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes all values, or some */
static PetscErrorCode WriteArrays(Conf *c)
{
  const PetscBool all = OpChance(c, 50);
  Mat             block[3];

  PetscFunctionBeginUser;
  PetscCall(OpBlocks(c->A, block));
  for (int b = 0; block[b]; b++) PetscCall(WriteBlock(c, block[b], all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Works on a copy, but where it does nothing else: PETSc stores values into the array of the first call, and past its
   end if there are more values later */
static PetscErrorCode StoreValues(Conf *c)
{
  Mat B;

  PetscFunctionBeginUser;
  if (!c->alone) {
    PetscCall(MatDuplicate(c->A, MAT_COPY_VALUES, &B));
    PetscCall(OpReplace(c, B));
  }
  PetscCall(MatSetOption(c->A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  PetscCall(MatStoreValues(c->A));
  PetscCall(MatScale(c->A, OpFactor(c)));
  if (!c->alone) PetscCall(ConfSeeProducts(c, "scaled", c->A));
  PetscCall(MatRetrieveValues(c->A));
  PetscCall(ConfSeeProducts(c, "MatRetrieveValues", c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values at the coordinates that A is made of */
static PetscErrorCode SetCoordinates(Conf *c, InsertMode mode)
{
  const uint64_t seed = OpNext(c);
  PetscScalar   *value;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(c->coordinates, &value));
  for (PetscCount k = 0; k < c->coordinates; k++) value[k] = OpNumber(seed, (uint64_t)k);
  PetscCall(MatSetValuesCOO(c->A, value, mode));
  PetscCall(PetscFree(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetValuesCOO(Conf *c) { return SetCoordinates(c, (InsertMode)c->operation->how); }

/* A matrix without entries before, or one of another pattern; a duplicate of it must be independent */
static PetscErrorCode CatalogueCoordinates(Conf *c)
{
  Mat B;

  PetscFunctionBeginUser;
  if (!OpChance(c, 50)) {
    PetscCall(MatDestroy(&c->A));
    PetscCall(ConfCreateEmpty(c, &c->A));
    PetscCall(MatSetType(c->A, c->type));
  }
  PetscCall(OpPreallocateCoordinates(c, c->A));
  PetscCall(SetCoordinates(c, INSERT_VALUES));
  PetscCall(ConfSeeMat(c, "inserted", c->A));
  PetscCall(MatDuplicate(c->A, MAT_COPY_VALUES, &B));
  PetscCall(SetCoordinates(c, ADD_VALUES));
  PetscCall(ConfSeeMat(c, "added", c->A));
  PetscCall(MatScale(c->A, 3));
  PetscCall(SetCoordinates(c, ADD_VALUES));
  PetscCall(ConfSeeProducts(c, "added to scaled values", c->A));
  PetscCall(SetCoordinates(c, INSERT_VALUES));
  PetscCall(ConfSeeMat(c, "duplicate of coordinates", B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coordinates with repetitions, unsorted on one process; PETSc overwrites the index arrays. On the matrix itself, or on
   a copy after products with it. */
static PetscErrorCode RandomCoordinates(Conf *c)
{
  const uint64_t seed = gen_hash(OpNext(c), (uint64_t)c->rank);
  const PetscInt n    = OpBelow(c, 90);
  PetscInt       M, N, *i, *j;
  PetscScalar   *value;
  Mat            A = c->A;

  PetscFunctionBeginUser;
  if (c->operation->how) PetscCall(MatDuplicate(c->A, MAT_COPY_VALUES, &A));
  else if (COO_CORRUPTS && c->size > 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(PetscMalloc3(n, &i, n, &j, n, &value));
  for (PetscInt k = 0; k < n; k++) {
    const uint64_t at = gen_hash(seed, (uint64_t)k);

    i[k]     = at % 11 ? (PetscInt)(at / 100 % (uint64_t)M) : -1;
    j[k]     = (PetscInt)(at / 1000000 % (uint64_t)N);
    value[k] = OpNumber(at, 0);
  }
  PetscCall(MatSetPreallocationCOO(A, n, i, j));
  PetscCall(MatSetValuesCOO(A, value, INSERT_VALUES));
  PetscCall(ConfSeeMat(c, "coordinates", A));
  for (PetscInt k = 0; k < n; k++) value[k] /= 2;
  PetscCall(MatSetValuesCOO(A, value, OpChance(c, 50) ? ADD_VALUES : INSERT_VALUES));
  PetscCall(PetscFree3(i, j, value));
  if (A != c->A) {
    PetscCall(ConfSeeMat(c, "the copy", A));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation op_arrays[] = {{"write_arrays", WriteArrays, 0, .ways = 2},
                                   {"store_values", StoreValues, OP_READS, .ways = 1},
                                   {"coo_insert", SetValuesCOO, OP_CHANGES | OP_COORDINATES, .how = INSERT_VALUES},
                                   {"coo_add", SetValuesCOO, OP_CHANGES | OP_COORDINATES, .how = ADD_VALUES},
                                   {"coo", CatalogueCoordinates, OP_SPEC, .ways = 2},
                                   {"coo_random", RandomCoordinates, OP_NONEMPTY | OP_RARE | OP_RANDOM_ONLY, .how = 0},
                                   {"coo_copy", RandomCoordinates, OP_NONEMPTY | OP_RANDOM_ONLY, .how = 1},
                                   {.name = NULL}};
