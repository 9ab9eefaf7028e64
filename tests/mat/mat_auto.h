/* What the files of mat_auto share: matrices, products compared with aij's, and what is expected of them */
#pragma once

#include "conf.h"

/* Three unknowns per node, which are neighbours of those of the eight nearest nodes; or columns without any structure
 */
typedef enum { BLOCKS, SCATTERED, NONE } Kind;

enum { ROW_MAX = 27 };

PetscErrorCode AutoExpect(PetscBool right, const char *what);
PetscErrorCode AutoCreate(MatType, Kind, PetscInt n, Mat *);
PetscErrorCode AutoProduct(Mat, const char *what);
PetscErrorCode AutoAddEntry(Mat);
PetscErrorCode AutoDeclines(PetscBool on_host);
