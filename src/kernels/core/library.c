/* library.c - opens a library and finds its functions. */
#include "library.h"
#include <dlfcn.h>
#include <string.h>

SpmvStatus spmv_library_open(const char *path, const char *what, int functions, const char *const name[], void *table,
                             void **handle, SpmvExec *exec)
{
  SpmvStatus status = SPMV_SUCCESS;

  *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!*handle) return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "no %s: %s", what, dlerror());
  for (int i = 0; i < functions && !status; i++) {
    void *found = dlsym(*handle, name[i]);

    /* ISO C does not convert pointers to objects to pointers to functions */
    if (found) memcpy((char *)table + (size_t)i * sizeof found, &found, sizeof found);
    else status = spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%s has no function %s()", path, name[i]);
  }
  if (!status) return SPMV_SUCCESS;
  dlclose(*handle);
  *handle = NULL;
  return status;
}
