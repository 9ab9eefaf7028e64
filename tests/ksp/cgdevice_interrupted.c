/*
  cgdevice_interrupted.c - solves by KSPCGDEVICE with faults: one device allocation and all later ones fail, or one call
  of the CUDA runtime fails, such as a launch, a copy, or a part of the capture of a graph. Needs the emulated GPU,
  which can be told to fail.

    cgdevice_interrupted -type aijrbp
    cgdevice_interrupted -multigrid      with PCGAMG, for plain matrices

  Without memory KSPCG must do the solve; only a packed matrix on the device may itself fail for lack of memory. After a
  failed call the solve may end in an error; the next solve by the same solver must then be right, and on the device.
  Nothing may stay allocated.
*/
static const char help[] = "Lets allocations and calls fail in solves by KSPCGDEVICE.\n";

#include "cgdevice_test.h"

#include <cuda_runtime_api.h>
#include <spmv_emulator.h>

typedef enum { NO_MEMORY, NO_CALL, FAULTS } Fault;

static const char *const fault_names[FAULTS] = {"allocations", "calls"};

/* Words of error messages: each must have ended some solve in that mode */
enum { WORDS = 6 };
typedef struct {
  KSPCGDeviceMode mode;
  const char     *pc, *words[WORDS];
  PetscBool       seen[WORDS];
  PetscInt        stride[FAULTS]; /* only every stride-th fault is tried, for long solves; 0: every one */
} Mode;

static Mode modes[] = {
    {.mode = KSP_CGDEVICE_CHUNK, .pc = PCPBJACOBI, .words = {"kernel", "cudaMemcpyAsync", "cudaEventSynchronize"}},
    {.mode  = KSP_CGDEVICE_GRAPH,
     .pc    = PCJACOBI,
     .words = {"kernel", "cudaStreamBeginCapture", "capture of iterations", "graph of iterations", "cudaGraphLaunch",
               "cudaStreamCreate"}},
    {.mode = KSP_CGDEVICE_PERSISTENT, .pc = PCJACOBI, .words = {"kernel cg_persistent", "cudaEventRecord"}},
    {.mode = KSP_CGDEVICE_GRAPH, .pc = PCGAMG, .words = {"kernel"}, .stride = {3, 29}},
};

/* Suppresses error output, and looks for the words of the mode */
static PetscErrorCode LookForWords(MPI_Comm comm, int line, const char function[], const char file[],
                                   PetscErrorCode error, PetscErrorType when, const char message[], void *ctx)
{
  Mode *mode = ctx;

  (void)comm;
  (void)line;
  (void)function;
  (void)file;
  for (int i = 0; i < WORDS && when == PETSC_ERROR_INITIAL; i++)
    if (mode->words[i] && strstr(message, mode->words[i])) mode->seen[i] = PETSC_TRUE;
  return error;
}

