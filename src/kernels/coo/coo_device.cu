/* Patterns of lists on the device: two stable sorts, by column and then by row. Keys are as short as the numbers of
   columns and rows allow. The sorts carry positions along, by which rows and columns are read from the list. */
#include "coo_device.cuh"
#include "coo_tile.cuh"
#include "device/staging.h"
#include <utility>

namespace
{
enum { THREADS = SPMV_COO_THREADS };

/* The entries of a list by their positions */
template <typename I>
struct Entries {
  const I *i[2], *j[2];
  int64_t  first, n; /* entries of the first part; of both parts */

  explicit Entries(const SpmvCooList &l)
      : i{(const I *)l.part[0].i, (const I *)l.part[1].i}, j{(const I *)l.part[0].j, (const I *)l.part[1].j},
        first(l.part[0].count), n(first + l.part[1].count)
  {
  }
  __device__ int64_t row(int64_t q) const { return q < first ? i[0][q] : i[1][q - first]; }
  __device__ int64_t column(int64_t q) const { return q < first ? j[0][q] : j[1][q - first]; }
};

/* The results of one pass over a list */
struct Found {
  unsigned long long wrong; /* complement of the position of the first entry outside the matrix; 0: none */
  int64_t            count; /* of the wanted items */
  unsigned           arrived;
};

/* ---- selecting entries ---- */

template <typename I>
__global__ void __launch_bounds__(THREADS)
    spmv_coo_count(Entries<I> e, SpmvCooList l, SpmvCooKind wanted, SpmvNumbers<1> *sums, Found *found)
{
  const SpmvCooTile tile = spmv_coo_tile(e.n, [&](int64_t q) {
    const SpmvCooKind kind = spmv_coo_kind(&l, e.row(q), e.column(q));
    if (kind == SPMV_COO_WRONG) atomicMax(&found->wrong, ~(unsigned long long)q);
    return kind == wanted;
  });
  spmv_coo_sum_tiles(tile, sums, &found->arrived, &found->count);
}

/* Lists the wanted entries in the order of the list: their positions and, as keys, their rows (ROWS) or columns, minus
   `base` */
template <typename I, typename Key, typename P, bool ROWS>
__global__ void __launch_bounds__(THREADS) spmv_coo_list(Entries<I> e, SpmvCooList l, SpmvCooKind wanted, int64_t base,
                                                         const SpmvNumbers<1> *sums, Key *key, P *position)
{
  const SpmvCooTile tile =
      spmv_coo_tile(e.n, [&](int64_t q) { return spmv_coo_kind(&l, e.row(q), e.column(q)) == wanted; });

  spmv_coo_number(tile, sums, [&](int64_t q, int64_t to) {
    key[to]      = (Key)((ROWS ? e.row(q) : e.column(q)) - base);
    position[to] = (P)q;
  });
}

/* Counts the entries of a kind, with running sums over the tiles in `room`. An entry outside the matrix is an error. */
template <typename I>
SpmvStatus count(const SpmvCooList &l, SpmvCooKind wanted, SpmvScopedArena *room, SpmvNumbers<1> **sums, int64_t *n,
                 SpmvExec *exec)
{
  const Entries<I> e(l);
  const int64_t    tiles = spmv_blocks(e.n, SPMV_COO_TILE);
  Found           *there, found;

  SPMV_TRY(room->array(1, "what is found in a COO list", &there));
  SPMV_TRY(room->array(tiles, "sums of a COO list", sums));
  SPMV_CUDA(exec, cudaMemsetAsync(there, 0, sizeof found, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, spmv_coo_count<I>, tiles, THREADS, 0, e, l, wanted, *sums, there);
  SPMV_TRY(spmv_fetch(&found, there, sizeof found, exec));
  *n = found.count;
  if (!found.wrong) return SPMV_SUCCESS;
  const int64_t q = (int64_t)~found.wrong, at = q < e.first ? q : q - e.first;
  I             i, j;
  SPMV_TRY(spmv_fetch(&i, e.i[q >= e.first] + at, sizeof i, exec));
  SPMV_TRY(spmv_fetch(&j, e.j[q >= e.first] + at, sizeof j, exec));
  return spmv_coo_wrong(&l, q, i, j, exec);
}

/* ---- sorting ---- */

template <typename Key, typename P>
struct Sorting {
  cub::DoubleBuffer<Key> key;
  cub::DoubleBuffer<P>   position;
  int64_t                n;

  SpmvStatus sort(int64_t below, SpmvExec *exec)
  {
    SpmvScopedArena temporary(exec);

    SPMV_CUB(exec, &temporary.arena,
             cub::DeviceRadixSort::SortPairs(scratch, bytes, key, position, n, 0, spmv_sort_bits(below),
                                             (cudaStream_t)exec->stream));
    return SPMV_SUCCESS;
  }
};

/* The rows (ROWS) or columns of the entries at the sorted positions, minus `base` */
template <typename I, typename Key, typename P, bool ROWS>
__global__ void __launch_bounds__(THREADS)
    spmv_coo_fetch(Entries<I> e, const P *position, int64_t n, int64_t base, Key *key)
{
  const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (k < n) key[k] = (Key)((ROWS ? e.row(position[k]) : e.column(position[k])) - base);
}

/* Sorts the entries of the pattern by row, column and position. Their rows are then in the current keys, their columns
   in the alternate keys. */
template <typename I, typename Key, typename P>
SpmvStatus sort_entries(const SpmvCooList &l, const SpmvNumbers<1> *sums, int64_t cols, Sorting<Key, P> *s,
                        SpmvExec *exec)
{
  const Entries<I> e(l);
  const int64_t    base = l.outside ? 0 : l.first_col, blocks = spmv_blocks(s->n, THREADS);

  SPMV_LAUNCH(exec, (spmv_coo_list<I, Key, P, false>), spmv_blocks(e.n, SPMV_COO_TILE), THREADS, 0, e, l, SPMV_COO_HERE,
              base, sums, s->key.Current(), s->position.Current());
  SPMV_TRY(s->sort(cols, exec));
  SPMV_LAUNCH(exec, (spmv_coo_fetch<I, Key, P, true>), blocks, THREADS, 0, e, s->position.Current(), s->n, l.first_row,
              s->key.Current());
  SPMV_TRY(s->sort(l.rows, exec));
  SPMV_LAUNCH(exec, (spmv_coo_fetch<I, Key, P, false>), blocks, THREADS, 0, e, s->position.Current(), s->n, base,
              s->key.Alternate());
  return SPMV_SUCCESS;
}

/* ---- the pattern ---- */

/* Whether sorted entry k is the first entry of its nonzero */
template <typename Key>
struct Heads {
  const Key *row, *col;

  __device__ bool operator()(int64_t k) const { return k == 0 || row[k] != row[k - 1] || col[k] != col[k - 1]; }
};

template <typename Key>
__global__ void __launch_bounds__(THREADS)
    spmv_coo_count_heads(Heads<Key> heads, int64_t n, SpmvNumbers<1> *sums, Found *found)
{
  spmv_coo_sum_tiles(spmv_coo_tile(n, heads), sums, &found->arrived, &found->count);
}

template <typename I, typename Key, typename P>
__global__ void __launch_bounds__(THREADS)
    spmv_coo_fill(Heads<Key> heads, int64_t n, const SpmvNumbers<1> *sums, int64_t nnz, I *col, P *start)
{
  spmv_coo_number(spmv_coo_tile(n, heads), sums, [&](int64_t k, int64_t place) {
    col[place]   = (I)heads.col[k];
    start[place] = (P)k;
  });
  if (blockIdx.x == 0 && threadIdx.x == 0) start[nnz] = (P)n;
}

/* The row of each nonzero: that of its first entry */
template <typename Key, typename P>
struct RowOf {
  const Key         *row;
  const P           *start;
  __device__ int64_t operator()(int64_t p) const { return (int64_t)row[start[p]]; }
};

template <typename I, typename Key, typename P>
SpmvStatus make_pattern(Sorting<Key, P> &s, SpmvScopedArena *room, SpmvNumbers<1> *sums, SpmvCoo *coo, SpmvExec *exec)
{
  const Heads<Key> heads = {s.key.Current(), s.key.Alternate()};
  const int64_t    tiles = spmv_blocks(s.n, SPMV_COO_TILE);
  Found           *there;
  int64_t          nnz;

  SPMV_TRY(room->array(1, "what is found in a COO list", &there));
  SPMV_CUDA(exec, cudaMemsetAsync(there, 0, sizeof *there, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, spmv_coo_count_heads<Key>, tiles, THREADS, 0, heads, s.n, sums, there);
  SPMV_TRY(spmv_fetch(&nnz, &there->count, sizeof nnz, exec));
  SPMV_TRY(spmv_coo_hold_pattern(coo, nnz, exec));
  SPMV_LAUNCH(exec, (spmv_coo_fill<I, Key, P>), tiles, THREADS, 0, heads, s.n, sums, nnz, (I *)coo->col,
              (P *)coo->start);
  return spmv_row_starts_by(RowOf<Key, P>{heads.row, (const P *)coo->start}, nnz, coo->rows, (I *)coo->row_ptr, exec);
}

SpmvStatus empty_pattern(SpmvCoo *coo, SpmvExec *exec)
{
  const cudaStream_t stream = (cudaStream_t)exec->stream;

  SPMV_TRY(spmv_coo_hold_pattern(coo, 0, exec));
  SPMV_CUDA(exec, cudaMemsetAsync(coo->row_ptr, 0, (coo->rows + 1) * spmv_index_bytes(coo->index_type), stream));
  SPMV_CUDA(exec, cudaMemsetAsync(coo->start, 0, spmv_coo_position_bytes(coo->wide), stream));
  return SPMV_SUCCESS;
}

template <typename I, typename Key, typename P>
SpmvStatus create_typed(const SpmvCooList *l, SpmvCoo *coo, SpmvExec *exec)
{
  SpmvScopedArena room(exec), keys(exec);
  SpmvNumbers<1> *sums;
  Key            *key;
  int64_t         n;

  room.arena.chunk_bytes = SPMV_COO_ROOM + spmv_blocks(Entries<I>(*l).n, SPMV_COO_TILE) * (int64_t)sizeof *sums;
  SPMV_TRY(count<I>(*l, SPMV_COO_HERE, &room, &sums, &n, exec));
  SPMV_TRY(spmv_coo_hold_map(coo, n, n > 0, exec));
  if (n == 0) return empty_pattern(coo, exec);
  SPMV_TRY(keys.array(2 * n, "keys of a COO list", &key));
  Sorting<Key, P> s = {cub::DoubleBuffer<Key>(key, key + n), cub::DoubleBuffer<P>((P *)coo->map, (P *)coo->spare), n};
  SPMV_TRY((sort_entries<I>(*l, sums, coo->cols, &s, exec)));
  if (s.position.Current() != coo->map) std::swap(coo->map, coo->spare);
  spmv_object_drop(&coo->object, coo->spare, exec);
  coo->spare = nullptr;
  return make_pattern<I>(s, &room, sums, coo, exec);
}

/* ---- off-process entries ---- */

template <typename I, typename P>
__global__ void __launch_bounds__(THREADS)
    spmv_coo_read(Entries<I> e, const P *position, int64_t n, I *__restrict__ i, I *__restrict__ j)
{
  const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (k >= n) return;
  i[k] = (I)e.row(position[k]);
  j[k] = (I)e.column(position[k]);
}

template <typename I, typename Key, typename P>
SpmvStatus others_typed(const SpmvCooList *l, SpmvCooOthers *others, SpmvExec *exec)
{
  const Entries<I> e(*l);
  SpmvScopedArena  room(exec), keys(exec);
  SpmvNumbers<1>  *sums;
  Key             *key;
  P               *positions;
  int64_t          n;

  room.arena.chunk_bytes = SPMV_COO_ROOM + spmv_blocks(e.n, SPMV_COO_TILE) * (int64_t)sizeof *sums;
  SPMV_TRY(count<I>(*l, SPMV_COO_OF_OTHERS, &room, &sums, &n, exec));
  SPMV_TRY(spmv_coo_hold_others(others, n, exec));
  if (n == 0) return SPMV_SUCCESS;
  keys.arena.chunk_bytes = 2 * n * (int64_t)(sizeof(Key) + sizeof(P)) + SPMV_COO_ROOM;
  SPMV_TRY(keys.array(2 * n, "keys of entries for other processes", &key));
  SPMV_TRY(keys.array(2 * n, "positions of entries for other processes", &positions));
  Sorting<Key, P> s = {cub::DoubleBuffer<Key>(key, key + n), cub::DoubleBuffer<P>(positions, positions + n), n};
  SPMV_LAUNCH(exec, (spmv_coo_list<I, Key, P, true>), spmv_blocks(e.n, SPMV_COO_TILE), THREADS, 0, e, *l,
              SPMV_COO_OF_OTHERS, (int64_t)0, sums, s.key.Current(), s.position.Current());
  SPMV_TRY(s.sort(l->all_rows, exec));
  SPMV_LAUNCH(exec, (spmv_coo_read<I, P>), spmv_blocks(n, THREADS), THREADS, 0, e, s.position.Current(), n,
              (I *)others->i, (I *)others->j);
  SPMV_TRY(spmv_copy(others->place, SPMV_DEVICE, s.position.Current(), SPMV_DEVICE, n * (int64_t)sizeof(P), exec));
  return spmv_stream_wait(exec);
}

/* ---- coordinates of a pattern ---- */

template <typename I>
__device__ inline I numbered(SpmvCooNumbers numbers, int64_t k)
{
  return numbers.number ? ((const I *)numbers.number)[k] : (I)(numbers.first + k);
}

template <typename I>
__global__ void __launch_bounds__(THREADS)
    spmv_coo_write_coordinates(int64_t nnz, int64_t count, const I *__restrict__ row_ptr, const I *__restrict__ col,
                               SpmvCooNumbers rows, SpmvCooNumbers cols, I *__restrict__ i, I *__restrict__ j)
{
  const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (k >= nnz) return;
  const int64_t r = spmv_first_not_below(count, k + 1, [&](int64_t row) { return (int64_t)row_ptr[row + 1]; });
  i[k]            = numbered<I>(rows, r);
  j[k]            = numbered<I>(cols, col[k]);
}

template <typename I>
SpmvStatus write_coordinates(const SpmvPattern *p, SpmvCooNumbers rows, SpmvCooNumbers cols, void *i, void *j,
                             SpmvExec *exec)
{
  SPMV_LAUNCH(exec, spmv_coo_write_coordinates<I>, spmv_blocks(p->nnz, THREADS), THREADS, 0, p->nnz, p->rows,
              (const I *)p->row_ptr, (const I *)p->col, rows, cols, (I *)i, (I *)j);
  return SPMV_SUCCESS;
}

SpmvStatus coordinates(const SpmvPattern *p, SpmvCooNumbers rows, SpmvCooNumbers cols, void *i, void *j, SpmvExec *exec)
{
  return p->index_type == SPMV_I64 ? write_coordinates<int64_t>(p, rows, cols, i, j, exec)
                                   : write_coordinates<int32_t>(p, rows, cols, i, j, exec);
}

/* f<I, Key, P>(...), with keys of 32 bits if all numbers are below 2^32 */
#define BY_KEYS(f, index_type, below, P, ...)                                                                          \
  ((index_type) == SPMV_I32             ? f<int32_t, uint32_t, P>(__VA_ARGS__)                                         \
   : (below) <= (int64_t)UINT32_MAX + 1 ? f<int64_t, uint32_t, P>(__VA_ARGS__)                                         \
                                        : f<int64_t, uint64_t, P>(__VA_ARGS__))

SpmvStatus create(const SpmvCooList *l, SpmvCoo *coo, SpmvExec *exec)
{
  const int64_t below = coo->rows > coo->cols ? coo->rows : coo->cols;

  return coo->wide ? BY_KEYS(create_typed, l->index_type, below, uint64_t, l, coo, exec)
                   : BY_KEYS(create_typed, l->index_type, below, uint32_t, l, coo, exec);
}

SpmvStatus find_others(const SpmvCooList *l, SpmvCooOthers *others, SpmvExec *exec)
{
  return others->wide ? BY_KEYS(others_typed, l->index_type, l->all_rows, uint64_t, l, others, exec)
                      : BY_KEYS(others_typed, l->index_type, l->all_rows, uint32_t, l, others, exec);
}
} // namespace

extern "C" const SpmvCooSlots spmv_coo_device_slots = {create, spmv_coo_device_values, find_others,
                                                       spmv_coo_device_gather, coordinates};
