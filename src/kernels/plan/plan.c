/* Creation and destruction of a plan and of its plan of A^T, with the slots of its format: argument checks, structs,
   memory reports. */
#include "plan.h"
#include <stdio.h>
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

static SpmvStatus check_pattern(const SpmvFormat *format, const SpmvPattern *p, SpmvExec *exec)
{
  char reason[SPMV_MESSAGE_MAX];

  if (p->rows < 0 || p->cols < 0 || p->nnz < 0)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "negative size: %lld rows, %lld columns, %lld nonzeros",
                     (long long)p->rows, (long long)p->cols, (long long)p->nnz);
  if (exec->space == SPMV_HOST && !format->host)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "format %s has no host plans", format->name);
  if (exec->space == SPMV_HOST && p->space != SPMV_HOST)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "a host plan of format %s needs a pattern on the host", format->name);
  if (exec->space == SPMV_DEVICE && !format->device)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "format %s has no device plans in this library", format->name);
  if (exec->space == SPMV_DEVICE && spmv_device_count(reason) == 0)
    return spmv_fail(exec, SPMV_ERR_DEVICE, "%s", reason);
  return SPMV_SUCCESS;
}

static SpmvStatus alloc_zeroed(SpmvExec *exec, int64_t bytes, const char *name, void **block)
{
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, bytes, name, block));
  if (bytes > 0) memset(*block, 0, (size_t)bytes);
  return SPMV_SUCCESS;
}

/* The table of slots for a space and options */
static const SpmvSlots *slots_for(const SpmvFormat *format, SpmvSpace space, const SpmvOptions *options)
{
  const SpmvPaper *paper     = spmv_options_of_paper(options) ? spmv_format_paper(format) : NULL;
  const SpmvSlots *published = !paper ? NULL : space == SPMV_HOST ? paper->host : paper->device;
  const SpmvSlots *slots     = space == SPMV_HOST ? format->host : format->device;

  if (published) return published;
  return slots->choose ? slots->choose(options) : slots;
}

/* The rule for all formats: a plan is accepted if the matrix has nonzeros and CSR would not take fewer bytes. A format
   that pads on purpose states a factor; a format that borrows the CSR arrays is always accepted, since it needs no
   copy. */
static void decide(SpmvAnalysis *a)
{
  const SpmvMemory *m      = &a->memory;
  const double      factor = a->format->padding_factor > 1 ? a->format->padding_factor : 1;

  a->accepted = a->nnz > 0 && (a->format->borrows || (double)m->total_bytes <= factor * (double)m->csr_bytes);
  if (a->accepted) return;
  if (a->nnz == 0) snprintf(a->reason, sizeof a->reason, "there is nothing to pack");
  else
    snprintf(a->reason, sizeof a->reason, "format %s would take %lld bytes, more than %.4g times the %lld of CSR",
             a->format->name, (long long)m->total_bytes, factor, (long long)m->csr_bytes);
}

SpmvStatus spmv_analyze(const SpmvFormat *format, const SpmvPattern *pattern, SpmvScalar scalar,
                        const SpmvOptions *options, SpmvExec *exec, SpmvAnalysis *analysis)
{
  memset(analysis, 0, sizeof *analysis);
  exec->message[0] = 0;
  if (options->format != format)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "the options belong to format %s, not to %s",
                     options->format ? options->format->name : "(none)", format->name);
  SPMV_TRY(check_pattern(format, pattern, exec));
  analysis->format           = format;
  analysis->slots            = slots_for(format, exec->space, options);
  analysis->options          = *options;
  analysis->scalar_type      = scalar;
  analysis->space            = exec->space;
  analysis->rows             = pattern->rows;
  analysis->cols             = pattern->cols;
  analysis->nnz              = pattern->nnz;
  analysis->memory.csr_bytes = spmv_csr_bytes(pattern, scalar);
  SPMV_TRY(alloc_zeroed(exec, analysis->slots->analysis_bytes, "analysis", &analysis->data));
  const SpmvStatus status = analysis->slots->analyze(pattern, analysis, exec);
  if (status) spmv_analysis_clear(analysis, exec);
  else decide(analysis);
  return status;
}

void spmv_analysis_clear(SpmvAnalysis *analysis, SpmvExec *exec)
{
  if (!analysis->data) return;
  if (analysis->slots->clear_analysis) analysis->slots->clear_analysis(analysis->data, exec);
  spmv_exec_free(exec, SPMV_HOST, analysis->data);
  analysis->data = NULL;
}

static SpmvStatus check_analysis(const SpmvAnalysis *a, const SpmvCsr *csr, SpmvExec *exec)
{
  const SpmvPattern *p = &csr->pattern;

  if (!a->format) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "build before analyze");
  if (a->space != exec->space || a->scalar_type != csr->scalar_type)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "the analysis was made for another space or scalar type");
  if (a->rows != p->rows || a->cols != p->cols || a->nnz != p->nnz)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "the analysis is of %lld x %lld with %lld nonzeros, not of %lld x %lld with %lld",
                     (long long)a->rows, (long long)a->cols, (long long)a->nnz, (long long)p->rows, (long long)p->cols,
                     (long long)p->nnz);
  if (a->space == SPMV_HOST && (p->space != SPMV_HOST || csr->values_space != SPMV_HOST))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a host plan of format %s needs its CSR on the host", a->format->name);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvExec *exec, SpmvPlan **out)
{
  void *block;

  *out             = NULL;
  exec->message[0] = 0;
  SPMV_TRY(check_analysis(analysis, csr, exec));
  SPMV_TRY(alloc_zeroed(exec, analysis->slots->plan_bytes, "plan", &block));
  SpmvPlan *plan    = block;
  plan->format      = analysis->format;
  plan->slots       = analysis->slots;
  plan->options     = analysis->options;
  plan->rows        = csr->pattern.rows;
  plan->cols        = csr->pattern.cols;
  plan->nnz         = csr->pattern.nnz;
  plan->index_type  = csr->pattern.index_type;
  plan->scalar_type = csr->scalar_type;
  plan->space       = exec->space;
  plan->memory      = analysis->memory;
  plan->host        = exec->host;
  plan->device      = exec->device;
  *out              = plan;

  const SpmvStatus status = plan->slots->build(csr, analysis, plan, exec);
  if (status) spmv_destroy(out);
  return status;
}

