/*
  factor_packages.c - programs that name a package of the host, such as mumps, in a PCLU or PCCHOLESKY. The function by which
  PETSc makes a factor of that package is wrapped: while such a PC makes its factor, the result is a shell of the package
  cudss under the asked name, whose other body is a factor of the named package.
*/
#include "factor.h"

typedef PetscErrorCode (*GetFactor)(Mat, MatFactorType, Mat *);

static PetscErrorCode GetNamed(int which, Mat A, MatFactorType type, Mat *F);

/* One row for each package: a function of its own, because PETSc does not pass the name */
#define PACKAGES(row)                                                                                                  \
  row(0, mumps) row(1, superlu_dist) row(2, superlu) row(3, umfpack) row(4, cholmod) row(5, klu) row(6, pastix)        \
      row(7, strumpack)
#define GET(i, package)                                                                                                \
  static PetscErrorCode MatGetFactor_##package(Mat A, MatFactorType type, Mat *F) { return GetNamed(i, A, type, F); }
#define ROW(i, package) [i] = {.name = #package, .ours = MatGetFactor_##package},
PACKAGES(GET)

static struct {
  const char *name;
  GetFactor   ours, former[2][2]; /* of MATSEQAIJ and MATMPIAIJ, LU and Cholesky; NULL: PETSc was built without it */
  PetscBool   replaced;
} packages[] = {PACKAGES(ROW)};
enum { COUNT = sizeof packages / sizeof *packages, MUMPS = 0, ICNTL = 60 };

static const MatType       types[2] = {MATSEQAIJ, MATMPIAIJ};
static const MatFactorType kinds[2] = {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY};

/* ---- functions of MUMPS ---- */

/* Control parameters that concern output, speed, memory and orderings, and 24, which handles pivots that are zero: the
   package factors where there are some. All others choose the package. */
