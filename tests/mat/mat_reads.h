/* mat_reads.h - the ways to change and to read the values of a matrix that mat_reads.c combines. */
#pragma once

#include "conf.h"

enum { READS_PARALLEL = 1024 };

/* What changes work on, and what views write to */
typedef struct {
  Mat          A, other; /* of one type and pattern, both packed */
  PetscCount   count;    /* of the coordinates by which both were made */
  PetscScalar *value;    /* shape [count], for new values at these coordinates */
  char         file[CONF_TYPE_MAX];
} Reads;

/* Changes r->A. No nonzeros are added, so that what was made of the matrix before can be filled again. */
typedef struct {
  const char *name;
  PetscErrorCode (*run)(Conf *, Reads *);
} ReadsChange;

/* Records the values of r->A. What a way keeps, it makes before the change, when *kept is NULL, and reads or fills again
   after it; other ways, and those that shall make it after the change, get NULL for kept. */
typedef struct {
  const char *name;
  PetscErrorCode (*run)(Conf *, Reads *, Mat *kept);
  PetscBool keeps;
  int       where; /* CONF_SEQUENTIAL, READS_PARALLEL, or 0 */
} ReadsWay;

extern const ReadsChange reads_changes[]; /* both end with name == NULL */
extern const ReadsWay    reads_ways[];
