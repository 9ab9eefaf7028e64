/*
  fault_kernels - lets the n-th allocation fail, for n = 1, 2, ... until nothing fails any more, in analyze, build,
  prepare_transpose, csr_of_plan, update_values, extract_values and change_values of every format and option setting. A
  failure must be SPMV_ERR_MEMORY with a message, must leave no block behind and no plan that cannot be destroyed; the
  attempt after the last failure must give the right product.

    fault_kernels [--format F] [--space host|device] [--papers 1] [--sample N]

  --papers 1 tries the settings that reproduce papers, which are left out else.
  --sample N tries every N-th combination of options, source and index type only, for slow machines.
  The last line is "N passed, M failed"; the exit code is 0 when M is 0 and N is not, 77 when there is no device but it
  was asked for, else 1.
*/
#include "csr_copy.h"
#include "hooks.h"
#include "vector.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAILURES_PRINTED = 20, ATTEMPTS_MAX = 10000, EXIT_SKIPPED = 77 };

/* Small matrices that between them fill every array: runs and single nonzeros, groups of rows, empty rows, long rows */
static const char *const matrix_names[] = {"empty_0x0",       "all_rows_empty",    "elasticity_fixed_dofs",
                                           "some_rows_empty", "lengths_near_1024", "circuit_rails"};

static int64_t sample = 1;
static int     papers = 0;
static int64_t passed, failed, injected; /* injected: failures of an allocation so far, of one format */

typedef struct {
  const SpmvFormat *format;
  const Problem    *problem;
  SpmvOptions       options;
  char              variant[CASE_VARIANT_TEXT];
  SpmvSpace         space, fault_space; /* of the plan; of the allocation that fails */
  CsrSource         source;
  int64_t           fail_at;
  Hooks             hooks;
  SpmvExec          exec;
  CsrCopy           copy;
} Attempt;

static int check(const Attempt *a, int ok, const char *format, ...)
{
  va_list args;

  if (ok) {
    passed++;
    return 1;
  }
  if (++failed > FAILURES_PRINTED) return 0;
  printf("FAILED format %s (%s), matrix %s, %s plan, %s, allocation %lld on the %s fails: ", a->format->name,
         a->variant, a->problem->matrix->name, a->space == SPMV_HOST ? "host" : "device", csr_source_name(a->source),
         (long long)a->fail_at, a->fault_space == SPMV_HOST ? "host" : "device");
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
  printf("\n");
  fflush(stdout);
  return 0;
}

static int fault_reached(Attempt *a) { return hooks_counter(&a->hooks, a->fault_space)->calls >= a->fail_at; }

/* A failed step must say so; a step before the fault must succeed. Returns 1 when the next step can be taken. */
static int step(Attempt *a, SpmvStatus status, const char *what)
{
  if (!fault_reached(a))
    return check(a, status == SPMV_SUCCESS, "%s returns %s without a fault: %s", what, spmv_status_text(status),
                 a->exec.message);
  check(a, status == SPMV_ERR_MEMORY, "%s returns %s, expected %s", what, spmv_status_text(status),
        spmv_status_text(SPMV_ERR_MEMORY));
  check(a, status == SPMV_SUCCESS || a->exec.message[0], "%s fails without a message", what);
  return 0;
}

/* y = A x, or A^T x, with the values of a set, compared with the reference */
static void check_product(Attempt *a, const SpmvPlan *plan, int transpose, int set)
{
  const Problem *p     = a->problem;
  const int64_t  value = spmv_scalar_bytes(p->scalar_type);
  const double   one = 1, zero = 0;
  GuardedVector  x, y, work;
  CheckFault     fault;
  void          *result = malloc((size_t)(p->y_length[transpose] * value) + 1);
  SpmvStatus     status = guarded_init(&x, a->space, p->x_length[transpose] * value, 0, 0, &a->exec);

  status |= guarded_init(&y, a->space, p->y_length[transpose] * value, 0, 0, &a->exec);
  status |= guarded_init(&work, a->space, plan->memory.work_bytes, 0, 0, &a->exec);
  if (!status && result) status = guarded_put(&x, p->x[transpose], &a->exec);
  if (!status)
    status = (transpose ? spmv_multtranspose : spmv_mult)(plan, &one, x.data, &zero, y.data,
                                                          work.bytes ? work.data : NULL, &a->exec);
  if (!status && result) status = guarded_get(&y, result, &a->exec);
  check(a,
        !status && result &&
            check_vector(&p->reference[transpose][set], p->scalar_type, p->data, 1, 0, NULL, result, &fault),
        "wrong %s with value set %d", transpose ? "transposed product" : "product", set);
  guarded_free(&x);
  guarded_free(&y);
  guarded_free(&work);
  free(result);
}

