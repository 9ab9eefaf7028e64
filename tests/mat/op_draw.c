/*
  op_draw.c - random numbers, shapes and matrices, the same on every machine and for both twins
*/
#include "ops.h"

#include <cases.h>

uint64_t OpNext(Conf *c) { return gen_hash(c->seed, c->drawn++); }

PetscInt OpBelow(Conf *c, PetscInt n)
{
  const PetscInt way = c->way;

  if (way < 0) return (PetscInt)(OpNext(c) % (uint64_t)n);
  c->way /= n;
  return way % n;
}

PetscBool OpChance(Conf *c, PetscInt percent)
{
  return (c->way < 0 ? OpBelow(c, 100) < percent : OpBelow(c, 2)) ? PETSC_TRUE : PETSC_FALSE;
}

PetscReal OpFactor(Conf *c)
{
  const PetscReal factors[] = {2, 0.25, 0.5, -1};

  return c->factor != 0 ? c->factor : factors[OpBelow(c, 4)];
}

PetscReal OpNumber(uint64_t a, uint64_t b) { return ((PetscReal)(gen_hash(a, b) % 33) - 16) / 2; }

PetscInt OpSplit(Conf *c, PetscInt n, PetscInt block_size)
{
  PetscInt       blocks = n / block_size, before = 0, mine = 0, total = 0;
  const PetscInt way = c->way < 0 ? OpBelow(c, 4) : 1, lucky = way ? 0 : OpBelow(c, c->size);
  const uint64_t weights = OpNext(c);

  for (int r = 0; r < c->size; r++) total += (PetscInt)(gen_hash(weights, (uint64_t)r) % 4);
  for (int r = 0, sum = 0; r <= c->rank; r++) {
    PetscInt end;

    sum += (int)(gen_hash(weights, (uint64_t)r) % 4);
    if (way == 0) end = r < lucky ? 0 : blocks; /* one process gets all */
    else if (way == 1 || !total) end = blocks * (r + 1) / c->size;
    else end = blocks * sum / total;
    mine   = end - before;
    before = end;
  }
  return mine * block_size;
}

