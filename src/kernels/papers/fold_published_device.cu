/* fold_published_device.cu - the slots of the paper on format fold on the device, and x in the order of the table. */
#include "fold/fold_device.cuh"
#include "fold_published.h"

namespace
{
/* to[e] = x[columns[e]], 0 for padding */
template <typename S>
__global__ void __launch_bounds__(FOLD_THREADS)
    fold_gather_x(const int32_t *__restrict__ columns, int64_t entries, const S *__restrict__ x, S *__restrict__ to)
{
  const int64_t e = blockIdx.x * (int64_t)FOLD_THREADS + threadIdx.x;
  if (e >= entries) return;
  const int32_t c = __ldcs(columns + e);
  to[e]           = c >= 0 ? __ldg(x + c) : S(0);
}

SpmvStatus gather(const FoldTable *table, SpmvScalar scalar, const void *x, void *to, SpmvExec *exec)
{
  const int64_t entries = table->sizes.steps * FOLD_LANES;

  return spmv_with_scalar(scalar, [&](auto number) -> SpmvStatus {
    typedef decltype(number) S;
    SPMV_LAUNCH(exec, fold_gather_x<S>, spmv_blocks(entries, FOLD_THREADS), FOLD_THREADS, 0,
                (const int32_t *)table->columns, entries, (const S *)x, (S *)to);
    return SPMV_SUCCESS;
  });
}

int gathers(const SpmvOptions *options) { return fold_gather_of(options) == FOLD_GATHER_DEVICE; }

SpmvStatus analyze(const SpmvPattern *p, SpmvAnalysis *analysis, SpmvExec *exec)
{
  const SpmvOptions *options = &analysis->options;
  const int64_t      S       = spmv_scalar_bytes(analysis->scalar_type);

  if (fold_is_streamed(options))
    return spmv_fail(
        exec, SPMV_ERR_OPTION,
        "a table beyond the device's memory (device_memory, gather=host) goes with the defaults of q, r and "
        "layout, and not with gather=device");
  SPMV_TRY(fold_device_analyze(p, fold_given(options), analysis, exec));
  if (gathers(options))
    analysis->memory.work_bytes += ((const FoldDeviceAnalysis *)analysis->data)->sizes.steps * FOLD_LANES * S;
  return SPMV_SUCCESS;
}

SpmvStatus mult(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y, void *work,
                SpmvExec *exec)
{
  const FoldTable   *table    = &((const FoldPlan *)base)->table;
  const SpmvScalar   scalar   = base->scalar_type;
  void              *gathered = (char *)work + fold_partial_sums(&table->sizes) * spmv_scalar_bytes(scalar);
  const FoldOperands operands = {alpha, x, beta, y, work};
  const FoldPart     part     = {0, table->sizes.slices, 0, table->columns, table->values, gathered};

  if (!gathers(&base->options)) return fold_device_slots.mult(base, alpha, x, beta, y, work, exec);
  SPMV_TRY(gather(table, scalar, x, gathered, exec));
  SPMV_TRY(fold_device_multiply_part(table, scalar, &part, &operands, exec));
  return fold_device_finish(table, scalar, &operands, exec);
}

/* Those of the format, with another analysis and product */
SpmvSlots published()
{
  SpmvSlots slots = fold_device_slots;

  slots.choose       = nullptr;
  slots.analyze      = analyze;
  slots.mult         = mult;
  slots.mult_rounded = nullptr;
  slots.step         = nullptr;
  return slots;
}
} // namespace

const SpmvSlots fold_published_device_slots = published();
