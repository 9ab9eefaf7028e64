/*
  spgemm_device_marked.cu - the values of narrow rows of a product of single entries. For each entry of the left matrix
  there are marks, one bit per column of its row of the result: whether the corresponding row of the right matrix has
  that column. As columns ascend in both rows, the number of marks before a column is the column's position in the row
  of the right matrix. So the numeric phase looks up no columns, and each lane of a team keeps the sums of some columns
  in registers, adds to them in the order of the left row, as on the host, and has several right values in flight.
*/
#include "spgemm_device.cuh"
#include <type_traits>

namespace
{
enum { THREADS = 256, RESIDENT = 6, FEW_LANES = 8, MOST_COLS = 4, IN_FLIGHT = 4 };

/* Marks are words of 32 bits, or one of 16 bits for the 4 lanes of short rows */
template <int LANES>
using Word = std::conditional_t<LANES == 4, uint16_t, uint32_t>;

SPMV_BOTH int words_of(const SpmvSpgemmTeams &teams) { return (teams.narrow_cols + 31) / 32; }

/* ---- symbolic phase ---- */

/* Marks of one left entry, whose right row is `from`, in a row of the result with `count` columns. `lanes` lanes share the
   right row, and all of them get the words. */
template <int WORDS>
__device__ inline void find_marks(const SpmvSpgemmPattern &right, int from, int lanes, const int32_t *columns,
                                  int count, unsigned marks[WORDS])
{
  const int end = right.row_ptr[from + 1];

#pragma unroll
  for (int w = 0; w < WORDS; w++) marks[w] = 0;
  for (int j = right.row_ptr[from] + threadIdx.x % lanes; j < end; j += lanes) {
    const int place = spmv_lower_bound(columns, 0, count, right.col[j]);
#pragma unroll
    for (int w = 0; w < WORDS; w++)
      if (place / 32 == w) marks[w] |= 1u << place % 32;
  }
  for (int step = 1; step < lanes; step *= 2)
#pragma unroll
    for (int w = 0; w < WORDS; w++) marks[w] |= __shfl_xor_sync(spmv_team_mask(lanes), marks[w], step);
}

/* Writes the marks of the left entries in narrow rows, and replaces their columns by the begins of the right rows, which
   spares the numeric phase a load that depends on a load. `team` lanes share a left row, `lanes` of them a right row. */
template <typename Word, int WORDS>
__global__ void __launch_bounds__(THREADS)
    spmv_spgemm_write_marks(SpmvSpgemmPattern left, SpmvSpgemmPattern right, SpmvSpgemmPattern result,
                            SpmvSpgemmTeams teams, int team, int lanes)
{
  const int64_t row  = blockIdx.x * (int64_t)(THREADS / team) + threadIdx.x / team;
  const int     lane = threadIdx.x % team;

  if (row >= left.rows) return;
  const int first = result.row_ptr[row], count = result.row_ptr[row + 1] - first;
  if (count > teams.narrow_cols) return;
  for (int k = left.row_ptr[row] + lane / lanes; k < left.row_ptr[row + 1]; k += team / lanes) {
    const int from = left.col[k], begin = right.row_ptr[from];
    unsigned  marks[WORDS];
    find_marks<WORDS>(right, from, lanes, result.col + first, count, marks);
    if (lane % lanes) continue; /* the shuffles are behind the other lanes' loads of left.col[k] */
#pragma unroll
    for (int w = 0; w < WORDS; w++) ((Word *)teams.marks)[(int64_t)k * WORDS + w] = (Word)marks[w];
    left.col[k] = begin < right.row_ptr[from + 1] ? begin : 0; /* a value is loaded there also of an empty row */
  }
}

/* ---- numeric phase ---- */

/* What a lane has loaded of an entry of the left matrix, for all lanes of its team: value, begin of the right row,
   marks */
template <typename S, int WORDS>
struct alignas(2 * sizeof(S)) LeftEntry {
  S        factor;
  int      begin;
  unsigned marks[WORDS];
};

/* begin, end: of the row in the left matrix; first, count: of the row in the result */
struct Row {
  int begin, end, first, count;
};

/* Entry k of the left matrix; behind the end of the row one without marks, and so without products. Its begin is 0, the
   index of a right value, since a row that has columns has products. */
template <typename Word, int WORDS, typename S>
__device__ inline LeftEntry<S, WORDS> load_left(const SpmvSpgemmOperands<S> &m, int k, int end)
{
  LeftEntry<S, WORDS> e = {};

  if (k >= end) return e;
  const Word *marks = (const Word *)m.teams.marks + (int64_t)k * words_of(m.teams);
  e.factor          = __ldg(m.left_values + (m.left.order ? __ldg(m.left.order + k) : k));
  e.begin           = __ldg(m.left.col + k);
#pragma unroll
  for (int w = 0; w < WORDS; w++) e.marks[w] = __ldg(marks + w);
  return e;
}

/* Column c of a lane in its row of the result. Less than 32 lanes own neighbouring columns, whose right values are
   neighbours, too; lanes of a full warp own one column for each word of marks. */
template <int LANES, int COLS>
__device__ inline int column_of(int lane, int c)
{
  return LANES < 32 ? lane * COLS + c : lane + LANES * c;
}

/* Loads the right values that belong to the lane's columns; bit c of the result says whether there is one for c. Where
   there is none, it loads the first of the right row: with a condition around each load the compiler would let some
   loads wait for sums of earlier ones. */
template <int LANES, int COLS, int WORDS, typename S>
__device__ inline unsigned load_right(const S *right, const LeftEntry<S, WORDS> &e, int lane, S value[COLS])
{
  int      at  = e.begin;
  unsigned has = 0;

  if constexpr (LANES < 32) {
    const int first = lane * COLS;
    has             = e.marks[0] >> first & ((1u << COLS) - 1);
    at += __popc(e.marks[0] & ((1u << first) - 1));
#pragma unroll
    for (int c = 0; c < COLS; c++) {
      value[c] = __ldg(right + (has >> c & 1 ? at : e.begin));
      at += has >> c & 1;
    }
  } else {
#pragma unroll
    for (int c = 0; c < WORDS; c++) {
      const unsigned mine = e.marks[c] >> lane & 1;
      value[c]            = __ldg(right + (mine ? at + __popc(e.marks[c] & ((1u << lane) - 1)) : e.begin));
      has |= mine << c;
      at += __popc(e.marks[c]);
    }
  }
  return has;
}

/* Computes a row; each lane has COLS columns. Lanes load a left entry each, the next ones ahead, and pass them on
   through `shared`, the memory of the team. */
template <int LANES, int COLS, typename S>
__device__ inline void add_row(const SpmvSpgemmOperands<S> &m, const Row &row, unsigned char *shared)
{
  enum { WORDS = LANES < 32 ? 1 : COLS, AHEAD = IN_FLIGHT / COLS };
  typedef LeftEntry<S, WORDS> Entry;
  const int                   lane      = threadIdx.x % LANES;
  Entry                      *entries   = (Entry *)shared;
  S                           sum[COLS] = {};
  Entry                       next      = load_left<Word<LANES>, WORDS>(m, row.begin + lane, row.end);

  for (int k0 = row.begin; k0 < row.end; k0 += LANES) {
    const Entry mine = next;
    next             = load_left<Word<LANES>, WORDS>(m, k0 + LANES + lane, row.end);
    __syncwarp(spmv_team_mask(LANES));
    entries[lane] = mine;
    __syncwarp(spmv_team_mask(LANES));
#pragma unroll 1 /* unrolled, it needs more registers than there are */
    for (int k = 0; k < LANES && k0 + k < row.end; k += AHEAD) {
      S        factor[AHEAD], value[AHEAD][COLS];
      unsigned has[AHEAD];
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        const Entry e = entries[k + u];
        factor[u]     = e.factor;
        has[u]        = load_right<LANES, COLS, WORDS>(m.right_values, e, lane, value[u]);
      }
#pragma unroll
      for (int u = 0; u < AHEAD; u++)
#pragma unroll
        for (int c = 0; c < COLS; c++)
          if (has[u] >> c & 1) sum[c] += factor[u] * value[u][c];
    }
  }
#pragma unroll
  for (int c = 0; c < COLS; c++)
    if (column_of<LANES, COLS>(lane, c) < row.count) m.values[row.first + column_of<LANES, COLS>(lane, c)] = sum[c];
}

