/*
  run.h - one sequence: its steps are drawn or given, run, and compared
*/
#pragma once

#include "fuzz.h"

typedef struct {
  const FuzzOperation *operation;
  PetscInt             index; /* where it stood in the sequence: with the seed, what its random numbers depend on */
} FuzzStep;

typedef struct {
  PetscInt ran, refused; /* refused: both twins returned the same error */
} FuzzCount;

typedef enum { FUZZ_PASSED, FUZZ_REFUSED, FUZZ_DIFFERS, FUZZ_ERROR } FuzzOutcome;

typedef struct {
  char           type[CONF_TYPE_MAX], file[FUZZ_FILE_MAX];
  PetscMPIInt    rank, size;
  PetscInt       seed, step_count, operation_count;
  FuzzStep       step[FUZZ_STEPS_MAX];
  FuzzCount     *count;                              /* by number of operation */
  PetscBool     *allowed;                            /* which operations may be drawn */
  PetscLogDouble packed, fallbacks, sequence_packed; /* products of the tested matrix, and of these in the sequence */
} FuzzRun;

/* ---- run.c ---- */

/* All operations, and the number of one by its name; -1 for an unknown name */
const FuzzOperation *FuzzOperationGet(PetscInt i);
PetscInt             FuzzOperationFind(const char *name);
/* Fills in the steps of a seed */
void FuzzDrawSteps(FuzzRun *run);
/* The command that repeats the sequence as far as step `last` */
void           FuzzCommand(const FuzzRun *run, PetscInt last, char line[FUZZ_LINE_MAX]);
PetscErrorCode FuzzRunSequence(FuzzRun *run, FuzzOutcome *outcome);
