/*
  draw.c - random numbers, shapes and matrices, the same on every machine and for both twins
*/
#include "fuzz.h"

#include <cases.h>

uint64_t FuzzNext(Fuzz *f) { return gen_hash(f->draw.seed, f->draw.count++); }

PetscInt FuzzBelow(Fuzz *f, PetscInt n) { return (PetscInt)(FuzzNext(f) % (uint64_t)n); }

PetscBool FuzzChance(Fuzz *f, PetscInt percent) { return FuzzBelow(f, 100) < percent ? PETSC_TRUE : PETSC_FALSE; }

PetscReal FuzzFactor(Fuzz *f)
{
  const PetscReal factors[] = {0.25, 0.5, -1, 2};

  return factors[FuzzBelow(f, 4)];
}

PetscReal FuzzNumber(uint64_t a, uint64_t b) { return ((PetscReal)(gen_hash(a, b) % 33) - 16) / 2; }

PetscInt FuzzSplit(Fuzz *f, PetscInt n, PetscInt block_size)
{
  PetscInt       blocks = n / block_size, before = 0, mine = 0, total = 0;
  const PetscInt way = FuzzBelow(f, 4), lucky = FuzzBelow(f, f->c.size);
  const uint64_t weights = FuzzNext(f);

  for (int r = 0; r < f->c.size; r++) total += (PetscInt)(gen_hash(weights, (uint64_t)r) % 4);
  for (int r = 0, sum = 0; r <= f->c.rank; r++) {
    PetscInt end;

    sum += (int)(gen_hash(weights, (uint64_t)r) % 4);
    if (way == 0) end = r < lucky ? 0 : blocks; /* one process gets all */
    else if (way == 1 || !total) end = blocks * (r + 1) / f->c.size;
    else end = blocks * sum / total;
    mine   = end - before;
    before = end;
  }
  return mine * block_size;
}

