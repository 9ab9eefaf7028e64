/*
  scratch.c - device memory for the time of a call. Work that comes again and again, as new values do, finds the blocks of
  the last time: for as long as somebody holds them they are kept, and shared by all who ask on the same stream.

  A block is handed out anew without a wait, since its stream does one thing after the other. Where memory runs out, what
  is kept goes first.
*/
#include "memory.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct Block {
  struct Block *next;
  void         *memory, *stream;
  int64_t       bytes;
  int           device, busy, used; /* used: since the last spmv_scratch_trim() */
} Block;

static struct {
  pthread_mutex_t lock;
  Block          *first;
  int             holders, grown; /* grown: a block was made since the last spmv_scratch_trim() */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Blocks of hooks belong to their caller, who may want each one back */
static int is_kept(const SpmvExec *exec, SpmvSpace space)
{
  return space == SPMV_DEVICE && !exec->device.alloc && !exec->device.free;
}

/* The smallest free block that suffices, so that the same calls get the same blocks again */
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

  if (!b) return; /* the block is freed after use */
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

/* Takes *link off the list and frees its block */
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

/* Frees blocks that nobody uses: all, or those that were not used of late. Whether there was one. */
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

/* Where a block was made, others may have become superfluous, but the next round tells first which it needs */
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
