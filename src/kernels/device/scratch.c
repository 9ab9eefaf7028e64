/*
  scratch.c - device memory for the duration of a call. Repeated work, such as setting new values, reuses the blocks of
  the last time: as long as spmv_scratch_hold() has holders, blocks are kept and shared by all callers on the same
  stream.

  A kept block is handed out again without waiting, because work on one stream is ordered. When memory runs out, kept
  blocks are freed first.
*/
#include "memory.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct Block {
  struct Block *next;
  void         *memory, *stream;
  int64_t       bytes;
  int           device, busy, used; /* busy: in use; used: in use at any time since the last spmv_scratch_trim() */
} Block;

static struct {
  pthread_mutex_t lock;
  Block          *first;
  int             holders, grown; /* grown: a block was made since the last spmv_scratch_trim() */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Blocks from a caller's allocator hooks are never kept: the caller may count on their being freed */
static int is_kept(const SpmvExec *exec, SpmvSpace space)
{
  return space == SPMV_DEVICE && !exec->device.alloc && !exec->device.free;
}

/* The smallest free block that is large enough, so that repeated calls get the same blocks again */
static void *find(int64_t bytes, const void *stream, int device)
{
  Block *best = NULL;

  for (Block *b = kept.first; b; b = b->next)
    if (!b->busy && b->bytes >= bytes && b->stream == stream && b->device == device &&
        (!best || b->bytes < best->bytes))
      best = b;
  if (!best) return NULL;
  best->busy = best->used = 1;
  return best->memory;
}

static void add(void *memory, int64_t bytes, void *stream, int device)
{
  Block *b = malloc(sizeof *b);

  if (!b) return; /* no entry: spmv_scratch_free() then frees the memory */
  *b         = (Block){kept.first, memory, stream, bytes, device, 1, 1};
  kept.first = b;
  kept.grown = 1;
}

SpmvStatus spmv_scratch_alloc(SpmvExec *exec, SpmvSpace space, int64_t bytes, const char *name, void **block)
{
  if (!is_kept(exec, space) || bytes <= 0) return spmv_alloc(exec, space, bytes, name, block);
  const int device = spmv_device_number();
  pthread_mutex_lock(&kept.lock);
  *block = find(bytes, exec->stream, device);
  pthread_mutex_unlock(&kept.lock);
  if (*block) return SPMV_SUCCESS;
  const SpmvStatus status = spmv_alloc(exec, space, bytes, name, block);
  if (status) return status;
  pthread_mutex_lock(&kept.lock);
  if (kept.holders > 0) add(*block, bytes, exec->stream, device);
  pthread_mutex_unlock(&kept.lock);
  return SPMV_SUCCESS;
}

/* Removes *link from the list and frees its memory */
static void destroy(Block **link)
{
  Block *b = *link;

  *link = b->next;
  spmv_device_free_default(b->memory);
  free(b);
}

void spmv_scratch_free(SpmvExec *exec, SpmvSpace space, void *block)
{
  Block **link = &kept.first;

  if (!block) return;
  pthread_mutex_lock(&kept.lock);
  if (is_kept(exec, space))
    while (*link && (*link)->memory != block) link = &(*link)->next;
  else link = NULL;
  Block *found = link ? *link : NULL;
  if (found) found->busy = 0;
  if (found && kept.holders == 0) destroy(link);
  pthread_mutex_unlock(&kept.lock);
  if (!found) spmv_exec_free(exec, space, block);
}

/* Frees blocks that are not busy: all, or those unused since the last trim. Returns whether it freed one. */
static int drop(int all)
{
  int dropped = 0;

  for (Block **link = &kept.first; *link;) {
    if ((*link)->busy || (!all && (*link)->used)) {
      link = &(*link)->next;
      continue;
    }
    destroy(link);
    dropped = 1;
  }
  return dropped;
}

int spmv_scratch_drop(void)
{
  pthread_mutex_lock(&kept.lock);
  const int dropped = drop(1);
  pthread_mutex_unlock(&kept.lock);
  return dropped;
}

void spmv_scratch_hold(void)
{
  pthread_mutex_lock(&kept.lock);
  kept.holders++;
  pthread_mutex_unlock(&kept.lock);
}

void spmv_scratch_release(void)
{
  pthread_mutex_lock(&kept.lock);
  if (--kept.holders == 0) (void)drop(1);
  pthread_mutex_unlock(&kept.lock);
}

/* After a round that made a new block nothing is freed: the next round shows which of the old blocks are still
   needed */
void spmv_scratch_trim(void)
{
  pthread_mutex_lock(&kept.lock);
  if (!kept.grown) (void)drop(0);
  kept.grown = 0;
  for (Block *b = kept.first; b; b = b->next) b->used = b->busy;
  pthread_mutex_unlock(&kept.lock);
}

int64_t spmv_scratch_bytes(void)
{
  int64_t bytes = 0;

  pthread_mutex_lock(&kept.lock);
  for (const Block *b = kept.first; b; b = b->next) bytes += b->bytes;
  pthread_mutex_unlock(&kept.lock);
  return bytes;
}
