/*
  fold_device_fill.cu - copies between a CSR and a table, both in device memory. As on the host, the padding of the
  table gives the row lengths, so a refresh of the values needs neither the CSR's row_ptr nor a permutation.
*/
#include "device/csr.cuh"
#include "fold_device.cuh"
#include "fold_rows.h"

namespace
{
/* The position of table row t in the CSR and in the table */
struct Position {
  int64_t row, from, length; /* matrix row, CSR position of the first nonzero, number of nonzeros */
  int64_t entry, width;      /* its first entry, and the width of its slice */
};

template <typename I>
__device__ inline Position position_of(const FoldSizes &s, const FoldLayout &layout, const I *row_ptr, int64_t t)
{
  const int64_t slice = t / FOLD_LANES, first = layout.slice_ptr[slice];
  Position      position = {0, 0, 0, first * FOLD_LANES + t % FOLD_LANES, layout.slice_ptr[slice + 1] - first};

  if (t >= s.table_rows) return position;
  const FoldPiece piece = fold_piece(&s, &layout, t);
  const int64_t   left  = (int64_t)row_ptr[piece.row + 1] - (int64_t)row_ptr[piece.row] - piece.offset;
  position.row          = piece.row;
  position.from         = (int64_t)row_ptr[piece.row] + piece.offset;
  position.length       = left < piece.length ? left : piece.length;
  return position;
}

/* A visitor of the entries of a table: load() and store() for each nonzero, padding() for each padded entry */
template <typename I>
struct ToColumns {
  typedef I       Item;
  const I        *col;
  int32_t        *columns;
  __device__ Item load(int64_t, int64_t position) const { return col[position]; }
  __device__ void store(int64_t entry, int64_t, int64_t, Item c) const { columns[entry] = (int32_t)c; }
  __device__ void padding(int64_t entry) const { columns[entry] = -1; }
};

template <typename S>
struct ToValues {
  typedef S       Item;
  const S        *csr;
  S              *values;
  __device__ Item load(int64_t, int64_t position) const { return csr[position]; }
  __device__ void store(int64_t entry, int64_t, int64_t, Item v) const { values[entry] = v; }
  __device__ void padding(int64_t entry) const { values[entry] = S(0); }
};

template <typename S>
struct ToList {
  struct Item {
    int32_t column;
    S       value;
  };
  const int32_t  *columns;
  const S        *values;
  int32_t        *row, *col;
  S              *to;
  __device__ Item load(int64_t entry, int64_t) const { return {columns[entry], values[entry]}; }
  __device__ void store(int64_t, int64_t position, int64_t r, Item item) const
  {
    to[position] = item.value;
    if (!row) return;
    row[position] = (int32_t)r;
    col[position] = item.column;
  }
  __device__ void padding(int64_t) const {}
};

/* One thread per table row. Loads are issued in groups of four before their stores: the compiler cannot reorder them
   itself, since a store might change what a later load reads. */
template <typename I, typename Visit>
__global__ void __launch_bounds__(FOLD_THREADS)
    fold_visit_entries(FoldSizes s, FoldLayout layout, const I *__restrict__ row_ptr, Visit visit)
{
  enum { AT_ONCE = 4 };
  const int64_t t = blockIdx.x * (int64_t)FOLD_THREADS + threadIdx.x;
  if (t >= s.slices * FOLD_LANES) return;
  const Position       p = position_of(s, layout, row_ptr, t);
  typename Visit::Item item[AT_ONCE];
  int64_t              j = 0;

  for (; j + AT_ONCE <= p.length; j += AT_ONCE) {
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) item[k] = visit.load(p.entry + (j + k) * FOLD_LANES, p.from + j + k);
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) visit.store(p.entry + (j + k) * FOLD_LANES, p.from + j + k, p.row, item[k]);
  }
  for (; j < p.length; j++)
    visit.store(p.entry + j * FOLD_LANES, p.from + j, p.row, visit.load(p.entry + j * FOLD_LANES, p.from + j));
  for (; j < p.width; j++) visit.padding(p.entry + j * FOLD_LANES);
}

template <typename I, typename Visit>
SpmvStatus visit_entries(const FoldTable *table, const void *row_ptr, Visit visit, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, (fold_visit_entries<I, Visit>), spmv_blocks(table->sizes.slices * FOLD_LANES, FOLD_THREADS),
              FOLD_THREADS, 0, table->sizes, table->layout, (const I *)row_ptr, visit);
  return SPMV_SUCCESS;
}

template <typename S>
SpmvStatus fill_values(const FoldTable *table, SpmvIndex index, const void *row_ptr, const void *values, SpmvExec *exec)
{
  const ToValues<S> visit = {(const S *)values, (S *)table->values};
  return index == SPMV_I64 ? visit_entries<int64_t>(table, row_ptr, visit, exec)
                           : visit_entries<int32_t>(table, row_ptr, visit, exec);
}

/* Number of nonzeros of table row t: padding comes last, so bisection finds its beginning */
__device__ inline int64_t stored_length(const FoldLayout &layout, const int32_t *columns, int64_t t)
{
  const int64_t slice = t / FOLD_LANES, first = layout.slice_ptr[slice];

  return spmv_first_without(layout.slice_ptr[slice + 1] - first,
                            [&](int64_t j) { return columns[(first + j) * FOLD_LANES + t % FOLD_LANES] >= 0; });
}

