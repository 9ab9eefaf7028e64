/* gmres_engine.c - the engine of a solver: whether it may serve, its options, and the vectors that it needs. */
#include "gmresdevice.h"

/* The features of KSPGMRES that the engine does not have */
PetscErrorCode GMRESDevWhyParent(KSP ksp, KSPDevice *s, const char **why)
{
  PetscInt restart;
  AIJFMT_DECLARE_ORTHOGONALIZATION(orthogonalize);

  PetscFunctionBegin;
  (void)s;
  for (PetscInt i = 0; i < ksp->numbermonitors; i++)
    if ((AIJFmtFunction)ksp->monitor[i] == (AIJFmtFunction)KSPGMRESMonitorKrylov)
      *why = "a monitor of the Krylov vectors of KSPGMRES";
  PetscCall(AIJFmtOrthogonalizationGet(ksp, &orthogonalize));
  PetscCall(KSPGMRESGetRestart(ksp, &restart));
  if (orthogonalize != AIJFmtOrthogonalizationClassical) *why = "the orthogonalization is not classical Gram-Schmidt";
  else if (restart > SPMV_GMRES_RESTART_MAX) *why = "a restart after more than 1000 iterations";
  else if (ksp->pc_side != PC_LEFT && ksp->pc_side != PC_RIGHT) *why = "symmetric preconditioning";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GMRESDevForget(KSPDevice *device)
{
  KSP_GMRESDevice *s = (KSP_GMRESDevice *)device;

  PetscFunctionBegin;
  AIJFmtVectorFree(&s->exec, &s->b);
  AIJFmtVectorFree(&s->exec, &s->seen);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OptionsWanted_GMRESDevice(KSP ksp, KSP_GMRESDevice *s, Mat A, SpmvGmresOptions *wanted)
{
  static const SpmvGmresRefine refine[] = {SPMV_GMRES_REFINE_NEVER, SPMV_GMRES_REFINE_IF_NEEDED,
                                           SPMV_GMRES_REFINE_ALWAYS}; /* in PETSc's order */
  AIJFMT_CGS_REFINEMENT        type;
  PetscInt                     restart;
  const KSPDevFunction         function = KSPDevFunctionGet(KSPDEV(s));

  PetscFunctionBegin;
  PetscCall(KSPGMRESGetRestart(ksp, &restart));
  PetscCall(AIJFmtCGSRefinementGet(ksp, &type));
  spmv_gmres_options_init(wanted);
  wanted->rows           = A->rmap->n;
  wanted->scalar_type    = AIJFMT_SCALAR;
  wanted->restart        = (int)PetscMin(restart, ksp->max_it);
  wanted->refine         = refine[type];
  wanted->preconditioner = s->pc.kind;
  wanted->block_size     = (int)s->pc.block;
  wanted->right          = ksp->pc_side == PC_RIGHT;
  wanted->product        = spmv_operator_product;
  wanted->product_ctx    = &s->matrix.call;
  wanted->processes      = s->matrix.call.processes;
  wanted->chunk          = (int)s->chunk;
  wanted->happy          = (double)s->happy;
  wanted->breakdown      = (double)s->breakdown;
  wanted->history        = KSPDEV_HISTORY;
  if (s->pc.kind == SPMV_PC_FUNCTION) {
    wanted->apply       = function.apply;
    wanted->apply_ctx   = function.ctx;
    wanted->apply_waits = function.waits;
  }
  wanted->mode = s->mode == KSP_DEVICE_CHUNK || spmv_operator_waits(&s->matrix.call) || wanted->apply_waits
                     ? SPMV_GMRES_CHUNK
                     : SPMV_GMRES_GRAPH;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the engine of the last solve, or makes a new one if the plan of the matrix or an option has changed */
PetscErrorCode GMRESDevEngine(KSP ksp, KSPDevice *device)
{
  KSP_GMRESDevice *s = (KSP_GMRESDevice *)device;
  SpmvGmresOptions wanted;
  Mat              A;

  PetscFunctionBegin;
  PetscCall(KSPDevPCGet(ksp, device));
  if (s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(KSPDevMatrixPlan(ksp, device, A));
  if (s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OptionsWanted_GMRESDevice(ksp, s, A, &wanted));
  s->used = wanted.mode == SPMV_GMRES_GRAPH ? KSP_DEVICE_GRAPH : KSP_DEVICE_CHUNK;
  PetscCall(KSPDevEngineGet(device, &wanted, &s->engine_options, sizeof wanted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GMRESDevVectors(KSP ksp, KSPDevice *device)
{
  KSP_GMRESDevice *s = (KSP_GMRESDevice *)device;
  KSPDevWatch      watch;
  Vec              seen = NULL;

  PetscFunctionBegin;
  PetscCall(KSPDevWatchBegin(ksp, device, &watch));
  if (watch.sees_x) PetscCall(KSPDevWork(ksp, device, 1, &seen)); /* before this process may have a reason */
  PetscCall(KSPDevVectorPlace(device, &s->b, ksp->vec_rhs));
  if (!s->reason[0] && watch.sees_x) PetscCall(KSPDevVectorPlace(device, &s->seen, seen));
  PetscFunctionReturn(PETSC_SUCCESS);
}
