/* factor_device.cu - factorizations, solves and sweeps on the device, each one launch in which rows wait for rows. A team
   of 16 or 32 lanes has a row of a factorization, four lanes have a row of a solve. */
#include "core/csr.h"
#include "device/staging.h"
#include "device/tuning.h"
#include "factor_turns.cuh"

namespace
{
enum { WARP = 32, ALL_LANES = -1 };
enum { THREADS = 128 };

__device__ inline double times(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float  times(float a, float b) { return __fmul_rn(a, b); }

/* factor_rows.inc for the device */
template <typename SPMV_SCALAR, int LANES = WARP>
struct Rows {
#define SPMV_NAME(f)     f
#define SPMV_ROW         static __device__ inline
#define SPMV_LANE        ((int32_t)(threadIdx.x % LANES))
#define SPMV_LANES       LANES
#define SPMV_TIMES(a, b) times(a, b)
#include "factor_rows.inc"
};

/* ---- factorization ---- */

/* A team of lanes has a row, in shared memory if it is not longer than that. The rows that it needs are subtracted one after
   the other. What the pattern tells is read before the number of the next one is there, so that afterwards only one trip to
   memory remains. */
template <typename S, int LANES, int AT_ONCE>
struct Elimination {
  enum { MOST = 4 * LANES }; /* entries of a row in shared memory */
  /* A row that is needed: its place, the entry that it makes zero, and its entries that are subtracted. All zeros: none. */
  struct Other {
    int32_t place, at, first, end;
  };
  const SpmvFactorRows &f;
  const SpmvTriangle   &needs;
  const bool            is_icc;
  const int32_t         lane, row, begin, length; /* the row begins with entry `begin` of the factor */
  const unsigned        team;                     /* the lanes in their warp */
  int32_t               next, end;                /* entries of `needs` */
  const int32_t        *col;                      /* [length]: of the row */
  S                    *own;                      /* likewise */
  Other                 now, ahead;
  int32_t               target[AT_ONCE]; /* the entry of the row below each of the other row; -1: there is none */

  __device__ inline bool is_near() const { return length <= MOST; }
  __device__ inline void load(const S *a, S shift, int32_t rows, unsigned char *shared)
  {
    col = f.col + begin;
    own = (S *)f.entries + begin;
    if (is_near()) {
      own = (S *)shared + threadIdx.x / LANES * MOST;
      col = (const int32_t *)((S *)shared + THREADS / LANES * MOST) + threadIdx.x / LANES * MOST;
      for (int32_t k = lane; k < length; k += LANES) ((int32_t *)col)[k] = f.col[begin + k];
    }
    Rows<S, LANES>::load_row(&f, a, shift, row, rows, own);
    __syncwarp(team);
    ahead = other_at(next);
  }
  __device__ inline Other other_at(int32_t n) const
  {
    if (n >= end) return {};
    const int32_t place = needs.col[n], at = needs.from[n], k = is_icc ? f.row_at[place] : col[at - begin];
    return {place, at, is_icc ? at : f.diagonal[k] + 1, f.row_ptr[k + 1]};
  }
  __device__ inline int32_t find(int32_t k) const
  {
    return k < now.end ? Rows<S>::find(col, is_icc ? 0 : now.at + 1 - begin, length, f.col[k]) : -1;
  }
  __device__ inline void prepare()
  {
    now   = ahead;
    ahead = other_at(next + 1);
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) target[i] = find(now.first + lane + i * LANES);
  }
  /* inverse: one over the pivot of the other row. Other teams have written what is read past the first-level cache. */
  __device__ inline void subtract(S inverse)
  {
    S *const      all   = (S *)f.entries;
    const int32_t other = now.first + lane;
    const S       entry = is_icc ? __ldcg(all + now.at) : own[now.at - begin], factor = times(entry, inverse);
    S             others[AT_ONCE];

#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) others[i] = target[i] < 0 ? S(0) : __ldcg(all + other + i * LANES);
    __syncwarp(team); /* every lane has read the entry */
    if (is_icc || entry != 0) {
      if (!is_icc && lane == 0) own[now.at - begin] = factor;
#pragma unroll
      for (int i = 0; i < AT_ONCE; i++)
        if (target[i] >= 0) own[target[i]] = Rows<S>::less(own[target[i]], factor, others[i]);
      for (int32_t k = other + AT_ONCE * LANES; k < now.end; k += LANES) {
        const int32_t below = find(k);
        if (below >= 0) own[below] = Rows<S>::less(own[below], factor, __ldcg(all + k));
      }
    }
    __syncwarp(team);
    next++;
  }
  /* Brings the row to the factor */
  __device__ inline void store() const
  {
    for (int32_t k = lane; is_near() && k < length; k += LANES) ((S *)f.entries)[begin + k] = own[k];
  }
};

/* Lanes of a warp may wait for each other, so that all stay in the loop until all rows have sent their numbers */
template <typename S, int LANES, int AT_ONCE>
__device__ inline void factor_ticket(Elimination<S, LANES, AT_ONCE> &e, const SpmvAttempt &attempt, bool ended,
                                     int32_t place, const SpmvMail<S> &mail, SpmvTurns *turns)
{
  if (!ended && e.next < e.end) e.prepare();
  for (int tries = 1; !__all_sync((unsigned)ALL_LANES, ended); tries++) {
    S          number   = 0;
    const bool waits    = !ended && e.next < e.end;
    const bool is_there = waits && mail.template take<true>(mail.of(e.now.place), number);
    const bool is_whole = (__ballot_sync((unsigned)ALL_LANES, is_there) & e.team) == e.team;

    if (waits && !is_whole) SPMV_KERNEL_YIELD(tries);
    if (ended || (waits && !is_whole)) continue;
    if (waits) {
      e.subtract(number);
      if (e.next < e.end) {
        e.prepare();
        continue;
      }
    }
    e.store();
    __threadfence(); /* what each lane has written, before lane 0 sends */
    __syncwarp(e.team);
    ended = true;
    if (e.lane > 0) continue;
    const S pivot = e.own[e.f.diagonal[e.row] - e.begin], inverse = 1 / pivot;
    mail.send(mail.of(place), inverse);
    ((S *)e.f.inverse)[spmv_row_of_a(&e.f, e.row)] = inverse;
    if (Rows<S>::is_too_small(&e.f, &attempt, e.row, pivot)) atomicMin(&turns->found.zero_row, (uint32_t)e.row);
  }
}

template <typename S, int LANES, int AT_ONCE>
__global__ void __launch_bounds__(THREADS)
    spmv_factor_attempt(SpmvFactorRows f, SpmvTriangle needs, SpmvFactorKind kind, SpmvAttempt attempt, const S *a,
                        int32_t rows, SpmvTurns *turns, uint64_t *words)
{
  SPMV_DYNAMIC_SHARED(shared);
  SpmvMail<S>    mail  = {words, 0};
  const int64_t  place = (int64_t)spmv_draw_ticket(turns, mail.epoch) * (THREADS / LANES) + threadIdx.x / LANES;
  const int32_t  lane  = (int32_t)threadIdx.x % LANES;
  const unsigned team  = ((unsigned)ALL_LANES >> (WARP - LANES)) << (threadIdx.x % WARP - lane);
  const S        shift = (S)spmv_shift_of(&attempt, turns->found.top);
  const bool     ended = place >= rows;
  const int32_t  row = ended ? 0 : f.row_at[place], begin = f.row_ptr[row], length = f.row_ptr[row + 1] - begin;
  Elimination<S, LANES, AT_ONCE> e = {f, needs, kind == SPMV_FACTOR_ICC, lane, row, begin, length, team};

  if (!ended) {
    e.next = needs.row_ptr[place];
    e.end  = kind == SPMV_FACTOR_SOR ? e.next : needs.row_ptr[place + 1];
    e.load(a, shift, rows, shared);
  }
  factor_ticket(e, attempt, ended, (int32_t)place, mail, turns);
  spmv_leave(turns);
}

template <typename S, int LANES, int AT_ONCE>
SpmvStatus launch_attempt(SpmvFactorization *f, const S *a, const SpmvAttempt *attempt, SpmvExec *exec)
{
  const int teams = THREADS / LANES;

  SPMV_LAUNCH(exec, (spmv_factor_attempt<S, LANES, AT_ONCE>), spmv_blocks(f->rows, teams), THREADS,
              teams * (Elimination<S, LANES, AT_ONCE>::MOST) * (sizeof(S) + sizeof(int32_t)), f->factor,
              *spmv_factor_needs(f), f->options.kind, *attempt, a, f->rows, (SpmvTurns *)f->turns, f->mail);
  return SPMV_SUCCESS;
}

/* Inverts the diagonal blocks of nodes; a thread has a node */
template <typename S>
__global__ void __launch_bounds__(THREADS)
    spmv_factor_invert(SpmvFactorRows f, const S *a, S zero, int32_t rows, SpmvTurns *turns)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (row >= rows || f.nodes.first[row] != (int32_t)row) return;
  if (!Rows<S>::invert_node(&f, a, (int32_t)row, rows, zero)) atomicMin(&turns->found.zero_row, (uint32_t)row);
}

