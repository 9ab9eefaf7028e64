/* variant.h - what a variant tells the loader about itself: the part of petscpack that was compiled for one minor version of
   PETSc and one MPI. Nothing of PETSc is included here. */
#pragma once

typedef void (*PetscPackFunction)(void);

typedef struct {
  int               abi;     /* SPMV_ABI of its headers */
  const char       *name;    /* "3.18-openmpi", as its file is called */
  PetscPackFunction petsc;   /* PetscGetVersionNumber(), as the dynamic linker has bound it */
  PetscPackFunction kernels; /* spmv_format_get(), likewise */
} PetscPackVariant;

#define PETSCPACK_VARIANT "petscpack_variant" /* the name of the constant in a variant */
