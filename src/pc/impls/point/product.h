/* product.h - the product with a matrix of one process or of several as an operator on the device. */
#pragma once

#include "mat/impls/aij/plan.h"
#include "parallel/processes.h"

/* All zeros: none. It must not move while it is in use. */
typedef struct {
  SpmvOperator       call;
  PetscPackProcesses all;
  PetscPackHalo      halo;
  AIJFmtPlanCache    own[2]; /* of a block without a plan */
} PetscPackProduct;

/* Sets *p to the product with A, of type AIJ, or leaves a reason; x: a vector that A can be multiplied by, or NULL for one
   that A would make. may_own: a matrix without a plan on the device gets one, in CSR; without x, too, it gets one of its
   own, so that A may be destroyed before *p. On several processes it is collective, and one may have a reason before;
   afterwards all have one, or none. The caller frees *p in each case. */
PETSC_INTERN PetscErrorCode PetscPackProductGet(Mat A, Vec x, PetscBool may_own, PetscPackProduct *p, SpmvExec *,
                                                char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode PetscPackProductFree(PetscPackProduct *, SpmvExec *);
