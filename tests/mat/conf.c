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

/* ---- plain AIJ under test ---- */

/* The options that make plain AIJ ours, as the user has set them: a list of types, and a type; "" for none */
static struct {
  PetscBool read;
  char      replaced[CONF_TYPE_MAX], seqaij_type[CONF_TYPE_MAX];
  void (*duplicate[2])(void); /* PETSc's operation of plain sequential and parallel matrices */
} by_option;

PetscErrorCode ConfByOption(const char **format)
{
  PetscBool aij;

  PetscFunctionBeginUser;
  if (!by_option.read) {
    PetscCall(PetscOptionsGetString(NULL, NULL, "-petscpack_replace", by_option.replaced, CONF_TYPE_MAX, NULL));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_seqaij_type", by_option.seqaij_type, CONF_TYPE_MAX, NULL));
    by_option.read = PETSC_TRUE;
  }
  PetscCall(PetscStrbeginswith(by_option.replaced, MATAIJ, &aij));
  *format = aij ? "auto" : by_option.seqaij_type[0] ? by_option.seqaij_type + strlen(MATSEQAIJ) : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lets the options have their effect, or not */
static PetscErrorCode ByOptionSet(PetscBool on)
{
  char **type;
  int    count;

  PetscFunctionBeginUser;
  PetscCall(PetscStrToArray(by_option.replaced, ',', &count, &type));
  for (int t = 0; t < count; t++) PetscCall(PetscPackReplaceType(type[t], on));
  PetscCall(PetscStrToArrayDestroy(count, type));
  if (!by_option.seqaij_type[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (on) PetscCall(PetscOptionsSetValue(NULL, "-mat_seqaij_type", by_option.seqaij_type));
  else PetscCall(PetscOptionsClearValue(NULL, "-mat_seqaij_type"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Notes an operation of plain matrices; the options must be without effect */
static PetscErrorCode SeePlain(void)
{
  const char *bases[] = {MATSEQAIJ, MATMPIAIJ};

  PetscFunctionBeginUser;
  for (int b = 0; b < 2; b++) {
    Mat plain;

    PetscCall(MatCreate(PETSC_COMM_SELF, &plain));
    PetscCall(MatSetType(plain, bases[b]));
    PetscCall(MatGetOperation(plain, MATOP_DUPLICATE, &by_option.duplicate[b]));
    PetscCall(MatDestroy(&plain));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfTurn(Conf *c, const char *format)
{
  const char *under_test;

  PetscFunctionBeginUser;
  PetscCall(ConfByOption(&under_test));
  c->format = format;
  c->suffix = under_test ? "" : format;
  PetscCall(ConfName(c, c->base, c->type));
  c->blocks_only = by_option.seqaij_type[0] ? PETSC_TRUE : PETSC_FALSE;
  if (under_test && !by_option.duplicate[0]) {
    PetscCall(ByOptionSet(PETSC_FALSE));
    PetscCall(SeePlain());
  }
  if (under_test) PetscCall(ByOptionSet(format[0] ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether A, of a plain type, is ours: it and its blocks have operations of ours, or its blocks are of our type. PETSc takes ours from a matrix
   that it converts to a subclass and back. */
static PetscErrorCode IsOursByOption(Mat A, PetscBool parallel, PetscBool *is)
{
  void (*duplicate)(void);
  Mat block = A;

  PetscFunctionBeginUser;
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
  if (by_option.seqaij_type[0]) {
    PetscCall(PetscObjectTypeCompare((PetscObject)block, by_option.seqaij_type, is));
  } else {
    PetscCall(MatGetOperation(block, MATOP_DUPLICATE, &duplicate));
    *is = duplicate != by_option.duplicate[0] ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(MatGetOperation(A, MATOP_DUPLICATE, &duplicate));
    if (duplicate == by_option.duplicate[parallel]) *is = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfIsUnderTest(const Conf *c, Mat A, char *name, PetscBool *is)
{
  const char *bases[] = {MATSEQAIJ, MATMPIAIJ};
  char        full[CONF_TYPE_MAX];
  MatType     type;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscStrncpy(name, type, CONF_TYPE_MAX));
  *is = PETSC_FALSE;
  for (int b = 0; b < 2 && c->format[0] && !*is; b++) {
    PetscBool plain;

    PetscCall(PetscSNPrintf(full, sizeof full, "%s%s", bases[b], c->format));
    PetscCall(PetscStrcmp(type, full, is));
    if (*is) PetscCall(PetscStrncpy(name, bases[b], CONF_TYPE_MAX));
    PetscCall(PetscStrcmp(type, bases[b], &plain));
    if (plain && !c->suffix[0]) PetscCall(IsOursByOption(A, b == 1 ? PETSC_TRUE : PETSC_FALSE, is));
  }
  if (!ConfIsOurs(c->format)) *is = PETSC_FALSE; /* a subclass of AIJ by PETSc, such as aijcusparse */
  PetscFunctionReturn(PETSC_SUCCESS);
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
  return PetscSNPrintf(text, CONF_TYPE_MAX, "%s%s", base, c->suffix);
}

PetscErrorCode ConfCreateEmpty(Conf *c, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(c->comm, A));
  PetscCall(MatSetSizes(*A, c->m, c->n, c->M, c->N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void ConfRow(Conf *c, PetscInt i, uint64_t seed, int64_t *wide, PetscInt *count, PetscInt *col, PetscScalar *value)
{
  const int64_t found = c->spec.row(&c->spec, i, wide);

  gen_values(GEN_EXACT, gen_hash(seed, (uint64_t)i), c->spec.zero_percent,
             sizeof(PetscReal) == sizeof(float) ? SPMV_F32 : SPMV_F64, found, value);
  for (int64_t k = 0; k < found; k++) col[k] = (PetscInt)wide[k];
  *count = (PetscInt)found;
}

PetscErrorCode ConfSetValues(Conf *c, Mat A, uint64_t seed)
{
  PetscInt    *col, count;
  PetscScalar *value;
  int64_t     *wide;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(c->N, &col, c->N, &value, c->N, &wide));
  for (PetscInt i = c->row_start; i < c->row_start + c->m; i++) {
    ConfRow(c, i, seed, wide, &count, col, value);
    PetscCall(MatSetValues(A, 1, &i, count, col, value, INSERT_VALUES));
  }
  PetscCall(PetscFree3(col, value, wide));
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exact preallocation of the diagonal and the off-diagonal block */
static PetscErrorCode Preallocate(Conf *c, Mat A)
{
  PetscInt    *diagonal, *other, *col, count;
  PetscScalar *value;
  int64_t     *wide;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc2(c->m, &diagonal, c->m, &other));
  PetscCall(PetscMalloc3(c->N, &col, c->N, &value, c->N, &wide));
  for (PetscInt i = 0; i < c->m; i++) {
    ConfRow(c, c->row_start + i, VALUE_SEED, wide, &count, col, value);
    for (PetscInt k = 0; k < count; k++) {
      if (col[k] >= c->col_start && col[k] < c->col_start + c->n) diagonal[i]++;
      else other[i]++;
    }
  }
  PetscCall(PetscFree3(col, value, wide));
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
  PetscCall(TestDestroyVecs(&x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfCreate(Conf *c, Mat *A)
{
  char      type[CONF_TYPE_MAX];
  PetscBool is;

  PetscFunctionBeginUser;
  PetscCall(CreateOfType(c, c->type, A));
  PetscCall(ConfIsUnderTest(c, *A, type, &is));
  PetscCheck(is || !ConfIsOurs(c->format), c->comm, PETSC_ERR_PLIB, "the matrix under test is not ours but %s", type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfCreatePlain(Conf *c, Mat *A)
{
  PetscFunctionBeginUser;
  if (!c->suffix[0]) PetscCall(ByOptionSet(PETSC_FALSE));
  PetscCall(CreateOfType(c, c->base, A));
  if (!c->suffix[0] && c->format[0]) PetscCall(ByOptionSet(PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfSetVec(Vec x, uint64_t seed)
{
  const uint64_t step = gen_hash(seed, 0) | 1;
  PetscInt       low, high;
  PetscScalar   *value;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &low, &high));
  PetscCall(VecGetArrayWrite(x, &value));
  for (PetscInt i = low; i < high; i++) value[i - low] = (PetscReal)((((uint64_t)i + 1) * step >> 40) % 17) - 8;
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
  PetscCall(TestDestroyVecs(&x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
