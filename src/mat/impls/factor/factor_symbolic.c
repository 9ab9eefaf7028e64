/* factor_symbolic.c - the symbolic phase: chooses the body of a factor, and has it made. */
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
  static const char *const on_host[] = {"-pc_factor_mat_factor_on_host", "-pc_factor_mat_solve_on_host"};
  PetscBool                same = PETSC_TRUE, host = PETSC_FALSE;

  PetscFunctionBegin;
  s->why[0] = 0;
  for (int i = 0; i < 2; i++) {
    PetscCall(PetscOptionsGetBool(((PetscObject)F)->options, ((PetscObject)F)->prefix, on_host[i], &host, NULL));
    if (host) PetscCall(PetscSNPrintf(s->why, sizeof s->why, "%s is set", on_host[i]));
  }
#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
  PetscCall(PetscStrncpy(s->why, "cuDSS is called for real numbers of double precision only", sizeof s->why));
#endif
  if (AIJFmtBoundToCPU(A)) PetscCall(PetscStrncpy(s->why, "the matrix is bound to the CPU", sizeof s->why));
  if (A->rmap->N == 0) PetscCall(PetscStrncpy(s->why, "the matrix has no rows", sizeof s->why));
  if (s->row && s->col) PetscCall(ISEqual(s->row, s->col, &same));
  if (!same) PetscCall(PetscStrncpy(s->why, "rows and columns have different orderings", sizeof s->why));
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

static PetscErrorCode Symbolic(Mat F, Mat A, IS row, IS col, const MatFactorInfo *info)
{
  Mat_CuDSS *s = (Mat_CuDSS *)F->data;
  Mat        whole;

  PetscFunctionBegin;
  if (s->several) row = col = NULL; /* parallel packages order by themselves, too */
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
