/*
  create.c - the PC types mgdevice and gamgdevice: creation, reset and destruction, and the names mg and gamg for them.

  PETSc creates gamg, hmg, ml and exotic as an mg whose operations they overwrite. Where the name mg means our type, these
  are made from ours. All of them have another set-up: that is how MGDevStateGet() sees it, and gives them PETSc's
  operations back, before any of ours has done anything.
*/
#include "pctypes.h"
#include "sys/compose.h"

/* PETSc's creators, found by name before anything may have replaced them */
static PetscErrorCode (*create_mg)(PC) = NULL, (*create_gamg)(PC) = NULL;

static const char key[] = "petscpack_mgdevice";

static PetscErrorCode SetFromOptions(PC, AIJFmtOptionItems);
static PetscErrorCode Reset(PC);
static PetscErrorCode Destroy(PC);

/* Not applyrichardson: PCMGSetType() sets it, so that each set-up puts ours over it */
static const struct _PCOps ours = {.setup          = PCSetUp_MGDevice,
                                   .setfromoptions = SetFromOptions,
                                   .presolve       = PCPreSolve_MGDevice,
                                   .apply          = PCApply_MGDevice,
                                   .applytranspose = PCApplyTranspose_MGDevice,
                                   .matapply       = PCMatApply_MGDevice,
                                   .view           = PCView_MGDevice,
                                   .reset          = Reset,
                                   .destroy        = Destroy};
#define EACH_OPERATION(DO)                                                                                             \
  DO(setup) DO(setfromoptions) DO(presolve) DO(apply) DO(applytranspose) DO(matapply) DO(view) DO(reset) DO(destroy)

