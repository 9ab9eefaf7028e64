/*
  estimate.c - an estimate by src/kernels/extremes, with the plan that A has on the device, in place of a KSPSolve() of
  PETSc: the same iterations, from the same right-hand side.
*/
#include "estimate.h"
#include "pc/impls/point/point.h"
#include "pc/impls/point/product.h"
#include <petsc/private/matimpl.h>

static PetscLogEvent estimate_event;

/* An option of solvers for estimates that the device does not have, with any prefix: PETSc finds options by several */
static PetscErrorCode OtherOption(PetscOptions options, char why[SPMV_MESSAGE_MAX])
{
  static const char *const ours[] = {"ksp_type ", "ksp_max_it ", "steps ", "noisy "}; /* the last two of KSPCHEBYSHEV */
  char                    *all, *at;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetAll(options, &all));
  PetscCall(PetscStrstr(all, "esteig_", &at));
  while (at && !why[0]) {
    PetscBool known = PETSC_FALSE;

    at += sizeof "esteig_" - 1;
    for (int i = 0; i < 4 && !known; i++) PetscCall(PetscStrbeginswith(at, ours[i], &known));
    if (!known) PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "an option, esteig_%.40s", at));
    PetscCall(PetscStrstr(at, "esteig_", &at));
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether all processes have the memory of an estimate: one that fails would leave the others waiting. Collective. */
static PetscErrorCode Reserve(Mat A, const SpmvExtremesOptions *o, SpmvExec *exec, char why[SPMV_MESSAGE_MAX])
{
  enum { VECTORS = 5 /* beside the basis of GMRES */, SUMS = 8192 /* bytes for each null vector */ };

  void      *block;
  SpmvStatus status;

  PetscFunctionBegin;
  status = spmv_scratch_alloc(exec, SPMV_DEVICE,
                              (VECTORS + o->steps) * (o->rows + 1) * (int64_t)sizeof(PetscScalar) +
                                  o->null_vectors * (int64_t)SUMS,
                              "vectors of an estimate", &block);
  spmv_scratch_free(exec, SPMV_DEVICE, block);
  PetscCall(AIJFmtRefuse(exec, status, why));
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)A), why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPSolve() removes the transposed null space of A or, before 3.19, of P from its right-hand side, and that of A from each
   preconditioned vector */
static PetscErrorCode NullSpaceWhyNot(Mat A, Mat P, SpmvExtremesKind kind, const char **why)
{
  MatNullSpace null, transposed[2];

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(A, &null));
  PetscCall(MatGetTransposeNullSpace(A, &transposed[0]));
  PetscCall(MatGetTransposeNullSpace(P, &transposed[1]));
  MGDevNullVectorsWhyNot(null, why);
  if (transposed[0] != transposed[1] || (transposed[0] && transposed[0] != null))
    *why = "the matrix has another transposed null space";
  else if (null && !transposed[0] && kind == SPMV_EXTREMES_LANCZOS)
    *why = "the matrix has a null space, the method is cg, and the matrix is not known to be symmetric";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackEstimateWhyNot(PetscObject about, Mat A, Mat P, const SpmvExtremesOptions *o,
                                       char why[SPMV_MESSAGE_MAX])
{
  const char *null = NULL;

  PetscFunctionBegin;
  PetscCall(OtherOption(about->options, why));
  PetscCall(NullSpaceWhyNot(A, P, o->kind, &null));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (null) PetscCall(PetscStrncpy(why, null, SPMV_MESSAGE_MAX));
  else if (o->steps < 1 || o->steps > SPMV_EXTREMES_STEPS)
    PetscCall(PetscStrncpy(why, "the number of iterations is not 1 to 30", SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the null space of A to the device, or leaves a reason. The caller frees o->null_space as scratch memory. */
static PetscErrorCode NullSpaceGet(Mat A, SpmvExtremesOptions *o, SpmvExec *exec, char why[SPMV_MESSAGE_MAX])
{
  MatNullSpace null, transposed;
  int64_t      bytes;
  void        *vectors;
  SpmvStatus   status;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(A, &null));
  PetscCall(MatGetTransposeNullSpace(A, &transposed));
  o->null_vectors = (int)MGDevNullVectorsCount(null);
  o->null_rhs     = transposed ? 1 : 0;
  if (why[0] || !null) PetscFunctionReturn(PETSC_SUCCESS);
  bytes  = o->null_vectors * (int64_t)A->rmap->n * (int64_t)sizeof(PetscScalar) + 1; /* + 1: never NULL */
  status = spmv_scratch_alloc(exec, SPMV_DEVICE, bytes, "null space", &vectors);
  if (!status) PetscCall(MGDevNullVectorsCopy(null, A, vectors, exec, &status));
  o->null_space = vectors;
  PetscCall(AIJFmtRefuse(exec, status, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackEstimate(PetscObject about, Mat A, Vec x, SpmvExtremesOptions *o, SpmvExec *exec,
                                 SpmvExtremes *found, char why[SPMV_MESSAGE_MAX])
{
  PetscPackProduct p;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&p, sizeof p));
  PetscCall(PetscLogEventBegin(estimate_event, about, A, 0, 0));
  PetscCall(NullSpaceGet(A, o, exec, why));
  PetscCall(PetscPackProductGet(A, x, PETSC_FALSE, &p, exec, why));
  o->rows        = A->rmap->n;
  o->first_row   = A->rmap->rstart;
  o->scalar_type = AIJFMT_SCALAR;
  o->product     = spmv_operator_product;
  o->product_ctx = &p.call;
  o->processes   = p.call.processes;
  o->tolerance   = PetscMax(o->tolerance, 10 * (double)PETSC_MACHINE_EPSILON);
  if (!why[0] && o->processes) PetscCall(Reserve(A, o, exec, why));
  if (!why[0]) {
    PetscCall(AIJFmtRefuse(exec, spmv_extremes(o, exec, found), why));
    if (o->processes) PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)A), why));
  }
  PetscCall(PetscPackProductFree(&p, exec));
  spmv_scratch_free(exec, SPMV_DEVICE, (void *)o->null_space);
  PetscCall(PetscLogEventEnd(estimate_event, about, A, 0, 0));
  if (!why[0])
    PetscCall(PetscInfo(about, "eigenvalues estimated on the device: %g to %g\n", found->least, found->largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackEstimateRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("PackEstimateEig", PC_CLASSID, &estimate_event));
  PetscFunctionReturn(PETSC_SUCCESS);
}
