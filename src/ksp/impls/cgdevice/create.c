/* create.c - the class KSPCGDEVICE: its registration, and the state of a solver from creation to destruction. */
#include "cgdevice.h"
#include "sys/compose.h"

/* PETSc's creator of KSPCG, which is hidden in its library: found by its name before anything may have replaced it */
static PetscErrorCode (*create_parent)(KSP) = NULL;

static PetscErrorCode StateFree(void *ctx)
{
  PetscFunctionBegin;
  PetscCall(CGDevForget((KSP_CGDevice *)ctx));
  PetscCall(MGDevHierarchyDestroy(&((KSP_CGDevice *)ctx)->multigrid));
  PetscCall(PetscFree(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AIJFMT_CONTAINER_DESTRUCTOR(StateDestroy, StateFree)

static PetscErrorCode StateCompose(KSP ksp, KSP_CGDevice **state)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  spmv_exec_init(&s->exec, SPMV_DEVICE);
  PetscCall(PetscStrncpy(s->format, "crsv", sizeof s->format));
  PetscCall(PetscPackStateCompose((PetscObject)ksp, CGDevContainerName, s, StateDestroy));
  *state = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_CGDevice(KSP ksp)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscCall(CGDevStateGet(ksp, &s));
  PetscCall(CGDevForget(s));
  s->residual_away = s->value_unknown = PETSC_FALSE;
  if (s->parent.reset) PetscCall(s->parent.reset(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_CGDevice(KSP ksp)
{
  KSP_CGDevice *s;
  PetscErrorCode (*destroy)(KSP);

  PetscFunctionBegin;
  PetscCall(CGDevStateGet(ksp, &s));
  destroy             = s->parent.destroy;
  ksp->setupnewmatrix = PETSC_FALSE;
  PetscCall(PetscObjectCompose((PetscObject)ksp, CGDevContainerName, NULL));
  PetscCall(destroy(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPCGDEVICE = "cgdevice" - The preconditioned conjugate gradient method, whose iterations run on one GPU without
   waiting for the host

   Options Database Keys:
+  -ksp_cgdevice_mode <auto> - how iterations run: auto, host, chunk, graph, persistent; see `KSPCGDeviceSetMode()`
.  -ksp_cgdevice_chunk <0> - iterations that are enqueued together, see `KSPCGDeviceSetChunk()`
.  -ksp_cgdevice_precision <double> - double or mixed, see `KSPCGDeviceSetPrecision()`
.  -ksp_cgdevice_format <crsv> - packed format for matrices of types of PETSc, see `KSPCGDeviceSetFormat()`
-  -ksp_cgdevice_replace_cg - lets `KSPCG` mean this type, see `KSPCGDeviceReplaceCG()`; read when petscpack is loaded

   Level: beginner

   Notes:
   The method, its iterations, norms, tests and reasons are those of `KSPCG`, but for the rounding of sums. This type
   inherits from `KSPCG`: all of its options and functions are accepted.

   The device does the iterations for real numbers, a matrix of type `MATSEQAIJ` or `MATMPIAIJ` or one derived from
   them, and the preconditioners `PCNONE`, `PCJACOBI`, `PCPBJACOBI`, `PCGAMG` and `PCMG`; of `PCGAMGDEVICE`
   and `PCMGDEVICE` it takes the hierarchy that these have on the device. The multigrid
   hierarchy is taken as PETSc has set it up: multiplicative V and W cycles, with the smoothers `KSPCHEBYSHEV` and
   `KSPRICHARDSON` with `PCJACOBI`, `PCPBJACOBI` or `PCNONE`, a number of steps and no norm (`PCGAMG` has these unless it
   is told otherwise, `PCMG` needs `-mg_levels_pc_type jacobi`). A direct solver of the coarsest level becomes a matrix
   on the device where the level is small; for any other one each cycle waits. Vectors may be on the host, or CUDA
   vectors. All else is solved by `KSPCG`; `-ksp_view` and `-info` say why.

   On several processes each does the iterations of its rows. Where each has a GPU of its own, messages and sums go by NVIDIA's
   NCCL, see `PetscPackSetNCCL()`, and the host waits for nothing within an iteration; else by MPI.

   A monitor or convergence test that is not PETSc's own sees the solution of every iteration, which costs a copy each.

.seealso: `KSPCG`, `KSPCGDeviceSetMode()`, `KSPCGDeviceGetInfo()`, `MATAIJRBP`, `PetscPackInitializePackage()`
M*/

static PetscErrorCode KSPCreate_CGDevice(KSP ksp)
{
  KSP_CGDevice *s = NULL; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  PetscCall(create_parent(ksp));
  PetscCall(StateCompose(ksp, &s));
  s->parent                = *ksp->ops;
  ksp->setupnewmatrix      = PETSC_TRUE;
  ksp->ops->setup          = KSPSetUp_CGDevice;
  ksp->ops->solve          = KSPSolve_CGDevice;
  ksp->ops->setfromoptions = KSPSetFromOptions_CGDevice;
  ksp->ops->view           = KSPView_CGDevice;
  ksp->ops->buildresidual  = KSPBuildResidual_CGDevice;
  ksp->ops->reset          = KSPReset_CGDevice;
  ksp->ops->destroy        = KSPDestroy_CGDevice;
  PetscCall(CGDevParentInstall(ksp, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solvers that have their type already keep it */
PetscErrorCode CGDevReplaceCG(PetscBool replace)
{
  PetscFunctionBegin;
  PetscCall(KSPRegister(KSPCG, replace ? KSPCreate_CGDevice : create_parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevRegister(void)
{
  PetscBool replace = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(KSPInitializePackage());
  PetscCall(PetscFunctionListFind(KSPList, KSPCG, &create_parent));
  PetscCheck(create_parent, PETSC_COMM_SELF, PETSC_ERR_LIB, "This PETSc has no KSP type %s", KSPCG);
  PetscCall(KSPRegister(KSPCGDEVICE, KSPCreate_CGDevice));
  PetscCall(PetscLogEventRegister("CGDevSetUp", KSP_CLASSID, &KSP_CGDeviceSetUp));
  PetscCall(PetscLogEventRegister("CGDevLoop", KSP_CLASSID, &KSP_CGDeviceLoop));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of cgdevice for the whole process", "KSP");
  PetscCall(PetscOptionsBool("-ksp_cgdevice_replace_cg", "Let KSP type cg mean cgdevice", "KSPCGDeviceReplaceCG",
                             replace, &replace, NULL));
  PetscOptionsEnd();
  if (replace) PetscCall(CGDevReplaceCG(replace));
  PetscFunctionReturn(PETSC_SUCCESS);
}
