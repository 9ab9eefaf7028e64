/* incomplete_solve.c - solves with an incomplete factor, on the device or by PETSc's package. */
#include "incomplete.h"
#include "sys/compat.h"
#include "sys/totals.h"

typedef PetscErrorCode (*HostSolve_Incomplete)(Mat, Vec, Vec);

static PetscErrorCode UnchangedRequire(const Mat_Incomplete *s, const char what[])
{
  PetscObjectState now;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)s->matrix, &now));
  PetscCheck(
      now == s->values, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
      "The incomplete factor has to be made again (%s), and the matrix has changed since: factor it again, or use "
      "-pc_factor_mat_solver_type petsc",
      what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's package factors the same values, until the next numeric phase */
static PetscErrorCode BecomeHost_Incomplete(Mat F, Mat_Incomplete *s)
{
  PetscFunctionBegin;
  PetscCall(UnchangedRequire(s, s->why));
  PetscCall(MatIncompleteHostNumeric(F, s->matrix, s, &s->info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Transposes of L and U take memory, so the first transposed solve asks for them */
static PetscErrorCode TransposesGet(Mat F, Mat_Incomplete *s)
{
  PetscFunctionBegin;
  if (s->options.transposes || s->options.kind == SPMV_FACTOR_ICC) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(UnchangedRequire(s, "the first transposed solve"));
  s->options.transposes = 1;
  PetscCall(MatIncompleteMake(F, s->matrix, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatIncompleteApplyOf(Mat_Incomplete *s, MatIncompleteApply *to)
{
  memset(to, 0, sizeof *to);
  to->of     = s;
  to->serial = s->serial;
}

/* Sweeps after the first one continue from its result */
SpmvStatus MatIncompleteFunction(void *ctx, const void *r, void *z, SpmvExec *exec)
{
  const MatIncompleteApply *a      = (const MatIncompleteApply *)ctx;
  SpmvStatus                status = SPMV_SUCCESS;

  if (a->sweeps == 0) return spmv_factor_solve(a->of->device, a->transposed, r, z, exec);
  for (int i = 0; i < a->sweeps && !status; i++)
    status = spmv_factor_sor(a->of->device, (SpmvSorSweep)a->sweep, a->omega, i == 0 && !a->guess, r, z, exec);
  return status;
}

/* A sweep in one direction reads half of the matrix from a zero guess, and all of it otherwise */
PetscLogDouble MatIncompleteFlops(const MatIncompleteApply *a)
{
  const PetscLogDouble directions = a->sweep == SPMV_SOR_SYMMETRIC ? 2 : 1;
  SpmvFactorInfo       info;

  spmv_factor_info(a->of->device, &info);
  if (a->sweeps == 0) return 2.0 * (PetscLogDouble)info.factor_nonzeros;
  return (PetscLogDouble)info.nonzeros * directions * (2.0 * a->sweeps - 1);
}

PetscErrorCode MatIncompleteOnDevice(MatIncompleteApply *a, Vec b, Vec x, char why[SPMV_MESSAGE_MAX])
{
  Mat_Incomplete *s = a->of;
  SpmvStatus      status;

  PetscFunctionBegin;
  PetscCall(AIJFmtCudaStream(&s->exec));
  PetscCall(AIJFmtVectorTry(&s->exec, &s->b, b, AIJFMT_READ, &status));
  if (!status) {
    PetscCall(AIJFmtVectorTry(&s->exec, &s->x, x, a->guess ? AIJFMT_UPDATE : AIJFMT_WRITE, &status));
    if (!status) {
      PetscCall(PetscLogGpuTimeBegin());
      status = MatIncompleteFunction(a, s->b.data, s->x.data, &s->exec);
      PetscCall(PetscLogGpuTimeEnd());
      if (status && a->guess && !s->x.staged) AIJFmtCallSpmv(&s->exec, status); /* it may have been changed */
      PetscCall(AIJFmtVectorGive(&s->exec, &s->x, &status));
    }
    PetscCall(AIJFmtVectorGive(&s->exec, &s->b, &status));
  }
  PetscCall(AIJFmtRefuse(&s->exec, status, why));
  if (!status) PetscCall(AIJFmtLogGpuFlops(MatIncompleteFlops(a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_Incomplete(Mat F, PetscBool transposed, HostSolve_Incomplete host, Vec b, Vec x)
{
  Mat_Incomplete    *s = (Mat_Incomplete *)F->data;
  MatIncompleteApply a;

  PetscFunctionBegin;
  if (!s->why[0]) {
    if (transposed) PetscCall(TransposesGet(F, s));
    MatIncompleteApplyOf(s, &a);
    a.transposed = transposed;
    if (!s->why[0]) PetscCall(MatIncompleteOnDevice(&a, b, x, s->why));
    if (s->why[0]) PetscCall(BecomeHost_Incomplete(F, s));
    else s->solves++;
  }
  if (s->why[0]) {
    PetscCall((*host)(s->host, b, x));
    s->solves_host++;
  }
  PetscPackCountApply(PETSCPACK_FACTOR, s->why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSolve_Incomplete(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve_Incomplete(F, PETSC_FALSE, MatSolve, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factor of ICC is symmetric */
PetscErrorCode MatSolveTranspose_Incomplete(Mat F, Vec b, Vec x)
{
  const PetscBool symmetric = F->factortype == MAT_FACTOR_ICC ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(Solve_Incomplete(F, PETSC_TRUE, symmetric ? MatSolve : MatSolveTranspose, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Half of a solve, for which the device has no function: the host factors, too */
static PetscErrorCode HalfSolve_Incomplete(Mat F, HostSolve_Incomplete half, Vec b, Vec x)
{
  Mat_Incomplete *s = (Mat_Incomplete *)F->data;

  PetscFunctionBegin;
  if (!s->why[0]) {
    PetscCall(PetscStrncpy(s->why, "a forward or backward solve alone", sizeof s->why));
    PetscCall(BecomeHost_Incomplete(F, s));
  }
  PetscCall(Solve_Incomplete(F, PETSC_FALSE, half, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatForwardSolve_Incomplete(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(HalfSolve_Incomplete(F, MatForwardSolve, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatBackwardSolve_Incomplete(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(HalfSolve_Incomplete(F, MatBackwardSolve, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
