/*
  fold.c - format fold, the Fold method: the slots of the interface, options, view, and the plan on the host.

  Source: N. Tanabe, J. Kogou, Y. Ogawa, M. Takata and K. Joe, acceleration of sparse matrix-vector product by algorithm
  with folding long rows and memory with gather functions. fold.h describes the table, fold_cost.c the choice of w.
*/
#include "fold.h"
#include <float.h>
#include <stdio.h>

static const char *const layout_names[] = {"sliced", "uniform", NULL};
static const char *const gather_names[] = {"cache", "host", "device", NULL};

static const char *const device_options[] = {"gather", "device_memory", NULL};

static const SpmvOptionDesc options[] = {
    [FOLD_OPTION_Q] = {"q", SPMV_OPTION_REAL, 0, 0, 1e6, NULL, "for comparison: fold rows above q*mean + r*sigma",
                       "rows longer than q * mean + r * sigma are folded; q = r = 0 chooses by predicted cost, the "
                       "paper has q = 1.5"},
    [FOLD_OPTION_R] = {"r", SPMV_OPTION_REAL, 0, 0, 1e6, NULL, "for comparison: see q; sigma of the row lengths", NULL},
    [FOLD_OPTION_LAYOUT]        = {"layout", SPMV_OPTION_ENUM, FOLD_LAYOUT_SLICED, 0, 0, layout_names, "for comparison",
                                   "sliced: every 32 rows have their own width; uniform: one width, as published"},
    [FOLD_OPTION_GATHER]        = {"gather", SPMV_OPTION_ENUM, FOLD_GATHER_CACHE, 0, 0, gather_names,
                                   "source of x in a product on a GPU",
                                   "on a GPU, x is read through its caches, gathered by the host and sent in pieces, or "
                                          "written in table order by the device first"},
    [FOLD_OPTION_DEVICE_MEMORY] = {"device_memory", SPMV_OPTION_INT, 0, 0, 1e15, NULL,
                                   "most bytes on a GPU, the rest streams; 0: all",
                                   "bytes that the matrix may take on a GPU; the rest is sent in pieces in each "
                                   "product; 0: no limit"},
    {.key = NULL},
};

static const double paper_from[SPMV_OPTIONS_MAX] = {[FOLD_OPTION_Q]      = DBL_MIN, /* anything but 0 */
                                                    [FOLD_OPTION_R]      = DBL_MIN,
                                                    [FOLD_OPTION_LAYOUT] = FOLD_LAYOUT_UNIFORM,
                                                    [FOLD_OPTION_GATHER] = FOLD_GATHER_DEVICE};

void fold_clear_analysis(void *data, SpmvExec *exec)
{
  fold_layout_free(&exec->host, &exec->device, SPMV_HOST, &((FoldAnalysis *)data)->layout);
}

SpmvStatus fold_analyze(const SpmvPattern *pattern, FoldGiven given, SpmvAnalysis *analysis, SpmvExec *exec)
{
  FoldAnalysis    *data        = analysis->data;
  const SpmvIndex  column_type = fold_column_type(pattern->cols);
  const SpmvScalar scalar      = analysis->scalar_type;

  SPMV_TRY(fold_analyze_rows(pattern->row_ptr, pattern, scalar, SPMV_HOST, given, exec, &data->sizes, &data->layout));
  fold_memory(&data->sizes, column_type, scalar, &analysis->memory);
  return SPMV_SUCCESS;
}

static SpmvStatus analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  return fold_analyze(pattern, (FoldGiven){0}, analysis, exec);
}

SpmvStatus fold_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *base, SpmvExec *exec)
{
  const FoldAnalysis *data = analysis->data;
  const SpmvPattern  *p    = &csr->pattern;
  FoldPlan           *plan = (FoldPlan *)base;

  SPMV_TRY(fold_make_table(plan, &data->sizes, &data->layout, fold_column_type(p->cols), exec));
  const FoldRange whole = fold_whole(&plan->table);
  fold_fill_columns(&plan->table, &whole, p->index_type, p->row_ptr, p->col);
  fold_fill_values(&plan->table, &whole, p->index_type, csr->scalar_type, p->row_ptr, csr->values);
  return SPMV_SUCCESS;
}

/* Recovers the row_ptr of the CSR into an array that the caller frees */
static SpmvStatus recover_row_ptr(const FoldPlan *plan, SpmvExec *exec, void **row_ptr)
{
  const SpmvIndex index = plan->base.index_type;

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, (plan->base.rows + 1) * spmv_index_bytes(index), "row_ptr", row_ptr));
  fold_recover_row_ptr(&plan->table, index, *row_ptr);
  return SPMV_SUCCESS;
}

