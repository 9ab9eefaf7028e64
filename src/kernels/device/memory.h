/* memory.h - the default allocator of device memory, and loops over numbers in it. The other device calls that need no
   plan are public (spmv_kernels.h). */
#pragma once

#include "core/format.h"

SPMV_C_BEGIN

/* Who uses a block of device memory: any stream; or the stream on which it is taken and freed, for temporary arrays or
   for scratch memory, which is kept while somebody holds it */
typedef enum { SPMV_FOR_ALL_STREAMS, SPMV_FOR_ONE_STREAM, SPMV_FOR_SCRATCH } SpmvUse;

/* Default device memory; pool.cu. Without CUDA the first returns NULL, and the others do nothing. The second waits for
   the device and frees blocks of one device; the third frees a block in the order of a stream. */
void *spmv_device_alloc_for(SpmvUse, int64_t bytes, void *stream);
void  spmv_device_free_default(int blocks, void *const block[]);
void  spmv_device_free_on(void *block, void *stream);

/* The bytes that the pool of a device keeps; pool.cu */
int64_t spmv_device_keeps(int device);

/* Memory that the host can touch, kept.cu: page-locked, or shared with the current device. The first returns an error of
   CUDA, and *memory is NULL then. The second waits for the device. The third gives all kept blocks back to CUDA. */
typedef enum { SPMV_KEPT_PINNED, SPMV_KEPT_SHARED } SpmvKept;
int  spmv_kept_take(SpmvKept, int64_t bytes, void **memory);
void spmv_kept_give(SpmvKept, void *memory);
void spmv_kept_release(void);

/* Device memory that only work of exec->stream uses; not while that is captured. Frees any block of exec's device memory
   in the order of the stream, without a wait: work of other streams on it must have been waited for. */
SpmvStatus spmv_stream_alloc(SpmvExec *, int64_t bytes, const char *name, void **block);
void       spmv_stream_free(SpmvExec *, void *block);

/* A block of device memory that holds several arrays: the bytes that an array takes there, and the address of the array
   in that room. On the emulated GPU it may end at an inaccessible page. */
int64_t spmv_room_bytes(int64_t bytes);
void   *spmv_place_array(void *room, int64_t bytes);
/* Bytes of the block that spmv_alloc_arrays() allocates */
int64_t spmv_arrays_bytes(int count, const int64_t bytes[]);

/* y = beta y for n numbers in device memory; vector.cu */
SpmvStatus spmv_device_scale(int64_t n, SpmvScalar, const void *beta, void *y, SpmvExec *);
/* Rounds n values of a matrix to single precision, in device memory; vector.cu */
SpmvStatus spmv_device_round(const double *, float *rounded, int64_t n, SpmvExec *);

SPMV_C_END
