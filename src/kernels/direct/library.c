/* library.c - opens libcudss.so.1. It stays open until the process ends. */
#ifndef _GNU_SOURCE
  #define _GNU_SOURCE /* for dladdr() */
#endif
#include "library.h"
#include "core/library.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 4096 };
#define THREADS "libcudss_mtlayer_gomp.so.1"

static CudssLibrary library;
static int          opened; /* the version of the open library, or 0 */
static char         threads[PATH];

static const char *const name[] = {"cudssGetProperty",
                                   "cudssCreate",
                                   "cudssDestroy",
                                   "cudssSetStream",
                                   "cudssSetThreadingLayer",
                                   "cudssSetDeviceMemHandler",
                                   "cudssConfigCreate",
                                   "cudssConfigDestroy",
                                   "cudssConfigSet",
                                   "cudssDataCreate",
                                   "cudssDataDestroy",
                                   "cudssDataSet",
                                   "cudssDataGet",
                                   "cudssMatrixCreateDn",
                                   "cudssMatrixCreateCsr",
                                   "cudssMatrixDestroy",
                                   "cudssExecute"};
enum { FUNCTIONS = sizeof name / sizeof *name };
_Static_assert(FUNCTIONS * sizeof(void (*)(void)) == sizeof library, "the names are those of the table, in its order");

const CudssLibrary *spmv_cudss(void) { return opened ? &library : NULL; }
const char         *spmv_cudss_threads(void) { return threads[0] ? threads : NULL; }

SpmvStatus spmv_cudss_status(int result, const char *what, SpmvExec *exec)
{
  static const char *const text[] = {"success",       "not initialized",  "an allocation failed", "an invalid value",
                                     "not supported", "execution failed", "an internal error",    "refinement failed"};
  const int                known  = result > 0 && result < (int)(sizeof text / sizeof *text);

  if (result == CUDSS_SUCCESS) return SPMV_SUCCESS;
  SPMV_TRY(spmv_stream_wait(exec)); /* a failed device */
  return spmv_fail(exec, result == CUDSS_ALLOC_FAILED ? SPMV_ERR_MEMORY : SPMV_ERR_UNSUPPORTED, "%s of cuDSS: %s (%d)",
                   what, known ? text[result] : "an unknown status", result);
}

static SpmvStatus ask_version(const char *path, int *version, SpmvExec *exec)
{
  int part[3] = {0, 0, 0};

  for (int i = 0; i < 3; i++)
    if (library.GetProperty(i, &part[i]))
      return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%s: cudssGetProperty() failed", path);
  *version = 10000 * part[0] + 100 * part[1] + part[2];
  if (*version < SPMV_DIRECT_LEAST || *version >= SPMV_DIRECT_BELOW)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%s is cuDSS %d.%d.%d: 1.0.0 or a later 1.x is needed", path, part[0],
                     part[1], part[2]);
  opened = *version;
  return SPMV_SUCCESS;
}

/* Its layer of threads lies beside it in NVIDIA's packages */
static void find_threads(void *handle)
{
  Dl_info     info;
  const char *end;

  threads[0] = '\0';
  if (!dladdr(dlsym(handle, name[0]), &info) || !(end = strrchr(info.dli_fname, '/'))) return;
  if (snprintf(threads, sizeof threads, "%.*s/%s", (int)(end - info.dli_fname), info.dli_fname, THREADS) >= PATH ||
      access(threads, R_OK))
    threads[0] = '\0';
}

SpmvStatus spmv_direct_load(const char *path, int *version, SpmvExec *exec)
{
  char  reason[SPMV_MESSAGE_MAX];
  void *handle;

  exec->message[0] = '\0';
  *version         = opened;
  if (opened) return SPMV_SUCCESS;
  if (spmv_device_count(reason) == 0) return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%s", reason);
  if (!path) path = "libcudss.so.1";
  SPMV_TRY(spmv_library_open(path, "cuDSS", FUNCTIONS, name, &library, &handle, exec));
  const SpmvStatus status = ask_version(path, version, exec);
  if (status) dlclose(handle);
  else find_threads(handle);
  return status;
}