SpmvStatus fold_update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  const FoldTable *table = &((FoldPlan *)base)->table;
  const FoldRange  whole = fold_whole(table);
  void            *row_ptr;

  (void)values_space;
  SPMV_TRY(recover_row_ptr((FoldPlan *)base, exec, &row_ptr));
  fold_fill_values(table, &whole, base->index_type, base->scalar_type, row_ptr, values);
  spmv_exec_free(exec, SPMV_HOST, row_ptr);
  return SPMV_SUCCESS;
}

SpmvStatus fold_extract_values(const SpmvPlan *base, void *values, SpmvExec *exec)
{
  const FoldTable *table = &((const FoldPlan *)base)->table;
  const FoldRange  whole = fold_whole(table);
  void            *row_ptr;

  SPMV_TRY(recover_row_ptr((const FoldPlan *)base, exec, &row_ptr));
  fold_unfill(table, &whole, base->index_type, base->scalar_type, row_ptr, NULL, values);
  spmv_exec_free(exec, SPMV_HOST, row_ptr);
  return SPMV_SUCCESS;
}

SpmvStatus fold_mult(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y, void *work,
                     SpmvExec *exec)
{
  (void)work;
  (void)exec;
  fold_host_mult(spmv_isa(), (const FoldPlan *)base, alpha, x, beta, y);
  return SPMV_SUCCESS;
}

SpmvStatus fold_add_transposed(const SpmvPlan *base, const void *alpha, const void *x, void *y, SpmvExec *exec)
{
  (void)exec;
  fold_host_add_transposed((const FoldPlan *)base, alpha, x, y);
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

void fold_view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  fold_view_sizes(&((const FoldPlan *)base)->table.sizes, print, ctx);
}

static const SpmvSlots host_slots = {
    .analysis_bytes = sizeof(FoldAnalysis),
    .plan_bytes     = sizeof(FoldPlan),
    .analyze        = analyze,
    .clear_analysis = fold_clear_analysis,
    .build          = fold_build,
    .update_values  = fold_update_values,
    .extract_values = fold_extract_values,
    .mult           = fold_mult,
    .add_transposed = fold_add_transposed,
    .view           = fold_view,
    .clear          = fold_clear_table,
};

/*MC
   MATAIJFOLD = "aijfold" - A sparse matrix stored by the Fold method: rows longer than a width are cut into pieces of
   at most that width, which become rows of a table of their own, so that all threads of a product do nearly equal work.

   Options Database Keys:
+  -mat_type aijfold - sets the type during a call to `MatSetFromOptions()`
.  -mat_aijfold_q - factor of the mean row length in the width at which rows are folded
.  -mat_aijfold_r - factor of the standard deviation of the row lengths in that width
.  -mat_aijfold_layout - the layout of the table
.  -mat_aijfold_gather - how a product on a GPU reads the vector
-  -mat_aijfold_device_memory - bytes that the matrix may take on a GPU

   Level: beginner

   Notes:
   The page docs/options/aijfold.md has the values and the defaults of the options.

   Except for its products the matrix behaves as `MATAIJ`: it is assembled, factored and multiplied with other matrices
   in the same way.

   The type is intended for rows of uneven length, and for matrices that do not fit into the memory of a GPU. On the
   host, `gather` and `device_memory` have no effect. In a parallel matrix, the diagonal and the off-diagonal block of a
   process may each take `device_memory`.

   Source: N. Tanabe, J. Kogou, Y. Ogawa, M. Takata and K. Joe, acceleration of sparse matrix-vector product by an
   algorithm that folds long rows and memory with gather functions. Slices, the sorting of rows, the choice of the
   width, and the addition of the pieces on the device are not from that paper.

.seealso: `MatAIJFmtSetOption()`, `MATAIJRBP`, `MATAIJCRSV`, `MATAIJ`
M*/
const SpmvFormat spmv_format_fold = {
    .abi            = SPMV_ABI,
    .name           = "fold",
    .summary        = "Fold method: long rows cut into pieces of equal work",
    .options        = options,
    .device_options = device_options,
    .padding_factor = 1.25, /* the product reads memory more evenly than a CSR product, which makes up for padding */
    .host           = &host_slots,
    .device         = SPMV_DEVICE_SLOTS(fold_device_slots),
    .paper_from     = paper_from,
};
