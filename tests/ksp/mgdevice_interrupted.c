/*
  mgdevice_interrupted.c - GMRES with gamgdevice and a fault: one device allocation and all later ones fail, or one call
  of the CUDA runtime, in set-up or in an application. Needs the emulated GPU, which can be told to fail.

  Without memory PETSc must do the applications. After a failed call the solve may end in an error; the next solve by
  the same solver must then be right, and on the device. Nothing may stay allocated.
*/
static const char help[] = "Lets allocations and calls fail in PCs of type gamgdevice.\n";

#include "cgdevice_test.h"

#include <cuda_runtime_api.h>
#include <spmv_emulator.h>

typedef enum { NO_MEMORY, NO_CALL, FAULTS } Fault;

static const char *const fault_names[FAULTS] = {"allocations", "calls"};
static const PetscInt    stride[FAULTS]      = {1, 13}; /* every stride-th call fails */

static Vec b, expected;

static size_t DeviceMemory(void)
{
  size_t available = 0, total = 0;

  (void)cudaMemGetInfo(&available, &total);
  return total - available;
}

/* Lets n calls succeed and then fails; negative: never fails. Returns whether a call has failed since the last use. */
static PetscBool FailAfter(Fault fault, long n)
{
  return (fault == NO_MEMORY ? spmv_emulator_allow(n) > 0 : spmv_emulator_fail_after(n) != 0) ? PETSC_TRUE
                                                                                              : PETSC_FALSE;
}

static PetscErrorCode Create(Mat A, const char type[], KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, KSPGMRES));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetTolerances(*ksp, (PetscReal)1e-4, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, type));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSolution(const char name[], Vec x)
{
  PetscReal difference, largest;
  Vec       d;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &d));
  PetscCall(VecWAXPY(d, -1, expected, x));
  PetscCall(VecNorm(d, NORM_INFINITY, &difference));
  PetscCall(VecNorm(expected, NORM_INFINITY, &largest));
  PetscCall(CGDevTestCheck((PetscBool)(difference <= (PetscReal)1e-3 * largest), name, "a wrong solution"));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solve after an interrupted one. After an error, KSP and PC must be set up from the start. */
static PetscErrorCode Again(const char name[], KSP ksp, Mat A, PetscBool anew, Vec x)
{
  PCMGDeviceInfo before, after;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  if (anew) {
    PetscCall(KSPReset(ksp));
    PetscCall(PCSetType(pc, PCNONE));
    PetscCall(PCSetType(pc, PCGAMGDEVICE));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetFromOptions(ksp));
  }
  PetscCall(PCMGDeviceGetInfo(pc, &before));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(CheckSolution(name, x));
  PetscCall(PCMGDeviceGetInfo(pc, &after));
  PetscCall(CGDevTestCheck((PetscBool)(after.applies_device > before.applies_device && !after.reason[0]), name,
                           "the next solve was not on the device"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Attempt(const char name[], Fault fault, long n, PetscBool *failed)
{
  PetscErrorCode error;
  PCMGDeviceInfo info;
  Mat            A;
  Vec            x;
  KSP            ksp;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestMatrix(3, MATAIJ, &A));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(Create(A, PCGAMGDEVICE, &ksp));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  (void)FailAfter(fault, n);
  error   = KSPSolve(ksp, b, x);
  *failed = FailAfter(fault, -1);
  PetscCall(PetscPopErrorHandler());
  PetscCall(CGDevTestCheck((PetscBool)(!error || (*failed && fault == NO_CALL)), name, "an error"));
  if (!error) PetscCall(CheckSolution(name, x));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGDeviceGetInfo(pc, &info));
  if (fault == NO_MEMORY)
    PetscCall(CGDevTestCheck((PetscBool)((info.applies_petsc > 0) == *failed), name, info.reason));
  PetscCall(Again(name, ksp, A, error ? PETSC_TRUE : PETSC_FALSE, x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first attempt, without a fault, allocates the data that the library keeps for the process */
static PetscErrorCode Run(Fault fault)
{
  PetscBool failed;
  PetscInt  count = 0;
  size_t    before;
  char      name[64];

  PetscFunctionBeginUser;
  PetscCall(Attempt("no fault", fault, -1, &failed));
  do {
    PetscCall(PetscSNPrintf(name, sizeof name, "a fault after %d %s", (int)count, fault_names[fault]));
    before = DeviceMemory();
    PetscCall(Attempt(name, fault, count, &failed));
    PetscCall(CGDevTestCheck((PetscBool)(before == DeviceMemory()), name, "memory of the device is lost"));
    if (failed) count += stride[fault];
  } while (failed);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d %s failed\n", (int)count, fault_names[fault]));
  PetscCall(CGDevTestCheck((PetscBool)(count >= 10), fault_names[fault], "too few faults"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  int status;
  KSP ksp;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  /* this coarsest level gets no dense matrix, which would take the emulated GPU a second */
  PetscCall(PetscOptionsInsertString(NULL, "-mg_coarse_pc_type jacobi"));
  PetscCall(CGDevTestMatrix(3, MATAIJ, &A));
  PetscCall(MatCreateVecs(A, &expected, &b));
  PetscCall(CGDevTestRightHandSide(b));
  PetscCall(Create(A, PCGAMG, &ksp));
  PetscCall(KSPSolve(ksp, b, expected));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  for (int fault = 0; fault < FAULTS; fault++) PetscCall(Run((Fault)fault));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&expected));
  status = CGDevTestEnd();
  PetscCall(PetscFinalize());
  return status;
}
