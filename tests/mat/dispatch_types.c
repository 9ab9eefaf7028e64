/*
  dispatch_types.c - the matrices and the types of mat_dispatch.c
*/
#include "mat_dispatch.h"

enum { N = 24 };

/* Symmetric in pattern and values and diagonally dominant, so that symmetric types accept it */
static PetscErrorCode Create(const char *type, PetscInt n, Mat *A)
{
  PetscInt low, high;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetBlockSize(*A, n == N ? 2 : 1)); /* keeps both unknowns of a point on one process */
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 7, NULL));
  PetscCall(MatGetOwnershipRange(*A, &low, &high));
  for (PetscInt i = low; i < high; i++) {
    const PetscInt columns[] = {i - 5, i - 1, i, i + 1, i + 5};
    for (int k = 0; k < 5; k++)
      if (columns[k] >= 0 && columns[k] < n)
        PetscCall(MatSetValue(*A, i, columns[k], k == 2 ? 20 + i % 3 : -1 - (i + columns[k]) % 4, INSERT_VALUES));
  }
  PetscCall(TestAssemble(*A));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DispatchPairCreate(const char *format, DispatchPair *pair)
{
  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(pair->type, sizeof pair->type, "aij%s", format));
  PetscCall(Create(MATAIJ, N, &pair->plain));
  PetscCall(Create(pair->type, N, &pair->packed));
  PetscCall(Create(MATAIJ, N / 2, &pair->small_plain));
  PetscCall(Create(pair->type, N / 2, &pair->small_packed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DispatchPairDestroy(DispatchPair *pair)
{
  PetscFunctionBeginUser;
  PetscCall(TestDestroyMats(&pair->plain, &pair->packed));
  PetscCall(TestDestroyMats(&pair->small_plain, &pair->small_packed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Types that cannot be tried, because PETSc crashes with plain AIJ as well: MATPYTHON needs an interpreter; MATKAIJ,
   MATLRC and MATBLOCKMAT are made differently; MATFFTW needs more dimensions. Types for another number of processes are
   left out, too. */
static const char *const left_out_types[] = {MATPYTHON, MATLRC, MATKAIJ, MATSEQKAIJ, MATMPIKAIJ, MATBLOCKMAT, MATFFTW};

/* On several processes, an error leaves the processes out of step, so only types without errors are tried */
static const char *const parallel_types[] = {MATAIJ, MATDENSE, MATBAIJ, MATSBAIJ, MATSELL, MATIS};

static PetscErrorCode IsOneOf(const char *type, const char *const list[], size_t count, PetscBool *is)
{
  PetscFunctionBeginUser;
  *is = PETSC_FALSE;
  for (size_t t = 0; t < count && !*is; t++) PetscCall(PetscStrcmp(type, list[t], is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IsLeftOut(const char *type, PetscBool *left_out)
{
  PetscMPIInt size;
  PetscBool   parallel, is;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscStrbeginswith(type, "mpi", &parallel));
  PetscCall(IsOneOf(type, left_out_types, sizeof left_out_types / sizeof left_out_types[0], left_out));
  if (size == 1 && parallel) *left_out = PETSC_TRUE;
  if (size > 1) {
    PetscCall(IsOneOf(type, parallel_types, sizeof parallel_types / sizeof parallel_types[0], &is));
    if (!is) *left_out = PETSC_TRUE;
  }
  for (int f = 0; f < spmv_format_count() && !*left_out; f++) {
    char name[CONF_TYPE_MAX];

    PetscCall(PetscSNPrintf(name, sizeof name, "aij%s", spmv_format_get(f)->name));
    PetscCall(PetscStrendswith(type, name, left_out));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the names, because PETSc's list may grow while its types are made */
PetscErrorCode DispatchTypes(char ***types, int *count)
{
  const char **names = NULL;
  int          all   = 0;

  PetscFunctionBeginUser;
  PetscCall(MatInitializePackage());
  PetscCall(PetscFunctionListGet(MatList, &names, &all));
  PetscCall(PetscMalloc1(all, types));
  *count = 0;
  for (int i = 0; i < all && names[i]; i++) { /* PETSc 3.18 counts the NULL at the end, too */
    PetscBool left_out;

    PetscCall(IsLeftOut(names[i], &left_out));
    if (!left_out) PetscCall(PetscStrallocpy(names[i], &(*types)[(*count)++]));
  }
  PetscCall(PetscFree(names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *DispatchOutcome(const Trial *t)
{
  const char *text = "works";

  if (t->error && PetscErrorMessage(t->error, &text, NULL)) text = "fails";
  return text;
}

static PetscErrorCode MakeMaij(Mat A, Mat *B) { return MatCreateMAIJ(A, 2, B); }

/* The n x n matrix that has A twice on its diagonal */
static PetscErrorCode MakeNest(Mat A, Mat *B)
{
  Mat blocks[4] = {A, NULL, NULL, A};

  PetscFunctionBeginUser;
  PetscCall(MatCreateNest(PetscObjectComm((PetscObject)A), 2, NULL, 2, NULL, blocks, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An n x n matrix of the type of A */
static PetscErrorCode MakeLarge(Mat A, Mat *B)
{
  MatType type;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(A, &type));
  PetscCall(Create(type, N, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A type that wraps one matrix */
static PetscErrorCode Wrap(Mat A, PetscErrorCode (*create)(Mat, Mat *), Mat *B)
{
  Mat large;

  PetscFunctionBeginUser;
  PetscCall(MakeLarge(A, &large));
  PetscCall(create(large, B));
  PetscCall(MatDestroy(&large));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeTransposed(Mat A, Mat *B) { return Wrap(A, MatCreateTranspose, B); }
static PetscErrorCode MakeNormal(Mat A, Mat *B) { return Wrap(A, MatCreateNormal, B); }

static PetscErrorCode MakeComposite(Mat A, Mat *B)
{
  Mat parts[2];

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) PetscCall(MakeLarge(A, &parts[k]));
  PetscCall(MatCreateComposite(PetscObjectComm((PetscObject)A), 2, parts, B));
  for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&parts[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeDense(Mat A, Mat *B)
{
  Mat large;

  PetscFunctionBeginUser;
  PetscCall(MakeLarge(A, &large));
  PetscCall(MatConvert(large, MATDENSE, MAT_INITIAL_MATRIX, B));
  PetscCall(MatDestroy(&large));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DispatchMaker dispatch_makers[] = {
    {"maij", MakeMaij},     {"nest", MakeNest},           {"the type itself", MakeLarge}, {"transpose", MakeTransposed},
    {"normal", MakeNormal}, {"composite", MakeComposite}, {"dense of it", MakeDense},     {NULL, NULL}};
