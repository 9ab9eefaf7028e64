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

/* Sets *p to the product with A, of type AIJ, or leaves a reason. own: with plans of its own, in CSR, so that A may be
   destroyed before *p; else with those that A has on the device. On several processes it is collective, and one may have a
   reason before; afterwards all have one, or none. The caller frees *p in each case. */
PETSC_INTERN PetscErrorCode PetscPackProductGet(Mat A, PetscBool own, PetscPackProduct *p, SpmvExec *,
                                                char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode PetscPackProductFree(PetscPackProduct *, SpmvExec *);
