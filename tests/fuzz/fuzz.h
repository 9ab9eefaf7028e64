/*
  fuzz.h - random sequences of operations on a matrix of plain AIJ and on its twin of a type under test.

  A step is one operation of the table (tests/mat/ops.h), or one of fuzz_options.c. It runs once for each twin, with the
  same random numbers, and records its results; the two records must agree.
*/
#pragma once

#include <ops.h>

enum { FUZZ_STEPS_MAX = 256, FUZZ_LINE_MAX = 4096, FUZZ_OPTIONS_MAX = 32, FUZZ_FILE_MAX = 512 };

enum { FUZZ_PLAIN, FUZZ_TESTED, FUZZ_TWINS };

typedef struct {
  Mat      A;
  ConfKept kept;                   /* compared again at the end of the sequence */
  char     message[FUZZ_FILE_MAX]; /* text of its last error */
} FuzzTwin;

typedef struct {
  Conf        c; /* comm, rank, size, and what belongs to the current twin: operations get its address */
  FuzzTwin    twin[FUZZ_TWINS];
  const char *base_format;                                 /* format of the type under test, for both turns */
  char        option[CONF_TYPE_MAX], value[CONF_TYPE_MAX]; /* set on the tested matrix; must survive; "" for none */
  char        database[FUZZ_OPTIONS_MAX][CONF_TYPE_MAX];   /* options that the sequence has put into PETSc's database */
  PetscInt    database_count;
} Fuzz;

/* Options in PETSc's database, and set on the matrix by a program */
extern const ConfOperation fuzz_options[];

/* Whether the current twin is of a type of ours */
PetscBool FuzzIsPacked(const Fuzz *f);

/* ---- watch.c: reports the step in which the program crashes or hangs ---- */

void FuzzWatchStart(PetscInt seconds); /* time limit of one step */
void FuzzWatchStep(const char *command, const char *step, const char *type, int twin);
void FuzzWatchEnd(void);
/* The first error message of PETSc since FuzzWatchStep() */
const char    *FuzzWatchMessage(void);
PetscErrorCode FuzzWatchError(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                              PetscErrorType type, const char *message, void *ctx);
