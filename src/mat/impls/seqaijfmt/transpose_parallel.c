/*
  transpose_parallel.c - the transpose of a parallel matrix of ours, made on the GPU: the restriction of a multigrid cycle
  on several processes.

  The nonzeros of both blocks, with rows and columns exchanged, are a list of coordinates of the transpose.
  coo_parallel.c sends those in rows of other processes to their owners, and keeps the map for new values. MatTranspose()
  makes the transpose on the host instead: if A is of another type, or if the GPU of a process cannot.
*/
#include "coo.h"
#include "parallel/processes.h"

enum { BLOCKS = 2 };

/* Writes the coordinates of a block of the transpose. cols: the numbers of the columns of the block */
static PetscErrorCode BlockWrite(Mat A, Mat block, SpmvCooNumbers cols, SpmvExec *exec, PetscInt *i, PetscInt *j,
                                 SpmvStatus *status)
{
  const SpmvCooNumbers rows = {NULL, A->rmap->rstart};
  AIJFmtArrays         a    = {.parts = 0};

  PetscFunctionBegin;
  PetscCall(AIJFmtArraysGet(block, AIJFMT_PATTERN, AIJFMT_READ, exec, &a, status));
  if (!*status) *status = spmv_coo_coordinates(&a.csr.pattern, rows, cols, j, i, exec);
  PetscCall(AIJFmtArraysRestore(block, exec, &a, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the list of the transpose: rows to list[0], columns to list[1] */
static PetscErrorCode ListWrite(Mat A, const int64_t nonzeros[BLOCKS], SpmvExec *exec, PetscInt *const list[2],
                                SpmvStatus *status)
{
  const PetscInt *ghost;
  void           *cols = NULL;
  Mat             mine, others;
  IS              numbers;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &mine, &others, &ghost));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, others->cmap->n, ghost, PETSC_USE_POINTER, &numbers));
  PetscCall(AIJFmtCooNumbers(numbers, exec, &cols, status));
  PetscCall(ISDestroy(&numbers));
  if (!*status) PetscCall(BlockWrite(A, mine, (SpmvCooNumbers){NULL, A->cmap->rstart}, exec, list[0], list[1], status));
  if (!*status)
    PetscCall(
        BlockWrite(A, others, (SpmvCooNumbers){cols, 0}, exec, list[0] + nonzeros[0], list[1] + nonzeros[0], status));
  spmv_scratch_free(exec, SPMV_DEVICE, cols);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Nonzeros(Mat A, int64_t nonzeros[BLOCKS])
{
  Mat blocks[BLOCKS];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < BLOCKS; b++) PetscCall(AIJFmtNonzeros(blocks[b], &nonzeros[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateEmpty(Mat A, Mat *T)
{
  PetscInt rows, cols;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSizes(A, &rows, &cols));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), T));
  PetscCall(MatSetSizes(*T, A->cmap->n, A->rmap->n, A->cmap->N, A->rmap->N));
  PetscCall(MatSetBlockSizes(*T, cols, rows));
  PetscCall(MatSetType(*T, ((PetscObject)A)->type_name));
  PetscCall(PetscLayoutSetUp((*T)->rmap));
  PetscCall(PetscLayoutSetUp((*T)->cmap));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes *T with the pattern of the transpose. Collective; on failure all processes have a reason, and *T is NULL. */
static PetscErrorCode PatternMake(Mat A, SpmvExec *exec, Mat *T, char reason[SPMV_MESSAGE_MAX])
{
  int64_t    nonzeros[BLOCKS], all;
  PetscInt  *list[2];
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(Nonzeros(A, nonzeros));
  all    = nonzeros[0] + nonzeros[1];
  status = AIJFmtCooListAlloc(all, exec, list);
  if (!status) PetscCall(ListWrite(A, nonzeros, exec, list, &status));
  PetscCall(AIJFmtRefuse(exec, status, reason));
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)A), reason));
  if (!reason[0]) {
    PetscCall(CreateEmpty(A, T));
    PetscCall(AIJFmtCooMake(*T, all, list, reason));
  }
  spmv_scratch_free(exec, SPMV_DEVICE, list[0]);
  if (reason[0]) PetscCall(MatDestroy(T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the values of both blocks to one array on the device, which the caller frees as scratch memory */
static PetscErrorCode ValuesGather(Mat A, SpmvExec *exec, void **values, SpmvStatus *status)
{
  int64_t      nonzeros[BLOCKS], bytes[BLOCKS];
  AIJFmtArrays a = {.parts = 0};
  Mat          blocks[BLOCKS];

  PetscFunctionBegin;
  PetscCall(Nonzeros(A, nonzeros));
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < BLOCKS; b++) bytes[b] = nonzeros[b] * (int64_t)sizeof(PetscScalar);
  *status = spmv_scratch_alloc(exec, SPMV_DEVICE, bytes[0] + bytes[1], "values of a transpose", values);
  for (int b = 0; b < BLOCKS && !*status; b++) {
    PetscCall(AIJFmtArraysGet(blocks[b], AIJFMT_VALUES, AIJFMT_READ, exec, &a, status));
    if (!*status && bytes[b] > 0)
      *status = spmv_copy((char *)*values + (b ? bytes[0] : 0), SPMV_DEVICE, a.csr.values, SPMV_DEVICE, bytes[b], exec);
    PetscCall(AIJFmtArraysRestore(blocks[b], exec, &a, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *T to the transpose of a parallel matrix: makes it if *T is NULL, else gives it the values of A, whose pattern must
   be the same as before. Collective. */
PetscErrorCode AIJFmtTransposeParallel(Mat A, Mat *T)
{
  char        reason[SPMV_MESSAGE_MAX] = "";
  void       *values                   = NULL;
  SpmvStatus  status                   = SPMV_SUCCESS;
  Mat_AIJFmt *s                        = NULL;
  SpmvExec    exec;

  PetscFunctionBegin;
  spmv_exec_init(&exec, SPMV_DEVICE);
  PetscCall(AIJFmtCudaStream(&exec));
  if (!*T) {
    PetscCall(AIJFmtCooWhyNotMake(A, reason));
    PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)A), reason));
    if (!reason[0]) PetscCall(PatternMake(A, &exec, T, reason));
  }
  if (*T) PetscCall(AIJFmtStateGet(*T, &s));
  if (!s || !s->coo) {
    PetscCall(PetscInfo(A, "transpose on the host: %s\n", reason));
    PetscCall(MatTranspose(A, *T ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, T));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ValuesGather(A, &exec, &values, &status));
  PetscCall(AIJFmtRefuse(&exec, status, reason));
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)A), reason));
  if (!reason[0]) PetscCall(AIJFmtCooFill(*T, (const PetscScalar *)values));
  spmv_scratch_free(&exec, SPMV_DEVICE, values);
  if (reason[0]) {
    PetscCall(PetscInfo(A, "transpose on the host: %s\n", reason));
    PetscCall(MatDestroy(T));
    PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, T));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
