/* plan.h - the functions of plan/ that formats may call, and below them those for the files of plan/ only. */
#pragma once

#include "core/format.h"
#include <spmv_values.h>

SPMV_C_BEGIN

/* An array of a plan and its size. One list of these serves to report, allocate and free the arrays. Empty arrays are
   NULL. */
typedef struct {
  const char   *name;
  SpmvArrayKind kind;
  int64_t       bytes;
  void        **array; /* the plan's pointer */
} SpmvPlanArray;

/* Adds all arrays of a list to a memory report */
void spmv_arrays_report(const SpmvPlanArray *, int count, SpmvMemory *);
/* Allocates all arrays of a list in the space of the plan, on the device in one block. After a failure the caller must
   call spmv_arrays_free(). */
SpmvStatus spmv_arrays_alloc(SpmvPlan *, const SpmvPlanArray *, int count, SpmvExec *);
void       spmv_arrays_free(const SpmvPlan *, const SpmvPlanArray *, int count);

/* Builds the plan of A^T from its CSR, in the format of A, and adds its bytes to the memory report of A. The caller may
   then free a CSR that the format does not borrow, one on the device in the order of the stream. */
SpmvStatus spmv_build_transposed(SpmvPlan *, const SpmvCsr *transposed, const SpmvOptions *, SpmvExec *);
/* Builds the plan of A^T from the list of nonzeros; transpose.cu */
SpmvStatus spmv_transpose_listed(SpmvPlan *, const SpmvOptions *, SpmvExec *);

/* ---- for plan/ only ---- */

/* Frees the plan of A^T, and removes it from the memory report of A */
void spmv_drop_transposed(SpmvPlan *);
/* Copies the values of A into the plan of A^T, by the order kept with it; transpose.cu */
SpmvStatus spmv_refresh_transposed(SpmvPlan *, SpmvExec *);

/* Matrices with at least this many nonzeros have orders of 64 bits; tests lower it. transpose.cu */
extern int64_t spmv_transpose_wide_from;

/* Fails unless a plan has products with rounded values */
SpmvStatus spmv_check_rounded(const SpmvPlan *, SpmvExec *);

/* Fails unless a plan lies on the device and can list its nonzeros, with rows and columns that fit 32 bits */
SpmvStatus spmv_check_listable(const SpmvPlan *, SpmvExec *);

SPMV_C_END
