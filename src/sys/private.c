/* private.c - layouts of PETSc's private structs: see private.h. */
#include "private.h"
#include <petsc/private/kspimpl.h>
#include <petsc/private/matimpl.h>

/* The result of a test in this process */
typedef struct {
  PetscBool tested, fits;
} Layout;

static Layout richardson_layout, chebyshev_layout, mg_layout, gamg_layout;

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
  PetscInt  eststeps;
  PetscBool usenoisy;
#if PETSC_VERSION_GE(3, 19, 0)
  KSPChebyshevKind chebykind;
#endif
#if PETSC_VERSION_LT(3, 26, 0)
  PetscObjectId    amatid, pmatid;
  PetscObjectState amatstate, pmatstate;
#else
  MatState amatstate, pmatstate;
#endif
} Chebyshev;

/* NULL: no matrix, as PETSc notes it */
static PetscBool MatIs(Mat A, PetscObjectId id, PetscObjectState state)
{
  return id == (A ? ((PetscObject)A)->id : 0) && state == (A ? ((PetscObject)A)->state : -1) ? PETSC_TRUE : PETSC_FALSE;
}

/* Whether the estimates are those of these matrices */
#if PETSC_VERSION_LT(3, 26, 0)
  #define CHEBYSHEV_SAW(c, A, P) (MatIs(A, (c)->amatid, (c)->amatstate) && MatIs(P, (c)->pmatid, (c)->pmatstate))
#else
  #define CHEBYSHEV_SAW(c, A, P)                                                                                       \
    (MatIs(A, (c)->amatstate.id, (c)->amatstate.state) && MatIs(P, (c)->pmatstate.id, (c)->pmatstate.state))
#endif

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
  PetscCall(KSPChebyshevEstEigSetUseNoisy(ksp, PETSC_FALSE));
  PetscCall(KSPChebyshevEstEigGetKSP(ksp, &estimates));
  c    = (const Chebyshev *)ksp->data;
  fits = c->emax == (PetscReal)8.5 && c->emin == (PetscReal)1.25 && c->kspest == estimates ? PETSC_TRUE : PETSC_FALSE;
  for (int i = 0; i < 4; i++)
    if (c->tform[i] != tform[i]) fits = PETSC_FALSE;
  if (!(c->eststeps == 10 && c->usenoisy == PETSC_FALSE && CHEBYSHEV_SAW(c, NULL, NULL))) fits = PETSC_FALSE;
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

