/*
  cluster.c - format cluster: rows in clusters, so that x is fetched once for each of them and symmetric pairs are read
  once. The slots on the host, options, view.
*/
#include "cluster_host.h"
#include "cluster_layout.h"
#include <stdio.h>

static const char *const partition_names[] = {"auto", "greedy", "ranges", NULL};
static const char *const symmetry_names[]  = {"auto", "declared", "exact", "none", NULL};

static const SpmvOptionDesc options[] = {
    [CLUSTER_OPTION_SIZE]      = {"size", SPMV_OPTION_INT, 0, 0, CLUSTER_MOST_NODES, NULL,
                                  "nodes in a cluster at most, 0: chosen by the unknowns of a node"},
    [CLUSTER_OPTION_PARTITION] = {"partition", SPMV_OPTION_ENUM, 0, 0, 0, partition_names,
                                  "clusters: grown greedily, or consecutive ranges of nodes"},
    [CLUSTER_OPTION_SYMMETRY]  = {"symmetry", SPMV_OPTION_ENUM, 0, 0, 0, symmetry_names,
                                  "pairs: values declared equal, or whatever they are (exact); auto: exact where many"},
    {NULL, SPMV_OPTION_INT, 0, 0, 0, NULL, NULL},
};

static SpmvStatus analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  SPMV_TRY(cluster_analyze(pattern, CLUSTER_HOST_LANES, NULL, analysis, exec));
  analysis->memory.work_bytes =
      cluster_host_work(&((const ClusterAnalysis *)analysis->data)->shape, analysis->scalar_type);
  return SPMV_SUCCESS;
}

static SpmvStatus build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *base, SpmvExec *exec)
{
  const ClusterAnalysis *a    = analysis->data;
  ClusterPlan           *plan = (ClusterPlan *)base;

  plan->shape = a->shape;
  SPMV_TRY(cluster_alloc(plan, exec));
  SPMV_TRY(cluster_write(a, plan, exec));
  cluster_host_fill(plan, csr->values);
  return SPMV_SUCCESS;
}

static SpmvStatus update_values(SpmvPlan *plan, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  (void)values_space;
  (void)exec;
  cluster_host_fill((ClusterPlan *)plan, values);
  return SPMV_SUCCESS;
}

static SpmvStatus extract_values(const SpmvPlan *plan, void *values, SpmvExec *exec)
{
  (void)exec;
  cluster_host_extract((const ClusterPlan *)plan, values);
  return SPMV_SUCCESS;
}

static SpmvStatus mult(const SpmvPlan *plan, const void *alpha, const void *x, const void *beta, void *y, void *work,
                       SpmvExec *exec)
{
  (void)exec;
  cluster_host_mult_by(spmv_isa(), (const ClusterPlan *)plan, alpha, x, beta, y, work);
  return SPMV_SUCCESS;
}

static SpmvStatus add_transposed(const SpmvPlan *plan, const void *alpha, const void *x, void *y, SpmvExec *exec)
{
  (void)exec;
  cluster_host_add_transposed((const ClusterPlan *)plan, alpha, x, y);
  return SPMV_SUCCESS;
}

/* A product reads values, and of each pair one block, a correction, and a number that says where its product is; a
   column for each block. Arrays that grow with the rows alone are left out. */
static void least(const SpmvOptions *wanted, const SpmvPattern *pattern, SpmvScalar scalar, int paired,
                  SpmvMemory *memory)
{
  const ClusterSymmetry symmetry = (ClusterSymmetry)wanted->value[CLUSTER_OPTION_SYMMETRY];
  const int64_t         block = cluster_likely_block(pattern), blocks = pattern->nnz / (block * block);
  const int64_t         pairs      = paired && symmetry != CLUSTER_NONE ? blocks / 2 : 0;
  const int64_t         correction = symmetry == CLUSTER_DECLARED ? 0 : block * block;

  memory->pairs       = pairs;
  memory->corrected   = symmetry == CLUSTER_DECLARED ? 0 : pairs;
  memory->total_bytes = (blocks - pairs) * (block * block * spmv_scalar_bytes(scalar) + 2) + pairs * (correction + 2);
}

/* How far mirrors are from their values, in a few words */
static void print_mirrors(const ClusterPlan *p, SpmvPrint print, void *ctx)
{
  static const char *const kinds[] = {"equal in bits", "read as corrections of 8 bits", "read in full"};
  const int64_t            scalars = p->shape.pairs * p->shape.block * p->shape.block;
  char                     line[SPMV_MESSAGE_MAX];

  if (p->shape.pairs == 0) snprintf(line, sizeof line, "mirrors: no pairs");
  else if (p->shape.declared)
    snprintf(line, sizeof line, "mirrors: declared equal and not stored; %lld of %lld differ, by at most %llu ulps",
             (long long)p->unequal, (long long)scalars, (unsigned long long)p->most_ulps);
  else
    snprintf(line, sizeof line, "mirrors: %s; %lld of %lld differ, %lld by more than 127 ulps", kinds[p->mirrors_are],
             (long long)p->unequal, (long long)scalars, (long long)p->far);
  print(ctx, line);
}

