/*
  aggdevice_graph.c - the graph of a level. agg calls MatCreateGraph() for it. If our matrices make the graph on the
  device, it stays there, because only coarsen() reads it. To filter a graph by a threshold, agg needs it as a matrix on
  the host.
*/
#include "aggdevice.h"
#include "mat/impls/aij/aijfmt.h"
#include "parallel/neighbours.h"
#include <string.h>

/* Whether only coarsen() reads the graph, so that it needs no matrix */
static PetscErrorCode Stays(PC pc, Mat A, PetscBool *stays)
{
  const PC_GAMG *gamg = PetscPackGamg(pc);
  const char    *why  = NULL, *why_host;
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(AggDevWhyAgg(pc, &why));
  PetscCall(AIJFmtWhyHost(A, &why_host));
  *stays = !why && !why_host && gamg->threshold[gamg->current_level] < 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds an edge for each vertex without one to which a vertex of another process has an edge: the pattern of A need not be
   symmetric. Collective. */
static PetscErrorCode BeyondReceive(Mat A, const PetscInt others[], PetscInt n, PetscInt bs, PetscInt edges[])
{
  PetscPackNeighbours neighbours;
  PetscInt           *wanted = NULL; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  if (A->symmetric == PETSC_BOOL3_TRUE || A->structurally_symmetric == PETSC_BOOL3_TRUE)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPackNeighboursFromOwners(A->cmap, n, others, &neighbours, &wanted));
  for (int64_t k = 0; k < PetscPackItems(&neighbours->out); k++)
    edges[wanted[k] / bs] = PetscMax(edges[wanted[k] / bs], 1);
  PetscCall(PetscFree(wanted));
  PetscCall(PetscPackNeighboursDestroy(&neighbours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a row has the columns of the row before it, as rows of one node mostly have */
static PetscBool LikeRowBefore(const PetscInt row_ptr[], const PetscInt col[], PetscInt i)
{
  const PetscInt n = row_ptr[i + 1] - row_ptr[i];

  return row_ptr[i] - row_ptr[i - 1] == n && !memcmp(col + row_ptr[i - 1], col + row_ptr[i], (size_t)n * sizeof *col)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Counts the edges from each vertex to vertices of other processes: a->beyond. Collective. */
static PetscErrorCode BeyondMake(PC_AggDevice *a, Mat A)
{
  SpmvPattern     p = {.nnz = 0};
  const PetscInt *others, *row_ptr, *col;
  PetscInt       *edges, *other, *last, bs, vertices; /* other: vertices; last: had an edge to them */
  Mat             block;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(A, &bs));
  vertices = A->rmap->n / bs;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &block, &others));
  PetscCall(AIJFmtHostPatternGet(block, &p));
  row_ptr = (const PetscInt *)p.row_ptr;
  col     = (const PetscInt *)p.col;
  PetscCall(PetscMalloc1((size_t)vertices + 1, &a->beyond));
  PetscCall(PetscMalloc2((size_t)block->cmap->n, &other, (size_t)block->cmap->n, &last));
  for (PetscInt c = 0; c < block->cmap->n; c++) {
    other[c] = c > 0 && others[c - 1] / bs == others[c] / bs ? other[c - 1] : c;
    last[c]  = -1;
  }
  edges     = a->beyond + 1;
  edges[-1] = 0;
  for (PetscInt v = 0; v < vertices; v++) {
    edges[v] = 0;
    if (p.nnz == 0 || row_ptr[v * bs] == row_ptr[(v + 1) * bs]) continue;
    for (PetscInt i = v * bs; i < (v + 1) * bs; i++) {
      if (i > v * bs && LikeRowBefore(row_ptr, col, i)) continue;
      for (PetscInt k = row_ptr[i]; k < row_ptr[i + 1]; k++) {
        edges[v] += last[other[col[k]]] != v;
        last[other[col[k]]] = v;
      }
    }
  }
  PetscCall(BeyondReceive(A, others, block->cmap->n, bs, edges));
  for (PetscInt v = 0; v < vertices; v++) edges[v] += edges[v - 1];
  PetscCall(PetscFree2(other, last));
  PetscCall(AIJFmtHostPatternRestore(block, &p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *G is empty if the graph is in a->graph */
PetscErrorCode AggDevGraph(PC pc, Mat A, Mat *G)
{
  PC_AggDevice  *a;
  PetscBool      stays = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */
  PetscErrorCode error;
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCall(AggDevGet(pc, &a));
  PetscCall(AggDevForgetGraph(a));
  PetscCall(Stays(pc, A, &stays));
  a->level = A;
  AIJFmtGraphKeep(stays ? &a->graph : NULL);
  error = (*a->agg.ops.creategraph)(pc, A, G);
  AIJFmtGraphKeep(NULL);
  PetscCall(error);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (a->graph && size > 1) PetscCall(BeyondMake(a, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns the graph into a matrix if agg needs it after all */
PetscErrorCode AggDevGraphToMatrix(PC pc, PC_AggDevice *a, Mat *G)
{
  PetscFunctionBegin;
  if (!a->graph) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AggDevForgetGraph(a));
  PetscCall(MatDestroy(G));
  PetscCall((*a->agg.ops.creategraph)(pc, a->level, G));
  PetscFunctionReturn(PETSC_SUCCESS);
}
