/* csr_copy.c - private copies of CSR arrays; see csr_copy.h. */
#include "csr_copy.h"
#include "vector.h"
#include <stdlib.h>
#include <string.h>

const char *csr_source_name(CsrSource source)
{
  static const char *const name[SOURCE_COUNT] = {
      [SOURCE_HOST]   = "CSR on the host",
      [SOURCE_DEVICE] = "CSR on the device",
      [SOURCE_MIXED]  = "pattern on the host, values on the device",
  };
  return name[source];
}

static SpmvStatus copy_block(CsrCopy *copy, int i, SpmvSpace space, const void *original, int64_t bytes, SpmvExec *exec)
{
  SpmvExec   plain;
  SpmvStatus status;

  spmv_exec_init(&plain, space);
  copy->block[i].space    = space;
  copy->block[i].bytes    = bytes;
  copy->block[i].original = original;
  status                  = spmv_alloc(&plain, space, bytes, "CSR copy", &copy->block[i].copy);
  if (!status) status = spmv_copy(copy->block[i].copy, space, original, SPMV_HOST, bytes, exec);
  if (!status) status = spmv_stream_wait(exec);
  return status;
}

SpmvStatus csr_copy_init(CsrCopy *copy, const Problem *problem, SpmvIndex index_type, int value_set, CsrSource source,
                         SpmvExec *exec)
{
  const SpmvPattern *p             = &problem->pattern[index_type];
  const int64_t      row_ptr_bytes = (p->rows + 1) * spmv_index_bytes(index_type);
  const int64_t      col_bytes     = p->nnz * spmv_index_bytes(index_type);
  const int64_t      value_bytes   = p->nnz * spmv_scalar_bytes(problem->scalar_type);
  SpmvStatus         status;

  memset(copy, 0, sizeof *copy);
  copy->csr.pattern       = *p;
  copy->csr.pattern.space = source == SOURCE_DEVICE ? SPMV_DEVICE : SPMV_HOST;
  copy->csr.scalar_type   = problem->scalar_type;
  copy->csr.values_space  = source == SOURCE_HOST ? SPMV_HOST : SPMV_DEVICE;
  status                  = copy_block(copy, 0, copy->csr.pattern.space, p->row_ptr, row_ptr_bytes, exec);
  if (!status) status = copy_block(copy, 1, copy->csr.pattern.space, p->col, col_bytes, exec);
  if (!status) status = copy_block(copy, 2, copy->csr.values_space, problem->values[value_set], value_bytes, exec);
  copy->csr.pattern.row_ptr = copy->block[0].copy;
  copy->csr.pattern.col     = copy->block[1].copy;
  copy->csr.values          = copy->block[2].copy;
  return status;
}

void csr_copy_free(CsrCopy *copy)
{
  for (int i = 0; i < CSR_COPY_BLOCKS; i++) {
    SpmvExec plain;
    spmv_exec_init(&plain, copy->block[i].space);
    spmv_exec_free(&plain, copy->block[i].space, copy->block[i].copy);
  }
  memset(copy, 0, sizeof *copy);
}

int csr_copy_unchanged(const CsrCopy *copy, SpmvExec *exec)
{
  int unchanged = 1;

  for (int i = 0; i < CSR_COPY_BLOCKS && unchanged; i++) {
    const int64_t bytes = copy->block[i].bytes;
    void         *now   = malloc((size_t)bytes + 1);
    if (!now) return 0;
    unchanged = !spmv_copy(now, SPMV_HOST, copy->block[i].copy, copy->block[i].space, bytes, exec) &&
                !spmv_stream_wait(exec) && (bytes == 0 || !memcmp(now, copy->block[i].original, (size_t)bytes));
    free(now);
  }
  return unchanged;
}

SpmvStatus csr_copy_spoil(CsrCopy *copy, SpmvExec *exec)
{
  SpmvStatus status = SPMV_SUCCESS;

  for (int i = 0; i < CSR_COPY_BLOCKS && !status; i++)
    status = poison_bytes(copy->block[i].copy, copy->block[i].space, copy->block[i].bytes, exec);
  return status;
}
