/*
  factor_test.c - LU and Cholesky of the package cudss, on one process and on several, through PCLU and PCCHOLESKY of a
  program that names no package:
  solutions are compared with those of PETSc's package, and counters say where they were computed.

    factor_test -petscpack_cudss libcudss.so.1 -petscpack_cudss_least_rows 0

  With -fake, the library is the replacement of tests/direct, which is told to fail.
*/
static const char help[] = "Factors on the GPU compared with PETSc's.\n";

#include "factor_test.h"
#include <stdlib.h>
#include <string.h>

static PetscInt  checks, failures;
static PetscBool fake = PETSC_FALSE;
PetscBool        factor_several;
MPI_Comm         factor_comm;
char             factor_name[128];

PetscErrorCode FactorCheck(PetscBool right, const char what[])
{
  PetscFunctionBeginUser;
  checks++;
  if (right) PetscFunctionReturn(PETSC_SUCCESS);
  failures++;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", factor_name, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- solves ---- */

PetscErrorCode FactorSolver(KSPType type, PCType of_pc, MatSolverType package, Mat A, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(factor_comm, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, of_pc));
  if (package) PetscCall(PCFactorSetMatSolverType(pc, package));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorInfo(KSP ksp, MatCuDSSInfo *info)
{
  MatSolverType package = NULL;
  PetscBool     ours;
  Mat           F;
  PC            pc;

  PetscFunctionBeginUser;
  *info = (MatCuDSSInfo){.reason = ""};
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCFactorGetMatSolverType(pc, &package));
  PetscCall(PetscStrcmp(package, MATSOLVERCUDSS, &ours));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatCuDSSGetInfo(F, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorSolved(KSP ksp, PetscBool transposed, PetscReal *error)
{
  KSPConvergedReason why;
  PetscReal          of_A, of_x, of_b;
  Mat                A;
  Vec                x, b, r;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSetRandom(b, NULL));
  if (transposed) PetscCall(KSPSolveTranspose(ksp, b, x));
  else PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &why));
  if (transposed) PetscCall(MatMultTranspose(A, x, r));
  else PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(MatNorm(A, NORM_INFINITY, &of_A));
  PetscCall(VecNorm(x, NORM_INFINITY, &of_x));
  PetscCall(VecNorm(b, NORM_INFINITY, &of_b));
  PetscCall(VecNorm(r, NORM_INFINITY, error));
  *error = why > 0 ? *error / PetscMax(of_A * of_x + of_b, PETSC_SMALL) : -1;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The error is at most that of PETSc's package, or 1e-14. Where PETSc's fails, ours may be right, if the matrix is regular:
   PETSc's meets zeros on the diagonal. */
