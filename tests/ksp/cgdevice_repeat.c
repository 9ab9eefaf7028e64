/*
  cgdevice_repeat.c - one KSPCGDEVICE for many solves: new values keep the graph, a new pattern makes a new graph; and
  the life of a solver: options, types, resets
*/
static const char help[] = "Repeated solves by KSPCGDEVICE.\n";

#include "cgdevice_test.h"

#include <string.h>

enum { STEPS = 3 };

/* A solve by the kept solver, compared with KSPCG with the same entries in a plain matrix; got->x is destroyed */
static PetscErrorCode Step(const char name[], KSP ksp, Mat plain, const CGDevSetup *setup, CGDevOutcome *got)
{
  PetscBool reuse;
  KSP       reference;

  PetscFunctionBeginUser;
  PetscCall(KSPGetReusePreconditioner(ksp, &reuse));
  if (reuse) { /* no other solver has the same preconditioner */
    PetscCall(CGDevTestSolve(ksp, NULL, setup, got));
    PetscCall(VecDestroy(&got->x));
  } else {
    PetscCall(CGDevTestCreate(KSPCG, plain, plain, setup, &reference));
    PetscCall(CGDevTestBoth(name, reference, ksp, NULL, setup, got));
    PetscCall(KSPDestroy(&reference));
  }
  PetscCall(CGDevTestCheck((got->info.used != KSP_DEVICE_HOST) == CGDevTestOnDevice(), name, got->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NewEntries(Mat A)
{
  PetscInt          n;
  const PetscScalar small = (PetscScalar)-0.01;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetValue(A, 0, n - 1, small, INSERT_VALUES));
  PetscCall(MatSetValue(A, n - 1, 0, small, INSERT_VALUES));
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values, the same system again, a new pattern: as in a loop of time steps */
static PetscErrorCode Loop(MatType type, KSPDeviceMode mode, const char pc[])
{
  static CGDevOutcome o;
  CGDevSetup          setup  = CGDevTestSetup();
  const PetscInt      graphs = mode == KSP_DEVICE_GRAPH && CGDevTestOnDevice() ? 1 : 0;
  char                name[96];
  Mat                 A, plain;
  KSP                 ksp;

  PetscFunctionBeginUser;
  setup.mode = mode;
  setup.pc   = pc;
  PetscCall(PetscSNPrintf(name, sizeof name, "%s, %s, %s", type, KSPDeviceModes[mode], pc));
  PetscCall(CGDevTestMatrix(3, type, &A));
  PetscCall(CGDevTestMatrix(3, MATAIJ, &plain));
  PetscCall(CGDevTestCreate(KSPCGDEVICE, A, A, &setup, &ksp));
  for (int step = 0; step < STEPS; step++) {
    PetscCall(Step(name, ksp, plain, &setup, &o));
    PetscCall(Step(name, ksp, plain, &setup, &o));
    PetscCall(CGDevTestCheck(o.info.graphs == graphs, name, "another graph after new values"));
    PetscCall(CGDevTestCheck(o.info.conversions <= 1, name, "another conversion after new values"));
    PetscCall(CGDevTestFill(A, (PetscReal)(1 + 0.1 * (step + 1))));
    PetscCall(CGDevTestFill(plain, (PetscReal)(1 + 0.1 * (step + 1))));
  }
  PetscCall(NewEntries(A));
  PetscCall(NewEntries(plain));
  PetscCall(Step(name, ksp, plain, &setup, &o));
  PetscCall(CGDevTestCheck(o.info.graphs == 2 * graphs, name, "graphs after a new pattern"));
  if (CGDevTestOnDevice())
    PetscCall(CGDevTestCheck(o.info.solves_device == 2 * STEPS + 1, name, "solves on the device"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(TestDestroyMats(&A, &plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The preconditioner may belong to an older matrix: reuse it, and then let it be made again */
static PetscErrorCode Reuse(void)
{
  static CGDevOutcome o;
  const CGDevSetup    setup = CGDevTestSetup();
  PetscInt            first;
  Mat                 A, plain;
  KSP                 ksp;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestMatrix(1, MATAIJ, &A));
  PetscCall(CGDevTestMatrix(1, MATAIJ, &plain));
  PetscCall(CGDevTestCreate(KSPCGDEVICE, A, A, &setup, &ksp));
  PetscCall(Step("before a reuse", ksp, plain, &setup, &o));
  first = o.iterations;
  PetscCall(MatScale(A, 1e4));
  PetscCall(MatScale(plain, 1e4));
  PetscCall(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  PetscCall(Step("reuse", ksp, plain, &setup, &o));
  /* the norm of z = M r uses the M of the old matrix */
  PetscCall(CGDevTestCheck(PetscAbsInt(o.iterations - first) <= 1, "reuse", "iterations"));
  PetscCall(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
  PetscCall(Step("after a reuse", ksp, plain, &setup, &o));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(TestDestroyMats(&A, &plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Options(KSP ksp)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-mine_ksp_cgdevice_mode", "chunk"));
  PetscCall(PetscOptionsSetValue(NULL, "-mine_ksp_cgdevice_chunk", "3"));
  PetscCall(PetscOptionsSetValue(NULL, "-mine_ksp_cgdevice_format", "rbp"));
  PetscCall(KSPSetOptionsPrefix(ksp, "mine_"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(CGDevTestSays(ksp, "options", "mode chunk, chunk 3, format rbp"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options, other types, resets: the solver must be usable after each of them */
static PetscErrorCode Life(void)
{
  static CGDevOutcome o;
  const CGDevSetup    setup = CGDevTestSetup();
  KSPDeviceInfo       info;
  Mat                 A, plain;
  KSP                 ksp;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestMatrix(2, MATAIJ, &A));
  PetscCall(CGDevTestMatrix(2, MATAIJ, &plain));
  PetscCall(CGDevTestCreate(KSPCGDEVICE, A, A, &setup, &ksp));
  PetscCall(Options(ksp));
  PetscCall(Step("chunk", ksp, plain, &setup, &o));
  PetscCall(KSPView(ksp, NULL));
  PetscCall(KSPReset(ksp));
  PetscCall(KSPDeviceGetInfo(ksp, &info));
  PetscCall(CGDevTestCheck(info.bytes == 0, "reset", "memory is held"));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(Step("after a reset", ksp, plain, &setup, &o));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPDeviceSetMode(ksp, KSP_DEVICE_GRAPH)); /* has no effect on another type */
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &o));
  PetscCall(VecDestroy(&o.x));
  PetscCall(KSPSetType(ksp, KSPCGDEVICE));
  PetscCall(Step("after another type", ksp, plain, &setup, &o));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(TestDestroyMats(&A, &plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chunk lengths: some divide the number of iterations, some do not */
static const struct {
  KSPDeviceMode mode;
  PetscInt      chunk;
} schedules[] = {{KSP_DEVICE_GRAPH, 0},  {KSP_DEVICE_GRAPH, 1},      {KSP_DEVICE_GRAPH, 3},      {KSP_DEVICE_GRAPH, 17},
                 {KSP_DEVICE_GRAPH, 64}, {KSP_DEVICE_CHUNK, 0},      {KSP_DEVICE_CHUNK, 1},      {KSP_DEVICE_CHUNK, 7},
                 {KSP_DEVICE_CHUNK, 64}, {KSP_DEVICE_PERSISTENT, 0}, {KSP_DEVICE_PERSISTENT, 5}, {KSP_DEVICE_HOST, 0}};

static PetscErrorCode SameBits(const CGDevOutcome *a, const CGDevOutcome *b, PetscBool *same)
{
  PetscFunctionBeginUser;
  PetscCall(VecEqual(a->x, b->x, same));
  if (a->iterations != b->iterations || a->count != b->count ||
      memcmp(a->norms, b->norms, (size_t)a->count * sizeof *a->norms))
    *same = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solution and norms must have the same bits in every solve of a mode, and in the modes graph and chunk for every chunk
   length, with one solver or several */
static PetscErrorCode Bits(MatType type, int matrix, const char pc[])
{
  static CGDevOutcome first, o;
  CGDevSetup          setup = CGDevTestSetup();
  char                name[96];
  PetscBool           same;
  Mat                 A;
  KSP                 ksp;

  PetscFunctionBeginUser;
  setup.pc = pc;
  PetscCall(CGDevTestMatrix(matrix, type, &A));
  for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
    const PetscBool fresh =
        (PetscBool)(i == 0 || (schedules[i].mode != schedules[i - 1].mode && schedules[i].mode != KSP_DEVICE_CHUNK));

    setup.mode = schedules[i].mode;
    PetscCall(CGDevTestCreate(KSPCGDEVICE, A, A, &setup, &ksp));
    PetscCall(PetscSNPrintf(name, sizeof name, "%" PetscInt_FMT, schedules[i].chunk));
    PetscCall(CGDevTestOption(ksp, "-ksp_cgdevice_chunk", name));
    for (int again = 0; again < 2; again++) {
      PetscCall(CGDevTestSolve(ksp, NULL, &setup, &o));
      if (fresh && !again) {
        PetscCall(VecDestroy(&first.x));
        first = o;
        continue;
      }
      PetscCall(SameBits(&first, &o, &same));
      PetscCall(PetscSNPrintf(name, sizeof name, "%s, %s, mode %s, chunks of %" PetscInt_FMT, type, pc,
                              KSPDeviceModes[setup.mode], schedules[i].chunk));
      PetscCall(CGDevTestCheck(o.iterations > 4, name, "too few iterations to see a difference"));
      PetscCall(CGDevTestCheck(same, name, "other bits"));
      PetscCall(VecDestroy(&o.x));
    }
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&first.x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const types[] = {MATAIJ, MATAIJRBP, MATAIJCRSV};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (int mode = KSP_DEVICE_CHUNK; mode <= KSP_DEVICE_PERSISTENT; mode++)
      PetscCall(Loop(types[t], (KSPDeviceMode)mode, mode == KSP_DEVICE_CHUNK ? PCPBJACOBI : PCJACOBI));
  PetscCall(Bits(MATAIJ, 1, PCJACOBI));
  PetscCall(Bits(MATAIJRBP, 3, PCPBJACOBI));
  PetscCall(Bits(MATAIJFOLD, 3, PCNONE));
  PetscCall(Reuse());
  PetscCall(Life());
  return CGDevTestEnd();
}
