/*
  spgemm_device_numeric.cu - the values of a product on the device: of blocks, and of wide rows; those of narrow rows of
  single entries are in spgemm_device_marked.cu. A team of 32 lanes holds the sums of a piece of a block row of the
  result in shared memory and goes along the row of the left matrix, 32 blocks at a time: it looks up where all right
  blocks that these meet lie in the piece, then adds one left block after the other, whose right entries the lanes share
  and add to different sums. Where right rows are short, groups of lanes load several left blocks, and add them in turn.
  So each sum has the order of the left row, as on the host. If left rows are long and pieces are few, the teams of a
  thread block take parts of the left row, and the sums of the parts are added in their order.
*/
#include "spgemm_device.cuh"

namespace
{
enum { LANES = 32, THREADS = 256, WIDE_THREADS = 128, MOST_ROWS = 3, MOST_INNER = 6, PLACES = 128 };

/* Which teams work on a piece; a thread block has teams for several pieces, or for the parts of one */
enum Teams { MEDIUM, WIDE, IN_PARTS };

/* R rows of a left block times a right block of INNER x COLS, known at compile time; 0: known at run time only */
template <int R, int INNER, int COLS>
struct Shape {
  enum {
    FIXED     = R > 0,
    SINGLE    = R == 1 && INNER == 1 && COLS == 1,
    R_MAX     = R ? R : MOST_ROWS,
    INNER_MAX = INNER ? INNER : MOST_INNER
  };
  int run_rows, run_inner, run_cols;

