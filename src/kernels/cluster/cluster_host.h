/* cluster_host.h - products and values of plans on the host. */
#ifndef SPMV_CLUSTER_HOST_H
#define SPMV_CLUSTER_HOST_H

#include "cluster.h"

/* Bytes of work that a product needs */
int64_t cluster_host_work(const ClusterShape *, SpmvScalar);
/* The product by one instruction set, which the processor must have */
void cluster_host_mult_by(SpmvIsa, const ClusterPlan *, const void *alpha, const void *x, const void *beta, void *y,
                          void *work);
void cluster_host_add_transposed(const ClusterPlan *, const void *alpha, const void *x, void *y);
/* Values in the order of the CSR into the plan, and back */
void cluster_host_fill(ClusterPlan *, const void *values);
void cluster_host_extract(const ClusterPlan *, void *values);

#endif
