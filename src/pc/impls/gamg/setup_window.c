/*
  setup_window.c - the set-up of preconditioners of PETSc that compare the whole type name of their matrix, under the
  parent's name (see petsc_names.c). While PCGAMG sets up, copies of matrices in device memory are kept.
*/
#include "gamg.h"
#include "sys/private.h"
#include "mat/impls/aij/aijfmt.h"
#include <petsc/private/pcimpl.h>

static AIJFmtWrapped wrapped[] = {{.type = PCCP}, {.type = PCTFS}, {.type = PCILU}, {.type = PCGAMG}};
enum { PCS = PETSC_STATIC_ARRAY_LENGTH(wrapped) };

/* Types that derive from PCGAMG call its operations */
static PetscErrorCode PCNamesFind_AIJFmt(PC pc, AIJFmtWrapped **row)
{
  PetscBool is_gamg;

  PetscFunctionBegin;
  PetscCall(PetscPackIsGamg(pc, &is_gamg));
  PetscCall(AIJFmtWrappedFind(wrapped, PCS, is_gamg ? PCGAMG : ((PetscObject)pc)->type_name, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef PetscErrorCode PCStep(PC);

/* PCILU changes a shift of kind nonzero, and classical PCGAMG stops, for MATSEQAIJCUSPARSE as well, so a matrix over
   the CUDA parent keeps that behavior. The other preconditioners only read the host's arrays. */
static PetscErrorCode NeedsHostName(PC pc, PetscBool *needs)
{
  MatFactorShiftType shift;
  PCGAMGType         gamg;
  Mat_AIJFmt        *s;
  PetscBool          is_ilu, is_gamg;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(pc->pmat, &s));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCILU, &is_ilu));
  PetscCall(PetscPackIsGamg(pc, &is_gamg));
  *needs = s ? PETSC_TRUE : PETSC_FALSE;
  if (!s || !(is_ilu || is_gamg)) PetscFunctionReturn(PETSC_SUCCESS);
  if (is_ilu) {
    PetscCall(PCFactorGetShiftType(pc, &shift));
    *needs = shift == MAT_SHIFT_NONZERO ? PETSC_TRUE : PETSC_FALSE;
  } else {
    PetscCall(PCGAMGGetType(pc, &gamg));
    PetscCall(PetscStrcmp(gamg, PCGAMGCLASSICAL, needs));
  }
  if (AIJFmtIsOverCuda(s)) *needs = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_AIJFmt(PC pc)
{
  AIJFmtNameGuard guard = {.state = NULL};
  AIJFmtWrapped  *row;
  PetscErrorCode  error;
  PetscBool       needs = PETSC_FALSE, is_gamg; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  PetscCall(PCNamesFind_AIJFmt(pc, &row));
  PetscCall(AIJFmtGamgWatch(pc));
  PetscCall(NeedsHostName(pc, &needs));
  if (needs) PetscCall(AIJFmtNameGuardBegin(pc->pmat, AIJFMT_PARENT_HOST, &guard));
  PetscCall(PetscPackIsGamg(pc, &is_gamg));
  if (is_gamg) AIJFmtCopiesBegin();
  error = ((PCStep *)row->operation)(pc);
  if (is_gamg) PetscCall(AIJFmtGamgForgetNear(pc));
  if (is_gamg) PetscCall(AIJFmtCopiesEnd());
  PetscCall(AIJFmtNameGuardEnd(pc->pmat, &guard));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_AIJFmt(PC pc)
{
  AIJFmtWrapped *row;

  PetscFunctionBegin;
  PetscCall(PCNamesFind_AIJFmt(pc, &row));
  PetscCall(((PCStep *)row->create)(pc));
  row->operation = (AIJFmtFunction)pc->ops->setup;
  pc->ops->setup = PCSetUp_AIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before types derived from PCGAMG are registered, so that they have this set-up, too */
PetscErrorCode AIJFmtPCNamesRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  PetscCall(AIJFmtWrappedCreators(wrapped, PCS, &PCList, (AIJFmtFunction)PCCreate_AIJFmt));
  PetscFunctionReturn(PETSC_SUCCESS);
}
