/* plan.h - declarations for the files of plan/ only; formats use core/format.h. */
#pragma once

#include "core/format.h"
#include <spmv_values.h>

SPMV_C_BEGIN

/* Frees the plan of A^T, and removes it from the memory report of A */
void spmv_drop_transposed(SpmvPlan *);
/* Copies the values of A into the plan of A^T, by the order kept with it; transpose.cu */
SpmvStatus spmv_refresh_transposed(SpmvPlan *, SpmvExec *);

/* Fails unless a plan has products with rounded values */
SpmvStatus spmv_check_rounded(const SpmvPlan *, SpmvExec *);

/* Fails unless a plan lies on the device and can list its nonzeros, with rows and columns that fit 32 bits */
SpmvStatus spmv_check_listable(const SpmvPlan *, SpmvExec *);

SPMV_C_END
