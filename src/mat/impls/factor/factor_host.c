/* factor_host.c - the body on the host: a factor of the package that was asked for, or of PETSc's own. */
#include "factor.h"
#include "sys/compat.h"

static int within; /* calls of PCLU and PCCHOLESKY that make a factor */

void      MatCuDSSWithinPC(PetscBool begin) { within += begin ? 1 : -1; }
PetscBool MatCuDSSIsWithinPC(void) { return within > 0 ? PETSC_TRUE : PETSC_FALSE; }

/* A factor of the package that was asked for, which reads the options of F; else of PETSc's own for sequential matrices,
   and of its choice for others */
static PetscErrorCode HostFactor(Mat F, Mat A, Mat_CuDSS *s)
{
  const int      kept = within;
  PetscErrorCode error;
  PetscBool      ours;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&s->host));
  within = 0; /* the package itself */
  if (s->named) {
    error   = PetscObjectReference((PetscObject)s->named);
    s->host = s->named;
  } else if (s->former) error = (*s->former)(A, F->factortype, &s->host);
  else error = MatGetFactor(A, s->several ? NULL : MATSOLVERPETSC, F->factortype, &s->host);
  within = kept;
  PetscCall(error);
  PetscCheck(s->host, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
             "cuDSS cannot factor the matrix (%s), and PETSc has no %s for it: use -pc_type lu", s->why,
             MatFactorTypes[F->factortype]);
  PetscCall(PetscStrcmp(s->host->solvertype, MATSOLVERCUDSS, &ours));
  PetscCheck(!ours, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
             "cuDSS cannot factor the matrix (%s), and this PETSc has no package for matrices on several processes",
             s->why);
  PetscCall(MatSetOptionsPrefix(s->host, ((PetscObject)F)->prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc computes the ordering that the package prefers, unless the user named one */
PetscErrorCode MatCuDSSHostBody(Mat F, Mat A, Mat_CuDSS *s)
{
  IS              row = s->row, col = s->col;
  MatOrderingType type;
  PetscBool       orders;

  PetscFunctionBegin;
  if (s->symbolic) s->fallbacks++;
  PetscCall(PetscInfo(F, "factored on the host: %s\n", s->why));
  MatCuDSSDrop(s);
  PetscCall(MatCuDSSForgetWhole(s));
  PetscCall(HostFactor(F, A, s));
  PetscCall(MatFactorGetCanUseOrdering(s->host, &orders));
  if (!row && orders) {
    PetscCall(MatFactorGetPreferredOrdering(s->host, F->factortype, &type));
    PetscCall(MatGetOrdering(A, type, &row, &col));
  }
  if (F->factortype == MAT_FACTOR_LU) PetscCall(MatLUFactorSymbolic(s->host, A, row, col, &s->info));
  else PetscCall(MatCholeskyFactorSymbolic(s->host, A, row, &s->info));
  if (!s->row) {
    PetscCall(ISDestroy(&row));
    PetscCall(ISDestroy(&col));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's package reads the values of the host */
PetscErrorCode MatCuDSSHostNumeric(Mat F, Mat A, Mat_CuDSS *s, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  if (!s->several) PetscCall(AIJFmtHostFetch(A));
  if (F->factortype == MAT_FACTOR_LU) PetscCall(MatLUFactorNumeric(s->host, A, info));
  else PetscCall(MatCholeskyFactorNumeric(s->host, A, info));
  PetscCall(MatFactorGetError(s->host, &F->factorerrortype));
  PetscCall(MatFactorGetErrorZeroPivot(s->host, &F->factorerror_zeropivot_value, &F->factorerror_zeropivot_row));
  PetscFunctionReturn(PETSC_SUCCESS);
}
