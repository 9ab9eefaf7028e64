/*
  reasons.c - why a solver did not run on the GPU as a whole, and which options would change that. A line of the tables is
  true of every solver of that type; what depends on the matrix or on options comes from the solver or the preconditioner
  that declined.
*/
#include "watch.h"
#include "ksp/impls/device/kspdevice.h"
#include "pc/impls/multigrid/pctypes.h"

/* Preconditioners with no form on the GPU */
static const struct {
  const char *type, *why;
} of_pc[] = {
    {PCQR, "factors are computed and applied on the host"},
    {PCEISENSTAT, "its sweeps run on the host"},
    {PCKACZMARZ, "its sweeps run on the host"},
    {PCGASM, "its blocks are solved outside of the iterations on the GPU"},
    {PCPATCH, "its patches are solved on the host"},
    {PCVPBJACOBI, "its blocks of different sizes are applied on the host"},
    {PCSVD, "it is a dense factorization on the host"},
    {PCREDUNDANT, "every process solves the whole system on the host"},
    {PCTELESCOPE, "it moves the system to fewer processes through the host"},
    {PCFIELDSPLIT, "it takes fields apart and puts them together on the host"},
    {PCCOMPOSITE, "it adds the results of its parts on the host"},
    {PCKSP, "it passes vectors of the host to the solver within it"},
    {PCGALERKIN, "it restricts and interpolates on the host"},
    {PCLSC, "it multiplies by parts of the system on the host"},
    {PCMAT, "its matrix is applied on the host"},
    {PCSHELL, "it is a function of the program"},
    {PCPYTHON, "it is a function of the program"},
    {PCHYPRE, "it is set up and applied on the host"},
    {PCML, "it is set up on the host"},
    {PCHMG, "its levels are not those of mg or gamg"},
    {PCBDDC, "its subdomains are solved on the host"},
    {PCNN, "its subdomains are solved on the host"},
    {PCHPDDM, "its subdomains are solved on the host"},
    {PCSPAI, "its approximate inverse is computed and applied on the host"},
    {PCPARMS, "it is computed and applied on the host"},
    {PCTFS, "its coarse solver runs on the host"},
    {PCCP, "its sweeps run on the host"},
};

