/*
  spgemm_device_symbolic.cu - the pattern of a product on the device. Rows are counted and then filled, each time by
  three kernels: with small hash tables for short rows, larger ones for longer rows, and one bit per column for the
  longest. Each kernel puts the rows that are too long for it into a list for the next one, so that the host need not
  wait.
*/
#include "device/upload.cuh"
#include "device/vector.cuh"
#include "spgemm_device.cuh"
#include <cub/block/block_scan.cuh>

namespace
{
enum {
  HASH_THREADS = 128,
  THREADS      = 256, /* all of a block share a row that is too long for a short table */
  EMPTY        = -1,
  SHORT_SLOTS  = 128,
  LONG_SLOTS   = 1024,
  FEW_LANES    = 8,
  BIT_WORDS    = 8192, /* of 32 columns each, at a time */
  GRID         = 1024, /* thread blocks for a list, whose length the host does not know */
  BIT_GRID     = 256,
  MARKS        = 5, /* kinds of teams with marks */
  WIDE         = MARKS + 1,
  IN_PARTS     = MARKS + 2,
  KINDS        = MARKS + 3,
  SHORT_ROW    = 20,   /* mean columns of a row, up to which few lanes are faster */
  WIDE_ROWS    = 64,   /* one row in so many may be too long for marks */
  FEW_ROWS     = 2048, /* so few long left rows have a thread block each */
  LONG_LEFT    = 64,   /* mean blocks of a left row, from which on its parts get separate teams, */
  PARTS_PIECES = 4096  /* if so few pieces would leave most of a GPU idle */
};

/* The most columns in a table of `slots` slots. Beyond the limit each lane may insert one: these must fit, or a lane looks
   for a free slot for ever. */
__host__ __device__ constexpr int limit_of(int slots) { return slots * 5 / 8; }

/* Sums over a multiplication. wide[s]: the number of pieces of rows that are too long for team kind s; see
   choose_teams() */
struct Totals {
  unsigned long long terms, wide[KINDS];
  int64_t            blocks;
  unsigned           listed[2], placed;
};

struct Multiplication {
  SpmvSpgemmPattern left, right, result;
  int               lanes; /* that share a right row */
  int64_t          *count; /* [rows+1] of the result */
  int32_t          *list[2];
  Totals           *totals;
};

/* Waits for the other lanes of a team, which is a part of a warp or a whole thread block */
template <int LANES>
__device__ inline void wait_for_team()
{
  if (LANES > 32) __syncthreads();
  else __syncwarp(spmv_team_mask(LANES));
}

template <int SLOTS>
__device__ inline void insert(int *table, unsigned *found, int key)
{
  unsigned slot = ((unsigned)key * 2654435769u >> 15) % SLOTS;

  for (;;) {
    if (((volatile int *)table)[slot] == key) return;
    const int old = atomicCAS(&table[slot], (int)EMPTY, key);
    if (old == EMPTY) atomicAdd(found, 1u);
    if (old == EMPTY || old == key) return;
    slot = (slot + 1) % SLOTS;
  }
}

/* Inserts the columns of a row into a table; stops when there are more than the limit. Some lanes share a right row, and
   the team works on several at the same time. */
template <int LANES, int SLOTS>
__device__ inline void insert_row(const Multiplication &m, int64_t row, int *table, unsigned *found)
{
  const int lane = threadIdx.x % LANES, first = lane / m.lanes, step = LANES / m.lanes;

  for (int k = m.left.row_ptr[row] + first; k < m.left.row_ptr[row + 1]; k += step) {
    const int from = m.left.col[k], end = m.right.row_ptr[from + 1];
    for (int j = m.right.row_ptr[from] + lane % m.lanes; j < end; j += m.lanes) {
      if (*(volatile unsigned *)found > limit_of(SLOTS)) return;
      insert<SLOTS>(table, found, m.right.col[j]);
    }
  }
}

/* Writes the n columns of a table in ascending order: the position of each is the number of smaller ones */
template <int LANES, int SLOTS>
__device__ inline void write_row(const int *table, int *list, unsigned *listed, int n, int32_t *col)
{
  const int lane = threadIdx.x % LANES;

  for (int slot = lane; slot < SLOTS; slot += LANES)
    if (table[slot] != EMPTY) list[atomicAdd(listed, 1u)] = table[slot];
  wait_for_team<LANES>();
  for (int e = lane; e < n; e += LANES) {
    int place = 0;
    for (int other = 0; other < n; other++) place += list[other] < list[e];
    col[place] = list[e];
  }
}

/* Counts or fills in the columns of the rows that are short enough for a table, one row per team. Level 0 takes all
   rows, level 1 the rows in list 0, which were too long for short tables. Rows too long for long tables go to list 1. */
template <int LANES, int SLOTS, int LEVEL, bool FILL>
__global__ void __launch_bounds__(LANES > HASH_THREADS ? LANES : HASH_THREADS) spmv_spgemm_hash(Multiplication m)
{
  enum { TEAMS = LANES > HASH_THREADS ? 1 : HASH_THREADS / LANES, NEXT = SLOTS == LONG_SLOTS };
  static_assert(limit_of(SLOTS) + LANES <= SLOTS, "lanes overfill a table");
  __shared__ int      table[TEAMS][SLOTS], list[TEAMS][FILL ? SLOTS : 1];
  __shared__ unsigned found[TEAMS];
  const int           team = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  const int64_t       items = LEVEL ? (int64_t)m.totals->listed[0] : m.left.rows;

  for (int64_t i = blockIdx.x * (int64_t)TEAMS + team; i < items; i += (int64_t)gridDim.x * TEAMS) {
    const int64_t row = LEVEL ? m.list[0][i] : i;
    const int     n   = FILL ? m.result.row_ptr[row + 1] - m.result.row_ptr[row] : 0;
    if (n > limit_of(SLOTS)) continue;
    for (int slot = lane; slot < SLOTS; slot += LANES) table[team][slot] = EMPTY;
    if (lane == 0) found[team] = 0;
    wait_for_team<LANES>();
    insert_row<LANES, SLOTS>(m, row, table[team], &found[team]);
    wait_for_team<LANES>();
    if (FILL) {
      if (lane == 0) found[team] = 0;
      wait_for_team<LANES>();
      write_row<LANES, SLOTS>(table[team], list[team], &found[team], n, m.result.col + m.result.row_ptr[row]);
    } else if (lane == 0) {
      if (found[team] <= limit_of(SLOTS)) m.count[row] = found[team];
      else m.list[NEXT][atomicAdd(&m.totals->listed[NEXT], 1u)] = (int32_t)row;
    }
    wait_for_team<LANES>();
  }
}

/* Sets the bits of the columns first .. first + 32 BIT_WORDS - 1 of a row, by all threads of a block */
__device__ inline void set_bits(const Multiplication &m, int row, int first, unsigned *bits)
{
  const int64_t stop = (int64_t)first + 32 * BIT_WORDS;

  for (int k = m.left.row_ptr[row] + threadIdx.x / 32; k < m.left.row_ptr[row + 1]; k += THREADS / 32) {
    const int from = m.left.col[k], end = m.right.row_ptr[from + 1];
    int       j = first > 0 ? spmv_lower_bound(m.right.col, m.right.row_ptr[from], end, first) : m.right.row_ptr[from];
    for (j += threadIdx.x % 32; j < end && m.right.col[j] < stop; j += 32) {
      const int bit = m.right.col[j] - first;
      atomicOr(&bits[bit / 32], 1u << bit % 32);
    }
  }
}

/* Counts or fills in the columns of the rows in list 1, one row per thread block */
template <bool FILL>
__global__ void __launch_bounds__(THREADS) spmv_spgemm_bits(Multiplication m)
{
  typedef cub::BlockScan<int, THREADS>  Scan;
  __shared__ typename Scan::TempStorage temp;
  __shared__ unsigned                   bits[BIT_WORDS];

  for (int64_t i = blockIdx.x; i < (int64_t)m.totals->listed[1]; i += gridDim.x) {
    const int row = m.list[1][i];
    int       n   = 0;
    for (int64_t first = 0; first < m.right.cols; first += 32 * BIT_WORDS) {
      const int words  = (int)min((int64_t)BIT_WORDS, (m.right.cols - first + 31) / 32);
      const int each   = (words + THREADS - 1) / THREADS;
      unsigned *own    = bits + each * threadIdx.x;
      int       number = 0, before, all;
      for (int w = 0; w < each; w++) bits[w * THREADS + threadIdx.x] = 0;
      __syncthreads();
      set_bits(m, row, (int)first, bits);
      __syncthreads();
      for (int w = 0; w < each; w++) number += __popc(own[w]);
      Scan(temp).ExclusiveSum(number, before, all);
      if (FILL) {
        int32_t *col = m.result.col + m.result.row_ptr[row] + n + before;
        for (int w = 0; w < each; w++)
          for (unsigned left = own[w]; left; left &= left - 1)
            *col++ = (int32_t)first + 32 * (each * (int)threadIdx.x + w) + __ffs((int)left) - 1;
      }
      n += all;
      __syncthreads(); /* before bits and temp are used again */
    }
    if (!FILL && threadIdx.x == 0) m.count[row] = n;
  }
}

/* The most blocks of a row for a narrow team of each kind, and of a piece for a wide team. Kinds are those with marks,
   for single entries; medium teams; no narrow teams; and none, with pieces for a thread block. */
struct TeamSizes {
  int  narrow[KINDS], wide[KINDS];
  bool single;
};

__device__ inline void add_total(unsigned long long mine, unsigned long long *total)
{
  const unsigned long long all = spmv_add_block<THREADS>(mine);

  if (threadIdx.x == 0 && all > 0) atomicAdd(total, all);
  __syncthreads();
}

__global__ void __launch_bounds__(THREADS) spmv_spgemm_totals(Multiplication m, TeamSizes sizes)
{
  const int64_t      begin = blockIdx.x * (int64_t)THREADS + threadIdx.x, step = (int64_t)gridDim.x * THREADS;
  unsigned long long terms = 0, wide[KINDS] = {};

  for (int64_t k = begin; k < m.left.nnz; k += step)
    terms += (unsigned)(m.right.row_ptr[m.left.col[k] + 1] - m.right.row_ptr[m.left.col[k]]);
  for (int64_t row = begin; row < m.left.rows; row += step)
    for (int s = 0; s < KINDS; s++)
      if (m.count[row] > sizes.narrow[s]) wide[s] += (unsigned)((m.count[row] + sizes.wide[s] - 1) / sizes.wide[s]);
  add_total(terms, &m.totals->terms);
  for (int s = 0; s < KINDS; s++) add_total(wide[s], &m.totals->wide[s]);
}

/* Copies the 64-bit sums to row_ptr of the result, and their total to totals->blocks */
__global__ void spmv_spgemm_row_ptr(Multiplication m)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (row > m.left.rows) return;
  m.result.row_ptr[row] = (int32_t)m.count[row];
  if (row == m.left.rows) m.totals->blocks = m.count[row];
}

