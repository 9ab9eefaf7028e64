/*
  conf_states.c - changes of values or pattern, called on a matrix itself and through each container, once and twice
  in a row, with products afterwards.

  Packed values count as current if the state of the matrix is the one that their key holds. A caller that does not raise
  the state as the class expects would make stale values current at the next raise. So each change is also followed by a
  write into the array of values, which raises the state once, before the next product.
*/
#include "ops.h"

enum { PARTS_MAX = 4 };

/* A matrix to change, and the matrices of AIJ type in it or around it whose products are recorded */
typedef struct {
  Mat       whole, part[PARTS_MAX];
  PetscInt  parts;
  PetscBool same_shape; /* transposing in place keeps the relation of whole and parts */
} Container;

typedef PetscErrorCode Fill(Conf *, Container *);

static PetscErrorCode ContainerDestroy(Container *k)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&k->whole));
  for (PetscInt p = 0; p < k->parts; p++) PetscCall(MatDestroy(&k->part[p]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds a part and a reference to it */
static PetscErrorCode AddPart(Container *k, Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(PetscObjectReference((PetscObject)A));
  k->part[k->parts++] = A;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Conf *c, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Direct(Conf *c, Container *k)
{
  PetscFunctionBeginUser;
  PetscCall(Create(c, &k->whole));
  k->same_shape = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Nest(Conf *c, Container *k)
{
  Mat block[4];

  PetscFunctionBeginUser;
  for (int b = 0; b < 4; b++) {
    PetscCall(Create(c, &block[b]));
    PetscCall(AddPart(k, block[b]));
  }
  PetscCall(MatCreateNest(c->comm, 2, NULL, 2, NULL, block, &k->whole));
  for (int b = 0; b < 4; b++) PetscCall(MatDestroy(&block[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each process has its own rows and the first row of the next process */
static PetscErrorCode LocalMatrices(Conf *c, Container *k)
{
  const PetscInt         n = c->m + 1;
  PetscInt              *global;
  ISLocalToGlobalMapping map;
  char                   name[CONF_TYPE_MAX];
  MatType                type;
  Mat                    local;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &global));
  for (PetscInt i = 0; i < n; i++) global[i] = (c->row_start + i) % c->M;
  PetscCall(ISLocalToGlobalMappingCreate(c->comm, 1, c->m ? n : 0, global, PETSC_OWN_POINTER, &map));
  PetscCall(MatCreateIS(c->comm, 1, c->m, c->m, c->M, c->M, map, map, &k->whole));
  PetscCall(ISLocalToGlobalMappingDestroy(&map));
  PetscCall(ConfName(c, MATSEQAIJ, name));
  PetscCall(MatCreate(PETSC_COMM_SELF, &local)); /* -mat_seqaij_type may give it another type */
  PetscCall(MatSetType(local, name));
  PetscCall(MatGetType(local, &type));
  PetscCall(MatISSetLocalMatType(k->whole, type));
  PetscCall(MatDestroy(&local));
  PetscCall(MatISSetPreallocation(k->whole, 3, NULL, 3, NULL));
  for (PetscInt i = 0; c->m && i < n; i++) {
    for (PetscInt j = PetscMax(0, i - 1); j < PetscMin(n, i + 2); j++)
      PetscCall(MatSetValueLocal(k->whole, i, j, (PetscReal)(2 + i % 5 + 3 * (j % 3)), INSERT_VALUES));
  }
  PetscCall(TestAssemble(k->whole));
  PetscCall(MatISGetLocalMat(k->whole, &local));
  PetscCall(AddPart(k, local));
  PetscCall(MatISRestoreLocalMat(k->whole, &local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of this process as a matrix of their own */
static PetscErrorCode Submatrix(Conf *c, Container *k)
{
  IS  rows, cols;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(Create(c, &A));
  PetscCall(ISCreateStride(c->comm, c->m, c->row_start, 1, &rows));
  PetscCall(ISCreateStride(c->comm, c->n, c->col_start, 1, &cols));
  PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_INITIAL_MATRIX, &k->whole));
  PetscCall(MatSetOption(k->whole, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(AddPart(k, A));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal block of a parallel matrix, which is itself on one process */
static PetscErrorCode DiagonalBlock(Conf *c, Container *k)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(Create(c, &A));
  PetscCall(MatGetDiagonalBlock(A, &k->whole));
  PetscCall(PetscObjectReference((PetscObject)k->whole));
  PetscCall(AddPart(k, A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds 1 to the first value of each sequential block of a matrix of AIJ type */
static PetscErrorCode WriteArrays(Mat A)
{
  Mat block[3];

  PetscFunctionBeginUser;
  PetscCall(OpBlocks(A, block));
  for (int b = 0; block[b]; b++) {
    PetscScalar *value;
    MatInfo      info;

    PetscCall(MatGetInfo(block[b], MAT_LOCAL, &info));
    if (info.nz_used == 0) continue;
    PetscCall(MatSeqAIJGetArray(block[b], &value));
    value[0] += 1;
    PetscCall(MatSeqAIJRestoreArray(block[b], &value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IsAij(Mat A, PetscBool *is)
{
  return PetscObjectBaseTypeCompareAny((PetscObject)A, is, MATSEQAIJ, MATMPIAIJ, "");
}

static PetscErrorCode SeeAll(Conf *c, const char what[], const Container *k)
{
  PetscBool aij;

  PetscFunctionBeginUser;
  PetscCall(IsAij(k->whole, &aij));
  if (aij) PetscCall(ConfSeeProducts(c, what, k->whole));
  else {
    Vec x, y;

    PetscCall(ConfCreateVecs(k->whole, 3, &x, &y));
    PetscCall(MatMult(k->whole, x, y));
    PetscCall(ConfSeeVec(c, what, y));
    PetscCall(TestDestroyVecs(&x, &y));
  }
  for (PetscInt p = 0; p < k->parts; p++) PetscCall(ConfSeeProducts(c, what, k->part[p]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The change `times` times in a row, then products; with writes also a write into the arrays before them */
static PetscErrorCode RunChange(Conf *c, Fill *fill, const ConfOperation *change, int times, PetscBool writes)
{
  Container k[2] = {{.parts = 0}, {.parts = 0}}; /* the second one is what the first is added to, or copied from */
  PetscBool has, aij;

  PetscFunctionBeginUser;
  PetscCall(fill(c, &k[0]));
  if (change->needs == MATOP_AXPY || change->needs == MATOP_COPY) PetscCall(fill(c, &k[1]));
  PetscCall(MatHasOperation(k[0].whole, change->needs, &has));
  /* for the diagonal MATIS divides by a count of processes, a vector that PETSc 3.26 does not set to zero on a GPU */
  if (PetscDefined(HAVE_CUDA) && fill == LocalMatrices && (change->where & OP_SQUARE)) has = PETSC_FALSE;
  if (change->needs == MATOP_TRANSPOSE && !k[0].same_shape) has = PETSC_FALSE;
  if (has) {
    PetscCall(SeeAll(c, "before", &k[0]));
    c->A         = k[0].whole;
    c->other     = k[1].whole;
    c->operation = change;
    for (int t = 0; t < times; t++) PetscCall(change->run(c));
    PetscCall(IsAij(k[0].whole, &aij));
    if (writes && aij) PetscCall(WriteArrays(k[0].whole));
    for (PetscInt p = 0; writes && p < k[0].parts; p++) PetscCall(WriteArrays(k[0].part[p]));
    PetscCall(SeeAll(c, change->name, &k[0]));
  }
  for (int t = 0; t < 2; t++) PetscCall(ContainerDestroy(&k[t]));
  c->A = c->other = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunChanges(Conf *c)
{
  Fill *const          fills[] = {Direct, Nest, LocalMatrices, Submatrix, DiagonalBlock};
  Fill *const          fill    = fills[c->operation->how];
  const ConfOperation *o;

  PetscFunctionBeginUser;
  c->alone = PETSC_TRUE;
  c->way   = 0;
  c->drawn = 0;
  for (PetscInt i = 0; (o = OpGet(i)); i++) {
    if (!(o->where & OP_CONTAINERS)) continue;
    PetscCall(RunChange(c, fill, o, 1, PETSC_FALSE));
    PetscCall(RunChange(c, fill, o, 2, PETSC_FALSE));
    PetscCall(RunChange(c, fill, o, 1, PETSC_TRUE));
  }
  c->alone = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum { WHERE = OP_SQUARE | OP_NONEMPTY };

extern const ConfOperation conf_states[];
const ConfOperation        conf_states[] = {
           {"states", RunChanges, WHERE, .how = 0},
           {"states_nest", RunChanges, WHERE, .how = 1},
           {"states_is", RunChanges, WHERE, .how = 2},
           {"states_submatrix", RunChanges, WHERE, .how = 3},
           {"states_diagonal_block", RunChanges, WHERE, .how = 4},
           {.name = NULL},
};
