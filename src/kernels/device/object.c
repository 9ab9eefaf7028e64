/* object.c - the life of an object that owns memory; see object.h. */
#include "object.h"
#include "memory.h"
#include <string.h>

SpmvStatus spmv_object_create(SpmvStatus checked, int64_t bytes, const char *name, SpmvExec *exec, void *out)
{
  void *memory = NULL;

  memcpy(out, &memory, sizeof memory); /* not *(void **)out, which would alias a pointer of another type */
  if (checked) return checked;
  exec->message[0] = '\0';
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, bytes, name, &memory));
  memset(memory, 0, (size_t)bytes);
  SpmvObject *o = memory;
  o->space      = exec->space;
  o->host       = exec->host;
  o->device     = exec->device;
  memcpy(out, &memory, sizeof memory);
  return SPMV_SUCCESS;
}

/* exec: NULL if the device must be waited for */
static void destroy(void *out, SpmvExec *exec)
{
  SpmvObject *o = NULL;
  void       *later[SPMV_OBJECT_BLOCKS];
  int         blocks = 0;

  if (out) memcpy(&o, out, sizeof o);
  if (!o) return;
  const SpmvAllocator host = o->host, device = o->device;

  for (int i = 0; i < o->blocks; i++) {
    void *block = o->block[i].begin;

    if (o->block[i].space == SPMV_HOST || device.free || !block) spmv_free(&host, &device, o->block[i].space, block);
    else if (exec) spmv_device_free_on(block, exec->stream);
    else later[blocks++] = block;
  }
  spmv_device_free_default(blocks, later);
  spmv_free(&host, &device, SPMV_HOST, o);
  memset(out, 0, sizeof o);
}

void spmv_object_destroy(void *out) { destroy(out, NULL); }

void spmv_object_destroy_on(void *out, SpmvExec *exec) { destroy(out, exec); }

SpmvStatus spmv_object_hold(SpmvObject *o, SpmvSpace space, int count, const int64_t bytes[], const char *name,
                            void **const array[], SpmvExec *exec)
{
  void *block;

  if (o->blocks == SPMV_OBJECT_BLOCKS) return spmv_fail(exec, SPMV_ERR_MEMORY, "%s: no block is left", name);
  SPMV_TRY(spmv_alloc_arrays(exec, space, count, bytes, name, array, &block));
  const int64_t all = spmv_arrays_bytes(count, bytes);
  const int     i   = o->blocks++;

  o->block[i].space = space;
  o->block[i].begin = block;
  o->block[i].first = *array[0];
  o->block[i].bytes = all;
  if (space == o->space) o->bytes += all;
  return SPMV_SUCCESS;
}

SpmvStatus spmv_object_hold_zeros(SpmvObject *o, int64_t bytes, const char *name, void *out, SpmvExec *exec)
{
  void        *array;
  void **const list[] = {&array};

  SPMV_TRY(spmv_object_hold(o, SPMV_HOST, 1, &bytes, name, list, exec));
  memset(array, 0, (size_t)bytes);
  memcpy(out, &array, sizeof array);
  return SPMV_SUCCESS;
}

void spmv_object_drop(SpmvObject *o, const void *first, SpmvExec *exec)
{
  int i = 0;

  if (!first) return;
  while (o->block[i].first != first) i++;
  spmv_scratch_free(exec, o->block[i].space, o->block[i].begin);
  if (o->block[i].space == o->space) o->bytes -= o->block[i].bytes;
  o->block[i] = o->block[--o->blocks];
}

SpmvStatus spmv_check_space(const char *who, SpmvExec *exec)
{
  char reason[SPMV_MESSAGE_MAX];

  if (exec->space == SPMV_HOST || spmv_device_count(reason) > 0) return SPMV_SUCCESS;
  return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%s on the device: %s", who, reason);
}

SpmvStatus spmv_check_device(const char *who, SpmvExec *exec)
{
  if (exec->space != SPMV_DEVICE) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: exec is not on the device", who);
  return spmv_check_space(who, exec);
}
