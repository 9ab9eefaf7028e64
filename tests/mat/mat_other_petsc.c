/*
  mat_other_petsc.c - loads the libraries that it is given, in their order: with the PETSc of another minor version
  before the plugin, the plugin must end the process and say why
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
