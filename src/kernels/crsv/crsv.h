/*
  crsv.h - options of format crsv (CRS-vector) and its plan on the host, which only points to the caller's CSR arrays.

  Invariants: row_ptr [rows+1], col [nnz] and values [nnz] are borrowed from the CSR that the plan was built from.
*/
#pragma once

#include "plan/plan.h"

SPMV_C_BEGIN

/* Positions in the table of options */
enum { CRSV_OPTION_NT, CRSV_OPTION_VARIANT };

/* Choices of nt; CRSV_NT_1 + k means 2^k threads per row, up to 32 */
typedef enum { CRSV_NT_AUTO, CRSV_NT_RULE, CRSV_NT_1 } CrsvNt;

/* Choices of variant: the paper's kernel (papers/crsv_published_device.cu), complete or without one of its improvements */
typedef enum { CRSV_ALL, CRSV_NO_READONLY, CRSV_OUTER_LOOP, CRSV_SHARED } CrsvVariant;

/* A plan in host memory; crsv_device.cuh has the plan in device memory */
typedef struct {
  SpmvPlan    base;
  const void *row_ptr; /* [rows+1], base.index_type */
  const void *col;     /* [nnz], base.index_type */
  const void *values;  /* [nnz], base.scalar_type */
} CrsvPlan;

/* Adds the CSR arrays to the memory report of an analysis */
void crsv_report_csr(const SpmvPattern *, SpmvAnalysis *);

extern const SpmvSlots crsv_device_slots;

SPMV_C_END
