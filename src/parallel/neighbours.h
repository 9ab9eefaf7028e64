/*
  neighbours.h - who sends what to whom: the processes with which this one exchanges items, such as ghost values, rows or
  entries of a list, and the exchange by MPI. NCCL takes the same two arrays: see halo.c.
*/
#pragma once

#include <petscis.h>
#include <spmv_nccl.h>

typedef struct PetscPackNeighboursStruct {
  SpmvNeighbours out, in; /* neighbours in ascending order, and where the items for and from each of them lie */
  int           *rank;    /* the arrays of out and in */
  int64_t       *first[2];
  MPI_Comm       comm;
  PetscMPIInt    tag;
  MPI_Request   *request; /* [neighbours of out and in] */
} * PetscPackNeighbours;

/* Each process has items that belong to the owners of `number` [n], ascending numbers of a layout: out are these owners,
   in are the processes that have items for this one. Collective. */
PETSC_INTERN PetscErrorCode PetscPackNeighboursToOwners(PetscLayout, PetscInt n, const PetscInt number[],
                                                        PetscPackNeighbours *);
/* The other way round: in are the owners of the numbers, and out the processes that need items of this one, which are
   *wanted, local numbers; the caller frees them. Collective. */
PETSC_INTERN PetscErrorCode PetscPackNeighboursFromOwners(PetscLayout, PetscInt n, const PetscInt number[],
                                                          PetscPackNeighbours *, PetscInt **wanted);
/* The same neighbours, for the parts of the items; out and in: number of parts of each item. Collective. */
PETSC_INTERN PetscErrorCode PetscPackNeighboursOfParts(PetscPackNeighbours, const PetscInt out[], const PetscInt in[],
                                                       PetscPackNeighbours *);
PETSC_INTERN PetscErrorCode PetscPackNeighboursDestroy(PetscPackNeighbours *);

/* Sends items of an MPI type to all neighbours of out, and receives those of in. Between Begin and End, `from` must not
   change, and no other exchange with the same object may begin. */
PETSC_INTERN PetscErrorCode PetscPackExchange(PetscPackNeighbours, MPI_Datatype, const void *from, void *to);
PETSC_INTERN PetscErrorCode PetscPackExchangeBegin(PetscPackNeighbours, MPI_Datatype, const void *from, void *to);
PETSC_INTERN PetscErrorCode PetscPackExchangeEnd(PetscPackNeighbours);

/* The number of items in one direction */
static inline int64_t PetscPackItems(const SpmvNeighbours *n) { return n->first[n->neighbours]; }
