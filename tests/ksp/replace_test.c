/*
  replace_test.c - PetscPackReplaceType() with each subset of names, compared with PETSc's own types: every type that
  PETSc makes from mg is created, changed into each of the others, set up, applied, viewed, reset and destroyed, with
  the same results as without replacement
*/
static const char help[] = "Type names of PETSc that mean types of petscpack.\n";

#include "cgdevice_test.h"

#include <petscdmda.h>
#include <string.h>

typedef struct {
  const char *type;
  int         name; /* bit of the name that makes it ours; 0: always PETSc's own, -1: always ours */
} Row;

/* Excludes two cases: PETSc leaves the type name mg on an exotic PC, which therefore cannot be changed into mg; and
   naming the inner PC of an hmg leaks the previous one */
static PetscBool CanChange(const Row *from, const Row *to)
{
  return (from != to || strcmp(from->type, PCHMG)) && (strcmp(from->type, PCEXOTIC) || strcmp(to->type, PCMG))
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* The names, by bits of a subset */
static const char *const names[] = {KSPCG, PCMG, PCGAMG};
enum { CG = 1, MG = 2, GAMG = 4, SUBSETS = 8 };

static const Row rows[] = {
    {PCMG, MG}, {PCGAMG, GAMG}, {PCHMG, 0}, {PCEXOTIC, 0}, {PCJACOBI, 0}, {PCMGDEVICE, -1}, {PCGAMGDEVICE, -1},
#if defined(PETSC_HAVE_ML)
    {PCML, 0},
#endif
};
enum { ROWS = PETSC_STATIC_ARRAY_LENGTH(rows) };

static DM  dm;
static Mat A;
static Vec b, x, expected[ROWS];

static PetscBool IsOurs(const Row *row, int subset)
{
  return row->name < 0 || (row->name & subset) ? PETSC_TRUE : PETSC_FALSE;
}

/* A seven-point stencil in space, on a box of 27 points as PCEXOTIC needs it */
static PetscErrorCode Fill(void)
{
  DMDALocalInfo grid;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(dm, &grid));
  for (PetscInt k = grid.zs; k < grid.zs + grid.zm; k++)
    for (PetscInt j = grid.ys; j < grid.ys + grid.ym; j++)
      for (PetscInt i = grid.xs; i < grid.xs + grid.xm; i++) {
        const MatStencil row      = {.i = i, .j = j, .k = k};
        const MatStencil col[]    = {{.i = i, .j = j, .k = k - 1}, {.i = i, .j = j - 1, .k = k},
                                     {.i = i - 1, .j = j, .k = k}, {.i = i, .j = j, .k = k},
                                     {.i = i + 1, .j = j, .k = k}, {.i = i, .j = j + 1, .k = k},
                                     {.i = i, .j = j, .k = k + 1}};
        const PetscInt   inside[] = {k > 0, j > 0, i > 0, 1, i + 1 < grid.mx, j + 1 < grid.my, k + 1 < grid.mz};

        for (int c = 0; c < 7; c++) {
          const PetscScalar value = c == 3 ? (PetscScalar)6.2 : -1;

          if (inside[c]) PetscCall(MatSetValuesStencil(A, 1, &row, 1, &col[c], &value, INSERT_VALUES));
        }
      }
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Begin(void)
{
  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 7, 7,
                         7, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMSetMatType(dm, MATAIJ));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(Fill());
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(CGDevTestRightHandSide(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the type and the data that it needs for set-up */
static PetscErrorCode SetType(PC pc, const char type[])
{
  const PetscBool grids = !strcmp(type, PCMG) || !strcmp(type, PCMGDEVICE) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PCSetType(pc, type));
  PetscCall(PCSetDM(pc, grids || !strcmp(type, PCEXOTIC) ? dm : NULL));
  PetscCall(PCSetOperators(pc, A, A));
  if (grids) {
    PetscCall(PCMGSetLevels(pc, 2, NULL));
    PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_BOTH));
  }
  if (!strcmp(type, PCHMG)) PetscCall(PCHMGSetInnerPCType(pc, PCGAMG));
  PetscCall(PCSetFromOptions(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(PC pc)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "/dev/null", &viewer));
  PetscCall(PCView(pc, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up and applies. first: no name is replaced, and the result becomes the expected one */
static PetscErrorCode Use(PC pc, int r, int subset, PetscBool first)
{
  const PetscBool on_device = IsOurs(&rows[r], subset) && CGDevTestOnDevice() ? PETSC_TRUE : PETSC_FALSE;
  PetscReal       difference, size, tolerance;
  char            name[64];
  PCMGDeviceInfo  info;
  PetscBool       same;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof name, "%s, names %d", rows[r].type, subset));
  PetscCall(View(pc));
  PetscCall(PCApply(pc, b, x));
  if (first) PetscCall(VecCopy(x, expected[r]));
  PetscCall(VecNorm(expected[r], NORM_2, &size));
  PetscCall(VecAXPY(x, -1, expected[r]));
  PetscCall(VecNorm(x, NORM_2, &difference));
  tolerance = strcmp(rows[r].type, PCML) ? 10000 * PETSC_MACHINE_EPSILON : (PetscReal)0.5; /* ML draws random numbers */
  PetscCall(CGDevTestCheck(size > 0 && difference <= tolerance * size, name, "another result"));
  PetscCall(PCMGDeviceGetInfo(pc, &info));
  PetscCall(CGDevTestCheck((info.applies_device > 0) == on_device, name, info.reason));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, strcmp(rows[r].type, PCEXOTIC) ? rows[r].type : PCMG, &same));
  PetscCall(CGDevTestCheck(same, name, "another type name"));
  PetscCall(View(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A PC of each type, used, reset, used again if its type allows it, changed into type `to`, used and destroyed */
static PetscErrorCode Live(int from, int to, int subset)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(SetType(pc, rows[from].type));
  if (to % 2) PetscCall(Use(pc, from, subset, PETSC_FALSE)); /* otherwise the type is changed before any set-up */
  if (to % 4 > 1) PetscCall(PCReset(pc));
  PetscCall(SetType(pc, rows[to].type));
  if (from != to) PetscCall(Use(pc, to, subset, PETSC_FALSE));
  if (from % 2) PetscCall(PCReset(pc));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetNames(int subset)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) PetscCall(PetscPackReplaceType(names[i], subset & 1 << i ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The name cg in a solver */
static PetscErrorCode Solver(int subset)
{
  KSP           ksp;
  KSPDeviceMode mode;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  mode = KSPDeviceGetMode(ksp, &mode) ? KSP_DEVICE_HOST : KSP_DEVICE_AUTO;
  PetscCall(PetscPopErrorHandler());
  PetscCall(CGDevTestCheck((mode == KSP_DEVICE_AUTO) == ((subset & CG) > 0), "cg", "another type"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The name gamg: the set-up is on the device, too, unless the program or an option names a type of GAMG; by hand,
   gamgdevice has the hierarchy of PETSc */
static PetscErrorCode GamgTypes(void)
{
  static const struct {
    const char *type, *by_program, *by_option;
    PetscBool   on_device;
  } cases[] = {{PCGAMG, NULL, NULL, PETSC_TRUE},
               {PCGAMG, PCGAMGAGG, NULL, PETSC_FALSE},
               {PCGAMG, NULL, PCGAMGAGG, PETSC_FALSE},
               {PCGAMG, PCGAMGAGG, PCGAMGAGGDEVICE, PETSC_TRUE},
               {PCGAMGDEVICE, NULL, NULL, PETSC_FALSE}};

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsClearValue(NULL, "-pc_gamg_type"));
  PetscCall(PetscPackReplaceType(PCGAMG, PETSC_TRUE));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    const PetscBool     on_device = cases[i].on_device && CGDevTestOnDevice() ? PETSC_TRUE : PETSC_FALSE;
    const PetscBool     named     = cases[i].by_option && cases[i].on_device ? PETSC_TRUE : PETSC_FALSE;
    PCGAMGAggDeviceInfo info;
    PC                  pc;

    if (cases[i].by_option) PetscCall(PetscOptionsSetValue(NULL, "-pc_gamg_type", cases[i].by_option));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, cases[i].type));
    if (cases[i].by_program) PetscCall(PCGAMGSetType(pc, cases[i].by_program));
    PetscCall(SetType(pc, cases[i].type));
    PetscCall(PCApply(pc, b, x));
    PetscCall(PCGAMGAggDeviceGetInfo(pc, &info)); /* all zero for agg */
    PetscCall(CGDevTestCheck((info.levels_device + info.levels_host > 0) == (on_device || named), cases[i].type,
                             "type of GAMG"));
    PetscCall(CGDevTestCheck((info.levels_device > 0) == on_device, cases[i].type, "levels coarsened on the device"));
    PetscCall(PCDestroy(&pc));
    if (cases[i].by_option) PetscCall(PetscOptionsClearValue(NULL, "-pc_gamg_type"));
  }
  PetscCall(PetscPackReplaceType(PCGAMG, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The name hypre: boomeramg is a gamgdevice, of which -pc_hypre_type makes PETSc's own again; without hypre that is an
   error, and the name is unknown after the replacement */
static PetscErrorCode Hypre(void)
{
  static const char *const kinds[] = {"boomeramg", "euclid"};
  const PetscErrorCode     unknown = PetscDefined(HAVE_HYPRE) ? PETSC_SUCCESS : PETSC_ERR_SUP;
  PCMGDeviceInfo           info;
  PetscErrorCode           error;
  PetscBool                same;
  PC                       pc;

  PetscFunctionBeginUser;
  PetscCall(PetscPackReplaceType(PCHYPRE, PETSC_TRUE));
  for (int k = 0; k < (PetscDefined(USE_64BIT_INDICES) ? 1 : 2); k++) { /* Euclid has indices of 32 bits */
    PetscCall(PetscOptionsSetValue(NULL, "-pc_hypre_type", kinds[k]));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    error = SetType(pc, PCHYPRE);
    PetscCall(PetscPopErrorHandler());
    PetscCall(CGDevTestCheck(error == (k ? unknown : PETSC_SUCCESS), kinds[k], "error of PCSetFromOptions()"));
    if (!error) PetscCall(PCApply(pc, b, x));
    PetscCall(PCMGDeviceGetInfo(pc, &info));
    PetscCall(CGDevTestCheck((info.applies_device > 0) == (!k && CGDevTestOnDevice()), kinds[k], info.reason));
    PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCHYPRE, &same));
    PetscCall(CGDevTestCheck(same || error, kinds[k], "another type name"));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-pc_hypre_type"));
  PetscCall(PetscPackReplaceType(PCHYPRE, PETSC_FALSE));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  error = PCSetType(pc, PCHYPRE);
  PetscCall(PetscPopErrorHandler());
  PetscCall(CGDevTestCheck((error == PETSC_SUCCESS) == PetscDefined(HAVE_HYPRE), PCHYPRE,
                           "known without hypre, or unknown with it"));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Unknown(void)
{
  PetscErrorCode error;

  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  error = PetscPackReplaceType(PCHMG, PETSC_TRUE);
  PetscCall(PetscPopErrorHandler());
  PetscCall(CGDevTestCheck(error == PETSC_ERR_ARG_UNKNOWN_TYPE, "hmg", "no error"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscMPIInt size;
  PC          pc;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  /* smoothers that are served, and coarsest levels without a dense matrix, which would take the emulated GPU a
     second; agg, because the aggregates of aggdevice are others */
  PetscCall(PetscOptionsInsertString(NULL, "-mg_levels_pc_type jacobi -mg_coarse_pc_type jacobi "
                                           "-pc_gamg_type agg -hmg_inner_pc_gamg_type agg "
                                           "-hmg_inner_mg_coarse_pc_type jacobi -pc_gamg_coarse_eq_limit 20"));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Begin());
  for (int r = 0; r < ROWS; r++) {
    PetscCall(VecDuplicate(x, &expected[r]));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(SetType(pc, rows[r].type));
    PetscCall(Use(pc, r, 0, PETSC_TRUE));
    PetscCall(PCDestroy(&pc));
  }
  for (int subset = 0; subset < SUBSETS; subset++) {
    PetscCall(SetNames(subset));
    PetscCall(Solver(subset));
    for (int from = 0; from < ROWS && (size == 1 || !(subset & CG)); from++) { /* replacing CG has no effect on PCs */
      const int to = (from + 1 + subset) % ROWS;

      if (CanChange(&rows[from], &rows[to])) PetscCall(Live(from, to, subset));
    }
  }
  PetscCall(SetNames(0));
  PetscCall(GamgTypes());
  PetscCall(Hypre());
  PetscCall(Unknown());
  for (int r = 0; r < ROWS; r++) PetscCall(VecDestroy(&expected[r]));
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  return CGDevTestEnd();
}
