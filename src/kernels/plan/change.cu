/* change.cu - changes the values of a plan on the device. The plan keeps no CSR, so its values are listed, changed, and
   written back as new values. */
#include "plan.h"
#include "device/arena.cuh"

namespace
{
enum { THREADS = 256 };

/* Operations with their own rounding, which the compiler must not fuse */
__device__ inline double times(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float  times(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double plus(double a, double b) { return __dadd_rn(a, b); }
__device__ inline float  plus(float a, float b) { return __fadd_rn(a, b); }

bool changes_diagonal(const SpmvChange *c) { return c->shift || c->added || c->inserted; }

/* An SpmvChange with its scalars by value, as a kernel parameter */
template <typename S>
struct Change {
  S        alpha, shift;
  bool     scales, shifts;
  const S *left, *right, *added, *inserted;
};

template <typename S>
__device__ inline S changed_diagonal(const Change<S> &change, int32_t i, S v)
{
  if (change.shifts) v = plus(v, change.shift);
  if (change.added) v = plus(v, change.added[i]);
  return change.inserted ? change.inserted[i] : v;
}

template <typename S>
__global__ void spmv_change_listed(const SpmvNonzeros list, int64_t nnz, const Change<S> change, bool diagonal)
{
  const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (k >= nnz) return;
  S *values = (S *)list.values, v = values[k];

  if (change.scales) v = times(v, change.alpha);
  if (change.left) v = times(v, change.left[list.row[k]]);
  if (change.right) v = times(v, change.right[list.col[k]]);
  if (diagonal && list.row[k] == list.col[k]) v = changed_diagonal(change, list.row[k], v);
  values[k] = v;
}

template <typename S>
SpmvStatus change_list(const SpmvNonzeros *list, int64_t nnz, const SpmvChange *c, SpmvExec *exec)
{
  const Change<S> change = {c->alpha ? *(const S *)c->alpha : S(1),
                            c->shift ? *(const S *)c->shift : S(0),
                            c->alpha != nullptr,
                            c->shift != nullptr,
                            (const S *)c->left,
                            (const S *)c->right,
                            (const S *)c->added,
                            (const S *)c->inserted};

  SPMV_LAUNCH(exec, spmv_change_listed<S>, spmv_blocks(nnz, THREADS), THREADS, 0, *list, nnz, change,
              changes_diagonal(c));
  return SPMV_SUCCESS;
}

/* Lists and changes the values, in scratch memory */
SpmvStatus changed_values(const SpmvPlan *plan, const SpmvChange *change, SpmvArena *arena, SpmvExec *exec,
                          void **values)
{
  const int64_t value_bytes = plan->nnz * spmv_scalar_bytes(plan->scalar_type);
  const bool    by_place    = change->left || change->right || changes_diagonal(change);
  SpmvNonzeros  list        = {};

  arena->chunk_bytes = value_bytes + (by_place ? 8 : 0) * plan->nnz + 3 * SPMV_ARENA_ALIGN;
  SPMV_TRY(spmv_arena_alloc(arena, value_bytes, "values", &list.values, exec));
  if (by_place) {
    SPMV_TRY(spmv_arena_array(arena, plan->nnz, "rows", &list.row, exec));
    SPMV_TRY(spmv_arena_array(arena, plan->nnz, "columns", &list.col, exec));
  }
  *values = list.values;
  SPMV_TRY(plan->slots->list_nonzeros(plan, &list, exec));
  return plan->scalar_type == SPMV_F32 ? change_list<float>(&list, plan->nnz, change, exec)
                                       : change_list<double>(&list, plan->nnz, change, exec);
}
} // namespace

extern "C" SpmvStatus spmv_change_values(SpmvPlan *plan, const SpmvChange *change, SpmvExec *exec)
{
  SpmvScopedArena scratch(exec);
  void           *values;

  SPMV_TRY(spmv_check_listable(plan, exec));
  if (plan->format->borrows)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED,
                     "plans of format %s may borrow the values of a CSR: change that CSR instead", plan->format->name);
  if (plan->nnz == 0 || !(change->alpha || change->left || change->right || changes_diagonal(change)))
    return SPMV_SUCCESS;
  SPMV_TRY(changed_values(plan, change, &scratch.arena, exec, &values));
  SPMV_TRY(spmv_update_values(plan, values, SPMV_DEVICE, exec));
  return spmv_stream_wait(exec); /* the scratch memory is freed */
}
