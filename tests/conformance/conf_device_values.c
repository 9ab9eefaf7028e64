/* Checks of what spmv_values.h does with plans and CSR matrices on the device: diagonals, changed values, and back to a
   CSR. The values hold NaN and infinities. Host plans refuse all of it. */
#include "conf.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the checks compare with, on the host, in the scalar type of the matrix */
typedef struct {
  ConfRun           *run;
  const SpmvPattern *p; /* with 64-bit indices */
  int                single;
  void              *values, *got; /* [nnz] those of the plan; what a call gave back */
  void              *vector[2];    /* [rows], [cols] factors of rows and columns */
} Values;

static double get(const Values *v, const void *array, int64_t k)
{
  return v->single ? (double)((const float *)array)[k] : ((const double *)array)[k];
}

static void set(const Values *v, void *array, int64_t k, double value)
{
  if (v->single) ((float *)array)[k] = (float)value;
  else ((double *)array)[k] = value;
}

static int64_t bytes_of(const Values *v, int64_t n) { return n * (v->single ? 4 : 8); }

static int64_t begin_of(const Values *v, int64_t row) { return ((const int64_t *)v->p->row_ptr)[row]; }
static int64_t col_of(const Values *v, int64_t k) { return ((const int64_t *)v->p->col)[k]; }

/* Whether n numbers have the same bits, or are not-a-numbers, which a GPU gives other bits when it computes them */
static int same_numbers(const Values *v, const void *a, const void *b, int64_t n)
{
  const size_t each = (size_t)bytes_of(v, 1);

  for (int64_t k = 0; k < n; k++)
    if (memcmp((const char *)a + (size_t)k * each, (const char *)b + (size_t)k * each, each) &&
        !(isnan(get(v, a, k)) && isnan(get(v, b, k))))
      return 0;
  return 1;
}

static void expect_diagonal(const Values *v, void *diagonal)
{
  for (int64_t i = 0; i < v->p->rows; i++) {
    set(v, diagonal, i, 0);
    for (int64_t k = begin_of(v, i); k < begin_of(v, i + 1); k++)
      if (col_of(v, k) == i) set(v, diagonal, i, get(v, v->values, k));
  }
}

/* The contract of SpmvChange, step by step, where the arrays of rows are all v->vector[0]; a product of two floats is exact in double, so each step rounds once */
static void change_on_host(Values *v, const SpmvChange *change)
{
  for (int64_t i = 0; i < v->p->rows; i++)
    for (int64_t k = begin_of(v, i); k < begin_of(v, i + 1); k++) {
      if (change->alpha) set(v, v->values, k, get(v, v->values, k) * get(v, change->alpha, 0));
      if (change->left) set(v, v->values, k, get(v, v->values, k) * get(v, v->vector[0], i));
      if (change->right) set(v, v->values, k, get(v, v->values, k) * get(v, v->vector[1], col_of(v, k)));
      if (col_of(v, k) != i) continue;
      if (change->shift) set(v, v->values, k, get(v, v->values, k) + get(v, change->shift, 0));
      if (change->added) set(v, v->values, k, get(v, v->values, k) + get(v, v->vector[0], i));
      if (change->inserted) set(v, v->values, k, get(v, v->vector[0], i));
    }
}

static int values_init(Values *v, ConfRun *run)
{
  const Problem *problem = run->problem;

  memset(v, 0, sizeof *v);
  v->run               = run;
  v->p                 = &problem->pattern[SPMV_I64];
  v->single            = problem->scalar_type == SPMV_F32;
  const int64_t length = v->p->nnz > v->p->rows ? v->p->nnz : v->p->rows;
  v->values            = malloc((size_t)bytes_of(v, v->p->nnz) + 1);
  v->got               = malloc((size_t)bytes_of(v, length) + 1);
  v->vector[0]         = malloc((size_t)bytes_of(v, v->p->rows) + 1);
  v->vector[1]         = malloc((size_t)bytes_of(v, v->p->cols) + 1);
  if (!v->values || !v->got || !v->vector[0] || !v->vector[1])
    return conf_ready(run, SPMV_ERR_MEMORY, "values on the host");
  memcpy(v->values, problem->values[1], (size_t)bytes_of(v, v->p->nnz));
  for (int64_t k = 5; k < v->p->nnz; k += 13) set(v, v->values, k, k % 2 ? NAN : INFINITY);
  for (int64_t i = 0; i < v->p->rows; i++) set(v, v->vector[0], i, 1.1 + (double)(i % 7));
  for (int64_t j = 0; j < v->p->cols; j++) set(v, v->vector[1], j, 0.3 - (double)(j % 5));
  return 1;
}

