/*
  hidden.c - data that PETSc has no getter for: the bounds and coefficients of KSPCHEBYSHEV, and the scale of
  KSPRICHARDSON.

  They are read from the first fields of the private structs, whose layout was compared in the sources of 3.18 to 3.26.
  To detect another layout, the numbers are compared with those that the solver's own view prints. If they differ, and
  in any other version of PETSc, the hierarchy is left to PETSc.
*/
#include "hierarchy.h"
#include <stdio.h>

#if PETSC_VERSION_GE(3, 18, 0) && PETSC_VERSION_LT(3, 27, 0)
  #define LAYOUT_KNOWN 1
#else
  #define LAYOUT_KNOWN 0
#endif

/* The first fields of KSP_Chebyshev */
typedef struct {
  PetscReal emin, emax, emin_computed, emax_computed, emin_provided, emax_provided;
#if PETSC_VERSION_GE(3, 19, 0)
  PetscReal *betas;
  PetscInt   num_betas_alloc;
#endif
  KSP       kspest;
  PetscReal tform[4];
} ChebyshevHead;

/* The first fields of KSP_Richardson */
typedef struct {
  PetscReal scale;
  PetscBool selfscale;
} RichardsonHead;

/* The bounds set by the user, else those derived from the estimates of the smoother, else from those of PCGAMG */
static void Bounds(const ChebyshevHead *c, PetscReal *emin, PetscReal *emax)
{
  const PetscReal *t = c->tform;

  *emin = c->emin;
  *emax = c->emax;
  if (*emax == 0 && c->emax_computed != 0) *emax = t[2] * c->emin_computed + t[3] * c->emax_computed;
  else if (*emax == 0) *emax = t[2] * c->emin_provided + t[3] * c->emax_provided;
  if (*emin == 0 && c->emin_computed != 0) *emin = t[0] * c->emin_computed + t[1] * c->emax_computed;
  else if (*emin == 0) *emin = t[0] * c->emin_provided + t[1] * c->emax_provided;
}

#if PETSC_VERSION_LT(3, 19, 0)
static PetscErrorCode Kind(KSP ksp, MGDevRecurrence *r)
{
  (void)ksp;
  r->kind = MGDEV_FIRST;
  return PETSC_SUCCESS;
}
#else
static PetscErrorCode Kind(KSP ksp, MGDevRecurrence *r)
{
  const ChebyshevHead *head = (const ChebyshevHead *)ksp->data;
  KSPChebyshevKind     kind;

  PetscFunctionBegin;
  PetscCall(KSPChebyshevGetKind(ksp, &kind));
  r->kind = kind == KSP_CHEBYSHEV_FIRST ? MGDEV_FIRST : kind == KSP_CHEBYSHEV_FOURTH ? MGDEV_FOURTH : MGDEV_OPT_FOURTH;
  if (kind == KSP_CHEBYSHEV_OPT_FOURTH && head->betas && head->num_betas_alloc >= r->steps)
    PetscCall(PetscArraycpy(r->beta, head->betas, r->steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Gets the numbers from which the steps of a smoother are computed */
PetscErrorCode MGDevRecurrenceGet(KSP ksp, MGDevRecurrence *r, char why[SPMV_MESSAGE_MAX])
{
  const RichardsonHead *richardson = (const RichardsonHead *)ksp->data;
  PetscBool             is;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(r, sizeof *r));
  r->id    = ((PetscObject)ksp)->id;
  r->steps = ksp->max_it;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &is));
  if (!LAYOUT_KNOWN) PetscCall(PetscStrncpy(why, "the smoothers of this PETSc are not known", SPMV_MESSAGE_MAX));
  else if (is && richardson->selfscale) PetscCall(PetscStrncpy(why, "the smoother scales itself", SPMV_MESSAGE_MAX));
  else if (is) r->scale = richardson->scale; /* kind is MGDEV_RICHARDSON */
  else {
    PetscCall(Kind(ksp, r));
    Bounds((const ChebyshevHead *)ksp->data, &r->emin, &r->emax);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the text that the view of a solver prints; the caller frees it. NULL if it could not be had. Only the first
   process gets text. */
static PetscErrorCode Printed(KSP ksp, char **text)
{
  size_t      bytes;
  PetscViewer viewer;
  FILE       *stream = open_memstream(text, &bytes);

  PetscFunctionBegin;
  if (!stream) *text = NULL;
  if (!stream) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIOpenWithFILE(PetscObjectComm((PetscObject)ksp), stream, &viewer));
  PetscCall((*ksp->ops->view)(ksp, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  fclose(stream);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that the view of the solver prints the same numbers */
PetscErrorCode MGDevRecurrenceCheck(KSP ksp, const MGDevRecurrence *r, char why[SPMV_MESSAGE_MAX])
{
  char       *text, line[128], *found = NULL;
  PetscMPIInt rank;
  int         right;

  PetscFunctionBegin;
  if (r->kind == MGDEV_RICHARDSON) PetscCall(PetscSNPrintf(line, sizeof line, "damping factor=%g\n", (double)r->scale));
  else
    PetscCall(PetscSNPrintf(line, sizeof line, "eigenvalue targets used: min %g, max %g\n", (double)r->emin,
                            (double)r->emax));
  PetscCall(Printed(ksp, &text));
  if (text) PetscCall(PetscStrstr(text, line, &found));
  right = found ? 1 : 0;
  free(text);
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)ksp), &rank));
  PetscCallMPI(MPI_Bcast(&right, 1, MPI_INT, 0, PetscObjectComm((PetscObject)ksp)));
  if (!right)
    PetscCall(PetscStrncpy(why, "the numbers of the smoother are not those that its view prints", SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}
