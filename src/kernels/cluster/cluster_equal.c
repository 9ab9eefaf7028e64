/* cluster_equal.c - clusters that need the same lists: those of structured meshes, where one is another one shifted. */
#include "cluster_local.h"
#include <stdlib.h>

enum { WORTHWHILE = 8 /* one of so many clusters has the sizes of another one */ };

/* Two mixtures of a word into a key: each is a bijection of the key, so that one different word is never lost */
static void mix(uint64_t key[2], uint64_t word)
{
  key[0] = (key[0] ^ word) * 0x9e3779b97f4a7c15u;
  key[0] ^= key[0] >> 32;
  key[1] = (key[1] + word) * 0xd6e8feb86659fd93u;
  key[1] ^= key[1] >> 29;
}

static void mix_numbers(uint64_t key[2], const uint16_t *number, int64_t count)
{
  for (int64_t i = 0; i < count; i++) mix(key, number[i]);
}

static int by_key(const void *a_, const void *b_)
{
  const ClusterEqual *a = a_, *b = b_;

  for (int k = 0; k < 2; k++)
    if (a->key[k] != b->key[k]) return a->key[k] < b->key[k] ? -1 : 1;
  return a->cluster < b->cluster ? -1 : a->cluster > b->cluster;
}

static int same_key(const ClusterEqual *a, const ClusterEqual *b)
{
  return a->key[0] == b->key[0] && a->key[1] == b->key[1];
}

/* The key of the sizes of a cluster */
static ClusterEqual sizes_of(const ClusterAnalysis *a, int64_t c)
{
  const ClusterHead *h     = &a->heads[c];
  ClusterEqual       found = {.key = {1, 1}, .cluster = c};

  mix(found.key, (uint64_t)h->own << 32 | (uint32_t)h->halo);
  mix(found.key, (uint64_t)h->slices << 32 | (uint32_t)h->pairs);
  mix(found.key, (uint64_t)(h[1].step - h->step) << 32 | (uint64_t)(h[1].pair_step - h->pair_step));
  mix(found.key, (uint64_t)(h[1].value - h->value));
  return found;
}

static int by_cluster(const void *a_, const void *b_)
{
  const ClusterEqual *a = a_, *b = b_;
  return a->cluster < b->cluster ? -1 : a->cluster > b->cluster;
}

SpmvStatus cluster_equal_candidates(const ClusterAnalysis *a, ClusterEqual **candidates, SpmvExec *exec)
{
  const int64_t count = a->parts.clusters;
  int64_t       found = 0;
  ClusterEqual *keys  = NULL;

  *candidates = NULL;
  if (count < 2) return SPMV_SUCCESS;
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, count * (int64_t)sizeof *keys, "keys of clusters", (void **)&keys));
  for (int64_t c = 0; c < count; c++) keys[c] = sizes_of(a, c);
  qsort(keys, (size_t)count, sizeof *keys, by_key);
  for (int64_t i = 0; i < count; i++) {
    keys[i].wanted = (i > 0 && same_key(&keys[i - 1], &keys[i])) || (i + 1 < count && same_key(&keys[i], &keys[i + 1]));
    found += keys[i].wanted;
  }
  if (found * WORTHWHILE < count) {
    spmv_exec_free(exec, SPMV_HOST, keys);
    return SPMV_SUCCESS;
  }
  qsort(keys, (size_t)count, sizeof *keys, by_cluster);
  *candidates = keys;
  return SPMV_SUCCESS;
}

void cluster_equal_key(const ClusterTarget *to, const ClusterLocal *l, ClusterEqual *equal)
{
  ClusterHead sizes;

  cluster_measure_one(l, to->block, to->lanes, &sizes);
  mix_numbers(equal->key, to->index, sizes.index * CLUSTER_UNIT);
  mix_numbers(equal->key, to->order, sizes.order * CLUSTER_UNIT);
  mix_numbers(equal->key, (const uint16_t *)to->slices,
              sizes.slices * (int64_t)(sizeof *to->slices / sizeof(uint16_t)));
}

/* Gives the lists of each cluster their places, but for those that are equal to an earlier one */
static void place_lists(ClusterAnalysis *a)
{
  ClusterShape *s     = &a->shape;
  int64_t       index = a->heads[0].index, order = a->heads[0].order;

  s->index = s->order = s->sharing = 0;
  for (int64_t c = 0; c < s->clusters; c++) {
    ClusterHead  *h = &a->heads[c], *first = &a->heads[a->equal_to[c]];
    const int64_t next_index = h[1].index, next_order = h[1].order;

    if (first == h) {
      h->index = s->index;
      h->order = s->order;
      s->index += next_index - index;
      s->order += next_order - order;
    } else {
      h->index = first->index;
      h->order = first->order;
      s->sharing++;
    }
    index = next_index;
    order = next_order;
  }
}

SpmvStatus cluster_equal_join(ClusterAnalysis *a, ClusterEqual *keys, SpmvExec *exec)
{
  const int64_t count = a->parts.clusters;

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, count * (int64_t)sizeof *a->equal_to, "equal clusters", (void **)&a->equal_to));
  qsort(keys, (size_t)count, sizeof *keys, by_key);
  for (int64_t i = 0; i < count; i++) {
    const int equal = i > 0 && same_key(&keys[i - 1], &keys[i]);

    a->equal_to[keys[i].cluster] = equal ? a->equal_to[keys[i - 1].cluster] : keys[i].cluster;
  }
  place_lists(a);
  return SPMV_SUCCESS;
}
