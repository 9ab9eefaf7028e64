/*
  fold.c - format fold, the Fold method: the slots of the interface, options, view, and the plan on the host.

  Source: N. Tanabe, J. Kogou, Y. Ogawa, M. Takata and K. Joe, acceleration of sparse matrix-vector product by algorithm
  with folding long rows and memory with gather functions. fold.h describes the table, fold_cost.c the choice of w.
*/
#include "fold.h"
#include <stdio.h>
#include <string.h>
#if defined(SPMV_HAVE_CUDA)
  #include "fold_device.h"
#endif

static const char *const layout_names[] = {"sliced", "uniform", NULL};
static const char *const gather_names[] = {"cache", "device", "host", NULL};

static const SpmvOptionDesc options[] = {
    [FOLD_OPTION_Q]             = {"q", SPMV_OPTION_REAL, 0, 0, 1e6, NULL,
                                   "rows longer than q * mean + r * sigma are folded; q = r = 0 chooses by predicted cost, the "
                                               "paper has q = 1.5"},
    [FOLD_OPTION_R]             = {"r", SPMV_OPTION_REAL, 0, 0, 1e6, NULL, "see q; sigma is that of the row lengths"},
    [FOLD_OPTION_LAYOUT]        = {"layout", SPMV_OPTION_ENUM, FOLD_LAYOUT_SLICED, 0, 0, layout_names,
                                   "sliced: every 32 rows have their own width; uniform: one width, as published"},
    [FOLD_OPTION_GATHER]        = {"gather", SPMV_OPTION_ENUM, FOLD_GATHER_CACHE, 0, 0, gather_names,
                                   "on a GPU, x is read through its caches, written in table order by the device first, or "
                                          "gathered by the host and sent in pieces"},
    [FOLD_OPTION_DEVICE_MEMORY] = {"device_memory", SPMV_OPTION_INT, 0, 0, 1e15, NULL,
                                   "bytes that the matrix may take on a GPU; the rest is sent in pieces in each "
                                   "product; 0: no limit"},
    {NULL, SPMV_OPTION_INT, 0, 0, 0, NULL, NULL},
};

/* What build takes over from analyze on the host */
typedef struct {
  FoldSizes  sizes;
  FoldLayout layout;
} FoldAnalysis;

static void free_analysis(SpmvAnalysis *analysis, SpmvExec *exec)
{
  FoldAnalysis *data = analysis->data;

  fold_layout_free(&exec->host, &exec->device, SPMV_HOST, &data->layout);
  spmv_exec_free(exec, SPMV_HOST, data);
}

static SpmvStatus fold_analyze(const SpmvPattern *pattern, SpmvScalar scalar, const SpmvOptions *chosen, SpmvExec *exec,
                               SpmvAnalysis *analysis)
{
  FoldAnalysis *data;
  SpmvStatus    status;

#if defined(SPMV_HAVE_CUDA)
  if (exec->space == SPMV_DEVICE) return fold_device_analyze(pattern, scalar, chosen, exec, analysis);
#endif
  status = spmv_alloc(exec, SPMV_HOST, sizeof *data, "analysis", &analysis->data);
  if (status) return status;
  analysis->destroy_data = free_analysis;
  data                   = memset(analysis->data, 0, sizeof *data);
  status = fold_analyze_rows(pattern->row_ptr, pattern, scalar, SPMV_HOST, chosen, exec, &data->sizes, &data->layout);
  if (status) return status;
  fold_memory(&data->sizes, fold_column_type(pattern->cols), scalar, &analysis->memory);
  fold_decide(&data->sizes, fold_column_type(pattern->cols), analysis);
  return SPMV_SUCCESS;
}

static void free_host_plan(FoldPlan *plan)
{
  const SpmvAllocator host = plan->base.host, device = plan->base.device;

  spmv_free(&host, &device, SPMV_HOST, plan->table.columns);
  spmv_free(&host, &device, SPMV_HOST, plan->table.values);
  fold_layout_free(&host, &device, SPMV_HOST, &plan->table.layout);
  spmv_free(&host, &device, SPMV_HOST, plan);
}

static SpmvStatus copy_array(const void *from, int64_t bytes, const char *name, SpmvExec *exec, void **to)
{
  const SpmvStatus status = spmv_alloc(exec, SPMV_HOST, bytes, name, to);

  if (!status && bytes > 0) memcpy(*to, from, (size_t)bytes);
  return status;
}

