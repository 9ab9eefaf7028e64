/*
  transpose.c - MatTranspose() on the GPU.

  The nonzeros of A, or of both blocks of a parallel A, with rows and columns exchanged, are a list of coordinates of the
  transpose. The functions for lists make it, send entries in rows of other processes to their owners, and keep the map
  for new values (MAT_REUSE_MATRIX). The parent's operation transposes in place, small matrices, and if the GPU of a
  process cannot.
*/
#include "mat/impls/lists/coo.h"
#include "parallel/processes.h"

enum { BLOCKS = 2 };

/* The sequential matrices with the nonzeros of a matrix */
typedef struct {
  Mat             block[BLOCKS]; /* the second is NULL if the matrix is sequential */
  int64_t         nonzeros[BLOCKS], all;
  const PetscInt *ghost; /* the columns of the second */
  SpmvExec        exec;
} TransposeSource;

static PetscErrorCode TransposeSourceGet(Mat A, const Mat_AIJFmt *s, TransposeSource *from)
{
  PetscFunctionBegin;
  *from = (TransposeSource){.block = {A}};
  if (s->parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &from->block[0], &from->block[1], &from->ghost));
  for (int b = 0; b < BLOCKS; b++) {
    if (!from->block[b]) continue;
    PetscCall(AIJFmtNonzeros(from->block[b], &from->nonzeros[b]));
    from->all += from->nonzeros[b];
  }
  spmv_exec_init(&from->exec, SPMV_DEVICE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the parent type transposes A; "": the GPU does. T: NULL, or the transpose that gets new values: it must have been
   made here from A with this pattern. Collective: all processes make the same choice. */
static PetscErrorCode TransposeWhyHost(Mat A, const Mat_AIJFmt *s, const TransposeSource *from, Mat T,
                                       char reason[SPMV_MESSAGE_MAX])
{
  const char *why    = s->alias || aijfmt_process.plain > 0 ? "PETSc wants a matrix of the parent type" : "";
  PetscBool   serves = PETSC_FALSE;
  Mat_AIJFmt *t      = NULL;

  PetscFunctionBegin;
  if (!s->parallel && !AIJFmtAsksDevice(s, from->all, AIJFmtPlacesGet(A, s).device_csr))
    why = "the matrix is small, and its values are on the host";
  for (int b = 0; b < BLOCKS && from->block[b]; b++) {
    PetscCall(AIJFmtStateGet(from->block[b], &t));
    if (!t) why = "a block is not of a type of petscpack";
  }
  if (T) PetscCall(AIJFmtStateGet(T, &t));
  if (T && t && t->coo && t->coo->transposed_id == ((PetscObject)A)->id && t->coo->transposed_state == A->nonzerostate)
    PetscCall(AIJFmtCooHolds(T, t, &serves));
  if (T && !serves) why = "the transpose was not made on the GPU, or has got another pattern";
  PetscCall(PetscStrncpy(reason, why, SPMV_MESSAGE_MAX));
  PetscCall(AIJFmtCooAgree(A, s, from->all, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the list of the transpose: rows to list[0], columns to list[1] */
static PetscErrorCode TransposeListWrite(Mat A, TransposeSource *from, PetscInt *const list[2], SpmvStatus *status)
{
  const SpmvCooNumbers rows = {NULL, A->rmap->rstart};
  SpmvExec            *exec = &from->exec;
  void                *cols = NULL;
  int64_t              at   = 0;
  AIJFmtArrays         a    = {.parts = 0};

  PetscFunctionBegin;
  if (from->block[1]) {
    const int64_t bytes = from->block[1]->cmap->n * (int64_t)sizeof *from->ghost;

    *status = spmv_scratch_alloc(exec, SPMV_DEVICE, bytes, "column numbers", &cols);
    if (!*status) *status = spmv_copy(cols, SPMV_DEVICE, from->ghost, SPMV_HOST, bytes, exec);
  }
  for (int b = 0; b < BLOCKS && from->block[b] && !*status; b++) {
    const SpmvCooNumbers of_cols = b ? (SpmvCooNumbers){cols, 0} : (SpmvCooNumbers){NULL, A->cmap->rstart};

    PetscCall(AIJFmtArraysGet(from->block[b], AIJFMT_PATTERN, AIJFMT_READ, exec, &a, status));
    if (!*status) *status = spmv_coo_coordinates(&a.csr.pattern, rows, of_cols, list[1] + at, list[0] + at, exec);
    PetscCall(AIJFmtArraysRestore(from->block[b], exec, &a, NULL));
    at += from->nonzeros[b];
  }
  spmv_scratch_free(exec, SPMV_DEVICE, cols);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes *T with the pattern of the transpose. Collective; on failure all processes have a reason. */
static PetscErrorCode TransposePatternMake(Mat A, TransposeSource *from, Mat *T, char reason[SPMV_MESSAGE_MAX])
{
  PetscInt   *list[2], rows, cols;
  Mat_AIJFmt *t;
  SpmvStatus  status;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSizes(A, &rows, &cols));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), T));
  PetscCall(MatSetSizes(*T, A->cmap->n, A->rmap->n, A->cmap->N, A->rmap->N));
  PetscCall(MatSetBlockSizes(*T, cols, rows));
  PetscCall(AIJFmtSetTypeLike(A, *T));
  status = AIJFmtCooListAlloc(from->all, &from->exec, list);
  if (!status) PetscCall(TransposeListWrite(A, from, list, &status));
  PetscCall(AIJFmtCooMake(*T, from->all, list, &from->exec, status, reason));
  if (reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtStateRequire(*T, "MatTranspose()", &t));
  t->coo->transposed_id    = ((PetscObject)A)->id;
  t->coo->transposed_state = A->nonzerostate;
  /* as after the operation of MATSEQAIJ; that of MATMPIAIJ leaves no room for new nonzeros either */
  if (!t->parallel) PetscCall(MatSetOption(*T, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives T the values of the source. Collective; on failure all processes have a reason. */
static PetscErrorCode TransposeValues(TransposeSource *from, Mat T, char reason[SPMV_MESSAGE_MAX])
{
  const int64_t each   = (int64_t)sizeof(PetscScalar);
  SpmvExec     *exec   = &from->exec;
  void         *values = NULL;
  char         *to;
  AIJFmtArrays  a      = {.parts = 0};
  SpmvStatus    status = spmv_scratch_alloc(exec, SPMV_DEVICE, from->all * each, "values of a transpose", &values);

  PetscFunctionBegin;
  to = (char *)values;
  for (int b = 0; b < BLOCKS && from->block[b] && !status; b++) {
    const int64_t bytes = from->nonzeros[b] * each;

    PetscCall(AIJFmtArraysGet(from->block[b], AIJFMT_VALUES, AIJFMT_READ, exec, &a, &status));
    if (!status && bytes > 0) status = spmv_copy(to, SPMV_DEVICE, a.csr.values, SPMV_DEVICE, bytes, exec);
    PetscCall(AIJFmtArraysRestore(from->block[b], exec, &a, NULL));
    to += bytes;
  }
  PetscCall(AIJFmtCooFill(T, values, exec, status, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent's operation writes into the host's array of an existing transpose without asking for it */
static PetscErrorCode TransposeByParent(Mat A, MatReuse reuse, Mat *T)
{
  const AIJFmtParent *parent;
  PetscBool           parallel;
  Mat_AIJFmt         *t = NULL;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, "mpi", &parallel));
  PetscCall((parallel ? &parent->mpi : &parent->seq)->transpose(A, reuse, T));
  if (reuse == MAT_REUSE_MATRIX) PetscCall(AIJFmtStateGet(*T, &t));
  if (t && !t->parallel) AIJFmtParentCsrStale(*T);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatTranspose_AIJFmt(Mat A, MatReuse reuse, Mat *T)
{
  char            reason[SPMV_MESSAGE_MAX] = "";
  PetscBool       tried;
  TransposeSource from;
  Mat_AIJFmt     *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s || reuse == MAT_INPLACE_MATRIX) {
    PetscCall(TransposeByParent(A, reuse, T));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TransposeSourceGet(A, s, &from));
  PetscCall(TransposeWhyHost(A, s, &from, reuse == MAT_REUSE_MATRIX ? *T : NULL, reason));
  tried = reason[0] ? PETSC_FALSE : PETSC_TRUE;
  if (tried) PetscCall(AIJFmtCudaStream(&from.exec)); /* an error on a machine without a GPU */
  if (tried && reuse == MAT_INITIAL_MATRIX) PetscCall(TransposePatternMake(A, &from, T, reason));
  if (!reason[0]) PetscCall(TransposeValues(&from, *T, reason));
  PetscCall(AIJFmtRan(A, AIJFMT_WHY_TRANSPOSE, reason));
  if (!reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (tried && reuse == MAT_INITIAL_MATRIX) PetscCall(MatDestroy(T));
  PetscCall(TransposeByParent(A, reuse, T));
  PetscFunctionReturn(PETSC_SUCCESS);
}
