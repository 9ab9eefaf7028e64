/*
  pctypes.c - the PC types mgdevice and gamgdevice: creation, reset and destruction, and the type names mg and gamg for
  them.

  PETSc creates gamg, hmg, ml and exotic as an mg, and then overwrites its operations. If the name mg means our type,
  these types are made from ours. Each of them replaces the set-up operation. So if that is not ours, MGDevStateGet()
  restores those of PETSc's operations that are still ours, before they do anything.
*/
#include "pctypes.h"
#include "parallel/processes.h"
#include "sys/compose.h"
#include "sys/private.h"

/* PETSc's creators, looked up by type name before these names can be replaced */
static PetscErrorCode (*create_mg)(PC) = NULL, (*create_gamg)(PC) = NULL;

static PetscErrorCode PCReset_MGDevice(PC);

/* PCMGSetType() overwrites applyrichardson: each set-up installs ours again */
static const struct _PCOps ours = {.setup           = PCSetUp_MGDevice,
                                   .applyrichardson = PCApplyRichardson_MGDevice,
                                   .setfromoptions  = PCSetFromOptions_MGDevice,
                                   .presolve        = PCPreSolve_MGDevice,
                                   .apply           = PCApply_MGDevice,
                                   .applytranspose  = PCApplyTranspose_MGDevice,
                                   .matapply        = PCMatApply_MGDevice,
                                   .view            = PCView_MGDevice,
                                   .reset           = PCReset_MGDevice,
                                   .destroy         = PCDestroy_MGDevice};