static PetscErrorCode GiveBack(PC pc, const PC_MGDevice *s)
{
  struct _PCOps *ops = pc->ops;

  PetscFunctionBegin;
#define DO(operation)                                                                                                  \
  if (ops->operation == ours.operation) ops->operation = s->parent.operation;
  EACH_OPERATION(DO)
#undef DO
  if (ops->applyrichardson == PCApplyRichardson_MGDevice) ops->applyrichardson = s->parent.applyrichardson;
  PetscCall(PetscObjectCompose((PetscObject)pc, key, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevStateGet(PC pc, PC_MGDevice **s)
{
  PetscFunctionBegin;
  PetscCall(PetscPackStateQuery((PetscObject)pc, key, (void **)s));
  if (!*s || pc->ops->setup == ours.setup) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GiveBack(pc, *s));
  *s = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees what is on the device; counters stay. Collective. */
PetscErrorCode MGDevStateForget(PC_MGDevice *s)
{
  PetscFunctionBegin;
  s->serves = PETSC_FALSE;
  AIJFmtVectorFree(s->hierarchy->exec, &s->b);
  AIJFmtVectorFree(s->hierarchy->exec, &s->x);
  PetscCall(VecDestroy(&s->correction));
  PetscCall(MGDevHierarchyForget(s->hierarchy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Free(void *context)
{
  PC_MGDevice *s = (PC_MGDevice *)context;

  PetscFunctionBegin;
  PetscCall(MGDevStateForget(s));
  PetscCall(MGDevHierarchyDestroy(&s->hierarchy));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
AIJFMT_CONTAINER_DESTRUCTOR(Destructor, Free)

static PetscErrorCode CompareFromOptions(PC pc, PC_MGDevice *s, AIJFmtOptionItems PetscOptionsObject)
{
  PetscBool compare = s->compare, set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Multigrid on the device");
  PetscCall(PetscOptionsBool("-pc_mgdevice_compare", "Compare the cycle in single precision with PETSc's at set-up",
                             "PCMGDeviceSetCompare", compare, &compare, &set));
  PetscOptionsHeadEnd();
  if (set) PetscCall(PCMGDeviceSetCompare(pc, compare));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetFromOptions(PC pc, AIJFmtOptionItems PetscOptionsObject)
{
  PC_MGDevice *s;

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(pc, &s));
  if (s) PetscCall(MGDevHierarchySetFromOptions(s->hierarchy, pc));
  if (s) PetscCall(CompareFromOptions(pc, s, PetscOptionsObject));
  if (s) PetscCall((*s->parent.setfromoptions)(pc, PetscOptionsObject));
  else PetscTryTypeMethod(pc, setfromoptions, PetscOptionsObject);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Reset(PC pc)
{
  PC_MGDevice *s;

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(pc, &s));
  if (s) PetscCall(MGDevStateForget(s));
  if (s) PetscCall((*s->parent.reset)(pc));
  else PetscTryTypeMethod(pc, reset);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The set-up is ours, or the destruction would not be */
static PetscErrorCode Destroy(PC pc)
{
  PC_MGDevice *s;
  PetscErrorCode (*destroy)(PC);

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(pc, &s));
  destroy = s ? s->parent.destroy : pc->ops->destroy;
  PetscCall(PetscObjectCompose((PetscObject)pc, key, NULL));
  PetscCall((*destroy)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts our operations over those that PETSc's creator has set */
static PetscErrorCode Derive(PC pc)
{
  struct _PCOps *ops = pc->ops;
  PC_MGDevice   *s;

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(pc, &s)); /* a gamg that was made from our mg is made one of PETSc's */
  PetscCall(PetscNew(&s));
  PetscCall(MGDevHierarchyCreate(NULL, &s->hierarchy));
  s->compare = PETSC_TRUE;
  PetscCall(PetscPackStateCompose((PetscObject)pc, key, s, Destructor));
  s->parent = *ops;
#define DO(operation) ops->operation = ours.operation;
  EACH_OPERATION(DO)
#undef DO
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCMGDeviceSetSinglePrecision - Lets the cycles of a preconditioner of type `PCMGDEVICE` or `PCGAMGDEVICE` be in single
  precision, within a solver in double precision

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner; nothing happens to one of another type
- single - `PETSC_TRUE` from the next `PCSetUp()` or `KSPSolve()` on

  Options Database Key:
. -pc_mgdevice_precision <double> - double or single

  Level: intermediate

  Notes:
  Where single precision is not enough the cycle is in double precision, as long as the nonzero pattern of the matrix stays;
  `-pc_view` and `-info` tell why. That is so where

  - numbers of a level do not fit, or the coarsest level is singular and `PETSc` knows no null space;
  - a cycle differs from that of `PCMG` by a tenth of its size: `PCMGDeviceSetCompare()`;
  - a solve fails in a way for which the cycle may be to blame: it meets what is no number, breaks down, its norm grows beyond
    the divergence tolerance or hardly falls in 50 iterations, or it ends without convergence after 50 iterations or more, or
    after fewer in which the norm hardly fell.

  Such a solve is done anew in double precision, by the same `KSPSolve()` and from the same initial guess; monitors see the
  norms of both, `KSPGetIterationNumber()` and a residual history those of the second. `KSPCGDEVICE` goes on from the solution
  so far instead.

  Solvers are watched which test a norm in each iteration, not `KSPPREONLY` and others without norms or tests: there, as for a
  `PCApply()` without a solver, the comparison at set-up is what tells.

.seealso: `PCMGDEVICE`, `PCGAMGDEVICE`, `PCMGDeviceSetCompare()`, `PCMGDeviceGetInfo()`
@*/
PetscErrorCode PCMGDeviceSetSinglePrecision(PC pc, PetscBool single)
{
  PC_MGDevice *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, single, 2);
  PetscCall(MGDevStateGet(pc, &s));
  if (s) PetscCall(MGDevHierarchySetPrecision(s->hierarchy, single));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCMGDeviceSetCompare - Lets a preconditioner of type `PCMGDEVICE` or `PCGAMGDEVICE` compare its cycle in single precision
  with that of `PCMG`, at each set-up

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner; nothing happens to one of another type
- compare - `PETSC_TRUE`, the default, to compare

  Options Database Key:
. -pc_mgdevice_compare <true> - compare

  Level: advanced

  Notes:
  One cycle of `PCMG` for each set-up, in double precision and with a random vector. If the two differ by more than a tenth of
  the size of the result, the cycle is in double precision from then on. Nothing is compared where it is that in any case.

  Without the comparison a cycle that single precision has spoilt is seen by solvers alone whose norms show it. A norm of the
  preconditioned residual, which `KSPGMRES` and `KSPBCGS` test unless told otherwise, may fall all the same.

.seealso: `PCMGDEVICE`, `PCGAMGDEVICE`, `PCMGDeviceSetSinglePrecision()`
@*/
PetscErrorCode PCMGDeviceSetCompare(PC pc, PetscBool compare)
{
  PC_MGDevice *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, compare, 2);
  PetscCall(MGDevStateGet(pc, &s));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  if (compare && !s->compare) s->prepared = -1; /* the cycle that there is, too */
  s->compare = compare;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCMGDEVICE = "mgdevice" - `PCMG` whose cycles run on the GPU

   Options Database Keys:
+  -pc_mgdevice_precision <double> - double or single: `PCMGDeviceSetSinglePrecision()`
-  -pc_mgdevice_compare <true>     - compare a cycle in single precision with PETSc's at set-up: `PCMGDeviceSetCompare()`

   Level: intermediate

   Notes:
   This type inherits from `PCMG`: all of its options and functions are accepted, and `PCSetUp()` is its own. `PCApply()` is
   a cycle on the GPU that does what that of `PCMG` does, but for the rounding of sums, for every `KSP`, and within
   `PCFIELDSPLIT` and other preconditioners. A `KSPCGDEVICE` takes the cycle into its iterations.

   The GPU serves multiplicative V and W cycles, real numbers, matrices of type `MATAIJ` or one derived from it, and the
   smoothers `KSPCHEBYSHEV` and `KSPRICHARDSON` with `PCJACOBI`, `PCPBJACOBI` or `PCNONE`, a number of steps and no norm.
   The default smoother of `PCMG` is `PCSOR`, which is not served: set -mg_levels_pc_type jacobi. All else is done by
   `PCMG`; -pc_view and -info say why. Vectors of the host are copied for each application, CUDA vectors are used in place.

   `PCApplyRichardson()` and `PCMatApply()` are made of such cycles. `PCApplyTranspose()` is PETSc's.

   What is changed in a smoother after `PCSetUp()` counts from the next `KSPSolve()` on, with `KSPPREONLY` from the next
   `PCSetUp()` on.

.seealso: `PCGAMGDEVICE`, `PCMG`, `PCMGDeviceGetInfo()`, `PetscPackReplaceType()`, `KSPCGDEVICE`
M*/
static PetscErrorCode PCCreate_MGDevice(PC pc)
{
  PetscFunctionBegin;
  PetscCall((*create_mg)(pc));
  PetscCall(Derive(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As the type "gamg", which PETSc's creator has named it */
static PetscErrorCode CreateAsGamg(PC pc)
{
  PetscFunctionBegin;
  PetscCall((*create_gamg)(pc));
  PetscCall(Derive(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCGAMGDEVICE = "gamgdevice" - `PCGAMG` whose cycles run on the GPU

   Options Database Keys:
+  -pc_mgdevice_precision <double> - double or single: `PCMGDeviceSetSinglePrecision()`
-  -pc_mgdevice_compare <true>     - compare a cycle in single precision with PETSc's at set-up: `PCMGDeviceSetCompare()`

   Level: beginner

   Notes:
   This type inherits from `PCGAMG`: all of its options and functions are accepted, and `PCSetUp()` is its own; with
   -pc_gamg_type aggdevice parts of that run on the GPU, too. What runs on the GPU, and what is left to `PCGAMG`, is as for
   `PCMGDEVICE`. The smoothers of `PCGAMG` are served unless it is told otherwise.

.seealso: `PCMGDEVICE`, `PCGAMG`, `PCGAMGAGGDEVICE`, `PCMGDeviceGetInfo()`, `PetscPackReplaceType()`, `KSPCGDEVICE`
M*/
static PetscErrorCode PCCreate_GAMGDevice(PC pc)
{
  PetscFunctionBegin;
  PetscCall(CreateAsGamg(pc));
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCGAMGDEVICE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCs that have their type already keep it */
PetscErrorCode MGDevReplaceMG(PetscBool replace)
{
  PetscFunctionBegin;
  PetscCall(PCRegister(PCMG, replace ? PCCreate_MGDevice : create_mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevReplaceGAMG(PetscBool replace)
{
  PetscFunctionBegin;
  PetscCall(PCRegister(PCGAMG, replace ? CreateAsGamg : create_gamg));
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
