/*
  mat_other_petsc.c - loads the given libraries in order: if a PETSc of another minor version precedes the plugin, the
  plugin must end the process with a message
*/
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    if (!dlopen(argv[i], RTLD_LAZY | RTLD_GLOBAL)) {
      fprintf(stderr, "%s\n", dlerror());
      return 2;
    }
    if (i > 1) printf("%s was loaded\n", argv[i]);
  }
  return 0;
}
