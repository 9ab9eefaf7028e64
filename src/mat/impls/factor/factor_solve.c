/* factor_solve.c - solves with a factor, by cuDSS or by PETSc's package. */
#include "factor.h"
#include "sys/compat.h"
#include "sys/totals.h"

typedef PetscErrorCode (*HostSolve)(Mat, Vec, Vec);

/* After a solve that the device refused, such as for lack of memory: PETSc's package factors the same values */
static PetscErrorCode BecomeHost(Mat F, Mat_CuDSS *s)
{
  PetscObjectState now;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)s->matrix, &now));
  PetscCheck(now == s->values, PETSC_COMM_SELF, PETSC_ERR_MEM,
             "cuDSS cannot solve (%s), and the matrix has changed since it was factored: factor it again", s->why);
  PetscCall(MatCuDSSHostBody(F, s->matrix, s));
  PetscCall(MatCuDSSHostNumeric(F, s->matrix, s, &s->info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat F, PetscBool transposed, HostSolve host, Vec b, Vec x)
{
  Mat_CuDSS *s = (Mat_CuDSS *)F->data;

  PetscFunctionBegin;
  if (!s->host) {
    PetscCall(MatCuDSSSolveAll(F, s, transposed, b, x));
    if (s->why[0]) PetscCall(BecomeHost(F, s));
  }
  if (s->host) PetscCall((*host)(s->host, b, x));
  PetscPackCountApply(PETSCPACK_FACTOR, s->host ? s->why : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSolve_CuDSS(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(F, PETSC_FALSE, MatSolve, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSolveTranspose_CuDSS(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(F, PETSC_TRUE, MatSolveTranspose, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = y + A^-1 b; x may be y */
static PetscErrorCode SolveAdd(Mat F, PetscBool transposed, HostSolve host, Vec b, Vec y, Vec x)
{
  Vec solution;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &solution));
  PetscCall(Solve(F, transposed, host, b, solution));
  if (x == y) PetscCall(VecAXPY(x, 1, solution));
  else PetscCall(VecWAXPY(x, 1, solution, y));
  PetscCall(VecDestroy(&solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSolveAdd_CuDSS(Mat F, Vec b, Vec y, Vec x)
{
  PetscFunctionBegin;
  PetscCall(SolveAdd(F, PETSC_FALSE, MatSolve, b, y, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSolveTransposeAdd_CuDSS(Mat F, Vec b, Vec y, Vec x)
{
  PetscFunctionBegin;
  PetscCall(SolveAdd(F, PETSC_TRUE, MatSolveTranspose, b, y, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Half of a solve, which cuDSS does not give in the order of the matrix: the host factors, too */
static PetscErrorCode HalfSolve(Mat F, HostSolve half, Vec b, Vec x)
{
  Mat_CuDSS *s = (Mat_CuDSS *)F->data;

  PetscFunctionBegin;
  if (!s->host) {
    PetscCall(PetscStrncpy(s->why, "a forward or backward solve alone", sizeof s->why));
    PetscCall(BecomeHost(F, s));
  }
  PetscCall(Solve(F, PETSC_FALSE, half, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatForwardSolve_CuDSS(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(HalfSolve(F, MatForwardSolve, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatBackwardSolve_CuDSS(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(HalfSolve(F, MatBackwardSolve, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- several right-hand sides, dense matrices: all at once, through copies on the device ---- */

/* Sends b, solves, and fetches x, both of n rows and m columns at distances ldb and ldx */
static SpmvStatus SolveColumns(Mat_CuDSS *s, PetscBool transposed, PetscInt n, PetscInt m, const PetscScalar b[],
                               PetscInt ldb, PetscScalar x[], PetscInt ldx)
{
  const int64_t column = (int64_t)n * (int64_t)sizeof *b;
  void         *block  = NULL;
  SpmvStatus    status = spmv_scratch_alloc(&s->exec, SPMV_DEVICE, 2 * m * column, "right-hand sides", &block);
  PetscScalar  *in = (PetscScalar *)block, *out = in ? in + (size_t)m * (size_t)n : NULL;

  for (PetscInt j = 0; j < m && !status; j++)
    status =
        spmv_copy(in + (size_t)j * (size_t)n, SPMV_DEVICE, b + (size_t)j * (size_t)ldb, SPMV_HOST, column, &s->exec);
  if (!status) status = spmv_direct_solve(s->direct, transposed, m, in, n, out, n, &s->exec);
  for (PetscInt j = 0; j < m && !status; j++)
    status =
        spmv_copy(x + (size_t)j * (size_t)ldx, SPMV_HOST, out + (size_t)j * (size_t)n, SPMV_DEVICE, column, &s->exec);
  if (!status) status = spmv_stream_wait(&s->exec);
  spmv_scratch_free(&s->exec, SPMV_DEVICE, block);
  return status;
}

/* On several processes, with the body on the device */
static PetscErrorCode SolveByColumns(Mat F, PetscBool transposed, Mat B, Mat X)
{
  PetscInt m;
  Vec      b, x;

  PetscFunctionBegin;
  PetscCall(MatGetSize(B, NULL, &m));
  for (PetscInt j = 0; j < m; j++) {
    PetscCall(MatDenseGetColumnVecRead(B, j, &b));
    PetscCall(MatDenseGetColumnVecWrite(X, j, &x));
    PetscCall(Solve(F, transposed, transposed ? MatSolveTranspose : MatSolve, b, x));
    PetscCall(MatDenseRestoreColumnVecWrite(X, j, &x));
    PetscCall(MatDenseRestoreColumnVecRead(B, j, &b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveDense(Mat F, PetscBool transposed, Mat B, Mat X)
{
  Mat_CuDSS         *s = (Mat_CuDSS *)F->data;
  PetscInt           m, ldb, ldx;
  const PetscScalar *b;
  PetscScalar       *x;
  SpmvStatus         status = SPMV_SUCCESS;

  PetscFunctionBegin;
  if (s->several && !s->host) {
    PetscCall(SolveByColumns(F, transposed, B, X));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!s->host) {
    PetscCall(AIJFmtCudaStream(&s->exec));
    PetscCall(MatGetSize(B, NULL, &m));
    PetscCall(MatDenseGetLDA(B, &ldb));
    PetscCall(MatDenseGetLDA(X, &ldx));
    PetscCall(MatDenseGetArrayRead(B, &b));
    PetscCall(MatDenseGetArrayWrite(X, &x));
    status = SolveColumns(s, transposed, F->rmap->n, m, b, ldb, x, ldx);
    PetscCall(MatDenseRestoreArrayWrite(X, &x));
    PetscCall(MatDenseRestoreArrayRead(B, &b));
    PetscCall(AIJFmtRefuse(&s->exec, status, s->why));
    if (status) PetscCall(BecomeHost(F, s));
    else s->solves += m;
  }
  if (s->host) PetscCall(transposed ? MatMatSolveTranspose(s->host, B, X) : MatMatSolve(s->host, B, X));
  PetscPackCountApply(PETSCPACK_FACTOR, s->host ? s->why : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMatSolve_CuDSS(Mat F, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(SolveDense(F, PETSC_FALSE, B, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMatSolveTranspose_CuDSS(Mat F, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(SolveDense(F, PETSC_TRUE, B, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}