static void values_free(Values *v)
{
  free(v->values);
  free(v->got);
  free(v->vector[0]);
  free(v->vector[1]);
}

/* A device array that is poisoned, or holds what lies on the host */
static int make_array(Values *v, GuardedVector *array, int64_t bytes, const void *from)
{
  ConfRun   *run = v->run;
  SpmvStatus status;

  status = guarded_init(array, SPMV_DEVICE, bytes, 0, run->settings->tight, &run->exec);
  if (!status && from) status = guarded_put(array, from, &run->exec);
  return conf_ready(run, status, "making a device array");
}

/* A diagonal that a call has written without allocation */
static void check_diagonal(Values *v, const SpmvCsr *csr)
{
  ConfRun      *run      = v->run;
  const char   *what     = csr ? "csr_diagonal" : "get_diagonal";
  void         *expected = malloc((size_t)bytes_of(v, v->p->rows) + 1);
  GuardedVector to;

  memset(&to, 0, sizeof to);
  if (expected && make_array(v, &to, bytes_of(v, v->p->rows), NULL)) {
    const int64_t calls = run->hooks.host.calls + run->hooks.device.calls;
    SpmvStatus    status =
        csr ? spmv_csr_diagonal(csr, to.data, &run->exec) : spmv_get_diagonal(run->plan, to.data, &run->exec);

    report_check(run->report, run->hooks.host.calls + run->hooks.device.calls == calls, what, "allocates memory");
    if (!status) status = guarded_get(&to, v->got, &run->exec);
    expect_diagonal(v, expected);
    if (conf_success(run, status, what)) {
      report_check(run->report, same_numbers(v, v->got, expected, v->p->rows), what, "another diagonal");
      report_check(run->report, guarded_intact(&to, &run->exec), what, "wrote outside the diagonal");
    }
  }
  guarded_free(&to);
  free(expected);
}

/* The position of the diagonal entry of row i; without one, that behind the row */
static int64_t mark_of(const Values *v, int64_t i)
{
  int64_t mark = begin_of(v, i + 1);

  for (int64_t k = begin_of(v, i); k < begin_of(v, i + 1); k++)
    if (col_of(v, k) == i) mark = k;
  return mark;
}

static void check_marks(Values *v, const SpmvPattern *there)
{
  ConfRun      *run   = v->run;
  const int64_t bytes = v->p->rows * spmv_index_bytes(there->index_type);
  void         *got   = malloc((size_t)bytes + 1);
  int           same  = 1;
  GuardedVector to;

  memset(&to, 0, sizeof to);
  if (got && make_array(v, &to, bytes, NULL) &&
      conf_success(run, spmv_csr_mark_diagonal(there, to.data, &run->exec), "csr_mark_diagonal") &&
      conf_ready(run, guarded_get(&to, got, &run->exec), "csr_mark_diagonal")) {
    for (int64_t i = 0; i < v->p->rows; i++)
      same =
          same && (there->index_type == SPMV_I64 ? ((int64_t *)got)[i] : (int64_t)((int32_t *)got)[i]) == mark_of(v, i);
    report_check(run->report, same, "csr_mark_diagonal", "other positions");
    report_check(run->report, guarded_intact(&to, &run->exec), "csr_mark_diagonal", "wrote outside the positions");
  }
  guarded_free(&to);
  free(got);
}

static void check_change(Values *v, SpmvChange change)
{
  ConfRun            *run     = v->run;
  const HooksCounter *counter = hooks_counter(&run->hooks, SPMV_DEVICE);
  const int64_t       live    = counter->live_bytes;
  SpmvStatus          status  = spmv_change_values(run->plan, &change, &run->exec);

  if (run->format->borrows) {
    report_check(run->report, status == SPMV_ERR_UNSUPPORTED && run->exec.message[0], "change_values",
                 "changes borrowed values: %s", spmv_status_text(status));
    return;
  }
  change_on_host(v, &change);
  report_check(run->report, counter->live_bytes == live, "change_values", "keeps memory");
  if (!status) status = spmv_extract_values(run->plan, v->got, SPMV_HOST, &run->exec);
  if (conf_success(run, status, "change_values"))
    report_check(run->report, same_numbers(v, v->got, v->values, v->p->nnz), "change_values",
                 "other values than the host: %s%s%s%s%s%s", change.alpha ? "alpha " : "", change.left ? "left " : "",
                 change.right ? "right " : "", change.shift ? "shift " : "", change.added ? "added " : "",
                 change.inserted ? "inserted" : "");
}

