/* variant.c - the constant that tells the loader to which PETSc and kernels a variant is bound, before it calls any
   function of the variant. */
#include <petscsys.h>
#include "spmv_kernels.h"
#include "variant.h"

PETSC_EXTERN const PetscPackVariant petscpack_variant;

const PetscPackVariant petscpack_variant = {SPMV_ABI, PETSCPACK_VARIANT_NAME, (PetscPackFunction)PetscGetVersionNumber,
                                            (PetscPackFunction)spmv_format_get};
