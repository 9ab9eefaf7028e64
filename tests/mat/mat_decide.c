/*
  mat_decide.c - where operations run: each of a product with a vector, the diagonal, a product of matrices, a graph, a
  transpose and a list of coordinates, for -mat_aijfmt_device auto, host and gpu, with a small and a large matrix, bound
  to the host or not. Every operation is counted on the GPU or as a fallback, and a fallback writes its reason to the
  view.

  The program asks the library whether there is a GPU. Without one nothing may run there, and no more is checked. With
  -expect_gpu it fails if there is none.
*/
static char help[] = "Checks the decision whether an operation runs on the GPU.\n\n";

#include <petscmat.h>
#include <petscpack.h>
#include <spmv_kernels.h>
#include <string.h>
#include "petsc_test.h"

enum { SMALL = 12, LARGE = 160 /* points of a square grid in each direction */ };

typedef enum { PRODUCT, DIAGONAL, MATMAT, GRAPH, TRANSPOSE, COORDINATES, OPERATIONS } Operation;

static const char *const operations[] = {"a product", "the diagonal", "a product of matrices",
                                         "a graph",   "a transpose",  "a list"};
static const char *const where[]      = {"auto", "gpu", "host"};
static const char *const labels[]     = {NULL,
                                         NULL,
                                         "product of matrices on the host:",
                                         "graph by PETSc:",
                                         "transposed matrix by the parent type:",
                                         "coordinates sorted by PETSc on the host"};
static PetscInt          failed       = 0;
static PetscMPIInt       size;

static void Expect(PetscBool right, const char what[], Operation op, int option, PetscInt n, PetscBool bound)
{
  if (right) return;
  failed++;
  (void)PetscPrintf(PETSC_COMM_SELF, "FAILED: %s: %s, -mat_aijfmt_device %s, grid of %d, %s\n", what, operations[op],
                    where[option], (int)n, bound ? "bound to the host" : "not bound");
}

