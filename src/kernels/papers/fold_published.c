/* fold_published.c - the width of the paper on format fold, and the slots on the host. */
#include "fold_published.h"
#include <math.h>

int64_t fold_width(const FoldHistogram *h, const SpmvOptions *options)
{
  const double q = options->value[FOLD_OPTION_Q], r = options->value[FOLD_OPTION_R];
  const double w = round(q * fold_mean(h) + r * fold_sigma(h));

  return (int64_t)fmax(1, fmin(w, (double)h->longest));
}

FoldGiven fold_given(const SpmvOptions *o)
{
  return (FoldGiven){o->value[FOLD_OPTION_Q] > 0 || o->value[FOLD_OPTION_R] > 0 ? fold_width : NULL, o,
                     o->value[FOLD_OPTION_LAYOUT] == FOLD_LAYOUT_UNIFORM};
}

static SpmvStatus analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  return fold_analyze(pattern, fold_given(&analysis->options), analysis, exec);
}

static const SpmvSlots host_slots = {
    .analysis_bytes = sizeof(FoldAnalysis),
    .plan_bytes     = sizeof(FoldPlan),
    .analyze        = analyze,
    .clear_analysis = fold_clear_analysis,
    .build          = fold_build,
    .update_values  = fold_update_values,
    .extract_values = fold_extract_values,
    .mult           = fold_mult,
    .add_transposed = fold_add_transposed,
    .view           = fold_view,
    .clear          = fold_clear_table,
};

const SpmvPaper spmv_paper_fold = {"fold", &host_slots, SPMV_DEVICE_SLOTS(fold_published_device_slots)};
