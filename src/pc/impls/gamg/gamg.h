/* gamg.h - what the files of this folder and the plugin use of one another. */
#pragma once

#include <petscpc.h>
#include "mat/impls/aij/plan.h"

/* graph.c, gamg.c, setup_window.c, aggdevice_nearnull.c */
PETSC_INTERN AIJFmtGraph    MatCreateGraph_SeqAIJFmt, MatCreateGraph_MPIAIJFmt;
PETSC_INTERN void           AIJFmtGraphKeep(SpmvGraph **);
PETSC_INTERN PetscErrorCode AIJFmtGamgWatch(PC);
PETSC_INTERN PetscErrorCode AIJFmtGamgForgetNear(PC);
PETSC_INTERN PetscErrorCode AIJFmtPCNamesRegister(void);
