/*
  spmv_coo.h - a CSR from a list of coordinates (COO), which the device makes. Entries may repeat and come in any order.
  The pattern is made once; values may then be set any number of times, also on the host.

    spmv_coo_create(&list, &exec, &coo);
    spmv_coo_pattern(coo, &pattern);
    spmv_coo_values(coo, SPMV_F64, v, 0, csr_values, &exec);     v[part][entry]

  MatSetPreallocationCOO() and MatSetValuesCOO() are built on it. In a parallel matrix the two parts of a list are the
  entries of this process and the entries received from other processes, and there are two patterns: one for the columns
  that this process owns (the diagonal block), one for all other columns (the off-diagonal block).
  src/kernels/coo/README.md describes the algorithms and their cost.
*/
#ifndef SPMV_COO_H
#define SPMV_COO_H

#include "spmv_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One part of a list. Entry k has row i[k] and column j[k], numbered in the whole matrix. Entries with a negative row
   or column are ignored. */
typedef struct {
  int64_t     count;
  const void *i, *j; /* [count] */
} SpmvCooPart;

typedef struct {
  SpmvCooPart part[2];            /* entries of this process, entries received from others; a count may be 0 */
  SpmvIndex   index_type;         /* of all i and j */
  SpmvSpace   space;              /* of all i and j; the exec is always for the device */
  int64_t     all_rows, all_cols; /* of the whole matrix; an entry outside is an error */
  int64_t     first_row, rows;    /* rows of this process; entries in other rows are left out */
  int64_t     first_col, own_cols;
  /* 0: only entries in the own_cols columns from first_col on, renumbered to 0 .. own_cols-1.
     1: only entries in all other columns, which keep their numbers in the whole matrix. */
  int outside;
} SpmvCooList;

/* A pattern and the map from the entries of a list to its nonzeros, on the device, or in the space of a copy */
typedef struct SpmvCoo SpmvCoo;

/* The pattern has `rows` rows, own_cols columns (all_cols with `outside`), and one nonzero for each distinct (row,
   column) among the entries that it takes. More nonzeros than the index type can count are SPMV_ERR_OVERFLOW; the list
   itself may be longer. An entry outside the whole matrix is SPMV_ERR_MATRIX, and the message names the first one. The
   list may be freed afterwards. *coo is NULL after a failure; SPMV_ERR_UNSUPPORTED: no device. The call
   synchronizes. */
SPMV_API SpmvStatus spmv_coo_create(const SpmvCooList *, SpmvExec *, SpmvCoo **coo);
/* The pattern, in the space of coo and with the index type of the list; columns ascend strictly. Its arrays belong to
   coo. */
SPMV_API void spmv_coo_pattern(const SpmvCoo *, SpmvPattern *);
/* Computes csr_values [nnz] from v[part] [count], all of this scalar type and in the space of coo; v[part] is not read
   if the part is empty. Each nonzero gets the sum of its entries, added up from 0 in the order of the list, first part
   first. With `add` the sum is added to csr_values, else it overwrites them. The same values give the same bits, on the
   host and on the device. Nothing is allocated; on the device the call only enqueues. */
SPMV_API SpmvStatus spmv_coo_values(const SpmvCoo *, SpmvScalar, const void *v[2], int add, void *csr_values,
                                    SpmvExec *);
/* entries: entries of the list that belong to a nonzero of the pattern; bytes: memory of coo, including its pattern */
SPMV_API void spmv_coo_info(const SpmvCoo *, int64_t *entries, int64_t *bytes);
/* A copy in the space of the exec, so that values can be set on the host when the device has no memory for them. The
   call synchronizes. */
SPMV_API SpmvStatus spmv_coo_copy(const SpmvCoo *, SpmvExec *, SpmvCoo **copy);
/* Frees *coo and sets it to NULL; accepts NULL and a pointer to NULL */
SPMV_API void spmv_coo_destroy(SpmvCoo **);

/* Off-process entries: entries of the first part whose rows other processes own, sorted by row and, within a row, in
   the order of the list */
typedef struct SpmvCooOthers SpmvCooOthers;

SPMV_API SpmvStatus spmv_coo_others(const SpmvCooList *, SpmvExec *, SpmvCooOthers **others);
/* Their rows and columns, in the space of `others`, with the index type of the list. The arrays belong to `others`. */
SPMV_API void spmv_coo_others_part(const SpmvCooOthers *, SpmvCooPart *);
/* out[k] = the value of off-process entry k, taken from v [count] of the first part; both in the space of `others`. On
   the device the call only enqueues. */
SPMV_API SpmvStatus spmv_coo_gather(const SpmvCooOthers *, SpmvScalar, const void *v, void *out, SpmvExec *);
SPMV_API SpmvStatus spmv_coo_others_copy(const SpmvCooOthers *, SpmvExec *, SpmvCooOthers **copy);
SPMV_API void       spmv_coo_others_destroy(SpmvCooOthers **);

/* The numbers of rows or columns in the whole matrix: that of k is number[k], or first + k if number is NULL */
typedef struct {
  const void *number;
  int64_t     first;
} SpmvCooNumbers;

/* The nonzeros of a pattern as a list: nonzero k becomes entry k, with the numbers of its row and its column. All arrays
   have the index type of the pattern and lie on the device, as the pattern. The call only enqueues. */
SPMV_API SpmvStatus spmv_coo_coordinates(const SpmvPattern *pattern, SpmvCooNumbers rows, SpmvCooNumbers cols, void *i,
                                         void *j, SpmvExec *);

#ifdef __cplusplus
}
#endif
#endif
