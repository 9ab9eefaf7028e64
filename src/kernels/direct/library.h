/* library.h - the entry points of cuDSS that this folder calls, declared from its documentation of version 1.0; library.c
   opens it. All handles are pointers to its own structs. */
#pragma once

#include <spmv_direct.h>
#include <stddef.h>
#include "core/format.h"

/* Values of its enumerations */
enum { CUDSS_SUCCESS = 0, CUDSS_ALLOC_FAILED = 2 };
enum { CUDSS_R_64F = 1, CUDSS_C_64F = 5, CUDSS_R_32I = 10 }; /* cudaDataType_t */
enum { CUDSS_GENERAL = 0, CUDSS_SYMMETRIC = 1, CUDSS_SPD = 3, CUDSS_FULL = 0, CUDSS_UPPER = 2 };
enum { CUDSS_ANALYSIS = 3, CUDSS_FACTORIZATION = 4, CUDSS_REFACTORIZATION = 8, CUDSS_SOLVE = 1008 };
enum {
  CUDSS_MATCHING      = 3,
  CUDSS_SOLVE_MODE    = 4,
  CUDSS_IR_STEPS      = 5,
  CUDSS_PIVOT_TYPE    = 7,
  CUDSS_HYBRID_MEMORY = 11,
  CUDSS_HYBRID_LIMIT  = 12,
  CUDSS_DETERMINISTIC = 24
};
enum { CUDSS_NO_MATCHING = 0, CUDSS_MATCH_PRODUCT = 5, CUDSS_BUNCH_KAUFMAN = 6 };
enum {
  CUDSS_INFO      = 0,
  CUDSS_LU_NNZ    = 1,
  CUDSS_NPIVOTS   = 2,
  CUDSS_INERTIA   = 3,
  CUDSS_USER_PERM = 9,
  CUDSS_ESTIMATES = 13
};
/* Its estimates of memory, in bytes: the peak on the device, and the least with which factors may be kept by the host */
enum { CUDSS_ESTIMATE_PEAK = 1, CUDSS_ESTIMATE_LEAST = 4, CUDSS_ESTIMATE_COUNT = 16 };

typedef void *CudssObject;

/* Functions that replace its allocations of device memory */
typedef struct {
  void *ctx;
  int (*alloc)(void *ctx, void **block, size_t bytes, void *stream);
  int (*free)(void *ctx, void *block, size_t bytes, void *stream);
  char name[64];
} CudssMemory;

typedef struct {
  int (*GetProperty)(int property, int *value); /* 0, 1, 2: major, minor, patch */
  int (*Create)(CudssObject *handle);
  int (*Destroy)(CudssObject handle);
  int (*SetStream)(CudssObject handle, void *stream);
  int (*SetThreadingLayer)(CudssObject handle, const char *file);
  int (*SetDeviceMemHandler)(CudssObject handle, const CudssMemory *);
  int (*ConfigCreate)(CudssObject *config);
  int (*ConfigDestroy)(CudssObject config);
  int (*ConfigSet)(CudssObject config, int which, const void *value, size_t bytes);
  int (*DataCreate)(CudssObject handle, CudssObject *data);
  int (*DataDestroy)(CudssObject handle, CudssObject data);
  int (*DataSet)(CudssObject handle, CudssObject data, int which, const void *value, size_t bytes);
  int (*DataGet)(CudssObject handle, CudssObject data, int which, void *value, size_t bytes, size_t *written);
  int (*MatrixCreateDn)(CudssObject *, int64_t rows, int64_t columns, int64_t ld, const void *values, int type,
                        int layout);
  int (*MatrixCreateCsr)(CudssObject *, int64_t rows, int64_t columns, int64_t nnz, const void *row_ptr,
                         const void *row_end, const void *col, const void *values, int offset_type, int index_type,
                         int value_type, int kind, int part, int base);
  int (*MatrixDestroy)(CudssObject);
  int (*Execute)(CudssObject handle, int phase, CudssObject config, CudssObject data, CudssObject matrix, CudssObject x,
                 CudssObject b);
} CudssLibrary;

SPMV_C_BEGIN

/* NULL until spmv_direct_load() has succeeded */
const CudssLibrary *spmv_cudss(void);
/* The library's threads for reordering, a file beside it, or NULL */
const char *spmv_cudss_threads(void);
/* SPMV_SUCCESS, or a message with the name of the function or of the phase. Only a failed device is an error of the
   device: what else the library cannot do, its caller may do in another way. */
SpmvStatus spmv_cudss_status(int result, const char *what, SpmvExec *);

SPMV_C_END
