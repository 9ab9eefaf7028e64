/*
  fuzz_parts.c - parts of a matrix: sub-matrices, local matrices, blocks
*/
#include "fuzz.h"

static PetscErrorCode SubMatrix(Fuzz *f)
{
  PetscInt  low, high, first, end;
  const int percent = FuzzChance(f, 20) ? 100 : 60;
  IS        rows, cols;
  Mat       S;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(f->A, &low, &high));
  PetscCall(MatGetOwnershipRangeColumn(f->A, &first, &end));
  PetscCall(FuzzSubset(f, f->c.comm, low, high, percent, &rows));
  PetscCall(FuzzSubset(f, f->c.comm, first, end, percent, &cols));
  PetscCall(MatCreateSubMatrix(f->A, rows, cols, MAT_INITIAL_MATRIX, &S));
  PetscCall(ConfSeeMat(&f->c, "sub-matrix", S));
  PetscCall(MatScale(f->A, FuzzFactor(f)));
  PetscCall(MatCreateSubMatrix(f->A, rows, cols, MAT_REUSE_MATRIX, &S));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  if (FuzzChance(f, 30)) PetscCall(FuzzReplace(f, S));
  else {
    PetscCall(ConfSeeMat(&f->c, "sub-matrix again", S));
    PetscCall(MatDestroy(&S));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sequential sub-matrices of any rows and columns */
static PetscErrorCode SubMatrices(Fuzz *f)
{
  PetscInt M, N;
  IS       rows[2], cols[2];
  Mat     *S;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(f->A, &M, &N));
  for (int k = 0; k < 2; k++) {
    PetscCall(FuzzSubset(f, PETSC_COMM_SELF, 0, M, 50, &rows[k]));
    PetscCall(FuzzSubset(f, PETSC_COMM_SELF, 0, N, 70, &cols[k]));
  }
  PetscCall(MatCreateSubMatrices(f->A, 2, rows, cols, MAT_INITIAL_MATRIX, &S));
  for (int k = 0; k < 2; k++) PetscCall(ConfSeeMat(&f->c, "sub-matrices", S[k]));
  PetscCall(MatScale(f->A, FuzzFactor(f)));
  PetscCall(MatCreateSubMatrices(f->A, 2, rows, cols, MAT_REUSE_MATRIX, &S));
  for (int k = 0; k < 2; k++) PetscCall(ConfSeeMat(&f->c, "sub-matrices again", S[k]));
  PetscCall(MatDestroySubMatrices(2, &S));
  for (int k = 0; k < 2; k++) {
    PetscCall(ISDestroy(&rows[k]));
    PetscCall(ISDestroy(&cols[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Overlap(Fuzz *f)
{
  PetscInt low, high;
  IS       rows;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(f->A, &low, &high));
  PetscCall(FuzzSubset(f, PETSC_COMM_SELF, low, high, 50, &rows));
  PetscCall(MatIncreaseOverlap(f->A, 1, &rows, 1 + FuzzBelow(f, 2)));
  PetscCall(ISSort(rows));
  PetscCall(FuzzSeeIS(f, "overlap", rows));
  PetscCall(ISDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes the matrix through its diagonal block */
static PetscErrorCode DiagonalBlock(Fuzz *f)
{
  Mat D;

  PetscFunctionBeginUser;
  PetscCall(MatGetDiagonalBlock(f->A, &D));
  PetscCall(ConfSeeProducts(&f->c, "diagonal block", D));
  PetscCall(MatScale(D, FuzzFactor(f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With all columns, or only with those that have entries */
static PetscErrorCode GetLocalMat(Fuzz *f, PetscBool condensed)
{
  Mat L;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    const MatReuse reuse = k ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX;

    if (condensed) PetscCall(MatMPIAIJGetLocalMatCondensed(f->A, reuse, NULL, NULL, &L));
    else PetscCall(MatMPIAIJGetLocalMat(f->A, reuse, &L));
    PetscCall(ConfSeeMat(&f->c, k ? "local matrix again" : "local matrix", L));
    if (!k) PetscCall(MatScale(f->A, FuzzFactor(f)));
  }
  PetscCall(MatDestroy(&L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LocalMat(Fuzz *f) { return GetLocalMat(f, PETSC_FALSE); }
static PetscErrorCode LocalMatCondensed(Fuzz *f) { return GetLocalMat(f, PETSC_TRUE); }

static PetscErrorCode AnyLocalMat(Fuzz *f)
{
  Mat L;

  PetscFunctionBeginUser;
  PetscCall(MatAIJGetLocalMat(f->A, &L));
  PetscCall(ConfSeeProducts(&f->c, "local matrix", L));
  PetscCall(MatDestroy(&L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SeqStructure(Fuzz *f)
{
  Mat      S;
  PetscInt low, high, count;

  PetscFunctionBeginUser;
  PetscCall(MatGetSeqNonzeroStructure(f->A, &S));
  PetscCall(MatGetOwnershipRange(S, &low, &high));
  for (PetscInt i = low; i < high; i++) {
    PetscCall(MatGetRow(S, i, &count, NULL, NULL));
    PetscCall(ConfSeeReal(&f->c, "structure", (PetscReal)count));
    PetscCall(MatRestoreRow(S, i, &count, NULL, NULL));
  }
  PetscCall(MatDestroySeqNonzeroStructure(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One copy of the matrix for each process, or one for all. PETSc divides the columns into blocks of the rows' block
   size, and makes a matrix with too few columns if that is not a divisor (docs/notebook). */
static PetscErrorCode Redundant(Fuzz *f)
{
  PetscInt parts = FuzzChance(f, 70) ? f->c.size : 1, block_size, columns;
  Mat      R;

  PetscFunctionBeginUser;
  PetscCall(MatGetBlockSize(f->A, &block_size));
  PetscCall(MatGetSize(f->A, NULL, &columns));
  if (columns % block_size) parts = 1;
  PetscCall(MatCreateRedundantMatrix(f->A, parts, MPI_COMM_NULL, MAT_INITIAL_MATRIX, &R));
  PetscCall(ConfSeeMat(&f->c, "redundant", R));
  PetscCall(MatScale(f->A, FuzzFactor(f)));
  PetscCall(MatCreateRedundantMatrix(f->A, parts, MPI_COMM_NULL, MAT_REUSE_MATRIX, &R));
  PetscCall(ConfSeeMat(&f->c, "redundant again", R));
  PetscCall(MatDestroy(&R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two blocks of A in a MATNEST, and back */
static PetscErrorCode Nest(Fuzz *f)
{
  Mat B, N, blocks[2];

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(f->A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, FuzzFactor(f)));
  blocks[0] = f->A;
  blocks[1] = B;
  PetscCall(MatCreateNest(f->c.comm, 1, NULL, 2, NULL, blocks, &N));
  PetscCall(ConfSeeProducts(&f->c, "nest", N));
  PetscCall(MatConvert(N, f->type, MAT_INPLACE_MATRIX, &N));
  PetscCall(ConfSeeMat(&f->c, "from nest", N));
  PetscCall(MatDestroy(&N));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FuzzOperation fuzz_parts[] = {{"sub_matrix", SubMatrix, FUZZ_RENEWS},
                                    {"sub_matrices", SubMatrices, 0},
                                    {"overlap", Overlap, FUZZ_SQUARE | FUZZ_NONEMPTY},
                                    {"diagonal_block", DiagonalBlock, FUZZ_SQUARE},
                                    {"local_mat", LocalMat, FUZZ_PARALLEL},
                                    {"local_mat_condensed", LocalMatCondensed, FUZZ_PARALLEL},
                                    {"any_local_mat", AnyLocalMat, 0},
                                    {"seq_structure", SeqStructure, FUZZ_PARALLEL},
                                    {"redundant", Redundant, FUZZ_PARALLEL | FUZZ_SQUARE},
                                    {"nest", Nest, FUZZ_RARE | FUZZ_NONEMPTY},
                                    {NULL, NULL, 0}};
