/*
  graph.c - the graph of a level. agg's function asks MatCreateGraph() for it; where our matrices make it on the device, it
  stays there, since nobody but coarsen() reads it. agg filters a graph by a threshold on the host, and needs the matrix.
*/
#include "aggdevice.h"

/* Whether nobody reads the graph as a matrix */
static PetscErrorCode Stays(PC pc, Mat A, PetscBool *stays)
{
  const PC_GAMG *gamg = (const PC_GAMG *)((PC_MG *)pc->data)->innerctx;
  const char    *why  = NULL, *why_host;
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(AggDevWhyAgg(pc, &why));
  PetscCall(AIJFmtWhyHost(A, &why_host));
  *stays = !why && !why_host && size == 1 && gamg->threshold[gamg->current_level] < 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *G is empty where a->graph is not NULL */
PetscErrorCode AggDevGraph(PC pc, Mat A, Mat *G)
{
  PC_AggDevice  *a;
  PetscBool      stays;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(AggDevGet(pc, &a));
  spmv_graph_destroy(&a->graph);
  PetscCall(Stays(pc, A, &stays));
  a->level = A;
  AIJFmtGraphKeep(stays ? &a->graph : NULL);
  error = (*a->agg.ops.creategraph)(pc, A, G);
  AIJFmtGraphKeep(NULL);
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The graph as a matrix after all, for agg */
PetscErrorCode AggDevGraphToMatrix(PC pc, PC_AggDevice *a, Mat *G)
{
  PetscFunctionBegin;
  if (!a->graph) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_graph_destroy(&a->graph);
  PetscCall(MatDestroy(G));
  PetscCall((*a->agg.ops.creategraph)(pc, a->level, G));
  PetscFunctionReturn(PETSC_SUCCESS);
}
