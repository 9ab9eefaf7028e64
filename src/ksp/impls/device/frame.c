/*
  frame.c - a solver that stands around a KSP type of PETSc: the parent's own creator makes it, then some of its operations
  are replaced. The engine of the class solves; what it cannot do is left to the parent, with a reason. The state lies in a
  container composed on the KSP, because ksp->data belongs to the parent.
*/
#include "kspdevice.h"
#include "sys/compose.h"
#include "sys/private.h"
#include "sys/totals.h"

static PetscLogEvent KSPDev_SetUp, KSPDev_Loop;

static const char container_name[] = "KSPDevice";

/* The state, or NULL if the solver is of another type; of: NULL for any class */
PetscErrorCode KSPDevStateGet(KSP ksp, const KSPDevClass *of, void *state)
{
  KSPDevice *s;

  PetscFunctionBegin;
  *(void **)state = NULL; /* gcc does not see that callers stop at an error */
  PetscCall(PetscPackStateQuery((PetscObject)ksp, container_name, (void **)&s));
  *(void **)state = s && of && s->of != of ? NULL : s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state for a getter, or an error if the solver is of another type */
PetscErrorCode KSPDevStateRequire(KSP ksp, const KSPDevClass *of, void *state)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(KSPDevStateGet(ksp, of, state));
  PetscCheck(*(void **)state, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONG, "The solver is not of type %s",
             of ? of->type : KSPCGDEVICE " or " KSPGMRESDEVICE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the device data of a solver; keeps options and counters */
static PetscErrorCode DataForget_KSPDevice(KSPDevice *s)
{
  PetscFunctionBegin;
  KSPDevEngineForget(s);
  PetscCall(s->of->forget(s));
  PetscCall(KSPDevMatrixForget(s));
  PetscCall(KSPDevPCForget(s));
  AIJFmtVectorFree(&s->exec, &s->x);
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&s->work[i]));
  PetscCall(KSPDevProcessesForget(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StateFree_KSPDevice(void *ctx)
{
  PetscFunctionBegin;
  PetscCall(DataForget_KSPDevice((KSPDevice *)ctx));
  PetscCall(MGDevHierarchyDestroy(&((KSPDevice *)ctx)->multigrid));
  PetscCall(PetscFree(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AIJFMT_CONTAINER_DESTRUCTOR(StateDestroy_KSPDevice, StateFree_KSPDevice)

/* ---- a solve ---- */

/* Gives a reason if the matrix, of one process or of several, or its null space cannot be served by an engine */
static PetscErrorCode WhySystem_KSPDevice(KSP ksp, const KSPDevice *s, const char **why)
{
  PetscBool    aij, multigrid;
  MatNullSpace null_space;
  Mat          A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, s->several ? MATMPIAIJ : MATSEQAIJ, &aij));
  PetscCall(MatGetNullSpace(A, &null_space));
  PetscCall(MGDevIsHierarchy(ksp->pc, &multigrid));
  if (null_space && !multigrid) *why = "the matrix has a null space"; /* a multigrid cycle projects it out */
  else if (!aij && s->several) *why = "the matrix is not of type mpiaij or one that is derived from it";
  else if (!aij) *why = "the matrix is not of type seqaij or one that is derived from it";
  else if (A->rmap->N != A->cmap->N || A->rmap->n != A->cmap->n || A->rmap->N == 0 || A->structure_only)
    *why = "the matrix is not square, is empty or has no values";
  else if (AIJFmtBoundByProgram(A)) *why = "MatBindToCPU() bound the matrix to the host";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives a reason for each feature of the parent that no engine has, and for systems that no engine takes */
static PetscErrorCode SystemAccept_KSPDevice(KSP ksp, KSPDevice *s)
{
  char        text[SPMV_MESSAGE_MAX];
  const char *why = NULL;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  s->several = size > 1 ? PETSC_TRUE : PETSC_FALSE;
  if (PetscDefined(USE_COMPLEX) || PetscDefined(USE_REAL___FLOAT128) || PetscDefined(USE_REAL___FP16))
    why = "scalars are neither real double nor real single";
  else if (s->mode == KSP_DEVICE_HOST) {
    PetscCall(PetscSNPrintf(text, sizeof text, "-ksp_%s_mode host", s->of->type));
    why = text;
  } else if (ksp->transpose_solve) why = "a transposed solve";
  else if (ksp->calc_sings || ksp->calc_ritz) why = "eigenvalues or singular values are estimated";
  else if (ksp->max_it < 1) why = "no iterations are allowed";
  else if (ksp->reason == KSP_DIVERGED_PC_FAILED) why = "the set-up of the preconditioner failed";
  if (!why) PetscCall(s->of->why_parent(ksp, s, &why));
  if (!why && spmv_device_count(text) == 0) why = text;
  if (!why) PetscCall(WhySystem_KSPDevice(ksp, s, &why));
  if (why) PetscCall(PetscStrncpy(s->reason, why, sizeof s->reason));
  PetscCall(KSPDevAgree(ksp, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the engine and, for a solve, its vectors; leaves a reason if they cannot be had. KSPSetUp() returns early if the
   operators were not set again; new values then reach the PC only in PCSetUp(). */
static PetscErrorCode SolvePrepare_KSPDevice(KSP ksp, KSPDevice *s, PetscBool vectors)
{
  PetscFunctionBegin;
  PetscCall(PCSetUp(ksp->pc));
  PetscCall(PetscLogEventBegin(KSPDev_SetUp, ksp, 0, 0, 0));
  s->exec.space   = SPMV_DEVICE;
  s->exec.failure = NULL;
  PetscCall(AIJFmtCudaStream(&s->exec));
  PetscCall(s->of->engine(ksp, s));
  if (vectors && !s->reason[0]) PetscCall(KSPDevVectorPlace(s, &s->x, ksp->vec_sol));
  if (vectors) PetscCall(KSPDevAgree(ksp, s)); /* KSPDevWork() is collective */
  if (vectors && !s->reason[0]) PetscCall(s->of->vectors(ksp, s));
  PetscCall(KSPDevAgree(ksp, s));
  PetscCall(PetscLogEventEnd(KSPDev_SetUp, ksp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveIterate_KSPDevice(KSP ksp, KSPDevice *s)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(KSPDev_Loop, ksp, 0, 0, 0));
  PetscCall(s->of->iterate(ksp, s));
  PetscCall(PetscLogEventEnd(KSPDev_Loop, ksp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A multigrid cycle in single precision: if that may be the cause of a failure, the solve starts over in double
   precision */
static PetscErrorCode IterateSingle(KSP ksp, KSPDevice *s)
{
  PetscErrorCode error;
  MGDevTrial     trial;
  PetscBool      again;

  PetscFunctionBegin;
  s->fault = NULL;
  PetscCall(MGDevTrialBegin(ksp, &trial));
  error = SolveIterate_KSPDevice(ksp, s);
  if (!s->fault && !s->reason[0]) s->fault = MGDevNormsEnd(&s->norms, ksp);
  PetscCall(MGDevTrialEnd(ksp, &trial, error ? NULL : s->fault, s->multigrid, &again));
  PetscCall(error);
  if (!again) PetscFunctionReturn(PETSC_SUCCESS);
  s->reason[0] = 0;
  PetscCall(MGDevHierarchyUpdate(s->multigrid, ksp->pc, s->reason));
  PetscCall(MGDevTrialAgain(ksp, &trial));
  if (!s->reason[0]) PetscCall(SolvePrepare_KSPDevice(ksp, s, PETSC_TRUE));
  s->single = PETSC_FALSE;
  if (!s->reason[0]) PetscCall(SolveIterate_KSPDevice(ksp, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parents' set-ups make work vectors, CG three, GMRES five or more, and nothing that the engine needs: they wait until
   the parent solves, or is asked for its residual. They read nothing that a solve changes. */
PetscErrorCode KSPDevParentSetUp(KSP ksp, KSPDevice *s)
{
  PetscFunctionBegin;
  if (!s->parent_set_up) PetscCall(s->parent.setup(ksp));
  s->parent_set_up = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the device data first: the parent may need device memory too, and the device may be full */
static PetscErrorCode SolveByParent(KSP ksp, KSPDevice *s)
{
  PetscFunctionBegin;
  PetscCall(PetscInfo(ksp, "solved by %s: %s\n", s->of->parent_name, s->reason));
  PetscCall(DataForget_KSPDevice(s));
  s->used = KSP_DEVICE_HOST;
  s->solves_host++;
  PetscCall(KSPDevParentSetUp(ksp, s));
  PetscCall(MGDevSolveWatched(ksp, s->parent.solve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts a solve on the device */
static PetscErrorCode Count_KSPDevice(KSP ksp, KSPDevice *s)
{
  PetscPackShared solver = {.cycle = KSPDevHasCycle(s) ? PETSC_TRUE : PETSC_FALSE};
  PetscBool       gamg;
  MatInfo         info;
  Mat             A;

  PetscFunctionBegin;
  s->solves_device++;
  if (!s->several) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(PetscPackIsGamg(ksp->pc, &gamg));
  solver.nonzeros = (PetscInt64)info.nz_used;
  solver.solves   = s->solves_device;
  solver.set_ups  = gamg ? MGDevHierarchyInfo(s->multigrid)->set_ups : 0;
  PetscPackCountShared(&solver);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSolve_Device(KSP ksp)
{
  KSPDevice *s;

  PetscFunctionBegin;
  PetscCall(KSPDevStateGet(ksp, NULL, &s));
  s->reason[0] = 0;
  PetscCall(SystemAccept_KSPDevice(ksp, s));
  if (!s->reason[0]) PetscCall(SolvePrepare_KSPDevice(ksp, s, PETSC_TRUE));
  if (!s->reason[0]) {
    s->single = KSPDevHasCycle(s) ? MGDevHierarchyInfo(s->multigrid)->single : PETSC_FALSE;
    PetscCall(s->single ? IterateSingle(ksp, s) : SolveIterate_KSPDevice(ksp, s));
  }
  if (s->reason[0]) PetscCall(SolveByParent(ksp, s));
  else PetscCall(Count_KSPDevice(ksp, s));
  PetscPackCountSolve(ksp->its, s->reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With multigrid, the plans of all levels, the cycle and the engine are made here, so that the first solve does not pay
   for them. They need the hierarchy, and KSPSetUp() calls PCSetUp() only after this function: SolvePrepare_KSPDevice()
   calls it. If the device cannot serve, all is forgotten here, and KSPSolve() tries again and reports the reason. */
static PetscErrorCode KSPSetUp_Device(KSP ksp)
{
  KSPDevice *s;
  PetscBool  multigrid;

  PetscFunctionBegin;
  PetscCall(KSPDevStateGet(ksp, NULL, &s));
  if (ksp->setupstage == KSP_SETUP_NEW) s->parent_set_up = PETSC_FALSE;
  PetscCall(MGDevIsHierarchy(ksp->pc, &multigrid));
  if (!multigrid) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetErrorIfFailure(ksp->pc, ksp->errorifnotconverged));
  s->reason[0] = 0;
  PetscCall(SystemAccept_KSPDevice(ksp, s));
  if (!s->reason[0]) PetscCall(SolvePrepare_KSPDevice(ksp, s, PETSC_FALSE));
  if (s->reason[0]) PetscCall(DataForget_KSPDevice(s));
  s->reason[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the life of a solver ---- */

static PetscErrorCode KSPReset_Device(KSP ksp)
{
  KSPDevice *s;

  PetscFunctionBegin;
  PetscCall(KSPDevStateGet(ksp, NULL, &s));
  PetscCall(DataForget_KSPDevice(s));
  s->parent_set_up = PETSC_FALSE;
  if (s->parent.reset) PetscCall(s->parent.reset(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_Device(KSP ksp)
{
  KSPDevice *s;
  PetscErrorCode (*destroy)(KSP);

  PetscFunctionBegin;
  PetscCall(KSPDevStateGet(ksp, NULL, &s));
  destroy             = s->parent.destroy;
  ksp->setupnewmatrix = PETSC_FALSE;
  PetscCall(PetscObjectCompose((PetscObject)ksp, container_name, NULL));
  PetscCall(destroy(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDevCreate(KSP ksp, const KSPDevClass *of)
{
  KSPDevice *s;

  PetscFunctionBegin;
  PetscCall((*of->create_parent)(ksp));
  PetscCall(PetscMalloc(of->bytes, &s));
  PetscCall(PetscMemzero(s, of->bytes));
  s->of = of;
  spmv_exec_init(&s->exec, SPMV_DEVICE);
  PetscCall(PetscStrncpy(s->format, "crsv", sizeof s->format));
  PetscCall(PetscPackStateCompose((PetscObject)ksp, container_name, s, StateDestroy_KSPDevice));
  s->parent                = *ksp->ops;
  ksp->setupnewmatrix      = PETSC_TRUE;
  ksp->ops->setup          = KSPSetUp_Device;
  ksp->ops->solve          = KSPSolve_Device;
  ksp->ops->setfromoptions = KSPSetFromOptions_Device;
  ksp->ops->view           = KSPView_Device;
  ksp->ops->reset          = KSPReset_Device;
  ksp->ops->destroy        = KSPDestroy_Device;
  if (of->install) PetscCall(of->install(ksp, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDevEventsRegister(void)
{
  PetscFunctionBegin;
  MGDevWatchesItself(KSPSolve_Device);
  PetscCall(PetscLogEventRegister("KSPDevSetUp", KSP_CLASSID, &KSPDev_SetUp));
  PetscCall(PetscLogEventRegister("KSPDevLoop", KSP_CLASSID, &KSPDev_Loop));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Looks up PETSc's creator of the parent, which libpetsc does not export, before that name can be replaced */
PetscErrorCode KSPDevRegister(KSPDevClass *of)
{
  PetscFunctionBegin;
  PetscCall(KSPInitializePackage());
  PetscCall(PetscFunctionListFind(KSPList, of->parent_type, &of->create_parent));
  PetscCheck(of->create_parent, PETSC_COMM_SELF, PETSC_ERR_LIB, "This PETSc has no KSP type %s", of->parent_type);
  PetscCall(KSPRegister(of->type, of->create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the parent's name mean this type, or the parent's again; affects only solvers that get their type afterwards */
PetscErrorCode KSPDevReplace(const KSPDevClass *of, PetscBool replace)
{
  PetscFunctionBegin;
  PetscCall(KSPRegister(of->parent_type, replace ? of->create : of->create_parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}
