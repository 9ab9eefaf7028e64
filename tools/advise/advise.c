/* The advisor's public functions: an advice is made once, then printed or read in several ways. */
#include "advise.h"
#include <stdlib.h>

static PetscErrorCode Fill(Mat A, PetscBool measure, MatAIJFmtAdvice advice)
{
  AdviceMatrix m;

  PetscFunctionBegin;
  PetscCall(PetscStrallocpy(((PetscObject)A)->name ? ((PetscObject)A)->name : "without a name", &advice->name));
  PetscCall(PetscStrallocpy(((PetscObject)A)->prefix, &advice->prefix));
  PetscCallMPI(MPI_Comm_size(advice->comm, &advice->processes));
  PetscCall(AdviceMatrixGet(A, &m));
  PetscCall(AdviceFactsFind(&m, &advice->facts));
  PetscCall(AdvicePredict(&m, advice));
  if (measure) PetscCall(AdviceMeasure(&m, advice));
  PetscCall(AdviceMatrixRestore(&m));
  PetscCall(AdviceSymmetryFind(A, &advice->facts));
  PetscCall(AdviceChooseBest(advice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatAIJFmtAdvise - Finds out what a matrix looks like, and what each matrix type of petscpack would cost for it

  Collective

  Input Parameters:
+ A       - an assembled matrix of any AIJ type, of petscpack or not; it stays as it is
- measure - whether to measure conversions and products, a tenth of a second or more for each type

  Output Parameter:
. advice - to be printed by `MatAIJFmtAdviceView()`, and freed by `MatAIJFmtAdviceDestroy()`

  Level: beginner

  Notes:
  Times are predicted as for `MATAIJAUTO`, for one core of this host, the GPU if there is one, and an NVIDIA H200. Of a
  parallel matrix all blocks count: bytes are added up, times are those of the slowest process, without communication.

  The transpose of A is made for a while, to see whether A is symmetric; with measure also one packed matrix at a time.

.seealso: `MatAIJFmtAdviceView()`, `MatAIJFmtAdviceWrite()`, `MatAIJFmtAdviceGetJSON()`, `MATAIJAUTO`
@*/
PetscErrorCode MatAIJFmtAdvise(Mat A, PetscBool measure, MatAIJFmtAdvice *advice)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidType(A, 1);
  PetscAssertPointer(advice, 3);
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The advisor needs an assembled matrix: call MatAssemblyBegin() and MatAssemblyEnd() first");
  PetscCall(PetscNew(advice));
  (*advice)->comm = PetscObjectComm((PetscObject)A);
  PetscCall(Fill(A, measure, *advice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatAIJFmtAdviceGetJSON - Gets an advice as JSON, for other programs

  Not Collective

  Input Parameter:
. advice - the advice

  Output Parameter:
. json - the text; it belongs to the advice

  Level: advanced

  Note:
  The page docs/advise.md lists the names in it. Every process has the same text.

.seealso: `MatAIJFmtAdvise()`, `MatAIJFmtAdviceWrite()`
@*/
PetscErrorCode MatAIJFmtAdviceGetJSON(MatAIJFmtAdvice advice, const char *json[])
{
  PetscFunctionBegin;
  PetscAssertPointer(advice, 1);
  PetscAssertPointer(json, 2);
  PetscCall(AdviceJSON(advice));
  *json = advice->json;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatAIJFmtAdviceDestroy - Frees an advice

  Not Collective

  Input Parameter:
. advice - what `MatAIJFmtAdvise()` gave; `NULL` afterwards

  Level: beginner

.seealso: `MatAIJFmtAdvise()`
@*/
PetscErrorCode MatAIJFmtAdviceDestroy(MatAIJFmtAdvice *advice)
{
  PetscFunctionBegin;
  PetscAssertPointer(advice, 1);
  if (!*advice) PetscFunctionReturn(PETSC_SUCCESS);
  free((*advice)->json);
  PetscCall(PetscFree((*advice)->facts.cells));
  PetscCall(PetscFree((*advice)->prefix));
  PetscCall(PetscFree((*advice)->name));
  PetscCall(PetscFree(*advice));
  PetscFunctionReturn(PETSC_SUCCESS);
}
