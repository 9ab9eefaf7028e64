/* coo_device.cuh - the functions of coo_device_values.cu, for the table of slots in coo_device.cu. */
#pragma once

#include "coo.h"
#include "device/csr.cuh"

/* coo_device_values.cu */
SpmvStatus spmv_coo_device_values(const SpmvCoo *, SpmvScalar, const void *v[2], int add, void *csr_values, SpmvExec *);
SpmvStatus spmv_coo_device_gather(const SpmvCooOthers *, SpmvScalar, const void *v, void *out, SpmvExec *);
