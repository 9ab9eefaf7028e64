/* The parts that all solvers share on the host; see solve.h. */
#include "solve.h"

SpmvStatus spmv_add_sums(const SpmvProcesses *all, double *sums, int n, SpmvExec *exec)
{
  for (int i = 0; all && i < n; i += SPMV_SUMS_MAX)
    SPMV_TRY(all->add(all->ctx, sums + i, n - i < SPMV_SUMS_MAX ? n - i : SPMV_SUMS_MAX, exec));
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

SpmvStatus spmv_norms_get(const char *who, const SpmvNorms *h, int64_t first, int64_t count, double *to, SpmvExec *exec)
{
  const int64_t kept = h->kept, last = first + count - 1;

  if (exec->space != SPMV_DEVICE || first < 1 || count < 0 || last > h->completed ||
      (count > 0 && first <= h->completed - kept))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "%s: norms %lld to %lld requested of %lld iterations, of which the last %lld are kept", who,
                     (long long)first, (long long)last, (long long)h->completed, (long long)kept);
  for (int64_t i = first; i <= last;) {
    const int64_t at = (i - 1) % kept, n = last - i + 1 < kept - at ? last - i + 1 : kept - at;
    SPMV_TRY(spmv_copy(to + (i - first), SPMV_HOST, h->norms + at, SPMV_DEVICE, n * (int64_t)sizeof *to, exec));
    i += n;
  }
  return spmv_stream_wait(exec);
}
