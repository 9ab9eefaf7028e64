/* mat_interrupted.h - what the files of mat_interrupted share. */
#pragma once

#include "mat_values.h"

/* A matrix under test or its twin, with what its actions need */
typedef struct {
  Mat A, other, P; /* other is of the same size as A; P has fewer columns */
  Mat result;      /* what an action has made, or NULL */
  Vec x, y;        /* y is what an action has computed */
} InterruptedCase;

/* What fails, and where the matrices lie then */
typedef enum { FAULT_HOST, FAULT_HOST_BESIDE_GPU, FAULT_GPU, FAULT_COUNT } InterruptedFault;

typedef struct {
  const char *name;
  PetscErrorCode (*prepare)(InterruptedCase *); /* before memory fails; may be NULL */
  PetscErrorCode (*run)(InterruptedCase *);     /* may run again after it was interrupted, unless it changes A */
  PetscBool        changes;                     /* values of A */
  InterruptedFault first;                       /* of the faults that it can be put through */
} InterruptedAction;

extern const InterruptedAction interrupted_actions[]; /* ends with name == NULL */
