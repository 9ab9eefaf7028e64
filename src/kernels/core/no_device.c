/* The device calls of a library built without CUDA: no device, and a message that says why. */
#include "internal.h"
#include <spmv_cg.h>
#include <stdio.h>
#include <string.h>

#if !defined(SPMV_HAVE_CUDA)

static const char *const no_cuda = "libspmvpack was built without CUDA: configure it with the CUDA toolkit for a GPU";

static SpmvStatus no_device(SpmvExec *exec) { return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%s", no_cuda); }

void *spmv_device_alloc_default(int64_t bytes)
{
  (void)bytes;
  return NULL;
}

void spmv_device_free_default(void *block) { (void)block; }

SpmvStatus spmv_device_scale(int64_t n, SpmvScalar scalar, const void *beta, void *y, SpmvExec *exec)
{
  (void)n;
  (void)scalar;
  (void)beta;
  (void)y;
  return no_device(exec);
}

SpmvStatus spmv_transpose_listed(SpmvPlan *plan, const SpmvOptions *options, SpmvExec *exec)
{
  (void)plan;
  (void)options;
  return no_device(exec);
}

SpmvStatus spmv_refresh_transposed(SpmvPlan *plan, SpmvExec *exec)
{
  (void)plan;
  return no_device(exec);
}

SpmvStatus spmv_change_values(SpmvPlan *plan, const SpmvChange *change, SpmvExec *exec)
{
  (void)plan;
  (void)change;
  return no_device(exec);
}

SpmvStatus spmv_csr_of_plan(const SpmvPlan *plan, const SpmvCsr *to, SpmvExec *exec)
{
  (void)plan;
  (void)to;
  return no_device(exec);
}

SpmvStatus spmv_csr_diagonal(const SpmvCsr *csr, void *diagonal, SpmvExec *exec)
{
  (void)csr;
  (void)diagonal;
  return no_device(exec);
}

SpmvStatus spmv_csr_shift(const SpmvPattern *pattern, SpmvScalar scalar, const void *shift, void *values,
                          SpmvExec *exec)
{
  (void)pattern;
  (void)scalar;
  (void)shift;
  (void)values;
  return no_device(exec);
}

int spmv_device_count(char reason[SPMV_MESSAGE_MAX])
{
  if (reason) snprintf(reason, SPMV_MESSAGE_MAX, "%s", no_cuda);
  return 0;
}

SpmvStatus spmv_device_memory(int64_t *free_bytes, int64_t *total_bytes, SpmvExec *exec)
{
  *free_bytes = *total_bytes = 0;
  return no_device(exec);
}

SpmvStatus spmv_pinned_alloc(SpmvExec *exec, int64_t bytes, void **block)
{
  (void)bytes;
  *block = NULL;
  return no_device(exec);
}

void spmv_pinned_free(void *block) { (void)block; }

SpmvStatus spmv_copy(void *to, SpmvSpace to_space, const void *from, SpmvSpace from_space, int64_t bytes,
                     SpmvExec *exec)
{
  if (to_space != SPMV_HOST || from_space != SPMV_HOST) return no_device(exec);
  if (bytes > 0) memcpy(to, from, (size_t)bytes);
  return SPMV_SUCCESS;
}

void spmv_staging_release(void) {}
void spmv_device_keep(int64_t bytes) { (void)bytes; }
void spmv_device_release(void) {}

SpmvStatus spmv_stream_wait(SpmvExec *exec)
{
  (void)exec;
  return SPMV_SUCCESS;
}

SpmvStatus spmv_stream_create(SpmvExec *exec, void **stream)
{
  *stream = NULL;
  return no_device(exec);
}

void spmv_stream_destroy(void *stream) { (void)stream; }

int64_t spmv_cg_shared_bytes(int processes)
{
  (void)processes;
  return 0;
}

SpmvStatus spmv_cg_shared_open(SpmvCgShared *s, SpmvExec *exec)
{
  (void)s;
  return no_device(exec);
}

void spmv_cg_shared_close(SpmvCgShared *s) { (void)s; }

SpmvStatus spmv_cg_shared_reduce(void *shared, double *sums, int n, SpmvExec *exec)
{
  (void)shared;
  (void)sums;
  (void)n;
  return no_device(exec);
}

int64_t spmv_device_place(void) { return -1; }

#else
typedef int spmv_translation_unit_is_not_empty;
#endif
