/* totals.h - what all matrices and solvers of the process did, for the line of -petscpack_summary. */
#pragma once

#include <spmv_kernels.h>
#include "compat.h"

typedef enum { PETSCPACK_ON_GPU, PETSCPACK_ON_HOST, PETSCPACK_BY_PETSC } PetscPackPlace;
/* What a set-up of multigrid asks for besides products: graphs, and patterns of products of matrices */
typedef enum { PETSCPACK_GRAPH, PETSCPACK_PATTERN } PetscPackSetUp;

/* A product, with the nonzeros of its matrix, and why it was not on the GPU; "" where there is no reason to give */
PETSC_INTERN void PetscPackCountProduct(PetscPackPlace, int64_t nonzeros, const char why[]);
PETSC_INTERN void PetscPackCountSetUp(PetscPackSetUp, PetscBool gpu);
PETSC_INTERN void PetscPackCountSolve(PetscInt iterations, const char why_host[]);
/* An application of a PC of type mgdevice or gamgdevice, and why it was PETSc's; "" if it was not */
PETSC_INTERN void           PetscPackCountCycle(const char why_petsc[]);
PETSC_INTERN PetscErrorCode PetscPackTotalsFromOptions(void);
PETSC_INTERN PetscErrorCode PetscPackShareReason(MPI_Comm, char reason[SPMV_MESSAGE_MAX]);
