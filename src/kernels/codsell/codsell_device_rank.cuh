/* codsell_device_rank.cuh - ids of the selected words of a sample, by rank. The number of words stays on the device, so
   the host does not wait for it. */
#pragma once

#include "codsell_device.cuh"

enum { CODSELL_BUCKETS = 1024 };

/* Keys between two splitters form a bucket. Counts must be 0 initially. */
typedef struct {
  int      count[CODSELL_BUCKETS], taken[CODSELL_BUCKETS];
  uint64_t splitter[CODSELL_BUCKETS];
} CodsellBuckets;

/* Words to rank; all arrays are in device memory */
typedef struct {
  int64_t         most;             /* an upper bound on the number of words */
  const int      *n;                /* the number of words */
  const int64_t  *number;           /* [CODSELL_WORDS] words of each length */
  uint64_t       *key, *key_to;     /* [most] in any order, and by buckets */
  int32_t        *entry, *entry_to; /* [most] index in the table, in the same orders */
  CodsellBuckets *buckets;
  CodsellEntry   *table;
} CodsellRanking;

/* The keys that order the dictionary: by word length, then by descending count, then by first occurrence; all keys
   differ. A key is a locator with the count between the word length and the row, which has 32 bits here. */
enum { CODSELL_COUNT_BIT = 44 };
static_assert(CODSELL_COUNT_MAX == (1 << (61 - CODSELL_COUNT_BIT)) - 1, "counts of keys");

__device__ inline uint64_t codsell_rank_key(const CodsellEntry &e)
{
  return e.first | (uint64_t)(CODSELL_COUNT_MAX - codsell_rank_count(e.count)) << CODSELL_COUNT_BIT;
}

__device__ inline uint64_t codsell_key_locator(uint64_t key) { return key & ((1ull << CODSELL_COUNT_BIT) - 1); }

/* Assigns ids to the words and, if dictionary is not NULL, writes the words of the given length there */
SpmvStatus codsell_device_rank(const CodsellRanking *, const SpmvPattern *, int word, int32_t *dictionary, SpmvExec *);
