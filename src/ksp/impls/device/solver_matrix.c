/*
  solver_matrix.c - the matrix on the device.

  A matrix of petscpack has a plan on the device, or gets one, as for MatMult(). With multigrid the solver shares the
  plan of the finest level. For any other AIJ matrix, and for one that petscpack left on the host because it is small,
  the solver makes a plan of its own from the host CSR, and keeps it while the nonzero pattern is unchanged.

  On several processes all of this holds for each of the two blocks of a MATMPIAIJ: the columns of this process, and the
  columns of other processes, whose entries of x arrive through a halo.
*/
#include "kspdevice.h"

PetscErrorCode KSPDevMatrixForget(KSPDevice *s)
{
  KSPDevMatrix *m = &s->matrix;

  PetscFunctionBegin;
  AIJFmtPlanDrop(&m->own, &s->exec);
  spmv_exec_free(&s->exec, SPMV_DEVICE, m->csr_arrays);
  m->csr_arrays = NULL;
  m->serial[0]  = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HaloForget(KSPDevice *s)
{
  KSPDevMatrix *m = &s->matrix;

  PetscFunctionBegin;
  PetscCall(PetscPackHaloDestroy(&m->halo, &s->exec));
  m->id        = 0;
  m->serial[2] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDevProcessesForget(KSPDevice *s)
{
  PetscFunctionBegin;
  PetscCall(HaloForget(s));
  AIJFmtPlanDrop(&s->matrix.ghost_columns, &s->exec);
  s->matrix.serial[1] = 0;
  PetscCall(PetscPackProcessesClose(&s->all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- a sequential matrix ---- */

/* crsv is CSR, and takes every pattern */
static PetscErrorCode OwnPlanGet_KSPDevice(KSPDevice *s, AIJFmtPlanCache *own, Mat A, AIJFmtPlanOnDevice *found)
{
  const char *const      formats[] = {s->format, "crsv"};
  const PetscInt64       serial    = own->serial;
  const PetscObjectState values    = own->key.value_state;
  SpmvStatus             status;

  PetscFunctionBegin;
  PetscCall(AIJFmtPlanFromHost(own, A, 2, formats, &s->exec, &status));
  KSPDevTry(s, status);
  if (own->serial != serial) s->matrix.conversions++;
  else if (own->key.value_state != values) s->matrix.refreshes++;
  *found = (AIJFmtPlanOnDevice){own->plan, own->work, own->serial, NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the plan of a sequential matrix with current values: that of `shared`, the matrix's, or own */
static PetscErrorCode GetPlan(KSPDevice *s, AIJFmtPlanCache *own, Mat A, Vec x, AIJFmtPlanOnDevice *found)
{
  PetscFunctionBegin;
  if (!found->plan) PetscCall(AIJFmtDevicePlan(A, x, found));
  if (found->why_host) PetscCall(PetscStrncpy(s->reason, found->why_host, sizeof s->reason));
  else if (found->plan) AIJFmtPlanDrop(own, &s->exec);
  else PetscCall(OwnPlanGet_KSPDevice(s, own, A, found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MinePlan(KSPDevice *s, Mat A, Vec x, AIJFmtPlanOnDevice *found)
{
  KSPDevMatrix *m = &s->matrix;

  PetscFunctionBegin;
  if (m->csr_arrays) PetscCall(KSPDevMatrixForget(s));
  PetscCall(GetPlan(s, &m->own, A, x, found));
  if (s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  m->call.plan = found->plan;
  m->call.work = found->work;
  m->serial[0] = found->serial;
  m->nonzeros  = (PetscInt)found->plan->nnz;
  m->format    = found->plan->format->name;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- a matrix of several processes ---- */

/* Sets up the communication between processes, once per solver; collective */
static PetscErrorCode ProcessesOpen_KSPDevice(KSP ksp, KSPDevice *s, Mat A)
{
  const PetscInt *range;
  PetscMPIInt     size;
  SpmvStatus      status = SPMV_SUCCESS;

  PetscFunctionBegin;
  if (!s->all.open) PetscCall(PetscPackProcessesOpen(&s->all, PetscObjectComm((PetscObject)ksp), &s->exec, &status));
  KSPDevTry(s, status);
  PetscCallMPI(MPI_Comm_size(s->all.comm, &size));
  PetscCall(MatGetOwnershipRanges(A, &range));
  s->all.call.most_rows = 0;
  for (PetscMPIInt i = 0; i < size; i++)
    s->all.call.most_rows = PetscMax(s->all.call.most_rows, (int64_t)(range[i + 1] - range[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the halo again if the matrix or the pattern has changed; collective */
static PetscErrorCode HaloGet_KSPDevice(KSPDevice *s, Mat A, PetscInt ghosts, const PetscInt ghost[])
{
  KSPDevMatrix *m = &s->matrix;
  SpmvStatus    status;

  PetscFunctionBegin;
  PetscCall(HaloForget(s));
  PetscCall(PetscPackHaloCreate(&s->all, A->cmap, ghosts, ghost, AIJFMT_SCALAR, &s->exec, &m->halo, &status));
  KSPDevTry(s, status);
  m->id        = ((PetscObject)A)->id;
  m->pattern   = A->nonzerostate;
  m->serial[2] = AIJFmtSerialNext();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective: either all processes have a reason, or none has */
static PetscErrorCode ParallelPlan(KSP ksp, KSPDevice *s, Mat A, Vec x)
{
  KSPDevMatrix      *m     = &s->matrix;
  AIJFmtPlanOnDevice found = {.plan = NULL}, ghost_found = {.plan = NULL};
  const PetscInt    *ghost;
  PetscBool          same;
  Mat                diagonal, off_diagonal;

  PetscFunctionBegin;
  PetscCall(ProcessesOpen_KSPDevice(ksp, s, A));
  if (s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off_diagonal, &ghost));
  PetscCall(MinePlan(s, diagonal, x, &found));
  if (!s->reason[0] && off_diagonal->cmap->n > 0)
    PetscCall(GetPlan(s, &m->ghost_columns, off_diagonal, x, &ghost_found));
  PetscCall(KSPDevAgree(ksp, s));
  if (s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  m->call.ghost_plan = ghost_found.plan;
  m->call.ghost_work = ghost_found.work;
  m->serial[1]       = ghost_found.serial;
  if (ghost_found.plan) m->nonzeros += (PetscInt)ghost_found.plan->nnz;
  same = m->id == ((PetscObject)A)->id && m->pattern == A->nonzerostate ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscPackAll(s->all.comm, &same));
  if (!same) PetscCall(HaloGet_KSPDevice(s, A, off_diagonal->cmap->n, ghost));
  if (s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  m->call.halo      = m->halo;
  m->call.ghosts    = PetscPackHaloGhosts(m->halo);
  m->call.processes = &s->all.call;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets s->matrix.call to the product with A, for vectors like the solution */
PetscErrorCode KSPDevMatrixPlan(KSP ksp, KSPDevice *s, Mat A)
{
  AIJFmtPlanOnDevice found = {.plan = NULL};

  PetscFunctionBegin;
  if (s->several) PetscCall(ParallelPlan(ksp, s, A, ksp->vec_sol));
  else {
    if (KSPDevHasCycle(s)) PetscCall(MGDevHierarchyPlan(s->multigrid, A, &found));
    s->matrix.call.ghost_plan = NULL;
    s->matrix.call.processes  = NULL;
    PetscCall(MinePlan(s, A, ksp->vec_sol, &found));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
