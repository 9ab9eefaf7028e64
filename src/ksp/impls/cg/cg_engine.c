/*
  cg_engine.c - the engine of a solver and its mode. The engine is made again only if the matrix has another plan or an
  option has changed: new values, vectors and right-hand sides change neither the engine nor its graph.
*/
#include "cgdevice.h"

static SpmvCgMode EngineMode(KSPDeviceMode mode)
{
  if (mode == KSP_DEVICE_CHUNK) return SPMV_CG_CHUNK;
  return mode == KSP_DEVICE_GRAPH ? SPMV_CG_GRAPH : SPMV_CG_PERSISTENT;
}

static PetscErrorCode ChooseMode(KSP_CGDevice *s, Mat A, KSPDeviceMode *mode)
{
  const PetscBool function = s->pc.kind == SPMV_PC_FUNCTION ? PETSC_TRUE : PETSC_FALSE;
  int64_t         nonzeros = 0;

  PetscFunctionBegin;
  *mode = s->mode;
  if (s->several && s->mode != KSP_DEVICE_CHUNK) *mode = KSP_DEVICE_GRAPH;
  if (s->several) PetscFunctionReturn(PETSC_SUCCESS);
  if ((function || s->single_reduction) && s->mode == KSP_DEVICE_AUTO) *mode = KSP_DEVICE_GRAPH;
  if (function && s->mode == KSP_DEVICE_PERSISTENT)
    PetscCall(PetscStrncpy(s->reason, "the persistent kernel has no multigrid and no factors", sizeof s->reason));
  if (s->single_reduction && s->mode == KSP_DEVICE_PERSISTENT)
    PetscCall(PetscStrncpy(s->reason, "the persistent kernel has no single reduction", sizeof s->reason));
  if (*mode != KSP_DEVICE_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtNonzeros(A, &nonzeros));
  *mode = !s->no_persistent && spmv_cg_persistent_pays(A->rmap->n, nonzeros, AIJFMT_SCALAR) ? KSP_DEVICE_PERSISTENT
                                                                                            : KSP_DEVICE_GRAPH;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OptionsCommon_CGDevice(const KSP_CGDevice *s, Mat A, SpmvCgOptions *wanted)
{
  const KSPDevFunction function = KSPDevFunctionGet(KSPDEV(s));

  PetscFunctionBegin;
  spmv_cg_options_init(wanted);
  wanted->rows             = A->rmap->n;
  wanted->scalar_type      = AIJFMT_SCALAR;
  wanted->preconditioner   = s->pc.kind;
  wanted->block_size       = (int)s->pc.block;
  wanted->history          = KSPDEV_HISTORY;
  wanted->step             = (double)s->scale;
  wanted->single_reduction = s->single_reduction;
  wanted->chunk            = (int)s->chunk;
  if (s->pc.kind != SPMV_PC_FUNCTION) PetscFunctionReturn(PETSC_SUCCESS);
  wanted->apply       = function.apply;
  wanted->apply_ctx   = function.ctx;
  wanted->apply_waits = function.waits;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the engine for one mode. s->used becomes that mode, or chunk if part of the iteration cannot be captured in a
   graph: a plan that streams from the host, messages by MPI, or a multigrid cycle that waits for PETSc on the coarsest
   level. */
static PetscErrorCode EngineForMode(KSP ksp, KSP_CGDevice *s, Mat A, KSPDeviceMode mode)
{
  SpmvCgOptions wanted;

  PetscFunctionBegin;
  if (mode == KSP_DEVICE_PERSISTENT) PetscCall(CGDevMatrixCsr(s, A));
  else PetscCall(KSPDevMatrixPlan(ksp, KSPDEV(s), A));
  if (s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (mode != KSP_DEVICE_PERSISTENT) PetscCall(CGDevRoundedGet(ksp, s, A));
  if (s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OptionsCommon_CGDevice(s, A, &wanted));
  if (mode == KSP_DEVICE_GRAPH && (spmv_operator_waits(&s->matrix.call) || wanted.apply_waits)) mode = KSP_DEVICE_CHUNK;
  wanted.mode = EngineMode(mode);
  if (mode == KSP_DEVICE_PERSISTENT) wanted.matrix = &s->matrix.csr;
  else {
    wanted.processes   = s->matrix.call.processes;
    wanted.product     = spmv_operator_product;
    wanted.product_ctx = &s->matrix.call;
  }
  PetscCall(KSPDevEngineGet(KSPDEV(s), &wanted, &s->engine_options, sizeof wanted));
  if (mode == KSP_DEVICE_PERSISTENT && s->mixed.on && !s->reason[0])
    PetscCall(CGDevMixedDecline(ksp, s, "the persistent kernel multiplies by the CSR in double precision"));
  s->used = mode;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevEngineGet(KSP ksp, KSP_CGDevice *s)
{
  KSPDeviceMode mode;
  Mat           A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (s->several && s->mixed.on) PetscCall(CGDevMixedDecline(ksp, s, "several processes"));
  PetscCall(ChooseMode(s, A, &mode));
  if (s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(EngineForMode(ksp, s, A, mode));
  if (!s->reason[0] || s->mode != KSP_DEVICE_AUTO || mode != KSP_DEVICE_PERSISTENT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(ksp, "no persistent kernel: %s\n", s->reason));
  s->no_persistent = PETSC_TRUE;
  s->reason[0]     = 0;
  PetscCall(EngineForMode(ksp, s, A, KSP_DEVICE_GRAPH));
  PetscFunctionReturn(PETSC_SUCCESS);
}
