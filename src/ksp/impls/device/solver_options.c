/* solver_options.c - the options of all device solvers, from the database and from C, their counters and -ksp_view. */
#include "kspdevice.h"

enum { CHUNK_MAX = 64 /* limit of the engines */, FORMATS_MAX = 16, OPTION_MAX = 64 };

const char *const KSPDeviceModes[] = {"auto",       "host",          "chunk",       "graph",
                                      "persistent", "KSPDeviceMode", "KSP_DEVICE_", NULL};

static PetscErrorCode SetFormat(KSPDevice *s, const char format[])
{
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(format, s->format, &same));
  if (!same) { /* the next solve makes new plans */
    AIJFmtPlanDrop(&s->matrix.own, &s->exec);
    AIJFmtPlanDrop(&s->matrix.ghost_columns, &s->exec);
  }
  PetscCall(PetscStrncpy(s->format, format, sizeof s->format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSetFromOptions_Device(KSP ksp, AIJFmtOptionItems PetscOptionsObject)
{
  const int   formats = PetscMin(spmv_format_count(), FORMATS_MAX);
  const char *names[FORMATS_MAX];
  char        option[OPTION_MAX];
  KSPDevice  *s;
  PetscInt    chunk, chosen;
  PetscBool   set;

  PetscFunctionBegin;
  PetscCall(KSPDevStateGet(ksp, NULL, &s));
  if (s->parent.setfromoptions) PetscCall(s->parent.setfromoptions(ksp, PetscOptionsObject));
  PetscOptionsHeadBegin(PetscOptionsObject, "Iterations on the device");
  PetscCall(PetscSNPrintf(option, sizeof option, "-ksp_%s_mode", s->of->type));
  PetscCall(PetscOptionsEList(option, "How iterations run", "KSPDeviceSetMode", KSPDeviceModes, s->of->modes,
                              KSPDeviceModes[s->mode], &chosen, &set));
  if (set) s->mode = (KSPDeviceMode)chosen;
  for (int i = 0; i < formats; i++) names[i] = spmv_format_get(i)->name;
  PetscCall(PetscSNPrintf(option, sizeof option, "-ksp_%s_chunk", s->of->type));
  chunk = s->chunk;
  PetscCall(PetscOptionsInt(option, "Iterations that are enqueued together, at most 64; 0: by the size", NULL, chunk,
                            &chunk, NULL));
  PetscCheck(chunk >= 0 && chunk <= CHUNK_MAX, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "%s: %" PetscInt_FMT " is not 0 to %d", option, chunk, (int)CHUNK_MAX);
  s->chunk = chunk;
  PetscCall(PetscSNPrintf(option, sizeof option, "-ksp_%s_format", s->of->type));
  PetscCall(PetscOptionsEList(option, "Format for matrices that are not packed", NULL, names, formats, s->format,
                              &chosen, &set));
  if (set) PetscCall(SetFormat(s, names[chosen]));
  if (s->of->options) PetscCall(s->of->options(ksp, s, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPDeviceSetMode - Sets how the iterations of a `KSPCGDEVICE`, `KSPRICHARDSONDEVICE` or `KSPGMRESDEVICE` run

  Logically Collective

  Input Parameters:
+ ksp  - the solver; a solver of another type is left unchanged
- mode - `KSP_DEVICE_AUTO`, `KSP_DEVICE_HOST`, `KSP_DEVICE_CHUNK`, `KSP_DEVICE_GRAPH`, or, of `KSPCGDEVICE` only,
         `KSP_DEVICE_PERSISTENT`

  Options Database Keys:
+ -ksp_cgdevice_mode <auto>    - auto, host, chunk, graph or persistent
- -ksp_gmresdevice_mode <auto> - auto, host, chunk or graph

  Level: intermediate

  Notes:
  `host` is the solve of the parent type; it excludes one of several solvers after `PetscPackReplaceType()` has given
  them all this type. `chunk` launches kernels one by one, several iterations ahead of the host. `graph` launches CUDA
  graphs of several iterations, which are kept until the nonzero pattern, or the restart, changes. `persistent` is one
  kernel for all iterations of a small matrix.

  `auto` is `persistent` for small matrices if the device can run that kernel: fewer nonzeros than 0.41 million plus 4.9
  per row, and at most 40 MB for the CSR and five vectors. Otherwise it is `graph`. Work that streams from the host or
  waits for it, such as messages by MPI, cannot be captured in a graph, and runs in chunks; `-ksp_view` shows the mode of
  the last solve.

.seealso: `KSPCGDEVICE`, `KSPGMRESDEVICE`, `KSPDeviceGetMode()`, `KSPDeviceGetInfo()`
@*/
PetscErrorCode KSPDeviceSetMode(KSP ksp, KSPDeviceMode mode)
{
  KSPDevice *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, mode, 2);
  PetscCall(KSPDevStateGet(ksp, NULL, &s));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck((int)mode >= KSP_DEVICE_AUTO && (int)mode < s->of->modes, PetscObjectComm((PetscObject)ksp),
             PETSC_ERR_ARG_OUTOFRANGE, "There is no mode %d of %s", (int)mode, s->of->type);
  s->mode = mode;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPDeviceGetMode - Gets how the iterations of a `KSPCGDEVICE`, `KSPRICHARDSONDEVICE` or `KSPGMRESDEVICE` are to run

  Not Collective

  Input Parameter:
. ksp - the solver

  Output Parameter:
. mode - set by `KSPDeviceSetMode()` or the option; `KSPDeviceGetInfo()` gives the mode of the last solve

  Level: intermediate

.seealso: `KSPCGDEVICE`, `KSPGMRESDEVICE`, `KSPDeviceSetMode()`, `KSPDeviceGetInfo()`
@*/
PetscErrorCode KSPDeviceGetMode(KSP ksp, KSPDeviceMode *mode)
{
  KSPDevice *s;

  PetscFunctionBegin;
  PetscAssertPointer(mode, 2);
  PetscCall(KSPDevStateRequire(ksp, NULL, &s));
  *mode = s->mode;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPDeviceGetInfo - Gets the mode of the last solve of a `KSPCGDEVICE`, `KSPRICHARDSONDEVICE` or `KSPGMRESDEVICE`, and its counters

  Not Collective

  Input Parameter:
. ksp - the solver

  Output Parameter:
. info - the mode of the last solve, and counts since the solver was created

  Level: intermediate

  Note:
  The solver owns `info.reason`, and overwrites it in its next solve.

.seealso: `KSPCGDEVICE`, `KSPGMRESDEVICE`, `KSPDeviceInfo`, `KSPDeviceSetMode()`
@*/
PetscErrorCode KSPDeviceGetInfo(KSP ksp, KSPDeviceInfo *info)
{
  KSPDevice *s;

  PetscFunctionBegin;
  PetscAssertPointer(info, 2);
  PetscCall(KSPDevStateRequire(ksp, NULL, &s));
  *info = (KSPDeviceInfo){.used          = s->used,
                          .reason        = s->reason,
                          .solves_device = s->solves_device,
                          .solves_host   = s->solves_host,
                          .graphs        = s->graphs,
                          .conversions   = s->matrix.conversions,
                          .refreshes     = s->matrix.refreshes,
                          .nccl          = s->several && s->all.nccl ? PETSC_TRUE : PETSC_FALSE,
                          .cycles        = s->cycles,
                          .set_ups       = MGDevHierarchyInfo(s->multigrid)->set_ups,
                          .bytes = (PetscLogDouble)(s->pc.bytes + s->x.bytes + MGDevHierarchyBytes(s->multigrid))};
  if (s->matrix.own.plan) info->bytes += (PetscLogDouble)s->matrix.own.plan->memory.total_bytes;
  if (s->matrix.csr_arrays) info->bytes += (PetscLogDouble)spmv_csr_bytes(&s->matrix.csr.pattern, AIJFMT_SCALAR);
  s->of->info(s, info);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewMatrix(const KSPDevice *s, PetscViewer viewer)
{
  const char *format = s->matrix.format;

  PetscFunctionBegin;
  if (s->several) PetscCall(PetscPackProcessesView(&s->all, viewer));
  if (s->used == KSP_DEVICE_PERSISTENT) PetscCall(PetscViewerASCIIPrintf(viewer, "  matrix: a CSR on the device\n"));
  else if (s->matrix.own.plan)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  matrix: a plan of this solver, format %s\n", format));
  else if (s->pc.kind == SPMV_PC_FUNCTION)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  matrix: a plan on the device, format %s\n", format));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  matrix: its own plan on the device\n"));
  if (KSPDevHasCycle(s) && !s->of_pc)
    PetscCall(MGDevHierarchyView(s->multigrid, viewer)); /* otherwise the PC views it */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPView_Device(KSP ksp, PetscViewer viewer)
{
  KSPDevice    *s;
  KSPDeviceInfo info;
  PetscBool     ascii;

  PetscFunctionBegin;
  PetscCall(KSPDevStateGet(ksp, NULL, &s));
  if (s->parent.view) PetscCall(s->parent.view(ksp, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  mode %s, chunk %" PetscInt_FMT ", format %s\n", KSPDeviceModes[s->mode],
                                   s->chunk, s->format));
  if (s->of->view) PetscCall(s->of->view(s, viewer));
  if (s->used == KSP_DEVICE_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPDeviceGetInfo(ksp, &info));
  if (s->used == KSP_DEVICE_HOST)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve by %s: %s\n", s->of->parent_name, s->reason));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve on the device: %s\n", KSPDeviceModes[s->used]));
  /* after KSPReset() there is no plan to view */
  if (s->used != KSP_DEVICE_HOST && s->matrix.serial[0]) PetscCall(ViewMatrix(s, viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  solves on the device %" PetscInt_FMT ", by %s %" PetscInt_FMT "\n",
                                   info.solves_device, s->of->parent_name, info.solves_host));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  graphs made %" PetscInt_FMT ", conversions %" PetscInt_FMT
                                   ", refreshes %" PetscInt_FMT ", bytes on the device %.0f\n",
                                   info.graphs, info.conversions, info.refreshes, info.bytes));
  if (info.cycles)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  cycles on the device %" PetscInt_FMT ", set-ups of multigrid %" PetscInt_FMT "\n", info.cycles,
        info.set_ups));
  PetscFunctionReturn(PETSC_SUCCESS);
}
