/* What every format does the same way around its slots: argument checks, the common part of a plan, memory reports. */
#include <spmv_kernels.h>
#include <string.h>

int64_t spmv_csr_bytes(const SpmvPattern *p, SpmvScalar scalar)
{
  int64_t index = spmv_index_bytes(p->index_type);
  return p->nnz * (spmv_scalar_bytes(scalar) + index) + (p->rows + 1) * index;
}

void spmv_memory_add(SpmvMemory *memory, const char *name, SpmvArrayKind kind, int64_t bytes)
{
  if (memory->count < SPMV_ARRAYS_MAX) {
    SpmvArrayInfo *array = &memory->array[memory->count++];
    array->name          = name;
    array->kind          = kind;
    array->bytes         = bytes;
  }
  memory->total_bytes += bytes;
}

void spmv_plan_init(SpmvPlan *plan, const SpmvCsr *csr, const SpmvAnalysis *analysis, const SpmvExec *exec)
{
  plan->format      = analysis->format;
  plan->rows        = csr->pattern.rows;
  plan->cols        = csr->pattern.cols;
  plan->nnz         = csr->pattern.nnz;
  plan->index_type  = csr->pattern.index_type;
  plan->scalar_type = csr->scalar_type;
  plan->space       = exec->space;
  plan->memory      = analysis->memory;
  plan->host        = exec->host;
  plan->device      = exec->device;
}

static SpmvStatus check_capabilities(const SpmvFormat *format, const SpmvPattern *p, SpmvScalar scalar, SpmvExec *exec)
{
  const uint32_t caps = format->caps;

  if (p->rows < 0 || p->cols < 0 || p->nnz < 0)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "negative size: %lld rows, %lld columns, %lld nonzeros",
                     (long long)p->rows, (long long)p->cols, (long long)p->nnz);
  if (exec->space == SPMV_HOST && !(caps & SPMV_CAP_HOST))
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "format %s has no host plans", format->name);
  if (exec->space == SPMV_HOST && p->space != SPMV_HOST)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "a host plan of format %s needs a pattern on the host", format->name);
  if (exec->space == SPMV_DEVICE && !(caps & SPMV_CAP_DEVICE))
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "format %s has no device plans in this library", format->name);
  if (scalar == SPMV_F32 && !(caps & SPMV_CAP_F32))
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "format %s has no single precision", format->name);
  if (p->index_type == SPMV_I64 && !(caps & SPMV_CAP_I64))
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "format %s has no 64-bit indices", format->name);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_analyze(const SpmvFormat *format, const SpmvPattern *pattern, SpmvScalar scalar,
                        const SpmvOptions *options, SpmvExec *exec, SpmvAnalysis *analysis)
{
  SpmvStatus status;

  memset(analysis, 0, sizeof *analysis);
  exec->message[0] = 0;
  if (options->format != format)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "the options belong to format %s, not to %s",
                     options->format ? options->format->name : "(none)", format->name);
  status = check_capabilities(format, pattern, scalar, exec);
  if (status) return status;
  analysis->format           = format;
  analysis->options          = *options;
  analysis->scalar_type      = scalar;
  analysis->space            = exec->space;
  analysis->accepted         = 1;
  analysis->memory.csr_bytes = spmv_csr_bytes(pattern, scalar);
  status                     = format->analyze(pattern, scalar, options, exec, analysis);
  if (status) spmv_analysis_clear(analysis, exec);
  return status;
}

SpmvStatus spmv_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvExec *exec, SpmvPlan **plan)
{
  *plan            = NULL;
  exec->message[0] = 0;
  if (!analysis->format) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "build before analyze");
  if (analysis->space != exec->space || analysis->scalar_type != csr->scalar_type)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "the analysis was made for another space or scalar type");
  return analysis->format->build(csr, analysis, exec, plan);
}

void spmv_analysis_clear(SpmvAnalysis *analysis, SpmvExec *exec)
{
  if (analysis->destroy_data && analysis->data) analysis->destroy_data(analysis, exec);
  analysis->data         = NULL;
  analysis->destroy_data = NULL;
}
