/* Checks of a plan's life: analyze, build, memory, view, rebuild, destroy. */
#include "conf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICE_ALIGNMENT = 256 /* of arrays that share a block of device memory */ };

static int64_t aligned(int64_t bytes) { return (bytes + DEVICE_ALIGNMENT - 1) / DEVICE_ALIGNMENT * DEVICE_ALIGNMENT; }

int conf_success(ConfRun *run, SpmvStatus status, const char *what)
{
  return report_check(run->report, status == SPMV_SUCCESS, what, "%s: %s", spmv_status_text(status), run->exec.message);
}

int conf_ready(ConfRun *run, SpmvStatus status, const char *what)
{
  return status == SPMV_SUCCESS || conf_success(run, status, what);
}

/* What must hold in any memory report */
static void check_report_sums(ConfRun *run, const SpmvMemory *m, const char *what)
{
  const SpmvPattern *p     = &run->problem->pattern[run->index_type];
  const int64_t      value = spmv_scalar_bytes(run->problem->scalar_type);
  Report            *r     = run->report;
  int64_t            sum = 0, values = 0;

  for (int i = 0; i < m->count; i++) {
    sum += m->array[i].bytes;
    if (m->array[i].kind == SPMV_ARRAY_VALUES) values += m->array[i].bytes;
    report_check(r, m->array[i].name && m->array[i].bytes >= 0, what, "array %d has no name or a negative size", i);
  }
  report_check(r, sum == m->total_bytes, what, "total_bytes %lld, arrays sum up to %lld", (long long)m->total_bytes,
               (long long)sum);
  report_check(r, values - m->padding_bytes == p->nnz * value, what,
               "%lld bytes of values less %lld of padding are not the %lld nonzeros", (long long)values,
               (long long)m->padding_bytes, (long long)p->nnz);
  report_check(r, m->csr_bytes == spmv_csr_bytes(p, run->problem->scalar_type), what, "csr_bytes %lld",
               (long long)m->csr_bytes);
  report_check(r, m->work_bytes >= 0, what, "work_bytes %lld", (long long)m->work_bytes);
  report_check(r,
               m->host_bytes >= 0 && m->host_bytes <= m->total_bytes && (!m->host_bytes || run->space == SPMV_DEVICE),
               what, "host_bytes %lld", (long long)m->host_bytes);
}

static int same_memory(const SpmvMemory *a, const SpmvMemory *b)
{
  if (a->count != b->count || a->total_bytes != b->total_bytes || a->padding_bytes != b->padding_bytes ||
      a->csr_bytes != b->csr_bytes || a->work_bytes != b->work_bytes || a->host_bytes != b->host_bytes)
    return 0;
  for (int i = 0; i < a->count; i++)
    if (strcmp(a->array[i].name, b->array[i].name) || a->array[i].kind != b->array[i].kind ||
        a->array[i].bytes != b->array[i].bytes)
      return 0;
  return 1;
}

/* Bytes of a plan's arrays in its space when they share a block; those in the memory of the host come last */
static int64_t bytes_in_block(const SpmvMemory *m)
{
  int64_t left = m->total_bytes - m->host_bytes, all = 0;

  for (int i = 0; i < m->count && left > 0; left -= m->array[i++].bytes) all += aligned(m->array[i].bytes);
  return all;
}

/* Whether so many bytes are those of a plan's arrays, less what it borrows; on a device they may share a block. On an
   emulated device that keeps arrays apart this cannot be known. */
static int is_exact(const SpmvMemory *m, SpmvSpace space, int64_t borrowed, int64_t bytes)
{
  return (space == SPMV_DEVICE && getenv("SPMV_EMULATOR_APART")) ||
         bytes == m->total_bytes - m->host_bytes - borrowed ||
         (space == SPMV_DEVICE && borrowed == 0 && bytes == bytes_in_block(m));
}

/* The arrays of a CSR that a plan of a format that borrows does not copy: those in its space */
static int64_t borrowed_bytes(const ConfRun *run, const SpmvCsr *csr)
{
  const int64_t values = csr->pattern.nnz * spmv_scalar_bytes(csr->scalar_type);
  const int64_t all    = spmv_csr_bytes(&csr->pattern, csr->scalar_type);

  if (!run->format->borrows) return 0;
  return (csr->values_space == run->space ? values : 0) + (csr->pattern.space == run->space ? all - values : 0);
}

/* The report of a plan equals the prediction, and so do the bytes that its build allocated in its space, beside the
   struct of a plan on the host */
