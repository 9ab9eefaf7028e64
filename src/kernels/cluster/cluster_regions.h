/* cluster_regions.h - compact regions of a large matrix, which threads cut into clusters. */
#ifndef SPMV_CLUSTER_REGIONS_H
#define SPMV_CLUSTER_REGIONS_H

#include "cluster_layout.h"

enum { CLUSTER_MOST_REGIONS = 240, CLUSTER_NO_REGION = 0xff /* of long nodes */ };

typedef struct {
  int      count;
  uint8_t *of;                              /* [nodes] the region of each node */
  int32_t *order;                           /* [nodes] by region, ascending in each; long nodes come last */
  int64_t  begin[CLUSTER_MOST_REGIONS + 1]; /* in order */
} ClusterRegions;

/* Regions for clusters of `size` nodes: one for a small matrix; they depend on the graph and the size alone. To be
   freed by cluster_free_regions(), also after an error. */
SpmvStatus cluster_find_regions(const ClusterGraph *, int64_t size, ClusterRegions *, SpmvThreads *, SpmvExec *);
void       cluster_free_regions(ClusterRegions *, SpmvExec *);

#endif
