/* factor_device_analysis.cu - the analysis of a pattern on the device: checks, nodes, levels, orders, and the arrays of
   the factor and its triangles. One launch finds the levels of a triangle: rows wait for rows, as in a solve. */
#include "device/csr.cuh"
#include "device/staging.h"
#include "factor_turns.cuh"

namespace
{
enum { ALL_LANES = -1 };
enum { THREADS = 128, LANES = 4, TEAM = (1 << LANES) - 1 }; /* LANES lanes read a row */

/* What the device tells the host */
struct Found {
  uint32_t           is_wrong; /* some row cannot be factored */
  uint32_t           unused;
  unsigned long long kept, upper; /* SpmvFactorSize */
  int32_t            levels[SPMV_TRIANGLES], widest[SPMV_TRIANGLES];
};

/* The matrix on the device */
struct Matrix {
  int32_t     *row_ptr, *col, *diagonal; /* [rows+1], [nnz], [rows]: the diagonal entry of a row */
  SpmvDivision division;
  int32_t      rows, nnz;
};

/* Memory for a while */
struct Work {
  uint8_t *joins;                  /* [rows]: whether the columns of a row are those of the row before */
  int32_t *level, *sorted, *order; /* [rows] each, in natural order; then sorted. level is also the place of a row. */
  Found   *there, here;            /* on the device and on the host */
};

/* ---- the pattern ---- */

/* Finds diagonal entries, rows with equal columns in one block, and what is wrong. No entry beyond the arrays is read,
   whatever is in them. */
__global__ void __launch_bounds__(THREADS) spmv_factor_inspect(Matrix a, uint8_t *joins, Found *found)
{
  __shared__ uint32_t kept, upper; /* of this block */
  const int64_t       row  = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / LANES;
  const int32_t       lane = (int32_t)threadIdx.x % LANES, team = (int32_t)threadIdx.x % 32 / LANES * LANES;
  const int64_t       last  = row < a.rows ? row : a.rows - 1;
  const int64_t       begin = a.row_ptr[last], end = a.row_ptr[last + 1], size = end - begin;
  const int64_t       before = last > 0 ? a.row_ptr[last - 1] : -1;
  bool is_wrong = begin < 0 || end > a.nnz || (last == 0 && begin != 0) || (last == a.rows - 1 && end != a.nnz);
  bool is_other = before < 0 || begin - before != size, has_diagonal = false;

  if (threadIdx.x == 0) kept = upper = 0;
  __syncthreads();
  for (int64_t k = begin + lane; !is_wrong && k < end; k += LANES) {
    const int32_t c = a.col[k];

    is_wrong = c < 0 || c >= a.rows || (k > begin && a.col[k - 1] >= c);
    is_other = is_other || a.col[k - size] != c;
    if (c != last || row >= a.rows) continue;
    has_diagonal       = true;
    a.diagonal[row]    = (int32_t)k;
    const SpmvRange in = spmv_kept_of(&a.division, a.row_ptr, a.col, (int32_t)row);
    atomicAdd(&kept, (uint32_t)(in.end - in.first));
    atomicAdd(&upper, (uint32_t)(in.end - k - 1));
  }
  const unsigned wrongs = __ballot_sync((unsigned)ALL_LANES, is_wrong) >> team & TEAM;
  const unsigned others = __ballot_sync((unsigned)ALL_LANES, is_other) >> team & TEAM;
  const unsigned finds  = __ballot_sync((unsigned)ALL_LANES, has_diagonal) >> team & TEAM;
  if (row < a.rows && lane == 0) {
    joins[row] = !others && row > spmv_block_of(&a.division, (int32_t)row).first;
    if (wrongs || !finds) found->is_wrong = 1;
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  atomicAdd(&found->kept, (unsigned long long)kept);
  atomicAdd(&found->upper, (unsigned long long)upper);
}

/* Uploads and inspects the pattern; the host waits */
SpmvStatus inspect(const SpmvPattern *p, const Matrix &a, Work *w, SpmvExec *exec)
{
  SpmvFactorSize size;

  SPMV_TRY(spmv_copy(a.row_ptr, SPMV_DEVICE, p->row_ptr, SPMV_HOST, 4 * ((int64_t)a.rows + 1), exec));
  SPMV_TRY(spmv_copy(a.col, SPMV_DEVICE, p->col, SPMV_HOST, 4 * (int64_t)a.nnz, exec));
  SPMV_CUDA(exec, cudaMemsetAsync(w->there, 0, sizeof *w->there, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, spmv_factor_inspect, spmv_blocks((int64_t)a.rows * LANES, THREADS), THREADS, 0, a, w->joins,
              w->there);
  SPMV_TRY(spmv_fetch(&w->here, w->there, sizeof w->here, exec));
  if (!w->here.is_wrong) return SPMV_SUCCESS;
  SPMV_TRY(spmv_factor_check(p, &a.division, &size, exec)); /* says what is wrong */
  return spmv_fail(exec, SPMV_ERR_MATRIX, "a factorization: the pattern was changed during the analysis");
}

/* ---- levels and order ---- */

/* The rows of the node that begins with this row; 0: the row is not the first one of its node. Rows whose columns are equal
   have as many entries as there are such rows, so that looking back costs no more than reading a row. */
__device__ inline int32_t rows_of_node(const uint8_t *joins, int32_t most, int32_t row, int32_t rows)
{
  int32_t first = row, end = row + 1;

  while (joins[first]) first--;
  if ((row - first) % most) return 0;
  while (end < rows && end - row < most && joins[end]) end++;
  return end - row;
}

/* nodes [rows]: the first row of the node of a row */
__global__ void __launch_bounds__(THREADS)
    spmv_factor_find_nodes(const uint8_t *joins, int32_t most, int32_t rows, int32_t *nodes)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  const int32_t end = row < rows ? (int32_t)row + rows_of_node(joins, most, (int32_t)row, rows) : 0;

  for (int64_t i = row; i < end; i++) nodes[i] = (int32_t)row;
}

/* Reads the entries that the rows of a node have outside of it: of one row, or, in a transpose, whose rows of a node
   may differ, of all. It looks at a few entries at once, so that the trips to memory overlap, but waits for one: all threads
   wait at a time, and their looks slow each other down. */
struct Reader {
  enum { AT_ONCE = 3 }; /* four would need registers that a full multiprocessor lacks */

  int32_t first, end, row; /* rows of the node, and the one that is read */
  int32_t at, left;        /* the next entry of that row, and how many there are from it on */
  int32_t width;           /* how many are looked at */
  int32_t level;           /* above the levels of all rows before */

  __device__ inline void begin(const SpmvPart &t, int32_t which)
  {
    row   = which;
    at    = spmv_part_entry(&t, row, 0);
    left  = spmv_part_length(&t, row) - (t.is_upper ? end - 1 - row : row - first);
    width = AT_ONCE;
  }
  /* Goes on to the first entry whose level is not there; returns whether there is none */
  __device__ inline bool look(const SpmvPart &t, const SpmvMail<int32_t> &mail)
  {
    const int32_t step = t.is_upper ? -1 : 1;
    bool          is_there[AT_ONCE];
    int32_t       before[AT_ONCE], read = 0;

#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
      is_there[i] = i < width && i < left && mail.take<false>(mail.of(t.col[at + i * step]), before[i]);
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
      if (read < i || !is_there[i]) continue;
      if (before[i] >= level) level = before[i] + 1;
      read++;
    }
    width = read > 0 ? AT_ONCE : 1;
    at += read * step;
    left -= read;
    return left == 0;
  }
};

/* Writes level [rows] and order [rows] in natural order. A thread has the rows of a node. Lanes of a warp may wait for each
   other, so that all stay in the loop until all have sent. */
__global__ void __launch_bounds__(THREADS, spmv_resident_blocks(THREADS, 16))
    spmv_factor_find_levels(SpmvPart t, int is_transpose, const uint8_t *joins, int32_t most, SpmvTurns *turns,
                            uint64_t *words, int32_t *level, int32_t *order)
{
  SpmvMail<int32_t> mail  = {words, 0};
  const int64_t     n     = (int64_t)spmv_draw_ticket(turns, mail.epoch) * THREADS + threadIdx.x;
  const int32_t     first = n < t.rows ? spmv_part_row(&t, (int32_t)n) : 0;
  const int32_t     rows  = n < t.rows ? rows_of_node(joins, most, first, t.rows) : 0;
  Reader            r     = {first, first + rows, 0, 0, 0, 0, 0};
  bool              ended = rows == 0;

  if (n < t.rows) order[n] = first;
  if (!ended) r.begin(t, is_transpose ? first : r.end - 1);
  for (int tries = 1; !__all_sync((unsigned)ALL_LANES, ended); tries++) {
    if (ended) continue;
    if (!r.look(t, mail)) {
      SPMV_KERNEL_YIELD(tries);
      continue;
    }
    ended = r.row + 1 == r.end;
    if (!ended) r.begin(t, r.row + 1);
    for (int32_t row = first; ended && row < r.end; row++) {
      level[spmv_part_row(&t, row)] = r.level;
      mail.send(mail.of(row), r.level);
    }
  }
  spmv_leave(turns);
}

/* After the sort: where each row is, and the number and the largest size of levels */
__global__ void __launch_bounds__(THREADS) spmv_factor_place(const int32_t *sorted, const int32_t *row, int32_t rows,
                                                             int32_t *place, int32_t *levels, int32_t *widest)
{
  const int64_t q = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (q >= rows) return;
  const int32_t level = sorted[q];
  place[row[q]]       = (int32_t)q;
  if (q == rows - 1) *levels = level + 1;
  if (q == 0 || sorted[q - 1] != level)
    atomicMax(widest, spmv_first_without((int32_t)(rows - q), [&](int32_t i) { return sorted[q + i] == level; }));
}

/* ---- triangles ---- */

struct PartLength {
  SpmvPart                  part;
  const int32_t            *row;
  __device__ inline int32_t operator()(int64_t place) const { return spmv_part_length(&part, row[place]); }
};

__global__ void __launch_bounds__(THREADS) spmv_factor_arrange(SpmvPart part, const int32_t *place_of, SpmvTriangle t)
{
  const int64_t place = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / LANES;

  if (place >= part.rows) return;
  const int32_t row = t.row[place], length = spmv_part_length(&part, row);
  for (int64_t k = (int64_t)threadIdx.x % LANES; k < length; k += LANES) {
    const int32_t entry = spmv_part_entry(&part, row, (int32_t)k);
    const int64_t at    = t.row_ptr[place] + k;
    t.col[at]           = place_of[part.col[entry]];
    t.from[at]          = part.from ? part.from[entry] : entry;
  }
}

SpmvStatus put_triangle(SpmvFactorization *f, int which, const SpmvPart &part, const Work &w, SpmvExec *exec)
{
  const int64_t       n = f->rows, upper = (int64_t)w.here.upper;
  const bool          of_lower = which == SPMV_LOWER || which == SPMV_LOWER_T;
  SpmvTriangle *const t        = spmv_factor_give(f, which, of_lower ? f->info.factor_nonzeros - n - upper : upper);
  SpmvScopedArena     temporary(exec);

  temporary.arena.chunk_bytes = 8 * n + (1 << 16);
  SPMV_LAUNCH(exec, spmv_factor_find_levels, spmv_blocks(n, THREADS), THREADS, 0, part,
              which == SPMV_UPPER_T || which == SPMV_LOWER_T, w.joins, spmv_factor_node_rows(f), (SpmvTurns *)f->turns,
              f->mail, w.level, w.order);
  SPMV_TRY(spmv_sort_pairs(w.level, w.sorted, w.order, t->row, f->rows, n, &temporary.arena, exec));
  SPMV_LAUNCH(exec, spmv_factor_place, spmv_blocks(n, THREADS), THREADS, 0, w.sorted, t->row, f->rows, w.level,
              &w.there->levels[which], &w.there->widest[which]);
  SPMV_TRY(spmv_sum_each_before(PartLength{part, t->row}, t->row_ptr, n, &temporary.arena, exec));
  SPMV_LAUNCH(exec, spmv_factor_arrange, spmv_blocks(n * LANES, THREADS), THREADS, 0, part, w.level, *t);
  return SPMV_SUCCESS;
}

__global__ void __launch_bounds__(THREADS)
    spmv_factor_find_diagonals(const int32_t *row_ptr, const int32_t *col, int32_t rows, int32_t *diagonal)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (row >= rows) return;
  const int32_t begin = row_ptr[row];
  diagonal[row] =
      begin + spmv_first_not_below(row_ptr[row + 1] - begin, (int32_t)row, [&](int32_t k) { return col[begin + k]; });
}