void spmv_plan_free(const SpmvPlan *plan, SpmvSpace space, void *block)
{
  spmv_free(&plan->host, &plan->device, space, block);
}

void spmv_destroy(SpmvPlan **plan)
{
  if (!plan || !*plan) return;
  const SpmvAllocator host = (*plan)->host, device = (*plan)->device;

  spmv_drop_transposed(*plan);
  if ((*plan)->slots->clear) (*plan)->slots->clear(*plan);
  spmv_free(&host, &device, SPMV_HOST, *plan);
  *plan = NULL;
}

void spmv_view(const SpmvPlan *plan, SpmvPrint print, void *ctx)
{
  const SpmvMemory *m           = &plan->memory;
  const int64_t     order_bytes = plan->transpose.order ? m->array[m->count - 1].bytes : 0;
  char              line[SPMV_MESSAGE_MAX];

  plan->slots->view(plan, print, ctx);
  if (!plan->transpose.plan) return;
  snprintf(line, sizeof line, "transposed products keep a plan of the transpose%s, of %lld bytes more",
           plan->transpose.order ? " and the order of its nonzeros" : "",
           (long long)(plan->transpose.plan->memory.total_bytes + order_bytes));
  print(ctx, line);
}

/* ---- the plan of A^T ---- */

SpmvStatus spmv_build_transposed(SpmvPlan *plan, const SpmvCsr *csr, const SpmvOptions *options, SpmvExec *exec)
{
  SpmvAnalysis analysis;
  SpmvPlan    *t    = NULL;
  void        *work = NULL;

  SPMV_TRY(spmv_analyze(plan->format, &csr->pattern, csr->scalar_type, options, exec, &analysis));
  SpmvStatus status = spmv_build(csr, &analysis, exec, &t);
  spmv_analysis_clear(&analysis, exec);
  if (!status) status = spmv_alloc(exec, plan->space, t->memory.work_bytes, "work of A^T", &work);
  if (status) {
    spmv_exec_free(exec, plan->space, work);
    spmv_destroy(&t);
    return status;
  }
  plan->transpose.plan = t;
  plan->transpose.work = work;
  spmv_memory_add(&plan->memory, "transpose", SPMV_ARRAY_VALUES, t->memory.total_bytes + t->memory.work_bytes);
  plan->memory.host_bytes += t->memory.host_bytes;
  plan->transpose.is_old = 0;
  return SPMV_SUCCESS;
}

/* Removes the last array, which transposed products added, from a memory report */
static void remove_last_array(SpmvMemory *memory) { memory->total_bytes -= memory->array[--memory->count].bytes; }

void spmv_drop_transposed(SpmvPlan *plan)
{
  void **const block[] = {&plan->transpose.work, &plan->transpose.csr, &plan->transpose.order};

  if (!plan->transpose.plan) return;
  if (plan->transpose.order) remove_last_array(&plan->memory);
  remove_last_array(&plan->memory);
  plan->memory.host_bytes -= plan->transpose.plan->memory.host_bytes;
  spmv_destroy(&plan->transpose.plan);
  for (int i = 0; i < 3; i++) {
    spmv_plan_free(plan, plan->space, *block[i]);
    *block[i] = NULL;
  }
  plan->transpose.values = NULL;
}

/* ---- lists of arrays ---- */

void spmv_arrays_report(const SpmvPlanArray *list, int count, SpmvMemory *memory)
{
  for (int i = 0; i < count; i++) spmv_memory_add(memory, list[i].name, list[i].kind, list[i].bytes);
}

SpmvStatus spmv_arrays_alloc(SpmvPlan *plan, const SpmvPlanArray *list, int count, SpmvExec *exec)
{
  int64_t bytes[SPMV_ARRAYS_MAX];
  void  **array[SPMV_ARRAYS_MAX];
  int     n = 0;

  for (int i = 0; i < count; i++) {
    bytes[i] = list[i].bytes;
    array[i] = list[i].array;
    if (plan->space == SPMV_HOST) SPMV_TRY(spmv_alloc(exec, SPMV_HOST, bytes[i], list[i].name, array[i]));
  }
  if (plan->space == SPMV_HOST) return SPMV_SUCCESS;
  SPMV_TRY(spmv_alloc_arrays(exec, SPMV_DEVICE, count, bytes, "values and indices", array, &plan->arrays));
  for (int i = 0; i < count; i++) {
    if (list[i].kind != SPMV_ARRAY_VALUES) continue;
    plan->values[n].array   = *array[i];
    plan->values[n++].bytes = bytes[i];
  }
  return SPMV_SUCCESS;
}

void spmv_arrays_free(const SpmvPlan *plan, const SpmvPlanArray *list, int count)
{
  for (int i = 0; plan->space == SPMV_HOST && i < count; i++) spmv_plan_free(plan, SPMV_HOST, *list[i].array);
  spmv_plan_free(plan, SPMV_DEVICE, plan->arrays);
}