void cluster_print(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  const ClusterPlan  *p     = (const ClusterPlan *)base;
  const ClusterShape *s     = &p->shape;
  const double        nodes = s->own > 0 ? (double)s->own : 1, entries = s->entries > 0 ? (double)s->entries : 1;
  char                line[SPMV_MESSAGE_MAX];

  snprintf(line, sizeof line, "clusters: %lld, %s, of %.1f nodes in the mean with %d unknowns each",
           (long long)s->clusters, s->partition == CLUSTER_GREEDY ? "grown greedily" : "ranges",
           s->clusters > 0 ? nodes / (double)s->clusters : 0.0, s->block);
  print(ctx, line);
  snprintf(line, sizeof line, "entries inside: %.1f %%, halo: %.2f nodes for each own one, padding: %.2f %%",
           100 * (double)s->inside / entries, (double)s->halo / nodes,
           100 * (double)(s->value_lanes - s->entries + s->pairs) / entries);
  print(ctx, line);
  snprintf(line, sizeof line, "pairs: %lld, %.1f %% of the entries; long rows: %lld with %lld nonzeros",
           (long long)s->pairs, 200 * (double)s->pairs / entries, (long long)s->long_rows, (long long)s->long_nnz);
  print(ctx, line);
  print_mirrors(p, print, ctx);
  if (s->sharing > 0) {
    snprintf(line, sizeof line, "index: %lld of %lld clusters share that of another", (long long)s->sharing,
             (long long)s->clusters);
    print(ctx, line);
  }
  snprintf(line, sizeof line, "a product reads %.2f bytes per nonzero, x and y left out",
           base->nnz > 0 ? (double)cluster_bytes_read(p) / (double)base->nnz : 0.0);
  print(ctx, line);
}

static const SpmvSlots host_slots = {
    .analysis_bytes = sizeof(ClusterAnalysis),
    .plan_bytes     = sizeof(ClusterPlan),
    .analyze        = analyze,
    .clear_analysis = cluster_clear_analysis,
    .build          = build,
    .update_values  = update_values,
    .extract_values = extract_values,
    .mult           = mult,
    .add_transposed = add_transposed,
    .view           = cluster_print,
    .clear          = cluster_free_arrays,
};

/*MC
   MATAIJCLUSTER = "aijcluster" - A sparse matrix whose rows lie in clusters: the entries of x that a cluster needs are
   fetched once, and of two entries (i,j) and (j,i) in a cluster that are equal, or nearly so, one value is read.

   Options Database Keys:
+  -mat_type aijcluster - sets the type during a call to `MatSetFromOptions()`
.  -mat_aijcluster_size - the most nodes of a cluster
.  -mat_aijcluster_partition - how clusters are found
-  -mat_aijcluster_symmetry - what is made of pairs of entries

   Level: beginner

   Notes:
   The page docs/options/aijcluster.md has the values and the defaults of the options.

   The matrix stays `MATAIJ` for everything but its products: it is assembled, factored and multiplied with other
   matrices as one.

   The type pays for matrices of finite elements, above all for symmetric ones with 3 unknowns per node: a product reads
   little more than half of their values. Nothing is lost where values are not symmetric: with `exact`, the default
where there are enough pairs, products and values are those of the matrix to the last bit of every entry. With
`declared` a pair has one value, also where rounding errors of the assembly have made the two differ.

   A conversion takes as long as hundreds of products or more. `-mat_view ::ascii_info` says after how many it has paid
   against `MATAIJRBP`, as predicted for a reference machine; it is silent on processors that were not measured.

   `declared` is for matrices that are known to be symmetric, see `MatSetOption()` with `MAT_SYMMETRIC` or `MAT_SPD`;
   for others it is taken as `exact`.

.seealso: `MatAIJFmtSetOption()`, `MatAIJFmtSetOptionNumber()`, `MATAIJRBP`, `MATAIJCODSELL`, `MATAIJ`
M*/
const SpmvFormat spmv_format_cluster = {
    .abi  = SPMV_ABI,
    .caps = SPMV_CAP_HOST | SPMV_CAP_TRANSPOSE | SPMV_CAP_UPDATE | SPMV_CAP_BITWISE | SPMV_CAP_F32 | SPMV_CAP_I64 |
            SPMV_DEVICE_CAPS,
    .name    = "cluster",
    .summary = "rows in clusters: x fetched once, symmetric pairs read once",
    .options = options,
    .host    = &host_slots,
    .device  = SPMV_DEVICE_SLOTS(cluster_device_slots),
    .least   = least,
};
