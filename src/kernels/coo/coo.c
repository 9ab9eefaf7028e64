/* Lists of coordinates: checks of arguments, copies of lists to the device, memory. */
#include "coo.h"
#include "device/memory.h"

int64_t spmv_coo_wide_from = (int64_t)1 << 32;

/* NULL without CUDA: then there is no map, since maps are made on the device */
static const SpmvCooSlots *const slots = SPMV_DEVICE_SLOTS(spmv_coo_device_slots);

/* ---- memory ---- */

SpmvStatus spmv_coo_hold_map(SpmvCoo *coo, int64_t entries, int with_spare, SpmvExec *exec)
{
  const int64_t bytes   = entries * spmv_coo_position_bytes(coo->wide) + 1; /* never NULL */
  void **const  array[] = {&coo->map, &coo->spare};

  SPMV_TRY(spmv_object_hold(&coo->object, exec->space, 1, &bytes, "places of the entries of a COO list", array, exec));
  coo->entries = entries;
  if (!with_spare) return SPMV_SUCCESS;
  return spmv_object_hold(&coo->object, exec->space, 1, &bytes, "positions of a COO list", array + 1, exec);
}

SpmvStatus spmv_coo_hold_pattern(SpmvCoo *coo, int64_t nnz, SpmvExec *exec)
{
  const int64_t I       = spmv_index_bytes(coo->index_type);
  const int64_t bytes[] = {(coo->rows + 1) * I, nnz * I + 1, (nnz + 1) * spmv_coo_position_bytes(coo->wide)};
  void **const  array[] = {&coo->row_ptr, &coo->col, &coo->start};

  if (coo->index_type == SPMV_I32 && nnz > INT32_MAX)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW,
                     "a COO list makes %lld nonzeros, and indices of 32 bits count to %d: use indices of 64 bits",
                     (long long)nnz, INT32_MAX);
  coo->nnz = nnz;
  return spmv_object_hold(&coo->object, exec->space, 3, bytes, "pattern of a COO list", array, exec);
}

SpmvStatus spmv_coo_hold_others(SpmvCooOthers *others, int64_t count, SpmvExec *exec)
{
  const int64_t index   = count * spmv_index_bytes(others->index_type) + 1;
  const int64_t bytes[] = {index, index, count * spmv_coo_position_bytes(others->wide) + 1};
  void **const  array[] = {&others->i, &others->j, &others->place};

  others->count = count;
  return spmv_object_hold(&others->object, exec->space, 3, bytes, "entries for other processes", array, exec);
}

/* ---- arguments ---- */

/* Whether first .. first+count-1 lies in 0 .. all-1 */
static int lies_in(int64_t first, int64_t count, int64_t all)
{
  return first >= 0 && count >= 0 && first <= all && count <= all - first;
}

static SpmvStatus check_list(const SpmvCooList *l, SpmvExec *exec)
{
  for (int p = 0; p < 2; p++) {
    if (l->part[p].count < 0)
      return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a COO list: its part %d has %lld entries", p,
                       (long long)l->part[p].count);
    if (l->part[p].count > 0 && (!l->part[p].i || !l->part[p].j))
      return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a COO list: an array of its part %d is missing", p);
  }
  if (l->part[0].count > INT64_MAX / 64 || l->part[1].count > INT64_MAX / 64)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW, "a COO list: its entries have more bytes than 64 bits count");
  if (!lies_in(l->first_row, l->rows, l->all_rows))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a COO list: %lld rows from %lld on, of a matrix with %lld",
                     (long long)l->rows, (long long)l->first_row, (long long)l->all_rows);
  if (!lies_in(l->first_col, l->own_cols, l->all_cols))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a COO list: %lld columns from %lld on, of a matrix with %lld",
                     (long long)l->own_cols, (long long)l->first_col, (long long)l->all_cols);
  if (l->index_type == SPMV_I32 && (l->all_rows > INT32_MAX || l->all_cols > INT32_MAX))
    return spmv_fail(exec, SPMV_ERR_OVERFLOW,
                     "a COO list: a matrix of %lld x %lld with indices of 32 bits: use indices of 64 bits",
                     (long long)l->all_rows, (long long)l->all_cols);
  if (l->rows > INT64_MAX / 64)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW, "a COO list: no memory has pointers of %lld rows", (long long)l->rows);
  return spmv_check_device("a COO list", exec);
}