static void check_changes(Values *v)
{
  const double  alpha = 0.7, shift = -3.3;
  const float   alpha_f32 = (float)alpha, shift_f32 = (float)shift;
  const void   *a = v->single ? (const void *)&alpha_f32 : (const void *)&alpha;
  const void   *s = v->single ? (const void *)&shift_f32 : (const void *)&shift;
  GuardedVector left, right;

  memset(&left, 0, sizeof left);
  memset(&right, 0, sizeof right);
  if (make_array(v, &left, bytes_of(v, v->p->rows), v->vector[0]) &&
      make_array(v, &right, bytes_of(v, v->p->cols), v->vector[1])) {
    check_change(v, (SpmvChange){.alpha = a});
    check_change(v, (SpmvChange){.right = right.data});
    check_change(v, (SpmvChange){.alpha = a, .shift = s, .left = left.data, .right = right.data});
    check_change(v, (SpmvChange){.alpha = a, .shift = s, .added = left.data});
    check_change(v, (SpmvChange){.shift = s, .inserted = left.data});
  }
  guarded_free(&left);
  guarded_free(&right);
}

/* New values make transposed products an error until prepare_transpose gives the plan of A^T the same ones */
static void check_refreshed_transpose(Values *v)
{
  ConfRun     *run     = v->run;
  const double one     = 1;
  const float  one_f32 = 1;
  const void  *alpha   = v->single ? (const void *)&one_f32 : (const void *)&one;
  int64_t     *next    = calloc((size_t)v->p->cols + 2, sizeof *next);
  void        *wanted  = malloc((size_t)bytes_of(v, v->p->nnz) + 1);
  SpmvStatus   status;

  if (v->p->nnz > 0 && !run->plan->slots->add_transposed) {
    status = spmv_multtranspose(run->plan, alpha, v, alpha, v, NULL, &run->exec);
    report_check(run->report, status == SPMV_ERR_ARGUMENT, "multtranspose before prepare_transpose", "returns %s",
                 spmv_status_text(status));
  }
  if (next && wanted && conf_prepare_transpose(run) && run->plan->transpose.plan) {
    for (int64_t k = 0; k < v->p->nnz; k++) next[col_of(v, k) + 1]++;
    for (int64_t j = 0; j < v->p->cols; j++) next[j + 1] += next[j];
    for (int64_t k = 0; k < v->p->nnz; k++) set(v, wanted, next[col_of(v, k)]++, get(v, v->values, k));
    status = spmv_extract_values(run->plan->transpose.plan, v->got, SPMV_HOST, &run->exec);
    if (conf_success(run, status, "values of A^T"))
      report_check(run->report, same_numbers(v, v->got, wanted, v->p->nnz), "values of A^T", "are not those of A");
  }
  free(next);
  free(wanted);
}

/* ---- CSR matrices on the device ---- */

static int has_bytes(Values *v, const GuardedVector *array, const void *expected)
{
  void     *now  = malloc((size_t)array->bytes + 1);
  const int same = now && conf_ready(v->run, guarded_get(array, now, &v->run->exec), "reading a CSR") &&
                   (array->bytes == 0 || !memcmp(now, expected, (size_t)array->bytes)) &&
                   guarded_intact(array, &v->run->exec);

  free(now);
  return same;
}

static void check_shift(Values *v, const SpmvCsr *csr, GuardedVector *values)
{
  ConfRun         *run      = v->run;
  const double     shift    = 5.7;
  const float      shift_32 = (float)shift;
  const void      *s        = v->single ? (const void *)&shift_32 : (const void *)&shift;
  const SpmvChange change   = {.shift = s};
  SpmvPattern      on_host  = csr->pattern;
  SpmvStatus       status   = spmv_csr_shift(&csr->pattern, csr->scalar_type, s, values->data, &run->exec);

  if (!status) status = guarded_get(values, v->got, &run->exec);
  change_on_host(v, &change);
  if (conf_success(run, status, "csr_shift"))
    report_check(run->report, same_numbers(v, v->got, v->values, v->p->nnz), "csr_shift", "other values");
  on_host.space = SPMV_HOST;
  report_check(run->report,
               spmv_csr_shift(&on_host, csr->scalar_type, s, values->data, &run->exec) == SPMV_ERR_UNSUPPORTED,
               "csr_shift", "takes a pattern on the host");
}

