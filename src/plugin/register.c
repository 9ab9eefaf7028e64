/*
  register.c - the entry of the plugin: PETSc calls PetscDLLibraryRegister_petscpack() for -dll_append libpetscpack.so,
  a program that links the library calls PetscPackInitializePackage().
*/
#include "ksp/impls/cgdevice/cgdevice.h"
#include "ksp/impls/gmresdevice/gmresdevice.h"
#include "mat/impls/seqaijfmt/seqaijfmt.h"
#include "parallel/processes.h"
#include "sys/totals.h"
#include "pc/impls/aggdevice/aggdevice.h"
#include "pc/impls/mgdevice/mgdevice.h"
#include "guard.h"
#include "replace.h"

/* The options of the environment variable PETSCPACK_DEFAULTS, "-name value -flag ...", for those names that the user has
   not set: here the database has .petscrc, PETSC_OPTIONS and the command line */
static PetscErrorCode DefaultsFromEnvironment(void)
{
  const char *defaults = getenv("PETSCPACK_DEFAULTS");
  PetscBool   set;
  char      **word;
  int         count;

  PetscFunctionBegin;
  PetscCall(PetscStrToArray(defaults ? defaults : "", ' ', &count, &word));
  for (int i = 0; i < count; i++) {
    const char *value = i + 1 < count && word[i + 1][0] != '-' ? word[i + 1] : NULL;
    if (word[i][0] != '-') continue;
    PetscCall(PetscOptionsHasName(NULL, NULL, word[i], &set));
    if (set) continue;
    PetscCall(PetscOptionsSetValue(NULL, word[i], value));
    PetscCall(PetscOptionsHasName(NULL, NULL, word[i], &set)); /* else PETSc may warn that nothing has read it */
  }
  PetscCall(PetscStrToArrayDestroy(count, word));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Looks for the field of a Mat that a public function has set where our headers have it. The packages and devices of a
   PETSc change the layout of its objects. */
static PetscErrorCode RefuseOtherLayout(void)
{
  VecType type;
  Mat     A;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetVecType(A, VECSTANDARD));
  PetscCall(MatGetVecType(A, &type));
  PetscCheck(
      type == A->defaultvectype, PETSC_COMM_SELF, PETSC_ERR_LIB,
      "The objects of this PETSc have another layout than in the headers that libpetscpack was built with: build "
      "libpetscpack against the PETSc of the program");
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The table of operations of a matrix differs between minor versions. guard.c has refused another PETSc already, where
   it is a shared library. */
static PetscErrorCode RefuseOtherPetsc(void)
{
  PetscInt major, minor, subminor, release;

  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, &release));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB, OTHER_PETSC,
             PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, (int)major, (int)minor);
  PetscCall(RefuseOtherLayout());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackSetDeviceKeep - Sets how much freed device memory is kept for the next matrix

  Not Collective

  Input Parameter:
. bytes - for each device that the process uses, at most 10^15; -1 for 64 MiB, 0 to give back all at once

  Options Database Key:
. -petscpack_device_keep <bytes> - the same, read by `PetscPackInitializePackage()`; -1 by default

  Level: advanced

  Note:
  To map and unmap device memory takes as long as to convert a matrix. What is kept serves the matrices of petscpack
  alone; more than that is given back when it is freed.

