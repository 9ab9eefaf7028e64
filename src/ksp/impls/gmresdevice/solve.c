/* solve.c - a solve: by the engine if it may serve and gets the data that it needs, else by KSPGMRES. */
#include "gmresdevice.h"
#include "sys/totals.h"

static PetscErrorCode EngineForget(KSP_GMRESDevice *s)
{
  SpmvGmresInfo info;

  PetscFunctionBegin;
  if (s->engine) {
    spmv_gmres_info(s->engine, &info);
    s->graphs += info.graphs;
  }
  spmv_gmres_destroy(&s->engine);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the device data of a solver; keeps options and counters */
PetscErrorCode GMRESDevForget(KSP_GMRESDevice *s)
{
  PetscFunctionBegin;
  PetscCall(EngineForget(s));
  PetscCall(KSPDevMatrixForget(KSPDEV(s)));
  PetscCall(KSPDevPCForget(KSPDEV(s)));
  PetscCall(KSPDevProcessesForget(KSPDEV(s)));
  AIJFmtVectorFree(&s->exec, &s->x);
  AIJFmtVectorFree(&s->exec, &s->b);
  AIJFmtVectorFree(&s->exec, &s->seen);
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&s->work[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives a reason for each feature of KSPGMRES that the engine does not have */
static PetscErrorCode Accept(KSP ksp, KSP_GMRESDevice *s)
{
  char        no_device[SPMV_MESSAGE_MAX];
  const char *why = NULL;
  PetscInt    restart;
  PetscMPIInt size;
  Mat         A;
  AIJFMT_DECLARE_ORTHOGONALIZATION(orthogonalize);

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  s->several = size > 1 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(AIJFmtOrthogonalizationGet(ksp, &orthogonalize));
  PetscCall(KSPGMRESGetRestart(ksp, &restart));
  if (PetscDefined(USE_COMPLEX) || PetscDefined(USE_REAL___FLOAT128) || PetscDefined(USE_REAL___FP16))
    why = "scalars are neither real double nor real single";
  else if (s->mode == KSP_GMRESDEVICE_HOST) why = "-ksp_gmresdevice_mode host";
  else if (ksp->transpose_solve) why = "a transposed solve";
  else if (ksp->calc_sings || ksp->calc_ritz) why = "eigenvalues or singular values are estimated";
  else if (orthogonalize != AIJFmtOrthogonalizationClassical)
    why = "the orthogonalization is not classical Gram-Schmidt";
  else if (restart > SPMV_GMRES_RESTART_MAX) why = "a restart after more than 1000 iterations";
  else if (ksp->max_it < 1) why = "no iterations are allowed";
  else if (ksp->pc_side != PC_LEFT && ksp->pc_side != PC_RIGHT) why = "symmetric preconditioning";
  else if (ksp->reason == KSP_DIVERGED_PC_FAILED) why = "the set-up of the preconditioner failed";
  else if (spmv_device_count(no_device) == 0) why = no_device;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (!why) PetscCall(KSPDevWhyNullSpace(ksp->pc, A, &why));
  if (!why) PetscCall(KSPDevWhyMatrix(KSPDEV(s), A, &why));
  if (why) PetscCall(PetscStrncpy(s->reason, why, sizeof s->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Wanted(KSP ksp, KSP_GMRESDevice *s, Mat A, SpmvGmresOptions *wanted, PetscInt64 *cycle)
{
  static const SpmvGmresRefine refine[] = {SPMV_GMRES_REFINE_NEVER, SPMV_GMRES_REFINE_IF_NEEDED,
                                           SPMV_GMRES_REFINE_ALWAYS}; /* in PETSc's order */
  AIJFMT_CGS_REFINEMENT        type;
  PetscInt                     restart;
  MGDevInfo                    multigrid;

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
  *cycle                 = 0;
  if (s->pc.kind == SPMV_PC_FUNCTION) {
    PetscCall(MGDevHierarchyInfo(s->multigrid, &multigrid));
    *cycle              = multigrid.serial;
    wanted->apply       = spmv_cycle_function;
    wanted->apply_ctx   = multigrid.cycle;
    wanted->apply_waits = multigrid.cycle_info.waits;
  }
  wanted->mode = s->mode == KSP_GMRESDEVICE_CHUNK || spmv_operator_waits(&s->matrix.call) || wanted->apply_waits
                     ? SPMV_GMRES_CHUNK
                     : SPMV_GMRES_GRAPH;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the engine of the last solve, or makes a new one if the plan of the matrix or an option has changed */
static PetscErrorCode EngineGet(KSP ksp, KSP_GMRESDevice *s)
{
  SpmvGmresOptions wanted;
  PetscInt64       cycle;
  PetscBool        same, same_product;
  Mat              A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(KSPDevMatrixPlan(ksp, KSPDEV(s), A, ksp->vec_sol));
  if (s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Wanted(ksp, s, A, &wanted, &cycle));
  PetscCall(PetscMemcmp(&wanted, &s->engine_options, sizeof wanted, &same));
  PetscCall(PetscArraycmp(s->engine_serial, s->matrix.serial, KSPDEV_PARTS, &same_product));
  if (s->engine && same && same_product && s->engine_cycle == cycle) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(EngineForget(s));
  KSPDevTry(s, spmv_gmres_create(&wanted, &s->exec, &s->engine));
  s->engine_options = wanted;
  PetscCall(PetscArraycpy(s->engine_serial, s->matrix.serial, KSPDEV_PARTS));
  s->engine_cycle = cycle;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prepares the engine; leaves a reason if its data cannot be had */
PetscErrorCode GMRESDevPrepare(KSP ksp, KSP_GMRESDevice *s)
{
  KSPDevWatch watch;

  PetscFunctionBegin;
  PetscCall(KSPDevWatchBegin(ksp, &watch));
  s->exec.space   = SPMV_DEVICE;
  s->exec.failure = NULL;
  PetscCall(AIJFmtCudaStream(&s->exec));
  for (int i = 0; i < 2; i++)
    if (!s->work[i]) PetscCall(VecDuplicate(ksp->vec_rhs, &s->work[i]));
  PetscCall(KSPDevPCGet(ksp, KSPDEV(s), s->work[0], s->work[1]));
  if (!s->reason[0]) PetscCall(EngineGet(ksp, s));
  if (!s->reason[0]) PetscCall(KSPDevVectorPlace(KSPDEV(s), &s->x, ksp->vec_sol));
  if (!s->reason[0]) PetscCall(KSPDevVectorPlace(KSPDEV(s), &s->b, ksp->vec_rhs));
  if (!s->reason[0] && watch.sees_x) PetscCall(KSPDevVectorPlace(KSPDEV(s), &s->seen, s->work[1]));
  PetscCall(KSPDevAgree(ksp, KSPDEV(s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSolve_GMRESDevice(KSP ksp)
{
  KSP_GMRESDevice *s;

  PetscFunctionBegin;
  PetscCall(GMRESDevStateGet(ksp, &s));
  s->reason[0] = 0;
  PetscCall(Accept(ksp, s));
  PetscCall(KSPDevAgree(ksp, KSPDEV(s)));
  if (!s->reason[0]) PetscCall(GMRESDevPrepare(ksp, s));
  s->by_parent = PETSC_FALSE;
  if (!s->reason[0]) PetscCall(GMRESDevSolve(ksp, s));
  s->by_parent = s->reason[0] ? PETSC_TRUE : PETSC_FALSE;
  if (!s->by_parent) s->solves_device++;
  else { /* frees the device data, because a full device needs the memory for other data */
    PetscCall(PetscInfo(ksp, "solved by KSPGMRES: %s\n", s->reason));
    PetscCall(GMRESDevForget(s));
    s->solves_host++;
    PetscCall(MGDevSolveWatched(ksp, s->parent.solve));
  }
  PetscPackCountSolve(ksp->its, s->reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}
