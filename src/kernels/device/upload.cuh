/* upload.cuh - a CSR on the device, wherever it came from, and sizes back to the host. */
#ifndef SPMV_UPLOAD_CUH
#define SPMV_UPLOAD_CUH

#include "arena.cuh"
#include <climits>

/* An error where there is no device, or where a matrix has more rows (less `spare`) or columns than 32 bits count */
static inline SpmvStatus spmv_check_device(const SpmvPattern *p, const char *format, int64_t spare, SpmvExec *exec)
{
  char reason[SPMV_MESSAGE_MAX];

  if (spmv_device_count(reason) == 0) return spmv_fail(exec, SPMV_ERR_DEVICE, "%s", reason);
  if (p->rows >= INT_MAX - spare || p->cols >= INT_MAX)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW, "%s on the device has 32-bit rows and columns, not %lld x %lld", format,
                     (long long)p->rows, (long long)p->cols);
  return SPMV_SUCCESS;
}

/* An array in device memory: itself, or an upload into the arena */
static inline SpmvStatus spmv_on_device(const void *from, SpmvSpace space, int64_t bytes, const char *name,
                                        SpmvArena *arena, SpmvExec *exec, const void **array)
{
  void *block;

  *array = from;
  if (space == SPMV_DEVICE) return SPMV_SUCCESS;
  SPMV_TRY(spmv_arena_alloc(arena, bytes, name, &block, exec));
  *array = block;
  return spmv_copy(block, SPMV_DEVICE, from, SPMV_HOST, bytes, exec);
}

/* A few bytes to the host; waits for them */
SpmvStatus spmv_fetch(void *to, const void *from, int64_t bytes, SpmvExec *exec);

/* A pattern whose arrays lie in device memory */
static inline SpmvStatus spmv_pattern_on_device(const SpmvPattern *p, SpmvArena *arena, SpmvExec *exec, SpmvPattern *d)
{
  const int64_t index_bytes = spmv_index_bytes(p->index_type);

  *d       = *p;
  d->space = SPMV_DEVICE;
  SPMV_TRY(
      spmv_on_device(p->row_ptr, p->space, (p->rows + 1) * index_bytes, "uploaded row_ptr", arena, exec, &d->row_ptr));
  return spmv_on_device(p->col, p->space, p->nnz * index_bytes, "uploaded col", arena, exec, &d->col);
}

#endif
