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
+ ksp  - the solver; nothing happens when it is of another type
- mode - `KSP_GMRESDEVICE_AUTO`, `KSP_GMRESDEVICE_HOST`, `KSP_GMRESDEVICE_CHUNK` or `KSP_GMRESDEVICE_GRAPH`

  Options Database Key:
. -ksp_gmresdevice_mode <auto> - auto, host, chunk or graph

  Level: intermediate

  Notes:
  host is the solve of `KSPGMRES`, for one of several solvers of a program in which `PetscPackReplaceType()` gave `KSPGMRES`
  this type. chunk is plain launches of kernels some iterations ahead, graph CUDA graphs of some iterations each, which
  serve until the nonzero pattern, the restart or the preconditioner's kind is another one.

  auto is graph. What streams from the host or waits for it, such as messages by MPI, cannot be part of a graph, and runs
  in chunks in the mode graph, too; `-ksp_view` tells what the last solve did.

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
. mode - what `KSPGMRESDeviceSetMode()` or the option set; auto by default

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
+ ksp   - the solver; nothing happens when it is of another type
- chunk - 1 to 64 iterations, or 0, the default, for a number by the size of the matrix

  Options Database Key:
. -ksp_gmresdevice_chunk <0> - the same

  Level: advanced

  Notes:
  A chunk ends with a cycle at the latest. In the mode graph there is a graph for each chunk of a cycle, so that short ones
  are many. A solve may enqueue up to two chunks more than it needs; iterations do not change by that.

  With a cycle of multigrid as preconditioner iterations are enqueued one at a time. Processes whose messages wait for the
  host have one iteration for 0.

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
. chunk - what `KSPGMRESDeviceSetChunk()` or the option set; 0 by default

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
+ ksp    - the solver; nothing happens when it is of another type
- format - crsv, rbp, fold or codsell

  Options Database Key:
. -ksp_gmresdevice_format <crsv> - the same

  Level: intermediate

  Note:
  A matrix of a type of petscpack that is on the device is used as it is. One that such a format would decline is stored
  as crsv, which is CSR.

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
. format - what `KSPGMRESDeviceSetFormat()` or the option set; crsv by default

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
