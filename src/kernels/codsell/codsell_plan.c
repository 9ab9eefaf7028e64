/* codsell_plan.c - what plans on the host and on a device share: bytes, the decision, arrays, options. */
#include "codsell_code.h"
#include <stdio.h>
#include <stdlib.h>

void codsell_read_options(const SpmvOptions *options, int *log_c, int64_t *sigma, int *word)
{
  const SpmvOptionDesc *desc = options->format->options;

  *log_c = 3 + (int)options->value[CODSELL_OPTION_C];
  *sigma = (int64_t)options->value[CODSELL_OPTION_SIGMA];
  *word  = atoi(desc[CODSELL_OPTION_WORD].choices[(int)options->value[CODSELL_OPTION_WORD]]); /* "auto" is 0 */
}

typedef struct {
  const char   *name;
  SpmvArrayKind kind;
  int64_t       bytes;
} Array;

enum { ARRAYS = 10 };

/* In the order of the pointers of a plan */
static void list_arrays(const CodsellShape *s, SpmvIndex long_index, SpmvScalar scalar, Array array[ARRAYS])
{
  const int64_t value = spmv_scalar_bytes(scalar), slots = s->slices << s->log_c;
  const Array   list[ARRAYS] = {
        {"values", SPMV_ARRAY_VALUES, (s->columns << s->log_c) * value},
        {"codes", SPMV_ARRAY_INDICES, s->code_bytes},
        {"slices", SPMV_ARRAY_POINTERS, s->slices * (int64_t)sizeof(CodsellSlice)},
        {"dictionary", SPMV_ARRAY_INDICES, s->words * s->stride * (int64_t)sizeof(int32_t)},
        {"order", SPMV_ARRAY_INDICES, s->sorted ? slots * (int64_t)sizeof(uint16_t) : 0},
        {"windows", SPMV_ARRAY_POINTERS, s->windows * (int64_t)sizeof(int64_t)},
        {"long_rows", SPMV_ARRAY_POINTERS, s->long_rows > 0 ? (s->long_rows + 1) * (int64_t)sizeof(CodsellLong) : 0},
        {"long_columns", SPMV_ARRAY_INDICES, s->long_nnz * spmv_index_bytes(long_index)},
        {"long_values", SPMV_ARRAY_VALUES, s->long_nnz * value},
        {"pieces", SPMV_ARRAY_POINTERS, s->pieces * (int64_t)sizeof(CodsellPiece)},
  };

  for (int i = 0; i < ARRAYS; i++) array[i] = list[i];
}

void codsell_memory(const CodsellShape *s, SpmvIndex long_index, SpmvScalar scalar, SpmvMemory *memory)
{
  Array array[ARRAYS];

  list_arrays(s, long_index, scalar, array);
  for (int i = 0; i < ARRAYS; i++) spmv_memory_add(memory, array[i].name, array[i].kind, array[i].bytes);
  memory->padding_bytes = s->padding * spmv_scalar_bytes(scalar);
  memory->work_bytes    = s->pieces * spmv_scalar_bytes(scalar);
}

void codsell_decide(const CodsellShape *s, SpmvAnalysis *analysis)
{
  const SpmvMemory *m = &analysis->memory;

  analysis->accepted = m->total_bytes < m->csr_bytes;
  if (!analysis->accepted)
    snprintf(analysis->reason, sizeof analysis->reason,
             "codsell would take %lld bytes, not less than the %lld of CSR: %lld of padding, %lld of codes",
             (long long)m->total_bytes, (long long)m->csr_bytes, (long long)m->padding_bytes, (long long)s->code_bytes);
}

static void list_pointers(CodsellPlan *plan, void **pointer[ARRAYS])
{
  pointer[0] = &plan->values;
  pointer[1] = (void **)&plan->codes;
  pointer[2] = (void **)&plan->slices;
  pointer[3] = (void **)&plan->dictionary;
  pointer[4] = (void **)&plan->order;
  pointer[5] = (void **)&plan->windows;
  pointer[6] = (void **)&plan->long_rows;
  pointer[7] = &plan->long_columns;
  pointer[8] = &plan->long_values;
  pointer[9] = (void **)&plan->pieces;
}

SpmvStatus codsell_alloc(CodsellPlan *plan, SpmvIndex long_index, SpmvExec *exec)
{
  Array   array[ARRAYS];
  void  **pointer[ARRAYS];
  int64_t bytes[ARRAYS];

  list_arrays(&plan->shape, long_index, plan->base.scalar_type, array);
  list_pointers(plan, pointer);
  for (int i = 0; i < ARRAYS; i++) bytes[i] = array[i].bytes;
  if (plan->base.space == SPMV_DEVICE)
    return spmv_alloc_arrays(exec, ARRAYS, bytes, "values and codes", pointer, &plan->block);
  for (int i = 0; i < ARRAYS; i++) {
    const SpmvStatus status = spmv_alloc(exec, plan->base.space, array[i].bytes, array[i].name, pointer[i]);
    if (status) return status;
  }
  return SPMV_SUCCESS;
}

void codsell_free_arrays(CodsellPlan *plan)
{
  const SpmvAllocator host = plan->base.host, device = plan->base.device;
  void              **pointer[ARRAYS];

  list_pointers(plan, pointer);
  for (int i = 0; i < ARRAYS; i++) {
    if (plan->base.space == SPMV_HOST) spmv_free(&host, &device, SPMV_HOST, *pointer[i]);
    *pointer[i] = NULL;
  }
  spmv_free(&host, &device, SPMV_DEVICE, plan->block);
  plan->block = NULL;
}