/* Appends "-<prefix><rest>" to a hint */
static PetscErrorCode HintAdd(char hint[SPMV_MESSAGE_MAX], const char prefix[], const char rest[])
{
  PetscFunctionBegin;
  if (hint[0]) PetscCall(PetscStrlcat(hint, " ", SPMV_MESSAGE_MAX));
  PetscCall(PetscStrlcat(hint, "-", SPMV_MESSAGE_MAX));
  PetscCall(PetscStrlcat(hint, prefix ? prefix : "", SPMV_MESSAGE_MAX));
  PetscCall(PetscStrlcat(hint, rest, SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options that remove the reason of a multigrid cycle */
static PetscErrorCode HintForCycle(const char why[], const char prefix[], char hint[SPMV_MESSAGE_MAX])
{
  PetscFunctionBegin;
  if (strstr(why, "the preconditioner is ") || strstr(why, "of the smoother is PETSc's own") ||
      strstr(why, "the rows wait for each other"))
    PetscCall(HintAdd(hint, prefix, "mg_levels_pc_type jacobi"));
  if (strstr(why, "the smoother is ") || strstr(why, "computes norms"))
    PetscCall(HintAdd(hint, prefix, "mg_levels_ksp_type chebyshev"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A type that is replaced by ours if the program asks for it */
static PetscErrorCode ReasonNotReplaced(const char type[], char why[SPMV_MESSAGE_MAX], char hint[SPMV_MESSAGE_MAX])
{
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "%s is PETSc's own type", type));
  PetscCall(PetscSNPrintf(hint, SPMV_MESSAGE_MAX, "-petscpack_replace %s", type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IsBoomerAMG(PC pc, PetscBool *is)
{
  const char *kind = NULL;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCHYPRE, is));
  if (!*is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscTryMethod(pc, "PCHYPREGetType_C", (PC, const char **), (pc, &kind));
  PetscCall(PetscStrcmp(kind, "boomeramg", is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why a factorization is not on the GPU; "" if it is, or if the PC is no PCLU and no PCCHOLESKY, and then *is is false */
static PetscErrorCode ReasonOfFactor(PC pc, PetscBool *is, char why[SPMV_MESSAGE_MAX], char hint[SPMV_MESSAGE_MAX])
{
  MatSolverType package  = NULL;
  PetscBool     in_place = PETSC_FALSE, ours, available = PETSC_FALSE;
  SpmvDirect   *direct;
  PCType        type;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, is, PCLU, PCCHOLESKY, ""));
  PetscCall(PCFactorOnDevice(pc, &ours, &direct, why));
  if (!*is || ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetType(pc, &type));
  PetscCall(PCFactorGetMatSolverType(pc, &package));
  PetscCall(PCFactorGetUseInPlace(pc, &in_place));
  if (!in_place) PetscCall(MatGetFactorAvailable(pc->pmat, MATSOLVERCUDSS, MAT_FACTOR_LU, &available));
  if (in_place || !available)
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "%s: factors %s are computed and applied on the host", type,
                            in_place ? "in place" : "of this type of matrix"));
  else if (package)
    PetscCall(
        PetscSNPrintf(why, SPMV_MESSAGE_MAX, "%s: the package %s is named, which runs on the host", type, package));
  else PetscCall(ReasonNotReplaced(type, why, hint));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why incomplete factors would stay on the host with -petscpack_replace, too; "" if they would not */
static PetscErrorCode ReasonOfOwnIncomplete(PC pc, char why[SPMV_MESSAGE_MAX])
{
  MatSolverType      package   = NULL;
  PetscBool          available = PETSC_FALSE, in_place = PETSC_FALSE, named, ilu, asked;
  MatFactorShiftType shift;
  const char        *prefix;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCILU, &ilu));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, prefix, "-pc_factor_mat_solver_type", &named));
  PetscCall(PCFactorGetMatSolverType(pc, &package));
  PetscCall(PCFactorGetUseInPlace(pc, &in_place));
  PetscCall(PCFactorGetShiftType(pc, &shift));
  PetscCall(MatGetFactorAvailable(pc->pmat, MATSOLVERPETSCPACK, ilu ? MAT_FACTOR_ILU : MAT_FACTOR_ICC, &available));
  if (named) PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "the package %s is named", package ? package : "petsc"));
  else if (in_place || !available)
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "factors %s are made on the host",
                            in_place ? "in place" : "of this type of matrix"));
  else PetscCall(MatIncompleteWhyHost(pc->pmat, shift, &asked, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of incomplete factors and sweeps */
static PetscErrorCode ReasonOfIncomplete(PC pc, PetscBool *is, char why[SPMV_MESSAGE_MAX], char hint[SPMV_MESSAGE_MAX])
{
  char               text[SPMV_MESSAGE_MAX] = "";
  MatIncompleteApply a;
  PetscBool          ours, factor;
  PCType             type;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &factor, PCILU, PCICC, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, is, PCILU, PCICC, PCSOR, ""));
  PetscCall(PCIncompleteOnDevice(pc, PETSC_FALSE, &ours, &a, text));
  if (!*is || a.of) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetType(pc, &type));
  if (!ours) PetscCall(ReasonOfOwnIncomplete(pc, text));
  if (text[0])
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "%s: %s on the host: %s", type,
                            factor ? "incomplete factors are computed and applied" : "its sweeps run", text));
  else if (!ours) PetscCall(ReasonNotReplaced(type, why, hint));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the preconditioner cannot run on the GPU; "" if it did, or would in a solver of ours */