.seealso: `PetscPackGetDeviceKeep()`, `PetscPackInitializePackage()`
@*/
PetscErrorCode PetscPackSetDeviceKeep(PetscInt64 bytes)
{
  SpmvOptions process;

  PetscFunctionBegin;
  spmv_options_init(&process, &AIJFmtProcessTable);
  PetscCall(AIJFmtTableSetNumber(&process, AIJFmtProcessTable.options, (double)bytes));
  aijfmt_process.device_keep = bytes;
  spmv_device_keep(bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackGetDeviceKeep - Gets how much freed device memory is kept for the next matrix

  Not Collective

  Output Parameter:
. bytes - what `PetscPackSetDeviceKeep()` was given, or the option; -1 by default

  Level: advanced

.seealso: `PetscPackSetDeviceKeep()`
@*/
PetscErrorCode PetscPackGetDeviceKeep(PetscInt64 *bytes)
{
  PetscFunctionBegin;
  *bytes = aijfmt_process.device_keep;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetFromOptions(void)
{
  SpmvOptions process;

  PetscFunctionBegin;
  spmv_options_init(&process, &AIJFmtProcessTable);
  process.value[PETSCPACK_DEVICE_KEEP] = (double)aijfmt_process.device_keep;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of petscpack", NULL);
  PetscCall(AIJFmtTableRead(NULL, &process, "PetscPackSetDeviceKeep", PetscOptionsObject));
  PetscOptionsEnd();
  PetscCall(PetscPackSetDeviceKeep((PetscInt64)process.value[PETSCPACK_DEVICE_KEEP]));
  PetscCall(PetscPackNcclFromOptions());
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
  for (int kind = 0; kind < AIJFMT_PARENT_COUNT; kind++) aijfmt_process.parent_known[kind] = PETSC_FALSE;
  PetscCall(PetscPackNcclFinalize());
  spmv_staging_release();
  spmv_device_release();
  PetscCall(PetscPackSetDeviceKeep(-1));
  aijfmt_process.initialized = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackInitializePackage - Registers the types of petscpack: `MATAIJRBP`, `MATAIJCRSV` and the others, `KSPCGDEVICE`,
  `KSPGMRESDEVICE`

  Collective

  Options Database Keys:
+ -petscpack_summary         - `PetscFinalize()` prints one line on stderr: what ran on the GPU, what did not and why
- -petscpack_replace <types> - solvers whose names mean ours: cg means `KSPCGDEVICE`, gmres means `KSPGMRESDEVICE`; for
                               programs that leave the default, which is gmres, or have the type in their code

  Level: beginner

  Notes:
  Call it after `PetscInitialize()` in a program that links libpetscpack. With `-dll_append libpetscpack.so` PETSc calls
  it during `PetscInitialize()`. A second call does nothing.

  It is an error to use a libpetscpack that was built for another minor version of PETSc.

  The environment variable PETSCPACK_DEFAULTS may hold options, which are set unless the user has set options of the same
  names; `python -m petscpack run` gives its defaults in this way.

.seealso: `PetscPackFinalizePackage()`, `MatSetType()`, `PetscInitialize()`
@*/
PetscErrorCode PetscPackInitializePackage(void)
{
  char message[SPMV_MESSAGE_MAX];

  PetscFunctionBegin;
  if (aijfmt_process.initialized) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RefuseOtherPetsc());
  PetscCheck(!spmv_registry_check(message), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libspmvpack is not the one that libpetscpack was built with: %s", message);
  PetscCall(DefaultsFromEnvironment());
  PetscCall(PetscPackTotalsFromOptions());
  PetscCall(AIJFmtTypesRegister());
  PetscCall(AIJFmtNamesRegister());
  PetscCall(AIJFmtCudaRegister());
  PetscCall(PetscLogEventRegister("MatPackConvert", MAT_CLASSID, &MAT_AIJFmtConvert));
  PetscCall(PetscLogEventRegister("MatPackRefresh", MAT_CLASSID, &MAT_AIJFmtRefresh));
  PetscCall(AggDevRegister());
  PetscCall(MGDevRegister());
  PetscCall(MGDevTypesRegister());
  PetscCall(CGDevRegister());
  PetscCall(GMRESDevRegister());
  PetscCall(PetscPackReplaceFromOptions());
  PetscCall(PetscRegisterFinalize(PetscPackFinalizePackage));
  PetscCall(SetFromOptions());
  aijfmt_process.initialized = PETSC_TRUE;
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
