/*
  mat_graph.c - graphs by MatCreateGraph(), squares of graphs, and PCGAMG, for matrices of ours and of type aij: the
  same entries with the same values, made on the GPU if that is expected.

    mat_graph [-format rbp] [-expect_gpu] [-expect_fallbacks] [-only_gamg] -mat_aijfmt_device gpu

  PETSc 3.18 treats blocks as full that are not, see compat.h: graphs of such matrices are left to PETSc.
*/
static char help[] = "Compares graphs with those of type aij.\n\n";

#include <petscksp.h>
#include <petscpack.h>
#include "petsc_test.h"

#if PETSC_VERSION_LT(3, 21, 0)
  #define CreateGraph(A, s, index, graph)                                                                              \
    ((void)(index), MatCreateGraph(A, (s)->symmetrize, (s)->scale, (s)->filter, graph))
#else
  #define CreateGraph(A, s, index, graph)                                                                              \
    MatCreateGraph(A, (s)->symmetrize, (s)->scale, (s)->filter, (s)->listed ? 2 : 0, index, graph)
#endif

enum { VERTICES = 14 /* per process; the second of three processes has none */ };

typedef struct {
  PetscBool symmetrize, scale, listed;
  PetscReal filter;
} Steps;

typedef struct {
  PetscInt  bs;
  PetscBool full, symmetric; /* symmetric: and marked as such in PETSc */
} Shape;

static const Shape shapes[] = {
    {1, PETSC_TRUE, PETSC_FALSE},  {1, PETSC_TRUE, PETSC_TRUE}, {2, PETSC_TRUE, PETSC_FALSE},
    {2, PETSC_FALSE, PETSC_FALSE}, {3, PETSC_TRUE, PETSC_TRUE}, {3, PETSC_FALSE, PETSC_FALSE},
    {6, PETSC_TRUE, PETSC_FALSE},
};

static PetscInt  failed;
static PetscBool expect_gpu, expect_fallbacks;

#define CHECK(condition, ...)                                                                                          \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      failed++;                                                                                                        \
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAILED line %d: ", __LINE__));                                           \
      PetscCall(PetscPrintf(PETSC_COMM_SELF, __VA_ARGS__));                                                            \
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));                                                                   \
    }                                                                                                                  \
  } while (0)

/* ---- matrices ---- */

/* A number for a pair of blocks, the same for (i, j) and (j, i) */
static PetscInt Mix(PetscInt i, PetscInt j) { return ((i + j) * 7 + PetscAbsInt(i - j) * 13 + i * j * 5) % 97; }

