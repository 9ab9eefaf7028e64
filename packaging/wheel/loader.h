/* loader.h - declarations shared by the two libraries that the wheel has for every PETSc. */
#pragma once

#define PETSCPACK_REFUSE_KERNELS "petscpack_refuse_kernels"

enum {
  PETSCPACK_PATH_MAX = 4096,
  PETSCPACK_ERR_LIB  = 76 /* PETSC_ERR_LIB, the same in all versions of PETSc */
};
