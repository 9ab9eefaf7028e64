/*
  mgdevice_test.h - shared by the tests of multigrid on the device: problems, hierarchies, a solve by each solver
*/
#pragma once

#include "cgdevice_test.h"

typedef enum {
  /* PCGAMG: matrices of cgdevice_test.h with one and with three unknowns per node, and one with jumps of 1e8 */
  MG_SCALAR,
  MG_ELASTIC,
  MG_TETRAHEDRA,
  MG_JUMPS,
  MG_SINGULAR,         /* with a null space of one vector ... */
  MG_SINGULAR_UNKNOWN, /* ... that PETSc does not know */
  /* PCMG on a DMDA, with Galerkin products: a square, one with jumps, a line, and a larger square */
  MG_GRID,
  MG_GRID_JUMPS,
  MG_LINE,
  MG_LARGE,
  /* The square with another smoother after the correction; with a separate matrix as restriction; with an interpolation
     that is stored transposed */
  MG_GRID_UP,
  MG_GRID_RESTRICTION,
  MG_GRID_INTERPOLATION,
  MG_GRID_UNKNOWNS, /* two per point of the square: PETSc's interpolation is of type MAIJ */
  MG_GRID_SINGULAR, /* the square, with constants as its null space */
  /* Not served: a user function for the residual, a null space of the smoother only, a smoother with another matrix */
  MG_GRID_RESIDUAL,
  MG_GRID_NULL,
  MG_GRID_OTHER
} MGProblem;

typedef struct {
  const char *name;
  MGProblem   problem;
  PetscInt    levels;  /* of PCMG */
  const char *options; /* of the solver, without its prefix */
  const char *refused; /* a word of the reason to solve by KSPCG; NULL: the device must serve */
} MGRow;

/* A solver for the problem of a row, and its matrix */
PetscErrorCode MGTestCreate(const MGRow *row, const char prefix[], KSPType type, const CGDevSetup *setup, KSP *ksp);
/* Solves a row by KSPCG and by KSPCGDEVICE, and compares all results */
PetscErrorCode MGTestRow(const MGRow *row, PetscInt number);
/* New values for the matrix of a solver, with the same properties */
PetscErrorCode MGTestFill(const MGRow *row, KSP ksp, PetscReal scale);
/* Checks that the device served, and counted the solve */
PetscErrorCode MGTestServed(const char name[], const CGDevOutcome *got);
PetscErrorCode MGTestInfo(KSP ksp, PCMGDeviceInfo *info);
