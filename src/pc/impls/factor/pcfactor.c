/*
  pcfactor.c - the names lu, cholesky, ilu and icc for factors on the GPU. A PC stays PETSc's; where it is about to choose
  a package and none is named, it takes cudss, or petscpack for incomplete factors. It does so in three places: in
  PCSetFromOptions(), in PCFactorSetUpMatSolverType(), and in PCSetUp().
*/
#include "pcfactor.h"
#include "mat/impls/factor/factor.h"
#include "mat/impls/incomplete/incomplete.h"

static PetscErrorCode CreateLU(PC);
static PetscErrorCode CreateCholesky(PC);
static PetscErrorCode CreateILU(PC);
static PetscErrorCode CreateICC(PC);

typedef struct {
  PCType        type;
  MatFactorType factor;
  MatSolverType package; /* that is taken if none is named */
  PetscErrorCode (*replacement)(PC);
  PetscErrorCode (*create)(PC); /* PETSc's creator */
  PetscErrorCode (*setup)(PC);
  PetscErrorCode (*setfromoptions)(PC, AIJFmtOptionItems);
  PetscErrorCode (*choose)(PC);             /* PETSc's PCFactorSetUpMatSolverType(), ... */
  PetscErrorCode (*reorder)(PC, PetscReal); /* ... and PCFactorReorderForNonzeroDiagonal(), of PCLU alone */
} Hooks;

enum { HOOKS = 4 };
static Hooks hooks[HOOKS] = {{PCLU, MAT_FACTOR_LU, MATSOLVERCUDSS, .replacement = CreateLU},
                             {PCCHOLESKY, MAT_FACTOR_CHOLESKY, MATSOLVERCUDSS, .replacement = CreateCholesky},
                             {PCILU, MAT_FACTOR_ILU, MATSOLVERPETSCPACK, .replacement = CreateILU},
                             {PCICC, MAT_FACTOR_ICC, MATSOLVERPETSCPACK, .replacement = CreateICC}};

static Hooks *HooksOf(PCType type)
{
  int i = 0;

  while (i < HOOKS - 1 && strcmp(type, hooks[i].type)) i++;
  return &hooks[i];
}

/* A factor in place overwrites the matrix: only PETSc's package can do that */
static PetscErrorCode PackageChoose(PC pc, const Hooks *h)
{
  MatSolverType package  = NULL;
  PetscBool     in_place = PETSC_FALSE, available = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCFactorGetMatSolverType(pc, &package));
  PetscCall(PCFactorGetUseInPlace(pc, &in_place));
  if (package || in_place || !pc->pmat) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetFactorAvailable(pc->pmat, h->package, h->factor, &available));
  if (available) PetscCall(PCFactorSetMatSolverType(pc, h->package));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A call in which PETSc may make the factor of the PC, perhaps of a named package */
#define AsPC(call)                                                                                                     \
  do {                                                                                                                 \
    MatCuDSSWithinPC(PETSC_TRUE);                                                                                      \
    const PetscErrorCode aspc_error_ = (call);                                                                         \
    MatCuDSSWithinPC(PETSC_FALSE);                                                                                     \
    PetscCall(aspc_error_);                                                                                            \
  } while (0)

