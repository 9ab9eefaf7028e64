/*
  run.h - one sequence: draws or reads its steps, runs them, and compares
*/
#pragma once

#include "fuzz.h"

typedef struct {
  const ConfOperation *operation;
  PetscInt             index; /* position in the sequence; with the seed, it determines the random numbers */
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
  FuzzCount     *count;                              /* by operation number */
  PetscBool     *allowed;                            /* which operations may be drawn */
  PetscLogDouble packed, fallbacks, sequence_packed; /* products of the tested matrix, and of this sequence */
} FuzzRun;

/* ---- run.c ---- */

/* Operation number i, and the number of an operation by name; -1 for an unknown name */
const ConfOperation *FuzzOperationGet(PetscInt i);
PetscInt             FuzzOperationFind(const char *name);
/* Fills in the steps of a seed */
void FuzzDrawSteps(FuzzRun *run);
/* The command that repeats the sequence up to step `last` */
void           FuzzCommand(const FuzzRun *run, PetscInt last, char line[FUZZ_LINE_MAX]);
PetscErrorCode FuzzRunSequence(FuzzRun *run, FuzzOutcome *outcome);
