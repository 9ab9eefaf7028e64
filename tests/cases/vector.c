/* vector.c - vectors between guards; see vector.h. */
#include "vector.h"
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
  #define SPMV_TEST_ASAN 1
#elif defined(__has_feature)
  #if __has_feature(address_sanitizer)
    #define SPMV_TEST_ASAN 1
  #endif
#endif
#if defined(SPMV_TEST_ASAN)
  #include <sanitizer/asan_interface.h>
#else
  #define ASAN_POISON_MEMORY_REGION(address, bytes)   ((void)(address), (void)(bytes))
  #define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

enum { GUARD_BYTES = 256, SHIFT_MAX = 64, GUARD_BYTE = 0xFF /* four or eight of these bytes are a NaN */ };

static int64_t block_bytes(const GuardedVector *v) { return v->before + v->bytes + v->after; }

/* Forbids or allows access to the guards of a host vector; a no-op for a device vector */
static void lock_guards(const GuardedVector *v, int lock)
{
  if (v->space != SPMV_HOST) return;
  ASAN_UNPOISON_MEMORY_REGION(v->block, (size_t)block_bytes(v));
  if (!lock) return;
  ASAN_POISON_MEMORY_REGION(v->block, (size_t)v->before);
  ASAN_POISON_MEMORY_REGION((char *)v->data + v->bytes, (size_t)v->after);
}

SpmvStatus poison_bytes(void *to, SpmvSpace space, int64_t bytes, SpmvExec *exec)
{
  void      *source = malloc((size_t)bytes + 1);
  SpmvStatus status;

  if (!source) return SPMV_ERR_MEMORY;
  memset(source, GUARD_BYTE, (size_t)bytes);
  status = spmv_copy(to, space, source, SPMV_HOST, bytes, exec);
  if (!status) status = spmv_stream_wait(exec);
  free(source);
  return status;
}

SpmvStatus guarded_init(GuardedVector *v, SpmvSpace space, int64_t bytes, int64_t shift, int tight, SpmvExec *exec)
{
  SpmvExec   plain;
  SpmvStatus status;
  void      *block;

  memset(v, 0, sizeof *v);
  v->space  = space;
  v->bytes  = bytes;
  v->before = shift + (tight ? 0 : GUARD_BYTES);
  v->after  = tight ? 0 : GUARD_BYTES;
  spmv_exec_init(&plain, space);
  status = spmv_alloc(&plain, space, block_bytes(v) > 0 ? block_bytes(v) : 1, "test vector", &block);
  if (status) return status;
  v->block = block;
  v->data  = v->block + v->before;
  status   = poison_bytes(v->block, space, block_bytes(v), exec);
  lock_guards(v, 1);
  return status;
}

void guarded_free(GuardedVector *v)
{
  SpmvExec plain;

  if (v->block) {
    lock_guards(v, 0);
    spmv_exec_init(&plain, v->space);
    spmv_exec_free(&plain, v->space, v->block);
  }
  memset(v, 0, sizeof *v);
}

SpmvStatus guarded_put(GuardedVector *v, const void *host_entries, SpmvExec *exec)
{
  SpmvStatus status = spmv_copy(v->data, v->space, host_entries, SPMV_HOST, v->bytes, exec);
  return status ? status : spmv_stream_wait(exec);
}

SpmvStatus guarded_get(const GuardedVector *v, void *host_entries, SpmvExec *exec)
{
  SpmvStatus status = spmv_copy(host_entries, SPMV_HOST, v->data, v->space, v->bytes, exec);
  return status ? status : spmv_stream_wait(exec);
}

static int guard_intact(const GuardedVector *v, int64_t from, int64_t bytes, SpmvExec *exec)
{
  unsigned char copy[GUARD_BYTES + SHIFT_MAX];

  if (spmv_copy(copy, SPMV_HOST, v->block + from, v->space, bytes, exec) || spmv_stream_wait(exec)) return 0;
  for (int64_t i = 0; i < bytes; i++)
    if (copy[i] != GUARD_BYTE) return 0;
  return 1;
}

int guarded_intact(const GuardedVector *v, SpmvExec *exec)
{
  int intact;

  lock_guards(v, 0);
  intact = guard_intact(v, 0, v->before, exec) && guard_intact(v, v->before + v->bytes, v->after, exec);
  lock_guards(v, 1);
  return intact;
}
