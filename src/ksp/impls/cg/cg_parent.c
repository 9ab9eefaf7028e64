/*
  cg_parent.c - wraps the functions that KSPCG composed and its residual: notes the settings and passes them on. The
  engine has no trust region and no target of the objective function; KSPCG does such solves.
*/
#include "cgdevice.h"

/* For this variant KSPCG replaces its solve, and composes or removes its function for the objective function */
static PetscErrorCode ValueInstall(KSP, KSP_CGDevice *);

static PetscErrorCode UseSingleReduction(KSP ksp, PetscBool use)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscCall(KSPDevStateGet(ksp, &CGDevClass, &s));
  PetscCall(s->parent_single_reduction(ksp, use));
  s->single_reduction = use;
  if (ksp->ops->solve != KSPSolve_Device) s->parent.solve = ksp->ops->solve;
  ksp->ops->solve = KSPSolve_Device;
  PetscCall(ValueInstall(ksp, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetRadius(KSP ksp, PetscReal radius)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscCall(KSPDevStateGet(ksp, &CGDevClass, &s));
  s->radius = radius;
  PetscCall(s->parent_radius(ksp, radius));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetObjectiveTarget(KSP ksp, PetscReal target)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscCall(KSPDevStateGet(ksp, &CGDevClass, &s));
  s->objective = target;
  PetscCall(s->parent_objective(ksp, target));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x^T A x / 2 - x^T b. KSPCG accumulates it during a solve; after a solve by the engine it is computed here. */
static PetscErrorCode GetObjective(KSP ksp, PetscReal *value)
{
  KSP_CGDevice *s;
  PetscScalar   energy, work;
  Mat           A;
  Vec           w;

  PetscFunctionBegin;
  PetscCall(KSPDevStateGet(ksp, &CGDevClass, &s));
  if (!s->value_unknown) {
    PetscCall(s->parent_value(ksp, value));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(VecDuplicate(ksp->vec_sol, &w));
  PetscCall(MatMult(A, ksp->vec_sol, w));
  PetscCall(VecDot(w, ksp->vec_sol, &energy));
  PetscCall(VecDot(ksp->vec_rhs, ksp->vec_sol, &work));
  PetscCall(VecDestroy(&w));
  *value = PetscRealPart(energy) / 2 - PetscRealPart(work);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ValueInstall(KSP ksp, KSP_CGDevice *s)
{
  PetscErrorCode (*found)(KSP, PetscReal *);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPCGGetObjFcn_C", &found));
  if (!found || found == GetObjective) PetscFunctionReturn(PETSC_SUCCESS);
  s->parent_value = found;
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGGetObjFcn_C", GetObjective));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After or in a solve by the engine the residual is that of s->r; KSPCG has it in a work vector of its own */
static PetscErrorCode KSPBuildResidual_CGDevice(KSP ksp, Vec t, Vec v, Vec *V)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscCall(KSPDevStateGet(ksp, &CGDevClass, &s));
  if (s->value_unknown) {
    if (s->residual_away) PetscCall(CGDevResidualFetch(ksp, s));
    PetscCall(VecCopy(s->r.vec, v));
    *V = v;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPDevParentSetUp(ksp, KSPDEV(s)));
  PetscCall(s->parent.buildresidual(ksp, t, v, V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the functions that this version of PETSc has; KSPCG removes them when it is destroyed */
PetscErrorCode CGDevParentInstall(KSP ksp, KSPDevice *device)
{
  const PetscObject object = (PetscObject)ksp;
  KSP_CGDevice     *s      = (KSP_CGDevice *)device;

  PetscFunctionBegin;
  ksp->ops->buildresidual = KSPBuildResidual_CGDevice;
  PetscCall(PetscObjectQueryFunction(object, "KSPCGUseSingleReduction_C", &s->parent_single_reduction));
  PetscCall(PetscObjectQueryFunction(object, "KSPCGSetRadius_C", &s->parent_radius));
  PetscCall(PetscObjectQueryFunction(object, "KSPCGSetObjectiveTarget_C", &s->parent_objective));
  if (s->parent_single_reduction)
    PetscCall(PetscObjectComposeFunction(object, "KSPCGUseSingleReduction_C", UseSingleReduction));
  if (s->parent_radius) PetscCall(PetscObjectComposeFunction(object, "KSPCGSetRadius_C", SetRadius));
  if (s->parent_objective)
    PetscCall(PetscObjectComposeFunction(object, "KSPCGSetObjectiveTarget_C", SetObjectiveTarget));
  PetscCall(ValueInstall(ksp, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