__global__ void spmv_spgemm_pieces(Multiplication m, SpmvSpgemmTeams teams)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (row >= m.left.rows) return;
  const int n = m.result.row_ptr[row + 1] - m.result.row_ptr[row], pieces = (n + teams.wide_cols - 1) / teams.wide_cols;
  if (n <= teams.narrow_cols) return;
  const unsigned at = atomicAdd(&m.totals->placed, (unsigned)pieces);
  for (int i = 0; i < pieces; i++) {
    teams.wide_row[at + i]   = (int32_t)row;
    teams.wide_first[at + i] = i * teams.wide_cols;
  }
}

/* Runs the kernels. No row has more than right.cols columns, so that a narrow matrix needs no second or third
   kernel. */
template <bool FILL>
SpmvStatus find_columns(const Multiplication &m, SpmvExec *exec)
{
  const int64_t rows = m.left.rows;
  const bool    few  = rows <= FEW_ROWS && m.left.nnz >= rows * LONG_LEFT; /* long tables for all */

  if (few) SPMV_LAUNCH(exec, (spmv_spgemm_hash<THREADS, LONG_SLOTS, 0, FILL>), rows, THREADS, 0, m);
  else if (m.right.nnz <= FEW_LANES * m.right.rows)
    SPMV_LAUNCH(exec, (spmv_spgemm_hash<FEW_LANES, SHORT_SLOTS, 0, FILL>), spmv_blocks(rows, HASH_THREADS / FEW_LANES),
                HASH_THREADS, 0, m);
  else
    SPMV_LAUNCH(exec, (spmv_spgemm_hash<32, SHORT_SLOTS, 0, FILL>), spmv_blocks(rows, HASH_THREADS / 32), HASH_THREADS,
                0, m);
  if (!few && m.right.cols > limit_of(SHORT_SLOTS))
    SPMV_LAUNCH(exec, (spmv_spgemm_hash<THREADS, LONG_SLOTS, 1, FILL>), min(rows, (int64_t)GRID), THREADS, 0, m);
  if (m.right.cols > limit_of(LONG_SLOTS))
    SPMV_LAUNCH(exec, spmv_spgemm_bits<FILL>, min(rows, (int64_t)BIT_GRID), THREADS, 0, m);
  return SPMV_SUCCESS;
}

