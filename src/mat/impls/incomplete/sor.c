/*
  sor.c - MatSOR() of sequential AIJ matrices: sweeps on the device, or by the parent type. What they need on the device lies
  in a container composed on the matrix. As in PETSc, the rows of an inode are relaxed together, unless omega is not 1.
*/
#include "incomplete.h"
#include "sys/compat.h"
#include "sys/compose.h"
#include "sys/totals.h"

static const char key[] = "MatSOR_petscpack";

typedef struct {
  Mat_Incomplete   of;      /* values, why: of the last attempt, for ... */
  PetscObjectId    id;      /* ... this matrix, ... */
  PetscObjectState pattern; /* ... with this nonzero state */
} Sweeps;

static PetscErrorCode SweepsFree(void *ctx)
{
  Sweeps *s = (Sweeps *)ctx;

  PetscFunctionBegin;
  MatIncompleteFree(&s->of);
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AIJFMT_CONTAINER_DESTRUCTOR(SweepsDestroy, SweepsFree)

static PetscErrorCode SweepsOf(Mat A, Sweeps **s)
{
  PetscFunctionBegin;
  PetscCall(PetscPackStateQuery((PetscObject)A, key, (void **)s));
  if (*s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(s));
  spmv_exec_init(&(*s)->of.exec, SPMV_DEVICE);
  spmv_factor_options_init(&(*s)->of.options);
  (*s)->of.options.kind = SPMV_FACTOR_SOR;
  PetscCall(PetscPackStateCompose((PetscObject)A, key, *s, SweepsDestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WhyHost_Sweeps(Mat A, MatSORType flag, PetscReal shift, PetscBool *small,
                                     char why[SPMV_MESSAGE_MAX])
{
  const int directions = SOR_SYMMETRIC_SWEEP | SOR_LOCAL_SYMMETRIC_SWEEP;

  PetscFunctionBegin;
  PetscCall(AIJFmtFactorDecide(A, small, why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (!(flag & directions) || (flag & ~(directions | SOR_ZERO_INITIAL_GUESS)))
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "the kind of the sweep is %d", (int)flag));
  else if (shift != 0) PetscCall(PetscStrncpy(why, "the diagonal is shifted", SPMV_MESSAGE_MAX));
  else if (A->rmap->n != A->cmap->n) PetscCall(PetscStrncpy(why, "the matrix is not square", SPMV_MESSAGE_MAX));
#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
  PetscCall(PetscStrncpy(why, "the GPU relaxes real numbers of double precision only", SPMV_MESSAGE_MAX));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest number of rows that are relaxed together. PETSc frees the sizes of inodes if it does not use them. */
static PetscErrorCode NodeRowsGet(Mat A, PetscReal omega, int *rows)
{
  PetscInt count = 0, *sizes = NULL, limit = 0;

  PetscFunctionBegin;
  PetscCall(AIJFmtInodesFind(A, "MatSOR()"));
  PetscCall(MatInodeGetInodeSizes(A, &count, &sizes, &limit));
  *rows = sizes && omega == 1 ? (int)limit : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a refusal the host sweeps until the values change, and after that of an analysis until the pattern does */
static PetscErrorCode SweepsUpdate(Mat A, Sweeps *s, int node_rows)
{
  const PetscObjectId id   = ((PetscObject)A)->id;
  const PetscBool     same = s->id == id && s->pattern == A->nonzerostate && s->of.options.node_rows == node_rows;
  PetscObjectState    values;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &values));
  if (same && (s->of.values == values || !s->of.device)) PetscFunctionReturn(PETSC_SUCCESS);
  s->of.why[0]            = 0;
  s->of.options.node_rows = node_rows;
  s->id                   = id;
  s->pattern              = A->nonzerostate;
  s->of.values            = values;
  if (same) PetscCall(MatIncompleteNumeric(A, &s->of));
  else PetscCall(MatIncompleteMake(NULL, A, &s->of));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSweepsGet(Mat A, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its, PetscInt lits,
                            PetscBool small, MatIncompleteApply *to, char why[SPMV_MESSAGE_MAX])
{
  const PetscBool forward   = flag & (SOR_FORWARD_SWEEP | SOR_LOCAL_FORWARD_SWEEP) ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool backward  = flag & (SOR_BACKWARD_SWEEP | SOR_LOCAL_BACKWARD_SWEEP) ? PETSC_TRUE : PETSC_FALSE;
  int             node_rows = 0; /* gcc does not see that it is set whenever the call succeeds */
  Sweeps         *s;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(to, sizeof *to));
  if (A->rmap->n == 0) small = PETSC_TRUE; /* a process without rows does not keep the others from the device */
  PetscCall(WhyHost_Sweeps(A, flag, shift, &small, why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(NodeRowsGet(A, omega, &node_rows));
  PetscCall(SweepsOf(A, &s));
  if (small && !s->of.asked && s->of.why[0]) s->id = 0; /* it may have been too slow */
  s->of.asked = small;
  PetscCall(SweepsUpdate(A, s, node_rows));
  PetscCall(PetscStrncpy(why, s->of.why, SPMV_MESSAGE_MAX));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  MatIncompleteApplyOf(&s->of, to);
  to->omega  = (double)omega;
  to->sweep  = forward && backward ? SPMV_SOR_SYMMETRIC : forward ? SPMV_SOR_FORWARD : SPMV_SOR_BACKWARD;
  to->sweeps = (int)(node_rows ? its : its * lits); /* PETSc ignores local iterations where it uses inodes */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSOR_Incomplete(Mat A, Vec b, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its,
                                 PetscInt lits, Vec x)
{
  char               why[SPMV_MESSAGE_MAX] = "";
  MatIncompleteApply a;

  PetscFunctionBegin;
  PetscCall(MatSweepsGet(A, omega, flag, shift, its, lits, PETSC_FALSE, &a, why));
  if (!why[0] && b == x) PetscCall(PetscStrncpy(why, "b and x are one vector", sizeof why));
  a.guess = !(flag & SOR_ZERO_INITIAL_GUESS);
  if (!why[0]) PetscCall(MatIncompleteOnDevice(&a, b, x, why));
  if (why[0]) PetscCall(AIJFmtParentSOR(A, b, omega, flag, shift, its, lits, x));
  PetscCall(AIJFmtSweepRan(A, why));
  PetscPackCountApply(PETSCPACK_SWEEP, why);
  PetscFunctionReturn(PETSC_SUCCESS);
}