/* The triangles of the transpose of the factor. A stable sort keeps the rows of each column in order. */
SpmvStatus put_transposes(SpmvFactorization *f, const Work &w, SpmvExec *exec)
{
  const int64_t   n = f->rows, entries = f->info.factor_nonzeros;
  SpmvScopedArena scratch(exec);
  int32_t        *row_ptr, *col, *from, *diagonal;

  scratch.arena.chunk_bytes = 8 * (n + entries) + (1 << 12);
  SPMV_TRY(scratch.array(n + 1, "row pointers of the transpose", &row_ptr));
  SPMV_TRY(scratch.array(n, "diagonal of the transpose", &diagonal));
  SPMV_TRY(scratch.array(entries, "columns of the transpose", &col));
  SPMV_TRY(scratch.array(entries, "order of the transpose", &from));
  SPMV_TRY(spmv_transpose_pattern(n, n, entries, f->factor.row_ptr, f->factor.col,
                                  SpmvTransposed<int32_t, int32_t>{row_ptr, col, from}, exec));
  SPMV_LAUNCH(exec, spmv_factor_find_diagonals, spmv_blocks(n, THREADS), THREADS, 0, row_ptr, col, f->rows, diagonal);
  if (f->triangle[SPMV_LOWER_T].row_ptr)
    SPMV_TRY(put_triangle(f, SPMV_LOWER_T, SpmvPart{row_ptr, col, diagonal, from, f->rows, 1}, w, exec));
  return put_triangle(f, SPMV_UPPER_T, SpmvPart{row_ptr, col, diagonal, from, f->rows, 0}, w, exec);
}

