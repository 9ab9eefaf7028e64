/* cluster_local.c - see cluster_local.h */
#include "cluster_local.h"
#include <stdlib.h>
#include <string.h>

enum { BALANCE_PASSES = 4, ALIGNMENT = 64 };

static int64_t power_of_two(int64_t least)
{
  int64_t n = 64;

  while (n < least) n *= 2;
  return n;
}

static int64_t aligned(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* Divides block, unless it is NULL; returns the bytes */
static int64_t divide(char *block, int64_t own, int64_t entries, ClusterLocal *l)
{
  const struct {
    void  **array;
    int64_t bytes;
  } list[]     = {{(void **)&l->keys, power_of_two(2 * (own + entries)) * (int64_t)sizeof *l->keys},
                  {(void **)&l->halo, entries * (int64_t)sizeof *l->halo},
                  {(void **)&l->pairs, entries * (int64_t)sizeof *l->pairs},
                  {(void **)&l->nodes, own * (int64_t)sizeof *l->nodes},
                  {(void **)&l->lane, own * (int64_t)sizeof *l->lane},
                  {(void **)&l->first, own * (int64_t)sizeof *l->first},
                  {(void **)&l->is_paired, entries},
                  {(void **)&l->filled, own * (int64_t)sizeof *l->filled},
                  {(void **)&l->gathered, own * (int64_t)sizeof *l->gathered}};
  int64_t used = 0;

  for (int i = 0; i < (int)(sizeof list / sizeof *list); i++) {
    if (block) *list[i].array = block + used;
    used += aligned(list[i].bytes);
  }
  return used;
}

int64_t cluster_local_bytes(int64_t most_own, int64_t most_entries)
{
  ClusterLocal none = {.own = 0};
  return divide(NULL, most_own, most_entries, &none);
}

void cluster_local_divide(void *block, int64_t most_own, int64_t most_entries, ClusterLocal *l)
{
  memset(l, 0, sizeof *l);
  (void)divide(block, most_own, most_entries, l);
}

static int64_t entries_of(const ClusterGraph *g, int32_t node) { return g->begin[node + 1] - g->begin[node]; }

/* Where a node is in the table, or belongs */
static ClusterKey *find(const ClusterLocal *l, int32_t node)
{
  uint64_t at = ((uint64_t)(uint32_t)node * 0x9e3779b97f4a7c15ull) >> 32;

  for (;; at++) {
    ClusterKey *key = &l->keys[at & (uint64_t)(l->key_count - 1)];
    if (key->node == node || key->node < 0) return key;
  }
}

int32_t cluster_local_number(const ClusterLocal *l, int32_t node) { return find(l, node)->local; }

static int ascending(const void *a_, const void *b_)
{
  const int32_t a = *(const int32_t *)a_, b = *(const int32_t *)b_;
  return a < b ? -1 : a > b;
}

/* By steps, pairs and number, so that slices have little padding */
static int by_steps(const void *a_, const void *b_)
{
  const ClusterNode *a = a_, *b = b_;

  if (cluster_steps(a) != cluster_steps(b)) return cluster_steps(a) < cluster_steps(b) ? 1 : -1;
  if (a->kept != b->kept) return a->kept < b->kept ? 1 : -1;
  return a->number < b->number ? -1 : a->number > b->number;
}

static void number_own(const ClusterGraph *g, const ClusterParts *parts, int64_t c, ClusterLocal *l)
{
  const int32_t *members = parts->members + parts->begin[c];

  l->own     = parts->begin[c + 1] - parts->begin[c];
  l->entries = 0;
  for (int64_t i = 0; i < l->own; i++) {
    l->lane[i] = members[i]; /* used as scratch here */
    l->entries += entries_of(g, members[i]);
  }
  qsort(l->lane, (size_t)l->own, sizeof *l->lane, ascending);
  l->key_count = power_of_two(2 * (l->own + l->entries));
  memset(l->keys, 0xff, (size_t)l->key_count * sizeof *l->keys);
  for (int64_t i = 0; i < l->own; i++) {
    l->nodes[i] = (ClusterNode){.node = l->lane[i], .number = (int32_t)i};
    l->first[i] = i > 0 ? l->first[i - 1] + (int32_t)entries_of(g, l->lane[i - 1]) : 0;
    if (g->square) *find(l, l->lane[i]) = (ClusterKey){l->lane[i], (int32_t)i};
  }
}

/* All other columns, in ascending order */
static void number_halo(const ClusterGraph *g, ClusterLocal *l)
{
  const int32_t first = g->square ? (int32_t)l->own : 0;

  l->halo_count = 0;
  for (int64_t i = 0; i < l->own; i++)
    for (int64_t k = g->begin[l->nodes[i].node]; k < g->begin[l->nodes[i].node + 1]; k++) {
      ClusterKey *key = find(l, g->adjacent[k]);

      if (key->node >= 0) continue;
      *key                     = (ClusterKey){g->adjacent[k], INT32_MAX};
      l->halo[l->halo_count++] = g->adjacent[k];
    }
  qsort(l->halo, (size_t)l->halo_count, sizeof *l->halo, ascending);
  for (int64_t h = 0; h < l->halo_count; h++) find(l, l->halo[h])->local = first + (int32_t)h;
}

/* The place of a column in the row of a node, or -1 */
static int64_t place_of(const ClusterGraph *g, int32_t node, int32_t column)
{
  int64_t low = g->begin[node], high = g->begin[node + 1];

  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (g->adjacent[middle] < column) low = middle + 1;
    else high = middle;
  }
  return low < g->begin[node + 1] && g->adjacent[low] == column ? low - g->begin[node] : -1;
}