PetscErrorCode FuzzDrawShape(Fuzz *f, FuzzShape *s)
{
  const PetscInt sizes[] = {0, 1, 2, 5, 12, 13, 24, 24, 36, 40, 60, 72, 72, 96, 100, 300};

  PetscFunctionBeginUser;
  s->block_size = FuzzChance(f, 70) ? 1 : 2 + FuzzBelow(f, 2);
  s->M          = sizes[FuzzBelow(f, PETSC_STATIC_ARRAY_LENGTH(sizes))];
  s->N          = sizes[FuzzBelow(f, PETSC_STATIC_ARRAY_LENGTH(sizes))];
  s->M -= s->M % s->block_size;
  s->N -= s->N % s->block_size;
  s->m = FuzzSplit(f, s->M, s->block_size);
  s->n = FuzzSplit(f, s->N, s->block_size);
  if (FuzzChance(f, 70)) {
    s->N = s->M;
    s->n = s->m;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzShapeOf(Mat A, FuzzShape *s)
{
  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &s->M, &s->N));
  PetscCall(MatGetLocalSize(A, &s->m, &s->n));
  PetscCall(MatGetBlockSize(A, &s->block_size));
  s->block_size = PetscMax(s->block_size, 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzIsSquare(Mat A, PetscBool *square)
{
  PetscFunctionBeginUser;
  PetscCall(MatHasCongruentLayouts(A, square));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A shape of gen.h, with some rows and columns left empty, and with or without a full diagonal */
typedef struct {
  GenSpec   spec;
  PetscInt  empty_rows, empty_cols; /* percent */
  PetscBool diagonal, halves;
  uint64_t  seed;
} Pattern;

static void DrawPattern(Fuzz *f, PetscInt M, PetscInt N, Pattern *p)
{
  const int64_t  lengths[]  = {0, 3, 1, 8, 2, 5};
  const int64_t  many[]     = {9, 16, 33, 64};
  const PetscInt way        = FuzzBelow(f, 14);
  const PetscInt percents[] = {0, 0, 0, 20, 60};

  p->seed       = FuzzNext(f);
  p->diagonal   = FuzzChance(f, 60);
  p->halves     = FuzzChance(f, 50);
  p->empty_rows = percents[FuzzBelow(f, 5)];
  p->empty_cols = percents[FuzzBelow(f, 5)];
  if (!M || !N || way == 0) p->spec = gen_empty(M, N);
  else if (way == 1) p->spec = M <= 40 ? gen_dense(M, N) : gen_runs(M, N, 16, 9);
  else if (way == 2) p->spec = gen_runs(M, N, 2 + FuzzBelow(f, 5), 1 + FuzzBelow(f, 9));
  else if (way == 3) p->spec = gen_lengths(M, N, 6, lengths, p->seed);
  else if (way == 4) p->spec = gen_full_row(M, N);
  else if (way == 5) p->spec = gen_full_column(M, N);
  else if (way == 6) p->spec = gen_long_rows(M, N, 2, N / 2 + 1, 7, p->seed);
  else if (way == 7) p->spec = gen_lengths(M, N, 4, many, p->seed);
  else if (way < 11) p->spec = gen_random(M, N, 1 + (double)FuzzBelow(f, 12), p->seed);
  else p->spec = gen_patchwork(M, N, p->seed);
}

static PetscErrorCode PatternRow(const Pattern *p, PetscInt i, PetscInt *count, PetscInt *col, PetscScalar *value)
{
  int64_t  *wide, found = 0;
  PetscBool diagonal = p->diagonal && i < p->spec.cols ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(p->spec.cols + 1, &wide));
  if ((PetscInt)(gen_hash(p->seed, (uint64_t)i) % 100) >= p->empty_rows) found = p->spec.row(&p->spec, i, wide);
  *count = 0;
  for (int64_t k = 0; k < found; k++) {
    if (wide[k] == i) diagonal = PETSC_FALSE;
    if (wide[k] != i && (PetscInt)(gen_hash(~p->seed, (uint64_t)wide[k]) % 100) < p->empty_cols) continue;
    col[(*count)++] = (PetscInt)wide[k];
  }
  if (diagonal) col[(*count)++] = i;
  for (PetscInt k = 0; k < *count; k++) {
    const PetscReal x = FuzzNumber(gen_hash(p->seed, (uint64_t)i), (uint64_t)col[k]);

    value[k] = p->halves ? x : PetscFloorReal(x);
  }
  PetscCall(PetscFree(wide));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InsertRows(const Pattern *p, Mat A)
{
  PetscInt     low, high, count = 0, *col;
  PetscScalar *value;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(p->spec.cols + 1, &col, p->spec.cols + 1, &value));
  PetscCall(MatGetOwnershipRange(A, &low, &high));
  for (PetscInt i = low; i < high; i++) {
    PetscCall(PatternRow(p, i, &count, col, value));
    PetscCall(MatSetValues(A, 1, &i, count, col, value, INSERT_VALUES));
  }
  PetscCall(PetscFree2(col, value));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzAllowNewNonzeros(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Generous, too small, or no preallocation. Without preallocation, PETSc 3.19 and later insert into a hash table. */
static PetscErrorCode Preallocate(Fuzz *f, const FuzzShape *s, Mat A)
{
  const PetscInt way = FuzzBelow(f, 3);

  PetscFunctionBeginUser;
  if (way == 0) PetscCall(MatSetUp(A));
  else {
    PetscCall(MatSeqAIJSetPreallocation(A, way == 1 ? s->N : 2, NULL));
    PetscCall(MatMPIAIJSetPreallocation(A, way == 1 ? s->n : 2, NULL, way == 1 ? s->N - s->n : 1, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzCreate(Fuzz *f, const FuzzShape *s, MatType type, Mat *A)
{
  Pattern p;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(f->c.comm, A));
  PetscCall(MatSetSizes(*A, s->m, s->n, s->M, s->N));
  if (s->block_size > 1) PetscCall(MatSetBlockSize(*A, s->block_size));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(Preallocate(f, s, *A));
  PetscCall(FuzzAllowNewNonzeros(*A));
  DrawPattern(f, s->M, s->N, &p);
  PetscCall(InsertRows(&p, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzFill(Fuzz *f, Mat A)
{
  FuzzShape s;
  Pattern   p;

  PetscFunctionBeginUser;
  PetscCall(FuzzShapeOf(A, &s));
  PetscCall(FuzzAllowNewNonzeros(A));
  DrawPattern(f, s.M, s.N, &p);
  PetscCall(InsertRows(&p, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzSubset(Fuzz *f, MPI_Comm comm, PetscInt low, PetscInt high, PetscInt percent, IS *is)
{
  const uint64_t seed  = FuzzNext(f);
  PetscInt       count = 0, *index;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(high - low, &index));
  for (PetscInt i = low; i < high; i++)
    if ((PetscInt)(gen_hash(seed, (uint64_t)i) % 100) < percent) index[count++] = i;
  PetscCall(ISCreateGeneral(comm, count, index, PETSC_COPY_VALUES, is));
  PetscCall(PetscFree(index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzDominant(Fuzz *f, PetscBool symmetric, Mat *B)
{
  Mat       T;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(f->A, MAT_COPY_VALUES, B));
  PetscCall(FuzzAllowNewNonzeros(*B));
  if (symmetric) {
    PetscCall(MatTranspose(*B, MAT_INITIAL_MATRIX, &T));
    PetscCall(MatAXPY(*B, 1, T, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&T));
    PetscCall(FuzzAllowNewNonzeros(*B));
  }
  PetscCall(MatNorm(*B, NORM_FROBENIUS, &norm));
  PetscCall(MatShift(*B, PetscCeilReal(4 * norm) + 1));
  if (symmetric) PetscCall(MatSetOption(*B, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzDrawType(Fuzz *f, char type[CONF_TYPE_MAX], PetscBool *own)
{
  const PetscInt way = FuzzBelow(f, 3), other = FuzzBelow(f, spmv_format_count() + 1);

  PetscFunctionBeginUser;
  if (own) *own = way == 2 ? PETSC_TRUE : PETSC_FALSE;
  if (way == 0) PetscCall(PetscStrncpy(type, f->c.base, CONF_TYPE_MAX));
  else if (way == 1 && f->now == &f->twin[FUZZ_TESTED] && !f->c.blocks_only) /* or MatTranspose() takes their entries */
    PetscCall(PetscSNPrintf(type, CONF_TYPE_MAX, "aij%s", ConfFormat((int)other)));
  else PetscCall(PetscStrncpy(type, f->type, CONF_TYPE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzSeeReals(Fuzz *f, const char *what, PetscInt n, const PetscReal *value)
{
  PetscFunctionBeginUser;
  PetscCall(ConfSeeReal(&f->c, what, (PetscReal)n));
  for (PetscInt i = 0; i < n; i++) PetscCall(ConfSeeReal(&f->c, what, value[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzSeeIS(Fuzz *f, const char *what, IS is)
{
  const PetscInt *index;
  PetscInt        n;

  PetscFunctionBeginUser;
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(is, &index));
  PetscCall(ConfSeeReal(&f->c, what, (PetscReal)n));
  for (PetscInt i = 0; i < n; i++) PetscCall(ConfSeeReal(&f->c, what, (PetscReal)index[i]));
  PetscCall(ISRestoreIndices(is, &index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzKeep(Fuzz *f, Mat B)
{
  FuzzTwin *t = f->now;

  PetscFunctionBeginUser;
  if (t->kept_count == FUZZ_KEPT_MAX) PetscCall(MatDestroy(&t->kept[--t->kept_count]));
  t->kept[t->kept_count++] = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzReplace(Fuzz *f, Mat B)
{
  PetscFunctionBeginUser;
  PetscCall(FuzzKeep(f, f->A));
  f->A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
