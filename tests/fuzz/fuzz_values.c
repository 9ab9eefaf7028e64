/*
  fuzz_values.c - operations that change the values of a matrix, or add some nonzeros
*/
#include "fuzz.h"

static PetscErrorCode Scale(Fuzz *f) { return MatScale(f->A, FuzzFactor(f)); }
static PetscErrorCode Shift(Fuzz *f) { return MatShift(f->A, 1.5 * FuzzFactor(f)); }

static PetscErrorCode DiagonalScale(Fuzz *f)
{
  const PetscInt way = FuzzBelow(f, 3);
  Vec            x, y;

  PetscFunctionBeginUser;
  PetscCall(ConfCreateVecs(f->A, FuzzNext(f), &x, &y));
  PetscCall(MatDiagonalScale(f->A, way == 1 ? NULL : y, way == 2 ? NULL : x));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroEntries(Fuzz *f) { return MatZeroEntries(f->A); }

/* Sets a few short runs of columns. Rows of other processes are used only with ADD_VALUES, whose result does not depend
   on the order. */
static PetscErrorCode SetValues(Fuzz *f)
{
  const PetscInt   count = 1 + FuzzBelow(f, 6);
  const InsertMode mode  = FuzzChance(f, 60) ? ADD_VALUES : INSERT_VALUES;
  const uint64_t   seed  = gen_hash(FuzzNext(f), (uint64_t)f->c.rank);
  PetscInt         low, high, M, N, columns[6];
  PetscScalar      values[6];

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(f->A, &M, &N));
  PetscCall(MatGetOwnershipRange(f->A, &low, &high));
  for (uint64_t k = 0; k < (uint64_t)count; k++) {
    const uint64_t at    = gen_hash(seed, k);
    const PetscInt first = (PetscInt)(at / 7 % (uint64_t)N), length = 1 + (PetscInt)(at % 6);
    PetscInt       row, n                                           = 0;

    if (mode == ADD_VALUES) row = (PetscInt)(at / 77777 % (uint64_t)M);
    else if (high > low) row = low + (PetscInt)(at / 77777 % (uint64_t)(high - low));
    else continue;
    for (; n < length && first + n < N; n++) {
      columns[n] = first + n;
      values[n]  = FuzzNumber(at, (uint64_t)n);
    }
    PetscCall(MatSetValues(f->A, 1, &row, n, columns, values, mode));
  }
  PetscCall(MatAssemblyBegin(f->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(f->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetOwn(Fuzz *f, PetscBool last, PetscScalar value, InsertMode mode)
{
  PetscInt       low, high, N;
  const uint64_t at = FuzzNext(f);

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(f->A, NULL, &N));
  PetscCall(MatGetOwnershipRange(f->A, &low, &high));
  if (high > low) PetscCall(MatSetValue(f->A, last ? high - 1 : low, (PetscInt)(at % (uint64_t)N), value, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FlushAssembly(Fuzz *f)
{
  PetscFunctionBeginUser;
  PetscCall(SetOwn(f, PETSC_FALSE, 1.25, ADD_VALUES));
  PetscCall(MatAssemblyBegin(f->A, MAT_FLUSH_ASSEMBLY));
  PetscCall(MatAssemblyEnd(f->A, MAT_FLUSH_ASSEMBLY));
  PetscCall(SetOwn(f, PETSC_TRUE, 2.25, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(f->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(f->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Assemble(Fuzz *f)
{
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(f->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(f->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets other values for a random pattern, with new nonzeros */
static PetscErrorCode Fill(Fuzz *f) { return FuzzFill(f, f->A); }

static PetscErrorCode SetBlocked(Fuzz *f)
{
  const uint64_t seed = FuzzNext(f);
  PetscInt       bs, low, high, N;
  PetscScalar    values[9];

  PetscFunctionBeginUser;
  PetscCall(MatGetBlockSize(f->A, &bs));
  PetscCall(MatGetSize(f->A, NULL, &N));
  PetscCall(MatGetOwnershipRange(f->A, &low, &high));
  for (PetscInt k = 0; k < 3 && high > low && bs <= 3 && bs > 0 && N % bs == 0; k++) {
    const uint64_t at  = gen_hash(seed, (uint64_t)k);
    const PetscInt row = (low + (PetscInt)(at % (uint64_t)(high - low))) / bs;
    const PetscInt col = (PetscInt)(at / 1000 % (uint64_t)(N / bs));

    for (PetscInt v = 0; v < bs * bs; v++) values[v] = FuzzNumber(at, (uint64_t)v);
    PetscCall(MatSetValuesBlocked(f->A, 1, &row, 1, &col, values, ADD_VALUES));
  }
  PetscCall(Assemble(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By local numbers, which run backwards */
static PetscErrorCode SetLocal(Fuzz *f)
{
  const uint64_t         seed = FuzzNext(f);
  ISLocalToGlobalMapping rows, cols;
  PetscInt               low, high, N, *index;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(f->A, NULL, &N));
  PetscCall(MatGetOwnershipRange(f->A, &low, &high));
  PetscCall(PetscMalloc1(PetscMax(N, high - low), &index));
  for (PetscInt i = 0; i < high - low; i++) index[i] = high - 1 - i;
  PetscCall(ISLocalToGlobalMappingCreate(f->c.comm, 1, high - low, index, PETSC_COPY_VALUES, &rows));
  for (PetscInt i = 0; i < N; i++) index[i] = N - 1 - i;
  PetscCall(ISLocalToGlobalMappingCreate(f->c.comm, 1, N, index, PETSC_COPY_VALUES, &cols));
  PetscCall(PetscFree(index));
  PetscCall(MatSetLocalToGlobalMapping(f->A, rows, cols));
  for (uint64_t k = 0; k < 4 && high > low; k++) {
    const uint64_t    at  = gen_hash(seed, k);
    const PetscInt    row = (PetscInt)(at % (uint64_t)(high - low)), col = (PetscInt)(at / 1000 % (uint64_t)N);
    const PetscScalar value = FuzzNumber(at, k);

    PetscCall(MatSetValuesLocal(f->A, 1, &row, 1, &col, &value, ADD_VALUES));
  }
  PetscCall(Assemble(f));
  PetscCall(ISLocalToGlobalMappingDestroy(&rows));
  PetscCall(ISLocalToGlobalMappingDestroy(&cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalSet(Fuzz *f)
{
  const InsertMode mode = FuzzChance(f, 50) ? ADD_VALUES : INSERT_VALUES;
  Vec              d;

  PetscFunctionBeginUser;
  PetscCall(ConfCreateVecs(f->A, FuzzNext(f), NULL, &d));
  PetscCall(MatDiagonalSet(f->A, d, mode));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If a whole row is empty, MatZeroRows() of plain AIJ inserts the diagonal, which may move the arrays, and then writes
   into the old arrays (docs/notebook). So no row is left empty if a diagonal must be written. */
static PetscErrorCode ZeroSome(Fuzz *f, PetscBool columns)
{
  const PetscBool keep = FuzzChance(f, 50), with_vectors = FuzzChance(f, 60);
  const PetscReal diagonal = (PetscReal)FuzzBelow(f, 3);
  PetscInt        low, high;
  Vec             x, b;
  IS              rows;

  PetscFunctionBeginUser;
  if (diagonal != 0) PetscCall(MatShift(f->A, 0.5));
  PetscCall(MatSetOption(f->A, MAT_KEEP_NONZERO_PATTERN, keep));
  PetscCall(MatGetOwnershipRange(f->A, &low, &high));
  PetscCall(FuzzSubset(f, f->c.comm, low, high, 10, &rows));
  PetscCall(ConfCreateVecs(f->A, FuzzNext(f), &x, &b));
  if (columns) PetscCall(MatZeroRowsColumnsIS(f->A, rows, diagonal, with_vectors ? x : NULL, with_vectors ? b : NULL));
  else PetscCall(MatZeroRowsIS(f->A, rows, diagonal, with_vectors ? x : NULL, with_vectors ? b : NULL));
  PetscCall(ConfSeeVec(&f->c, "right-hand side", b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(ISDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroRows(Fuzz *f) { return ZeroSome(f, PETSC_FALSE); }
static PetscErrorCode ZeroRowsColumns(Fuzz *f) { return ZeroSome(f, PETSC_TRUE); }

static PetscErrorCode RealPart(Fuzz *f)
{
  PetscFunctionBeginUser;
  PetscCall(MatRealPart(f->A));
  PetscCall(MatConjugate(f->A));
  if (FuzzChance(f, 10)) PetscCall(MatImaginaryPart(f->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetRandom(Fuzz *f)
{
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(f->c.comm, &random));
  PetscCall(PetscRandomSetType(random, PETSCRANDER48));
  PetscCall(PetscRandomSetSeed(random, (unsigned long)(FuzzNext(f) % 1000)));
  PetscCall(PetscRandomSeed(random));
  PetscCall(MatSetRandom(f->A, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Small values become zero, or leave the pattern */
static PetscErrorCode Filter(Fuzz *f)
{
  const PetscBool compress = FuzzChance(f, 50), keep = FuzzChance(f, 50);

  PetscFunctionBeginUser;
  (void)compress;
  (void)keep;
  PetscCall(MatFilter(f->A, 1.1, compress, keep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FuzzOperation fuzz_values[] = {{"scale", Scale, 0},
                                     {"shift", Shift, FUZZ_SQUARE},
                                     {"diagonal_scale", DiagonalScale, 0},
                                     {"zero_entries", ZeroEntries, FUZZ_RARE},
                                     {"set_values", SetValues, FUZZ_NONEMPTY},
                                     {"set_flush", FlushAssembly, FUZZ_NONEMPTY},
                                     {"set_blocked", SetBlocked, FUZZ_NONEMPTY},
                                     {"set_local", SetLocal, FUZZ_NONEMPTY},
                                     {"assemble", Assemble, FUZZ_RARE},
                                     {"fill", Fill, 0},
                                     {"diagonal_set", DiagonalSet, FUZZ_SQUARE},
                                     {"zero_rows", ZeroRows, FUZZ_SQUARE},
                                     {"zero_rows_columns", ZeroRowsColumns, FUZZ_SQUARE},
                                     {"real_part", RealPart, FUZZ_RARE},
                                     {"set_random", SetRandom, 0},
                                     {"filter", Filter, FUZZ_RARE},
                                     {NULL, NULL, 0}};
