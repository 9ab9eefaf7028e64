/* create.c - the class KSPGMRESDEVICE: its registration, and the state of a solver from creation to destruction. */
#include "gmresdevice.h"
#include "sys/compose.h"

/* PETSc's creator of KSPGMRES, which libpetsc does not export */
static PetscErrorCode (*create_parent)(KSP) = NULL;

static const char container_name[] = "KSPGMRESDevice";

PetscErrorCode GMRESDevStateGet(KSP ksp, KSP_GMRESDevice **state)
{
  PetscFunctionBegin;
  PetscCall(PetscPackStateQuery((PetscObject)ksp, container_name, (void **)state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GMRESDevRequire(KSP ksp, KSP_GMRESDevice **s)
{
  PetscFunctionBegin;
  PetscCall(KSPDevRequire(ksp, container_name, KSPGMRESDEVICE, (void **)s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StateFree(void *ctx)
{
  PetscFunctionBegin;
  PetscCall(GMRESDevForget((KSP_GMRESDevice *)ctx));
  PetscCall(MGDevHierarchyDestroy(&((KSP_GMRESDevice *)ctx)->multigrid));
  PetscCall(PetscFree(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AIJFMT_CONTAINER_DESTRUCTOR(StateDestroy, StateFree)

static PetscErrorCode StateCompose(KSP ksp, KSP_GMRESDevice **state)
{
  SpmvGmresOptions defaults;
  KSP_GMRESDevice *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  spmv_exec_init(&s->exec, SPMV_DEVICE);
  spmv_gmres_options_init(&defaults);
  s->happy     = (PetscReal)defaults.happy;
  s->breakdown = (PetscReal)defaults.breakdown;
  PetscCall(PetscStrncpy(s->format, "crsv", sizeof s->format));
  PetscCall(PetscPackStateCompose((PetscObject)ksp, container_name, s, StateDestroy));
  *state = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetHappy(KSP ksp, PetscReal tolerance)
{
  KSP_GMRESDevice *s;

  PetscFunctionBegin;
  PetscCall(GMRESDevStateGet(ksp, &s));
  PetscCall(s->parent_happy(ksp, tolerance));
  s->happy = tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetBreakdown(KSP ksp, PetscReal tolerance)
{
  KSP_GMRESDevice *s;

  PetscFunctionBegin;
  PetscCall(GMRESDevStateGet(ksp, &s));
  PetscCall(s->parent_breakdown(ksp, tolerance));
  s->breakdown = tolerance == (PetscReal)PETSC_DEFAULT ? (PetscReal)0.1 : tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ParentInstall(KSP ksp, KSP_GMRESDevice *s)
{
  const PetscObject object = (PetscObject)ksp;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction(object, "KSPGMRESSetHapTol_C", &s->parent_happy));
  PetscCall(PetscObjectQueryFunction(object, "KSPGMRESSetBreakdownTolerance_C", &s->parent_breakdown));
  if (s->parent_happy) PetscCall(PetscObjectComposeFunction(object, "KSPGMRESSetHapTol_C", SetHappy));
  if (s->parent_breakdown)
    PetscCall(PetscObjectComposeFunction(object, "KSPGMRESSetBreakdownTolerance_C", SetBreakdown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_GMRESDevice(KSP ksp)
{
  KSP_GMRESDevice *s;

  PetscFunctionBegin;
  PetscCall(GMRESDevStateGet(ksp, &s));
  PetscCall(GMRESDevForget(s));
  if (s->parent.reset) PetscCall(s->parent.reset(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_GMRESDevice(KSP ksp)
{
  KSP_GMRESDevice *s;
  PetscErrorCode (*destroy)(KSP);

  PetscFunctionBegin;
  PetscCall(GMRESDevStateGet(ksp, &s));
  destroy = s->parent.destroy;
  PetscCall(PetscObjectCompose((PetscObject)ksp, container_name, NULL));
  PetscCall(destroy(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPView_GMRESDevice(KSP ksp, PetscViewer viewer)
{
  KSP_GMRESDevice *s;
  SpmvGmresInfo    info = {.graphs = 0};
  PetscBool        ascii;

  PetscFunctionBegin;
  PetscCall(GMRESDevStateGet(ksp, &s));
  if (s->parent.view) PetscCall(s->parent.view(ksp, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  mode %s, chunk %" PetscInt_FMT ", format %s\n",
                                   KSPGMRESDeviceModes[s->mode], s->chunk, s->format));
  if (s->solves_device + s->solves_host == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->engine) spmv_gmres_info(s->engine, &info);
  if (s->by_parent) PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve by KSPGMRES: %s\n", s->reason));
  else if (s->engine)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve on the device: %s, matrix of format %s\n",
                                     s->engine_options.mode == SPMV_GMRES_GRAPH ? "graph" : "chunk", s->matrix.format));
  if (s->engine && s->several) PetscCall(PetscPackProcessesView(&s->all, viewer));
  if (s->engine && s->pc.kind == SPMV_PC_FUNCTION) PetscCall(MGDevHierarchyView(s->multigrid, viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  solves on the device %" PetscInt_FMT ", by KSPGMRES %" PetscInt_FMT "\n",
                                   s->solves_device, s->solves_host));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  graphs made %" PetscInt_FMT ", conversions %" PetscInt_FMT
                                   ", refreshes %" PetscInt_FMT ", bytes of the engine %.0f\n",
                                   s->graphs + info.graphs, s->matrix.conversions, s->matrix.refreshes,
                                   (double)info.bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPGMRESDEVICE = "gmresdevice" - The generalized minimal residual method, whose iterations run on the GPU without
   waiting for the host

   Options Database Keys:
+  -ksp_gmresdevice_mode <auto> - how iterations run: auto, host, chunk, graph; see `KSPGMRESDeviceSetMode()`
.  -ksp_gmresdevice_chunk <0> - iterations that are enqueued together, see `KSPGMRESDeviceSetChunk()`
.  -ksp_gmresdevice_format <crsv> - packed format for matrices of types of PETSc, see `KSPGMRESDeviceSetFormat()`
-  -petscpack_replace gmres - makes `KSPGMRES`, PETSc's default solver, mean this type; read when petscpack is loaded

   Level: beginner

   Notes:
   The method, its iterations, norms, tests and reasons are those of `KSPGMRES`, up to the rounding of sums. This type
   inherits from `KSPGMRES`: all of its options and functions are accepted.

   The device does the iterations for real numbers, a matrix of type `MATSEQAIJ` or `MATMPIAIJ` or a type derived from
   them, classical Gram-Schmidt with any refinement, preconditioning from the left or the right, and the preconditioners
   `PCNONE`, `PCJACOBI`, `PCPBJACOBI`, and those hierarchies of `PCGAMG` and `PCMG` that `KSPCGDEVICE` takes. Vectors
   may be on the host, or CUDA vectors. `KSPGMRES` solves everything else; `-ksp_view` and `-info` say why.

   On several processes, each process iterates on its own rows. If each has a GPU of its own, messages and sums go
   through NVIDIA's NCCL, see `PetscPackSetNCCL()`, and the host waits for nothing within an iteration; otherwise they
   go by MPI.

   A monitor other than -ksp_monitor (as text or draw::draw_lg), or a convergence test of the user, gets the solution of
   every iteration. Each time that costs a triangular solve, a pass over the basis and a copy.

.seealso: `KSPGMRES`, `KSPGMRESDeviceSetMode()`, `KSPCGDEVICE`, `MATAIJRBP`, `PetscPackInitializePackage()`
M*/

static PetscErrorCode KSPCreate_GMRESDevice(KSP ksp)
{
  KSP_GMRESDevice *s = NULL; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  PetscCall(create_parent(ksp));
  PetscCall(StateCompose(ksp, &s));
  s->parent                = *ksp->ops;
  ksp->ops->solve          = KSPSolve_GMRESDevice;
  ksp->ops->setfromoptions = KSPSetFromOptions_GMRESDevice;
  ksp->ops->view           = KSPView_GMRESDevice;
  ksp->ops->buildsolution  = KSPBuildSolution_GMRESDevice;
  ksp->ops->reset          = KSPReset_GMRESDevice;
  ksp->ops->destroy        = KSPDestroy_GMRESDevice;
  PetscCall(ParentInstall(ksp, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Affects only solvers that get their type afterwards */
PetscErrorCode GMRESDevReplace(PetscBool replace)
{
  PetscFunctionBegin;
  PetscCall(KSPRegister(KSPGMRES, replace ? KSPCreate_GMRESDevice : create_parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GMRESDevRegister(void)
{
  PetscFunctionBegin;
  PetscCall(KSPInitializePackage());
  PetscCall(PetscFunctionListFind(KSPList, KSPGMRES, &create_parent));
  PetscCheck(create_parent, PETSC_COMM_SELF, PETSC_ERR_LIB, "This PETSc has no KSP type %s", KSPGMRES);
  PetscCall(KSPRegister(KSPGMRESDEVICE, KSPCreate_GMRESDevice));
  MGDevWatchesItself(KSPSolve_GMRESDevice);
  PetscFunctionReturn(PETSC_SUCCESS);
}