/* Finds the pairs and counts the other entries; `others` counts all entries of a node until then */
static void find_pairs(const ClusterGraph *g, int paired, ClusterLocal *l)
{
  l->pair_count = l->inside = 0;
  memset(l->is_paired, 0, (size_t)l->entries);
  for (int64_t i = 0; i < l->own; i++) {
    const int32_t node = l->nodes[i].node;

    l->nodes[i].others += (int32_t)entries_of(g, node);
    for (int64_t k = g->begin[node]; k < g->begin[node + 1] && g->square; k++) {
      const int32_t j     = cluster_local_number(l, g->adjacent[k]);
      int64_t       place = -1;

      if (j >= l->own) continue;
      l->inside++;
      if (paired && j > i) place = place_of(g, g->adjacent[k], node);
      if (place < 0) continue;
      l->pairs[l->pair_count++] =
          (ClusterPair){.end = {(uint16_t)i, (uint16_t)j}, .place = {(uint16_t)(k - g->begin[node]), (uint16_t)place}};
      l->is_paired[l->first[i] + (k - g->begin[node])] = l->is_paired[l->first[j] + place] = 1;
      l->nodes[i].others--;
      l->nodes[j].others--;
    }
  }
}

/* Gives each pair to the end with fewer steps, so that the lanes of a slice become equally long */
static void give_pairs(ClusterLocal *l)
{
  for (int64_t p = 0; p < l->pair_count; p++) {
    ClusterPair *pair = &l->pairs[p];

    pair->keeper = cluster_steps(&l->nodes[pair->end[0]]) > cluster_steps(&l->nodes[pair->end[1]]);
    l->nodes[pair->end[pair->keeper]].kept++;
  }
  for (int pass = 0; pass < BALANCE_PASSES; pass++)
    for (int64_t p = 0; p < l->pair_count; p++) {
      ClusterPair *pair   = &l->pairs[p];
      ClusterNode *keeper = &l->nodes[pair->end[pair->keeper]], *other = &l->nodes[pair->end[!pair->keeper]];

      if (cluster_steps(keeper) <= cluster_steps(other) + 1) continue;
      keeper->kept--;
      other->kept++;
      pair->keeper = !pair->keeper;
    }
  for (int64_t p = 0; p < l->pair_count; p++) l->nodes[l->pairs[p].end[!l->pairs[p].keeper]].collected++;
}

void cluster_local_make(const ClusterGraph *g, const ClusterParts *parts, int64_t c, int paired, ClusterLocal *l)
{
  number_own(g, parts, c, l);
  number_halo(g, l);
  find_pairs(g, paired, l);
  give_pairs(l);
  qsort(l->nodes, (size_t)l->own, sizeof *l->nodes, by_steps);
  for (int64_t lane = 0; lane < l->own; lane++) l->lane[l->nodes[lane].number] = (int32_t)lane;
}