PetscErrorCode PetscPackChebyshevEstimator(KSP ksp, Mat A, Mat P, PetscBool *estimates, KSP *estimator)
{
  Chebyshev *c = (Chebyshev *)ksp->data;
  PetscBool  jacobi;

  PetscFunctionBegin;
  *estimator = NULL;
  *estimates = PETSC_TRUE;
  if (!chebyshev_layout.tested) PetscCall(TestChebyshev());
  if (!chebyshev_layout.fits) PetscFunctionReturn(PETSC_SUCCESS);
  if (c->emin == 0 || c->emax == 0) {
    PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCJACOBI, &jacobi));
    if (!jacobi) c->emin_provided = c->emax_provided = 0;
    if (!c->kspest) PetscCall(KSPChebyshevEstEigSet(ksp, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE));
  }
  *estimates = c->kspest && !CHEBYSHEV_SAW(c, A, P) ? PETSC_TRUE : PETSC_FALSE;
  if (c->usenoisy && *estimates) *estimator = c->kspest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackChebyshevEstimated(KSP ksp, Mat A, Mat P, PetscReal least, PetscReal largest)
{
  Chebyshev *c = (Chebyshev *)ksp->data;

  PetscFunctionBegin;
  c->emin_computed = least;
  c->emax_computed = largest;
#if PETSC_VERSION_LT(3, 26, 0)
  c->amatid    = ((PetscObject)A)->id;
  c->pmatid    = ((PetscObject)P)->id;
  c->amatstate = ((PetscObject)A)->state;
  c->pmatstate = ((PetscObject)P)->state;
#else
  PetscCall(MatGetState(A, &c->amatstate));
  PetscCall(MatGetState(P, &c->pmatstate));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- PCMG and PCGAMG ---- */

PC_MG   *PetscPackMG(PC pc) { return (PC_MG *)pc->data; }
PC_GAMG *PetscPackGamg(PC pc) { return (PC_GAMG *)PetscPackMG(pc)->innerctx; }

PetscErrorCode PetscPackIsGamg(PC pc, PetscBool *is)
{
  void (*function)(void);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCGAMGSetType_C", &function));
  *is = function ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMG(void)
{
  const PC_MG *mg;
  PetscBool    fits;
  KSP          smoother;
  PC           pc;

  PetscFunctionBegin;
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCMG));
  PetscCall(PCMGSetLevels(pc, 2, NULL));
  PetscCall(PCMGSetType(pc, PC_MG_ADDITIVE));
  PetscCall(PCMGMultiplicativeSetCycles(pc, 77));
  PetscCall(PCMGSetCycleType(pc, PC_MG_CYCLE_W));
  PetscCall(PCMGGetSmoother(pc, 1, &smoother));
  mg   = PetscPackMG(pc);
  fits = mg->nlevels == 2 && mg->am == PC_MG_ADDITIVE && mg->cyclesperpcapply == 77 && mg->levels ? PETSC_TRUE
                                                                                                  : PETSC_FALSE;
  if (fits && !(mg->levels[1]->smoothd == smoother && mg->levels[0]->levels == 2 && mg->levels[1]->cycles == 2))
    fits = PETSC_FALSE;
  PetscCall(PCDestroy(&pc));
  mg_layout = (Layout){PETSC_TRUE, fits};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackMGFits(PetscBool *fits)
{
  PetscFunctionBegin;
  if (!mg_layout.tested) PetscCall(TestMG());
  *fits = mg_layout.fits;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called while PCGAMG is given a type, so it gives its own PC none of ours */
static PetscErrorCode TestGamg(void)
{
  PetscReal      threshold = (PetscReal)0.125;
  PetscInt       factor    = 3;
  const PC_GAMG *gamg;
  PC             pc;

  PetscFunctionBegin;
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetType(pc, PCGAMGAGG));
  PetscCall(PCGAMGASMSetUseAggs(pc, PETSC_TRUE));
  PetscCall(PCGAMGSetThreshold(pc, &threshold, 1));
  PetscCall(PCGAMGSetProcEqLim(pc, 77));
  PetscCall(PCGAMGSetRankReductionFactors(pc, &factor, 1));
  gamg             = PetscPackGamg(pc);
  gamg_layout.fits = gamg->use_aggs_in_asm == PETSC_TRUE && gamg->threshold[0] == threshold && gamg->gamg_type_name &&
                             gamg->ops && gamg->ops->coarsen && gamg->min_eq_proc == 77 &&
                             gamg->level_reduction_factors[0] == factor
                         ? PETSC_TRUE
                         : PETSC_FALSE;
  PetscCall(PCDestroy(&pc));
  gamg_layout.tested = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackGamgFits(PetscBool *fits)
{
  PetscFunctionBegin;
  PetscCall(PetscPackMGFits(fits));
  if (*fits && !gamg_layout.tested) PetscCall(TestGamg());
  *fits = *fits && gamg_layout.fits ? PETSC_TRUE : PETSC_FALSE;
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

static GamgAgg *GamgAggOf(PC pc) { return (GamgAgg *)PetscPackGamg(pc)->subctx; }

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

/* ---- MATSEQAIJ and its subclasses ---- */

typedef struct {
  PetscBool roworiented;
  PetscInt  nonew, nounused;
#if PETSC_VERSION_LT(3, 22, 0)
  PetscBool singlemalloc; /* the three arrays were allocated by one PetscMalloc3() */
#endif
  PetscInt          maxnz, *imax, *ilen, *ipre;
  PetscBool         free_imax_ilen;
  PetscInt          reallocs, rmax;
  PetscBool         keepnonzeropattern, ignorezeroentries, free_ij, free_a;
  Mat_CompressedRow compressedrow;
  PetscInt          nz, *i, *j, *diag;
#if PETSC_VERSION_LT(3, 25, 0)
  PetscInt  nonzerorowcnt;
  PetscBool free_diag;
#else
  PetscObjectState diagNonzeroState;
  PetscBool diagDense;
  PetscInt nonzerorowcnt;
#endif
  PetscScalar *a;
} SeqAIJ;

static Layout seqaij_layout;

/* The arrays of a matrix that was given all three belong to the caller; those of a preallocated matrix do not */
static PetscErrorCode TestSeqAIJ(void)
{
  PetscInt      row_ptr[] = {0, 1, 3}, col[] = {1, 0, 2}, lengths[] = {1, 2};
  PetscScalar   values[] = {1, 2, 3};
  const SeqAIJ *s;
  PetscBool     fits;
  Mat           A;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 2, 3, row_ptr, col, values, &A));
  s    = (const SeqAIJ *)A->data;
  fits = s->i == row_ptr && s->j == col && s->a == values && s->nz == 3 && s->rmax == 2 && s->nonzerorowcnt == 2 &&
                 !s->free_ij && !s->free_a
             ? PETSC_TRUE
             : PETSC_FALSE;
#if PETSC_VERSION_LT(3, 25, 0)
  if (fits && !(s->diag && s->diag[0] == 1 && s->diag[1] == 3)) fits = PETSC_FALSE;
#endif
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 3, 0, lengths, &A));
  s = (const SeqAIJ *)A->data;
  if (!(s->free_ij == PETSC_TRUE && s->free_a == PETSC_TRUE && s->maxnz == 3 && s->nz == 0)) fits = PETSC_FALSE;