static PetscErrorCode DeviceMemory(size_t *used)
{
  size_t available, total;

  PetscFunctionBeginUser;
  PetscCheck(!cudaMemGetInfo(&available, &total), PETSC_COMM_SELF, PETSC_ERR_GPU, "cudaMemGetInfo() fails");
  *used = total - available;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lets n calls succeed and then fails; negative: never fails. Returns whether a call has failed since the last use. */
static PetscBool FailAfter(Fault fault, long n)
{
  return (fault == NO_MEMORY ? spmv_emulator_allow(n) > 0 : spmv_emulator_fail_after(n) != 0) ? PETSC_TRUE
                                                                                              : PETSC_FALSE;
}

/* Makes several chunks, of three iterations each */
static PetscErrorCode ShortChunks(KSP ksp) { return KSPCGDeviceSetChunk(ksp, 3); }

static CGDevSetup SetupOf(const Mode *mode)
{
  CGDevSetup setup = CGDevTestSetup();

  setup.mode      = mode->mode;
  setup.pc        = mode->pc;
  setup.rtol      = (PetscReal)1e-3;
  setup.configure = ShortChunks;
  return setup;
}

/* A solve with a possible fault. The caller owns the vectors, because an error leaves them as they are. */
static PetscErrorCode Interrupt(KSP ksp, Mode *mode, Fault fault, long n, Vec b, Vec x, PetscErrorCode *error,
                                PetscBool *failed)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(LookForWords, mode));
  (void)FailAfter(fault, n);
  *error  = KSPSolve(ksp, b, x);
  *failed = FailAfter(fault, -1);
  PetscCall(PetscPopErrorHandler());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckFirst(const char name[], KSP ksp, const Mode *mode, Fault fault, PetscBool failed, Vec x,
                                 const CGDevOutcome *expected)
{
  PetscReal       difference, largest;
  KSPCGDeviceInfo info;
  Vec             d;

  PetscFunctionBeginUser;
  PetscCall(KSPCGDeviceGetInfo(ksp, &info));
  if (!failed) PetscCall(CGDevTestCheck((PetscBool)(info.used == mode->mode), name, "another mode without a fault"));
  if (failed && fault == NO_MEMORY)
    PetscCall(CGDevTestCheck((PetscBool)(info.used == KSP_CGDEVICE_HOST && info.reason[0]), name, "not by KSPCG"));
  PetscCall(VecDuplicate(x, &d));
  PetscCall(VecWAXPY(d, -1, expected->x, x));
  PetscCall(VecNorm(d, NORM_INFINITY, &difference));
  PetscCall(VecNorm(expected->x, NORM_INFINITY, &largest));
  PetscCall(CGDevTestCheck((PetscBool)(difference <= (PetscReal)1e-5 * largest), name, "a wrong solution"));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Resets PETSc's PCJACOBI, which keeps a diagonal of zeros after the matrix could not return its diagonal. PCReset() of
   PCGAMG keeps the matrices of its levels. The KSP itself is not reset. */
static PetscErrorCode Recover(KSP ksp, const Mode *mode, Mat A)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCReset(pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(PCSetType(pc, mode->pc));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Attempt(const char name[], MatType type, Mode *mode, Fault fault, long n,
                              const CGDevOutcome *expected, PetscBool *failed)
{
  static CGDevOutcome again;
  const CGDevSetup    setup = SetupOf(mode);
  PetscErrorCode      error = PETSC_SUCCESS;
  PetscBool           plain, allowed;
  Mat                 A;
  Vec                 b, x;
  KSP                 ksp;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestMatrix(3, type, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(CGDevTestRightHandSide(b));
  PetscCall(CGDevTestCreate(KSPCGDEVICE, A, A, &setup, &ksp));
  PetscCall(Interrupt(ksp, mode, fault, n, b, x, &error, failed));
  PetscCall(PetscStrcmp(type, MATAIJ, &plain));
  allowed = (PetscBool)(*failed && (fault == NO_CALL || (!plain && error == PETSC_ERR_MEM)));
  PetscCall(CGDevTestCheck((PetscBool)(!error || allowed), name, "an error"));
  if (!error) PetscCall(CheckFirst(name, ksp, mode, fault, *failed, x, expected));
  else PetscCall(Recover(ksp, mode, A));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &again));
  PetscCall(CGDevTestAlike(name, expected, &again));
  PetscCall(CGDevTestCheck((PetscBool)(again.info.used == mode->mode), name, again.why));
  PetscCall(VecDestroy(&again.x));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first attempt, without a fault, allocates the data that the library keeps for the process */
static PetscErrorCode Run(MatType type, Mode *mode, Fault fault)
{
  static CGDevOutcome expected;
  const CGDevSetup    setup  = SetupOf(mode);
  const PetscInt      fewest = fault == NO_MEMORY ? 4 : 20; /* least number of faults that a solve must have had */
  PetscBool           failed;
  PetscInt            count  = 0;
  size_t              before = 0, after = 0;
  char                name[128];
  Mat                 plain;
  KSP                 ksp;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestMatrix(3, MATAIJ, &plain));
  PetscCall(CGDevTestCreate(KSPCG, plain, plain, &setup, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &expected));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(Attempt("no fault", type, mode, fault, -1, &expected, &failed));
  do {
    PetscCall(PetscSNPrintf(name, sizeof name, "%s, mode %s, a fault after %" PetscInt_FMT " %s", type,
                            KSPCGDeviceModes[mode->mode], count, fault_names[fault]));
    PetscCall(DeviceMemory(&before));
    PetscCall(Attempt(name, type, mode, fault, count, &expected, &failed));
    PetscCall(DeviceMemory(&after));
    PetscCall(CGDevTestCheck((PetscBool)(before == after), name, "memory of the device is lost"));
    if (failed) count += PetscMax(mode->stride[fault], 1);
  } while (failed);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, mode %s: %" PetscInt_FMT " %s failed\n", type,
                        KSPCGDeviceModes[mode->mode], count, fault_names[fault]));
  PetscCall(CGDevTestCheck((PetscBool)(count >= fewest), type, "too few faults"));
  PetscCall(VecDestroy(&expected.x));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      type[32]  = MATAIJ;
  PetscBool multigrid = PETSC_FALSE, is;
  int       status;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof type, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-multigrid", &multigrid, NULL));
  for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
    PetscCall(PetscStrcmp(modes[m].pc, PCGAMG, &is));
    if (is != multigrid) continue;
    for (int fault = 0; fault < FAULTS; fault++) PetscCall(Run(type, &modes[m], (Fault)fault));
    for (int i = 0; i < WORDS; i++)
      PetscCall(
          CGDevTestCheck((PetscBool)(!modes[m].words[i] || modes[m].seen[i]), modes[m].words[i], "no such error"));
  }
  status = CGDevTestEnd();
  PetscCall(PetscFinalize());
  return status;
}