static PetscErrorCode ReasonOfPC(PC pc, char why[SPMV_MESSAGE_MAX], char hint[SPMV_MESSAGE_MAX])
{
  char         text[SPMV_MESSAGE_MAX] = "";
  PC_MGDevice *ours;
  PetscBool    served, boomeramg;
  const char  *prefix;
  PCType       type;
  PetscInt     blocks;
  KSP         *sub;

  PetscFunctionBegin;
  PetscCall(PCGetType(pc, &type));
  PetscCall(PCFunctionBlocks(pc, &blocks, &sub, text));
  if (text[0]) PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "%s: it is applied on the host: %s", type, text));
  for (PetscInt i = 0; i < blocks && !why[0]; i++) {
    PC inner;

    PetscCall(KSPGetPC(sub[i], &inner));
    PetscCall(ReasonOfPC(inner, why, hint));
  }
  if (text[0] || blocks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &served, PCNONE, PCJACOBI, PCPBJACOBI, ""));
  if (served) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ReasonOfFactor(pc, &served, why, hint));
  if (!served) PetscCall(ReasonOfIncomplete(pc, &served, why, hint));
  if (served) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGDevStateGet(pc, &ours, NULL));
  PetscCall(MGDevIsHierarchy(pc, &served));
  PetscCall(IsBoomerAMG(pc, &boomeramg));
  if (ours) {
    PetscCall(PetscStrncpy(why, ours->reason, SPMV_MESSAGE_MAX));
    PetscCall(HintForCycle(why, prefix, hint));
  } else if (served || boomeramg) PetscCall(ReasonNotReplaced(type, why, hint));
  else {
    const char *known = "petscpack has no form of it";

    for (size_t i = 0; type && i < sizeof of_pc / sizeof *of_pc; i++)
      if (!strcmp(type, of_pc[i].type)) known = of_pc[i].why;
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "%s: %s", type ? type : "a preconditioner without type", known));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the method of the solver did not run on the GPU, where its preconditioner could */
static PetscErrorCode ReasonOfKSP(KSP ksp, char why[SPMV_MESSAGE_MAX], char hint[SPMV_MESSAGE_MAX])
{
  PetscBool   replaced, flexible;
  const char *prefix;
  KSPType     type;

  PetscFunctionBegin;
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &replaced, KSPCG, KSPGMRES, KSPRICHARDSON, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPFGMRES, &flexible));
  if (replaced) PetscCall(ReasonNotReplaced(type, why, hint));
  else {
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX,
                            "%s: its vectors are on the host; cg, gmres and richardson have a form for the GPU", type));
    /* with a preconditioner that does not change, both make the same iterates */
    if (flexible) PetscCall(HintAdd(hint, prefix, "ksp_type gmres"));
    if (flexible) PetscCall(HintAdd(hint, prefix, "ksp_pc_side right"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackSolverReason(KSP ksp, const char call[], char why[SPMV_MESSAGE_MAX],
                                     char hint[SPMV_MESSAGE_MAX])
{
  const char *prefix;
  char        option[PETSCPACK_NAME];
  PetscBool   multigrid, own;
  KSPDevice  *ours;
  PC          pc;

  PetscFunctionBegin;
  why[0] = hint[0] = 0;
  if (!call) {
    PetscCall(PetscStrncpy(why, "a solver within it did not run on the GPU as a whole", SPMV_MESSAGE_MAX));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(MGDevIsHierarchy(pc, &multigrid));
  PetscCall(KSPDevStateGet(ksp, NULL, &ours));
  own = ours && strstr(ours->reason, "iteration of its own") ? PETSC_TRUE : PETSC_FALSE;
  if (!ours || !multigrid || own) PetscCall(ReasonOfPC(pc, why, hint));
  if (!why[0] && ours) {
    PetscCall(PetscStrncpy(why, ours->reason, SPMV_MESSAGE_MAX));
    if (multigrid) PetscCall(HintForCycle(why, prefix, hint));
    if (strstr(why, "_mode host")) {
      PetscCall(PetscSNPrintf(option, sizeof option, "ksp_%s_mode auto", ours->of->type));
      PetscCall(HintAdd(hint, prefix, option));
    }
  } else if (!why[0]) PetscCall(ReasonOfKSP(ksp, why, hint));
  PetscFunctionReturn(PETSC_SUCCESS);
}
