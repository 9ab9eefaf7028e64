/* Copies maps of lists of coordinates to another space. Any stream may read a map, since the functions that make maps
   synchronize. */
#include "coo.h"

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
  return copy_arrays(4, arrays, from->object.space, exec);
}

SpmvStatus spmv_coo_copy(const SpmvCoo *from, SpmvExec *exec, SpmvCoo **out)
{
  SPMV_TRY(spmv_object_create(SPMV_SUCCESS, sizeof **out, "COO", exec, out));
  const SpmvObject own = (*out)->object;
  **out                = *from;
  (*out)->object       = own;
  SPMV_OBJECT_MADE(fill(from, *out, exec), spmv_coo_destroy, out);
}

static SpmvStatus fill_others(const SpmvCooOthers *from, SpmvCooOthers *others, SpmvExec *exec)
{
  const int64_t index = from->count * spmv_index_bytes(from->index_type);

  SPMV_TRY(spmv_coo_hold_others(others, from->count, exec));
  const Array arrays[] = {{others->i, from->i, index},
                          {others->j, from->j, index},
                          {others->place, from->place, from->count * spmv_coo_position_bytes(from->wide)}};
  return copy_arrays(3, arrays, from->object.space, exec);
}

SpmvStatus spmv_coo_others_copy(const SpmvCooOthers *from, SpmvExec *exec, SpmvCooOthers **out)
{
  SPMV_TRY(spmv_object_create(SPMV_SUCCESS, sizeof **out, "COO entries of other processes", exec, out));
  (*out)->index_type = from->index_type;
  (*out)->wide       = from->wide;
  SPMV_OBJECT_MADE(fill_others(from, *out, exec), spmv_coo_others_destroy, out);
}
