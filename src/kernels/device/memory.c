/* memory.c - allocation by the hooks of an exec, or by default; the default device allocator is in pool.cu or
   no_device.c. */
#include "memory.h"
#include <stdlib.h>
#include <string.h>
#ifdef SPMV_EMULATED
  #include <spmv_emulator.h>
#endif

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

static SpmvStatus alloc_for(SpmvUse use, SpmvExec *exec, SpmvSpace space, int64_t bytes, const char *name, void **block)
{
  const SpmvAllocator *hooks = space == SPMV_HOST ? &exec->host : &exec->device;

  *block = NULL;
  if (bytes < 0) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "array %s: %lld bytes", name, (long long)bytes);
  if (bytes == 0) return SPMV_SUCCESS;
  if (hooks->alloc) *block = hooks->alloc(hooks->ctx, (size_t)bytes);
  else *block = space == SPMV_HOST ? host_alloc(bytes) : spmv_device_alloc_for(use, bytes, exec->stream);
  if (*block) return SPMV_SUCCESS;
  return spmv_fail(exec, SPMV_ERR_MEMORY, "no %lld bytes of %s memory for array %s", (long long)bytes,
                   space == SPMV_HOST ? "host" : "device", name);
}

SpmvStatus spmv_alloc(SpmvExec *exec, SpmvSpace space, int64_t bytes, const char *name, void **block)
{
  return alloc_for(SPMV_FOR_ALL_STREAMS, exec, space, bytes, name, block);
}

SpmvStatus spmv_stream_alloc(SpmvExec *exec, int64_t bytes, const char *name, void **block)
{
  return alloc_for(SPMV_FOR_ONE_STREAM, exec, SPMV_DEVICE, bytes, name, block);
}

SpmvStatus spmv_scratch_alloc(SpmvExec *exec, SpmvSpace space, int64_t bytes, const char *name, void **block)
{
  return alloc_for(SPMV_FOR_SCRATCH, exec, space, bytes, name, block);
}

static int64_t aligned_for_device(int64_t bytes)
{
  return (bytes + DEVICE_ALIGNMENT - 1) / DEVICE_ALIGNMENT * DEVICE_ALIGNMENT;
}

int64_t spmv_room_bytes(int64_t bytes)
{
#ifdef SPMV_EMULATED
  const int64_t room = spmv_emulator_room(bytes);
  if (room > 0) bytes = room;
#endif
  return aligned_for_device(bytes);
}

void *spmv_place_array(void *room, int64_t bytes)
{
#ifdef SPMV_EMULATED
  if (spmv_emulator_room(bytes) > 0) return spmv_emulator_place(room, bytes);
#endif
  (void)bytes;
  return room;
}

int64_t spmv_arrays_bytes(int count, const int64_t bytes[])
{
  int64_t all = 0;

  for (int i = 0; i < count; i++) all += aligned_for_device(bytes[i]);
  return all;
}

SpmvStatus spmv_alloc_arrays(SpmvExec *exec, SpmvSpace space, int count, const int64_t bytes[], const char *name,
                             void **const array[], void **block)
{
  const int on_device = space == SPMV_DEVICE;
  int64_t   all       = 0;

  *block = NULL;
  for (int i = 0; i < count; i++) {
    *array[i] = NULL;
    if (bytes[i] < 0) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "array %s: %lld bytes", name, (long long)bytes[i]);
    if (bytes[i] > 0) all += on_device ? spmv_room_bytes(bytes[i]) : aligned_for_device(bytes[i]);
  }
  SPMV_TRY(spmv_alloc(exec, space, all, name, block));
  char *next = (char *)*block;
  for (int i = 0; i < count; i++) {
    if (bytes[i] == 0) continue;
    *array[i] = on_device ? spmv_place_array(next, bytes[i]) : next;
    next += on_device ? spmv_room_bytes(bytes[i]) : aligned_for_device(bytes[i]);
  }
  return SPMV_SUCCESS;
}

void spmv_free(const SpmvAllocator *host, const SpmvAllocator *device, SpmvSpace space, void *block)
{
  const SpmvAllocator *hooks = space == SPMV_HOST ? host : device;

  if (!block) return;
  if (hooks->free) hooks->free(hooks->ctx, block);
  else if (space == SPMV_HOST) free(block);
  else spmv_device_free_default(1, &block);
}

void spmv_exec_free(SpmvExec *exec, SpmvSpace space, void *block)
{
  spmv_free(&exec->host, &exec->device, space, block);
}

static void *take_scratch(void *exec, size_t bytes)
{
  void *block;

  return spmv_scratch_alloc(exec, SPMV_DEVICE, (int64_t)bytes, "scratch", &block) ? NULL : block;
}
static void give_scratch(void *exec, void *block) { spmv_scratch_free(exec, SPMV_DEVICE, block); }

SpmvExec spmv_scratch_exec(SpmvExec *exec)
{
  SpmvExec inner = *exec;

  inner.message[0] = '\0';
  if (!exec->device.alloc) inner.device = (SpmvAllocator){take_scratch, give_scratch, exec};
  return inner;
}

void spmv_stream_free(SpmvExec *exec, void *block)
{
  if (block && !exec->device.free) spmv_device_free_on(block, exec->stream);
  else spmv_exec_free(exec, SPMV_DEVICE, block);
}

void spmv_scratch_free(SpmvExec *exec, SpmvSpace space, void *block)
{
  if (space == SPMV_DEVICE) spmv_stream_free(exec, block);
  else spmv_exec_free(exec, space, block);
}
