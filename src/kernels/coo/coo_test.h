/* coo_test.h - lists for the tests of lists of coordinates, and what must come of them: by qsort(), unlike the library. */
#pragma once

#include <spmv_coo.h>

/* A list on the host, its second part behind the first one, and the part of the matrix that a process among others has */
typedef struct {
  const char *name;
  int64_t     all_rows, all_cols, count[2];
  int64_t     first_row, rows, first_col, own_cols;
  int64_t    *i, *j; /* [count[0] + count[1]] */
  double     *v;     /* of the same shape */
} CooCase;
int     coo_case_count(void);
CooCase coo_case(int number);
CooCase coo_case_named(const char *name);
void    coo_case_free(CooCase *);
/* Whether numbers of 32 bits suffice, and whether one process can have all rows */
int coo_case_is_short(const CooCase *);
int coo_case_is_low(const CooCase *);

/* Which rows and columns a process has: of the whole matrix, or of a part of it */
typedef enum { COO_WHOLE, COO_INSIDE, COO_OUTSIDE, COO_WINDOWS } CooWindow;

/* A list with its arrays in a space */
typedef struct {
  SpmvCooList list;
  void       *array[4];
} CooPlaced;
CooPlaced coo_place(const CooCase *, CooWindow, SpmvIndex, SpmvSpace);
void      coo_unplace(CooPlaced *);

/* A CSR on the host; numbers are double and indices have 64 bits, whatever the types are */
typedef struct {
  int64_t  rows, cols, nnz, entries, *row_ptr, *col;
  double  *values;
  int64_t *position; /* [entries] of the entries in the order of their places */
} CooCsr;
/* What must come of a list, in place of values that are -5 everywhere, or added to them */
CooCsr coo_expected(const CooCase *, const SpmvCooList *, SpmvScalar, int add);
/* What the library makes of it; v of both parts go to the space of the exec, where *coo was made */
CooCsr coo_got(const CooCase *, const SpmvCoo *, SpmvScalar, int add, SpmvExec *);
void   coo_csr_free(CooCsr *);
/* 1 when both are the same to the last bit */
int coo_csr_same(const CooCsr *, const CooCsr *);
