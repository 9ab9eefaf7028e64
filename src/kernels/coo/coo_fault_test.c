/* Tests of failures of lists of coordinates: entries outside the matrix, invalid arguments, no memory, failing device
   calls. Also a test of the memory that a list takes. */
#include "coo_test.h"
#include "aggregate/aggregate_test.h"
#include "coo.h"
#include "hooks.h"
#include "emulated.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

/* ---- entries outside the matrix ---- */

static void check_refused(const CooCase *c, const char *part, int others_too)
{
  for (int index = SPMV_I32; index <= SPMV_I64; index++)
    for (int list = SPMV_HOST; list <= SPMV_DEVICE && spmv_device_count(NULL); list++) {
      CooPlaced      p = coo_place(c, COO_INSIDE, (SpmvIndex)index, (SpmvSpace)list);
      SpmvCoo       *coo;
      SpmvCooOthers *others;
      SpmvExec       exec;

      spmv_exec_init(&exec, SPMV_DEVICE);
      UNIT_EQUAL(SPMV_ERR_MATRIX, spmv_coo_create(&p.list, &exec, &coo));
      UNIT_CONTAINS(part, exec.message);
      UNIT_CHECK(!coo);
      UNIT_EQUAL(others_too ? SPMV_ERR_MATRIX : SPMV_SUCCESS, spmv_coo_others(&p.list, &exec, &others));
      UNIT_CHECK(others_too ? !others : !!others);
      spmv_coo_others_destroy(&others);
      coo_unplace(&p);
    }
}

UNIT_TEST(entries_beyond_the_matrix_are_named)
{
  CooCase c = coo_case_named("scattered"); /* 300 x 200, 9000 and 4000 entries */

  c.i[8123] = 300;
  c.j[8123] = 5;
  c.j[8999] = 1000000; /* also outside, but not the first such entry */
  check_refused(&c, "a COO list: entry 8123 has row 300, and the matrix has 300 rows", 1);
  c.i[4500] = 7;
  c.j[4500] = 200;
  check_refused(&c, "a COO list: entry 4500 has column 200, and the matrix has 200 columns", 1);
  c.i[4500]        = -1; /* a negative row: the column is not checked */
  c.j[8123]        = -3; /* a negative column: the row is not checked */
  c.j[8999]        = 0;
  c.i[9000 + 3999] = INT32_MAX;
  c.j[9000 + 3999] = 0;
  check_refused(&c, "a COO list: received entry 3999 has row 2147483647, and the matrix has 300 rows", 0);
  coo_case_free(&c);
}

/* ---- arguments ---- */

static void negative_count(SpmvCooList *l) { l->part[1].count = -1; }
static void no_rows(SpmvCooList *l) { l->part[0].i = NULL; }
static void no_columns(SpmvCooList *l) { l->part[1].j = NULL; }
static void rows_beyond(SpmvCooList *l) { l->first_row = 299; }
static void negative_rows(SpmvCooList *l) { l->rows = -2; }
static void columns_beyond(SpmvCooList *l) { l->own_cols = 201; }
static void too_many_columns(SpmvCooList *l) { l->all_cols = (int64_t)1 << 31; }
static void too_many_entries(SpmvCooList *l) { l->part[0].count = INT64_MAX / 2; }
static void too_many_rows(SpmvCooList *l)
{
  l->index_type = SPMV_I64;
  l->all_rows = l->rows = INT64_MAX;
  l->first_row          = 0;
}

static const struct {
  const char *text;
  SpmvStatus  status;
  void (*spoil)(SpmvCooList *);
} wrong_lists[] = {{"its part 1 has -1 entries", SPMV_ERR_ARGUMENT, negative_count},
                   {"an array of its part 0 is missing", SPMV_ERR_ARGUMENT, no_rows},
                   {"an array of its part 1 is missing", SPMV_ERR_ARGUMENT, no_columns},
                   {"150 rows from 299 on, of a matrix with 300", SPMV_ERR_ARGUMENT, rows_beyond},
                   {"-2 rows from 75 on", SPMV_ERR_ARGUMENT, negative_rows},
                   {"201 columns from 40 on, of a matrix with 200", SPMV_ERR_ARGUMENT, columns_beyond},
                   {"use indices of 64 bits", SPMV_ERR_OVERFLOW, too_many_columns},
                   {"more bytes than 64 bits count", SPMV_ERR_OVERFLOW, too_many_entries},
                   {"no memory has pointers of", SPMV_ERR_OVERFLOW, too_many_rows}};

