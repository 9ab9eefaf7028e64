/*
  ksp_history.c - Krylov methods and preconditioners with a type under test must take as many iterations as with aij,
  with the same residual norm in each iteration

    ksp_history [-format rbp]
*/
static const char help[] = "Compares the residual histories of solves with packed types and with aij.\n";

#include "ksp_problem.h"

#include <spmv_kernels.h>

enum { HISTORY_MAX = 2000 };

typedef struct {
  PetscReal          norm[HISTORY_MAX];
  PetscInt           count, iterations;
  KSPConvergedReason reason;
} History;

typedef struct {
  const char *ksp, *pc, *options; /* options: for PetscOptionsInsertString() */
  PetscBool   sequential;         /* not on several processes */
} Method;

static const char *const ksp_types[] = {KSPCG, KSPGMRES, KSPBCGS};

static const Method preconditioners[] = {
    {NULL, PCJACOBI, "", PETSC_FALSE},
    {NULL, PCBJACOBI, "-sub_pc_type ilu", PETSC_FALSE},
    {NULL, PCASM, "-sub_pc_type ilu", PETSC_FALSE},
    {NULL, PCSOR, "", PETSC_FALSE},
    {NULL, PCGAMG, "-pc_gamg_esteig_ksp_type cg -mg_levels_pc_type jacobi", PETSC_FALSE}};

/* Preconditioners that PETSc offers to exactly seqaij or mpiaij, or sets up differently for them */
static const Method exact[] = {
    {KSPGMRES, PCILU, "-pc_factor_shift_type nonzero", PETSC_TRUE},
    {KSPCG, PCGAMG, "-pc_gamg_type classical -mat_coarsen_type mis", PETSC_FALSE},
    {KSPCG, PCGAMG, "-pc_gamg_type agg -mat_coarsen_type hem", PETSC_FALSE},
    {KSPRICHARDSON, PCCP, "-ksp_max_it 5 -ksp_convergence_test skip", PETSC_TRUE}, /* does not converge here */
};

/* Relative tolerance of a norm. Products add in another order, and the iterations amplify the differences, most of all
   BiCGStab; a wrong product would show in the first iterations. */
static PetscReal Tolerance(PetscInt iteration)
{
  return iteration <= 5 ? PetscSqrtReal(PETSC_MACHINE_EPSILON) / 10 : (PetscReal)1e-4;
}

static PetscErrorCode Solve(MatType type, const Method *method, History *h)
{
  Mat              A;
  Vec              x, b;
  KSP              ksp;
  PC               pc;
  const PetscReal *norm;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, method->options));
  PetscCall(KspProblemCreate(PETSC_COMM_WORLD, type, 23, 19, &A));
  PetscCall(KspProblemVecs(A, &x, &b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, method->ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, method->pc));
  PetscCall(KSPSetTolerances(ksp, 1e-7, 1e-50, 1e5, HISTORY_MAX - 2));
  PetscCall(KSPSetResidualHistory(ksp, NULL, HISTORY_MAX, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetResidualHistory(ksp, &norm, &h->count));
  PetscCall(PetscArraycpy(h->norm, norm, h->count));
  PetscCall(KSPGetIterationNumber(ksp, &h->iterations));
  PetscCall(KSPGetConvergedReason(ksp, &h->reason));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether both solves had the same history; prints the first difference */
static PetscErrorCode Same(const char *name, const History *expected, const History *actual, PetscBool *same)
{
  PetscFunctionBeginUser;
  *same = PETSC_FALSE;
  if (expected->reason <= 0 || expected->iterations < 2) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: aij does not converge, reason %d\n", name, (int)expected->reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (expected->iterations != actual->iterations || expected->count != actual->count ||
      expected->reason != actual->reason) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " iterations, aij takes %" PetscInt_FMT "\n", name,
                          actual->iterations, expected->iterations));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < expected->count; k++) {
    if (PetscAbsReal(expected->norm[k] - actual->norm[k]) <= Tolerance(k) * expected->norm[k]) continue;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: iteration %" PetscInt_FMT ": norm %.15g, with aij %.15g\n", name, k,
                          (double)actual->norm[k], (double)expected->norm[k]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *same = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const Method *method, const char *only, PetscInt *passed, PetscInt *failed)
{
  static History history[2];
  char           type[32], name[96];
  PetscBool      same, chosen = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(Solve(MATAIJ, method, &history[0]));
  for (int f = 0; f < spmv_format_count(); f++) {
    PetscCall(PetscSNPrintf(type, sizeof(type), "aij%s", spmv_format_get(f)->name));
    if (only[0]) PetscCall(PetscStrcmp(only, spmv_format_get(f)->name, &chosen));
    if (!chosen) continue;
    PetscCall(Solve(type, method, &history[1]));
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s, %s, %s", type, method->ksp, method->pc));
    PetscCall(Same(name, &history[0], &history[1], &same));
    if (same) ++*passed;
    else ++*failed;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt    passed = 0, failed = 0;
  PetscMPIInt size;
  char        only[32] = "";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-format", only, sizeof(only), NULL));
  for (size_t k = 0; k < sizeof(ksp_types) / sizeof(ksp_types[0]); k++) {
    for (size_t p = 0; p < sizeof(preconditioners) / sizeof(preconditioners[0]); p++) {
      Method method = preconditioners[p];

      method.ksp = ksp_types[k];
      PetscCall(Compare(&method, only, &passed, &failed));
    }
  }
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t p = 0; p < sizeof(exact) / sizeof(exact[0]); p++)
    if (size == 1 || !exact[p].sequential) PetscCall(Compare(&exact[p], only, &passed, &failed));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " passed, %" PetscInt_FMT " failed\n", passed, failed));
  PetscCall(PetscFinalize());
  return failed || !passed ? 1 : 0;
}
