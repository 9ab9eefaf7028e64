/*
  processes.h - how the processes of a distributed solve work together, as the engines of the kernel library ask for it:
  by MPI through the host, which waits for each exchange and each sum.

  processes.c has sums and agreements, halo.c the exchange of ghost values.
*/
#pragma once

#include <petscmat.h>
#include <spmv_engine.h>

/* Zeros are none. The calls of a solver go through a communicator of its own, so that its messages do not mix with
   others. */
typedef struct {
  SpmvProcesses call; /* its ctx is this struct, whose address must stay */
  MPI_Comm      comm; /* valid where `open` */
  PetscBool     open;
  double       *sums; /* [SPMV_SUMS_MAX], page-locked */
} PetscPackProcesses;

/* processes.c; Open and Close are collective. status: that of the allocation on this process. The communicator is open
   even where it failed, because the other processes have opened it, too. */
PETSC_INTERN PetscErrorCode PetscPackProcessesOpen(PetscPackProcesses *, MPI_Comm, SpmvExec *, SpmvStatus *status);
PETSC_INTERN PetscErrorCode PetscPackProcessesClose(PetscPackProcesses *);
/* *yes stays true where it is true on all processes; collective */
PETSC_INTERN PetscErrorCode PetscPackAll(MPI_Comm, PetscBool *yes);
/* All processes go on, or all have a reason not to; collective, after what may fail on one of them. "": no reason. */
PETSC_INTERN PetscErrorCode PetscPackAgree(MPI_Comm, char reason[SPMV_MESSAGE_MAX]);

/* The ghost values of one matrix: which entries of x this process sends to whom, and receives from whom */
typedef struct PetscPackHaloStruct *PetscPackHalo;

/* halo.c; collective. columns: the layout of x; ghost: the global columns [ghosts] of the off-diagonal block, ascending.
   x and ghosts are of that scalar type. A halo serves one exchange at a time. */
PETSC_INTERN PetscErrorCode PetscPackHaloCreate(MPI_Comm, PetscLayout columns, PetscInt ghosts, const PetscInt ghost[],
                                                SpmvScalar, SpmvExec *, PetscPackHalo *, SpmvStatus           *status);
PETSC_INTERN PetscErrorCode PetscPackHaloDestroy(PetscPackHalo *, SpmvExec *);
/* SpmvProcesses.exchange: the context is a PetscPackProcesses, halo a PetscPackHalo */
PETSC_INTERN SpmvStatus PetscPackHaloExchange(void *processes, void *halo, const void *x, void *ghosts, SpmvExec *);
