/* The parts that all solvers share on the host; see solve.h. */
#include "solve.h"

enum { ALIGNMENT = 256 };

SpmvStatus spmv_add_sums(const SpmvProcesses *all, double *sums, int n, SpmvExec *exec)
{
  for (int i = 0; all && i < n; i += SPMV_SUMS_MAX)
    SPMV_TRY(all->add(all->ctx, sums + i, n - i < SPMV_SUMS_MAX ? n - i : SPMV_SUMS_MAX, exec));
  return SPMV_SUCCESS;
}

static int64_t aligned(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

SpmvStatus spmv_solver_alloc(const SpmvSolverArray *list, int count, const char *name, void **block, int64_t *total,
                             SpmvExec *exec)
{
  *total = 0;
  for (int i = 0; i < count; i++) *total += aligned(list[i].bytes);
  SPMV_TRY(spmv_alloc(exec, exec->space, *total, name, block));
  char *next = *block;
  for (int i = 0; i < count; i++) {
    *list[i].array = list[i].bytes > 0 ? next : NULL;
    next += aligned(list[i].bytes);
  }
  return SPMV_SUCCESS;
}

SpmvStatus spmv_check_preconditioner(const char *who, SpmvPreconditioner kind, int block_size, SpmvApply apply,
                                     int64_t rows, SpmvExec *exec)
{
  if ((int)kind < SPMV_PC_IDENTITY || kind > SPMV_PC_FUNCTION)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: unknown kind of preconditioner", who);
  if (kind == SPMV_PC_BLOCKS && (block_size < 2 || block_size > SPMV_PC_BLOCK_MAX || rows % block_size))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: %lld rows in blocks of %d, which must be 2 to %d", who,
                     (long long)rows, block_size, SPMV_PC_BLOCK_MAX);
  if (kind == SPMV_PC_FUNCTION && !apply)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: no function is given for the preconditioner", who);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_check_space(const char *who, SpmvSpace space, SpmvExec *exec)
{
  char reason[SPMV_MESSAGE_MAX];

  if (space != exec->space)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%s: the mode does not fit the space of exec", who);
  if (space == SPMV_DEVICE && spmv_device_count(reason) == 0)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%s on the device: %s", who, reason);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_norms_get(const char *who, const SpmvNorms *h, int64_t first, int64_t count, double *to, SpmvExec *exec)
{
  const int64_t kept = h->kept, last = first + count - 1;

  if (exec->space != h->space || first < 1 || count < 0 || last > h->completed ||
      (count > 0 && first <= h->completed - kept))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "%s: norms %lld to %lld requested of %lld iterations, of which the last %lld are kept", who,
                     (long long)first, (long long)last, (long long)h->completed, (long long)kept);
  for (int64_t i = first; i <= last;) {
    const int64_t at = (i - 1) % kept, n = last - i + 1 < kept - at ? last - i + 1 : kept - at;
    SPMV_TRY(spmv_copy(to + (i - first), SPMV_HOST, h->norms + at, h->space, n * (int64_t)sizeof *to, exec));
    i += n;
  }
  return h->space == SPMV_DEVICE ? spmv_stream_wait(exec) : SPMV_SUCCESS;
}
