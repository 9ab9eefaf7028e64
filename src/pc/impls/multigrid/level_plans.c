/*
  level_plans.c - the matrices of a level as operators on the device: by the plan that a matrix has there, or by one
  that the hierarchy makes from its values. The restriction is mostly the transpose of the interpolation, applied by the
  same plans; on several processes its sums for rows of other processes go the way back that ghost values come.
*/
#include "hierarchy.h"

/* The first format that takes less memory than CSR; crsv is CSR, and takes every pattern */
static const char *const formats[] = {"rbp", "crsv"};

/* The matrix of the residual, which PCApply() would only set in the level at its first call */
PetscErrorCode MGDevLevelMatrix(const PC_MG_Levels *level, Mat *A)
{
  PetscFunctionBegin;
  *A = level->A;
  if (!*A) PetscCall(KSPGetOperators(level->smoothu, A, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevIsMAIJ(Mat A, PetscBool *maij)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, maij, MATSEQMAIJ, MATMPIMAIJ, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool ConvertedHolds_MGDevice(const MGDevConverted *made, Mat A)
{
  return made->id == ((PetscObject)A)->id && made->state == ((PetscObject)A)->state ? PETSC_TRUE : PETSC_FALSE;
}

/* *found: the plan of A itself, if it has one on the device, updated for a product with x */
static PetscErrorCode MatrixLook_MGDevice(Mat A, Vec x, AIJFmtPlanOnDevice *found, MGDevSeen *seen)
{
  PetscFunctionBegin;
  PetscCall(AIJFmtDevicePlan(A, x, found));
  *seen = (MGDevSeen){((PetscObject)A)->id, ((PetscObject)A)->state, A->nonzerostate, found->plan ? found->serial : 0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Clears *hold if A is no longer as it was seen */
static PetscErrorCode MatrixCompare_MGDevice(const MGDevSeen *before, Mat A, Vec x, PetscBool *hold)
{
  AIJFmtPlanOnDevice found;
  MGDevSeen          now;
  PetscBool          same;

  PetscFunctionBegin;
  if (!*hold) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatrixLook_MGDevice(A, x, &found, &now));
  PetscCall(PetscMemcmp(before, &now, sizeof now, &same));
  if (!same || found.why_host) *hold = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *aij is A, or its conversion if A is of type MAIJ */
static PetscErrorCode MAIJConvert(MGDevConverted *made, Mat A, Mat *aij)
{
  PetscBool maij;

  PetscFunctionBegin;
  PetscCall(MGDevIsMAIJ(A, &maij));
  if (!maij || !ConvertedHolds_MGDevice(made, A)) PetscCall(MatDestroy(&made->aij));
  if (maij && !made->aij) PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &made->aij));
  made->id    = ((PetscObject)A)->id;
  made->state = ((PetscObject)A)->state;
  *aij        = maij ? made->aij : A;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void BlockForget(MGDevHierarchy h, MGDevBlock *b)
{
  AIJFmtPlanDrop(&b->own, h->exec);
  MGDevSingleForget(h, &b->single);
  b->found = b->doubled = (AIJFmtPlanOnDevice){.plan = NULL};
  b->seen.id            = 0;
}

PetscErrorCode MGDevMatrixForget(MGDevHierarchy h, MGDevMatrix *m)
{
  PetscFunctionBegin;
  BlockForget(h, &m->block);
  BlockForget(h, &m->ghost_columns);
  PetscCall(PetscPackHaloDestroy(&m->halo, h->exec));
  m->seen.id = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- a sequential matrix ---- */

static PetscErrorCode OwnPlanGet_MGDevice(MGDevHierarchy h, MGDevBlock *b, Mat A, PetscBool transposed)
{
  AIJFmtPlanCache *own = &b->own;
  SpmvStatus       status;

  PetscFunctionBegin;
  PetscCall(AIJFmtPlanFromHost(own, A, 2, formats, h->exec, &status));
  MGDevTry(h, status);
  if (transposed) MGDevTry(h, AIJFmtPlanTranspose(own, h->exec));
  b->found = (AIJFmtPlanOnDevice){own->plan, own->work, own->serial, NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleBlock(MGDevHierarchy h, MGDevBlock *b, Mat A, PetscBool transposed)
{
  PetscFunctionBegin;
  if (b->found.plan || !b->shared) AIJFmtPlanDrop(&b->own, h->exec);
  else PetscCall(OwnPlanGet_MGDevice(h, b, A, PETSC_FALSE));
  b->doubled = b->found;
  if (!h->reason[0]) PetscCall(MGDevSingleBlock(h, b, A, transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets b to the plan of A with current values. x: a vector that A can be multiplied by */
static PetscErrorCode GetBlock(MGDevHierarchy h, MGDevBlock *b, Mat A, Vec x, PetscBool transposed)
{
  PetscBool ready = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(MatrixLook_MGDevice(A, x, &b->found, &b->seen));
  if (b->found.why_host) PetscCall(PetscStrncpy(h->reason, b->found.why_host, sizeof h->reason));
  else if (h->single.on) PetscCall(SingleBlock(h, b, A, transposed));
  else if (!b->found.plan) PetscCall(OwnPlanGet_MGDevice(h, b, A, transposed));
  else {
    AIJFmtPlanDrop(&b->own, h->exec);
    if (transposed) PetscCall(AIJFmtDevicePlanTranspose(A, &ready));
    if (!ready) PetscCall(PetscStrncpy(h->reason, "no memory for a transposed matrix", sizeof h->reason));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- a matrix of several processes ---- */

/* Makes the halo again if the pattern has changed. Collective. */
static PetscErrorCode HaloGet_MGDevice(MGDevHierarchy h, MGDevMatrix *m, Mat A, PetscInt ghosts, const PetscInt ghost[])
{
  const SpmvScalar scalar = h->single.on ? SPMV_F32 : AIJFMT_SCALAR;
  SpmvStatus       status;

  PetscFunctionBegin;
  if (m->halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPackHaloCreate(&h->processes, A->cmap, ghosts, ghost, scalar, h->exec, &m->halo, &status));
  MGDevTry(h, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets both blocks of A, and a halo, which is made again if the pattern of A has changed on any process */
static PetscErrorCode GetBlocks(MGDevHierarchy h, MGDevMatrix *m, Mat A, Vec x, PetscBool transposed)
{
  PetscBool       pattern = m->seen.id == ((PetscObject)A)->id && m->seen.pattern == A->nonzerostate;
  const PetscInt *ghost;
  Mat             diagonal, off_diagonal;

  PetscFunctionBegin;
  PetscCall(PetscPackAll(h->comm, &pattern));
  if (!pattern) PetscCall(PetscPackHaloDestroy(&m->halo, h->exec));
  m->seen.pattern = A->nonzerostate;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off_diagonal, &ghost));
  PetscCall(GetBlock(h, &m->block, diagonal, x, transposed));
  if (!h->reason[0]) PetscCall(GetBlock(h, &m->ghost_columns, off_diagonal, x, transposed));
  PetscCall(MGDevAgree(h));
  if (!h->reason[0]) PetscCall(HaloGet_MGDevice(h, m, A, off_diagonal->cmap->n, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets m to A with current values; transposed: ready for products with the transpose, too */
static PetscErrorCode GetMatrix(MGDevHierarchy h, MGDevMatrix *m, Mat A, Vec x, PetscBool transposed)
{
  AIJFmtPlanOnDevice found;
  MGDevSeen          now = {.id = 0};

  PetscFunctionBegin;
  if (h->several) PetscCall(GetBlocks(h, m, A, x, transposed));
  else PetscCall(GetBlock(h, &m->block, A, x, transposed));
  if (!h->reason[0]) PetscCall(MatrixLook_MGDevice(A, x, &found, &now));
  if (m->seen.id != now.id || m->seen.state != now.state) h->renew = PETSC_TRUE;
  m->seen = now;
  PetscCall(MGDevAgree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Clears *hold if A or one of its blocks has changed */
static PetscErrorCode MatrixHolds_MGDevice(MGDevHierarchy h, const MGDevMatrix *m, Mat A, Vec x, PetscBool *hold)
{
  const PetscInt *ghost;
  Mat             diagonal, off_diagonal;

  PetscFunctionBegin;
  PetscCall(MatrixCompare_MGDevice(&m->seen, A, x, hold));
  if (!h->several || !*hold) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off_diagonal, &ghost));
  PetscCall(MatrixCompare_MGDevice(&m->block.seen, diagonal, x, hold));
  PetscCall(MatrixCompare_MGDevice(&m->ghost_columns.seen, off_diagonal, x, hold));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The process that owns all entries of a vector, or -1; the same result on all processes */
static PetscErrorCode OwnerOfAll(Vec v, PetscInt *owner)
{
  const PetscInt *range;
  PetscInt        entries;
  PetscMPIInt     size;

  PetscFunctionBegin;
  *owner = -1;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)v), &size));
  PetscCall(VecGetSize(v, &entries));
  PetscCall(VecGetOwnershipRanges(v, &range));
  for (PetscMPIInt i = 0; i < size; i++)
    if (range[i + 1] - range[i] == entries) *owner = i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether processes exchange data on a level: they do not if one process has all rows of this level and of the next
   coarser one. PCGAMG gathers small levels in this way. */
static PetscErrorCode LevelExchanges(MGDevHierarchy h, Vec fine, Vec coarse, PetscBool *exchanges)
{
  PetscInt of_fine, of_coarse;

  PetscFunctionBegin;
  *exchanges = PETSC_FALSE;
  if (!h->several) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OwnerOfAll(fine, &of_fine));
  PetscCall(OwnerOfAll(coarse, &of_coarse));
  *exchanges = of_fine < 0 || of_fine != of_coarse ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* transposed: multiply by the transpose */
static void SetOperator(MGDevHierarchy h, const MGDevMatrix *m, PetscBool transposed, PetscBool exchanges,
                        SpmvOperator *op, PetscInt64 serial[2])
{
  op->plan       = m->block.found.plan;
  op->work       = m->block.found.work;
  op->transposed = transposed ? 1 : 0;
  serial[0]      = m->block.found.serial;
  if (!exchanges) return;
  op->processes = &h->processes.call;
  op->halo      = m->halo;
  op->ghosts    = PetscPackHaloGhosts(m->halo);
  if (!op->ghosts) return; /* no entries of other processes are needed */
  op->ghost_plan = m->ghost_columns.found.plan;
  op->ghost_work = m->ghost_columns.found.work;
  serial[1]      = m->ghost_columns.found.serial;
}

/* The matrices of level i, which is not the coarsest, as PETSc has them, and vectors of both levels */
typedef struct {
  Mat       A, P, R;
  Vec       fine, coarse;
  PetscBool P_transposed, R_transposed;
} MGDevLevelMatrices;

/* Like MatInterpolateAdd() and MatRestrict(), decides by the sizes whether a matrix must be transposed */
static PetscErrorCode LevelMatrices_MGDevice(MGDevLevel *mine, PC_MG_Levels **levels, PetscInt i, MGDevLevelMatrices *l)
{
  PetscFunctionBegin;
  *l = (MGDevLevelMatrices){.fine = levels[i]->r, .coarse = levels[i - 1]->x};
  PetscCall(MGDevLevelMatrix(levels[i], &l->A));
  PetscCall(MAIJConvert(&mine->of_interpolation, levels[i]->interpolate, &l->P));
  l->R = l->P;
  if (levels[i]->restrct != levels[i]->interpolate)
    PetscCall(MAIJConvert(&mine->of_restriction, levels[i]->restrct, &l->R));
  l->P_transposed = l->P->rmap->N == l->A->rmap->N ? PETSC_FALSE : PETSC_TRUE;
  l->R_transposed = l->R->rmap->N == l->A->rmap->N ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevLevelPlans(MGDevHierarchy h, PC_MG_Levels **levels, PetscInt i)
{
  MGDevLevel        *mine = &h->level[i];
  SpmvCycleLevel    *now  = &h->now->level[i];
  const MGDevMatrix *restriction;
  PetscBool          exchanges, transposed;
  MGDevLevelMatrices l;

  PetscFunctionBegin;
  PetscCall(LevelMatrices_MGDevice(mine, levels, i, &l));
  restriction = l.R == l.P ? &mine->interpolation : &mine->restriction;
  transposed  = l.P_transposed || (l.R == l.P && l.R_transposed) ? PETSC_TRUE : PETSC_FALSE;
  MGDevSingleFactors(h, i);
  PetscCall(GetMatrix(h, &mine->matrix, l.A, l.fine, PETSC_FALSE));
  if (!h->reason[0]) PetscCall(GetMatrix(h, &mine->interpolation, l.P, l.P_transposed ? l.fine : l.coarse, transposed));
  if (h->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (l.R != l.P) PetscCall(GetMatrix(h, &mine->restriction, l.R, l.R_transposed ? l.coarse : l.fine, l.R_transposed));
  else PetscCall(MGDevMatrixForget(h, &mine->restriction)); /* interpolation also multiplies by its transpose */
  if (h->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  now->rows = l.A->rmap->n;
  PetscCall(LevelExchanges(h, l.fine, l.coarse, &exchanges));
  SetOperator(h, &mine->matrix, PETSC_FALSE, exchanges, &now->matrix, &h->now->serial[i][0]);
  SetOperator(h, &mine->interpolation, l.P_transposed, exchanges, &now->interpolation, &h->now->serial[i][2]);
  SetOperator(h, restriction, l.R_transposed, exchanges, &now->restriction, &h->now->serial[i][4]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevLevelPlansHold(MGDevHierarchy h, PC_MG_Levels **levels, PetscInt i, PetscBool *hold)
{
  MGDevLevel        *mine = &h->level[i];
  const Mat          P = levels[i]->interpolate, R = levels[i]->restrct;
  MGDevLevelMatrices l;

  PetscFunctionBegin;
  if (!ConvertedHolds_MGDevice(&mine->of_interpolation, P)) *hold = PETSC_FALSE;
  if (R != P && !ConvertedHolds_MGDevice(&mine->of_restriction, R)) *hold = PETSC_FALSE;
  if (!*hold) PetscFunctionReturn(PETSC_SUCCESS); /* a conversion is collective */
  PetscCall(LevelMatrices_MGDevice(mine, levels, i, &l));
  PetscCall(MatrixHolds_MGDevice(h, &mine->matrix, l.A, l.fine, hold));
  PetscCall(MatrixHolds_MGDevice(h, &mine->interpolation, l.P, l.P_transposed ? l.fine : l.coarse, hold));
  if (l.R != l.P) PetscCall(MatrixHolds_MGDevice(h, &mine->restriction, l.R, l.R_transposed ? l.coarse : l.fine, hold));
  else if (mine->restriction.seen.id) *hold = PETSC_FALSE; /* it had a matrix of its own */
  PetscFunctionReturn(PETSC_SUCCESS);
}
