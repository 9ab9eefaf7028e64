/* gmres_create.c - the class KSPGMRESDEVICE: what it adds to the frame of device solvers. */
#include "gmresdevice.h"

static PetscErrorCode SetHappy(KSP ksp, PetscReal tolerance)
{
  KSP_GMRESDevice *s;

  PetscFunctionBegin;
  PetscCall(KSPDevStateGet(ksp, &GMRESDevClass, &s));
  PetscCall(s->parent_happy(ksp, tolerance));
  s->happy = tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetBreakdown(KSP ksp, PetscReal tolerance)
{
  KSP_GMRESDevice *s;

  PetscFunctionBegin;
  PetscCall(KSPDevStateGet(ksp, &GMRESDevClass, &s));
  PetscCall(s->parent_breakdown(ksp, tolerance));
  s->breakdown = tolerance == (PetscReal)PETSC_DEFAULT ? (PetscReal)0.1 : tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SettersInstall_GMRESDevice(KSP ksp, KSPDevice *device)
{
  const PetscObject object = (PetscObject)ksp;
  KSP_GMRESDevice  *s      = (KSP_GMRESDevice *)device;
  SpmvGmresOptions  defaults;

  PetscFunctionBegin;
  spmv_gmres_options_init(&defaults);
  s->happy                = (PetscReal)defaults.happy;
  s->breakdown            = (PetscReal)defaults.breakdown;
  ksp->ops->buildsolution = KSPBuildSolution_GMRESDevice;
  PetscCall(PetscObjectQueryFunction(object, "KSPGMRESSetHapTol_C", &s->parent_happy));
  PetscCall(PetscObjectQueryFunction(object, "KSPGMRESSetBreakdownTolerance_C", &s->parent_breakdown));
  if (s->parent_happy) PetscCall(PetscObjectComposeFunction(object, "KSPGMRESSetHapTol_C", SetHappy));
  if (s->parent_breakdown)
    PetscCall(PetscObjectComposeFunction(object, "KSPGMRESSetBreakdownTolerance_C", SetBreakdown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static SpmvStatus EngineMake_GMRESDevice(KSPDevice *s, const void *wanted)
{
  return spmv_gmres_create((const SpmvGmresOptions *)wanted, &s->exec, &((KSP_GMRESDevice *)s)->engine);
}

static void EngineUnmake_GMRESDevice(KSPDevice *s) { spmv_gmres_destroy(&((KSP_GMRESDevice *)s)->engine); }

static SpmvStatus HistoryGet_GMRESDevice(KSPDevice *s, int64_t first, int64_t n, double norms[])
{
  return spmv_gmres_history(((KSP_GMRESDevice *)s)->engine, first, n, norms, &s->exec);
}

static void InfoGet_GMRESDevice(const KSPDevice *device, KSPDeviceInfo *info)
{
  const KSP_GMRESDevice *s      = (const KSP_GMRESDevice *)device;
  SpmvGmresInfo          engine = {.graphs = 0};

  if (s->engine) spmv_gmres_info(s->engine, &engine);
  info->graphs += engine.graphs;
  info->bytes += (PetscLogDouble)(engine.bytes + s->b.bytes + s->seen.bytes);
}

/*MC
   KSPGMRESDEVICE = "gmresdevice" - The generalized minimal residual method, whose iterations run on the GPU without
   waiting for the host

   Options Database Keys:
+  -ksp_gmresdevice_mode <auto> - how iterations run: auto, host, chunk, graph; see `KSPDeviceSetMode()`
.  -ksp_gmresdevice_chunk <0> - iterations that are enqueued together, at most 64; 0: by the size of the matrix
.  -ksp_gmresdevice_format <crsv> - packed format for matrices that have none on the device; crsv, which is CSR, where it declines
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

   A chunk never spans two restart cycles. In the mode `graph` each chunk of a restart cycle has a graph of its own, so
   short chunks make many graphs.

   A monitor other than -ksp_monitor (as text or draw::draw_lg), or a convergence test of the user, gets the solution of
   every iteration. Each time that costs a triangular solve, a pass over the basis and a copy.

.seealso: `KSPGMRES`, `KSPDeviceSetMode()`, `KSPCGDEVICE`, `MATAIJRBP`, `PetscPackInitializePackage()`
M*/

static PetscErrorCode KSPCreate_GMRESDevice(KSP);

KSPDevClass GMRESDevClass = {.type        = KSPGMRESDEVICE,
                             .parent_type = KSPGMRES,
                             .parent_name = "KSPGMRES",
                             .modes       = KSP_DEVICE_GRAPH + 1,
                             .bytes       = sizeof(KSP_GMRESDevice),
                             .create      = KSPCreate_GMRESDevice,
                             .install     = SettersInstall_GMRESDevice,
                             .why_parent  = GMRESDevWhyParent,
                             .engine      = GMRESDevEngine,
                             .vectors     = GMRESDevVectors,
                             .iterate     = GMRESDevIterate,
                             .make        = EngineMake_GMRESDevice,
                             .unmake      = EngineUnmake_GMRESDevice,
                             .history     = HistoryGet_GMRESDevice,
                             .forget      = GMRESDevForget,
                             .info        = InfoGet_GMRESDevice};

static PetscErrorCode KSPCreate_GMRESDevice(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPDevCreate(ksp, &GMRESDevClass));
  PetscFunctionReturn(PETSC_SUCCESS);
}
