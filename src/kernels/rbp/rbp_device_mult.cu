/*
  rbp_device_mult.cu - the product kernels of format packed on the device, for products and for steps of smoothers.

  A thread block streams its units: a thread reads one start, G*U values and U entries of x, and writes G sums to shared
  memory; then `lanes` threads add the sums of each row in a fixed order. A thread issues the loads of all its units
  before the first use, so that enough loads are in flight. Values are read once, with a streaming cache hint.
*/
#include "device/long_rows.cuh"
#include "rbp_device_packed.cuh"

namespace
{
enum { RBP_CACHE_BYTES = 128 << 20 /* larger than the L2 cache of current GPUs */ };

/* The encoding of the starts of a block */
enum StartKind { NARROW, SEGMENTED, WIDE };

/* Loads a word. With ONCE no other block reads it, so it bypasses the cache and leaves the space to x. */
template <bool ONCE, typename T>
__device__ inline unsigned load_word(const T *word)
{
  return ONCE ? __ldcs(word) : __ldg(word);
}

/* Loads the words of this thread's units; 0 past the end */
template <int P, StartKind KIND, bool ONCE>
__device__ inline void load_words(const RbpBlock &b, const uint16_t *starts, unsigned (&word)[P])
{
#pragma unroll
  for (int i = 0; i < P; i++) {
    const int u = threadIdx.x + i * RBP_THREADS;
    word[i]     = 0;
    if (u < b.units)
      word[i] = KIND == WIDE ? load_word<ONCE>((const unsigned *)starts + u) : load_word<ONCE>(starts + u);
  }
}

/* Converts words to columns relative to the base */
template <int P, StartKind KIND>
__device__ inline void decode_words(const RbpBlock &b, const uint16_t *starts, unsigned (&word)[P])
{
  const unsigned *segment = (const unsigned *)starts - RBP_SEGMENTS;

#pragma unroll
  for (int i = 0; i < P; i++) {
    if (KIND == NARROW) word[i] *= b.scale;
    if (KIND == SEGMENTED)
      word[i] = __ldg(segment + (word[i] >> RBP_SEGMENT_BITS)) + (word[i] & ((1 << RBP_SEGMENT_BITS) - 1));
  }
}

/* sum[q][u] = the contribution of unit u to row q of its group. Loads that depend on no other load are issued first,
   then the loads of x, because a thread stalls at the first use of a value that has not arrived. Values have type V. */
template <typename S, typename V, int G, int U, int P, bool ONCE, StartKind KIND>
__device__ inline void multiply_units(const RbpBlock &b, const uint16_t *encoding, const V *values, const S *x,
                                      S (&sum)[G][RBP_THREADS * P])
{
  const uint16_t *starts = encoding + rbp_starts_offset(b.groups, b.flags);
  const bool      ragged = U > 1 && (b.flags & RBP_BLOCK_RAGGED);
  unsigned        word[P];
  int             columns[P]; /* of each unit */
  V               w[P][G * U];
  S               xu[P][U];

  load_words<P, KIND, ONCE>(b, starts, word);
#pragma unroll
  for (int i = 0; i < P; i++) {
    const int u = threadIdx.x + i * RBP_THREADS;
    columns[i]  = U;
    if (ragged && u < b.units) columns[i] = __ldg(encoding + rbp_lengths_offset(b.groups, b.units, b.flags) + u);
#pragma unroll
    for (int k = 0; k < G * U; k++) {
      w[i][k] = V(0);
      if (u < b.units) w[i][k] = __ldcs(values + (int64_t)k * b.stride + u);
    }
  }
  decode_words<P, KIND>(b, starts, word);
#pragma unroll
  for (int i = 0; i < P; i++) /* no read of x beyond a short unit: that entry may be NaN */
#pragma unroll
    for (int j = 0; j < U; j++) xu[i][j] = __ldca(x + word[i] + (U > 1 ? min(j, columns[i] - 1) : 0));
#pragma unroll
  for (int i = 0; i < P; i++) {
    const int u = threadIdx.x + i * RBP_THREADS;
#pragma unroll
    for (int q = 0; q < G; q++) {
      S s = (S)w[i][q * U] * xu[i][0];
#pragma unroll
      for (int j = 1; j < U; j++) s += (S)w[i][q * U + j] * xu[i][j];
      if (u < b.units) sum[q][u] = s;
    }
  }
}

template <typename S, typename V, int G, int U, int P, bool ONCE, typename OUT>
__global__ void __launch_bounds__(RBP_THREADS, rbp_resident_blocks(G *U *P))
    rbp_block_of_units(const RbpBlock *__restrict__ blocks, const uint16_t *__restrict__ pattern,
                       const V *__restrict__ values, const S *__restrict__ x, S *__restrict__ work, OUT out)
{
  __shared__ S        sum[G][RBP_THREADS * P];
  __shared__ uint16_t first_unit[RBP_THREADS * P + 1], first_row[G > 1 ? RBP_THREADS * P + 1 : 1];
  const RbpBlock      b        = blocks[blockIdx.x];
  const uint16_t     *encoding = pattern + b.pattern0;
  const bool          uneven   = G > 1 && (b.flags & RBP_BLOCK_UNEVEN);

  spmv_let_next_begin();
  spmv_wait_for_previous(x, out.y, work);
  const int early = (int)threadIdx.x <= b.groups ? encoding[threadIdx.x] : 0; /* this load overlaps those of the
                                                                                 values */

  if (b.units == 0) { /* empty rows: y still has to be scaled */
  } else if (b.flags & RBP_BLOCK_WIDE)
    multiply_units<S, V, G, U, P, ONCE, WIDE>(b, encoding, values + b.value0, x + b.base, sum);
  else if (b.flags & RBP_BLOCK_SEGMENTED)
    multiply_units<S, V, G, U, P, ONCE, SEGMENTED>(b, encoding, values + b.value0, x + b.base, sum);
  else multiply_units<S, V, G, U, P, ONCE, NARROW>(b, encoding, values + b.value0, x + b.base, sum);
  for (int g = threadIdx.x; g <= b.groups; g += RBP_THREADS) {
    first_unit[g] = g < RBP_THREADS ? early : encoding[g];
    if (uneven) first_row[g] = encoding[b.groups + 1 + g];
  }
  __syncthreads();

  const int lanes = b.lanes, lane = threadIdx.x & (lanes - 1), per_pass = RBP_THREADS / lanes;
  for (int r0 = 0; r0 < b.groups * G; r0 += per_pass) {
    const int r = r0 + threadIdx.x / lanes, g = r / G, q = r - g * G;
    const int rows = g >= b.groups ? 0 : uneven ? first_row[g + 1] - first_row[g] : G;
    S         s    = 0;

    if (q < rows)
      for (int u = first_unit[g] + lane; u < first_unit[g + 1]; u += lanes) s += sum[q][u];
    s = spmv_add_lanes(s, lanes);
    if (lane || q >= rows) continue;
    if (b.flags & RBP_BLOCK_PIECE) work[(int64_t)b.slot * G + q] = s;
    else out.put(b.row0 + (uneven ? first_row[g] + q : r), s);
  }
}

/* A product. Values have type V; OUT receives the sums of rows. */
template <typename V, typename OUT>
struct Product {
  const RbpDevicePacked *plan;
  const V               *values;
  const void            *x;
  void                  *work;
  OUT                    out;
  SpmvExec              *exec;

