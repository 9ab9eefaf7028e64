/* Tests of pool.cu: blocks of device memory that the pool keeps, releases or cannot get, and blocks of another device.
   They pass without a device, and in a library built without CUDA. */
#include "unit.h"
#include <spmv_kernels.h>

#if defined(SPMV_HAVE_CUDA)
  #include <cuda_runtime_api.h>
  #include <stdlib.h>
  #include <string.h>

static const int64_t MIB = 1 << 20;

/* Memory is mapped in pages of 2 MiB, and a pool asks for several at a time */
  #define SLACK (64 * MIB)

static int64_t free_bytes(SpmvExec *exec)
{
  int64_t now = 0, total;

  UNIT_EQUAL(SPMV_SUCCESS, spmv_device_memory(&now, &total, exec));
  return now;
}

static void *take(SpmvExec *exec, int64_t bytes)
{
  void *block = NULL;

  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(exec, SPMV_DEVICE, bytes, "block", &block));
  return block;
}

/* Whether bytes written to a block can be read back */
static int holds(SpmvExec *exec, void *block, int64_t bytes, int seed)
{
  unsigned char *one = malloc((size_t)bytes), *other = malloc((size_t)bytes);

  for (int64_t i = 0; i < bytes; i++) one[i] = (unsigned char)(7 * i + seed);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(block, SPMV_DEVICE, one, SPMV_HOST, bytes, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(other, SPMV_HOST, block, SPMV_DEVICE, bytes, exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(exec));
  const int same = !memcmp(one, other, (size_t)bytes);
  free(one);
  free(other);
  return same;
}

UNIT_TEST(a_pool_keeps_no_more_than_it_may)
{
  const int64_t keep[] = {0, 32 * MIB, -1, 0};
  int64_t       unused, total = 0, most;
  SpmvExec      exec;

  if (spmv_device_count(NULL) == 0) return;
  spmv_exec_init(&exec, SPMV_DEVICE);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_device_memory(&unused, &total, &exec));
  spmv_exec_free(&exec, SPMV_DEVICE, take(&exec, MIB)); /* the first use also allocates memory of the CUDA runtime */
  for (int i = 0; i < 4; i++) {
    spmv_device_keep(keep[i]);
    most                 = keep[i] >= 0 ? keep[i] : total / 64 > 64 * MIB ? total / 64 : 64 * MIB;
    const int64_t before = free_bytes(&exec);
    void         *block  = take(&exec, 512 * MIB);
    UNIT_CHECK(free_bytes(&exec) <= before - 400 * MIB);
    spmv_exec_free(&exec, SPMV_DEVICE, block);
    UNIT_CHECK(free_bytes(&exec) >= before - most - SLACK);
  }
  spmv_device_keep(-1);
}

UNIT_TEST(what_cannot_be_had_is_an_error_and_the_pool_goes_on)
{
  SpmvExec exec;
  void    *block = &exec;

  if (spmv_device_count(NULL) == 0) return;
  spmv_exec_init(&exec, SPMV_DEVICE);
  UNIT_EQUAL(SPMV_ERR_MEMORY, spmv_alloc(&exec, SPMV_DEVICE, (int64_t)1 << 50, "too much", &block));
  UNIT_CHECK(block == NULL);
  UNIT_EQUAL(cudaSuccess, cudaGetLastError());
  block = take(&exec, 3 * MIB);
  UNIT_CHECK(holds(&exec, block, 3 * MIB, 1));
  spmv_exec_free(&exec, SPMV_DEVICE, block);
}

UNIT_TEST(blocks_in_use_keep_their_pool)
{
  SpmvExec exec;

  if (spmv_device_count(NULL) == 0) return;
  spmv_exec_init(&exec, SPMV_DEVICE);
  void *old = take(&exec, 5 * MIB), *older = take(&exec, 100);
  UNIT_CHECK(holds(&exec, old, 5 * MIB, 2));
  spmv_device_release();
  spmv_device_release();
  spmv_exec_free(&exec, SPMV_DEVICE, older);
  UNIT_CHECK(holds(&exec, old, 5 * MIB, 3));
  void *block = take(&exec, 6 * MIB);
  spmv_exec_free(&exec, SPMV_DEVICE, old);
  spmv_device_release();
  UNIT_CHECK(holds(&exec, block, 6 * MIB, 4));
  spmv_exec_free(&exec, SPMV_DEVICE, block);
  spmv_device_release(); /* no block is in use, so the pool is destroyed; the next allocation makes another one */
  block = take(&exec, 7 * MIB);
  UNIT_CHECK(holds(&exec, block, 7 * MIB, 5));
  spmv_exec_free(&exec, SPMV_DEVICE, block);
  UNIT_EQUAL(cudaSuccess, cudaGetLastError());
}