/* One row per team; all teams of a warp take as many columns per lane as its longest row needs */
template <typename S, int LANES>
__global__ void __launch_bounds__(THREADS, spmv_resident_blocks(THREADS, RESIDENT))
    spmv_spgemm_add_marks(SpmvSpgemmOperands<S> m)
{
  enum { TEAMS = THREADS / LANES, WORDS = LANES < 32 ? 1 : (int)MOST_COLS };
  alignas(16) __shared__ unsigned char shared[TEAMS][LANES * sizeof(LeftEntry<S, WORDS>)];
  const int64_t                        number = blockIdx.x * (int64_t)TEAMS + threadIdx.x / LANES;
  unsigned char                       *own    = shared[threadIdx.x / LANES];
  Row                                  row    = {};

  if (number < m.left.rows) {
    const int first = m.result.row_ptr[number], count = m.result.row_ptr[number + 1] - first;
    if (count > 0 && count <= m.teams.narrow_cols)
      row = {m.left.row_ptr[number], m.left.row_ptr[number + 1], first, count};
  }
  if (!__any_sync(0xffffffffu, row.count > LANES)) add_row<LANES, 1>(m, row, own);
  else if (!__any_sync(0xffffffffu, row.count > 2 * LANES)) add_row<LANES, 2>(m, row, own);
  else if (!__any_sync(0xffffffffu, row.count > 3 * LANES)) add_row<LANES, 3>(m, row, own);
  else add_row<LANES, 4>(m, row, own);
}
} // namespace

