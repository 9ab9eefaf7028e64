/*
  families.h - matrices by name, for the benchmarks: the families of families.def, the shapes of gen_published.h, and
  the matrices of the tests. matrices.def and families.def together are the catalogue.
*/
#ifndef SPMV_FAMILIES_H
#define SPMV_FAMILIES_H

#include "gen.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char *name, *group, *what, *size_means;
  int64_t     default_size;
  GenSpec (*spec)(int64_t n);
} Family;

int           family_count(void);
const Family *family_get(int i);

/* The names of a set (small, default, large), terminated by NULL; NULL for an unknown set */
const char *const *family_set(const char *set);
/* The names of all sets, terminated by NULL */
const char *const *family_sets(void);

enum { FAMILY_TEXT = 160 };

typedef struct {
  char        name[FAMILY_TEXT]; /* with the size: "tet3_rcm:65" */
  const char *group;             /* the class within which results are compared */
  GenSpec     spec;
} NamedMatrix;

/* name is family, family:size, shape:name or a name of matrices.def. Returns 1, or 0 with a message if there is no such
   matrix. */
int family_find(const char *name, NamedMatrix *matrix, char message[FAMILY_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
