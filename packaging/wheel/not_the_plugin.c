/* not_the_plugin.c - a part of the wheel's libspmvpack.so: tells a user who gives that file to -dll_append which file
   to give instead. PETSc derives the name of the function below from the file name, and calls it. */
#ifndef _GNU_SOURCE
  #define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "loader.h"

__attribute__((visibility("default"))) int PetscDLLibraryRegister_spmvpack(void);

int PetscDLLibraryRegister_spmvpack(void)
{
  char    path[PETSCPACK_PATH_MAX];
  Dl_info self;
  void   *loader;
  int (*refuse)(const void *);

  if (dladdr((const void *)PetscDLLibraryRegister_spmvpack, &self) &&
      snprintf(path, sizeof path, "%s", self.dli_fname) < (int)sizeof path && strrchr(path, '/')) {
    snprintf(strrchr(path, '/') + 1, sizeof path - (size_t)(strrchr(path, '/') + 1 - path), "libpetscpack.so");
    loader = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    refuse = loader ? (int (*)(const void *))dlsym(loader, PETSCPACK_REFUSE_KERNELS) : NULL;
    if (refuse) return refuse(__builtin_return_address(0));
  }
  fprintf(stderr, "libspmvpack.so is no plugin of PETSc; libpetscpack.so is\n");
  return PETSCPACK_ERR_LIB;
}
