/*
  fuzz_convert.c - conversions to and from the other types
*/
#include "fuzz.h"

/* Sets block sizes explicitly. An unset block size is -1, by which conversions to and from BAIJ and SBAIJ of PETSc 3.18
   divide: they read uninitialized row lengths, and write past arrays. */
static PetscErrorCode SetBlockSizes(Mat A)
{
  PetscInt rows, cols;

  PetscFunctionBeginUser;
  PetscCall(MatGetBlockSizes(A, &rows, &cols));
  PetscCall(MatSetBlockSizes(A, rows, cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts to another type and back, in place */
static PetscErrorCode Visit(Fuzz *f, MatType there)
{
  PetscFunctionBeginUser;
  PetscCall(MatConvert(f->A, there, MAT_INPLACE_MATRIX, &f->A));
  PetscCall(ConfSeeProducts(&f->c, there, f->A));
  PetscCall(MatConvert(f->A, f->type, MAT_INPLACE_MATRIX, &f->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts to a new matrix, changes it, and converts it back to another new matrix */
static PetscErrorCode VisitNew(Fuzz *f, MatType there)
{
  Mat B, C;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(f->A, there, MAT_INITIAL_MATRIX, &B));
  PetscCall(ConfSeeProducts(&f->c, there, B));
  PetscCall(MatScale(B, FuzzFactor(f)));
  PetscCall(MatConvert(B, f->type, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatDestroy(&B));
  PetscCall(FuzzReplace(f, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Tour(Fuzz *f, MatType there)
{
  PetscFunctionBeginUser;
  PetscCall(SetBlockSizes(f->A));
  if (FuzzChance(f, 50)) PetscCall(Visit(f, there));
  else PetscCall(VisitNew(f, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ToDense(Fuzz *f) { return Tour(f, MATDENSE); }
static PetscErrorCode ToBAIJ(Fuzz *f) { return Tour(f, MATBAIJ); }
static PetscErrorCode ToSELL(Fuzz *f) { return Tour(f, MATSELL); }
static PetscErrorCode ToPerm(Fuzz *f) { return Tour(f, MATAIJPERM); }
static PetscErrorCode ToAIJSELL(Fuzz *f) { return Tour(f, MATAIJSELL); }

/* The conversion of a parallel matrix to MATIS needs entries in the off-diagonal block of every process */
static PetscErrorCode CanBecomeIS(Fuzz *f, PetscBool *can)
{
  Mat      off_diagonal;
  MatInfo  info;
  PetscInt nonzeros;

  PetscFunctionBeginUser;
  *can = PETSC_TRUE;
  if (f->c.size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(f->A, NULL, &off_diagonal, NULL));
  PetscCall(MatGetInfo(off_diagonal, MAT_LOCAL, &info));
  nonzeros = (PetscInt)info.nz_used;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &nonzeros, 1, MPIU_INT, MPI_MIN, f->c.comm));
  *can = nonzeros > 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MATIS has local matrices, and lacks some transposed products; after converting back, explicit zeros differ, so
   products are compared */
static PetscErrorCode ToIS(Fuzz *f)
{
  Mat       B, C;
  Vec       x, y;
  PetscBool can;

  PetscFunctionBeginUser;
  PetscCall(CanBecomeIS(f, &can));
  if (!can) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatConvert(f->A, MATIS, MAT_INITIAL_MATRIX, &B));
  PetscCall(ConfCreateVecs(f->A, FuzzNext(f), &x, &y));
  PetscCall(MatMult(B, x, y));
  PetscCall(ConfSeeVec(&f->c, "MATIS", y));
  PetscCall(MatConvert(B, f->type, MAT_INITIAL_MATRIX, &C));
  PetscCall(ConfSeeMat(&f->c, "from MATIS", C));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The upper triangle of a symmetric matrix */
static PetscErrorCode ToSBAIJ(Fuzz *f)
{
  Mat B, S, C;

  PetscFunctionBeginUser;
  PetscCall(FuzzDominant(f, PETSC_TRUE, &B));
  PetscCall(SetBlockSizes(B));
  PetscCall(MatConvert(B, MATSBAIJ, MAT_INITIAL_MATRIX, &S));
  PetscCall(ConfSeeProducts(&f->c, MATSBAIJ, S));
  PetscCall(MatConvert(S, f->type, MAT_INITIAL_MATRIX, &C));
  PetscCall(ConfSeeMat(&f->c, "from " MATSBAIJ, C));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ToPlainOrOther(Fuzz *f)
{
  char type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(FuzzDrawType(f, type, NULL));
  PetscCall(MatConvert(f->A, type, MAT_INPLACE_MATRIX, &f->A));
  PetscCall(MatScale(f->A, FuzzFactor(f)));
  PetscCall(ConfSeeProducts(&f->c, "converted", f->A));
  PetscCall(MatConvert(f->A, f->type, MAT_INPLACE_MATRIX, &f->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertReuse(Fuzz *f)
{
  Mat  B;
  char type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(FuzzDrawType(f, type, NULL));
  PetscCall(MatConvert(f->A, type, MAT_INITIAL_MATRIX, &B));
  PetscCall(ConfSeeProducts(&f->c, "converted", B));
  PetscCall(MatScale(f->A, FuzzFactor(f)));
  PetscCall(MatConvert(f->A, type, MAT_REUSE_MATRIX, &B));
  PetscCall(ConfSeeProducts(&f->c, "converted again", B));
  PetscCall(FuzzKeep(f, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of several unknowns with the entries of A; only products are compared */
static PetscErrorCode ToMAIJ(Fuzz *f)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatCreateMAIJ(f->A, 2 + FuzzBelow(f, 2), &B));
  PetscCall(ConfSeeProducts(&f->c, MATMAIJ, B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BindToCPU(Fuzz *f)
{
  PetscFunctionBeginUser;
  PetscCall(MatBindToCPU(f->A, PETSC_TRUE));
  PetscCall(ConfSeeProducts(&f->c, "bound to the CPU", f->A));
  PetscCall(MatScale(f->A, FuzzFactor(f)));
  PetscCall(MatBindToCPU(f->A, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FuzzOperation fuzz_convert[] = {{"to_dense", ToDense, FUZZ_RENEWS | FUZZ_SMALL},
                                      {"to_baij", ToBAIJ, FUZZ_RENEWS},
                                      {"to_sbaij", ToSBAIJ, FUZZ_SQUARE | FUZZ_NONEMPTY},
                                      {"to_sell", ToSELL, FUZZ_RENEWS},
                                      {"to_perm", ToPerm, FUZZ_RENEWS},
                                      {"to_aijsell", ToAIJSELL, FUZZ_RENEWS},
                                      {"to_is", ToIS, FUZZ_RARE},
                                      {"to_other", ToPlainOrOther, FUZZ_RENEWS},
                                      {"convert_reuse", ConvertReuse, 0},
                                      {"to_maij", ToMAIJ, 0},
                                      {"bind_to_cpu", BindToCPU, 0},
                                      {NULL, NULL, 0}};
