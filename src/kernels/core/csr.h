/* csr.h - what all parts of the library do with sorted arrays and with a CSR on the host: bisection, for the device too,
   and the transpose of a pattern. The twin for the device is device/csr.cuh. */
#pragma once

#include "format.h"

/* Bisection: afterwards low == high is the first number of low .. high-1 for which is_below, an expression in `middle`,
   is false, or high if there is none. Once false, the expression must stay false. */
#define SPMV_BISECT(low, high, middle, is_below)                                                                       \
  while ((low) < (high)) {                                                                                             \
    const __typeof__(low) middle = (low) + ((high) - (low)) / 2;                                                       \
    if (is_below) (low) = middle + 1;                                                                                  \
    else (high) = middle;                                                                                              \
  }

SPMV_C_BEGIN

/* The transpose on the host: row_ptr [cols+1] and col [nnz] of the index type of the pattern, and moved [nnz]: the values
   in the new order, or without values, of that index type, the position of each nonzero in the original */
void spmv_transpose_on_host(const SpmvPattern *, void *row_ptr, void *col, SpmvScalar, const void *values, void *moved);

SPMV_C_END
