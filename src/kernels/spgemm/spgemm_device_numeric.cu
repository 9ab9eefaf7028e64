/*
  spgemm_device_numeric.cu - the values of a product on the device: of blocks, and of wide rows; those of narrow rows of
  single entries are in spgemm_device_marked.cu. A team of 32 lanes holds the sums of a piece of a block row of the
  result in shared memory and goes along the row of the left matrix. For each left block, the lanes share the entries of
  the corresponding row of the right matrix, and add to different sums. So each sum has the order of the left row, as on
  the host. If left rows are long and pieces are few, the teams of a thread block take parts of the left row, and the
  sums of the parts are added in their order.
*/
#include "spgemm_device.cuh"

namespace
{
enum { LANES = 32, THREADS = 256, WIDE_THREADS = 128, MOST_ROWS = 3, MOST_INNER = 6 };

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

/* The operands, and the number of teams for the rows of a block */
template <typename S>
struct Operands : SpmvSpgemmOperands<S> {
  int splits;
};

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

/* Adds the products of one left block to the sums. The lanes first look up the positions of right blocks in the piece,
   one block per lane, and then share the entries. */
template <typename Shape, typename S>
__device__ inline void add_block(const Operands<S> &m, const Shape &shape, const Piece &piece, const LeftBlock &b,
                                 const int *columns, S *sums)
{
  const int lane = threadIdx.x % LANES, cols = shape.cols(), width = piece.count * cols, step = b.length * cols;
  const S  *right = m.right_values + (int64_t)b.begin * shape.inner() * cols;
  S         factor[Shape::R_MAX][Shape::INNER_MAX];

  load_factors(m, shape, piece, b, factor);
  for (int j0 = b.first; j0 < b.end; j0 += LANES) {
    const int j = min(j0 + lane, b.end - 1), entries = min((int)LANES, b.end - j0) * cols;
    const int found = spmv_lower_bound(columns, 0, piece.count, __ldg(m.right.col + j));
    for (int e0 = 0; e0 < entries; e0 += LANES) {
      const int e = e0 + lane, place = Shape::SINGLE ? found : from(found, min(e / cols, LANES - 1));
      if (e >= entries) continue;
      const S *value = right + (j0 - b.begin) * cols + e;
      S       *sum   = sums + place * cols + e % cols;
      S        other[Shape::INNER_MAX];
#pragma unroll
      for (int l = 0; l < Shape::INNER_MAX; l++)
        if (l < shape.inner()) other[l] = __ldg(value + l * step);
#pragma unroll
      for (int r = 0; r < Shape::R_MAX; r++)
        if (r < shape.rows()) {
          S all = sum[r * width];
#pragma unroll
          for (int l = 0; l < Shape::INNER_MAX; l++)
            if (l < shape.inner()) all += factor[r][l] * other[l];
          sum[r * width] = all;
        }
    }
  }
}

/* Adds the products of the left blocks begin .. end-1 to the sums */
template <Teams TEAMS, typename Shape, typename S>
__device__ inline void add_blocks(const Operands<S> &m, const Shape &shape, const Piece &piece, int begin, int end,
                                  const int *columns, S *sums)
{
  for (int k0 = begin; k0 < end; k0 += LANES) {
    const LeftBlock mine = load_left<TEAMS>(m, piece, min(k0 + (int)threadIdx.x % LANES, end - 1), columns);
    for (int k = 0; k < LANES && k0 + k < end; k++) {
      add_block(m, shape, piece, take_left(mine, k), columns, sums);
      __syncwarp();
    }
  }
}

/* Thread blocks per multiprocessor for __launch_bounds__: as many as shared memory and the registers of a shape
   allow */
template <typename Shape, Teams TEAMS>
constexpr int resident()
{
  if (TEAMS == WIDE) return 5;
  if (TEAMS == IN_PARTS || !Shape::FIXED || Shape::INNER_MAX > 3) return 2;
  return spmv_resident_blocks(THREADS, Shape::SINGLE ? 6 : 4);
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
  __shared__ int all_columns[PIECES][BLOCKS];
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
                    columns, sums);
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

template <typename S>
SpmvStatus multiply(const SpmvSpgemmOperands<S> &operands, SpmvExec *exec)
{
  const int rows = spmv_team_rows(operands.left.block_rows), inner = operands.left.block_cols,
            cols      = operands.right.block_cols;
  const Operands<S> m = {operands, operands.left.block_rows / rows};

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
