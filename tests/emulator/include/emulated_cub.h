/*
  emulated_cub.h - the parts of CUB that petscpack calls, with CUB's interfaces, as plain loops in the order that CUB
  promises. Scratch space is one byte, so that callers have to allocate and pass it.
*/
#ifndef SPMV_EMULATED_CUB_H
#define SPMV_EMULATED_CUB_H

#include <cuda_runtime.h>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <vector>

namespace cub
{
namespace emulated
{
/* The first call returns the size of the scratch space, the second one does the work */
template <typename Work>
cudaError_t run(void *scratch, size_t &bytes, cudaStream_t stream, Work work)
{
  if (scratch) return spmv_emulator::enqueue(stream, work);
  bytes = 1;
  return cudaSuccess;
}

template <typename K>
struct Bits {
  int                                                            begin, end;
  typedef std::conditional_t<sizeof(K) == 8, uint64_t, uint32_t> Word;
  Word                                                           operator()(K k) const
  {
    static_assert(std::is_integral<K>::value, "the emulator sorts integers");
    Word w = (Word)(std::make_unsigned_t<K>)k;
    if (std::is_signed<K>::value) w ^= (Word)1 << (8 * sizeof(K) - 1);
    w >>= begin;
    return end - begin < (int)(8 * sizeof(Word)) ? w & (((Word)1 << (end - begin)) - 1) : w;
  }
};

template <typename K, typename N>
std::vector<int64_t> sorted_order(const K *keys, N n, Bits<K> bits)
{
  std::vector<int64_t> order((size_t)n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [=](int64_t a, int64_t b) { return bits(keys[a]) < bits(keys[b]); });
  return order;
}

template <typename It>
using Value = typename std::iterator_traits<It>::value_type;
} // namespace emulated

struct Sum {
  template <typename T>
  T operator()(const T &a, const T &b) const
  {
    return a + b;
  }
};

struct DeviceScan {
  template <typename In, typename Out, typename Op, typename N>
  static cudaError_t InclusiveScan(void *scratch, size_t &bytes, In in, Out out, Op op, N n, cudaStream_t stream = 0)
  {
    return emulated::run(scratch, bytes, stream, [=] {
      if (n <= 0) return;
      emulated::Value<In> sum = in[0];
      out[0]                  = sum;
      for (N i = 1; i < n; i++) out[i] = sum = op(sum, in[i]);
    });
  }
  template <typename In, typename Out, typename Op, typename T, typename N>
  static cudaError_t ExclusiveScan(void *scratch, size_t &bytes, In in, Out out, Op op, T first, N n,
                                   cudaStream_t stream = 0)
  {
    return emulated::run(scratch, bytes, stream, [=] {
      T sum = first;
      for (N i = 0; i < n; i++) {
        const T next = op(sum, in[i]); /* in and out may be one array */
        out[i]       = sum;
        sum          = next;
      }
    });
  }
  template <typename In, typename Out, typename N>
  static cudaError_t InclusiveSum(void *scratch, size_t &bytes, In in, Out out, N n, cudaStream_t stream = 0)
  {
    return InclusiveScan(scratch, bytes, in, out, Sum(), n, stream);
  }
  template <typename In, typename Out, typename N>
  static cudaError_t ExclusiveSum(void *scratch, size_t &bytes, In in, Out out, N n, cudaStream_t stream = 0)
  {
    return ExclusiveScan(scratch, bytes, in, out, Sum(), emulated::Value<In>(), n, stream);
  }
};

struct DeviceRadixSort {
  template <typename K, typename V, typename N>
  static cudaError_t SortPairs(void *scratch, size_t &bytes, const K *keys, K *keys_out, const V *values, V *values_out,
                               N n, int begin_bit = 0, int end_bit = 8 * sizeof(K), cudaStream_t stream = 0)
  {
    return emulated::run(scratch, bytes, stream, [=] {
      const auto order = emulated::sorted_order(keys, n, emulated::Bits<K>{begin_bit, end_bit});
      for (N i = 0; i < n; i++) keys_out[i] = keys[order[i]];
      for (N i = 0; i < n; i++) values_out[i] = values[order[i]];
    });
  }
};

struct DeviceSelect {
  template <typename In, typename Out, typename Count, typename N, typename Predicate>
  static cudaError_t If(void *scratch, size_t &bytes, In in, Out out, Count count, N n, Predicate keep,
                        cudaStream_t stream = 0)
  {
    return emulated::run(scratch, bytes, stream, [=] {
      N kept = 0;
      for (N i = 0; i < n; i++)
        if (keep(in[i])) out[kept++] = in[i];
      *count = kept;
    });
  }
};

/* Block-wide algorithms: every thread brings its items, and thread 0 does the work. As with CUB, the caller needs a
   barrier before it uses the scratch space again. */
template <typename T, int THREADS>
class BlockScan
{
public:
  enum { MAX_ITEMS = 8 };
  struct TempStorage {
    T items[THREADS * MAX_ITEMS], total;
  };

private:
  TempStorage &temp;

