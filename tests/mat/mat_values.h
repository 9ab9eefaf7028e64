/* mat_values.h - what the files of mat_values share. */
#pragma once

#include "conf.h"

/* Changes A, and may read or change other, which is of the same type and size */
typedef PetscErrorCode ValuesFunction(Mat A, Mat other);

typedef struct {
  const char     *name;
  ValuesFunction *run;
  PetscBool       full, other_full; /* whether the diagonals of both matrices are */
  PetscBool       exact;            /* it rounds in the same way everywhere */
} ValuesOperation;

extern PetscInt              values_side;         /* matrices have so many rows to the power of three */
extern const ValuesOperation values_operations[]; /* ends with name == NULL */

ValuesFunction ValuesScale;
/* A vector of n entries for A, which has n rows or n columns */
PetscErrorCode ValuesVector(PetscInt n, PetscInt seed, Mat A, Vec *v);
