/* Checks of the values of a plan: new ones go in, and all come out again in CSR order. */
#include "conf.h"
#include <stdlib.h>
#include <string.h>

/* Values come out bit by bit as they went in, and nothing is written behind them */
static void check_extract(ConfRun *run, int set, SpmvSpace space)
{
  const HooksCounter *counter = hooks_counter(&run->hooks, run->space);
  const int64_t       live    = counter->live_bytes;
  const int64_t       bytes = run->problem->pattern[run->index_type].nnz * spmv_scalar_bytes(run->problem->scalar_type);
  const char         *what  = space == SPMV_HOST ? "extract_values to the host" : "extract_values on the device";
  void               *got   = malloc((size_t)bytes + 1);
  SpmvExec            plain;
  GuardedVector       to;

  spmv_exec_init(&plain, space);
  plain.stream      = run->stream;
  SpmvStatus status = guarded_init(&to, space, bytes, 0, run->settings->tight, &plain);
  if (!status) status = poison_bytes(to.data, space, bytes, &plain);
  if (conf_ready(run, status, "allocating values") &&
      conf_success(run, spmv_extract_values(run->plan, to.data, space, &run->exec), what)) {
    report_check(run->report, counter->live_bytes == live, what, "keeps memory");
    if (conf_ready(run, guarded_get(&to, got, &plain), what))
      report_check(run->report, bytes == 0 || !memcmp(got, run->problem->values[set], (size_t)bytes), what,
                   "other values than value set %d", set);
    report_check(run->report, guarded_intact(&to, &plain), what, "wrote outside the values");
  }
  guarded_free(&to);
  free(got);
}

void conf_extract(ConfRun *run, int set)
{
  for (SpmvSpace space = SPMV_HOST; space <= run->space; space++) check_extract(run, set, space);
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
    if (!status) status = spmv_update_values(run->plan, buffer[set].data, space, &run->exec);
    if (!status) status = spmv_stream_wait(&run->exec);
    if (!conf_success(run, status,
                      space == SPMV_HOST ? "update_values from the host" : "update_values from the device"))
      return;
    if (!run->format->borrows) (void)poison_bytes(buffer[set].data, space, bytes, &run->exec);
    check_extract(run, set, space);
    conf_products(run, set, 0);
  }
}

void conf_updates(ConfRun *run, GuardedVector buffer[2][PROBLEM_VALUE_SETS])
{
  for (SpmvSpace space = SPMV_HOST; space <= run->space; space++) {
    if (run->format->borrows && space != run->space) continue;
    check_update(run, buffer[space], space);
  }
}