/* Numbers of the rows, added to the diagonal and then put in its place */
static void check_set_diagonal(Values *v, const SpmvCsr *csr, GuardedVector *values)
{
  ConfRun      *run = v->run;
  GuardedVector d;

  memset(&d, 0, sizeof d);
  for (int inserts = 0; inserts < 2 && make_array(v, &d, bytes_of(v, v->p->rows), v->vector[0]); inserts++) {
    const SpmvChange change = {.added = inserts ? NULL : d.data, .inserted = inserts ? d.data : NULL};
    SpmvStatus       status =
        spmv_csr_set_diagonal(&csr->pattern, csr->scalar_type, d.data, inserts, values->data, &run->exec);

    if (!status) status = guarded_get(values, v->got, &run->exec);
    change_on_host(v, &change);
    if (conf_success(run, status, "csr_set_diagonal"))
      report_check(run->report, same_numbers(v, v->got, v->values, v->p->nnz), "csr_set_diagonal", "other values");
    guarded_free(&d);
  }
}

/* The plan as a CSR, then the diagonal of that CSR, and changes of it */
static void check_csr(Values *v, SpmvIndex index)
{
  ConfRun           *run  = v->run;
  const SpmvPattern *p    = &run->problem->pattern[index];
  const int64_t      live = run->hooks.device.live_bytes, index_bytes = spmv_index_bytes(index);
  GuardedVector      row_ptr, col, values;

  memset(&row_ptr, 0, sizeof row_ptr);
  memset(&col, 0, sizeof col);
  memset(&values, 0, sizeof values);
  if (make_array(v, &row_ptr, (p->rows + 1) * index_bytes, NULL) && make_array(v, &col, p->nnz * index_bytes, NULL) &&
      make_array(v, &values, bytes_of(v, p->nnz), NULL)) {
    const SpmvCsr csr    = {{p->rows, p->cols, p->nnz, index, SPMV_DEVICE, row_ptr.data, col.data},
                            run->problem->scalar_type,
                            SPMV_DEVICE,
                            values.data};
    const int64_t before = run->hooks.device.live_bytes;
    if (conf_success(run, spmv_csr_of_plan(run->plan, &csr, &run->exec), "csr_of_plan")) {
      report_check(run->report, run->hooks.device.live_bytes == before, "csr_of_plan", "keeps memory");
      report_check(run->report, has_bytes(v, &row_ptr, p->row_ptr), "csr_of_plan", "another row_ptr");
      report_check(run->report, has_bytes(v, &col, p->col), "csr_of_plan", "another col");
      if (conf_ready(run, guarded_get(&values, v->got, &run->exec), "csr_of_plan"))
        report_check(run->report, same_numbers(v, v->got, v->values, p->nnz), "csr_of_plan", "other values");
      check_diagonal(v, &csr);
      check_marks(v, &csr.pattern);
      check_shift(v, &csr, &values);
      check_set_diagonal(v, &csr, &values);
    }
  }
  guarded_free(&row_ptr);
  guarded_free(&col);
  guarded_free(&values);
  report_check(run->report, run->hooks.device.live_bytes == live, "csr_of_plan", "keeps memory");
}

/* ---- all of it ---- */

static void check_refused(ConfRun *run)
{
  const SpmvChange nothing = {.alpha = NULL};
  char             y[8]    = "";

  run->exec.message[0] = 0;
  report_check(run->report,
               spmv_get_diagonal(run->plan, y, &run->exec) == SPMV_ERR_UNSUPPORTED && run->exec.message[0] &&
                   spmv_change_values(run->plan, &nothing, &run->exec) == SPMV_ERR_UNSUPPORTED,
               "diagonal and changes without list_nonzeros", "are not refused: %s", run->exec.message);
}

void conf_device_values(ConfRun *run)
{
  Values v;

  if (run->space == SPMV_HOST || !run->plan->slots->list_nonzeros) {
    check_refused(run);
    return;
  }
  if (values_init(&v, run) &&
      conf_success(run, spmv_update_values(run->plan, v.values, SPMV_HOST, &run->exec), "update_values")) {
    check_diagonal(&v, NULL);
    check_changes(&v);
    check_refreshed_transpose(&v);
    check_csr(&v, run->index_type == SPMV_I32 ? SPMV_I64 : SPMV_I32);
  }
  values_free(&v);
}
