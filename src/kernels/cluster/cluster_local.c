/* cluster_local.c - see cluster_local.h */
#include "cluster_local.h"
#include "cluster_sort.h"
#include <string.h>

enum { BALANCE_PASSES = 4, ALIGNMENT = 64 };

static int64_t power_of_two(int64_t least)
{
  int64_t n = 64;

  while (n < least) n *= 2;
  return n;
}

static int64_t aligned(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* The most nodes that a cluster may have in its halo */
static int64_t most_halo(const ClusterParts *p) { return p->most_x < p->most_entries ? p->most_x : p->most_entries; }

/* Divides block, unless it is NULL; returns the bytes */
static int64_t divide(char *block, const ClusterParts *p, ClusterLocal *l)
{
  const int64_t own = p->most_own, entries = p->most_entries, halo = most_halo(p), i32 = (int64_t)sizeof(int32_t);
  const struct {
    void  **array;
    int64_t bytes;
  } list[]     = {{(void **)&l->keys, l->key_count * (int64_t)sizeof *l->keys},
                  {(void **)&l->halo, halo * i32},
                  {(void **)&l->rank, halo * i32},
                  {(void **)&l->pairs, entries * (int64_t)sizeof *l->pairs},
                  {(void **)&l->nodes, own * (int64_t)sizeof *l->nodes},
                  {(void **)&l->sorted, own * (int64_t)sizeof *l->sorted},
                  {(void **)&l->lane, own * i32},
                  {(void **)&l->first, (own + 1) * i32},
                  {(void **)&l->local, entries * (int64_t)sizeof *l->local},
                  {(void **)&l->inside_entry, (entries + 1) * (int64_t)sizeof *l->inside_entry},
                  {(void **)&l->inside_first, (own + 1) * i32},
                  {(void **)&l->next, own * i32},
                  {(void **)&l->steps, own * i32},
                  {(void **)&l->is_paired, entries},
                  {(void **)&l->filled, own * i32},
                  {(void **)&l->gathered, own * i32}};
  int64_t used = 0;

  for (int i = 0; i < (int)(sizeof list / sizeof *list); i++) {
    if (block) *list[i].array = block + used;
    used += aligned(list[i].bytes);
  }
  return used;
}

int64_t cluster_local_bytes(const ClusterParts *p)
{
  ClusterLocal none = {.key_count = power_of_two(2 * p->most_x)};
  return divide(NULL, p, &none);
}

void cluster_local_divide(void *block, const ClusterParts *p, ClusterLocal *l)
{
  memset(l, 0, sizeof *l);
  l->key_count = power_of_two(2 * p->most_x);
  (void)divide(block, p, l);
}

static int64_t entries_of(const ClusterGraph *g, int32_t node) { return g->begin[node + 1] - g->begin[node]; }

/* The number of the first node of the halo */
static int32_t first_of_halo(const ClusterGraph *g, const ClusterLocal *l) { return g->square ? (int32_t)l->own : 0; }

/* Where a node is in the table, or belongs. Eight nodes in a row share a line of the cache, since columns come in rows.
 */
static ClusterKey *find(const ClusterLocal *l, int32_t node)
{
  uint64_t at = ((uint64_t)(uint32_t)(node >> 3) * 0x9e3779b97f4a7c15ull) >> 32 << 3 | (node & 7);

  for (;; at++) {
    ClusterKey *key = &l->keys[at & (uint64_t)(l->key_count - 1)];
    if (key->node == node || key->node < 0) return key;
  }
}

static void number_own(const ClusterGraph *g, const ClusterParts *parts, int64_t c, ClusterLocal *l)
{
  const int32_t *members = parts->members + parts->begin[c];
  int64_t        entries = 0;

  l->own = parts->begin[c + 1] - parts->begin[c];
  for (int64_t i = 0; i < l->own; i++) {
    l->nodes[i] = (ClusterNode){.node = members[i], .number = (int32_t)i};
    l->first[i] = (int32_t)entries;
    entries += entries_of(g, members[i]);
  }
  l->first[l->own] = (int32_t)entries;
  l->entries       = entries;
  l->key_count     = power_of_two(2 * (l->own + entries < parts->most_x ? l->own + entries : parts->most_x));
  memset(l->keys, 0xff, (size_t)l->key_count * sizeof *l->keys);
  for (int64_t i = 0; i < l->own && g->square; i++) *find(l, members[i]) = (ClusterKey){members[i], (int32_t)i};
}

/* All columns, as they come, and a list of those that are own nodes */
static void number_columns(const ClusterGraph *g, ClusterLocal *l)
{
  const int32_t first = first_of_halo(g, l);
  const int64_t own   = g->square ? l->own : 0;
  int64_t       at = 0, inside = 0;

  l->halo_count = 0;
  for (int64_t i = 0; i < l->own; i++) {
    const int32_t *column = g->adjacent + g->begin[l->nodes[i].node];
    const int32_t  count  = l->first[i + 1] - l->first[i];

    l->inside_first[i] = l->next[i] = (int32_t)inside;
    for (int32_t k = 0; k < count; k++) {
      ClusterKey *key = find(l, column[k]);

      if (key->node < 0) {
        *key                     = (ClusterKey){column[k], first + (int32_t)l->halo_count};
        l->halo[l->halo_count++] = column[k];
      }
      l->local[at++]          = (uint16_t)key->local;
      l->inside_entry[inside] = (ClusterInside){(uint16_t)key->local, (uint16_t)k};
      inside += key->local < own;
    }
  }
  l->inside_first[l->own] = (int32_t)inside;
  l->inside               = inside;
}

void cluster_local_sort_halo(const ClusterGraph *g, ClusterLocal *l)
{
  const int32_t first = first_of_halo(g, l);
  const int64_t own   = g->square ? l->own : 0;
  uint16_t     *local = l->local;

  cluster_sort(l->halo, l->rank, l->halo_count);
  for (int64_t h = 0; h < l->halo_count; h++) l->rank[find(l, l->halo[h])->local - first] = (int32_t)h;
  for (int64_t k = 0; k < l->entries; k++)
    if (local[k] >= own) local[k] = (uint16_t)(first + l->rank[local[k] - first]);
}

/* Steps over the entries of an own node whose columns come before `number`. Calls for a node have ascending numbers, so
   that each goes on from where the last one ended. Returns whether the entry reached has that column. */
static int go_to(const ClusterLocal *l, int64_t i, int64_t number)
{
  const int32_t end = l->inside_first[i + 1];
  int32_t       k   = l->next[i];

  while (k < end && l->inside_entry[k].local < number) k++;
  l->next[i] = k;
  return k < end && l->inside_entry[k].local == number;
}

/* The pairs of own node i with those behind it */
static void find_pairs_of(ClusterLocal *l, int64_t i)
{
  const int own_column = go_to(l, i, i);

  for (int32_t k = l->next[i] + own_column; k < l->inside_first[i + 1]; k++) {
    const ClusterInside entry = l->inside_entry[k];
    const int64_t       j     = entry.local;

    if (j <= i || !go_to(l, j, i)) continue;
    const uint16_t place = l->inside_entry[l->next[j]++].place;

    l->pairs[l->pair_count++]               = (ClusterPair){(uint16_t)i, (uint16_t)j, {entry.place, place}};
    l->is_paired[l->first[i] + entry.place] = l->is_paired[l->first[j] + place] = 1;
    l->steps[i]--;
    l->steps[j]--;
  }
}

/* Finds the pairs, and the steps that nodes have without them */
static void find_pairs(const ClusterGraph *g, int paired, ClusterLocal *l)
{
  l->pair_count = 0;
  memset(l->is_paired, 0, (size_t)l->entries);
  for (int64_t i = 0; i < l->own; i++) l->steps[i] = l->first[i + 1] - l->first[i];
  for (int64_t i = 0; i < l->own && g->square && paired; i++) find_pairs_of(l, i);
  for (int64_t i = 0; i < l->own; i++) l->nodes[i].others = l->steps[i];
}

/* Gives each pair to the end with fewer steps, so that the lanes of a slice become equally long */
static void give_pairs(ClusterLocal *l)
{
  int32_t *steps = l->steps, moved = 1;

  for (int64_t p = 0; p < l->pair_count; p++) {
    ClusterPair   *pair = &l->pairs[p];
    const int32_t  a = pair->keeper, b = pair->other, swap = steps[a] > steps[b];
    const uint16_t place = pair->place[0];

    pair->keeper   = (uint16_t)(swap ? b : a);
    pair->other    = (uint16_t)(swap ? a : b);
    pair->place[0] = swap ? pair->place[1] : place;
    pair->place[1] = swap ? place : pair->place[1];
    steps[a] += !swap;
    steps[b] += swap;
  }
  for (int pass = 0; pass < BALANCE_PASSES && moved; pass++) {
    moved = 0;
    for (int64_t p = 0; p < l->pair_count; p++) {
      const ClusterPair pair = l->pairs[p];

      if (steps[pair.keeper] <= steps[pair.other] + 1) continue;
      steps[pair.keeper]--;
      steps[pair.other]++;
      l->pairs[p] = (ClusterPair){pair.other, pair.keeper, {pair.place[1], pair.place[0]}};
      moved       = 1;
    }
  }
  for (int64_t i = 0; i < l->own; i++) l->nodes[i].kept = steps[i] - l->nodes[i].others;
  for (int64_t p = 0; p < l->pair_count; p++) l->nodes[l->pairs[p].other].collected++;
}

/* Sorts nodes by steps, or by the pairs that they keep, most first; equal ones stay in order */
static void sort_down(const ClusterNode *from, ClusterNode *to, int64_t count, int by_steps)
{
  int32_t at[CLUSTER_LONG + 2] = {0}; /* where those with fewer begin, from 1 on */

  for (int64_t i = 0; i < count; i++) at[CLUSTER_LONG - (by_steps ? cluster_steps(&from[i]) : from[i].kept) + 1]++;
  for (int n = 0; n <= CLUSTER_LONG; n++) at[n + 1] += at[n];
  for (int64_t i = 0; i < count; i++)
    to[at[CLUSTER_LONG - (by_steps ? cluster_steps(&from[i]) : from[i].kept)]++] = from[i];
}

void cluster_local_make(const ClusterGraph *g, const ClusterParts *parts, int64_t c, int paired, ClusterLocal *l)
{
  number_own(g, parts, c, l);
  number_columns(g, l);
  find_pairs(g, paired, l);
  give_pairs(l);
  sort_down(l->nodes, l->sorted, l->own, 0);
  sort_down(l->sorted, l->nodes, l->own, 1);
  for (int64_t lane = 0; lane < l->own; lane++) l->lane[l->nodes[lane].number] = (int32_t)lane;
}
