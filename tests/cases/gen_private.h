/* gen_private.h - declarations that the generator files share. */
#ifndef SPMV_GEN_PRIVATE_H
#define SPMV_GEN_PRIVATE_H

#include "gen.h"

/* A spec with sizes and row function; all other fields are zero */
GenSpec gen_spec(int64_t rows, int64_t cols, GenRow row);

/* Sorts; also fast for few numbers, such as the neighbours of a node */
void gen_sort(int64_t *number, int64_t count);
/* Sorts and removes duplicates; returns the new count */
int64_t gen_sort_unique(int64_t *number, int64_t count);

/* Allocates memory, or ends the program: a mesh that does not fit into memory is an error of the caller */
void *gen_alloc(int64_t count, size_t size);

/* The parts of gen_free_kept() in each file */
void gen_free_meshes(void);
void gen_free_published(void);

#endif