PetscErrorCode OpDrawShape(Conf *c, OpShape *s)
{
  const PetscInt sizes[] = {0, 1, 2, 5, 12, 13, 24, 24, 36, 40, 60, 72, 72, 96, 100, 300};

  PetscFunctionBeginUser;
  s->block_size = OpChance(c, 70) ? 1 : 2 + OpBelow(c, 2);
  s->M          = sizes[OpBelow(c, PETSC_STATIC_ARRAY_LENGTH(sizes))];
  s->N          = sizes[OpBelow(c, PETSC_STATIC_ARRAY_LENGTH(sizes))];
  s->M -= s->M % s->block_size;
  s->N -= s->N % s->block_size;
  s->m = OpSplit(c, s->M, s->block_size);
  s->n = OpSplit(c, s->N, s->block_size);
  if (OpChance(c, 70)) {
    s->N = s->M;
    s->n = s->m;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpShapeOf(Mat A, OpShape *s)
{
  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &s->M, &s->N));
  PetscCall(MatGetLocalSize(A, &s->m, &s->n));
  PetscCall(MatGetBlockSize(A, &s->block_size));
  s->block_size = PetscMax(s->block_size, 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A shape of gen.h, with some rows and columns left empty, and with or without a full diagonal */
typedef struct {
  GenSpec   spec;
  PetscInt  empty_rows, empty_cols; /* percent */
  PetscBool diagonal, halves;
  uint64_t  seed;
} Pattern;

static void DrawPattern(Conf *c, PetscInt M, PetscInt N, Pattern *p)
{
  const int64_t  lengths[]  = {0, 3, 1, 8, 2, 5};
  const int64_t  many[]     = {9, 16, 33, 64};
  const PetscInt percents[] = {0, 0, 0, 20, 60};
  PetscInt       way;

  *p = (Pattern){.seed = OpNext(c), .spec = M && N ? gen_random(M, N, 3, 1) : gen_empty(M, N), .diagonal = PETSC_TRUE};
  if (c->way >= 0) return;
  way           = OpBelow(c, 14);
  p->diagonal   = OpChance(c, 60);
  p->halves     = OpChance(c, 50);
  p->empty_rows = percents[OpBelow(c, 5)];
  p->empty_cols = percents[OpBelow(c, 5)];
  if (!M || !N || way == 0) p->spec = gen_empty(M, N);
  else if (way == 1) p->spec = M <= 40 ? gen_dense(M, N) : gen_runs(M, N, 16, 9);
  else if (way == 2) p->spec = gen_runs(M, N, 2 + OpBelow(c, 5), 1 + OpBelow(c, 9));
  else if (way == 3) p->spec = gen_lengths(M, N, 6, lengths, p->seed);
  else if (way == 4) p->spec = gen_full_row(M, N);
  else if (way == 5) p->spec = gen_full_column(M, N);
  else if (way == 6) p->spec = gen_long_rows(M, N, 2, N / 2 + 1, 7, p->seed);
  else if (way == 7) p->spec = gen_lengths(M, N, 4, many, p->seed);
  else if (way < 11) p->spec = gen_random(M, N, 1 + (double)OpBelow(c, 12), p->seed);
  else p->spec = gen_patchwork(M, N, p->seed);
}

static void PatternRow(const Pattern *p, PetscInt i, int64_t *wide, PetscInt *count, PetscInt *col, PetscScalar *value)
{
  int64_t   found    = 0;
  PetscBool diagonal = p->diagonal && i < p->spec.cols ? PETSC_TRUE : PETSC_FALSE;

  if ((PetscInt)(gen_hash(p->seed, (uint64_t)i) % 100) >= p->empty_rows) found = p->spec.row(&p->spec, i, wide);
  *count = 0;
  for (int64_t k = 0; k < found; k++) {
    if (wide[k] == i) diagonal = PETSC_FALSE;
    if (wide[k] != i && (PetscInt)(gen_hash(~p->seed, (uint64_t)wide[k]) % 100) < p->empty_cols) continue;
    col[(*count)++] = (PetscInt)wide[k];
  }
  if (diagonal) col[(*count)++] = i;
  for (PetscInt k = 0; k < *count; k++) {
    const PetscReal x = OpNumber(gen_hash(p->seed, (uint64_t)i), (uint64_t)col[k]);

    value[k] = p->halves ? x : PetscFloorReal(x);
  }
}

static PetscErrorCode InsertRows(const Pattern *p, Mat A)
{
  PetscInt     low, high, count = 0, *col;
  PetscScalar *value;
  int64_t     *wide;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(p->spec.cols + 1, &col, p->spec.cols + 1, &value, p->spec.cols + 1, &wide));
  PetscCall(MatGetOwnershipRange(A, &low, &high));
  for (PetscInt i = low; i < high; i++) {
    PatternRow(p, i, wide, &count, col, value);
    PetscCall(MatSetValues(A, 1, &i, count, col, value, INSERT_VALUES));
  }
  PetscCall(PetscFree3(col, value, wide));
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpAllowNewNonzeros(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Generous, too small, or no preallocation. Without preallocation, PETSc 3.19 and later insert into a hash table. */
static PetscErrorCode Preallocate(Conf *c, const OpShape *s, Mat A)
{
  const PetscInt way = c->way < 0 ? OpBelow(c, 3) : 0;

  PetscFunctionBeginUser;
  if (way == 0) PetscCall(MatSetUp(A));
  else {
    PetscCall(MatSeqAIJSetPreallocation(A, way == 1 ? s->N : 2, NULL));
    PetscCall(MatMPIAIJSetPreallocation(A, way == 1 ? s->n : 2, NULL, way == 1 ? s->N - s->n : 1, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpCreate(Conf *c, const OpShape *s, MatType type, Mat *A)
{
  Pattern p;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(c->comm, A));
  PetscCall(MatSetSizes(*A, s->m, s->n, s->M, s->N));
  if (s->block_size > 1) PetscCall(MatSetBlockSize(*A, s->block_size));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(Preallocate(c, s, *A));
  PetscCall(OpAllowNewNonzeros(*A));
  DrawPattern(c, s->M, s->N, &p);
  PetscCall(InsertRows(&p, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpFill(Conf *c, Mat A)
{
  OpShape s;
  Pattern p;

  PetscFunctionBeginUser;
  PetscCall(OpShapeOf(A, &s));
  PetscCall(OpAllowNewNonzeros(A));
  DrawPattern(c, s.M, s.N, &p);
  PetscCall(InsertRows(&p, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpSubset(Conf *c, MPI_Comm comm, PetscInt low, PetscInt high, PetscInt percent, IS *is)
{
  const uint64_t seed  = OpNext(c);
  PetscInt       count = 0, *index;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(high - low, &index));
  for (PetscInt i = low; i < high; i++)
    if ((PetscInt)(gen_hash(seed, (uint64_t)i) % 100) < percent) index[count++] = i;
  PetscCall(ISCreateGeneral(comm, count, index, PETSC_COPY_VALUES, is));
  PetscCall(PetscFree(index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpDominant(Conf *c, PetscBool symmetric, Mat *B)
{
  Mat       T;
  PetscReal norm;

  PetscFunctionBeginUser;
  if (c->alone) {
    *B = c->A;
    PetscCall(PetscObjectReference((PetscObject)*B));
    PetscCall(MatShift(*B, 100)); /* so that no diagonal entry is zero after any change */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatDuplicate(c->A, MAT_COPY_VALUES, B));
  PetscCall(OpAllowNewNonzeros(*B));
  if (symmetric) {
    PetscCall(MatTranspose(*B, MAT_INITIAL_MATRIX, &T));
    PetscCall(MatAXPY(*B, 1, T, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&T));
    PetscCall(OpAllowNewNonzeros(*B));
  }
  PetscCall(MatNorm(*B, NORM_FROBENIUS, &norm));
  PetscCall(MatShift(*B, PetscCeilReal(4 * norm) + 1));
  if (symmetric) PetscCall(MatSetOption(*B, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpOther(Conf *c)
{
  PetscFunctionBeginUser;
  if (c->other) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDuplicate(c->A, MAT_COPY_VALUES, &c->other));
  PetscCall(MatScale(c->other, 0.5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpDrawType(Conf *c, char type[CONF_TYPE_MAX], PetscBool *own)
{
  const PetscInt way = OpBelow(c, 3), other = c->way < 0 ? OpBelow(c, spmv_format_count() + 1) : 0;

  PetscFunctionBeginUser;
  if (own) *own = way == 2 ? PETSC_TRUE : PETSC_FALSE;
  if (way == 0) PetscCall(PetscStrncpy(type, c->base, CONF_TYPE_MAX));
  else if (way == 1 && c->format[0] && !c->blocks_only) /* or MatTranspose() takes their entries */
    PetscCall(PetscSNPrintf(type, CONF_TYPE_MAX, "%s%s", c->base, ConfFormat((int)other)));
  else PetscCall(PetscStrncpy(type, c->type, CONF_TYPE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpBlocks(Mat A, Mat block[3])
{
  PetscBool parallel;

  PetscFunctionBeginUser;
  block[0] = A;
  block[1] = block[2] = NULL;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpPreallocateCoordinates(Conf *c, Mat A)
{
  PetscInt    *col, found, last = PetscMin(c->row_start + c->m + 1, c->M), *rows, *cols;
  PetscScalar *value;
  int64_t     *wide;
  PetscCount   n = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(c->N, &col, c->N, &value, c->N, &wide));
  for (PetscInt i = c->row_start; i < last; i++) {
    ConfRow(c, i, 0, wide, &found, col, value);
    n += 2 * found;
  }
  PetscCall(PetscMalloc2(n, &rows, n, &cols));
  n = 0;
  for (PetscInt i = c->row_start; i < last; i++) {
    ConfRow(c, i, 0, wide, &found, col, value);
    for (PetscInt k = 0; k < 2 * found; k++, n++) {
      rows[n] = k >= found && k % 5 == 0 ? -1 : i;
      cols[n] = col[k % found];
    }
  }
  c->coordinates = n;
  PetscCall(MatSetPreallocationCOO(A, n, rows, cols));
  PetscCall(PetscFree2(rows, cols));
  PetscCall(PetscFree3(col, value, wide));
  PetscFunctionReturn(PETSC_SUCCESS);
}
