/* Values of lists on the host, from maps that were copied there: plain loops of one thread. */
#include "coo.h"

/* Types of positions, named after the index type of the same size so that SPMV_INDEX_TAG selects one */
typedef uint32_t Position_i32;
typedef uint64_t Position_i64;

#define SPMV_BODY "coo/coo_host_values.inc"
#include "core/instantiate.h"

void spmv_coo_host_values(const SpmvCoo *coo, SpmvScalar scalar, const void *v[2], int add, void *csr_values)
{
  SPMV_SELECT(values, coo->wide ? SPMV_I64 : SPMV_I32, scalar)(coo, v, add, csr_values);
}

void spmv_coo_host_gather(const SpmvCooOthers *others, SpmvScalar scalar, const void *v, void *out)
{
  SPMV_SELECT(gather, others->wide ? SPMV_I64 : SPMV_I32, scalar)(others, v, out);
}
