/*
  gmresdevice_memory.c - solves by KSPGMRESDEVICE in which one device allocation and all later ones fail on one process,
  the last one. Needs the emulated GPU, which can be told to fail.

    mpiexec -n 2 gmresdevice_memory -pc gamg -stride 3

  All processes must then solve by KSPGMRES, with a reason and without waiting for each other, and the next solve by the
  same solver must be on the device. A monitor reads each solution: the device memory that it needs is allocated before
  the first iteration, too. Nothing may stay allocated.
*/
static const char help[] = "Lets allocations fail on one process in solves by KSPGMRESDEVICE.\n";

#include "cgdevice_test.h"

#include <cuda_runtime_api.h>
#include <spmv_emulator.h>

enum { FEWEST = 4 /* least number of allocations that a solve must have had */ };

static size_t DeviceMemory(void)
{
  size_t available = 0, total = 0;

  (void)cudaMemGetInfo(&available, &total);
  return total - available;
}

static PetscErrorCode Look(KSP ksp, PetscInt n, PetscReal norm, void *ctx)
{
  Vec x;

  PetscFunctionBeginUser;
  (void)n;
  (void)norm;
  (void)ctx;
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(KSPType type, const char pc[], Mat A, KSP *ksp)
{
  PC solver_pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPGetPC(*ksp, &solver_pc));
  PetscCall(PCSetType(solver_pc, pc));
  PetscCall(KSPSetTolerances(*ksp, (PetscReal)1e-3, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPMonitorSet(*ksp, Look, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves while this process may allocate that many times; negative: no limit. failed: some process could not
   allocate. */
static PetscErrorCode Solve(KSP ksp, Vec b, Vec x, long allowed, PetscBool *failed)
{
  int some;

  PetscFunctionBeginUser;
  PetscCall(VecSet(x, 0));
  (void)spmv_emulator_allow(allowed);
  PetscCall(KSPSolve(ksp, b, x));
  some = spmv_emulator_allow(-1) > 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  *failed = some ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(const char name[], KSP ksp, const char where[], Vec x, Vec expected)
{
  char      text[8192];
  PetscReal difference, largest;
  Vec       d;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestView(ksp, text, sizeof text));
  PetscCall(CGDevTestCheck((PetscBool)(strstr(text, where) != NULL), name, where));
  PetscCall(VecDuplicate(x, &d));
  PetscCall(VecWAXPY(d, -1, expected, x));
  PetscCall(VecNorm(d, NORM_INFINITY, &difference));
  PetscCall(VecNorm(expected, NORM_INFINITY, &largest));
  PetscCall(CGDevTestCheck((PetscBool)(difference <= (PetscReal)1e-4 * largest), name, "a wrong solution"));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Attempt(const char name[], const char pc[], Mat A, Vec b, Vec expected, long allowed,
                              PetscBool *failed)
{
  static const char on_device[] = "last solve on the device: ";
  PetscMPIInt       rank, size;
  PetscBool         again;
  KSP               ksp;
  Vec               x;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(Create(KSPGMRESDEVICE, pc, A, &ksp));
  PetscCall(Solve(ksp, b, x, rank == size - 1 ? allowed : -1, failed));
  PetscCall(Check(name, ksp,
                  !*failed   ? on_device
                  : size > 1 ? "last solve by KSPGMRES: another process cannot"
                             : "last solve by KSPGMRES: ",
                  x, expected));
  PetscCall(Solve(ksp, b, x, -1, &again));
  PetscCall(Check(name, ksp, on_device, x, expected));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      pc[32] = PCJACOBI, name[64];
  PetscInt  stride = 1, count = 0;
  PetscBool failed;
  size_t    before;
  Mat       A;
  Vec       b, expected;
  KSP       ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pc", pc, sizeof pc, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-stride", &stride, NULL));
  PetscCall(CGDevTestMatrix(3, MATAIJ, &A));
  PetscCall(MatCreateVecs(A, &expected, &b));
  PetscCall(CGDevTestRightHandSide(b));
  PetscCall(Create(KSPGMRES, pc, A, &ksp));
  PetscCall(KSPSolve(ksp, b, expected));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(Attempt("no fault", pc, A, b, expected, -1, &failed)); /* fills caches of the library */
  for (failed = PETSC_TRUE; failed; count += stride) {
    PetscCall(PetscSNPrintf(name, sizeof name, "%s, no memory after %" PetscInt_FMT " allocations", pc, count));
    before = DeviceMemory();
    PetscCall(Attempt(name, pc, A, b, expected, count, &failed));
    PetscCall(CGDevTestCheck((PetscBool)(before == DeviceMemory()), name, "memory of the device is lost"));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " allocations\n", pc, count - stride));
  PetscCall(CGDevTestCheck((PetscBool)(count > FEWEST), pc, "too few allocations"));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&expected));
  PetscCall(MatDestroy(&A));
  const int status = CGDevTestEnd();
  PetscCall(PetscFinalize());
  return status;
}
