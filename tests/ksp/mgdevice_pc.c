/*
  mgdevice_pc.c - compares PC types mgdevice and gamgdevice with mg and gamg: the same iterations under several solvers,
  with counted applications on the device; columns, transposes, Richardson's iteration; changes between solves, and
  hierarchies left to PETSc

    mgdevice_pc [-sample n: every n-th case]
*/
static const char help[] = "Compares PC types mgdevice and gamgdevice with PETSc's.\n";

#include "mgdevice_test.h"

#include <string.h>

#define JACOBI "-mg_levels_pc_type jacobi "
#define COARSE "-pc_gamg_coarse_eq_limit 8 "

static int prefixes;

static PetscBool OnDevice(void) { return CGDevTestOnDevice(); }

/* A solver for a row of the table, with PETSc's type or with ours */
static PetscErrorCode Create(const MGRow *row, KSPType type, PetscBool ours, CGDevSetup *setup, KSP *ksp)
{
  char prefix[32];

  PetscFunctionBeginUser;
  *setup      = CGDevTestSetup();
  setup->norm = KSP_NORM_DEFAULT;
  if (row->levels) setup->pc = ours ? PCMGDEVICE : PCMG;
  else setup->pc = ours ? PCGAMGDEVICE : PCGAMG;
  PetscCall(PetscSNPrintf(prefix, sizeof prefix, "pc%d_", prefixes++));
  PetscCall(MGTestCreate(row, prefix, type, setup, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that all applications since the type was set were on the device, or by PETSc for a reason with that word */
static PetscErrorCode CheckCounts(const char name[], KSP ksp, const char refused[])
{
  const PetscBool served = !refused && OnDevice() ? PETSC_TRUE : PETSC_FALSE;
  char            text[400];
  PCMGDeviceInfo  info;

  PetscFunctionBeginUser;
  PetscCall(MGTestInfo(ksp, &info));
  PetscCall(PetscSNPrintf(text, sizeof text, "%d applications on the device, %d by PETSc: %s", (int)info.applies_device,
                          (int)info.applies_petsc, info.reason));
  PetscCall(CGDevTestCheck((info.applies_device > 0) == served, name, text));
  PetscCall(CGDevTestCheck((info.applies_petsc > 0) != served, name, text));
  PetscCall(CGDevTestCheck((info.reason[0] == 0) == served, name, text));
  PetscCall(CGDevTestCheck((info.bytes > 0) == served, name, "bytes on the device"));
  if (refused && OnDevice()) PetscCall(CGDevTestCheck(strstr(info.reason, refused) != NULL, name, info.reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- solvers ---- */

static PetscErrorCode Compare(const MGRow *row, KSPType type)
{
  static CGDevOutcome got;
  CGDevSetup          setup;
  char                name[128];
  KSP                 plain, ours;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof name, "%s, %s", type, row->name));
  PetscCall(Create(row, type, PETSC_FALSE, &setup, &plain));
  PetscCall(Create(row, type, PETSC_TRUE, &setup, &ours));
  PetscCall(CGDevTestBoth(name, plain, ours, NULL, &setup, &got));
  PetscCall(CheckCounts(name, ours, row->refused));
  PetscCall(KSPDestroy(&plain));
  PetscCall(KSPDestroy(&ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solvers(PetscInt sample)
{
  static const KSPType types[] = {KSPCG, KSPFGMRES, KSPGMRES, KSPBCGS, KSPRICHARDSON};
  static const MGRow   rows[]  = {
         {"gamg", MG_SCALAR, 0, COARSE, NULL},
         {"gamg three unknowns, w", MG_ELASTIC, 0, "-pc_gamg_coarse_eq_limit 4 -pc_mg_cycle_type w", NULL},
         {"gamg two cycles", MG_SCALAR, 0, COARSE "-pc_mg_multiplicative_cycles 2", NULL},
         {"mg", MG_GRID, 3, JACOBI, NULL},
         {"mg jumps", MG_GRID_JUMPS, 3, JACOBI "-mg_levels_ksp_max_it 3", NULL},
         {"mg, coarsest level by petsc", MG_GRID, 3, JACOBI "-mg_coarse_pc_type jacobi", NULL},
         {"mg with gmres", MG_GRID, 3, JACOBI "-mg_levels_ksp_type gmres", "level 2: the smoother is gmres"},
         {"mg additive", MG_GRID, 3, JACOBI "-pc_mg_type additive", "the multigrid is not multiplicative"},
  };
  PetscInt number = 0;

  PetscFunctionBeginUser;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
      const PetscBool richardson = !strcmp(types[t], KSPRICHARDSON) ? PETSC_TRUE : PETSC_FALSE;

      /* an additive cycle does not converge by itself, and Richardson leaves two cycles per application to PETSc */
      if (richardson &&
          (rows[r].problem == MG_GRID_JUMPS || strstr(rows[r].name, "additive") || strstr(rows[r].name, "two")))
        continue;
      if (number++ % sample == 0) PetscCall(Compare(&rows[r], types[t]));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- applications without a solver ---- */

static PetscErrorCode Differ(Vec x, Vec y, PetscReal *difference)
{
  PetscReal size;

  PetscFunctionBeginUser;
  PetscCall(TestDistance(y, x, NORM_2, difference, &size));
  *difference /= size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Blocks(const char name[], PC pc, Vec b, Vec expected)
{
  PetscReal difference;
  PetscInt  n, N;
  Vec       column;
  Mat       B, X;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(VecGetSize(b, &N));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, N, 3, NULL, &B));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, N, 3, NULL, &X));
  for (PetscInt j = 0; j < 3; j++) {
    PetscCall(MatDenseGetColumnVecWrite(B, j, &column));
    PetscCall(VecCopy(b, column));
    PetscCall(VecScale(column, 1 + j));
    PetscCall(MatDenseRestoreColumnVecWrite(B, j, &column));
  }
  PetscCall(TestAssemble(B));
  PetscCall(TestAssemble(X));
  PetscCall(PCMatApply(pc, B, X));
  for (PetscInt j = 0; j < 3; j++) {
    PetscCall(MatDenseGetColumnVecRead(X, j, &column));
    PetscCall(VecDuplicate(expected, &b));
    PetscCall(VecCopy(column, b));
    PetscCall(VecScale(b, 1 / (PetscReal)(1 + j)));
    PetscCall(Differ(expected, b, &difference));
    PetscCall(CGDevTestCheck(difference < 100 * PETSC_MACHINE_EPSILON, name, "a column differs"));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDenseRestoreColumnVecRead(X, j, &column));
  }
  PetscCall(TestDestroyMats(&B, &X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCApply(), repeatability of its bits, PCApplyTranspose() and PCMatApply(), without KSPSolve() */
static PetscErrorCode Applications(void)
{
  static const MGRow row = {"applications", MG_SCALAR, 0, COARSE, NULL};
  CGDevSetup         setup;
  PCMGDeviceInfo     before, info;
  PetscReal          difference;
  PetscBool          same;
  Vec                b, x[3];
  KSP                plain, ours;
  PC                 pc;
  Mat                A;

  PetscFunctionBeginUser;
  PetscCall(Create(&row, KSPGMRES, PETSC_FALSE, &setup, &plain));
  PetscCall(Create(&row, KSPGMRES, PETSC_TRUE, &setup, &ours));
  PetscCall(KSPGetOperators(ours, &A, NULL));
  PetscCall(MatCreateVecs(A, &x[0], &b));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(VecDuplicate(x[0], &x[2]));
  PetscCall(CGDevTestRightHandSide(b));
  PetscCall(KSPSetUp(plain));
  PetscCall(KSPSetUp(ours));
  PetscCall(MGTestInfo(ours, &before));
  PetscCall(CGDevTestCheck((before.set_ups == 1) == OnDevice(), row.name, "no hierarchy after PCSetUp()"));
  PetscCall(KSPGetPC(plain, &pc));
  PetscCall(PCApply(pc, b, x[0]));
  PetscCall(KSPGetPC(ours, &pc));
  PetscCall(PCApply(pc, b, x[1]));
  PetscCall(PCApply(pc, b, x[2]));
  PetscCall(Differ(x[0], x[1], &difference));
  PetscCall(CGDevTestCheck(difference < 1000 * PETSC_MACHINE_EPSILON, row.name, "another result"));
  PetscCall(VecEqual(x[1], x[2], &same));
  PetscCall(CGDevTestCheck(same, row.name, "not the same bits"));
  PetscCall(Blocks(row.name, pc, b, x[1]));
  PetscCall(MGTestInfo(ours, &info));
  PetscCall(CGDevTestCheck(info.applies_device == (OnDevice() ? 5 : 0), row.name, "not 5 applications"));
  PetscCall(CGDevTestCheck(info.set_ups == before.set_ups, row.name, "set up for an application"));
  PetscCall(PCApplyTranspose(pc, b, x[2]));
  PetscCall(Differ(x[1], x[2], &difference));
  PetscCall(CGDevTestCheck(difference < (PetscReal)1e-3, row.name, "not its own transpose"));
  PetscCall(MGTestInfo(ours, &info));
  PetscCall(CGDevTestCheck(info.applies_petsc == 1 || !OnDevice(), row.name, "the transpose was not counted"));
  PetscCall(CGDevTestCheck(strstr(info.reason, "transposed") || !OnDevice(), row.name, info.reason));
  for (int i = 0; i < 3; i++) PetscCall(VecDestroy(&x[i]));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&plain));
  PetscCall(KSPDestroy(&ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- changes between solves ---- */

typedef struct {
  KSP          plain, ours;
  CGDevSetup   setup;
  CGDevOutcome got;
} Pair;

static Pair pair;

static const MGRow changing = {"changes", MG_GRID, 3, JACOBI, NULL};

static PetscErrorCode NewValues(KSP ksp) { return MGTestFill(&changing, ksp, (PetscReal)1.4); }

static PetscErrorCode MoreSteps(KSP ksp)
{
  KSP smoother;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetSmoother(pc, 2, &smoother));
  PetscCall(KSPSetTolerances(smoother, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetCycle(KSP ksp, PCMGType type)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGSetType(pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Additive(KSP ksp) { return SetCycle(ksp, PC_MG_ADDITIVE); }
static PetscErrorCode Multiplicative(KSP ksp) { return SetCycle(ksp, PC_MG_MULTIPLICATIVE); }

/* Makes a change in both solvers, and solves by both. served: on the device; set_ups: number of times that data was taken
   from PETSc so far */
static PetscErrorCode Both(const char name[], PetscErrorCode (*change)(KSP), PetscBool served, PetscInt set_ups)
{
  PCMGDeviceInfo before, info;

  PetscFunctionBeginUser;
  PetscCall(MGTestInfo(pair.ours, &before));
  if (change) PetscCall((*change)(pair.plain));
  if (change) PetscCall((*change)(pair.ours));
  PetscCall(CGDevTestBoth(name, pair.plain, pair.ours, NULL, &pair.setup, &pair.got));
  PetscCall(MGTestInfo(pair.ours, &info));
  if (OnDevice()) {
    PetscCall(CGDevTestCheck((info.applies_device > before.applies_device) == served, name, info.reason));
    PetscCall(CGDevTestCheck(info.set_ups == set_ups, name, "another number of set-ups"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Changes(KSPType type)
{
  const PetscBool richardson = !strcmp(type, KSPRICHARDSON) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(Create(&changing, type, PETSC_FALSE, &pair.setup, &pair.plain));
  PetscCall(Create(&changing, type, PETSC_TRUE, &pair.setup, &pair.ours));
  PetscCall(Both("the first solve", NULL, PETSC_TRUE, 1));
  PetscCall(Both("nothing new", NULL, PETSC_TRUE, 1));
  PetscCall(Both("new values", NewValues, PETSC_TRUE, 2));
  PetscCall(Both("more steps", MoreSteps, PETSC_TRUE, 3));
  if (!richardson) PetscCall(Both("additive", Additive, PETSC_FALSE, 3));
  PetscCall(Both("multiplicative", Multiplicative, PETSC_TRUE, richardson ? 3 : 4));
  PetscCall(KSPDestroy(&pair.plain));
  PetscCall(KSPDestroy(&pair.ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- single precision ---- */

/* Another solve, in that precision: at most 10% more iterations than `expected`, to the same residual */
static PetscErrorCode InPrecision(const char name[], KSP ksp, CGDevSetup *setup, PetscBool single, PetscInt *iterations)
{
  static CGDevOutcome got;
  PCMGDeviceInfo      info;
  char                text[200];
  PC                  pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGDeviceSetSinglePrecision(pc, single));
  PetscCall(CGDevTestSolve(ksp, NULL, setup, &got));
  PetscCall(MGTestInfo(ksp, &info));
  if (OnDevice())
    PetscCall(CGDevTestCheck(info.single == (PetscDefined(USE_REAL_DOUBLE) ? single : PETSC_FALSE), name,
                             "another precision than wanted"));
  PetscCall(PetscSNPrintf(text, sizeof text, "%d iterations, and %d before", (int)got.iterations, (int)*iterations));
  PetscCall(CGDevTestCheck(got.reason > 0, name, text));
  if (*iterations > 0) PetscCall(CGDevTestCheck(10 * got.iterations <= 11 * *iterations + 10, name, text));
  *iterations = got.iterations;
  PetscCall(VecDestroy(&got.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From double to single precision and back between two solves, for solvers that call PCApply() and for one that
   contains the cycle */
static PetscErrorCode Precision(KSPType type)
{
  static const MGRow row        = {"precision", MG_GRID_JUMPS, 3, JACOBI "-mg_levels_ksp_max_it 3", NULL};
  PetscInt           iterations = 0;
  CGDevSetup         setup;
  KSP                ksp;

  PetscFunctionBeginUser;
  PetscCall(Create(&row, type, PETSC_TRUE, &setup, &ksp));
  PetscCall(InPrecision("double", ksp, &setup, PETSC_FALSE, &iterations));
  PetscCall(InPrecision("single", ksp, &setup, PETSC_TRUE, &iterations));
  PetscCall(InPrecision("double again", ksp, &setup, PETSC_FALSE, &iterations));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- KSPCGDEVICE shares the hierarchy of the PC ---- */

static PetscErrorCode Shared(void)
{
  static const MGRow  row = {"cgdevice with gamgdevice", MG_SCALAR, 0, COARSE, NULL};
  static CGDevOutcome expected, got;
  PetscMPIInt         size;
  KSPDeviceInfo       solver;
  PCMGDeviceInfo      info;
  CGDevSetup          setup;
  KSP                 ksp;
  PC                  pc;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Create(&row, KSPCG, PETSC_FALSE, &setup, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &expected));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(Create(&row, KSPCGDEVICE, PETSC_TRUE, &setup, &ksp));
  PetscCall(KSPDeviceSetMode(ksp, size > 1 ? KSP_DEVICE_CHUNK : KSP_DEVICE_AUTO)); /* host vectors */
  for (int turn = 0; turn < 2; turn++) {
    PetscCall(CGDevTestSolve(ksp, NULL, &setup, &got));
    PetscCall(CGDevTestAlike(row.name, &expected, &got));
    PetscCall(MGTestServed(row.name, &got));
    PetscCall(MGTestInfo(ksp, &info));
    PetscCall(CGDevTestCheck(info.applies_device == 0 && (info.applies_petsc == 0 || !OnDevice()), row.name,
                             "PCApply() was called"));
    PetscCall(CGDevTestCheck(info.set_ups == got.info.set_ups, row.name, "there are two hierarchies"));
    PetscCall(VecDestroy(&got.x));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCNONE));
    PetscCall(KSPDeviceGetInfo(ksp, &solver)); /* must not read data that the PC has freed */
    PetscCall(CGDevTestCheck(solver.solves_device == got.info.solves_device, row.name, "another count"));
    PetscCall(PCSetType(pc, PCGAMGDEVICE));
    PetscCall(KSPSetFromOptions(ksp));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&expected.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- within a field split ---- */

static PetscErrorCode Split(const char pc[], CGDevOutcome *outcome, PCMGDeviceInfo *info)
{
  static const MGRow row    = {"two unknowns of a point", MG_GRID_UNKNOWNS, 2, JACOBI, NULL};
  const CGDevSetup   unused = CGDevTestSetup();
  CGDevSetup         setup;
  char               prefix[32], option[64];
  PetscInt           splits;
  KSP                source, ksp, *inner;
  PC                 outer;
  Mat                A;

  PetscFunctionBeginUser;
  PetscCall(Create(&row, KSPCG, PETSC_FALSE, &setup, &source)); /* only its matrix is used */
  PetscCall(KSPGetOperators(source, &A, NULL));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(PetscSNPrintf(prefix, sizeof prefix, "split%d_", prefixes++));
  PetscCall(KSPSetOptionsPrefix(ksp, prefix));
  for (int i = 0; i < 2; i++) {
    PetscCall(PetscSNPrintf(option, sizeof option, "-%sfieldsplit_%d_pc_type", prefix, i));
    PetscCall(PetscOptionsSetValue(NULL, option, pc));
    PetscCall(PetscSNPrintf(option, sizeof option, "-%sfieldsplit_%d_pc_gamg_coarse_eq_limit", prefix, i));
    PetscCall(PetscOptionsSetValue(NULL, option, "8"));
  }
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(ksp, unused.rtol, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetResidualHistory(ksp, NULL, CGDEV_NORMS, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &outer));
  PetscCall(PCSetType(outer, PCFIELDSPLIT));
  PetscCall(PCFieldSplitSetBlockSize(outer, 2));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &unused, outcome));
  PetscCall(PCFieldSplitGetSubKSP(outer, &splits, &inner));
  PetscCall(CGDevTestCheck(splits == 2, "fieldsplit", "not two splits"));
  for (PetscInt i = 0; i < splits; i++) {
    PetscCall(MGTestInfo(inner[i], &info[i]));
    info[i].reason = "";
  }
  PetscCall(PetscFree(inner));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(KSPDestroy(&source));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Splits(void)
{
  static CGDevOutcome expected, got;
  PCMGDeviceInfo      info[2];

  PetscFunctionBeginUser;
  PetscCall(Split(PCGAMG, &expected, info));
  PetscCall(CGDevTestCheck(info[0].applies_device == 0, "fieldsplit with gamg", "an application of ours"));
  PetscCall(Split(PCGAMGDEVICE, &got, info));
  PetscCall(CGDevTestAlike("fieldsplit", &expected, &got));
  for (int i = 0; i < 2 && OnDevice(); i++)
    PetscCall(CGDevTestCheck(info[i].applies_device >= got.iterations && info[i].applies_petsc == 0, "fieldsplit",
                             "not on the device"));
  PetscCall(TestDestroyVecs(&expected.x, &got.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt sample = 1;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sample", &sample, NULL));
  PetscCall(Solvers(sample));
  PetscCall(Applications());
  PetscCall(Changes(KSPGMRES));
  PetscCall(Changes(KSPRICHARDSON));
  PetscCall(Precision(KSPFGMRES));
  PetscCall(Precision(KSPCGDEVICE));
  PetscCall(Shared());
  PetscCall(Splits());
  return CGDevTestEnd();
}
