/*
  incomplete_test.c - ILU and ICC of the package petscpack, through PCILU and PCICC of a program that names no
  package: iterations are compared with those of PETSc's package, and counters say where the factors were.

    incomplete_test -mat_aijfmt_device gpu
*/
static const char help[] = "Incomplete factors on the GPU compared with PETSc's.\n";

#include "incomplete_test.h"
#include <string.h>

static PetscInt checks, failures;
char            incomplete_name[256];

PetscErrorCode IncompleteCheck(PetscBool right, const char what[])
{
  PetscFunctionBeginUser;
  checks++;
  if (right) PetscFunctionReturn(PETSC_SUCCESS);
  failures++;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", incomplete_name, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IncompleteSolver(Mat A, KSPType type, PCType of_pc, MatSolverType package, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 60));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, of_pc));
  if (package) PetscCall(PCFactorSetMatSolverType(pc, package));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IncompleteInfo(KSP ksp, MatIncompleteInfo *info)
{
  Mat F;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatIncompleteGetInfo(F, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IncompleteSolve(KSP ksp, IncompleteResult *result)
{
  PetscReal norm;
  Mat       A;
  Vec       x, b, r;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &result->reason));
  PetscCall(KSPGetIterationNumber(ksp, &result->its));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetFailedReason(pc, &result->failed));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &result->error));
  PetscCall(VecNorm(b, NORM_2, &norm));
  result->error /= norm > 0 ? norm : 1;
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IncompleteCompare(const IncompleteResult *ours, const IncompleteResult *petsc)
{
  char text[256];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(text, sizeof text,
                          "%" PetscInt_FMT " iterations, reason %d, %d, error %g; PETSc's package %" PetscInt_FMT
                          ", %d, %d, %g",
                          ours->its, (int)ours->reason, (int)ours->failed, (double)ours->error, petsc->its,
                          (int)petsc->reason, (int)petsc->failed, (double)petsc->error));
  PetscCall(IncompleteCheck((PetscBool)(ours->reason == petsc->reason && ours->failed == petsc->failed &&
                                        PetscAbsInt(ours->its - petsc->its) <= 1),
                            text));
  if (petsc->reason > 0) PetscCall(IncompleteCheck((PetscBool)(ours->error <= 2 * petsc->error + 1e-6), text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckDevice(KSP ksp, PetscInt symbolic, PetscInt numeric)
{
  MatIncompleteInfo info;
  PetscBool         engine;

  PetscFunctionBeginUser;
  PetscCall(IncompleteInfo(ksp, &info));
  PetscCall(IncompleteCheck((PetscBool)(info.on_device && !info.solves_host && info.solves > 0), info.reason));
  PetscCall(IncompleteCheck((PetscBool)(info.symbolic == symbolic && info.numeric == numeric), "factored too often"));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &engine, KSPCGDEVICE, KSPGMRESDEVICE, KSPRICHARDSONDEVICE, ""));
  if (engine) {
    KSPDeviceInfo of;

    PetscCall(KSPDeviceGetInfo(ksp, &of));
    PetscCall(IncompleteCheck((PetscBool)(of.solves_device > 0 && !of.solves_host), of.reason));
    PetscCall(IncompleteCheck((PetscBool)(of.graphs > 0), "no graph"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same problem with PETSc's package and with ours, for each pair of methods */
static PetscErrorCode TestMethods(const IncompleteCase *c, MatType type, PCType of_pc, MatFactorShiftType shift,
                                  const KSPType methods[3])
{
  IncompleteResult petsc, ours;
  KSP              ksp;
  Mat              A;
  PC               pc;

  PetscFunctionBeginUser;
  PetscCall(IncompleteMatrix(PETSC_COMM_SELF, c, type, &A));
  for (int m = 0; m < 3; m++) { /* the first is the reference */
    PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "%s, %s, %s, %s, %s", c->name, type, of_pc,
                            MatFactorShiftTypes[shift], methods[m]));
    PetscCall(IncompleteSolver(A, methods[m], of_pc, m ? NULL : MATSOLVERPETSC, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCFactorSetShiftType(pc, shift));
    PetscCall(IncompleteSolve(ksp, m ? &ours : &petsc));
    if (m) {
      PetscCall(IncompleteCompare(&ours, &petsc));
      PetscCall(CheckDevice(ksp, 1, 1));
    }
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestCase(const IncompleteCase *c, MatType type, PCType of_pc, MatFactorShiftType shift)
{
  static const KSPType methods[2][3] = {{KSPGMRES, KSPGMRESDEVICE, KSPGMRES}, {KSPCG, KSPCGDEVICE, KSPCG}};

  PetscFunctionBeginUser;
  PetscCall(TestMethods(c, type, of_pc, shift, methods[strcmp(of_pc, PCICC) ? 0 : 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestTable(void)
{
  static const IncompleteCase cases[] = {
      {.name = "5-point", .shape = 0, .factor = 1},
      {.name = "7-point", .shape = 1, .factor = 1},
      {.name = "tetrahedra", .shape = 2, .factor = 1},
      {.name = "3 unknowns a node", .shape = 3, .factor = 1},
      {.name = "one row", .shape = 4, .factor = 1},
      {.name = "convection", .shape = 0, .factor = 1, .skew = 0.7},
      {.name = "convection, tetrahedra", .shape = 2, .factor = 1, .skew = 0.5},
  };

  static const KSPType richardson[3] = {KSPRICHARDSON, KSPRICHARDSONDEVICE, KSPRICHARDSON};

  PetscFunctionBeginUser;
  PetscCall(TestMethods(&cases[2], MATAIJ, PCILU, MAT_SHIFT_NONE, richardson));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    PetscCall(TestCase(&cases[i], MATAIJ, PCILU, MAT_SHIFT_NONE));
    if (cases[i].skew != 0) continue;
    PetscCall(TestCase(&cases[i], MATAIJ, PCICC, MAT_SHIFT_POSITIVE_DEFINITE));
  }
  PetscCall(TestCase(&cases[2], MATAIJRBP, PCILU, MAT_SHIFT_NONE));
  PetscCall(TestCase(&cases[3], MATAIJAUTO, PCILU, MAT_SHIFT_POSITIVE_DEFINITE));
  PetscCall(TestCase(&cases[3], MATAIJRBP, PCICC, MAT_SHIFT_NONE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices whose factors have pivots that are too small without a shift */
static PetscErrorCode TestShifts(void)
{
  static const IncompleteCase zero     = {.name = "zero pivot", .shape = 0, .factor = 1, .zero = PETSC_TRUE};
  static const IncompleteCase weak     = {.name = "indefinite", .shape = 2, .factor = 0.4};
  static const char *const    pcs[]    = {PCILU, PCICC};
  const MatFactorShiftType    shifts[] = {MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE};
  const IncompleteCase *const cases[]  = {&zero, &weak};
  MatIncompleteInfo           info;
  IncompleteResult            ours;
  PetscInt                    shifted = 0;
  KSP                         ksp;
  Mat                         A;
  PC                          pc;

  PetscFunctionBeginUser;
  for (int c = 0; c < 2; c++)
    for (int p = 0; p < 2; p++)
      for (int s = 0; s < 2; s++) {
        PetscCall(TestCase(cases[c], MATAIJ, pcs[p], shifts[s]));
        PetscCall(IncompleteMatrix(PETSC_COMM_SELF, cases[c], MATAIJ, &A));
        PetscCall(IncompleteSolver(A, KSPGMRES, pcs[p], NULL, &ksp));
        PetscCall(KSPGetPC(ksp, &pc));
        PetscCall(PCFactorSetShiftType(pc, shifts[s]));
        PetscCall(IncompleteSolve(ksp, &ours));
        PetscCall(IncompleteInfo(ksp, &info));
        if (info.on_device && info.shifts > 0 && info.shift > 0) shifted++;
        PetscCall(KSPDestroy(&ksp));
        PetscCall(MatDestroy(&A));
      }
  PetscCall(IncompleteCheck((PetscBool)(shifted >= 6), "fewer shifts than expected"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values are factored without an analysis; a new pattern is another factor */
static PetscErrorCode TestRenewal(MatType type, KSPType method, PCType of_pc)
{
  IncompleteCase   c = {.name = "new values", .shape = 2, .factor = 1};
  IncompleteResult ours, petsc;
  KSP              ksp, other;
  Mat              A;
  PetscInt         n;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "renewal, %s, %s, %s", type, method, of_pc));
  PetscCall(IncompleteMatrix(PETSC_COMM_SELF, &c, type, &A));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(IncompleteSolver(A, method, of_pc, NULL, &ksp));
  for (c.step = 0; c.step < 4; c.step++) {
    if (c.step) PetscCall(IncompleteFill(&c, A));
    if (c.step == 3) { /* a nonzero more in two rows */
      PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      PetscCall(MatSetValue(A, 0, n - 1, -0.3, INSERT_VALUES));
      PetscCall(MatSetValue(A, n - 1, 0, -0.3, INSERT_VALUES));
      PetscCall(TestAssemble(A));
    }
    PetscCall(IncompleteSolve(ksp, &ours));
    PetscCall(IncompleteSolver(A, strcmp(of_pc, PCICC) ? KSPGMRES : KSPCG, of_pc, MATSOLVERPETSC, &other));
    PetscCall(IncompleteSolve(other, &petsc));
    PetscCall(KSPDestroy(&other));
    PetscCall(IncompleteCompare(&ours, &petsc));
    PetscCall(CheckDevice(ksp, 1, c.step == 3 ? 1 : c.step + 1));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels of fill and orders, with the shifts that follow from them */
static PetscErrorCode TestFill(void)
{
  static const IncompleteCase tetrahedra = {.name = "tetrahedra", .shape = 2, .factor = 1};
  static const IncompleteCase convection = {.name = "convection", .shape = 2, .factor = 1, .skew = 0.5};
  static const IncompleteCase nodes      = {.name = "3 unknowns a node", .shape = 3, .factor = 1};
  static const IncompleteCase one        = {.name = "one row", .shape = 4, .factor = 1};
  static const IncompleteCase weak       = {.name = "indefinite", .shape = 2, .factor = 0.4};
  static const struct {
    const IncompleteCase *of;
    const char           *levels, *order;
    MatType               type;
    PCType                of_pc;
    MatFactorShiftType    shift;
  } rows[] = {{&convection, "1", MATORDERINGNATURAL, MATAIJ, PCILU, MAT_SHIFT_NONE},
              {&nodes, "2", MATORDERINGNATURAL, MATAIJ, PCILU, MAT_SHIFT_NONZERO},
              {&convection, "0", MATORDERINGRCM, MATAIJ, PCILU, MAT_SHIFT_NONE},
              {&convection, "1", MATORDERINGND, MATAIJRBP, PCILU, MAT_SHIFT_NONE},
              {&one, "1", MATORDERINGQMD, MATAIJ, PCILU, MAT_SHIFT_NONE},
              {&weak, "1", MATORDERINGRCM, MATAIJRBP, PCILU, MAT_SHIFT_POSITIVE_DEFINITE},
              {&weak, "0", MATORDERING1WD, MATAIJ, PCILU, MAT_SHIFT_NONZERO},
              {&tetrahedra, "1", MATORDERINGNATURAL, MATAIJ, PCICC, MAT_SHIFT_POSITIVE_DEFINITE},
              {&nodes, "2", MATORDERINGRCM, MATAIJRBP, PCICC, MAT_SHIFT_POSITIVE_DEFINITE},
              {&tetrahedra, "0", MATORDERINGND, MATAIJ, PCICC, MAT_SHIFT_NONE},
              {&weak, "1", MATORDERINGRCM, MATAIJAUTO, PCICC, MAT_SHIFT_POSITIVE_DEFINITE},
              {&weak, "0", MATORDERINGRCM, MATAIJ, PCICC, MAT_SHIFT_NONZERO}};

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-pc_factor_diagonal_fill", NULL)); /* there is nothing to fill */
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    PetscCall(PetscOptionsSetValue(NULL, "-pc_factor_levels", rows[i].levels));
    PetscCall(PetscOptionsSetValue(NULL, "-pc_factor_mat_ordering_type", rows[i].order));
    PetscCall(TestCase(rows[i].of, rows[i].type, rows[i].of_pc, rows[i].shift));
  }
  PetscCall(TestRenewal(MATAIJ, KSPGMRESDEVICE, PCILU));
  PetscCall(TestRenewal(MATAIJRBP, KSPCGDEVICE, PCICC));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_factor_levels", "1"));
  PetscCall(IncompleteTestSolves());
  PetscCall(PetscOptionsClearValue(NULL, "-pc_factor_levels"));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_factor_mat_ordering_type"));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_factor_diagonal_fill"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscPackReplaceType(PCILU, PETSC_TRUE));
  PetscCall(PetscPackReplaceType(PCICC, PETSC_TRUE));
  if (PetscDefined(USE_COMPLEX) || !PetscDefined(USE_REAL_DOUBLE)) {
    PetscCall(IncompleteTestScalars());
  } else if (size == 1) {
    PetscCall(TestTable());
    PetscCall(TestShifts());
    PetscCall(TestRenewal(MATAIJ, KSPGMRES, PCILU));
    PetscCall(TestRenewal(MATAIJRBP, KSPGMRESDEVICE, PCILU));
    PetscCall(TestRenewal(MATAIJAUTO, KSPCGDEVICE, PCICC));
    PetscCall(TestFill());
    PetscCall(IncompleteTestSolves());
    PetscCall(IncompleteTestHost());
    PetscCall(IncompleteTestSweeps());
  }
  if (!PetscDefined(USE_COMPLEX) && PetscDefined(USE_REAL_DOUBLE)) {
    PetscCall(IncompleteTestBlocks());
    PetscCall(IncompleteTestDivided());
    PetscCall(IncompleteTestEngines());
    PetscCall(IncompleteTestBroken());
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " checks, %" PetscInt_FMT " failed\n", checks, failures));
  PetscCall(PetscFinalize());
  return failures || !checks ? 1 : 0;
}