TeamSizes team_sizes(const Multiplication &m)
{
  const int sums   = spmv_team_rows(m.left.block_rows) * m.right.block_cols;
  const int medium = min((int)SPMV_MEDIUM_BLOCKS, SPMV_MEDIUM_SUMS / sums);
  TeamSizes sizes  = {{16, 32, 64, 96, 128, medium}, {}, sums * m.right.block_rows == 1};

  for (int &wide : sizes.wide) wide = min((int)SPMV_WIDE_BLOCKS, SPMV_WIDE_SUMS / sums);
  sizes.wide[IN_PARTS] = medium;
  return sizes;
}

/* Marks for nearly all rows, of the next size if that is enough for all of them: columns can then be freed. Else parts of
   left rows if these are long and there are few pieces; else medium teams if an average row fits; else wide ones only.
   Lanes with marks own at most 4 columns. */
void choose_teams(const Multiplication &m, const Totals &totals, const TeamSizes &sizes, SpmvSpgemmTeams *teams)
{
  const unsigned long long rows = m.left.rows, blocks = totals.blocks;
  const bool               is_short = blocks <= rows * SHORT_ROW;
  const int  splits  = m.left.block_rows / spmv_team_rows(m.left.block_rows); /* teams for a block's rows */
  const bool is_long = m.left.nnz >= m.left.rows * LONG_LEFT && totals.wide[IN_PARTS] * splits <= PARTS_PIECES;
  int        size    = sizes.single ? 0 : (int)MARKS;

  while (size < MARKS && totals.wide[size] * WIDE_ROWS > rows) size++;
  if (size + 1 < MARKS && totals.wide[size + 1] == 0 && totals.wide[size] > 0) size++;
  if (size == MARKS && is_long) size = IN_PARTS;
  else if (size == MARKS && blocks > rows * sizes.narrow[size]) size = WIDE;
  teams->narrow_cols = sizes.narrow[size];
  teams->wide_cols   = sizes.wide[size];
  teams->wide        = (int64_t)totals.wide[size];
  teams->in_parts    = size == IN_PARTS;
  teams->mark_lanes  = 0;
  if (size < MARKS) teams->mark_lanes = teams->narrow_cols <= 16 ? 4 : teams->narrow_cols <= 32 && is_short ? 8 : 32;
}