  __device__ int rows() const { return R ? R : run_rows; }
  __device__ int inner() const { return INNER ? INNER : run_inner; }
  __device__ int cols() const { return COLS ? COLS : run_cols; }
};

/* The operands, the number of teams for the rows of a block, and how many lanes share a left block */
template <typename S>
struct Operands : SpmvSpgemmOperands<S> {
  int splits, group;
};

/* Thread blocks per multiprocessor for __launch_bounds__: as many as shared memory and the registers of a shape allow */
template <typename Shape, Teams TEAMS>
constexpr int resident()
{
  if (TEAMS == WIDE) return Shape::INNER_MAX > 3 ? 4 : 5;
  if (TEAMS == IN_PARTS || !Shape::FIXED || Shape::INNER_MAX > 3) return 2;
  return spmv_resident_blocks(THREADS, Shape::SINGLE ? 6 : 4);
}

/* Right entries that a lane loads before it adds them: right rows of wide rows are long */
template <typename Shape, Teams TEAMS>
__host__ __device__ constexpr int in_flight()
{
  return TEAMS != WIDE ? 1 : Shape::INNER_MAX > 3 ? 2 : 3;
}

/* The part of the result that a team computes: `count` blocks of a block row, from block `first` on, and in each the
   rows from first_row on */
struct Piece {
  int row, first_row, begin, length, first, count; /* begin, length: of the block row in the result */
};

/* A block of the left matrix: the index of its first value and the distance of its rows; begin and length of the
   corresponding row of the right matrix; and the range first .. end-1 of it that falls into the piece */
struct LeftBlock {
  int values, stride, begin, length, first, end;
};

/* What another lane of the team has in `mine` */
__device__ inline int from(int mine, int lane) { return __shfl_sync(0xffffffffu, mine, lane); }

template <Teams TEAMS, typename S>
__device__ inline bool find_piece(const Operands<S> &m, int rows, int64_t item, Piece *piece)
{
  const int64_t number = item / m.splits;

  if (number >= (TEAMS == MEDIUM ? m.result.rows : m.teams.wide)) return false;
  piece->row       = TEAMS == MEDIUM ? (int)number : m.teams.wide_row[number];
  piece->first_row = (int)(item % m.splits) * rows;
  piece->begin     = m.result.row_ptr[piece->row];
  piece->length    = m.result.row_ptr[piece->row + 1] - piece->begin;
  piece->first     = TEAMS == MEDIUM ? 0 : m.teams.wide_first[number];
  piece->count     = TEAMS == MEDIUM ? piece->length : min(m.teams.wide_cols, piece->length - piece->first);
  return piece->count > 0 && (TEAMS != MEDIUM || piece->count <= m.teams.narrow_cols);
}

/* Block k of the left matrix, in block row `row` */
template <Teams TEAMS, typename S>
__device__ inline LeftBlock load_left(const Operands<S> &m, const Piece &piece, int k, const int *columns)
{
  const SpmvSpgemmPattern &left = m.left;
  const int                area = left.block_rows * left.block_cols, from = left.col[k];
  LeftBlock                b;

  if (left.order) { /* the values are those of the transposed block in row `from` of the original */
    const int begin = left.origin_ptr[from];
    b.stride        = (left.origin_ptr[from + 1] - begin) * left.block_rows;
    b.values        = begin * area + (left.order[k] - begin) * left.block_rows;
  } else {
    const int begin = left.row_ptr[piece.row];
    b.stride        = (left.row_ptr[piece.row + 1] - begin) * left.block_cols;
    b.values        = begin * area + (k - begin) * left.block_cols;
  }
  b.begin  = m.right.row_ptr[from];
  b.length = m.right.row_ptr[from + 1] - b.begin;
  b.first  = b.begin;
  b.end    = b.begin + b.length;
  if (TEAMS != MEDIUM && piece.count < piece.length) {
    b.first = spmv_lower_bound(m.right.col, b.first, b.end, columns[0]);
    b.end   = spmv_lower_bound(m.right.col, b.first, b.end, columns[piece.count - 1] + 1);
  }
  return b;
}

/* Gets the block that lane `lane` has loaded */
__device__ inline LeftBlock take_left(const LeftBlock &mine, int lane)
{
  LeftBlock b;

  b.values = from(mine.values, lane);
  b.stride = from(mine.stride, lane);
  b.begin  = from(mine.begin, lane);
  b.length = from(mine.length, lane);
  b.first  = from(mine.first, lane);
  b.end    = from(mine.end, lane);
  return b;
}

/* Loads the values of the team's rows of a left block; entries beyond the shape stay undefined */
template <typename Shape, typename S>
__device__ inline void load_factors(const Operands<S> &m, const Shape &shape, const Piece &piece, const LeftBlock &b,
                                    S factor[Shape::R_MAX][Shape::INNER_MAX])
{
  const int row_step = m.left.order ? 1 : b.stride, inner_step = m.left.order ? b.stride : 1;

#pragma unroll
  for (int r = 0; r < Shape::R_MAX; r++)
#pragma unroll
    for (int l = 0; l < Shape::INNER_MAX; l++)
      if (r < shape.rows() && l < shape.inner())
        factor[r][l] = __ldg(m.left_values + b.values + (piece.first_row + r) * row_step + l * inner_step);
}

/* Up to 32 left blocks, one in each lane of the team, and the right blocks that they meet, laid end to end: those of this
   lane's left block begin at `before`; there are `all` */
struct Meeting {
  LeftBlock left;
  int       before, all;
};

template <Teams TEAMS, typename S>
__device__ inline Meeting meet(const Operands<S> &m, const Piece &piece, int k0, int end, const int *columns)
{
  const int lane = threadIdx.x % LANES;
  Meeting   w    = {load_left<TEAMS>(m, piece, min(k0 + lane, end - 1), columns), 0, 0};

  if (k0 + lane >= end) w.left.end = w.left.first;
  const int count = w.left.end - w.left.first;
  w.all           = count;
  for (int step = 1; step < LANES; step *= 2) {
    const int more = __shfl_up_sync(0xffffffffu, w.all, step);
    if (lane >= step) w.all += more;
  }
  w.before = w.all - count;
  w.all    = from(w.all, LANES - 1);
  return w;
}

/* Looks up where the right blocks base .. limit-1 of the meeting lie in the piece */
template <typename S>
__device__ inline void find_places(const Operands<S> &m, const Piece &piece, const Meeting &w, int base, int limit,
                                   const int *columns, int *places)
{
  const int lane = threadIdx.x % LANES;

  for (int f0 = base; f0 < limit; f0 += LANES) {
    const int f     = min(f0 + lane, limit - 1);
    int       owner = 0;
    for (int step = LANES / 2; step > 0; step /= 2)
      if (from(w.before, owner + step) <= f) owner += step;
    const int j     = from(w.left.first, owner) + f - from(w.before, owner);
    const int found = spmv_lower_bound(columns, 0, piece.count, __ldg(m.right.col + j));
    if (f0 + lane < limit) places[f - base] = found;
  }
}

/* A left block, and which right entries it meets */
template <typename Shape, typename S>
struct Loaded {
  S        factor[Shape::R_MAX][Shape::INNER_MAX];
  const S *right; /* the first of these entries */
  int      step, place, entries;
};

/* Loads left block q of the meeting, with its right blocks between base and limit */
template <typename Shape, typename S>
__device__ inline void load(const Operands<S> &m, const Shape &shape, const Piece &piece, const Meeting &w, int q,
                            int base, int limit, Loaded<Shape, S> *l)
{
  const LeftBlock b      = take_left(w.left, q);
  const int       before = from(w.before, q), first = max(before, base);

  l->place   = first - base;
  l->entries = max(0, min(before + b.end - b.first, limit) - first) * shape.cols();
  l->step    = b.length * shape.cols();
  l->right   = m.right_values + (int64_t)b.begin * shape.inner() * shape.cols() +
             (b.first + first - before - b.begin) * shape.cols();
  if (l->entries > 0) load_factors(m, shape, piece, b, l->factor);
}

/* Several right entries of a lane, so that their loads are in flight together */
template <int COUNT, typename Shape, typename S>
struct Entries {
  S other[COUNT][Shape::INNER_MAX];

