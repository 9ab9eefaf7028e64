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

/* Memory of an estimate on several processes, taken at once: a process that lacks some of it later would leave the others
   waiting. All that is taken is free again together. */
typedef struct {
  SpmvExec *exec;
  char     *block;
  int64_t   bytes, used;
} Reserve;

static void *ReserveTake(void *ctx, size_t bytes)
{
  enum { ALIGNMENT = 256 };

  Reserve      *r    = (Reserve *)ctx;
  const int64_t size = ((int64_t)bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  void         *more;

  if (r->used + size > r->bytes)
    return spmv_scratch_alloc(r->exec, SPMV_DEVICE, size, "vectors of an estimate", &more) ? NULL : more;
  r->used += size;
  return r->block + r->used - size;
}

static void ReserveGive(void *ctx, void *memory)
{
  const Reserve *r = (const Reserve *)ctx;
  const char    *m = (const char *)memory;

  if (m < r->block || m >= r->block + r->bytes) spmv_scratch_free(r->exec, SPMV_DEVICE, memory);
}

/* Collective: all processes have the memory, or all have a reason */
static PetscErrorCode ReserveGet(Mat A, const SpmvExtremesOptions *o, SpmvExec *exec, Reserve *r,
                                 char why[SPMV_MESSAGE_MAX])
{
  /* VECTORS beside the basis of GMRES; SUMS: bytes for each null vector; OTHERS: bytes, for sums, scalars and rounding */
  enum { VECTORS = 6, SUMS = 8192, OTHERS = 1 << 18 };

  void      *block;
  SpmvStatus status;

  PetscFunctionBegin;
  *r = (Reserve){.exec = exec};
  r->bytes =
      (VECTORS + o->steps) * (o->rows + 1) * (int64_t)sizeof(PetscScalar) + o->null_vectors * (int64_t)SUMS + OTHERS;
  status   = spmv_scratch_alloc(exec, SPMV_DEVICE, r->bytes, "vectors of an estimate", &block);
  r->block = (char *)block;
  PetscCall(PetscPackRefuse(PetscObjectComm((PetscObject)A), exec, &status, why));
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

/* A launch that fails on one of several processes does not end the estimate, because the others wait for its sums */
static PetscErrorCode ExtremesOfAll(Mat A, const SpmvExtremesOptions *o, SpmvExec *exec, SpmvExtremes *found,
                                    char why[SPMV_MESSAGE_MAX])
{
  SpmvFailure failure = {.status = SPMV_SUCCESS};
  SpmvExec    inner   = *exec;
  SpmvStatus  status;
  Reserve     reserve;

  PetscFunctionBegin;
  PetscCall(ReserveGet(A, o, exec, &reserve, why));
  if (!why[0]) {
    inner.device  = (SpmvAllocator){ReserveTake, ReserveGive, &reserve};
    inner.failure = &failure;
    status        = spmv_extremes(o, &inner, found);
    PetscCall(PetscPackRefuse(PetscObjectComm((PetscObject)A), &inner, &status, why));
  }
  spmv_scratch_free(exec, SPMV_DEVICE, reserve.block);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackEstimate(PetscObject about, Mat A, SpmvExtremesOptions *o, SpmvExec *exec, SpmvExtremes *found,
                                 char why[SPMV_MESSAGE_MAX])
{
  PetscPackProduct p;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&p, sizeof p));
  PetscCall(PetscLogEventBegin(estimate_event, about, A, 0, 0));
  PetscCall(NullSpaceGet(A, o, exec, why));
  PetscCall(PetscPackProductGet(A, PETSC_FALSE, &p, exec, why));
  o->rows        = A->rmap->n;
  o->first_row   = A->rmap->rstart;
  o->scalar_type = AIJFMT_SCALAR;
  o->product     = spmv_operator_product;
  o->product_ctx = &p.call;
  o->processes   = p.call.processes;
  o->tolerance   = PetscMax(o->tolerance, 10 * (double)PETSC_MACHINE_EPSILON);
  if (!why[0] && o->processes) PetscCall(ExtremesOfAll(A, o, exec, found, why));
  else if (!why[0]) PetscCall(AIJFmtRefuse(exec, spmv_extremes(o, exec, found), why));
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
