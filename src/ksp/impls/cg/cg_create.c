/* cg_create.c - the classes KSPCGDEVICE and KSPRICHARDSONDEVICE: what they add to the frame of device solvers. */
#include "cgdevice.h"
#include "sys/private.h"

/* The features of KSPCG that the engine does not have */
static PetscErrorCode WhyParent(KSP ksp, KSPDevice *device, const char **why)
{
  const KSP_CGDevice *s = (KSP_CGDevice *)device;

  PetscFunctionBegin;
  if (s->single_reduction && AIJFmtKSPIndefinite(ksp) != KSP_DIVERGED_INDEFINITE_MAT)
    *why = "negative curvature as success with -ksp_cg_single_reduction"; /* KSPCG does not know it there */
  else if (s->radius != 0) *why = "a trust region";
  else if (s->objective < 0) *why = "a target of the objective function";
  else if (ksp->pc_side != PC_LEFT) *why = "the preconditioner is not on the left";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The features of KSPRICHARDSON that the engine does not have; notes the scale */
static PetscErrorCode WhyRichardson(KSP ksp, KSPDevice *device, const char **why)
{
  KSP_CGDevice *s = (KSP_CGDevice *)device;
  PetscBool     itself, known, has_own;

  PetscFunctionBegin;
  PetscCall(PetscPackRichardsonGet(ksp, &s->scale, &itself, &known));
  PetscCall(PCApplyRichardsonExists(ksp->pc, &has_own));
  if (!known || itself || s->scale == 0) *why = "no fixed scale";
  else if (has_own) *why = "the preconditioner has a Richardson iteration of its own";
  else if (ksp->normtype == KSP_NORM_NONE || ksp->chknorm >= 0) *why = "not every norm is tested";
  else if (ksp->pc_side != PC_LEFT) *why = "the preconditioner is not on the left";
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EngineGet_CGDevice(KSP ksp, KSPDevice *s)
{
  PetscFunctionBegin;
  PetscCall(KSPDevPCGet(ksp, s));
  PetscCall(CGDevMixedBegin(ksp, (KSP_CGDevice *)s));
  if (!s->reason[0]) PetscCall(CGDevEngineGet(ksp, (KSP_CGDevice *)s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With a zero guess the right-hand side is the first residual. From the host it goes to the device, where the engine
   overwrites it, and a cycle reads it there alone. */
static PetscErrorCode VectorsGet_CGDevice(KSP ksp, KSPDevice *s)
{
  AIJFmtVector *r = &((KSP_CGDevice *)s)->r;
  Vec           v = ksp->vec_rhs;

  PetscFunctionBegin;
  r->staged = PETSC_FALSE;
  if (ksp->guess_zero && s->pc.kind == SPMV_PC_FUNCTION) PetscCall(KSPDevVectorPlace(s, r, v));
  if (s->reason[0] || r->staged) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPDevWork(ksp, s, 0, &v));
  PetscCall(KSPDevVectorPlace(s, r, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DataForget_CGDevice(KSPDevice *device)
{
  KSP_CGDevice *s = (KSP_CGDevice *)device;

  PetscFunctionBegin;
  PetscCall(CGDevRoundedForget(s));
  AIJFmtVectorFree(&s->exec, &s->r);
  s->residual_away = s->value_unknown = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static SpmvStatus EngineMake_CGDevice(KSPDevice *s, const void *wanted)
{
  return spmv_cg_create((const SpmvCgOptions *)wanted, &s->exec, &((KSP_CGDevice *)s)->engine);
}

static void EngineUnmake_CGDevice(KSPDevice *s) { spmv_cg_destroy(&((KSP_CGDevice *)s)->engine); }

static SpmvStatus HistoryGet_CGDevice(KSPDevice *s, int64_t first, int64_t n, double norms[])
{
  return spmv_cg_history(((KSP_CGDevice *)s)->engine, first, n, norms, &s->exec);
}

static void InfoGet_CGDevice(const KSPDevice *device, KSPDeviceInfo *info)
{
  const KSP_CGDevice *s      = (const KSP_CGDevice *)device;
  SpmvCgInfo          engine = {.graphs = 0};

  if (s->engine) spmv_cg_info(s->engine, &engine);
  info->graphs += engine.graphs;
  info->bytes += (PetscLogDouble)(engine.bytes + s->r.bytes + s->rounded.bytes);
  info->precision   = s->mixed.on ? KSP_CGDEVICE_MIXED : KSP_CGDEVICE_DOUBLE;
  info->corrections = s->mixed.corrections;
}

/*MC
   KSPCGDEVICE = "cgdevice" - The preconditioned conjugate gradient method, whose iterations run on the GPU without
   waiting for the host

   Options Database Keys:
+  -ksp_cgdevice_mode <auto> - how iterations run: auto, host, chunk, graph, persistent; see `KSPDeviceSetMode()`
.  -ksp_cgdevice_chunk <0> - iterations that are enqueued together, at most 64; 0: by the size of the matrix
.  -ksp_cgdevice_precision <double> - double or mixed, see `KSPCGDeviceSetPrecision()`
.  -ksp_cgdevice_format <crsv> - packed format for matrices that have none on the device; crsv, which is CSR, where it declines
-  -petscpack_replace cg - makes `KSPCG` mean this type; read when petscpack is loaded

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

   With `-ksp_cg_single_reduction`, see `KSPCGUseSingleReduction()`, all sums of an iteration on the device are one
   message between the processes. The persistent kernel and mixed precision do not have this variant.

   A monitor or convergence test that is not PETSc's own sees the solution of every iteration, which costs a copy each.

.seealso: `KSPCG`, `KSPDeviceSetMode()`, `KSPDeviceGetInfo()`, `MATAIJRBP`, `PetscPackInitializePackage()`
M*/

/*MC
   KSPRICHARDSONDEVICE = "richardsondevice" - The preconditioned Richardson iteration, whose iterations run on the GPU
   without waiting for the host

   Options Database Keys:
+  -ksp_richardsondevice_mode <auto>   - how iterations run: auto, host, chunk, graph, persistent; see `KSPDeviceSetMode()`
.  -ksp_richardsondevice_chunk <0>     - iterations that are enqueued together, at most 64; 0: by the size of the matrix
.  -ksp_richardsondevice_format <crsv> - packed format for matrices that have none on the device
-  -petscpack_replace richardson       - makes `KSPRICHARDSON` mean this type; read when petscpack is loaded

   Level: intermediate

   Notes:
   The method, its iterations, norms, tests and reasons are those of `KSPRICHARDSON`, up to the rounding of sums; the
   residual is updated and not computed anew. All options and functions of `KSPRICHARDSON` are accepted. Matrices,
   vectors and processes are as for `KSPCGDEVICE`.

   The device serves the preconditioners `PCNONE`, `PCJACOBI` and `PCPBJACOBI`, a fixed scale, and a norm in each
   iteration. `KSPRICHARDSON` does everything else; it calls `PCApplyRichardson()` of preconditioners that have it, as
   `PCMGDEVICE` does on the device.

.seealso: `KSPRICHARDSON`, `KSPCGDEVICE`, `KSPDeviceSetMode()`, `KSPDeviceGetInfo()`, `PetscPackInitializePackage()`
M*/

static PetscErrorCode KSPCreate_CGDevice(KSP);
static PetscErrorCode KSPCreate_RichardsonDevice(KSP);

#define BY_ONE_ENGINE                                                                                                  \
  .modes = KSP_DEVICE_PERSISTENT + 1, .bytes = sizeof(KSP_CGDevice), .engine = EngineGet_CGDevice,                     \
  .vectors = VectorsGet_CGDevice, .iterate = CGDevIterate, .make = EngineMake_CGDevice,                                \
  .unmake = EngineUnmake_CGDevice, .history = HistoryGet_CGDevice, .forget = DataForget_CGDevice,                      \
  .info = InfoGet_CGDevice

KSPDevClass CGDevClass = {.type        = KSPCGDEVICE,
                          .parent_type = KSPCG,
                          .parent_name = "KSPCG",
                          .create      = KSPCreate_CGDevice,
                          .install     = CGDevParentInstall,
                          .options     = CGDevPrecisionFromOptions,
                          .why_parent  = WhyParent,
                          .view        = CGDevPrecisionView,
                          BY_ONE_ENGINE};

KSPDevClass RichardsonDevClass = {.type        = KSPRICHARDSONDEVICE,
                                  .parent_type = KSPRICHARDSON,
                                  .parent_name = "KSPRICHARDSON",
                                  .create      = KSPCreate_RichardsonDevice,
                                  .why_parent  = WhyRichardson,
                                  BY_ONE_ENGINE};

static PetscErrorCode KSPCreate_CGDevice(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPDevCreate(ksp, &CGDevClass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCreate_RichardsonDevice(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPDevCreate(ksp, &RichardsonDevClass));
  PetscFunctionReturn(PETSC_SUCCESS);
}
