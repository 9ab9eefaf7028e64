/* replace.c - type names of PETSc that mean types of petscpack, for programs that have them in their code. */
#include "ksp/impls/cgdevice/cgdevice.h"
#include "ksp/impls/gmresdevice/gmresdevice.h"
#include "replace.h"

/* A type that can be replaced is one line here */
static const struct {
  const char *name;
  PetscErrorCode (*replace)(PetscBool);
} types[] = {
    {KSPCG, CGDevReplaceCG},
    {KSPGMRES, GMRESDevReplace},
    {PCMG, MGDevReplaceMG},
    {PCGAMG, MGDevReplaceGAMG},
};

static PetscErrorCode Replace(const char name[], PetscBool replace)
{
  char      known[128] = "";
  PetscBool same;

  PetscFunctionBegin;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    PetscCall(PetscStrcmp(name, types[i].name, &same));
    if (same) PetscCall((*types[i].replace)(replace));
    if (same) PetscFunctionReturn(PETSC_SUCCESS);
    if (i > 0) PetscCall(PetscStrlcat(known, ", ", sizeof known));
    PetscCall(PetscStrlcat(known, types[i].name, sizeof known));
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE,
          "petscpack has no type in the place of \"%s\"; those of -petscpack_replace and PetscPackReplaceType() are %s",
          name, known);
}

/* PetscOptionsStringArray() would leave out a name that is one too many */
PetscErrorCode PetscPackReplaceFromOptions(void)
{
  char      list[256] = "", **name = NULL;
  PetscBool set;
  int       count = 0;

  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Types of petscpack under the names of PETSc's", NULL);
  PetscCall(PetscOptionsString("-petscpack_replace",
                               "Types of PETSc that are to mean those of petscpack: cg,gmres,mg,gamg",
                               "PetscPackReplaceType", list, list, sizeof list, &set));
  PetscOptionsEnd();
  PetscCall(PetscStrToArray(list, ',', &count, &name));
  for (int i = 0; i < count; i++) PetscCall(Replace(name[i], PETSC_TRUE));
  PetscCall(PetscStrToArrayDestroy(count, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackReplaceType - Lets a type name of PETSc mean the type of petscpack that inherits from it, for programs that set
  it in their code

  Not Collective

  Input Parameters:
+ type    - `KSPCG`, `KSPGMRES`, `PCMG` or `PCGAMG`
- replace - `PETSC_FALSE` gives the name back to PETSc's own type

  Options Database Key:
. -petscpack_replace <cg,gmres,mg,gamg> - the same for a list of names, read by `PetscPackInitializePackage()`

  Level: intermediate

  Notes:
  Solvers and preconditioners that have their type already keep it. The name of the type stays that of PETSc.

  Types of PETSc that are made from `PCMG`, such as `PCHMG`, are not changed by this.

.seealso: `KSPCGDEVICE`, `KSPGMRESDEVICE`, `PCMGDEVICE`, `PCGAMGDEVICE`, `KSPCGDeviceReplaceCG()`, `PetscPackInitializePackage()`
@*/
PetscErrorCode PetscPackReplaceType(const char type[], PetscBool replace)
{
  PetscFunctionBegin;
  PetscAssertPointer(type, 1);
  PetscCall(PetscPackInitializePackage());
  PetscCall(Replace(type, replace));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGDeviceReplaceCG - Lets the type name `KSPCG` mean `KSPCGDEVICE`, as `PetscPackReplaceType()` does

  Not Collective

  Input Parameter:
. replace - `PETSC_FALSE` gives the name back to PETSc's own type

  Options Database Key:
. -ksp_cgdevice_replace_cg - the same, read by `PetscPackInitializePackage()`

  Level: intermediate

.seealso: `PetscPackReplaceType()`, `KSPCGDEVICE`, `KSPCG`
@*/
PetscErrorCode KSPCGDeviceReplaceCG(PetscBool replace)
{
  PetscFunctionBegin;
  PetscCall(PetscPackReplaceType(KSPCG, replace));
  PetscFunctionReturn(PETSC_SUCCESS);
}
