/* factor_device.cu - factorizations, solves and sweeps on the device, each one launch in which rows wait for rows. A warp
   has a row of a factorization, four lanes have a row of a solve. */
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

/* A team of lanes has a row. The rows that it needs are subtracted one after the other. What the pattern tells, and the
   row itself, are read before the next number is there, so that afterwards only one trip to memory remains. */
template <typename S, int LANES, int AT_ONCE>
struct Elimination {
  const SpmvFactorRows &f;
  const SpmvTriangle   &needs;
  const bool            is_icc;
  S                    *pivot; /* in shared memory */
  const int32_t         lane, row;
  const unsigned        team;            /* the lanes in their warp */
  int32_t               next, end;       /* entries of `needs` */
  int32_t               at, other, last; /* the entry that becomes zero; of the other row, for this lane, and its end */
  const uint64_t       *from;            /* the other row's mail */
  int32_t               target[AT_ONCE]; /* the entry of the row below each of the other row; -1: there is none */
  S                     entries[AT_ONCE]; /* of the row */

  __device__ inline int32_t find(int32_t k) const
  {
    return k < last ? Rows<S>::find(&f, row, is_icc ? f.row_ptr[row] : at + 1, f.col[k]) : -1;
  }
  __device__ inline void set(int32_t entry, S value) const
  {
    ((S *)f.entries)[entry] = value;
    if (entry == f.diagonal[row]) *pivot = value;
  }
  __device__ inline void prepare(const SpmvMail<S> &mail)
  {
    const int32_t place = needs.col[next], k = needs.row[place];

    from  = mail.of(place);
    at    = needs.from[next];
    other = (is_icc ? at : f.diagonal[k] + 1) + lane;
    last  = f.row_ptr[k + 1];
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
      target[i]  = find(other + i * LANES);
      entries[i] = target[i] < 0 ? S(0) : ((const S *)f.entries)[target[i]];
    }
  }
  /* inverse: one over the pivot of the other row. Other teams have written what is read past the first-level cache. */
  __device__ inline void subtract(S inverse)
  {
    S *const all   = (S *)f.entries;
    const S  entry = __ldcg(all + at), factor = times(entry, inverse);
    S        others[AT_ONCE];

#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) others[i] = target[i] < 0 ? S(0) : __ldcg(all + other + i * LANES);
    __syncwarp(team); /* every lane has read the entry */
    if (is_icc || entry != 0) {
      if (!is_icc && lane == 0) all[at] = factor;
#pragma unroll
      for (int i = 0; i < AT_ONCE; i++)
        if (target[i] >= 0) set(target[i], Rows<S>::less(entries[i], factor, others[i]));
      for (int32_t k = other + AT_ONCE * LANES; k < last; k += LANES) {
        const int32_t own = find(k);
        if (own >= 0) set(own, Rows<S>::less(all[own], factor, __ldcg(all + k)));
      }
    }
    __syncwarp(team);
    next++;
  }
};

/* Lanes of a warp may wait for each other, so that all stay in the loop until all rows have sent their numbers */
template <typename S, int LANES, int AT_ONCE, bool ACQUIRES>
__device__ inline void factor_ticket(Elimination<S, LANES, AT_ONCE> &e, const SpmvAttempt &attempt, bool ended,
                                     int32_t place, const SpmvMail<S> &mail, SpmvTurns *turns)
{
  if (!ended && e.next < e.end) e.prepare(mail);
  for (int tries = 1; !__all_sync((unsigned)ALL_LANES, ended); tries++) {
    S          number   = 0;
    const bool waits    = !ended && e.next < e.end;
    const bool is_there = waits && mail.template take<ACQUIRES>(e.from, number);
    const bool is_whole = (__ballot_sync((unsigned)ALL_LANES, is_there) & e.team) == e.team;

    if (waits && !is_whole) SPMV_KERNEL_YIELD(tries);
    if (ended || (waits && !is_whole)) continue;
    if (waits) {
      if (!ACQUIRES) __threadfence();
      e.subtract(number);
      if (e.next < e.end) {
        e.prepare(mail);
        continue;
      }
    }
    __threadfence(); /* what each lane has written, before lane 0 sends */
    __syncwarp(e.team);
    ended = true;
    if (e.lane > 0) continue;
    const S pivot = *e.pivot, inverse = 1 / pivot;
    mail.send(mail.of(place), inverse);
    ((S *)e.f.inverse)[e.row] = inverse;
    if (Rows<S>::is_too_small(&e.f, &attempt, e.row, pivot)) atomicMin(&turns->found.zero_row, (uint32_t)e.row);
  }
}

