/*
  codsell_code.h - the rules of CoD-SELL on which host and device must agree: sampled slices, fingerprints of words,
  bytes of a slice by kind, and offsets of its parts. Both compilers use this source.
*/
#pragma once

#include "codsell.h"

enum {
  CODSELL_SAMPLE_ALL =
      1 << 19, /* approximate words in the sample for the choice of the word length, all lengths together */
  CODSELL_SAMPLE_ONE = 1 << 19, /* approximate words in the sample for the dictionary */
  CODSELL_COUNT_MAX  = 0x1ffff, /* counts saturate here, so that count, word and position fit one key */
  CODSELL_RARE       = 3        /* occurrences in the sample that select a word, if most words are distinct */
};

/* A word of the sample in a hash table. An entry with key 0 is free. first locates its first occurrence, see
   codsell_locator(). */
typedef struct {
  uint64_t key, first;
  uint32_t count;
  uint32_t id; /* in the dictionary of its word length, or CODSELL_NO_ID */
} CodsellEntry;

/* Counts of the words of one length */
typedef struct {
  uint64_t words, distinct; /* in the sample */
} CodsellCounts;

/* The input for the choice of the kind of a slice: minima, maxima and conditions over its rows */
typedef struct {
  int32_t max_id, max_relative; /* largest id of its words, and of its words relative to their start; CODSELL_NO_ID if
                                   one is missing */
  int32_t same, same_relative;  /* all rows have equal words; equal words relative to their start */
  int32_t aligned;              /* all words start at the same column modulo W */
  int32_t low, high;            /* smallest and largest column minus first slot */
} CodsellSummary;

SPMV_BOTH int codsell_stride(int word) { return word <= 2 ? word : word <= 4 ? 4 : 8; }

SPMV_BOTH int codsell_words(int length, int word) { return (length + word - 1) / word; }

/* The slice with number i in the sample: one of every `stride` slices, at irregular distances */
SPMV_BOTH int64_t codsell_sampled(int64_t i, int64_t stride, int64_t slices)
{
  const int64_t s = i * stride + (int64_t)(spmv_mix((uint64_t)i) % (uint64_t)stride);
  return s < slices ? s : slices - 1;
}

/* Fingerprints of a word, absolute and relative to its start. They are hashes of a polynomial in the offsets, from
   which the relative one is computed without a second pass. Equal words have equal fingerprints; words with equal
   fingerprints must still be compared. */
SPMV_BOTH void codsell_fingerprints(const int32_t *offset, int word, uint64_t *fingerprint, uint64_t *relative)
{
  uint64_t sum = 0, ones = 0;

  for (int j = 0; j < word; j++) {
    sum  = sum * 0x9e3779b97f4a7c15ull + (uint64_t)(int64_t)offset[j];
    ones = ones * 0x9e3779b97f4a7c15ull + 1;
  }
  *fingerprint = spmv_mix(sum + (uint64_t)word * 0xd6e8feb86659fd93ull) | 1;
  *relative    = spmv_mix(sum - ones * (uint64_t)(int64_t)offset[0] + (uint64_t)word * 0xd6e8feb86659fd93ull) | 1;
}

/* Whether a word with this count in the sample is selected for the dictionary: every word if words repeat, only
   frequent words if most words are distinct */
SPMV_BOTH int codsell_is_selected(CodsellCounts c, uint32_t count)
{
  return c.distinct * 8 <= c.words || count >= CODSELL_RARE;
}

/* The location of a word as one number: 3 bits for the word length (its index among the lengths of the sample), 49 bits
   for the row, 12 bits for the number of the word in the row and for whether it is relative to its start */
SPMV_BOTH uint64_t codsell_locator(int length_index, int64_t row, int w, int relative)
{
  return (uint64_t)length_index << 61 | (uint64_t)row << 12 | (uint64_t)(2 * w + relative);
}

SPMV_BOTH int     codsell_locator_length(uint64_t locator) { return (int)(locator >> 61); }
SPMV_BOTH int64_t codsell_locator_row(uint64_t locator) { return (int64_t)(locator << 3 >> 15); }
SPMV_BOTH int     codsell_locator_word(uint64_t locator) { return (int)(locator & 0xfff) >> 1; }
SPMV_BOTH int     codsell_locator_relative(uint64_t locator) { return (int)(locator & 1); }

/* The count used for the rank of a word */
SPMV_BOTH uint32_t codsell_rank_count(uint32_t count)
{
  return count < CODSELL_COUNT_MAX ? count : (uint32_t)CODSELL_COUNT_MAX;
}

/* Offsets of the parts of a slice's codes, in bytes from code0 */
typedef struct {
  int starts, ids, lengths, end;
} CodsellOffsets;

SPMV_BOTH int codsell_has_starts(int kind) { return kind >= CODSELL_STARTS16_UNIFORM; }

/* Bytes of a start; 0 if the kind has none */
SPMV_BOTH int codsell_start_bytes(int kind)
{
  if (!codsell_has_starts(kind)) return 0;
  return kind == CODSELL_STARTS16_UNIFORM || kind == CODSELL_STARTS16_IDS8 || kind == CODSELL_COLUMNS16 ? 2 : 4;
}

/* Bytes of an id of one row; 0 if all rows share the ids or the kind has none */
SPMV_BOTH int codsell_id_bytes(int kind)
{
  if (kind == CODSELL_IDS16) return 2;
  return kind == CODSELL_IDS8 || kind == CODSELL_STARTS16_IDS8 || kind == CODSELL_STARTS32_IDS8 ? 1 : 0;
}

