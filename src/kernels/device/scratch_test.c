/* Tests of scratch memory and of temporary arrays (pool.cu, memory.c): how many bytes are kept, and until when; that
   nobody waits; and a matrix product that uses scratch memory. They pass without a device, and in a library built without
   CUDA. */
#include "device/memory.h"
#include "spgemm/spgemm_test.h"
#include "unit.h"
#include "unit_plan.h"
#include <stdlib.h>
#include <string.h>
#ifdef SPMV_EMULATED
  #include <fcntl.h>
  #include <spmv_emulator.h>
  #include <sys/wait.h>
  #include <unistd.h>
#endif

static const int64_t MIB = 1 << 20;

static void *take(SpmvExec *exec, int64_t bytes)
{
  void *block = NULL;

  UNIT_EQUAL(SPMV_SUCCESS, spmv_scratch_alloc(exec, SPMV_DEVICE, bytes, "block", &block));
  UNIT_CHECK(block != NULL);
  return block;
}

static void give(SpmvExec *exec, void *block) { spmv_scratch_free(exec, SPMV_DEVICE, block); }

UNIT_TEST(two_rounds_say_how_much_is_kept)
{
  SpmvExec exec;
  void    *block[2];

  if (spmv_device_count(NULL) == 0) return;
  spmv_exec_init(&exec, SPMV_DEVICE);
  block[0] = take(&exec, MIB);
  UNIT_EQUAL(MIB, spmv_scratch_bytes());
  give(&exec, block[0]);
  UNIT_EQUAL(0, spmv_scratch_bytes()); /* nobody holds it */
  give(&exec, NULL);
  spmv_scratch_hold();
  spmv_scratch_hold();
  block[0] = take(&exec, 3 * MIB);
  block[1] = take(&exec, 2 * MIB);
  give(&exec, block[0]);
  give(&exec, block[1]);
  give(&exec, take(&exec, MIB));
  UNIT_EQUAL(5 * MIB, spmv_scratch_bytes());
  spmv_scratch_trim();
  give(&exec, take(&exec, MIB));
  UNIT_EQUAL(5 * MIB, spmv_scratch_bytes()); /* the round before needed it */
  spmv_scratch_trim();
  UNIT_EQUAL(MIB, spmv_scratch_bytes());
  block[0] = take(&exec, 2 * MIB);
  spmv_scratch_release();
  spmv_scratch_trim();
  spmv_scratch_trim();
  UNIT_EQUAL(2 * MIB, spmv_scratch_bytes()); /* in use all the time */
  give(&exec, block[0]);
  spmv_scratch_release();
  UNIT_EQUAL(0, spmv_scratch_bytes());
}

UNIT_TEST(kept_memory_makes_way_for_others)
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
  spmv_device_release();
  spmv_scratch_release();
}

#ifdef SPMV_EMULATED
UNIT_TEST(kept_memory_is_found_again_and_nobody_waits)
{
  SpmvExec exec;
  void    *block = NULL;

  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_device_keep(0);
  spmv_scratch_hold();
  for (int round = 0; round < 2; round++) {
    (void)spmv_emulator_grown();
    (void)spmv_emulator_waits();
    (void)spmv_emulator_device_waits();
    give(&exec, take(&exec, MIB));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_alloc(&exec, MIB / 2, "temporary", &block));
    spmv_stream_free(&exec, block);
    UNIT_EQUAL(round ? 0 : 1, spmv_emulator_grown());
    UNIT_EQUAL(0, spmv_emulator_waits() + spmv_emulator_device_waits());
    UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&exec)); /* CUDA releases memory that nobody keeps */
  }
  spmv_scratch_release();
  give(&exec, take(&exec, MIB));
  UNIT_EQUAL(1, spmv_emulator_grown());
  spmv_device_keep(-1);
}

/* Two streams and a block of the first */
typedef struct {
  SpmvExec one, other;
  void    *block;
} Streams;

