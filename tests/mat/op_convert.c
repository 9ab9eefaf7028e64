/*
  op_convert.c - conversions to and from the other types
*/
#include "ops.h"

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

/* Converts to another type and back: in place, or to new matrices, of which the first one is changed */
static PetscErrorCode Tour(Conf *c)
{
  const MatType   there = c->operation->to;
  const PetscBool fresh = OpChance(c, 50);
  Mat             B, C;

  PetscFunctionBeginUser;
  PetscCall(SetBlockSizes(c->A));
  if (!fresh) {
    PetscCall(MatConvert(c->A, there, MAT_INPLACE_MATRIX, &c->A));
    PetscCall(ConfSeeProducts(c, there, c->A));
    PetscCall(MatConvert(c->A, c->type, MAT_INPLACE_MATRIX, &c->A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatConvert(c->A, there, MAT_INITIAL_MATRIX, &B));
  PetscCall(ConfSeeProducts(c, there, B));
  PetscCall(MatScale(B, OpFactor(c)));
  PetscCall(MatConvert(B, c->type, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatDestroy(&B));
  PetscCall(OpReplace(c, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The conversion of a parallel matrix to MATIS needs entries in the off-diagonal block of every process */
static PetscErrorCode CanBecomeIS(Conf *c, PetscBool *can)
{
  Mat      off_diagonal;
  MatInfo  info;
  PetscInt nonzeros;

  PetscFunctionBeginUser;
  *can = PETSC_TRUE;
  if (c->size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(c->A, NULL, &off_diagonal, NULL));
  PetscCall(MatGetInfo(off_diagonal, MAT_LOCAL, &info));
  nonzeros = (PetscInt)info.nz_used;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &nonzeros, 1, MPIU_INT, MPI_MIN, c->comm));
  *can = nonzeros > 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MATIS has local matrices, and lacks some transposed products; after converting back, explicit zeros differ, so
   products are compared */
static PetscErrorCode ToIS(Conf *c)
{
  Mat       B, C;
  Vec       x, y;
  PetscBool can;

  PetscFunctionBeginUser;
  PetscCall(CanBecomeIS(c, &can));
  if (!can) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatConvert(c->A, MATIS, MAT_INITIAL_MATRIX, &B));
  PetscCall(ConfCreateVecs(c->A, OpNext(c), &x, &y));
  PetscCall(MatMult(B, x, y));
  PetscCall(ConfSeeVec(c, "MATIS", y));
  PetscCall(MatConvert(B, c->type, MAT_INITIAL_MATRIX, &C));
  PetscCall(ConfSeeMat(c, "from MATIS", C));
  PetscCall(TestDestroyVecs(&x, &y));
  PetscCall(TestDestroyMats(&B, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The upper triangle of a symmetric matrix */
static PetscErrorCode ToSBAIJ(Conf *c)
{
  Mat B, S, C;

  PetscFunctionBeginUser;
  PetscCall(OpDominant(c, PETSC_TRUE, &B));
  PetscCall(SetBlockSizes(B));
  PetscCall(MatConvert(B, MATSBAIJ, MAT_INITIAL_MATRIX, &S));
  PetscCall(ConfSeeProducts(c, MATSBAIJ, S));
  PetscCall(MatConvert(S, c->type, MAT_INITIAL_MATRIX, &C));
  PetscCall(ConfSeeMat(c, "from " MATSBAIJ, C));
  PetscCall(TestDestroyMats(&B, &S));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In place, to the plain type, to another format, or to its own, and back; the values change there */
static PetscErrorCode ToOther(Conf *c)
{
  char type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(OpDrawType(c, type, NULL));
  PetscCall(MatConvert(c->A, type, MAT_INPLACE_MATRIX, &c->A));
  PetscCall(MatScale(c->A, OpFactor(c)));
  PetscCall(ConfSeeProducts(c, "converted", c->A));
  PetscCall(MatConvert(c->A, c->type, MAT_INPLACE_MATRIX, &c->A));
  PetscCall(MatConvert(c->A, MATSAME, MAT_INPLACE_MATRIX, &c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the plain type: a new matrix, refilled */
static PetscErrorCode FromPlain(Conf *c)
{
  Mat plain, B;

  PetscFunctionBeginUser;
  PetscCall(ConfCreatePlain(c, &plain));
  PetscCall(MatConvert(plain, c->type, MAT_INITIAL_MATRIX, &B));
  PetscCall(ConfSeeMat(c, "converted", B));
  PetscCall(MatScale(plain, 2));
  PetscCall(MatConvert(plain, c->type, MAT_REUSE_MATRIX, &B));
  PetscCall(ConfSeeMat(c, "converted again", B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatConvert(plain, c->type, MAT_INPLACE_MATRIX, &plain));
  PetscCall(OpReplace(c, plain));
  PetscCall(ConfSeeProducts(c, "converted in place", c->A));
  PetscCall(ConfSetValues(c, c->A, 41));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The source stays as it is; a refill takes its new values */
static PetscErrorCode Convert(Conf *c)
{
  char type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(OpDrawType(c, type, NULL));
  if (c->operation->to) PetscCall(PetscStrncpy(type, c->operation->to, sizeof type));
  PetscCall(MatConvert(c->A, type, OpReuse(c), &c->made));
  PetscCall(OpSeeMade(c, "converted", c->operation->to ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A MATMAIJ has no values of its own: its products read those of A */
static PetscErrorCode ToMAIJ(Conf *c)
{
  Vec x, y;

  PetscFunctionBeginUser;
  if (!c->made) PetscCall(MatCreateMAIJ(c->A, 2 + OpBelow(c, 2), &c->made));
  if (!c->alone) {
    PetscCall(ConfSeeProducts(c, MATMAIJ, c->made));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ConfCreateVecs(c->made, 75, &x, &y));
  PetscCall(MatMult(c->made, x, y));
  PetscCall(ConfSeeVec(c, MATMAIJ, y));
  PetscCall(TestDestroyVecs(&x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation op_convert[] = {
    {"to_dense", Tour, OP_RENEWS | OP_DENSE, .ways = 2, .to = MATDENSE},
    {"to_baij", Tour, OP_RENEWS | OP_NONEMPTY, .ways = 2, .to = MATBAIJ},
    {"to_sbaij", ToSBAIJ, OP_SQUARE | OP_NONEMPTY, .ways = 1},
    {"to_sell", Tour, OP_RENEWS, .ways = 2, .to = MATSELL},
    {"to_perm", Tour, OP_RENEWS, .ways = 2, .to = MATAIJPERM},
    {"to_aijsell", Tour, OP_RENEWS, .ways = 2, .to = MATAIJSELL},
    {"to_is", ToIS, OP_RARE, .ways = 1},
    {"to_other", ToOther, OP_RENEWS, .ways = 3},
    {"from_plain", FromPlain, OP_SPEC, .ways = 1},
    {"convert", Convert, OP_MAKES, .ways = 3},
    {"convert_plain", Convert, OP_READS | OP_MAKES, .ways = 1, .to = MATAIJ},
    {"convert_dense", Convert, OP_READS | OP_MAKES | OP_DENSE, .ways = 1, .to = MATDENSE},
    {"to_maij", ToMAIJ, OP_READS | OP_MAKES, .ways = 1},
    {.name = NULL}};
