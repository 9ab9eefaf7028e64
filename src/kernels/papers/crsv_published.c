/* crsv_published.c - the entry of format crsv in papers.def; its options do nothing on the host. */
#include "crsv/crsv.h"

extern const SpmvSlots crsv_published_device_slots; /* crsv_published_device.cu */

const SpmvPaper spmv_paper_crsv = {"crsv", NULL, SPMV_DEVICE_SLOTS(crsv_published_device_slots)};