static SpmvStatus allocate_table(const FoldAnalysis *data, SpmvScalar scalar, SpmvExec *exec, FoldTable *table)
{
  const FoldSizes  *s    = &data->sizes;
  const FoldLayout *from = &data->layout;
  FoldLayout       *to   = &table->layout;
  SpmvStatus        status;

  table->sizes = *s;
  status       = copy_array(from->slice_ptr, fold_slice_ptr_bytes(s), "slice_ptr", exec, (void **)&to->slice_ptr);
  if (!status) status = copy_array(from->order, fold_order_bytes(s), "order", exec, (void **)&to->order);
  if (!status) status = copy_array(from->owner, fold_owner_bytes(s), "owner", exec, (void **)&to->owner);
  if (!status) status = copy_array(from->full_ptr, fold_full_ptr_bytes(s), "full_ptr", exec, (void **)&to->full_ptr);
  if (!status)
    status = spmv_alloc(exec, SPMV_HOST, fold_columns_bytes(s, table->column_type), "columns", &table->columns);
  if (!status) status = spmv_alloc(exec, SPMV_HOST, fold_values_bytes(s, scalar), "values", &table->values);
  return status;
}

static SpmvStatus fold_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvExec *exec, SpmvPlan **out)
{
  const FoldAnalysis *data = analysis->data;
  const SpmvPattern  *p    = &csr->pattern;
  FoldPlan           *plan;
  void               *block;
  SpmvStatus          status;

#if defined(SPMV_HAVE_CUDA)
  if (exec->space == SPMV_DEVICE) return fold_device_build(csr, analysis, exec, out);
#endif
  if (csr->values_space != SPMV_HOST)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a host plan of format fold needs its values on the host");
  if (p->rows != data->sizes.rows || p->nnz != data->sizes.nnz)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "the analysis is of %lld rows and %lld nonzeros, not of %lld and %lld",
                     (long long)data->sizes.rows, (long long)data->sizes.nnz, (long long)p->rows, (long long)p->nnz);
  status = spmv_alloc(exec, SPMV_HOST, sizeof *plan, "plan", &block);
  if (status) return status;
  plan = memset(block, 0, sizeof *plan);
  spmv_plan_init(&plan->base, csr, analysis, exec);
  plan->table.column_type = fold_column_type(p->cols);
  status                  = allocate_table(data, csr->scalar_type, exec, &plan->table);
  if (status) {
    free_host_plan(plan);
    return status;
  }
  const FoldRange whole = fold_whole(&plan->table);
  fold_fill_columns(&plan->table, &whole, p->index_type, p->row_ptr, p->col);
  fold_fill_values(&plan->table, &whole, p->index_type, csr->scalar_type, p->row_ptr, csr->values);
  *out = &plan->base;
  return SPMV_SUCCESS;
}

static SpmvStatus update_host_plan(FoldPlan *plan, const void *values, SpmvExec *exec)
{
  const SpmvIndex index = plan->base.index_type;
  const FoldRange whole = fold_whole(&plan->table);
  void           *row_ptr;
  SpmvStatus status = spmv_alloc(exec, SPMV_HOST, (plan->base.rows + 1) * spmv_index_bytes(index), "row_ptr", &row_ptr);

  if (status) return status;
  fold_recover_row_ptr(&plan->table, index, row_ptr);
  fold_fill_values(&plan->table, &whole, index, plan->base.scalar_type, row_ptr, values);
  spmv_exec_free(exec, SPMV_HOST, row_ptr);
  return SPMV_SUCCESS;
}

static SpmvStatus fold_update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
#if defined(SPMV_HAVE_CUDA)
  if (base->space == SPMV_DEVICE) return fold_device_update_values(base, values, values_space, exec);
#endif
  if (values_space != SPMV_HOST)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a host plan of format fold needs its values on the host");
  return update_host_plan((FoldPlan *)base, values, exec);
}

static SpmvStatus fold_mult(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                            void *work, SpmvExec *exec)
{
#if defined(SPMV_HAVE_CUDA)
  if (base->space == SPMV_DEVICE) return fold_device_mult(base, alpha, x, beta, y, work, exec);
#endif
  (void)work;
  (void)exec;
  fold_host_mult(spmv_isa(), (const FoldPlan *)base, alpha, x, beta, y);
  return SPMV_SUCCESS;
}

#if defined(SPMV_HAVE_CUDA)
static SpmvStatus fold_prepare_transpose(SpmvPlan *base, SpmvExec *exec)
{
  return base->space == SPMV_DEVICE ? fold_device_prepare_transpose(base, exec) : SPMV_SUCCESS;
}
#endif

static SpmvStatus fold_multtranspose(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                                     void *work, SpmvExec *exec)
{
#if defined(SPMV_HAVE_CUDA)
  if (base->space == SPMV_DEVICE) return fold_device_multtranspose(base, alpha, x, beta, y, work, exec);
#endif
  (void)work;
  (void)exec;
  fold_host_multtranspose((const FoldPlan *)base, alpha, x, beta, y);
  return SPMV_SUCCESS;
}

static SpmvStatus fold_memory_report(const SpmvPlan *base, SpmvMemory *memory)
{
  *memory = base->memory;
  return SPMV_SUCCESS;
}

