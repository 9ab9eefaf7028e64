/* private.c - layouts of PETSc's private structs: see private.h. */
#include "private.h"
#include <petsc/private/kspimpl.h>
#include <petsc/private/matimpl.h>
#include <petsc/private/pcgamgimpl.h>

enum { SLOT_WORDS = 32 /* words of MATSEQAIJ's private struct to search: the field is number 20 to 26 */ };

/* The result of a test in this process */
typedef struct {
  PetscBool tested, fits;
} Layout;

static Layout richardson_layout, chebyshev_layout;

/* A solver of this type with nothing set up */
static PetscErrorCode CreateSolver(KSPType type, KSP *ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetType(*ksp, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- KSPRICHARDSON ---- */

typedef struct {
  PetscReal scale;
  PetscBool selfscale;
} Richardson;

static PetscErrorCode TestRichardson(void)
{
  const Richardson *r;
  KSP               ksp;

  PetscFunctionBegin;
  PetscCall(CreateSolver(KSPRICHARDSON, &ksp));
  PetscCall(KSPRichardsonSetScale(ksp, (PetscReal)0.375));
  PetscCall(KSPRichardsonSetSelfScale(ksp, PETSC_TRUE));
  r                      = (const Richardson *)ksp->data;
  richardson_layout.fits = r->scale == (PetscReal)0.375 && r->selfscale == PETSC_TRUE ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(KSPDestroy(&ksp));
  richardson_layout.tested = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackRichardsonGet(KSP ksp, PetscReal *scale, PetscBool *itself, PetscBool *known)
{
  PetscFunctionBegin;
  if (!richardson_layout.tested) PetscCall(TestRichardson());
  *known = richardson_layout.fits;
  if (!*known) PetscFunctionReturn(PETSC_SUCCESS);
  *scale  = ((const Richardson *)ksp->data)->scale;
  *itself = ((const Richardson *)ksp->data)->selfscale;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- KSPCHEBYSHEV ---- */

typedef struct {
  PetscReal emin, emax, emin_computed, emax_computed, emin_provided, emax_provided;
#if PETSC_VERSION_GE(3, 19, 0)
  PetscReal *betas;
  PetscInt   num_betas_alloc;
#endif
  KSP       kspest;
  PetscReal tform[4];
} Chebyshev;

/* The coefficients have no setter, but lie between fields that have one */
static PetscErrorCode TestChebyshev(void)
{
  const PetscReal  tform[] = {(PetscReal)0.125, (PetscReal)0.25, (PetscReal)0.5, (PetscReal)1.5};
  const Chebyshev *c;
  PetscBool        fits;
  KSP              ksp, estimates;

  PetscFunctionBegin;
  PetscCall(CreateSolver(KSPCHEBYSHEV, &ksp));
  PetscCall(KSPChebyshevSetEigenvalues(ksp, (PetscReal)8.5, (PetscReal)1.25)); /* destroys the solver for estimates */
  PetscCall(KSPChebyshevEstEigSet(ksp, tform[0], tform[1], tform[2], tform[3]));
  PetscCall(KSPChebyshevEstEigGetKSP(ksp, &estimates));
  c    = (const Chebyshev *)ksp->data;
  fits = c->emax == (PetscReal)8.5 && c->emin == (PetscReal)1.25 && c->kspest == estimates ? PETSC_TRUE : PETSC_FALSE;
  for (int i = 0; i < 4; i++)
    if (c->tform[i] != tform[i]) fits = PETSC_FALSE;
  PetscCall(KSPDestroy(&ksp));
  chebyshev_layout = (Layout){PETSC_TRUE, fits};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackChebyshevGet(KSP ksp, PetscPackChebyshev *found, PetscBool *known)
{
  const Chebyshev *c = (const Chebyshev *)ksp->data;
  const PetscReal *t = c->tform;

  PetscFunctionBegin;
  if (!chebyshev_layout.tested) PetscCall(TestChebyshev());
  *known = chebyshev_layout.fits;
  *found = (PetscPackChebyshev){0};
  if (!*known) PetscFunctionReturn(PETSC_SUCCESS);
  found->emin = c->emin;
  found->emax = c->emax;
  if (c->emax == 0 && c->emax_computed != 0) found->emax = t[2] * c->emin_computed + t[3] * c->emax_computed;
  else if (c->emax == 0) found->emax = t[2] * c->emin_provided + t[3] * c->emax_provided;
  if (c->emin == 0 && c->emin_computed != 0) found->emin = t[0] * c->emin_computed + t[1] * c->emax_computed;
  else if (c->emin == 0) found->emin = t[0] * c->emin_provided + t[1] * c->emax_provided;
#if PETSC_VERSION_GE(3, 19, 0)
  {
    KSPChebyshevKind kind;

    PetscCall(KSPChebyshevGetKind(ksp, &kind));
    found->kind = kind == KSP_CHEBYSHEV_FIRST    ? PETSCPACK_FIRST
                  : kind == KSP_CHEBYSHEV_FOURTH ? PETSCPACK_FOURTH
                                                 : PETSCPACK_OPT_FOURTH;
  }
  found->beta  = c->betas;
  found->betas = c->num_betas_alloc;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- PCGAMGAGG ---- */

#if PETSC_VERSION_LT(3, 22, 0)
typedef struct {
  #if PETSC_VERSION_LT(3, 20, 0)
  PetscInt nsmooths, aggressive_coarsening_levels;
  #elif PETSC_VERSION_LT(3, 21, 0)
  PetscInt  nsmooths, aggressive_coarsening_levels, aggressive_mis_k;
  PetscBool flag[2];
  #else
  PetscInt  nsmooths, aggressive_coarsening_levels, aggressive_mis_k;
  PetscBool flag[3];
  #endif
  MatCoarsen crs;
} GamgAgg;

static Layout gamg_agg_layout;

static GamgAgg *GamgAggOf(PC pc) { return (GamgAgg *)((PC_GAMG *)((PC_MG *)pc->data)->innerctx)->subctx; }

static PetscErrorCode TestGamgAgg(void)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetType(pc, PCGAMGAGG));
  PetscCall(PCGAMGSetNSmooths(pc, 77));
  PetscCall(PCGAMGSetAggressiveLevels(pc, 78));
  gamg_agg_layout.fits =
      !GamgAggOf(pc)->crs && GamgAggOf(pc)->nsmooths == 77 && GamgAggOf(pc)->aggressive_coarsening_levels == 78
          ? PETSC_TRUE
          : PETSC_FALSE;
  PetscCall(PCDestroy(&pc));
  gamg_agg_layout.tested = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackGamgAggForgetCoarsen(PC pc)
{
  PetscFunctionBegin;
  if (!gamg_agg_layout.tested) PetscCall(TestGamgAgg());
  if (gamg_agg_layout.fits) PetscCall(MatCoarsenDestroy(&GamgAggOf(pc)->crs));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode PetscPackGamgAggForgetCoarsen(PC pc)
{
  (void)pc;
  return PETSC_SUCCESS;
}
#endif

/* ---- Mat ---- */

PetscScalar **PetscPackSeqAIJValues(Mat A, const PetscScalar values[])
{
  PetscScalar **word = (PetscScalar **)A->data, **found = NULL;

  for (int w = 0; w < SLOT_WORDS && values; w++) {
    if (word[w] != values) continue;
    if (found) return NULL;
    found = &word[w];
  }
  return found;
}

PetscBool PetscPackCusparseCsrExists(Mat A) { return A->spptr && *(void **)A->spptr ? PETSC_TRUE : PETSC_FALSE; }

PetscErrorCode PetscPackHeadersFit(PetscBool *fit)
{
  VecType type;
  Mat     A;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetVecType(A, VECSTANDARD));
  PetscCall(MatGetVecType(A, &type));
  *fit = type == A->defaultvectype ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
