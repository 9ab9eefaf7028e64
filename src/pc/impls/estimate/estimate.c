/*
  estimate.c - an estimate by src/kernels/extremes, with the plan that A has on the device, in place of a KSPSolve() of
  PETSc: the same iterations, from the same right-hand side.
*/
#include "estimate.h"
#include "parallel/processes.h"
#include "pc/impls/point/point.h"
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

/* The product with A on the device */
typedef struct {
  SpmvOperator       call;
  PetscPackProcesses all;
  PetscPackHalo      halo;
  AIJFmtPlanCache    own[2]; /* of a block without a plan */
} Product;

/* The plan of a block, with vectors like x; own: for one that may be too small for a plan, or NULL */
static PetscErrorCode PlanGet(Mat A, Vec x, AIJFmtPlanCache *own, SpmvExec *exec, AIJFmtPlanOnDevice *found,
                              char why[SPMV_MESSAGE_MAX])
{
  static const char *const formats[] = {"crsv"};
  SpmvStatus               status;

  PetscFunctionBegin;
  PetscCall(AIJFmtDevicePlan(A, x, found));
  if (found->why_host) PetscCall(PetscStrncpy(why, found->why_host, SPMV_MESSAGE_MAX));
  else if (!found->plan && !own) PetscCall(PetscStrncpy(why, "the matrix has no plan on the device", SPMV_MESSAGE_MAX));
  else if (!found->plan) {
    PetscCall(AIJFmtPlanFromHost(own, A, 1, formats, exec, &status));
    PetscCall(AIJFmtRefuse(exec, status, why));
    found->plan = own->plan;
    found->work = own->work;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Opens the communication between the processes. Collective. */
static PetscErrorCode HaloGet(Product *p, Mat A, Mat block, const PetscInt ghost[], SpmvExec *exec,
                              char why[SPMV_MESSAGE_MAX])
{
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)A), why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPackProcessesOpen(&p->all, PetscObjectComm((PetscObject)A), exec, &status));
  if (!status)
    PetscCall(PetscPackHaloCreate(&p->all, A->cmap, block->cmap->n, ghost, AIJFMT_SCALAR, exec, &p->halo, &status));
  PetscCall(AIJFmtRefuse(exec, status, why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  p->call.halo      = p->halo;
  p->call.ghosts    = PetscPackHaloGhosts(p->halo);
  p->call.processes = &p->all.call;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets p, or a reason. The caller calls ProductFree(). Collective. */
static PetscErrorCode ProductGet(Mat A, Vec x, Product *p, SpmvExec *exec, char why[SPMV_MESSAGE_MAX])
{
  AIJFmtPlanOnDevice found = {.plan = NULL};
  Mat                block = A, others = NULL;
  const PetscInt    *ghost  = NULL;
  PetscBool          blocks = PETSC_TRUE, empty;
  PetscMPIInt        size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (size > 1) PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &blocks));
  if (!blocks && !why[0]) PetscCall(PetscStrncpy(why, "the matrix is not of type mpiaij", SPMV_MESSAGE_MAX));
  if (size > 1 && blocks) PetscCall(MatMPIAIJGetSeqAIJ(A, &block, &others, &ghost));
  empty = block->rmap->n == 0 ? PETSC_TRUE : PETSC_FALSE; /* of a process that has no rows */
  if (!why[0]) PetscCall(PlanGet(block, x, empty ? &p->own[0] : NULL, exec, &found, why));
  p->call.plan = found.plan;
  p->call.work = found.work;
  if (!why[0] && others && others->cmap->n > 0) {
    PetscCall(PlanGet(others, x, &p->own[1], exec, &found, why));
    p->call.ghost_plan = found.plan;
    p->call.ghost_work = found.work;
  }
  if (!why[0] && spmv_operator_waits(&p->call))
    PetscCall(PetscStrncpy(why, "the plan is partly on the host", SPMV_MESSAGE_MAX));
  if (others) PetscCall(HaloGet(p, A, others, ghost, exec, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProductFree(Product *p, SpmvExec *exec)
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) AIJFmtPlanDrop(&p->own[b], exec);
  PetscCall(PetscPackHaloDestroy(&p->halo, exec));
  PetscCall(PetscPackProcessesClose(&p->all));
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
  Product p;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&p, sizeof p));
  PetscCall(PetscLogEventBegin(estimate_event, about, A, 0, 0));
  PetscCall(NullSpaceGet(A, o, exec, why));
  PetscCall(ProductGet(A, x, &p, exec, why));
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
  PetscCall(ProductFree(&p, exec));
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
