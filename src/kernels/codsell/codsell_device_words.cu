/* codsell_device_words.cu - the dictionary on the device: the words of a sample of slices in a hash table, ranked by
   count. The rules are those of codsell_dictionary.c, so that the same words get the same ids. */
#include "codsell_device_rank.cuh"
#include <algorithm>

namespace
{
/* The maximum number of steps of a search in the hash table. A table that is three quarters full needs far fewer, so a
   search that reaches this limit means that the table is too full. */
constexpr int PROBES_MAX = 4096;

/* 64-bit numbers of the table cleared by a thread block */
constexpr int CLEARED = 4 * CODSELL_THREADS;

/* Entries of the table that a thread block checks for selected words */
constexpr int LISTED_EACH = 4, LISTED = LISTED_EACH * CODSELL_THREADS;

/* Enough thread blocks to keep a large device busy */
constexpr int64_t BLOCKS_WANTED = 512;

/* Counts of a sample, in device memory. Per word length: words, distinct words, bytes of the slices, and selected
   words. For all lengths: whether the table is full, and the number of selected words. */
struct Totals {
  unsigned long long words[CODSELL_WORDS], distinct[CODSELL_WORDS], bytes[CODSELL_WORDS];
  int64_t            number[CODSELL_WORDS];
  int                full, selected;
};

/* The counters that must be 0 before a sample is taken */
struct Sums {
  Totals         totals; /* first */
  CodsellBuckets buckets;
};

/* A sample for some word lengths */
struct Sample {
  int             word[CODSELL_WORDS], lengths;
  int64_t         stride, capacity;
  CodsellEntry   *table;
  Totals         *totals;
  CodsellBuckets *buckets;
};

/* The maximum number of words of a table; the words of a fuller table are not used */
__host__ __device__ inline int64_t most_words(int64_t capacity) { return capacity / 4 * 3; }

/* Frees all entries and zeroes all sums. An entry is written as three 64-bit numbers: key; first; id and count. */
__global__ void codsell_clear_table(CodsellEntry *table, int64_t capacity, Sums *sums)
{
  static_assert(sizeof(CodsellEntry) == 3 * sizeof(uint64_t), "an entry is three numbers");
  static_assert(sizeof(Sums) % sizeof(uint64_t) == 0, "sums are numbers");
  const uint64_t free_entry[3] = {0, ~0ull, (uint64_t)CODSELL_NO_ID << 32};
  const int64_t  begin = blockIdx.x * (int64_t)CLEARED, end = min(begin + CLEARED, 3 * capacity);

  for (int64_t i = begin + threadIdx.x; i < end; i += CODSELL_THREADS) {
    const unsigned part    = (unsigned)i % 3;
    ((uint64_t *)table)[i] = part == 0 ? free_entry[0] : part == 1 ? free_entry[1] : free_entry[2];
  }
  if (blockIdx.x > 0) return;
  for (int i = threadIdx.x; i < (int)(sizeof(Sums) / sizeof(uint64_t)); i += CODSELL_THREADS) ((uint64_t *)sums)[i] = 0;
}

/* The index of the entry of a fingerprint; a new fingerprint is inserted and counted. -1 if the table is full. */
__device__ inline int64_t enter(const Sample &s, uint64_t fingerprint, int *distinct)
{
  int64_t i = (int64_t)(fingerprint & (uint64_t)(s.capacity - 1));

  for (int probe = 0; probe < PROBES_MAX; probe++) {
    unsigned long long *key = (unsigned long long *)&s.table[i].key;
    unsigned long long  old = *(volatile unsigned long long *)key;

    if (old == 0) {
      old = atomicCAS(key, 0ull, (unsigned long long)fingerprint);
      if (old == 0) atomicAdd(distinct, 1);
    }
    if (old == 0 || old == fingerprint) return i;
    i = (i + 1) & (s.capacity - 1);
  }
  s.totals->full = 1;
  return -1;
}

/* Adds one word per lane to the table. Among the lanes of a warp with equal words, the lane whose word occurs first
   adds all of them. rank, of `bits` bits, orders the rows of a warp, which belong to one slice. Called by all lanes;
   active says whether a lane has a word. */
__device__ inline void add_word(const Sample &s, int active, uint64_t fingerprint, uint64_t locator, int rank, int bits,
                                int *distinct)
{
  const int      lane  = threadIdx.x & 31;
  const unsigned here  = __ballot_sync(0xffffffffu, active);
  const unsigned same  = __match_any_sync(0xffffffffu, active ? (unsigned long long)fingerprint : 0ull) & here;
  unsigned       first = same; /* the lanes of lowest rank among these; the first of them adds */

  for (int bit = bits - 1; bit >= 0; bit--) {
    const unsigned zero = __ballot_sync(0xffffffffu, !(rank >> bit & 1));
    if (first & zero) first &= zero;
  }
  if (!active || lane != __ffs(first) - 1) return;
  const int64_t at = enter(s, fingerprint, distinct);
  if (at < 0) return;
  atomicAdd(&s.table[at].count, (uint32_t)__popc(same));
  unsigned long long *there = (unsigned long long *)&s.table[at].first;
  if (locator < *(volatile unsigned long long *)there) atomicMin(there, (unsigned long long)locator);
}

/* The distribution of a sample over threads */
typedef struct {
  int log_parts; /* log2 of the threads per row in a thread block: at least a warp per slice */
  int shares;    /* thread blocks per slice */
  int bits;      /* bits of the number of a row in its window */
} Division;

/* Adds the words of a sample to the table. A thread block processes some slices, for one word length, and a share of
   the words of each row. Neighbouring lanes take neighbouring rows, whose words are often equal. */
template <typename I>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_add_words(const Sample s, const CodsellSource a, const Division d, const I *__restrict__ row_ptr,
                      const I *__restrict__ col)
{
  __shared__ unsigned long long words;
  __shared__ int                distinct;
  const int                     l = blockIdx.x % s.lengths, share = blockIdx.x / s.lengths % d.shares;
  const int                     word = s.word[l], log_team = a.log_c + d.log_parts;
  const int64_t                 sampled =
      blockIdx.x / s.lengths / d.shares * (int64_t)(CODSELL_THREADS >> log_team) + (threadIdx.x >> log_team);
  const int part  = (threadIdx.x >> a.log_c & ((1 << d.log_parts) - 1)) + (share << d.log_parts);
  const int parts = d.shares << d.log_parts;
  int32_t   offset[CODSELL_MAX_WORD];
  uint64_t  fingerprint = 0, relative = 0;
  int64_t   row   = 0;
  const I  *first = col;
  int       n     = 0;

  if (threadIdx.x == 0) words = distinct = 0;
  __syncthreads();
  if (sampled * s.stride < a.slices) {
    const int64_t slot =
        (codsell_sampled(sampled, s.stride, a.slices) << a.log_c) + (threadIdx.x & ((1 << a.log_c) - 1));
    n   = a.length[slot];
    row = codsell_row(a.order, a.window, slot);
  }
  if (n > 0) first = col + row_ptr[row];
  const int count = codsell_words(n, word), rank = (int)((unsigned)row % (unsigned)a.window);
  if (part == 0 && count > 0) atomicAdd(&words, 2ull * count);
  for (int w = part; __any_sync(0xffffffffu, w < count); w += parts) {
    if (w < count) {
      codsell_read_word(first, n, w, word, row, offset);
      codsell_fingerprints(offset, word, &fingerprint, &relative);
    }
    add_word(s, w < count, fingerprint, codsell_locator(l, row, w, 0), rank, d.bits, &distinct);
    add_word(s, w < count, relative, codsell_locator(l, row, w, 1), rank, d.bits, &distinct);
  }
  __syncthreads();
  if (threadIdx.x > 0 || words == 0) return;
  atomicAdd(&s.totals->words[l], words);
  if (distinct > 0) atomicAdd(&s.totals->distinct[l], (unsigned long long)distinct);
}

/* Lists the selected entries of the table, in any order, and their keys; none if the table was too small */
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_list_selected(const Sample s, int32_t *selected, uint64_t *key)
{
  __shared__ CodsellCounts      counts[CODSELL_WORDS];
  __shared__ unsigned long long used;
  __shared__ int32_t            here[LISTED];
  __shared__ int                listed, before, number[CODSELL_WORDS];
  const int64_t                 begin = blockIdx.x * (int64_t)LISTED + threadIdx.x;
  uint32_t                      count[LISTED_EACH];

  if (threadIdx.x == 0) used = listed = 0;
  if (threadIdx.x < CODSELL_WORDS) number[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x < s.lengths) {
    counts[threadIdx.x] = {s.totals->words[threadIdx.x], s.totals->distinct[threadIdx.x]};
    atomicAdd(&used, (unsigned long long)counts[threadIdx.x].distinct);
  }
#pragma unroll
  for (int j = 0; j < LISTED_EACH; j++) {
    const int64_t i = begin + j * CODSELL_THREADS;
    count[j]        = i < s.capacity ? s.table[i].count : 0; /* 0 if the entry is free */
  }
  __syncthreads();
  if (s.totals->full || used > (unsigned long long)most_words(s.capacity)) return;
#pragma unroll
  for (int j = 0; j < LISTED_EACH; j++) {
    const int64_t i = begin + j * CODSELL_THREADS;
    if (count[j] == 0) continue;
    const int length = codsell_locator_length(s.table[i].first);
    if (!codsell_is_selected(counts[length], count[j])) continue;
    here[atomicAdd(&listed, 1)] = (int32_t)i;
    atomicAdd(&number[length], 1);
  }
  __syncthreads();
  if (threadIdx.x == 0 && listed > 0) before = atomicAdd(&s.totals->selected, listed);
  if (threadIdx.x < CODSELL_WORDS && number[threadIdx.x] > 0)
    atomicAdd((unsigned long long *)&s.totals->number[threadIdx.x], (unsigned long long)number[threadIdx.x]);
  __syncthreads();
  for (int i = threadIdx.x; i < listed; i += CODSELL_THREADS) {
    selected[before + i] = here[i];
    key[before + i]      = codsell_rank_key(s.table[here[i]]);
  }
}

/* Chooses the number of threads per row: the number of words of the shortest length in the mean row, if a thread block
   has that many threads. Small samples are divided further, among several thread blocks per slice. */
Division divide(const CodsellShape *s, int64_t nnz, int word, int64_t slices, int lengths, int64_t *blocks)
{
  const int64_t mean = s->rows > 0 ? (nnz - s->long_nnz) / s->rows / word : 0;
  Division      d    = {0, 1, spmv_bits_of(s->window)};

  while (s->log_c + d.log_parts < 5 || (s->log_c + d.log_parts < CODSELL_LOG_THREADS && 1 << d.log_parts < mean))
    d.log_parts++;
  *blocks = spmv_blocks(slices, CODSELL_THREADS >> (s->log_c + d.log_parts)) * lengths;
  while (*blocks * d.shares < BLOCKS_WANTED && d.shares << d.log_parts < mean) d.shares *= 2;
  *blocks *= d.shares;
  return d;
}

SpmvStatus take_sample(const CodsellDeviceAnalysis *a, int64_t wanted, Sample *s, SpmvArena *arena, SpmvExec *exec)
{
  const SpmvPattern *p = &a->pattern;
  int64_t            blocks;
  Sums              *sums;

  codsell_sample_size(s->word, s->lengths, wanted, p->rows, p->nnz, &s->stride, &s->capacity);
  SPMV_TRY(spmv_arena_array(arena, s->capacity, "words", &s->table, exec));
  SPMV_TRY(spmv_arena_array(arena, 1, "totals of words", &sums, exec));
  s->totals  = &sums->totals;
  s->buckets = &sums->buckets;
  SPMV_LAUNCH(exec, codsell_clear_table, spmv_blocks(3 * s->capacity, CLEARED), CODSELL_THREADS, 0, s->table,
              s->capacity, sums);
  const int64_t  slices = spmv_blocks(a->shape.slices, s->stride);
  const Division d      = divide(&a->shape, p->nnz, s->word[0], slices, s->lengths, &blocks);
  return spmv_with_index(p->index_type, [&](auto index) -> SpmvStatus {
    typedef decltype(index) I;
    SPMV_LAUNCH(exec, codsell_add_words<I>, blocks, CODSELL_THREADS, 0, *s, codsell_source(a), d, (const I *)p->row_ptr,
                (const I *)p->col);
    return SPMV_SUCCESS;
  });
}

/* Assigns ids to the selected words of the sample, and writes the words to dictionary, unless it is NULL */
SpmvStatus rank_words(const CodsellDeviceAnalysis *a, const Sample *s, int32_t *dictionary, SpmvArena *arena,
                      SpmvExec *exec)
{
  CodsellRanking r = {};

  r.most    = most_words(s->capacity);
  r.n       = &s->totals->selected;
  r.number  = s->totals->number;
  r.buckets = s->buckets;
  r.table   = s->table;
  SPMV_TRY(spmv_arena_array(arena, r.most, "keys of words", &r.key, exec));
  SPMV_TRY(spmv_arena_array(arena, r.most, "keys in buckets", &r.key_to, exec));
  SPMV_TRY(spmv_arena_array(arena, r.most, "ranked words", &r.entry, exec));
  SPMV_TRY(spmv_arena_array(arena, r.most, "words in buckets", &r.entry_to, exec));
  SPMV_LAUNCH(exec, codsell_list_selected, spmv_blocks(s->capacity, LISTED), CODSELL_THREADS, 0, *s, r.entry, r.key);
  return codsell_device_rank(&r, &a->pattern, s->word[0], dictionary, exec);
}

/* Chooses the word length with the fewest bytes for a sample; the longest one in case of a tie */
SpmvStatus choose_word(CodsellDeviceAnalysis *a, int *word, SpmvArena *arena, SpmvExec *exec)
{
  static const int choices[CODSELL_WORDS] = {
#define WORD(n) n,
      CODSELL_WORD_LIST(WORD)
#undef WORD
  };
  Sample  s = {};
  Totals  totals;
  int64_t least = INT64_MAX;

  s.lengths = CODSELL_WORDS;
  for (int l = 0; l < CODSELL_WORDS; l++) s.word[l] = choices[l];
  SPMV_TRY(take_sample(a, CODSELL_SAMPLE_ALL, &s, arena, exec));
  SPMV_TRY(rank_words(a, &s, NULL, arena, exec));
  a->table    = s.table;
  a->capacity = s.capacity;
  SPMV_TRY(codsell_device_estimate(a, s.word, s.lengths, s.stride, s.totals->number, s.totals->bytes, exec));
  SPMV_TRY(spmv_fetch(&totals, s.totals, sizeof totals, exec));
  for (int l = 0; l < CODSELL_WORDS; l++) {
    const int64_t words = std::min(totals.number[l], (int64_t)CODSELL_DICTIONARY);
    const int64_t all =
        (int64_t)totals.bytes[l] * s.stride + words * codsell_stride(choices[l]) * (int64_t)sizeof(int32_t);
    if (all <= least) {
      least = all;
      *word = choices[l];
    }
  }
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus codsell_device_dictionary(CodsellDeviceAnalysis *a, int word, SpmvExec *exec)
{
  Sample s = {};

  const CodsellMark mark = codsell_mark(&a->arena);
  if (word == 0) SPMV_TRY(choose_word(a, &word, &a->arena, exec));
  codsell_release(&a->arena, mark); /* the second sample reuses the memory of the first one */
  a->shape.word   = word;
  a->shape.stride = codsell_stride(word);
  s.lengths       = 1;
  s.word[0]       = word;
  SPMV_TRY(take_sample(a, CODSELL_SAMPLE_ONE, &s, &a->arena, exec));
  const int64_t most = std::min(most_words(s.capacity), (int64_t)CODSELL_DICTIONARY);
  SPMV_TRY(spmv_arena_array(&a->arena, most * a->shape.stride, "dictionary", &a->dictionary, exec));
  SPMV_TRY(rank_words(a, &s, a->dictionary, &a->arena, exec));
  a->table    = s.table;
  a->capacity = s.capacity;
  a->words    = s.totals->number;
  return SPMV_SUCCESS;
}