static PetscBool BlockIsThere(const Shape *s, PetscInt i, PetscInt j)
{
  if (i % 6 == 2 || j % 6 == 2) return PETSC_FALSE; /* isolated vertices, with zero rows */
  if (i == j) return i % 5 != 3 ? PETSC_TRUE : PETSC_FALSE;
  return (s->symmetric ? Mix(i, j) % 4 : (Mix(i, j) + 3 * i) % 4) == 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* Small numbers, some of them zero, even on the diagonal */
static PetscScalar Value(const Shape *s, PetscInt i, PetscInt j)
{
  const PetscInt n = s->symmetric ? Mix(i, j) : (i * 31 + j * 17) % 89;

  if (i == j && i % 7 == 4) return 0;
  return (i == j ? 9 : 0) + (PetscScalar)(n % 7 - 3) / 3;
}

static PetscErrorCode FillRow(Mat A, const Shape *s, PetscInt row, PetscInt blocks)
{
  PetscFunctionBeginUser;
  for (PetscInt b = 0; b < blocks; b++) {
    if (!BlockIsThere(s, row / s->bs, b)) continue;
    for (PetscInt col = b * s->bs; col < (b + 1) * s->bs; col++)
      if (s->full || (row * 5 + col * 3) % 4 != 1)
        PetscCall(MatSetValue(A, row, col, Value(s, row, col), INSERT_VALUES));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMatrix(const char type[], const Shape *s, Mat *A)
{
  PetscMPIInt rank, size;
  PetscInt    vertices, begin, end, rows;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  vertices = size == 3 && rank == 1 ? 0 : VERTICES;
  PetscCall(TestCreate(PETSC_COMM_WORLD, type, vertices * s->bs, vertices * s->bs, PETSC_DETERMINE, PETSC_DETERMINE,
                       s->bs, 2 * VERTICES * s->bs, A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  PetscCall(MatGetSize(*A, &rows, NULL));
  for (PetscInt row = begin; row < end; row++) PetscCall(FillRow(*A, s, row, rows / s->bs));
  PetscCall(TestAssemble(*A));
  if (s->symmetric) PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- comparisons ---- */

static PetscErrorCode CompareRow(Mat ours, Mat plain, PetscInt row, const char what[])
{
  const PetscInt    *col[2];
  const PetscScalar *value[2];
  PetscInt           n[2];

  PetscFunctionBeginUser;
  PetscCall(MatGetRow(ours, row, &n[0], &col[0], &value[0]));
  PetscCall(MatGetRow(plain, row, &n[1], &col[1], &value[1]));
  CHECK(n[0] == n[1], "%s: row %d has %d edges, and %d with aij", what, (int)row, (int)n[0], (int)n[1]);
  for (PetscInt k = 0; n[0] == n[1] && k < n[0]; k++)
    CHECK(col[0][k] == col[1][k] &&
              PetscAbsScalar(value[0][k] - value[1][k]) <= 4 * PETSC_MACHINE_EPSILON * PetscAbsScalar(value[1][k]),
          "%s: edge (%d, %d) is %g, and with aij (%d, %d) %g", what, (int)row, (int)col[0][k],
          (double)PetscRealPart(value[0][k]), (int)row, (int)col[1][k], (double)PetscRealPart(value[1][k]));
  PetscCall(MatRestoreRow(ours, row, &n[0], &col[0], &value[0]));
  PetscCall(MatRestoreRow(plain, row, &n[1], &col[1], &value[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(Mat A, Mat ours, Mat plain, const char what[])
{
  MatType   type[2];
  PetscInt  begin, end, sizes[2][2], bs;
  PetscBool same, known[2], symmetric[2] = {PETSC_FALSE, PETSC_FALSE};

  PetscFunctionBeginUser;
  PetscCall(MatGetType(A, &type[0]));
  PetscCall(MatGetType(ours, &type[1]));
  PetscCall(PetscStrcmp(type[0], type[1], &same));
  CHECK(same, "%s: the graph of a matrix of type %s is of type %s", what, type[0], type[1]);
  PetscCall(MatGetSize(ours, &sizes[0][0], &sizes[0][1]));
  PetscCall(MatGetSize(plain, &sizes[1][0], &sizes[1][1]));
  PetscCall(MatGetBlockSize(ours, &bs));
  CHECK(sizes[0][0] == sizes[1][0] && sizes[0][1] == sizes[1][1] && bs == 1, "%s: the sizes differ", what);
  PetscCall(MatIsSymmetricKnown(ours, &known[0], &symmetric[0]));
  PetscCall(MatIsSymmetricKnown(plain, &known[1], &symmetric[1]));
  CHECK(known[0] == known[1] && symmetric[0] == symmetric[1], "%s: PETSc is told otherwise about the symmetry", what);
  PetscCall(MatGetOwnershipRange(plain, &begin, &end));
  for (PetscInt row = begin; row < end; row++) PetscCall(CompareRow(ours, plain, row, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that the GPU has made `graphs` more graphs, and `patterns` more patterns, than in `before`, and PETSc none */
static PetscErrorCode CheckCounted(Mat A, const MatAIJFmtInfo *before, PetscInt graphs, PetscInt patterns,
                                   const char what[])
{
  MatAIJFmtInfo now;

  PetscFunctionBeginUser;
  PetscCall(MatAIJFmtGetInfo(A, &now));
  if (!expect_gpu) PetscFunctionReturn(PETSC_SUCCESS);
  CHECK(now.graphs - before->graphs == (PetscLogDouble)graphs, "%s: %g graphs on the GPU, and %d expected", what,
        now.graphs - before->graphs, (int)graphs);
  CHECK(now.patterns - before->patterns == (PetscLogDouble)patterns, "%s: %g patterns on the GPU, and %d expected",
        what, now.patterns - before->patterns, (int)patterns);
  CHECK(now.conversions == before->conversions, "%s: something was packed", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of block graphs that the GPU makes of this matrix */
static PetscErrorCode Expected(Mat A, const Shape *s, const Steps *steps, PetscInt *graphs)
{
  PetscMPIInt size;
  PetscBool   parallel;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  *graphs = parallel ? (s->bs > 1 ? 2 * size : size) : 1; /* the host makes edges to other processes */
  if (s->bs == 1 && !steps->symmetrize && !steps->scale && steps->filter < 0) *graphs = 0;
  if (PETSC_VERSION_LT(3, 19, 0) && !s->full) *graphs = -1; /* not predictable */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the square: its pattern only, as PCGAMG wants it ---- */

static PetscErrorCode SquareOf(Mat G, Mat *square)
{
  PetscFunctionBeginUser;
  PetscCall(MatProductCreate(G, G, NULL, square));
  PetscCall(MatProductSetType(*square, MATPRODUCT_AtB));
  PetscCall(MatProductSetFromOptions(*square));
  PetscCall(MatProductSymbolic(*square));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareSquares(Mat ours, Mat plain, const char what[])
{
  const Mat       G[] = {ours, plain};
  Mat             square[2];
  const PetscInt *row_ptr[2], *col[2];
  PetscInt        rows[2];
  PetscBool       done, same = PETSC_TRUE;
  MatAIJFmtInfo   before;

  PetscFunctionBeginUser;
  PetscCall(MatAIJFmtGetInfo(ours, &before));
  for (int m = 0; m < 2; m++) {
    PetscCall(SquareOf(G[m], &square[m]));
    PetscCall(MatGetRowIJ(square[m], 0, PETSC_FALSE, PETSC_FALSE, &rows[m], &row_ptr[m], &col[m], &done));
  }
  for (PetscInt i = 0; i <= rows[1]; i++) same = same && row_ptr[0][i] == row_ptr[1][i] ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt k = 0; same && k < row_ptr[1][rows[1]]; k++) same = col[0][k] == col[1][k] ? PETSC_TRUE : PETSC_FALSE;
  CHECK(same, "%s: the squares of the graphs differ", what);
  PetscCall(CheckCounted(ours, &before, 0, 1, what));
  for (int m = 0; m < 2; m++) {
    PetscCall(MatRestoreRowIJ(square[m], 0, PETSC_FALSE, PETSC_FALSE, &rows[m], &row_ptr[m], &col[m], &done));
    PetscCall(MatDestroy(&square[m]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- all combinations of matrices and steps ---- */

static PetscErrorCode CompareGraphs(Mat ours, Mat plain, const Shape *s, const Steps *steps)
{
  PetscInt      index[] = {0, s->bs - 1}, expected;
  MatAIJFmtInfo before;
  PetscBool     sequential;
  Mat           G[2];
  char          what[256];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(what, sizeof what, "blocks of %d%s%s, symmetrize %d, scale %d, filter %g%s", (int)s->bs,
                          s->full ? "" : " in parts", s->symmetric ? ", symmetric" : "", (int)steps->symmetrize,
                          (int)steps->scale, (double)steps->filter, steps->listed ? ", listed rows" : ""));
  PetscCall(MatAIJFmtGetInfo(ours, &before));
  PetscCall(CreateGraph(ours, steps, index, &G[0]));
  PetscCall(CreateGraph(plain, steps, index, &G[1]));
  PetscCall(Expected(ours, s, steps, &expected));
  if (expected >= 0) PetscCall(CheckCounted(ours, &before, expected, 0, what));
  PetscCall(Compare(ours, G[0], G[1], what));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)ours, MATSEQAIJ, &sequential));
  if (sequential && steps->scale) PetscCall(CompareSquares(G[0], G[1], what));
  for (int m = 0; m < 2; m++) PetscCall(MatDestroy(&G[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareAll(const char type[], const Shape *s)
{
  static const PetscReal filters[] = {-1, 0, 0.1};
  Mat                    ours, plain;
  MatAIJFmtInfo          info;
  PetscMPIInt            size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(CreateMatrix(type, s, &ours));
  PetscCall(CreateMatrix(MATAIJ, s, &plain));
  for (int n = 0; n < 24; n++) {
    const Steps steps = {n & 1 ? PETSC_TRUE : PETSC_FALSE, n & 2 ? PETSC_TRUE : PETSC_FALSE,
                         n & 4 ? PETSC_TRUE : PETSC_FALSE, filters[n / 8]};
    if (steps.listed && (s->bs == 1 || PETSC_VERSION_LT(3, 21, 0))) continue;
    if (size > 2 && (n + s->bs) % 3)
      continue; /* too slow: more processes than cores, and PETSc's filter assembles after each row */
    PetscCall(CompareGraphs(ours, plain, s, &steps));
  }
  PetscCall(MatAIJFmtGetInfo(ours, &info));
  if (expect_fallbacks)
    CHECK(info.fallbacks_graph > 0, "blocks of %d: the GPU made all graphs in the little memory that it has",
          (int)s->bs);
  PetscCall(TestDestroyMats(&ours, &plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- PCGAMG ---- */

/* A five-point stencil with dense blocks; positive definite */
static PetscErrorCode CreateStencil(const char type[], PetscInt side, PetscInt bs, Mat *A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(TestCreate(PETSC_COMM_WORLD, type, PETSC_DECIDE, PETSC_DECIDE, side * side * bs, side * side * bs, bs,
                       5 * bs, A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    const PetscInt v = row / bs, x = v % side, y = v / side;
    const PetscInt next[] = {v, x > 0 ? v - 1 : -1, x < side - 1 ? v + 1 : -1, y > 0 ? v - side : -1,
                             y < side - 1 ? v + side : -1};
    for (int n = 0; n < 5; n++)
      for (PetscInt j = 0; next[n] >= 0 && j < bs; j++)
        PetscCall(MatSetValue(*A, row, next[n] * bs + j, (n ? -1 : 4.01) * (row % bs == j ? 1 : 0.1), INSERT_VALUES));
  }
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(const char type[], PetscInt bs, PetscInt *iterations, PetscReal *residual,
                            MatAIJFmtInfo *info)
{
  Mat A;
  Vec x, b;
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(CreateStencil(type, 20, bs, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(KSPGetResidualNorm(ksp, residual));
  if (info) PetscCall(MatAIJFmtGetInfo(A, info));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareSolves(const char type[], PetscInt bs)
{
  PetscInt      iterations[2];
  PetscReal     residual[2];
  MatAIJFmtInfo info;
  PetscMPIInt   size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Solve(type, bs, &iterations[0], &residual[0], &info));
  PetscCall(Solve(MATAIJ, bs, &iterations[1], &residual[1], NULL));
  CHECK(iterations[0] == iterations[1] && PetscAbsReal(residual[0] - residual[1]) <= 0.1 * residual[1],
        "GAMG, blocks of %d: %d iterations to %g, and %d to %g with aij", (int)bs, (int)iterations[0],
        (double)residual[0], (int)iterations[1], (double)residual[1]);
  if (expect_gpu)
    CHECK(info.graphs == (size > 1 && bs > 1 ? 2 * size : size) && info.fallbacks_graph == 0,
          "GAMG, blocks of %d: the graph was not made on the GPU", (int)bs);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      format[64] = "rbp", type[80];
  PetscBool only_gamg  = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-format", format, sizeof format, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-expect_gpu", &expect_gpu, NULL));
  PetscCall(PetscSNPrintf(type, sizeof type, "aij%s", format));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-expect_fallbacks", &expect_fallbacks, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-only_gamg", &only_gamg, NULL));
  for (size_t s = 0; !only_gamg && s < PETSC_STATIC_ARRAY_LENGTH(shapes); s++) PetscCall(CompareAll(type, &shapes[s]));
  PetscCall(CompareSolves(type, 1));
  PetscCall(CompareSolves(type, 3));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d checks failed\n", (int)failed));
  PetscCall(PetscFinalize());
  return failed ? 1 : 0;
}
