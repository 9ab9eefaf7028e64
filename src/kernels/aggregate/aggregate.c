/* aggregate.c - aggregates, prolongators and their smoothing: argument checks, and aggregates of aggregates. */
#include "aggregate.h"
#include "device/object.h"
#include <string.h>

void spmv_aggregate_options_init(SpmvAggregateOptions *o)
{
  memset(o, 0, sizeof *o);
  o->distance = 1;
  o->repeats  = 1;
}

static const SpmvAggregateSlots *slots_of(const SpmvExec *exec)
{
  return exec->space == SPMV_DEVICE ? SPMV_DEVICE_SLOTS(spmv_aggregate_device_slots) : &spmv_aggregate_host_slots;
}

static SpmvStatus check_pattern(const SpmvPattern *p, const char *name, SpmvExec *exec)
{
  if (p->rows < 0 || p->cols < 0 || p->nnz < 0 || !p->row_ptr || (p->nnz > 0 && !p->col))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: a size is negative, or an array is missing", name);
  if (p->space != exec->space) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s lies in another space than exec", name);
  return SPMV_SUCCESS;
}

/* ---- aggregates ---- */

static SpmvStatus check_graph(const SpmvPattern *g, const SpmvAggregateOptions *o, const int32_t *aggregate,
                              SpmvExec *exec)
{
  if (o->distance < 1 || o->distance > 2 || o->repeats < 1)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "aggregates: distance %d, which must be 1 or 2, repeated %d times",
                     o->distance, o->repeats);
  if ((int)o->order < SPMV_ORDER_RANDOM || o->order > SPMV_ORDER_NUMBER)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "aggregates: unknown order number %d", (int)o->order);
  SPMV_TRY(check_pattern(g, "the graph to aggregate", exec));
  if (g->rows != g->cols)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "the graph to aggregate has %lld rows and %lld columns",
                     (long long)g->rows, (long long)g->cols);
  if (g->rows >= INT32_MAX || g->nnz > INT32_MAX)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "the graph to aggregate has %lld vertices and %lld edges, at most %d",
                     (long long)g->rows, (long long)g->nnz, INT32_MAX);
  if (g->rows > 0 && !aggregate)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "aggregates: the array for their numbers is missing");
  return spmv_check_space("aggregates", exec);
}

/* The temporary arrays and the product of a repetition */
typedef struct {
  void       *block; /* in exec->space */
  int32_t    *row_ptr, *col, *next, *next_root;
  double     *values, *coarse;
  SpmvSpgemm *product;
} Repetition;

static SpmvStatus allocate(Repetition *r, int64_t vertices, const SpmvAggregates *found, SpmvExec *exec)
{
  /* + 1: never NULL */
  const int64_t bytes[] = {found->members * 8 + 1, found->count * 8 + 1, (vertices + 1) * 4,
                           found->members * 4 + 1, found->count * 4 + 1, found->count * 4 + 1};
  void **const  array[] = {(void **)&r->values, (void **)&r->coarse, (void **)&r->row_ptr,
                           (void **)&r->col,    (void **)&r->next,   (void **)&r->next_root};

  return spmv_alloc_arrays(exec, exec->space, 6, bytes, "aggregates of aggregates", array, &r->block);
}

/* Aggregates the aggregates: they are the vertices of the next graph, whose pattern is that of P^T G P, where row v of
   P has one entry, in the column of the aggregate of v. */
static SpmvStatus repeat(const SpmvPattern *graph, Repetition *r, int32_t *aggregate, int32_t *root,
                         SpmvAggregates *found, SpmvExec *exec)
{
  const SpmvAggregateSlots  *slots = slots_of(exec);
  const SpmvAggregateOptions once  = {.distance = 1, .repeats = 1, .order = SPMV_ORDER_NUMBER};
  const SpmvTentative        t     = {graph->rows, *found, aggregate, 1, 1, SPMV_I32, SPMV_F64, NULL, 1};
  SpmvAggregates             next;
  SpmvPattern                coarse;

  SPMV_TRY(allocate(r, graph->rows, found, exec));
  SPMV_TRY(slots->tentative(&t, r->row_ptr, r->col, r->values, r->coarse, exec));
  const SpmvPattern p = {.rows       = graph->rows,
                         .cols       = found->count,
                         .nnz        = found->members,
                         .index_type = SPMV_I32,
                         .space      = exec->space,
                         .row_ptr    = r->row_ptr,
                         .col        = r->col};
  SPMV_TRY(spmv_spgemm_symbolic(SPMV_SPGEMM_PTAP, graph, &p, SPMV_F64, exec, &r->product));
  spmv_spgemm_pattern(r->product, &coarse);
  SPMV_TRY(slots->aggregate(&coarse, &once, r->next, r->next_root, &next, exec));
  *found = next;
  return slots->join(graph->rows, aggregate, root, r->next, r->next_root, found, exec);
}

static SpmvStatus aggregate_all(const SpmvPattern *graph, const SpmvAggregateOptions *options, int32_t *aggregate,
                                int32_t *root, SpmvAggregates *found, SpmvExec *exec)
{
  SpmvStatus status = slots_of(exec)->aggregate(graph, options, aggregate, root, found, exec);

  for (int i = 1; i < options->repeats && !status && found->count > 0; i++) {
    Repetition r = {0};

    status = repeat(graph, &r, aggregate, root, found, exec);
    spmv_object_destroy_on(&r.product, exec);
    spmv_scratch_free(exec, exec->space, r.block);
  }
  return status;
}

