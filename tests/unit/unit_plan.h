/*
  unit_plan.h - what the unit tests of a format begin with: a plan of given options, a matrix with exact values, and all
  its products on the host against the reference.
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

/* Analyzes and builds, also where the analysis declines. options is a printf format with its numbers and words behind
   it, and gives "key=value key=value"; the others keep their defaults. */
__attribute__((format(printf, 4, 5))) UnitPlan unit_plan(SpmvSpace space, const char *format, const SpmvCsr *csr,
                                                         const char *options, ...);
void                                           unit_plan_clear(UnitPlan *);

/* What a plan prints, each line with its newline; until the next call */
const char *unit_view(const UnitPlan *);

/* x and y have `most` entries: enough for a product and for a transposed one */
typedef struct {
  SpmvCsr csr;
  int64_t most;
  void   *values, *x, *y;
} UnitProblem;

UnitProblem unit_problem(const GenSpec *, SpmvIndex, SpmvScalar);
void        unit_problem_clear(UnitProblem *);

/* y = alpha A x + beta y by one instruction set */
typedef void UnitMult(UnitPlan *, SpmvIsa, const void *alpha, const void *x, const void *beta, void *y);

/* The product of the format itself, whatever the instruction set: a UnitMult for those without a choice */
UnitMult unit_mult;

/* 2 A x by every instruction set of this machine and 2 A^T x, exactly. What y has before is not a number. */
void unit_check_products(UnitProblem *, UnitPlan *, UnitMult *);

/* Both for a matrix with exact values and a plan of a format on the host with these options */
__attribute__((format(printf, 6, 7))) void unit_check_format(const GenSpec *, SpmvIndex, SpmvScalar, UnitMult *,
                                                             const char *format, const char *options, ...);

/* The values of a plan are those of the matrix, to the last bit */
void unit_check_extracted(const UnitProblem *, UnitPlan *);

#endif
