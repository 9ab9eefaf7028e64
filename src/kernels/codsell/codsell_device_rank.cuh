/* codsell_device_rank.cuh - the words of a sample that are worth an id, and their ids by rank. How many there are stays
   on the device: nobody waits for it. */
#ifndef SPMV_CODSELL_DEVICE_RANK_CUH
#define SPMV_CODSELL_DEVICE_RANK_CUH

#include "codsell_device.cuh"

enum { CODSELL_BUCKETS = 1024 };

/* Keys between two splitters are a bucket. Counts are 0 in the beginning. */
typedef struct {
  int      count[CODSELL_BUCKETS], taken[CODSELL_BUCKETS];
  uint64_t splitter[CODSELL_BUCKETS];
} CodsellBuckets;

/* Words to be ranked; all arrays are in device memory */
typedef struct {
  int64_t         most;             /* words, */
  const int      *n;                /* and how many there are, */
  const int64_t  *number;           /* [CODSELL_WORDS] of each word length */
  uint64_t       *key, *key_to;     /* [most] in any order, and by buckets */
  int32_t        *entry, *entry_to; /* [most] of the table, likewise */
  CodsellBuckets *buckets;
  CodsellEntry   *table;
} CodsellRanking;

/* Keys that sort the dictionary, all different: word length, then the frequent ones, then the first ones. They are
   locators, with a count between the row, of 32 bits, and the word length. */
enum { CODSELL_COUNT_BIT = 44 };
static_assert(CODSELL_COUNT_MAX == (1 << (61 - CODSELL_COUNT_BIT)) - 1, "counts of keys");

__device__ inline uint64_t codsell_rank_key(const CodsellEntry &e)
{
  return e.first | (uint64_t)(CODSELL_COUNT_MAX - codsell_rank_count(e.count)) << CODSELL_COUNT_BIT;
}

__device__ inline uint64_t codsell_key_locator(uint64_t key) { return key & ((1ull << CODSELL_COUNT_BIT) - 1); }

/* Gives ids to the words and, where a dictionary of some word length is given, writes them there */
SpmvStatus codsell_device_rank(const CodsellRanking *, const SpmvPattern *, int word, int32_t *dictionary, SpmvExec *);

#endif
