/*
  nullspace.c - the null space of a singular matrix, which KSP_PCApply() projects out of the preconditioner's result.

  PETSc also projects within the smoothers of the finest level. The difference lies in the null space: A maps it to
  zero, and the projection after the cycle removes it.
*/
#include "hierarchy.h"

static PetscErrorCode OfMatrix(PC pc, MatNullSpace *space)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, &A, NULL));
  PetscCall(MatGetNullSpace(A, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevNullSpaceCount(PC pc, PetscInt *count)
{
  MatNullSpace space;

  PetscFunctionBegin;
  PetscCall(OfMatrix(pc, &space));
  *count = MGDevNullVectorsCount(space);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A smoother may have the null space of the whole solve, on the finest level, and no other null space */
PetscErrorCode MGDevNullSpaceAccept(PC pc, KSP smoother, PetscBool finest, const char **why)
{
  MatNullSpace whole, of[2];
  Mat          mat[2];

  PetscFunctionBegin;
  PetscCall(OfMatrix(pc, &whole));
  PetscCall(KSPGetOperators(smoother, &mat[0], &mat[1]));
  for (int i = 0; i < 2; i++) {
    PetscCall(MatGetNullSpace(mat[i], &of[i]));
    if (of[i] && (!finest || of[i] != whole)) *why = "the smoother has another null space than the solver";
  }
  MGDevNullVectorsWhyNot(whole, why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MGDevNullSpaceForget(MGDevHierarchy h)
{
  spmv_exec_free(h->exec, SPMV_DEVICE, h->null_space);
  h->null_space    = NULL;
  h->null_space_id = 0;
}

/* Sets the current vectors in options. PETSc locks the vectors of a null space, so changed vectors have other ids. */
PetscErrorCode MGDevNullSpaceGet(MGDevHierarchy h, PC pc, SpmvCycleOptions *options)
{
  MatNullSpace space;
  PetscInt     count, rows;
  SpmvStatus   status;

  PetscFunctionBegin;
  PetscCall(OfMatrix(pc, &space));
  count = MGDevNullVectorsCount(space);
  if (!space || h->null_space_id != ((PetscObject)space)->id) MGDevNullSpaceForget(h);
  if (space && !h->null_space_id && count > 0) {
    PetscCall(MatGetLocalSize(pc->mat, &rows, NULL));
    status = spmv_alloc(h->exec, SPMV_DEVICE, (int64_t)count * rows * (int64_t)sizeof(PetscScalar), "null space",
                        &h->null_space);
    MGDevTry(h, status);
    PetscCall(MGDevNullVectorsCopy(space, pc->mat, h->null_space, h->exec, &status));
    MGDevTry(h, status);
    h->null_space_id = ((PetscObject)space)->id;
  }
  options->null_space   = h->null_space;
  options->null_vectors = (int)count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevNullSpaceHolds(MGDevHierarchy h, PC pc, PetscBool *holds)
{
  MatNullSpace space;

  PetscFunctionBegin;
  PetscCall(OfMatrix(pc, &space));
  if (h->null_space_id != (MGDevNullVectorsCount(space) > 0 ? ((PetscObject)space)->id : 0)) *holds = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the coarsest level ---- */

/* Projects the found vectors out of x, twice: the second time removes the rounding errors of the first */
PetscErrorCode MGDevProject(Vec x, PetscInt found, const Vec q[])
{
  PetscScalar dot;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < 2 * found; j++) {
    PetscCall(VecDot(x, q[j % found], &dot));
    PetscCall(VecAXPY(x, -dot, q[j % found]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scale of A q for a unit vector q: A is P^T B P with the matrix B of the next finer level. A alone gives no scale:
   it may be one row that is zero up to rounding. */
typedef struct {
  PetscReal of_matrix, of_finer; /* the norm of A, and the root mean square of the row norms of B */
  Mat       P;                   /* NULL: there is only one level */
  Vec       fine;
} CoarseScale;

/* Estimates the root mean square of the row norms of B by its product with a vector of random signs: MatNorm() would
   copy all values to the host */
static PetscErrorCode EstimateRows(Mat B, Vec *fine, PetscReal *rows)
{
  Vec          signs;
  PetscScalar *sign;
  PetscInt     first, last;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(B, &signs, fine));
  PetscCall(VecGetOwnershipRange(signs, &first, &last));
  PetscCall(VecGetArrayWrite(signs, &sign));
  for (PetscInt i = first; i < last; i++) sign[i - first] = PetscCosReal((PetscReal)(i + 1) * (i + 1)) > 0 ? 1 : -1;
  PetscCall(VecRestoreArrayWrite(signs, &sign));
  PetscCall(MatMult(B, signs, *fine));
  PetscCall(VecNorm(*fine, NORM_2, rows));
  *rows /= PetscSqrtReal((PetscReal)PetscMax(B->rmap->N, 1));
  PetscCall(VecDestroy(&signs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ScaleOpen(MGDevHierarchy h, Mat A, CoarseScale *s)
{
  PC_MG_Levels **levels = PetscPackMG(h->pc)->levels;
  Mat            finer;

  PetscFunctionBegin;
  *s = (CoarseScale){.P = NULL};
  PetscCall(MatNorm(A, NORM_FROBENIUS, &s->of_matrix));
  if (levels[0]->levels == 1) PetscFunctionReturn(PETSC_SUCCESS);
  s->P = levels[1]->interpolate;
  PetscCall(MGDevLevelMatrix(levels[1], &finer));
  PetscCall(EstimateRows(finer, &s->fine, &s->of_finer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NullVectorScale_MGDevice(const CoarseScale *s, Vec q, PetscReal *scale)
{
  PetscReal of_fine;

  PetscFunctionBegin;
  *scale = s->of_matrix;
  if (!s->P) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatInterpolate(s->P, q, s->fine));
  PetscCall(VecNorm(s->fine, NORM_2, &of_fine));
  *scale = PetscMax(*scale, s->of_finer * of_fine * of_fine);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether A q is so small for the unit vector q that the columns of an inverse would keep only four digits for all
   other directions. A q is stored in h->x. */
static PetscErrorCode IsNull(MGDevHierarchy h, const CoarseScale *of, Mat A, Vec q, PetscBool *null)
{
  PetscReal scale, image;

  PetscFunctionBegin;
  PetscCall(NullVectorScale_MGDevice(of, q, &scale));
  PetscCall(MatMult(A, q, h->x));
  PetscCall(VecNorm(h->x, NORM_2, &image));
  *null = image <= 10000 * PETSC_MACHINE_EPSILON * scale ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevCoarseIsNull(MGDevHierarchy h, Vec q, PetscBool *null)
{
  CoarseScale of;
  Mat         A;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(h->coarse, &A, NULL));
  PetscCall(ScaleOpen(h, A, &of));
  PetscCall(IsNull(h, &of, A, q, null));
  PetscCall(VecDestroy(&of.fine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solution by a factorization of a singular matrix contains large multiples of its null vectors, at the cost of
   digits in the columns of the inverse. One step of inverse iteration finds these vectors: q[0] to q[*found - 1],
   orthonormal, at most `most`. A zero pivot was shifted by 2e-14, whatever the size of the matrix. */
PetscErrorCode MGDevCoarseNull(MGDevHierarchy h, PetscInt most, Vec q[], PetscInt *found)
{
  PetscReal    size;
  PetscBool    null;
  PetscScalar *start;
  PetscInt     first, last;
  CoarseScale  of;
  Mat          A;

  PetscFunctionBegin;
  *found = 0;
  PetscCall(KSPGetOperators(h->coarse, &A, NULL));
  PetscCall(ScaleOpen(h, A, &of));
  PetscCall(VecGetOwnershipRange(h->b, &first, &last));
  for (PetscInt j = 0; j < most; j++) {
    PetscCall(VecGetArrayWrite(h->b, &start));
    for (PetscInt i = first; i < last; i++) start[i - first] = PetscCosReal((PetscReal)((j + 1) * (i + 1)));
    PetscCall(VecRestoreArrayWrite(h->b, &start));
    PetscCall(MGDevProject(h->b, *found, q));
    PetscCall(KSP_PCApply(h->coarse, h->b, q[*found]));
    PetscCall(MGDevProject(q[*found], *found, q));
    PetscCall(VecNormalize(q[*found], &size));
    if (!(size > 0) || PetscIsInfOrNanReal(size)) break;
    PetscCall(IsNull(h, &of, A, q[*found], &null));
    if (!null) break;
    ++*found;
  }
  PetscCall(VecDestroy(&of.fine));
  PetscFunctionReturn(PETSC_SUCCESS);
}
