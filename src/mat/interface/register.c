/*
  register.c - the entry of the plugin: PETSc calls PetscDLLibraryRegister_petscpack() for -dll_append libpetscpack.so,
  a program that links the library calls PetscPackInitializePackage().
*/
#include "../impls/seqaijfmt/seqaijfmt.h"

static PetscBool initialized = PETSC_FALSE;

/* The table of operations of a matrix differs between minor versions */
static PetscErrorCode RefuseOtherPetsc(void)
{
  PetscInt major, minor, subminor, release;

  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, &release));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "this libpetscpack was built for PETSc %d.%d and the program runs PETSc %" PetscInt_FMT ".%" PetscInt_FMT
             ": build libpetscpack against the PETSc of the program",
             PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, major, minor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackFinalizePackage - Frees what `PetscPackInitializePackage()` and the types of petscpack keep for the process

  Not Collective

  Level: developer

  Note:
  Called by `PetscFinalize()`. After it, `PetscPackInitializePackage()` may be called again.

.seealso: `PetscPackInitializePackage()`, `PetscFinalize()`
@*/
PetscErrorCode PetscPackFinalizePackage(void)
{
  PetscFunctionBegin;
  PetscCall(AIJFmtAliasesReset());
  PetscCall(AIJFmtParentsReset());
  spmv_staging_release();
  initialized = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackInitializePackage - Registers the matrix types of petscpack: `MATAIJRBP`, `MATAIJCRSV`, and the others

  Collective

  Level: beginner

  Notes:
  Call it after `PetscInitialize()` in a program that links libpetscpack. With `-dll_append libpetscpack.so` PETSc calls
  it during `PetscInitialize()`. A second call does nothing.

  It is an error to use a libpetscpack that was built for another minor version of PETSc.

.seealso: `PetscPackFinalizePackage()`, `MatSetType()`, `PetscInitialize()`
@*/
PetscErrorCode PetscPackInitializePackage(void)
{
  char message[SPMV_MESSAGE_MAX];

  PetscFunctionBegin;
  if (initialized) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RefuseOtherPetsc());
  PetscCheck(!spmv_registry_check(message), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libspmvpack is not the one that libpetscpack was built with: %s", message);
  PetscCall(AIJFmtRowsRegister());
  PetscCall(PetscLogEventRegister("MatPackConvert", MAT_CLASSID, &MAT_AIJFmtConvert));
  PetscCall(PetscLogEventRegister("MatPackRefresh", MAT_CLASSID, &MAT_AIJFmtRefresh));
  PetscCall(PetscRegisterFinalize(PetscPackFinalizePackage));
  initialized = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The name follows from the file name libpetscpack.so */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petscpack(void);

PetscErrorCode PetscDLLibraryRegister_petscpack(void)
{
  PetscFunctionBegin;
  PetscCall(PetscPackInitializePackage());
  PetscFunctionReturn(PETSC_SUCCESS);
}
