/*
  point_test.c - the numbers of PCJACOBI on the emulated device: those of PCApply() to the bit, which one step of Richardson's
  iteration shows, on one process and two, also for a matrix with zeros on its diagonal. PETSc's log says whether PCApply()
  was called for them.

    point_test -mat_aijfmt_decline 0 -mat_aijfmt_device gpu
*/
static const char help[] = "Numbers of PCJACOBI on the device.\n";

#include "cgdevice_test.h"

/* calls: of PCApply() for the numbers */
typedef struct {
  const char *name;
  PetscErrorCode (*set)(PC);
  PetscBool positive; /* the matrix is said to be positive definite */
  int       calls;
} Row;

static PetscErrorCode Default(PC pc) { return PCJacobiSetFixDiagonal(pc, PETSC_TRUE); }
static PetscErrorCode NoFix(PC pc) { return PCJacobiSetFixDiagonal(pc, PETSC_FALSE); }
static PetscErrorCode Absolute(PC pc) { return PCJacobiSetUseAbs(pc, PETSC_TRUE); }
static PetscErrorCode LargestOfRow(PC pc) { return PCJacobiSetType(pc, PC_JACOBI_ROWMAX); }

static const Row rows[] = {
    {"default", Default, PETSC_FALSE, 0},          {"zeros stay", NoFix, PETSC_FALSE, 0},
    {"positive", Default, PETSC_TRUE, 0},          {"absolute", Absolute, PETSC_FALSE, 1},
    {"row maximum", LargestOfRow, PETSC_FALSE, 1},
};

static PetscErrorCode Create(const Row *row, Mat *A)
{
  const PetscInt n = 5 * 5 * 5;

  PetscFunctionBeginUser;
  PetscCall(TestCreate(PETSC_COMM_WORLD, MATAIJRBP, PETSC_DECIDE, PETSC_DECIDE, n, n, 1, 27, A));
  PetscCall(CGDevTestStencil(*A, 5, 1, (PetscReal)0.3, (PetscReal)0.1, 3));
  for (PetscInt i = 7; i < n; i += 20)
    PetscCall(MatSetValue(*A, i, i, i % 3 ? 0 : (PetscScalar)-0.7 * i, INSERT_VALUES));
  PetscCall(TestAssemble(*A));
  if (row->positive) PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = M b */
static PetscErrorCode OneStep(const Row *row, Mat A, Vec b, Vec x)
{
  KSPDeviceInfo info;
  char          text[80];
  int           before, after;
  KSP           ksp;
  PC            pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPRICHARDSONDEVICE));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED)); /* the first norm of others is that of PCApply() */
  PetscCall(KSPSetTolerances(ksp, (PetscReal)1e-30, (PetscReal)1e-30, (PetscReal)1e30, 1));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall((*row->set)(pc));
  PetscCall(CGDevTestEvent("PCApply", &before));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(CGDevTestEvent("PCApply", &after));
  PetscCall(KSPDeviceGetInfo(ksp, &info));
  PetscCall(CGDevTestCheck(info.used != KSP_DEVICE_HOST, row->name, info.reason));
  PetscCall(PetscSNPrintf(text, sizeof text, "PCApply() was called %d times", after - before));
  PetscCall(CGDevTestCheck(after - before == row->calls, row->name, text));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Numbers(const Row *row)
{
  PetscBool same;
  Mat       A;
  Vec       b, got, expected;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(Create(row, &A));
  PetscCall(MatCreateVecs(A, &got, &b));
  PetscCall(VecDuplicate(got, &expected));
  PetscCall(CGDevTestRightHandSide(b));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall((*row->set)(pc));
  PetscCall(PCApply(pc, b, expected));
  PetscCall(OneStep(row, A, b, got));
  PetscCall(VecEqual(got, expected, &same));
  PetscCall(CGDevTestCheck(same, row->name, "other bits"));
  PetscCall(PCDestroy(&pc));
  PetscCall(TestDestroyVecs(&got, &expected));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscLogDefaultBegin());
  for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(rows); r++) PetscCall(Numbers(&rows[r]));
  return CGDevTestEnd();
}
