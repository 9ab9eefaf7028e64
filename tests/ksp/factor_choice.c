/* factor_choice.c - which package factors: without a name, with the name of one, and where petscpack does not replace it */
#include "factor_test.h"
#include <string.h>

/* A named package and a name that is not replaced stay PETSc's. (PETSc loses a matrix that it factors in place; the test
   coverage has that.) */
PetscErrorCode FactorTestChoice(void)
{
  static const struct {
    const char *option, *value, *package; /* package: of the factor */
    PetscBool   replaced;
  } rows[] = {
      {"", NULL, MATSOLVERCUDSS, PETSC_TRUE},
      {"", NULL, MATSOLVERPETSC, PETSC_FALSE},
      {"-pc_factor_mat_solver_type", "petsc", MATSOLVERPETSC, PETSC_TRUE},
      {"-pc_factor_mat_ordering_type", "nd", MATSOLVERCUDSS, PETSC_TRUE},
      {"-pc_factor_shift_type", "nonzero", MATSOLVERCUDSS, PETSC_TRUE},
  };
  MatSolverType package;
  PetscReal     error;
  PetscBool     same;
  Mat           A, F;
  KSP           ksp;
  PC            pc;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    PetscCall(PetscSNPrintf(factor_name, sizeof factor_name, "choice %s", rows[i].option));
    PetscCall(PetscPackReplaceType(PCLU, rows[i].replaced));
    if (rows[i].value) PetscCall(PetscOptionsSetValue(NULL, rows[i].option, rows[i].value));
    PetscCall(FactorMatrix(&FactorCases[0], MATAIJ, N, &A));
    PetscCall(FactorSolver(KSPPREONLY, PCLU, NULL, A, &ksp));
    PetscCall(FactorSolved(ksp, PETSC_FALSE, &error));
    PetscCall(FactorCheck((PetscBool)(error >= 0 && error <= 1e-14), "a wrong solution"));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCFactorGetMatrix(pc, &F));
    PetscCall(MatFactorGetSolverType(F, &package));
    PetscCall(PetscStrcmp(package, rows[i].package, &same));
    PetscCall(FactorCheck(same, package));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
    if (rows[i].value) PetscCall(PetscOptionsClearValue(NULL, rows[i].option));
  }
  PetscCall(PetscPackReplaceType(PCLU, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's package meets zeros on the diagonal unless rows are permuted, which the choice of the package must not undo */
PetscErrorCode FactorTestZeroDiagonal(void)
{
  PetscReal error, petsc;
  Mat       A;
  KSP       ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(factor_name, sizeof factor_name, "nonzeros along the diagonal"));
  PetscCall(PetscPackSetCuDSS("off"));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_factor_nonzeros_along_diagonal", NULL));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 4, 4, 2, NULL, &A));
  for (PetscInt i = 0; i < 4; i++) {
    PetscCall(MatSetValue(A, i, i ^ 1, 1 + i, INSERT_VALUES));
    PetscCall(MatSetValue(A, i, i, 0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(FactorSolver(KSPPREONLY, PCLU, MATSOLVERPETSC, A, &ksp));
  PetscCall(FactorSolved(ksp, PETSC_FALSE, &petsc));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(FactorSolver(KSPPREONLY, PCLU, NULL, A, &ksp));
  PetscCall(FactorSolved(ksp, PETSC_FALSE, &error));
  PetscCall(FactorCheck((PetscBool)(error >= 0 && error <= 1e-14), "a wrong solution"));
  PetscCall(FactorCheck((PetscBool)(petsc >= 0), "PETSc fails"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_factor_nonzeros_along_diagonal"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A named package keeps its name, its functions and its options; what needs it, it does itself */
PetscErrorCode FactorTestPackages(void)
{
  static const struct {
    const char *package, *option;
    PetscInt    icntl;
    PetscBool   replaced, on_device;
  } rows[] = {
      {"mumps", "", 14, PETSC_TRUE, PETSC_TRUE},
      {"mumps", "-mat_mumps_icntl_24 1", 0, PETSC_TRUE, PETSC_TRUE},
      {"mumps", "-mat_mumps_icntl_33 1", 0, PETSC_TRUE, PETSC_FALSE},
      {"mumps", "", 33, PETSC_TRUE, PETSC_FALSE},
      {"mumps", "", 14, PETSC_FALSE, PETSC_FALSE},
      {"superlu", "", 0, PETSC_TRUE, PETSC_TRUE},
      {"superlu_dist", "", 0, PETSC_TRUE, PETSC_TRUE},
      {"umfpack", "", 0, PETSC_TRUE, PETSC_TRUE},
      {"klu", "", 0, PETSC_TRUE, PETSC_TRUE},
      {"klu", "", 0, PETSC_FALSE, PETSC_FALSE},
  };
  MatCuDSSInfo  info;
  MatSolverType package;
  PetscBool     available, same;
  PetscReal     error;
  Mat           A, F;
  KSP           ksp;
  PC            pc;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    PetscCall(PetscSNPrintf(factor_name, sizeof factor_name, "package %s %s %d", rows[i].package, rows[i].option,
                            (int)rows[i].icntl));
    PetscCall(FactorMatrix(&FactorCases[2], MATAIJ, N, &A));
    PetscCall(MatGetFactorAvailable(A, rows[i].package, MAT_FACTOR_LU, &available));
    PetscCall(PetscOptionsInsertString(NULL, rows[i].option));
    PetscCall(PetscPackReplacePackage(rows[i].package, rows[i].replaced));
    /* PETSc 3.18 solves complex systems wrongly with KLU */
    if (available && !(PetscDefined(USE_COMPLEX) && !strcmp(rows[i].package, "klu") && !rows[i].replaced)) {
      PetscCall(FactorSolver(KSPPREONLY, PCLU, rows[i].package, A, &ksp));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCFactorSetUpMatSolverType(pc));
      PetscCall(PCFactorGetMatrix(pc, &F));
#if defined(PETSC_HAVE_MUMPS)
      if (rows[i].icntl) PetscCall(MatMumpsSetIcntl(F, rows[i].icntl, 1));
#endif
      PetscCall(FactorSolved(ksp, PETSC_FALSE, &error));
      PetscCall(FactorCheck((PetscBool)(error >= 0 && error <= 1e-14), "a wrong solution"));
      PetscCall(KSPSetFromOptions(ksp)); /* an error if the factor had another name */
      PetscCall(PCFactorGetMatrix(pc, &F));
      PetscCall(MatFactorGetSolverType(F, &package));
      PetscCall(PetscStrcmp(package, rows[i].package, &same));
      PetscCall(FactorCheck(same, package));
      if (rows[i].replaced) {
        PetscCall(MatCuDSSGetInfo(F, &info));
        PetscCall(FactorCheck((PetscBool)(info.on_device == rows[i].on_device), info.reason));
        PetscCall(FactorCheck((PetscBool)(info.on_device == !info.reason[0]), "no reason"));
      }
#if defined(PETSC_HAVE_MUMPS)
      if (!strcmp(package, "mumps")) {
        PetscInt value;

        PetscCall(MatMumpsGetInfog(F, 1, &value));
        PetscCall(FactorCheck((PetscBool)(value == 0), "INFOG(1) of mumps"));
      }
#endif
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(PetscPackReplacePackage(rows[i].package, PETSC_FALSE));
    if (rows[i].option[0])
      PetscCall(PetscOptionsClearValue(NULL, i == 1 ? "-mat_mumps_icntl_24" : "-mat_mumps_icntl_33"));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