/* Finds SpmvFound.top, for which positive numbers are compared by their bits */
template <typename S>
__global__ void __launch_bounds__(THREADS) spmv_factor_top(SpmvFactorRows f, const S *a, int32_t rows, double *top)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (row >= rows) return;
  const double lacks = (double)Rows<S>::lacks(&f, a, (int32_t)row);
  if (lacks > 0) atomicMax((unsigned long long *)top, (unsigned long long)__double_as_longlong(lacks));
}

/* A warp has a row if rows have more entries than LONG_ROW, and if levels have fewer than NARROW_LEVEL, so that few rows
   can be factored at a time; else half a warp. Measured on an H200: decision 0095. */
enum { LONG_ROW = 32, NARROW_LEVEL = 4000 };

template <typename S>
SpmvStatus attempt_of(SpmvFactorization *f, const S *a, const SpmvAttempt *attempt, SpmvExec *exec)
{
  SpmvTurns    *turns   = (SpmvTurns *)f->turns;
  const int64_t entries = f->info.factor_nonzeros;

  if (attempt->find_top)
    SPMV_LAUNCH(exec, spmv_factor_top<S>, spmv_blocks(f->rows, THREADS), THREADS, 0, f->factor, a, f->rows,
                &turns->found.top);
  if (f->factor.nodes.blocks)
    SPMV_LAUNCH(exec, spmv_factor_invert<S>, spmv_blocks(f->rows, THREADS), THREADS, 0, f->factor, a,
                (S)attempt->zero_pivot, f->rows, turns);
  if (entries > LONG_ROW * (int64_t)f->rows || entries < NARROW_LEVEL * f->info.levels[0])
    return launch_attempt<S, 32, 1>(f, a, attempt, exec);
  return launch_attempt<S, 16, 2>(f, a, attempt, exec);
}

