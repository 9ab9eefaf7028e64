/* memory.c - allocation by the hooks of an exec, or by default; the default device allocator is in pool.cu or
   no_device.c. */
#include "memory.h"
#include <stdlib.h>
#include <string.h>

enum {
  HOST_ALIGNMENT   = 64, /* one cache line, one AVX-512 register */
  DEVICE_ALIGNMENT = 256 /* that of cudaMalloc() */
};

void spmv_exec_init(SpmvExec *exec, SpmvSpace space)
{
  memset(exec, 0, sizeof *exec);
  exec->space = space;
}

static void *host_alloc(int64_t bytes)
{
  size_t rounded = ((size_t)bytes + HOST_ALIGNMENT - 1) / HOST_ALIGNMENT * HOST_ALIGNMENT;
  return aligned_alloc(HOST_ALIGNMENT, rounded);
}

/* When memory is short, kept scratch blocks are freed, and the allocation is tried once more */
static void *device_alloc(int64_t bytes)
{
  void *block = spmv_device_alloc_default(bytes);

  return block || !spmv_scratch_drop() ? block : spmv_device_alloc_default(bytes);
}

SpmvStatus spmv_alloc(SpmvExec *exec, SpmvSpace space, int64_t bytes, const char *name, void **block)
{
  const SpmvAllocator *hooks = space == SPMV_HOST ? &exec->host : &exec->device;

  *block = NULL;
  if (bytes < 0) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "array %s: %lld bytes", name, (long long)bytes);
  if (bytes == 0) return SPMV_SUCCESS;
  if (hooks->alloc) *block = hooks->alloc(hooks->ctx, (size_t)bytes);
  else *block = space == SPMV_HOST ? host_alloc(bytes) : device_alloc(bytes);
  if (*block) return SPMV_SUCCESS;
  return spmv_fail(exec, SPMV_ERR_MEMORY, "no %lld bytes of %s memory for array %s", (long long)bytes,
                   space == SPMV_HOST ? "host" : "device", name);
}

static int64_t aligned_for_device(int64_t bytes)
{
  return (bytes + DEVICE_ALIGNMENT - 1) / DEVICE_ALIGNMENT * DEVICE_ALIGNMENT;
}

SpmvStatus spmv_alloc_arrays(SpmvExec *exec, int count, const int64_t bytes[], const char *name, void **const array[],
                             void **block)
{
  int64_t all = 0;

  *block = NULL;
  for (int i = 0; i < count; i++) {
    *array[i] = NULL;
    if (bytes[i] < 0) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "array %s: %lld bytes", name, (long long)bytes[i]);
    all += aligned_for_device(bytes[i]);
  }
  const SpmvStatus status = spmv_alloc(exec, SPMV_DEVICE, all, name, block);
  if (status) return status;
  char *next = (char *)*block;
  for (int i = 0; i < count; i++) {
    if (bytes[i] > 0) *array[i] = next;
    next += aligned_for_device(bytes[i]);
  }
  return SPMV_SUCCESS;
}

void spmv_free(const SpmvAllocator *host, const SpmvAllocator *device, SpmvSpace space, void *block)
{
  const SpmvAllocator *hooks = space == SPMV_HOST ? host : device;

  if (!block) return;
  if (hooks->free) hooks->free(hooks->ctx, block);
  else if (space == SPMV_HOST) free(block);
  else spmv_device_free_default(block);
}

void spmv_exec_free(SpmvExec *exec, SpmvSpace space, void *block)
{
  spmv_free(&exec->host, &exec->device, space, block);
}
