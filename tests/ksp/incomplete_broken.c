/* incomplete_broken.c - single applications, matrices that have no factors, and numbers that are none: solutions, reasons
   and iterations are those of PETSc's package, on one process and on two. */
#include "incomplete_test.h"
#include <string.h>

static const IncompleteCase skew      = {.name = "tetrahedra", .shape = 2, .factor = 1, .skew = 0.3};
static const IncompleteCase symmetric = {.name = "tetrahedra", .shape = 2, .factor = 1};

/* Options for PETSc's package, in this PC and in its blocks */
static PetscErrorCode PackagePut(PetscBool of_petsc)
{
  static const char *const options[] = {"-pc_factor_mat_solver_type", "-sub_pc_factor_mat_solver_type"};

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++)
    if (of_petsc) PetscCall(PetscOptionsSetValue(NULL, options[i], MATSOLVERPETSC));
    else PetscCall(PetscOptionsClearValue(NULL, options[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves and sweeps of the preconditioner on the device, or solves of an engine; -1: some were on the host */
static PetscErrorCode OnDevice(KSP ksp, PetscInt *count)
{
  KSPDeviceInfo     of;
  MatIncompleteInfo factor;
  MatAIJFmtInfo     sweeps;
  PetscBool         is[3], engine;
  PetscInt          n;
  KSP              *sub = &ksp;
  Mat               A, diagonal = NULL;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &engine, KSPCGDEVICE, KSPGMRESDEVICE, ""));
  if (engine) {
    PetscCall(KSPDeviceGetInfo(ksp, &of));
    *count = of.solves_host ? -1 : of.solves_device;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSOR, &is[0]));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCBJACOBI, &is[1]));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCASM, &is[2]));
  if (is[0]) {
    PetscCall(PCGetOperators(pc, &A, NULL));
    PetscCall(MatGetDiagonalBlock(A, &diagonal));
    PetscCall(MatAIJFmtGetInfo(diagonal, &sweeps));
    *count = sweeps.fallbacks_sweep > 0 ? -1 : (PetscInt)sweeps.sweeps;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (is[1]) PetscCall(PCBJacobiGetSubKSP(pc, &n, NULL, &sub));
  if (is[2]) PetscCall(PCASMGetSubKSP(pc, &n, NULL, &sub));
  PetscCall(IncompleteInfo(sub[0], &factor));
  *count = factor.on_device && !factor.solves_host ? factor.solves : -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- one application ---- */

/* x = M^-1 b, by PETSc's package or by ours */
static PetscErrorCode ApplyOnce(const IncompleteCase *c, PCType of_pc, PetscBool of_petsc, Vec *x)
{
  PetscInt    count, first, last;
  PetscMPIInt size;
  KSP         ksp;
  Mat         A;
  PC          pc;
  Vec         b;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(IncompleteMatrix(PETSC_COMM_WORLD, c, of_petsc ? MATAIJ : MATAIJRBP, &A));
  PetscCall(MatCreateVecs(A, x, &b));
  PetscCall(VecGetOwnershipRange(b, &first, &last));
  for (PetscInt i = first; i < last; i++)
    PetscCall(VecSetValue(b, i, (PetscScalar)gen_uniform((uint64_t)i, 7) - 0.5, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscCall(PackagePut(of_petsc));
  PetscCall(IncompleteSolver(A, KSPGMRES, of_pc, NULL, &ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCApply(pc, b, *x));
  if (!of_petsc) {
    PetscCall(OnDevice(ksp, &count));
    PetscCall(IncompleteCheck((PetscBool)(count == 1), "not applied once on the device"));
  }
  PetscCall(PackagePut(PETSC_FALSE));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestApplication(const IncompleteCase *c, PCType of_pc)
{
  PetscReal distance, size;
  Vec       ours, petsc;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "one application of %s, %s", of_pc, c->name));
  PetscCall(ApplyOnce(c, of_pc, PETSC_FALSE, &ours));
  PetscCall(ApplyOnce(c, of_pc, PETSC_TRUE, &petsc));
  PetscCall(TestDistance(ours, petsc, NORM_INFINITY, &distance, &size));
  PetscCall(IncompleteCheck((PetscBool)(size > 0 && distance <= 1e-13 * size), "another result than PETSc's"));
  PetscCall(TestDestroyVecs(&ours, &petsc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- broken matrices ---- */

typedef struct {
  const char          *name;
  const IncompleteCase matrix; /* before it is broken */
  enum { WHOLE, NO_ROW, ALONE, NAN_IN_MATRIX } fault;
  PCType             of_pc;
  MatFactorShiftType shift; /* of ILU and ICC, also in blocks */
  PetscErrorCode     error;
  KSPConvergedReason reason; /* both are PETSc's */
} Broken;

/* In a row of the first process: no entry; only the diagonal, in its column, too; or NaN */
static PetscErrorCode Break(const Broken *t, Mat A)
{
  const PetscInt row = 7;
  PetscInt       first;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, NULL));
  if (t->fault == NO_ROW) PetscCall(MatZeroRows(A, first == 0, &row, 0, NULL, NULL));
  if (t->fault == ALONE) PetscCall(MatZeroRowsColumns(A, first == 0, &row, 3, NULL, NULL));
  if (t->fault == NAN_IN_MATRIX && first == 0) PetscCall(MatSetValue(A, row, row, NAN, INSERT_VALUES));
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The error of a set-up, and the result if there is none */
static PetscErrorCode SolveBroken(const Broken *t, KSPType method, PetscBool of_petsc, PetscErrorCode *error,
                                  IncompleteResult *result)
{
  PetscInt count;
  KSP      ksp;
  Mat      A;

  PetscFunctionBeginUser;
  PetscCall(PackagePut(of_petsc));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_factor_shift_type", MatFactorShiftTypes[t->shift]));
  PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_factor_shift_type", MatFactorShiftTypes[t->shift]));
  PetscCall(IncompleteMatrix(PETSC_COMM_WORLD, &t->matrix, of_petsc ? MATAIJ : MATAIJRBP, &A));
  PetscCall(Break(t, A));
  PetscCall(IncompleteSolver(A, method, t->of_pc, NULL, &ksp));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  *error = KSPSetUp(ksp);
  if (!*error) *error = KSPSetUpOnBlocks(ksp);
  PetscCall(PetscPopErrorHandler());
  memset(result, 0, sizeof *result);
  if (!*error) PetscCall(IncompleteSolve(ksp, result));
  if (!*error && !of_petsc && t->reason != KSP_DIVERGED_PC_FAILED) {
    PetscCall(OnDevice(ksp, &count));
    PetscCall(IncompleteCheck((PetscBool)(count > 0), "on the host"));
  }
  PetscCall(PackagePut(PETSC_FALSE));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_factor_shift_type"));
  PetscCall(PetscOptionsClearValue(NULL, "-sub_pc_factor_shift_type"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBroken(const Broken *t)
{
  static const KSPType methods[2][3] = {{KSPGMRES, KSPGMRES, KSPGMRESDEVICE}, {KSPCG, KSPCG, KSPCGDEVICE}};
  IncompleteResult     result[3];
  PetscErrorCode       error[3];
  char                 text[128];

  PetscFunctionBeginUser;
  for (int m = 0; m < 3; m++) { /* the first is PETSc's */
    const KSPType method = methods[t->matrix.skew == 0][m];

    PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "%s, %s, %s", t->name, t->of_pc, method));
    PetscCall(SolveBroken(t, method, (PetscBool)(m == 0), &error[m], &result[m]));
    PetscCall(PetscSNPrintf(text, sizeof text, "%d: error %d, reason %d", m, (int)error[m], (int)result[m].reason));
    PetscCall(IncompleteCheck((PetscBool)(error[m] == t->error && result[m].reason == t->reason), text));
    PetscCall(IncompleteCompare(&result[m], &result[0]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SKEW      .shape = 2, .factor = 1, .skew = 0.3
#define SYMMETRIC .shape = 2, .factor = 1

PetscErrorCode IncompleteTestBroken(void)
{
  static const PCType pcs[]   = {PCSOR, PCBJACOBI, PCASM, PCILU, PCICC};
  static const Broken cases[] = {
      {"a row alone", {SKEW}, ALONE, PCBJACOBI, MAT_SHIFT_NONE, 0, KSP_CONVERGED_RTOL},
      {"a row alone", {SKEW}, ALONE, PCASM, MAT_SHIFT_NONE, 0, KSP_CONVERGED_RTOL},
      {"a row alone", {SKEW}, ALONE, PCSOR, MAT_SHIFT_NONE, 0, KSP_CONVERGED_RTOL},
      {"NaN", {SKEW}, NAN_IN_MATRIX, PCBJACOBI, MAT_SHIFT_NONE, 0, KSP_DIVERGED_NANORINF},
      {"NaN", {SYMMETRIC}, NAN_IN_MATRIX, PCASM, MAT_SHIFT_NONE, 0, KSP_DIVERGED_NANORINF},
      {"NaN", {SKEW}, NAN_IN_MATRIX, PCSOR, MAT_SHIFT_NONE, 0, KSP_DIVERGED_NANORINF},
      {"zero pivot", {SKEW, .zero = PETSC_TRUE}, WHOLE, PCBJACOBI, MAT_SHIFT_NONE, 0, KSP_DIVERGED_PC_FAILED},
      {"zero pivot", {SYMMETRIC, .zero = PETSC_TRUE}, WHOLE, PCASM, MAT_SHIFT_NONE, 0, KSP_DIVERGED_PC_FAILED},
      {"a row alone", {SKEW}, ALONE, PCILU, MAT_SHIFT_NONE, 0, KSP_CONVERGED_RTOL},
      {"a row alone", {SYMMETRIC}, ALONE, PCICC, MAT_SHIFT_NONE, 0, KSP_CONVERGED_RTOL},
      {"no row", {SKEW}, NO_ROW, PCILU, MAT_SHIFT_NONE, PETSC_ERR_ARG_WRONGSTATE, 0},
      {"no row", {SKEW}, NO_ROW, PCBJACOBI, MAT_SHIFT_NONE, PETSC_ERR_ARG_WRONGSTATE, 0},
      {"NaN", {SKEW}, NAN_IN_MATRIX, PCILU, MAT_SHIFT_NONE, 0, KSP_DIVERGED_NANORINF},
      {"NaN", {SYMMETRIC}, NAN_IN_MATRIX, PCICC, MAT_SHIFT_POSITIVE_DEFINITE, 0, KSP_DIVERGED_NANORINF},
      {"zero pivot", {SYMMETRIC, .zero = PETSC_TRUE}, WHOLE, PCICC, MAT_SHIFT_NONE, 0, KSP_DIVERGED_PC_FAILED},
      {"indefinite", {.shape = 2, .factor = 0.4}, WHOLE, PCICC, MAT_SHIFT_NONE, 0, KSP_DIVERGED_INDEFINITE_PC},
  };
  enum { PCS = sizeof pcs / sizeof *pcs, CASES = sizeof cases / sizeof *cases, SEVERAL_PCS = 3, SEVERAL_CASES = 8 };
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  /* only the first ones on several processes: for these PCs, and without an error on one of them */
  for (int i = 0; i < (size > 1 ? SEVERAL_PCS : PCS); i++)
    PetscCall(TestApplication(strcmp(pcs[i], PCICC) ? &skew : &symmetric, pcs[i]));
  for (int i = 0; i < (size > 1 ? SEVERAL_CASES : CASES); i++) PetscCall(TestBroken(&cases[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
