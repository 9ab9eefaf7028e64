/*
  matmat_parallel.c - products of two parallel matrices of ours on the GPU: A B, A^T B and P^T A P.

  They are sums of products of sequential matrices, by the kernels of src/kernels/spgemm:

    A B        A_d B_l + A_o B_g
    A^T B      A_l^T B_l
    P^T A P    P_l^T A_d P_l + P_l^T (A_o P_g)

  A_d and A_o are the diagonal and the off-diagonal block of A. B_l has the rows of B that this process owns, with the
  columns that occur in them: the two blocks of B side by side. B_g has the rows of B that other processes own and A_o
  needs, with all columns of B.

  The nonzeros of the sums are a list of coordinates of the result: coo_parallel.c sends those in rows of other processes
  to their owners, adds all up, and keeps the map for new values. Everything stays on the GPU but B_g and the messages.
  If the GPU of one process cannot compute its part, PETSc's host parent computes the product on all processes.
*/
#include "mat/impls/lists/coo.h"
#include "matmat.h"
#include "parallel/processes.h"

/* Matrices of this process that are multiplied, and the results of the steps, which may be multiplied again. Those before
   BLOCKS are blocks of A. */
typedef enum {
  A_DIAGONAL,
  A_OFF_DIAGONAL,
  BLOCKS,
  A_LOCAL = BLOCKS,
  B_LOCAL,
  B_GHOST,
  MATRICES,
  RESULT = MATRICES
} Operand;

enum { STEPS = 3, OPERANDS = MATRICES + STEPS };

/* One sequential product. listed: its nonzeros belong to the result */
typedef struct {
  SpmvSpgemmKind kind;
  Operand        left, right;
  PetscBool      listed;
} Step;

/* The steps of a kind of product; rows: the matrix whose columns are the rows of the result, or MATRICES if the result
   has the rows of A */
typedef struct {
  MatProductType type;
  int            count;
  Step           step[STEPS];
  Operand        rows;
} Recipe;

static const Recipe recipes[] = {
    {MATPRODUCT_AB,
     2,
     {{SPMV_SPGEMM_AB, A_DIAGONAL, B_LOCAL, PETSC_TRUE}, {SPMV_SPGEMM_AB, A_OFF_DIAGONAL, B_GHOST, PETSC_TRUE}},
     MATRICES},
    {MATPRODUCT_AtB, 1, {{SPMV_SPGEMM_ATB, A_LOCAL, B_LOCAL, PETSC_TRUE}}, A_LOCAL},
    {MATPRODUCT_PtAP,
     3,
     {{SPMV_SPGEMM_PTAP, A_DIAGONAL, B_LOCAL, PETSC_TRUE},
      {SPMV_SPGEMM_AB, A_OFF_DIAGONAL, B_GHOST, PETSC_FALSE},
      {SPMV_SPGEMM_ATB, B_LOCAL, (Operand)(RESULT + 1), PETSC_TRUE}},
     B_LOCAL}};

/* The rows of a factor that this process owns, on the device */
typedef struct {
  SpmvCsr          csr;
  void            *block;  /* memory of its arrays and of number; NULL: not made */
  void            *number; /* of its columns in the whole matrix; they ascend */
  PetscInt         before; /* how many of other processes come first */
  PetscObjectState state;  /* of the factor when the values were filled */
} LocalRows;

/* Data of the Mat_Product, kept for the numeric phase */
typedef struct {
  SpmvExec          exec;
  const Recipe     *recipe;
  AIJFmtFactor      factor[2];
  LocalRows         local[2]; /* A_l and B_l */
  AIJFmtGhostRows   ghost;    /* B_g, or NULL */
  SpmvSpgemm       *product[STEPS];
  int64_t           first[STEPS], all; /* where the values of a step begin; those of listed steps come first */
  int64_t           listed;            /* number of values of listed steps */
  AIJFmtKeptScratch scratch;
} Data;

