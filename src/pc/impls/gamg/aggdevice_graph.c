/*
  aggdevice_graph.c - the graph of a level. agg calls MatCreateGraph() for it. If our matrices make the graph on the
  device, it stays there, because only coarsen() reads it. To filter a graph by a threshold, agg needs it as a matrix on
  the host.
*/
#include "aggdevice.h"

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
  *stays = !why && !why_host && size == 1 && gamg->threshold[gamg->current_level] < 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *G is empty if the graph is in a->graph */
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

/* Turns the graph into a matrix if agg needs it after all */
PetscErrorCode AggDevGraphToMatrix(PC pc, PC_AggDevice *a, Mat *G)
{
  PetscFunctionBegin;
  if (!a->graph) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_graph_destroy(&a->graph);
  PetscCall(MatDestroy(G));
  PetscCall((*a->agg.ops.creategraph)(pc, a->level, G));
  PetscFunctionReturn(PETSC_SUCCESS);
}
