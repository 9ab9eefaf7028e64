/*
  processes.h - how the processes of a distributed solve work together, as the engines of the kernel library ask for it: by
  NCCL on the GPUs' streams where each process has a GPU of its own, else by MPI through the host, which waits for each
  exchange and each sum.

  processes.c has sums and agreements, halo.c the exchange of ghost values, nccl.c the communicators of NCCL.
*/
#pragma once

#include <petscmat.h>
#include <spmv_engine.h>
#include <spmv_nccl.h>

/* Zeros are none. The calls of a solver go through a communicator of its own, so that its messages do not mix with
   others. */
typedef struct {
  SpmvProcesses               call; /* its ctx is this struct, whose address must stay, or nccl */
  MPI_Comm                    comm; /* valid where `open` */
  PetscBool                   open;
  double                     *sums; /* [SPMV_SUMS_MAX], page-locked */
  struct PetscPackNcclStruct *of;   /* what follows is of this, which is shared with other solvers */
  SpmvNccl                   *nccl; /* NULL: MPI */
  char                        why_mpi[SPMV_MESSAGE_MAX];
} PetscPackProcesses;

/* processes.c; Open and Close are collective. status: that of the allocation on this process. The communicator is open
   even where it failed, because the other processes have opened it, too. Graphs with operations of the processes must be gone
   before Close. */
PETSC_INTERN PetscErrorCode PetscPackProcessesOpen(PetscPackProcesses *, MPI_Comm, SpmvExec *, SpmvStatus *status);
PETSC_INTERN PetscErrorCode PetscPackProcessesClose(PetscPackProcesses *);
/* A line: NCCL and its version, or MPI and why */
PETSC_INTERN PetscErrorCode PetscPackProcessesView(const PetscPackProcesses *, PetscViewer);
/* *yes stays true where it is true on all processes; collective */
PETSC_INTERN PetscErrorCode PetscPackAll(MPI_Comm, PetscBool *yes);
/* All processes go on, or all have a reason not to; collective, after what may fail on one of them. "": no reason. */
PETSC_INTERN PetscErrorCode PetscPackAgree(MPI_Comm, char reason[SPMV_MESSAGE_MAX]);

/* nccl.c; Get is collective. The communicator of NCCL for these processes is made once and kept with the MPI
   communicator; *nccl is NULL where MPI must serve, and why says why. */
typedef struct PetscPackNcclStruct *PetscPackNccl;
PETSC_INTERN PetscErrorCode         PetscPackNcclGet(MPI_Comm, SpmvExec *, PetscPackNccl *, SpmvNccl **nccl,
                                                     char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode         PetscPackNcclRestore(PetscPackNccl *);
PETSC_INTERN int                    PetscPackNcclVersion(PetscPackNccl); /* as ncclGetVersion() counts */
PETSC_INTERN PetscErrorCode         PetscPackNcclFromOptions(void);
/* Before MPI ends; those in use are left to the end of the process */
PETSC_INTERN PetscErrorCode PetscPackNcclFinalize(void);

/* The ghost values of one matrix: which entries of x this process sends to whom, and receives from whom, and room for
   them */
typedef struct PetscPackHaloStruct *PetscPackHalo;

/* halo.c; collective. columns: the layout of x; ghost: the global columns [ghosts] of the off-diagonal block, ascending.
   x and ghosts are of that scalar type. A halo serves one exchange at a time. */
PETSC_INTERN PetscErrorCode PetscPackHaloCreate(const PetscPackProcesses *, PetscLayout columns, PetscInt ghosts,
                                                const PetscInt ghost[], SpmvScalar, SpmvExec *, PetscPackHalo *,
                                                SpmvStatus    *status);
PETSC_INTERN PetscErrorCode PetscPackHaloDestroy(PetscPackHalo *, SpmvExec *);
/* SpmvOperator.ghosts, on the device; NULL where this process needs none */
PETSC_INTERN void *PetscPackHaloGhosts(PetscPackHalo);
/* SpmvProcesses.begin and .end: the context is a PetscPackProcesses, or an SpmvNccl; halo a PetscPackHalo */
PETSC_INTERN SpmvStatus PetscPackHaloBegin(void *processes, void *halo, const void *x, void *ghosts, SpmvExec *);
PETSC_INTERN SpmvStatus PetscPackHaloEnd(void *processes, void *halo, void *ghosts, SpmvExec *);
PETSC_INTERN SpmvStatus PetscPackHaloBeginNccl(void *nccl, void *halo, const void *x, void *ghosts, SpmvExec *);
PETSC_INTERN SpmvStatus PetscPackHaloEndNccl(void *nccl, void *halo, void *ghosts, SpmvExec *);
