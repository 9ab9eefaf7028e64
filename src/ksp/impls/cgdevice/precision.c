/* precision.c - the options of a solver that are about mixed precision, from the database and from C. */
#include "cgdevice.h"

const char *const KSPCGDevicePrecisions[] = {"double", "mixed", "KSPCGDevicePrecision", "KSP_CGDEVICE_", NULL};

/* Part of KSPSetFromOptions_CGDevice() */
PetscErrorCode CGDevPrecisionFromOptions(KSP ksp, const KSP_CGDevice *s, AIJFmtOptionItems PetscOptionsObject)
{
  KSPCGDevicePrecision precision;
  PetscBool            set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-ksp_cgdevice_precision", "Precision of the products", "KSPCGDeviceSetPrecision",
                             KSPCGDevicePrecisions, (PetscEnum)s->precision, (PetscEnum *)&precision, &set));
  if (set) PetscCall(KSPCGDeviceSetPrecision(ksp, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGDeviceSetPrecision - Sets the precision of the products of a `KSPCGDEVICE`

  Logically Collective

  Input Parameters:
+ ksp       - the solver; nothing happens when it is of another type
- precision - `KSP_CGDEVICE_DOUBLE`, the default, or `KSP_CGDEVICE_MIXED`

  Options Database Key:
. -ksp_cgdevice_precision <double> - double or mixed

  Level: intermediate

  Notes:
  In mixed precision the values of the matrix are rounded to single precision for the products, which halves what these
  read; vectors, sums and the preconditioner are double. A solve ends when the true residual, b - A x with the matrix
  itself, fulfils the tolerance. It is computed each time that the residual of the recurrence has fallen to a hundredth,
  and takes its place: reliable updates (Sleijpen and van der Vorst, 1996). The rounded values take 4 bytes more for
  each nonzero on the device.

  Iterations differ a little from those of double precision. Where the true residual does not follow, as for condition
  numbers beyond some 1e8, or the rounded matrix is not positive definite, the solve goes on in double precision, and
  so do later ones with the same nonzero pattern; `-ksp_view` and `-info` say so.

  It needs `KSPConvergedDefault()` and a norm, a real `PetscScalar` of double precision, and a matrix whose packed
  format has such products: rbp, crsv, codsell. Small matrices, for which the mode auto takes the persistent kernel, are
  solved in double precision.

.seealso: `KSPCGDEVICE`, `KSPCGDeviceGetPrecision()`, `KSPCGDeviceGetInfo()`
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
  PetscCall(CGDevStateGet(ksp, &s));
  if (s) s->precision = precision;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGDeviceGetPrecision - Gets the precision that the products of a `KSPCGDEVICE` are to have

  Not Collective

  Input Parameter:
. ksp - the solver

  Output Parameter:
. precision - what `KSPCGDeviceSetPrecision()` or the option set; `KSPCGDeviceGetInfo()` tells that of the last solve

  Level: intermediate

.seealso: `KSPCGDEVICE`, `KSPCGDeviceSetPrecision()`
@*/
PetscErrorCode KSPCGDeviceGetPrecision(KSP ksp, KSPCGDevicePrecision *precision)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscAssertPointer(precision, 2);
  PetscCall(CGDevRequire(ksp, &s));
  *precision = s->precision;
  PetscFunctionReturn(PETSC_SUCCESS);
}
