/* factor_uses.c - what a factor makes use of: flags of the matrix, memory, cores of other processes; and its use in multigrid */
#define _GNU_SOURCE /* for sched_setaffinity() */
#include "factor_test.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* LU of a matrix that is said to be positive definite, or to stay symmetric, is Cholesky or LDL^T; after new values without
   the flag it is LU where the other triangle differs */
PetscErrorCode FactorTestFlags(void)
{
  static const struct {
    MatOption   flag;
    PetscBool   stays;
    const char *kinds[3];
  } rows[] = {{MAT_SYMMETRIC, PETSC_FALSE, {"LU", "LU", "LU"}},
              {MAT_SYMMETRIC, PETSC_TRUE, {"LDL^T", "LDL^T", "LDL^T"}},
              {MAT_SPD, PETSC_FALSE, {"Cholesky", "LU", "LU"}}};
  MatCuDSSInfo info;
  PetscReal    error;
  Mat          A;
  KSP          ksp;

  PetscFunctionBeginUser;
  for (int i = 0; i < (PetscDefined(USE_COMPLEX) ? 2 : 3); i++) { /* complex: symmetric and not definite */
    PetscCall(PetscSNPrintf(factor_name, sizeof factor_name, "flag of %s", rows[i].kinds[0]));
    PetscCall(FactorMatrix(&FactorCases[0], MATAIJ, N, &A));
    PetscCall(MatSetOption(A, rows[i].flag, PETSC_TRUE));
    if (rows[i].stays) PetscCall(MatSetOption(A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
    PetscCall(FactorSolver(KSPPREONLY, PCLU, NULL, A, &ksp));
    for (int step = 0; step < 3; step++) { /* symmetric, then not unless it stays so, then symmetric */
      if (step) PetscCall(FactorFill(&FactorCases[step == 1 && !rows[i].stays ? 2 : 0], step, N, A));
      PetscCall(FactorSolved(ksp, PETSC_FALSE, &error));
      PetscCall(FactorCheck((PetscBool)(error >= 0 && error <= 1e-14), "a wrong solution"));
      PetscCall(FactorInfo(ksp, &info));
      PetscCall(FactorCheck(info.on_device, info.reason));
      PetscCall(FactorCheck((PetscBool)(FactorCounted(0, 1) || !strcmp(info.kind, rows[i].kinds[step])), info.kind));
      PetscCall(FactorCheck(FactorCounted(info.symbolic, strcmp(rows[i].kinds[0], rows[i].kinds[step]) ? 2 : 1),
                            "another number of analyses"));
    }
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A complex matrix that is known to be Hermitian, for which PETSc has no Cholesky */
PetscErrorCode FactorTestHermitian(void)
{
  static const struct {
    MatOption flag;
    PCType    pc;
  } rows[] = {{MAT_HERMITIAN, PCCHOLESKY}, {MAT_HERMITIAN, PCLU}, {MAT_SPD, PCCHOLESKY}, {MAT_SPD, PCLU}};
  MatCuDSSInfo info;
  PetscReal    error;
  Mat          A;
  KSP          ksp;

  PetscFunctionBeginUser;
  for (int i = 0; i < 4; i++) {
    PetscCall(
        PetscSNPrintf(factor_name, sizeof factor_name, "Hermitian, %s, %s", MatOptions[rows[i].flag], rows[i].pc));
    PetscCall(FactorMatrix(&FactorHermitian, MATAIJ, N, &A));
    PetscCall(MatSetOption(A, rows[i].flag, PETSC_TRUE));
    PetscCall(FactorSolver(KSPPREONLY, rows[i].pc, NULL, A, &ksp));
    for (int transposed = 0; transposed < 2; transposed++) {
      PetscCall(FactorSolved(ksp, transposed ? PETSC_TRUE : PETSC_FALSE, &error));
      PetscCall(FactorCheck((PetscBool)(error >= 0 && error <= 1e-14), "a wrong solution"));
      PetscCall(FactorInfo(ksp, &info));
      PetscCall(
          FactorCheck((PetscBool)(info.on_device && (FactorCounted(0, 1) || !strcmp(info.kind, "LU"))), info.reason));
    }
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factor that does not fit lies in the host's memory in part, or is the host's */
PetscErrorCode FactorTestMemory(void)
{
  static const PetscReal limits[] = {
      0, 0.02, 0.001}; /* in MiB; the replacement takes 8 N^2 bytes, at least a quarter of it there */
  MatCuDSSInfo    info;
  MatCuDSSOptions options;
  PetscReal       error;
  Mat             A, F;
  KSP             ksp;
  PC              pc;

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    PetscCall(PetscSNPrintf(factor_name, sizeof factor_name, "memory %g MiB", (double)limits[i]));
    PetscCall(FactorMatrix(&FactorCases[2], MATAIJ, N, &A));
    PetscCall(FactorSolver(KSPPREONLY, PCLU, NULL, A, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCFactorSetUpMatSolverType(pc));
    PetscCall(PCFactorGetMatrix(pc, &F));
    PetscCall(MatCuDSSGetOptions(F, &options));
    options.memory_limit = limits[i];
    PetscCall(MatCuDSSSetOptions(F, &options));
    PetscCall(FactorSolved(ksp, PETSC_FALSE, &error));
    PetscCall(FactorCheck((PetscBool)(error >= 0 && error <= 1e-14), "a wrong solution"));
    PetscCall(FactorInfo(ksp, &info));
    PetscCall(FactorCheck((PetscBool)(info.on_device == (i < 2)), info.reason));
    if (i < 2) PetscCall(FactorCheck(FactorCounted(info.hybrid, i), "in another memory"));
    else PetscCall(FactorCheck((PetscBool)(strstr(info.reason, "MiB of GPU memory") != NULL), info.reason));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The process that factors may use the cores of the others during its analysis, and has its own again after it */
PetscErrorCode FactorTestCores(void)
{
  MatCuDSSInfo info;
  PetscMPIInt  rank;
  PetscReal    error;
  cpu_set_t    before, all, one, now;
  int          core = 0;
  Mat          A;
  KSP          ksp;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(factor_comm, &rank));
  PetscCheck(!sched_getaffinity(0, sizeof before, &before), PETSC_COMM_SELF, PETSC_ERR_SYS, "no cores");
  memset(&all, 0xff, sizeof all); /* mpiexec may have bound this process */
  (void)sched_setaffinity(0, sizeof all, &all);
  (void)sched_getaffinity(0, sizeof all, &all);
  PetscCall(PetscSNPrintf(factor_name, sizeof factor_name, "cores"));
  for (int seen = -1; core < CPU_SETSIZE; core++)
    if (CPU_ISSET(core, &all) && ++seen == (rank > 0)) break;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  (void)sched_setaffinity(0, sizeof one, &one);
  if (CPU_COUNT(&all) > 1) (void)setenv("SPMV_FAKE_CUDSS_FAIL", "cores", 1);
  PetscCall(FactorMatrix(&FactorCases[0], MATAIJ, N, &A));
  PetscCall(FactorSolver(KSPPREONLY, PCLU, NULL, A, &ksp));
  PetscCall(FactorSolved(ksp, PETSC_FALSE, &error));
  (void)unsetenv("SPMV_FAKE_CUDSS_FAIL");
  PetscCall(FactorCheck((PetscBool)(error >= 0 && error <= 1e-14), "a wrong solution"));
  PetscCall(FactorInfo(ksp, &info));
  PetscCall(FactorCheck(info.on_device, info.reason));
  (void)sched_getaffinity(0, sizeof now, &now);
  PetscCall(FactorCheck((PetscBool)CPU_EQUAL(&one, &now), "other cores than before"));
  (void)sched_setaffinity(0, sizeof before, &before);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver that factors: GAMG's own coarsest level has it as the one block of PCBJACOBI */
static PetscErrorCode CoarseGet(KSP ksp, KSP *outer, KSP *inner)
{
  PetscBool blocks;
  PetscInt  count;
  KSP      *sub;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetCoarseSolve(pc, outer));
  *inner = *outer;
  PetscCall(KSPGetPC(*outer, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCBJACOBI, &blocks));
  if (!blocks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCBJacobiGetSubKSP(pc, &count, NULL, &sub));
  *inner = sub[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multigrid solves a large coarsest level by its factor on the device, after new values by the new one: with as many
   iterations as a new solver */
PetscErrorCode FactorTestCoarse(PetscBool wrapped)
{
  const PetscInt side = 80;
  MatCuDSSInfo   info;
  KSPDeviceInfo  solver;
  PetscReal      error;
  PetscInt       rows, calls, iterations, of_new;
  Mat            A, coarse;
  KSP            ksp, fresh, outer = NULL, inner = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(factor_name, sizeof factor_name, "coarsest level%s", wrapped ? ", one block" : ""));
  PetscCall(
      PetscOptionsInsertString(NULL, "-pc_gamg_coarse_eq_limit 1000 -ksp_rtol 1e-12 -pc_gamg_reuse_interpolation 1"));
  if (!wrapped) PetscCall(PetscOptionsSetValue(NULL, "-mg_coarse_pc_type", PCLU));
  PetscCall(KspProblemCreate(factor_comm, MATAIJRBP, side, side, &A));
  PetscCall(FactorSolver(KSPCGDEVICE, PCGAMG, NULL, A, &ksp));
  for (int step = 0; step < 3; step++) {
    if (step) PetscCall(KspProblemFill(A, side, side, step == 1 ? 3000 : 3));
    PetscCall(FactorSolved(ksp, PETSC_FALSE, &error));
    PetscCall(FactorCheck((PetscBool)(error >= 0 && error <= 1e-11), "a wrong solution"));
    PetscCall(KSPDeviceGetInfo(ksp, &solver));
    PetscCall(FactorCheck((PetscBool)(solver.solves_device == step + 1 && !solver.solves_host), solver.reason));
    PetscCall(CoarseGet(ksp, &outer, &inner));
    PetscCall(KSPGetOperators(inner, NULL, &coarse));
    PetscCall(MatGetSize(coarse, &rows, NULL));
    PetscCall(FactorInfo(inner, &info));
    PetscCall(FactorCheck((PetscBool)(rows > 512 && info.on_device && info.solves > 0), info.reason));
    PetscCall(KSPGetTotalIterations(outer, &calls));
    PetscCall(FactorCheck((PetscBool)(calls == 0), "solved by PETSc's solver"));
    PetscCall(FactorSolver(KSPCGDEVICE, PCGAMG, NULL, A, &fresh));
    PetscCall(FactorSolved(fresh, PETSC_FALSE, &error));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(KSPGetIterationNumber(fresh, &of_new));
    PetscCall(
        FactorCheck((PetscBool)(PetscAbsInt(iterations - of_new) <= 3), "iterations of a factor of other values"));
    PetscCall(KSPDestroy(&fresh));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-pc_gamg_coarse_eq_limit"));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_gamg_reuse_interpolation"));
  PetscCall(PetscOptionsClearValue(NULL, "-mg_coarse_pc_type"));
  PetscCall(PetscOptionsClearValue(NULL, "-ksp_rtol"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
