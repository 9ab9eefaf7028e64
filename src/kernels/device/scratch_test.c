/* Tests of scratch.c: which blocks are kept, for which stream, and until when; and a matrix product that uses scratch
   memory. They pass without a device, and in a library built without CUDA. */
#include "unit.h"
#include <spmv_kernels.h>
#include <stdlib.h>

static const int64_t MIB = 1 << 20;

static void *take(SpmvExec *exec, int64_t bytes)
{
  void *block = NULL;

  UNIT_EQUAL(SPMV_SUCCESS, spmv_scratch_alloc(exec, SPMV_DEVICE, bytes, "block", &block));
  UNIT_CHECK(block != NULL);
  return block;
}

static void give(SpmvExec *exec, void *block) { spmv_scratch_free(exec, SPMV_DEVICE, block); }

UNIT_TEST(nothing_is_kept_that_nobody_holds)
{
  SpmvExec exec;

  if (spmv_device_count(NULL) == 0) return;
  spmv_exec_init(&exec, SPMV_DEVICE);
  void *block = take(&exec, MIB);
  UNIT_EQUAL(0, spmv_scratch_bytes());
  spmv_scratch_hold();
  give(&exec, block); /* allocated before the first hold */
  UNIT_EQUAL(0, spmv_scratch_bytes());
  give(&exec, NULL);
  block = take(&exec, MIB);
  UNIT_EQUAL(MIB, spmv_scratch_bytes());
  spmv_scratch_release();
  UNIT_EQUAL(MIB, spmv_scratch_bytes()); /* the block is in use */
  give(&exec, block);
  UNIT_EQUAL(0, spmv_scratch_bytes());
}

UNIT_TEST(the_smallest_block_that_suffices_serves_again)
{
  SpmvExec exec, other;
  void    *stream, *block[3];

  if (spmv_device_count(NULL) == 0) return;
  spmv_exec_init(&exec, SPMV_DEVICE);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_create(&exec, &stream));
  other        = exec;
  other.stream = stream;
  spmv_scratch_hold();
  spmv_scratch_hold();
  block[0] = take(&exec, 3 * MIB);
  block[1] = take(&exec, 2 * MIB);
  give(&exec, block[0]);
  give(&exec, block[1]);
  UNIT_EQUAL(5 * MIB, spmv_scratch_bytes());
  UNIT_CHECK(take(&exec, MIB) == block[1]);
  UNIT_CHECK(take(&exec, MIB) == block[0]);
  block[2] = take(&exec, MIB); /* both are in use */
  give(&exec, block[0]);
  give(&exec, block[1]);
  give(&exec, block[2]);
  UNIT_EQUAL(6 * MIB, spmv_scratch_bytes());
  block[2] = take(&other, MIB); /* on another stream, whose work is not ordered with the first */
  UNIT_EQUAL(7 * MIB, spmv_scratch_bytes());
  give(&other, block[2]);
  spmv_scratch_release();
  UNIT_EQUAL(7 * MIB, spmv_scratch_bytes());
  spmv_scratch_release();
  UNIT_EQUAL(0, spmv_scratch_bytes());
  spmv_stream_destroy(stream);
}

UNIT_TEST(a_round_without_new_blocks_frees_those_that_it_did_not_use)
{
  SpmvExec exec;
  void    *block[2];

  if (spmv_device_count(NULL) == 0) return;
  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_scratch_hold();
  block[0] = take(&exec, 2 * MIB);
  block[1] = take(&exec, MIB);
  give(&exec, block[0]);
  give(&exec, block[1]);
  spmv_scratch_trim();
  UNIT_EQUAL(3 * MIB, spmv_scratch_bytes());
  give(&exec, take(&exec, MIB));
  spmv_scratch_trim();
  UNIT_EQUAL(MIB, spmv_scratch_bytes());
  block[0] = take(&exec, MIB);
  spmv_scratch_trim();
  spmv_scratch_trim();
  UNIT_EQUAL(MIB, spmv_scratch_bytes()); /* the block is in use all the time */
  give(&exec, block[0]);
  spmv_scratch_release();
  UNIT_EQUAL(0, spmv_scratch_bytes());
}

UNIT_TEST(kept_blocks_make_way_for_others)
{
  SpmvExec exec;
  void    *block = NULL;

  if (spmv_device_count(NULL) == 0) return;
  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_scratch_hold();
  give(&exec, take(&exec, MIB));
  UNIT_EQUAL(SPMV_ERR_MEMORY, spmv_alloc(&exec, SPMV_DEVICE, (int64_t)1 << 50, "too much", &block));
  UNIT_EQUAL(0, spmv_scratch_bytes());
  UNIT_EQUAL(SPMV_ERR_MEMORY, spmv_scratch_alloc(&exec, SPMV_DEVICE, (int64_t)1 << 50, "too much", &block));
  UNIT_EQUAL(0, spmv_scratch_bytes());
  spmv_device_release();
  spmv_scratch_release();
}

