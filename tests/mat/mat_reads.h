/* mat_reads.h - the ways to change and to read the values of a matrix that mat_reads.c combines. */
#pragma once

#include "conf.h"

enum { READS_PARALLEL = 1024 };

/* The data of changes and ways */
typedef struct {
  Mat          A, other;            /* of the same type and pattern, both packed */
  PetscCount   count;               /* number of coordinates in the lists of A and other */
  PetscScalar *value;               /* [count], scratch for new values at these coordinates */
  char         file[CONF_TYPE_MAX]; /* for views */
} Reads;

/* Changes values of r->A. A change adds no nonzeros, so that objects made from the matrix before it can be refilled. */
typedef struct {
  const char *name;
  PetscErrorCode (*run)(Conf *, Reads *);
} ReadsChange;

/* Records the values of r->A. A way that `keeps` an object made from r->A is called twice with kept: before the change,
   when *kept is NULL, to make the object, and after it to refill and record it. If kept is NULL, the way makes its
   object anew. */
typedef struct {
  const char *name;
  PetscErrorCode (*run)(Conf *, Reads *, Mat *kept);
  PetscBool keeps;
  int       where; /* CONF_SEQUENTIAL, READS_PARALLEL, or 0 */
} ReadsWay;

extern const ReadsChange reads_changes[]; /* both end with name == NULL */
extern const ReadsWay    reads_ways[];
