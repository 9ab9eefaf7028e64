/*
  totals_test.c - what -petscpack_summary says of solvers on several GPUs: whether one GPU may be faster, from the sizes of
  the systems, and with GAMG from the number of solves for each set-up. Systems for which two GPUs pay are too large to be
  solved here, so the counters are called as solvers do.

    mpiexec -n 2 totals_test
*/
static const char help[] = "Checks the summary of solvers on several GPUs.\n";

#include "sys/totals.h"

#include <petscpack.h>
#include "petsc_test.h"
#include <string.h>

#define MILLION 1000000

typedef struct {
  PetscPackShared solver[2]; /* of one program; nonzeros: of both processes */
  const char     *says;      /* after "one GPU may be faster: "; NULL: it says nothing about that */
} Case;

static const Case cases[] = {
    {{{0, 0, 0, PETSC_FALSE}}, NULL},
    {{{15 * MILLION, 0, 0, PETSC_FALSE}},
     "the largest system on 2 processes has 15000000 nonzeros, and a GPU pays from 8000000 on\n"},
    {{{17 * MILLION, 0, 0, PETSC_FALSE}}, NULL},
    {{{17 * MILLION, 0, 0, PETSC_FALSE}, {15 * MILLION, 0, 0, PETSC_FALSE}}, NULL},
    {{{23 * MILLION, 1, 99, PETSC_TRUE}},
     "the largest system on 2 processes has 23000000 nonzeros, and a GPU pays from 12000000 on with multigrid\n"},
    {{{25 * MILLION, 1, 99, PETSC_TRUE}}, NULL},
    {{{25 * MILLION, 1, 29, PETSC_TRUE}},
     "1 set-ups of GAMG on 2 processes served 29 solves; the first one pays after 30, one with new values after 3, at "
     "the earliest\n"},
    {{{25 * MILLION, 1, 30, PETSC_TRUE}}, NULL},
    {{{25 * MILLION, 3, 35, PETSC_TRUE}},
     "3 set-ups of GAMG on 2 processes served 35 solves; the first one pays after 30, one with new values after 3, at "
     "the earliest\n"},
    {{{25 * MILLION, 3, 36, PETSC_TRUE}}, NULL},
    {{{25 * MILLION, 0, 1, PETSC_TRUE}}, NULL}, /* a cycle that is not of GAMG */
    {{{30 * MILLION, 0, 0, PETSC_FALSE}, {25 * MILLION, 1, 1, PETSC_TRUE}}, NULL},
    {{{3 * MILLION, 0, 0, PETSC_FALSE}, {25 * MILLION, 1, 99, PETSC_TRUE}}, NULL},
};

/* What the summary says, on the first process */
static PetscErrorCode Summary(const Case *c, char text[TEST_VIEW])
{
  FILE  *screen  = PETSC_STDERR;
  char  *written = NULL;
  size_t length;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscPackShared mine = c->solver[k];

    mine.nonzeros /= 2;
    if (mine.nonzeros > 0) PetscPackCountShared(&mine);
  }
  PETSC_STDERR = open_memstream(&written, &length);
  PetscCall(PetscPackTotalsPrint("head"));
  (void)fclose(PETSC_STDERR);
  PETSC_STDERR = screen;
  PetscCall(PetscStrncpy(text, written, TEST_VIEW));
  free(written);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char begin[] = "one GPU may be faster: ";
  static char       text[TEST_VIEW];
  int               failures = 0;
  PetscMPIInt       rank;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    const char *found;

    PetscCall(Summary(&cases[i], text));
    if (rank > 0) continue;
    found = strstr(text, begin);
    if (cases[i].says ? found && !strcmp(found + strlen(begin), cases[i].says) : strstr(text, "head") && !found)
      continue;
    failures++;
    printf("case %d: %s", (int)i, text);
  }
  PetscCallMPI(MPI_Bcast(&failures, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d failed\n", failures));
  PetscCall(PetscFinalize());
  return failures > 0;
}
