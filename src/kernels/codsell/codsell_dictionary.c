/* codsell_dictionary.c - the dictionary on the host: the words of a sample of slices in a hash table, ranked by count.
   The word length is the one with the fewest bytes for a first sample. */
#include "codsell_host.h"
#include <stdlib.h>
#include <string.h>

/* The words of a sample, of several lengths at once */
typedef struct {
  const int    *word; /* [lengths] */
  int           lengths;
  int64_t       stride, capacity, used; /* stride of sampled slices; size and used entries of the table */
  CodsellEntry *table;
  CodsellCounts counts[CODSELL_WORDS];
} Sample;

/* The table counts as full at three quarters. A sample with more distinct words has too few repetitions for a
   dictionary. */
static int is_full(const Sample *s) { return s->used > s->capacity / 4 * 3; }

static void add_word(Sample *s, uint64_t fingerprint, uint64_t locator)
{
  CodsellCounts *counts = &s->counts[codsell_locator_length(locator)];
  CodsellEntry  *e;

  if (is_full(s)) return;
  e = &s->table[codsell_find(s->table, s->capacity, fingerprint)];
  counts->words++;
  if (!e->key) {
    *e = (CodsellEntry){fingerprint, locator, 0, CODSELL_NO_ID};
    counts->distinct++;
    s->used++;
  }
  e->count++;
  if (locator < e->first) e->first = locator;
}

#define SPMV_BODY "codsell/codsell_words.inc"
#define SPMV_INDEX_ONLY
#include "core/instantiate.h"

void codsell_host_summarize(const SpmvPattern *p, const CodsellAnalysis *a, int64_t slice, int word, int verify,
                            int *width, int *ragged, CodsellSummary *summary)
{
  if (p->index_type == SPMV_I64) summarize_slice_i64(p, a, slice, word, verify, width, ragged, summary);
  else summarize_slice_i32(p, a, slice, word, verify, width, ragged, summary);
}

static int compare_entries(const void *a_, const void *b_)
{
  const CodsellEntry *a = *(CodsellEntry *const *)a_, *b = *(CodsellEntry *const *)b_;
  const int           la = codsell_locator_length(a->first), lb = codsell_locator_length(b->first);
  const uint32_t      ca = codsell_rank_count(a->count), cb = codsell_rank_count(b->count);

  if (la != lb) return la - lb;
  if (ca != cb) return ca < cb ? 1 : -1;
  return a->first < b->first ? -1 : a->first > b->first;
}

/* Assigns ids to the selected words; ranked[] lists them, number[l] for length l */
static SpmvStatus rank_words(Sample *s, SpmvExec *exec, CodsellEntry ***ranked, int64_t *number)
{
  int64_t    count = 0;
  SpmvStatus status;

  *ranked = NULL;
  memset(number, 0, CODSELL_WORDS * sizeof *number);
  if (is_full(s)) return SPMV_SUCCESS;
  status = spmv_alloc(exec, SPMV_HOST, s->used * (int64_t)sizeof(CodsellEntry *), "ranked words", (void **)ranked);
  if (status || s->used == 0) return status;
  for (int64_t i = 0; i < s->capacity; i++)
    if (s->table[i].key && codsell_is_selected(s->counts[codsell_locator_length(s->table[i].first)], s->table[i].count))
      (*ranked)[count++] = &s->table[i];
  qsort(*ranked, (size_t)count, sizeof **ranked, compare_entries);
  for (int64_t i = 0; i < count; i++) {
    int64_t *n = &number[codsell_locator_length((*ranked)[i]->first)];
    if (*n < CODSELL_DICTIONARY) (*ranked)[i]->id = (uint32_t)(*n)++;
  }
  return SPMV_SUCCESS;
}

static SpmvStatus take_sample(const SpmvPattern *p, const CodsellAnalysis *a, int64_t wanted, SpmvExec *exec, Sample *s)
{
  SpmvStatus status;

  codsell_sample_size(s->word, s->lengths, wanted, p->rows, p->nnz, &s->stride, &s->capacity);
  status = spmv_alloc(exec, SPMV_HOST, s->capacity * (int64_t)sizeof(CodsellEntry), "words", (void **)&s->table);
  if (status) return status;
  memset(s->table, 0, (size_t)s->capacity * sizeof(CodsellEntry));
  for (int64_t i = 0; i * s->stride < a->shape.slices && !is_full(s); i++) {
    const int64_t slice = codsell_sampled(i, s->stride, a->shape.slices);

    if (p->index_type == SPMV_I64) add_words_i64(p, a, slice, s);
    else add_words_i32(p, a, slice, s);
  }
  return SPMV_SUCCESS;
}