PetscErrorCode PCSetFromOptions_MGDevice(PC pc, AIJFmtOptionItems PetscOptionsObject)
{
  const struct _PCOps *petsc;
  PC_MGDevice         *s;
  PetscBool            compare, set = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(pc, &s, &petsc));
  if (s) PetscCall(MGDevHierarchySetFromOptions(s->hierarchy, pc));
  if (s) PetscCall(MGDevLimitFromOptions(pc, s));
  PetscOptionsHeadBegin(PetscOptionsObject, "Multigrid on the device");
  if (s)
    PetscCall(PetscOptionsBool("-pc_mgdevice_compare", "Compare the cycle in single precision with PETSc's at set-up",
                               "PCMGDeviceSetCompare", s->compare, &compare, &set));
  PetscOptionsHeadEnd();
  if (set) PetscCall(PCMGDeviceSetCompare(pc, compare));
  PetscCall((*petsc->setfromoptions)(pc, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_MGDevice(PC pc)
{
  const struct _PCOps *petsc;
  PC_MGDevice         *s;

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(pc, &s, &petsc));
  if (s) PetscCall(MGDevStateForget(s));
  PetscCall((*petsc->reset)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDestroy_MGDevice(PC pc)
{
  const struct _PCOps *petsc;
  PC_MGDevice         *s;
  PetscErrorCode (*destroy)(PC);

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(pc, &s, &petsc));
  destroy = petsc->destroy;
  PetscCall(MGDevStateFree(pc));
  PetscCall((*destroy)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the operations that PETSc's creator has set */
static PetscErrorCode PCDerive_MGDevice(PC pc)
{
  PC_MGDevice *s;

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(pc, &s, NULL)); /* a gamg made from our mg becomes PETSc's again */
  PetscCall(MGDevStateCreate(pc, &ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCMGDeviceSetSinglePrecision - Sets whether the cycles of a preconditioner of type `PCMGDEVICE` or `PCGAMGDEVICE` run
  in single precision, within a solver in double precision

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner; one of another type is left unchanged
- single - `PETSC_TRUE` for single precision, from the next `PCSetUp()` or `KSPSolve()` on

  Options Database Key:
. -pc_mgdevice_precision <double> - double or single

  Level: intermediate

  Notes:
  The cycle changes to double precision, as long as the nonzero pattern of the matrix is unchanged, if

  - numbers of a level leave the range of single precision, or the coarsest level is singular and PETSc knows no null
    space;
  - a cycle differs from that of `PCMG` by more than a tenth of its size: `PCMGDeviceSetCompare()`;
  - a solve fails in a way that the cycle may have caused: it meets NaN or infinity, breaks down, its norm exceeds the
    divergence tolerance or hardly falls in 50 iterations, or it ends without convergence after at least 50 iterations,
    or after fewer in which the norm hardly fell.

  `-pc_view` and `-info` give the reason.

  A failed solve is repeated in double precision, within the same `KSPSolve()` and from the same initial guess; monitors
  see the norms of both solves, `KSPGetIterationNumber()` and a residual history those of the second.

  Only solvers that test a norm in each iteration are watched. For `KSPPREONLY` and other solvers without norms or
  tests, and for `PCApply()` without a solver, only the comparison at set-up finds a cycle that is not good enough.

.seealso: `PCMGDEVICE`, `PCGAMGDEVICE`, `PCMGDeviceSetCompare()`, `PCMGDeviceGetInfo()`
@*/
PetscErrorCode PCMGDeviceSetSinglePrecision(PC pc, PetscBool single)
{
  PC_MGDevice *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, single, 2);
  PetscCall(MGDevStateGet(pc, &s, NULL));
  if (s) PetscCall(MGDevHierarchySetPrecision(s->hierarchy, single));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCMGDeviceSetCompare - Sets whether a preconditioner of type `PCMGDEVICE` or `PCGAMGDEVICE` compares its cycle in
  single precision with that of `PCMG`, at each set-up

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner; one of another type is left unchanged
- compare - `PETSC_TRUE`, the default, to compare

  Options Database Key:
. -pc_mgdevice_compare <true> - compare

  Level: advanced

  Notes:
  The comparison costs one cycle of `PCMG` per set-up, in double precision and with a random vector. If the two results
  differ by more than a tenth of their size, the cycle changes to double precision. A cycle that is in double precision
  already is not compared.

  Without the comparison, only solvers whose norms show it notice a cycle that single precision has spoilt. The norm of
  the preconditioned residual, which `KSPGMRES` and `KSPBCGS` test by default, may fall even then.

.seealso: `PCMGDEVICE`, `PCGAMGDEVICE`, `PCMGDeviceSetSinglePrecision()`
@*/
PetscErrorCode PCMGDeviceSetCompare(PC pc, PetscBool compare)
{
  PC_MGDevice *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, compare, 2);
  PetscCall(MGDevStateGet(pc, &s, NULL));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  if (compare && !s->compare) s->prepared = -1; /* compare the existing cycle, too */
  s->compare = compare;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCMGDEVICE = "mgdevice" - `PCMG` whose cycles run on the GPU

   Options Database Keys:
+  -pc_mgdevice_precision <double> - double or single: `PCMGDeviceSetSinglePrecision()`
-  -pc_mgdevice_compare <true>     - compare a single-precision cycle with PETSc's at set-up: `PCMGDeviceSetCompare()`

   Level: intermediate

   Notes:
   This type inherits from `PCMG`: all of its options and functions are accepted, and `PCSetUp()` is that of `PCMG`.
   `PCApply()` is a cycle on the GPU with the same result as that of `PCMG`, up to the rounding of sums, for every
   `KSP`, and within `PCFIELDSPLIT` and other preconditioners. A `KSPCGDEVICE` makes the cycle part of its iterations.

   The GPU serves multiplicative V and W cycles, real numbers, matrices of type `MATAIJ` or a type derived from it, and
   the smoothers `KSPCHEBYSHEV` and `KSPRICHARDSON` with `PCJACOBI`, `PCPBJACOBI`, `PCNONE` or `PCSOR`, with `PCILU` and
   `PCICC` of the package `MATSOLVERPETSCPACK`, and with `PCBJACOBI` and `PCASM` of these, a fixed number of steps and no
   norm. The default smoother of `PCMG` is `PCSOR`; -mg_levels_pc_type jacobi is faster where levels are large. `PCMG`
   does everything else; -pc_view and -info say why. Host vectors are copied for each application, CUDA vectors are used
   in place.

   `PCApplyRichardson()` and `PCMatApply()` use the same cycles. `PCApplyTranspose()` is PETSc's.

   Changes of a smoother after `PCSetUp()` take effect at the next `KSPSolve()`; with `KSPPREONLY`, at the next
   `PCSetUp()`.

.seealso: `PCGAMGDEVICE`, `PCMG`, `PCMGDeviceGetInfo()`, `PetscPackReplaceType()`, `KSPCGDEVICE`
M*/
static PetscErrorCode PCCreate_MGDevice(PC pc)
{
  PetscFunctionBegin;
  PetscCall((*create_mg)(pc));
  PetscCall(PCDerive_MGDevice(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a PC under the type name "gamg", which PETSc's creator has set */
PetscErrorCode MGDevCreateAsGamg(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCGAMG)); /* it is created by this name */
  PetscCall((*create_gamg)(pc));
  PetscCall(PCDerive_MGDevice(pc));
  PetscCall(MGDevLimitWatch(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCGAMGDEVICE = "gamgdevice" - `PCGAMG` whose cycles run on the GPU

   Options Database Keys:
+  -pc_mgdevice_precision <double> - double or single: `PCMGDeviceSetSinglePrecision()`
-  -pc_mgdevice_compare <true>     - compare a single-precision cycle with PETSc's at set-up: `PCMGDeviceSetCompare()`

   Level: beginner

   Notes:
   This type inherits from `PCGAMG`: all of its options and functions are accepted, and `PCSetUp()` is that of `PCGAMG`;
   with -pc_gamg_type aggdevice parts of the set-up run on the GPU, too. `PetscPackReplaceType()` of `PCGAMG` sets that
   type where the program and its options name none and there is a GPU. The cycles that run on the GPU, and those left
   to `PCGAMG`, are as for `PCMGDEVICE`. The default smoothers of `PCGAMG` are served.

   On several processes with a GPU each, levels with fewer than 1,000 rows per process move to fewer processes, unless
   `PCGAMGSetProcEqLim()` or -pc_gamg_process_eq_limit sets that limit, which is 50 in `PCGAMG`, or the coarsest level is
   to be solved by several processes: `PCGAMGSetParallelCoarseGridSolve()`.

.seealso: `PCMGDEVICE`, `PCGAMG`, `PCGAMGAGGDEVICE`, `PCMGDeviceGetInfo()`, `PetscPackReplaceType()`, `KSPCGDEVICE`
M*/
static PetscErrorCode PCCreate_GAMGDevice(PC pc)
{
  PetscFunctionBegin;
  PetscCall(MGDevCreateAsGamg(pc));
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCGAMGDEVICE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Affects only PCs that get their type afterwards */
PetscErrorCode MGDevReplaceMG(PetscBool replace)
{
  PetscFunctionBegin;
  PetscCall(PCRegister(PCMG, replace ? PCCreate_MGDevice : create_mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The name gamg: if no type of GAMG is named, the set-up runs on the device, too. Without a device the hierarchy is
   PETSc's. All processes decide alike. */
static PetscErrorCode CreateReplacement_GAMG(PC pc)
{
  char      reason[SPMV_MESSAGE_MAX];
  PetscBool fits;

  PetscFunctionBegin;
  PetscCall(MGDevCreateAsGamg(pc));
  PetscCall(PetscPackGamgFits(&fits));
  PetscCall(MGDevWhyNoDevice(reason));
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)pc), reason));
  if (fits && !reason[0]) PetscCall(PCGAMGSetType(pc, PCGAMGAGGDEVICE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevReplaceGAMG(PetscBool replace)
{
  PetscBool fits;

  PetscFunctionBegin;
  PetscCall(PetscPackGamgFits(&fits)); /* the first call makes a PC by the name gamg */
  PetscCall(PCRegister(PCGAMG, replace ? CreateReplacement_GAMG : create_gamg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevTypesRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  PetscCall(PetscFunctionListFind(PCList, PCMG, &create_mg));
  PetscCall(PetscFunctionListFind(PCList, PCGAMG, &create_gamg));
  PetscCheck(create_mg && create_gamg, PETSC_COMM_SELF, PETSC_ERR_LIB, "This PETSc has no PC type %s or %s", PCMG,
             PCGAMG);
  PetscCall(PCRegister(PCMGDEVICE, PCCreate_MGDevice));
  PetscCall(PCRegister(PCGAMGDEVICE, PCCreate_GAMGDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}