/* ---- P^T A P with values of A P too large to be kept in the product: they take scratch memory ---- */

enum { N = 160000, BAND = 6 };

/* A pattern on the device, and its values, all 1 */
typedef struct {
  SpmvPattern pattern;
  void       *row_ptr, *col, *values;
} There;

static There there(SpmvExec *exec, int64_t cols, const int32_t *row_ptr, const int32_t *col)
{
  const int64_t nnz = row_ptr[N];
  double       *one = malloc((size_t)nnz * sizeof *one);
  There         t;

  for (int64_t k = 0; k < nnz; k++) one[k] = 1;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(exec, SPMV_DEVICE, (N + 1) * 4, "row_ptr", &t.row_ptr));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(exec, SPMV_DEVICE, nnz * 4, "col", &t.col));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(exec, SPMV_DEVICE, nnz * 8, "values", &t.values));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(t.row_ptr, SPMV_DEVICE, row_ptr, SPMV_HOST, (N + 1) * 4, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(t.col, SPMV_DEVICE, col, SPMV_HOST, nnz * 4, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(t.values, SPMV_DEVICE, one, SPMV_HOST, nnz * 8, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(exec));
  t.pattern = (SpmvPattern){.rows       = N,
                            .cols       = cols,
                            .nnz        = nnz,
                            .index_type = SPMV_I32,
                            .space      = SPMV_DEVICE,
                            .row_ptr    = t.row_ptr,
                            .col        = t.col};
  free(one);
  return t;
}

static void there_free(SpmvExec *exec, There *t)
{
  spmv_exec_free(exec, SPMV_DEVICE, t->row_ptr);
  spmv_exec_free(exec, SPMV_DEVICE, t->col);
  spmv_exec_free(exec, SPMV_DEVICE, t->values);
}

/* A: a band of six columns from the diagonal on. P: rows 2 j and 2 j + 1 have a 1 in column j. */
static void factors(SpmvExec *exec, There *a, There *p)
{
  int32_t *row_ptr = malloc((N + 1) * sizeof *row_ptr), *col = malloc(BAND * (size_t)N * sizeof *col);

  row_ptr[0] = 0;
  for (int32_t i = 0; i < N; i++) {
    const int32_t first = i < N - BAND ? i : N - BAND;

    for (int32_t k = 0; k < BAND; k++) col[BAND * i + k] = first + k;
    row_ptr[i + 1] = BAND * (i + 1);
  }
  *a = there(exec, N, row_ptr, col);
  for (int32_t i = 0; i < N; i++) {
    col[i]         = i / 2;
    row_ptr[i + 1] = i + 1;
  }
  *p = there(exec, N / 2, row_ptr, col);
  free(row_ptr);
  free(col);
}

UNIT_TEST(a_triple_product_finds_its_scratch_memory_again)
{
  SpmvExec    exec;
  SpmvSpgemm *product;
  SpmvPattern c;
  There       a, p;
  void       *values;
  double      first;

  if (spmv_device_count(NULL) == 0) return;
  spmv_exec_init(&exec, SPMV_DEVICE);
  factors(&exec, &a, &p);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_spgemm_symbolic(SPMV_SPGEMM_PTAP, &a.pattern, &p.pattern, SPMV_F64, &exec, &product));
  spmv_spgemm_pattern(product, &c);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&exec, SPMV_DEVICE, c.nnz * 8, "values", &values));
  spmv_scratch_hold();
  for (int round = 0; round < 2; round++) {
    UNIT_EQUAL(SPMV_SUCCESS, spmv_spgemm_numeric(product, a.values, p.values, values, &exec));
    UNIT_CHECK(spmv_scratch_bytes() > 4 * MIB && spmv_scratch_bytes() < 6 * MIB);
  }
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(&first, SPMV_HOST, values, SPMV_DEVICE, sizeof first, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&exec));
  UNIT_CHECK(first == 3); /* rows 0 and 1, columns 0 and 1 */
  spmv_scratch_release();
  UNIT_EQUAL(0, spmv_scratch_bytes());
  spmv_exec_free(&exec, SPMV_DEVICE, values);
  spmv_spgemm_destroy(&product);
  there_free(&exec, &a);
  there_free(&exec, &p);
}