/* ---- the factor ---- */

/* Entries of a row of the factor */
struct PartSize {
  Matrix                    a;
  int                       is_icc;
  __device__ inline int32_t operator()(int64_t row) const
  {
    const SpmvRange kept = spmv_kept_of(&a.division, a.row_ptr, a.col, (int32_t)row);
    return kept.end - (is_icc ? a.diagonal[row] : kept.first);
  }
};

__global__ void __launch_bounds__(THREADS) spmv_factor_take_part(Matrix a, int is_icc, SpmvFactorRows to)
{
  const int64_t row = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / LANES;

  if (row >= a.rows) return;
  const SpmvRange kept     = spmv_kept_of(&a.division, a.row_ptr, a.col, (int32_t)row);
  const int32_t   diagonal = a.diagonal[row], first = is_icc ? diagonal : kept.first;
  const int64_t   at = to.row_ptr[row] - (int64_t)first; /* from A to the factor */
  if (threadIdx.x % LANES == 0) {
    to.diagonal[row] = (int32_t)(at + diagonal);
    to.a_first[row]  = kept.first;
    to.a_end[row]    = kept.end;
  }
  for (int64_t k = first + threadIdx.x % LANES; k < kept.end; k += LANES) {
    to.col[at + k]    = a.col[k];
    to.source[at + k] = (int32_t)k;
  }
}

