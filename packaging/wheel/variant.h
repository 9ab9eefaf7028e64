/* variant.h - the description of a variant for the loader. A variant is the part of petscpack that was compiled for one
   minor version of PETSc, one MPI, one kind of scalars and one of indices. This header does not include PETSc. */
#pragma once

typedef void (*PetscPackFunction)(void);

typedef struct {
  int               abi;     /* SPMV_ABI of its headers */
  const char       *name;    /* its file name, such as "3.18-openmpi" or "3.26-mpich-64-complex" */
  PetscPackFunction petsc;   /* PetscGetVersionNumber(), as bound by the dynamic linker */
  PetscPackFunction kernels; /* spmv_format_get(), likewise */
} PetscPackVariant;

#define PETSCPACK_VARIANT "petscpack_variant" /* the name of the constant in a variant */
