/*
  plan.c - makes plans and keeps them up to date: the only file of the class that calls spmv_build() and
  spmv_update_values(). It also gets the pattern of a matrix from which a plan is made, and copies a pattern to
  the device.

    nothing changed                    the plan serves as it is
    values changed, structure did not  refresh: spmv_update_values()
    structure changed                  conversion: check of the pattern, analysis, spmv_build()

  sync.c decides between these for a matrix of ours; a solver has a plan of its own for a matrix of another type.
*/
#include "aijfmt.h"
#if AIJFMT_HAVE_CUDA_PARENT
  #include <petscdevice_cuda.h>
#endif

/* Makes exec enqueue its work on PETSc's current stream */
PetscErrorCode AIJFmtCudaStream(SpmvExec *exec)
{
  PetscFunctionBegin;
#if AIJFMT_HAVE_CUDA_PARENT
  cudaStream_t stream;

  PetscCall(PetscGetCurrentCUDAStream(&stream));
  exec->stream = (void *)stream;
#else
  (void)exec;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the pattern of a matrix, which is always on the host ---- */

/* Gets the pattern; its arrays belong to the matrix. Call AIJFmtHostPatternRestore() afterwards. */
PetscErrorCode AIJFmtHostPatternGet(Mat A, SpmvPattern *pattern)
{
  static const PetscInt no_rows[1] = {0};
  const PetscInt       *row_ptr, *col;
  PetscInt              rows;
  PetscBool             done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "type %s does not give its row pointers and columns",
             ((PetscObject)A)->type_name);
  *pattern = (SpmvPattern){.rows       = A->rmap->n,
                           .cols       = A->cmap->n,
                           .nnz        = row_ptr ? row_ptr[rows] : 0,
                           .index_type = AIJFMT_INDEX,
                           .space      = SPMV_HOST,
                           .row_ptr    = row_ptr ? row_ptr : no_rows,
                           .col        = col};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtHostPatternRestore(Mat A, SpmvPattern *pattern)
{
  const PetscInt *row_ptr = pattern->row_ptr, *col = pattern->col;
  PetscInt        rows;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col, &done));
  pattern->row_ptr = pattern->col = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtNonzeros(Mat A, int64_t *nonzeros)
{
  SpmvPattern pattern = {.nnz = 0}; /* gcc does not see that it is filled whenever the call succeeds */

  PetscFunctionBegin;
  PetscCall(AIJFmtHostPatternGet(A, &pattern));
  *nonzeros = pattern.nnz;
  PetscCall(AIJFmtHostPatternRestore(A, &pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks a pattern once; a pattern made by a product of matrices is not checked */
PetscErrorCode AIJFmtPatternCheck(Mat A, const SpmvPattern *here, SpmvExec *exec, SpmvStatus *status)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && s->checked_id == ((PetscObject)A)->id && s->checked_state == A->nonzerostate)
    PetscFunctionReturn(PETSC_SUCCESS);
  *status = spmv_pattern_check(here, exec);
  if (!*status) PetscCall(AIJFmtPatternIsRight(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtPatternIsRight(Mat A)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  s->checked_id    = ((PetscObject)A)->id;
  s->checked_state = A->nonzerostate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies host indices to 32 bits if `to` asks for it and PetscInt is wider; the values must fit. The caller frees
   *block, which is NULL if nothing was copied. */
static PetscErrorCode IndicesNarrow(const void *from, int64_t n, SpmvIndex to, const void **narrow, int32_t **block)
{
  const PetscInt *index = from;

  PetscFunctionBegin;
  *narrow = from;
  *block  = NULL;
  if (to == AIJFMT_INDEX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1((size_t)n, block));
  for (int64_t i = 0; i < n; i++) (*block)[i] = (int32_t)index[i];
  *narrow = *block;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A pattern of the host, whose counts fit, with indices of 32 bits. The caller frees both blocks, which are NULL if
   PetscInt has 32 bits. */
PetscErrorCode AIJFmtPatternNarrow(const SpmvPattern *here, SpmvPattern *narrow, int32_t *block[2])
{
  PetscFunctionBegin;
  *narrow            = *here;
  narrow->index_type = SPMV_I32;
  PetscCall(IndicesNarrow(here->row_ptr, here->rows + 1, SPMV_I32, &narrow->row_ptr, &block[0]));
  PetscCall(IndicesNarrow(here->col, here->nnz, SPMV_I32, &narrow->col, &block[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies a pattern of the host, and values [nnz] unless NULL, to one block on the device, which the caller frees. *block
   is NULL if *status is a failure. */
PetscErrorCode AIJFmtUpload(SpmvExec *exec, const SpmvPattern *here, const PetscScalar *values, SpmvIndex index_type,
                            SpmvCsr *there, void **block, SpmvStatus *status)
{
  const int64_t index   = spmv_index_bytes(index_type);
  const int64_t bytes[] = {(here->rows + 1) * index, here->nnz * index,
                           values ? here->nnz * (int64_t)sizeof *values : 0};
  const void   *from[3] = {NULL, NULL, values};
  void *to[3] = {NULL, NULL, NULL}, **const arrays[] = {&to[0], &to[1], &to[2]};
  int32_t *narrow[2];

  PetscFunctionBegin;
  *block  = NULL;
  *status = spmv_alloc_arrays(exec, SPMV_DEVICE, 3, bytes, "CSR", arrays, block);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(IndicesNarrow(here->row_ptr, here->rows + 1, index_type, &from[0], &narrow[0]));
  PetscCall(IndicesNarrow(here->col, here->nnz, index_type, &from[1], &narrow[1]));
  for (int i = 0; i < 3 && !*status; i++)
    if (bytes[i] > 0) *status = spmv_copy(to[i], SPMV_DEVICE, from[i], SPMV_HOST, bytes[i], exec);
  for (int i = 0; i < 2; i++) PetscCall(PetscFree(narrow[i]));
  if (*status) {
    spmv_exec_free(exec, SPMV_DEVICE, *block);
    *block = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *there = (SpmvCsr){.pattern = *here, .scalar_type = AIJFMT_SCALAR, .values = to[2], .values_space = SPMV_DEVICE};
  there->pattern.space      = SPMV_DEVICE;
  there->pattern.index_type = index_type;
  there->pattern.row_ptr    = to[0];
  there->pattern.col        = to[1];
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)(bytes[0] + bytes[1] + bytes[2])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the cache ---- */

/* Whether two keys describe one matrix with one pattern; the values may differ */
PetscBool AIJFmtSameStructure(const AIJFmtKey *a, const AIJFmtKey *b)
{
  const SpmvPattern *p = &a->pattern, *q = &b->pattern;

  return a->id == b->id && a->nonzero_state == b->nonzero_state && p->rows == q->rows && p->cols == q->cols &&
                 p->nnz == q->nnz && p->row_ptr == q->row_ptr && p->col == q->col
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* The key of A with this state of its values. Call AIJFmtKeyRestore() afterwards. */
PetscErrorCode AIJFmtKeyGet(Mat A, AIJFmtKey *key)
{
  PetscFunctionBegin;
  key->id            = ((PetscObject)A)->id;
  key->nonzero_state = A->nonzerostate;
  key->value_state   = ((PetscObject)A)->state;
  PetscCall(AIJFmtHostPatternGet(A, &key->pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtKeyRestore(Mat A, AIJFmtKey *key)
{
  PetscFunctionBegin;
  PetscCall(AIJFmtHostPatternRestore(A, &key->pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt64 AIJFmtSerialNext(void) { return ++aijfmt_process.serial; }

/* Frees the plan and invalidates the key */
void AIJFmtPlanDrop(AIJFmtPlanCache *c, SpmvExec *exec)
{
  if (c->plan) {
    spmv_exec_free(exec, c->plan->space, c->work);
    spmv_destroy(&c->plan);
  }
  c->work            = NULL;
  c->valid           = PETSC_FALSE;
  c->transpose_ready = PETSC_FALSE;
}

/* The address of values that the products of a plan read, or NULL if the plan has its own values */
static const void *ValuesBorrowed_AIJFmt(const SpmvFormat *format, const SpmvCsr *csr)
{
  return format->borrows && csr->values_space == SPMV_DEVICE ? csr->values : NULL;
}

/* Makes the plan and its scratch memory in an empty cache. If memory does not suffice for both, the cache stays
   empty. */
SpmvStatus AIJFmtPlanBuild(AIJFmtPlanCache *c, const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvExec *exec)
{
  SpmvStatus status = spmv_build(csr, analysis, exec, &c->plan);

  if (!status) status = spmv_alloc(exec, exec->space, c->plan->memory.work_bytes, "work", &c->work);
  if (status) {
    spmv_destroy(&c->plan);
    return status;
  }
  c->built_from      = csr->pattern;
  c->borrowed_values = ValuesBorrowed_AIJFmt(c->plan->format, csr);
  c->serial          = AIJFmtSerialNext();
  return SPMV_SUCCESS;
}

/* Updates the values of a plan with unchanged structure. moved: the device CSR has another address than at
   the build, so nothing was updated and the caller must rebuild the plan. This happens when the CUDA parent allocates
   its CSR anew, because it had not yet seen the last change of the nonzero pattern. */
SpmvStatus AIJFmtPlanRefresh(AIJFmtPlanCache *c, const SpmvCsr *csr, SpmvExec *exec, PetscBool *moved)
{
  const void *borrowed = ValuesBorrowed_AIJFmt(c->plan->format, csr);
  SpmvStatus  status   = SPMV_SUCCESS;

  *moved = csr->pattern.space == SPMV_DEVICE &&
                   (csr->pattern.row_ptr != c->built_from.row_ptr || csr->pattern.col != c->built_from.col)
               ? PETSC_TRUE
               : PETSC_FALSE;
  if (!*moved) status = spmv_update_values(c->plan, csr->values, csr->values_space, exec);
  if (borrowed != c->borrowed_values) c->serial = AIJFmtSerialNext();
  c->borrowed_values = borrowed;
  c->transpose_ready = PETSC_FALSE;
  return status;
}

/* Called before a transposed product: prepares the plan once after each build or refresh */
SpmvStatus AIJFmtPlanTranspose(AIJFmtPlanCache *c, SpmvExec *exec)
{
  const SpmvStatus status = c->transpose_ready ? SPMV_SUCCESS : spmv_prepare_transpose(c->plan, exec);

  if (!status) c->transpose_ready = PETSC_TRUE;
  return status;
}

/* ---- a plan of a matrix of any AIJ type, for a solver ---- */

/* Builds the first format that accepts the pattern, or the last format even if it declines */
static SpmvStatus BuildFormat(AIJFmtPlanCache *c, int count, const char *const formats[], const SpmvCsr *csr,
                              SpmvExec *exec)
{
  SpmvStatus status = SPMV_SUCCESS;
  PetscBool  built  = PETSC_FALSE;

  for (int n = 0; n < count && !status && !built; n++) {
    const SpmvFormat *format = spmv_format_find(formats[n]);
    SpmvOptions       options;
    SpmvAnalysis      analysis;

    spmv_options_init(&options, format);
    status = spmv_analyze(format, &csr->pattern, csr->scalar_type, &options, exec, &analysis);
    if (status) return status;
    built = analysis.accepted || n == count - 1 ? PETSC_TRUE : PETSC_FALSE;
    if (built) status = AIJFmtPlanBuild(c, csr, &analysis, exec);
    spmv_analysis_clear(&analysis, exec);
  }
  return status;
}

/* Makes the plan of a cache from a CSR of any scalar type with its pattern on the host, which AIJFmtPatternCheck() has
   found right. same: the pattern is unchanged, so the plan is refreshed. The caller sets the key. */
SpmvStatus AIJFmtPlanFromCsr(AIJFmtPlanCache *c, const SpmvCsr *csr, PetscBool same, int count,
                             const char *const formats[], SpmvExec *exec)
{
  PetscBool moved; /* never set: a pattern on the host does not move */

  if (same) return AIJFmtPlanRefresh(c, csr, exec, &moved);
  AIJFmtPlanDrop(c, exec);
  return BuildFormat(c, count, formats, csr, exec);
}

/* Makes or refreshes the plan of a cache, in exec->space, from the host values of A. formats: names in the order in
   which they are tried. To change the formats, the caller drops the plan first. If status is a failure, the plan must
   not be used; the next call tries again. */
PetscErrorCode AIJFmtPlanFromHost(AIJFmtPlanCache *c, Mat A, int count, const char *const formats[], SpmvExec *exec,
                                  SpmvStatus *status)
{
  SpmvCsr            csr = {.scalar_type = AIJFMT_SCALAR, .values_space = SPMV_HOST};
  AIJFmtKey          now;
  const PetscScalar *values;

  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  if (AIJFmtKeyHolds(c, A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtKeyGet(A, &now));
  PetscCall(MatSeqAIJGetArrayRead(A, &values));
  csr.pattern = now.pattern;
  csr.values  = values;
  PetscCall(AIJFmtPatternCheck(A, &now.pattern, exec, status));
  if (!*status)
    *status = AIJFmtPlanFromCsr(c, &csr, c->valid && AIJFmtSameStructure(&c->key, &now) ? PETSC_TRUE : PETSC_FALSE,
                                count, formats, exec);
  PetscCall(MatSeqAIJRestoreArrayRead(A, &values));
  if (!*status) {
    c->key   = now;
    c->valid = PETSC_TRUE;
  }
  PetscCall(AIJFmtKeyRestore(A, &now));
  PetscFunctionReturn(PETSC_SUCCESS);
}
