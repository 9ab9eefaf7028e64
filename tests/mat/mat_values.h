/* mat_values.h - matrices, comparisons and operations that mat_values and mat_interrupted share. */
#pragma once

#include "conf.h"

/* What a run tests, and how it has gone so far */
typedef struct {
  MPI_Comm    comm;
  PetscMPIInt size;                  /* processes */
  char        format[CONF_TYPE_MAX]; /* as -format names it */
  char        type[CONF_TYPE_MAX];   /* under test: seqaijrbp on one process, mpiaijrbp on more */
  MatType     plain;                 /* of the twins */
  PetscInt    side;                  /* matrices have so many rows to the power of three */
  PetscBool   first_empty;           /* the first of several processes has no rows */
  PetscBool   little_memory;         /* of the GPU: where values lie does not count */
  PetscBool   good;                  /* nothing has failed */
  const char *place, *operation;     /* where values shall lie; what is being tested */
} ValuesTest;

extern ValuesTest values_test;

/* Changes A, and may read or change other, which is of the same type and size */
typedef PetscErrorCode ValuesFunction(Mat A, Mat other);

typedef struct {
  const char     *name;
  ValuesFunction *run;
  PetscBool       full, other_full; /* whether the diagonals of both matrices are */
  PetscBool       exact;            /* it rounds in the same way everywhere */
} ValuesOperation;

extern const ValuesOperation values_operations[]; /* ends with name == NULL */

ValuesFunction ValuesScale;

/* ---- values_compare.c; all functions are collective ---- */

/* Reads the options -format, -side and -little_memory, and sets the types */
PetscErrorCode ValuesTestInit(PetscInt side);
/* Sets the sizes of a matrix, which has its rows and columns where the layout under test wants them */
PetscErrorCode ValuesSetSizes(Mat A, PetscInt rows, PetscInt cols);
/* Rows of a 27-point stencil, of which every seventh lacks its diagonal entry unless full */
PetscErrorCode ValuesAssemble(MatType type, PetscBool full, PetscReal scale, Mat *A);
/* Groups of eight rows to one column, and every fifth row to the next one too */
PetscErrorCode ValuesAssembleP(MatType type, Mat *P);
/* A vector of n entries for A, which has n rows or n columns */
PetscErrorCode ValuesVector(PetscInt n, PetscInt seed, Mat A, Vec *v);
/* Says what is wrong unless yes, which is the same on every process */
PetscErrorCode ValuesRequire(PetscBool yes, const char what[]);
/* The same for a requirement on where values lie, which does not count with little memory */
PetscErrorCode ValuesRequirePlace(PetscBool yes, const char what[]);
/* The largest difference of two vectors with different types, relative to the largest entry of the second */
PetscErrorCode ValuesDifference(Vec a, Vec b, PetscReal *difference);
/* Compares products of A, transposed ones too, its diagonal and then its values with those of the twin. With exact, the
   values must have the same bits. */
PetscErrorCode ValuesCompare(Mat A, Mat twin, PetscBool exact);
/* Changes entries of both on the host, some of them from another process than the one that has the row */
PetscErrorCode ValuesChangeOnHost(Mat A, Mat twin);
/* Options so that A goes to the GPU, whatever its size and pattern */
PetscErrorCode ValuesSetPlace(Mat A);

/* ---- values_products.c ---- */

int ValuesProductCount(void);
/* Product p of matrices, first and with new values */
PetscErrorCode ValuesRunProduct(int p);
/* Products of matrices without rows, columns or nonzeros */
PetscErrorCode ValuesRunEmpty(void);
