/* factor_device.c - the body on the device: made from a sequential matrix, and a solve with it. */
#include "factor.h"
#include "sys/compat.h"

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

void MatCuDSSDrop(Mat_CuDSS *s)
{
  SpmvDirectInfo info = {.applied = 0};

  if (s->direct) spmv_direct_info(s->direct, &info);
  s->solves += (PetscInt)info.applied;
  spmv_direct_destroy(&s->direct, &s->exec);
}

PetscErrorCode MatCuDSSMake(Mat A, Mat_CuDSS *s)
{
  AIJFmtArrays a     = {.narrow = PETSC_TRUE};
  int32_t     *order = NULL;
  SpmvStatus   status;

  PetscFunctionBegin;
  MatCuDSSDrop(s);
  s->judged = PETSC_FALSE;
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

PetscErrorCode MatCuDSSSolve(Mat_CuDSS *s, PetscBool transposed, Vec b, Vec x, SpmvStatus *status)
{
  SpmvDirectInfo info;

  PetscFunctionBegin;
  PetscCall(AIJFmtCudaStream(&s->exec));
  PetscCall(AIJFmtVectorTry(&s->exec, &s->b, b, AIJFMT_READ, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtVectorTry(&s->exec, &s->x, x, AIJFMT_WRITE, status));
  if (!*status) {
    PetscCall(PetscLogGpuTimeBegin());
    *status = spmv_direct_solve(s->direct, transposed, 1, s->b.data, s->b.n, s->x.data, s->x.n, &s->exec);
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(AIJFmtVectorGive(&s->exec, &s->x, status));
  }
  PetscCall(AIJFmtVectorGive(&s->exec, &s->b, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_direct_info(s->direct, &info);
  PetscCall(AIJFmtLogGpuFlops(2.0 * (PetscLogDouble)info.factor_nonzeros));
  PetscFunctionReturn(PETSC_SUCCESS);
}
