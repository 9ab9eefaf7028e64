/* What mat_options.c, all formats alike, and mat_setters.c, the setters of single types, share. */
#pragma once

#include "conf.h"

/* Counts and prints what when it is not right */
PetscErrorCode Expect(PetscBool right, const char *type, const char *what);
/* A banded matrix with runs of adjacent columns; the prefix (or NULL) is set before options are read */
PetscErrorCode CreateBanded(const char *type, const char *prefix, Mat *A);
PetscErrorCode Product(Mat A);

/* mat_setters.c */
PetscErrorCode TypedSetters(void);
