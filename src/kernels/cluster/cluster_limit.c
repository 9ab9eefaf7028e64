/* cluster_limit.c - splits the clusters that would stage more than a product may. */
#include "cluster_layout.h"

enum {
  FEW   = 3, /* one of so many clusters may be split; where there are more, all had better be smaller */
  STEPS = 64 /* by one of so many parts a cluster may stage less alone, where together they stage too much */
};

static void raise_to(int64_t *most, int64_t n)
{
  if (n > *most) *most = n;
}

/* Raises what staging depends on to what cluster c has */
static void add_cluster(const ClusterAnalysis *a, int64_t c, ClusterShape *s)
{
  const ClusterHead *h = &a->heads[c];

  raise_to(&s->most_x, h->halo + (s->square ? h->own : 0));
  raise_to(&s->most_products, (h[1].pair_step - h->pair_step) * s->lanes);
  raise_to(&s->most_own, h->own);
  raise_to(&s->most_listed, h[1].node - h->node);
  raise_to(&s->most_index, h[1].index - h->index);
  raise_to(&s->most_order, h[1].order - h->order);
  raise_to(&s->most_slices, h->slices);
}

static ClusterShape no_clusters(const ClusterAnalysis *a)
{
  ClusterShape s = a->shape;

  s.most_x = s.most_products = s.most_own = s.most_listed = s.most_index = s.most_order = s.most_slices = 0;
  return s;
}

/* Halves the clusters that stage more than so many bytes alone; begin has what parts.begin becomes. Returns their
   number. rest: the shape of the others. */
static int64_t halve(const ClusterAnalysis *a, const ClusterLimit *limit, SpmvScalar scalar, int64_t bytes,
                     int64_t *begin, ClusterShape *rest)
{
  const ClusterParts *p     = &a->parts;
  int64_t             count = 0;

  *rest = no_clusters(a);
  for (int64_t c = 0; c < p->clusters; c++) {
    ClusterShape alone = no_clusters(a);

    begin[c + count] = p->begin[c];
    add_cluster(a, c, &alone);
    if (alone.most_own == 1 || limit->staged(&alone, scalar) <= bytes) {
      add_cluster(a, c, rest);
      continue;
    }
    count++;
    begin[c + count] = (p->begin[c] + p->begin[c + 1]) / 2;
  }
  begin[p->clusters + count] = p->begin[p->clusters];
  return count;
}

SpmvStatus cluster_split_large(ClusterAnalysis *a, const ClusterLimit *limit, SpmvScalar scalar, int64_t *count,
                               SpmvExec *exec)
{
  const int64_t most  = cluster_limit_bytes(limit, &a->shape);
  int64_t      *begin = NULL;
  ClusterShape  rest;

  *count = 0;
  if (limit->staged(&a->shape, scalar) <= most) return SPMV_SUCCESS;
  SPMV_TRY(
      spmv_alloc(exec, SPMV_HOST, (2 * a->parts.clusters + 1) * (int64_t)sizeof *begin, "clusters", (void **)&begin));
  for (int step = 0; step < STEPS; step++) {
    *count = halve(a, limit, scalar, most / STEPS * (STEPS - step), begin, &rest);
    if (*count * FEW > a->parts.clusters || limit->staged(&rest, scalar) <= most) break;
  }
  if (*count == 0 || *count * FEW > a->parts.clusters) {
    *count = 0;
    spmv_exec_free(exec, SPMV_HOST, begin);
    return SPMV_SUCCESS;
  }
  spmv_exec_free(exec, SPMV_HOST, a->parts.begin);
  a->parts.begin = begin;
  a->parts.clusters += *count;
  return SPMV_SUCCESS;
}
