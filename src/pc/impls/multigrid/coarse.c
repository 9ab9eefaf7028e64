/*
  coarse.c - the coarsest level. A direct solver on a small level becomes a dense matrix, by which the cycle multiplies:
  its columns are the solver's results for the unit vectors. A direct solver on a larger level whose factorization is on the
  device solves there. Any other solver is called by the cycle, which waits for it.
*/
#include "hierarchy.h"
#include "pc/impls/factor/pcfactor.h"

PetscErrorCode MGDevCoarseForget(MGDevHierarchy h)
{
  PetscFunctionBegin;
  spmv_exec_free(h->exec, SPMV_DEVICE, h->inverse);
  h->inverse        = NULL;
  h->inverse_key.id = 0;
  PetscCall(VecDestroy(&h->b));
  PetscCall(VecDestroy(&h->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a solver is one application of a factorization, by itself or inside PETSc's wrappers; on several processes,
   one factorization for the block of each process. *inner: the PC that factors. */
static PetscErrorCode IsDirect(KSP ksp, PetscBool *direct, PC *inner)
{
  PetscBool   only, factored, redundant, blocks;
  PetscInt    count = 0;
  PetscMPIInt size;
  KSP        *sub, one;

  PetscFunctionBegin;
  *direct = PETSC_FALSE;
  *inner  = ksp->pc;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPREONLY, &only));
  if (!only || !ksp->guess_zero || ksp->numbermonitors || ksp->presolve || ksp->postsolve)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp->pc, &factored, PCLU, PCCHOLESKY, PCSVD, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCREDUNDANT, &redundant));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCBJACOBI, &blocks));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  if (size > 1) factored = redundant = PETSC_FALSE; /* of a whole matrix, not of the block of a process */
  if (factored) *direct = PETSC_TRUE;
  else if (redundant) {
    PetscCall(PCRedundantGetKSP(ksp->pc, &one));
    PetscCall(IsDirect(one, direct, inner));
  } else if (blocks) {
    PetscCall(PCBJacobiGetSubKSP(ksp->pc, &count, NULL, &sub));
    if (count == 1) PetscCall(IsDirect(sub[0], direct, inner));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *factor: the factorization on the device by which a direct solver of a level that is too large for an inverse solves, or
   NULL. A wrapper is set up for new values only with its blocks. */
static PetscErrorCode FactorGet(MGDevHierarchy h, PC inner, SpmvDirect **factor)
{
  char      reason[SPMV_MESSAGE_MAX];
  PetscBool is;
  PetscInt  known;

  PetscFunctionBegin;
  *factor = NULL;
  PetscCall(MGDevNullSpaceCount(h->pc, &known));
  if (!h->direct || h->several || known || h->rows <= MGDEV_INVERSE_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSetUpOnBlocks(h->coarse));
  PetscCall(PCFactorOnDevice(inner, &is, factor, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetVectors(MGDevHierarchy h)
{
  PetscInt  have = -1;
  PetscBool fit;
  Mat       A;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(h->coarse, &A, NULL));
  if (h->b) PetscCall(VecGetLocalSize(h->b, &have));
  fit = have == A->rmap->n ? PETSC_TRUE : PETSC_FALSE;
  if (h->several) PetscCall(PetscPackAll(h->comm, &fit));
  if (fit) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDestroy(&h->b));
  PetscCall(VecDestroy(&h->x));
  PetscCall(MatCreateVecs(A, &h->x, &h->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies A to a dense matrix, by rows */
static PetscErrorCode ToDense(Mat A, PetscInt n, PetscScalar a[])
{
  const PetscScalar *values;
  const PetscInt    *cols;
  PetscInt           count;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(a, (size_t)n * n));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(MatGetRow(A, i, &count, &cols, &values));
    for (PetscInt k = 0; k < count; k++) a[(size_t)i * n + cols[k]] = values[k];
    PetscCall(MatRestoreRow(A, i, &count, &cols, &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The unit vector in the direction of the longest column of the inverse; of a nearly singular matrix it is a null
   vector */
static PetscErrorCode LongestColumn(Vec q, PetscInt n, const PetscScalar inverse[])
{
  PetscReal    most    = 0;
  PetscInt     longest = 0;
  PetscScalar *to;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < n; j++) {
    PetscReal length = 0;

    for (PetscInt i = 0; i < n; i++) length = PetscMax(length, PetscAbsScalar(inverse[(size_t)i * n + j]));
    if (length > most) longest = j;
    most = PetscMax(most, length);
  }
  PetscCall(VecGetArrayWrite(q, &to));
  for (PetscInt i = 0; i < n; i++) to[i] = inverse[(size_t)i * n + longest] / most;
  PetscCall(VecRestoreArrayWrite(q, &to));
  PetscCall(VecNormalize(q, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* done: the coarsest matrix is small and far from singular, so that every direct solver gives this inverse */
static PetscErrorCode InverseByElimination(MGDevHierarchy h, PetscScalar inverse[], PetscBool *done)
{
  PetscReal    condition;
  PetscScalar *dense;
  PetscInt     known;
  PetscBool    null = PETSC_TRUE;
  Mat          A;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(KSPGetOperators(h->coarse, NULL, &A));
  PetscCall(MGDevNullSpaceCount(h->pc, &known));
  if (h->several || known > 0 || h->rows > MGDEV_ELIMINATION_MAX || h->rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1((size_t)h->rows * h->rows, &dense));
  PetscCall(ToDense(A, h->rows, dense));
  condition = MGDevInvert(h->rows, dense, inverse);
  PetscCall(PetscFree(dense));
  if (!(condition < 1e-5 / PETSC_MACHINE_EPSILON)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LongestColumn(h->b, h->rows, inverse));
  PetscCall(MGDevCoarseIsNull(h, h->b, &null));
  *done = null ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the columns of the inverse. KSP_PCApply() does the same as KSPPREONLY, without its monitors and counters. On
   several processes the solver has one block on each process and does not mix them: one application gives column j of
   all blocks. The null vectors q[found] are projected out; right-hand sides of a solve contain no part of them. */
static PetscErrorCode InverseColumns_MGDevice(MGDevHierarchy h, PetscInt found, const Vec q[], PetscScalar inverse[])
{
  const PetscInt     n    = h->rows;
  PetscInt           most = n;
  const PetscScalar *column;
  PetscScalar       *unit;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_INT, MPI_MAX, h->comm));
  for (PetscInt j = 0; j < most; j++) {
    PetscCall(VecGetArrayWrite(h->b, &unit));
    for (PetscInt i = 0; i < n; i++) unit[i] = i == j ? 1 : 0;
    PetscCall(VecRestoreArrayWrite(h->b, &unit));
    PetscCall(MGDevProject(h->b, found, q));
    PetscCall(KSP_PCApply(h->coarse, h->b, h->x));
    PetscCall(MGDevProject(h->x, found, q));
    PetscCall(VecGetArrayRead(h->x, &column));
    for (PetscInt i = 0; i < n && j < n; i++) inverse[(size_t)i * n + j] = column[i];
    PetscCall(VecRestoreArrayRead(h->x, &column));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the inverse on the host, with the null space of the whole solve projected out. A matrix that is singular
   even then has no inverse. */
static PetscErrorCode GetValues(MGDevHierarchy h, PetscScalar inverse[])
{
  PetscInt  known, found;
  PetscBool done;
  Vec      *q;

  PetscFunctionBegin;
  h->singular = PETSC_FALSE;
  PetscCall(InverseByElimination(h, inverse, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGDevNullSpaceCount(h->pc, &known));
  PetscCall(VecDuplicateVecs(h->x, PetscMax(known, 1), &q));
  PetscCall(MGDevCoarseNull(h, PetscMax(known, 1), q, &found));
  h->singular = known == 0 && found > 0 ? PETSC_TRUE : PETSC_FALSE;
  if (!h->singular) PetscCall(InverseColumns_MGDevice(h, found, q, inverse));
  PetscCall(VecDestroyVecs(PetscMax(known, 1), &q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Updates h->inverse; its address is unchanged if the size is. NULL if h->singular. */
static PetscErrorCode GetInverse(MGDevHierarchy h, PetscInt rows_before)
{
  const int64_t bytes = (int64_t)h->rows * h->rows * (int64_t)sizeof(PetscScalar);
  PetscScalar  *values;
  MGDevKey      now;
  PetscBool     same;
  SpmvStatus    sent;

  PetscFunctionBegin;
  PetscCall(MGDevKeyGet(h->coarse->pc, &now));
  PetscCall(PetscMemcmp(&now, &h->inverse_key, sizeof now, &same));
  if ((!h->inverse && h->rows > 0 && !h->singular) || rows_before != h->rows) same = PETSC_FALSE;
  if (h->several) PetscCall(PetscPackAll(h->comm, &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  if (rows_before != h->rows) PetscCall(MGDevCoarseForget(h));
  h->inverse_key.id = 0;
  PetscCall(GetVectors(h));
  if (!h->inverse)
    PetscCall(AIJFmtRefuse(h->exec, spmv_alloc(h->exec, SPMV_DEVICE, bytes, "coarsest level", &h->inverse), h->reason));
  PetscCall(MGDevAgree(h));
  if (h->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1((size_t)h->rows * h->rows, &values));
  PetscCall(GetValues(h, values));
  sent = h->singular ? SPMV_SUCCESS : spmv_copy(h->inverse, SPMV_DEVICE, values, SPMV_HOST, bytes, h->exec);
  PetscCall(PetscFree(values));
  PetscCall(AIJFmtRefuse(h->exec, sent, h->reason));
  if (h->singular) PetscCall(MGDevCoarseForget(h));
  else PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  h->inverse_key = now;
  h->renew       = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = the result of PETSc's solver for b. Both are on the device; the vectors of PETSc may be on the host. */
static PetscErrorCode CoarseSolve(MGDevHierarchy h, const void *b, void *x, SpmvExec *exec)
{
  const int64_t bytes = (int64_t)h->rows * (int64_t)sizeof(PetscScalar);
  PetscScalar  *to;
  PetscMemType  memtype;
  SpmvStatus    status;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWriteAndMemType(h->b, &to, &memtype));
  AIJFmtCallSpmv(exec, spmv_copy(to, PetscMemTypeHost(memtype) ? SPMV_HOST : SPMV_DEVICE, b, SPMV_DEVICE, bytes, exec));
  AIJFmtCallSpmv(exec, spmv_stream_wait(exec));
  PetscCall(VecRestoreArrayWriteAndMemType(h->b, &to));
  PetscCall(VecSet(h->x, 0));
  PetscCall(KSPSolve(h->coarse, h->b, h->x));
  PetscCall(KSPCheckSolve(h->coarse, h->pc, h->x));
  PetscCall(AIJFmtVectorCopy(exec, h->x, x, &status));
  AIJFmtCallSpmv(exec, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the factorization on the device refuses, PETSc's solver does, which may give up that factorization */
static SpmvStatus CoarseFunction(void *ctx, const void *b, void *x, SpmvExec *exec)
{
  const MGDevHierarchy h = (MGDevHierarchy)ctx;

  if (h->factor && spmv_direct_function(h->factor, b, x, exec) == SPMV_SUCCESS) return SPMV_SUCCESS;
  h->factor = NULL;
  return CoarseSolve(h, b, x, exec) ? spmv_fail(exec, SPMV_ERR_ARGUMENT, "the coarsest level failed") : SPMV_SUCCESS;
}

/* A solver that the cycle calls must be set up, but nothing is taken from it, unless it is a factorization */
PetscErrorCode MGDevCoarseHolds(MGDevHierarchy h, PC pc, PetscBool *holds)
{
  const KSP   coarse = PetscPackMG(pc)->levels[0]->smoothd;
  PetscBool   direct, same = PETSC_TRUE;
  SpmvDirect *factor;
  MGDevKey    now;
  PC          inner;
  Mat         A;

  PetscFunctionBegin;
  if (pc != h->pc || coarse != h->coarse || coarse->setupstage != KSP_SETUP_NEWRHS || !coarse->pc->setupcalled)
    *holds = PETSC_FALSE;
  if (!*holds) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(coarse, &A, NULL));
  PetscCall(IsDirect(coarse, &direct, &inner));
  PetscCall(MGDevKeyGet(coarse->pc, &now));
  if (h->inverse_key.id) PetscCall(PetscMemcmp(&now, &h->inverse_key, sizeof now, &same));
  if (!same || A->rmap->n != h->rows || direct != h->direct) *holds = PETSC_FALSE;
  if (!*holds) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FactorGet(h, inner, &factor));
  if (factor != h->factor) *holds = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the coarsest level in options, and its number of rows */
PetscErrorCode MGDevCoarseGet(MGDevHierarchy h, PC pc, SpmvCycleOptions *options)
{
  const PC_MG   *mg     = PetscPackMG(pc);
  const PetscInt before = h->rows;
  PetscBool      direct;
  PC             inner;
  Mat            A;

  PetscFunctionBegin;
  h->pc     = pc;
  h->coarse = mg->levels[0]->smoothd;
  PetscCall(KSPGetOperators(h->coarse, &A, NULL));
  PetscCall(IsDirect(h->coarse, &h->direct, &inner));
  h->rows = A->rmap->n;
  PetscCall(FactorGet(h, inner, &h->factor));
  direct = h->direct && h->rows <= MGDEV_INVERSE_MAX ? PETSC_TRUE : PETSC_FALSE;
  if (h->several) PetscCall(PetscPackAll(h->comm, &direct));
  if (direct) PetscCall(GetInverse(h, before));
  else if (h->inverse) PetscCall(MGDevCoarseForget(h));
  if (h->factor) PetscCall(MGDevKeyGet(h->coarse->pc, &h->inverse_key));
  if (h->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (direct && !h->singular) options->inverse = h->inverse;
  else if (mg->cyclesperpcapply > 1 && h->levels == 1)
    PetscCall(PetscStrncpy(h->reason, "several cycles of one level", sizeof h->reason));
  else {
    PetscCall(GetVectors(h));
    options->coarse     = CoarseFunction;
    options->coarse_ctx = h;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
