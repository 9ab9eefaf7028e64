/* fold_slice.h - the sums of the rows of one slice on the host, for each instruction set. */
#pragma once

#include "fold.h"

/* sum[l] = the sum of values * x over the width entries of lane l, l < FOLD_LANES; padding does not touch x */
typedef void (*FoldSliceSums)(const void *columns, const void *values, int64_t width, const void *x, void *sum);

/* The function for columns and values of these types; the processor must have isa */
FoldSliceSums fold_slice_sums(SpmvIsa isa, SpmvIndex column_type, SpmvScalar);
