/*
  conf_structure.c - transposes, sub-matrices, permutations, and matrices built around one of the type
*/
#include "conf.h"

static PetscErrorCode Transpose(Conf *c)
{
  Mat A, T;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
  PetscCall(ConfSeeMat(c, "MatTranspose initial", T));
  PetscCall(MatScale(A, 2));
  PetscCall(MatTranspose(A, MAT_REUSE_MATRIX, &T));
  PetscCall(ConfSeeMat(c, "MatTranspose reuse", T));
  PetscCall(MatDestroy(&T));
  PetscCall(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
  PetscCall(ConfSeeMat(c, "MatTranspose in place", A));
  PetscCall(MatScale(A, 3));
  PetscCall(ConfSeeMat(c, "MatTranspose in place, scaled", A));
  PetscCall(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
  PetscCall(ConfSeeMat(c, "MatTranspose in place, twice", A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every second row, and the columns beyond the first quarter, of this process */
static PetscErrorCode Halves(Conf *c, IS *rows, IS *cols)
{
  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(c->comm, (c->m + 1) / 2, c->row_start, 2, rows));
  PetscCall(ISCreateStride(c->comm, c->n - c->n / 4, c->col_start + c->n / 4, 1, cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SubMatrix(Conf *c)
{
  Mat A, S;
  IS  rows, cols;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(Halves(c, &rows, &cols));
  PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_INITIAL_MATRIX, &S));
  PetscCall(ConfSeeMat(c, "MatCreateSubMatrix", S));
  PetscCall(ConfSetValues(c, A, 101));
  PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_REUSE_MATRIX, &S));
  PetscCall(ConfSeeMat(c, "MatCreateSubMatrix reuse", S));
  PetscCall(MatDestroy(&S));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sequential sub-matrices that overlap the next process's rows */
static PetscErrorCode SubMatrices(Conf *c)
{
  Mat      A, *S;
  IS       rows, cols;
  PetscInt end = PetscMin(c->row_start + c->m + 2, c->M);

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, end - c->row_start, c->row_start, 1, &rows));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, (c->N + 1) / 2, 0, 2, &cols));
  PetscCall(MatCreateSubMatrices(A, 1, &rows, &cols, MAT_INITIAL_MATRIX, &S));
  PetscCall(ConfSeeMat(c, "MatCreateSubMatrices", S[0]));
  PetscCall(ConfSetValues(c, A, 102));
  PetscCall(MatCreateSubMatrices(A, 1, &rows, &cols, MAT_REUSE_MATRIX, &S));
  PetscCall(ConfSeeMat(c, "MatCreateSubMatrices reuse", S[0]));
  PetscCall(MatDestroySubMatrices(1, &S));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sub-matrix that is converted later: PETSc destroys it by the operation that it had before the conversion */
static PetscErrorCode ConvertedSubMatrices(Conf *c)
{
  Mat  A, *S;
  IS   rows, cols;
  char type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(ConfCreatePlain(c, &A));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, c->M, 0, 1, &rows));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, c->N, 0, 1, &cols));
  PetscCall(MatCreateSubMatrices(A, 1, &rows, &cols, MAT_INITIAL_MATRIX, &S));
  PetscCall(ConfName(c, MATSEQAIJ, type));
  PetscCall(MatConvert(S[0], type, MAT_INPLACE_MATRIX, &S[0]));
  PetscCall(ConfSeeMat(c, "converted sub-matrix", S[0]));
  PetscCall(MatDestroySubMatrices(1, &S));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalBlock(Conf *c)
{
  Mat      A, D, L;
  IS       overlap;
  PetscInt size;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatGetDiagonalBlock(A, &D));
  PetscCall(ConfSeeMat(c, "MatGetDiagonalBlock", D));
  if (c->size > 1) {
    PetscCall(MatMPIAIJGetLocalMat(A, MAT_INITIAL_MATRIX, &L));
    PetscCall(ConfSeeProducts(c, "MatMPIAIJGetLocalMat", L));
    PetscCall(MatDestroy(&L));
  }
  PetscCall(ISCreateStride(PETSC_COMM_SELF, c->m, c->row_start, 1, &overlap));
  PetscCall(MatIncreaseOverlap(A, 1, &overlap, 1));
  PetscCall(ISSort(overlap));
  PetscCall(ISGetLocalSize(overlap, &size));
  PetscCall(ConfSeeReal(c, "MatIncreaseOverlap", (PetscReal)size));
  PetscCall(ISDestroy(&overlap));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reverses the rows and columns of every process */
static PetscErrorCode Permute(Conf *c)
{
  Mat A, P;
  IS  rows, cols;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(ISCreateStride(c->comm, c->m, c->row_start + c->m - 1, -1, &rows));
  PetscCall(ISCreateStride(c->comm, c->n, c->col_start + c->n - 1, -1, &cols));
  PetscCall(ISSetPermutation(rows));
  PetscCall(ISSetPermutation(cols));
  PetscCall(MatPermute(A, rows, cols, &P));
  PetscCall(ConfSeeMat(c, "MatPermute", P));
  PetscCall(MatDestroy(&P));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices that wrap one of the type: a transpose, a normal equation, a nest of two blocks */
static PetscErrorCode Wrapped(Conf *c)
{
  Mat A, B, W, blocks[4];

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, 2));
  PetscCall(MatCreateTranspose(A, &W));
  PetscCall(ConfSeeProducts(c, "MatCreateTranspose", W));
  PetscCall(MatDestroy(&W));
  PetscCall(MatCreateNormal(A, &W));
  PetscCall(ConfSeeProducts(c, "MatCreateNormal", W));
  PetscCall(MatDestroy(&W));
  blocks[0] = blocks[3] = A;
  blocks[1] = blocks[2] = B;
  PetscCall(MatCreateNest(c->comm, 2, NULL, 2, NULL, blocks, &W));
  PetscCall(ConfSeeProducts(c, "MatCreateNest", W));
  PetscCall(MatScale(A, 3));
  PetscCall(ConfSeeProducts(c, "MatCreateNest, block scaled", W));
  PetscCall(MatDestroy(&W));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Graphs of entries and of blocks that need not be full, symmetrized, scaled and filtered */
static PetscErrorCode Graph(Conf *c)
{
  Mat A, G;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  for (int way = 0; way < 4; way++) {
    const PetscBool symmetrize = way & 1 ? PETSC_TRUE : PETSC_FALSE, scale = way & 2 ? PETSC_TRUE : PETSC_FALSE;
    const PetscReal filter = way ? 0.5 : -1;
#if PETSC_VERSION_LT(3, 21, 0)
    PetscCall(MatCreateGraph(A, symmetrize, scale, filter, &G));
#else
    PetscCall(MatCreateGraph(A, symmetrize, scale, filter, 0, NULL, &G));
#endif
    PetscCall(ConfSeeMat(c, "MatCreateGraph", G));
    PetscCall(MatDestroy(&G));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation conf_structure[] = {{"transpose", Transpose, 0},
                                        {"submatrix", SubMatrix, CONF_NONEMPTY},
                                        {"submatrices", SubMatrices, CONF_NONEMPTY},
                                        {"submatrices_converted", ConvertedSubMatrices, CONF_NONEMPTY},
                                        {"diagonal_block", DiagonalBlock, CONF_SQUARE},
                                        {"permute", Permute, CONF_SQUARE | CONF_NONEMPTY},
                                        {"wrapped", Wrapped, CONF_NONEMPTY},
                                        {"graph", Graph, CONF_SQUARE},
                                        {NULL, NULL, 0}};
