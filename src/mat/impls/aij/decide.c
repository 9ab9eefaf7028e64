/*
  decide.c - whether an operation on a matrix runs on the GPU, and the count and the reason of one that does not.

  AIJFmtWhyNotDevice() says why it cannot, AIJFmtAsksDevice() whether it should: with -mat_aijfmt_device auto small
  matrices stay on the host. On several processes PetscPackVote() makes one decision of both. After an operation,
  AIJFmtRan() counts where it ran. AIJFmtDeviceCsrDecide() decides for operations on values whether they run on the CSR of
  the CUDA parent.
*/
#include "aijfmt.h"
#include "sys/private.h"
#include "sys/totals.h"
#include <string.h>

enum { SPARE_BYTES = 64 << 20 /* of device memory that a CSR must leave free */ };

/* ---- any operation ---- */

/* Why the GPU cannot serve an operation on A, or NULL. needs_values: the operation reads values of the assembled matrix */
const char *AIJFmtWhyNotDevice(Mat A, const Mat_AIJFmt *s, PetscBool needs_values)
{
  static char no_gpu[SPMV_MESSAGE_MAX];

  if (!s) return "the matrix is of another type";
  if (s->class_options.value[AIJFMT_DEVICE] == AIJFMT_ON_HOST) return "-mat_aijfmt_device host";
  if (AIJFmtBoundToCPU(A)) return "MatBindToCPU() bound the matrix to the host";
  if (spmv_device_count(no_gpu) == 0) return no_gpu;
  if (A->structure_only) return "the matrix has a structure but no values";
  if (needs_values && (!A->assembled || A->factortype)) return "the matrix has no values";
  return NULL;
}

/* Whether an operation that the GPU can serve should run there. size: in nonzeros; there: data that it needs are on the
   GPU */
