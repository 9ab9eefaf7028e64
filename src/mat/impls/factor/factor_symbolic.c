/* factor_symbolic.c - the symbolic phase: chooses the body of a factor, and makes it. */
#include "factor.h"
#include "sys/compat.h"

/* Options have the names and the meaning of those of PETSc's main branch */
static PetscErrorCode OptionsRead(Mat F, Mat_CuDSS *s)
{
  PetscBool deterministic = s->options.deterministic ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscOptionsBegin(PetscObjectComm((PetscObject)F), ((PetscObject)F)->prefix, "Options of cuDSS", "Mat");
  PetscCall(PetscOptionsBool("-mat_cudss_deterministic", "The same bits in each run; slower, with more memory", "None",
                             deterministic, &deterministic, NULL));
  PetscCall(PetscOptionsRangeInt("-mat_cudss_ir_n_steps", "Steps of iterative refinement in each solve", "None",
                                 s->refine, &s->refine, NULL, 0, 100));
  PetscOptionsEnd();
  s->options.deterministic = deterministic ? 1 : 0;
  s->options.refine        = (int)s->refine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the host must factor the matrix, as far as that is known before an analysis */
static PetscErrorCode WhyHost(Mat F, Mat A, Mat_CuDSS *s)
{
  PetscBool same = PETSC_TRUE;

  PetscFunctionBegin;
  s->why[0] = 0;
#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
  PetscCall(PetscStrncpy(s->why, "cuDSS is called for real numbers of double precision only", sizeof s->why));
#endif
  if (AIJFmtBoundToCPU(A)) PetscCall(PetscStrncpy(s->why, "the matrix is bound to the CPU", sizeof s->why));
  if (A->rmap->N == 0) PetscCall(PetscStrncpy(s->why, "the matrix has no rows", sizeof s->why));
  if (s->row && s->col) PetscCall(ISEqual(s->row, s->col, &same));
  if (!same) PetscCall(PetscStrncpy(s->why, "rows and columns have different orderings", sizeof s->why));
  if (s->several && s->row) PetscCall(PetscStrncpy(s->why, "a named ordering of several processes", sizeof s->why));
  if (!s->why[0]) PetscCall(MatCuDSSPackageKeeps(F, s, s->why));
  if (!s->why[0]) PetscCall(PetscPackCuDSSOpen(&s->exec, A->rmap->N, s->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* LU of a matrix that is known to be positive definite is the more expensive way to the same answer */
static PetscErrorCode KindChoose(Mat F, Mat A, Mat_CuDSS *s)
{
  PetscBool set, spd;

  PetscFunctionBegin;
  PetscCall(MatIsSPDKnown(A, &set, &spd));
  if (set && spd) s->options.kind = SPMV_DIRECT_SPD;
  else s->options.kind = F->factortype == MAT_FACTOR_LU ? SPMV_DIRECT_GENERAL : SPMV_DIRECT_SYMMETRIC;
  s->options.matching = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OrderGet(const Mat_CuDSS *s, int32_t **order)
{
  const PetscInt *index;
  PetscInt        n;

  PetscFunctionBegin;
  *order = NULL;
  if (!s->row) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISGetLocalSize(s->row, &n));
  PetscCall(PetscMalloc1((size_t)n, order));
  PetscCall(ISGetIndices(s->row, &index));
  for (PetscInt i = 0; i < n; i++) (*order)[i] = (int32_t)index[i];
  PetscCall(ISRestoreIndices(s->row, &index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCuDSSMake(Mat A, Mat_CuDSS *s)
{
  AIJFmtArrays a     = {.narrow = PETSC_TRUE};
  int32_t     *order = NULL;
  SpmvStatus   status;

  PetscFunctionBegin;
  spmv_direct_destroy(&s->direct, &s->exec);
  PetscCall(AIJFmtCudaStream(&s->exec));
  PetscCall(OrderGet(s, &order));
  PetscCall(AIJFmtArraysGet(A, AIJFMT_PATTERN | AIJFMT_VALUES, AIJFMT_READ, &s->exec, &a, &status));
  if (!status) {
    s->options.order = order;
    status           = spmv_direct_create(&a.csr, &s->options, &s->exec, &s->direct);
    s->options.order = NULL;
    PetscCall(AIJFmtArraysRestore(A, &s->exec, &a, NULL));
  }
  PetscCall(PetscFree(order));
  if (!status) s->symbolic++;
  PetscCall(AIJFmtRefuse(&s->exec, status, s->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc computes the ordering that the package prefers, unless the user named one */
PetscErrorCode MatCuDSSHostBody(Mat F, Mat A, Mat_CuDSS *s)
{
  IS              row = s->row, col = s->col;
  MatOrderingType type;

  PetscFunctionBegin;
  if (s->symbolic) s->fallbacks++;
  PetscCall(PetscInfo(F, "factored on the host: %s\n", s->why));
  spmv_direct_destroy(&s->direct, &s->exec);
  PetscCall(MatCuDSSForgetWhole(s));
  PetscCall(MatCuDSSHostFactor(F, A, s));
  PetscCall(MatFactorGetPreferredOrdering(s->host, F->factortype, &type));
  if (!row) PetscCall(MatGetOrdering(A, type, &row, &col));
  if (F->factortype == MAT_FACTOR_LU) PetscCall(MatLUFactorSymbolic(s->host, A, row, col, &s->info));
  else PetscCall(MatCholeskyFactorSymbolic(s->host, A, row, &s->info));
  if (!s->row) {
    PetscCall(ISDestroy(&row));
    PetscCall(ISDestroy(&col));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Symbolic(Mat F, Mat A, IS row, IS col, const MatFactorInfo *info)
{
  Mat_CuDSS *s = (Mat_CuDSS *)F->data;
  Mat        whole;

  PetscFunctionBegin;
  if (row) PetscCall(PetscObjectReference((PetscObject)row));
  if (col) PetscCall(PetscObjectReference((PetscObject)col));
  PetscCall(ISDestroy(&s->row));
  PetscCall(ISDestroy(&s->col));
  s->row  = row;
  s->col  = col;
  s->info = *info;
  PetscCall(OptionsRead(F, s));
  PetscCall(WhyHost(F, A, s));
  PetscCall(MatCuDSSAgree(F, s));
  if (!s->why[0]) {
    PetscCall(MatDestroy(&s->host));
    PetscCall(KindChoose(F, A, s));
    PetscCall(MatCuDSSWhole(A, MAT_INITIAL_MATRIX, s, &whole));
    if (whole) PetscCall(MatCuDSSMake(whole, s));
    PetscCall(MatCuDSSAgree(F, s));
  }
  if (s->why[0]) PetscCall(MatCuDSSHostBody(F, A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatLUFactorSymbolic_CuDSS(Mat F, Mat A, IS row, IS col, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(Symbolic(F, A, row, col, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCholeskyFactorSymbolic_CuDSS(Mat F, Mat A, IS row, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(Symbolic(F, A, row, row, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
