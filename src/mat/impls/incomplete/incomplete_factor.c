/*
  incomplete_factor.c - the symbolic phase chooses between the device and PETSc's package, the numeric phase factors. A
  pivot that is too small, or a shift that does not help, is left to PETSc's package, which reports it in its own way.
*/
#include "incomplete.h"
#include "sys/compat.h"

PetscErrorCode MatIncompleteWhyHost(Mat A, MatFactorShiftType shift, PetscBool *asked, char why[SPMV_MESSAGE_MAX])
{
  PetscFunctionBegin;
  *asked = PETSC_FALSE;
  PetscCall(AIJFmtFactorDecide(A, asked, why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (A->rmap->n == 0) PetscCall(PetscStrncpy(why, "the matrix has no rows", SPMV_MESSAGE_MAX));
  else if (shift == MAT_SHIFT_INBLOCKS) PetscCall(PetscStrncpy(why, "shifts are inblocks", SPMV_MESSAGE_MAX));
#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
  PetscCall(PetscStrncpy(why, "the GPU factors real numbers of double precision only", SPMV_MESSAGE_MAX));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WhyHost_Incomplete(Mat A, Mat_Incomplete *s)
{
  PetscBool same = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(MatIncompleteWhyHost(A, (MatFactorShiftType)(int)s->info.shifttype, &s->asked, s->why));
  if (!s->why[0] && s->row) PetscCall(ISEqualUnsorted(s->row, s->col, &same));
  if (!same) PetscCall(PetscStrncpy(s->why, "rows and columns have different orderings", sizeof s->why));
  if (!s->why[0] && s->info.usedt != 0)
    PetscCall(PetscStrncpy(s->why, "entries below a drop tolerance are dropped", sizeof s->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the options differ from those of the factorization on the device */
static PetscBool OptionsTake(Mat_Incomplete *s)
{
  static const SpmvFactorShift shifts[] = {[MAT_SHIFT_NONE]              = SPMV_SHIFT_NONE,
                                           [MAT_SHIFT_NONZERO]           = SPMV_SHIFT_NONZERO,
                                           [MAT_SHIFT_POSITIVE_DEFINITE] = SPMV_SHIFT_POSITIVE_DEFINITE};
  SpmvFactorOptions           *o        = &s->options;
  const SpmvFactorOptions      before   = *o;

  o->shift        = shifts[(int)s->info.shifttype];
  o->zero_pivot   = (double)s->info.zeropivot;
  o->shift_amount = (double)s->info.shiftamount;
  return o->shift != before.shift || o->zero_pivot != before.zero_pivot || o->shift_amount != before.shift_amount
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* A level, rows that wait for those of the level before, takes the device 0.8 us for each row of a node, which has one level
   (decisions 0084 and 0089); the host needs 2.5 ns a nonzero of L and U. Leaves a reason in s->why if the host is expected
   to be faster. */
enum { NONZEROS_A_LEVEL = 300 };

static PetscErrorCode WhyLevels(Mat A, Mat_Incomplete *s)
{
  SpmvFactorInfo info;
  PetscInt       node;

  PetscFunctionBegin;
  spmv_factor_info(s->device, &info);
  const int64_t both = s->options.kind == SPMV_FACTOR_ICC ? 2 * info.factor_nonzeros - info.rows : info.factor_nonzeros;
  PetscCall(MatGetBlockSize(A, &node));
  if (s->asked || both >= NONZEROS_A_LEVEL * node * (info.levels[0] + info.levels[1]))
    PetscFunctionReturn(PETSC_SUCCESS);
  spmv_factor_destroy(&s->device);
  PetscCall(
      PetscSNPrintf(s->why, sizeof s->why,
                    "the rows wait for each other in %lld and %lld levels, so that the host is expected to be faster; "
                    "-mat_aijfmt_device gpu insists",
                    (long long)info.levels[0], (long long)info.levels[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HostSymbolic_Incomplete(Mat, Mat, Mat_Incomplete *, PetscBool);

/* Leaves a reason in s->why if the device refuses, or is expected to be slower. PETSc's package finds the fill, also that of
   another order. */
static PetscErrorCode Analyse_Incomplete(Mat F, Mat A, Mat_Incomplete *s)
{
  SpmvPattern    here, narrow;
  SpmvStatus     status;
  SpmvFactorFill fill;
  PetscBool      natural = PETSC_TRUE;
  int32_t       *block[2];

  PetscFunctionBegin;
  spmv_factor_destroy(&s->device);
  if (s->row) PetscCall(ISIdentity(s->row, &natural));
  if (!natural || s->info.levels > 0) {
    PetscCall(HostSymbolic_Incomplete(F, A, s, PETSC_TRUE));
    PetscCall(MatIncompleteFillGet(s, natural ? NULL : s->row, &fill, s->why));
    PetscCall(MatDestroy(&s->host));
    PetscCall(MatDestroy(&s->cut));
    if (s->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
    s->options.fill = &fill;
  }
  PetscCall(AIJFmtCudaStream(&s->exec));
  PetscCall(AIJFmtHostPatternGet(A, &here));
  PetscCall(AIJFmtPatternNarrow(&here, &narrow, block));
  status = spmv_factor_create(&narrow, SPMV_F64, &s->options, &s->exec, &s->device);
  for (int i = 0; i < 2; i++) PetscCall(PetscFree(block[i]));
  if (s->options.fill) PetscCall(MatIncompleteFillRestore(&fill));
  s->options.fill = NULL;
  PetscCall(AIJFmtHostPatternRestore(A, &here));
  PetscCall(AIJFmtRefuse(&s->exec, status, s->why));
  if (!status) PetscCall(WhyLevels(A, s));
  if (s->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  s->serial = AIJFmtSerialNext();
  s->analyses++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Leaves a reason in s->why if a pivot is too small, or the device refuses */
PetscErrorCode MatIncompleteNumeric(Mat A, Mat_Incomplete *s)
{
  AIJFmtArrays a = {.narrow = PETSC_TRUE};
  SpmvStatus   status;

  PetscFunctionBegin;
  PetscCall(AIJFmtCudaStream(&s->exec));
  PetscCall(AIJFmtArraysGet(A, AIJFMT_VALUES, AIJFMT_READ, &s->exec, &a, &status));
  if (!status) {
    PetscCall(PetscLogGpuTimeBegin());
    status = spmv_factor_numeric(s->device, a.csr.values, &s->exec);
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(AIJFmtArraysRestore(A, &s->exec, &a, NULL));
  }
  if (!status) s->numeric++;
  PetscCall(AIJFmtRefuse(&s->exec, status, s->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatIncompleteMake(Mat F, Mat A, Mat_Incomplete *s)
{
  PetscFunctionBegin;
  PetscCall(Analyse_Incomplete(F, A, s));
  if (!s->why[0]) PetscCall(MatIncompleteNumeric(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- PETSc's package ---- */

static void ErrorTake(Mat F, Mat host)
{
  F->factorerrortype             = host->factorerrortype;
  F->factorerror_zeropivot_value = host->factorerror_zeropivot_value;
  F->factorerror_zeropivot_row   = host->factorerror_zeropivot_row;
}

/* pattern: only the pattern is wanted, which PETSc does not give of a factor that has inodes */
static PetscErrorCode HostSymbolic_Incomplete(Mat F, Mat A, Mat_Incomplete *s, PetscBool pattern)
{
  IS row = s->row, col = s->col;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&s->host));
  PetscCall(MatDestroy(&s->cut));
  PetscCall(AIJFmtHostFetch(A));
  PetscCall(MatIncompleteCut(A, s, &A));
  PetscCall(MatGetFactor(A, MATSOLVERPETSC, F->factortype, &s->host));
  PetscCall(MatSetOptionsPrefix(s->host, ((PetscObject)F)->prefix));
  if (pattern && F->factortype == MAT_FACTOR_ILU) PetscCall(MatSetOption(s->host, MAT_USE_INODES, PETSC_FALSE));
  if (!row) PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &row, &col));
  if (F->factortype == MAT_FACTOR_ILU) PetscCall(MatILUFactorSymbolic(s->host, A, row, col, &s->info));
  else PetscCall(MatICCFactorSymbolic(s->host, A, row, &s->info));
  if (!s->row) {
    PetscCall(ISDestroy(&row));
    PetscCall(ISDestroy(&col));
  }
  ErrorTake(F, s->host);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's package reads the values of the host */
PetscErrorCode MatIncompleteHostNumeric(Mat F, Mat A, Mat_Incomplete *s, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(PetscInfo(F, "factored on the host: %s\n", s->why));
  if (!s->host) PetscCall(HostSymbolic_Incomplete(F, A, s, PETSC_FALSE));
  PetscCall(AIJFmtHostFetch(A));
  PetscCall(MatIncompleteCut(A, s, &A));
  s->host->factorerrortype = MAT_FACTOR_NOERROR; /* that of the values before */
  if (F->factortype == MAT_FACTOR_ILU) PetscCall(MatLUFactorNumeric(s->host, A, info));
  else PetscCall(MatCholeskyFactorNumeric(s->host, A, info));
  ErrorTake(F, s->host);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- both phases ---- */

static PetscErrorCode Symbolic_Incomplete(Mat F, Mat A, IS row, IS col, const MatFactorInfo *info)
{
  Mat_Incomplete *s = (Mat_Incomplete *)F->data;

  PetscFunctionBegin;
  if (row) PetscCall(PetscObjectReference((PetscObject)row));
  if (col) PetscCall(PetscObjectReference((PetscObject)col));
  PetscCall(ISDestroy(&s->row));
  PetscCall(ISDestroy(&s->col));
  s->row  = row;
  s->col  = col;
  s->info = *info;
  PetscCall(MatDestroy(&s->host));
  spmv_factor_destroy(&s->device);
  F->factorerrortype = MAT_FACTOR_NOERROR;
  PetscCall(MatIncompleteBlocksRead(F, A, s));
  PetscCall(WhyHost_Incomplete(A, s));
  if (!s->why[0]) {
    (void)OptionsTake(s);
    PetscCall(Analyse_Incomplete(F, A, s));
  }
  if (s->why[0]) PetscCall(HostSymbolic_Incomplete(F, A, s, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatILUFactorSymbolic_Incomplete(Mat F, Mat A, IS row, IS col, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(Symbolic_Incomplete(F, A, row, col, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatICCFactorSymbolic_Incomplete(Mat F, Mat A, IS row, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(Symbolic_Incomplete(F, A, row, row, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A shift may be another one than in the symbolic phase. Each numeric phase tries the device again. */
static PetscErrorCode TryDevice_Incomplete(Mat F, Mat A, Mat_Incomplete *s)
{
  PetscFunctionBegin;
  PetscCall(WhyHost_Incomplete(A, s));
  if (s->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (OptionsTake(s)) PetscCall(Analyse_Incomplete(F, A, s));
  if (!s->why[0]) PetscCall(MatIncompleteNumeric(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorNumeric_Incomplete(Mat F, Mat A, const MatFactorInfo *info)
{
  Mat_Incomplete *s = (Mat_Incomplete *)F->data;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(MatDestroy(&s->matrix));
  s->matrix = A;
  PetscCall(PetscObjectStateGet((PetscObject)A, &s->values));
  s->info            = *info;
  F->factorerrortype = MAT_FACTOR_NOERROR;
  if (s->device) PetscCall(TryDevice_Incomplete(F, A, s));
  if (s->why[0]) PetscCall(MatIncompleteHostNumeric(F, A, s, info));
  else PetscCall(MatDestroy(&s->host));
  F->assembled    = PETSC_TRUE;
  F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
