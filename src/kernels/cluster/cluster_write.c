/* cluster_write.c - the index arrays of one cluster. */
#include "cluster_local.h"
#include <string.h>

static int most(int a, int b) { return a > b ? a : b; }

/* The longest lanes of a slice. On a device it has a step even where its nodes have no entries, so that each step of a
   cluster has a slice, and each slice a warp. */
static ClusterSlice measure_slice(const ClusterLocal *l, int64_t first, int lanes, const ClusterSlice *before)
{
  int steps = lanes == CLUSTER_DEVICE_LANES, pairs = 0, collected = 0;

  for (int64_t i = first; i < l->own && i < first + lanes; i++) {
    steps     = most(steps, cluster_steps(&l->nodes[i]));
    pairs     = most(pairs, l->nodes[i].kept);
    collected = most(collected, l->nodes[i].collected);
  }
  return (ClusterSlice){(uint16_t)steps,
                        (uint16_t)pairs,
                        (uint16_t)collected,
                        (uint16_t)(before->steps + before->steps_before),
                        (uint16_t)(before->pair_steps + before->pair_steps_before),
                        (uint16_t)(before->collect_steps + before->collect_steps_before)};
}

/* The lanes of a step of a slice that have values: on the host all, on a device those that have such a step; all where
   a block is one value, for then a product would spend its time on finding the places of values. `active` has those of
   the step before. */
static int lanes_of_step(const ClusterLocal *l, int block, int64_t first, int lanes, int step, int *active)
{
  if (lanes == CLUSTER_HOST_LANES || block == 1) return lanes;
  while (*active > 0 && cluster_steps(&l->nodes[first + *active - 1]) <= step) --*active;
  return (*active + CLUSTER_GRAIN - 1) / CLUSTER_GRAIN * CLUSTER_GRAIN;
}

/* The own nodes of a slice */
static int lanes_of_slice(const ClusterLocal *l, int64_t first, int lanes)
{
  return l->own - first < lanes ? (int)(l->own - first) : lanes;
}

static int64_t units(int64_t numbers) { return (numbers + CLUSTER_UNIT - 1) / CLUSTER_UNIT; }

void cluster_measure_one(const ClusterLocal *l, int block, int lanes, ClusterHead *h)
{
  int64_t collect_steps = 0;

  *h = (ClusterHead){.own = (int32_t)l->own, .halo = (int32_t)l->halo_count};
  for (int64_t i = 0; i < l->own; i += lanes) {
    const ClusterSlice s      = measure_slice(l, i, lanes, &(ClusterSlice){0});
    int                active = lanes_of_slice(l, i, lanes);

    h->slice++;
    h->step += s.steps;
    h->pair_step += s.pair_steps;
    collect_steps += s.collect_steps;
    for (int step = 0; step < s.steps; step++) h->value += lanes_of_step(l, block, i, lanes, step, &active);
  }
  h->pairs = (int32_t)l->pair_count;
  h->index = h->step + collect_steps;
  h->node  = l->own + l->halo_count;
  if (lanes == CLUSTER_DEVICE_LANES) {
    const ClusterLists lists = cluster_lists(block, h->step, l->own, h->pairs);

    h->index = units(lists.index_count);
    h->order = units(lists.order_count);
    h->node  = (h->node + CLUSTER_NODES_UNIT - 1) / CLUSTER_NODES_UNIT * CLUSTER_NODES_UNIT;
  }
  h->own_node = l->own;
  h->slices   = (int32_t)h->slice;
}

static void set_place(const ClusterPlan *plan, int64_t at, int place)
{
  if (!plan) return;
  if (plan->shape.place_bytes == 1) ((uint8_t *)plan->places)[at] = (uint8_t)place;
  else ((uint16_t *)plan->places)[at] = (uint16_t)place;
}

/* Where step `step` of a lane is among the steps of the cluster */
static int64_t step_at(const ClusterSlice *slices, int lanes, int64_t lane, int64_t step)
{
  return (slices[lane / lanes].steps_before + step) * lanes + lane % lanes;
}

/* The pairs, which are the first steps of their keepers; the other end finds the transposed product */
static void write_pairs(const ClusterTarget *to, ClusterLocal *l, const ClusterHead *h)
{
  const int           lanes   = to->lanes;
  const int64_t       steps   = h[1].step - h->step;
  const int64_t       mirrors = to->plan ? to->plan->shape.steps * lanes : 0; /* in places */
  const ClusterSlice *slices  = to->slices;
  const ClusterLists  lists   = cluster_lists(to->block, steps, l->own, h->pairs);

  for (int64_t p = 0; p < l->pair_count; p++) {
    const ClusterPair *pair = &l->pairs[p];
    const int32_t      lane = l->lane[pair->keeper], other = l->lane[pair->other];
    const int64_t      step = l->filled[lane]++, at = step_at(slices, lanes, lane, step);
    const int64_t      ready   = l->gathered[other]++;
    const int64_t      product = (slices[lane / lanes].pair_steps_before + step) * lanes + lane % lanes;
    const int64_t      list    = lanes == CLUSTER_DEVICE_LANES
                                     ? lists.lists + to->index[lists.begins + other] + ready
                                     : (steps + slices[other / lanes].collect_steps_before + ready) * lanes + other % lanes;

    to->index[at]   = (uint16_t)other;
    to->index[list] = (uint16_t)product;
    set_place(to->plan, h->step * lanes + at, pair->place[0]);
    set_place(to->plan, mirrors + h->pair_step * lanes + product, pair->place[1]);
  }
}

