/*
  typed.h - what the setters and getters of single types share. Each requires a matrix of its type, named by root, and
  an error names the function that was called.
*/
#pragma once

#include "../impls/seqaijfmt/seqaijfmt.h"

enum { TYPED_MAX = 2 /* numbers that one setter takes */ };

PETSC_INTERN PetscErrorCode AIJFmtTypedSetChoice(Mat, MatType root, const char *function, const char key[],
                                                 const char choice[]);
/* All numbers or, when one is refused, none. An option with choices takes the one whose text is the number. */
PETSC_INTERN PetscErrorCode AIJFmtTypedSetNumbers(Mat, MatType root, const char *function, int count,
                                                  const char *const keys[], const double numbers[]);
PETSC_INTERN PetscErrorCode AIJFmtTypedGetChoice(Mat, MatType root, const char *function, const char key[],
                                                 const char **choice);
PETSC_INTERN PetscErrorCode AIJFmtTypedGetNumber(Mat, MatType root, const char *function, const char key[],
                                                 double *number);
