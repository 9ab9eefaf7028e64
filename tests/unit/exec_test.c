/* Tests of SpmvExec: allocation by hooks and by default, messages, copies, and device calls without a device. */
#include "hooks.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

UNIT_TEST(an_exec_starts_with_default_hooks_and_no_message)
{
  SpmvExec exec;

  memset(&exec, 0xFF, sizeof exec);
  spmv_exec_init(&exec, SPMV_DEVICE);
  UNIT_EQUAL(SPMV_DEVICE, exec.space);
  UNIT_CHECK(exec.stream == NULL && exec.host.alloc == NULL && exec.device.free == NULL);
  UNIT_TEXT("", exec.message);
}

UNIT_TEST(default_host_blocks_are_aligned_and_usable)
{
  SpmvExec exec;
  void    *block;

  spmv_exec_init(&exec, SPMV_HOST);
  for (int64_t bytes = 1; bytes < 5000; bytes = 3 * bytes + 1) {
    UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&exec, SPMV_HOST, bytes, "block", &block));
    UNIT_EQUAL(0, (uintptr_t)block % 64);
    memset(block, 1, (size_t)bytes);
    spmv_exec_free(&exec, SPMV_HOST, block);
  }
}

UNIT_TEST(zero_bytes_give_null_without_asking_the_hooks)
{
  Hooks    hooks;
  SpmvExec exec;
  void    *block = &exec;

  hooks_init(&hooks);
  hooks_exec(&hooks, SPMV_HOST, NULL, &exec);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&exec, SPMV_HOST, 0, "nothing", &block));
  UNIT_CHECK(block == NULL);
  spmv_exec_free(&exec, SPMV_HOST, NULL);
  UNIT_EQUAL(0, hooks.host.calls);
}

UNIT_TEST(a_negative_size_is_an_argument_error)
{
  SpmvExec exec;
  void    *block = &exec;

  spmv_exec_init(&exec, SPMV_HOST);
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_alloc(&exec, SPMV_HOST, -8, "values", &block));
  UNIT_CHECK(block == NULL);
  UNIT_TEXT("array values: -8 bytes", exec.message);
}

UNIT_TEST(blocks_come_from_the_hooks_and_go_back_to_them)
{
  Hooks    hooks;
  SpmvExec exec;
  void    *block;

  hooks_init(&hooks);
  hooks_exec(&hooks, SPMV_HOST, NULL, &exec);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&exec, SPMV_HOST, 100, "values", &block));
  UNIT_EQUAL(1, hooks.host.live_blocks);
  UNIT_EQUAL(100, hooks.host.live_bytes);
  spmv_free(&exec.host, &exec.device, SPMV_HOST, block);
  UNIT_CHECK(hooks_clean(&hooks));
  UNIT_EQUAL(100, hooks.host.peak_bytes);
}

UNIT_TEST(a_failing_hook_names_the_array_and_the_size)
{
  Hooks    hooks;
  SpmvExec exec;
  void    *block = &exec;

  hooks_init(&hooks);
  hooks_exec(&hooks, SPMV_HOST, NULL, &exec);
  hooks.host.fail_at = 1;
  UNIT_EQUAL(SPMV_ERR_MEMORY, spmv_alloc(&exec, SPMV_HOST, 4096, "run_starts", &block));
  UNIT_CHECK(block == NULL);
  UNIT_TEXT("no 4096 bytes of host memory for array run_starts", exec.message);
}

static void *alloc_from_host(void *last_bytes, size_t bytes)
{
  *(size_t *)last_bytes = bytes;
  return aligned_alloc(256, bytes);
}

static void free_to_host(void *last_bytes, void *block)
{
  (void)last_bytes;
  free(block);
}

