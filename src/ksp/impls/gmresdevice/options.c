/* options.c - the options of a solver, from the database and from C. */
#include "gmresdevice.h"

const char *const KSPGMRESDeviceModes[] = {"auto", "host", "chunk", "graph", "KSPGMRESDeviceMode", "KSP_GMRESDEVICE_",
                                           NULL};

PetscErrorCode KSPSetFromOptions_GMRESDevice(KSP ksp, AIJFmtOptionItems PetscOptionsObject)
{
  KSP_GMRESDevice   *s;
  KSPGMRESDeviceMode mode;
  PetscBool          set;

  PetscFunctionBegin;
  PetscCall(GMRESDevStateGet(ksp, &s));
  if (s->parent.setfromoptions) PetscCall(s->parent.setfromoptions(ksp, PetscOptionsObject));
  PetscOptionsHeadBegin(PetscOptionsObject, "KSP GMRESDEVICE options");
  PetscCall(PetscOptionsEnum("-ksp_gmresdevice_mode", "How iterations run", "KSPGMRESDeviceSetMode",
                             KSPGMRESDeviceModes, (PetscEnum)s->mode, (PetscEnum *)&mode, &set));
  if (set) PetscCall(KSPGMRESDeviceSetMode(ksp, mode));
  PetscCall(KSPDevFromOptions(ksp, KSPDEV(s), KSPGMRESDEVICE, "KSPGMRESDevice", PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPGMRESDeviceSetMode - Sets how the iterations of a `KSPGMRESDEVICE` run

  Logically Collective

  Input Parameters:
+ ksp  - the solver; a solver of another type is left unchanged
- mode - `KSP_GMRESDEVICE_AUTO`, `KSP_GMRESDEVICE_HOST`, `KSP_GMRESDEVICE_CHUNK` or `KSP_GMRESDEVICE_GRAPH`

  Options Database Key:
. -ksp_gmresdevice_mode <auto> - auto, host, chunk or graph

  Level: intermediate

  Notes:
  `host` is the solve of `KSPGMRES`; it excludes one of several solvers after `PetscPackReplaceType()` has given them
  all this type. `chunk` launches kernels one by one, several iterations ahead of the host. `graph` launches CUDA graphs
  of several iterations each, which are kept until the nonzero pattern, the restart or the kind of preconditioner
  changes.

  `auto` is `graph`. Work that streams from the host or waits for it, such as messages by MPI, cannot be captured in a
  graph, and runs in chunks even in the mode `graph`; `-ksp_view` shows the mode of the last solve.

.seealso: `KSPGMRESDEVICE`, `KSPGMRESDeviceGetMode()`, `KSPGMRESDeviceSetChunk()`
@*/
PetscErrorCode KSPGMRESDeviceSetMode(KSP ksp, KSPGMRESDeviceMode mode)
{
  KSP_GMRESDevice *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, mode, 2);
  PetscCheck((int)mode >= KSP_GMRESDEVICE_AUTO && mode <= KSP_GMRESDEVICE_GRAPH, PetscObjectComm((PetscObject)ksp),
             PETSC_ERR_ARG_OUTOFRANGE, "There is no mode %d of %s", (int)mode, KSPGMRESDEVICE);
  PetscCall(GMRESDevStateGet(ksp, &s));
  if (s) s->mode = mode;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPGMRESDeviceGetMode - Gets how the iterations of a `KSPGMRESDEVICE` are to run

  Not Collective

  Input Parameter:
. ksp - the solver

  Output Parameter:
. mode - set by `KSPGMRESDeviceSetMode()` or the option; auto by default

  Level: intermediate

.seealso: `KSPGMRESDEVICE`, `KSPGMRESDeviceSetMode()`
@*/
PetscErrorCode KSPGMRESDeviceGetMode(KSP ksp, KSPGMRESDeviceMode *mode)
{
  KSP_GMRESDevice *s;

  PetscFunctionBegin;
  PetscAssertPointer(mode, 2);
  PetscCall(GMRESDevRequire(ksp, &s));
  *mode = s->mode;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPGMRESDeviceSetChunk - Sets how many iterations of a `KSPGMRESDEVICE` are enqueued together

  Logically Collective

  Input Parameters:
+ ksp   - the solver; a solver of another type is left unchanged
- chunk - 1 to 64 iterations, or 0, the default, to choose by the size of the matrix

  Options Database Key:
. -ksp_gmresdevice_chunk <0> - the same

  Level: advanced

  Notes:
  A chunk never spans two restart cycles. In the mode `graph` each chunk of a restart cycle has a graph of its own, so
  short chunks make many graphs. A solve may enqueue up to two chunks more than it needs; this does not change the
  number of iterations.

  With a multigrid cycle as preconditioner, iterations are enqueued one at a time. On several processes that exchange
  messages through the host, 0 means one iteration.

.seealso: `KSPGMRESDEVICE`, `KSPGMRESDeviceGetChunk()`, `KSPGMRESDeviceSetMode()`
@*/
PetscErrorCode KSPGMRESDeviceSetChunk(KSP ksp, PetscInt chunk)
{
  KSP_GMRESDevice *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ksp, chunk, 2);
  PetscCall(GMRESDevStateGet(ksp, &s));
  PetscCall(KSPDevSetChunk(ksp, KSPDEV(s), chunk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPGMRESDeviceGetChunk - Gets how many iterations of a `KSPGMRESDEVICE` are enqueued together

  Not Collective

  Input Parameter:
. ksp - the solver

  Output Parameter:
. chunk - set by `KSPGMRESDeviceSetChunk()` or the option; 0 by default

  Level: advanced

.seealso: `KSPGMRESDEVICE`, `KSPGMRESDeviceSetChunk()`
@*/
PetscErrorCode KSPGMRESDeviceGetChunk(KSP ksp, PetscInt *chunk)
{
  KSP_GMRESDevice *s;

  PetscFunctionBegin;
  PetscAssertPointer(chunk, 2);
  PetscCall(GMRESDevRequire(ksp, &s));
  *chunk = s->chunk;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPGMRESDeviceSetFormat - Sets the packed format of a `KSPGMRESDEVICE` for matrices that have none on the device

  Logically Collective

  Input Parameters:
+ ksp    - the solver; a solver of another type is left unchanged
- format - crsv, rbp, fold or codsell

  Options Database Key:
. -ksp_gmresdevice_format <crsv> - the same

  Level: intermediate

  Note:
  A matrix of a petscpack type that is on the device is used as it is. If the format declines a matrix, the solver
  stores it as crsv, which is CSR.

.seealso: `KSPGMRESDEVICE`, `KSPGMRESDeviceGetFormat()`, `MATAIJRBP`
@*/
PetscErrorCode KSPGMRESDeviceSetFormat(KSP ksp, const char format[])
{
  KSP_GMRESDevice *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscAssertPointer(format, 2);
  PetscCall(GMRESDevStateGet(ksp, &s));
  PetscCall(KSPDevSetFormat(ksp, KSPDEV(s), format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPGMRESDeviceGetFormat - Gets the packed format of a `KSPGMRESDEVICE` for matrices that have none on the device

  Not Collective

  Input Parameter:
. ksp - the solver

  Output Parameter:
. format - set by `KSPGMRESDeviceSetFormat()` or the option; crsv by default

  Level: intermediate

.seealso: `KSPGMRESDEVICE`, `KSPGMRESDeviceSetFormat()`
@*/
PetscErrorCode KSPGMRESDeviceGetFormat(KSP ksp, const char *format[])
{
  KSP_GMRESDevice *s;

  PetscFunctionBegin;
  PetscAssertPointer(format, 2);
  PetscCall(GMRESDevRequire(ksp, &s));
  *format = s->format;
  PetscFunctionReturn(PETSC_SUCCESS);
}
