/* pcview.c - the view and the counters of a PC of type mgdevice or gamgdevice. */
#include "pctypes.h"

PetscErrorCode PCView_MGDevice(PC pc, PetscViewer viewer)
{
  const struct _PCOps *petsc;
  PC_MGDevice         *s;
  PetscBool            ascii;

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(pc, &s, &petsc));
  PetscCall((*petsc->view)(pc, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!s || !ascii || !pc->setupcalled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGDevLimitView(s, viewer));
  PetscCall(MGDevHierarchyView(s->hierarchy, viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  applications on the device %" PetscInt_FMT ", by PETSc %" PetscInt_FMT
                                   "; set-ups on the device %" PetscInt_FMT ", bytes there %" PetscInt64_FMT "\n",
                                   s->applies_device, s->applies_petsc, s->hierarchy->info.set_ups,
                                   (PetscInt64)MGDevHierarchyBytes(s->hierarchy)));
  if (s->reason[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "    by PETSc: %s\n", s->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCMGDeviceGetInfo - Gets the counters of a preconditioner of type `PCMGDEVICE` or `PCGAMGDEVICE`

  Not Collective

  Input Parameter:
. pc - the preconditioner; one of another type is accepted

  Output Parameter:
. info - counts since the type was set, and the reason if PETSc did the last application, or will do the next one;
         all zero for another type

  Level: advanced

  Note:
  A `KSPCGDEVICE` makes the cycle part of its iterations: `KSPDeviceGetInfo()` counts those cycles.

.seealso: `PCMGDEVICE`, `PCGAMGDEVICE`, `KSPDeviceGetInfo()`
@*/
PetscErrorCode PCMGDeviceGetInfo(PC pc, PCMGDeviceInfo *info)
{
  PC_MGDevice *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(info, 2);
  *info = (PCMGDeviceInfo){.reason = ""};
  PetscCall(MGDevStateGet(pc, &s, NULL));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  info->applies_device = s->applies_device;
  info->applies_petsc  = s->applies_petsc;
  info->set_ups        = s->hierarchy->info.set_ups;
  info->bytes          = (PetscLogDouble)(MGDevHierarchyBytes(s->hierarchy) + s->b.bytes + s->x.bytes);
  info->single         = s->hierarchy->info.single;
  info->reason         = s->reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}
