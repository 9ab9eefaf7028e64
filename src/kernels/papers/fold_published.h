/*
  fold_published.h - the table of the paper on format fold: its width from q and r, and slices that are all as wide as
  the fold; on a device, x in the order of the table. Arrays and products are those of the format.

    work  S  [partial sums]           as in fold_device.cuh
             [entries], gather=device  x in the order of the table
*/
#pragma once

#include "fold/fold.h"

SPMV_C_BEGIN

/* The option q or r gives w = max(1, q * mean + r * sigma), rounded, at most the longest row */
int64_t fold_width(const FoldHistogram *, const SpmvOptions *);
/* The table that the options prescribe */
FoldGiven fold_given(const SpmvOptions *);

extern const SpmvSlots fold_published_device_slots;

SPMV_C_END
