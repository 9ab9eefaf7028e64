/*
  rbp_published.h - the layouts csr, ell and ellr of the paper on format rbp: their plan, which is the same on the host
  and on a device, and functions for both. These layouts are as simple as published.

  Arrays have the names and contents of the paper; I is base.index_type, S is base.scalar_type. Arrays that a layout
  does not have are NULL.

  csr   val_ptr[i] .. val_ptr[i+1]-1 are the positions of row i in comp_values, col_ptr likewise in comp_columns, where
        each run has two entries: its first and its last column. Both ascend within a row.
  ell   value v of row i is comp_values[v * rows + i], the ends of run r are comp_columns[2r * rows + i] and
        comp_columns[(2r+1) * rows + i]. An unused value is 0; an unused run has the ends 0 and -1, so it is empty.
  ellr  ell with row_length[i], the number of runs of row i.
  all   row_ptr, columns and values are the CSR remainder of the singles.
*/
#pragma once

#include "rbp/rbp.h"

SPMV_C_BEGIN

typedef struct {
  SpmvPlan  base; /* first */
  RbpLayout layout;
  int64_t   min_run;
  RbpCounts counts;
  void     *val_ptr, *col_ptr; /* [rows+1] I, csr */
  void     *row_length;        /* [rows] I, ellr */
  void     *comp_values;       /* csr [run_values] S; ell, ellr [max_run_values * rows] S */
  void     *comp_columns;      /* csr [2 * runs] I; ell, ellr [max_run_columns * rows] I */
  void     *row_ptr;           /* [rows+1] I */
  void     *columns;           /* [singles] I */
  void     *values;            /* [singles] S */
} RbpPublished;

/* Adds the arrays of a layout to a memory report. A size beyond int64_t saturates: the reported size is so large that
   the allocation fails. */
void rbp_published_memory(RbpLayout, const RbpCounts *, SpmvIndex, SpmvScalar, SpmvMemory *);
/* The slot for analyses of a pattern on the host; the data are an RbpCounts */
SpmvStatus rbp_published_analyze(const SpmvPattern *, SpmvAnalysis *, SpmvExec *);
/* Sets the fields known from the analysis, and allocates the arrays */
SpmvStatus rbp_published_init(RbpPublished *, const SpmvAnalysis *, SpmvExec *);
/* Makes the index arrays of a plan on the device from a pattern on the host, and waits */
SpmvStatus rbp_published_upload(RbpPublished *, const SpmvAnalysis *, const SpmvPattern *, SpmvExec *);
/* Copies the index arrays of a plan on the host */
SpmvStatus rbp_published_copy(RbpPublished *to, RbpPublished *from, SpmvExec *);
void       rbp_published_view(const SpmvPlan *, SpmvPrint, void *ctx);
void       rbp_published_clear(SpmvPlan *);

extern const SpmvSlots rbp_published_device_slots;

SPMV_C_END
