/* replace.c - makes type names of PETSc mean types of petscpack, for programs that have these names in their code. */
#include "ksp/impls/cg/cgdevice.h"
#include "ksp/impls/gmres/gmresdevice.h"
#include "mat/impls/aij/aijfmt.h"
#include "pc/impls/factor/pcfactor.h"
#include "plugin.h"

static PetscErrorCode ReplaceLU(PetscBool replace) { return PCFactorReplace(PCLU, replace); }
static PetscErrorCode ReplaceCholesky(PetscBool replace) { return PCFactorReplace(PCCHOLESKY, replace); }
static PetscErrorCode ReplaceILU(PetscBool replace) { return PCFactorReplace(PCILU, replace); }
static PetscErrorCode ReplaceICC(PetscBool replace) { return PCFactorReplace(PCICC, replace); }
static PetscErrorCode ReplaceCG(PetscBool replace) { return KSPDevReplace(&CGDevClass, replace); }
static PetscErrorCode ReplaceGMRES(PetscBool replace) { return KSPDevReplace(&GMRESDevClass, replace); }
static PetscErrorCode ReplaceRichardson(PetscBool replace) { return KSPDevReplace(&RichardsonDevClass, replace); }

/* Each type that can be replaced is one line here */
static const struct {
  const char *name;
  PetscErrorCode (*replace)(PetscBool);
} types[] = {
    {MATAIJ, AIJFmtReplace},       {KSPCG, ReplaceCG},
    {KSPGMRES, ReplaceGMRES},      {KSPRICHARDSON, ReplaceRichardson},
    {PCMG, MGDevReplaceMG},        {PCGAMG, MGDevReplaceGAMG},
    {PCHYPRE, MGDevReplaceHypre},  {PCLU, ReplaceLU},
    {PCCHOLESKY, ReplaceCholesky}, {PCILU, ReplaceILU},
    {PCICC, ReplaceICC},
};

static PetscErrorCode TypeReplace_PetscPack(const char name[], PetscBool replace)
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
          "petscpack has no replacement for type \"%s\"; -petscpack_replace and PetscPackReplaceType() take %s", name,
          known);
}

/* Calls replace() for each name in the value of an option. PetscOptionsStringArray() would silently drop names beyond the
   size of its array. */
static PetscErrorCode ListFromOptions(const char title[], const char option[], const char text[], const char page[],
                                      PetscErrorCode (*replace)(const char[], PetscBool))
{
  char list[256] = "", **name = NULL;
  int  count = 0;

  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, title, NULL);
  PetscCall(PetscOptionsString(option, text, page, list, list, sizeof list, NULL));
  PetscOptionsEnd();
  PetscCall(PetscStrToArray(list, ',', &count, &name));
  for (int i = 0; i < count; i++) PetscCall((*replace)(name[i], PETSC_TRUE));
  PetscCall(PetscStrToArrayDestroy(count, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackReplaceFromOptions(void)
{
  PetscFunctionBegin;
  PetscCall(ListFromOptions("Types of PETSc replaced by petscpack", "-petscpack_replace",
                            "Types of PETSc replaced by types of petscpack: aij,cg,gmres,richardson,mg,gamg,hypre,lu,"
                            "cholesky,ilu,icc",
                            "PetscPackReplaceType", TypeReplace_PetscPack));
  PetscCall(ListFromOptions("Packages replaced by petscpack", "-petscpack_replace_packages",
                            "Packages in whose place cuDSS factors: mumps,superlu_dist,superlu,umfpack,cholmod,klu,"
                            "pastix,strumpack",
                            "PetscPackReplacePackage", PetscPackReplacePackage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackReplaceType - Makes a type name of PETSc mean the type of petscpack that inherits from it, for programs that
  set the type in their code

  Not Collective

  Input Parameters:
+ type    - `MATAIJ`, `KSPCG`, `KSPGMRES`, `KSPRICHARDSON`, `PCMG`, `PCGAMG`, `PCHYPRE`, `PCLU`, `PCCHOLESKY`,
            `PCILU` or `PCICC`
- replace - `PETSC_FALSE` makes the name mean PETSc's own type again

  Options Database Key:
. -petscpack_replace <aij,cg,gmres,richardson,mg,gamg,hypre,lu,cholesky,ilu,icc> - the same for a list of names, read by `PetscPackInitializePackage()`

  Level: intermediate

  Notes:
  Matrices, solvers and preconditioners that have their type already keep it. `MatGetType()`, `KSPGetType()` and
  `PCGetType()` return PETSc's name.

  A matrix made as `MATAIJ`, `MATSEQAIJ` or `MATMPIAIJ` chooses its format as `MATAIJAUTO` does, keeps its values on the
  host, as PETSc's own does, and products copy host vectors to the GPU. `-mat_seqaij_type seqaij` exempts a matrix with
  that options prefix.

  A `PCGAMG` becomes a `PCGAMGDEVICE` with `PCGAMGAGGDEVICE`, unless the program or its options name a type of GAMG, or
  there is no GPU: then its hierarchy is PETSc's. `PCGAMGGetType()` returns `PCGAMGAGGDEVICE`.

  Types that PETSc builds on `PCMG`, such as `PCHMG`, are not replaced.

  A `PCHYPRE` of the kind boomeramg becomes a `PCGAMGDEVICE` with `PCGAMGAGGDEVICE`, another method than BoomerAMG: a line
  on the standard error names the options -pc_hypre_boomeramg_* that are not taken over, and -pc_gamg_* and -mg_levels_*
  take effect. Other kinds stay hypre's. A PETSc without hypre knows the name, too.

  `PCLU` and `PCCHOLESKY` keep their types: those for which no package is named, and that do not factor in place, take the
  package `MATSOLVERCUDSS`. PETSc's package factors where that cannot; see `PetscPackSetCuDSS()`.

  `PCILU` and `PCICC` do so with the package `MATSOLVERPETSCPACK`: ILU and ICC of sequential AIJ matrices are factored
  and solved with on the GPU, with PETSc's levels of fill, orderings and shifts, and its iterates up to rounding. Blocks of
  `PCBJACOBI` and `PCASM` are such PCs. PETSc's package factors small matrices, with different orderings of rows and columns,
  with shifts inblocks, and where a pivot is too small. `PCSOR` has no name here: `MatSOR()` of a matrix of petscpack
  sweeps on the GPU.

.seealso: `PetscPackSetCuDSS()`, `MatIncompleteGetInfo()`, `MATAIJAUTO`, `KSPCGDEVICE`, `KSPGMRESDEVICE`, `PCMGDEVICE`, `PCGAMGDEVICE`,
          `PetscPackInitializePackage()`
@*/
PetscErrorCode PetscPackReplaceType(const char type[], PetscBool replace)
{
  PetscFunctionBegin;
  PetscAssertPointer(type, 1);
  PetscCall(PetscPackInitializePackage());
  PetscCall(TypeReplace_PetscPack(type, replace));
  PetscFunctionReturn(PETSC_SUCCESS);
}
