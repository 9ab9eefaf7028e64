/*
  codsell_device_rank.cu - ranks of the words of a sample (a sample sort that computes only ranks). Splitters divide the
  keys into buckets. The rank of a key is the beginning of its bucket plus the number of smaller keys in the bucket,
  found by counting. This takes few launches, a full sort takes many. Counting is fast for small buckets, and correct
  for buckets of any size.
*/
#include "codsell_device_rank.cuh"
#include <cub/block/block_scan.cuh>

namespace
{
constexpr int BUCKET     = 256; /* target number of keys per bucket */
constexpr int BLOCKS_MAX = 512; /* enough to keep a large device busy */
constexpr int CHUNK      = 2 * CODSELL_THREADS;
constexpr int UNROLLED   = 8; /* keys that a thread compares per unrolled step */

constexpr uint64_t NO_KEY = ~0ull; /* larger than all keys */

/* The number of splitters for n keys */
__device__ inline int splitters_for(int n) { return min(n / BUCKET, CODSELL_BUCKETS - 1); }

/* The number of elements <= value among n elements in ascending order */
template <typename T>
__device__ inline int at_most(const T *sorted, int n, T value)
{
  return spmv_first_without(n, [&](int i) { return sorted[i] <= value; });
}

/* Counts the elements of an array in shared memory that are smaller than `value`. n is rounded up to a multiple of
   UNROLLED: elements beyond the end must not be smaller than any key. */
__device__ inline int smaller_ones(const uint64_t *keys, int n, uint64_t value)
{
  int smaller = 0;

  for (int i = 0; i < n; i += UNROLLED) {
#pragma unroll
    for (int j = 0; j < UNROLLED; j++) smaller += keys[i + j] < value;
  }
  return smaller;
}

/* begin[b] = the number of keys before bucket b. Called by all threads. */
__device__ inline void add_up_buckets(const int *count, int *begin)
{
  constexpr int                                EACH = CODSELL_BUCKETS / CODSELL_THREADS;
  typedef cub::BlockScan<int, CODSELL_THREADS> Scan;
  __shared__ typename Scan::TempStorage        temp;
  int                                          items[EACH], all;

#pragma unroll
  for (int i = 0; i < EACH; i++) items[i] = count[threadIdx.x * EACH + i];
  Scan(temp).ExclusiveSum(items, items, all);
#pragma unroll
  for (int i = 0; i < EACH; i++) begin[threadIdx.x * EACH + i] = items[i];
  __syncthreads();
}

/* Counts the keys of each bucket. The list is in random order, so keys at equal distances are a random sample and serve
   as splitters. Each thread block sorts the splitters itself. */
__global__ void __launch_bounds__(CODSELL_THREADS) codsell_count_buckets(const CodsellRanking r)
{
  alignas(16) __shared__ uint64_t sample[CODSELL_BUCKETS + UNROLLED];
  __shared__ uint64_t             splitter[CODSELL_BUCKETS];
  const int                       n = *r.n, splitters = splitters_for(n);

  if (blockIdx.x * CODSELL_THREADS >= n) return;
  for (int i = threadIdx.x; i < splitters + UNROLLED; i += CODSELL_THREADS)
    sample[i] = i < splitters ? r.key[(int64_t)i * n / splitters] : NO_KEY;
  __syncthreads();
  for (int i = threadIdx.x; i < splitters; i += CODSELL_THREADS) {
    const uint64_t own     = sample[i];
    const int      smaller = smaller_ones(sample, splitters, own);

    splitter[smaller] = own;
    if (blockIdx.x == 0) r.buckets->splitter[smaller] = own;
  }
  __syncthreads();
  for (int i = blockIdx.x * CODSELL_THREADS + threadIdx.x; i < n; i += gridDim.x * CODSELL_THREADS)
    atomicAdd(&r.buckets->count[at_most(splitter, splitters, r.key[i])], 1);
}

__global__ void __launch_bounds__(CODSELL_THREADS) codsell_fill_buckets(const CodsellRanking r)
{
  __shared__ uint64_t splitter[CODSELL_BUCKETS];
  __shared__ int      begin[CODSELL_BUCKETS];
  const int           n = *r.n, splitters = splitters_for(n);

  if (blockIdx.x * CODSELL_THREADS >= n) return;
  for (int i = threadIdx.x; i < splitters; i += CODSELL_THREADS) splitter[i] = r.buckets->splitter[i];
  add_up_buckets(r.buckets->count, begin);
  for (int i = blockIdx.x * CODSELL_THREADS + threadIdx.x; i < n; i += gridDim.x * CODSELL_THREADS) {
    const uint64_t key    = r.key[i];
    const int      bucket = at_most(splitter, splitters, key);
    const int      to     = begin[bucket] + atomicAdd(&r.buckets->taken[bucket], 1);

    r.key_to[to]   = key;
    r.entry_to[to] = r.entry[i];
  }
}

/* Counts the keys at low .. high-1 that are smaller than the key of this thread. Called by all threads. */
__device__ inline int count_smaller(const uint64_t *key, int low, int high, uint64_t own)
{
  alignas(16) __shared__ uint64_t chunk[CHUNK];
  int                             smaller = 0;

  for (int at = low; at < high; at += CHUNK) {
    __syncthreads();
    for (int i = threadIdx.x; i < CHUNK; i += CODSELL_THREADS) chunk[i] = at + i < high ? key[at + i] : NO_KEY;
    __syncthreads();
    smaller += smaller_ones(chunk, min(CHUNK, high - at), own);
  }
  return smaller;
}

template <typename I>
struct Dictionary {
  const I *row_ptr, *col;
  int      word, stride;
  int32_t *to; /* or NULL */

