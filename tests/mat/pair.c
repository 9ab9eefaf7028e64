/*
  pair.c - an operation, or several, with plain AIJ and with a type under test, for conf_mat and mat_reads

    -format rbp   only this format     -sample N [-offset K]   every N-th run (in conf_mat, of each operation)
    -base aij|seqaij|mpiaij            -list                   only prints the runs

  With -petscpack_replace aij, or -mat_seqaij_type seqaijrbp, matrices under test are made as plain AIJ, in their format.
  The runs with K = 0 .. N-1 together are all runs.
*/
#include "conf.h"

#include <cases.h>

PetscErrorCode ConfRunsBegin(ConfRuns *runs, Conf *c)
{
  static char base[CONF_TYPE_MAX] = MATAIJ;
  const char *by_option;
  PetscBool   parallel;

  PetscFunctionBeginUser;
  PetscCall(PetscPackInitializePackage());
  *runs = (ConfRuns){.sample = 1};
  *c    = (Conf){.comm = PETSC_COMM_WORLD, .base = base, .file = runs->file};
  PetscCallMPI(MPI_Comm_rank(c->comm, &c->rank));
  PetscCallMPI(MPI_Comm_size(c->comm, &c->size));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-base", base, sizeof base, NULL));
  PetscCall(PetscStrcmp(base, MATMPIAIJ, &parallel));
  c->sequential = c->size == 1 && !parallel ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-format", runs->format, sizeof runs->format, NULL));
  PetscCall(ConfByOption(&by_option));
  if (by_option) PetscCall(PetscStrncpy(runs->format, by_option, sizeof runs->format));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-scratch", runs->file, sizeof runs->file, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sample", &runs->sample, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-offset", &runs->offset, NULL));
  PetscCheck(runs->file[0] && runs->sample > 0 && runs->offset >= 0, c->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "give -scratch FILE, a positive -sample and no negative -offset");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfRunPair(ConfRuns *runs, Conf *c, const char *name, const char *format,
                           PetscErrorCode (*body)(Conf *, const void *), const void *what)
{
  ConfRecord     record[2];
  PetscErrorCode ierr      = PETSC_SUCCESS;
  PetscInt       different = 0;
  PetscBool      list;

  PetscFunctionBeginUser;
  if (!case_in_sample(runs->sample, runs->offset)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsHasName(NULL, NULL, "-list", &list));
  if (list) PetscCall(PetscPrintf(c->comm, "%s%s, %s\n", c->base, format, name));
  for (int k = 0; k < 2; k++) PetscCall(ConfRecordCreate(&record[k]));
  c->uncounted = 0;
  for (int k = 0; k < 2 && !ierr && !list; k++) {
    PetscCall(ConfTurn(c, k ? format : ""));
    c->record = &record[k];
    ierr      = body(c, what);
  }
  if (!ierr) PetscCall(ConfCompare(c, name, &record[0], &record[1], &different));
  if (ierr || c->uncounted) different++;
  if (c->uncounted) PetscCall(PetscPrintf(c->comm, "  %s: products were not counted, or ran elsewhere\n", name));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &different, 1, MPIU_INT, MPI_SUM, c->comm));
  if (different) PetscCall(PetscPrintf(c->comm, "FAILED %s%s, %s\n", c->base, format, name));
  if (different) runs->failed++;
  else runs->passed++;
  for (int k = 0; k < 2; k++) PetscCall(ConfRecordDestroy(&record[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int ConfRunsEnd(const ConfRuns *runs)
{
  if (PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " passed, %" PetscInt_FMT " failed\n", runs->passed, runs->failed))
    return 1;
  if (PetscFinalize()) return 1;
  return runs->failed || !runs->passed ? 1 : 0;
}
