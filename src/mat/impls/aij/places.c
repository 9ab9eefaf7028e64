/*
  places.c - where the current values of a sequential matrix are, and how they get to where they are needed.

  Current values can be in three places: on the host, in the CSR arrays of MATSEQAIJ; on the device, in the CSR of the
  CUDA parent; in the plan, the packed arrays. AIJFmtPlacesGet() returns which of them are current. Only this file reads
  or writes PETSc's offloadmask. Stale values are never read. The transitions, and which places are current after each
  ("same": as before):

                                                                 host      CSR on the device   plan
    1 the host writes: entries are set, MatLoad(), an operation
      of PETSc on the host; the device writes shared arrays      yes       no                  no
    2 the device writes: COO from the device, an operation on
      the CSR there, a product of matrices without shared arrays no (b)    yes                 no
    3 a plan on the GPU is made or refreshed: from the CSR on
      the device if only that is current, else from the host   same      same (a)            yes
    4 a plan on the host is made or refreshed, from the host     yes       same (a)            yes
    5 one change is made on the host and in the plan: by
      values.c, by COO whose sums are on the device              yes       no                  yes
    6 something reads the host's values                          yes       same (a)            same
    7 the CUDA parent multiplies, or a format borrows its CSR:
      the parent fills it from the host if it is stale           same      yes (a)             same
    8 MatBindToCPU(A, PETSC_TRUE)                                yes       no                  a plan on the host: same
    9 the plan is dropped: another pattern, an option            same      same (a)            no
   10 the CSR on the device is filled from a plan on the GPU or
      shared arrays; only its pattern comes from the host, if it
      is missing                                                 same      yes                 same

  (a) "No" if the host is current and the state of the matrix has risen since the plan was made or refreshed: the values
  were then written on the host. Functions of PETSc that write on the device record it in offloadmask; some that write
  on the host do not, for example those behind MatMatTransposeMult().
  (b) "Yes" for a matrix with keeps_host. PETSc reads the host's values directly in numeric products of matrices and in
  MATSEQMAIJ, so the host's values of their factors are kept current, and operations on these factors stay on the host.
*/
#include "aijfmt.h"

/* The plan may have been made from older values, and offloadmask may say that both CSR are current when only the host's
   is */
AIJFmtPlaces AIJFmtPlacesGet(Mat A, const Mat_AIJFmt *s)
{
  const PetscOffloadMask where = AIJFmtOffload(A);
  const PetscBool        holds = AIJFmtKeyHolds(&s->cache, A);
  AIJFmtPlaces           places;

  places.host       = where != PETSC_OFFLOAD_GPU ? PETSC_TRUE : PETSC_FALSE;
  places.device_csr = where == PETSC_OFFLOAD_GPU || (where == PETSC_OFFLOAD_BOTH && holds) ? PETSC_TRUE : PETSC_FALSE;
  places.plan       = s->cache.plan && holds ? PETSC_TRUE : PETSC_FALSE;
  return places;
}

/* Whether the current values can be extracted from a plan on the GPU */
PetscBool AIJFmtPlanHasValues(Mat A, const Mat_AIJFmt *s)
{
  const SpmvPlan *plan = AIJFmtPlanOnGpu(s);

  return plan && !plan->format->borrows && plan->nnz > 0 ? AIJFmtPlacesGet(A, s).plan : PETSC_FALSE;
}

/* Rule (a), called before a plan is made or refreshed: the parent uploads the values again when it next uses its CSR on
   the device */