  template <typename S, int G, int U, int P, bool ONCE>
  SpmvStatus launch() const
  {
    const RbpDeviceShape &s = plan->shape;

    SPMV_LAUNCH_OVERLAPPED(exec, (rbp_block_of_units<S, V, G, U, P, ONCE, OUT>), s.blocks, RBP_THREADS, 0, plan->blocks,
                           plan->pattern, values, (const S *)x, (S *)work, out);
    return spmv_add_long_rows<RBP_THREADS, G>(plan->pieces, s.long_groups, (const S *)work, out, exec);
  }
  /* If every nonzero is a unit, words are a fifth of the bytes read. Then a separate kernel pays: words that only one
     block reads bypass the cache, unless the matrix is so small that the next product would find them in the cache. */
  template <typename S, int G, int U, int P>
  SpmvStatus run() const
  {
    const RbpDeviceShape &s = plan->shape;

    return G * U == 1 && 10 * s.shared_blocks < s.blocks && plan->base.memory.total_bytes > RBP_CACHE_BYTES
               ? launch<S, G, U, P, G * U == 1>()
               : launch<S, G, U, P, false>();
  }
};
} // namespace

template <typename V, typename OUT>
SpmvStatus RbpMultiply::run(const SpmvPlan *base, const V *const values[2], const void *x, const OUT &out, void *work,
                            SpmvExec *exec)
{
  const RbpDevicePacked *plan = (const RbpDevicePacked *)base;

  return rbp_with_shape<typename OUT::Scalar>(plan->shape, Product<V, OUT>{plan, values[0], x, work, out, exec}, exec);
}

template struct SpmvProducts<RbpMultiply>;
