/* Lists of coordinates: checks of arguments, copies of lists between spaces, memory. */
#include "coo.h"
#include <string.h>

int64_t spmv_coo_wide_from = (int64_t)1 << 32;

/* ---- memory ---- */

SpmvStatus spmv_coo_hold_map(SpmvCoo *coo, int64_t entries, int with_spare, SpmvExec *exec)
{
  const int64_t bytes = spmv_padded_bytes(entries, spmv_coo_position_bytes(coo->wide));

  SPMV_TRY(spmv_alloc(exec, exec->space, bytes, "places of the entries of a COO list", &coo->map));
  coo->entries = entries;
  coo->bytes += bytes;
  return with_spare ? spmv_alloc(exec, exec->space, bytes, "positions of a COO list", &coo->spare) : SPMV_SUCCESS;
}

SpmvStatus spmv_coo_hold_pattern(SpmvCoo *coo, int64_t nnz, SpmvExec *exec)
{
  const int64_t index_bytes = spmv_index_bytes(coo->index_type);
  const int64_t row_bytes   = spmv_padded_bytes(coo->rows + 1, index_bytes),
                col_bytes   = spmv_padded_bytes(nnz, index_bytes);
  const int64_t bytes       = row_bytes + col_bytes + spmv_padded_bytes(nnz + 1, spmv_coo_position_bytes(coo->wide));

  if (coo->index_type == SPMV_I32 && nnz > INT32_MAX)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW,
                     "a COO list makes %lld nonzeros, and indices of 32 bits count to %d: use indices of 64 bits",
                     (long long)nnz, INT32_MAX);
  SPMV_TRY(spmv_alloc(exec, exec->space, bytes, "pattern of a COO list", &coo->pattern));
  coo->nnz     = nnz;
  coo->row_ptr = coo->pattern;
  coo->col     = (char *)coo->pattern + row_bytes;
  coo->start   = (char *)coo->col + col_bytes;
  coo->bytes += bytes;
  return SPMV_SUCCESS;
}

SpmvStatus spmv_coo_hold_others(SpmvCooOthers *others, int64_t count, SpmvExec *exec)
{
  const int64_t bytes = spmv_padded_bytes(count, spmv_index_bytes(others->index_type));

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, 2 * bytes, "entries for other processes", &others->i));
  others->j = (char *)others->i + bytes;
  SPMV_TRY(spmv_alloc(exec, exec->space, spmv_padded_bytes(count, spmv_coo_position_bytes(others->wide)),
                      "places of entries for other processes", &others->place));
  others->count = count;
  return SPMV_SUCCESS;
}

/* ---- arguments ---- */

static const SpmvCooSlots *slots_of(SpmvSpace space)
{
  return space == SPMV_DEVICE ? SPMV_DEVICE_SLOTS(spmv_coo_device_slots) : &spmv_coo_host_slots;
}

static SpmvStatus check_device(SpmvSpace space, SpmvExec *exec)
{
  char reason[SPMV_MESSAGE_MAX];

  if (space == SPMV_DEVICE && spmv_device_count(reason) == 0)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "a COO list on the device: %s", reason);
  return SPMV_SUCCESS;
}

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
  SPMV_TRY(check_device(l->space, exec));
  return check_device(exec->space, exec);
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

/* ---- a list in the space of the exec ---- */

/* *there becomes the list with its arrays in exec->space. If they must be copied, *block holds the copy, else it is
   NULL. */
static SpmvStatus bring(const SpmvCooList *list, SpmvCooList *there, void **block, SpmvExec *exec)
{
  const int64_t index_bytes = spmv_index_bytes(list->index_type);
  const int64_t part_bytes  = spmv_padded_bytes(list->part[0].count, index_bytes);

  *there = *list;
  *block = NULL;
  if (list->space == exec->space) return SPMV_SUCCESS;
  there->space = exec->space;
  SPMV_TRY(spmv_alloc(exec, exec->space, 2 * (part_bytes + spmv_padded_bytes(list->part[1].count, index_bytes)),
                      "copy of a COO list", block));
  char *at = *block;
  for (int p = 0; p < 2; p++) {
    const int64_t bytes = list->part[p].count * index_bytes, step = spmv_padded_bytes(list->part[p].count, index_bytes);
    there->part[p].i = at;
    there->part[p].j = at + step;
    SPMV_TRY(spmv_copy(at, exec->space, list->part[p].i, list->space, bytes, exec));
    SPMV_TRY(spmv_copy(at + step, exec->space, list->part[p].j, list->space, bytes, exec));
    at += 2 * step;
  }
  return list->space == SPMV_DEVICE ? spmv_stream_wait(exec) : SPMV_SUCCESS;
}

/* ---- patterns and values ---- */

static SpmvStatus fill(const SpmvCooList *list, SpmvCoo *coo, SpmvExec *exec)
{
  SpmvCooList there;
  void       *copy;
  SpmvStatus  status = bring(list, &there, &copy, exec);

  if (!status) status = slots_of(exec->space)->create(&there, coo, exec);
  /* the copy is freed here, and another stream may read the pattern */
  if (!status && exec->space == SPMV_DEVICE) status = spmv_stream_wait(exec);
  spmv_exec_free(exec, exec->space, copy);
  return status;
}