static PetscErrorCode CheckError(PetscReal error, PetscReal of_petsc, PetscBool regular)
{
  PetscFunctionBeginUser;
  PetscCall(FactorCheck((PetscBool)((error < 0) == (of_petsc < 0) || (regular && of_petsc < 0)),
                        "another reason than PETSc's"));
  PetscCall(FactorCheck(
      (PetscBool)(error <= PetscMax(1e-14, 2 * of_petsc) || (PetscIsNanReal(error) && PetscIsNanReal(of_petsc))),
      "the backward error is larger than PETSc's"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ErrorOfPetsc(PCType type, Mat A, PetscReal *error)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(FactorSolver(KSPPREONLY, type, factor_several ? "mumps" : MATSOLVERPETSC, A, &ksp));
  PetscCall(FactorSolved(ksp, PETSC_FALSE, error));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool FactorCounted(PetscInt count, PetscInt expected)
{
  PetscMPIInt rank;

  return MPI_Comm_rank(factor_comm, &rank) || rank || count == expected ? PETSC_TRUE : PETSC_FALSE;
}

/* Each case as LU and as Cholesky: right, or PETSc's own failure */
static PetscErrorCode TestSuite(void)
{
  static const char *const types[] = {PCLU, PCCHOLESKY};
  MatCuDSSInfo             info;
  PetscReal                error, petsc;

  PetscFunctionBeginUser;
  for (int c = 0; c < FACTOR_CASES; c++)
    for (int t = 0; t < 2; t++) {
      Mat A;
      KSP ksp;

      if (factor_several &&
          (FactorCases[c].zeros || FactorCases[c].neumann || FactorCases[c].gap || FactorCases[c].nan))
        continue; /* PETSc's package */
      if (t && (FactorCases[c].skew != 0 || FactorCases[c].row_factor != 1 || FactorCases[c].gap))
        continue; /* not symmetric */
      PetscCall(PetscSNPrintf(factor_name, sizeof factor_name, "%s, %s", FactorCases[c].name, types[t]));
      PetscCall(FactorMatrix(&FactorCases[c], MATAIJ, N, &A));
      PetscCall(ErrorOfPetsc(types[t], A, &petsc));
      PetscCall(FactorSolver(KSPPREONLY, types[t], NULL, A, &ksp));
      PetscCall(FactorSolved(ksp, PETSC_FALSE, &error));
      PetscCall(CheckError(error, petsc, (PetscBool)(FactorCases[c].zeros > 0)));
      PetscCall(FactorInfo(ksp, &info));
      if (petsc >= 0 && !FactorCases[c].zeros && !FactorCases[c].neumann)
        PetscCall(FactorCheck((PetscBool)(info.on_device && FactorCounted(info.solves, 1)), info.reason));
      if (!info.on_device) PetscCall(FactorCheck((PetscBool)(info.reason[0] != 0), "no reason"));
      PetscCall(KSPDestroy(&ksp));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values and a new pattern, with each type of matrix and method */
static PetscErrorCode TestReuse(MatType type, KSPType method, PCType of_pc)
{
  MatCuDSSInfo info;
  PetscReal    error;
  Mat          A;
  KSP          ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(factor_name, sizeof factor_name, "%s, %s, %s", type, method, of_pc));
  PetscCall(FactorMatrix(&FactorCases[0], type, N, &A));
  PetscCall(FactorSolver(method, of_pc, NULL, A, &ksp));
  for (int step = 0; step < 4; step++) {
    if (step) PetscCall(FactorFill(&FactorCases[0], step, N, A));
    if (step == 3) { /* a nonzero more in two rows: another pattern */
      PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      PetscCall(MatSetValue(A, 0, N - 1, -0.1, INSERT_VALUES));
      PetscCall(MatSetValue(A, N - 1, 0, -0.1, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    }
    PetscCall(FactorSolved(ksp, PETSC_FALSE, &error));
    PetscCall(FactorCheck((PetscBool)(error >= 0 && error <= 1e-14), "a wrong solution"));
    PetscCall(FactorInfo(ksp, &info));
    PetscCall(FactorCheck((PetscBool)(info.on_device && !info.fallbacks), info.reason));
    if (!strcmp(method, KSPPREONLY)) { /* the factor of another pattern is another object */
      PetscCall(FactorCheck(
          (PetscBool)(FactorCounted(info.symbolic, 1) && FactorCounted(info.numeric, step == 3 ? 1 : step + 1)),
          "factored too often"));
      PetscCall(FactorCheck((PetscBool)(info.solves == info.numeric), "not solved with the factor"));
    }
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Engines apply the factor within their iterations; of_pc: PCLU, or block Jacobi with it */
static PetscErrorCode TestEngine(KSPType method, PCType of_pc)
{
  KSPDeviceInfo info;
  PetscReal     error;
  Mat           A;
  KSP           ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(factor_name, sizeof factor_name, "engine %s, %s", method, of_pc));
  PetscCall(FactorMatrix(&FactorCases[0], MATAIJRBP, N, &A));
  PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_type", PCLU));
  PetscCall(FactorSolver(method, of_pc, NULL, A, &ksp));
  for (int step = 0; step < 3; step++) {
    if (step) PetscCall(FactorFill(&FactorCases[0], 1 + step, N, A));
    PetscCall(FactorSolved(ksp, PETSC_FALSE, &error));
    PetscCall(FactorCheck((PetscBool)(error >= 0 && error <= 1e-14), "a wrong solution"));
    PetscCall(KSPDeviceGetInfo(ksp, &info));
    PetscCall(FactorCheck((PetscBool)(info.solves_device == step + 1 && !info.solves_host), info.reason));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-sub_pc_type"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Transposed solves, solves added to a vector, several right-hand sides, inertia */
static PetscErrorCode TestOperations(PCType of_pc)
{
  const PetscInt columns = 3;
  PetscReal      error, norm;
  PetscInt       inertia[3], petsc[3];
  Mat            A, F, B, X, R;
  Vec            b, x, y;
  KSP            ksp, other;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(factor_name, sizeof factor_name, "operations, %s", of_pc));
  PetscCall(FactorMatrix(&FactorCases[strcmp(of_pc, PCLU) ? 6 : 2], MATAIJ, N, &A));
  PetscCall(FactorSolver(KSPPREONLY, of_pc, NULL, A, &ksp));
  PetscCall(FactorSolved(ksp, PETSC_TRUE, &error));
  PetscCall(FactorCheck((PetscBool)(error >= 0 && error <= 1e-13), "a wrong transposed solution"));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(VecSet(y, 2));
  PetscCall(MatSolve(F, b, x));
  PetscCall(MatSolveAdd(F, b, y, y));
  PetscCall(VecAXPY(y, -1, x));
  PetscCall(VecShift(y, -2));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(FactorCheck((PetscBool)(norm <= 1e-12), "a wrong sum"));
  PetscCall(MatCreateDense(factor_comm, PETSC_DECIDE, PETSC_DECIDE, N, columns, NULL, &B));
  PetscCall(MatSetRandom(B, NULL));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall(MatMatSolve(F, B, X));
  PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &R));
  PetscCall(MatAXPY(R, -1, B, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(R, NORM_FROBENIUS, &norm));
  PetscCall(FactorCheck((PetscBool)(norm <= 1e-10), "a wrong solution of several"));
  if (strcmp(of_pc, PCLU) && !PetscDefined(USE_COMPLEX)) {
    PetscCall(MatGetInertia(F, &inertia[0], &inertia[1], &inertia[2]));
    PetscCall(FactorCheck((PetscBool)(inertia[0] > 0 && inertia[0] + inertia[1] + inertia[2] == N), "a wrong inertia"));
  }
  if (strcmp(of_pc, PCLU) && !factor_several && !PetscDefined(USE_COMPLEX)) {
    PetscCall(FactorSolver(KSPPREONLY, of_pc, MATSOLVERPETSC, A, &other));
    PetscCall(KSPSetUp(other));
    PetscCall(KSPGetPC(other, &pc));
    PetscCall(PCFactorGetMatrix(pc, &F));
    PetscCall(MatGetInertia(F, &petsc[0], &petsc[1], &petsc[2]));
    for (int i = 0; i < 3; i++)
      PetscCall(FactorCheck((PetscBool)(inertia[i] == petsc[i]), "another inertia than PETSc's"));
    PetscCall(KSPDestroy(&other));
  }
  PetscCall(MatDestroy(&R));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The two halves of a solve, for which the factor moves to PETSc's package */
static PetscErrorCode TestHalves(void)
{
  MatCuDSSInfo info;
  PetscReal    norm;
  Mat          A, F;
  Vec          b, x, y, half;
  KSP          ksp;
  PC           pc;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(factor_name, sizeof factor_name, "halves of a solve"));
  PetscCall(FactorMatrix(&FactorCases[0], MATAIJ, N, &A));
  PetscCall(FactorSolver(KSPPREONLY, PCCHOLESKY, NULL, A, &ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &half));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(MatSolve(F, b, x));
  PetscCall(MatForwardSolve(F, b, half));
  PetscCall(MatBackwardSolve(F, half, y));
  PetscCall(VecAXPY(y, -1, x));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(FactorCheck((PetscBool)(norm <= 1e-10), "wrong halves of a solution"));
  PetscCall(MatCuDSSGetInfo(F, &info));
  PetscCall(
      FactorCheck((PetscBool)(!info.on_device && info.solves == 1 && info.fallbacks == 1), "a half on the device"));
  PetscCall(VecDestroy(&half));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the library cannot do, PETSc does, with a reason */
static PetscErrorCode TestRefusals(void)
{
  static const char *const fails[] = {"analysis", "factorization", "solve", "pivots", "growth"};
  MatCuDSSInfo             info;
  PetscReal                error;
  Mat                      A;
  KSP                      ksp;

  PetscFunctionBeginUser;
  for (int i = 0; i < 5; i++) {
    PetscCall(PetscSNPrintf(factor_name, sizeof factor_name, "refused %s", fails[i]));
    PetscCall(FactorMatrix(&FactorCases[0], MATAIJ, N, &A));
    PetscCall(FactorSolver(KSPPREONLY, PCLU, NULL, A, &ksp));
    if (i == 2) PetscCall(FactorSolved(ksp, PETSC_FALSE, &error)); /* so that a later solve fails */
    (void)setenv("SPMV_FAKE_CUDSS_FAIL", fails[i], 1);
    PetscCall(FactorSolved(ksp, PETSC_FALSE, &error));
    (void)unsetenv("SPMV_FAKE_CUDSS_FAIL");
    PetscCall(FactorCheck((PetscBool)(error >= 0 && error <= 1e-14), "a wrong solution"));
    PetscCall(FactorInfo(ksp, &info));
    if (i < 3) PetscCall(FactorCheck((PetscBool)(!info.on_device && strstr(info.reason, "cuDSS")), info.reason));
    else
      PetscCall(FactorCheck((PetscBool)(info.on_device && FactorCounted(info.symbolic, 2)), "matching was not tried"));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One row, and none */
static PetscErrorCode TestSizes(void)
{
  PetscReal error;
  Mat       A;
  KSP       ksp;

  PetscFunctionBeginUser;
  for (PetscInt n = 0; n < 2; n++) {
    PetscCall(PetscSNPrintf(factor_name, sizeof factor_name, "%" PetscInt_FMT " rows", n));
    PetscCall(FactorMatrix(&FactorCases[0], MATAIJ, n, &A));
    PetscCall(FactorSolver(KSPPREONLY, PCLU, NULL, A, &ksp));
    PetscCall(FactorSolved(ksp, PETSC_FALSE, &error));
    PetscCall(FactorCheck((PetscBool)(error <= 1e-14), "a wrong solution"));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const types[]   = {MATAIJ, MATAIJRBP, MATAIJAUTO};
  static const char *const methods[] = {KSPPREONLY, KSPGMRES, KSPCG};
  PetscMPIInt              size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  factor_comm = PETSC_COMM_WORLD;
  PetscCallMPI(MPI_Comm_size(factor_comm, &size));
  factor_several = size > 1 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-fake", &fake));
  PetscCall(PetscPackReplaceType(PCLU, PETSC_TRUE));
  PetscCall(PetscPackReplaceType(PCCHOLESKY, PETSC_TRUE));
  PetscCall(TestSuite());
  for (int t = 0; t < (PetscDefined(USE_COMPLEX) ? 1 : 3); t++) /* our types need real scalars */
    for (int m = 0; m < 3; m++) PetscCall(TestReuse(types[t], methods[m], m == 1 ? PCLU : PCCHOLESKY));
  PetscCall(TestReuse(MATAIJ, KSPPREONLY, PCLU));
  PetscCall(TestOperations(PCLU));
  PetscCall(TestOperations(PCCHOLESKY));
  PetscCall(FactorTestPackages());
  PetscCall(FactorTestFlags());
  if (PetscDefined(USE_COMPLEX)) PetscCall(FactorTestHermitian());
  if (fake) PetscCall(TestRefusals());
  if (fake) PetscCall(FactorTestMemory());
  if (fake && factor_several) PetscCall(FactorTestCores());
  if (!factor_several) {
    PetscCall(TestReuse(MATSBAIJ, KSPPREONLY, PCCHOLESKY));
    if (!PetscDefined(USE_COMPLEX)) {
      PetscCall(FactorTestCoarse(PETSC_FALSE));
      PetscCall(FactorTestCoarse(PETSC_TRUE));
      PetscCall(TestEngine(KSPCGDEVICE, PCLU));
      PetscCall(TestEngine(KSPGMRESDEVICE, PCBJACOBI));
      PetscCall(TestEngine(KSPRICHARDSONDEVICE, PCLU));
    }
    PetscCall(FactorTestChoice());
    PetscCall(TestSizes());
    if (!PetscDefined(USE_COMPLEX)) PetscCall(TestHalves()); /* PETSc has them for a real diagonal */
    PetscCall(FactorTestZeroDiagonal());                     /* the last, because it switches cuDSS off */
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPIU_INT, MPI_SUM, factor_comm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " checks, %" PetscInt_FMT " failed\n", checks, failures));
  PetscCall(PetscFinalize());
  return failures || !checks ? 1 : 0;
}