/* Counts the columns of all rows, sets row_ptr, and copies the totals to the host */
SpmvStatus count(const Multiplication &m, const TeamSizes &sizes, SpmvArena *arena, Totals *totals, SpmvExec *exec)
{
  const int64_t      rows = m.left.rows, work = rows > m.left.nnz ? rows : m.left.nnz;
  const cudaStream_t stream = (cudaStream_t)exec->stream;

  SPMV_CUDA(exec, cudaMemsetAsync(m.totals, 0, sizeof *m.totals, stream));
  SPMV_CUDA(exec, cudaMemsetAsync(m.count + rows, 0, sizeof *m.count, stream));
  SPMV_TRY(find_columns<false>(m, exec));
  SPMV_LAUNCH(exec, spmv_spgemm_totals, min(spmv_blocks(work, THREADS), (int64_t)GRID), THREADS, 0, m, sizes);
  SPMV_TRY(spmv_sum_before(m.count, m.count, rows + 1, arena, exec));
  SPMV_LAUNCH(exec, spmv_spgemm_row_ptr, spmv_blocks(rows + 1, THREADS), THREADS, 0, m);
  return spmv_fetch(totals, m.totals, sizeof *totals, exec);
}

SpmvStatus alloc_multiplication(SpmvSpgemm *p, Multiplication *m, SpmvScopedArena *scratch, SpmvExec *exec)
{
  const int64_t rows = m->left.rows, bytes = (rows + 1) * 4;
  void **const  array[] = {(void **)&m->result.row_ptr};

  scratch->arena.chunk_bytes = 17 * rows + (1 << 16);
  SPMV_TRY(spmv_spgemm_hold(p, exec, 1, &bytes, "row_ptr of a product", array));
  SPMV_TRY(scratch->array(rows + 1, "lengths of rows", &m->count));
  SPMV_TRY(scratch->array(rows, "long rows", &m->list[0]));
  SPMV_TRY(scratch->array(rows, "longer rows", &m->list[1]));
  return scratch->array(1, "totals", &m->totals);
}
} // namespace

