/*
  guard.c - stops a program with another minor version of PETSc while this library is being loaded.

  The loader also loads the PETSc and the MPI that this library was linked with. These may have constructors that call
  MPI with their own handles; if the program has another MPI, that MPI receives the calls and crashes. The link option
  -z initfirst makes the constructor below run before theirs. A constructor cannot return an error, so it prints a
  message and ends the process.
*/
#ifndef _GNU_SOURCE
  #define _GNU_SOURCE
#endif
#include <link.h>
#include <petscversion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "plugin.h"

/* Gets major and minor of a loaded libpetsc.so.3.26, libpetsc_real.so.3.18 or libpetsc64_complex.so.3.18; returns 0 for
   another library */
static int VersionOfPetsc(const char *path, int *major, int *minor)
{
  static const char prefix[] = "libpetsc";
  const char       *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *version;

  if (strncmp(name, prefix, sizeof prefix - 1)) return 0;
  name += sizeof prefix - 1;
  if (!strncmp(name, "64", 2)) name += 2;
  version = strstr(name, ".so.");
  return (*name == '.' || *name == '_') && version && sscanf(version, ".so.%d.%d", major, minor) == 2;
}

static int RefuseLoadedPetsc(struct dl_phdr_info *object, size_t size, void *context)
{
  int major, minor;

  (void)size;
  (void)context;
  if (!VersionOfPetsc(object->dlpi_name, &major, &minor)) return 0;
  if (major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR) return 0;
  fprintf(stderr, OTHER_PETSC " (%s)\n", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, major, minor, object->dlpi_name);
  fflush(stderr);
  _exit(1);
}

__attribute__((constructor)) static void CheckPetscOfProcess(void) { (void)dl_iterate_phdr(RefuseLoadedPetsc, NULL); }