SpmvStatus attempt(SpmvFactorization *f, const void *values, const SpmvAttempt *a, SpmvFound *found, SpmvExec *exec)
{
  SpmvFound   *there  = &((SpmvTurns *)f->turns)->found;
  cudaStream_t stream = (cudaStream_t)exec->stream;

  SPMV_CUDA(exec, cudaMemsetAsync(&there->zero_row, 0xff, sizeof there->zero_row, stream));
  if (a->fraction == 0 || a->find_top) SPMV_CUDA(exec, cudaMemsetAsync(&there->top, 0, sizeof there->top, stream));
  SPMV_TRY(spmv_with_scalar(f->scalar,
                            [&](auto number) { return attempt_of(f, (const decltype(number) *)values, a, exec); }));
  return spmv_fetch(found, there, sizeof *found, exec);
}

/* ---- values of triangles ---- */

/* from and values may be one array */
template <typename S>
__global__ void __launch_bounds__(THREADS)
    spmv_factor_gather(int64_t count, const int32_t *from, const S *entries, S *values)
{
  const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (k < count) values[k] = entries[from[k]];
}

SpmvStatus gather(SpmvFactorization *f, SpmvExec *exec)
{
  return spmv_with_scalar(f->scalar, [&](auto number) {
    typedef decltype(number) S;
    SPMV_LAUNCH(exec, spmv_factor_gather<S>, spmv_blocks(f->gathered, THREADS), THREADS, 0, f->gathered, f->from,
                (const S *)f->factor.entries, (S *)f->values);
    return SPMV_SUCCESS;
  });
}

