/* sample_format.c - a format that only counts its calls; see sample_format.h. */
#include "sample_format.h"
#include <stdlib.h>

static SampleCalls calls;

SampleCalls *sample_calls(void) { return &calls; }

static void clear_analysis(void *data, SpmvExec *exec)
{
  (void)data;
  (void)exec;
  calls.data_cleared++;
}

static SpmvStatus analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  (void)pattern;
  (void)exec;
  calls.analyze++;
  analysis->memory.total_bytes = calls.total_bytes;
  return calls.next_status;
}

static SpmvStatus build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *plan, SpmvExec *exec)
{
  (void)csr;
  (void)analysis;
  (void)plan;
  (void)exec;
  calls.build++;
  return calls.next_status;
}

static SpmvStatus mult(const SpmvPlan *plan, const void *alpha, const void *x, const void *beta, void *y, void *work,
                       SpmvExec *exec)
{
  (void)plan;
  (void)alpha;
  (void)x;
  (void)beta;
  (void)y;
  (void)work;
  (void)exec;
  calls.mult++;
  return SPMV_SUCCESS;
}

static SpmvStatus add_transposed(const SpmvPlan *plan, const void *alpha, const void *x, void *y, SpmvExec *exec)
{
  (void)plan;
  (void)alpha;
  (void)x;
  (void)y;
  (void)exec;
  calls.add_transposed++;
  return SPMV_SUCCESS;
}

static SpmvStatus update_values(SpmvPlan *plan, const void *values, SpmvSpace space, SpmvExec *exec)
{
  (void)plan;
  (void)values;
  (void)space;
  (void)exec;
  return SPMV_SUCCESS;
}

static SpmvStatus extract_values(const SpmvPlan *plan, void *values, SpmvExec *exec)
{
  (void)plan;
  (void)values;
  (void)exec;
  return SPMV_SUCCESS;
}

static void view(const SpmvPlan *plan, SpmvPrint print, void *ctx)
{
  (void)plan;
  print(ctx, "sample");
}

static const char *const    shades[]  = {"light", "medium", "dark", NULL};
static const SpmvOptionDesc options[] = {
    {"width", SPMV_OPTION_INT, 32, 1, 1024, NULL, "columns per step", NULL},
    {"ratio", SPMV_OPTION_REAL, 1.5, 0, 10, NULL, "a real number", NULL},
    {"shade", SPMV_OPTION_ENUM, 1, 0, 0, shades, "one of three", NULL},
    {"sorted", SPMV_OPTION_BOOL, 1, 0, 0, NULL, "a switch", NULL},
    {0},
};

static const SpmvSlots slots = {
    .analysis_bytes = 16,
    .plan_bytes     = sizeof(SpmvPlan),
    .analyze        = analyze,
    .clear_analysis = clear_analysis,
    .build          = build,
    .update_values  = update_values,
    .extract_values = extract_values,
    .mult           = mult,
    .add_transposed = add_transposed,
    .view           = view,
};

SpmvSlots sample_slots(void) { return slots; }

SpmvFormat sample_format(void)
{
  return (SpmvFormat){
      .abi     = SPMV_ABI,
      .name    = "sample",
      .summary = "does nothing",
      .options = options,
      .host    = &slots,
  };
}
