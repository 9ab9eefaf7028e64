/*
  spmv_coo.h - a CSR from a list of coordinates (COO), on the host and on the device: entries may repeat and come in any
  order. First the pattern, once; then values, again and again.

    spmv_coo_create(&list, &exec, &coo);
    spmv_coo_pattern(coo, &pattern);
    spmv_coo_values(coo, SPMV_F64, v, 0, csr_values, &exec);     v[part][entry]

  It serves MatSetPreallocationCOO() and MatSetValuesCOO() of a matrix on one process or of the part of one process: two
  parts of a list are its own entries and those that came from others, two patterns are the columns that it owns and the
  other ones. src/kernels/coo/README.md says what is done, and what it takes.
*/
#ifndef SPMV_COO_H
#define SPMV_COO_H

#include "spmv_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Entries of a list: row i[k], column j[k] of the whole matrix, for k = 0 .. count-1. An entry with a negative row or
   column is ignored. */
typedef struct {
  int64_t     count;
  const void *i, *j; /* [count] */
} SpmvCooPart;

typedef struct {
  SpmvCooPart part[2];            /* the entries of this process, and those that others sent; a count may be 0 */
  SpmvIndex   index_type;         /* of all i and j */
  SpmvSpace   space;              /* of all i and j, whatever the space of the exec is */
  int64_t     all_rows, all_cols; /* of the whole matrix; an entry beyond them is an error */
  int64_t     first_row, rows;    /* rows of this process; entries with other rows are left out */
  int64_t     first_col, own_cols;
  /* 0: entries with the own_cols columns from first_col on, which become columns 0 .. own_cols-1; the others are left out.
     1: the other way round; their columns stay those of the whole matrix. */
  int outside;
} SpmvCooList;

/* A pattern, and the place in it of each entry of a list, in the space of the exec that made it */
typedef struct SpmvCoo SpmvCoo;

/* The pattern has `rows` rows and own_cols columns (all_cols with `outside`), and a place for each pair of a row and a
   column that is in the list. Nonzeros must fit the index type, else SPMV_ERR_OVERFLOW; the list may be longer. An entry
   beyond the whole matrix gives SPMV_ERR_MATRIX, and the message names it. The list may be freed afterwards. *coo is NULL
   after a failure. On the device it waits. */
SPMV_API SpmvStatus spmv_coo_create(const SpmvCooList *, SpmvExec *, SpmvCoo **coo);
/* In the space of coo and of the index type of the list; columns ascend strictly. It belongs to coo and lives as long. */
SPMV_API void spmv_coo_pattern(const SpmvCoo *, SpmvPattern *);
/* csr_values [nnz] from v[part] [count], all of this type and in the space of coo; v of a part without entries is not
   read. Each place gets the sum of its entries, from 0 on in the order of the list, the first part first: in place of what
   it has, or added to it. The same values give the same bits, on the host and on the device. It allocates nothing, and
   on the device it only enqueues. */
SPMV_API SpmvStatus spmv_coo_values(const SpmvCoo *, SpmvScalar, const void *v[2], int add, void *csr_values,
                                    SpmvExec *);
/* Entries of the list that have a place, and bytes that coo holds, its pattern included */
SPMV_API void spmv_coo_info(const SpmvCoo *, int64_t *entries, int64_t *bytes);
/* The same in the space of the exec: values go on there when another space has no room for them. It waits. */
SPMV_API SpmvStatus spmv_coo_copy(const SpmvCoo *, SpmvExec *, SpmvCoo **copy);
/* Frees it and sets the pointer to NULL; NULL and a pointer to NULL are accepted */
SPMV_API void spmv_coo_destroy(SpmvCoo **);

/* The entries of the first part whose rows other processes own, by row and, within a row, in the order of the list */
typedef struct SpmvCooOthers SpmvCooOthers;

SPMV_API SpmvStatus spmv_coo_others(const SpmvCooList *, SpmvExec *, SpmvCooOthers **others);
/* Their rows and columns, on the host whatever the space is, of the index type of the list. They belong to others. */
SPMV_API void spmv_coo_others_part(const SpmvCooOthers *, SpmvCooPart *);
/* out[k] = the value of entry k of others, from v [count] of the first part; both in the space of others. It only
   enqueues. */
SPMV_API SpmvStatus spmv_coo_gather(const SpmvCooOthers *, SpmvScalar, const void *v, void *out, SpmvExec *);
SPMV_API SpmvStatus spmv_coo_others_copy(const SpmvCooOthers *, SpmvExec *, SpmvCooOthers **copy);
SPMV_API void       spmv_coo_others_destroy(SpmvCooOthers **);

#ifdef __cplusplus
}
#endif
#endif