SpmvStatus relabel(int64_t count, const int32_t *table, int32_t *numbers, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, spmv_factor_gather<int32_t>, spmv_blocks(count, THREADS), THREADS, 0, count, numbers, table,
              numbers);
  return SPMV_SUCCESS;
}

/* ---- solves ---- */

/* A row has LANES lanes, each of which waits for AT_ONCE entries at a time, so that their trips to memory overlap. Measured
   on an H200: decision 0084. */
struct Solve {
  enum { THREADS = 256, LANES = 4, AT_ONCE = 2, ROWS = THREADS / LANES, TEAM = (1 << LANES) - 1 };
};

/* Entries of a row that one of its lanes waits for. Slot i has the entries first + i * LANES + lane. */
template <typename S>
struct Entries {
  const uint64_t *from[Solve::AT_ONCE];
  S               product[Solve::AT_ONCE]; /* the value of the entry, times x as soon as it is there */
  unsigned        missing;                 /* a bit for each slot */
  int             slot;                    /* whose products are added next */
  int32_t         first, end;

  /* near: the mail of this block, whose rows begin at place0 */
  __device__ inline void load(const SpmvTriangle &t, const SpmvMail<S> &mail, const uint64_t *near, int32_t place0)
  {
    missing = 0;
    slot    = 0;
#pragma unroll
    for (int i = 0; i < Solve::AT_ONCE; i++) {
      const int32_t k = first + i * Solve::LANES + (int32_t)(threadIdx.x % Solve::LANES);

      product[i] = 0;
      from[i]    = near;
      if (k >= end) continue;
      const int32_t place = t.col[k];
      product[i]          = ((const S *)t.values)[k];
      from[i]             = place >= place0 ? near + SpmvMail<S>::WORDS * (place - place0) : mail.of(place);
      missing |= 1u << i;
    }
  }
  /* Looks once at all that are missing; the trips overlap */
  __device__ inline void look(const SpmvMail<S> &mail)
  {
    S    x[Solve::AT_ONCE];
    bool is_there[Solve::AT_ONCE];

#pragma unroll
    for (int i = 0; i < Solve::AT_ONCE; i++)
      is_there[i] = (missing >> i & 1) && mail.template take<false>(from[i], x[i]);
#pragma unroll
    for (int i = 0; i < Solve::AT_ONCE; i++) {
      if (!is_there[i]) continue;
      product[i] = times(product[i], x[i]);
      missing &= ~(1u << i);
    }
  }
  /* Subtracts the products of slots that all lanes of the row have, in the order of the entries. The whole warp calls it.
   */
  __device__ inline void subtract(S &sum)
  {
    const int team = (int)(threadIdx.x % WARP) / Solve::LANES * Solve::LANES;

#pragma unroll
    for (int i = 0; i < Solve::AT_ONCE; i++) {
      const bool     is_next  = slot == i && first + i * Solve::LANES < end;
      const unsigned have     = __ballot_sync((unsigned)ALL_LANES, is_next && !(missing >> i & 1));
      const bool     is_whole = is_next && (have >> team & Solve::TEAM) == Solve::TEAM;

      if (!__any_sync((unsigned)ALL_LANES, is_whole)) continue;
#pragma unroll
      for (int j = 0; j < Solve::LANES; j++) {
        const S other = __shfl_sync((unsigned)ALL_LANES, product[i], team + j);
        if (is_whole && first + i * Solve::LANES + j < end) sum = sum - other;
      }
      slot += is_whole;
    }
  }
  __device__ inline bool is_done() const { return slot == Solve::AT_ONCE || first + slot * Solve::LANES >= end; }
};

/* The rows of a ticket. Lanes of a warp may wait for each other, so that all stay in the loop until all rows have sent their
   numbers; the votes in it make sure of that. */
