/* codsell_device_rank.cuh - the selected words of a sample, and their ids by rank. Their number stays on the device:
   the host does not wait for it. */
#pragma once

#include "codsell_device.cuh"

enum { CODSELL_BUCKETS = 1024 };

/* Keys between two splitters are a bucket. Counts are 0 in the beginning. */
typedef struct {
  int      count[CODSELL_BUCKETS], taken[CODSELL_BUCKETS];
  uint64_t splitter[CODSELL_BUCKETS];
} CodsellBuckets;

/* Words to be ranked; all arrays are in device memory */
typedef struct {
  int64_t         most;             /* a bound of the number of words */
  const int      *n;                /* the number of words */
  const int64_t  *number;           /* [CODSELL_WORDS] words of each length */
  uint64_t       *key, *key_to;     /* [most] in any order, and by buckets */
  int32_t        *entry, *entry_to; /* [most] of the table, likewise */
  CodsellBuckets *buckets;
  CodsellEntry   *table;
} CodsellRanking;

/* The keys that order the dictionary, all different: by word length, then by falling count, then by first occurrence. A
   key is a locator with the count between the word length and the row, which has 32 bits here. */
enum { CODSELL_COUNT_BIT = 44 };
static_assert(CODSELL_COUNT_MAX == (1 << (61 - CODSELL_COUNT_BIT)) - 1, "counts of keys");

__device__ inline uint64_t codsell_rank_key(const CodsellEntry &e)
{
  return e.first | (uint64_t)(CODSELL_COUNT_MAX - codsell_rank_count(e.count)) << CODSELL_COUNT_BIT;
}

__device__ inline uint64_t codsell_key_locator(uint64_t key) { return key & ((1ull << CODSELL_COUNT_BIT) - 1); }

/* Gives ids to the words and, where a dictionary of some word length is given, writes them there */
SpmvStatus codsell_device_rank(const CodsellRanking *, const SpmvPattern *, int word, int32_t *dictionary, SpmvExec *);
