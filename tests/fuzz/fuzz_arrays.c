/*
  fuzz_arrays.c - values set through arrays, and coordinates
*/
#include "fuzz.h"

typedef enum { READ_WRITE, WRITE_ONLY, READ_ONLY } Access;

static PetscErrorCode WriteBlock(Fuzz *f, Mat block, Access access)
{
  const uint64_t     seed = FuzzNext(f);
  const PetscScalar *read;
  PetscScalar       *value;
  PetscInt           nonzeros;
  MatInfo            info;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(block, MAT_LOCAL, &info));
  nonzeros = (PetscInt)info.nz_used;
  if (access == READ_ONLY) {
    PetscCall(MatSeqAIJGetArrayRead(block, &read));
    for (PetscInt k = 0; k < nonzeros; k++) PetscCall(ConfSeeReal(&f->c, "array", PetscRealPart(read[k])));
    PetscCall(MatSeqAIJRestoreArrayRead(block, &read));
  } else if (access == WRITE_ONLY) {
    PetscCall(MatSeqAIJGetArrayWrite(block, &value));
    for (PetscInt k = 0; k < nonzeros; k++) value[k] = FuzzNumber(seed, (uint64_t)k);
    PetscCall(MatSeqAIJRestoreArrayWrite(block, &value));
  } else {
    PetscCall(MatSeqAIJGetArray(block, &value));
    for (PetscInt k = 0; k < nonzeros; k += 3) value[k] = FuzzNumber(seed, (uint64_t)k) + value[k] / 2;
    PetscCall(MatSeqAIJRestoreArray(block, &value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Arrays(Fuzz *f)
{
  const Access access   = (Access)FuzzBelow(f, 3);
  Mat          block[2] = {f->A, NULL};
  PetscBool    parallel;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)f->A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(f->A, &block[0], &block[1], NULL));
  for (int b = 0; b < 2 && block[b]; b++) PetscCall(WriteBlock(f, block[b], access));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Works on a copy: PETSc stores values into the array of the first call, and past its end if there are more values
   later */
static PetscErrorCode StoreValues(Fuzz *f)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(f->A, MAT_COPY_VALUES, &B));
  PetscCall(FuzzReplace(f, B));
  PetscCall(MatSetOption(f->A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  PetscCall(MatStoreValues(f->A));
  PetscCall(MatScale(f->A, FuzzFactor(f)));
  PetscCall(ConfSeeProducts(&f->c, "scaled", f->A));
  PetscCall(MatRetrieveValues(f->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coordinates with repetitions, unsorted on one process; PETSc overwrites the index arrays */
static PetscErrorCode SetCoordinates(Fuzz *f, Mat A)
{
  const uint64_t seed = gen_hash(FuzzNext(f), (uint64_t)f->c.rank);
  const PetscInt n    = FuzzBelow(f, 90);
  PetscInt       M, N, *i, *j;
  PetscScalar   *value;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(PetscMalloc3(n, &i, n, &j, n, &value));
  for (PetscInt k = 0; k < n; k++) {
    const uint64_t at = gen_hash(seed, (uint64_t)k);

    i[k]     = at % 11 ? (PetscInt)(at / 100 % (uint64_t)M) : -1;
    j[k]     = (PetscInt)(at / 1000000 % (uint64_t)N);
    value[k] = FuzzNumber(at, 0);
  }
  PetscCall(MatSetPreallocationCOO(A, n, i, j));
  PetscCall(MatSetValuesCOO(A, value, INSERT_VALUES));
  PetscCall(ConfSeeMat(&f->c, "coordinates", A));
  for (PetscInt k = 0; k < n; k++) value[k] /= 2;
  PetscCall(MatSetValuesCOO(A, value, FuzzChance(f, 50) ? ADD_VALUES : INSERT_VALUES));
  PetscCall(PetscFree3(i, j, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the matrix itself, and on a copy after products with it */
static PetscErrorCode Coordinates(Fuzz *f)
{
  PetscFunctionBeginUser;
  if (FUZZ_COO_CORRUPTS && f->c.size > 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SetCoordinates(f, f->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CoordinatesOfCopy(Fuzz *f)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(f->A, MAT_COPY_VALUES, &B));
  PetscCall(SetCoordinates(f, B));
  PetscCall(ConfSeeMat(&f->c, "the copy", B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FuzzOperation fuzz_arrays[] = {{"arrays", Arrays, 0},
                                     {"store_values", StoreValues, 0},
                                     {"coo", Coordinates, FUZZ_NONEMPTY | FUZZ_RARE},
                                     {"coo_copy", CoordinatesOfCopy, FUZZ_NONEMPTY},
                                     {NULL, NULL, 0}};
