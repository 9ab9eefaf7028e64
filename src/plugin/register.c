/*
  register.c - the entry points of the plugin: PETSc calls PetscDLLibraryRegister_petscpack() for -dll_append
  libpetscpack.so; a program that links the library calls PetscPackInitializePackage().
*/
#ifndef _GNU_SOURCE
  #define _GNU_SOURCE /* for dladdr() */
#endif
#include <dlfcn.h>
#include "ksp/impls/cg/cgdevice.h"
#include "ksp/impls/gmres/gmresdevice.h"
#include "mat/impls/aij/aijfmt.h"
#include "mat/impls/factor/factor.h"
#include "mat/impls/incomplete/incomplete.h"
#include "parallel/processes.h"
#include "sys/private.h"
#include "pc/impls/estimate/estimate.h"
#include "pc/impls/gamg/aggdevice.h"
#include "pc/impls/multigrid/mgdevice.h"
#include "pc/impls/gamg/gamg.h"
#include "plugin.h"
#include "watch.h"

/* Sets the options of the environment variable PETSCPACK_DEFAULTS, "-name value -flag ...", that the user has not set:
   the database already has .petscrc, PETSC_OPTIONS and the command line */
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
    PetscCall(PetscOptionsHasName(NULL, NULL, word[i], &set)); /* else PETSc may call the option unused */
  }
  PetscCall(PetscStrToArrayDestroy(count, word));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scalars and indices of another size would be read wrongly by every call, so this is the first one */
static PetscErrorCode RefuseOtherKinds_PetscPack(void)
{
  PetscDataType type;
  PetscBool     found;
  size_t        scalar, index;

  PetscFunctionBegin;
  PetscCall(PetscDataTypeFromString("scalar", &type, &found));
  PetscCall(PetscDataTypeGetSize(type, &scalar));
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &index));
  PetscCheck(
      scalar == sizeof(PetscScalar) && index == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_LIB,
      "this libpetscpack was built for a PETSc with scalars of %d bytes and indices of %d, and the program's has "
      "%d and %d: build libpetscpack against the PETSc of the program",
      (int)sizeof(PetscScalar), (int)sizeof(PetscInt), (int)scalar, (int)index);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The table of operations of a matrix differs between minor versions. If PETSc is a shared library, guard.c has already
   refused another version. */