SPMV_BOTH CodsellOffsets codsell_offsets(int kind, int width, int word, int c, int ragged)
{
  const int      n = codsell_words(width, word), plain = kind >= CODSELL_COLUMNS16;
  const int      bytes = codsell_start_bytes(kind) * (plain ? width : n) * c, id_bytes = codsell_id_bytes(kind);
  CodsellOffsets p = {codsell_has_starts(kind) ? 4 : 0, 0, 0, 0};

  p.ids     = p.starts + bytes;
  p.lengths = p.ids + (plain ? 0 : id_bytes ? id_bytes * n * c : 2 * n);
  p.end     = (p.lengths + (ragged ? (width > 255 ? 2 : 1) * c : 0) + 3) / 4 * 4;
  return p;
}

/* The cost of a slice for a word length: its bytes, plus one for each position of the last word beyond the width */
SPMV_BOTH int codsell_cost(int kind, int width, int word, int c, int ragged)
{
  const int past = kind >= CODSELL_COLUMNS16 ? 0 : codsell_words(width, word) * word - width;
  return codsell_offsets(kind, width, word, c, ragged).end + past;
}

SPMV_BOTH int codsell_is_narrow(const CodsellSummary *s) { return s->high - s->low <= 0xffff; }

/* Whether the words and columns of a slice allow a kind */
SPMV_BOTH int codsell_allows(const CodsellSummary *s, int kind, int word)
{
  const int narrow = codsell_is_narrow(s), known = s->max_relative < CODSELL_DICTIONARY;
  const int short_starts = narrow || (s->aligned && (s->high - s->low) / word <= 0xffff);

  switch (kind) {
  case CODSELL_UNIFORM:
    return s->same && s->max_id < CODSELL_DICTIONARY;
  case CODSELL_IDS8:
    return s->max_id < 256;
  case CODSELL_IDS16:
    return s->max_id < CODSELL_DICTIONARY;
  case CODSELL_STARTS16_UNIFORM:
    return short_starts && s->same_relative && known;
  case CODSELL_STARTS16_IDS8:
    return short_starts && s->max_relative < 256;
  case CODSELL_STARTS32_UNIFORM:
    return s->same_relative && known;
  case CODSELL_STARTS32_IDS8:
    return s->max_relative < 256;
  case CODSELL_COLUMNS16:
    return narrow;
  default:
    return 1;
  }
}

/* The kind with the fewest bytes; the first one in case of a tie */
SPMV_BOTH int codsell_choose(const CodsellSummary *s, int width, int word, int c, int ragged)
{
  int best = CODSELL_COLUMNS32, least = codsell_offsets(best, width, word, c, ragged).end;

  if (width == 0) return CODSELL_UNIFORM;
  for (int kind = CODSELL_COLUMNS16; kind >= 0; kind--) {
    const int bytes = codsell_offsets(kind, width, word, c, ragged).end;
    if (bytes <= least && codsell_allows(s, kind, word)) {
      best  = kind;
      least = bytes;
    }
  }
  return best;
}

/* Whether 16-bit starts must count in units of W columns */
SPMV_BOTH int codsell_is_scaled(const CodsellSummary *s, int kind)
{
  return (kind == CODSELL_STARTS16_UNIFORM || kind == CODSELL_STARTS16_IDS8) && !codsell_is_narrow(s);
}

/* 1 + the largest id that a slice of this kind uses */
SPMV_BOTH int codsell_ids_used(const CodsellSummary *s, int kind)
{
  if (kind <= CODSELL_IDS16) return s->max_id + 1;
  return kind < CODSELL_COLUMNS16 ? s->max_relative + 1 : 0;
}

SPMV_BOTH int codsell_length(const uint8_t *lengths, int width, int lane)
{
  return width > 255 ? ((const uint16_t *)lengths)[lane] : lengths[lane];
}

/* The row in a slot; at least `rows` for the unused slots of the last slice */
SPMV_BOTH int64_t codsell_row(const uint16_t *order, int64_t window, int64_t slot)
{
  return order ? slot / window * window + order[slot] : slot;
}

/* The maximum number of nonzeros of a row in a slice */
SPMV_BOTH int codsell_longest(int64_t rows, int64_t nnz)
{
  const int64_t wanted = rows > 0 ? CODSELL_MEAN_ROWS * ((nnz + rows - 1) / rows) : 0;

  if (wanted < CODSELL_SHORTEST) return CODSELL_SHORTEST;
  return wanted < CODSELL_LONGEST ? (int)wanted : CODSELL_LONGEST;
}

/* Sets *stride, the mean distance of sampled slices, and *capacity, the size of the hash table of the sample, for words
   of all the given lengths */
SPMV_BOTH void codsell_sample_size(const int *word, int count, int64_t wanted, int64_t rows, int64_t nnz,
                                   int64_t *stride, int64_t *capacity)
{
  int64_t words = 0;

  for (int i = 0; i < count; i++) words += 2 * (nnz / word[i] + rows);
  *stride = (words + wanted - 1) / wanted;
  if (*stride < 1) *stride = 1;
  for (*capacity = 64; *capacity < 2 * (words / *stride);) *capacity *= 2;
}

/* The index of the entry with that fingerprint, or of the free entry at which it would be inserted */
SPMV_BOTH int64_t codsell_find(const CodsellEntry *table, int64_t capacity, uint64_t fingerprint)
{
  int64_t i = (int64_t)(fingerprint & (uint64_t)(capacity - 1));

  while (table[i].key && table[i].key != fingerprint) i = (i + 1) & (capacity - 1);
  return i;
}