/* What is in blocks, of ICC the diagonal and the upper triangle, and where it is in A */
SpmvStatus put_part(SpmvFactorization *f, const Matrix &a, SpmvExec *exec)
{
  const int       is_icc = f->options.kind == SPMV_FACTOR_ICC;
  SpmvScopedArena temporary(exec);

  SPMV_TRY(spmv_sum_each_before(PartSize{a, is_icc}, f->factor.row_ptr, a.rows, &temporary.arena, exec));
  SPMV_LAUNCH(exec, spmv_factor_take_part, spmv_blocks((int64_t)a.rows * LANES, THREADS), THREADS, 0, a, is_icc,
              f->factor);
  return SPMV_SUCCESS;
}

/* Allocates the object and fills the factor by rows. If the factor has only a part of the matrix, the host learns its size
   first. */
SpmvStatus put_factor(SpmvFactorization *f, const SpmvPattern *p, Work *w, SpmvExec *exec)
{
  Matrix          a    = {nullptr, nullptr, nullptr, f->division, f->rows, (int32_t)p->nnz};
  SpmvFactorSize  size = {p->nnz, 0};
  SpmvScopedArena scratch(exec);

  if (!spmv_factor_is_part(f)) {
    SPMV_TRY(spmv_factor_hold(f, p, &size, exec));
    a.row_ptr  = f->factor.row_ptr;
    a.col      = f->factor.col;
    a.diagonal = f->factor.diagonal;
    return inspect(p, a, w, exec);
  }
  scratch.arena.chunk_bytes = 8 * p->rows + 4 * p->nnz + (1 << 12);
  SPMV_TRY(scratch.array(p->rows + 1, "row pointers", &a.row_ptr));
  SPMV_TRY(scratch.array(p->rows, "diagonal", &a.diagonal));
  SPMV_TRY(scratch.array(p->nnz, "columns", &a.col));
  SPMV_TRY(inspect(p, a, w, exec));
  size = {(int64_t)w->here.kept, (int64_t)w->here.upper};
  SPMV_TRY(spmv_factor_hold(f, p, &size, exec));
  return put_part(f, a, exec);
}

