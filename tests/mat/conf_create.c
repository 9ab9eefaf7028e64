/*
  conf_create.c - the ways to make a matrix of a type
*/
#include "conf.h"

static PetscErrorCode SetTypeWithPreallocation(Conf *c)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(ConfSeeMat(c, "MatSetType", A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The type comes from an option with a prefix, without preallocation. The second assembly adds entries to the last row
   after the first product, so that packed arrays with the old pattern give a wrong result. */
static PetscErrorCode FromOptionsNoPreallocation(Conf *c)
{
  Mat      A;
  char     type[CONF_TYPE_MAX];
  PetscInt last = c->M - 1;

  PetscFunctionBeginUser;
  PetscCall(ConfName(c, c->base, type));
  PetscCall(PetscOptionsSetValue(NULL, "-conf_mat_type", type));
  PetscCall(ConfCreateEmpty(c, &A));
  PetscCall(MatSetOptionsPrefix(A, "conf_"));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(ConfSetValues(c, A, 11));
  PetscCall(ConfSeeMat(c, "hash", A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt j = 0; j < c->N && c->rank == c->size - 1; j++) PetscCall(MatSetValue(A, last, j, 2, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(ConfSeeMat(c, "new nonzeros", A));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscOptionsClearValue(NULL, "-conf_mat_type"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Programs that hard-code MATAIJ get the type through -mat_seqaij_type, also for the inner blocks. A parallel matrix
   keeps the name mpiaij then, so only numbers are compared. */
static PetscErrorCode SeqAIJTypeOption(Conf *c)
{
  Mat       A;
  PetscReal norm;
  char      type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(ConfName(c, MATSEQAIJ, type));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_seqaij_type", type));
  PetscCall(ConfCreateEmpty(c, &A));
  PetscCall(MatSetType(A, MATAIJ));
  PetscCall(MatSetUp(A));
  PetscCall(ConfSetValues(c, A, 12));
  PetscCall(PetscOptionsClearValue(NULL, "-mat_seqaij_type"));
  PetscCall(ConfSeeMat(c, "-mat_seqaij_type", A));
  PetscCall(MatNorm(A, NORM_1, &norm));
  PetscCall(ConfSeeReal(c, "MatNorm", norm));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatSetType() keeps the entries of an assembled plain matrix */
static PetscErrorCode SetTypeOnAssembled(Conf *c)
{
  Mat  A;
  char type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(ConfCreatePlain(c, &A));
  PetscCall(ConfName(c, c->base, type));
  PetscCall(MatSetType(A, type));
  PetscCall(ConfSeeMat(c, "MatSetType on assembled", A));
  PetscCall(ConfSetValues(c, A, 13));
  PetscCall(ConfSeeMat(c, "then MatSetValues", A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a plain matrix to a binary file and loads it into the type */
static PetscErrorCode Load(Conf *c)
{
  Mat         A, B;
  char        type[CONF_TYPE_MAX], path[PETSC_MAX_PATH_LEN];
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(ConfCreatePlain(c, &A));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-scratch", path, sizeof(path), NULL));
  PetscCall(PetscViewerBinaryOpen(c->comm, path, FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(ConfName(c, c->base, type));
  PetscCall(ConfCreateEmpty(c, &B));
  PetscCall(MatSetType(B, type));
  PetscCall(PetscViewerBinaryOpen(c->comm, path, FILE_MODE_READ, &viewer));
  PetscCall(MatLoad(B, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(ConfSeeMat(c, "MatLoad", B));
  PetscCall(PetscViewerBinaryOpen(c->comm, path, FILE_MODE_READ, &viewer));
  PetscCall(MatLoad(B, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(ConfSeeMat(c, "MatLoad again", B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembles the same pattern repeatedly: new values must reach the product */
static PetscErrorCode Reassemble(Conf *c)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  for (uint64_t seed = 20; seed < 23; seed++) {
    PetscCall(ConfSetValues(c, A, seed));
    PetscCall(ConfSeeMat(c, "new values", A));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(ConfSeeProducts(c, "assembled without a change", A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds entries to rows of other processes, so that assembly must communicate */
static PetscErrorCode AddFromElsewhere(Conf *c)
{
  Mat          A;
  PetscInt    *col, count;
  PetscScalar *value;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(PetscMalloc2(c->N, &col, c->N, &value));
  for (PetscInt i = c->rank; i < c->M; i += c->size) {
    PetscCall(ConfRow(c, i, 31, &count, col, value));
    PetscCall(MatSetValues(A, 1, &i, count, col, value, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FLUSH_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FLUSH_ASSEMBLY));
  PetscCall(PetscFree2(col, value));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(ConfSeeMat(c, "ADD_VALUES of other processes", A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation conf_create[] = {{"set_type", SetTypeWithPreallocation, 0},
                                     {"from_options_hash", FromOptionsNoPreallocation, CONF_NONEMPTY},
                                     {"seqaij_type", SeqAIJTypeOption, 0},
                                     {"set_type_assembled", SetTypeOnAssembled, 0},
                                     {"load", Load, 0},
                                     {"reassemble", Reassemble, 0},
                                     {"add_elsewhere", AddFromElsewhere, 0},
                                     {NULL, NULL, 0}};