UNIT_TEST(lists_that_make_no_sense_are_refused)
{
  CooCase  c = coo_case_named("scattered");
  SpmvExec exec, host;

  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_exec_init(&host, SPMV_HOST);
  for (size_t i = 0; i < sizeof wrong_lists / sizeof *wrong_lists; i++) {
    CooPlaced      p = coo_place(&c, COO_INSIDE, SPMV_I32, SPMV_HOST);
    SpmvCoo       *coo;
    SpmvCooOthers *others;
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_coo_create(&p.list, &host, &coo));
    UNIT_CONTAINS("not on the device", host.message);
    wrong_lists[i].spoil(&p.list);
    UNIT_EQUAL(wrong_lists[i].status, spmv_coo_create(&p.list, &exec, &coo));
    UNIT_CONTAINS(wrong_lists[i].text, exec.message);
    UNIT_EQUAL(wrong_lists[i].status, spmv_coo_others(&p.list, &exec, &others));
    UNIT_CHECK(!coo && !others);
    coo_unplace(&p);
  }
  coo_case_free(&c);
}

UNIT_TEST(more_nonzeros_than_indices_count_are_refused)
{
  SpmvCoo  coo = {.index_type = SPMV_I32, .rows = 1};
  SpmvExec exec;

  spmv_exec_init(&exec, SPMV_HOST);
  UNIT_EQUAL(SPMV_ERR_OVERFLOW, spmv_coo_hold_pattern(&coo, (int64_t)INT32_MAX + 1, &exec));
  UNIT_CONTAINS("2147483648 nonzeros", exec.message);
  UNIT_CHECK(!coo.row_ptr && coo.object.blocks == 0);
}

UNIT_TEST(values_that_are_missing_are_refused)
{
  if (!spmv_device_count(NULL)) return;
  CooCase        c   = coo_case_named("scattered");
  CooPlaced      p   = coo_place(&c, COO_INSIDE, SPMV_I32, SPMV_HOST);
  const void    *v[] = {c.v, NULL};
  double        *csr = calloc((size_t)(c.count[0] + c.count[1]), sizeof *csr);
  SpmvExec       exec, elsewhere;
  SpmvCoo       *made, *coo = NULL;
  SpmvCooOthers *made_others, *others;

  spmv_exec_init(&exec, SPMV_HOST);
  spmv_exec_init(&elsewhere, SPMV_DEVICE);
  if (UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_create(&p.list, &elsewhere, &made)) &&
      UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_others(&p.list, &elsewhere, &made_others)) &&
      UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_copy(made, &exec, &coo)) &&
      UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_others_copy(made_others, &exec, &others))) {
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_coo_values(coo, SPMV_F64, v, 0, csr, &exec));
    UNIT_CONTAINS("missing", exec.message);
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_coo_gather(others, SPMV_F64, v[1], csr, &exec));
    UNIT_CONTAINS("missing", exec.message);
    v[1] = c.v + c.count[0];
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_coo_values(coo, SPMV_F64, v, 0, csr, &elsewhere));
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_coo_gather(others, SPMV_F64, v[0], csr, &elsewhere));
    UNIT_CONTAINS("another space", elsewhere.message);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_values(coo, SPMV_F64, v, 0, csr, &exec));
    spmv_coo_others_destroy(&others);
    spmv_coo_others_destroy(&others);
    spmv_coo_others_destroy(NULL);
    spmv_coo_others_destroy(&made_others);
  }
  spmv_coo_destroy(&made);
  spmv_coo_destroy(&coo);
  spmv_coo_destroy(&coo);
  spmv_coo_destroy(NULL);
  free(csr);
  coo_unplace(&p);
  coo_case_free(&c);
}

/* ---- memory ---- */

/* Sorting a list on the device takes at most three times the memory of the list; afterwards the memory is what
   spmv_coo_info() returns */
UNIT_TEST(lists_take_no_more_memory_than_promised)
{
  CooCase       c    = coo_case_named("scattered");
  const int64_t n    = c.count[0] + c.count[1];
  const int64_t more = 16384; /* bound for arrays that do not grow with the list, and for padding */

  for (int index = SPMV_I32; index <= SPMV_I64 && spmv_device_count(NULL); index++) {
    CooPlaced   p = coo_place(&c, COO_WHOLE, (SpmvIndex)index, SPMV_DEVICE);
    Hooks       hooks;
    SpmvExec    exec;
    SpmvCoo    *coo;
    SpmvPattern pattern;
    int64_t     entries, bytes;

    hooks_init(&hooks);
    hooks_exec(&hooks, SPMV_DEVICE, NULL, &exec);
    if (UNIT_EQUAL(SPMV_SUCCESS, spmv_coo_create(&p.list, &exec, &coo))) {
      const int64_t index_bytes = spmv_index_bytes((SpmvIndex)index);
      spmv_coo_info(coo, &entries, &bytes);
      spmv_coo_pattern(coo, &pattern);
      UNIT_CHECK(hooks.device.peak_bytes <= 3 * 2 * index_bytes * n + more);
      UNIT_EQUAL(bytes, hooks.device.live_bytes);
      UNIT_CHECK(bytes <= 4 * entries + (4 + index_bytes) * pattern.nnz + index_bytes * (pattern.rows + 1) + more);
    }
    spmv_coo_destroy(&coo);
    UNIT_CHECK(hooks_clean(&hooks));
    coo_unplace(&p);
  }
  coo_case_free(&c);
}

