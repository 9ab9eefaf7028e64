/*
  op_renewals.c - operations that make or renew a matrix: another preallocation, another type, a file, another header
*/
#include "ops.h"

static PetscErrorCode Preallocate(Conf *c)
{
  const PetscInt diagonal = OpBelow(c, 6), other = OpBelow(c, 4);

  PetscFunctionBeginUser;
  PetscCall(MatSeqAIJSetPreallocation(c->A, diagonal, NULL));
  PetscCall(MatMPIAIJSetPreallocation(c->A, diagonal, NULL, other, NULL));
  PetscCall(OpFill(c, c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Plain AIJ resets only a matrix that was preallocated before. If processes disagree on that, they wait for each other
   forever. */
static PetscErrorCode ResetPreallocation(Conf *c)
{
  PetscFunctionBeginUser;
  PetscCall(Preallocate(c));
  PetscCall(ConfSeeProducts(c, "preallocated", c->A));
  PetscCall(MatResetPreallocation(c->A));
  PetscCall(OpFill(c, c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By MatSetType() to dense, another format or plain, and back: the entries are lost */
static PetscErrorCode SetType(Conf *c)
{
  char type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(OpDrawType(c, type, NULL));
  if (OpChance(c, 50)) PetscCall(MatSetType(c->A, MATDENSE));
  PetscCall(MatSetType(c->A, type));
  PetscCall(MatSetType(c->A, c->type));
  PetscCall(MatSeqAIJSetPreallocation(c->A, 3, NULL));
  PetscCall(MatMPIAIJSetPreallocation(c->A, 3, NULL, 3, NULL));
  PetscCall(OpFill(c, c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new matrix, allocated in any of the possible ways */
static PetscErrorCode CreateAgain(Conf *c)
{
  OpShape s;
  Mat     B;

  PetscFunctionBeginUser;
  if (c->spec.row || OpChance(c, 50)) PetscCall(OpShapeOf(c->A, &s));
  else PetscCall(OpDrawShape(c, &s));
  PetscCall(OpCreate(c, &s, c->type, &B));
  PetscCall(OpReplace(c, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From arrays of a program, which give plain AIJ; converted to our type */
static PetscErrorCode FromArrays(Conf *c)
{
  OpShape            s;
  Mat                local, B;
  PetscInt           n;
  const PetscInt    *i, *j;
  const PetscScalar *value;
  PetscBool          done, parallel;

  PetscFunctionBeginUser;
  PetscCall(OpShapeOf(c->A, &s));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)c->A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetLocalMat(c->A, MAT_INITIAL_MATRIX, &local));
  else PetscCall(MatDuplicate(c->A, MAT_COPY_VALUES, &local));
  PetscCall(MatGetRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "MatGetRowIJ() has nothing to give");
  PetscCall(MatSeqAIJGetArrayRead(local, &value));
  PetscCall(MatCreateMPIAIJWithArrays(c->comm, s.m, s.n, s.M, s.N, i, j, value, &B));
  PetscCall(MatSeqAIJRestoreArrayRead(local, &value));
  PetscCall(MatRestoreRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatDestroy(&local));
  PetscCall(MatConvert(B, c->type, MAT_INPLACE_MATRIX, &B));
  PetscCall(OpReplace(c, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LoadFile(Conf *c, Mat B)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(c->comm, c->file, FILE_MODE_READ, &viewer));
  PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
  PetscCall(MatLoad(B, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Loads into a new matrix, and into the saved one after its values have changed */
static PetscErrorCode SaveAndLoad(Conf *c)
{
  const PetscBool plain = OpChance(c, 30);
  PetscViewer     viewer;
  OpShape         s;

  PetscFunctionBeginUser;
  PetscCall(OpShapeOf(c->A, &s));
  PetscCall(PetscViewerCreate(c->comm, &viewer));
  PetscCall(PetscViewerSetType(viewer, PETSCVIEWERBINARY));
  PetscCall(PetscViewerFileSetMode(viewer, FILE_MODE_WRITE));
  PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
  PetscCall(PetscViewerFileSetName(viewer, c->file));
  PetscCall(MatView(c->A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatCreate(c->comm, &c->made));
  PetscCall(MatSetType(c->made, plain || c->alone ? MATAIJ : c->type));
  if (c->alone || c->spec.row || OpChance(c, 50)) PetscCall(MatSetSizes(c->made, s.m, s.n, s.M, s.N));
  PetscCall(LoadFile(c, c->made));
  PetscCall(OpSeeMade(c, "loaded", PETSC_TRUE));
  if (!c->alone) {
    PetscCall(MatScale(c->A, 2));
    PetscCall(LoadFile(c, c->A));
  }
  PetscCallMPI(MPI_Barrier(c->comm));
  if (!c->rank) (void)remove(c->file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HeaderReplace(Conf *c)
{
  OpShape s;
  Mat     B;

  PetscFunctionBeginUser;
  PetscCall(OpShapeOf(c->A, &s));
  PetscCall(OpCreate(c, &s, c->type, &B));
  PetscCall(MatHeaderReplace(c->A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The type comes from an option with a prefix, without preallocation. The second assembly adds entries to the last row
   after the first product, so that packed arrays with the old pattern give a wrong result. */
static PetscErrorCode FromOptions(Conf *c)
{
  const PetscInt last = c->M - 1;

  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&c->A));
  PetscCall(PetscOptionsSetValue(NULL, "-conf_mat_type", c->type));
  PetscCall(ConfCreateEmpty(c, &c->A));
  PetscCall(MatSetOptionsPrefix(c->A, "conf_"));
  PetscCall(MatSetFromOptions(c->A));
  PetscCall(MatSetUp(c->A));
  PetscCall(ConfSetValues(c, c->A, 11));
  PetscCall(ConfSeeMat(c, "hash", c->A));
  PetscCall(OpAllowNewNonzeros(c->A));
  for (PetscInt j = 0; j < c->N && c->rank == c->size - 1; j++) PetscCall(MatSetValue(c->A, last, j, 2, INSERT_VALUES));
  PetscCall(TestAssemble(c->A));
  PetscCall(PetscOptionsClearValue(NULL, "-conf_mat_type"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Programs that hard-code MATAIJ get the type through -mat_seqaij_type, also for the inner blocks. A parallel matrix
   keeps the name mpiaij then. */
static PetscErrorCode SeqAIJType(Conf *c)
{
  char type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&c->A));
  PetscCall(ConfName(c, MATSEQAIJ, type));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_seqaij_type", type));
  PetscCall(ConfCreateEmpty(c, &c->A));
  PetscCall(MatSetType(c->A, MATAIJ));
  PetscCall(MatSetUp(c->A));
  PetscCall(ConfSetValues(c, c->A, 12));
  PetscCall(PetscOptionsClearValue(NULL, "-mat_seqaij_type"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatSetType() keeps the entries of an assembled plain matrix */
static PetscErrorCode SetTypeOnAssembled(Conf *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&c->A));
  PetscCall(ConfCreatePlain(c, &c->A));
  PetscCall(MatSetType(c->A, c->type));
  PetscCall(ConfSeeMat(c, "MatSetType on assembled", c->A));
  PetscCall(ConfSetValues(c, c->A, 13));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation op_renewals[] = {
    {"preallocate", Preallocate, 0, .ways = 1},
    {"reset_preallocation", ResetPreallocation, OP_RARE | OP_SEQUENTIAL | OP_NONEMPTY, .ways = 1},
    {"set_type", SetType, OP_RARE | OP_RENEWS, .ways = 6},
    {"create_again", CreateAgain, OP_RENEWS, .ways = 1},
    {"from_arrays", FromArrays, OP_RARE | OP_RENEWS, .ways = 1},
    {"save_load", SaveAndLoad, OP_RARE | OP_RENEWS | OP_READS, .ways = 2},
    {"header_replace", HeaderReplace, OP_RENEWS, .ways = 1},
    {"from_options", FromOptions, OP_SPEC | OP_NONEMPTY, .ways = 1},
    {"seqaij_type", SeqAIJType, OP_SPEC, .ways = 1},
    {"set_type_assembled", SetTypeOnAssembled, OP_SPEC, .ways = 1},
    {.name = NULL}};
