/* options.c - the options of a solver, from the database and from C. */
#include "cgdevice.h"

const char *const KSPCGDeviceModes[] = {"auto",          "host", "chunk", "graph", "persistent", "KSPCGDeviceMode",
                                        "KSP_CGDEVICE_", NULL};

PetscErrorCode KSPSetFromOptions_CGDevice(KSP ksp, AIJFmtOptionItems PetscOptionsObject)
{
  KSP_CGDevice   *s;
  KSPCGDeviceMode mode;
  PetscBool       set;

  PetscFunctionBegin;
  PetscCall(CGDevStateGet(ksp, &s));
  if (s->parent.setfromoptions) PetscCall(s->parent.setfromoptions(ksp, PetscOptionsObject));
  PetscOptionsHeadBegin(PetscOptionsObject, "KSP CGDEVICE options");
  PetscCall(PetscOptionsEnum("-ksp_cgdevice_mode", "How iterations run", "KSPCGDeviceSetMode", KSPCGDeviceModes,
                             (PetscEnum)s->mode, (PetscEnum *)&mode, &set));
  if (set) PetscCall(KSPCGDeviceSetMode(ksp, mode));
  PetscCall(KSPDevFromOptions(ksp, KSPDEV(s), KSPCGDEVICE, "KSPCGDevice", PetscOptionsObject));
  PetscCall(CGDevPrecisionFromOptions(ksp, s, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGDeviceSetMode - Sets how the iterations of a `KSPCGDEVICE` run

  Logically Collective

  Input Parameters:
+ ksp  - the solver; a solver of another type is left unchanged
- mode - `KSP_CGDEVICE_AUTO`, `KSP_CGDEVICE_HOST`, `KSP_CGDEVICE_CHUNK`, `KSP_CGDEVICE_GRAPH` or
         `KSP_CGDEVICE_PERSISTENT`

  Options Database Key:
. -ksp_cgdevice_mode <auto> - auto, host, chunk, graph or persistent

  Level: intermediate

  Notes:
  `host` is the solve of `KSPCG`. `chunk` launches kernels one by one, several iterations ahead of the host. `graph`
  launches a CUDA graph of several iterations, which is kept until the nonzero pattern changes. `persistent` is one
  kernel for all iterations of a small matrix.

  `auto` is `persistent` for small matrices if the device can run that kernel: fewer nonzeros than 0.41 million plus 4.9
  per row, and at most 40 MB for the CSR and five vectors. Otherwise it is `graph`.

.seealso: `KSPCGDEVICE`, `KSPCGDeviceGetMode()`, `KSPCGDeviceGetInfo()`
@*/
PetscErrorCode KSPCGDeviceSetMode(KSP ksp, KSPCGDeviceMode mode)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, mode, 2);
  PetscCheck((int)mode >= KSP_CGDEVICE_AUTO && mode <= KSP_CGDEVICE_PERSISTENT, PetscObjectComm((PetscObject)ksp),
             PETSC_ERR_ARG_OUTOFRANGE, "There is no mode %d of %s", (int)mode, KSPCGDEVICE);
  PetscCall(CGDevStateGet(ksp, &s));
  if (s) s->mode = mode;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGDeviceGetMode - Gets how the iterations of a `KSPCGDEVICE` are to run

  Not Collective

  Input Parameter:
. ksp - the solver

  Output Parameter:
. mode - set by `KSPCGDeviceSetMode()` or the option; `KSPCGDeviceGetInfo()` gives the mode of the last solve

  Level: intermediate

.seealso: `KSPCGDEVICE`, `KSPCGDeviceSetMode()`, `KSPCGDeviceGetInfo()`
@*/
PetscErrorCode KSPCGDeviceGetMode(KSP ksp, KSPCGDeviceMode *mode)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscAssertPointer(mode, 2);
  PetscCall(CGDevRequire(ksp, &s));
  *mode = s->mode;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGDeviceSetChunk - Sets how many iterations of a `KSPCGDEVICE` are enqueued together

  Logically Collective

  Input Parameters:
+ ksp   - the solver; a solver of another type is left unchanged
- chunk - 1 to 64 iterations, or 0, the default, to choose by the size of the matrix

  Options Database Key:
. -ksp_cgdevice_chunk <0> - the same

  Level: advanced

  Note:
  A solve may enqueue up to two chunks more than it needs; this does not change the number of iterations.

.seealso: `KSPCGDEVICE`, `KSPCGDeviceGetChunk()`, `KSPCGDeviceSetMode()`
@*/
PetscErrorCode KSPCGDeviceSetChunk(KSP ksp, PetscInt chunk)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ksp, chunk, 2);
  PetscCall(CGDevStateGet(ksp, &s));
  PetscCall(KSPDevSetChunk(ksp, KSPDEV(s), chunk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGDeviceGetChunk - Gets how many iterations of a `KSPCGDEVICE` are enqueued together

  Not Collective

  Input Parameter:
. ksp - the solver

  Output Parameter:
. chunk - set by `KSPCGDeviceSetChunk()` or the option; 0 by default

  Level: advanced

.seealso: `KSPCGDEVICE`, `KSPCGDeviceSetChunk()`
@*/
PetscErrorCode KSPCGDeviceGetChunk(KSP ksp, PetscInt *chunk)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscAssertPointer(chunk, 2);
  PetscCall(CGDevRequire(ksp, &s));
  *chunk = s->chunk;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGDeviceSetFormat - Sets the packed format of a `KSPCGDEVICE` for matrices that have none on the device

  Logically Collective

  Input Parameters:
+ ksp    - the solver; a solver of another type is left unchanged
- format - crsv, rbp, fold or codsell

  Options Database Key:
. -ksp_cgdevice_format <crsv> - the same

  Level: intermediate

  Notes:
  A matrix of a petscpack type that is on the device is used as it is. If the format declines a matrix, the solver
  stores it as crsv, which is CSR. The mode `persistent` multiplies by a CSR whatever the format.

.seealso: `KSPCGDEVICE`, `KSPCGDeviceGetFormat()`, `MATAIJRBP`
@*/
PetscErrorCode KSPCGDeviceSetFormat(KSP ksp, const char format[])
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscAssertPointer(format, 2);
  PetscCall(CGDevStateGet(ksp, &s));
  PetscCall(KSPDevSetFormat(ksp, KSPDEV(s), format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGDeviceGetFormat - Gets the packed format of a `KSPCGDEVICE` for matrices that have none on the device

  Not Collective

  Input Parameter:
. ksp - the solver

  Output Parameter:
. format - set by `KSPCGDeviceSetFormat()` or the option; crsv by default

  Level: intermediate

.seealso: `KSPCGDEVICE`, `KSPCGDeviceSetFormat()`
@*/
PetscErrorCode KSPCGDeviceGetFormat(KSP ksp, const char *format[])
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscAssertPointer(format, 2);
  PetscCall(CGDevRequire(ksp, &s));
  *format = s->format;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGDeviceGetInfo - Gets the mode of the last solve of a `KSPCGDEVICE`, and its counters

  Not Collective

  Input Parameter:
. ksp - the solver

  Output Parameter:
. info - the mode of the last solve, and counts since the solver was created

  Level: intermediate

  Note:
  The solver owns `info.reason`, and overwrites it in its next solve.

.seealso: `KSPCGDEVICE`, `KSPCGDeviceInfo`, `KSPCGDeviceSetMode()`
@*/
PetscErrorCode KSPCGDeviceGetInfo(KSP ksp, KSPCGDeviceInfo *info)
{
  KSP_CGDevice *s;
  SpmvCgInfo    engine = {.graphs = 0};
  MGDevInfo     multigrid;

  PetscFunctionBegin;
  PetscAssertPointer(info, 2);
  PetscCall(CGDevRequire(ksp, &s));
  if (s->engine) spmv_cg_info(s->engine, &engine);
  info->used          = s->used;
  info->reason        = s->reason;
  info->solves_device = s->solves_device;
  info->solves_host   = s->solves_host;
  info->graphs        = s->graphs + engine.graphs;
  info->conversions   = s->matrix.conversions;
  info->refreshes     = s->matrix.refreshes;
  info->nccl          = s->several && s->all.nccl ? PETSC_TRUE : PETSC_FALSE;
  info->precision     = s->mixed.on ? KSP_CGDEVICE_MIXED : KSP_CGDEVICE_DOUBLE;
  info->corrections   = s->mixed.corrections;
  info->bytes         = (PetscLogDouble)(engine.bytes + s->pc.bytes + s->x.bytes + s->r.bytes + s->rounded.bytes);
  PetscCall(MGDevHierarchyInfo(s->multigrid, &multigrid));
  info->cycles  = s->cycles;
  info->set_ups = multigrid.set_ups;
  info->bytes += (PetscLogDouble)multigrid.bytes;
  if (s->matrix.own.plan) info->bytes += (PetscLogDouble)s->matrix.own.plan->memory.total_bytes;
  if (s->matrix.csr_arrays) info->bytes += (PetscLogDouble)spmv_csr_bytes(&s->matrix.csr.pattern, AIJFMT_SCALAR);
  PetscFunctionReturn(PETSC_SUCCESS);
}
