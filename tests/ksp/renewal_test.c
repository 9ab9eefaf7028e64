/*
  renewal_test.c - PCSetUp() of PCGAMG with new values in the same pattern, on the emulated device, which counts
  allocations: from the third such set-up on, no device or pinned memory is mapped, and nothing waits for the device to
  free some; memory kept for that is freed with the hierarchy. Set-ups that make a new hierarchy for new values map no
  device memory either, if the pool keeps as much as by default. With a solver or a PC of ours the first set-up does not
  wait to free some.

    renewal_test [-mat_aijfmt_device gpu]
*/
static const char help[] = "Counts what set-ups with new values allocate on the device.\n";

#include "cgdevice_test.h"

#include <spmv_emulator.h>
#include <string.h>
#include <spmv_kernels.h>

enum { STEPS = 4, FREE_FROM = 3 };

/* A solver and a problem */
typedef struct {
  const char *name, *ksp, *pc, *gamg;
  PetscInt    side, unknowns; /* points along an edge of the cube, and unknowns per point */
  PetscBool   single;         /* the cycle in single precision */
  PetscBool   anew;           /* each set-up makes a new hierarchy, in the memory that the pool keeps by default */
} Row;

static int kept; /* number of rows for which scratch memory was kept */

static const Row rows[] = {
    {"agg", KSPCG, PCGAMG, PCGAMGAGG, 5, 1, PETSC_FALSE, PETSC_FALSE},
    {"aggdevice", KSPCG, PCGAMG, PCGAMGAGGDEVICE, 5, 1, PETSC_FALSE, PETSC_FALSE},
    {"cgdevice, aggdevice", KSPCGDEVICE, PCGAMG, PCGAMGAGGDEVICE, 5, 1, PETSC_FALSE, PETSC_FALSE},
    {"fgmres, gamgdevice", KSPFGMRES, PCGAMGDEVICE, PCGAMGAGGDEVICE, 4, 3, PETSC_FALSE, PETSC_FALSE},
    {"cgdevice, single precision", KSPCGDEVICE, PCGAMG, PCGAMGAGGDEVICE, 4, 1, PETSC_TRUE, PETSC_FALSE},
    {"cgdevice, aggdevice, large enough for the device", KSPCGDEVICE, PCGAMG, PCGAMGAGGDEVICE, 14, 1, PETSC_FALSE,
     PETSC_FALSE},
    {"cgdevice, a new hierarchy", KSPCGDEVICE, PCGAMG, PCGAMGAGGDEVICE, 14, 1, PETSC_FALSE, PETSC_TRUE},
    {"fgmres, a new hierarchy", KSPFGMRES, PCGAMGDEVICE, PCGAMGAGGDEVICE, 4, 3, PETSC_FALSE, PETSC_TRUE},
};

/* New values for each step */
static PetscErrorCode Fill(const Row *row, Mat A, int step)
{
  return CGDevTestStencil(A, row->side, row->unknowns, 1, (PetscReal)0.1, 2 + step);
}

static PetscErrorCode Create(const Row *row, Mat *A, KSP *ksp)
{
  const PetscInt n = row->side * row->side * row->side * row->unknowns;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(TestCreate(PETSC_COMM_SELF, MATAIJRBP, n, n, n, n, row->unknowns, 27 * row->unknowns, A));
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetType(*ksp, row->ksp));
  if (row->single) PetscCall(KSPSetOptionsPrefix(*ksp, "single_"));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, row->pc));
  PetscCall(PCGAMGSetType(pc, row->gamg));
  PetscCall(PCGAMGSetReuseInterpolation(pc, row->anew ? PETSC_FALSE : PETSC_TRUE));
  PetscCall(PCGAMGSetCoarseEqLim(pc, 20));
  PetscCall(KSPSetOperators(*ksp, *A, *A));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A first set-up and several with new values, each followed by a solve */
static PetscErrorCode Steps(const Row *row)
{
  char text[128];
  Mat  A;
  KSP  ksp;
  PC   pc;
  Vec  b, x;
  long grown, pinned, waits;

  PetscFunctionBeginUser;
  PetscCall(PetscPackSetDeviceKeep(row->anew ? -1 : 0)); /* 0: nothing is kept but what set-ups hold */
  PetscCall(Create(row, &A, &ksp));
  PetscCall(Fill(row, A, 0));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(CGDevTestRightHandSide(b));
  PetscCall(KSPGetPC(ksp, &pc));
  for (int step = 0; step < STEPS; step++) {
    if (step > 0) PetscCall(Fill(row, A, step));
    (void)spmv_emulator_grown();
    (void)spmv_emulator_page_locked();
    (void)spmv_emulator_device_waits();
    PetscCall(KSPSetUp(ksp));
    PetscCall(PCSetUp(pc));
    PetscCall(KSPSolve(ksp, b, x));
    grown  = spmv_emulator_grown();
    pinned = spmv_emulator_page_locked();
    waits  = spmv_emulator_device_waits();
    PetscCall(PetscSNPrintf(text, sizeof text,
                            "memory mapped %ld times in set-up %d, %ld of them pinned, %ld waits to free some", grown,
                            step, pinned, waits));
    PetscCall(CGDevTestCheck(step < FREE_FROM || (row->anew ? grown == pinned : grown + waits == 0), row->name, text));
    if (row->anew) PetscCall(PetscInfo(ksp, "%s: %s\n", row->name, text));
    PetscCall(CGDevTestCheck(step > 0 || waits == 0 || !strcmp(row->ksp, KSPCG), row->name, text));
  }
  if (spmv_scratch_bytes() > 0) kept++;
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(CGDevTestCheck(spmv_scratch_bytes() == 0, row->name, "memory is kept for nobody"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool all;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsSetValue(NULL, "-single_pc_mgdevice_precision", "single"));
  for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(rows); r++) PetscCall(Steps(&rows[r]));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_aijfmt_device", &all));
  PetscCall(CGDevTestCheck(kept >= (all ? (int)PETSC_STATIC_ARRAY_LENGTH(rows) : 1), "all",
                           "the device kept nothing, so it did nothing"));
  return CGDevTestEnd();
}