SpmvStatus spmv_coo_create(const SpmvCooList *list, SpmvExec *exec, SpmvCoo **out)
{
  void *block;

  *out             = NULL;
  exec->message[0] = '\0';
  SPMV_TRY(check_list(list, exec));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof **out, "COO", &block));
  SpmvCoo *coo = block;
  memset(coo, 0, sizeof *coo);
  coo->space      = exec->space;
  coo->host       = exec->host;
  coo->device     = exec->device;
  coo->index_type = list->index_type;
  coo->rows       = list->rows;
  coo->cols       = list->outside ? list->all_cols : list->own_cols;
  for (int p = 0; p < 2; p++) coo->count[p] = list->part[p].count;
  coo->wide               = coo->count[0] + coo->count[1] >= spmv_coo_wide_from;
  const SpmvStatus status = fill(list, coo, exec);
  if (status) spmv_coo_destroy(&coo);
  *out = coo;
  return status;
}

void spmv_coo_pattern(const SpmvCoo *coo, SpmvPattern *pattern)
{
  *pattern = (SpmvPattern){.rows       = coo->rows,
                           .cols       = coo->cols,
                           .nnz        = coo->nnz,
                           .index_type = coo->index_type,
                           .space      = coo->space,
                           .row_ptr    = coo->row_ptr,
                           .col        = coo->col};
}

SpmvStatus spmv_coo_values(const SpmvCoo *coo, SpmvScalar scalar, const void *v[2], int add, void *csr_values,
                           SpmvExec *exec)
{
  exec->message[0] = '\0';
  if (exec->space != coo->space)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "values of a COO list: its pattern lies in another space");
  if (coo->nnz == 0) return SPMV_SUCCESS;
  if (!csr_values || (coo->count[0] > 0 && !v[0]) || (coo->count[1] > 0 && !v[1]))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "values of a COO list: an array is missing");
  return slots_of(exec->space)->values(coo, scalar, v, add, csr_values, exec);
}

void spmv_coo_info(const SpmvCoo *coo, int64_t *entries, int64_t *bytes)
{
  *entries = coo->entries;
  *bytes   = coo->bytes;
}

void spmv_coo_destroy(SpmvCoo **coo)
{
  if (!coo || !*coo) return;
  const SpmvAllocator host = (*coo)->host, device = (*coo)->device;

  spmv_free(&host, &device, (*coo)->space, (*coo)->pattern);
  spmv_free(&host, &device, (*coo)->space, (*coo)->map);
  spmv_free(&host, &device, (*coo)->space, (*coo)->spare);
  spmv_free(&host, &device, SPMV_HOST, *coo);
  *coo = NULL;
}

/* ---- off-process entries ---- */

static SpmvStatus fill_others(const SpmvCooList *list, SpmvCooOthers *others, SpmvExec *exec)
{
  SpmvCooList first = *list, there;
  void       *copy;

  first.part[1].count = 0; /* received entries are in rows of this process */
  SpmvStatus status   = bring(&first, &there, &copy, exec);
  if (!status) status = slots_of(exec->space)->others(&there, others, exec);
  spmv_exec_free(exec, exec->space, copy);
  return status;
}

SpmvStatus spmv_coo_others(const SpmvCooList *list, SpmvExec *exec, SpmvCooOthers **out)
{
  void *block;

  *out             = NULL;
  exec->message[0] = '\0';
  SPMV_TRY(check_list(list, exec));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof **out, "COO entries of other processes", &block));
  SpmvCooOthers *others = block;
  memset(others, 0, sizeof *others);
  others->space           = exec->space;
  others->host            = exec->host;
  others->device          = exec->device;
  others->index_type      = list->index_type;
  others->wide            = list->part[0].count >= spmv_coo_wide_from;
  const SpmvStatus status = fill_others(list, others, exec);
  if (status) spmv_coo_others_destroy(&others);
  *out = others;
  return status;
}

void spmv_coo_others_part(const SpmvCooOthers *others, SpmvCooPart *part)
{
  *part = (SpmvCooPart){others->count, others->i, others->j};
}

SpmvStatus spmv_coo_gather(const SpmvCooOthers *others, SpmvScalar scalar, const void *v, void *out, SpmvExec *exec)
{
  exec->message[0] = '\0';
  if (exec->space != others->space)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "values for other processes: their places lie in another space");
  if (others->count == 0) return SPMV_SUCCESS;
  if (!v || !out) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "values for other processes: an array is missing");
  return slots_of(exec->space)->gather(others, scalar, v, out, exec);
}

void spmv_coo_others_destroy(SpmvCooOthers **others)
{
  if (!others || !*others) return;
  const SpmvAllocator host = (*others)->host, device = (*others)->device;

  spmv_free(&host, &device, SPMV_HOST, (*others)->i);
  spmv_free(&host, &device, (*others)->space, (*others)->place);
  spmv_free(&host, &device, SPMV_HOST, *others);
  *others = NULL;
}

/* ---- coordinates of a pattern ---- */

SpmvStatus spmv_coo_coordinates(const SpmvPattern *p, SpmvCooNumbers rows, SpmvCooNumbers cols, void *i, void *j,
                                SpmvExec *exec)
{
  exec->message[0] = '\0';
  if (exec->space != p->space)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "coordinates of a pattern: the pattern lies in another space");
  if (p->nnz == 0) return SPMV_SUCCESS;
  if (!i || !j) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "coordinates of a pattern: an array is missing");
  return slots_of(exec->space)->coordinates(p, rows, cols, i, j, exec);
}