  __device__ inline void write(int id, uint64_t locator) const
  {
    const int64_t row = codsell_locator_row(locator), begin = row_ptr[row];
    int32_t       offset[CODSELL_MAX_WORD];

    codsell_read_word(col + begin, (int)(row_ptr[row + 1] - begin), codsell_locator_word(locator), word, row, offset);
    const int32_t start = codsell_locator_relative(locator) ? offset[0] : 0;
#pragma unroll
    for (int j = 0; j < CODSELL_MAX_WORD; j++)
      if (j < stride) to[(int64_t)id * stride + j] = j < word ? offset[j] - start : 0;
  }
};

/* Neighbouring keys belong to the same bucket or to neighbouring buckets, so a thread block counts in all buckets of
   its keys */
template <typename I>
__global__ void __launch_bounds__(CODSELL_THREADS) codsell_give_ids(const CodsellRanking r, const Dictionary<I> words)
{
  __shared__ int begin[CODSELL_BUCKETS], shorter[CODSELL_WORDS];
  const int      n = *r.n;

  if (blockIdx.x * CODSELL_THREADS >= n) return;
  if (threadIdx.x < CODSELL_WORDS) {
    int sum = 0;
    for (int l = 0; l < (int)threadIdx.x; l++) sum += (int)r.number[l];
    shorter[threadIdx.x] = sum;
  }
  add_up_buckets(r.buckets->count, begin);
  for (int first = blockIdx.x * CODSELL_THREADS; first < n; first += gridDim.x * CODSELL_THREADS) {
    const int      i = first + threadIdx.x, last = min(first + CODSELL_THREADS, n) - 1;
    const int      behind = at_most(begin, CODSELL_BUCKETS, last);
    const int      low    = begin[at_most(begin, CODSELL_BUCKETS, first) - 1];
    const uint64_t own    = i < n ? r.key_to[i] : 0;
    const int      rank   = low + count_smaller(r.key_to, low, behind < CODSELL_BUCKETS ? begin[behind] : n, own);
    if (i >= n) continue;
    const int id = rank - shorter[codsell_locator_length(own)];
    if (id >= CODSELL_DICTIONARY) continue;
    r.table[r.entry_to[i]].id = (uint32_t)id;
    if (words.to) words.write(id, codsell_key_locator(own));
  }
}

template <typename I>
SpmvStatus give_ids(const CodsellRanking *r, const SpmvPattern *p, int word, int32_t *dictionary, int64_t blocks,
                    SpmvExec *exec)
{
  const Dictionary<I> words = {(const I *)p->row_ptr, (const I *)p->col, word, codsell_stride(word), dictionary};

  SPMV_LAUNCH(exec, codsell_give_ids<I>, blocks, CODSELL_THREADS, 0, *r, words);
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus codsell_device_rank(const CodsellRanking *r, const SpmvPattern *p, int word, int32_t *dictionary,
                               SpmvExec *exec)
{
  const int64_t all = spmv_blocks(r->most, CODSELL_THREADS), blocks = all < BLOCKS_MAX ? all : (int64_t)BLOCKS_MAX;

  SPMV_LAUNCH(exec, codsell_count_buckets, blocks, CODSELL_THREADS, 0, *r);
  SPMV_LAUNCH(exec, codsell_fill_buckets, blocks, CODSELL_THREADS, 0, *r);
  if (p->index_type == SPMV_I64) return give_ids<int64_t>(r, p, word, dictionary, blocks, exec);
  return give_ids<int32_t>(r, p, word, dictionary, blocks, exec);
}
