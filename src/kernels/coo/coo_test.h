/* coo_test.h - lists of coordinates for tests, and the expected CSR, computed with qsort() and so not as in the
   library. */
#pragma once

#include <spmv_coo.h>

/* A list on the host, where the second part follows the first, and the rows and columns that this process owns */
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
/* Whether indices of 32 bits suffice; whether the matrix has few enough rows for one process */
int coo_case_is_short(const CooCase *);
int coo_case_is_low(const CooCase *);

/* Which entries the pattern takes: those of the whole matrix, or of the process's rows those inside or outside its
   columns */
typedef enum { COO_WHOLE, COO_INSIDE, COO_OUTSIDE, COO_WINDOWS } CooWindow;

/* A list with its arrays in one space */
typedef struct {
  SpmvCooList list;
  void       *array[4];
} CooPlaced;
CooPlaced coo_place(const CooCase *, CooWindow, SpmvIndex, SpmvSpace);
void      coo_unplace(CooPlaced *);

/* A CSR on the host, always with values in double and indices of 64 bits */
typedef struct {
  int64_t  rows, cols, nnz, entries, *row_ptr, *col;
  double  *values;
  int64_t *position; /* [entries], in the order of the nonzeros; NULL in results of the library */
} CooCsr;
/* The expected CSR of a list, if the values were -5 everywhere before and are overwritten, or added to with `add` */
CooCsr coo_expected(const CooCase *, const SpmvCooList *, SpmvScalar, int add);
/* The CSR from the library; the values are copied to the space of the exec, which must be that of *coo */
CooCsr coo_got(const CooCase *, const SpmvCoo *, SpmvScalar, int add, SpmvExec *);
void   coo_csr_free(CooCsr *);
/* 1 if both are equal to the last bit; `position` is not compared */
int coo_csr_same(const CooCsr *, const CooCsr *);
