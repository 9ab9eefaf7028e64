/*
  processes.h - communication between the processes of a distributed solve, as the engines of the kernel library need
  it: by NCCL on the GPUs' streams if each process has a GPU of its own, otherwise by MPI through the host, which waits
  for each exchange and each sum.

  processes.c has sums and agreements, halo.c the exchange of ghost values, nccl.c the communicators of NCCL;
  neighbours.h has who sends what to whom.
*/
#pragma once

#include <petscmat.h>
#include <spmv_engine.h>
#include <spmv_nccl.h>

/* All zeros: no processes. A solver has a communicator of its own for sums and agreements; ghost values have a tag of
   their own. */
typedef struct {
  SpmvProcesses               call; /* its ctx is this struct, which must not move, or nccl */
  MPI_Comm                    comm; /* valid if `open` */
  PetscBool                   open;
  double                     *sums; /* [SPMV_SUMS_MAX], page-locked */
  struct PetscPackNcclStruct *of;   /* owner of the fields below, which are shared with other solvers */
  SpmvNccl                   *nccl; /* NULL: MPI serves */
  char                        why_mpi[SPMV_MESSAGE_MAX];
} PetscPackProcesses;

/* processes.c; Open and Close are collective. status: the same on all processes; nothing is open after a failure. Graphs
   that contain operations of the processes must be destroyed before Close. */
PETSC_INTERN PetscErrorCode PetscPackProcessesOpen(PetscPackProcesses *, MPI_Comm, SpmvExec *, SpmvStatus *status);
PETSC_INTERN PetscErrorCode PetscPackProcessesClose(PetscPackProcesses *);
/* Prints one line: NCCL and its version, or MPI and why */
PETSC_INTERN PetscErrorCode PetscPackProcessesView(const PetscPackProcesses *, PetscViewer);
/* Clears *yes unless it is true on all processes; collective */
PETSC_INTERN PetscErrorCode PetscPackAll(MPI_Comm, PetscBool *yes);
/* Decides for all processes whether the device does a step of a parallel matrix: it does if no process has a reason why
   it cannot, and one process asks for it, because the matrix is large there, say. Otherwise each process gets a reason:
   its own, or that of the vote. Collective. *why: NULL for no reason; too_small: the reason if no process asks */
PETSC_INTERN PetscErrorCode PetscPackVote(MPI_Comm, PetscBool asks, const char too_small[], const char **why);
/* After a step that may fail on one process: either all processes go on, or all get a reason not to. Collective. "": no
   reason. An error on all processes if the device of one has failed. */
PETSC_INTERN PetscErrorCode PetscPackAgree(MPI_Comm, char reason[SPMV_MESSAGE_MAX]);
/* The same for a status: that of the first recorded failure or of this process becomes that of the worst process.
   Collective. */
PETSC_INTERN SpmvStatus PetscPackAgreeStatus(MPI_Comm, SpmvExec *, SpmvStatus);
/* Agrees on *status; a refusal becomes the reason on all processes, a failure an error on all. Collective. */
PETSC_INTERN PetscErrorCode PetscPackRefuse(MPI_Comm, SpmvExec *, SpmvStatus *, char reason[SPMV_MESSAGE_MAX]);

/* nccl.c; Get is collective. The NCCL communicator of these processes is made once and kept with the MPI communicator.
   *nccl is NULL if MPI must serve; then `why` tells the reason. */
typedef struct PetscPackNcclStruct *PetscPackNccl;
PETSC_INTERN PetscErrorCode         PetscPackNcclGet(MPI_Comm, SpmvExec *, PetscPackNccl *, SpmvNccl **nccl,
                                                     char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode         PetscPackNcclRestore(PetscPackNccl *);
PETSC_INTERN int                    PetscPackNcclVersion(PetscPackNccl); /* encoded as by ncclGetVersion() */
PETSC_INTERN PetscErrorCode         PetscPackNcclFromOptions(void);
/* Called before MPI ends; communicators still in use are left to the end of the process */
PETSC_INTERN PetscErrorCode PetscPackNcclFinalize(void);

/* The ghost values of one matrix: the entries of x that this process sends to and receives from each neighbour, and
   buffers for them. For products with the transpose they travel the other way, and are added. */
typedef struct PetscPackHaloStruct *PetscPackHalo;

/* halo.c; collective, and status is the same on all processes. columns: the layout of x; ghost: the global columns
   [ghosts] of the off-diagonal block, ascending. x and ghosts are of that scalar type. A halo serves one exchange at a
   time. */
PETSC_INTERN PetscErrorCode PetscPackHaloCreate(const PetscPackProcesses *, PetscLayout columns, PetscInt ghosts,
                                                const PetscInt ghost[], SpmvScalar, SpmvExec *, PetscPackHalo *,
                                                SpmvStatus    *status);
PETSC_INTERN PetscErrorCode PetscPackHaloDestroy(PetscPackHalo *, SpmvExec *);
/* SpmvOperator.ghosts, on the device; NULL if this process needs no ghost values */
PETSC_INTERN void *PetscPackHaloGhosts(PetscPackHalo);
/* Implement SpmvProcesses.begin, .end, .begin_back and .end_back. processes: a PetscPackProcesses or an SpmvNccl; halo: a
   PetscPackHalo */
PETSC_INTERN SpmvStatus PetscPackHaloBegin(void *processes, void *halo, const void *x, void *ghosts, SpmvExec *);
PETSC_INTERN SpmvStatus PetscPackHaloEnd(void *processes, void *halo, void *ghosts, SpmvExec *);
PETSC_INTERN SpmvStatus PetscPackHaloBeginNccl(void *nccl, void *halo, const void *x, void *ghosts, SpmvExec *);
PETSC_INTERN SpmvStatus PetscPackHaloEndNccl(void *nccl, void *halo, void *ghosts, SpmvExec *);
PETSC_INTERN SpmvStatus PetscPackHaloBeginBack(void *processes, void *halo, const void *ghosts, SpmvExec *);
PETSC_INTERN SpmvStatus PetscPackHaloEndBack(void *processes, void *halo, void *y, SpmvExec *);
PETSC_INTERN SpmvStatus PetscPackHaloBeginBackNccl(void *nccl, void *halo, const void *ghosts, SpmvExec *);
PETSC_INTERN SpmvStatus PetscPackHaloEndBackNccl(void *nccl, void *halo, void *y, SpmvExec *);
