/* Declarations shared by mat_dispatch.c and dispatch_types.c */
#pragma once

#include "conf.h"

/* The same small matrices as plain AIJ and in a packed type: n x n, and n/2 x n/2 for types with two unknowns per
   row */
typedef struct {
  char type[CONF_TYPE_MAX]; /* "aijrbp" */
  Mat  plain, packed, small_plain, small_packed;
} DispatchPair;

/* A conversion or a product, and its outcome */
typedef struct {
  Mat            A, B, C;
  MatType        type;
  MatProductType product;
  PetscErrorCode error;
  void (*symbolic)(void); /* the function that PETSc has found for a product */
  PetscReal seen[2];
} Trial;

/* Makes an n x n matrix of another type from a small one */
typedef struct {
  const char *name;
  PetscErrorCode (*make)(Mat, Mat *);
} DispatchMaker;

extern const DispatchMaker dispatch_makers[]; /* ends with name == NULL */

PetscErrorCode DispatchPairCreate(const char *format, DispatchPair *);
PetscErrorCode DispatchPairDestroy(DispatchPair *);
/* The names of all types registered in this PETSc, without ours; the caller frees each of them and the array */
PetscErrorCode DispatchTypes(char ***types, int *count);
/* "works" or the text of its error */
const char *DispatchOutcome(const Trial *);
