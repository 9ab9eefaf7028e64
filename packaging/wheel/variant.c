/* variant.c - the constant by which the loader sees to whom a variant is bound, before it calls anything in it. */
#include <petscsys.h>
#include "spmv_kernels.h"
#include "variant.h"

PETSC_EXTERN const PetscPackVariant petscpack_variant;

const PetscPackVariant petscpack_variant = {SPMV_ABI, PETSCPACK_VARIANT_NAME, (PetscPackFunction)PetscGetVersionNumber,
                                            (PetscPackFunction)spmv_format_get};
