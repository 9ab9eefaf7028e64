/*
  transpose.cu - a plan of A^T on the device, for all formats: transposed products are then as fast as products, and as
  reproducible. A format lists its nonzeros in CSR order; a stable sort by column makes them the CSR of A^T. The
  permutation (`order`) is kept, so that new values need no second sort.
*/
#include "plan.h"
#include "device/arena.cuh"
#include "device/search.cuh"
#include <climits>
#include <cub/device/device_radix_sort.cuh>

namespace
{
enum { THREADS = 256 };

/* Bytes of an entry of the order */
int64_t order_bytes(const SpmvPlan *plan) { return plan->nnz <= INT_MAX ? 4 : 8; }

/* Bits of the largest column, at least 1 as the sort requires */
int column_bits(int64_t cols)
{
  int bits = 1;

  while ((cols - 1) >> bits > 0) bits++;
  return bits;
}

template <typename O>
__global__ void spmv_number(O *order, int64_t n)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i < n) order[i] = (O)i;
}

template <typename O, typename From, typename To>
__global__ void spmv_gather(const O *__restrict__ order, const From *__restrict__ from, int64_t n, To *__restrict__ to)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i < n) to[i] = (To)from[order[i]];
}

/* to[i] = from[order[i]] for all nonzeros */
template <typename From, typename To>
SpmvStatus gather(const SpmvPlan *plan, const void *order, const void *from, void *to, SpmvExec *exec)
{
  const int64_t n = plan->nnz, blocks = spmv_blocks(n, THREADS);

  if (order_bytes(plan) == 4)
    SPMV_LAUNCH(exec, (spmv_gather<int32_t, From, To>), blocks, THREADS, 0, (const int32_t *)order, (const From *)from,
                n, (To *)to);
  else
    SPMV_LAUNCH(exec, (spmv_gather<int64_t, From, To>), blocks, THREADS, 0, (const int64_t *)order, (const From *)from,
                n, (To *)to);
  return SPMV_SUCCESS;
}

SpmvStatus gather_values(const SpmvPlan *plan, const void *order, const void *from, void *to, SpmvExec *exec)
{
  return plan->scalar_type == SPMV_F32 ? gather<float, float>(plan, order, from, to, exec)
                                       : gather<double, double>(plan, order, from, to, exec);
}

/* Sorts the columns stably; order[i] is the old position of sorted[i]. O is the type of positions, and of the item
   count of the sort. */
template <typename O>
SpmvStatus sort_columns(const SpmvPlan *plan, const int32_t *col, SpmvArena *arena, int32_t *sorted, O *order,
                        SpmvExec *exec)
{
  O *number;

  SPMV_TRY(spmv_arena_array(arena, plan->nnz, "numbers", &number, exec));
  arena->chunk_bytes = 0; /* the arena then holds only CUB's scratch */
  SPMV_LAUNCH(exec, spmv_number<O>, spmv_blocks(plan->nnz, THREADS), THREADS, 0, number, plan->nnz);
  if (plan->nnz > 0)
    SPMV_CUB(exec, arena,
             cub::DeviceRadixSort::SortPairs(scratch, bytes, col, sorted, number, order, (O)plan->nnz, 0,
                                             column_bits(plan->cols), (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}

/* The CSR from which the plan of A^T is made, and the order kept with the plan. The caller frees block and order, also
   after a failure. */
struct Transpose {
  SpmvCsr csr;    /* of A^T, with the types of A */
  void   *block;  /* holds the arrays of csr */
  void   *values; /* in the block */
  void   *order;
};

/* Lists and sorts the nonzeros into the arrays of the CSR of A^T */
SpmvStatus fill(const SpmvPlan *plan, void *row_ptr, void *col, Transpose *t, SpmvExec *exec)
{
  const int64_t   n = plan->nnz, S = spmv_scalar_bytes(plan->scalar_type);
  SpmvScopedArena scratch(exec);
  SpmvNonzeros    list = {};
  int32_t        *sorted;

  scratch.arena.chunk_bytes = n * (12 + S + order_bytes(plan)) + 5 * SPMV_ARENA_ALIGN;
  SPMV_TRY(scratch.array(n, "rows", &list.row));
  SPMV_TRY(scratch.array(n, "columns", &list.col));
  SPMV_TRY(spmv_arena_alloc(&scratch.arena, n * S, "values", &list.values, exec));
  SPMV_TRY(scratch.array(n, "sorted columns", &sorted));
  SPMV_TRY(plan->slots->list_nonzeros(plan, &list, exec));
  if (order_bytes(plan) == 4) SPMV_TRY(sort_columns(plan, list.col, &scratch.arena, sorted, (int32_t *)t->order, exec));
  else SPMV_TRY(sort_columns(plan, list.col, &scratch.arena, sorted, (int64_t *)t->order, exec));
  SPMV_TRY(gather_values(plan, t->order, list.values, t->values, exec));
  if (plan->index_type == SPMV_I64) {
    SPMV_TRY((gather<int32_t, int64_t>(plan, t->order, list.row, col, exec)));
    SPMV_TRY(spmv_row_starts(sorted, n, plan->cols, (int64_t *)row_ptr, exec));
  } else {
    SPMV_TRY((gather<int32_t, int32_t>(plan, t->order, list.row, col, exec)));
    SPMV_TRY(spmv_row_starts(sorted, n, plan->cols, (int32_t *)row_ptr, exec));
  }
  return spmv_stream_wait(exec); /* the scratch memory is freed */
}

SpmvStatus transpose(const SpmvPlan *plan, Transpose *t, SpmvExec *exec)
{
  const int64_t I = spmv_index_bytes(plan->index_type), S = spmv_scalar_bytes(plan->scalar_type);
  const int64_t bytes[] = {(plan->cols + 1) * I, plan->nnz * I, plan->nnz * S};
  void         *row_ptr, *col;
  void **const  array[] = {&row_ptr, &col, &t->values};

  SPMV_TRY(spmv_alloc(exec, SPMV_DEVICE, plan->nnz * order_bytes(plan), "order of A^T", &t->order));
  SPMV_TRY(spmv_alloc_arrays(exec, 3, bytes, "CSR of A^T", array, &t->block));
  SPMV_TRY(fill(plan, row_ptr, col, t, exec));
  t->csr = {{plan->cols, plan->rows, plan->nnz, plan->index_type, SPMV_DEVICE, row_ptr, col, nullptr, nullptr},
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
  } else spmv_exec_free(exec, SPMV_DEVICE, t.order);
  if (!status && borrows) {
    plan->transpose.csr    = t.block;
    plan->transpose.values = t.values;
  } else spmv_exec_free(exec, SPMV_DEVICE, t.block);
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
  SPMV_TRY(gather_values(plan, plan->transpose.order, list.values, to, exec));
  SPMV_TRY(spmv_update_values(plan->transpose.plan, to, SPMV_DEVICE, exec));
  SPMV_TRY(spmv_stream_wait(exec)); /* the scratch memory is freed */
  plan->transpose.is_old = 0;
  return SPMV_SUCCESS;
}
