/* mat_interrupted.h - declarations shared by the files of mat_interrupted. */
#pragma once

#include "mat_values.h"

/* A matrix under test or its twin, with the data of its actions */
typedef struct {
  Mat A, other, P; /* other is of the same size as A; P has fewer columns */
  Mat result;      /* the result of an action, or NULL */
  Vec x, y;        /* y is computed by an action */
} InterruptedCase;

/* Which allocations fail, and where the matrices lie */
typedef enum { FAULT_HOST, FAULT_HOST_BESIDE_GPU, FAULT_GPU, FAULT_COUNT } InterruptedFault;

typedef struct {
  const char *name;
  PetscErrorCode (*prepare)(InterruptedCase *); /* called before allocations fail; may be NULL */
  PetscErrorCode (*run)(InterruptedCase *);     /* may be repeated after an interruption, unless it changes A */
  PetscBool        changes;                     /* changes values of A */
  InterruptedFault first;                       /* the first fault to test */
} InterruptedAction;

extern const InterruptedAction interrupted_actions[]; /* ends with name == NULL */
