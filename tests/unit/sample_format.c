/* A format that does nothing but count. */
#include "sample_format.h"
#include <stdlib.h>

static SampleCalls calls;

SampleCalls *sample_calls(void) { return &calls; }

static void destroy_data(SpmvAnalysis *analysis, SpmvExec *exec)
{
  calls.data_destroyed++;
  spmv_exec_free(exec, SPMV_HOST, analysis->data);
}

static SpmvStatus analyze(const SpmvPattern *pattern, SpmvScalar scalar, const SpmvOptions *options, SpmvExec *exec,
                          SpmvAnalysis *analysis)
{
  SpmvStatus status;

  (void)pattern;
  (void)scalar;
  (void)options;
  calls.analyze++;
  analysis->destroy_data = destroy_data;
  status                 = spmv_alloc(exec, SPMV_HOST, 16, "sample", &analysis->data);
  return status ? status : calls.next_status;
}

static SpmvStatus build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvExec *exec, SpmvPlan **plan)
{
  void      *block;
  SpmvStatus status = spmv_alloc(exec, SPMV_HOST, sizeof **plan, "plan", &block);

  calls.build++;
  if (status) return status;
  *plan = block;
  spmv_plan_init(*plan, csr, analysis, exec);
  return SPMV_SUCCESS;
}

static SpmvStatus product(const SpmvPlan *plan, const void *alpha, const void *x, const void *beta, void *y, void *work,
                          SpmvExec *exec)
{
  (void)plan;
  (void)alpha;
  (void)x;
  (void)beta;
  (void)y;
  (void)work;
  (void)exec;
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

static SpmvStatus memory(const SpmvPlan *plan, SpmvMemory *report)
{
  *report = plan->memory;
  return SPMV_SUCCESS;
}

static SpmvStatus view(const SpmvPlan *plan, SpmvPrint print, void *ctx)
{
  (void)plan;
  print(ctx, "sample");
  return SPMV_SUCCESS;
}

static void destroy(SpmvPlan **plan)
{
  if (!plan || !*plan) return;
  SpmvAllocator host = (*plan)->host, device = (*plan)->device;
  spmv_free(&host, &device, SPMV_HOST, *plan);
  *plan = NULL;
}

static const char *const    shades[]  = {"light", "medium", "dark", NULL};
static const SpmvOptionDesc options[] = {
    {"width", SPMV_OPTION_INT, 32, 1, 1024, NULL, "columns a step"},
    {"ratio", SPMV_OPTION_REAL, 1.5, 0, 10, NULL, "a real number"},
    {"shade", SPMV_OPTION_ENUM, 1, 0, 0, shades, "one of three"},
    {"sorted", SPMV_OPTION_BOOL, 1, 0, 0, NULL, "a switch"},
    {0},
};

SpmvFormat sample_format(void)
{
  return (SpmvFormat){
      .abi           = SPMV_ABI,
      .caps          = SPMV_CAP_HOST | SPMV_CAP_TRANSPOSE | SPMV_CAP_UPDATE | SPMV_CAP_F32 | SPMV_CAP_I64,
      .name          = "sample",
      .summary       = "does nothing",
      .options       = options,
      .analyze       = analyze,
      .build         = build,
      .update_values = update_values,
      .mult          = product,
      .multtranspose = product,
      .memory        = memory,
      .view          = view,
      .destroy       = destroy,
  };
}