SpmvStatus spmv_coo_wrong(const SpmvCooList *l, int64_t position, int64_t i, int64_t j, SpmvExec *exec)
{
  const int     is_row = i >= l->all_rows, is_received = position >= l->part[0].count;
  const int64_t number = position - (is_received ? l->part[0].count : 0);

  return spmv_fail(exec, SPMV_ERR_MATRIX, "a COO list: %sentry %lld has %s %lld, and the matrix has %lld %s",
                   is_received ? "received " : "", (long long)number, is_row ? "row" : "column",
                   (long long)(is_row ? i : j), (long long)(is_row ? l->all_rows : l->all_cols),
                   is_row ? "rows" : "columns");
}

/* ---- a list on the device ---- */

/* *there becomes the list with its arrays on the device. If they must be copied, *block holds the copy, else it is
   NULL. */
static SpmvStatus bring(const SpmvCooList *list, SpmvCooList *there, void **block, SpmvExec *exec)
{
  const int64_t I = spmv_index_bytes(list->index_type), n[] = {list->part[0].count * I, list->part[1].count * I};
  const int64_t bytes[] = {n[0], n[0], n[1], n[1]};
  void         *to[4];
  void **const  array[] = {&to[0], &to[1], &to[2], &to[3]};

  *there = *list;
  *block = NULL;
  if (list->space == SPMV_DEVICE) return SPMV_SUCCESS;
  there->space = SPMV_DEVICE;
  SPMV_TRY(spmv_alloc_arrays(exec, SPMV_DEVICE, 4, bytes, "copy of a COO list", array, block));
  for (int p = 0; p < 2; p++) {
    there->part[p].i = to[2 * p];
    there->part[p].j = to[2 * p + 1];
    SPMV_TRY(spmv_copy(to[2 * p], SPMV_DEVICE, list->part[p].i, SPMV_HOST, n[p], exec));
    SPMV_TRY(spmv_copy(to[2 * p + 1], SPMV_DEVICE, list->part[p].j, SPMV_HOST, n[p], exec));
  }
  return SPMV_SUCCESS;
}

/* ---- patterns and values ---- */

static SpmvStatus fill(const SpmvCooList *list, SpmvCoo *coo, SpmvExec *exec)
{
  SpmvCooList there;
  void       *copy;
  SpmvStatus  status = bring(list, &there, &copy, exec);

  if (!status) status = slots->create(&there, coo, exec);
  /* the copy is freed here, and another stream may read the pattern */
  if (!status) status = spmv_stream_wait(exec);
  spmv_stream_free(exec, copy);
  return status;
}

SpmvStatus spmv_coo_create(const SpmvCooList *list, SpmvExec *exec, SpmvCoo **out)
{
  SPMV_TRY(spmv_object_create(check_list(list, exec), sizeof **out, "COO", exec, out));
  SpmvCoo *coo    = *out;
  coo->index_type = list->index_type;
  coo->rows       = list->rows;
  coo->cols       = list->outside ? list->all_cols : list->own_cols;
  for (int p = 0; p < 2; p++) coo->count[p] = list->part[p].count;
  coo->wide = coo->count[0] + coo->count[1] >= spmv_coo_wide_from;
  SPMV_OBJECT_MADE(fill(list, coo, exec), spmv_coo_destroy, out);
}