static void check_memory(ConfRun *run, const CsrCopy *copy, const SpmvPlan *plan, const SpmvAnalysis *analysis,
                         int64_t allocated)
{
  const SpmvMemory *m        = &plan->memory;
  const int64_t     structs  = run->space == SPMV_HOST ? plan->slots->plan_bytes : 0;
  const int64_t     borrowed = borrowed_bytes(run, &copy->csr);

  report_check(run->report, same_memory(m, &analysis->memory), "memory",
               "%lld bytes in %d arrays, predicted %lld in %d", (long long)m->total_bytes, m->count,
               (long long)analysis->memory.total_bytes, analysis->memory.count);
  check_report_sums(run, m, "memory");
  report_check(run->report, is_exact(m, run->space, borrowed, allocated - structs), "memory",
               "reports %lld bytes, of which %lld are borrowed and %lld on the host, but build allocated %lld",
               (long long)m->total_bytes, (long long)borrowed, (long long)m->host_bytes,
               (long long)(allocated - structs));
}

static void check_common_part(ConfRun *run, const SpmvPlan *plan)
{
  const SpmvPattern *p = &run->problem->pattern[run->index_type];

  report_check(run->report,
               plan->format == run->format && plan->rows == p->rows && plan->cols == p->cols && plan->nnz == p->nnz &&
                   plan->index_type == run->index_type && plan->scalar_type == run->problem->scalar_type &&
                   plan->space == run->space,
               "build", "the common part of the plan does not describe the matrix");
}

static int check_analyze(ConfRun *run, const CsrCopy *copy, SpmvAnalysis *analysis)
{
  SpmvStatus status =
      spmv_analyze(run->format, &copy->csr.pattern, copy->csr.scalar_type, &run->options, &run->exec, analysis);

  if (!conf_success(run, status, "analyze")) return 0;
  check_report_sums(run, &analysis->memory, "analyze");
  report_check(run->report, analysis->accepted || analysis->reason[0], "analyze", "declined without a reason");
  report_check(run->report, csr_copy_unchanged(copy, &run->exec), "analyze", "the CSR has changed");
  return 1;
}

/* Builds through an exec that is destroyed afterwards: a plan keeps copies of its hooks, not the exec */
static SpmvPlan *check_build(ConfRun *run, const CsrCopy *copy, const SpmvAnalysis *analysis)
{
  const HooksCounter *counter = hooks_counter(&run->hooks, run->space);
  const int64_t       before  = counter->live_bytes;
  SpmvExec            once    = run->exec;
  SpmvPlan           *plan    = NULL;
  SpmvStatus          status  = spmv_build(&copy->csr, analysis, &once, &plan);

  if (!status) status = spmv_stream_wait(&once);
  memcpy(run->exec.message, once.message, sizeof once.message);
  memset(&once, 0xFF, sizeof once);
  if (!conf_success(run, status, "build")) return NULL;
  if (!report_check(run->report, plan != NULL, "build", "success without a plan")) return NULL;
  check_common_part(run, plan);
  check_memory(run, copy, plan, analysis, counter->live_bytes - before);
  report_check(run->report, csr_copy_unchanged(copy, &run->exec), "build", "the CSR has changed");
  return plan;
}

/* Bytes on the device that a plan of A^T takes with its work and, where it gets new values in place, the order of its
   nonzeros. A format that borrows needs the CSR of A^T too, which is one block. */
static int transposed_is_exact(const ConfRun *run, const SpmvPlan *t, int64_t bytes)
{
  const int64_t index = spmv_index_bytes(t->index_type), value = spmv_scalar_bytes(t->scalar_type);
  const int64_t csr[]    = {(t->rows + 1) * index, t->nnz * index, t->nnz * value};
  int64_t       borrowed = 0, block = run->plan->transpose.order ? t->nnz * 4 : 0;

  for (int i = 0; i < 3 && run->format->borrows; i++) {
    borrowed += csr[i];
    block += aligned(csr[i]);
  }
  return is_exact(&t->memory, t->space, borrowed, bytes - block - t->memory.work_bytes);
}

int conf_prepare_transpose(ConfRun *run)
{
  const HooksCounter *counter = hooks_counter(&run->hooks, run->space);
  const SpmvMemory   *m       = &run->plan->memory;
  const int           had     = run->plan->transpose.plan != NULL;
  const int64_t       before  = counter->live_bytes;
  int64_t             sum     = 0;

  if (!conf_success(run, spmv_prepare_transpose(run->plan, &run->exec), "prepare_transpose")) return 0;
  const int64_t grown = counter->live_bytes - before;
  if (run->plan->transpose.plan && !had)
    report_check(run->report, transposed_is_exact(run, run->plan->transpose.plan, grown),
                 "memory after prepare_transpose", "reports %lld bytes with %lld of work, but allocated %lld",
                 (long long)run->plan->transpose.plan->memory.total_bytes,
                 (long long)run->plan->transpose.plan->memory.work_bytes, (long long)grown);
  else report_check(run->report, grown == 0, "prepare_transpose", "keeps %lld bytes for nothing", (long long)grown);
  if (!conf_success(run, spmv_prepare_transpose(run->plan, &run->exec), "prepare_transpose again")) return 0;
  report_check(run->report, counter->live_bytes == before + grown, "prepare_transpose again", "allocates once more");
  for (int i = 0; i < m->count; i++) sum += m->array[i].bytes;
  report_check(run->report, sum == m->total_bytes, "memory after prepare_transpose",
               "total_bytes %lld, arrays sum up to %lld", (long long)m->total_bytes, (long long)sum);
  return 1;
}

