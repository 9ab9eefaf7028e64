/* Declarations shared by mat_options.c, mat_survive.c and mat_tables.c */
#pragma once

#include "conf.h"

/* Counts a failure and prints `what` unless right */
PetscErrorCode Expect(PetscBool right, const char *type, const char *what);
/* A banded matrix with runs of adjacent columns; the prefix (or NULL) is set before options are read */
PetscErrorCode CreateBanded(const char *type, const char *prefix, Mat *A);

/* mat_survive.c */
PetscErrorCode OptionsSurvive(const char *type);
PetscErrorCode RefusedOptionIsRefusedAgain(const char *type);
PetscErrorCode SubclassOfOurs(const char *type);
PetscErrorCode RowsOutOfOrder(const char *type);

/* mat_tables.c */
PetscErrorCode Tables(const char *type, const SpmvFormat *format);