/* Of a graph with indices of 64 bits, by a copy with 32 */
static SpmvStatus aggregate_narrowed(const SpmvPattern *graph, const SpmvAggregateOptions *options, int32_t *aggregate,
                                     int32_t *root, SpmvAggregates *found, SpmvExec *exec)
{
  const SpmvAggregateSlots *slots    = slots_of(exec);
  const int64_t             pointers = graph->rows + 1;
  const int64_t             bytes[]  = {4 * pointers, 4 * graph->nnz + 1, options->beyond ? 4 * pointers : 1};
  SpmvAggregateOptions      with     = *options;
  SpmvPattern               narrow   = *graph;
  int32_t                  *row_ptr, *col, *beyond;
  void *block, **const array[] = {(void **)&row_ptr, (void **)&col, (void **)&beyond};
  SpmvStatus status;

  SPMV_TRY(spmv_alloc_arrays(exec, exec->space, 3, bytes, "a graph with indices of 32 bits", array, &block));
  narrow.index_type = SPMV_I32;
  narrow.row_ptr    = row_ptr;
  narrow.col        = col;
  if (options->beyond) with.beyond = beyond;
  status = slots->narrow(pointers, graph->row_ptr, row_ptr, exec);
  if (!status) status = slots->narrow(graph->nnz, graph->col, col, exec);
  if (!status && options->beyond) status = slots->narrow(pointers, options->beyond, beyond, exec);
  if (!status) status = aggregate_all(&narrow, &with, aggregate, root, found, exec);
  spmv_scratch_free(exec, exec->space, block);
  return status;
}

SpmvStatus spmv_aggregate(const SpmvPattern *graph, const SpmvAggregateOptions *options, int32_t *aggregate,
                          int32_t *root, SpmvAggregates *found, SpmvExec *exec)
{
  SpmvStatus status;

  memset(found, 0, sizeof *found);
  exec->message[0] = '\0';
  SPMV_TRY(check_graph(graph, options, aggregate, exec));
  status = (graph->index_type == SPMV_I32 ? aggregate_all : aggregate_narrowed)(graph, options, aggregate, root, found,
                                                                                exec);
  if (status) memset(found, 0, sizeof *found);
  return status;
}

/* ---- prolongators ---- */

int64_t spmv_tentative_nnz(const SpmvTentative *t) { return t->found.members * t->block_size * t->columns; }

SpmvStatus spmv_tentative_mismatch(const SpmvTentative *t, SpmvExec *exec)
{
  return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                   "tentative prolongator: the aggregates of the vertices are not %lld members of %lld aggregates",
                   (long long)t->found.members, (long long)t->found.count);
}

static SpmvStatus check_tentative(const SpmvTentative *t, const void *row_ptr, const void *col, const void *values,
                                  const void *coarse, SpmvExec *exec)
{
  if (t->columns < 1 || t->columns > SPMV_NEAR_NULL_MAX || t->block_size < 1)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "tentative prolongator: %d vectors of the near-null space, which must be 1 to %d, in blocks of %d",
                     t->columns, (int)SPMV_NEAR_NULL_MAX, t->block_size);
  if (!t->near_null && t->columns != t->block_size)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "tentative prolongator: without a near-null space it has %d columns, and not %d", t->block_size,
                     t->columns);
  if (t->vertices < 0 || t->found.count < 0 || t->found.members < t->found.count || t->vertices < t->found.members)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "tentative prolongator: %lld vertices, %lld of them in %lld aggregates",
                     (long long)t->vertices, (long long)t->found.members, (long long)t->found.count);
  if (!row_ptr || (t->vertices > 0 && !t->aggregate) || (t->found.members > 0 && (!col || !values || !coarse)))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "tentative prolongator: an array is missing");
  if (t->vertices > INT32_MAX / t->block_size - 1 || t->vertices * t->block_size > INT32_MAX / t->columns - 1)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW,
                     "tentative prolongator: %lld vertices x %d rows x %d columns do not fit %d",
                     (long long)t->vertices, t->block_size, t->columns, INT32_MAX);
  return spmv_check_space("aggregates", exec);
}

SpmvStatus spmv_tentative(const SpmvTentative *t, void *row_ptr, void *col, void *values, void *coarse, SpmvExec *exec)
{
  exec->message[0] = '\0';
  SPMV_TRY(check_tentative(t, row_ptr, col, values, coarse, exec));
  return slots_of(exec)->tentative(t, row_ptr, col, values, coarse, exec);
}

SpmvStatus spmv_prolongator_smooth(double omega, const void *diagonal, const SpmvCsr *p0, const SpmvPattern *product,
                                   void *values, SpmvExec *exec)
{
  const SpmvPattern *p = &p0->pattern;
  int64_t            missing;

  exec->message[0] = '\0';
  SPMV_TRY(check_pattern(p, "the prolongator to smooth", exec));
  SPMV_TRY(check_pattern(product, "the product with the prolongator", exec));
  if (p->rows != product->rows || p->cols != product->cols || p->index_type != product->index_type)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "a prolongator of %lld x %lld and a product of %lld x %lld, or of another index type",
                     (long long)p->rows, (long long)p->cols, (long long)product->rows, (long long)product->cols);
  if ((p->rows > 0 && !diagonal) || (p->nnz > 0 && !p0->values) || (product->nnz > 0 && !values) ||
      p0->values_space != exec->space)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "smoothing of a prolongator: values are missing, or in another space");
  SPMV_TRY(spmv_check_space("aggregates", exec));
  SPMV_TRY(slots_of(exec)->smooth(omega, diagonal, p0, product, values, &missing, exec));
  if (missing == 0) return SPMV_SUCCESS;
  return spmv_fail(exec, SPMV_ERR_MATRIX,
                   "row %lld of A P0 lacks an entry that P0 has: store the diagonal of A, zeros included",
                   (long long)missing - 1);
}
