/*
  rbp_device_published.cuh - formats csr, ell and ellr of the paper in device memory: the arrays of RbpPublished
  (rbp.h), with I = int32_t for row and column numbers and int64_t for positions when the matrix has 64-bit indices.
*/
#ifndef SPMV_RBP_DEVICE_PUBLISHED_CUH
#define SPMV_RBP_DEVICE_PUBLISHED_CUH

#include "rbp_device_packed.cuh"

typedef struct {
  RbpDevicePlan plan; /* first */
  int64_t       min_run;
  RbpCounts     counts;
  void         *val_ptr, *col_ptr, *row_length, *comp_values, *comp_columns, *row_ptr, *columns, *values;
} RbpDevicePublished;

SpmvStatus rbp_device_published_analyze(const SpmvPattern *, SpmvScalar, const SpmvOptions *, SpmvExec *,
                                        SpmvAnalysis *);
SpmvStatus rbp_device_published_build(const SpmvPattern *, const SpmvCsr *, const SpmvAnalysis *, SpmvExec *,
                                      SpmvPlan **);
SpmvStatus rbp_device_published_update(RbpDevicePublished *, const void *values, SpmvExec *);
SpmvStatus rbp_device_published_mult(const RbpDevicePublished *, const void *alpha, const void *x, const void *beta,
                                     void *y, SpmvExec *);
SpmvStatus rbp_device_published_coordinates(const RbpDevicePublished *, const SpmvCoordinates *, SpmvExec *);
void       rbp_device_published_free(RbpDevicePublished *);

#endif
