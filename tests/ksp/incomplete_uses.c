/* incomplete_uses.c - single solves with incomplete factors, what PETSc's package does, and blocks of other PCs. */
#include "incomplete_test.h"
#include <string.h>

static const IncompleteCase tetrahedra = {.name = "tetrahedra", .shape = 2, .factor = 1, .skew = 0.3};
static const IncompleteCase symmetric  = {.name = "tetrahedra", .shape = 2, .factor = 1};

static const IncompleteCase chain = {.name = "chain", .shape = 5, .factor = 1};
static const IncompleteCase pairs = {.name = "2 unknowns a node", .shape = 6, .factor = 1, .unit = 2};

static PetscErrorCode FactorOf(KSP ksp, Mat *F)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCFactorGetMatrix(pc, F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSame(Vec x, Vec y, const char what[])
{
  PetscReal distance, size;

  PetscFunctionBeginUser;
  PetscCall(TestDistance(x, y, NORM_INFINITY, &distance, &size));
  PetscCall(IncompleteCheck((PetscBool)(size > 0 && distance <= 1e-12 * size), what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factors of two solvers give the same solution */
static PetscErrorCode CheckSameSolve(KSP one, KSP other)
{
  Mat F, P;
  Vec b, x, y;

  PetscFunctionBeginUser;
  PetscCall(FactorOf(one, &F));
  PetscCall(FactorOf(other, &P));
  PetscCall(MatCreateVecs(F, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(b, 1));
  PetscCall(MatSolve(F, b, x));
  PetscCall(MatSolve(P, b, y));
  PetscCall(CheckSame(x, y, "another solution than PETSc's"));
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves, transposed ones, sums, halves, of several right-hand sides, and views */
static PetscErrorCode TestOperations(const IncompleteCase *c, PCType of_pc)
{
  const PetscBool   ilu = strcmp(of_pc, PCICC) ? PETSC_TRUE : PETSC_FALSE;
  MatIncompleteInfo info;
  KSP               ours, petsc;
  Mat               A, F, P;
  Vec               b, x, y, half;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "operations, %s", of_pc));
  PetscCall(IncompleteMatrix(PETSC_COMM_SELF, c, MATAIJ, &A));
  PetscCall(IncompleteSolver(A, KSPGMRES, of_pc, NULL, &ours));
  PetscCall(IncompleteSolver(A, KSPGMRES, of_pc, MATSOLVERPETSC, &petsc));
  PetscCall(FactorOf(ours, &F));
  PetscCall(FactorOf(petsc, &P));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &half));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(MatSolve(F, b, x));
  PetscCall(MatSolve(P, b, y));
  PetscCall(CheckSame(x, y, "another solution than PETSc's"));
  if (ilu) { /* PETSc has no transposed solve with ICC */
    PetscCall(MatSolveTranspose(F, b, x));
    PetscCall(MatSolveTranspose(P, b, y));
    PetscCall(CheckSame(x, y, "another transposed solution than PETSc's"));
  }
  PetscCall(VecSet(x, 2));
  PetscCall(VecSet(y, 2));
  PetscCall(MatSolveAdd(F, b, x, x));
  PetscCall(MatSolveAdd(P, b, y, y));
  PetscCall(CheckSame(x, y, "another sum than PETSc's"));
  PetscCall(IncompleteInfo(ours, &info));
  PetscCall(
      IncompleteCheck((PetscBool)(info.on_device && !info.solves_host && info.solves == 2 + (int)ilu), "on the host"));
  PetscCall(IncompleteCheck((PetscBool)(info.symbolic == 1 + (int)ilu), "transposes were not made once"));
  if (!ilu) {
    PetscCall(MatForwardSolve(F, b, half));
    PetscCall(MatBackwardSolve(F, half, x));
    PetscCall(MatSolve(P, b, y));
    PetscCall(CheckSame(x, y, "halves are not a solve"));
    PetscCall(IncompleteInfo(ours, &info));
    PetscCall(IncompleteCheck((PetscBool)(!info.on_device && info.solves_host == 2), "halves on the device"));
  }
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(TestDestroyVecs(&y, &half));
  PetscCall(KSPDestroy(&ours));
  PetscCall(KSPDestroy(&petsc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first transposed solve of a factor whose matrix has changed cannot be right */
static PetscErrorCode TestChanged(void)
{
  PetscErrorCode error;
  KSP            ksp;
  Mat            A, F;
  Vec            x, b;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "a matrix that has changed"));
  PetscCall(IncompleteMatrix(PETSC_COMM_SELF, &tetrahedra, MATAIJ, &A));
  PetscCall(IncompleteSolver(A, KSPGMRES, PCILU, NULL, &ksp));
  PetscCall(FactorOf(ksp, &F));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(MatScale(A, 2));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  error = MatSolveTranspose(F, b, x);
  PetscCall(PetscPopErrorHandler());
  PetscCall(IncompleteCheck((PetscBool)(error != 0), "no error"));
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IncompleteTestSolves(void)
{
  PetscFunctionBeginUser;
  PetscCall(TestOperations(&tetrahedra, PCILU));
  PetscCall(TestOperations(&symmetric, PCICC));
  PetscCall(TestChanged());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- PETSc's package ---- */

/* One option chooses the host; the reason has a part of its text */
static PetscErrorCode TestReason(const IncompleteCase *c, const char option[], const char value[], MatType type,
                                 PCType of_pc, const char text[])
{
  MatIncompleteInfo info;
  IncompleteResult  ours, petsc;
  KSP               ksp;
  Mat               A;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "%s %s, %s, %s", option, value, type, of_pc));
  PetscCall(PetscOptionsSetValue(NULL, option, value));
  PetscCall(IncompleteMatrix(PETSC_COMM_SELF, c, type, &A));
  PetscCall(IncompleteSolver(A, KSPGMRES, of_pc, MATSOLVERPETSC, &ksp));
  PetscCall(IncompleteSolve(ksp, &petsc));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(IncompleteSolver(A, PetscDefined(USE_COMPLEX) ? KSPGMRES : KSPGMRESDEVICE, of_pc, NULL, &ksp));
  PetscCall(IncompleteSolve(ksp, &ours));
  PetscCall(IncompleteCompare(&ours, &petsc));
  PetscCall(IncompleteInfo(ksp, &info));
  PetscCall(IncompleteCheck((PetscBool)(!info.on_device && !info.solves && info.solves_host > 0), "not on the host"));
  PetscCall(IncompleteCheck((PetscBool)(strstr(info.reason, text) != NULL), info.reason));
  PetscCall(PetscOptionsClearValue(NULL, option));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IncompleteTestScalars(void)
{
  PetscFunctionBeginUser;
  PetscCall(TestReason(&symmetric, "-mat_aijfmt_device", "gpu", MATAIJ, PCILU, "double precision"));
  PetscCall(TestReason(&symmetric, "-mat_aijfmt_device", "gpu", MATAIJ, PCICC, "double precision"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A zero pivot without a shift: PETSc's reasons; the next values are the device's again */
static PetscErrorCode TestZeroPivot(KSPType method)
{
  IncompleteCase    c = {.name = "zero pivot", .shape = 2, .factor = 1, .zero = PETSC_TRUE};
  MatIncompleteInfo info;
  IncompleteResult  ours, petsc;
  PetscReal         pivot[2];
  PetscInt          row[2];
  MatFactorError    error;
  KSP               ksp[2];
  Mat               A, F;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "zero pivot, %s", method));
  PetscCall(IncompleteMatrix(PETSC_COMM_SELF, &c, MATAIJ, &A));
  PetscCall(IncompleteSolver(A, KSPGMRES, PCILU, MATSOLVERPETSC, &ksp[0]));
  PetscCall(IncompleteSolver(A, method, PCILU, NULL, &ksp[1]));
  PetscCall(IncompleteSolve(ksp[0], &petsc));
  PetscCall(IncompleteSolve(ksp[1], &ours));
  PetscCall(IncompleteCompare(&ours, &petsc));
  PetscCall(IncompleteCheck((PetscBool)(ours.reason == KSP_DIVERGED_PC_FAILED), "no failure"));
  for (int i = 0; i < 2; i++) {
    PetscCall(FactorOf(ksp[i], &F));
    PetscCall(MatFactorGetErrorZeroPivot(F, &pivot[i], &row[i]));
    PetscCall(MatFactorGetError(F, &error));
    PetscCall(IncompleteCheck((PetscBool)(error == MAT_FACTOR_NUMERIC_ZEROPIVOT), "another error"));
    PetscCall(MatFactorClearError(F)); /* otherwise PCILU does not factor again */
  }
  PetscCall(IncompleteCheck((PetscBool)(pivot[0] == pivot[1] && row[0] == row[1]), "another pivot than PETSc's"));
  PetscCall(IncompleteInfo(ksp[1], &info));
  PetscCall(IncompleteCheck((PetscBool)(!info.on_device && info.reason[0] != 0), "no reason"));
  c.zero = PETSC_FALSE;
  PetscCall(IncompleteFill(&c, A));
  PetscCall(IncompleteSolve(ksp[0], &petsc));
  PetscCall(IncompleteSolve(ksp[1], &ours));
  PetscCall(IncompleteCompare(&ours, &petsc));
  PetscCall(IncompleteInfo(ksp[1], &info));
  PetscCall(IncompleteCheck((PetscBool)(info.on_device && info.solves > 0 && info.symbolic == 1), info.reason));
  PetscCall(CheckSameSolve(ksp[0], ksp[1])); /* the vectors of the solvers still have the infinities of the failure */
  PetscCall(KSPDestroy(&ksp[0]));
  PetscCall(KSPDestroy(&ksp[1]));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors in place are PETSc's, and so are those of a matrix without rows */
static PetscErrorCode TestOthers(void)
{
  MatIncompleteInfo info;
  IncompleteResult  ours;
  PetscReal         norm;
  KSP               ksp;
  Mat               A;
  PC                pc;
  Vec               x, b;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "in place"));
  PetscCall(IncompleteMatrix(PETSC_COMM_SELF, &symmetric, MATAIJ, &A));
  PetscCall(IncompleteSolver(A, KSPPREONLY, PCILU, NULL, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCFactorSetUseInPlace(pc, PETSC_TRUE));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPSetUp(ksp)); /* overwrites the matrix */
  PetscCall(PCApply(pc, b, x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(IncompleteCheck((PetscBool)(norm > 0), "no solution"));
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "no rows"));
  PetscCall(TestCreate(PETSC_COMM_SELF, MATAIJ, 0, 0, 0, 0, 1, 0, &A));
  PetscCall(TestAssemble(A));
  PetscCall(IncompleteSolver(A, KSPGMRES, PCILU, NULL, &ksp));
  PetscCall(IncompleteSolve(ksp, &ours));
  PetscCall(IncompleteCheck((PetscBool)(ours.reason > 0), "no solution"));
  PetscCall(IncompleteInfo(ksp, &info));
  PetscCall(IncompleteCheck((PetscBool)(strstr(info.reason, "no rows") != NULL), info.reason));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns in another order than rows, as PCFactorReorderForNonzeroDiagonal() may have them, are PETSc's */
static PetscErrorCode TestOrders(void)
{
  const MatSolverType packages[] = {MATSOLVERPETSC, MATSOLVERPETSCPACK};
  MatFactorInfo       of;
  MatIncompleteInfo   info;
  PetscInt            n, *swapped;
  Mat                 A, F;
  Vec                 b, x[2];
  IS                  row, col;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "two orders"));
  PetscCall(IncompleteMatrix(PETSC_COMM_SELF, &symmetric, MATAIJ, &A));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(PetscMalloc1(n, &swapped));
  for (PetscInt i = 0; i < n; i++) swapped[i] = i < 2 ? 1 - i : i;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, n, 0, 1, &row));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, swapped, PETSC_OWN_POINTER, &col));
  PetscCall(MatFactorInfoInitialize(&of));
  of.fill = 1;
  PetscCall(MatCreateVecs(A, NULL, &b));
  PetscCall(VecSetRandom(b, NULL));
  for (int i = 0; i < 2; i++) {
    PetscCall(MatGetFactor(A, packages[i], MAT_FACTOR_ILU, &F));
    PetscCall(MatILUFactorSymbolic(F, A, row, col, &of));
    PetscCall(MatLUFactorNumeric(F, A, &of));
    PetscCall(VecDuplicate(b, &x[i]));
    PetscCall(MatSolve(F, b, x[i]));
    if (i) {
      PetscCall(MatIncompleteGetInfo(F, &info));
      PetscCall(IncompleteCheck((PetscBool)(info.solves_host == 1 && !info.on_device), "on the device"));
      PetscCall(IncompleteCheck((PetscBool)(strstr(info.reason, "different orderings") != NULL), info.reason));
    }
    PetscCall(MatDestroy(&F));
  }
  PetscCall(CheckSame(x[0], x[1], "another solution than PETSc's"));
  PetscCall(TestDestroyVecs(&x[0], &x[1]));
  PetscCall(VecDestroy(&b));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&col));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IncompleteTestHost(void)
{
  IncompleteCase    single = pairs;
  MatIncompleteInfo info;
  IncompleteResult  ours;
  KSP               ksp;
  Mat               A;

  PetscFunctionBeginUser;
  PetscCall(TestOrders());
  PetscCall(TestReason(&symmetric, "-pc_factor_shift_type", "inblocks", MATAIJ, PCILU, "inblocks"));
  PetscCall(TestReason(&symmetric, "-pc_factor_shift_type", "inblocks", MATAIJRBP, PCILU, "inblocks"));
  PetscCall(PetscOptionsClearValue(NULL, "-mat_aijfmt_device"));
  PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "few levels"));
  single.unit = 0;
  PetscCall(IncompleteMatrix(PETSC_COMM_SELF, &single, MATAIJ, &A));
  PetscCall(IncompleteSolver(A, KSPGMRES, PCILU, NULL, &ksp));
  PetscCall(IncompleteSolve(ksp, &ours));
  PetscCall(IncompleteInfo(ksp, &info));
  PetscCall(IncompleteCheck((PetscBool)(info.on_device && info.solves > 0), info.reason));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(TestReason(&symmetric, "-mat_aijfmt_device", "auto", MATAIJ, PCILU, "fewer than"));
  PetscCall(TestReason(&chain, "-mat_aijfmt_device", "auto", MATAIJ, PCILU, "17000 and 17000 levels"));
  PetscCall(TestReason(&pairs, "-mat_aijfmt_device", "auto", MATAIJ, PCILU, "58 and 58 levels"));
  PetscCall(TestReason(&symmetric, "-mat_aijfmt_device", "host", MATAIJ, PCICC, "-mat_aijfmt_device host"));
  PetscCall(TestReason(&symmetric, "-mat_aijfmt_device", "host", MATAIJRBP, PCILU, "-mat_aijfmt_device host"));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_aijfmt_device", "gpu"));
  PetscCall(TestZeroPivot(KSPGMRES));
  PetscCall(TestZeroPivot(KSPGMRESDEVICE));
  PetscCall(TestOthers());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- blocks ---- */

