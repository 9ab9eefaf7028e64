/*
  sync.c - brings the plan of a matrix of ours up to date: where it lies, whether there is one, and when it is rebuilt.

  If a format cannot or need not serve a pattern, the matrix has no plan, but a reason; the parent type then does the
  products until the structure changes.
*/
#include "aijfmt.h"
#include "sys/private.h"
#include <petsctime.h>

PetscLogEvent MAT_AIJFmtConvert, MAT_AIJFmtRefresh;

/* Whether vectors like x or, if that is NULL, like those that A would make are on the device */
static PetscErrorCode VectorsAreThere(const Mat_AIJFmt *s, Vec x, PetscBool *are)
{
  PetscFunctionBegin;
  *are = AIJFmtIsOverCuda(s); /* the CUDA parent makes device vectors */
  if (x) PetscCall(AIJFmtVecIsOnDevice(x, are));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Decides where a plan lies, and gives the reason if that is not where the user wants it */
static PetscErrorCode ChooseSpace(Mat A, Mat_AIJFmt *s, Vec x, SpmvSpace *space)
{
  const char *why = AIJFmtWhyNotDevice(A, s, PETSC_FALSE);
  PetscBool   device_vectors;

  PetscFunctionBegin;
  PetscCall(VectorsAreThere(s, x, &device_vectors));
  *space                      = SPMV_HOST;
  s->why[AIJFMT_WHY_SPACE][0] = 0;
  if (!why && !AIJFmtAsksDevice(s, s->cache.key.pattern.nnz, device_vectors))
    PetscCall(
        PetscSNPrintf(s->why[AIJFMT_WHY_SPACE], SPMV_MESSAGE_MAX,
                      "%lld nonzeros are too few for the GPU and vectors of the host; -mat_aijfmt_device gpu insists",
                      (long long)s->cache.key.pattern.nnz));
  else if (!why && AIJFmtHasKernels(s)) *space = SPMV_DEVICE;
  else if (!why) why = "the format has no kernels for the GPU";
  if (why && s->class_options.value[AIJFMT_DEVICE] == AIJFMT_ON_GPU)
    PetscCall(AIJFmtExplain(A, s, AIJFMT_WHY_SPACE, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a status means that the format does not suit the pattern or the types of this PETSc, rather than a failure.
   Rows with columns not in ascending order suit no format but are valid in aij, and PETSc itself makes them
   (MatGetSeqNonzeroStructure()): they are unsuitable even if the format may not decline. */
static PetscBool IsUnsuitable(SpmvStatus status, PetscBool may_decline)
{
  if (status == SPMV_ERR_MATRIX) return PETSC_TRUE;
  return may_decline && (status == SPMV_ERR_OVERFLOW || status == SPMV_ERR_UNSUPPORTED) ? PETSC_TRUE : PETSC_FALSE;
}

/* Builds from the analysis kept by the choice of aijauto, else from a new one. If the format may decline and does,
   there is no plan, but a reason. */
static PetscErrorCode AnalyzeAndBuild(Mat_AIJFmt *s, SpmvCsr csr, PetscBool may_decline, char reason[SPMV_MESSAGE_MAX],
                                      SpmvStatus *status)
{
  const SpmvOptions  *options = AIJFmtPlanOptions(s);
  const AIJFmtChoice *choice  = AIJFmtIsAuto(s) ? s->choice : NULL;
  SpmvAnalysis        made;
  const SpmvAnalysis *analysis = &made;

  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  /* a plan that borrows must be built from the parent's own arrays */
  if (choice && choice->analyzed && choice->analyzed == choice->chosen && !options->format->borrows) {
    analysis    = &choice->analysis;
    csr.pattern = choice->pattern; /* the copy that the analysis read */
  }
  if (analysis == &made) *status = spmv_analyze(options->format, &csr.pattern, AIJFMT_SCALAR, options, &s->exec, &made);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  if (!analysis->accepted && may_decline) PetscCall(PetscStrncpy(reason, analysis->reason, SPMV_MESSAGE_MAX));
  else *status = AIJFmtPlanBuild(&s->cache, &csr, analysis, &s->exec);
  if (analysis == &made) spmv_analysis_clear(&made, &s->exec);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A format that borrows takes values from the parent's CSR only */
static PetscErrorCode PlanArraysGet(Mat A, Mat_AIJFmt *s, const AIJFmtKey *key, PetscBool pattern, AIJFmtArrays *from)
{
  PetscFunctionBegin;
  if (s->exec.space == SPMV_DEVICE && AIJFmtPlanOptions(s)->format->borrows)
    PetscCall(AIJFmtSharedToCsr(A, s, "a plan that borrows them"));
  PetscCall(AIJFmtArraysForPlan(A, s, key, pattern, from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chooses a format if that is due, and builds a plan in s->exec.space */
static PetscErrorCode PlanBuild_AIJFmt(Mat A, Mat_AIJFmt *s, const AIJFmtKey *key, PetscBool may_decline,
                                       char reason[SPMV_MESSAGE_MAX], SpmvStatus *status)
{
  AIJFmtArrays from;

  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  if (s->exec.space == SPMV_DEVICE) PetscCall(AIJFmtCudaStream(&s->exec));
  PetscCall(AIJFmtChoose(A, s, key, reason));
  if (reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlanArraysGet(A, s, key, PETSC_TRUE, &from));
  PetscCall(AnalyzeAndBuild(s, from.csr, may_decline, reason, status));
  PetscCall(AIJFmtChoiceAnalysisClear(s));
  PetscCall(AIJFmtArraysRestore(A, &s->exec, &from, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlanConvert_AIJFmt(Mat A, Mat_AIJFmt *s, Vec x, const AIJFmtKey *key)
{
  const PetscBool may_decline              = AIJFmtClassFlag(s, AIJFMT_DECLINE);
  char            reason[SPMV_MESSAGE_MAX] = "";
  SpmvStatus      status;
  PetscLogDouble  start, end;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_AIJFmtConvert, A, 0, 0, 0));
  PetscCall(PetscTime(&start));
  PetscCall(ChooseSpace(A, s, x, &s->exec.space));
  s->exec.message[0] = 0;
  PetscCall(AIJFmtPatternCheck(A, &key->pattern, &s->exec, &status));
  if (!status) PetscCall(PlanBuild_AIJFmt(A, s, key, may_decline, reason, &status));
  /* if memory does not suffice: try again without the plan put aside by a trial and without a copy, then on the host */
  if (status == SPMV_ERR_MEMORY && ((s->choice && AIJFmtTrialAsideFree(s)) || s->copy.block)) {
    AIJFmtCopyFree(s);
    PetscCall(PlanBuild_AIJFmt(A, s, key, may_decline, reason, &status));
  }
  if (status == SPMV_ERR_MEMORY && s->exec.space == SPMV_DEVICE) {
    PetscCall(AIJFmtExplain(A, s, AIJFMT_WHY_SPACE, s->exec.message));
    s->exec.space = SPMV_HOST;
    PetscCall(PlanBuild_AIJFmt(A, s, key, may_decline, reason, &status));
  }
  if (IsUnsuitable(status, may_decline)) PetscCall(PetscStrncpy(reason, s->exec.message, sizeof reason));
  else AIJFmtCallSpmv(&s->exec, status);
  if (reason[0]) PetscCall(AIJFmtExplain(A, s, AIJFMT_WHY_PARENT, reason));
  else s->info.conversions++;
  PetscCall(PetscTime(&end));
  s->info.convert_time += end - start;
  PetscCall(PetscLogEventEnd(MAT_AIJFmtConvert, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the current values into the plan. moved: see AIJFmtPlanRefresh() */
static PetscErrorCode RefreshPlan(Mat A, Mat_AIJFmt *s, const AIJFmtKey *key, PetscBool *moved, SpmvStatus *status)
{
  AIJFmtArrays from = {.parts = 0}; /* gcc does not see that it is filled whenever the call succeeds */

  PetscFunctionBegin;
  if (s->exec.space == SPMV_DEVICE) PetscCall(AIJFmtCudaStream(&s->exec));
  PetscCall(PlanArraysGet(A, s, key, PETSC_FALSE, &from));
  *status = AIJFmtPlanRefresh(&s->cache, &from.csr, &s->exec, moved);
  PetscCall(AIJFmtArraysRestore(A, &s->exec, &from, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Handles new values in an unchanged structure. If the GPU lacks memory for them, the plan is converted anew, which may
   leave it to the host. */
static PetscErrorCode PlanRefresh_AIJFmt(Mat A, Mat_AIJFmt *s, Vec x, const AIJFmtKey *key)
{
  PetscBool      rebuild = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */
  SpmvStatus     status;
  PetscLogDouble start, end;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_AIJFmtRefresh, A, 0, 0, 0));
  PetscCall(PetscTime(&start));
  PetscCall(RefreshPlan(A, s, key, &rebuild, &status));
  if (rebuild) {
    char unused[SPMV_MESSAGE_MAX] = "";

    AIJFmtPlanDrop(&s->cache, &s->exec);
    PetscCall(PlanBuild_AIJFmt(A, s, key, PETSC_FALSE, unused, &status));
  }
  if (status == SPMV_ERR_MEMORY && s->exec.space == SPMV_DEVICE) {
    AIJFmtPlanDrop(&s->cache, &s->exec);
    PetscCall(PlanConvert_AIJFmt(A, s, x, key));
  } else AIJFmtCallSpmv(&s->exec, status);
  PetscCall(PetscTime(&end));
  s->info.refresh_time += end - start;
  s->info.refreshes++;
  PetscCall(PetscLogEventEnd(MAT_AIJFmtRefresh, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds out how the arrays have changed, and converts or refreshes */
static PetscErrorCode PlanUpdate_AIJFmt(Mat A, Mat_AIJFmt *s, Vec x, const AIJFmtKey *now)
{
  const PetscBool same = s->cache.valid ? AIJFmtSameStructure(&s->cache.key, now) : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentCsrStaleIfBoth(A, s));
  if (!same) {
    PetscCall(AIJFmtStateForget(s));
    s->cache.key = *now; /* the functions called below read it */
    PetscCall(PetscPackSeqAIJNonzeroRows(A, &s->nonzero_rows));
    if (A->structure_only)
      PetscCall(AIJFmtExplain(A, s, AIJFMT_WHY_PARENT, "the matrix has a structure but no values"));
    else PetscCall(PlanConvert_AIJFmt(A, s, x, now));
  } else if (s->cache.plan) PetscCall(PlanRefresh_AIJFmt(A, s, x, now));
  s->cache.key     = *now;
  s->cache.valid   = PETSC_TRUE;
  s->joint_changes = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Updates s->cache for A, or leaves it without a plan and with a reason. x: the vector of the next product */
PetscErrorCode AIJFmtSync(Mat A, Mat_AIJFmt *s, Vec x)
{
  AIJFmtKey now;

  PetscFunctionBegin;
  if (AIJFmtKeyHolds(&s->cache, A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtKeyGet(A, &now));
  PetscCall(PlanUpdate_AIJFmt(A, s, x, &now));
  PetscCall(AIJFmtKeyRestore(A, &now));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Like AIJFmtSync(), for an operation that gains nothing from a plan on the host: a matrix without a plan gets one only
   if it would go to the GPU. v is the vector of the operation, or NULL for one that the matrix would make. */
PetscErrorCode AIJFmtSyncIfOnDevice(Mat A, Mat_AIJFmt *s, Vec v)
{
  PetscBool device_vector;
  int64_t   nonzeros = 0; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  if (!s->cache.valid) {
    if (AIJFmtWhyNotDevice(A, s, PETSC_FALSE)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VectorsAreThere(s, v, &device_vector));
    PetscCall(AIJFmtNonzeros(A, &nonzeros));
    if (!AIJFmtAsksDevice(s, nonzeros, device_vector)) PetscFunctionReturn(PETSC_SUCCESS);
  } else if (!AIJFmtPlanOnGpu(s)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtSync(A, s, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The call or option by which the user requires MatMult() for the products of A, so that solvers must not use its plan;
   NULL if there is none. A may be of any type. */
PetscErrorCode AIJFmtWhyHost(Mat A, const char **why)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  *why = NULL;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  if (AIJFmtBoundToCPU(A)) *why = "MatBindToCPU() bound the matrix to the host";
  else if (s->class_options.value[AIJFMT_DEVICE] == AIJFMT_ON_HOST) *why = "-mat_aijfmt_device host";
  else if (AIJFmtClassFlag(s, AIJFMT_CHECK)) *why = "-mat_aijfmt_check compares every product";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plan of A, updated for a product with x, if it is on the device. A may be of any type; x: NULL for a vector that A
   would make. */
PetscErrorCode AIJFmtDevicePlan(Mat A, Vec x, AIJFmtPlanOnDevice *found)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  *found = (AIJFmtPlanOnDevice){.plan = NULL};
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s || s->parallel) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtWhyHost(A, &found->why_host));
  if (found->why_host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtSync(A, s, x));
  PetscCall(AIJFmtTrialConclude(A, s, x));
  found->plan = AIJFmtPlanOnGpu(s);
  if (!found->plan) PetscFunctionReturn(PETSC_SUCCESS);
  found->work   = s->cache.work;
  found->serial = s->cache.serial;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prepares a plan for its first transposed product after a conversion or a refresh; counts as conversion. ready: false
   if GPU memory does not suffice. The next transposed product tries again. */
PetscErrorCode AIJFmtSyncTranspose(Mat A, Mat_AIJFmt *s, PetscBool *ready)
{
  SpmvStatus     status;
  PetscLogDouble start, end;

  PetscFunctionBegin;
  *ready = PETSC_TRUE;
  if (s->cache.transpose_ready) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(MAT_AIJFmtConvert, A, 0, 0, 0));
  PetscCall(PetscTime(&start));
  status = AIJFmtPlanTranspose(&s->cache, &s->exec);
  PetscCall(PetscTime(&end));
  s->info.convert_time += end - start;
  PetscCall(PetscLogEventEnd(MAT_AIJFmtConvert, A, 0, 0, 0));
  if (status == SPMV_ERR_MEMORY && s->cache.plan->space == SPMV_DEVICE) {
    *ready = PETSC_FALSE;
    PetscCall(AIJFmtExplain(A, s, AIJFMT_WHY_TRANSPOSED, s->exec.message));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  AIJFmtCallSpmv(&s->exec, status);
  s->why[AIJFMT_WHY_TRANSPOSED][0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prepares the plan that AIJFmtDevicePlan() found for products with the transpose */
PetscErrorCode AIJFmtDevicePlanTranspose(Mat A, PetscBool *ready)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(AIJFmtSyncTranspose(A, s, ready));
  PetscFunctionReturn(PETSC_SUCCESS);
}