static void count_line(void *ctx, const char *line)
{
  int *lines = ctx; /* below 0: a line that is empty or holds a newline */

  if (!line || !line[0] || strchr(line, '\n')) *lines = -1000000;
  else ++*lines;
}

static void check_view(ConfRun *run)
{
  int lines = 0;

  spmv_view(run->plan, count_line, &lines);
  report_check(run->report, lines > 0, "view", "no line, an empty line, or a line with a newline in it");
}

/* Destroys a second plan of the same matrix, after it gave the same product as the first, and leaves the first whole */
static void check_second_plan(ConfRun *run, SpmvPlan *second)
{
  const int64_t bytes = run->problem->y_length[0] * spmv_scalar_bytes(run->problem->scalar_type);
  void         *y = malloc(2 * (size_t)bytes + 1), *y_second = y ? (char *)y + bytes : NULL;

  if (second && y) {
    SpmvStatus status = conf_plain_product(run, second, y_second);
    spmv_destroy(&second);
    if (!status) status = conf_plain_product(run, run->plan, y);
    if (conf_success(run, status, "product of a second plan"))
      report_check(run->report, !memcmp(y, y_second, (size_t)bytes), "product of a second plan", "has other bits");
  }
  free(y);
}

static void check_destroy(ConfRun *run)
{
  SpmvPlan *none = NULL;

  spmv_destroy(&run->plan);
  report_check(run->report, run->plan == NULL, "destroy", "the pointer is not NULL afterwards");
  spmv_destroy(&run->plan);
  spmv_destroy(&none);
  spmv_destroy(NULL);
  report_check(run->report, hooks_clean(&run->hooks), "destroy",
               "%d blocks on the host and %d on the device are left, %d were freed twice or by other hooks",
               run->hooks.host.live_blocks, run->hooks.device.live_blocks,
               run->hooks.host.foreign_frees + run->hooks.device.foreign_frees);
}

static void check_life(ConfRun *run, CsrCopy *copy, SpmvAnalysis *analysis)
{
  GuardedVector buffer[2][PROBLEM_VALUE_SETS];
  SpmvPlan     *second;

  memset(buffer, 0, sizeof buffer);
  run->plan = check_build(run, copy, analysis);
  second    = run->plan ? check_build(run, copy, analysis) : NULL;
  spmv_analysis_clear(analysis, &run->exec);
  if (run->plan) {
    if (!run->format->borrows) conf_ready(run, csr_copy_spoil(copy, &run->exec), "spoiling the CSR");
    check_view(run);
    check_second_plan(run, second);
    conf_extract(run, 0);
    conf_products(run, 0, run->source == SOURCE_HOST);
    conf_updates(run, buffer);
    conf_step(run);
    conf_rounded(run);
    conf_device_values(run);
  }
  check_destroy(run);
  for (int i = 0; i < 2 * PROBLEM_VALUE_SETS; i++)
    guarded_free(&buffer[i / PROBLEM_VALUE_SETS][i % PROBLEM_VALUE_SETS]);
}

void conf_run(ConfRun *run)
{
  CsrCopy      copy;
  SpmvAnalysis analysis;
  char         why[128];

  report_begin(run->report);
  hooks_init(&run->hooks);
  hooks_exec(&run->hooks, run->space, run->stream, &run->exec);
  if (conf_ready(run, csr_copy_init(&copy, run->problem, run->index_type, 0, run->source, &run->exec),
                 "copying the CSR") &&
      check_analyze(run, &copy, &analysis)) {
    if (analysis.memory.total_bytes <= run->settings->memory_limit) check_life(run, &copy, &analysis);
    else {
      snprintf(why, sizeof why, "the plan would take %lld bytes", (long long)analysis.memory.total_bytes);
      report_skip(run->report, why);
    }
    spmv_analysis_clear(&analysis, &run->exec);
  }
  hooks_drop(&run->hooks);
  csr_copy_free(&copy);
}