static PetscErrorCode RefuseOtherPetsc_PetscPack(void)
{
  PetscInt  major, minor, subminor, release;
  PetscBool fit;

  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, &release));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB, OTHER_PETSC,
             PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, (int)major, (int)minor);
  PetscCall(PetscPackHeadersFit(&fit));
  PetscCheck(fit, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "The layout of this PETSc's objects differs from the headers that libpetscpack was built with: build "
             "libpetscpack against the PETSc of the program");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SummaryFromOptions_PetscPack(void)
{
  PetscBool summary = PETSC_FALSE;
  PetscInt  lines   = 10;

  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Summary of petscpack", NULL);
  PetscCall(PetscOptionsBool("-petscpack_summary", "On stderr: what ran on the GPU, what did not, why, and what to try",
                             "PetscPackInitializePackage", summary, &summary, NULL));
  PetscCall(PetscOptionsRangeInt("-petscpack_summary_lines", "Solvers in the table of the summary, at most",
                                 "PetscPackInitializePackage", lines, &lines, NULL, 0, 1000));
  PetscOptionsEnd();
  if (summary) PetscCall(PetscPackWatchBegin(lines));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If two files of the plugin are loaded, such as that of a wheel and that of a build, the second takes a replaced type of
   the first for PETSc's own, and the first takes that of the second: they would call each other without end */
static PetscErrorCode RefuseSecondFile(void)
{
  PetscErrorCode (*registered)(KSP) = NULL;
  Dl_info first, second;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(KSPList, KSPCGDEVICE, &registered));
  if (!registered || !dladdr((void *)registered, &first) || !dladdr((void *)RefuseSecondFile, &second))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(first.dli_fbase == second.dli_fbase, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "petscpack is loaded from two files, %s and %s: leave one of them out of -dll_append, PETSC_OPTIONS and "
             ".petscrc",
             first.dli_fname, second.dli_fname);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackSetDeviceKeep - Sets how much freed device memory is kept for the next matrix

  Not Collective

  Input Parameter:
. bytes - for each device that the process uses, at most 10^15; -1 for a 64th of its memory, at least 64 MiB; 0 to release
         all memory at once

  Options Database Key:
. -petscpack_device_keep <bytes> - the same, read by `PetscPackInitializePackage()`; -1 by default

  Level: advanced

  Note:
  Mapping and unmapping device memory takes as long as converting a matrix. Only matrices of petscpack reuse the kept
  memory; freed memory beyond this limit is released. The limit holds for the device's own memory, and once more for memory
  that it shares with the host.

.seealso: `PetscPackGetDeviceKeep()`, `PetscPackInitializePackage()`
@*/
PetscErrorCode PetscPackSetDeviceKeep(PetscInt64 bytes)
{
  SpmvOptions process;
  char        message[SPMV_MESSAGE_MAX] = "";

  PetscFunctionBegin;
  spmv_options_init(&process, &AIJFmtProcessTable);
  PetscCheck(!spmv_options_set(&process, AIJFmtProcessTable.options->key, (double)bytes, message), PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "%s", message);
  aijfmt_process.device_keep = bytes;
  spmv_device_keep(bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackGetDeviceKeep - Gets how much freed device memory is kept for the next matrix

  Not Collective

  Output Parameter:
. bytes - set by `PetscPackSetDeviceKeep()` or the option; -1 by default

  Level: advanced

.seealso: `PetscPackSetDeviceKeep()`
@*/
PetscErrorCode PetscPackGetDeviceKeep(PetscInt64 *bytes)
{
  PetscFunctionBegin;
  *bytes = aijfmt_process.device_keep;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProcessSetFromOptions_PetscPack(void)
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
  PetscCall(PetscPackCuDSSFromOptions());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackFinalizePackage - Frees the data that `PetscPackInitializePackage()` and the types of petscpack keep for the
  process

  Not Collective

  Level: developer

  Note:
  Called by `PetscFinalize()`. Afterwards `PetscPackInitializePackage()` may be called again.

.seealso: `PetscPackInitializePackage()`, `PetscFinalize()`
@*/
PetscErrorCode PetscPackFinalizePackage(void)
{
  PetscFunctionBegin;
  for (int kind = 0; kind < AIJFMT_PARENT_COUNT; kind++) aijfmt_process.parent_known[kind] = PETSC_FALSE;
  PetscCall(PetscPackNcclFinalize());
  PetscCall(PetscPackCuDSSFinalize());
  PetscPackReplacePackagesForget();
  spmv_staging_release();
  spmv_device_release();
  PetscCall(PetscPackSetDeviceKeep(-1));
  /* of matrices and set-ups that an error has left behind */
  aijfmt_process.squared = aijfmt_process.merging = NULL;
  aijfmt_process.listed = aijfmt_process.copied = NULL;
  aijfmt_process.graph                          = NULL;
  aijfmt_process.set_ups                        = 0;
  aijfmt_process.reads_shared                   = PETSC_FALSE;
  aijfmt_process.initialized                    = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackInitializePackage - Registers the types of petscpack: `MATAIJAUTO`, `MATAIJRBP` and the other matrix types,
  `KSPCGDEVICE`, `KSPGMRESDEVICE`, `PCMGDEVICE`, `PCGAMGDEVICE` and `PCGAMGAGGDEVICE`

  Collective

  Options Database Keys:
+ -petscpack_summary         - `PetscFinalize()` prints on stderr what ran on the GPU, and a table of the solvers that did
                               not run there as a whole: where, why, and what to try
- -petscpack_replace <types> - makes type names of PETSc mean types of petscpack, see `PetscPackReplaceType()`; for
                               programs that set the type in their code or leave the default, which is gmres

  Level: beginner

  Notes:
  Call it after `PetscInitialize()` in a program that links libpetscpack. With `-dll_append libpetscpack.so` PETSc calls
  it during `PetscInitialize()`. A second call does nothing.

  A libpetscpack that was built for another minor version of PETSc stops with an error, and so does a second file of
  petscpack in one process, such as that of a wheel beside that of a build.

  The environment variable PETSCPACK_DEFAULTS may hold options, which are set unless the user has set options of the
  same names; `python -m petscpack run` passes its defaults in this way. This function removes the file named by
  PETSCPACK_MARKER, which tells `run` that PETSc has loaded the plugin.

.seealso: `PetscPackFinalizePackage()`, `PetscPackReplaceType()`, `MatSetType()`, `PetscInitialize()`
@*/
PetscErrorCode PetscPackInitializePackage(void)
{
  const char *marker = getenv("PETSCPACK_MARKER");
  char        message[SPMV_MESSAGE_MAX];

  PetscFunctionBegin;
  if (aijfmt_process.initialized) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RefuseOtherKinds_PetscPack());
  PetscCall(RefuseOtherPetsc_PetscPack());
  PetscCall(RefuseSecondFile());
  PetscCheck(!spmv_registry_check(message), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libspmvpack is not the one that libpetscpack was built with: %s", message);
  PetscCall(DefaultsFromEnvironment());
  PetscCall(AIJFmtTypesRegister());
  PetscCall(AIJFmtNamesRegister());
  PetscCall(AIJFmtPCNamesRegister());
  PetscCall(AIJFmtCudaRegister());
  PetscCall(MatCuDSSRegister());
  PetscCall(MatIncompleteRegister());
  PetscCall(PetscLogEventRegister("MatPackConvert", MAT_CLASSID, &MAT_AIJFmtConvert));
  PetscCall(PetscLogEventRegister("MatPackRefresh", MAT_CLASSID, &MAT_AIJFmtRefresh));
  PetscCall(PetscPackEstimateRegister());
  PetscCall(PetscPackChebyshevRegister());
  PetscCall(AggDevRegister());
  PetscCall(MGDevRegister());
  PetscCall(MGDevTypesRegister());
  PetscCall(KSPDevEventsRegister());
  PetscCall(KSPDevRegister(&CGDevClass));
  PetscCall(KSPDevRegister(&GMRESDevClass));
  PetscCall(KSPDevRegister(&RichardsonDevClass));
  PetscCall(PetscPackReplaceFromOptions());
  PetscCall(SummaryFromOptions_PetscPack());
  PetscCall(PetscRegisterFinalize(PetscPackFinalizePackage));
  PetscCall(ProcessSetFromOptions_PetscPack());
  if (marker) (void)remove(marker); /* `python -m petscpack run` says at the end if the file is still there */
  aijfmt_process.initialized = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc derives this name from the file name libpetscpack.so */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petscpack(void);

PetscErrorCode PetscDLLibraryRegister_petscpack(void)
{
  PetscFunctionBegin;
  PetscCall(PetscPackInitializePackage());
  PetscFunctionReturn(PETSC_SUCCESS);
}