SpmvStatus spmv_spgemm_mark(const SpmvSpgemmPattern *left, const SpmvSpgemmPattern *right,
                            const SpmvSpgemmPattern *result, const SpmvSpgemmTeams *teams, SpmvExec *exec)
{
  const int lanes = spmv_lanes_of_row(*right, FEW_LANES), team = max(spmv_lanes_of_row(*left, THREADS), (int)FEW_LANES);
  const auto write = [&](auto kernel) -> SpmvStatus {
    SPMV_LAUNCH(exec, kernel, spmv_blocks(left->rows, THREADS / team), THREADS, 0, *left, *right, *result, *teams, team,
                lanes);
    return SPMV_SUCCESS;
  };

  if (teams->mark_lanes == 4) return write(spmv_spgemm_write_marks<Word<4>, 1>);
  switch (words_of(*teams)) {
  case 1:
    return write(spmv_spgemm_write_marks<Word<32>, 1>);
  case 2:
    return write(spmv_spgemm_write_marks<Word<32>, 2>);
  case 3:
    return write(spmv_spgemm_write_marks<Word<32>, 3>);
  default:
    return write(spmv_spgemm_write_marks<Word<32>, 4>);
  }
}

template <typename S>
SpmvStatus spmv_spgemm_add_marked(const SpmvSpgemmOperands<S> &m, SpmvExec *exec)
{
  const int     lanes  = m.teams.mark_lanes;
  const int64_t blocks = spmv_blocks(m.left.rows, THREADS / lanes);

  if (lanes == 4) SPMV_LAUNCH(exec, (spmv_spgemm_add_marks<S, 4>), blocks, THREADS, 0, m);
  else if (lanes == 8) SPMV_LAUNCH(exec, (spmv_spgemm_add_marks<S, 8>), blocks, THREADS, 0, m);
  else SPMV_LAUNCH(exec, (spmv_spgemm_add_marks<S, 32>), blocks, THREADS, 0, m);
  return SPMV_SUCCESS;
}

template SpmvStatus spmv_spgemm_add_marked(const SpmvSpgemmOperands<float> &, SpmvExec *);
template SpmvStatus spmv_spgemm_add_marked(const SpmvSpgemmOperands<double> &, SpmvExec *);