PetscBool AIJFmtAsksDevice(const Mat_AIJFmt *s, int64_t size, PetscBool there)
{
  return there || size >= AIJFMT_DEVICE_MIN_NONZEROS || s->class_options.value[AIJFMT_DEVICE] == AIJFMT_ON_GPU
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* The nonzeros of A on this process, and whether values of it are in the CSR of the CUDA parent. A may be of any AIJ
   type. */
PetscErrorCode AIJFmtSizeGet(Mat A, int64_t *nonzeros, PetscBool *there)
{
  Mat         blocks[2] = {A, NULL};
  int64_t     mine      = 0;
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  *nonzeros = 0;
  *there    = PETSC_FALSE;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && s->parallel) PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2 && blocks[b]; b++) {
    PetscCall(AIJFmtStateGet(blocks[b], &s));
    if (s && AIJFmtPlacesGet(blocks[b], s).device_csr) *there = PETSC_TRUE;
    PetscCall(AIJFmtNonzeros(blocks[b], &mine));
    *nonzeros += mine;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The option of a matrix that is of our types; it counts for matrices of PETSc's own types, too */
static PetscErrorCode PlaceOf(Mat A, const Mat_AIJFmt *s, PetscInt *place)
{
  static const char *const places[] = {[AIJFMT_AUTO] = "auto", [AIJFMT_ON_HOST] = "host", [AIJFMT_ON_GPU] = "gpu"};

  PetscFunctionBegin;
  *place = s ? (PetscInt)s->class_options.value[AIJFMT_DEVICE] : AIJFMT_AUTO;
  if (!s)
    PetscCall(PetscOptionsGetEList(((PetscObject)A)->options, ((PetscObject)A)->prefix, "-mat_aijfmt_device", places, 3,
                                   place, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool AIJFmtBoundByProgram(Mat A)
{
  static const char *const host[] = {MATSEQAIJ, MATMPIAIJ, MATSEQSBAIJ};

  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(host); i++)
    if (!strcmp(((PetscObject)A)->type_name, host[i])) return PETSC_FALSE;
  return AIJFmtBoundToCPU(A);
}

PetscErrorCode AIJFmtFactorDecide(Mat A, PetscBool *asked, char why[SPMV_MESSAGE_MAX])
{
  char        no_gpu[SPMV_MESSAGE_MAX];
  Mat_AIJFmt *s;
  int64_t     nonzeros;
  PetscInt    place;
  PetscBool   there;

  PetscFunctionBegin;
  why[0] = 0;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(PlaceOf(A, s, &place));
  PetscCall(AIJFmtSizeGet(A, &nonzeros, &there));
  if (there || place == AIJFMT_ON_GPU) *asked = PETSC_TRUE;
  if (place == AIJFMT_ON_HOST) PetscCall(PetscStrncpy(why, "-mat_aijfmt_device host", SPMV_MESSAGE_MAX));
  else if (AIJFmtBoundByProgram(A)) PetscCall(PetscStrncpy(why, "the matrix is bound to the CPU", SPMV_MESSAGE_MAX));
  else if (spmv_device_count(no_gpu) == 0) PetscCall(PetscStrncpy(why, no_gpu, SPMV_MESSAGE_MAX));
  else if (nonzeros > INT32_MAX)
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "%lld nonzeros are more than indices of 32 bits count",
                            (long long)nonzeros));
  else if (!*asked && nonzeros < AIJFMT_DEVICE_MIN_NONZEROS)
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX,
                            "%lld nonzeros are fewer than %d: -mat_aijfmt_device gpu takes small matrices, too",
                            (long long)nonzeros, (int)AIJFMT_DEVICE_MIN_NONZEROS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble *CounterOf(MatAIJFmtInfo *info, AIJFmtWhy kind, PetscBool gpu)
{
  switch (kind) {
  case AIJFMT_WHY_GRAPH:
    return gpu ? &info->graphs : &info->fallbacks_graph;
  case AIJFMT_WHY_PATTERN:
    return gpu ? &info->patterns : &info->fallbacks_pattern;
  case AIJFMT_WHY_TRANSPOSE:
    return gpu ? &info->transposes : &info->fallbacks_transpose;
  case AIJFMT_WHY_COO:
    return gpu ? &info->lists : &info->fallbacks_list;
  case AIJFMT_WHY_SWEEP:
    return gpu ? &info->sweeps : &info->fallbacks_sweep;
  default:
    return gpu ? &info->numeric : &info->fallbacks_numeric;
  }
}

/* Counts an operation of that kind, for views and MatAIJFmtGetInfo(). reason: why it did not run on the GPU; "" if it
   did. A may be of any type. */
PetscErrorCode AIJFmtRan(Mat A, AIJFmtWhy kind, const char reason[])
{
  const PetscBool gpu = reason[0] ? PETSC_FALSE : PETSC_TRUE;
  Mat_AIJFmt     *s;

  PetscFunctionBegin;
  if (kind == AIJFMT_WHY_GRAPH) PetscPackCountSetUp(PETSCPACK_GRAPH, gpu);
  if (kind == AIJFMT_WHY_PATTERN) PetscPackCountSetUp(PETSCPACK_PATTERN, gpu);
  if (!gpu) PetscCall(PetscInfo(A, "%s: %s\n", AIJFmtWhyLabels[kind], reason));
  PetscCall(AIJFmtStateOfAnyType(A, &s));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  (*CounterOf(&s->info, kind, gpu))++;
  PetscCall(PetscStrncpy(s->why[kind], reason, sizeof s->why[kind]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- to the CSR on the device ---- */

/* Whether A is a product that PETSc computes on the host, which does not mark the device's values as stale */
static PetscBool IsHostMatMat(Mat A)
{
  return A->product && A->ops->productnumeric && A->ops->productnumeric != aijfmt_process.numeric_gpu ? PETSC_TRUE
                                                                                                      : PETSC_FALSE;
}

/* Whether a CSR of A fits into the free device memory; if not, the reason of values says so */
static PetscErrorCode HasMemory(Mat A, Mat_AIJFmt *s, const char operation[], PetscBool *has)
{
  SpmvPattern pattern;
  int64_t     free_bytes, total, bytes;

  PetscFunctionBegin;
  *has = PETSC_TRUE;
  if (s->device_csr_used) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtHostPatternGet(A, &pattern));
  bytes = spmv_csr_bytes(&pattern, AIJFMT_SCALAR);
  PetscCall(AIJFmtHostPatternRestore(A, &pattern));
  AIJFmtCallSpmv(&s->exec, spmv_device_memory(&free_bytes, &total, &s->exec));
  if (bytes + SPARE_BYTES <= free_bytes) PetscFunctionReturn(PETSC_SUCCESS);
  *has = PETSC_FALSE;
  PetscCall(PetscSNPrintf(
      s->why[AIJFMT_WHY_VALUES], SPMV_MESSAGE_MAX,
      "on the host in %s, because a CSR of %lld bytes does not fit into the %lld that are free on the GPU", operation,
      (long long)bytes, (long long)free_bytes));
  PetscCall(PetscInfo(A, "values changed %s\n", s->why[AIJFMT_WHY_VALUES]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The current values of A, if they lie in memory that the host and the device share; else NULL */
PetscErrorCode AIJFmtSharedValues(Mat A, const Mat_AIJFmt *s, const PetscScalar **values)
{
  PetscFunctionBegin;
  *values = NULL;
  if (s->shared_columns && AIJFmtPlacesGet(A, s).host) PetscCall(AIJFmtSharedArray(A, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether transition 10 is possible. It is not if the parent has made a CSR that this class has not seen: its pattern
   may be an old one. */
static PetscBool IsFillable(Mat A, const Mat_AIJFmt *s, const PetscScalar *shared)
{
  if (PetscPackCusparseCsrExists(A) && !AIJFmtParentHasCsr(A, s)) return PETSC_FALSE;
  return shared ? PETSC_TRUE : AIJFmtPlanHasValues(A, s);
}

/* Transition 10, from shared arrays or else from the plan. The values do not change, so the state is kept and the plan
   stays current. *filled is false if memory is short; the parent then uploads. */
static PetscErrorCode DeviceCsrFill_AIJFmt(Mat A, Mat_AIJFmt *s, const PetscScalar *shared, PetscBool *filled)
{
  const PetscObjectState state = ((PetscObject)A)->state;
  AIJFmtArrays           to    = {.stays = PETSC_TRUE};
  SpmvStatus             status, unused;

  PetscFunctionBegin;
  PetscCall(AIJFmtCudaStream(&s->exec));
  PetscCall(AIJFmtArraysGet(A, AIJFMT_VALUES, AIJFMT_WRITE, &s->exec, &to, &unused));
  if (shared)
    status =
        spmv_copy(to.values, SPMV_DEVICE, shared, SPMV_DEVICE, to.csr.pattern.nnz * (int64_t)sizeof *shared, &s->exec);
  else status = spmv_extract_values(s->cache.plan, to.values, SPMV_DEVICE, &s->exec);
  PetscCall(AIJFmtArraysRestore(A, &s->exec, &to, &status));
  PetscCall(PetscObjectStateSet((PetscObject)A, state));
  AIJFmtParentCsrFilled(A, status ? PETSC_FALSE : PETSC_TRUE);
  if (status != SPMV_ERR_MEMORY) AIJFmtCallSpmv(&s->exec, status);
  *filled = status ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether an operation runs on the device CSR although that is stale and must be updated first */
static PetscBool GoesToDevice(Mat A, const Mat_AIJFmt *s, AIJFmtWish wish, const PetscScalar *shared)
{
  if (wish == AIJFMT_WANTS || shared) return PETSC_TRUE;
  if (!AIJFmtPlanOnGpu(s)) return PETSC_FALSE;
  if (wish == AIJFMT_WANTS_WITH_PLAN) return PETSC_TRUE;
  return IsFillable(A, s, NULL) || s->joint_changes > 0 ? AIJFmtPlanHasValues(A, s) : PETSC_FALSE;
}

/* Updates a stale device CSR for an operation: from shared arrays or the plan, or else the parent uploads the values on
   first use */
static PetscErrorCode BringValues(Mat A, Mat_AIJFmt *s, const PetscScalar *shared, const char operation[])
{
  PetscBool filled = PETSC_FALSE;

  PetscFunctionBegin;
  if (IsFillable(A, s, shared)) PetscCall(DeviceCsrFill_AIJFmt(A, s, shared, &filled));
  PetscCall(PetscInfo(A, "values go to the CSR on the GPU for %s, from %s\n", operation,
                      filled ? "memory of the device" : "the host"));
  if (!filled) AIJFmtParentCsrStale(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before transition 2: decides whether an operation runs on the device CSR. If it does, a stale device CSR is filled
   from the plan, or else by the parent when the operation asks for the arrays. */
PetscErrorCode AIJFmtDeviceCsrDecide(Mat A, Mat_AIJFmt *s, const char operation[], AIJFmtWish wish, PetscBool *device)
{
  PetscBool          has;
  const PetscScalar *shared;

  PetscFunctionBegin;
  *device = PETSC_FALSE;
  if (!AIJFmtIsOverCuda(s) || s->keeps_host || AIJFmtHashActive(A) || IsHostMatMat(A) ||
      AIJFmtWhyNotDevice(A, s, PETSC_TRUE))
    PetscFunctionReturn(PETSC_SUCCESS);
  if (!AIJFmtPlacesGet(A, s).device_csr) {
    PetscCall(AIJFmtSharedValues(A, s, &shared));
    if (!GoesToDevice(A, s, wish, shared)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HasMemory(A, s, operation, &has));
    if (!has) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(BringValues(A, s, shared, operation));
  } else AIJFmtParentCsrSeen(A, s);
  PetscCall(PetscSNPrintf(s->why[AIJFMT_WHY_VALUES], SPMV_MESSAGE_MAX, "on the GPU since %s", operation));
  s->device_csr_used = PETSC_TRUE;
  *device            = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether values that the device will overwrite as a whole stay in the CSR there. Those of shared arrays stay in these: the
   parent would make a CSR from the host's columns, all of which would move to the host. */
PetscErrorCode AIJFmtNewValuesDecide(Mat A, Mat_AIJFmt *s, const char operation[], PetscBool *stays)
{
  const PetscScalar *shared;

  PetscFunctionBegin;
  *stays = PETSC_FALSE;
  PetscCall(AIJFmtSharedValues(A, s, &shared));
  if (!shared) PetscCall(AIJFmtDeviceCsrDecide(A, s, operation, AIJFMT_WANTS, stays));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For an operation of the parent on its CSR: gives it the values of shared arrays on the device, because the parent would
   read them as the host's */
PetscErrorCode AIJFmtSharedToCsr(Mat A, Mat_AIJFmt *s, const char operation[])
{
  const PetscScalar *shared;
  PetscBool          unused;

  PetscFunctionBegin;
  if (!AIJFmtIsOverCuda(s) || AIJFmtPlacesGet(A, s).device_csr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtSharedValues(A, s, &shared));
  if (shared) PetscCall(AIJFmtDeviceCsrDecide(A, s, operation, AIJFMT_WANTS, &unused));
  PetscFunctionReturn(PETSC_SUCCESS);
}
