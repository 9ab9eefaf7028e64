/* create.c - the class KSPCGDEVICE: its registration, and the state of a solver from creation to destruction. */
#include "cgdevice.h"
#include "sys/compose.h"

/* PETSc's creator of KSPCG, which libpetsc does not export: looked up by type name before that name can be replaced */
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
   KSPCGDEVICE = "cgdevice" - The preconditioned conjugate gradient method, whose iterations run on the GPU without
   waiting for the host

   Options Database Keys:
+  -ksp_cgdevice_mode <auto> - how iterations run: auto, host, chunk, graph, persistent; see `KSPCGDeviceSetMode()`
.  -ksp_cgdevice_chunk <0> - iterations that are enqueued together, see `KSPCGDeviceSetChunk()`
.  -ksp_cgdevice_precision <double> - double or mixed, see `KSPCGDeviceSetPrecision()`
.  -ksp_cgdevice_format <crsv> - packed format for matrices of types of PETSc, see `KSPCGDeviceSetFormat()`
-  -ksp_cgdevice_replace_cg - makes `KSPCG` mean this type, see `KSPCGDeviceReplaceCG()`; read when petscpack is loaded

   Level: beginner

   Notes:
   The method, its iterations, norms, tests and reasons are those of `KSPCG`, up to the rounding of sums. This type
   inherits from `KSPCG`: all of its options and functions are accepted.

   The device does the iterations for real numbers, a matrix of type `MATSEQAIJ` or `MATMPIAIJ` or a type derived from
   them, and the preconditioners `PCNONE`, `PCJACOBI`, `PCPBJACOBI`, `PCGAMG` and `PCMG`; `PCGAMGDEVICE` and
   `PCMGDEVICE` share the hierarchy that they already have on the device. Vectors may be on the host, or CUDA vectors.
   `KSPCG` solves everything else; `-ksp_view` and `-info` say why.

   The multigrid hierarchy is the one that PETSc has set up: multiplicative V and W cycles, with the smoothers
   `KSPCHEBYSHEV` and `KSPRICHARDSON` with `PCJACOBI`, `PCPBJACOBI` or `PCNONE`, a fixed number of steps and no norm.
   These are the defaults of `PCGAMG`; `PCMG` needs `-mg_levels_pc_type jacobi`. A direct solver on a small coarsest
   level becomes a dense matrix on the device; any other coarsest solver runs on the host, and each cycle waits for it.

   On several processes, each process iterates on its own rows. If each has a GPU of its own, messages and sums go
   through NVIDIA's NCCL, see `PetscPackSetNCCL()`, and the host waits for nothing within an iteration; otherwise they
   go by MPI.

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

/* Affects only solvers that get their type afterwards */
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
  MGDevWatchesItself(KSPSolve_CGDevice);
  PetscCall(PetscLogEventRegister("CGDevSetUp", KSP_CLASSID, &KSP_CGDeviceSetUp));
  PetscCall(PetscLogEventRegister("CGDevLoop", KSP_CLASSID, &KSP_CGDeviceLoop));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of cgdevice for the whole process", "KSP");
  PetscCall(PetscOptionsBool("-ksp_cgdevice_replace_cg", "Make KSP type cg mean cgdevice", "KSPCGDeviceReplaceCG",
                             replace, &replace, NULL));
  PetscOptionsEnd();
  if (replace) PetscCall(CGDevReplaceCG(replace));
  PetscFunctionReturn(PETSC_SUCCESS);
}
