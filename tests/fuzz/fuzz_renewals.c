/*
  fuzz_renewals.c - operations that renew a matrix: another preallocation, another type, a file, another header
*/
#include "fuzz.h"

static PetscErrorCode Preallocate(Fuzz *f)
{
  const PetscInt diagonal = FuzzBelow(f, 6), other = FuzzBelow(f, 4);

  PetscFunctionBeginUser;
  PetscCall(MatSeqAIJSetPreallocation(f->A, diagonal, NULL));
  PetscCall(MatMPIAIJSetPreallocation(f->A, diagonal, NULL, other, NULL));
  PetscCall(FuzzFill(f, f->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Plain AIJ resets only a matrix that was preallocated before. If processes disagree on that, they wait for each other
   forever. */
static PetscErrorCode ResetPreallocation(Fuzz *f)
{
  PetscFunctionBeginUser;
  PetscCall(Preallocate(f));
  PetscCall(ConfSeeProducts(&f->c, "preallocated", f->A));
  PetscCall(MatResetPreallocation(f->A));
  PetscCall(FuzzFill(f, f->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By MatSetType() to dense, another format or plain, and back: the entries are lost */
static PetscErrorCode SetType(Fuzz *f)
{
  char type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(FuzzDrawType(f, type, NULL));
  if (FuzzChance(f, 50)) PetscCall(MatSetType(f->A, MATDENSE));
  PetscCall(MatSetType(f->A, type));
  PetscCall(MatSetType(f->A, f->type));
  PetscCall(MatSeqAIJSetPreallocation(f->A, 3, NULL));
  PetscCall(MatMPIAIJSetPreallocation(f->A, 3, NULL, 3, NULL));
  PetscCall(FuzzFill(f, f->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new matrix, allocated in any of the possible ways */
static PetscErrorCode CreateAgain(Fuzz *f)
{
  FuzzShape s;
  Mat       B;

  PetscFunctionBeginUser;
  if (FuzzChance(f, 50)) PetscCall(FuzzShapeOf(f->A, &s));
  else PetscCall(FuzzDrawShape(f, &s));
  PetscCall(FuzzCreate(f, &s, f->type, &B));
  PetscCall(FuzzReplace(f, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From arrays of a program, which give plain AIJ; converted to our type */
static PetscErrorCode FromArrays(Fuzz *f)
{
  FuzzShape          s;
  Mat                local, B;
  PetscInt           n;
  const PetscInt    *i, *j;
  const PetscScalar *value;
  PetscBool          done, parallel;

  PetscFunctionBeginUser;
  PetscCall(FuzzShapeOf(f->A, &s));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)f->A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetLocalMat(f->A, MAT_INITIAL_MATRIX, &local));
  else PetscCall(MatDuplicate(f->A, MAT_COPY_VALUES, &local));
  PetscCall(MatGetRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "MatGetRowIJ() has nothing to give");
  PetscCall(MatSeqAIJGetArrayRead(local, &value));
  PetscCall(MatCreateMPIAIJWithArrays(f->c.comm, s.m, s.n, s.M, s.N, i, j, value, &B));
  PetscCall(MatSeqAIJRestoreArrayRead(local, &value));
  PetscCall(MatRestoreRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatDestroy(&local));
  PetscCall(MatConvert(B, f->type, MAT_INPLACE_MATRIX, &B));
  PetscCall(FuzzReplace(f, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LoadFile(Fuzz *f, Mat B)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(f->c.comm, f->file, FILE_MODE_READ, &viewer));
  PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
  PetscCall(MatLoad(B, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Loads into a new matrix, and into the saved one after its values have changed */
static PetscErrorCode SaveAndLoad(Fuzz *f)
{
  PetscViewer viewer;
  FuzzShape   s;
  Mat         B;

  PetscFunctionBeginUser;
  PetscCall(FuzzShapeOf(f->A, &s));
  PetscCall(PetscViewerCreate(f->c.comm, &viewer));
  PetscCall(PetscViewerSetType(viewer, PETSCVIEWERBINARY));
  PetscCall(PetscViewerFileSetMode(viewer, FILE_MODE_WRITE));
  PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
  PetscCall(PetscViewerFileSetName(viewer, f->file));
  PetscCall(MatView(f->A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatCreate(f->c.comm, &B));
  PetscCall(MatSetType(B, f->type));
  if (FuzzChance(f, 50)) PetscCall(MatSetSizes(B, s.m, s.n, s.M, s.N));
  PetscCall(LoadFile(f, B));
  PetscCall(ConfSeeMat(&f->c, "loaded", B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatScale(f->A, 2));
  PetscCall(LoadFile(f, f->A));
  PetscCallMPI(MPI_Barrier(f->c.comm));
  if (!f->c.rank) (void)remove(f->file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HeaderReplace(Fuzz *f)
{
  FuzzShape s;
  Mat       B;

  PetscFunctionBeginUser;
  PetscCall(FuzzShapeOf(f->A, &s));
  PetscCall(FuzzCreate(f, &s, f->type, &B));
  PetscCall(MatHeaderReplace(f->A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FuzzOperation fuzz_renewals[] = {{"preallocate", Preallocate, 0},
                                       {"reset_preallocation", ResetPreallocation, FUZZ_RARE | FUZZ_SEQUENTIAL},
                                       {"set_type", SetType, FUZZ_RARE | FUZZ_RENEWS},
                                       {"create_again", CreateAgain, FUZZ_RENEWS},
                                       {"from_arrays", FromArrays, FUZZ_RARE | FUZZ_RENEWS},
                                       {"save_load", SaveAndLoad, FUZZ_RARE | FUZZ_RENEWS},
                                       {"header_replace", HeaderReplace, FUZZ_RENEWS},
                                       {NULL, NULL, 0}};