/* length[i] = the number of nonzeros in the first piece of row i; length[rows] = 0 */
__global__ void __launch_bounds__(FOLD_THREADS)
    fold_first_lengths(FoldSizes s, FoldLayout layout, const int32_t *__restrict__ columns,
                       int64_t *__restrict__ length)
{
  const int64_t t = blockIdx.x * (int64_t)FOLD_THREADS + threadIdx.x;
  if (t < s.rows) length[fold_row(&layout, t)] = stored_length(layout, columns, t);
  else if (t == s.rows) length[t] = 0;
}

__global__ void __launch_bounds__(FOLD_THREADS)
    fold_other_lengths(FoldSizes s, FoldLayout layout, const int32_t *__restrict__ columns,
                       int64_t *__restrict__ length)
{
  const int64_t f = blockIdx.x * (int64_t)FOLD_THREADS + threadIdx.x;
  if (f < s.folded)
    length[layout.owner[f]] +=
        fold_full_pieces(&s, &layout, f) * s.width + stored_length(layout, columns, s.rows + s.full_pieces + f);
}
/* One thread per table row bisects its columns, which ascend; padding counts as a column beyond all others */
template <typename S>
__global__ void __launch_bounds__(FOLD_THREADS)
    fold_list_diagonal(FoldSizes s, FoldLayout layout, const int32_t *__restrict__ columns,
                       const S *__restrict__ values, S *__restrict__ diagonal)
{
  const int64_t t = blockIdx.x * (int64_t)FOLD_THREADS + threadIdx.x;
  if (t >= s.table_rows) return;
  const int64_t  slice = t / FOLD_LANES, first = layout.slice_ptr[slice], row = fold_piece(&s, &layout, t).row;
  const int64_t  entry = first * FOLD_LANES + t % FOLD_LANES;
  const unsigned width = (unsigned)(layout.slice_ptr[slice + 1] - first);
  const unsigned j     = spmv_first_not_below(
          width, (unsigned)row, [&](unsigned k) { return (unsigned)columns[entry + (int64_t)k * FOLD_LANES]; });

  if (j < width && columns[entry + (int64_t)j * FOLD_LANES] == row)
    diagonal[row] = values[entry + (int64_t)j * FOLD_LANES];
}

template <typename S>
SpmvStatus list_diagonal(const FoldTable *table, void *diagonal, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, fold_list_diagonal<S>, spmv_blocks(table->sizes.table_rows, FOLD_THREADS), FOLD_THREADS, 0,
              table->sizes, table->layout, (const int32_t *)table->columns, (const S *)table->values, (S *)diagonal);
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus fold_device_fill_columns(const FoldTable *table, SpmvIndex index, const void *row_ptr, const void *col,
                                    SpmvExec *exec)
{
  int32_t *to = (int32_t *)table->columns;

  if (index == SPMV_I64)
    return visit_entries<int64_t>(table, row_ptr, ToColumns<int64_t>{(const int64_t *)col, to}, exec);
  return visit_entries<int32_t>(table, row_ptr, ToColumns<int32_t>{(const int32_t *)col, to}, exec);
}

SpmvStatus fold_device_fill_values(const FoldTable *table, SpmvIndex index, SpmvScalar scalar, const void *row_ptr,
                                   const void *values, SpmvExec *exec)
{
  return scalar == SPMV_F32 ? fill_values<float>(table, index, row_ptr, values, exec)
                            : fill_values<double>(table, index, row_ptr, values, exec);
}

SpmvStatus fold_device_recover_row_ptr(const FoldTable *table, SpmvArena *arena, SpmvExec *exec, int64_t *row_ptr)
{
  const FoldSizes *s       = &table->sizes;
  const int32_t   *columns = (const int32_t *)table->columns;
  int64_t         *length;

  SPMV_TRY(spmv_arena_array(arena, s->rows + 1, "row lengths", &length, exec));
  SPMV_LAUNCH(exec, fold_first_lengths, spmv_blocks(s->rows + 1, FOLD_THREADS), FOLD_THREADS, 0, *s, table->layout,
              columns, length);
  SPMV_LAUNCH(exec, fold_other_lengths, spmv_blocks(s->folded, FOLD_THREADS), FOLD_THREADS, 0, *s, table->layout,
              columns, length);
  return spmv_sum_before(length, row_ptr, s->rows + 1, arena, exec);
}

SpmvStatus fold_device_list(const FoldTable *table, SpmvScalar scalar, const int64_t *row_ptr, const SpmvNonzeros *to,
                            SpmvExec *exec)
{
  const int32_t *columns = (const int32_t *)table->columns;

  if (scalar == SPMV_F32)
    return visit_entries<int64_t>(
        table, row_ptr, ToList<float>{columns, (const float *)table->values, to->row, to->col, (float *)to->values},
        exec);
  return visit_entries<int64_t>(
      table, row_ptr, ToList<double>{columns, (const double *)table->values, to->row, to->col, (double *)to->values},
      exec);
}

SpmvStatus fold_device_list_diagonal(const FoldTable *table, SpmvScalar scalar, void *diagonal, SpmvExec *exec)
{
  return scalar == SPMV_F32 ? list_diagonal<float>(table, diagonal, exec)
                            : list_diagonal<double>(table, diagonal, exec);
}