static PetscErrorCode SubSolvers(PC pc, PetscInt *n, KSP **sub)
{
  PetscBool blocks;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCBJACOBI, &blocks));
  if (blocks) PetscCall(PCBJacobiGetSubKSP(pc, n, NULL, sub));
  else PetscCall(PCASMGetSubKSP(pc, n, NULL, sub));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBlocks(PCType of_pc, MatType type, PetscInt local)
{
  MatIncompleteInfo info;
  IncompleteResult  ours, petsc;
  PetscInt          n;
  char              count[16];
  KSP               ksp, *sub;
  Mat               A;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(
      PetscSNPrintf(incomplete_name, sizeof incomplete_name, "%s, %s, %" PetscInt_FMT " blocks", of_pc, type, local));
  PetscCall(PetscSNPrintf(count, sizeof count, "%" PetscInt_FMT, local));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_bjacobi_local_blocks", count));
  PetscCall(IncompleteMatrix(PETSC_COMM_WORLD, &symmetric, type, &A));
  PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_factor_mat_solver_type", MATSOLVERPETSC));
  PetscCall(IncompleteSolver(A, KSPGMRES, of_pc, NULL, &ksp));
  PetscCall(IncompleteSolve(ksp, &petsc));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsClearValue(NULL, "-sub_pc_factor_mat_solver_type"));
  PetscCall(IncompleteSolver(A, KSPGMRES, of_pc, NULL, &ksp));
  PetscCall(IncompleteSolve(ksp, &ours));
  PetscCall(IncompleteCompare(&ours, &petsc));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(SubSolvers(pc, &n, &sub));
  PetscCall(IncompleteCheck((PetscBool)(n == local), "another number of blocks"));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(IncompleteInfo(sub[i], &info));
    PetscCall(IncompleteCheck((PetscBool)(info.on_device && info.solves > 0 && !info.solves_host), info.reason));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-pc_bjacobi_local_blocks"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IncompleteTestBlocks(void)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-sub_mat_aijfmt_device", "gpu"));
  PetscCall(TestBlocks(PCBJACOBI, MATAIJ, 1));
  PetscCall(TestBlocks(PCBJACOBI, MATAIJ, 3));
  PetscCall(TestBlocks(PCBJACOBI, MATAIJRBP, 1));
  PetscCall(TestBlocks(PCASM, MATAIJ, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}
