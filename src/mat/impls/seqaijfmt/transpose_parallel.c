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

/* The numbers of the columns of a block in the whole matrix */
static PetscErrorCode ColumnNumbers(Mat A, int block, IS *numbers)
{
  const PetscInt *ghost;
  PetscInt        first, last;
  Mat             others;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &others, &ghost));
  PetscCall(MatGetOwnershipRangeColumn(A, &first, &last));
  if (block == 0) PetscCall(ISCreateStride(PETSC_COMM_SELF, last - first, first, 1, numbers));
  else PetscCall(ISCreateGeneral(PETSC_COMM_SELF, others->cmap->n, ghost, PETSC_COPY_VALUES, numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the coordinates of a block of the transpose */
static PetscErrorCode BlockWrite(Mat A, int block, const void *rows, SpmvExec *exec, PetscInt *i, PetscInt *j,
                                 SpmvStatus *status)
{
  AIJFmtThere there;
  Mat         blocks[BLOCKS];
  void       *cols = NULL;
  IS          numbers;

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  PetscCall(ColumnNumbers(A, block, &numbers));
  PetscCall(AIJFmtCooNumbers(numbers, exec, &cols, status));
  PetscCall(ISDestroy(&numbers));
  if (!*status) {
    PetscCall(AIJFmtThereGet(blocks[block], PETSC_FALSE, exec, &there, status));
    if (!*status) *status = spmv_coo_coordinates(&there.csr.pattern, rows, cols, j, i, exec);
    AIJFmtThereRestore(exec, &there);
  }
  spmv_scratch_free(exec, SPMV_DEVICE, cols);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the list of the transpose: rows to list[0], columns to list[1] */
static PetscErrorCode ListWrite(Mat A, const int64_t nonzeros[BLOCKS], SpmvExec *exec, PetscInt *const list[2],
                                SpmvStatus *status)
{
  void    *rows = NULL;
  PetscInt first, last;
  IS       numbers;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, last - first, first, 1, &numbers));
  PetscCall(AIJFmtCooNumbers(numbers, exec, &rows, status));
  PetscCall(ISDestroy(&numbers));
  for (int b = 0; b < BLOCKS && !*status; b++) {
    const int64_t from = b ? nonzeros[0] : 0;

    PetscCall(BlockWrite(A, b, rows, exec, list[0] + from, list[1] + from, status));
  }
  spmv_scratch_free(exec, SPMV_DEVICE, rows);
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
  void      *block = NULL;
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(Nonzeros(A, nonzeros));
  all = nonzeros[0] + nonzeros[1];
  status =
      spmv_scratch_alloc(exec, SPMV_DEVICE, 2 * all * (int64_t)sizeof(PetscInt), "coordinates of a transpose", &block);
  list[0] = (PetscInt *)block;
  list[1] = list[0] ? list[0] + all : NULL;
  if (!status) PetscCall(ListWrite(A, nonzeros, exec, list, &status));
  PetscCall(AIJFmtRefuse(exec, status, reason));
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)A), reason));
  if (!reason[0]) {
    PetscCall(CreateEmpty(A, T));
    PetscCall(AIJFmtCooMake(*T, all, list, reason));
  }
  spmv_scratch_free(exec, SPMV_DEVICE, block);
  if (reason[0]) PetscCall(MatDestroy(T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the values of both blocks to one array on the device, which the caller frees as scratch memory */
static PetscErrorCode ValuesGather(Mat A, SpmvExec *exec, void **values, SpmvStatus *status)
{
  int64_t     nonzeros[BLOCKS], bytes[BLOCKS];
  AIJFmtThere there;
  Mat         blocks[BLOCKS];
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(Nonzeros(A, nonzeros));
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < BLOCKS; b++) bytes[b] = nonzeros[b] * (int64_t)sizeof(PetscScalar);
  *status = spmv_scratch_alloc(exec, SPMV_DEVICE, bytes[0] + bytes[1], "values of a transpose", values);
  for (int b = 0; b < BLOCKS && !*status; b++) {
    PetscCall(AIJFmtStateRequire(blocks[b], "the transpose", &s));
    PetscCall(AIJFmtThereValuesGet(blocks[b], s, exec, &there, status));
    if (!*status && bytes[b] > 0)
      *status =
          spmv_copy((char *)*values + (b ? bytes[0] : 0), SPMV_DEVICE, there.csr.values, SPMV_DEVICE, bytes[b], exec);
    AIJFmtThereRestore(exec, &there);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the GPU cannot make the transpose; "" if it can. Collective. */
static PetscErrorCode WhyHost(Mat A, char reason[SPMV_MESSAGE_MAX])
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) PetscCall(PetscStrncpy(reason, "it is not of a type of petscpack", SPMV_MESSAGE_MAX));
  else if ((int)s->class_options.value[AIJFMT_DEVICE] == AIJFMT_ON_HOST || AIJFmtBoundToCPU(A))
    PetscCall(PetscStrncpy(reason, "it stays on the host", SPMV_MESSAGE_MAX));
  else (void)spmv_device_count(reason);
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)A), reason));
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
    PetscCall(WhyHost(A, reason));
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
