/*
  factor_numeric.c - the numeric phase. cuDSS replaces pivots that are too small and reports success. So a solution for a
  right-hand side of random numbers is judged; what is not good enough is tried with refinement, then with matching, and
  then PETSc's package factors, which also knows shifts and zero pivots.
*/
#include "factor.h"
#include "sys/compat.h"

/* A right solution has a small backward error, and in a matrix that is far from singular also a small residual */
static const PetscReal most_backward = (PetscReal)1e-13, most_residual = (PetscReal)1e-8;
enum { REFINE = 3 }; /* steps that are tried */

/* Factors with the values of A. s->why: a refusal. *ended: at a pivot, or at a value that is no number. */
static PetscErrorCode NumericOnce(Mat A, Mat_CuDSS *s, PetscBool *ended)
{
  AIJFmtArrays a = {.narrow = PETSC_TRUE};
  SpmvStatus   status;

  PetscFunctionBegin;
  *ended = PETSC_FALSE;
  PetscCall(AIJFmtCudaStream(&s->exec));
  PetscCall(AIJFmtArraysGet(A, AIJFMT_VALUES, AIJFMT_READ, &s->exec, &a, &status));
  if (!status) {
    status = spmv_direct_factor(s->direct, a.csr.values, &s->exec);
    PetscCall(AIJFmtArraysRestore(A, &s->exec, &a, NULL));
  }
  if (status == SPMV_ERR_MATRIX) *ended = PETSC_TRUE;
  else if (!status) s->numeric++;
  PetscCall(AIJFmtRefuse(&s->exec, status, s->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a solution is right: |b - A x| against |A| |x| + |b|, and if pivots were replaced against |b|, in the maximum norm */
static PetscErrorCode JudgeSolution(Mat A, Vec b, Vec x, PetscBool replaced, PetscBool *good)
{
  PetscReal of_A, of_b, of_x, of_r;
  Vec       r;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(MatNorm(A, NORM_INFINITY, &of_A));
  PetscCall(VecNorm(b, NORM_INFINITY, &of_b));
  PetscCall(VecNorm(x, NORM_INFINITY, &of_x));
  PetscCall(VecNorm(r, NORM_INFINITY, &of_r));
  PetscCall(VecDestroy(&r));
  *good = of_r <= most_backward * (of_A * of_x + of_b) ? PETSC_TRUE : PETSC_FALSE;
  if (replaced && !(of_r <= most_residual * of_b)) *good = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Judged are the first factorization of a body, because pivots may be too small for the matrix without being replaced, and
   each one that may have replaced some, or whose pivots were not chosen. With matching cuDSS does not count them, and a zero
   pivot ends in NaN. */
static PetscErrorCode Judge(Mat A, Mat_CuDSS *s, PetscBool *good)
{
  SpmvDirectInfo info;
  SpmvStatus     status;
  PetscRandom    random;
  PetscBool      replaced, unpivoted;
  Vec            b, x;

  PetscFunctionBegin;
  spmv_direct_info(s->direct, &info);
  replaced  = info.replaced || s->options.matching ? PETSC_TRUE : PETSC_FALSE;
  unpivoted = s->options.kind == SPMV_DIRECT_SYMMETRIC && s->options.deterministic ? PETSC_TRUE : PETSC_FALSE;
  *good     = s->judged && !unpivoted && !replaced ? PETSC_TRUE : PETSC_FALSE;
  if (*good) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(VecSetRandom(b, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(MatCuDSSSolve(s, PETSC_FALSE, b, x, &status));
  PetscCall(AIJFmtRefuse(&s->exec, status, s->why));
  if (!status) PetscCall(JudgeSolution(A, b, x, replaced, good));
  s->judged = *good;
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next stronger way to factor; *is is false if there is none */
static PetscErrorCode Stronger(Mat A, Mat_CuDSS *s, PetscBool lu, PetscBool ended, PetscBool *is)
{
  SpmvDirectOptions *o = &s->options;

  PetscFunctionBegin;
  *is       = PETSC_TRUE;
  s->why[0] = 0;
  if (!ended && !o->deterministic && o->refine < REFINE) {
    o->refine = REFINE;
    PetscCall(AIJFmtRefuse(&s->exec, spmv_direct_refine(s->direct, REFINE, &s->exec), s->why));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (ended && o->kind == SPMV_DIRECT_SPD) o->kind = SPMV_DIRECT_SYMMETRIC;
  else if (!ended && lu && o->kind != SPMV_DIRECT_GENERAL) o->kind = SPMV_DIRECT_GENERAL;
  else if (!ended && o->kind == SPMV_DIRECT_GENERAL && !o->matching) o->matching = 1;
  else *is = PETSC_FALSE;
  if (*is) PetscCall(MatCuDSSMake(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc forgets that a matrix is positive definite with new values, unless the program has said that it stays so: then the
   factor, of one triangle, is judged. One of PCCHOLESKY does not read the other triangle, whatever is known. */
static PetscErrorCode FlagLook(Mat F, Mat A, Mat_CuDSS *s)
{
  PetscBool set, spd;

  PetscFunctionBegin;
  PetscCall(MatIsSPDKnown(A, &set, &spd));
  if (F->factortype == MAT_FACTOR_LU && s->options.kind != SPMV_DIRECT_GENERAL && !A->symmetry_eternal && !(set && spd))
    s->judged = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Leaves a reason in s->why if the device has no right factor */
static PetscErrorCode NumericOnDevice(Mat A, Mat_CuDSS *s, PetscBool lu)
{
  PetscBool      ended, good = PETSC_FALSE, stronger = PETSC_TRUE;
  SpmvDirectInfo info;

  PetscFunctionBegin;
  while (stronger && !s->why[0]) {
    PetscCall(NumericOnce(A, s, &ended));
    if (s->why[0] && !ended) PetscFunctionReturn(PETSC_SUCCESS);
    if (!ended) PetscCall(Judge(A, s, &good));
    if (good || (s->why[0] && !ended)) PetscFunctionReturn(PETSC_SUCCESS);
    spmv_direct_info(s->direct, &info);
    PetscCall(Stronger(A, s, lu, ended, &stronger));
    if (!stronger && ended) PetscCall(PetscStrncpy(s->why, s->exec.message, sizeof s->why));
    else if (!stronger)
      PetscCall(PetscSNPrintf(s->why, sizeof s->why, "cuDSS replaced %lld pivots, and a solution was not good enough",
                              (long long)info.replaced));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorNumeric_CuDSS(Mat F, Mat A, const MatFactorInfo *info)
{
  Mat_CuDSS *s = (Mat_CuDSS *)F->data;
  Mat        whole;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(MatDestroy(&s->matrix));
  s->matrix = A;
  PetscCall(PetscObjectStateGet((PetscObject)A, &s->values));
  if (!s->host) {
    PetscCall(MatCuDSSWhole(A, MAT_REUSE_MATRIX, s, &whole));
    PetscCall(FlagLook(F, A, s));
    if (whole) PetscCall(NumericOnDevice(whole, s, F->factortype == MAT_FACTOR_LU ? PETSC_TRUE : PETSC_FALSE));
    PetscCall(MatCuDSSAgree(F, s));
    if (s->why[0]) PetscCall(MatCuDSSHostBody(F, A, s));
  }
  if (s->host) PetscCall(MatCuDSSHostNumeric(F, A, s, info));
  F->assembled    = PETSC_TRUE;
  F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
