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

/* Waits for a row, whose entries this thread may then read */
template <typename S>
__device__ inline S await(const SpmvMail<S> &mail, int32_t row)
{
  S   number;
  int tries = 0;

  while (!mail.template take<true>(row, number, tries)) continue;
  return number;
}

/* factor_rows.inc for the device */
template <typename SPMV_SCALAR>
struct Rows {
#define SPMV_NAME(f)     f
#define SPMV_ROW         static __device__ inline
#define SPMV_LANE        ((int32_t)(threadIdx.x % LANES))
#define SPMV_LANES       LANES
#define SPMV_WAITS       const SpmvMail<SPMV_SCALAR> &
#define SPMV_MEET()      __syncwarp()
#define SPMV_AWAIT(row)  await(waits, row)
#define SPMV_FRESH(p)    __ldcg(p)
#define SPMV_TIMES(a, b) times(a, b)
#include "factor_rows.inc"
};

/* ---- factorization ---- */

template <typename S>
__global__ void __launch_bounds__(THREADS)
    spmv_factor_attempt(SpmvFactorRows f, SpmvTriangle needs, SpmvFactorKind kind, SpmvAttempt attempt, const S *a,
                        int32_t rows, SpmvTurns *turns, uint64_t *words)
{
  SpmvMail<S>   mail  = {words, 0};
  const int64_t place = (int64_t)spmv_draw_ticket(turns, mail.epoch) * TEAMS + threadIdx.x / LANES;
  const S       shift = (S)spmv_shift_of(&attempt, turns->found.top);

  if (place < rows) {
    const int32_t row       = needs.row[place];
    const bool    too_small = Rows<S>::factor_row(&f, &needs, kind, a, &attempt, shift, (int32_t)place, mail);
    __threadfence(); /* what each lane has written, before lane 0 sends */
    __syncwarp();
    if (threadIdx.x % LANES == 0) {
      if (too_small) atomicMin(&turns->found.zero_row, (uint32_t)row);
      mail.send(row, ((const S *)f.inverse)[row]);
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
              f->options.kind, *attempt, a, f->rows, turns, f->mail);
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

/* Lanes of a warp may wait for each other, so that none may leave the loop before it has sent its number. The vote makes
   sure of it: the compiler had moved the end of a row behind a loop without one, where lanes that are done wait for the
   lanes in the loop. */
template <typename S>
__global__ void __launch_bounds__(THREADS)
    spmv_factor_solve_rows(SpmvTriangle t, SpmvFactorStep step, const void *inverse, int32_t rows, SpmvTurns *turns,
                           uint64_t *words)
{
  SpmvMail<S>   mail   = {words, 0};
  const int64_t place  = (int64_t)spmv_draw_ticket(turns, mail.epoch) * THREADS + threadIdx.x;
  bool          ended  = place >= rows;
  const S      *values = (const S *)t.values;
  const int32_t row = ended ? 0 : t.row[place], end = ended ? 0 : t.row_ptr[place + 1];
  const S       scale = ended ? S(0) : ((const S *)inverse)[row];
  int32_t       k = ended ? 0 : t.row_ptr[place], col = k < end ? t.col[k] : 0;
  S             sum = ended ? S(0) : Rows<S>::begin(&step, row), value = k < end ? values[k] : S(0), x;
  int           tries = 0;

  while (!__all_sync(0xffffffffu, ended)) {
    if (k < end && mail.template take<false>(col, x, tries)) {
      sum = Rows<S>::less(sum, value, x);
      if (++k < end) {
        col   = t.col[k];
        value = values[k];
      }
    }
    if (!ended && k == end) {
      mail.send(row, Rows<S>::end(&step, scale, row, sum));
      ended = true;
    }
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
  S             sum = Rows<S>::begin(&step, row);
  for (int32_t k = t.row_ptr[place]; k < t.row_ptr[place + 1]; k++)
    sum = Rows<S>::less(sum, ((const S *)t.values)[k], ((const S *)step.x)[t.col[k]]);
  Rows<S>::end(&step, S(0), row, sum);
}

SpmvStatus solve(SpmvFactorization *f, const SpmvTriangle *t, const SpmvFactorStep *step, SpmvExec *exec)
{
  const int64_t blocks = spmv_blocks(f->rows, THREADS);

  return spmv_with_scalar(f->scalar, [&](auto number) {
    typedef decltype(number) S;
    if (step->kind == SPMV_STEP_RESIDUAL)
      SPMV_LAUNCH(exec, spmv_factor_residual<S>, blocks, THREADS, 0, *t, *step, f->rows);
    else
      SPMV_LAUNCH(exec, spmv_factor_solve_rows<S>, blocks, THREADS, 0, *t, *step, f->factor.inverse, f->rows,
                  (SpmvTurns *)f->turns, f->mail);
    return SPMV_SUCCESS;
  });
}

SpmvStatus reset(SpmvFactorization *f, SpmvExec *exec)
{
  SPMV_CUDA(exec, cudaMemsetAsync(f->turns, 0, sizeof(SpmvTurns), (cudaStream_t)exec->stream));
  if (f->rows > 0)
    SPMV_CUDA(exec, cudaMemsetAsync(f->mail, 0, (size_t)(2 * f->rows * spmv_scalar_bytes(f->scalar)),
                                    (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}
} // namespace

extern "C" const SpmvFactorSlots spmv_factor_device_slots = {reset, attempt, gather, solve};
