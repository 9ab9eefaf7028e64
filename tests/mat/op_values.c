/*
  op_values.c - operations that change the values of a matrix, or add some nonzeros
*/
#include "ops.h"

static PetscErrorCode Scale(Conf *c) { return MatScale(c->A, OpChance(c, 5) ? 0 : OpFactor(c)); }
static PetscErrorCode Shift(Conf *c) { return MatShift(c->A, 1.5 * OpFactor(c)); }

enum { LEFT = 1, RIGHT = 2, ON_HOST = 4 };

/* By vectors of the matrix, which may make CUDA vectors, or by host vectors */
static PetscErrorCode DiagonalScale(Conf *c)
{
  const uint64_t seed  = OpNext(c);
  const int      sides = c->operation->how;
  Vec            x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(c->A, &x, &y));
  if (sides & ON_HOST) {
    PetscCall(VecSetType(x, VECSTANDARD));
    PetscCall(VecSetType(y, VECSTANDARD));
  }
  PetscCall(ConfSetVec(x, seed));
  PetscCall(ConfSetVec(y, seed + 1));
  PetscCall(MatDiagonalScale(c->A, sides & LEFT ? y : NULL, sides & RIGHT ? x : NULL));
  PetscCall(TestDestroyVecs(&x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroEntries(Conf *c) { return MatZeroEntries(c->A); }

/* Other values, in the same pattern if the matrix is one of the catalogue */
static PetscErrorCode SetAll(Conf *c) { return c->spec.row ? ConfSetValues(c, c->A, OpNext(c)) : OpFill(c, c->A); }

/* Sets other values for a random pattern, with new nonzeros */
static PetscErrorCode Fill(Conf *c) { return OpFill(c, c->A); }

/* Adds to the diagonal in rows of this process, and in the first row of the next one */
static PetscErrorCode AddValues(Conf *c)
{
  PetscInt low, high, M, N;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(c->A, &M, &N));
  PetscCall(MatGetOwnershipRange(c->A, &low, &high));
  for (PetscInt i = low; low < high && i <= high; i++)
    PetscCall(MatSetValue(c->A, i % M, i % M % N, i % 2 ? 4 : 8, ADD_VALUES));
  PetscCall(TestAssemble(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets a few short runs of columns. Rows of other processes are used only with ADD_VALUES, whose result does not depend
   on the order. */
static PetscErrorCode SetValues(Conf *c)
{
  const PetscInt   count = 1 + OpBelow(c, 6);
  const InsertMode mode  = OpChance(c, 60) ? ADD_VALUES : INSERT_VALUES;
  const uint64_t   seed  = gen_hash(OpNext(c), (uint64_t)c->rank);
  PetscInt         low, high, M, N, columns[6];
  PetscScalar      values[6];

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(c->A, &M, &N));
  PetscCall(MatGetOwnershipRange(c->A, &low, &high));
  for (uint64_t k = 0; k < (uint64_t)count; k++) {
    const uint64_t at    = gen_hash(seed, k);
    const PetscInt first = (PetscInt)(at / 7 % (uint64_t)N), length = 1 + (PetscInt)(at % 6);
    PetscInt       row, n                                           = 0;

    if (mode == ADD_VALUES) row = (PetscInt)(at / 77777 % (uint64_t)M);
    else if (high > low) row = low + (PetscInt)(at / 77777 % (uint64_t)(high - low));
    else continue;
    for (; n < length && first + n < N; n++) {
      columns[n] = first + n;
      values[n]  = OpNumber(at, (uint64_t)n);
    }
    PetscCall(MatSetValues(c->A, 1, &row, n, columns, values, mode));
  }
  PetscCall(TestAssemble(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetOwn(Conf *c, PetscBool last, PetscScalar value, InsertMode mode)
{
  PetscInt       low, high, N;
  const uint64_t at = OpNext(c);

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(c->A, NULL, &N));
  PetscCall(MatGetOwnershipRange(c->A, &low, &high));
  if (high > low) PetscCall(MatSetValue(c->A, last ? high - 1 : low, (PetscInt)(at % (uint64_t)N), value, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FlushAssembly(Conf *c)
{
  PetscFunctionBeginUser;
  PetscCall(SetOwn(c, PETSC_FALSE, 1.25, ADD_VALUES));
  PetscCall(MatAssemblyBegin(c->A, MAT_FLUSH_ASSEMBLY));
  PetscCall(MatAssemblyEnd(c->A, MAT_FLUSH_ASSEMBLY));
  PetscCall(SetOwn(c, PETSC_TRUE, 2.25, INSERT_VALUES));
  PetscCall(TestAssemble(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Assemble(Conf *c) { return TestAssemble(c->A); }

static PetscErrorCode SetBlocked(Conf *c)
{
  const uint64_t seed = OpNext(c);
  PetscInt       bs, low, high, N;
  PetscScalar    values[9];

  PetscFunctionBeginUser;
  PetscCall(MatGetBlockSize(c->A, &bs));
  PetscCall(MatGetSize(c->A, NULL, &N));
  PetscCall(MatGetOwnershipRange(c->A, &low, &high));
  for (PetscInt k = 0; k < 3 && high > low && bs <= 3 && bs > 0 && N % bs == 0; k++) {
    const uint64_t at  = gen_hash(seed, (uint64_t)k);
    const PetscInt row = (low + (PetscInt)(at % (uint64_t)(high - low))) / bs;
    const PetscInt col = (PetscInt)(at / 1000 % (uint64_t)(N / bs));

    for (PetscInt v = 0; v < bs * bs; v++) values[v] = OpNumber(at, (uint64_t)v);
    PetscCall(MatSetValuesBlocked(c->A, 1, &row, 1, &col, values, ADD_VALUES));
  }
  PetscCall(TestAssemble(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By local numbers, which run backwards */
static PetscErrorCode SetLocal(Conf *c)
{
  const uint64_t         seed = OpNext(c);
  ISLocalToGlobalMapping rows, cols;
  PetscInt               low, high, N, *index;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(c->A, NULL, &N));
  PetscCall(MatGetOwnershipRange(c->A, &low, &high));
  PetscCall(PetscMalloc1(PetscMax(N, high - low), &index));
  for (PetscInt i = 0; i < high - low; i++) index[i] = high - 1 - i;
  PetscCall(ISLocalToGlobalMappingCreate(c->comm, 1, high - low, index, PETSC_COPY_VALUES, &rows));
  for (PetscInt i = 0; i < N; i++) index[i] = N - 1 - i;
  PetscCall(ISLocalToGlobalMappingCreate(c->comm, 1, N, index, PETSC_COPY_VALUES, &cols));
  PetscCall(PetscFree(index));
  PetscCall(MatSetLocalToGlobalMapping(c->A, rows, cols));
  for (uint64_t k = 0; k < 4 && high > low; k++) {
    const uint64_t    at  = gen_hash(seed, k);
    const PetscInt    row = (PetscInt)(at % (uint64_t)(high - low)), col = (PetscInt)(at / 1000 % (uint64_t)N);
    const PetscScalar value = OpNumber(at, k);

    PetscCall(MatSetValuesLocal(c->A, 1, &row, 1, &col, &value, ADD_VALUES));
  }
  PetscCall(TestAssemble(c->A));
  PetscCall(ISLocalToGlobalMappingDestroy(&rows));
  PetscCall(ISLocalToGlobalMappingDestroy(&cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalSet(Conf *c)
{
  Vec d;

  PetscFunctionBeginUser;
  PetscCall(ConfCreateVecs(c->A, OpNext(c), NULL, &d));
  PetscCall(MatDiagonalSet(c->A, d, (InsertMode)c->operation->how));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If a whole row is empty, MatZeroRows() of plain AIJ inserts the diagonal, which may move the arrays, and then writes
   into the old arrays (docs/notebook). So no row is left empty if a diagonal must be written. */
static PetscErrorCode ZeroSome(Conf *c)
{
  const PetscReal diagonals[]  = {2, 0, 1};
  const PetscBool with_vectors = OpChance(c, 60), keep = OpChance(c, 50), columns = (PetscBool)c->operation->how;
  const PetscReal diagonal = diagonals[OpBelow(c, 3)];
  PetscInt        low, high;
  Vec             x, b;
  IS              rows;

  PetscFunctionBeginUser;
  if (diagonal != 0 && !c->alone) PetscCall(MatShift(c->A, 0.5));
  if (!c->alone) PetscCall(MatSetOption(c->A, MAT_KEEP_NONZERO_PATTERN, keep));
  PetscCall(MatGetOwnershipRange(c->A, &low, &high));
  PetscCall(OpSubset(c, PetscObjectComm((PetscObject)c->A), low, high, 10, &rows));
  PetscCall(ConfCreateVecs(c->A, OpNext(c), &x, &b));
  PetscCall((columns ? MatZeroRowsColumnsIS : MatZeroRowsIS)(c->A, rows, diagonal, with_vectors ? x : NULL,
                                                             with_vectors ? b : NULL));
  PetscCall(ConfSeeVec(c, "right-hand side", b));
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(ISDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RealPart(Conf *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatRealPart(c->A));
  if (OpChance(c, 10)) PetscCall(MatImaginaryPart(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetRandom(Conf *c)
{
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(c->comm, &random));
  PetscCall(PetscRandomSetType(random, PETSCRANDER48));
  PetscCall(PetscRandomSetSeed(random, (unsigned long)(OpNext(c) % 1000)));
  PetscCall(PetscRandomSeed(random));
  PetscCall(MatSetRandom(c->A, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Small values become zero, or leave the pattern */
static PetscErrorCode Filter(Conf *c)
{
  const PetscBool compress = OpChance(c, 50), keep = OpChance(c, 50);

  PetscFunctionBeginUser;
  (void)compress;
  (void)keep;
  PetscCall(MatFilter(c->A, 1.1, compress, keep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Conjugate(Conf *c) { return MatConjugate(c->A); }

enum { CHANGE = OP_CHANGES | OP_CONTAINERS };

const ConfOperation op_values[] = {
    {"scale", Scale, CHANGE, .ways = 2, .needs = MATOP_SCALE},
    {"shift", Shift, CHANGE | OP_SQUARE, .ways = 2, .needs = MATOP_SHIFT},
    {"scale_left", DiagonalScale, OP_CONTAINERS, .how = LEFT, .needs = MATOP_DIAGONAL_SCALE},
    {"scale_right", DiagonalScale, OP_CONTAINERS, .how = RIGHT, .needs = MATOP_DIAGONAL_SCALE},
    {"diagonal_scale", DiagonalScale, CHANGE, .how = LEFT | RIGHT, .needs = MATOP_DIAGONAL_SCALE},
    {"scale_by_host_vectors", DiagonalScale, 0, .how = LEFT | RIGHT | ON_HOST},
    {"zero_entries", ZeroEntries, CHANGE | OP_RARE, .needs = MATOP_ZERO_ENTRIES},
    {"diagonal_add", DiagonalSet, CHANGE | OP_SQUARE, .how = ADD_VALUES, .needs = MATOP_DIAGONAL_SET},
    {"diagonal_insert", DiagonalSet, CHANGE | OP_SQUARE, .how = INSERT_VALUES, .needs = MATOP_DIAGONAL_SET},
    {"set_all", SetAll, OP_CHANGES, .ways = 3},
    {"add_values", AddValues, CHANGE | OP_NONEMPTY, .needs = MATOP_SET_VALUES},
    {"set_values", SetValues, OP_NONEMPTY, .ways = 2},
    {"set_flush", FlushAssembly, OP_NONEMPTY, .ways = 1},
    {"set_blocked", SetBlocked, OP_NONEMPTY, .ways = 1},
    {"set_local", SetLocal, OP_NONEMPTY, .ways = 1},
    {"assemble", Assemble, OP_RARE, .ways = 1},
    {"fill", Fill, 0, .ways = 1},
    {"zero_rows", ZeroSome, OP_CONTAINERS | OP_SQUARE, .ways = 6, .how = PETSC_FALSE, .needs = MATOP_ZERO_ROWS},
    {"zero_rows_columns", ZeroSome, OP_CONTAINERS | OP_SQUARE, .ways = 6, .how = PETSC_TRUE,
     .needs = MATOP_ZERO_ROWS_COLUMNS},
    {"real_part", RealPart, OP_RARE, .ways = 1},
    {"conjugate", Conjugate, OP_CONTAINERS | OP_RARE, .needs = MATOP_CONJUGATE},
    {"set_random", SetRandom, 0, .ways = 1},
    {"filter", Filter, OP_RARE, .ways = 1},
    {.name = NULL}};
