/* library.c - opens libnccl.so.2. It stays open until the process ends, because NCCL has threads. */
#include "library.h"
#include "core/library.h"
#include <dlfcn.h>

static SpmvNcclLibrary library;
static int             opened; /* the version of the open library, or 0 */

static const char *const name[] = {"ncclGetVersion",  "ncclGetErrorString", "ncclGetUniqueId",       "ncclCommInitRank",
                                   "ncclCommDestroy", "ncclCommAbort",      "ncclCommGetAsyncError", "ncclAllReduce",
                                   "ncclSend",        "ncclRecv",           "ncclGroupStart",        "ncclGroupEnd"};
enum { FUNCTIONS = sizeof name / sizeof *name };
_Static_assert(FUNCTIONS * sizeof(void (*)(void)) == sizeof library, "the names are those of the table, in its order");

const SpmvNcclLibrary *spmv_nccl_library(void) { return opened ? &library : NULL; }

SpmvStatus spmv_nccl_status(int result, const char *what, SpmvExec *exec)
{
  if (result == SPMV_NCCL_SUCCESS || result == SPMV_NCCL_IN_PROGRESS) return SPMV_SUCCESS;
  return spmv_fail(exec, SPMV_ERR_DEVICE, "%s() of NCCL: %s", what, library.GetErrorString(result));
}

static SpmvStatus ask_version(const char *path, int *version, SpmvExec *exec)
{
  const int result = library.GetVersion(version);

  if (result != SPMV_NCCL_SUCCESS) {
    *version = 0;
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%s: ncclGetVersion(): %s", path, library.GetErrorString(result));
  }
  if (*version < SPMV_NCCL_LEAST)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%s is NCCL with version number %d: %d or later is needed", path,
                     *version, SPMV_NCCL_LEAST);
  opened = *version;
  return SPMV_SUCCESS;
}

SpmvStatus spmv_nccl_load(const char *path, int *version, SpmvExec *exec)
{
  char  reason[SPMV_MESSAGE_MAX];
  void *handle;

  exec->message[0] = '\0';
  *version         = opened;
  if (opened) return SPMV_SUCCESS;
  if (spmv_device_count(reason) == 0) return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%s", reason);
  if (!path) path = "libnccl.so.2";
  SPMV_TRY(spmv_library_open(path, "NCCL", FUNCTIONS, name, &library, &handle, exec));
  const SpmvStatus status = ask_version(path, version, exec);
  if (status) dlclose(handle);
  return status;
}