static PetscErrorCode PCSetUp_Factor(PC pc)
{
  MatSolverType package  = NULL;
  PetscBool     in_place = PETSC_FALSE, ours;
  const Hooks  *h        = HooksOf(((PetscObject)pc)->type_name);

  PetscFunctionBegin;
  PetscCall(PackageChoose(pc, h));
  PetscCall(PCFactorGetUseInPlace(pc, &in_place));
  PetscCall(PCFactorGetMatSolverType(pc, &package));
  PetscCall(PetscStrcmp(package, MATSOLVERCUDSS, &ours));
  /* set after the choice: the ordering that cudss prefers is none */
  if (in_place && ours) PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGND));
  AsPC((*h->setup)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc makes a factor in here to ask for its ordering, of the package that an option may name */
static PetscErrorCode PCSetFromOptions_Factor(PC pc, AIJFmtOptionItems PetscOptionsObject)
{
  static const char *const options[] = {"-pc_factor_mat_solver_type", "-pc_factor_mat_solver_package",
                                        "-pc_factor_in_place"};
  const char              *prefix;
  PetscBool                set = PETSC_FALSE;
  const Hooks             *h   = HooksOf(((PetscObject)pc)->type_name);

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  for (size_t i = 0; i < sizeof options / sizeof *options && !set; i++)
    PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, prefix, options[i], &set));
  if (!set) PetscCall(PackageChoose(pc, h));
  AsPC((*h->setfromoptions)(pc, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Choose_Factor(PC pc)
{
  const Hooks *h = HooksOf(((PetscObject)pc)->type_name);

  PetscFunctionBegin;
  PetscCall(PackageChoose(pc, h));
  AsPC((*h->choose)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc permutes the rows of an ordering, and the one that cudss prefers is none. So this needs the one that PETSc's
   package prefers; with different orderings of rows and columns that package factors. */
static PetscErrorCode Reorder_Factor(PC pc, PetscReal tolerance)
{
  const Hooks  *h       = HooksOf(((PetscObject)pc)->type_name);
  MatSolverType package = NULL;
  const char   *prefix;
  PetscBool     named, ours;

  PetscFunctionBegin;
  PetscCall((*h->reorder)(pc, tolerance));
  PetscCall(PCFactorGetMatSolverType(pc, &package));
  PetscCall(PetscStrcmp(package, MATSOLVERCUDSS, &ours));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, prefix, "-pc_factor_mat_ordering_type", &named));
  if (!named && (ours || !package)) PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGND));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Hook(PC pc, Hooks *h)
{
  AIJFmtFunction choose, reorder;

  PetscFunctionBegin;
  PetscCall((*h->create)(pc));
  h->setup          = pc->ops->setup;
  h->setfromoptions = pc->ops->setfromoptions;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCFactorSetUpMatSolverType_C", &choose));
  h->choose = (PetscErrorCode(*)(PC))choose;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCFactorReorderForNonzeroDiagonal_C", &reorder));
  h->reorder              = (PetscErrorCode(*)(PC, PetscReal))reorder;
  pc->ops->setup          = PCSetUp_Factor;
  pc->ops->setfromoptions = PCSetFromOptions_Factor;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCFactorSetUpMatSolverType_C", Choose_Factor));
  if (reorder && h->factor == MAT_FACTOR_LU) /* incomplete factors have natural order with each package */
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCFactorReorderForNonzeroDiagonal_C", Reorder_Factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLU(PC pc) { return Hook(pc, &hooks[0]); }
static PetscErrorCode CreateCholesky(PC pc) { return Hook(pc, &hooks[1]); }
static PetscErrorCode CreateILU(PC pc) { return Hook(pc, &hooks[2]); }
static PetscErrorCode CreateICC(PC pc) { return Hook(pc, &hooks[3]); }

PetscErrorCode PCFactorReplace(PCType type, PetscBool replace)
{
  Hooks *h = HooksOf(type);

  PetscFunctionBegin;
  if (!h->create) PetscCall(PetscFunctionListFind(PCList, type, &h->create));
  PetscCall(PCRegister(type, replace ? h->replacement : h->create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCFactorOnDevice(PC pc, PetscBool *is, SpmvDirect **direct, char reason[SPMV_MESSAGE_MAX])
{
  Mat_CuDSS *s = NULL;
  Mat        F;

  PetscFunctionBegin;
  *direct = NULL;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, is, PCLU, PCCHOLESKY, ""));
  if (!*is || !pc->setupcalled || pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatCuDSSStateGet(F, &s));
  *is = s ? PETSC_TRUE : PETSC_FALSE;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  if (!s->several) *direct = s->direct;
  PetscCall(PetscStrncpy(reason, s->why, SPMV_MESSAGE_MAX));
  if (s->several && !s->host)
    PetscCall(PetscStrncpy(reason, "a factor of several processes is applied through the host", SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}
