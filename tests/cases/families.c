/* families.c - matrices by name; see families.h. */
#include "families.h"
#include "cases.h"
#include "gen_published.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPMV_SET(name, ...)
#define SPMV_FAMILY(name, group, what, size_means, default_size, spec)                                                 \
  static GenSpec family_##name(int64_t n) { return spec; }
#include "families.def"
#undef SPMV_FAMILY

static const Family families[] = {
#define SPMV_FAMILY(name, group, what, size_means, default_size, spec)                                                 \
  {#name, group, what, size_means, default_size, family_##name},
#include "families.def"
#undef SPMV_FAMILY
#undef SPMV_SET
};

#define SPMV_FAMILY(name, group, what, size_means, default_size, spec)
#define SPMV_SET(name, ...) static const char *const set_##name[] = {__VA_ARGS__, NULL};
#include "families.def"
#undef SPMV_SET

static const char *const set_names[] = {
#define SPMV_SET(name, ...) #name,
#include "families.def"
#undef SPMV_SET
    NULL};

static const char *const *const sets[] = {
#define SPMV_SET(name, ...) set_##name,
#include "families.def"
};

int family_count(void) { return (int)(sizeof families / sizeof families[0]); }

const Family *family_get(int i) { return &families[i]; }

const char *const *family_sets(void) { return set_names; }

const char *const *family_set(const char *set)
{
  for (int i = 0; set_names[i]; i++)
    if (!strcmp(set_names[i], set)) return sets[i];
  return NULL;
}

static int find_shape(const char *name, NamedMatrix *matrix)
{
  static const char prefix[] = "shape:";

  if (strncmp(name, prefix, sizeof prefix - 1)) return 0;
  for (int shape = 0; shape < PUBLISHED_SHAPES; shape++) {
    if (strcmp(published_shapes[shape].name, name + sizeof prefix - 1)) continue;
    matrix->group = "published-shape";
    matrix->spec  = gen_published(shape);
    return 1;
  }
  return 0;
}

static int find_case(const char *name, NamedMatrix *matrix)
{
  for (int i = 0; i < case_matrix_count(); i++) {
    if (strcmp(case_matrix(i)->name, name)) continue;
    matrix->group = "tests";
    matrix->spec  = case_matrix(i)->spec();
    return 1;
  }
  return 0;
}

/* The family of a name, or NULL; *size is the text after the colon, or NULL */
static const Family *find_family(const char *name, const char **size)
{
  const size_t length = strcspn(name, ":");

  *size = name[length] ? name + length + 1 : NULL;
  for (int i = 0; i < family_count(); i++)
    if (strlen(families[i].name) == length && !strncmp(families[i].name, name, length)) return &families[i];
  return NULL;
}

int family_find(const char *name, NamedMatrix *matrix, char message[FAMILY_TEXT])
{
  const char   *size;
  const Family *family = find_family(name, &size);
  int64_t       n      = family ? family->default_size : 0;
  char         *end;

  snprintf(matrix->name, sizeof matrix->name, "%s", name);
  if (!family) {
    if (find_shape(name, matrix) || find_case(name, matrix)) return 1;
    snprintf(message, FAMILY_TEXT, "unknown matrix '%.60s': --list shows all", name);
    return 0;
  }
  if (size) {
    n = strtoll(size, &end, 10);
    if (end == size || *end || n < 2) {
      snprintf(message, FAMILY_TEXT, "the size in '%.60s' must be a whole number of at least 2", name);
      return 0;
    }
  }
  snprintf(matrix->name, sizeof matrix->name, "%s:%lld", family->name, (long long)n);
  matrix->group = family->group;
  matrix->spec  = family->spec(n);
  return 1;
}
