/* Copies maps of lists of coordinates to another space. Any stream may read a map, since the functions that make maps
   synchronize. */
#include "coo.h"
#include <string.h>

/* An array to copy to the space of the exec */
typedef struct {
  void       *to;
  const void *from;
  int64_t     bytes;
} Array;

static SpmvStatus copy_arrays(int count, const Array array[], SpmvSpace from_space, SpmvExec *exec)
{
  for (int a = 0; a < count; a++)
    if (array[a].bytes > 0)
      SPMV_TRY(spmv_copy(array[a].to, exec->space, array[a].from, from_space, array[a].bytes, exec));
  return from_space == SPMV_DEVICE || exec->space == SPMV_DEVICE ? spmv_stream_wait(exec) : SPMV_SUCCESS;
}

static SpmvStatus fill(const SpmvCoo *from, SpmvCoo *coo, SpmvExec *exec)
{
  const int64_t index = spmv_index_bytes(from->index_type), position = spmv_coo_position_bytes(from->wide);

  SPMV_TRY(spmv_coo_hold_map(coo, from->entries, 0, exec));
  SPMV_TRY(spmv_coo_hold_pattern(coo, from->nnz, exec));
  const Array arrays[] = {{coo->map, from->map, from->entries * position},
                          {coo->row_ptr, from->row_ptr, (from->rows + 1) * index},
                          {coo->col, from->col, from->nnz * index},
                          {coo->start, from->start, (from->nnz + 1) * position}};
  return copy_arrays(4, arrays, from->space, exec);
}

SpmvStatus spmv_coo_copy(const SpmvCoo *from, SpmvExec *exec, SpmvCoo **out)
{
  void *block;

  *out             = NULL;
  exec->message[0] = '\0';
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof **out, "COO", &block));
  SpmvCoo *coo            = block;
  *coo                    = (SpmvCoo){.space      = exec->space,
                                      .host       = exec->host,
                                      .device     = exec->device,
                                      .index_type = from->index_type,
                                      .wide       = from->wide,
                                      .rows       = from->rows,
                                      .cols       = from->cols,
                                      .count      = {from->count[0], from->count[1]}};
  const SpmvStatus status = fill(from, coo, exec);
  if (status) spmv_coo_destroy(&coo);
  *out = coo;
  return status;
}

static SpmvStatus fill_others(const SpmvCooOthers *from, SpmvCooOthers *others, SpmvExec *exec)
{
  const int64_t index = from->count * spmv_index_bytes(from->index_type);

  SPMV_TRY(spmv_coo_hold_others(others, from->count, exec));
  memcpy(others->i, from->i, (size_t)index);
  memcpy(others->j, from->j, (size_t)index);
  const Array places = {others->place, from->place, from->count * spmv_coo_position_bytes(from->wide)};
  return copy_arrays(1, &places, from->space, exec);
}

SpmvStatus spmv_coo_others_copy(const SpmvCooOthers *from, SpmvExec *exec, SpmvCooOthers **out)
{
  void *block;

  *out             = NULL;
  exec->message[0] = '\0';
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof **out, "COO entries of other processes", &block));
  SpmvCooOthers *others   = block;
  *others                 = (SpmvCooOthers){.space      = exec->space,
                                            .host       = exec->host,
                                            .device     = exec->device,
                                            .index_type = from->index_type,
                                            .wide       = from->wide};
  const SpmvStatus status = fill_others(from, others, exec);
  if (status) spmv_coo_others_destroy(&others);
  *out = others;
  return status;
}