/* The entries without a pair, in the order of the columns */
static void write_others(const ClusterTarget *to, ClusterLocal *l, const ClusterHead *h)
{
  const int lanes = to->lanes;

  for (int64_t lane = 0; lane < l->own; lane++) {
    const int32_t number = l->nodes[lane].number;

    for (int32_t k = l->first[number]; k < l->first[number + 1]; k++) {
      if (l->is_paired[k]) continue;
      const int64_t  at     = step_at(to->slices, lanes, lane, l->filled[lane]++);
      const uint16_t column = l->local[k]; /* own nodes lie in the order of the lanes */

      to->index[at] = to->square && column < l->own ? (uint16_t)l->lane[column] : column;
      set_place(to->plan, h->step * lanes + at, k - l->first[number]);
    }
  }
}

/* Where values of steps begin, where lists of transposed products do, and the order of the nodes, for a device */
static void write_lists(const ClusterTarget *to, const ClusterLocal *l, const ClusterHead *h)
{
  const ClusterLists lists  = cluster_lists(to->block, h[1].step - h->step, l->own, h->pairs);
  uint16_t          *starts = to->order, *begins = to->index + lists.begins;
  int                start = 0, begin = 0;

  for (int64_t s = 0; s < h->slices && to->block > 1; s++) {
    const int64_t first  = s * to->lanes;
    int           active = lanes_of_slice(l, first, to->lanes);

    for (int step = 0; step < to->slices[s].steps; step++) {
      *starts++ = (uint16_t)start;
      start += lanes_of_step(l, to->block, first, to->lanes, step, &active) / CLUSTER_GRAIN;
    }
  }
  if (to->block > 1) *starts = (uint16_t)start;
  for (int64_t lane = 0; lane < l->own && h->pairs > 0; lane++) {
    *begins++ = (uint16_t)begin;
    begin += l->nodes[lane].collected;
  }
  if (h->pairs > 0) *begins = (uint16_t)begin;
  for (int64_t number = 0; number < l->own; number++) to->order[lists.ascending + number] = (uint16_t)l->lane[number];
}

/* What padding has: the block of zeros, the product behind the last, no place */
static void write_padding(const ClusterTarget *to, const ClusterLocal *l, const ClusterHead *h)
{
  const int      lanes = to->lanes;
  const int64_t  steps = (h[1].step - h->step) * lanes, products = (h[1].pair_step - h->pair_step) * lanes;
  const uint16_t zeros = (uint16_t)(h->halo + (to->square ? h->own : 0));
  ClusterHead    sizes;

  cluster_measure_one(l, to->block, lanes, &sizes);
  for (int64_t k = 0; k < steps; k++) to->index[k] = zeros;
  for (int64_t k = steps; k < sizes.index * CLUSTER_UNIT; k++) to->index[k] = (uint16_t)products;
  for (int64_t k = 0; k < sizes.order * CLUSTER_UNIT; k++) to->order[k] = 0;
  if (!to->plan) return;
  const int64_t bytes = to->plan->shape.place_bytes, mirrors = to->plan->shape.steps * lanes;

  if (steps > 0) memset((char *)to->plan->places + h->step * lanes * bytes, 0xff, (size_t)(steps * bytes));
  if (products > 0)
    memset((char *)to->plan->places + (mirrors + h->pair_step * lanes) * bytes, 0xff, (size_t)(products * bytes));
}

static void write_nodes(const ClusterGraph *g, const ClusterPlan *plan, const ClusterLocal *l, const ClusterHead *h)
{
  int32_t *nodes = plan->nodes + h->node;

  for (int64_t lane = 0; lane < l->own; lane++) {
    const int32_t node = l->nodes[lane].node;

    nodes[lane]                           = node;
    plan->row_begin[h->own_node + lane]   = g->begin[node] * g->block * g->block;
    plan->row_entries[h->own_node + lane] = (int32_t)(g->begin[node + 1] - g->begin[node]);
  }
  if (l->halo_count > 0) memcpy(nodes + l->own, l->halo, (size_t)l->halo_count * sizeof *nodes);
  for (int64_t k = h->node + l->own + l->halo_count; k < h[1].node; k++) plan->nodes[k] = 0;
}

void cluster_write_one(const ClusterGraph *g, const ClusterTarget *to, ClusterLocal *l, const ClusterHead *h)
{
  ClusterSlice before = {0};

  for (int64_t i = 0; i < l->own; i += to->lanes) {
    before                    = measure_slice(l, i, to->lanes, &before);
    to->slices[i / to->lanes] = before;
  }
  write_padding(to, l, h);
  if (to->lanes == CLUSTER_DEVICE_LANES) write_lists(to, l, h);
  if (to->plan) write_nodes(g, to->plan, l, h);
  memset(l->filled, 0, (size_t)l->own * sizeof *l->filled);
  memset(l->gathered, 0, (size_t)l->own * sizeof *l->gathered);
  write_pairs(to, l, h);
  write_others(to, l, h);
}
