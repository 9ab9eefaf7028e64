/* hooks.c - allocation hooks that count and fail; see hooks.h. */
#include "hooks.h"
#include <stdlib.h>
#include <string.h>

void hooks_init(Hooks *hooks)
{
  memset(hooks, 0, sizeof *hooks);
  hooks->host.space   = SPMV_HOST;
  hooks->device.space = SPMV_DEVICE;
}

HooksCounter *hooks_counter(Hooks *hooks, SpmvSpace space)
{
  return space == SPMV_HOST ? &hooks->host : &hooks->device;
}

/* Device memory comes from the default allocator of the library, by an exec without hooks */
static void *raw_alloc(SpmvSpace space, size_t bytes)
{
  SpmvExec plain;
  void    *block;

  if (space == SPMV_HOST) {
    block = malloc(bytes);
    if (block) memset(block, 0xFF, bytes);
    return block;
  }
  spmv_exec_init(&plain, SPMV_DEVICE);
  return spmv_alloc(&plain, SPMV_DEVICE, (int64_t)bytes, "test block", &block) ? NULL : block;
}

static void raw_free(SpmvSpace space, void *block)
{
  SpmvExec plain;

  if (space == SPMV_HOST) {
    free(block);
    return;
  }
  spmv_exec_init(&plain, SPMV_DEVICE);
  spmv_exec_free(&plain, SPMV_DEVICE, block);
}

static void *hooks_alloc(void *ctx, size_t bytes)
{
  HooksCounter *c = ctx;
  void         *block;

  if (++c->calls == c->fail_at || c->live_blocks == HOOKS_BLOCKS_MAX) return NULL;
  block = raw_alloc(c->space, bytes);
  if (!block) return NULL;
  c->block[c->live_blocks].block   = block;
  c->block[c->live_blocks++].bytes = bytes;
  c->live_bytes += (int64_t)bytes;
  if (c->live_bytes > c->peak_bytes) c->peak_bytes = c->live_bytes;
  return block;
}

static void hooks_free(void *ctx, void *block)
{
  HooksCounter *c = ctx;

  if (!block) return;
  for (int i = 0; i < c->live_blocks; i++)
    if (c->block[i].block == block) {
      c->live_bytes -= (int64_t)c->block[i].bytes;
      c->block[i] = c->block[--c->live_blocks];
      raw_free(c->space, block);
      return;
    }
  c->foreign_frees++;
}

void hooks_exec(Hooks *hooks, SpmvSpace space, void *stream, SpmvExec *exec)
{
  spmv_exec_init(exec, space);
  exec->stream = stream;
  exec->host   = (SpmvAllocator){hooks_alloc, hooks_free, &hooks->host};
  exec->device = (SpmvAllocator){hooks_alloc, hooks_free, &hooks->device};
}

int hooks_clean(const Hooks *hooks)
{
  return hooks->host.live_blocks == 0 && hooks->device.live_blocks == 0 && hooks->host.foreign_frees == 0 &&
         hooks->device.foreign_frees == 0;
}

void hooks_drop(Hooks *hooks)
{
  for (SpmvSpace space = SPMV_HOST; space <= SPMV_DEVICE; space++) {
    HooksCounter *c = hooks_counter(hooks, space);
    while (c->live_blocks > 0) raw_free(space, c->block[--c->live_blocks].block);
    c->live_bytes = 0;
  }
}
