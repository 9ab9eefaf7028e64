/* What the generator files share. */
#ifndef SPMV_GEN_PRIVATE_H
#define SPMV_GEN_PRIVATE_H

#include "gen.h"

/* A spec with sizes and row function, all else zero */
GenSpec gen_spec(int64_t rows, int64_t cols, GenRow row);

/* Sorts; fast for the few neighbours of a node too */
void gen_sort(int64_t *number, int64_t count);
/* Sorts and drops what occurs twice; returns how many are left */
int64_t gen_sort_unique(int64_t *number, int64_t count);

/* Allocates memory, or ends the program if there is none: a mesh that does not fit is a mistake of the caller */
void *gen_alloc(int64_t count, size_t size);

/* What gen_free_kept() frees, by file */
void gen_free_meshes(void);
void gen_free_published(void);

#endif
