/*
  levels_test.c - the matrices of the levels that PCGAMG makes on the emulated device stay there: set-ups, solves, new
  values and queries bring none of their arrays to the host, and do not read the values of the finest matrix there. A
  program that reads one brings that one alone, and sees new values.

    levels_test -mat_aijfmt_device gpu -mat_aijfmt_decline 0
*/
static const char help[] = "Counts which matrices of levels come to the host.\n";

#include "cgdevice_test.h"

#include <math.h>
#include <spmv_emulator.h>
#include <spmv_kernels.h>

enum { STEPS = 2, LEAST = 4096 /* bytes of shared arrays: the coarsest level, which the host inverts, is smaller */ };

typedef struct {
  const char *name;
  MatType     type;
  KSPType     ksp;
  PCType      pc;
  PetscInt    side, unknowns; /* points along an edge of the cube, and unknowns per point */
  PetscBool   single;         /* the cycle in single precision */
} Row;

static const Row rows[] = {
    {"cgdevice, rbp", MATAIJRBP, KSPCGDEVICE, PCGAMG, 6, 1, PETSC_FALSE},
    {"cgdevice, rbp, three levels", MATAIJRBP, KSPCGDEVICE, PCGAMG, 5, 3, PETSC_FALSE},
    {"cgdevice, codsell", MATAIJCODSELL, KSPCGDEVICE, PCGAMG, 6, 1, PETSC_FALSE},
    {"cgdevice, fold", MATAIJFOLD, KSPCGDEVICE, PCGAMG, 6, 1, PETSC_FALSE},
    {"cgdevice, crsv", MATAIJCRSV, KSPCGDEVICE, PCGAMG, 6, 1, PETSC_FALSE},
    {"cgdevice, auto", MATAIJAUTO, KSPCGDEVICE, PCGAMG, 6, 1, PETSC_FALSE},
    {"cgdevice, single precision", MATAIJRBP, KSPCGDEVICE, PCGAMG, 6, 1, PETSC_TRUE},
    {"gmresdevice, rbp", MATAIJRBP, KSPGMRESDEVICE, PCGAMG, 6, 1, PETSC_FALSE},
    {"fgmres, gamgdevice", MATAIJRBP, KSPFGMRES, PCGAMGDEVICE, 6, 1, PETSC_FALSE},
    {"cg, gamg", MATAIJRBP, KSPCG, PCGAMG, 6, 1, PETSC_FALSE},
};

static PetscErrorCode Fill(const Row *row, Mat A, PetscReal factor)
{
  return CGDevTestStencil(A, row->side, row->unknowns, factor, (PetscReal)0.25, 2);
}

static PetscErrorCode Create(const Row *row, Mat *A, KSP *ksp)
{
  const PetscInt n = row->side * row->side * row->side * row->unknowns;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(TestCreate(PETSC_COMM_SELF, row->type, n, n, n, n, row->unknowns, 27 * row->unknowns, A));
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetType(*ksp, row->ksp));
  if (row->single) PetscCall(KSPSetOptionsPrefix(*ksp, "single_"));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, row->pc));
  PetscCall(PCGAMGSetType(pc, PCGAMGAGGDEVICE));
  PetscCall(PCGAMGSetReuseInterpolation(pc, PETSC_TRUE));
  PetscCall(PCGAMGSetCoarseEqLim(pc, 20));
  PetscCall(KSPSetOperators(*ksp, *A, *A));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrices that PCGAMG has made: of each level but the finest, and of the interpolation to the next finer one */
