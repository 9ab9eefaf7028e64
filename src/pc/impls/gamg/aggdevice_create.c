/* aggdevice_create.c - the GAMG type aggdevice: agg with some operations replaced. agg is created by its name, because
   some libraries do not export PCCreateGAMG_AGG(). */
#include "aggdevice.h"

PetscLogEvent AggDev_Coarsen, AggDev_Prolongator, AggDev_Smooth;

/* ---- operations ---- */

static PetscErrorCode SetFromOptions(PC pc, AIJFmtOptionItems PetscOptionsObject)
{
  PC_AggDevice *a;

  PetscFunctionBegin;
  PetscCall(AggDevGet(pc, &a));
  PetscCall((*a->agg.ops.setfromoptions)(pc, PetscOptionsObject));
  PetscCall(AggDevOptionsRead(pc, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(PC pc, PetscViewer viewer)
{
  PC_AggDevice *a;
  PetscBool     ascii;

  PetscFunctionBegin;
  PetscCall(AggDevGet(pc, &a));
  PetscCall((*a->agg.ops.view)(pc, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(
      viewer,
      "        aggdevice: levels coarsened on the device %" PetscInt_FMT ", on the host %" PetscInt_FMT
      ", by agg %" PetscInt_FMT "; prolongators smoothed on the device %" PetscInt_FMT ", by agg %" PetscInt_FMT "\n",
      a->info.levels_device, a->info.levels_host, a->info.levels_agg, a->info.prolongators_device,
      a->info.prolongators_agg));
  if (a->info.reason[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "          last by agg: %s\n", a->info.reason));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "          estimates of eigenvalues on the device %" PetscInt_FMT ", by PETSc %" PetscInt_FMT "%s%s\n",
      a->info.estimates_device, a->info.estimates_petsc, a->info.estimates_petsc ? "; last by PETSc: " : "",
      a->estimate_reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(PC pc)
{
  PC_AggDevice *a;
  PetscErrorCode (*destroy)(PC);

  PetscFunctionBegin;
  PetscCall(AggDevGet(pc, &a));
  destroy = a->agg.ops.destroy;
  PetscCall((*destroy)(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGAMGAggDeviceGetInfo_C", NULL));
  PetscCall(AggDevCompose(pc, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetInfo(PC pc, PCGAMGAggDeviceInfo *info)
{
  PC_AggDevice *a;

  PetscFunctionBegin;
  PetscCall(AggDevGet(pc, &a));
  *info = a->info;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGAMGAggDeviceGetInfo - Gets the counters of a `PCGAMG` of type `PCGAMGAGGDEVICE`

  Not Collective

  Input Parameter:
. pc - the preconditioner; any other type of `PCGAMG` is accepted

  Output Parameter:
. info - counts of levels since the type was set, and the reason for the last level that `PCGAMGAGG` coarsened; all zero
         for another type

  Level: advanced

  Source: `src/pc/impls/gamg/aggdevice_create.c`

.seealso: `PCGAMGAGGDEVICE`, `PCGAMG`
@*/
PetscErrorCode PCGAMGAggDeviceGetInfo(PC pc, PCGAMGAggDeviceInfo *info)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(info, 2);
  *info = (PCGAMGAggDeviceInfo){.reason = "", .estimate_reason = ""};
  PetscTryMethod(pc, "PCGAMGAggDeviceGetInfo_C", (PC, PCGAMGAggDeviceInfo *), (pc, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the type ---- */

static PetscErrorCode Replace(PC pc, PC_AggDevice *a)
{
  struct _PCGAMGOps *ops = PetscPackGamg(pc)->ops;

  PetscFunctionBegin;
  a->agg.ops             = *ops;
  ops->createdefaultdata = AggDevNearDefault;
  ops->creategraph       = AggDevGraph;
  ops->coarsen           = AggDevCoarsen;
  ops->prolongator       = AggDevProlongator;
  ops->optprolongator    = AggDevOptProlongator;
  ops->setfromoptions    = SetFromOptions;
  ops->view              = View;
  ops->destroy           = Destroy;
  PetscCall(AggDevOptionsInit(pc, a));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGAMGAggDeviceGetInfo_C", GetInfo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  PCGAMGAGGDEVICE - `PCGAMGAGG`, smoothed aggregation, whose aggregates and tentative prolongator are made on the GPU

  Options Database Keys:
+ -pc_gamg_type aggdevice - use this type
- all options of `PCGAMGAGG` - have the same meaning

  Level: intermediate

  Notes:
  The aggregates come from a maximal independent set with pseudo-random priorities. They differ from those of
  `PCGAMGAGG` but have the same properties, and are the same in every run, on the host and on every GPU. The square of
  the graph is not formed: with `-pc_gamg_aggressive_square_graph` the independent set has distance 2. Aggregates do not
  cross process boundaries.

  Without a GPU the host makes the same aggregates. `PCGAMGAGG` coarsens with `-pc_gamg_asm_use_agg`,
  `-pc_gamg_asm_hem_aggs`, a `-mat_coarsen_type` other than mis and misk (in PETSc 3.22 and later `-pc_gamg_mat_coarsen_type`),
  `-mat_coarsen_misk_distance`, or more than 32 near-null vectors; also a level of at least 1,000 vertices if more than 40%
  of its edges lead to other processes. `PCGAMGAGG` smooths with `-pc_gamg_prolongator_filter`. `-ksp_view` and
  `PCGAMGAggDeviceGetInfo()` give the reason.

.seealso: `PCGAMG`, `PCGAMGAGG`, `PCGAMGSetType()`, `PCGAMGAggDeviceGetInfo()`
M*/
static PetscErrorCode PCCreateGAMG_AggDevice(PC pc)
{
  PC_GAMG      *gamg = PetscPackGamg(pc);
  PC_AggDevice *a;
  PetscBool     fits;

  PetscFunctionBegin;
  PetscCall(PetscPackGamgFits(&fits));
  PetscCheck(fits, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "%s: use -pc_gamg_type agg", PETSCPACK_OTHER_MG);
  PetscCall(PCGAMGSetType(pc, PCGAMGAGG));
  gamg->type = PCGAMGAGGDEVICE;
  PetscCall(PetscFree(gamg->gamg_type_name));
  PetscCall(PetscStrallocpy(PCGAMGAGGDEVICE, &gamg->gamg_type_name));
  PetscCall(PetscNew(&a));
  spmv_exec_init(&a->exec, SPMV_HOST);
  spmv_exec_init(&a->near_exec, SPMV_HOST);
  a->info.reason          = a->reason;
  a->info.estimate_reason = a->estimate_reason;
  PetscCall(AggDevCompose(pc, a));
  PetscCall(Replace(pc, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AggDevRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PCGAMGRegister(PCGAMGAGGDEVICE, PCCreateGAMG_AggDevice));
  PetscCall(PetscLogEventRegister("AggDevCoarsen", PC_CLASSID, &AggDev_Coarsen));
  PetscCall(PetscLogEventRegister("AggDevProlong", PC_CLASSID, &AggDev_Prolongator));
  PetscCall(PetscLogEventRegister("AggDevSmooth", PC_CLASSID, &AggDev_Smooth));
  PetscFunctionReturn(PETSC_SUCCESS);
}