/* ---- no memory, failing device calls ---- */

/* A list, and an exec for the device */
typedef struct {
  CooCase   c;
  CooPlaced p;
  Hooks     hooks;
  SpmvExec  exec;
} Life;

static void open_life(Life *l, const char *name, SpmvSpace list)
{
  l->c = coo_case_named(name);
  l->p = coo_place(&l->c, COO_INSIDE, SPMV_I32, list);
  hooks_init(&l->hooks);
  hooks_exec(&l->hooks, SPMV_DEVICE, NULL, &l->exec);
}

static void close_life(Life *l)
{
  UNIT_CHECK(hooks_clean(&l->hooks));
  hooks_drop(&l->hooks);
  coo_unplace(&l->p);
  coo_case_free(&l->c);
}

/* Calls spmv_coo_others() and spmv_coo_create() until one fails. If both succeed, the values must be right, and
   computing them must not allocate. */
static SpmvStatus live(Life *l)
{
  SpmvCoo       *coo;
  SpmvCooOthers *others;
  CooCsr         expected = coo_expected(&l->c, &l->p.list, SPMV_F64, 1);
  SpmvStatus     status   = spmv_coo_others(&l->p.list, &l->exec, &others);

  UNIT_CHECK(!status == !!others);
  spmv_coo_others_destroy(&others);
  if (!status) {
    status = spmv_coo_create(&l->p.list, &l->exec, &coo);
    UNIT_CHECK(!status == !!coo);
  }
  if (!status) {
    const int64_t calls  = l->hooks.host.calls + l->hooks.device.calls;
    SpmvExec      usable = l->exec;
    CooCsr        got    = coo_got(&l->c, coo, SPMV_F64, 1, &usable);
    UNIT_CHECK(coo_csr_same(&expected, &got));
    UNIT_EQUAL(calls, l->hooks.host.calls + l->hooks.device.calls);
    coo_csr_free(&got);
    spmv_coo_destroy(&coo);
  }
  coo_csr_free(&expected);
  return status;
}

/* Fails allocation number 1, 2, ... in turn, until there are fewer allocations than that */
static void fail_each_allocation(const char *name, SpmvSpace list, SpmvSpace fault)
{
  int64_t fail_at = 0, calls;

  do {
    Life l;
    open_life(&l, name, list);
    hooks_counter(&l.hooks, fault)->fail_at = ++fail_at;
    const SpmvStatus status                 = live(&l);
    calls                                   = hooks_counter(&l.hooks, fault)->calls;
    UNIT_EQUAL(calls >= fail_at ? SPMV_ERR_MEMORY : SPMV_SUCCESS, status);
    UNIT_CHECK(!status || l.exec.message[0]);
    hooks_counter(&l.hooks, fault)->fail_at = 0;
    if (status) UNIT_EQUAL(SPMV_SUCCESS, live(&l));
    close_life(&l);
  } while (calls >= fail_at && fail_at < 60);
  UNIT_CHECK(fail_at > 2 && fail_at < 60); /* on the host: two objects */
}

UNIT_TEST(lists_without_memory_leave_nothing)
{
  for (int list = SPMV_HOST; list <= SPMV_DEVICE && spmv_device_count(NULL); list++) {
    fail_each_allocation("negative", (SpmvSpace)list, SPMV_DEVICE);
    for (int fault = SPMV_HOST; fault <= SPMV_DEVICE; fault++)
      fail_each_allocation("scattered", (SpmvSpace)list, (SpmvSpace)fault);
  }
}

#ifdef EMULATED
/* Makes the device call after the first `calls` ones fail; returns whether there was such a call. Not every failed call
   is an error: an allocation from a pool is tried again, and failures of freeing are ignored. */
static int fails_after(int calls, int *errors)
{
  Life l;

  open_life(&l, "scattered", SPMV_HOST);
  SpmvCoo       *coo;
  SpmvCooOthers *others;
  (void)spmv_emulator_fail_after(calls);
  SpmvStatus status = spmv_coo_others(&l.p.list, &l.exec, &others);
  if (!status) status = spmv_coo_create(&l.p.list, &l.exec, &coo);
  else coo = NULL;
  const int failed = spmv_emulator_fail_after(-1);
  if (status) {
    ++*errors;
    UNIT_EQUAL(SPMV_ERR_MEMORY, status);
    UNIT_CHECK(failed && l.exec.message[0] && !coo);
  }
  spmv_coo_destroy(&coo);
  spmv_coo_others_destroy(&others);
  UNIT_EQUAL(SPMV_SUCCESS, live(&l));
  close_life(&l);
  return failed;
}

/* Each launch, copy and wait fails once */
UNIT_TEST(lists_pass_on_that_a_device_call_fails)
{
  int calls = 0, errors = 0;

  while (calls < 500 && fails_after(calls, &errors)) calls++;
  UNIT_CHECK(calls < 500 && errors > 20 && 2 * errors > calls);
}
#endif