UNIT_TEST(blocks_are_of_the_current_device_and_freed_from_any)
{
  SpmvExec exec;
  void    *block[2];
  int      devices = 1, device;

  if (spmv_device_count(NULL) == 0) return;
  spmv_exec_init(&exec, SPMV_DEVICE);
  setenv("SPMV_EMULATOR_DEVICES", "2", 1);
  UNIT_EQUAL(cudaSuccess, cudaGetDeviceCount(&devices));
  if (devices > 2) devices = 2;
  for (int d = 0; d < devices; d++) {
    UNIT_EQUAL(cudaSuccess, cudaSetDevice(d));
    block[d] = take(&exec, 4 * MIB + d);
    UNIT_CHECK(holds(&exec, block[d], 4 * MIB, d));
  }
  UNIT_EQUAL(cudaSuccess, cudaSetDevice(0));
  for (int d = 0; d < devices; d++) {
    spmv_exec_free(&exec, SPMV_DEVICE, block[d]);
    UNIT_EQUAL(cudaSuccess, cudaGetLastError());
    UNIT_EQUAL(cudaSuccess, cudaGetDevice(&device));
    UNIT_EQUAL(0, device);
  }
  unsetenv("SPMV_EMULATOR_DEVICES");
}

/* On a real device, which has pools, this test allocates from them */
/* A block serves the next one of at least half its size, until all are released */
UNIT_TEST(memory_that_the_host_touches_is_kept)
{
  void    *first, *small, *again;
  SpmvExec exec;

  if (spmv_device_count(NULL) == 0) return;
  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_device_keep(-1);
  spmv_exec_free(&exec, SPMV_DEVICE, take(&exec, MIB)); /* makes the pool, whose limit holds for shared memory, too */
  UNIT_EQUAL(SPMV_SUCCESS, spmv_pinned_alloc(&exec, MIB, &first));
  spmv_pinned_free(first);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_pinned_alloc(&exec, MIB / 2 - 1, &small));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_pinned_alloc(&exec, MIB / 2 + 1, &again));
  UNIT_CHECK(small != first && again == first);
  memset(again, 1, (size_t)MIB);
  spmv_pinned_free(small);
  spmv_pinned_free(again);
  first = spmv_shared_alloc(4 * MIB, &exec);
  spmv_shared_free(first);
  again = spmv_shared_alloc(3 * MIB, &exec);
  UNIT_CHECK(first == again);
  UNIT_CHECK(!first || holds(&exec, again, 3 * MIB, 5));
  spmv_shared_free(again);
  spmv_device_keep(0);
  const int64_t before = free_bytes(&exec);
  spmv_shared_free(spmv_shared_alloc(4 * MIB, &exec));
  UNIT_CHECK(free_bytes(&exec) >= before - SLACK);
  spmv_device_keep(-1);
}

UNIT_TEST(a_device_without_pools_serves_as_well)
{
  SpmvExec exec;

  if (spmv_device_count(NULL) == 0) return;
  spmv_exec_init(&exec, SPMV_DEVICE);
  setenv("SPMV_EMULATOR_DEVICES", "3", 1);
  setenv("SPMV_EMULATOR_NO_POOLS", "1", 1);
  const int other = cudaSetDevice(2) == cudaSuccess; /* no earlier test made a pool for device 2 */
  void     *block = take(&exec, MIB);
  UNIT_CHECK(holds(&exec, block, MIB, 5));
  spmv_exec_free(&exec, SPMV_DEVICE, block);
  UNIT_EQUAL(cudaSuccess, cudaSetDevice(0));
  if (!other) (void)cudaGetLastError();
  unsetenv("SPMV_EMULATOR_NO_POOLS");
  unsetenv("SPMV_EMULATOR_DEVICES");
}
#endif

UNIT_TEST(pools_can_be_released_where_there_are_none)
{
  spmv_device_keep(0);
  spmv_device_release();
  spmv_device_keep(-1);
  spmv_device_release();
}
