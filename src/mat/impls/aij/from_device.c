/* from_device.c - a matrix from a pattern, or a CSR, on the device; a parallel one from those of its blocks. */
#include "aijfmt.h"
#include "sys/private.h"

/* The row lengths, for a preallocation; the caller frees them */
PetscErrorCode AIJFmtLengthsFetch(SpmvExec *exec, const SpmvPattern *from, PetscInt **lengths)
{
  const int64_t bytes = (from->rows + 1) * (int64_t)sizeof **lengths;
  SpmvStatus    status;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)from->rows + 1, lengths));
  PetscCall(AIJFmtFetch(exec, from->row_ptr, from->space, bytes, *lengths, &status));
  AIJFmtCallSpmv(exec, status);
  for (int64_t i = 0; i < from->rows; i++) (*lengths)[i] = (*lengths)[i + 1] - (*lengths)[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the columns into the array of a matrix preallocated with the lengths above and not yet assembled.
   Inserting the rows one by one would take as long as the rest of a symbolic product. */
PetscErrorCode AIJFmtColumnsFetch(SpmvExec *exec, const SpmvPattern *from, Mat A)
{
  const int64_t bytes = from->nnz * (int64_t)sizeof(PetscInt);
  PetscInt      none  = 0; /* a debugging build of PETSc refuses NULL */
  SpmvPattern   here  = {.nnz = 0};
  PetscInt     *col;
  SpmvStatus    status;

  PetscFunctionBegin;
  PetscCall(AIJFmtHostPatternGet(A, &here));
  col = bytes ? (PetscInt *)here.col : &none;
  PetscCheck(here.nnz == from->nnz, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%lld columns for a matrix of %lld nonzeros",
             (long long)from->nnz, (long long)here.nnz);
  PetscCall(AIJFmtFetch(exec, from->col, from->space, bytes, col, &status));
  AIJFmtCallSpmv(exec, status);
  PetscCall(MatSeqAIJSetColumnIndices(A, col)); /* copies each column onto itself, and tells PETSc that all are set */
  PetscCall(AIJFmtHostPatternRestore(A, &here));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PatternToHost(Mat A, Mat_AIJFmt *s, const SpmvPattern *from, SpmvExec *exec)
{
  PetscInt      *lengths;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(AIJFmtLengthsFetch(exec, from, &lengths));
  error = MatSeqAIJSetPreallocation(A, 0, lengths);
  PetscCall(PetscFree(lengths));
  PetscCall(error);
  if (s) PetscCall(AIJFmtSharedDropStale(A, s));
  PetscCall(AIJFmtColumnsFetch(exec, from, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives a sequential matrix a pattern on the device. fresh: it has no inodes of another pattern; *shared: whether its
   arrays are in shared memory. The caller assembles it, and calls PatternDone(). */
static PetscErrorCode PatternGive(Mat A, const SpmvPattern *from, PetscBool with_values, PetscBool fresh,
                                  SpmvExec *exec, PetscBool *shared)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(AIJFmtSharedMake(A, s, from, with_values, exec, shared));
  if (!*shared) PetscCall(PatternToHost(A, s, from, exec));
  else if (fresh) PetscCall(AIJFmtSharedAssemble(A, s, from, exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for the off-diagonal block of a large matrix, which stays on the host. In place of a preallocation, which goes
   through the rows four times, and an assembly, which does so twice, the arrays are filled once. *given is false, and
   nothing has changed, if PETSc's private structs are not known. */
static PetscErrorCode OthersGive(Mat B, const SpmvPattern *from, SpmvExec *exec, PetscBool *given)
{
  const int64_t rows = (from->rows + 1) * (int64_t)sizeof(PetscInt), cols = from->nnz * (int64_t)sizeof(PetscInt);
  PetscInt     *row_ptr;
  PetscInt     *col = NULL; /* PETSc allocates them */
  SpmvStatus    status;

  PetscFunctionBegin;
  PetscCall(PetscPackSeqAIJGive(B, (PetscInt)from->nnz, &col, NULL, &row_ptr, given));
  if (!*given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtFetch(exec, from->row_ptr, from->space, rows, row_ptr, &status));
  if (!status) PetscCall(AIJFmtFetch(exec, from->col, from->space, cols, col, &status));
  AIJFmtCallSpmv(exec, status);
  PetscCall(PetscPackSeqAIJRows(B));
  PetscCall(PetscPackSeqAIJAssemble(B, NULL));
  B->assembled        = PETSC_TRUE; /* so that the next assembly finds its work done */
  B->ass_nonzerostate = B->nonzerostate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PatternDone(Mat A)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s) PetscCall(AIJFmtSharedKeep(A, s, A->nonzerostate));
  PetscCall(AIJFmtPatternIsRight(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies a pattern on the device into a new sequential matrix whose type and sizes are set, and assembles it; its
   values are set later. with_values: over the CUDA parent, too, there is memory for them that the host shares */
PetscErrorCode AIJFmtPatternFromDevice(Mat A, const SpmvPattern *from, PetscBool with_values, SpmvExec *exec)
{
  PetscBool shared;

  PetscFunctionBegin;
  PetscCall(PatternGive(A, from, with_values, A->preallocated ? PETSC_FALSE : PETSC_TRUE, exec, &shared));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PatternDone(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembles a matrix whose entries were written into its blocks: no entry is for another process, and A need not look */
PetscErrorCode AIJFmtAssembleBlocks(Mat A)
{
  const PetscBool no_off_process = A->nooffprocentries;
  PetscErrorCode  error;

  PetscFunctionBegin;
  A->nooffprocentries = PETSC_TRUE;
  error               = MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
  if (!error) error = MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  A->nooffprocentries = no_off_process;
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of an off-diagonal block that occur, on the device and on the host */
typedef struct {
  SpmvPattern renumbered; /* the pattern with numbers of these columns; without any, as it was */
  void       *block;      /* scratch memory */
  PetscInt   *used, count;
} Columns;

/* Numbers the columns of the off-diagonal block as PETSc does with a hash table, in 50 ns a nonzero, after it is assembled.
   Leaves that to PETSc if its layout is not known, or if the device lacks memory. */
static PetscErrorCode ColumnsRenumber(const SpmvPattern *from, SpmvExec *exec, Columns *c)
{
  const int64_t most = from->nnz + PetscMin(from->nnz, from->cols), each = (int64_t)sizeof(PetscInt);
  int64_t       count = 0;
  PetscInt     *numbers;
  PetscBool     known = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */
  SpmvStatus    status;

  PetscFunctionBegin;
  *c = (Columns){.renumbered = *from};
  PetscCall(PetscPackMPIAIJKnown(&known));
  if (!known || from->nnz == 0 || from->space != SPMV_DEVICE) PetscFunctionReturn(PETSC_SUCCESS);
  status  = spmv_scratch_alloc(exec, SPMV_DEVICE, most * each, "columns of an off-diagonal block", &c->block);
  numbers = (PetscInt *)c->block;
  if (!status) status = spmv_csr_used_columns(from, numbers, numbers + from->nnz, &count, exec);
  if (status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1((size_t)count, &c->used));
  PetscCall(AIJFmtFetch(exec, numbers + from->nnz, SPMV_DEVICE, count * each, c->used, &status));
  AIJFmtCallSpmv(exec, status);
  c->renumbered.col = numbers;
  c->count          = (PetscInt)count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for a parallel matrix. The second block has the columns of the whole matrix, as PETSc expects before an
   assembly; they are renumbered here, and PETSc makes the scatter. The assembly is not counted in num_ass, so that
   properties that the user has set, such as symmetry, hold as with aij. Collective. */
PetscErrorCode AIJFmtBlocksFromDevice(Mat A, const SpmvPattern from[2], PetscBool with_values, SpmvExec *exec)
{
  const PetscBool fresh      = A->preallocated ? PETSC_FALSE : PETSC_TRUE;
  const PetscInt  assemblies = A->num_ass;
  PetscBool       given;
  PetscErrorCode  error;
  Columns         others = {.renumbered = from[1]};
  Mat             blocks[2];
  Mat_AIJFmt     *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateRequire(A, "a matrix made on the GPU", &s));
  if (fresh) PetscCall(ColumnsRenumber(&from[1], exec, &others));
  /* without arrays; 0 frees those that a block had */
  PetscCall(MatMPIAIJSetPreallocation(A, fresh ? MAT_SKIP_ALLOCATION : 0, NULL, MAT_SKIP_ALLOCATION, NULL));
  PetscCall(AIJFmtBlocksGet(A, blocks));
  if (!AIJFmtKeepsName(s)) PetscCall(AIJFmtInstall(blocks[0], s->row, PETSC_FALSE, s));
  PetscCall(PatternGive(blocks[0], &from[0], with_values, fresh, exec, &given));
  if (others.used) PetscCall(PetscPackMPIAIJGiveColumns(A, others.count, others.used)); /* A frees them */
  if (given) PetscCall(OthersGive(blocks[1], &others.renumbered, exec, &given));
  if (!given) PetscCall(PatternToHost(blocks[1], NULL, &others.renumbered, exec));
  spmv_scratch_free(exec, SPMV_DEVICE, others.block);
  A->num_ass = 0;
  error      = AIJFmtAssembleBlocks(A);
  A->num_ass = assemblies;
  PetscCall(error);
  PetscCall(AIJFmtBlocksGet(A, blocks)); /* the assembly may have replaced the second */
  for (int b = 0; b < 2; b++) PetscCall(PatternDone(blocks[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the values to a sequential matrix with that pattern. They stay on the device if it has a CSR or shared arrays
   there; otherwise they are copied to the host. */
static PetscErrorCode ValuesFromDevice(Mat A, const SpmvCsr *from, SpmvExec *exec)
{
  const int64_t bytes = from->pattern.nnz * (int64_t)sizeof(PetscScalar);
  AIJFmtArrays  to    = {.stays = PETSC_FALSE};
  SpmvExec      of_to = *exec;
  Mat_AIJFmt   *s;
  SpmvStatus    status;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s) PetscCall(AIJFmtNewValuesDecide(A, s, "a matrix made on the GPU", &to.stays));
  of_to.space = to.stays ? SPMV_DEVICE : SPMV_HOST;
  PetscCall(AIJFmtArraysGet(A, AIJFMT_VALUES, AIJFMT_WRITE, &of_to, &to, &status));
  if (!status) status = spmv_copy(to.values, of_to.space, from->values, from->values_space, bytes, exec);
  if (!status && !to.stays) status = spmv_stream_wait(exec);
  if (!to.stays) PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  PetscCall(AIJFmtArraysRestore(A, &of_to, &to, &status));
  AIJFmtCallSpmv(&of_to, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells the next product with A, or graph of it, the blocks of its pattern */
PetscErrorCode AIJFmtBlocksSet(Mat A, SpmvBlocks blocks)
{
  Mat_AIJFmt *s;
  AIJFmtKey   key;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s || s->parallel) PetscFunctionReturn(PETSC_SUCCESS); /* PETSc would make a pattern of both blocks */
  PetscCall(AIJFmtKeyGet(A, &key));
  s->blocks     = blocks;
  s->blocks_key = key;
  PetscCall(AIJFmtKeyRestore(A, &key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same with values */
PetscErrorCode AIJFmtFromDevice(Mat A, const SpmvCsr *from, SpmvExec *exec)
{
  PetscFunctionBegin;
  PetscCall(AIJFmtPatternFromDevice(A, &from->pattern, PETSC_TRUE, exec));
  PetscCall(ValuesFromDevice(A, from, exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for a parallel matrix, as AIJFmtBlocksFromDevice(). Collective. */
PetscErrorCode AIJFmtParallelFromDevice(Mat A, const SpmvCsr block[2], SpmvExec *exec)
{
  const SpmvPattern pattern[] = {block[0].pattern, block[1].pattern};
  Mat               blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksFromDevice(A, pattern, PETSC_TRUE, exec));
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) PetscCall(ValuesFromDevice(blocks[b], &block[b], exec));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