static void write_to(SpmvExec *exec, void *block)
{
  char bytes[64] = "";
  (void)spmv_copy(block, SPMV_DEVICE, bytes, SPMV_HOST, sizeof bytes, exec);
}
static void used_on_another_stream(Streams *s) { write_to(&s->other, s->block); }
static void used_after_a_wait(Streams *s)
{
  (void)spmv_stream_wait(&s->one);
  write_to(&s->other, s->block);
}
static void freed_before_the_other_stream(Streams *s)
{
  used_after_a_wait(s);
  give(&s->one, s->block);
}
static void freed_behind_the_other_stream(Streams *s)
{
  used_after_a_wait(s);
  (void)spmv_stream_wait(&s->other);
  give(&s->one, s->block);
}
static void freed_with_a_wait(Streams *s)
{
  void *block = NULL;
  (void)spmv_alloc(&s->one, SPMV_DEVICE, MIB, "for all streams", &block);
  write_to(&s->one, block);
  write_to(&s->other, block);
  spmv_exec_free(&s->one, SPMV_DEVICE, block);
}
static void used_after_it_was_freed(Streams *s)
{
  give(&s->one, s->block);
  spmv_exec_init(&s->other, SPMV_DEVICE);
  (void)spmv_device_scale(8, SPMV_F64, &(double){2}, s->block, &s->one);
  (void)spmv_stream_wait(&s->one);
}

/* Whether a child process ends well */
static int passes(void (*action)(Streams *), Streams *s)
{
  const pid_t child = fork();
  int         status;

  if (child == 0) {
    (void)dup2(open("/dev/null", O_WRONLY), STDERR_FILENO); /* the emulator explains itself */
    action(s);
    _exit(0);
  }
  UNIT_CHECK(child > 0 && waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

UNIT_TEST(the_emulator_finds_a_wrong_order_of_streams)
{
  Streams s;

  if (getenv("SPMV_EMULATOR_APART")) return; /* then all blocks are accessible */
  spmv_exec_init(&s.one, SPMV_DEVICE);
  spmv_exec_init(&s.other, SPMV_DEVICE);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_create(&s.one, &s.one.stream));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_create(&s.one, &s.other.stream));
  s.block = take(&s.one, MIB);
  write_to(&s.one, s.block);
  UNIT_CHECK(passes(used_after_a_wait, &s));
  UNIT_CHECK(passes(freed_behind_the_other_stream, &s));
  UNIT_CHECK(passes(freed_with_a_wait, &s));
  UNIT_CHECK(!passes(used_on_another_stream, &s));
  UNIT_CHECK(!passes(freed_before_the_other_stream, &s));
  UNIT_CHECK(!passes(used_after_it_was_freed, &s));
  give(&s.one, s.block);
  spmv_stream_destroy(s.one.stream);
  spmv_stream_destroy(s.other.stream);
}
#endif

/* The values between the two multiplications are too many to be kept in the product */
UNIT_TEST(a_triple_product_takes_scratch_memory)
{
  const GenSpec spec = gen_stencil(5, 220, 220, 1);

  if (spmv_device_count(NULL) == 0) return;
  UnitProblem          p       = unit_problem(&spec, SPMV_I32, SPMV_F64);
  const ProductOperand a       = {p.csr.pattern, SPMV_F64, p.values};
  const ProductCase    product = {"A^T A A", SPMV_SPGEMM_PTAP, SPMV_F64, a, a};
  spmv_scratch_hold();
  ProductResult here = product_result(&product, SPMV_HOST, NULL), there = product_result(&product, SPMV_DEVICE, NULL);
  UNIT_CHECK(spmv_scratch_bytes() > 4 * MIB && spmv_scratch_bytes() < 6 * MIB);
  UNIT_EQUAL(SPMV_SUCCESS, there.status);
  UNIT_CHECK(!memcmp(here.values, there.values, (size_t)here.pattern.nnz * sizeof *here.values));
  spmv_scratch_release();
  UNIT_EQUAL(0, spmv_scratch_bytes());
  product_result_free(&here);
  product_result_free(&there);
  unit_problem_clear(&p);
}
