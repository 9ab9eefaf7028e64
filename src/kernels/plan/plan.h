/* plan.h - what the files of plan/ share and no format needs. */
#pragma once

#include "core/format.h"
#include <spmv_values.h>

SPMV_C_BEGIN

/* Frees the plan of A^T, and takes it out of the memory of A */
void spmv_drop_transposed(SpmvPlan *);
/* Gives the plan of A^T the values of A, by the order that is kept; transpose.cu */
SpmvStatus spmv_refresh_transposed(SpmvPlan *, SpmvExec *);

/* An error unless a plan has products with rounded values */
SpmvStatus spmv_check_rounded(const SpmvPlan *, SpmvExec *);

/* An error unless a plan lies on the device and lists its nonzeros, with rows and columns in 32 bits */
SpmvStatus spmv_check_listable(const SpmvPlan *, SpmvExec *);

SPMV_C_END