PetscErrorCode AIJFmtParentCsrStaleIfBoth(Mat A, const Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  if (AIJFmtIsOverCuda(s) && AIJFmtOffload(A) == PETSC_OFFLOAD_BOTH) AIJFmtOffloadSet(A, PETSC_OFFLOAD_CPU);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The CUDA parent uploads the values before it next uses its CSR on the device. Transition 1: called where a function of
   PETSc that does not set offloadmask has written the values on the host, or is about to. */
void AIJFmtParentCsrStale(Mat A)
{
  if (AIJFmtOffload(A) != PETSC_OFFLOAD_UNALLOCATED) AIJFmtOffloadSet(A, PETSC_OFFLOAD_CPU);
}

/* Transition 10 has filled the parent's CSR, or has failed and left other values there */
void AIJFmtParentCsrFilled(Mat A, PetscBool filled)
{
  AIJFmtOffloadSet(A, filled ? PETSC_OFFLOAD_BOTH : PETSC_OFFLOAD_CPU);
}

/* Transition 5: the same change was applied to the values on the host and in the plan. value_state: the state that the
   matrix has, or AIJFmtStateAfter() */
PetscErrorCode AIJFmtPlanWritten(Mat_AIJFmt *s, PetscObjectState value_state)
{
  PetscFunctionBegin;
  s->cache.key.value_state = value_state;
  s->cache.transpose_ready = PETSC_FALSE;
  s->joint_changes++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Transition 6, for functions of PETSc that read the host's values directly */
PetscErrorCode AIJFmtHostFetch(Mat A)
{
  const PetscScalar *values;

  PetscFunctionBegin;
  if (AIJFmtOffload(A) != PETSC_OFFLOAD_GPU) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGetArrayRead(A, &values));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets keeps_host: the host's values of A stay current. A may be of any type. */
static PetscErrorCode AIJFmtHostKeep(Mat A)
{
  Mat         block[2] = {A, NULL};
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && s->parallel) PetscCall(AIJFmtBlocksGet(A, block));
  for (int b = 0; s && b < 2; b++) {
    Mat_AIJFmt *of_block = NULL;

    if (block[b]) PetscCall(AIJFmtStateGet(block[b], &of_block));
    if (!of_block) continue;
    of_block->keeps_host = PETSC_TRUE;
    PetscCall(AIJFmtHostFetch(block[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a product of matrices on the host, whose numeric phases may read the host's values of the factors directly. Those
   of A B^T and of A^T times a dense matrix do. */
PetscErrorCode AIJFmtHostKeepFactors(Mat C)
{
  const Mat factor[] = {C->product->A, C->product->B, C->product->C};

  PetscFunctionBegin;
  for (int f = 0; f < 3; f++)
    if (factor[f]) PetscCall(AIJFmtHostKeep(factor[f]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ---- MATSEQMAIJ ----

  Every product of a MATSEQMAIJ reads the host's values of its source matrix directly, so these must be current. To
  notice MatCreateMAIJ(), our creator of the type wraps PETSc's. At that time the new matrix has no pointer to its
  source yet, but MatCreateMAIJ() has already referenced the source, whose sizes match. So we search the list of all
  matrices whose values may be on the device only.
*/

static PetscErrorCode MatCreate_SeqMAIJ_AIJFmt(Mat B)
{
  PetscInt dof;

  PetscFunctionBegin;
  PetscCall(aijfmt_process.create_maij(B));
  PetscCall(PetscLayoutGetBlockSize(B->rmap, &dof));
  for (Mat_AIJFmt *s = aijfmt_process.listed; s; s = s->after) {
    const Mat A = s->self;

    if (A && ((PetscObject)A)->refct > 1 && dof * A->rmap->n == B->rmap->n && dof * A->cmap->n == B->cmap->n)
      PetscCall(AIJFmtHostKeep(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks of a parallel MATMAIJ are of this type too */
PetscErrorCode AIJFmtMAIJRegister(void)
{
  PetscErrorCode (*create)(Mat);

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(MatList, MATSEQMAIJ, &create));
  if (!create || create == MatCreate_SeqMAIJ_AIJFmt) PetscFunctionReturn(PETSC_SUCCESS);
  aijfmt_process.create_maij = create;
  PetscCall(MatRegister(MATSEQMAIJ, MatCreate_SeqMAIJ_AIJFmt));
  PetscFunctionReturn(PETSC_SUCCESS);
}