/* Estimated bytes of the matrix, from the sampled slices, plus those of the dictionary */
static int64_t estimate_bytes(const SpmvPattern *p, const CodsellAnalysis *a, const Sample *s, int word, int64_t words)
{
  const int c     = 1 << a->shape.log_c;
  int64_t   bytes = 0;

  for (int64_t i = 0; i * s->stride < a->shape.slices; i++) {
    CodsellSummary summary;
    int            width, ragged;

    codsell_host_summarize(p, a, codsell_sampled(i, s->stride, a->shape.slices), word, 0, &width, &ragged, &summary);
    bytes += codsell_cost(codsell_choose(&summary, width, word, c, ragged), width, word, c, ragged);
  }
  return bytes * s->stride + words * codsell_stride(word) * (int64_t)sizeof(int32_t);
}

static const int word_choices[CODSELL_WORDS] = {
#define WORD(n) n,
    CODSELL_WORD_LIST(WORD)
#undef WORD
};

/* Chooses the word length with the fewest bytes for a sample; the longest one in case of a tie */
static SpmvStatus choose_word(const SpmvPattern *p, SpmvExec *exec, CodsellAnalysis *a, int *word)
{
  Sample         s = {.word = word_choices, .lengths = CODSELL_WORDS};
  CodsellEntry **ranked;
  int64_t        number[CODSELL_WORDS], least = INT64_MAX;
  SpmvStatus     status = take_sample(p, a, CODSELL_SAMPLE_ALL, exec, &s);

  a->table    = s.table; /* for codsell_host_summarize() */
  a->capacity = s.capacity;
  if (!status) {
    status = rank_words(&s, exec, &ranked, number);
    spmv_exec_free(exec, SPMV_HOST, ranked);
  }
  for (int l = 0; l < CODSELL_WORDS && !status; l++) {
    const int64_t bytes = estimate_bytes(p, a, &s, word_choices[l], number[l]);
    if (bytes <= least) {
      least = bytes;
      *word = word_choices[l];
    }
  }
  spmv_exec_free(exec, SPMV_HOST, a->table);
  a->table = NULL;
  return status;
}

static SpmvStatus write_dictionary(const SpmvPattern *p, CodsellEntry **ranked, SpmvExec *exec, CodsellAnalysis *a)
{
  const CodsellShape *s   = &a->shape;
  const SpmvStatus status = spmv_alloc(exec, SPMV_HOST, s->words * s->stride * (int64_t)sizeof(int32_t), "dictionary",
                                       (void **)&a->dictionary);

  for (int64_t id = 0; id < s->words && !status; id++) {
    int32_t *word = a->dictionary + id * s->stride;

    memset(word, 0, (size_t)s->stride * sizeof *word);
    if (p->index_type == SPMV_I64) copy_word_i64(p, ranked[id]->first, s->word, word);
    else copy_word_i32(p, ranked[id]->first, s->word, word);
  }
  return status;
}

SpmvStatus codsell_host_dictionary(const SpmvPattern *p, int word, SpmvExec *exec, CodsellAnalysis *a)
{
  Sample         s      = {.word = &a->shape.word, .lengths = 1};
  CodsellEntry **ranked = NULL;
  int64_t        number[CODSELL_WORDS];
  SpmvStatus     status = SPMV_SUCCESS;

  if (word == 0) status = choose_word(p, exec, a, &word);
  if (status) return status;
  a->shape.word   = word;
  a->shape.stride = codsell_stride(word);
  status          = take_sample(p, a, CODSELL_SAMPLE_ONE, exec, &s);
  a->table        = s.table;
  a->capacity     = s.capacity;
  if (!status) status = rank_words(&s, exec, &ranked, number);
  if (!status) {
    a->shape.words = number[0];
    status         = write_dictionary(p, ranked, exec, a);
  }
  spmv_exec_free(exec, SPMV_HOST, ranked);
  return status;
}