template <typename S>
__device__ inline void solve_ticket(const SpmvTriangle &t, const SpmvFactorStep &step, const S *inverse, int32_t rows,
                                    const SpmvMail<S> &mail, uint64_t *near, int32_t place0)
{
  const int32_t  mine = (int32_t)threadIdx.x / Solve::LANES, place = place0 + mine;
  const uint32_t lane  = threadIdx.x % Solve::LANES;
  bool           ended = place >= rows;
  const int32_t  row   = ended ? 0 : t.row[place];
  S              sum = ended ? S(0) : Rows<S>::begin(&step, row, rows), scale = ended ? S(0) : inverse[row];
  Entries<S>     e;

  e.first = ended ? 0 : t.row_ptr[place];
  e.end   = ended ? 0 : t.row_ptr[place + 1];
  e.load(t, mail, near, place0);
  for (int tries = 1; !__all_sync((unsigned)ALL_LANES, ended); tries++) {
    e.look(mail);
    if (e.missing) SPMV_KERNEL_YIELD(tries);
    e.subtract(sum);
    if (ended || !e.is_done()) continue;
    e.first += Solve::LANES * Solve::AT_ONCE;
    ended = e.first >= e.end;
    if (!ended) e.load(t, mail, near, place0);
    else if (lane == 0) {
      sum = Rows<S>::end(&step, scale, row, sum);
      mail.send(near + SpmvMail<S>::WORDS * mine, sum);
      mail.send(mail.of(place), sum);
    }
  }
}

template <typename S>
__global__ void __launch_bounds__(Solve::THREADS)
    spmv_factor_solve_rows(SpmvTriangle t, SpmvFactorStep step, const void *inverse, int32_t rows, SpmvTurns *turns,
                           uint64_t *words)
{
  SPMV_DYNAMIC_SHARED(shared);
  uint64_t   *near = (uint64_t *)shared;
  SpmvMail<S> mail = {words, 0};

  for (;;) {
    const int64_t place0 = (int64_t)spmv_draw_ticket(turns, mail.epoch) * Solve::ROWS;

    if (place0 >= rows) break;
    for (int w = threadIdx.x; w < Solve::ROWS * SpmvMail<S>::WORDS; w += Solve::THREADS) near[w] = 0;
    __syncthreads();
    solve_ticket(t, step, (const S *)inverse, rows, mail, near, (int32_t)place0);
  }
  spmv_leave(turns);
}

/* The partial residual of an x that is known: no row waits */
template <typename S>
__global__ void __launch_bounds__(THREADS) spmv_factor_residual(SpmvTriangle t, SpmvFactorStep step, int32_t rows)
{
  const int64_t place = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (place >= rows) return;
  const int32_t row = t.row[place];
  S             sum = Rows<S>::begin(&step, row, rows);
  for (int32_t k = t.row_ptr[place]; k < t.row_ptr[place + 1]; k++)
    sum = Rows<S>::less(sum, ((const S *)t.values)[k], ((const S *)step.x)[t.row[t.col[k]]]);
  Rows<S>::end(&step, S(0), row, sum);
}

SpmvStatus solve(SpmvFactorization *f, const SpmvTriangle *t, const SpmvFactorStep *step, SpmvExec *exec)
{
  const int64_t tickets = spmv_blocks(f->rows, Solve::ROWS);

  return spmv_with_scalar(f->scalar, [&](auto number) {
    typedef decltype(number) S;
    if (step->kind == SPMV_STEP_RESIDUAL)
      SPMV_LAUNCH(exec, spmv_factor_residual<S>, spmv_blocks(f->rows, THREADS), THREADS, 0, *t, *step, f->rows);
    else
      SPMV_LAUNCH(exec, spmv_factor_solve_rows<S>, tickets < SPMV_FACTOR_GRID ? tickets : (int64_t)SPMV_FACTOR_GRID,
                  Solve::THREADS, Solve::ROWS * 2 * sizeof(S), *t, *step, f->factor.inverse, f->rows,
                  (SpmvTurns *)f->turns, f->mail);
    return SPMV_SUCCESS;
  });
}
} // namespace

extern "C" const SpmvFactorSlots spmv_factor_device_slots = {spmv_factor_analyse_on_device, attempt, gather, solve,
                                                             relabel};
