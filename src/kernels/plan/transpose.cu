/*
  transpose.cu - a plan of A^T on the device, for all formats: transposed products are then as fast as products, and as
  reproducible. A format lists its nonzeros in CSR order; a stable sort by column makes them the CSR of A^T. The
  permutation (`order`) is kept, so that new values need no second sort.
*/
#include "plan.h"
#include "device/csr.cuh"
#include <climits>

int64_t spmv_transpose_wide_from = (int64_t)INT_MAX + 1;

namespace
{
enum { THREADS = 256 };

/* Bytes of an entry of the order */
int64_t order_bytes(const SpmvPlan *plan) { return plan->nnz < spmv_transpose_wide_from ? 4 : 8; }

template <typename O>
__global__ void spmv_number(O *order, int64_t n)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i < n) order[i] = (O)i;
}

/* The CSR from which the plan of A^T is made, and the order kept with the plan. The caller frees block and order, also
   after a failure. */
struct Transpose {
  SpmvCsr csr;    /* of A^T, with the types of A */
  void   *block;  /* holds the arrays of csr */
  void   *values; /* in the block */
  void   *order;
};

/* to[i] = from[order[i]] for the values of all nonzeros */
template <typename O, typename S>
SpmvStatus take_values(const SpmvPlan *plan, const void *order, const void *from, void *to, SpmvExec *exec)
{
  return spmv_take((const O *)order, (const S *)from, plan->nnz, (S *)to, exec);
}

SpmvStatus order_values(const SpmvPlan *plan, const void *order, const void *from, void *to, SpmvExec *exec)
{
  const SpmvIndex type = order_bytes(plan) == 4 ? SPMV_I32 : SPMV_I64;

  return SPMV_BY_TYPES(take_values, type, plan->scalar_type, plan, order, from, to, exec);
}

template <typename O>
SpmvStatus transpose_list(const SpmvPlan *plan, const SpmvNonzeros &list, void *row_ptr, void *col, void *order,
                          SpmvArena *arena, SpmvExec *exec)
{
  const O n = (O)plan->nnz;
  O      *number;

  SPMV_TRY(spmv_arena_array(arena, plan->nnz, "numbers", &number, exec));
  SPMV_LAUNCH(exec, spmv_number<O>, spmv_blocks(n, THREADS), THREADS, 0, number, n);
  if (plan->index_type == SPMV_I64)
    return spmv_transpose_list(list.row, list.col, number, n, plan->cols,
                               SpmvTransposed<int64_t, O>{(int64_t *)row_ptr, (int64_t *)col, (O *)order}, arena, exec);
  return spmv_transpose_list(list.row, list.col, number, n, plan->cols,
                             SpmvTransposed<int32_t, O>{(int32_t *)row_ptr, (int32_t *)col, (O *)order}, arena, exec);
}

/* Lists and sorts the nonzeros into the arrays of the CSR of A^T */
SpmvStatus fill(const SpmvPlan *plan, void *row_ptr, void *col, Transpose *t, SpmvExec *exec)
{
  const int64_t   n = plan->nnz, S = spmv_scalar_bytes(plan->scalar_type), order = order_bytes(plan);
  SpmvScopedArena scratch(exec);
  SpmvNonzeros    list = {};

  scratch.arena.chunk_bytes = n * (12 + S + order) + 5 * SPMV_ARENA_ALIGN;
  SPMV_TRY(scratch.array(n, "rows", &list.row));
  SPMV_TRY(scratch.array(n, "columns", &list.col));
  SPMV_TRY(spmv_arena_alloc(&scratch.arena, n * S, "values", &list.values, exec));
  SPMV_TRY(plan->slots->list_nonzeros(plan, &list, exec));
  scratch.arena.chunk_bytes = 0; /* after its first chunk the arena holds only CUB's scratch */
  SPMV_TRY(order == 4 ? transpose_list<int32_t>(plan, list, row_ptr, col, t->order, &scratch.arena, exec)
                      : transpose_list<int64_t>(plan, list, row_ptr, col, t->order, &scratch.arena, exec));
  return order_values(plan, t->order, list.values, t->values, exec);
}

SpmvStatus transpose(const SpmvPlan *plan, Transpose *t, SpmvExec *exec)
{
  const int64_t I = spmv_index_bytes(plan->index_type), S = spmv_scalar_bytes(plan->scalar_type);
  const int64_t bytes[] = {(plan->cols + 1) * I, plan->nnz * I, plan->nnz * S};
  void         *row_ptr, *col;
  void **const  array[] = {&row_ptr, &col, &t->values};

  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, plan->nnz * order_bytes(plan), "order of A^T", &t->order));
  SPMV_TRY(spmv_alloc_arrays(exec, SPMV_DEVICE, 3, bytes, "CSR of A^T", array, &t->block));
  SPMV_TRY(fill(plan, row_ptr, col, t, exec));
  t->csr = {{plan->cols, plan->rows, plan->nnz, plan->index_type, SPMV_DEVICE, row_ptr, col},
            plan->scalar_type,
            SPMV_DEVICE,
            t->values};
  return SPMV_SUCCESS;
}
} // namespace

extern "C" SpmvStatus spmv_transpose_listed(SpmvPlan *plan, const SpmvOptions *options, SpmvExec *exec)
{
  const bool borrows = plan->format->borrows;
  Transpose  t       = {};

  if (plan->rows >= INT_MAX || plan->cols >= INT_MAX)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW,
                     "%s transposes at most %d rows and columns on the device, not %lld x %lld", plan->format->name,
                     INT_MAX - 1, (long long)plan->rows, (long long)plan->cols);
  SpmvStatus status = transpose(plan, &t, exec);
  if (!status) status = spmv_build_transposed(plan, &t.csr, options, exec);
  if (!status) {
    plan->transpose.order = t.order;
    spmv_memory_add(&plan->memory, "order of the transpose", SPMV_ARRAY_INDICES, plan->nnz * order_bytes(plan));
  } else spmv_scratch_free(exec, SPMV_DEVICE, t.order);
  if (!status && borrows) {
    plan->transpose.csr    = t.block;
    plan->transpose.values = t.values;
  } else spmv_scratch_free(exec, SPMV_DEVICE, t.block); /* no other stream has used it */
  return status;
}

extern "C" SpmvStatus spmv_refresh_transposed(SpmvPlan *plan, SpmvExec *exec)
{
  const int64_t   bytes = plan->nnz * spmv_scalar_bytes(plan->scalar_type);
  SpmvScopedArena scratch(exec);
  SpmvNonzeros    list = {};
  void           *to   = plan->transpose.values;

  scratch.arena.chunk_bytes = (to ? 1 : 2) * (bytes + SPMV_ARENA_ALIGN);
  SPMV_TRY(spmv_arena_alloc(&scratch.arena, bytes, "values", &list.values, exec));
  if (!to) SPMV_TRY(spmv_arena_alloc(&scratch.arena, bytes, "values of A^T", &to, exec));
  SPMV_TRY(plan->slots->list_nonzeros(plan, &list, exec));
  SPMV_TRY(order_values(plan, plan->transpose.order, list.values, to, exec));
  SPMV_TRY(spmv_update_values(plan->transpose.plan, to, SPMV_DEVICE, exec));
  plan->transpose.is_old = 0;
  return SPMV_SUCCESS;
}
