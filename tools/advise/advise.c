/* Collects all facts about a matrix. */
#include "advise.h"
#include <stdlib.h>

/* Finds out what a matrix of an AIJ type looks like, and what each type would cost for it. Does not change the
   matrix. */
PetscErrorCode AdviceMake(Mat A, PetscBool measure, Advice *advice)
{
  MPI_Comm  comm = PetscObjectComm((PetscObject)A);
  MatType   type;
  PetscBool assembled, sequential;

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscStrbeginswith(type, MATSEQAIJ, &sequential));
  PetscCall(PetscStrbeginswith(type, MATMPIAIJ, &advice->parallel));
  PetscCheck(sequential || advice->parallel, comm, PETSC_ERR_ARG_WRONG,
             "The advisor needs a matrix of an AIJ type, and this one is of type %s: call MatConvert() to %s first",
             type, MATAIJ);
  PetscCall(MatAssembled(A, &assembled));
  PetscCheck(assembled, comm, PETSC_ERR_ARG_WRONGSTATE,
             "The advisor needs an assembled matrix: call MatAssemblyBegin() and MatAssemblyEnd() first");
  advice->measured = measure;
  PetscCall(PetscObjectGetName((PetscObject)A, &advice->name));
  PetscCall(MatGetOptionsPrefix(A, &advice->prefix));
  PetscCallMPI(MPI_Comm_size(comm, &advice->processes));
  PetscCall(AdviceFactsFind(A, &advice->facts));
  PetscCall(AdviceSymmetryFind(A, &advice->facts));
  PetscCall(AdvicePredict(A, advice));
  if (measure) PetscCall(AdviceMeasure(A, advice));
  AdviceChooseBest(advice);
  PetscFunctionReturn(0);
}

PetscErrorCode PetscPackAdvise(Mat A, int measure, char **json)
{
  Advice *advice;
  FILE   *out;
  size_t  length;

  PetscFunctionBegin;
  PetscCall(PetscNew(&advice));
  PetscCall(AdviceMake(A, measure ? PETSC_TRUE : PETSC_FALSE, advice));
  *json = NULL;
  out   = open_memstream(json, &length);
  if (out) AdviceJSON(advice, out);
  PetscCheck(out && !fclose(out), PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the text of an advice");
  PetscCall(PetscFree(advice));
  PetscFunctionReturn(0);
}

void PetscPackAdviseFree(char *json) { free(json); }
