/*
  single_precision.c - a cycle in single precision: whether it is used, the scale of its matrices, and its own data:
  plans, M of the smoothers and the inverse, each rounded on the device from the numbers in double precision.

  All matrices are multiplied by one power of two, which brings the diagonal of the finest one near 1; M and the inverse
  are divided by it. Decision 0040 derives the limits below. If a number exceeds them, and after any other failure, the
  hierarchy stays in double precision for this nonzero pattern.
*/
#include "hierarchy.h"
#include <math.h>

/* The largest magnitudes: of matrices, M and the inverse; of interpolations and restrictions */
static const double most = 0x1p100, most_between = 0x1p60;

/* ---- the precision ---- */

/* Takes effect at the next MGDevHierarchyUpdate(). A new wish for single precision also retries a pattern for which it
   was not enough. */
PetscErrorCode MGDevHierarchySetPrecision(MGDevHierarchy h, PetscBool single)
{
  PetscFunctionBegin;
  if (single && !h->single.wanted) h->single.failed_id = 0;
  h->single.wanted = single;
  if (!single) h->single.why[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the option of the PC */
PetscErrorCode MGDevHierarchySetFromOptions(MGDevHierarchy h, PC pc)
{
  const char *const names[] = {"double", "single"};
  PetscInt          chosen;
  PetscBool         set;

  PetscFunctionBegin;
  PetscOptionsBegin(PetscObjectComm((PetscObject)pc), ((PetscObject)pc)->prefix, "Multigrid on the device", "PC");
  PetscCall(PetscOptionsEList("-pc_mgdevice_precision", "Precision of the cycle", "PCMG", names, 2,
                              names[h->single.wanted ? 1 : 0], &chosen, &set));
  PetscOptionsEnd();
  if (set) PetscCall(MGDevHierarchySetPrecision(h, chosen ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the next MGDevHierarchyUpdate() on, uses double precision for the matrix of the PC while its pattern is
   unchanged */
PetscErrorCode MGDevHierarchyDecline(MGDevHierarchy h, PC pc, const char why[])
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, &A, NULL));
  h->single.failed_id      = ((PetscObject)A)->id;
  h->single.failed_nonzero = A->nonzerostate;
  PetscCall(PetscStrncpy(h->single.why, why, sizeof h->single.why));
  PetscCall(PetscInfo(pc, "multigrid in double precision in place of single: %s\n", why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether M of a smoother is a function, which has double precision */
static PetscErrorCode HasFunction(const PC_MG *mg, PetscBool *has)
{
  PetscFunctionBegin;
  *has = PETSC_FALSE;
  for (PetscInt i = 1; i < mg->levels[0]->levels; i++) {
    const KSP both[] = {mg->levels[i]->smoothd, mg->levels[i]->smoothu};

    for (int k = 0; k < 2 && !*has; k++) PetscCall(PCFunctionIs(both[k]->pc, has));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Decides whether the hierarchy uses single precision */
PetscErrorCode MGDevSingleDecide(MGDevHierarchy h, PC pc, PetscBool *single)
{
  const PC_MG *mg = PetscPackMG(pc);
  PetscBool    function;
  Mat          A;

  PetscFunctionBegin;
  *single = PETSC_FALSE;
  if (!h->single.wanted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetOperators(pc, &A, NULL));
  if (h->single.failed_id == ((PetscObject)A)->id && h->single.failed_nonzero == A->nonzerostate)
    PetscFunctionReturn(PETSC_SUCCESS);
  h->single.why[0] = 0;
  PetscCall(HasFunction(mg, &function));
  if (function)
    PetscCall(PetscStrncpy(h->single.why, "sweeps and incomplete factors have double precision", sizeof h->single.why));
  else if (AIJFMT_SCALAR == SPMV_F32)
    PetscCall(PetscStrncpy(h->single.why, "PetscScalar has single precision by itself", sizeof h->single.why));
  else if (mg->levels[0]->levels < 2)
    PetscCall(PetscStrncpy(h->single.why, "there is one level only", sizeof h->single.why));
  else *single = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- numbers ---- */

/* Sets h->single.scale from the diagonal of the finest matrix; a positive definite matrix has no larger entry. The
   residual of a level is unused between two solves. */
PetscErrorCode MGDevSingleScale(MGDevHierarchy h, const PC_MG_Levels *finest)
{
  const Vec    work = finest->r;
  MGDevSingle *s    = &h->single;
  PetscReal    largest;
  double       scale;
  Mat          A;

  PetscFunctionBegin;
  PetscCall(MGDevLevelMatrix(finest, &A));
  PetscCall(MatGetDiagonal(A, work));
  PetscCall(VecNorm(work, NORM_INFINITY, &largest));
  if (!(largest > 0) || PetscIsInfOrNanReal(largest)) {
    PetscCall(PetscStrncpy(h->reason, "the diagonal of the matrix is zero or not finite", sizeof h->reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  scale = scalbn(1, -PetscMax(-1000, PetscMin(1000, ilogb((double)largest)))); /* its inverse is finite, too */
  if (scale != s->scale) h->renew = PETSC_TRUE;
  s->scale = scale;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to = factor from in single precision, on the device. Refuses if a number is NaN or too large for the cycle. */
static SpmvStatus ValuesRound(MGDevHierarchy h, int64_t n, double factor, const void *from, void *to, double limit,
                              const char name[])
{
  double     largest = 0;
  SpmvStatus status  = spmv_convert(n, factor, SPMV_F64, from, SPMV_F32, to, h->exec);

  if (!status) status = spmv_largest(n, SPMV_F32, to, &largest, h->exec);
  if (!status && !(largest <= limit))
    status = spmv_fail(h->exec, SPMV_ERR_UNSUPPORTED, "numbers of %s leave the range of single precision: up to %g",
                       name, largest);
  return status;
}

/* Allocates memory unless the size is unchanged. brief: it is freed before the set-up ends */
static SpmvStatus RoundedReserve(MGDevHierarchy h, MGDevRoundedArray *a, int64_t bytes, PetscBool brief,
                                 const char name[])
{
  if (a->data && a->bytes == bytes) return SPMV_SUCCESS;
  MGDevRoundedFree(h, a);
  a->bytes = bytes;
  return brief ? spmv_scratch_alloc(h->exec, SPMV_DEVICE, bytes, name, &a->data)
               : spmv_alloc(h->exec, SPMV_DEVICE, bytes, name, &a->data);
}

void MGDevRoundedFree(MGDevHierarchy h, MGDevRoundedArray *a)
{
  spmv_scratch_free(h->exec, SPMV_DEVICE, a->data);
  *a = (MGDevRoundedArray){.data = NULL};
}

/* Sets a to n numbers from the device divided by h->single.scale, unless key and variant say that it holds them
   already */
static PetscErrorCode RoundedArrayGet(MGDevHierarchy h, MGDevRoundedArray *a, int64_t n, const void *from,
                                      const MGDevKey *key, PetscInt variant, const char name[])
{
  const double factor = 1 / h->single.scale;
  PetscBool    same;

  PetscFunctionBegin;
  PetscCall(PetscMemcmp(&a->key, key, sizeof *key, &same));
  if (a->valid && same && a->variant == variant && a->factor == factor && a->bytes == n * (int64_t)sizeof(float))
    PetscFunctionReturn(PETSC_SUCCESS);
  a->valid = PETSC_FALSE;
  MGDevTry(h, RoundedReserve(h, a, n * (int64_t)sizeof(float), PETSC_FALSE, name));
  MGDevTry(h, ValuesRound(h, n, factor, from, a->data, most, name));
  a->key     = *key;
  a->variant = variant;
  a->factor  = factor;
  a->valid   = PETSC_TRUE;
  h->renew   = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets M of a smoother */
PetscErrorCode MGDevSinglePoint(MGDevHierarchy h, MGDevSmoother *s, SpmvCycleSmoother *now)
{
  const MGDevPoint *p = &s->point;

  PetscFunctionBegin;
  if (!p->values) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RoundedArrayGet(h, &s->rounded, p->bytes / (int64_t)sizeof(double), p->values, &p->key, p->variant,
                            "a smoother's preconditioner"));
  now->values = s->rounded.data;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the data in single precision that belongs to the whole cycle, and the inverse of the coarsest level */
PetscErrorCode MGDevSingleOptions(MGDevHierarchy h, SpmvCycleOptions *options)
{
  PetscFunctionBegin;
  options->scalar_type  = SPMV_F32;
  options->matrix_scale = &h->single.scale;
  /* the solver would multiply the rounding errors that null vectors leave in a right-hand side by 1e14 */
  if (h->singular)
    PetscCall(
        PetscStrncpy(h->reason, "the coarsest level is singular, and PETSc knows no null space", sizeof h->reason));
  if (!options->inverse) {
    MGDevRoundedFree(h, &h->single.inverse);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(RoundedArrayGet(h, &h->single.inverse, (int64_t)h->rows * h->rows, h->inverse, &h->inverse_key, 0,
                            "the coarsest level's inverse"));
  options->inverse = h->single.inverse.data;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- plans ---- */

void MGDevSingleForget(MGDevHierarchy h, MGDevSinglePlan *p)
{
  AIJFmtPlanDrop(&p->cache, h->exec);
  MGDevRoundedFree(h, &p->values);
}

/* Makes or renews the plan from the rounded values. A plan that does not borrow them copies them. */
static SpmvStatus RoundedPlanMake(MGDevHierarchy h, MGDevSinglePlan *p, const SpmvPlan *of, const AIJFmtKey *now)
{
  const PetscBool   same      = p->cache.valid ? AIJFmtSameStructure(&p->cache.key, now) : PETSC_FALSE;
  const char *const formats[] = {of ? of->format->name : "rbp", "crsv"};
  const SpmvCsr     csr       = {
                .pattern = now->pattern, .scalar_type = SPMV_F32, .values_space = SPMV_DEVICE, .values = p->values.data};
  SpmvStatus status = AIJFmtPlanFromCsr(&p->cache, &csr, same, 2, formats, h->exec);

  if (!status) status = spmv_stream_wait(h->exec); /* the stream may still read memory that is freed next */
  if (!status && !p->cache.plan->format->borrows) MGDevRoundedFree(h, &p->values);
  return status;
}

/* Sets b->found to the plan of factor A in single precision; b->doubled is a plan of A, or none */
PetscErrorCode MGDevSingleBlock(MGDevHierarchy h, MGDevBlock *b, Mat A, PetscBool transposed)
{
  MGDevSinglePlan *p = &b->single;
  AIJFmtKey        now;
  const PetscBool  brief = p->cache.plan && !p->cache.plan->format->borrows ? PETSC_TRUE : PETSC_FALSE;
  AIJFmtArrays     from  = {.parts = 0};
  SpmvStatus       status;

  PetscFunctionBegin;
  if (!AIJFmtKeyHolds(&p->cache, A) || p->made_with != p->factor) {
    PetscCall(AIJFmtKeyGet(A, &now));
    PetscCall(AIJFmtArraysGet(A, AIJFMT_VALUES, AIJFMT_READ, h->exec, &from, &status));
    if (!status)
      status = RoundedReserve(h, &p->values, now.pattern.nnz * (int64_t)sizeof(float), brief, "rounded values");
    if (!status)
      status = ValuesRound(h, now.pattern.nnz, p->factor, from.csr.values, p->values.data,
                           p->scaled ? most : most_between, "a matrix");
    if (!status) PetscCall(AIJFmtPatternCheck(A, &now.pattern, h->exec, &status));
    if (!status) status = RoundedPlanMake(h, p, b->doubled.plan, &now);
    PetscCall(AIJFmtArraysRestore(A, h->exec, &from, NULL));
    p->cache.key   = now;
    p->cache.valid = status ? PETSC_FALSE : PETSC_TRUE;
    p->made_with   = p->factor;
    PetscCall(AIJFmtKeyRestore(A, &now));
    MGDevTry(h, status);
  }
  if (transposed) MGDevTry(h, AIJFmtPlanTranspose(&p->cache, h->exec));
  b->found = (AIJFmtPlanOnDevice){p->cache.plan, p->cache.work, p->cache.serial, NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the factors of the plans of a level, and whether a solver shares them. On several processes solvers use
   MatMult(). */
void MGDevSingleFactors(MGDevHierarchy h, PetscInt level)
{
  MGDevLevel        *mine       = &h->level[level];
  MGDevMatrix *const matrices[] = {&mine->matrix, &mine->interpolation, &mine->restriction};

  mine->matrix.block.shared = level == h->levels - 1 && !h->several ? PETSC_TRUE : PETSC_FALSE;
  for (int m = 0; m < 3; m++) {
    MGDevSinglePlan *const both[] = {&matrices[m]->block.single, &matrices[m]->ghost_columns.single};

    for (int i = 0; i < 2; i++) {
      both[i]->scaled = m == 0 ? PETSC_TRUE : PETSC_FALSE;
      both[i]->factor = m == 0 ? h->single.scale : 1;
    }
  }
}