template <typename S, int LANES, int AT_ONCE, bool ACQUIRES>
__global__ void __launch_bounds__(THREADS)
    spmv_factor_attempt(SpmvFactorRows f, SpmvTriangle needs, SpmvFactorKind kind, SpmvAttempt attempt, const S *a,
                        int32_t rows, SpmvTurns *turns, uint64_t *words)
{
  enum { TEAMS = THREADS / LANES };
  SPMV_DYNAMIC_SHARED(shared); /* [TEAMS]: the pivots */
  SpmvMail<S>    mail = {words, 0};
  const int32_t  mine = (int32_t)threadIdx.x / LANES, lane = (int32_t)threadIdx.x % LANES;
  const unsigned team  = ((unsigned)ALL_LANES >> (WARP - LANES)) << (threadIdx.x % WARP - lane);
  const S        shift = (S)spmv_shift_of(&attempt, turns->found.top);

  for (;;) {
    const int64_t place0 = (int64_t)spmv_draw_ticket(turns, mail.epoch) * TEAMS, place = place0 + mine;

    if (place0 >= rows) break;
    const bool                     ended = place >= rows;
    const int32_t                  row   = ended ? 0 : needs.row[place];
    Elimination<S, LANES, AT_ONCE> e     = {f, needs, kind == SPMV_FACTOR_ICC, (S *)shared + mine, lane, row, team};
    if (!ended) {
      e.next = needs.row_ptr[place];
      e.end  = kind == SPMV_FACTOR_SOR ? e.next : needs.row_ptr[place + 1];
      Rows<S, LANES>::load_row(&f, a, shift, row, rows);
    }
    __syncthreads();
    if (!ended && lane == 0) *e.pivot = ((const S *)f.entries)[f.diagonal[row]];
    __syncwarp();
    factor_ticket<S, LANES, AT_ONCE, ACQUIRES>(e, attempt, ended, (int32_t)place, mail, turns);
  }
  spmv_leave(turns);
}

template <typename S, int LANES, int AT_ONCE>
SpmvStatus launch_attempt(SpmvFactorization *f, const S *a, const SpmvAttempt *attempt, SpmvExec *exec)
{
  const int64_t tickets = spmv_blocks(f->rows, THREADS / LANES), most = (int64_t)f->options.grid * SPMV_MULTIPROCESSORS;
  const int64_t grid = most > 0 && most < tickets ? most : tickets;

  if (f->options.fences)
    SPMV_LAUNCH(exec, (spmv_factor_attempt<S, LANES, AT_ONCE, false>), grid, THREADS, THREADS / LANES * sizeof(S),
                f->factor, *spmv_factor_needs(f), f->options.kind, *attempt, a, f->rows, (SpmvTurns *)f->turns,
                f->mail);
  else
    SPMV_LAUNCH(exec, (spmv_factor_attempt<S, LANES, AT_ONCE, true>), grid, THREADS, THREADS / LANES * sizeof(S),
                f->factor, *spmv_factor_needs(f), f->options.kind, *attempt, a, f->rows, (SpmvTurns *)f->turns,
                f->mail);
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

template <typename S>
SpmvStatus attempt_of(SpmvFactorization *f, const S *a, const SpmvAttempt *attempt, SpmvExec *exec)
{
  SpmvTurns *turns = (SpmvTurns *)f->turns;

  if (attempt->find_top)
    SPMV_LAUNCH(exec, spmv_factor_top<S>, spmv_blocks(f->rows, THREADS), THREADS, 0, f->factor, a, f->rows,
                &turns->found.top);
  if (f->factor.nodes.blocks)
    SPMV_LAUNCH(exec, spmv_factor_invert<S>, spmv_blocks(f->rows, THREADS), THREADS, 0, f->factor, a,
                (S)attempt->zero_pivot, f->rows, turns);
  if (f->options.lanes == 4) return launch_attempt<S, 4, 4>(f, a, attempt, exec);
  if (f->options.lanes == 8) return launch_attempt<S, 8, 3>(f, a, attempt, exec);
  if (f->options.lanes == 16) return launch_attempt<S, 16, 2>(f, a, attempt, exec);
  return launch_attempt<S, 32, 1>(f, a, attempt, exec);
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

extern "C" const SpmvFactorSlots spmv_factor_device_slots = {spmv_factor_analyse_on_device, attempt, gather, solve};
