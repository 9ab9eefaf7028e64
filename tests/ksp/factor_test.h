/* factor_test.h - what the files of factor_test share */
#pragma once

#include "factor_matrices.h"

extern PetscBool factor_several;
extern MPI_Comm  factor_comm;      /* of all matrices: all processes */
extern char      factor_name[128]; /* of the case */

/* Counts a check, and prints what if it is not right */
PetscErrorCode FactorCheck(PetscBool right, const char what[]);
/* A solver whose PC has that type and, if package is not NULL, that package; options are read twice, as programs do */
PetscErrorCode FactorSolver(KSPType, PCType, MatSolverType package, Mat A, KSP *);
/* What a factor of the package cudss says of itself; all zeros for another one */
PetscErrorCode FactorInfo(KSP, MatCuDSSInfo *);
/* Solves for a random right-hand side, and returns the backward error, or -1 if the solver failed */
PetscErrorCode FactorSolved(KSP, PetscBool transposed, PetscReal *error);
/* Counts are those of the first process */
PetscBool FactorCounted(PetscInt count, PetscInt expected);

/* factor_choice.c; the second leaves cuDSS switched off */
PetscErrorCode FactorTestChoice(void);
PetscErrorCode FactorTestZeroDiagonal(void);
PetscErrorCode FactorTestPackages(void);

/* factor_uses.c; memory and cores with the replacement of the library alone */
PetscErrorCode FactorTestFlags(void);
PetscErrorCode FactorTestHermitian(void);
PetscErrorCode FactorTestMemory(void);
PetscErrorCode FactorTestCores(void);
PetscErrorCode FactorTestCoarse(PetscBool wrapped);
