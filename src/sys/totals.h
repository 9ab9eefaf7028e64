/* totals.h - counts the work of all matrices and solvers of the process, for the first line of -petscpack_summary. */
#pragma once

#include <spmv_kernels.h>
#include "compat.h"

typedef enum { PETSCPACK_ON_GPU, PETSCPACK_ON_HOST, PETSCPACK_BY_PETSC } PetscPackPlace;
/* Work of a multigrid set-up that is counted besides products: graphs, and patterns of products of matrices */
typedef enum { PETSCPACK_GRAPH, PETSCPACK_PATTERN } PetscPackSetUp;

/* Counts a product. nonzeros: of its matrix; why: the reason if it was not on the GPU, or "" */
PETSC_INTERN void PetscPackCountProduct(PetscPackPlace, int64_t nonzeros, const char why[]);
PETSC_INTERN void PetscPackCountSetUp(PetscPackSetUp, PetscBool gpu);
PETSC_INTERN void PetscPackCountSolve(PetscInt iterations, const char why_host[]);
/* A solver on several GPUs. nonzeros: of the rows of this process; set_ups and solves: so far, of a solver with GAMG, whose
   set-ups take longer on several GPUs */
typedef struct {
  PetscInt64 nonzeros, set_ups, solves;
  PetscBool  cycle;
} PetscPackShared;
PETSC_INTERN void PetscPackCountShared(const PetscPackShared *);
/* Applications of a PC of type mgdevice or gamgdevice, solves with factors of the packages cudss and petscpack, and calls of
   MatSOR() */
typedef enum { PETSCPACK_CYCLE, PETSCPACK_FACTOR, PETSCPACK_SWEEP } PetscPackApply;
/* why_petsc: why PETSc did it; "" if it did not */
PETSC_INTERN void PetscPackCountApply(PetscPackApply, const char why_petsc[]);
/* Products, applications and solves so far: on the GPU, and elsewhere. Either may be NULL */
PETSC_INTERN void PetscPackCountedWork(PetscInt64 *gpu, PetscInt64 *elsewhere);
/* One line on stderr that begins with head, and zero counts */
PETSC_INTERN PetscErrorCode PetscPackTotalsPrint(const char head[]);
PETSC_INTERN PetscErrorCode PetscPackShareReason(MPI_Comm, char reason[SPMV_MESSAGE_MAX]);