static PetscErrorCode MatricesDestroy(Data *d)
{
  PetscFunctionBegin;
  for (int f = 0; f < 2; f++) {
    spmv_exec_free(&d->exec, SPMV_DEVICE, d->local[f].block);
    d->local[f].block = NULL;
  }
  PetscCall(AIJFmtGhostRowsDestroy(&d->ghost, &d->exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProductDataFree_MPIAIJFmt(void *ctx)
{
  Data *d = (Data *)ctx;

  PetscFunctionBegin;
  if (d) {
    PetscCall(MatricesDestroy(d));
    for (int k = 0; k < STEPS; k++) spmv_spgemm_destroy(&d->product[k]);
    AIJFmtScratchLeave(&d->scratch);
  }
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AIJFMT_PRODUCT_DESTRUCTOR(ProductDataDestroy_MPIAIJFmt, ProductDataFree_MPIAIJFmt)

static const Recipe *RecipeFind(MatProductType type)
{
  for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(recipes); r++)
    if (recipes[r].type == type) return &recipes[r];
  return NULL;
}

static PetscBool RecipeUses_MPIAIJFmt(const Recipe *recipe, Operand operand)
{
  for (int k = 0; k < recipe->count; k++)
    if (recipe->step[k].left == operand || recipe->step[k].right == operand) return PETSC_TRUE;
  return PETSC_FALSE;
}

/* ---- the matrices of this process ---- */

/* Grows with each change of values. MatAXPY() raises the states of the blocks only. */
static PetscErrorCode ValuesState(Mat A, PetscObjectState *state)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  *state = ((PetscObject)A)->state + ((PetscObject)blocks[0])->state + ((PetscObject)blocks[1])->state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers of the columns of both blocks, which ascend; the caller frees them. *before: how many of other processes
   precede those of this one */
static PetscErrorCode ColumnsMake(Mat factor, PetscInt **numbers, PetscInt *before)
{
  const PetscInt  mine = factor->cmap->n, first = factor->cmap->rstart;
  const PetscInt *others;
  PetscInt       *number, n;
  Mat             block;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(factor, NULL, &block, &others));
  n       = block->cmap->n;
  *before = 0;
  while (*before < n && others[*before] < first) ++*before;
  PetscCall(PetscMalloc1((size_t)mine + (size_t)n, numbers));
  number = *numbers;
  PetscCall(PetscArraycpy(number, others, *before));
  for (PetscInt c = 0; c < mine; c++) number[*before + c] = first + c;
  PetscCall(PetscArraycpy(number + *before + mine, others + *before, n - *before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static SpmvStatus LocalAlloc(LocalRows *l, const PetscInt number[], const AIJFmtArrays block[2], SpmvExec *exec)
{
  const SpmvPattern *mine = &block[0].csr.pattern, *others = &block[1].csr.pattern;
  const int64_t      rows = mine->rows, cols = mine->cols + others->cols, nnz = mine->nnz + others->nnz;
  const int64_t      bytes[] = {(rows + 1) * (int64_t)sizeof(PetscInt), nnz * (int64_t)sizeof(PetscInt),
                                nnz * (int64_t)sizeof(PetscScalar), cols * (int64_t)sizeof *number};
  void              *array[3];
  void **const       arrays[] = {&array[0], &array[1], &array[2], &l->number};
  const SpmvStatus   status   = spmv_alloc_arrays(exec, SPMV_DEVICE, 4, bytes, "rows of a factor", arrays, &l->block);

  if (status) return status;
  l->csr = AIJFmtCsrOnDevice(rows, cols, nnz, array[0], array[1], array[2]);
  return spmv_copy(l->number, SPMV_DEVICE, number, SPMV_HOST, bytes[3], exec);
}

/* Puts the two blocks of a factor side by side; if they lie so already, their values alone */
static PetscErrorCode LocalFill(Mat factor, LocalRows *l, SpmvExec *exec, SpmvStatus *status)
{
  AIJFmtArrays a[2]   = {{.parts = 0}, {.parts = 0}};
  PetscBool    first  = l->block ? PETSC_FALSE : PETSC_TRUE;
  PetscInt    *number = NULL;
  Mat          blocks[2];
  SpmvCsr      to;

  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  PetscCall(AIJFmtBlocksGet(factor, blocks));
  for (int b = 0; b < 2 && !*status; b++)
    PetscCall(AIJFmtArraysGet(blocks[b], AIJFMT_PATTERN | AIJFMT_VALUES, AIJFMT_READ, exec, &a[b], status));
  if (first) PetscCall(ColumnsMake(factor, &number, &l->before));
  if (first && !*status) *status = LocalAlloc(l, number, a, exec);
  PetscCall(PetscFree(number));
  to = l->csr;
  if (!first) to.pattern.row_ptr = to.pattern.col = NULL;
  if (!*status) *status = spmv_csr_beside(&a[0].csr, &a[1].csr, l->before, &to, exec);
  for (int b = 0; b < 2; b++) PetscCall(AIJFmtArraysRestore(blocks[b], exec, &a[b], NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes B_g */
static PetscErrorCode GhostMake(Mat C, Data *d, SpmvStatus *status)
{
  const LocalRows     *l      = &d->local[1];
  const SpmvCooNumbers number = {l->number, 0};
  const Mat            B      = C->product->B;
  const PetscInt      *needed;
  Mat                  block;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(C->product->A, NULL, &block, &needed));
  PetscCall(
      AIJFmtGhostRowsMake(B->rmap, block->cmap->n, needed, &l->csr, number, B->cmap->N, &d->exec, &d->ghost, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the matrices that the recipe takes from factor f (0: A, 1: B), or gives them new values if the factor has changed
   on any process. Collective, with one status on all processes. */
static PetscErrorCode MatricesFillFrom(Mat C, Data *d, int f, SpmvStatus *status)
{
  const MPI_Comm   comm   = PetscObjectComm((PetscObject)C);
  const Mat        factor = f == 0 ? C->product->A : C->product->B;
  LocalRows       *l      = &d->local[f];
  PetscObjectState state  = 0; /* gcc does not see that it is set whenever the call succeeds */
  PetscBool        same;

  PetscFunctionBegin;
  PetscCall(ValuesState(factor, &state));
  same = l->block && state == l->state ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscPackAll(comm, &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LocalFill(factor, l, &d->exec, status));
  *status = PetscPackAgreeStatus(comm, &d->exec, *status);
  if (f == 1 && !*status && RecipeUses_MPIAIJFmt(d->recipe, B_GHOST)) {
    if (!d->ghost) PetscCall(GhostMake(C, d, status));
    else PetscCall(AIJFmtGhostRowsFill(d->ghost, &l->csr, &d->exec, status));
  }
  l->state = state;
  if (*status) PetscCall(MatricesDestroy(d)); /* the next numeric phase makes them again */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatricesFill(Mat C, Data *d, SpmvStatus *status)
{
  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  if (RecipeUses_MPIAIJFmt(d->recipe, A_LOCAL)) PetscCall(MatricesFillFrom(C, d, 0, status));
  if (!*status) PetscCall(MatricesFillFrom(C, d, 1, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks of A that the recipe takes, with those parts on the device, and the other matrices. Call OperandsRestore()
   afterwards. */
static PetscErrorCode OperandsGet(Mat C, const Data *d, unsigned parts, SpmvExec *exec, AIJFmtArrays a[BLOCKS],
                                  SpmvCsr csr[OPERANDS], SpmvStatus *status)
{
  Mat block[BLOCKS];

  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  PetscCall(AIJFmtBlocksGet(C->product->A, block));
  for (int m = 0; m < BLOCKS; m++) {
    a[m] = (AIJFmtArrays){.parts = 0};
    if (*status || !RecipeUses_MPIAIJFmt(d->recipe, (Operand)m)) continue;
    PetscCall(AIJFmtArraysGet(block[m], parts, AIJFMT_READ, exec, &a[m], status));
    csr[m] = a[m].csr;
  }
  csr[A_LOCAL] = d->local[0].csr;
  csr[B_LOCAL] = d->local[1].csr;
  if (d->ghost) csr[B_GHOST] = *AIJFmtGhostRowsCsr(d->ghost);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OperandsRestore(Mat C, SpmvExec *exec, AIJFmtArrays a[BLOCKS])
{
  Mat block[BLOCKS];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(C->product->A, block));
  for (int m = 0; m < BLOCKS; m++) PetscCall(AIJFmtArraysRestore(block[m], exec, &a[m], NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- symbolic ---- */

/* Makes the product of each step from the patterns on the device */
static PetscErrorCode StepsMake(Mat C, Data *d, SpmvStatus *status)
{
  AIJFmtArrays a[BLOCKS];
  SpmvCsr      csr[OPERANDS];

  PetscFunctionBegin;
  PetscCall(OperandsGet(C, d, AIJFMT_PATTERN, &d->exec, a, csr, status));
  for (int k = 0; k < d->recipe->count && !*status; k++) {
    const Step *step = &d->recipe->step[k];

    spmv_spgemm_destroy(&d->product[k]);
    *status = spmv_spgemm_symbolic(step->kind, &csr[step->left].pattern, &csr[step->right].pattern, AIJFMT_SCALAR,
                                   &d->exec, &d->product[k]);
    if (!*status) spmv_spgemm_pattern(d->product[k], &csr[RESULT + k].pattern);
  }
  PetscCall(OperandsRestore(C, &d->exec, a));
  for (int f = 0; f < 2; f++) { /* after a refusal the next numeric phase begins here again */
    d->factor[f] = AIJFmtFactorOf(f == 0 ? C->product->A : C->product->B);
    if (*status) d->factor[f].id = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Decides where the values of each step lie in one array */
static void StepsPlace(Data *d)
{
  SpmvPattern p;

  d->all = 0;
  for (int listed = 1; listed >= 0; listed--) {
    for (int k = 0; k < d->recipe->count; k++) {
      if (d->recipe->step[k].listed != (listed ? PETSC_TRUE : PETSC_FALSE)) continue;
      spmv_spgemm_pattern(d->product[k], &p);
      d->first[k] = d->all;
      d->all += p.nnz;
    }
    if (listed) d->listed = d->all;
  }
}

/* Whether the columns of a step are those of B_l, not of the whole result */
static PetscBool HasLocalColumns(const Recipe *recipe, int k)
{
  const Operand right = recipe->step[k].right;

  return right >= RESULT ? HasLocalColumns(recipe, right - RESULT) : right != B_GHOST ? PETSC_TRUE : PETSC_FALSE;
}

/* Writes the list of coordinates to list[0] (rows) and list[1] (columns) on the device */
static SpmvStatus ProductListWrite_MPIAIJFmt(Mat C, Data *d, PetscInt *const list[2])
{
  const SpmvCooNumbers all = {NULL, 0}, mine = {NULL, C->product->A->rmap->rstart};
  const SpmvCooNumbers local[] = {{d->local[0].number, 0}, {d->local[1].number, 0}};
  const SpmvCooNumbers rows    = d->recipe->rows == MATRICES ? mine : local[d->recipe->rows == B_LOCAL];
  SpmvStatus           status  = SPMV_SUCCESS;
  SpmvPattern          p;

  for (int k = 0; k < d->recipe->count && !status; k++) {
    if (!d->recipe->step[k].listed) continue;
    spmv_spgemm_pattern(d->product[k], &p);
    status = spmv_coo_coordinates(&p, rows, HasLocalColumns(d->recipe, k) ? local[1] : all, list[0] + d->first[k],
                                  list[1] + d->first[k], &d->exec);
  }
  return status;
}

/* Gives C its sizes and the type of the first factor */
static PetscErrorCode ProductCreate_MPIAIJFmt(Mat C)
{
  const Mat   A = C->product->A, B = C->product->B;
  PetscLayout rows = A->rmap;

  PetscFunctionBegin;
  if (C->product->type == MATPRODUCT_AtB) rows = A->cmap;
  if (C->product->type == MATPRODUCT_PtAP) rows = B->cmap;
  PetscCall(MatSetSizes(C, rows->n, B->cmap->n, rows->N, B->cmap->N));
  PetscCall(AIJFmtProductBlockSizes(C));
  PetscCall(AIJFmtSetTypeLike(A, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes C from the list of coordinates. Collective; on failure all processes have a reason. */
static PetscErrorCode ProductPatternMake_MPIAIJFmt(Mat C, Data *d, char reason[SPMV_MESSAGE_MAX])
{
  PetscInt  *list[2];
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(ProductCreate_MPIAIJFmt(C));
  status = AIJFmtCooListAlloc(d->listed, &d->exec, list);
  if (!status) status = ProductListWrite_MPIAIJFmt(C, d, list);
  PetscCall(AIJFmtCooMake(C, d->listed, list, &d->exec, status, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_MPIAIJFmt(Mat C);

static PetscErrorCode MatProductSymbolic_MPIAIJFmt(Mat C)
{
  char       reason[SPMV_MESSAGE_MAX] = "";
  SpmvStatus status;
  Data      *d;

  PetscFunctionBegin;
  if (C->force_diagonals) {
    PetscCall(AIJFmtProductSymbolicByHost(C, NULL, AIJFMT_FORCED_DIAGONAL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&d));
  C->product->data    = d; /* from here on C frees d, whatever fails */
  C->product->destroy = ProductDataDestroy_MPIAIJFmt;
  spmv_exec_init(&d->exec, SPMV_DEVICE);
  PetscCall(AIJFmtCudaStream(&d->exec));
  d->recipe = RecipeFind(C->product->type);
  PetscCall(MatricesFill(C, d, &status));
  if (!status) PetscCall(StepsMake(C, d, &status));
  PetscCall(AIJFmtRefuse(&d->exec, status, reason));
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)C), reason));
  if (!reason[0]) StepsPlace(d);
  if (!reason[0]) PetscCall(ProductPatternMake_MPIAIJFmt(C, d, reason));
  if (reason[0]) {
    PetscCall(AIJFmtProductSymbolicByHost(C, ProductDataFree_MPIAIJFmt, reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AIJFmtRan(C->product->A, AIJFMT_WHY_PATTERN, ""));
  C->ops->productnumeric = MatProductNumeric_MPIAIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- numeric ---- */

/* Repeats the symbolic phase of the steps: MatProductReplaceMats() may have replaced a factor. PETSc requires the
   pattern of the product to stay the same. Collective. */
static PetscErrorCode ProductRenew_MPIAIJFmt(Mat C, Data *d, SpmvStatus *status)
{
  const int64_t listed = d->listed;

  PetscFunctionBegin;
  PetscCall(MatricesDestroy(d));
  PetscCall(MatricesFill(C, d, status));
  if (!*status) PetscCall(StepsMake(C, d, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  StepsPlace(d);
  PetscCheck(d->listed == listed, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "the product has %lld entries, and had %lld in the symbolic phase: the pattern of a factor has changed, "
             "so use MAT_INITIAL_MATRIX",
             (long long)d->listed, (long long)listed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the values of all steps on the device */
static PetscErrorCode StepsCompute(Mat C, const Data *d, SpmvExec *exec, PetscScalar *values, SpmvStatus *status)
{
  AIJFmtArrays a[BLOCKS];
  SpmvCsr      csr[OPERANDS];

  PetscFunctionBegin;
  PetscCall(OperandsGet(C, d, AIJFMT_VALUES, exec, a, csr, status));
  for (int k = 0; k < d->recipe->count && !*status; k++) {
    const Step *step       = &d->recipe->step[k];
    csr[RESULT + k].values = values + d->first[k];
    *status =
        spmv_spgemm_numeric(d->product[k], csr[step->left].values, csr[step->right].values, values + d->first[k], exec);
  }
  PetscCall(OperandsRestore(C, exec, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FlopsLog(const Data *d)
{
  int64_t bytes, scratch;
  double  flops;

  PetscFunctionBegin;
  for (int k = 0; k < d->recipe->count; k++) {
    spmv_spgemm_info(d->product[k], &bytes, &scratch, &flops);
    PetscCall(AIJFmtLogGpuFlops(flops));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_MPIAIJFmt(Mat C)
{
  Data      *d                        = (Data *)C->product->data;
  const Mat  factor[]                 = {C->product->A, C->product->B};
  char       reason[SPMV_MESSAGE_MAX] = "";
  PetscBool  same                     = AIJFmtFactorsSame(d->factor, factor);
  SpmvStatus status                   = SPMV_SUCCESS;
  void      *values                   = NULL;

  PetscFunctionBegin;
  PetscCall(AIJFmtCudaStream(&d->exec));
  AIJFmtScratchKeep(&d->scratch);
  PetscCall(PetscPackAll(PetscObjectComm((PetscObject)C), &same));
  if (!same) PetscCall(ProductRenew_MPIAIJFmt(C, d, &status));
  else PetscCall(MatricesFill(C, d, &status));
  PetscCall(PetscLogGpuTimeBegin());
  if (!status)
    status = spmv_scratch_alloc(&d->exec, SPMV_DEVICE, d->all * (int64_t)sizeof(PetscScalar),
                                "values of a product of parallel matrices", &values);
  if (!status) PetscCall(StepsCompute(C, d, &d->exec, (PetscScalar *)values, &status));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(AIJFmtCooFill(C, values, &d->exec, status, reason));
  if (reason[0]) {
    PetscCall(AIJFmtProductNumericByHost(C, reason));
    if (!C->assembled) PetscCall(AIJFmtAssembleBlocks(C)); /* these were the first values */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AIJFmtRan(C->product->A, AIJFMT_WHY_NUMERIC, ""));
  PetscCall(FlopsLog(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- which products run here ---- */

/* Why the GPU cannot multiply a factor, and whether the factor asks for the GPU. Places of nonzeros have 32 bits. `auto`
   asks if values are on the GPU or the matrix is large. It never asks if PETSc has no CUDA, because all values would be
   copied to the GPU and back for each product. */
static PetscErrorCode FactorLookAt(Mat A, const char **why, PetscBool *asks)
{
  Mat_AIJFmt *s;
  int64_t     nonzeros;
  PetscBool   there;

  PetscFunctionBegin;
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtStateGet(A, &s));
  *why = AIJFmtWhyNotDevice(A, s, PETSC_TRUE);
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtSizeGet(A, &nonzeros, &there));
  if (nonzeros >= INT32_MAX) *why = "a factor has too many nonzeros";
  if (AIJFmtAsksDevice(s, AIJFmtIsOverCuda(s) ? nonzeros : 0, there)) *asks = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The GPU has every product of two parallel matrices except R A R^T, as PETSc's host parent */
PetscErrorCode MatProductSetFromOptions_MPIAIJFmt(Mat C)
{
  const AIJFmtParent *host;
  const char         *why;
  PetscBool           asks = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtProductWhyNot(C, &why));
  if (!why && !RecipeFind(C->product->type)) why = "the GPU has no such product of parallel matrices";
  if (!why) {
    PetscCall(FactorLookAt(C->product->A, &why, &asks));
    PetscCall(FactorLookAt(C->product->B, &why, &asks));
    PetscCall(PetscPackVote(PetscObjectComm((PetscObject)C), asks, AIJFMT_PRODUCT_SMALL, &why));
  }
  if (!why) {
    C->ops->productsymbolic = MatProductSymbolic_MPIAIJFmt;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AIJFmtRan(C->product->A, AIJFMT_WHY_PATTERN, why));
  PetscCall(AIJFmtHostKeepFactors(C));
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  PetscCall(host->mpi.productsetfromoptions(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}
