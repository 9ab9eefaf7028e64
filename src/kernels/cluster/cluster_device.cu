/*
  cluster_device.cu - the slots of format cluster in device memory. Clusters are found on the host, which a pattern on
  the device is fetched to; the arrays that the pattern determines are uploaded. Values never come to the host.
*/
#include "../device/upload.cuh"
#include "cluster_device.cuh"
#include "cluster_layout.h"
#include <cstdio>

namespace
{
/* Memory of the host that is freed when its scope ends */
class HostBlock
{
  SpmvExec *exec;

public:
  void *data = nullptr;
  explicit HostBlock(SpmvExec *e) : exec(e) {}
  HostBlock(const HostBlock &)            = delete;
  HostBlock &operator=(const HostBlock &) = delete;
  ~HostBlock() { spmv_exec_free(exec, SPMV_HOST, data); }
};

int64_t staged(const ClusterShape *s, SpmvScalar scalar) { return cluster_stage(s, scalar).bytes; }

/* Fetches an array of a pattern, unless it has a copy on the host */
SpmvStatus on_host(const void *device, const void *host, int64_t bytes, HostBlock *block, SpmvExec *exec,
                   const void **array)
{
  *array = host;
  if (host || bytes == 0) return SPMV_SUCCESS;
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, bytes, "fetched pattern", &block->data));
  *array = block->data;
  return spmv_copy(block->data, SPMV_HOST, device, SPMV_DEVICE, bytes, exec);
}

SpmvStatus analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  const int64_t index = spmv_index_bytes(pattern->index_type);
  ClusterLimit  limit = {{0, 0}, staged};
  SpmvPattern   host  = *pattern;
  HostBlock     rows(exec), cols(exec);

  SPMV_TRY(spmv_check_counts(analysis, 0, exec));
  for (int several = 0; several < 2; several++) /* two or three thread blocks hide each other's waits */
    SPMV_TRY(cluster_share_of_shared(several ? 2 : 3, &limit.bytes[several], exec));
  if (pattern->space == SPMV_DEVICE) {
    host.space = SPMV_HOST;
    SPMV_TRY(on_host(pattern->row_ptr, pattern->host_row_ptr, (pattern->rows + 1) * index, &rows, exec, &host.row_ptr));
    SPMV_TRY(on_host(pattern->col, pattern->host_col, pattern->nnz * index, &cols, exec, &host.col));
    SPMV_TRY(spmv_stream_wait(exec));
  }
  return cluster_analyze(&host, CLUSTER_DEVICE_LANES, &limit, analysis, exec);
}

SpmvStatus update_values(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  return spmv_fill_values(base, values, values_space, exec,
                          [&](const void *there) { return cluster_device_fill((ClusterPlan *)base, there, exec); });
}

int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* Makes the arrays that the pattern determines on the host and uploads them */
SpmvStatus upload_indices(const ClusterAnalysis *a, ClusterPlan *plan, SpmvExec *exec)
{
  ClusterPlan   there = *plan;
  SpmvPlanArray to[SPMV_ARRAYS_MAX], from[SPMV_ARRAYS_MAX];
  HostBlock     block(exec);
  const int     count = cluster_index_arrays(plan, to);
  int64_t       bytes = 0;

  (void)cluster_index_arrays(&there, from);
  for (int i = 0; i < count; i++) bytes += rounded(from[i].bytes);
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, bytes, "arrays before their upload", &block.data));
  bytes = 0;
  for (int i = 0; i < count; i++) {
    *from[i].array = (char *)block.data + bytes;
    bytes += rounded(from[i].bytes);
  }
  SPMV_TRY(cluster_write(a, &there, exec));
  for (int i = 0; i < count; i++)
    SPMV_TRY(spmv_copy(*to[i].array, SPMV_DEVICE, *from[i].array, SPMV_HOST, from[i].bytes, exec));
  return spmv_stream_wait(exec);
}

SpmvStatus build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *base, SpmvExec *exec)
{
  const ClusterAnalysis *a      = (const ClusterAnalysis *)analysis->data;
  ClusterPlan           *plan   = (ClusterPlan *)base;
  int                    shared = 0;

  SPMV_TRY(cluster_most_shared(&shared, exec));
  if (staged(&a->shape, base->scalar_type) > shared)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW, "a product in clusters needs %lld bytes of shared memory, of %d",
                     (long long)staged(&a->shape, base->scalar_type), shared);
  plan->shape = a->shape;
  SPMV_TRY(cluster_alloc(plan, exec));
  SPMV_TRY(cluster_device_prepare(plan, exec));
  SPMV_TRY(upload_indices(a, plan, exec));
  return update_values(base, csr->values, csr->values_space, exec);
}

void view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  const ClusterPlan *plan = (const ClusterPlan *)base;
  char               line[SPMV_MESSAGE_MAX];

  cluster_print(base, print, ctx);
  snprintf(line, sizeof line, "thread blocks of %d threads with %lld bytes of shared memory",
           cluster_threads(&plan->shape, plan->mirrors_are), (long long)staged(&plan->shape, base->scalar_type));
  print(ctx, line);
}

const SpmvRoundedSlots rounded_slots = {cluster_rounded_count, cluster_device_round, cluster_device_mult_rounded};
} // namespace

SpmvStatus cluster_most_shared(int *bytes, SpmvExec *exec)
{
  int device = 0;

  SPMV_CUDA(exec, cudaGetDevice(&device));
  SPMV_CUDA(exec, cudaDeviceGetAttribute(bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return SPMV_SUCCESS;
}

SpmvStatus cluster_share_of_shared(int blocks, int64_t *bytes, SpmvExec *exec)
{
  int device = 0, all = 0, reserved = 0, most = 0;

  SPMV_CUDA(exec, cudaGetDevice(&device));
  SPMV_CUDA(exec, cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  SPMV_CUDA(exec, cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, device));
  SPMV_TRY(cluster_most_shared(&most, exec));
  *bytes = all / blocks - reserved < most ? all / blocks - reserved : most;
  return SPMV_SUCCESS;
}

const SpmvSlots cluster_device_slots = {
    sizeof(ClusterAnalysis),
    sizeof(ClusterPlan),
    nullptr, /* choose */
    analyze,
    cluster_clear_analysis,
    build,
    update_values,
    nullptr, /* extract_values: by list_nonzeros */
    cluster_device_mult,
    nullptr, /* add_transposed */
    cluster_device_list,
    nullptr, /* prepare_transpose */
    view,
    cluster_free_arrays,
    &rounded_slots,
};