/* Both directions; 0 when the preparation of the second one met the fault */
static int check_products(Attempt *a, SpmvPlan *plan, int set)
{
  check_product(a, plan, 0, set);
  if (step(a, spmv_prepare_transpose(plan, &a->exec), "prepare_transpose")) {
    check_product(a, plan, 1, set);
    return 1;
  }
  check(a, !spmv_prepare_transpose(plan, &a->exec), "prepare_transpose after a failure: %s", a->exec.message);
  check_product(a, plan, 1, set);
  return 0;
}

/* Where the plan can tell its CSR: into arrays of the test, which hold the same CSR afterwards */
static int check_csr_of_plan(Attempt *a, const SpmvPlan *plan)
{
  CsrCopy  to;
  SpmvExec plain;
  int      done;

  if (a->space == SPMV_HOST || !plan->slots->list_nonzeros) return 1;
  spmv_exec_init(&plain, a->space);
  check(a, !csr_copy_init(&to, a->problem, plan->index_type, 0, SOURCE_DEVICE, &plain) && !csr_copy_spoil(&to, &plain),
        "copying the CSR: %s", plain.message);
  done = step(a, spmv_csr_of_plan(plan, &to.csr, &a->exec), "csr_of_plan");
  if (done) check(a, csr_copy_unchanged(&to, &plain), "csr_of_plan writes another CSR");
  csr_copy_free(&to);
  return done;
}

/* extract_values to the host; 0 when it met the fault */
static int check_extract(Attempt *a, const SpmvPlan *plan, int set)
{
  const size_t bytes  = (size_t)(plan->nnz * spmv_scalar_bytes(plan->scalar_type));
  void        *values = malloc(bytes + 1);
  const int    done   = step(a, spmv_extract_values(plan, values, SPMV_HOST, &a->exec), "extract_values");

  if (done) check(a, bytes == 0 || !memcmp(values, a->problem->values[set], bytes), "wrong values of set %d", set);
  free(values);
  return done;
}

/* Twice the values and back again, which is exact. A failure leaves them as they were, for a second try. */
static int change_and_back(Attempt *a, SpmvPlan *plan, int set)
{
  static const double factor[] = {2, 0.5};
  int                 done     = 1;

  if (a->space == SPMV_HOST || !plan->slots->list_nonzeros) return 1;
  for (int i = 0; i < 2; i++) {
    const SpmvChange change = {.alpha = &factor[i]};

    if (done) done = step(a, spmv_change_values(plan, &change, &a->exec), "change_values");
    if (!done)
      check(a, !spmv_change_values(plan, &change, &a->exec), "change_values after a failure: %s", a->exec.message);
  }
  if (done) return check_extract(a, plan, set);
  check_product(a, plan, 0, set);
  return 0;
}

/* update_values with an own buffer, which must outlive a plan that borrows it: the problem's own values serve on the
   host, the copy on the device */
static void update_and_multiply(Attempt *a, SpmvPlan *plan)
{
  const Problem *p      = a->problem;
  SpmvStatus     status = SPMV_SUCCESS;

  if (a->space == SPMV_HOST || !a->format->borrows)
    status = spmv_update_values(plan, p->values[1], SPMV_HOST, &a->exec);
  else return;
  if (step(a, status, "update_values") && check_extract(a, plan, 1) && check_products(a, plan, 1) &&
      change_and_back(a, plan, 1))
    check_products(a, plan, 1);
}

static void build_and_multiply(Attempt *a, const SpmvAnalysis *analysis)
{
  SpmvPlan  *plan   = NULL;
  SpmvStatus status = spmv_build(&a->copy.csr, analysis, &a->exec, &plan);

  if (step(a, status, "build")) {
    const int prepared = check_products(a, plan, 0) && check_csr_of_plan(a, plan);
    if (prepared) update_and_multiply(a, plan);
  } else check(a, plan == NULL, "a failed build leaves a plan");
  spmv_destroy(&plan);
}