#if PETSC_VERSION_LT(3, 22, 0)
  if (s->singlemalloc != PETSC_TRUE) fits = PETSC_FALSE;
#endif
  if (fits && !(s->imax[1] == 2 && s->ilen[1] == 0)) fits = PETSC_FALSE;
  PetscCall(MatDestroy(&A));
  seqaij_layout = (Layout){PETSC_TRUE, fits};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackSeqAIJValues(Mat A, PetscScalar ***field, PetscBool *known)
{
  PetscFunctionBegin;
  if (!seqaij_layout.tested) PetscCall(TestSeqAIJ());
  *known = seqaij_layout.fits;
  *field = &((SeqAIJ *)A->data)->a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackSeqAIJNonzeroRows(Mat A, PetscInt *rows)
{
  PetscFunctionBegin;
  if (!seqaij_layout.tested) PetscCall(TestSeqAIJ());
  *rows = seqaij_layout.fits ? ((SeqAIJ *)A->data)->nonzerorowcnt : A->rmap->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackSeqAIJRowPtrFree(PetscInt *row_ptr)
{
  PetscFunctionBegin;
#if PETSC_VERSION_LT(3, 22, 0)
  PetscCall(PetscFree(row_ptr));
#else
  PetscCall(PetscShmgetDeallocateArray((void **)&row_ptr));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An array as PETSc allocates it for a MATSEQAIJ */
static PetscErrorCode SeqAIJAlloc(size_t n, size_t bytes, void **array)
{
  PetscFunctionBegin;
#if PETSC_VERSION_LT(3, 22, 0)
  PetscCall(PetscMalloc(n * bytes, array));
#else
  PetscCall(PetscShmgetAllocateArray((PetscCount)n, bytes, array));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SeqAIJCopy(const void *from, size_t n, size_t bytes, void **copy)
{
  PetscFunctionBegin;
  PetscCall(SeqAIJAlloc(n, bytes, copy));
  PetscCall(PetscMemcpy(*copy, from, n * bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees those of the three arrays that are PETSc's */
static PetscErrorCode SeqAIJFree(SeqAIJ *s)
{
  PetscFunctionBegin;
#if PETSC_VERSION_LT(3, 22, 0)
  if (s->singlemalloc) PetscCall(PetscFree3(s->a, s->j, s->i));
  else {
    if (s->free_a) PetscCall(PetscFree(s->a));
    if (s->free_ij) PetscCall(PetscFree(s->j));
    if (s->free_ij) PetscCall(PetscFree(s->i));
  }
  s->singlemalloc = PETSC_FALSE;
#else
  if (s->free_a) PetscCall(PetscShmgetDeallocateArray((void **)&s->a));
  if (s->free_ij) PetscCall(PetscShmgetDeallocateArray((void **)&s->j));
  if (s->free_ij) PetscCall(PetscShmgetDeallocateArray((void **)&s->i));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackSeqAIJOwn(Mat A)
{
  SeqAIJ *s = (SeqAIJ *)A->data;

  PetscFunctionBegin;
  if (!seqaij_layout.fits || s->free_ij) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SeqAIJCopy(s->i, (size_t)A->rmap->n + 1, sizeof *s->i, (void **)&s->i));
  PetscCall(SeqAIJCopy(s->j, (size_t)s->maxnz, sizeof *s->j, (void **)&s->j));
  if (!s->free_a) PetscCall(SeqAIJCopy(s->a, (size_t)s->maxnz, sizeof *s->a, (void **)&s->a));
  s->free_ij = s->free_a = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackSeqAIJGive(Mat A, PetscInt nnz, PetscInt **col, PetscScalar values[], PetscInt **row_ptr,
                                   PetscBool *known)
{
  SeqAIJ *s = (SeqAIJ *)A->data;

  PetscFunctionBegin;
  if (!seqaij_layout.tested) PetscCall(TestSeqAIJ());
  *known = seqaij_layout.fits;
  if (!*known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SeqAIJFree(s));
  PetscCall(MatSeqAIJSetPreallocation(A, MAT_SKIP_ALLOCATION, NULL));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_TRUE));
  PetscCall(SeqAIJAlloc((size_t)A->rmap->n + 1, sizeof *s->i, (void **)&s->i));
  s->free_ij = *col ? PETSC_FALSE : PETSC_TRUE;
  if (!*col) PetscCall(SeqAIJAlloc((size_t)nnz, sizeof *s->j, (void **)col));
  *row_ptr = s->i;
  s->j     = *col;
  s->a     = values;
  if (!values) PetscCall(SeqAIJAlloc((size_t)nnz, sizeof *s->a, (void **)&s->a));
  s->free_a = values ? PETSC_FALSE : PETSC_TRUE;
  s->nz = s->maxnz = nnz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As MatCreateSeqAIJWithArrays(): each row is full */
PetscErrorCode PetscPackSeqAIJRows(Mat A)
{
  SeqAIJ        *s       = (SeqAIJ *)A->data;
  const PetscInt rows    = A->rmap->n;
  PetscInt       longest = 0, used = 0;

  PetscFunctionBegin;
  if (!s->imax) PetscCall(PetscMalloc1(rows, &s->imax));
  if (!s->ilen) PetscCall(PetscMalloc1(rows, &s->ilen));
  PetscCall(PetscFree(s->ipre));
  for (PetscInt row = 0; row < rows; row++) {
    s->imax[row] = s->ilen[row] = s->i[row + 1] - s->i[row];
    longest                     = PetscMax(longest, s->ilen[row]);
    used += s->ilen[row] > 0;
  }
  s->rmax          = longest;
  s->nonzerorowcnt = used;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackSeqAIJAssemble(Mat A, PetscInt **diagonal)
{
  const PetscReal empty = (PetscReal)0.6; /* as MatAssemblyEnd_SeqAIJ(): if so many rows are, PETSc lists the others */
  const PetscInt  rows  = A->rmap->n;
  SeqAIJ         *s     = (SeqAIJ *)A->data;

  PetscFunctionBegin;
  A->info.nz_unneeded = 0;
  PetscCall(MatCheckCompressedRow(A, s->nonzerorowcnt, &s->compressedrow, s->i, rows, empty));
  if (!diagonal) PetscFunctionReturn(PETSC_SUCCESS);
  *diagonal = NULL;
#if PETSC_VERSION_LT(3, 25, 0)
  PetscCall(PetscMalloc1(rows, &s->diag));
  s->free_diag = PETSC_TRUE;
  *diagonal    = s->diag;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Mat ---- */

PetscBool PetscPackCusparseCsrExists(Mat A) { return A->spptr && *(void **)A->spptr ? PETSC_TRUE : PETSC_FALSE; }

static PetscErrorCode NoVector(PETSC_UNUSED MatNullSpace space, PETSC_UNUSED Vec x, PETSC_UNUSED void *ctx)
{
  return PETSC_SUCCESS;
}

static PetscErrorCode TestNullSpace(PetscBool *fits)
{
  MatNullSpace space;

  PetscFunctionBegin;
  PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, NULL, &space));
  PetscCall(MatNullSpaceSetFunction(space, NoVector, NULL));
  if (!(space->has_cnst == PETSC_TRUE && space->n == 0 && space->remove == NoVector)) *fits = PETSC_FALSE;
  PetscCall(MatNullSpaceDestroy(&space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSolver(Mat A, PetscBool *fits)
{
  KSP ksp;
  PC  pc;

  PetscFunctionBegin;
  PetscCall(CreateSolver(KSPPREONLY, &ksp));
  PetscCall(KSPSetTolerances(ksp, (PetscReal)0.5, (PetscReal)0.25, 8, 77));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  if (!(ksp->rtol == (PetscReal)0.5 && ksp->abstol == (PetscReal)0.25 && ksp->max_it == 77 && ksp->pc == pc))
    *fits = PETSC_FALSE;
  if (!(pc->mat == A && pc->pmat == A)) *fits = PETSC_FALSE;
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackHeadersFit(PetscBool *fit)
{
  VecType type;
  Mat     A;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetVecType(A, VECSTANDARD));
  PetscCall(MatGetVecType(A, &type));
  *fit = type == A->defaultvectype ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(TestNullSpace(fit));
  PetscCall(TestSolver(A, fit));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
