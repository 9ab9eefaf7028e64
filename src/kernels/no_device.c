/* Stubs for a library without CUDA of the functions of .cu files that C files call: no device, and a message that says
   why. */
#include "device/memory.h"
#include "engine/project.h"
#include "plan/plan.h"
#include <spmv_nccl.h>
#include <stdio.h>
#include <string.h>

#if !defined(SPMV_HAVE_CUDA)
  #pragma GCC diagnostic ignored "-Wunused-parameter" /* stubs do not read their parameters */

static const char *const no_cuda = "petscpack was built without CUDA: build it with the CUDA toolkit to use a GPU";

static SpmvStatus no_device(SpmvExec *exec) { return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%s", no_cuda); }

void *spmv_device_alloc_for(SpmvUse use, int64_t bytes, void *stream) { return NULL; }

void spmv_device_free_default(int blocks, void *const block[]) {}
void spmv_device_free_on(void *block, void *stream) {}

SpmvStatus spmv_device_scale(int64_t n, SpmvScalar scalar, const void *beta, void *y, SpmvExec *exec)
{
  return no_device(exec);
}

SpmvStatus spmv_device_round(const double *v, float *rounded, int64_t n, SpmvExec *exec) { return no_device(exec); }

SpmvStatus spmv_transpose_listed(SpmvPlan *plan, const SpmvOptions *options, SpmvExec *exec) { return no_device(exec); }

SpmvStatus spmv_refresh_transposed(SpmvPlan *plan, SpmvExec *exec) { return no_device(exec); }

SpmvStatus spmv_change_values(SpmvPlan *plan, const SpmvChange *change, SpmvExec *exec) { return no_device(exec); }

SpmvStatus spmv_csr_of_plan(const SpmvPlan *plan, const SpmvCsr *to, SpmvExec *exec) { return no_device(exec); }

SpmvStatus spmv_csr_diagonal(const SpmvCsr *csr, void *diagonal, SpmvExec *exec) { return no_device(exec); }

SpmvStatus spmv_csr_beside(const SpmvCsr *left, const SpmvCsr *right, int64_t before, const SpmvCsr *to, SpmvExec *exec)
{
  return no_device(exec);
}

SpmvStatus spmv_csr_rows_begin(const SpmvPattern *p, int64_t rows, const void *row, void *row_ptr, SpmvExec *exec)
{
  return no_device(exec);
}

SpmvStatus spmv_csr_rows(const SpmvCsr *from, const void *row, const void *number, int64_t first, const SpmvCsr *to,
                         SpmvExec *exec)
{
  return no_device(exec);
}

SpmvStatus spmv_csr_used_columns(const SpmvPattern *p, void *numbers, void *used, int64_t *count, SpmvExec *exec)
{
  return no_device(exec);
}

SpmvStatus spmv_csr_mark_diagonal(const SpmvPattern *pattern, void *positions, SpmvExec *exec)
{
  return no_device(exec);
}

SpmvStatus spmv_csr_shift(const SpmvPattern *pattern, SpmvScalar scalar, const void *shift, void *values,
                          SpmvExec *exec)
{
  return no_device(exec);
}

SpmvStatus spmv_csr_set_diagonal(const SpmvPattern *pattern, SpmvScalar scalar, const void *diagonal, int inserts,
                                 void *values, SpmvExec *exec)
{
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
  *block = NULL;
  return no_device(exec);
}

void spmv_pinned_free(void *block) {}

void *spmv_shared_alloc(int64_t bytes, SpmvExec *exec) { return NULL; }
void  spmv_shared_free(void *block) {}
int   spmv_shared_holds(const void *p) { return 0; }
void  spmv_shared_least(int64_t bytes) {}

SpmvStatus spmv_copy(void *to, SpmvSpace to_space, const void *from, SpmvSpace from_space, int64_t bytes,
                     SpmvExec *exec)
{
  if (to_space != SPMV_HOST || from_space != SPMV_HOST) return no_device(exec);
  if (bytes > 0) memcpy(to, from, (size_t)bytes);
  return SPMV_SUCCESS;
}

void    spmv_staging_release(void) {}
void    spmv_device_keep(int64_t bytes) {}
void    spmv_device_release(void) {}
void    spmv_scratch_hold(void) {}
void    spmv_scratch_release(void) {}
void    spmv_scratch_trim(void) {}
int64_t spmv_scratch_bytes(void) { return 0; }

SpmvStatus spmv_stream_wait(SpmvExec *exec) { return SPMV_SUCCESS; }

SpmvStatus spmv_stream_create(SpmvExec *exec, void **stream)
{
  *stream = NULL;
  return no_device(exec);
}

void spmv_stream_destroy(void *stream) {}

SpmvStatus spmv_gather(int64_t n, const int32_t *index, SpmvScalar scalar, const void *from, void *to, SpmvExec *exec)
{
  return no_device(exec);
}

SpmvStatus spmv_scatter_add(int64_t n, const int32_t *index, SpmvScalar scalar, const void *from, void *to,
                            SpmvExec *exec)
{
  return no_device(exec);
}

SpmvStatus spmv_reciprocal(int64_t n, SpmvScalar scalar, int fix, void *values, SpmvExec *exec)
{
  return no_device(exec);
}

SpmvStatus spmv_convert(int64_t n, double factor, SpmvScalar from_type, const void *from, SpmvScalar to_type, void *to,
                        SpmvExec *exec)
{
  return no_device(exec);
}

SpmvStatus spmv_largest(int64_t n, SpmvScalar scalar, const void *values, double *largest, SpmvExec *exec)
{
  return no_device(exec);
}

SpmvStatus spmv_project(const SpmvProjection *p, void *x, SpmvExec *exec) { return no_device(exec); }

int64_t spmv_device_place(void) { return -1; }

SpmvStatus spmv_nccl_id(char id[SPMV_NCCL_ID_BYTES], SpmvExec *exec) { return no_device(exec); }

SpmvStatus spmv_nccl_create(const char id[SPMV_NCCL_ID_BYTES], int rank, int processes, double patience, SpmvExec *exec,
                            SpmvNccl **out)
{
  *out = NULL;
  return no_device(exec);
}

void spmv_nccl_destroy(SpmvNccl **out) {}

SpmvStatus spmv_nccl_add(void *nccl, double *sums, int n, SpmvExec *exec) { return no_device(exec); }

SpmvStatus spmv_nccl_begin(SpmvNccl *nccl, const SpmvNcclHalo *halo, const void *x, void *ghosts, SpmvExec *exec)
{
  return no_device(exec);
}

SpmvStatus spmv_nccl_end(SpmvNccl *nccl, const SpmvNcclHalo *halo, SpmvExec *exec) { return no_device(exec); }

SpmvStatus spmv_nccl_alive(void *nccl, double waited, SpmvExec *exec) { return no_device(exec); }

#else
typedef int spmv_translation_unit_is_not_empty;
#endif
