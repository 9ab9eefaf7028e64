/*
  nccl_start.c - when a replacement of NCCL begins to make a communicator, and when petscpack waits for it. The
  replacement counts, and holds ncclCommInitRank() until PETSc's set-up is under way. Several processes, a GPU each.

    nccl_start -petscpack_nccl <library or off> -library <library> -case <name>:
      solver  KSPCGDEVICE with PCGAMG begins before PCSetUp()
      pc      so does KSPCG with PCGAMGDEVICE
      jacobi  KSPCGDEVICE begins in KSPSolve()
      fails   NCCL fails on one process: all use MPI
      unused  PETSc does the cycles, so nothing waits before PetscFinalize(), which does
      off     nothing is begun
*/
static const char help[] = "Counts when NCCL is begun and waited for.\n";

#include "cgdevice_test.h"
#include "nccl/fake_nccl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static FakeNcclHold  *hold;
static FakeNcclCount *counts;
static int            diagonals; /* calls of DiagonalHeld() */
static PetscErrorCode (*diagonal)(Mat, Vec);

static PetscErrorCode OpenLibrary(void)
{
  char  path[PETSC_MAX_PATH_LEN] = "";
  void *library;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-library", path, sizeof path, NULL));
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  PetscCheck(library, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", dlerror());
  hold   = (FakeNcclHold *)(uintptr_t)dlsym(library, "fakeNcclHold");
  counts = (FakeNcclCount *)(uintptr_t)dlsym(library, "fakeNcclCounts");
  PetscCheck(hold && counts, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s has no counters", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Expect(const char name[], int begun, int ended)
{
  const FakeNcclCounts now = counts();
  char                 text[128];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(text, sizeof text, "%d begun, %d in a thread, %d ended; not %d, %d, %d", now.begun,
                          now.beside, now.ended, begun, begun, ended));
  PetscCall(CGDevTestCheck(now.begun == begun && now.beside == begun && now.ended == ended, name, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void WaitUntilBegun(void)
{
  for (int ms = 0; ms < 10000 && counts().begun == 0; ms++) (void)usleep(1000);
}

/* PETSc's set-up of PCGAMG reads the diagonal of the finest matrix. Then NCCL has begun and not ended, and may end. */
static PetscErrorCode DiagonalHeld(Mat A, Vec d)
{
  PetscFunctionBeginUser;
  if (diagonals++ == 0) {
    WaitUntilBegun();
    PetscCall(Expect("during PCSetUp()", 1, 0));
    hold(0);
  }
  PetscCall((*diagonal)(A, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(KSP ksp, PetscBool on_device)
{
  static CGDevOutcome got;
  CGDevSetup          setup = CGDevTestSetup();
  PCMGDeviceInfo      info;
  PC                  pc;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &got));
  PetscCall(CGDevTestCheck(got.reason > 0, "solve", "no convergence"));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGDeviceGetInfo(pc, &info));
  PetscCall(CGDevTestCheck((got.info.solves_device > 0 || info.applies_device > 0) == on_device, "solve",
                           info.reason[0] ? info.reason : got.why));
  PetscCall(VecDestroy(&got.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Nccl(KSP ksp, PetscBool nccl)
{
  KSPDeviceInfo info;

  PetscFunctionBeginUser;
  PetscCall(KSPDeviceGetInfo(ksp, &info));
  PetscCall(CGDevTestCheck(info.nccl == nccl, "solve", info.nccl ? "NCCL served" : "NCCL did not serve"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(const char which[], KSP ksp, Mat A)
{
  const PetscBool held = !strcmp(which, "solver") || !strcmp(which, "pc") ? PETSC_TRUE : PETSC_FALSE;
  PetscMPIInt     rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(Expect("before KSPSetUp()", 0, 0));
  hold(held || !strcmp(which, "unused"));
  if (held) {
    PetscCall(MatGetOperation(A, MATOP_GET_DIAGONAL, (void (**)(void)) & diagonal));
    PetscCall(MatSetOperation(A, MATOP_GET_DIAGONAL, (void (*)(void))DiagonalHeld));
  }
  if (!strcmp(which, "fails") && rank == 1) setenv("SPMV_FAKE_NCCL_FAIL", "ncclCommInitRank", 1);
  PetscCall(KSPSetUp(ksp));
  PetscCall(CGDevTestCheck((diagonals > 0) == held, which, "PETSc's set-up read the diagonal, or did not"));
  if (!strcmp(which, "jacobi") || !strcmp(which, "off")) PetscCall(Expect("after KSPSetUp()", 0, 0));
  else if (held) PetscCall(Expect("after KSPSetUp()", 1, 1)); /* the cycle needs it */
  PetscCall(Solve(ksp, strcmp(which, "unused") ? PETSC_TRUE : PETSC_FALSE));
  if (!strcmp(which, "unused")) WaitUntilBegun();
  PetscCall(Expect("after KSPSolve()", strcmp(which, "off") ? 1 : 0,
                   strcmp(which, "off") && strcmp(which, "unused") ? 1 : 0));
  if (!strcmp(which, "fails"))
    PetscCall(CGDevTestSays(ksp, which, "MPI through the host, as NCCL failed on another process"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void *ReleaseLater(void *unused)
{
  (void)usleep(200000);
  hold(0);
  return unused;
}

int main(int argc, char **argv)
{
  char           which[16] = "";
  PetscBool      on_pc, unused;
  CGDevSetup     setup = CGDevTestSetup();
  pthread_t      releaser;
  FakeNcclCounts last;
  Mat            A;
  KSP            ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(OpenLibrary());
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-case", which, sizeof which, NULL));
  unused   = !strcmp(which, "unused") ? PETSC_TRUE : PETSC_FALSE;
  on_pc    = unused || !strcmp(which, "pc") ? PETSC_TRUE : PETSC_FALSE;
  setup.pc = on_pc ? PCGAMGDEVICE : !strcmp(which, "solver") ? PCGAMG : PCJACOBI;
  PetscCall(CGDevTestMatrix(1, MATAIJ, &A));
  PetscCall(CGDevTestCreate(on_pc ? KSPCG : KSPCGDEVICE, A, A, &setup, &ksp));
  if (unused) PetscCall(PetscOptionsSetValue(NULL, "-pc_mg_type", "full")); /* PCSetUp() reads it */
  PetscCall(Run(which, ksp, A));
  if (!on_pc) PetscCall(Nccl(ksp, strcmp(which, "off") && strcmp(which, "fails") ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  if (unused && pthread_create(&releaser, NULL, ReleaseLater, NULL)) return 1;
  const int failed = CGDevTestEnd();
  if (unused) (void)pthread_join(releaser, NULL);
  last = counts();
  if (last.ended != last.begun || last.destroyed != last.begun - (getenv("SPMV_FAKE_NCCL_FAIL") ? 1 : 0)) {
    fprintf(stderr, "%d begun, %d ended, %d destroyed\n", last.begun, last.ended, last.destroyed);
    return 1;
  }
  return failed;
}
