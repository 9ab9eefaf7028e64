/* mat_values.h - matrices and comparisons shared by mat_values and mat_interrupted. */
#pragma once

#include "conf.h"

/* Settings of a run, and its outcome so far */
typedef struct {
  MPI_Comm    comm;
  PetscMPIInt size;                  /* processes */
  char        format[CONF_TYPE_MAX]; /* as given by -format */
  char        type[CONF_TYPE_MAX];   /* under test: seqaijrbp on one process, mpiaijrbp on more */
  MatType     plain;                 /* of the twins */
  PetscInt    side;                  /* matrices have side^3 rows */
  PetscBool   first_empty;           /* the first of several processes has no rows */
  PetscBool   little_memory;         /* GPU memory is limited: the place of values is not checked */
  PetscBool   good;                  /* nothing has failed */
  const char *place, *operation;     /* where values should lie; the operation being tested */
} ValuesTest;

extern ValuesTest values_test;

/* ---- values_compare.c; all functions are collective ---- */

/* Reads the options -format, -side and -little_memory, and sets the types */
PetscErrorCode ValuesTestInit(PetscInt side);
/* Sets the sizes of a matrix, with rows and columns distributed by the layout under test */
PetscErrorCode ValuesSetSizes(Mat A, PetscInt rows, PetscInt cols);
/* Rows of a 27-point stencil, of which every seventh lacks its diagonal entry unless full */
PetscErrorCode ValuesAssemble(MatType type, PetscBool full, PetscReal scale, Mat *A);
/* Every group of eight rows is mapped to one column, and every fifth row also to the next column */
PetscErrorCode ValuesAssembleP(MatType type, Mat *P);
/* A vector of n entries for A, which has n rows or n columns */
PetscErrorCode ValuesVector(PetscInt n, PetscInt seed, Mat A, Vec *v);
/* Prints `what` as a failure unless yes, which is the same on all processes */
PetscErrorCode ValuesRequire(PetscBool yes, const char what[]);
/* The same for a requirement on the place of values, which is ignored with little memory */
PetscErrorCode ValuesRequirePlace(PetscBool yes, const char what[]);
/* The largest difference of two vectors with different types, relative to the largest entry of the second */
PetscErrorCode ValuesDifference(Vec a, Vec b, PetscReal *difference);
/* Compares products of A, transposed ones too, its diagonal and then its values with those of the twin. With exact, the
   values must have the same bits. */
PetscErrorCode ValuesCompare(Mat A, Mat twin, PetscBool exact);
/* Changes entries of both on the host, some of them from another process than the owner of the row */
PetscErrorCode ValuesChangeOnHost(Mat A, Mat twin);
/* Sets options so that A goes to the GPU, whatever its size and pattern */
PetscErrorCode ValuesSetPlace(Mat A);

/* ---- values_products.c ---- */

int ValuesProductCount(void);
/* Product p of matrices, first and with new values */
PetscErrorCode ValuesRunProduct(int p);
/* Products of matrices without rows, columns or nonzeros */
PetscErrorCode ValuesRunEmpty(void);
