/* codsell_plan.c - plans on the host and on a device: bytes, arrays, options. */
#include "codsell_code.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void codsell_read_options(const SpmvOptions *options, int *log_c, int64_t *sigma, int *word)
{
  const SpmvOptionDesc *desc = options->format->options;

  *log_c = 3 + (int)options->value[CODSELL_OPTION_C];
  *sigma = (int64_t)options->value[CODSELL_OPTION_SIGMA];
  *word  = atoi(desc[CODSELL_OPTION_WORD].choices[(int)options->value[CODSELL_OPTION_WORD]]); /* "auto" is 0 */
}

enum { ARRAYS = 10 };

static void list_arrays(CodsellPlan *p, SpmvIndex long_index, SpmvScalar scalar, SpmvPlanArray list[ARRAYS])
{
  const CodsellShape *s     = &p->shape;
  const int64_t       value = spmv_scalar_bytes(scalar), slots = s->slices << s->log_c;
  const SpmvPlanArray arrays[ARRAYS] = {
      {"values", SPMV_ARRAY_VALUES, (s->columns << s->log_c) * value, &p->values},
      {"codes", SPMV_ARRAY_INDICES, s->code_bytes, (void **)&p->codes},
      {"slices", SPMV_ARRAY_POINTERS, s->slices * (int64_t)sizeof *p->slices, (void **)&p->slices},
      {"dictionary", SPMV_ARRAY_INDICES, s->words * s->stride * (int64_t)sizeof *p->dictionary,
       (void **)&p->dictionary},
      {"order", SPMV_ARRAY_INDICES, s->sorted ? slots * (int64_t)sizeof *p->order : 0, (void **)&p->order},
      {"windows", SPMV_ARRAY_POINTERS, s->windows * (int64_t)sizeof *p->windows, (void **)&p->windows},
      {"long_rows", SPMV_ARRAY_POINTERS, s->long_rows > 0 ? (s->long_rows + 1) * (int64_t)sizeof *p->long_rows : 0,
       (void **)&p->long_rows},
      {"long_columns", SPMV_ARRAY_INDICES, s->long_nnz * spmv_index_bytes(long_index), &p->long_columns},
      {"long_values", SPMV_ARRAY_VALUES, s->long_nnz * value, &p->long_values},
      {"pieces", SPMV_ARRAY_POINTERS, s->pieces * (int64_t)sizeof *p->pieces, (void **)&p->pieces},
  };

  memcpy(list, arrays, sizeof arrays);
}

void codsell_memory(const CodsellShape *s, SpmvIndex long_index, SpmvScalar scalar, SpmvMemory *memory)
{
  CodsellPlan   plan = {.shape = *s};
  SpmvPlanArray list[ARRAYS];

  list_arrays(&plan, long_index, scalar, list);
  spmv_arrays_report(list, ARRAYS, memory);
  memory->padding_bytes = s->padding * spmv_scalar_bytes(scalar);
  memory->work_bytes    = s->pieces * spmv_scalar_bytes(scalar);
}

SpmvStatus codsell_alloc(CodsellPlan *plan, SpmvIndex long_index, SpmvExec *exec)
{
  SpmvPlanArray list[ARRAYS];

  list_arrays(plan, long_index, plan->base.scalar_type, list);
  return spmv_arrays_alloc(&plan->base, list, ARRAYS, exec);
}

void codsell_free_arrays(SpmvPlan *base)
{
  SpmvPlanArray list[ARRAYS];

  list_arrays((CodsellPlan *)base, base->index_type, base->scalar_type, list);
  spmv_arrays_free(base, list, ARRAYS);
}
