/*
  op_parts.c - parts of a matrix: sub-matrices, local matrices, blocks
*/
#include "ops.h"

static PetscErrorCode SubMatrix(Conf *c)
{
  const PetscInt percent = OpChance(c, 20) ? 100 : 60;
  PetscInt       low, high, first, end;
  IS             rows, cols;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(c->A, &low, &high));
  PetscCall(MatGetOwnershipRangeColumn(c->A, &first, &end));
  PetscCall(OpSubset(c, c->comm, low, high, percent, &rows));
  PetscCall(OpSubset(c, c->comm, first, end, percent, &cols));
  PetscCall(MatCreateSubMatrix(c->A, rows, cols, OpReuse(c), &c->made));
  PetscCall(OpSeeMade(c, "sub-matrix", PETSC_TRUE));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sequential sub-matrices of any rows and columns */
static PetscErrorCode SubMatrices(Conf *c)
{
  PetscInt M, N;
  IS       rows[2], cols[2];
  Mat     *S;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(c->A, &M, &N));
  for (int k = 0; k < 2; k++) {
    PetscCall(OpSubset(c, PETSC_COMM_SELF, 0, M, 50, &rows[k]));
    PetscCall(OpSubset(c, PETSC_COMM_SELF, 0, N, 70, &cols[k]));
  }
  PetscCall(MatCreateSubMatrices(c->A, 2, rows, cols, MAT_INITIAL_MATRIX, &S));
  for (int k = 0; k < 2; k++) PetscCall((c->alone ? ConfSeeRows : ConfSeeMat)(c, "sub-matrices", S[k]));
  if (!c->alone) {
    PetscCall(MatScale(c->A, OpFactor(c)));
    PetscCall(MatCreateSubMatrices(c->A, 2, rows, cols, MAT_REUSE_MATRIX, &S));
    for (int k = 0; k < 2; k++) PetscCall(ConfSeeMat(c, "sub-matrices again", S[k]));
  }
  PetscCall(MatDestroySubMatrices(2, &S));
  for (int k = 0; k < 2; k++) {
    PetscCall(ISDestroy(&rows[k]));
    PetscCall(ISDestroy(&cols[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sub-matrix that is converted later: PETSc destroys it by the operation that it had before the conversion */
static PetscErrorCode ConvertedSubMatrices(Conf *c)
{
  Mat  plain, *S;
  IS   rows, cols;
  char type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(ConfCreatePlain(c, &plain));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, c->M, 0, 1, &rows));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, c->N, 0, 1, &cols));
  PetscCall(MatCreateSubMatrices(plain, 1, &rows, &cols, MAT_INITIAL_MATRIX, &S));
  PetscCall(ConfName(c, MATSEQAIJ, type));
  PetscCall(MatConvert(S[0], type, MAT_INPLACE_MATRIX, &S[0]));
  PetscCall(ConfSeeMat(c, "converted sub-matrix", S[0]));
  PetscCall(MatDestroySubMatrices(1, &S));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Overlap(Conf *c)
{
  PetscInt low, high;
  IS       rows;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(c->A, &low, &high));
  PetscCall(OpSubset(c, PETSC_COMM_SELF, low, high, 50, &rows));
  PetscCall(MatIncreaseOverlap(c->A, 1, &rows, 1 + OpBelow(c, 2)));
  PetscCall(ISSort(rows));
  PetscCall(OpSeeIS(c, "overlap", rows));
  PetscCall(ISDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes the matrix through its diagonal block */
static PetscErrorCode DiagonalBlock(Conf *c)
{
  Mat D;

  PetscFunctionBeginUser;
  PetscCall(MatGetDiagonalBlock(c->A, &D));
  PetscCall(ConfSeeProducts(c, "diagonal block", D));
  PetscCall(MatScale(D, OpFactor(c)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With all columns, or only with those that have entries */
static PetscErrorCode LocalMat(Conf *c)
{
  PetscFunctionBeginUser;
  if (c->operation->how) PetscCall(MatMPIAIJGetLocalMatCondensed(c->A, OpReuse(c), NULL, NULL, &c->made));
  else PetscCall(MatMPIAIJGetLocalMat(c->A, OpReuse(c), &c->made));
  PetscCall(OpSeeMade(c, "local matrix", PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AnyLocalMat(Conf *c)
{
  Mat L;

  PetscFunctionBeginUser;
  PetscCall(MatAIJGetLocalMat(c->A, &L));
  PetscCall(ConfSeeProducts(c, "local matrix", L));
  PetscCall(MatDestroy(&L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SeqStructure(Conf *c)
{
  Mat      S;
  PetscInt low, high, count;

  PetscFunctionBeginUser;
  PetscCall(MatGetSeqNonzeroStructure(c->A, &S));
  PetscCall(MatGetOwnershipRange(S, &low, &high));
  for (PetscInt i = low; i < high; i++) {
    PetscCall(MatGetRow(S, i, &count, NULL, NULL));
    PetscCall(ConfSeeReal(c, "structure", (PetscReal)count));
    PetscCall(MatRestoreRow(S, i, &count, NULL, NULL));
  }
  PetscCall(MatDestroySeqNonzeroStructure(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One copy of the matrix for each process, or one for all. PETSc divides the columns into blocks of the rows' block
   size, and makes a matrix with too few columns if that is not a divisor (docs/notebook). */
static PetscErrorCode Redundant(Conf *c)
{
  PetscInt parts = OpChance(c, 30) ? 1 : c->size, block_size, columns;

  PetscFunctionBeginUser;
  PetscCall(MatGetBlockSize(c->A, &block_size));
  PetscCall(MatGetSize(c->A, NULL, &columns));
  if (columns % block_size) parts = 1;
  PetscCall(MatCreateRedundantMatrix(c->A, parts, MPI_COMM_NULL, OpReuse(c), &c->made));
  PetscCall(OpSeeMade(c, "redundant", PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of A and of its multiple in a MATNEST, one of which changes, and back */
static PetscErrorCode Nest(Conf *c)
{
  const PetscInt rows = 2 - OpBelow(c, 2);
  Mat            B, N, blocks[4];

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(c->A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, OpFactor(c)));
  blocks[0] = blocks[3] = c->A;
  blocks[1] = blocks[2] = B;
  PetscCall(MatCreateNest(c->comm, rows, NULL, 2, NULL, blocks, &N));
  PetscCall(ConfSeeProducts(c, "nest", N));
  PetscCall(MatScale(c->A, 0.5));
  PetscCall(ConfSeeProducts(c, "nest, block scaled", N));
  PetscCall(MatConvert(N, c->type, MAT_INPLACE_MATRIX, &N));
  PetscCall(ConfSeeMat(c, "from nest", N));
  PetscCall(TestDestroyMats(&N, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation op_parts[] = {
    {"sub_matrix", SubMatrix, OP_READS | OP_MAKES | OP_BECOMES | OP_RENEWS | OP_NONEMPTY, .ways = 2},
    {"sub_matrices", SubMatrices, OP_READS | OP_NONEMPTY, .ways = 1},
    {"sub_matrices_converted", ConvertedSubMatrices, OP_SPEC | OP_NONEMPTY, .ways = 1},
    {"overlap", Overlap, OP_SQUARE | OP_NONEMPTY, .ways = 2},
    {"diagonal_block", DiagonalBlock, OP_SQUARE, .ways = 1},
    {"local_mat", LocalMat, OP_READS | OP_MAKES | OP_PARALLEL, .how = 0},
    {"local_mat_condensed", LocalMat, OP_MAKES | OP_PARALLEL | OP_RANDOM_ONLY, .how = 1},
    {"any_local_mat", AnyLocalMat, OP_RANDOM_ONLY, .ways = 1},
    {"seq_structure", SeqStructure, OP_PARALLEL, .ways = 1},
    {"redundant", Redundant, OP_MAKES | OP_PARALLEL | OP_SQUARE, .ways = 2},
    {"nest", Nest, OP_RARE | OP_NONEMPTY, .ways = 1},
    {.name = NULL}};
