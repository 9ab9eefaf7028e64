/* What mat_options.c and mat_survive.c, all formats alike, and mat_setters.c, the setters of single types, share. */
#pragma once

#include "conf.h"

/* Counts and prints what when it is not right */
PetscErrorCode Expect(PetscBool right, const char *type, const char *what);
/* A banded matrix with runs of adjacent columns; the prefix (or NULL) is set before options are read */
PetscErrorCode CreateBanded(const char *type, const char *prefix, Mat *A);
PetscErrorCode Product(Mat A);

/* mat_survive.c */
PetscErrorCode OptionsSurvive(const char *type);
PetscErrorCode RefusedOptionIsRefusedAgain(const char *type);
PetscErrorCode SubclassOfOurs(const char *type);

/* mat_setters.c */
PetscErrorCode TypedSetters(void);
