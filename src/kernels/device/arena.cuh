/*
  arena.cuh - many short-lived device arrays from few allocations: cudaMalloc and cudaFree cost more than the kernels of
  a conversion. Arrays are handed out one after the other and freed all together.
*/
#pragma once

#include "launch.cuh"
#include "memory.h"

enum { SPMV_ARENA_CHUNKS = 24, SPMV_ARENA_ALIGN = 256 };

/* An all-zero arena is empty. chunk_bytes is the size of the next chunk; callers that know how many bytes they still
   need may set it at any time. */
typedef struct {
  void   *chunk[SPMV_ARENA_CHUNKS];
  int     chunks;
  char   *next;
  int64_t left, chunk_bytes;
} SpmvArena;

/* Device memory that lives until the arena is freed. Each new chunk is at least twice as large as the last one. */
static inline SpmvStatus spmv_arena_alloc(SpmvArena *arena, int64_t bytes, const char *name, void **block,
                                          SpmvExec *exec)
{
  const int64_t room = spmv_room_bytes(bytes + 1); /* empty arrays get a block, too */

  *block = nullptr;
  if (room > arena->left) {
    const int64_t chunk_bytes = room > arena->chunk_bytes ? room : arena->chunk_bytes;

    if (arena->chunks == SPMV_ARENA_CHUNKS)
      return spmv_fail(exec, SPMV_ERR_MEMORY, "scratch for %s: all %d chunks are used", name, SPMV_ARENA_CHUNKS);
    SPMV_TRY(spmv_stream_alloc(exec, chunk_bytes, name, &arena->chunk[arena->chunks]));
    arena->next        = (char *)arena->chunk[arena->chunks++];
    arena->left        = chunk_bytes;
    arena->chunk_bytes = 2 * chunk_bytes;
  }
  *block = spmv_place_array(arena->next, bytes);
  arena->next += room;
  arena->left -= room;
  return SPMV_SUCCESS;
}

template <typename T>
static inline SpmvStatus spmv_arena_array(SpmvArena *arena, int64_t count, const char *name, T **array, SpmvExec *exec)
{
  return spmv_arena_alloc(arena, count * (int64_t)sizeof(T), name, (void **)array, exec);
}

static inline void spmv_arena_free(SpmvArena *arena, SpmvExec *exec)
{
  for (int i = 0; i < arena->chunks; i++) spmv_stream_free(exec, arena->chunk[i]);
  *arena = {};
}

/* An arena that is freed at the end of its scope, on error paths, too */
class SpmvScopedArena
{
  SpmvExec *exec;

public:
  SpmvArena arena = {};
  explicit SpmvScopedArena(SpmvExec *e) : exec(e) {}
  SpmvScopedArena(const SpmvScopedArena &)            = delete;
  SpmvScopedArena &operator=(const SpmvScopedArena &) = delete;
  ~SpmvScopedArena() { spmv_arena_free(&arena, exec); }

  template <typename T>
  SpmvStatus array(int64_t count, const char *name, T **block)
  {
    return spmv_arena_array(&arena, count, name, block, exec);
  }
};

/* Scratch memory that is given back at the end of its scope; the pool may keep it for the next caller */
class SpmvScopedScratch
{
  SpmvExec *exec;

public:
  void *block = nullptr;
  explicit SpmvScopedScratch(SpmvExec *e) : exec(e) {}
  SpmvScopedScratch(const SpmvScopedScratch &)            = delete;
  SpmvScopedScratch &operator=(const SpmvScopedScratch &) = delete;
  ~SpmvScopedScratch() { spmv_scratch_free(exec, SPMV_DEVICE, block); }

  SpmvStatus take(int64_t bytes, const char *name)
  {
    return spmv_scratch_alloc(exec, SPMV_DEVICE, bytes, name, &block);
  }
};

/* Calls a CUB algorithm twice: for the size of its scratch memory, then for its result. call is an expression in
   (scratch, bytes). */
#define SPMV_CUB(exec, arena, call)                                                                                    \
  do {                                                                                                                 \
    size_t bytes   = 0;                                                                                                \
    void  *scratch = nullptr;                                                                                          \
    SPMV_CUDA(exec, call);                                                                                             \
    SPMV_TRY(spmv_arena_alloc((arena), (int64_t)bytes, "CUB scratch", &scratch, (exec)));                              \
    SPMV_CUDA(exec, call);                                                                                             \
  } while (0)