void spmv_coo_pattern(const SpmvCoo *coo, SpmvPattern *pattern)
{
  *pattern = (SpmvPattern){.rows       = coo->rows,
                           .cols       = coo->cols,
                           .nnz        = coo->nnz,
                           .index_type = coo->index_type,
                           .space      = coo->object.space,
                           .row_ptr    = coo->row_ptr,
                           .col        = coo->col};
}

SpmvStatus spmv_coo_values(const SpmvCoo *coo, SpmvScalar scalar, const void *v[2], int add, void *csr_values,
                           SpmvExec *exec)
{
  exec->message[0] = '\0';
  if (exec->space != coo->object.space)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "values of a COO list: its pattern lies in another space");
  if (coo->nnz == 0) return SPMV_SUCCESS;
  if (!csr_values || (coo->count[0] > 0 && !v[0]) || (coo->count[1] > 0 && !v[1]))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "values of a COO list: an array is missing");
  if (exec->space == SPMV_DEVICE) return slots->values(coo, scalar, v, add, csr_values, exec);
  spmv_coo_host_values(coo, scalar, v, add, csr_values);
  return SPMV_SUCCESS;
}

void spmv_coo_info(const SpmvCoo *coo, int64_t *entries, int64_t *bytes)
{
  *entries = coo->entries;
  *bytes   = coo->object.bytes;
}

void spmv_coo_destroy(SpmvCoo **coo) { spmv_object_destroy(coo); }

/* ---- off-process entries ---- */

static SpmvStatus fill_others(const SpmvCooList *list, SpmvCooOthers *others, SpmvExec *exec)
{
  SpmvCooList first = *list, there;
  void       *copy;

  first.part[1].count = 0; /* received entries are in rows of this process */
  SpmvStatus status   = bring(&first, &there, &copy, exec);
  if (!status) status = slots->others(&there, others, exec);
  spmv_stream_free(exec, copy);
  return status;
}

SpmvStatus spmv_coo_others(const SpmvCooList *list, SpmvExec *exec, SpmvCooOthers **out)
{
  SPMV_TRY(spmv_object_create(check_list(list, exec), sizeof **out, "COO entries of other processes", exec, out));
  (*out)->index_type = list->index_type;
  (*out)->wide       = list->part[0].count >= spmv_coo_wide_from;
  SPMV_OBJECT_MADE(fill_others(list, *out, exec), spmv_coo_others_destroy, out);
}

void spmv_coo_others_part(const SpmvCooOthers *others, SpmvCooPart *part)
{
  *part = (SpmvCooPart){others->count, others->i, others->j};
}

SpmvStatus spmv_coo_gather(const SpmvCooOthers *others, SpmvScalar scalar, const void *v, void *out, SpmvExec *exec)
{
  exec->message[0] = '\0';
  if (exec->space != others->object.space)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "values for other processes: their places lie in another space");
  if (others->count == 0) return SPMV_SUCCESS;
  if (!v || !out) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "values for other processes: an array is missing");
  if (exec->space == SPMV_DEVICE) return slots->gather(others, scalar, v, out, exec);
  spmv_coo_host_gather(others, scalar, v, out);
  return SPMV_SUCCESS;
}

void spmv_coo_others_destroy(SpmvCooOthers **others) { spmv_object_destroy(others); }

/* ---- coordinates of a pattern ---- */

SpmvStatus spmv_coo_coordinates(const SpmvPattern *p, SpmvCooNumbers rows, SpmvCooNumbers cols, void *i, void *j,
                                SpmvExec *exec)
{
  exec->message[0] = '\0';
  SPMV_TRY(spmv_check_device("coordinates of a pattern", exec));
  if (p->space != SPMV_DEVICE)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "coordinates of a pattern: the pattern is not on the device");
  if (p->nnz == 0) return SPMV_SUCCESS;
  if (!i || !j) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "coordinates of a pattern: an array is missing");
  return slots->coordinates(p, rows, cols, i, j, exec);
}
