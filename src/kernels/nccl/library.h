/* library.h - the functions of libnccl.so.2 that are used. They are declared here, so that NCCL's header need not be
   installed; the declarations are the same in all releases of NCCL 2. */
#pragma once

#include "core/format.h"
#include <spmv_nccl.h>
#include <stddef.h>

SPMV_C_BEGIN

typedef struct {
  char bytes[SPMV_NCCL_ID_BYTES];
} SpmvNcclId;

/* Values of ncclResult_t, ncclDataType_t and ncclRedOp_t */
enum { SPMV_NCCL_SUCCESS = 0, SPMV_NCCL_IN_PROGRESS = 7, SPMV_NCCL_FLOAT = 7, SPMV_NCCL_DOUBLE = 8, SPMV_NCCL_SUM = 0 };

/* The functions without the prefix nccl; comm is an ncclComm_t, stream a cudaStream_t */
typedef struct {
  int (*GetVersion)(int *version);
  const char *(*GetErrorString)(int result);
  int (*GetUniqueId)(SpmvNcclId *id);
  int (*CommInitRank)(void **comm, int processes, SpmvNcclId id, int rank);
  int (*CommDestroy)(void *comm);
  int (*CommAbort)(void *comm);
  int (*CommGetAsyncError)(void *comm, int *result);
  int (*AllReduce)(const void *from, void *to, size_t count, int type, int operation, void *comm, void *stream);
  int (*Send)(const void *from, size_t count, int type, int to_rank, void *comm, void *stream);
  int (*Recv)(void *to, size_t count, int type, int from_rank, void *comm, void *stream);
  int (*GroupStart)(void);
  int (*GroupEnd)(void);
} SpmvNcclLibrary;

/* The library that spmv_nccl_load() has opened, or NULL */
const SpmvNcclLibrary *spmv_nccl_library(void);
/* Turns the result of a call into a status; `what` names the call in the message */
SpmvStatus spmv_nccl_status(int result, const char *what, SpmvExec *);

SPMV_C_END
