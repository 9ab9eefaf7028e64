/*
  pchypre.c - the type name hypre for gamgdevice. A PC of that name is a gamgdevice with aggdevice as long as its kind is
  boomeramg, which is also the default of PETSc; with another kind it becomes PETSc's own PCHYPRE.
*/
#include "pctypes.h"
#include "sys/private.h"

#define PETSC_HYPRE      "petschypre" /* the name of PETSc's own type while the name hypre is ours */
#define BOOMERAMG        "boomeramg"
#define BOOMERAMG_PREFIX "pc_hypre_boomeramg_"

static PetscErrorCode (*create_hypre)(PC) = NULL; /* PETSc's creator, or NULL if it has none */

static PetscErrorCode BecomePetscs(PC pc, const char kind[])
{
  PetscFunctionBegin;
  PetscCheck(create_hypre, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "This PETSc was built without hypre: -petscpack_replace hypre serves the kind " BOOMERAMG ", not %s",
             kind);
  PetscCall(PCSetType(pc, PETSC_HYPRE));
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCHYPRE));
  PetscTryMethod(pc, "PCHYPRESetType_C", (PC, const char[]),
                 (pc, kind)); /* PCHYPRESetType() is part of hypre's build */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetKind(PC pc, const char kind[])
{
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(kind, BOOMERAMG, &same));
  if (!same) PetscCall(BecomePetscs(pc, kind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetKind(PC pc, const char **kind)
{
  PetscFunctionBegin;
  (void)pc;
  *kind = BOOMERAMG;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One line names the options of BoomerAMG that are set for this PC; the same line only once */
static PetscErrorCode TellOptionsOf(PC pc)
{
  static char told[SPMV_MESSAGE_MAX];
  char        begin[SPMV_MESSAGE_MAX], names[SPMV_MESSAGE_MAX] = "", *all, *rest;
  const char *prefix;
  PetscBool   same;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscSNPrintf(begin, sizeof begin, "-%s" BOOMERAMG_PREFIX, prefix ? prefix : ""));
  PetscCall(PetscOptionsGetAll(((PetscObject)pc)->options, &all));
  for (char *word = strtok_r(all, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    if (strncmp(word, begin, strlen(begin))) continue;
    PetscCall(PetscStrlcat(names, " ", sizeof names));
    PetscCall(PetscStrlcat(names, word, sizeof names));
  }
  PetscCall(PetscFree(all));
  PetscCall(PetscStrcmp(names, told, &same));
  if (!names[0] || same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(told, names, sizeof told));
  PetscCall(PetscFPrintf(PetscObjectComm((PetscObject)pc), PETSC_STDERR,
                         "petscpack: gamgdevice replaces BoomerAMG and does not take over%s\n", names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_AsHypre(PC pc, AIJFmtOptionItems PetscOptionsObject)
{
  char kind[256] = BOOMERAMG;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Multigrid on the device in place of BoomerAMG");
  PetscCall(PetscOptionsString("-pc_hypre_type", "Another kind than " BOOMERAMG " is hypre's own", "PCHYPRESetType",
                               kind, kind, sizeof kind, NULL));
  PetscOptionsHeadEnd();
  PetscCall(SetKind(pc, kind));
  if (pc->ops->setfromoptions != PCSetFromOptions_AsHypre) { /* it has become PETSc's */
    PetscCall((*pc->ops->setfromoptions)(pc, PetscOptionsObject));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCSetFromOptions_MGDevice(pc, PetscOptionsObject));
  PetscCall(TellOptionsOf(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_AsHypre(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHYPRESetType_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHYPREGetType_C", NULL));
  PetscCall(PCDestroy_MGDevice(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateAsHypre(PC pc)
{
  PetscFunctionBegin;
  PetscCall(MGDevCreateAsGamg(pc));
  PetscCall(PCGAMGSetType(pc, PCGAMGAGGDEVICE));
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCHYPRE));
  pc->ops->setfromoptions = PCSetFromOptions_AsHypre;
  pc->ops->destroy        = PCDestroy_AsHypre;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHYPRESetType_C", SetKind));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHYPREGetType_C", GetKind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Affects only PCs that get their type afterwards. A creator that is NULL removes a name from PETSc's list. */
PetscErrorCode MGDevReplaceHypre(PetscBool replace)
{
  static PetscBool known = PETSC_FALSE;

  PetscFunctionBegin;
  if (!known) PetscCall(PetscFunctionListFind(PCList, PCHYPRE, &create_hypre));
  known = PETSC_TRUE;
  PetscCall(PCRegister(PETSC_HYPRE, replace ? create_hypre : NULL));
  PetscCall(PCRegister(PCHYPRE, replace ? CreateAsHypre : create_hypre));
  PetscFunctionReturn(PETSC_SUCCESS);
}
