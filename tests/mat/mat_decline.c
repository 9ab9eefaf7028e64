/*
  mat_decline.c - -mat_aijfmt_decline: types that name a format, and leave products to the parent type by bytes, by
  predicted time with given numbers of the machine, and by measured time. No time is compared. On a GPU beside a parent
  type of the host, that of a PETSc without CUDA, nothing but bytes lets a format decline.
*/
#include "mat_auto.h"

enum { ROWS = 600, FEW = 12, RUNS = 4 /* products of each in a trial */, PRODUCTS = 2 * RUNS + 3 };

/* codsell reads three unknowns per node slowly, on a machine whose memory is not the limit */
static PetscErrorCode ExpectPacked(const char how[], PetscBool packed, const char *what)
{
  MatAIJFmtInfo info;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(AutoCreate("aijcodsell", BLOCKS, ROWS, &A));
  if (how) PetscCall(MatAIJFmtSetOption(A, "decline", how));
  PetscCall(AutoProduct(A, what));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  PetscCall(AutoExpect((PetscBool)((info.blocks_converted > 0) == packed), what));
  PetscCall(AutoExpect((PetscBool)((info.products > 0) == packed), what));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Predicted(PetscBool on_host)
{
  const PetscPackMachine fast = {.host_bandwidth = 1e12, .host_rate = 1e9},
                         slow = {.host_bandwidth = 1e6, .host_rate = 1e12};
  const PetscBool  packed     = on_host ? PETSC_FALSE : PETSC_TRUE;
  PetscPackMachine given;
  MatAIJFmtInfo    info;
  Mat              A;

  PetscFunctionBeginUser;
  PetscCall(PetscPackGetMachine(&given));
  PetscCall(PetscPackSetMachine(&fast));
  PetscCall(ExpectPacked(NULL, packed, "a format that is predicted to be slower, by default"));
  PetscCall(ExpectPacked("true", packed, "a format that is predicted to be slower, decline true"));
  PetscCall(ExpectPacked("predicted", packed, "a format that is predicted to be slower, decline predicted"));
  PetscCall(ExpectPacked("bytes", PETSC_TRUE, "a format that is predicted to be slower, decline bytes"));
  PetscCall(ExpectPacked("no", PETSC_TRUE, "a format that is predicted to be slower, decline no"));
  PetscCall(PetscPackSetMachine(&slow));
  PetscCall(ExpectPacked("predicted", PETSC_TRUE, "a format of fewer bytes where the memory is slow"));

  /* the option changes after the verdict, and the verdict with it */
  PetscCall(PetscPackSetMachine(&fast));
  PetscCall(AutoCreate("aijcodsell", BLOCKS, ROWS, &A));
  PetscCall(AutoProduct(A, "product before the change of decline"));
  PetscCall(MatAIJFmtSetOption(A, "decline", "bytes"));
  PetscCall(AutoProduct(A, "product after the change of decline"));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  PetscCall(AutoExpect((PetscBool)(info.blocks_converted > 0), "a changed decline has no effect"));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPackSetMachine(&given));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both do their products, then one of them stays, and no packed array is left of a format that loses */
static PetscErrorCode Measured(PetscBool on_host)
{
  MatAIJFmtInfo trial, later, last;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(AutoCreate("aijrbp", BLOCKS, ROWS, &A));
  PetscCall(MatAIJFmtSetOption(A, "decline", "measured"));
  for (int p = 0; p < PRODUCTS; p++) {
    PetscCall(AutoProduct(A, "product of a trial of two"));
    if (p == 2) PetscCall(MatScale(A, 2));
    if (p == 2 * RUNS) PetscCall(MatAIJFmtGetInfo(A, &trial));
  }
  PetscCall(MatAIJFmtGetInfo(A, &later));
  if (on_host || PetscDefined(HAVE_CUDA))
    PetscCall(
        AutoExpect((PetscBool)(trial.products >= RUNS && trial.fallbacks >= RUNS), "one of the two was not tried"));
  else PetscCall(AutoExpect((PetscBool)(trial.fallbacks == 0), "the parent type of the host was tried"));
  PetscCall(AutoExpect((PetscBool)(later.conversions == trial.conversions), "a conversion after the trial"));
  PetscCall(
      AutoExpect((PetscBool)(later.blocks_converted == trial.blocks_converted), "the choice changes after the trial"));
  PetscCall(AutoExpect((PetscBool)(later.conversions <= 2 * later.blocks), "too many conversions"));
  PetscCall(AutoExpect((PetscBool)((later.bytes > 0) == (later.blocks_converted > 0)), "the loser keeps its memory"));
  PetscCall(AutoAddEntry(A));
  for (int p = 0; p < PRODUCTS; p++) PetscCall(AutoProduct(A, "product of a second trial"));
  PetscCall(MatAIJFmtGetInfo(A, &last));
  PetscCall(AutoExpect((PetscBool)(last.conversions > later.conversions), "a new pattern has no trial"));
  PetscCall(MatAIJFmtSetOption(A, "decline", "false"));
  PetscCall(AutoProduct(A, "product of a format that insists"));
  PetscCall(MatAIJFmtGetInfo(A, &last));
  PetscCall(AutoExpect((PetscBool)(last.blocks_declined == 0), "a measured verdict outlives its option"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A format that declines by bytes has no turn */
static PetscErrorCode NotTried(void)
{
  MatAIJFmtInfo info;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(AutoCreate("aijcodsell", SCATTERED, FEW, &A));
  PetscCall(MatAIJFmtSetOption(A, "decline", "measured"));
  for (int p = 0; p < PRODUCTS; p++) PetscCall(AutoProduct(A, "product of a format that needs more bytes"));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  PetscCall(AutoExpect((PetscBool)(info.products == 0 && info.conversions == 0), "a format with more bytes was tried"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AutoDeclines(PetscBool on_host)
{
  PetscFunctionBeginUser;
  PetscCall(Predicted(on_host));
  PetscCall(Measured(on_host));
  PetscCall(NotTried());
  PetscFunctionReturn(PETSC_SUCCESS);
}
