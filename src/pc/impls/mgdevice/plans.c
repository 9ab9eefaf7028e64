/*
  plans.c - the matrices of a level as operators on the device: by the plan that a matrix has there, or by one that the
  hierarchy makes of its values. The restriction is mostly the interpolation itself, multiplied by as a transpose.
*/
#include "hierarchy.h"

/* The first that takes less memory than CSR; crsv is CSR, and takes every pattern */
static const char *const formats[] = {"rbp", "crsv"};

/* The matrix of the residual, which the first PCApply() would put into the level */
PetscErrorCode MGDevLevelMatrix(const PC_MG_Levels *level, Mat *A)
{
  PetscFunctionBegin;
  *A = level->A;
  if (!*A) PetscCall(KSPGetOperators(level->smoothu, A, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OwnPlan(MGDevHierarchy h, MGDevMatrix *m, Mat A, PetscBool transposed)
{
  AIJFmtPlanCache *own = &m->own;
  SpmvStatus       status;

  PetscFunctionBegin;
  PetscCall(AIJFmtPlanFromHost(own, A, 2, formats, h->exec, &status));
  MGDevTry(h, status);
  if (transposed) MGDevTry(h, AIJFmtPlanTranspose(own, h->exec));
  m->found.plan   = own->plan;
  m->found.work   = own->work;
  m->found.serial = own->serial;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* m becomes the plan of A, with the values of now. x: a vector as A is multiplied with */
static PetscErrorCode GetPlan(MGDevHierarchy h, MGDevMatrix *m, Mat A, Vec x, PetscBool transposed)
{
  PetscBool ready = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(AIJFmtDevicePlan(A, x, &m->found));
  if (m->found.why_host) PetscCall(PetscStrncpy(h->reason, m->found.why_host, sizeof h->reason));
  else if (!m->found.plan) PetscCall(OwnPlan(h, m, A, transposed));
  else {
    AIJFmtPlanDrop(&m->own, h->exec);
    if (transposed) PetscCall(AIJFmtDevicePlanTranspose(A, &ready));
    if (!ready) PetscCall(PetscStrncpy(h->reason, "no memory for a transposed matrix", sizeof h->reason));
  }
  if (m->id != ((PetscObject)A)->id || m->state != ((PetscObject)A)->state) h->renew = PETSC_TRUE;
  m->id    = ((PetscObject)A)->id;
  m->state = ((PetscObject)A)->state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SetOperator(SpmvOperator *op, const MGDevMatrix *m, PetscBool transposed)
{
  op->plan       = m->found.plan;
  op->work       = m->found.work;
  op->transposed = transposed ? 1 : 0;
}

/* A, interpolation and restriction of level i, which is not the coarsest. PETSc sees from the sizes which of the two is to
   be transposed: MatInterpolateAdd(), MatRestrict(). */
PetscErrorCode MGDevLevelPlans(MGDevHierarchy h, PC_MG_Levels **levels, PetscInt i)
{
  MGDevLevel     *mine = &h->level[i];
  SpmvCycleLevel *now  = &h->now->level[i];
  const Mat       P = levels[i]->interpolate, R = levels[i]->restrct;
  const Vec       fine = levels[i]->smoothd->work[0], coarse = levels[i - 1]->x;
  PetscBool       P_transposed, R_transposed;
  Mat             A;

  PetscFunctionBegin;
  PetscCall(MGDevLevelMatrix(levels[i], &A));
  P_transposed = P->rmap->N == A->rmap->N ? PETSC_FALSE : PETSC_TRUE;
  R_transposed = R->rmap->N == A->rmap->N ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(GetPlan(h, &mine->matrix, A, fine, PETSC_FALSE));
  if (!h->reason[0])
    PetscCall(GetPlan(h, &mine->interpolation, P, P_transposed ? fine : coarse,
                      P_transposed || (R == P && R_transposed) ? PETSC_TRUE : PETSC_FALSE));
  if (!h->reason[0] && R != P) PetscCall(GetPlan(h, &mine->restriction, R, R_transposed ? coarse : fine, R_transposed));
  if (h->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (R == P) {
    AIJFmtPlanDrop(&mine->restriction.own, h->exec);
    mine->restriction.found = mine->interpolation.found;
  }
  now->rows = A->rmap->n;
  SetOperator(&now->matrix, &mine->matrix, PETSC_FALSE);
  SetOperator(&now->interpolation, &mine->interpolation, P_transposed);
  SetOperator(&now->restriction, &mine->restriction, R_transposed);
  h->now->serial[i][0] = mine->matrix.found.serial;
  h->now->serial[i][1] = mine->interpolation.found.serial;
  h->now->serial[i][2] = mine->restriction.found.serial;
  PetscFunctionReturn(PETSC_SUCCESS);
}