static PetscErrorCode MatrixOf(PC pc, PetscInt level, PetscBool interpolation, Mat *A)
{
  KSP smoother;

  PetscFunctionBeginUser;
  if (interpolation) PetscCall(PCMGGetInterpolation(pc, level + 1, A));
  else {
    PetscCall(PCMGGetSmoother(pc, level, &smoother));
    PetscCall(KSPGetOperators(smoother, A, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Expect(const Row *row, long expected, const char what[])
{
  const long moved = spmv_emulator_moved();
  char       text[128];

  PetscFunctionBeginUser;
  PetscCall(
      PetscSNPrintf(text, sizeof text, "%ld matrices came to the host in place of %ld by %s", moved, expected, what));
  PetscCall(CGDevTestCheck(moved == expected ? PETSC_TRUE : PETSC_FALSE, row->name, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IsShared(Mat A, PetscBool *is)
{
  const PetscInt *row_ptr, *col;
  PetscInt        n;
  PetscBool       done;

  PetscFunctionBeginUser;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &row_ptr, &col, &done));
  *is = spmv_shared_holds(col) ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &row_ptr, &col, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Queries that need no arrays, then a read of each matrix. */
static PetscErrorCode Ask(const Row *row, PC pc)
{
  PetscInt           levels, found = 0;
  const PetscScalar *value;
  volatile PetscReal read;
  PetscLogDouble     arrays;
  PetscBool          shared = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */
  MatInfo            info;
  MatAIJFmtInfo      ours;
  Vec                d;
  Mat                A;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(pc, &levels));
  for (PetscInt k = 0; k < 2 * (levels - 1); k++) {
    PetscCall(MatrixOf(pc, k / 2, k % 2 ? PETSC_TRUE : PETSC_FALSE, &A));
    PetscCall(IsShared(A, &shared));
    if (!shared) continue;
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    PetscCall(MatAIJFmtGetInfo(A, &ours));
    arrays = info.nz_used * (PetscLogDouble)(sizeof(PetscInt) + sizeof(PetscScalar));
    PetscCall(CGDevTestCheck(info.memory >= ours.own_bytes + arrays, row->name, "MatGetInfo() has not all memory"));
    PetscCall(MatCreateVecs(A, NULL, &d));
    if (k % 2 == 0) PetscCall(MatGetDiagonal(A, d));
    PetscCall(VecDestroy(&d));
    PetscCall(Expect(row, 0, "MatGetInfo() and MatGetDiagonal()"));
    PetscCall(MatSeqAIJGetArrayRead(A, &value));
    PetscCall(Expect(row, 0, "a call without a read"));
    read = PetscRealPart(value[0]);
    PetscCall(MatSeqAIJRestoreArrayRead(A, &value));
    PetscCall(CGDevTestCheck(read == read ? PETSC_TRUE : PETSC_FALSE, row->name, "a value that is no number"));
    PetscCall(Expect(row, 1, "MatSeqAIJGetArrayRead() of one"));
    found++;
  }
  PetscCall(CGDevTestCheck(found > 0 ? PETSC_TRUE : PETSC_FALSE, row->name, "no matrix was in shared memory"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A program that holds a level's matrix sees that the next set-up has doubled the values */
static PetscErrorCode SeesNewValues(const Row *row, PC pc, Mat fine)
{
  PetscReal          before, after;
  const PetscScalar *value;
  Mat                A;
  PetscInt           levels;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(pc, &levels));
  PetscCall(MatrixOf(pc, levels - 2, PETSC_FALSE, &A));
  PetscCall(MatSeqAIJGetArrayRead(A, &value));
  before = PetscRealPart(value[0]);
  PetscCall(MatSeqAIJRestoreArrayRead(A, &value));
  PetscCall(Fill(row, fine, 2));
  PetscCall(PCSetUp(pc));
  PetscCall(MatSeqAIJGetArrayRead(A, &value));
  after = PetscRealPart(value[0]);
  PetscCall(MatSeqAIJRestoreArrayRead(A, &value));
  PetscCall(CGDevTestCheck(after == 2 * before ? PETSC_TRUE : PETSC_FALSE, row->name, "new values were not seen"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the host's values of A wrong, without a word to PETSc, once a plan has them. One of crsv, which auto may choose,
   cannot be unpacked. */
static PetscErrorCode SpoilHost(const Row *row, Mat A, Vec x, Vec b)
{
  const PetscScalar *value;
  PetscBool          borrows, chosen;
  MatInfo            info;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(row->type, MATAIJCRSV, &borrows));
  PetscCall(PetscStrcmp(row->type, MATAIJAUTO, &chosen));
  if (borrows || chosen) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMult(A, b, x));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(MatSeqAIJGetArrayRead(A, &value));
  for (PetscInt k = 0; k < (PetscInt)info.nz_used; k++) ((PetscScalar *)value)[k] = NAN;
  PetscCall(MatSeqAIJRestoreArrayRead(A, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Levels(const Row *row)
{
  PetscInt           iterations;
  KSPConvergedReason reason;
  Mat                A;
  KSP                ksp;
  PC                 pc;
  Vec                b, x;

  PetscFunctionBeginUser;
  PetscCall(Create(row, &A, &ksp));
  PetscCall(Fill(row, A, 1));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(CGDevTestRightHandSide(b));
  PetscCall(SpoilHost(row, A, x, b));
  PetscCall(KSPGetPC(ksp, &pc));
  (void)spmv_emulator_moved();
  for (int step = 0; step < STEPS; step++) {
    if (step > 0) PetscCall(Fill(row, A, 1 + step));
    PetscCall(KSPSetUp(ksp));
    PetscCall(PCSetUp(pc));
    PetscCall(Expect(row, 0, step ? "a set-up with new values" : "the set-up"));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(Expect(row, 0, "a solve"));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(CGDevTestCheck(reason > 0 && iterations < 12 ? PETSC_TRUE : PETSC_FALSE, row->name, "no convergence"));
  }
  PetscCall(Ask(row, pc));
  PetscCall(Fill(row, A, 1));
  PetscCall(PCSetUp(pc));
  PetscCall(SeesNewValues(row, pc, A));
  (void)spmv_emulator_moved();
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(Expect(row, 0, "the destruction"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsSetValue(NULL, "-single_pc_mgdevice_precision", "single"));
  spmv_shared_least(LEAST);
  for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(rows); r++) PetscCall(Levels(&rows[r]));
  return CGDevTestEnd();
}