SpmvStatus spmv_spgemm_multiply(SpmvSpgemm *p, const SpmvSpgemmPattern *left, const SpmvSpgemmPattern *right,
                                SpmvSpgemmPattern *c, SpmvSpgemmTeams *teams, SpmvExec *exec)
{
  const int       area = left->block_rows * right->block_cols;
  SpmvScopedArena scratch(exec);
  Multiplication  m = {*left, *right, {}, spmv_lanes_of_row(*right, 32), nullptr, {nullptr, nullptr}, nullptr};
  Totals          totals;

  m.result.rows       = left->rows;
  m.result.cols       = right->cols;
  m.result.block_rows = left->block_rows;
  m.result.block_cols = right->block_cols;
  SPMV_TRY(alloc_multiplication(p, &m, &scratch, exec));
  const TeamSizes sizes = team_sizes(m);
  SPMV_TRY(count(m, sizes, &scratch.arena, &totals, exec));
  SPMV_TRY(spmv_spgemm_check_count(totals.blocks * area, "the number of nonzeros of a result", exec));
  m.result.nnz = totals.blocks;
  p->multiplications += (double)totals.terms * area * right->block_rows;
  choose_teams(m, totals, sizes, teams);
  const int64_t mark_bytes = teams->mark_lanes > 0 ? m.left.nnz * (teams->narrow_cols / 8) : 0;
  const int64_t bytes[]    = {m.result.nnz * 4, teams->wide * 4, teams->wide * 4, mark_bytes};
  void **const  array[]    = {(void **)&m.result.col, (void **)&teams->wide_row, (void **)&teams->wide_first,
                              &teams->marks};
  SPMV_TRY(spmv_spgemm_hold(p, exec, 1, bytes, "columns of a product", array));
  SPMV_TRY(spmv_spgemm_hold(p, exec, 3, bytes + 1, "teams of a product", array + 1));
  SPMV_TRY(find_columns<true>(m, exec));
  if (teams->mark_lanes > 0) SPMV_TRY(spmv_spgemm_mark(left, right, &m.result, teams, exec));
  if (teams->wide > 0) SPMV_LAUNCH(exec, spmv_spgemm_pieces, spmv_blocks(left->rows, THREADS), THREADS, 0, m, *teams);
  *c = m.result;
  return SPMV_SUCCESS;
}
