/* factor_symbolic.c - the symbolic phase: chooses the body of a factor, and has it made. */
#include "factor.h"
#include "sys/compat.h"

enum { STEPS_MAX = 100 };
static const PetscReal most_memory = (PetscReal)1e9; /* MiB */

static PetscErrorCode OptionsCheck(Mat F, const MatCuDSSOptions *options)
{
  PetscFunctionBegin;
  PetscCheck(options->ir_n_steps >= 0 && options->ir_n_steps <= STEPS_MAX && options->memory_limit >= 0 &&
                 options->memory_limit <= most_memory,
             PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " steps of refinement must be 0 to %d, and a limit of %g MiB 0 to %g",
             options->ir_n_steps, STEPS_MAX, (double)options->memory_limit, (double)most_memory);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatCuDSSSetOptions - Sets how cuDSS factors, from the next symbolic factorization on

  Logically Collective

  Input Parameters:
+ F       - a factor of the package cudss, from `PCFactorGetMatrix()` or `MatGetFactor()`
- options - all options, for example from `MatCuDSSGetOptions()`; copied

  Options Database Keys:
+ -mat_cudss_deterministic <false> - the same bits in each run, at the price of time and memory, without refinement
. -mat_cudss_ir_n_steps <0>        - steps of iterative refinement in each solve, at most 100
- -mat_cudss_memory_limit <0>      - the most memory of the GPU in MiB; 0 is what is free at the analysis

  Level: intermediate

  Notes:
  Factors that need more memory than the limit are kept in the host's memory in part, which makes factorizations and solves
  many times slower. If that does not suffice, PETSc's package or the named one factors.

.seealso: `MatCuDSSGetOptions()`, `MatCuDSSGetInfo()`, `PCFactorSetUpMatSolverType()`, `PCFactorGetMatrix()`
@*/
PetscErrorCode MatCuDSSSetOptions(Mat F, const MatCuDSSOptions *options)
{
  Mat_CuDSS *s;

  PetscFunctionBegin;
  PetscAssertPointer(options, 2);
  PetscCall(MatCuDSSStateRequire(F, &s));
  PetscCall(OptionsCheck(F, options));
  s->wanted = *options;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatCuDSSGetOptions - Gets how cuDSS factors

  Not Collective

  Input Parameter:
. F - a factor of the package cudss

  Output Parameter:
. options - the values in use, those of the options database included after a symbolic factorization

  Level: intermediate

.seealso: `MatCuDSSSetOptions()`
@*/
PetscErrorCode MatCuDSSGetOptions(Mat F, MatCuDSSOptions *options)
{
  Mat_CuDSS *s;

  PetscFunctionBegin;
  PetscAssertPointer(options, 2);
  PetscCall(MatCuDSSStateRequire(F, &s));
  *options = s->wanted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options have the names and the meaning of those of PETSc's main branch */
static PetscErrorCode OptionsRead(Mat F, Mat_CuDSS *s)
{
  MatCuDSSOptions *w = &s->wanted;

  PetscFunctionBegin;
  PetscOptionsBegin(PetscObjectComm((PetscObject)F), ((PetscObject)F)->prefix, "Options of cuDSS", "Mat");
  PetscCall(PetscOptionsBool("-mat_cudss_deterministic", "The same bits in each run; slower, with more memory",
                             "MatCuDSSSetOptions", w->deterministic, &w->deterministic, NULL));
  PetscCall(PetscOptionsRangeInt("-mat_cudss_ir_n_steps", "Steps of iterative refinement in each solve",
                                 "MatCuDSSSetOptions", w->ir_n_steps, &w->ir_n_steps, NULL, 0, STEPS_MAX));
  PetscCall(PetscOptionsReal("-mat_cudss_memory_limit", "Memory of the GPU in MiB; 0: what is free",
                             "MatCuDSSSetOptions", w->memory_limit, &w->memory_limit, NULL));
  PetscOptionsEnd();
  PetscCall(OptionsCheck(F, w));
  s->options.deterministic = w->deterministic ? 1 : 0;
  s->options.refine        = (int)w->ir_n_steps;
  s->options.most_bytes    = (int64_t)(w->memory_limit * 1048576);
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
#if !defined(PETSC_USE_REAL_DOUBLE)
  PetscCall(PetscStrncpy(s->why, "cuDSS is called for numbers of double precision only", sizeof s->why));
#endif
  if (AIJFmtBoundByProgram(A)) PetscCall(PetscStrncpy(s->why, "the matrix is bound to the CPU", sizeof s->why));
  if (A->rmap->N == 0) PetscCall(PetscStrncpy(s->why, "the matrix has no rows", sizeof s->why));
  if (s->row && s->col) PetscCall(ISEqual(s->row, s->col, &same));
  if (!same) PetscCall(PetscStrncpy(s->why, "rows and columns have different orderings", sizeof s->why));
  if (!s->why[0]) PetscCall(MatCuDSSPackageKeeps(F, s, s->why));
  if (!s->why[0]) PetscCall(PetscPackCuDSSOpen(&s->exec, A->rmap->N, s->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* LU of a matrix that is known to be positive definite, or to stay symmetric, is the more expensive way to the same answer.
   A symmetry that PETSc may forget does not choose LDL^T: to judge factors of one triangle costs more than that gains. In
   complex numbers PETSc's Cholesky is that of a symmetric matrix; for one that is Hermitian, LU gives the same answer. */
static PetscErrorCode KindChoose(Mat F, Mat A, Mat_CuDSS *s)
{
  PetscBool set, spd, known, symmetric, told, hermitian, one_triangle;

  PetscFunctionBegin;
  PetscCall(MatIsSPDKnown(A, &set, &spd));
  PetscCall(MatIsSymmetricKnown(A, &known, &symmetric));
  PetscCall(MatIsHermitianKnown(A, &told, &hermitian));
  spd          = set && spd ? PETSC_TRUE : PETSC_FALSE;
  symmetric    = known && symmetric && A->symmetry_eternal ? PETSC_TRUE : PETSC_FALSE;
  hermitian    = spd || (told && hermitian) ? PETSC_TRUE : PETSC_FALSE;
  one_triangle = F->factortype != MAT_FACTOR_LU || symmetric ? PETSC_TRUE : PETSC_FALSE;
  if (PetscDefined(USE_COMPLEX))
    s->options.kind = one_triangle && !hermitian ? SPMV_DIRECT_SYMMETRIC : SPMV_DIRECT_GENERAL;
  else s->options.kind = spd ? SPMV_DIRECT_SPD : one_triangle ? SPMV_DIRECT_SYMMETRIC : SPMV_DIRECT_GENERAL;
  s->options.is_complex = PetscDefined(USE_COMPLEX) ? 1 : 0;
  s->options.matching   = 0;
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
    PetscCall(MatCuDSSMakeWhole(F, whole, s));
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
