/*
  conf.c - matrices and vectors for the operations of the conformance test
*/
#include "conf.h"
#include <spmv_kernels.h>

enum { VALUE_SEED = 7 };

/* Number of rows of this process; with FIRST_EMPTY, process 0 has none */
static PetscInt LocalSize(const Conf *c, PetscInt global, ConfLayout layout)
{
  PetscInt share = c->size, index = c->rank;

  if (layout == CONF_FIRST_EMPTY && c->size > 1) {
    if (!c->rank) return 0;
    share--;
    index--;
  }
  return global / share + (index < global % share);
}

const char *ConfFormat(int f)
{
  return f < spmv_format_count() ? spmv_format_get(f)->name : f == spmv_format_count() ? "auto" : NULL;
}

PetscBool ConfIsOurs(const char *format)
{
  int f = 0;

  while (ConfFormat(f) && strcmp(ConfFormat(f), format)) f++;
  return ConfFormat(f) ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode ConfSetUp(Conf *c, const GenSpec *spec, ConfLayout layout)
{
  PetscInt ends[2], sizes[2];

  PetscFunctionBeginUser;
  c->spec  = *spec;
  c->M     = (PetscInt)spec->rows;
  c->N     = (PetscInt)spec->cols;
  sizes[0] = c->m = LocalSize(c, c->M, layout);
  sizes[1] = c->n = LocalSize(c, c->N, layout);
  PetscCallMPI(MPI_Scan(sizes, ends, 2, MPIU_INT, MPI_SUM, c->comm));
  c->row_start = ends[0] - c->m;
  c->col_start = ends[1] - c->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfName(const Conf *c, const char *base, char *text)
{
  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(text, CONF_TYPE_MAX, "%s%s", base, c->format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfCreateEmpty(Conf *c, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(c->comm, A));
  PetscCall(MatSetSizes(*A, c->m, c->n, c->M, c->N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfRow(Conf *c, PetscInt i, uint64_t seed, PetscInt *count, PetscInt *col, PetscScalar *value)
{
  int64_t *wide, found;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(c->N, &wide));
  found = c->spec.row(&c->spec, i, wide);
  gen_values(GEN_EXACT, gen_hash(seed, (uint64_t)i), c->spec.zero_percent,
             sizeof(PetscReal) == sizeof(float) ? SPMV_F32 : SPMV_F64, found, value);
  for (int64_t k = 0; k < found; k++) col[k] = (PetscInt)wide[k];
  *count = (PetscInt)found;
  PetscCall(PetscFree(wide));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfSetValues(Conf *c, Mat A, uint64_t seed)
{
  PetscInt    *col, count;
  PetscScalar *value;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(c->N, &col, c->N, &value));
  for (PetscInt i = c->row_start; i < c->row_start + c->m; i++) {
    PetscCall(ConfRow(c, i, seed, &count, col, value));
    PetscCall(MatSetValues(A, 1, &i, count, col, value, INSERT_VALUES));
  }
  PetscCall(PetscFree2(col, value));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exact preallocation of the diagonal and the off-diagonal block */
static PetscErrorCode Preallocate(Conf *c, Mat A)
{
  PetscInt    *diagonal, *other, *col, count;
  PetscScalar *value;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc2(c->m, &diagonal, c->m, &other));
  PetscCall(PetscMalloc2(c->N, &col, c->N, &value));
  for (PetscInt i = 0; i < c->m; i++) {
    PetscCall(ConfRow(c, c->row_start + i, VALUE_SEED, &count, col, value));
    for (PetscInt k = 0; k < count; k++) {
      if (col[k] >= c->col_start && col[k] < c->col_start + c->n) diagonal[i]++;
      else other[i]++;
    }
  }
  PetscCall(PetscFree2(col, value));
  PetscCall(MatSeqAIJSetPreallocation(A, 0, diagonal));
  PetscCall(MatMPIAIJSetPreallocation(A, 0, diagonal, 0, other));
  PetscCall(PetscFree2(diagonal, other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateOfType(Conf *c, MatType type, Mat *A)
{
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(ConfCreateEmpty(c, A));
  PetscCall(MatSetType(*A, type));
  PetscCall(Preallocate(c, *A));
  PetscCall(ConfSetValues(c, *A, VALUE_SEED));
  PetscCall(ConfCreateVecs(*A, 1, &x, &y));
  PetscCall(MatMult(*A, x, y));
  PetscCall(MatMultTranspose(*A, y, x));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfCreate(Conf *c, Mat *A)
{
  char type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(ConfName(c, c->base, type));
  PetscCall(CreateOfType(c, type, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfCreatePlain(Conf *c, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(CreateOfType(c, c->base, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfSetVec(Vec x, uint64_t seed)
{
  PetscInt     low, high;
  PetscScalar *value;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &low, &high));
  PetscCall(VecGetArrayWrite(x, &value));
  for (PetscInt i = low; i < high; i++) value[i - low] = (PetscReal)(gen_hash(seed, (uint64_t)i) % 17) - 8;
  PetscCall(VecRestoreArrayWrite(x, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfCreateVecs(Mat A, uint64_t seed, Vec *x, Vec *y)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, x, y));
  if (x) PetscCall(ConfSetVec(*x, seed));
  if (y) PetscCall(ConfSetVec(*y, seed + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfMultiply(Mat A)
{
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(ConfCreateVecs(A, 1, &x, &y));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
