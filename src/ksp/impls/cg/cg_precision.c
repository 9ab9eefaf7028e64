/* cg_precision.c - mixed precision: its options, whether a solve uses it, and the values of the matrix in single
   precision. cg_mixed.c has the solve. */
#include "cgdevice.h"

const char *const KSPCGDevicePrecisions[] = {"double", "mixed", "KSPCGDevicePrecision", "KSP_CGDEVICE_", NULL};

PetscErrorCode CGDevPrecisionFromOptions(KSP ksp, KSPDevice *s, AIJFmtOptionItems PetscOptionsObject)
{
  KSPCGDevicePrecision precision;
  PetscBool            set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-ksp_cgdevice_precision", "Precision of the products", "KSPCGDeviceSetPrecision",
                             KSPCGDevicePrecisions, (PetscEnum)((KSP_CGDevice *)s)->precision, (PetscEnum *)&precision,
                             &set));
  if (set) PetscCall(KSPCGDeviceSetPrecision(ksp, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevPrecisionView(const KSPDevice *device, PetscViewer viewer)
{
  const KSP_CGDevice *s = (const KSP_CGDevice *)device;

  PetscFunctionBegin;
  if (s->precision != KSP_CGDEVICE_MIXED) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  mixed precision: corrections %" PetscInt_FMT "\n", s->mixed.corrections));
  if (s->mixed.why[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "    double precision instead: %s\n", s->mixed.why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevRoundedForget(KSP_CGDevice *s)
{
  PetscFunctionBegin;
  spmv_exec_free(&s->exec, SPMV_DEVICE, s->rounded.values);
  PetscCall(PetscMemzero(&s->rounded, sizeof s->rounded));
  s->matrix.call.rounded = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Switches this solve to double precision, and keeps the reason */
PetscErrorCode CGDevMixedDecline(KSP ksp, KSP_CGDevice *s, const char why[])
{
  PetscFunctionBegin;
  s->mixed.on            = PETSC_FALSE;
  s->matrix.call.rounded = NULL;
  PetscCall(PetscStrncpy(s->mixed.why, why, sizeof s->mixed.why));
  PetscCall(PetscInfo(ksp, "double precision instead of mixed: %s\n", why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Decides whether this solve may begin in mixed precision */
PetscErrorCode CGDevMixedBegin(KSP ksp, KSP_CGDevice *s)
{
  CGDevMixed *m = &s->mixed;
  Mat         A;

  PetscFunctionBegin;
  m->corrections         = 0;
  m->why[0]              = 0;
  m->on                  = s->precision == KSP_CGDEVICE_MIXED ? PETSC_TRUE : PETSC_FALSE;
  s->matrix.call.rounded = NULL;
  if (!m->on) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (s->single_reduction) PetscCall(CGDevMixedDecline(ksp, s, "-ksp_cg_single_reduction"));
  else if (s->pc.kind == SPMV_PC_FUNCTION)
    PetscCall(CGDevMixedDecline(ksp, s, "the preconditioner is multigrid or a factorization"));
  else if (ksp->converged != KSPConvergedDefault || ksp->normtype == KSP_NORM_NONE)
    PetscCall(CGDevMixedDecline(ksp, s, "it needs a norm and KSPConvergedDefault()"));
  else if (m->failed_id == ((PetscObject)A)->id && m->failed_nonzero == A->nonzerostate)
    PetscCall(CGDevMixedDecline(ksp, s, "it was not enough for an earlier solve with this matrix"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In mixed precision, sets s->matrix.call.rounded to the values of the plan in single precision, if they can be made */
PetscErrorCode CGDevRoundedGet(KSP ksp, KSP_CGDevice *s, Mat A)
{
  const SpmvPlan *plan  = s->matrix.call.plan;
  const int64_t   bytes = s->mixed.on ? spmv_rounded_bytes(plan) : 0;
  CGDevRounded   *r     = &s->rounded;
  SpmvStatus      status;

  PetscFunctionBegin;
  s->matrix.call.rounded = NULL;
  if (!s->mixed.on) PetscFunctionReturn(PETSC_SUCCESS);
  if (bytes == 0) {
    PetscCall(CGDevMixedDecline(ksp, s, "the format has no product with rounded values"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (bytes != r->bytes) {
    PetscCall(CGDevRoundedForget(s));
    status = spmv_alloc(&s->exec, SPMV_DEVICE, bytes, "rounded values", &r->values);
    if (status == SPMV_ERR_MEMORY) {
      PetscCall(CGDevMixedDecline(ksp, s, s->exec.message));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    AIJFmtCallSpmv(&s->exec, status);
    r->bytes = bytes;
  }
  if (r->id != ((PetscObject)A)->id || r->serial != s->matrix.serial[0] || r->state != ((PetscObject)A)->state) {
    r->id = 0;
    KSPDevTry(s, spmv_round_values(plan, r->values, &s->exec));
    r->id     = ((PetscObject)A)->id;
    r->serial = s->matrix.serial[0];
    r->state  = ((PetscObject)A)->state;
  }
  s->matrix.call.rounded = r->values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGDeviceSetPrecision - Sets the precision of the products of a `KSPCGDEVICE`

  Logically Collective

  Input Parameters:
+ ksp       - the solver; a solver of another type is left unchanged
- precision - `KSP_CGDEVICE_DOUBLE`, the default, or `KSP_CGDEVICE_MIXED`

  Options Database Key:
. -ksp_cgdevice_precision <double> - double or mixed

  Level: intermediate

  Notes:
  In mixed precision, products use matrix values rounded to single precision, which halves the bytes of the values;
  vectors, sums and the preconditioner stay in double. A solve ends when the true residual, b - A x with the matrix
  itself, meets the tolerance. The true residual is computed each time that the residual of the recurrence has fallen to
  a hundredth, and replaces it: reliable updates (Sleijpen and van der Vorst, 1996). The rounded values take 4 more
  bytes per nonzero on the device.

  The number of iterations differs slightly from that in double precision. If the true residual does not follow the
  recurrence, as for condition numbers beyond about 1e8, or the rounded matrix is not positive definite, the solve goes
  on in double precision, and later solves with the same nonzero pattern use double precision; `-ksp_view` and `-info`
  say so.

  Mixed precision needs `KSPConvergedDefault()` and a norm, a real `PetscScalar` of double precision, and a matrix whose
  plan has products with rounded values: not a streamed table of fold. Small matrices, for which the mode `auto` takes
  the persistent kernel, are solved in double precision.

.seealso: `KSPCGDEVICE`, `KSPCGDeviceGetPrecision()`, `KSPDeviceGetInfo()`
@*/
PetscErrorCode KSPCGDeviceSetPrecision(KSP ksp, KSPCGDevicePrecision precision)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, precision, 2);
  PetscCheck((int)precision >= KSP_CGDEVICE_DOUBLE && precision <= KSP_CGDEVICE_MIXED,
             PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE, "There is no precision %d of %s",
             (int)precision, KSPCGDEVICE);
  PetscCall(KSPDevStateGet(ksp, &CGDevClass, &s));
  if (s) s->precision = precision;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGDeviceGetPrecision - Gets the precision that the products of a `KSPCGDEVICE` are to have

  Not Collective

  Input Parameter:
. ksp - the solver

  Output Parameter:
. precision - set by `KSPCGDeviceSetPrecision()` or the option; `KSPDeviceGetInfo()` gives that of the last solve

  Level: intermediate

.seealso: `KSPCGDEVICE`, `KSPCGDeviceSetPrecision()`
@*/
PetscErrorCode KSPCGDeviceGetPrecision(KSP ksp, KSPCGDevicePrecision *precision)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscAssertPointer(precision, 2);
  PetscCall(KSPDevStateRequire(ksp, &CGDevClass, &s));
  *precision = s->precision;
  PetscFunctionReturn(PETSC_SUCCESS);
}
