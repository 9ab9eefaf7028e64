/* factor_device.cu - factorizations, solves and sweeps on the device, each one launch in which rows wait for rows. A warp
   has a row of a factorization, a thread has a row of a solve. */
#include "core/csr.h"
#include "device/staging.h"
#include "factor_turns.cuh"

namespace
{
enum { THREADS = 128, LANES = 32, TEAMS = THREADS / LANES };

__device__ inline double times(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float  times(float a, float b) { return __fmul_rn(a, b); }

/* factor_rows.inc for the device */
template <typename SPMV_SCALAR>
struct Rows {
#define SPMV_NAME(f)     f
#define SPMV_ROW         static __device__ inline
#define SPMV_LANE        ((int32_t)(threadIdx.x % LANES))
#define SPMV_LANES       LANES
#define SPMV_WAITS       const SpmvWaits &
#define SPMV_MEET()      __syncwarp()
#define SPMV_AWAIT(row)  waits.await(row)
#define SPMV_FRESH(p)    __ldcg(p)
#define SPMV_TIMES(a, b) times(a, b)
#include "factor_rows.inc"
};

/* ---- factorization ---- */

template <typename S>
__global__ void __launch_bounds__(THREADS)
    spmv_factor_attempt(SpmvFactorRows f, SpmvTriangle needs, SpmvFactorKind kind, SpmvAttempt attempt, const S *a,
                        int32_t rows, SpmvTurns *turns, uint32_t *flags)
{
  SpmvWaits     waits;
  const int64_t place = (int64_t)spmv_draw_ticket(turns, flags, waits) * TEAMS + threadIdx.x / LANES;
  const S       shift = (S)spmv_shift_of(&attempt, turns->found.top);

  if (place < rows) {
    const int32_t row       = needs.row[place];
    const bool    too_small = Rows<S>::factor_row(&f, &needs, kind, a, &attempt, shift, (int32_t)place, waits);
    __threadfence(); /* what each lane has written, before lane 0 tells */
    __syncwarp();
    if (threadIdx.x % LANES == 0) {
      if (too_small) atomicMin(&turns->found.zero_row, (uint32_t)row);
      waits.tell(row);
    }
  }
  spmv_leave(turns);
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
  SPMV_LAUNCH(exec, spmv_factor_attempt<S>, spmv_blocks(f->rows, TEAMS), THREADS, 0, f->factor, *spmv_factor_needs(f),
              f->options.kind, *attempt, a, f->rows, turns, f->flags);
  return SPMV_SUCCESS;
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
    spmv_factor_spread(int64_t count, const int32_t *from, const S *entries, S *values)
{
  const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (k < count) values[k] = entries[from[k]];
}

SpmvStatus spread(SpmvFactorization *f, SpmvExec *exec)
{
  return spmv_with_scalar(f->scalar, [&](auto number) {
    typedef decltype(number) S;
    SPMV_LAUNCH(exec, spmv_factor_spread<S>, spmv_blocks(f->spread, THREADS), THREADS, 0, f->spread, f->from,
                (const S *)f->factor.entries, (S *)f->values);
    return SPMV_SUCCESS;
  });
}

/* ---- solves ---- */

/* A thread tells that its row is done before it leaves the loop in which it waits, since lanes of its warp may wait for
   it there */
template <typename S>
__global__ void __launch_bounds__(THREADS)
    spmv_factor_solve_rows(SpmvTriangle t, SpmvFactorStep step, const void *inverse, int32_t rows, SpmvTurns *turns,
                           uint32_t *flags)
{
  SpmvWaits     waits;
  const int64_t place = (int64_t)spmv_draw_ticket(turns, flags, waits) * THREADS + threadIdx.x;

  if (place < rows) {
    const int32_t row = t.row[place], end = t.row_ptr[place + 1];
    int32_t       k     = t.row_ptr[place];
    int           tries = 0;
    S             sum   = Rows<S>::begin(&step, row);

    for (bool ended = false; !ended;) {
      if (k < end && waits.done(t.col[k], tries)) {
        sum   = Rows<S>::less(sum, &t, k++, (const S *)step.x);
        tries = 0;
      }
      if (k == end) {
        Rows<S>::end(&step, inverse, row, sum);
        waits.tell(row);
        ended = true;
      }
    }
  }
  spmv_leave(turns);
}

/* The remainder with an x that is known: no row waits */
template <typename S>
__global__ void __launch_bounds__(THREADS)
    spmv_factor_rest(SpmvTriangle t, SpmvFactorStep step, const void *inverse, int32_t rows)
{
  const int64_t place = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (place >= rows) return;
  const int32_t row = t.row[place];
  S             sum = Rows<S>::begin(&step, row);
  for (int32_t k = t.row_ptr[place]; k < t.row_ptr[place + 1]; k++) sum = Rows<S>::less(sum, &t, k, (const S *)step.x);
  Rows<S>::end(&step, inverse, row, sum);
}

SpmvStatus solve(SpmvFactorization *f, const SpmvTriangle *t, const SpmvFactorStep *step, SpmvExec *exec)
{
  const int64_t blocks = spmv_blocks(f->rows, THREADS);

  return spmv_with_scalar(f->scalar, [&](auto number) {
    typedef decltype(number) S;
    if (step->kind == SPMV_STEP_REST)
      SPMV_LAUNCH(exec, spmv_factor_rest<S>, blocks, THREADS, 0, *t, *step, f->factor.inverse, f->rows);
    else
      SPMV_LAUNCH(exec, spmv_factor_solve_rows<S>, blocks, THREADS, 0, *t, *step, f->factor.inverse, f->rows,
                  (SpmvTurns *)f->turns, f->flags);
    return SPMV_SUCCESS;
  });
}

SpmvStatus reset(SpmvFactorization *f, SpmvExec *exec)
{
  SPMV_CUDA(exec, cudaMemsetAsync(f->turns, 0, sizeof(SpmvTurns), (cudaStream_t)exec->stream));
  if (f->rows > 0)
    SPMV_CUDA(exec, cudaMemsetAsync(f->flags, 0, (size_t)f->rows * sizeof *f->flags, (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}
} // namespace

extern "C" const SpmvFactorSlots spmv_factor_device_slots = {reset, attempt, spread, solve};