/* One life of a plan in which allocation number fail_at fails. Returns 0 when that number was not reached. */
static int attempt(Attempt *a)
{
  SpmvAnalysis analysis;
  SpmvStatus   status;
  int          reached;

  hooks_init(&a->hooks);
  hooks_exec(&a->hooks, a->space, NULL, &a->exec);
  hooks_counter(&a->hooks, a->fault_space)->fail_at = a->fail_at;
  status = spmv_analyze(a->format, &a->copy.csr.pattern, a->copy.csr.scalar_type, &a->options, &a->exec, &analysis);
  if (step(a, status, "analyze")) build_and_multiply(a, &analysis);
  spmv_analysis_clear(&analysis, &a->exec);
  reached = fault_reached(a);
  injected += reached;
  check(a, hooks_clean(&a->hooks), "%d blocks on the host and %d on the device are left, %d freed twice or by others",
        a->hooks.host.live_blocks, a->hooks.device.live_blocks,
        a->hooks.host.foreign_frees + a->hooks.device.foreign_frees);
  hooks_drop(&a->hooks);
  return reached;
}

static void fail_each_allocation(Attempt *a, SpmvIndex index)
{
  SpmvExec plain;

  spmv_exec_init(&plain, a->space);
  a->fail_at = 0;
  if (check(a, !csr_copy_init(&a->copy, a->problem, index, 0, a->source, &plain), "copying the CSR: %s", plain.message))
    for (a->fault_space = SPMV_HOST; a->fault_space <= a->space; a->fault_space++) {
      a->fail_at = 1;
      while (attempt(a) && a->fail_at < ATTEMPTS_MAX) a->fail_at++;
      check(a, a->fail_at < ATTEMPTS_MAX, "still fails after %d allocations", ATTEMPTS_MAX);
    }
  csr_copy_free(&a->copy);
}

static void run_problem(const SpmvFormat *format, const Problem *problem, SpmvSpace space)
{
  const int sources = space == SPMV_DEVICE ? SOURCE_COUNT : 1;

  for (int v = 0; v < case_variant_count(format, CASE_QUICK); v++)
    for (int source = 0; source < sources; source++) {
      Attempt a;
      memset(&a, 0, sizeof a);
      a.format  = format;
      a.problem = problem;
      a.space   = space;
      a.source  = (CsrSource)source;
      case_variant(format, CASE_QUICK, v, &a.options, a.variant);
      if (spmv_options_of_paper(&a.options) != papers || !case_variant_matters(&a.options, space)) continue;
      if (!case_in_sample(sample, 0)) continue;
      fail_each_allocation(&a, SPMV_I32);
      fail_each_allocation(&a, SPMV_I64);
    }
}

static void run_format(const SpmvFormat *format, SpmvSpace space)
{
  injected = 0;
  for (int m = 0; m < case_matrix_count(); m++)
    for (size_t n = 0; n < sizeof matrix_names / sizeof matrix_names[0]; n++) {
      Problem problem;
      if (strcmp(case_matrix(m)->name, matrix_names[n])) continue;
      if (problem_init(&problem, case_matrix(m), SPMV_F64, GEN_EXACT, 1)) failed++;
      else run_problem(format, &problem, space);
      problem_free(&problem);
    }
  printf("%s, %s plans: %lld failures injected\n", format->name, space == SPMV_HOST ? "host" : "device",
         (long long)injected);
  if (injected == 0 && !papers) {
    printf("FAILED no allocation was seen: the hooks are not used\n");
    failed++;
  }
}

int main(int argc, char **argv)
{
  const char *only_format = NULL, *only_space = NULL;
  char        reason[SPMV_MESSAGE_MAX];
  int         devices = spmv_device_count(reason);

  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--format")) only_format = argv[i + 1];
    if (!strcmp(argv[i], "--space")) only_space = argv[i + 1];
    if (!strcmp(argv[i], "--papers")) papers = atoi(argv[i + 1]) != 0;
    if (!strcmp(argv[i], "--sample") && atoll(argv[i + 1]) > 0) sample = atoll(argv[i + 1]);
  }
  for (int i = 0; i < spmv_format_count(); i++) {
    const SpmvFormat *format = spmv_format_get(i);
    if (only_format && strcmp(only_format, format->name)) continue;
    if (format->host && (!only_space || !strcmp(only_space, "host"))) run_format(format, SPMV_HOST);
    if (format->device && devices > 0 && (!only_space || !strcmp(only_space, "device")))
      run_format(format, SPMV_DEVICE);
  }
  printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
  if (passed + failed == 0 && devices == 0) {
    printf("skipped: %s\n", reason);
    return EXIT_SKIPPED;
  }
  return failed == 0 && passed > 0 ? 0 : 1;
}
