/*
  cgdevice_peer.c - one process dies in the middle of a solve through NCCL, or with -set_up in the middle of a set-up of
  GAMG: the other one must end with an error within a minute

    mpiexec -disable-auto-cleanup -n 2 cgdevice_peer

  Needs two GPUs. Exit status of process 0: 0 if it ended as required, 77 if NCCL is not used. -set_up is for emulated
  GPUs only.

  On emulated GPUs nobody dies, because a launcher of MPI would notice. Process 0 finds its work not ready, and then an
  error that NCCL reports, and leaves the solve. The other one waits for it, and so would an agreement by MPI.
*/
static const char help[] = "A process dies in a solve.\n";

#include "cgdevice_test.h"

#include <petsctime.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef PETSCPACK_TEST_EMULATED
  #include <limits.h>
  #include <spmv_emulator.h>

enum { N = 30 };

static PetscErrorCode Doom(KSP ksp)
{
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)ksp), &rank));
  if (rank == 0) spmv_emulator_hold(LONG_MAX);
  if (rank == 0) (void)setenv("SPMV_FAKE_NCCL_FAIL", "asynchronous", 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
enum { DIES_AT = 300, N = 400 };

static PetscErrorCode Die(KSP ksp, PetscInt iteration, PetscReal norm, void *ctx)
{
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  (void)norm;
  (void)ctx;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)ksp), &rank));
  if (rank == 1 && iteration >= DIES_AT) (void)raise(SIGKILL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Doom(KSP ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPMonitorSet(ksp, Die, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* A Laplacian in the plane, which takes more iterations than the test waits for */
static PetscErrorCode MakeMatrix(Mat *A)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N * N, N * N));
  PetscCall(MatSetType(*A, "aijrbp"));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    const PetscInt column[] = {i, i - 1, i + 1, i - N, i + N};
    for (int k = 0; k < 5; k++)
      if (column[k] >= 0 && column[k] < N * N) PetscCall(MatSetValue(*A, i, column[k], k == 0 ? 4 : -1, INSERT_VALUES));
  }
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeSolver(Mat A, PetscBool multigrid, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, KSPCGDEVICE));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, multigrid ? PCGAMG : PCJACOBI));
  if (multigrid) PetscCall(PCGAMGSetType(pc, PCGAMGAGGDEVICE));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(KSPSetTolerances(*ksp, 1e-14, 1e-50, 1e30, 100000));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the message of an error where it arises */
static PetscErrorCode Say(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                          PetscErrorType type, const char *message, void *ctx)
{
  (void)comm;
  (void)line;
  (void)function;
  (void)file;
  (void)ctx;
  if (type == PETSC_ERROR_INITIAL) printf("%s\n", message);
  return code;
}

int main(int argc, char **argv)
{
  KSPDeviceInfo  info;
  PetscLogDouble begin, end;
  PetscErrorCode code;
  Mat            A;
  KSP            ksp;
  Vec            x, b;
  PetscBool      set_up = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(MakeMatrix(&A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-set_up", &set_up, NULL));
  PetscCall(MakeSolver(A, set_up, &ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPDeviceGetInfo(ksp, &info));
  if (!info.nccl) exit(77);
  if (set_up) PetscCall(MakeSolver(A, set_up, &ksp)); /* the first one stays, as a program may have several */
  PetscCall(Doom(ksp));
  PetscCall(PetscPushErrorHandler(Say, NULL));
  PetscCall(PetscTime(&begin));
  code = set_up ? KSPSetUp(ksp) : KSPSolve(ksp, b, x);
  PetscCall(PetscTime(&end));
  printf("error %d after %.1f s\n", (int)code, end - begin);
  fflush(stdout);
  _Exit(code && end - begin < 60 ? 0 : 1); /* MPI_Finalize() would wait for the dead process */
}
