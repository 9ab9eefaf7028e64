/*
  unit_plan.h - helpers for the unit tests of formats: a plan with given options, a matrix with exact values, and checks
  of its products on the host against the reference.
*/
#ifndef SPMV_UNIT_PLAN_H
#define SPMV_UNIT_PLAN_H

#include "core/simd.h"

#include "gen.h"

typedef struct {
  SpmvExec     exec;
  SpmvAnalysis analysis;
  SpmvPlan    *plan;
} UnitPlan;

/* Analyzes and builds, even if the analysis declines. options and the arguments after it, as for printf(), give
   "key=value key=value"; other options keep their defaults. */
__attribute__((format(printf, 4, 5))) UnitPlan unit_plan(SpmvSpace space, const char *format, const SpmvCsr *csr,
                                                         const char *options, ...);
void                                           unit_plan_clear(UnitPlan *);

SpmvExec unit_device_exec(void);
/* A copy of host memory in device memory, freed by spmv_exec_free() */
void *unit_on_device(SpmvExec *, const void *from, int64_t bytes);

/* The view of a plan, with a newline after each line; valid until the next call */
const char *unit_view(const UnitPlan *);

/* x and y have `most` entries: enough for a product and for a transposed one */
typedef struct {
  SpmvCsr csr;
  int64_t most;
  void   *values, *x, *y;
} UnitProblem;

UnitProblem unit_problem(const GenSpec *, SpmvIndex, SpmvScalar);
void        unit_problem_clear(UnitProblem *);

/* y = alpha A x + beta y with one instruction set */
typedef void UnitMult(UnitPlan *, SpmvIsa, const void *alpha, const void *x, const void *beta, void *y);

/* The product of the plan, for formats without kernels for several instruction sets */
UnitMult unit_mult;

/* Checks 2 A x with every instruction set of this machine, and 2 A^T x, for exact equality. y begins as NaN. */
void unit_check_products(UnitProblem *, UnitPlan *, UnitMult *);

/* Makes a matrix with exact values and a host plan with these options, and calls unit_check_products() */
__attribute__((format(printf, 6, 7))) void unit_check_format(const GenSpec *, SpmvIndex, SpmvScalar, UnitMult *,
                                                             const char *format, const char *options, ...);

/* Checks that the values extracted from a plan equal those of the matrix, bit for bit */
void unit_check_extracted(const UnitProblem *, UnitPlan *);

#endif