  template <int P, typename Op>
  void scan(const T (&in)[P], T (&out)[P], T &total, Op op, T first, bool inclusive)
  {
    static_assert(P <= MAX_ITEMS, "raise MAX_ITEMS");
    for (int i = 0; i < P; i++) temp.items[threadIdx.x * P + i] = in[i];
    __syncthreads();
    if (threadIdx.x == 0) {
      T sum = first;
      for (int i = 0; i < THREADS * P; i++) {
        const T next  = op(sum, temp.items[i]);
        temp.items[i] = inclusive ? next : sum;
        sum           = next;
      }
      temp.total = sum;
    }
    __syncthreads();
    for (int i = 0; i < P; i++) out[i] = temp.items[threadIdx.x * P + i];
    total = temp.total;
  }

public:
  explicit BlockScan(TempStorage &t) : temp(t) {}

  template <int P>
  void ExclusiveSum(T (&in)[P], T (&out)[P], T &total)
  {
    scan(in, out, total, cub::Sum(), T(), false);
  }
  template <int P>
  void InclusiveSum(T (&in)[P], T (&out)[P], T &total)
  {
    scan(in, out, total, cub::Sum(), T(), true);
  }
  void ExclusiveSum(T in, T &out, T &total)
  {
    T a[1] = {in}, b[1];
    scan(a, b, total, cub::Sum(), T(), false);
    out = b[0];
  }
  template <typename Op>
  void InclusiveScan(T in, T &out, Op op, T &total)
  {
    T a[1] = {in}, b[1];
    scan(a, b, total, op, T(), true);
    out = b[0];
  }
};

template <typename K, int THREADS, int P>
class BlockRadixSort
{
public:
  struct TempStorage {
    K keys[THREADS * P];
  };

private:
  TempStorage &temp;

public:
  explicit BlockRadixSort(TempStorage &t) : temp(t) {}

  /* Every thread brings P consecutive keys, and gets P keys that are THREADS apart */
  void SortBlockedToStriped(K (&keys)[P], int begin_bit, int end_bit)
  {
    const emulated::Bits<K> bits = {begin_bit, end_bit};

    for (int i = 0; i < P; i++) temp.keys[threadIdx.x * P + i] = keys[i];
    __syncthreads();
    if (threadIdx.x == 0)
      std::stable_sort(temp.keys, temp.keys + THREADS * P, [=](K a, K b) { return bits(a) < bits(b); });
    __syncthreads();
    for (int i = 0; i < P; i++) keys[i] = temp.keys[i * THREADS + threadIdx.x];
  }
};

/* The result is valid in thread 0; other threads get their own item back, for which CUB promises nothing */
template <typename T, int THREADS>
class BlockReduce
{
public:
  struct TempStorage {
    T items[THREADS];
  };

private:
  TempStorage &temp;

public:
  explicit BlockReduce(TempStorage &t) : temp(t) {}

  template <typename Op>
  T Reduce(T item, Op op)
  {
    temp.items[threadIdx.x] = item;
    __syncthreads();
    if (threadIdx.x) return item;
    for (int t = 1; t < THREADS; t++) item = op(item, temp.items[t]);
    return item;
  }
};

} // namespace cub
#endif