void fold_view_sizes(const FoldSizes *s, SpmvPrint print, void *ctx)
{
  static const char *const order[] = {"in the order of the matrix", "sorted in windows", "all of one width"};
  char                     line[SPMV_MESSAGE_MAX];

  snprintf(line, sizeof line, "width: %lld (%s; %.2f of the mean row), longest row: %lld, mean: %.2f, sigma: %.2f",
           (long long)s->width, s->automatic ? "automatic" : "by q and r",
           s->mean > 0 ? (double)s->width / s->mean : 0.0, (long long)s->longest, s->mean, s->sigma);
  print(ctx, line);
  snprintf(line, sizeof line, "folded rows: %lld, table rows: %lld for %lld, %s", (long long)s->folded,
           (long long)s->table_rows, (long long)s->rows, order[s->order]);
  print(ctx, line);
  snprintf(line, sizeof line, "padding: %.2f %% of the table",
           s->steps ? 100 - 100.0 * (double)s->nnz / ((double)s->steps * FOLD_LANES) : 0.0);
  print(ctx, line);
}

static SpmvStatus fold_view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
#if defined(SPMV_HAVE_CUDA)
  if (base->space == SPMV_DEVICE) return fold_device_view(base, print, ctx);
#endif
  fold_view_sizes(&((const FoldPlan *)base)->table.sizes, print, ctx);
  return SPMV_SUCCESS;
}

static void fold_destroy(SpmvPlan **plan)
{
  if (!plan || !*plan) return;
#if defined(SPMV_HAVE_CUDA)
  if ((*plan)->space == SPMV_DEVICE) {
    fold_device_destroy(plan);
    return;
  }
#endif
  free_host_plan((FoldPlan *)*plan);
  *plan = NULL;
}

#if defined(SPMV_HAVE_CUDA)
  #define FOLD_DEVICE_CAPS (SPMV_CAP_DEVICE | SPMV_CAP_DEVICE_BUILD)
#else
  #define FOLD_DEVICE_CAPS 0
#endif

/*MC
   MATAIJFOLD = "aijfold" - A sparse matrix stored by the Fold method: rows longer than a width are cut into pieces of
   at most that width, which become rows of a table of their own, so that all threads of a product do nearly equal work.

   Options Database Keys:
+  -mat_type aijfold - sets the type during a call to `MatSetFromOptions()`
.  -mat_aijfold_q <0> - rows longer than q times the mean row length plus r times its standard deviation are folded;
   q = r = 0, the default, chooses the width by predicted cost; the authors use q = 1.5
.  -mat_aijfold_r <0> - see q
.  -mat_aijfold_layout <sliced,uniform> - `sliced`: every 32 rows of the table have a width of their own, up to that of
   the fold; `uniform`: all have the same, as published
.  -mat_aijfold_gather <cache,device,host> - how a product on a GPU reads the vector: through the caches, from a copy in
   the order of the table that the device makes first, or from one that the host makes and sends in pieces
-  -mat_aijfold_device_memory <0> - bytes that the matrix may take on a GPU, 0 for no limit; the rest lies in the memory
   of the host and is sent in pieces during each product

   Level: beginner

   Notes:
   The matrix stays `MATAIJ` for everything but its products: it is assembled, factored and multiplied with other
   matrices as one.

   The type is made for rows of uneven length, and for matrices that do not fit into the memory of a GPU. On the host,
   `gather` and `device_memory` have no effect. In a parallel matrix, the diagonal and the off-diagonal block of a
   process may each take `device_memory`.

   Source: N. Tanabe, J. Kogou, Y. Ogawa, M. Takata and K. Joe, acceleration of sparse matrix-vector product by an
   algorithm that folds long rows and memory with gather functions. Slices, the sorting of rows, the choice of the
   width, and the addition of the pieces on the device are not part of it.

.seealso: `MatAIJFoldSetWidth()`, `MatAIJFoldSetLayout()`, `MatAIJFoldSetGather()`, `MatAIJFoldSetDeviceMemory()`,
          `MATAIJRBP`, `MATAIJCRSV`, `MATAIJ`
M*/
const SpmvFormat spmv_format_fold = {
    .abi  = SPMV_ABI,
    .caps = SPMV_CAP_HOST | SPMV_CAP_TRANSPOSE | SPMV_CAP_UPDATE | SPMV_CAP_BITWISE | SPMV_CAP_F32 | SPMV_CAP_I64 |
            FOLD_DEVICE_CAPS,
    .name          = "fold",
    .summary       = "Fold method: long rows cut into pieces of equal work",
    .options       = options,
    .analyze       = fold_analyze,
    .build         = fold_build,
    .update_values = fold_update_values,
    .mult          = fold_mult,
    .multtranspose = fold_multtranspose,
#if defined(SPMV_HAVE_CUDA)
    .prepare_transpose = fold_prepare_transpose,
#endif
    .memory  = fold_memory_report,
    .view    = fold_view,
    .destroy = fold_destroy,
};