  __device__ inline void load(const Shape &shape, const Loaded<Shape, S> &l, int e, int stride)
  {
#pragma unroll
    for (int k = 0; k < COUNT; k++)
      if (e + k * stride < l.entries)
#pragma unroll
        for (int i = 0; i < Shape::INNER_MAX; i++)
          if (i < shape.inner()) other[k][i] = __ldg(l.right + e + k * stride + i * l.step);
  }

  __device__ inline void add(const Shape &shape, const Loaded<Shape, S> &l, int e, int stride, int width,
                             const int *places, S *sums) const
  {
    const int cols = shape.cols();

#pragma unroll
    for (int k = 0; k < COUNT; k++) {
      const int at = e + k * stride;
      if (at >= l.entries) break;
      S *sum = sums + places[l.place + at / cols] * cols + at % cols;
#pragma unroll
      for (int r = 0; r < Shape::R_MAX; r++)
        if (r < shape.rows()) {
          S all = sum[r * width];
#pragma unroll
          for (int i = 0; i < Shape::INNER_MAX; i++)
            if (i < shape.inner()) all += l.factor[r][i] * other[k][i];
          sum[r * width] = all;
        }
    }
  }
};

/* Adds the products of the meeting with right blocks between base and limit. Groups of lanes load left blocks at a time,
   and add them in their order. */
template <int COUNT, typename Shape, typename S>
__device__ inline void add_meeting(const Operands<S> &m, const Shape &shape, const Piece &piece, const Meeting &w,
                                   int base, int limit, const int *places, S *sums)
{
  const int groups = LANES / m.group, mine = threadIdx.x % LANES / m.group, first = threadIdx.x % m.group;
  const int width = piece.count * shape.cols();

  for (int q = 0; q < LANES && from(w.before, q) < limit; q += groups) {
    Loaded<Shape, S>         l;
    Entries<COUNT, Shape, S> entries;

    load(m, shape, piece, w, q + mine, base, limit, &l);
    entries.load(shape, l, first, m.group);
    for (int turn = 0; turn < groups; turn++) {
      if (turn == mine)
        for (int e = first; e < l.entries; e += COUNT * m.group) {
          if (e != first) entries.load(shape, l, e, m.group);
          entries.add(shape, l, e, m.group, width, places, sums);
        }
      __syncwarp();
    }
  }
}

/* Adds the products of the left blocks begin .. end-1 to the sums */
template <Teams TEAMS, typename Shape, typename S>
__device__ inline void add_blocks(const Operands<S> &m, const Shape &shape, const Piece &piece, int begin, int end,
                                  const int *columns, int *places, S *sums)
{
  for (int k0 = begin; k0 < end; k0 += LANES) {
    const Meeting w = meet<TEAMS>(m, piece, k0, end, columns);
    for (int base = 0; base < w.all; base += PLACES) {
      const int limit = min(base + (int)PLACES, w.all);
      find_places(m, piece, w, base, limit, columns, places);
      __syncwarp();
      add_meeting<in_flight<Shape, TEAMS>()>(m, shape, piece, w, base, limit, places, sums);
    }
  }
}

__host__ __device__ constexpr int threads_of(Teams teams) { return teams == WIDE ? WIDE_THREADS : THREADS; }

template <typename S, typename Shape, Teams TEAMS>
__global__ void __launch_bounds__(threads_of(TEAMS), resident<Shape, TEAMS>())
    spmv_spgemm_sum(Operands<S> m, Shape shape)
{
  enum {
    SUMS   = TEAMS == WIDE ? (int)SPMV_WIDE_SUMS : (int)SPMV_MEDIUM_SUMS,
    BLOCKS = TEAMS == WIDE ? (int)SPMV_WIDE_BLOCKS : (int)SPMV_MEDIUM_BLOCKS,
    NUMBER = threads_of(TEAMS) / LANES, /* of teams */
    PIECES = TEAMS == IN_PARTS ? 1 : NUMBER,
    PARTS  = NUMBER / PIECES
  };
  __shared__ S   all_sums[NUMBER][SUMS];
  __shared__ int all_columns[PIECES][BLOCKS], all_places[NUMBER][PLACES];
  const int      team = threadIdx.x / LANES, part = PARTS > 1 ? team : 0, group = LANES * PARTS;
  const int      lane    = threadIdx.x % group;
  S             *sums    = all_sums[team];
  int           *columns = all_columns[PARTS > 1 ? 0 : team];
  Piece          piece;

  if (!find_piece<TEAMS>(m, shape.rows(), blockIdx.x * (int64_t)PIECES + team / PARTS, &piece)) return;
  const int     width = piece.count * shape.cols(), begin = m.left.row_ptr[piece.row];
  const int64_t length = m.left.row_ptr[piece.row + 1] - begin;
  for (int q = lane; q < piece.count; q += group) columns[q] = m.result.col[piece.begin + piece.first + q];
  for (int q = threadIdx.x % LANES; q < shape.rows() * width; q += LANES) sums[q] = 0;
  if (PARTS > 1) __syncthreads();
  else __syncwarp();
  add_blocks<TEAMS>(m, shape, piece, begin + (int)(length * part / PARTS), begin + (int)(length * (part + 1) / PARTS),
                    columns, all_places[team], sums);
  if (PARTS > 1) __syncthreads();
  const int64_t first = (int64_t)piece.begin * m.result.block_rows * shape.cols();
  for (int r = 0; r < shape.rows(); r++)
    for (int q = lane; q < width; q += group) {
      S sum = all_sums[PARTS > 1 ? 0 : team][r * width + q];
      for (int other = 1; other < PARTS; other++) sum += all_sums[other][r * width + q];
      m.values[first + ((int64_t)(piece.first_row + r) * piece.length + piece.first) * shape.cols() + q] = sum;
    }
}

template <typename S, typename Shape>
SpmvStatus launch(const Operands<S> &m, const Shape &shape, SpmvExec *exec)
{
  const int64_t rows = m.result.rows * m.splits, pieces = m.teams.wide * m.splits;

  if (m.teams.narrow_cols > 0 && m.teams.mark_lanes == 0)
    SPMV_LAUNCH(exec, (spmv_spgemm_sum<S, Shape, MEDIUM>), spmv_blocks(rows, THREADS / LANES), THREADS, 0, m, shape);
  if (m.teams.in_parts) SPMV_LAUNCH(exec, (spmv_spgemm_sum<S, Shape, IN_PARTS>), pieces, THREADS, 0, m, shape);
  else
    SPMV_LAUNCH(exec, (spmv_spgemm_sum<S, Shape, WIDE>), spmv_blocks(pieces, WIDE_THREADS / LANES), WIDE_THREADS, 0, m,
                shape);
  return SPMV_SUCCESS;
}

/* As many lanes as a right row has entries on average, but at least 8 */
int group_of(const SpmvSpgemmPattern &right)
{
  int lanes = 8;

  while (lanes < LANES && lanes * right.rows < right.nnz * right.block_cols) lanes *= 2;
  return lanes;
}

template <typename S>
SpmvStatus multiply(const SpmvSpgemmOperands<S> &operands, SpmvExec *exec)
{
  const int rows = spmv_team_rows(operands.left.block_rows), inner = operands.left.block_cols,
            cols      = operands.right.block_cols;
  const Operands<S> m = {operands, operands.left.block_rows / rows, group_of(operands.right)};

  if (m.teams.mark_lanes > 0) SPMV_TRY(spmv_spgemm_add_marked(operands, exec));
  if (rows == 1 && inner == 1 && cols == 1) return launch(m, Shape<1, 1, 1>{rows, inner, cols}, exec);
  if (rows == 3 && inner == 3 && cols == 3) return launch(m, Shape<3, 3, 3>{rows, inner, cols}, exec);
  if (rows == 3 && inner == 3 && cols == 6) return launch(m, Shape<3, 3, 6>{rows, inner, cols}, exec);
  if (rows == 3 && inner == 6 && cols == 6) return launch(m, Shape<3, 6, 6>{rows, inner, cols}, exec);
  return launch(m, Shape<0, 0, 0>{rows, inner, cols}, exec);
}
} // namespace

SpmvStatus spmv_spgemm_values(const SpmvSpgemm *p, const SpmvSpgemmPattern *left, const void *left_values,
                              const SpmvSpgemmPattern *right, const void *right_values, const SpmvSpgemmPattern *c,
                              const SpmvSpgemmTeams *teams, void *values, SpmvExec *exec)
{
  return spmv_with_scalar(p->scalar_type, [&](auto number) {
    typedef decltype(number) S;
    return multiply(
        SpmvSpgemmOperands<S>{*left, *right, *c, *teams, (const S *)left_values, (const S *)right_values, (S *)values},
        exec);
  });
}
