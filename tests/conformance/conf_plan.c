/* Checks of a plan's life: analyze, build, memory, view, rebuild, update of values, destroy. */
#include "conf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRUCT_BYTES = 8192 /* a plan's structs, which a memory report leaves out */ };

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

/* The report of a plan equals the prediction, and the bytes that its build allocated in its space are those of the
   report */
static void check_memory(ConfRun *run, const SpmvPlan *plan, const SpmvAnalysis *analysis, int64_t allocated)
{
  Report    *r = run->report;
  SpmvMemory m;
  int64_t    most, least; /* what build may, and must, have allocated itself */

  memset(&m, 0xFF, sizeof m);
  if (!conf_success(run, run->format->memory(plan, &m), "memory")) return;
  report_check(r, same_memory(&m, &analysis->memory), "memory", "%lld bytes in %d arrays, predicted %lld in %d",
               (long long)m.total_bytes, m.count, (long long)analysis->memory.total_bytes, analysis->memory.count);
  check_report_sums(run, &m, "memory");
  most  = m.total_bytes - m.host_bytes;
  least = most - (run->format->caps & SPMV_CAP_BORROWS ? m.csr_bytes : 0);
  report_check(r, allocated >= least && allocated <= most + STRUCT_BYTES, "memory",
               "reports %lld bytes, but build allocated %lld", (long long)most, (long long)allocated);
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
  check_memory(run, plan, analysis, counter->live_bytes - before);
  report_check(run->report, csr_copy_unchanged(copy, &run->exec), "build", "the CSR has changed");
  return plan;
}

/* By now nothing but the plan is allocated through the hooks */
int conf_prepare_transpose(ConfRun *run)
{
  const HooksCounter *counter = hooks_counter(&run->hooks, run->space);
  int64_t             sum     = 0, live;
  SpmvStatus          status;
  SpmvMemory          m;

  if (!run->format->prepare_transpose) return 1;
  for (int again = 0; again < 2; again++) {
    live   = counter->live_bytes;
    status = run->format->prepare_transpose(run->plan, &run->exec);
    if (!conf_success(run, status, again ? "prepare_transpose again" : "prepare_transpose")) return 0;
  }
  report_check(run->report, counter->live_bytes == live, "prepare_transpose again", "allocates once more");
  if (!conf_success(run, run->format->memory(run->plan, &m), "memory after prepare_transpose")) return 0;
  for (int i = 0; i < m.count; i++) sum += m.array[i].bytes;
  report_check(run->report, sum == m.total_bytes, "memory after prepare_transpose",
               "total_bytes %lld, arrays sum up to %lld", (long long)m.total_bytes, (long long)sum);
  if (!(run->format->caps & SPMV_CAP_BORROWS))
    report_check(run->report,
                 counter->live_bytes >= sum - m.host_bytes &&
                     counter->live_bytes <= sum - m.host_bytes + 2 * STRUCT_BYTES,
                 "memory after prepare_transpose", "reports %lld bytes, but the plan holds %lld",
                 (long long)(sum - m.host_bytes), (long long)counter->live_bytes);
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

  if (conf_success(run, run->format->view(run->plan, count_line, &lines), "view"))
    report_check(run->report, lines > 0, "view", "no line, an empty line, or a line with a newline in it");
}

/* Destroys a second plan of the same matrix, after it gave the same product as the first, and leaves the first whole */
static void check_second_plan(ConfRun *run, SpmvPlan *second)
{
  const int64_t bytes = run->problem->y_length[0] * spmv_scalar_bytes(run->problem->scalar_type);
  void         *y = malloc(2 * (size_t)bytes + 1), *y_second = y ? (char *)y + bytes : NULL;

  if (second && y) {
    SpmvStatus status = conf_plain_product(run, second, y_second);
    run->format->destroy(&second);
    if (!status) status = conf_plain_product(run, run->plan, y);
    if (conf_success(run, status, "product of a second plan") && (run->format->caps & SPMV_CAP_BITWISE))
      report_check(run->report, !memcmp(y, y_second, (size_t)bytes), "product of a second plan", "has other bits");
  }
  free(y);
}

/* New values from one space, then the products; the old values are given back afterwards. The buffers live until the
   caller is done with the plan, which may borrow them. */
static void check_update(ConfRun *run, GuardedVector buffer[PROBLEM_VALUE_SETS], SpmvSpace space)
{
  const Problem *p     = run->problem;
  const int64_t  bytes = p->pattern[run->index_type].nnz * spmv_scalar_bytes(p->scalar_type);

  for (int set = PROBLEM_VALUE_SETS - 1; set >= 0; set--) {
    SpmvStatus status = guarded_init(&buffer[set], space, bytes, 0, run->settings->tight, &run->exec);
    if (!status) status = guarded_put(&buffer[set], p->values[set], &run->exec);
    if (!status) status = run->format->update_values(run->plan, buffer[set].data, space, &run->exec);
    if (!status) status = spmv_stream_wait(&run->exec);
    if (!conf_success(run, status,
                      space == SPMV_HOST ? "update_values from the host" : "update_values from the device"))
      return;
    if (!(run->format->caps & SPMV_CAP_BORROWS)) (void)poison_bytes(buffer[set].data, space, bytes, &run->exec);
    conf_products(run, set, 0);
  }
}

static void check_updates(ConfRun *run, GuardedVector buffer[2][PROBLEM_VALUE_SETS])
{
  if (!(run->format->caps & SPMV_CAP_UPDATE)) return;
  for (SpmvSpace space = SPMV_HOST; space <= run->space; space++) {
    if ((run->format->caps & SPMV_CAP_BORROWS) && space != run->space) continue;
    check_update(run, buffer[space], space);
  }
}

static void check_destroy(ConfRun *run)
{
  SpmvPlan *none = NULL;

  run->format->destroy(&run->plan);
  report_check(run->report, run->plan == NULL, "destroy", "the pointer is not NULL afterwards");
  run->format->destroy(&run->plan);
  run->format->destroy(&none);
  run->format->destroy(NULL);
  report_check(run->report, hooks_clean(&run->hooks), "destroy",
               "%d blocks on the host and %d on the device are left, %d were freed twice or by other hooks",
               run->hooks.host.live_blocks, run->hooks.device.live_blocks,
               run->hooks.host.foreign_frees + run->hooks.device.foreign_frees);
}

/* A type that a format lacks is refused with a message */
static void check_refusal(ConfRun *run)
{
  SpmvAnalysis analysis;
  SpmvStatus   status = spmv_analyze(run->format, &run->problem->pattern[run->index_type], run->problem->scalar_type,
                                     &run->options, &run->exec, &analysis);

  report_check(run->report, status == SPMV_ERR_UNSUPPORTED && run->exec.message[0], "analyze of a type without support",
               "status %s, message \"%s\"", spmv_status_text(status), run->exec.message);
}

static int supported(const ConfRun *run)
{
  if (run->problem->scalar_type == SPMV_F32 && !(run->format->caps & SPMV_CAP_F32)) return 0;
  return run->index_type == SPMV_I32 || (run->format->caps & SPMV_CAP_I64);
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
    if (!(run->format->caps & SPMV_CAP_BORROWS)) conf_ready(run, csr_copy_spoil(copy, &run->exec), "spoiling the CSR");
    check_view(run);
    check_second_plan(run, second);
    conf_products(run, 0, run->source == SOURCE_HOST);
    check_updates(run, buffer);
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
  if (!supported(run)) {
    check_refusal(run);
    return;
  }
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
