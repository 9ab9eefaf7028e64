/* view.c - the output of -ksp_view: the options, where the last solve ran, and why. */
#include "cgdevice.h"

static PetscErrorCode ViewMatrix(const KSP_CGDevice *s, PetscViewer viewer)
{
  const char *format = s->matrix.format;

  PetscFunctionBegin;
  if (s->several) PetscCall(PetscPackProcessesView(&s->all, viewer));
  if (s->used == KSP_CGDEVICE_PERSISTENT) PetscCall(PetscViewerASCIIPrintf(viewer, "  matrix: a CSR on the device\n"));
  else if (s->matrix.own.plan)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  matrix: a plan of this solver, format %s\n", format));
  else if (s->pc.kind == SPMV_PC_FUNCTION)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  matrix: a plan on the device, format %s\n", format));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  matrix: its own plan on the device\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewMixed(const KSP_CGDevice *s, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  mixed precision: corrections %" PetscInt_FMT "\n", s->mixed.corrections));
  if (!s->mixed.on) PetscCall(PetscViewerASCIIPrintf(viewer, "    double precision instead: %s\n", s->mixed.why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPView_CGDevice(KSP ksp, PetscViewer viewer)
{
  KSP_CGDevice   *s;
  KSPCGDeviceInfo info;
  PetscBool       ascii;

  PetscFunctionBegin;
  PetscCall(CGDevStateGet(ksp, &s));
  if (s->parent.view) PetscCall(s->parent.view(ksp, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  mode %s, chunk %" PetscInt_FMT ", format %s, precision %s\n",
                                   KSPCGDeviceModes[s->mode], s->chunk, s->format,
                                   KSPCGDevicePrecisions[s->precision]));
  if (s->used == KSP_CGDEVICE_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPCGDeviceGetInfo(ksp, &info));
  if (s->used == KSP_CGDEVICE_HOST) PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve by KSPCG: %s\n", s->reason));
  else {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve on the device: %s\n", KSPCGDeviceModes[s->used]));
    /* after KSPReset() there is no plan to view */
    if (s->engine) PetscCall(ViewMatrix(s, viewer));
    if (s->engine && s->pc.kind == SPMV_PC_FUNCTION && !s->of_pc)
      PetscCall(MGDevHierarchyView(s->multigrid, viewer)); /* otherwise the PC views it */
    if (s->precision == KSP_CGDEVICE_MIXED) PetscCall(ViewMixed(s, viewer));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "  solves on the device %" PetscInt_FMT ", by KSPCG %" PetscInt_FMT "\n",
                                   info.solves_device, info.solves_host));
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
