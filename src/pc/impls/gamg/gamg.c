/*
  gamg.c - the square of a graph in PCGAMGAGG, on the GPU.

  Up to PETSc 3.25 the square is a product of two matrices of ours without its numeric phase: matmat.c does it. From
  3.26 on PCGAMGAGG sets MAT_STRUCTURE_ONLY, and then MatProductSetFromOptions() takes the host's algorithm before it
  looks at the operations of the factors. It does not do so if PCGAMG needs values for smoothers by heavy edge matching
  (HEM). So, while the step `coarsen` runs, the fields of PCGAMG say that it needs them: the product is then ours, and
  matmat.c sets MAT_STRUCTURE_ONLY on it, by which PCGAMG sees that there are no values to compute. Nothing else reads
  these fields within the step.
*/
#include "gamg.h"
#include "mat/impls/aij/aijfmt.h"
#include "sys/private.h"

#if AIJFMT_STRUCTURE_ONLY_SQUARE

typedef PetscErrorCode Coarsen(PC, Mat *, PetscCoarsenData **);

/* Whether PCGAMG needs only the pattern of the square of G, and G is of our type */
static PetscErrorCode WantsPattern(const PC_GAMG *gamg, Mat G, PetscBool *wants)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(G, &s));
  *wants = s && !s->parallel && spmv_device_count(NULL) > 0 && (gamg->use_aggs_in_asm || !gamg->asm_hem_aggs)
               ? PETSC_TRUE
               : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGAMGCoarsen_AIJFmt(PC pc, Mat *G, PetscCoarsenData **aggregates)
{
  PC_GAMG        *gamg    = PetscPackGamg(pc);
  const PetscBool use     = gamg->use_aggs_in_asm;
  const PetscInt  hem     = gamg->asm_hem_aggs;
  PetscBool       pattern = PETSC_FALSE;
  PetscErrorCode  error;

  PetscFunctionBegin;
  PetscCall(WantsPattern(gamg, *G, &pattern));
  if (pattern) {
    gamg->use_aggs_in_asm = PETSC_FALSE;
    gamg->asm_hem_aggs    = 1;
  }
  aijfmt_process.squared = pattern ? *G : NULL;
  error                  = ((Coarsen *)aijfmt_process.gamg_coarsen)(pc, G, aggregates);
  aijfmt_process.squared = NULL;
  gamg->use_aggs_in_asm  = use;
  gamg->asm_hem_aggs     = hem;
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called before each set-up, because PCGAMGSetType() may have reinstalled PETSc's step */
PetscErrorCode AIJFmtGamgWatch(PC pc)
{
  PC_GAMG   *gamg;
  PCGAMGType type;
  PetscBool  is_gamg, is_agg, fits;

  PetscFunctionBegin;
  PetscCall(PetscPackIsGamg(pc, &is_gamg));
  if (is_gamg) PetscCall(PetscPackGamgFits(&fits));
  if (!is_gamg || !fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGAMGGetType(pc, &type));
  PetscCall(PetscStrcmp(type, PCGAMGAGG, &is_agg));
  gamg = PetscPackGamg(pc);
  if (!is_agg || gamg->ops->coarsen == PCGAMGCoarsen_AIJFmt) PetscFunctionReturn(PETSC_SUCCESS);
  aijfmt_process.gamg_coarsen = (AIJFmtFunction)gamg->ops->coarsen;
  gamg->ops->coarsen          = PCGAMGCoarsen_AIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode AIJFmtGamgWatch(PC pc)
{
  (void)pc;
  return PETSC_SUCCESS;
}
#endif