static PetscErrorCode MakeGrid(PetscInt n, const char option[], Mat *A)
{
  PetscInt low, high;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetType(*A, MATAIJRBP));
  PetscCall(MatAIJFmtSetOption(*A, "device", option));
  PetscCall(MatAIJFmtSetOption(*A, "decline", "false"));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  PetscCall(MatGetOwnershipRange(*A, &low, &high));
  for (PetscInt i = low; i < high; i++) {
    const PetscInt x = i % n, y = i / n;

    PetscCall(MatSetValue(*A, i, i, 4, INSERT_VALUES));
    if (x > 0) PetscCall(MatSetValue(*A, i, i - 1, -1, INSERT_VALUES));
    if (x < n - 1) PetscCall(MatSetValue(*A, i, i + 1, -1, INSERT_VALUES));
    if (y > 0) PetscCall(MatSetValue(*A, i, i - n, -1, INSERT_VALUES));
    if (y < n - 1) PetscCall(MatSetValue(*A, i, i + n, -1, INSERT_VALUES));
  }
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A list with as many entries on each process as a large matrix has nonzeros, or with one */
static PetscErrorCode SetList(Mat A, PetscBool large)
{
  const PetscInt entries = large ? 60000 : 1;
  PetscInt       low, high, *i, *j;
  PetscScalar   *values;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &low, &high));
  PetscCall(PetscMalloc3(entries, &i, entries, &j, entries, &values));
  for (PetscInt k = 0; k < entries; k++) {
    i[k] = j[k] = low + k % (high - low);
    values[k]   = 1;
  }
  PetscCall(MatSetPreallocationCOO(A, entries, i, j));
  PetscCall(MatSetValuesCOO(A, values, INSERT_VALUES));
  PetscCall(PetscFree3(i, j, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operate(Mat A, Operation op, PetscBool large)
{
  Mat B = NULL;
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  switch (op) {
  case PRODUCT:
    PetscCall(MatMult(A, x, y));
    break;
  case DIAGONAL:
    PetscCall(MatGetDiagonal(A, y));
    break;
  case MATMAT:
    PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &B));
    break;
  case GRAPH:
#if PETSC_VERSION_LT(3, 21, 0)
    PetscCall(MatCreateGraph(A, PETSC_TRUE, PETSC_TRUE, 0.01, &B));
#else
    PetscCall(MatCreateGraph(A, PETSC_TRUE, PETSC_TRUE, 0.01, 0, NULL, &B));
#endif
    break;
  case TRANSPOSE:
    PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
    break;
  default:
    PetscCall(SetList(A, large));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(TestDestroyVecs(&x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the GPU: blocks that hold packed arrays there, graphs or patterns made there; *fallbacks: counted elsewhere */
static PetscErrorCode Counted(Mat A, Operation op, PetscLogDouble *gpu, PetscLogDouble *fallbacks)
{
  MatAIJFmtInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatAIJFmtGetInfo(A, &info));
  if (op == MATMAT) {
    *gpu       = info.patterns;
    *fallbacks = info.fallbacks_pattern;
  } else if (op == GRAPH) {
    *gpu       = info.graphs;
    *fallbacks = info.fallbacks_graph;
  } else if (op == TRANSPOSE) {
    *gpu       = info.transposes;
    *fallbacks = info.fallbacks_transpose;
  } else if (op == COORDINATES) {
    *gpu       = info.lists;
    *fallbacks = info.fallbacks_list;
  } else {
    *gpu       = info.blocks_on_gpu;
    *fallbacks = *gpu > 0 ? 0 : 1; /* products and diagonals of the host, by plan or by the parent, are no fallback */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(Operation op, int option, PetscInt n, PetscBool bind, PetscBool has_gpu)
{
  const PetscBool large = n == LARGE ? PETSC_TRUE : PETSC_FALSE;
  /* auto leaves small matrices to the host; products of parallel matrices too, unless PETSc's vectors are on the GPU */
  PetscBool      asks = option == 1 || (option == 0 && large) ? PETSC_TRUE : PETSC_FALSE, bound = PETSC_FALSE, expected;
  PetscBool      cuda;
  char           text[TEST_VIEW];
  PetscLogDouble gpu, fallbacks;
  VecType        vectors;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(n, where[option], &A));
  PetscCall(MatGetVecType(A, &vectors));
  PetscCall(PetscStrcmp(vectors, VECCUDA, &cuda));
#if defined(PETSC_HAVE_DEVICE) /* another PETSc says that every matrix is bound */
  if (bind) PetscCall(MatBindToCPU(A, PETSC_TRUE));
  PetscCall(MatBoundToCPU(A, &bound));
#else
  (void)bind;
#endif
  if (op == MATMAT && size > 1 && option == 0 && !cuda) asks = PETSC_FALSE;
  /* vectors and lists are on the GPU */
  if (option == 0 && cuda && op != MATMAT && op != GRAPH && (op != TRANSPOSE || size > 1)) asks = PETSC_TRUE;
  expected = has_gpu && asks && option != 2 && !bound ? PETSC_TRUE : PETSC_FALSE;
  /* MatBindToCPU() of the CUDA parent composes PETSc's functions for lists, which are no fallback of ours */
  if (op == COORDINATES && bound && cuda && size == 1) {
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Operate(A, op, large));
  PetscCall(Counted(A, op, &gpu, &fallbacks));
  if (op == MATMAT) {
    MatAIJFmtInfo info;

    PetscCall(MatAIJFmtGetInfo(A, &info));
    Expect(info.numeric == info.patterns && info.fallbacks_numeric == 0, "the values are elsewhere", op, option, n,
           bound);
  }
  Expect((gpu > 0) == expected, expected ? "not on the GPU" : "on the GPU", op, option, n, bound);
  /* without a GPU the types keep the parent's operations, and nothing is counted */
  if (!has_gpu) {
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Expect((fallbacks > 0) != expected, expected ? "a fallback is counted" : "no fallback is counted", op, option, n,
         bound);
  PetscCall(TestView((PetscObject)A, PETSC_VIEWER_ASCII_INFO, text));
  Expect(!labels[op] || expected || strstr(text, labels[op]), "the view has no reason", op, option, n, bound);
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool expect_gpu = PETSC_FALSE, has_gpu;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-expect_gpu", &expect_gpu, NULL));
  has_gpu = spmv_device_count(NULL) > 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscCheck(has_gpu || !expect_gpu, PETSC_COMM_SELF, PETSC_ERR_GPU, "there is no GPU");
  for (int op = 0; op < OPERATIONS; op++)
    for (int option = 0; option < 3; option++)
      for (int large = 0; large < 2; large++)
        for (int bind = 0; bind < 2; bind++)
          PetscCall(Check((Operation)op, option, large ? LARGE : SMALL, bind ? PETSC_TRUE : PETSC_FALSE, has_gpu));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscFinalize());
  return failed ? 1 : 0;
}