static PetscBool IsIgnored(PetscInt icntl)
{
  static const PetscInt ignored[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 14, 15, 16, 18, 22, 23, 24, 28, 29, 48, 58};

  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
    if (ignored[i] == icntl) return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscErrorCode SetIcntl(Mat F, PetscInt icntl, PetscInt value)
{
  Mat_CuDSS *s = (Mat_CuDSS *)F->data;

  PetscFunctionBegin;
  if (!IsIgnored(icntl))
    PetscCall(PetscSNPrintf(s->keeps, sizeof s->keeps, "ICNTL(%" PetscInt_FMT ") of mumps is set", icntl));
  PetscUseMethod(s->named, "MatMumpsSetIcntl_C", (Mat, PetscInt, PetscInt), (s->named, icntl, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The others are passed to the factor of MUMPS; what it knows of a factorization is zero if cuDSS has made that */
#define PASS(name, argument)                                                                                           \
  static PetscErrorCode name(Mat F, PetscInt i, argument value)                                                        \
  {                                                                                                                    \
    const Mat named = ((Mat_CuDSS *)F->data)->named;                                                                   \
                                                                                                                       \
    PetscFunctionBegin;                                                                                                \
    PetscUseMethod(named, "MatMumps" #name "_C", (Mat, PetscInt, argument), (named, i, value));                        \
    PetscFunctionReturn(PETSC_SUCCESS);                                                                                \
  }
PASS(GetIcntl, PetscInt *)
PASS(SetCntl, PetscReal)
PASS(GetCntl, PetscReal *)
PASS(GetInfo, PetscInt *)
PASS(GetInfog, PetscInt *)
PASS(GetRinfo, PetscReal *)
PASS(GetRinfog, PetscReal *)

static PetscErrorCode ComposeMumps(Mat F)
{
  const PetscObject o = (PetscObject)F;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(o, "MatMumpsSetIcntl_C", SetIcntl));
  PetscCall(PetscObjectComposeFunction(o, "MatMumpsGetIcntl_C", GetIcntl));
  PetscCall(PetscObjectComposeFunction(o, "MatMumpsSetCntl_C", SetCntl));
  PetscCall(PetscObjectComposeFunction(o, "MatMumpsGetCntl_C", GetCntl));
  PetscCall(PetscObjectComposeFunction(o, "MatMumpsGetInfo_C", GetInfo));
  PetscCall(PetscObjectComposeFunction(o, "MatMumpsGetInfog_C", GetInfog));
  PetscCall(PetscObjectComposeFunction(o, "MatMumpsGetRinfo_C", GetRinfo));
  PetscCall(PetscObjectComposeFunction(o, "MatMumpsGetRinfog_C", GetRinfog));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Leaves a reason if an option of the named package needs that package */
PetscErrorCode MatCuDSSPackageKeeps(Mat F, Mat_CuDSS *s, char why[SPMV_MESSAGE_MAX])
{
  const char *prefix = ((PetscObject)F)->prefix;
  char        option[64];
  PetscBool   mumps, set = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(F->solvertype, packages[MUMPS].name, &mumps));
  for (PetscInt i = 1; mumps && i <= ICNTL && !s->keeps[0]; i++) {
    if (IsIgnored(i)) continue;
    PetscCall(PetscSNPrintf(option, sizeof option, "-mat_mumps_icntl_%" PetscInt_FMT, i));
    PetscCall(PetscOptionsHasName(((PetscObject)F)->options, prefix, option, &set));
    if (set) PetscCall(PetscSNPrintf(s->keeps, sizeof s->keeps, "%s is set", option));
  }
  if (s->keeps[0]) PetscCall(PetscStrncpy(why, s->keeps, SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- wrapped functions ---- */

/* MUMPS is asked for its factor at once, because programs set parameters of it before the symbolic phase */
static PetscErrorCode GetNamed(int which, Mat A, MatFactorType type, Mat *F)
{
  PetscMPIInt size;
  GetFactor   former;
  Mat_CuDSS  *s;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  former = packages[which].former[size > 1 ? 1 : 0][type == kinds[0] ? 0 : 1];
  if (!MatCuDSSIsWithinPC()) {
    PetscCall((*former)(A, type, F));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCuDSSCreate(A, type, packages[which].name, F));
  s         = (Mat_CuDSS *)(*F)->data;
  s->former = former;
  if (which != MUMPS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*former)(A, type, &s->named));
  if (s->named) PetscCall(ComposeMumps(*F));
  else PetscCall(MatDestroy(F)); /* it does not serve this matrix, and PETSc tells */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackReplacePackage - Lets cuDSS factor where a `PCLU` or `PCCHOLESKY` names a package of the host

  Not Collective

  Input Parameters:
+ package - "mumps", "superlu_dist", "superlu", "umfpack", "cholmod", "klu", "pastix" or "strumpack"
- replace - `PETSC_FALSE` gives the name back

  Options Database Key:
. -petscpack_replace_packages <list> - the same for a list of names, read by `PetscPackInitializePackage()`

  Level: intermediate

  Notes:
  Needs `-petscpack_replace lu,cholesky`. Factors have the asked name. The named
  package factors what cuDSS cannot, as PETSc's does without a name, and what an option asks of it: parameters of MUMPS
  other than those of output, speed, memory, orderings and zero pivots (ICNTL 1 to 8, 10 to 12, 14 to 16, 18, 22 to 24, 28,
  29, 48, 58). What `MatMumpsGetInfog()` and similar functions return is zero after a factorization by cuDSS.

  A package that PETSc was built without stays unknown.

.seealso: `PetscPackReplaceType()`, `PetscPackSetCuDSS()`, `MatCuDSSGetInfo()`
@*/
PetscErrorCode PetscPackReplacePackage(const char package[], PetscBool replace)
{
  int which = 0;

  PetscFunctionBegin;
  while (which < COUNT && strcmp(package, packages[which].name)) which++;
  PetscCheck(which < COUNT, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "petscpack has no replacement for the package \"%s\": -petscpack_replace_packages and "
             "PetscPackReplacePackage() take mumps, superlu_dist, superlu, umfpack, cholmod, klu, pastix and strumpack",
             package);
  if (packages[which].replaced == replace) PetscFunctionReturn(PETSC_SUCCESS);
  packages[which].replaced = replace;
  for (int i = 0; i < 4; i++) {
    const int  t = i / 2, k = i % 2;
    GetFactor *former = &packages[which].former[t][k];

    if (replace) PetscCall(MatSolverTypeGet(package, types[t], kinds[k], NULL, NULL, former));
    if (*former)
      PetscCall(MatSolverTypeRegister(package, types[t], kinds[k], replace ? packages[which].ours : *former));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's list of packages ends with PetscFinalize() */
void PetscPackReplacePackagesForget(void)
{
  for (int i = 0; i < COUNT; i++) packages[i].replaced = PETSC_FALSE;
}