UNIT_TEST(several_device_arrays_come_from_one_allocation)
{
  const int64_t bytes[] = {8, 0, 256, 257}, none[] = {0, 0}, wrong[] = {8, -1};
  void *array[4], *block = NULL, **const to[] = {&array[0], &array[1], &array[2], &array[3]};
  size_t   last_bytes = 0;
  SpmvExec exec;

  spmv_exec_init(&exec, SPMV_DEVICE);
  exec.device = (SpmvAllocator){alloc_from_host, free_to_host, &last_bytes};
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc_arrays(&exec, SPMV_DEVICE, 4, bytes, "plan", to, &block));
  UNIT_EQUAL(256 + 256 + 512, (int64_t)last_bytes);
  UNIT_CHECK(array[0] == block && array[1] == NULL);
  UNIT_EQUAL(256, (char *)array[2] - (char *)block);
  UNIT_EQUAL(512, (char *)array[3] - (char *)block);
  spmv_exec_free(&exec, SPMV_DEVICE, block);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc_arrays(&exec, SPMV_DEVICE, 2, none, "plan", to, &block));
  UNIT_CHECK(array[0] == NULL && array[1] == NULL && block == NULL);
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_alloc_arrays(&exec, SPMV_DEVICE, 2, wrong, "plan", to, &block));
  UNIT_CHECK(array[0] == NULL && block == NULL);
}

UNIT_TEST(the_counting_hooks_notice_foreign_and_double_frees)
{
  Hooks    hooks;
  SpmvExec exec;
  void    *block;
  int      other;

  hooks_init(&hooks);
  hooks_exec(&hooks, SPMV_HOST, NULL, &exec);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&exec, SPMV_HOST, 8, "block", &block));
  UNIT_CHECK(!hooks_clean(&hooks));
  spmv_exec_free(&exec, SPMV_HOST, block);
  spmv_exec_free(&exec, SPMV_HOST, block);
  UNIT_EQUAL(1, hooks.host.foreign_frees);
  spmv_exec_free(&exec, SPMV_HOST, &other);
  UNIT_EQUAL(2, hooks.host.foreign_frees);
  UNIT_CHECK(!hooks_clean(&hooks));
}

UNIT_TEST(host_copies_work_without_a_device)
{
  SpmvExec exec;
  int      from[3] = {1, 2, 3}, to[3] = {0, 0, 0};

  spmv_exec_init(&exec, SPMV_HOST);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(to, SPMV_HOST, from, SPMV_HOST, 2 * sizeof *to, &exec));
  UNIT_CHECK(to[0] == 1 && to[1] == 2 && to[2] == 0);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(NULL, SPMV_HOST, NULL, SPMV_HOST, 0, &exec));
}

UNIT_TEST(a_machine_without_a_device_says_why_and_refuses)
{
  char     reason[SPMV_MESSAGE_MAX] = "";
  int64_t  free_bytes = -1, total_bytes = -1;
  SpmvExec exec;
  void    *block = &exec, *stream = &exec;
  char     byte = 0;

  if (spmv_device_count(reason) > 0) {
    UNIT_TEXT("", reason);
    return;
  }
  UNIT_CONTAINS("CUDA", reason);
  spmv_exec_init(&exec, SPMV_HOST);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&exec));
  spmv_exec_init(&exec, SPMV_DEVICE);
  UNIT_CHECK(spmv_alloc(&exec, SPMV_DEVICE, 64, "values", &block) == SPMV_ERR_MEMORY && block == NULL);
  UNIT_TEXT("no 64 bytes of device memory for array values", exec.message);
  UNIT_CHECK(spmv_device_memory(&free_bytes, &total_bytes, &exec) != SPMV_SUCCESS);
  UNIT_CHECK(spmv_pinned_alloc(&exec, 64, &block) != SPMV_SUCCESS && block == NULL);
  UNIT_CHECK(spmv_stream_create(&exec, &stream) != SPMV_SUCCESS && stream == NULL);
  exec.message[0] = 0;
  UNIT_CHECK(spmv_copy(&byte, SPMV_DEVICE, &byte, SPMV_HOST, 1, &exec) != SPMV_SUCCESS);
  UNIT_CHECK(exec.message[0] != 0);
  spmv_pinned_free(NULL);
  spmv_stream_destroy(NULL);
}
