/* dia.c - format dia: the diagonals of a matrix, each stored over all rows. dia_host.inc has the loops. */
#include "dia.h"
#include <stdio.h>
#include <string.h>

#define SPMV_BODY "dia/dia_host.inc"
#include "core/instantiate.h"

enum { ARRAYS = 3 };

/* A size that does not fit int64_t becomes this one, which no memory has; the sum over all arrays of a plan still fits.
   The analysis then declines, and a build that the user insists on fails in its allocation with SPMV_ERR_MEMORY. */
static const int64_t too_many = INT64_MAX / (2 * SPMV_ARRAYS_MAX);

static int64_t capped_product(int64_t a, int64_t b)
{
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) || product > too_many ? too_many : product;
}

/* The one list of arrays: the prediction, the allocation and clear use it and cannot disagree. Needs the plan's diagonals,
   rows and scalar type. */
static void list_arrays(DiaPlan *plan, SpmvPlanArray list[ARRAYS])
{
  const int64_t       slots          = capped_product(plan->base.rows, plan->diagonals);
  const int64_t       value_bytes    = capped_product(slots, spmv_scalar_bytes(plan->base.scalar_type));
  const int64_t       offset_bytes   = plan->diagonals * (int64_t)sizeof *plan->offsets;
  const SpmvPlanArray arrays[ARRAYS] = {
      {"offsets", SPMV_ARRAY_INDICES, offset_bytes, (void **)&plan->offsets},
      {"values", SPMV_ARRAY_VALUES, value_bytes, &plan->values},
      {"occupied", SPMV_ARRAY_INDICES, (slots + 7) / 8, (void **)&plan->occupied},
  };

  memcpy(list, arrays, sizeof arrays);
}

static void predict(int64_t diagonals, SpmvAnalysis *analysis)
{
  DiaPlan       plan = {.base = {.rows = analysis->rows, .scalar_type = analysis->scalar_type}, .diagonals = diagonals};
  SpmvMemory   *memory = &analysis->memory;
  SpmvPlanArray list[ARRAYS];

  list_arrays(&plan, list);
  spmv_arrays_report(list, ARRAYS, memory);
  memory->padding_bytes = list[1].bytes - analysis->nnz * spmv_scalar_bytes(analysis->scalar_type);
}

/* A failed allocation needs no cleaning here: the caller then calls dia_clear_analysis() too */
static SpmvStatus dia_analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  DiaAnalysis  *found = analysis->data;
  const int64_t marks = pattern->cols < too_many - pattern->rows ? pattern->rows + pattern->cols : too_many;

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, marks, "marks", (void **)&found->marks));
  if (marks > 0) memset(found->marks, 0, (size_t)marks);
  found->diagonals = SPMV_SELECT(dia_mark, pattern->index_type, analysis->scalar_type)(pattern, found->marks);
  predict(found->diagonals, analysis);
  return SPMV_SUCCESS;
}

static void dia_clear_analysis(void *data, SpmvExec *exec)
{
  spmv_exec_free(exec, SPMV_HOST, ((DiaAnalysis *)data)->marks);
}

static SpmvStatus dia_update_values(SpmvPlan *plan, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  (void)values_space; /* a plan on the host gets values on the host */
  (void)exec;
  SPMV_SELECT(dia_update, plan->index_type, plan->scalar_type)((DiaPlan *)plan, values);
  return SPMV_SUCCESS;
}

static SpmvStatus dia_extract_values(const SpmvPlan *plan, void *values, SpmvExec *exec)
{
  (void)exec;
  SPMV_SELECT(dia_extract, plan->index_type, plan->scalar_type)((const DiaPlan *)plan, values);
  return SPMV_SUCCESS;
}

/* One analysis may serve several builds, so build changes nothing in it, and does not ask whether the format declined */
static SpmvStatus dia_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *base, SpmvExec *exec)
{
  const DiaAnalysis *found = analysis->data;
  DiaPlan           *plan  = (DiaPlan *)base;
  SpmvPlanArray      list[ARRAYS];

  plan->diagonals = found->diagonals;
  list_arrays(plan, list);
  SPMV_TRY(spmv_arrays_alloc(base, list, ARRAYS, exec));
  for (int64_t k = 0, d = 0; d < plan->diagonals; k++)
    if (found->marks[k]) plan->offsets[d++] = k - base->rows;
  if (plan->occupied) memset(plan->occupied, 0, (size_t)list[2].bytes);
  SPMV_SELECT(dia_occupy, base->index_type, base->scalar_type)(plan, &csr->pattern);
  return dia_update_values(base, csr->values, SPMV_HOST, exec);
}

static void dia_clear(SpmvPlan *base)
{
  SpmvPlanArray list[ARRAYS];

  list_arrays((DiaPlan *)base, list);
  spmv_arrays_free(base, list, ARRAYS);
}

static SpmvStatus dia_mult(const SpmvPlan *plan, const void *alpha, const void *x, const void *beta, void *y,
                           void *work, SpmvExec *exec)
{
  (void)work; /* memory.work_bytes is 0 */
  (void)exec;
  SPMV_SELECT(dia_mult, plan->index_type, plan->scalar_type)((const DiaPlan *)plan, alpha, x, beta, y);
  return SPMV_SUCCESS;
}

static SpmvStatus dia_add_transposed(const SpmvPlan *plan, const void *alpha, const void *x, void *y, SpmvExec *exec)
{
  (void)exec;
  SPMV_SELECT(dia_add_transposed, plan->index_type, plan->scalar_type)((const DiaPlan *)plan, alpha, x, y);
  return SPMV_SUCCESS;
}

static void dia_view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  const int64_t diagonals = ((const DiaPlan *)base)->diagonals, slots = base->rows * diagonals;
  char          line[SPMV_MESSAGE_MAX];

  snprintf(line, sizeof line, "diagonals: %lld, padding: %.2f %%", (long long)diagonals,
           slots > 0 ? 100.0 * (double)(slots - base->nnz) / (double)slots : 0.0);
  print(ctx, line);
}

static const SpmvSlots host_slots = {
    .analysis_bytes = sizeof(DiaAnalysis),
    .plan_bytes     = sizeof(DiaPlan),
    .analyze        = dia_analyze,
    .clear_analysis = dia_clear_analysis,
    .build          = dia_build,
    .update_values  = dia_update_values,
    .extract_values = dia_extract_values,
    .mult           = dia_mult,
    .add_transposed = dia_add_transposed,
    .view           = dia_view,
    .clear          = dia_clear,
};

/*MC
   MATAIJDIA = "aijdia" - A sparse matrix whose product works on its diagonals, each stored over all rows.

   Options Database Key:
.  -mat_type aijdia - sets the type during a call to `MatSetFromOptions()`

   Level: beginner

   Note:
   The type pays for banded matrices with few diagonals, nearly all of whose entries are nonzeros. Other matrices are
   left to `MATAIJ`. Products are on the host.

.seealso: `MATAIJCRSV`, `MATAIJ`
M*/
const SpmvFormat spmv_format_dia = {
    .abi     = SPMV_ABI,
    .name    = "dia",
    .summary = "diagonals, each stored over all rows",
    .host    = &host_slots,
};
