/*
  cg_mixed.c - solves in mixed precision: products with the matrix rounded to single precision, all else in double.

  The residual of the recurrence belongs to the rounded matrix, and drifts from b - A x. So whenever it has fallen to a
  hundredth, or to the tolerance, b - A x is computed with the matrix itself, on the device, and replaces it
  (reliable updates: Sleijpen and van der Vorst, 1996). PETSc's test sees these norms only. The more ill-conditioned the
  matrix, the larger the drift: the true residual then falls less than that of the recurrence, and reducing the
  recurrence further is wasted work. If the true residual hardly falls at all, or the rounded matrix is not positive
  definite, the solve goes on in double precision.
*/
#include "cgdevice.h"

enum {
  DRIFTED_PERCENT = 120, /* of the norm of the recurrence: above it, the search direction is restarted */
  /* Limit on iterations between two true residuals: STAGE_TIMES those before the first one, plus STAGE_MORE */
  STAGE_TIMES = 4,
  STAGE_MORE  = 50
};

/* A correction is due when the norm of the recurrence has fallen to the first fraction. If the true norm is above the
   second fraction of the last one, the solve goes on in double precision. */
static const PetscReal first_drop = (PetscReal)1e-2, least_drop = (PetscReal)0.5;

/* Called before the first iteration of the engine; unused in double precision */
void CGDevMixedInit(KSP ksp, CGDevRun *run)
{
  run->checked = ksp->rnorm;
  run->drop    = first_drop;
}

PetscReal CGDevMixedTolerance(KSP ksp, const CGDevRun *run) { return PetscMax(ksp->ttol, run->drop * run->checked); }

/* r = b - A x on the device */
static SpmvStatus ResidualCompute_CGDevice(KSP_CGDevice *s, const PetscScalar b[], SpmvSpace space, PetscInt rows)
{
  const SpmvOperator *product   = &s->matrix.call;
  const PetscScalar   minus_one = -1, one = 1;
  SpmvStatus          status;

  status = spmv_copy(s->r.data, SPMV_DEVICE, b, space, (int64_t)rows * (int64_t)sizeof *b, &s->exec);
  if (status) return status;
  return spmv_mult(product->plan, &minus_one, s->x.data, &one, s->r.data, product->work, &s->exec);
}

/* Computes b - A x, both where the engine reads it and on the host, and its norm; sets ksp->reason if that is not a
   number */
static PetscErrorCode TrueResidual(KSP ksp, KSP_CGDevice *s, PetscReal *norm)
{
  const PetscScalar *b;
  PetscMemType       memtype;
  PetscInt           rows;
  SpmvStatus         status;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(ksp->vec_rhs, &rows));
  PetscCall(VecGetArrayReadAndMemType(ksp->vec_rhs, &b, &memtype));
  PetscCall(AIJFmtVectorBegin(&s->x));
  PetscCall(AIJFmtVectorBegin(&s->r));
  status = ResidualCompute_CGDevice(s, b, PetscMemTypeHost(memtype) ? SPMV_HOST : SPMV_DEVICE, rows);
  PetscCall(AIJFmtVectorEnd(&s->r));
  PetscCall(AIJFmtVectorEnd(&s->x));
  PetscCall(VecRestoreArrayReadAndMemType(ksp->vec_rhs, &b));
  KSPDevTry(s, status);
  PetscCall(AIJFmtLogGpuFlops(2.0 * s->matrix.nonzeros));
  if (PetscMemTypeHost(memtype)) PetscCall(PetscLogCpuToGpu((PetscLogDouble)rows * sizeof *b));
  PetscCall(CGDevResidualFetch(ksp, s));
  PetscCall(CGDevNorm(ksp, s, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolutionCorrect_CGDevice(KSP_CGDevice *s, CGDevRun *run, PetscReal norm)
{
  const PetscReal drifted = (PetscReal)(run->result.norm * DRIFTED_PERCENT / 100);
  const int       restart = norm > drifted;
  SpmvStatus      status;

  PetscFunctionBegin;
  if (norm > drifted) run->drop = PetscMax(run->drop, norm / run->checked);
  if (run->stage == 0) run->first = run->result.completed;
  run->stage   = run->result.completed;
  run->limit   = run->stage + STAGE_TIMES * run->first + STAGE_MORE;
  run->checked = norm;
  PetscCall(AIJFmtVectorBegin(&s->r));
  status = spmv_cg_correct(s->engine, restart, &s->exec);
  PetscCall(AIJFmtVectorEnd(&s->r));
  KSPDevTry(s, status);
  run->result.reason = SPMV_ITERATING;
  s->mixed.corrections++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Continues in double precision from the current solution */
static PetscErrorCode GoOnInDouble(KSP ksp, KSP_CGDevice *s, CGDevRun *run, const char why[])
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(AIJFmtVectorFetch(&s->exec, &s->x));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(CGDevMixedDecline(ksp, s, why));
  s->mixed.failed_id      = ((PetscObject)A)->id;
  s->mixed.failed_nonzero = A->nonzerostate;
  run->offset += run->result.completed;
  run->limit  = INT64_MAX;
  run->result = (SpmvCgResult){.completed = 0};
  PetscCall(CGDevEngineGet(ksp, s));
  PetscCall(KSPDevAgree(ksp, KSPDEV(s)));
  if (!s->reason[0]) PetscCall(CGDevStart(ksp, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called when the engine has ended or has reached run->limit. Computes the true residual, reports its norm in place of
   that of the recurrence, and has PETSc test it; then the solve ends or goes on. */
PetscErrorCode CGDevMixedCheck(KSP ksp, KSP_CGDevice *s, CGDevRun *run, int64_t before)
{
  const SpmvReason reason = run->result.reason;
  PetscReal        norm;

  PetscFunctionBegin;
  ksp->its = (PetscInt)(run->offset + run->result.completed);
  PetscCall(TrueResidual(ksp, s, &norm));
  if (ksp->reason || s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (run->result.completed > before) {
    PetscCall(KSPDevTellNorm(ksp, ksp->its, norm));
    PetscCall((*ksp->converged)(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
    if (!ksp->reason && ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
    if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reason == SPMV_DIVERGED_ITERATIONS)
    PetscCall(GoOnInDouble(ksp, s, run, "the residual of the recurrence hardly fell"));
  else if (reason != SPMV_RTOL && reason != SPMV_ATOL)
    PetscCall(GoOnInDouble(ksp, s, run, "conjugate gradients with the rounded matrix broke down"));
  else if (norm > least_drop * run->checked)
    PetscCall(GoOnInDouble(ksp, s, run, "the true residual hardly fell between two corrections"));
  else PetscCall(SolutionCorrect_CGDevice(s, run, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