SpmvStatus put_triangles(SpmvFactorization *f, const Work &w, SpmvExec *exec)
{
  const SpmvFactorRows &r    = f->factor;
  SpmvPart              part = {r.row_ptr, r.col, r.diagonal, nullptr, f->rows, 1};

  if (r.nodes.first)
    SPMV_LAUNCH(exec, spmv_factor_find_nodes, spmv_blocks(f->rows, THREADS), THREADS, 0, w.joins, r.nodes.most, f->rows,
                r.nodes.first);
  SPMV_TRY(put_triangle(f, SPMV_UPPER, part, w, exec));
  part.is_upper = 0;
  if (f->triangle[SPMV_LOWER].row_ptr) SPMV_TRY(put_triangle(f, SPMV_LOWER, part, w, exec));
  return f->triangle[SPMV_UPPER_T].row_ptr ? put_transposes(f, w, exec) : SPMV_SUCCESS;
}

/* No row has sent a number yet */
SpmvStatus clear_mail(SpmvFactorization *f, SpmvExec *exec)
{
  const size_t bytes = 2 * (size_t)f->rows * (size_t)spmv_scalar_bytes(f->scalar);

  SPMV_CUDA(exec, cudaMemsetAsync(f->turns, 0, sizeof(SpmvTurns), (cudaStream_t)exec->stream));
  if (bytes > 0) SPMV_CUDA(exec, cudaMemsetAsync(f->mail, 0, bytes, (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}

/* What spmv_factor_check() refuses although it may not be noticed on the device */
bool is_refused(const SpmvPattern *p)
{
  return p->index_type != SPMV_I32 || p->rows < 0 || p->rows != p->cols || p->nnz < p->rows || p->nnz >= INT32_MAX ||
         !p->row_ptr || (p->nnz > 0 && !p->col);
}
} // namespace

extern "C" SpmvStatus spmv_factor_analyse_on_device(SpmvFactorization *f, const SpmvPattern *p, SpmvExec *exec)
{
  const int64_t   n = p->rows;
  SpmvScopedArena scratch(exec);
  SpmvFactorSize  size;
  Work            w;

  if (is_refused(p)) return spmv_factor_check(p, &f->division, &size, exec);
  scratch.arena.chunk_bytes = 5 * n + (1 << 12);
  SPMV_TRY(scratch.array(n, "levels", &w.level));
  SPMV_TRY(scratch.array(n, "equal rows", &w.joins));
  SPMV_TRY(scratch.array(1, "findings", &w.there));
  SPMV_TRY(put_factor(f, p, &w, exec));
  w.sorted = (int32_t *)f->factor.entries; /* which has no numbers yet, as has the other */
  w.order  = (int32_t *)f->factor.inverse;
  SPMV_TRY(clear_mail(f, exec));
  SPMV_TRY(put_triangles(f, w, exec));
  SPMV_TRY(spmv_fetch(&w.here, w.there, sizeof w.here, exec));
  const int64_t lower = spmv_factor_needs(f) - f->triangle;
  f->info.levels[0]   = w.here.levels[lower];
  f->info.levels[1]   = w.here.levels[SPMV_UPPER];
  f->info.widest[0]   = w.here.widest[lower];
  f->info.widest[1]   = w.here.widest[SPMV_UPPER];
  return SPMV_SUCCESS;
}
