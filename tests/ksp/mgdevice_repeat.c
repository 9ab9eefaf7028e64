/*
  mgdevice_repeat.c - one KSPCGDEVICE with multigrid for many solves: new values keep the graph, other levels make a new
  one; right-hand sides and norms that end a solve early; other cases that the solver declines
*/
static const char help[] = "Repeated solves with multigrid on the device.\n";

#include "mgdevice_test.h"

#include <math.h>
#include <string.h>

enum { STEPS = 3 };

static int prefixes;

/* A KSPCG and a KSPCGDEVICE, and the results of its last solve */
typedef struct {
  KSP          plain, device;
  CGDevSetup   setup;
  CGDevOutcome got;
} Pair;

static Pair pair;

static PetscErrorCode Begin(const MGRow *row, KSPNormType norm, KSPDeviceMode mode)
{
  char prefix[32];

  PetscFunctionBeginUser;
  pair.setup      = CGDevTestSetup();
  pair.setup.pc   = row->levels ? PCMG : PCGAMG;
  pair.setup.norm = norm;
  pair.setup.mode = mode;
  if (norm == KSP_NORM_NONE) pair.setup.max_it = 5;
  PetscCall(PetscSNPrintf(prefix, sizeof prefix, "pair%d_", prefixes++));
  PetscCall(MGTestCreate(row, prefix, KSPCG, &pair.setup, &pair.plain));
  PetscCall(MGTestCreate(row, prefix, KSPCGDEVICE, &pair.setup, &pair.device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve by each solver, for the same right-hand side */
static PetscErrorCode Solve(const char name[], Vec b)
{
  return CGDevTestBoth(name, pair.plain, pair.device, b, &pair.setup, &pair.got);
}

static PetscErrorCode End(void)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&pair.plain));
  PetscCall(KSPDestroy(&pair.device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves by KSPCGDEVICE only, whose norms must have the same bits as in the last solve */
static PetscErrorCode SameBits(const char name[])
{
  static CGDevOutcome again;
  PetscBool           same;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestSolve(pair.device, NULL, &pair.setup, &again));
  PetscCall(PetscMemcmp(again.norms, pair.got.norms, (size_t)again.count * sizeof *again.norms, &same));
  PetscCall(CGDevTestCheck(same && again.count == pair.got.count, name, "not the same bits"));
  PetscCall(CGDevTestCheck(again.info.set_ups == pair.got.info.set_ups, name, "set up for nothing"));
  PetscCall(VecDestroy(&again.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* keeps: the levels keep their patterns, so one graph must serve all solves */
static PetscErrorCode Values(const MGRow *row, PetscBool keeps)
{
  PetscFunctionBeginUser;
  PetscCall(Begin(row, KSP_NORM_PRECONDITIONED, KSP_DEVICE_AUTO));
  for (int step = 0; step < STEPS; step++) {
    const PetscReal scale = 1 + (PetscReal)0.37 * (PetscReal)step;

    PetscCall(MGTestFill(row, pair.plain, scale));
    PetscCall(MGTestFill(row, pair.device, scale));
    PetscCall(Solve(row->name, NULL));
    PetscCall(MGTestServed(row->name, &pair.got));
    if (!CGDevTestOnDevice()) continue;
    PetscCall(SameBits(row->name));
    PetscCall(CGDevTestCheck(pair.got.info.set_ups == step + 1, row->name, "not one set-up for each step"));
    if (keeps) PetscCall(CGDevTestCheck(pair.got.info.graphs == 1, row->name, "not one graph"));
  }
  PetscCall(End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- changes between two solves, each of which the hierarchy on the device must notice ---- */

typedef struct {
  PetscInt number;
  PC       mg, pc; /* the multigrid, and the preconditioner of the smoother */
  KSP      smoother;
} Level;

typedef PetscErrorCode Change(const Level *);

/* Makes the same change in both solvers */
static PetscErrorCode ChangeBoth(Change *make, PetscInt number)
{
  const KSP both[] = {pair.plain, pair.device};

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    Level l = {.number = number};

    PetscCall(KSPGetPC(both[k], &l.mg));
    PetscCall(PCMGGetSmoother(l.mg, number, &l.smoother));
    PetscCall(KSPGetPC(l.smoother, &l.pc));
    PetscCall(make(&l));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ThreeSteps(const Level *l)
{
  return KSPSetTolerances(l->smoother, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3);
}

static PetscErrorCode FourSteps(const Level *l)
{
  return KSPSetTolerances(l->smoother, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 4);
}

static PetscErrorCode SetBounds(const Level *l)
{
  return KSPChebyshevSetEigenvalues(l->smoother, (PetscReal)1.9, (PetscReal)0.3);
}

static PetscErrorCode ScaleLevel(const Level *l)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(l->smoother, NULL, &A));
  PetscCall(MatScale(A, (PetscScalar)1.03));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ScaleInterpolation(const Level *l)
{
  Mat P;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetInterpolation(l->mg, l->number, &P));
  PetscCall(MatScale(P, (PetscScalar)0.97));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A restriction of its own, with the values of the interpolation */
static PetscErrorCode OwnRestriction(const Level *l)
{
  Mat P, R;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetInterpolation(l->mg, l->number, &P));
  PetscCall(MatDuplicate(P, MAT_COPY_VALUES, &R));
  PetscCall(PCMGSetRestriction(l->mg, l->number, R));
  PetscCall(MatDestroy(&R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NoPreconditioner(const Level *l) { return PCSetType(l->pc, PCNONE); }

static PetscErrorCode Absolute(const Level *l) { return PCJacobiSetUseAbs(l->pc, PETSC_TRUE); }

static PetscErrorCode Richardson(const Level *l)
{
  PetscFunctionBeginUser;
  PetscCall(KSPSetType(l->smoother, KSPRICHARDSON));
  PetscCall(KSPRichardsonSetScale(l->smoother, (PetscReal)0.7));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OtherScale(const Level *l) { return KSPRichardsonSetScale(l->smoother, (PetscReal)0.6); }

static PetscErrorCode TwoSmoothers(const Level *l)
{
  KSP up;
  PC  pc;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(l->smoother, &A, NULL));
  /* with a solver of its own from now on, which PCSetUp() would complete */
  PetscCall(PCMGGetSmootherUp(l->mg, l->number, &up));
  PetscCall(KSPSetOperators(up, A, A));
  PetscCall(KSPSetInitialGuessNonzero(up, PETSC_TRUE));
  PetscCall(KSPSetTolerances(up, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3));
  PetscCall(KSPChebyshevSetEigenvalues(up, (PetscReal)1.9, (PetscReal)0.3));
  PetscCall(KSPGetPC(up, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WCycle(const Level *l) { return PCMGSetCycleType(l->mg, PC_MG_CYCLE_W); }

static PetscErrorCode TwoCycles(const Level *l) { return PCMGMultiplicativeSetCycles(l->mg, 2); }

static PetscErrorCode CoarseSolver(const Level *l)
{
  PetscFunctionBeginUser;
  PetscCall(KSPSetType(l->smoother, KSPCG));
  PetscCall(PCSetType(l->pc, PCJACOBI));
  PetscCall(KSPSetTolerances(l->smoother, (PetscReal)1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another number of steps makes a new cycle, other bounds do not */
static PetscErrorCode Smoothers(void)
{
  static const MGRow row = {"other smoothers", MG_GRID, 3, "-mg_levels_pc_type jacobi", NULL};
  PetscInt           graphs;

  PetscFunctionBeginUser;
  PetscCall(Begin(&row, KSP_NORM_NATURAL, KSP_DEVICE_GRAPH));
  PetscCall(Solve(row.name, NULL));
  PetscCall(ChangeBoth(SetBounds, 2));
  PetscCall(Solve("other bounds", NULL));
  PetscCall(MGTestServed("other bounds", &pair.got));
  graphs = pair.got.info.graphs;
  if (CGDevTestOnDevice()) PetscCall(CGDevTestCheck(graphs == 1, "other bounds", "another graph"));
  PetscCall(ChangeBoth(FourSteps, 1));
  PetscCall(Solve("other steps", NULL));
  PetscCall(MGTestServed("other steps", &pair.got));
  if (CGDevTestOnDevice()) PetscCall(CGDevTestCheck(pair.got.info.graphs == 2, "other steps", "not another graph"));
  PetscCall(End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each change is noticed at the next solve, and the solve after that takes nothing from PETSc */
static PetscErrorCode Changes(void)
{
  static const MGRow row = {"changes", MG_GRID, 3, "-mg_levels_pc_type jacobi -mg_levels_ksp_max_it 2", NULL};
  static const struct {
    const char *name;
    Change     *make;
    PetscInt    level;
  } changes[] = {{"changed bounds", SetBounds, 2},
                 {"changed steps", ThreeSteps, 1},
                 {"changed values of a level", ScaleLevel, 1},
                 {"changed values of the coarsest level", ScaleLevel, 0},
                 {"changed values of an interpolation", ScaleInterpolation, 2},
                 {"a restriction of its own", OwnRestriction, 2},
                 {"two smoothers", TwoSmoothers, 2},
                 {"another option of jacobi", Absolute, 1},
                 {"no preconditioner", NoPreconditioner, 1},
                 {"richardson", Richardson, 2},
                 {"another scale", OtherScale, 2},
                 {"w cycle", WCycle, 2},
                 {"two cycles", TwoCycles, 2},
                 {"another coarsest solver", CoarseSolver, 0}};
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Begin(&row, KSP_NORM_PRECONDITIONED, KSP_DEVICE_AUTO));
  PetscCall(Solve(row.name, NULL));
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    const PetscInt set_ups = pair.got.info.set_ups;

    PetscCall(ChangeBoth(changes[i].make, changes[i].level));
    PetscCall(Solve(changes[i].name, NULL));
    PetscCall(MGTestServed(changes[i].name, &pair.got));
    if (!CGDevTestOnDevice()) continue;
    /* from the solver of several processes on the coarsest level nothing is taken */
    if (size == 1 || changes[i].level > 0)
      PetscCall(CGDevTestCheck(pair.got.info.set_ups == set_ups + 1, changes[i].name, "not noticed once"));
    PetscCall(SameBits(changes[i].name));
  }
  PetscCall(End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with a copy of the matrix, from which only the residuals of the finest level are computed */
static PetscErrorCode UseCopy(KSP ksp)
{
  PC  pc;
  Mat A, copy;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetOperators(ksp, NULL, &A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &copy));
  PetscCall(KSPSetOperators(ksp, copy, A));
  PetscCall(PCSetUseAmat(pc, PETSC_TRUE));
  PetscCall(MatDestroy(&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ScaleCopy(KSP ksp)
{
  Mat copy;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &copy, NULL));
  PetscCall(MatScale(copy, (PetscScalar)1.02));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values that no preconditioner is made from: PCSetUp() does nothing */
static PetscErrorCode Residuals(void)
{
  static const MGRow row = {"another matrix for residuals", MG_GRID, 3, "-mg_levels_pc_type jacobi", NULL};
  PetscInt           set_ups;

  PetscFunctionBeginUser;
  PetscCall(Begin(&row, KSP_NORM_PRECONDITIONED, KSP_DEVICE_AUTO));
  PetscCall(UseCopy(pair.plain));
  PetscCall(UseCopy(pair.device));
  PetscCall(Solve(row.name, NULL));
  PetscCall(MGTestServed(row.name, &pair.got));
  set_ups = pair.got.info.set_ups;
  PetscCall(ScaleCopy(pair.plain));
  PetscCall(ScaleCopy(pair.device));
  PetscCall(Solve(row.name, NULL));
  if (CGDevTestOnDevice()) {
    PetscCall(CGDevTestCheck(pair.got.info.set_ups == set_ups + 1, row.name, "not noticed once"));
    PetscCall(SameBits(row.name));
  }
  PetscCall(End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve after which nothing has changed costs one agreement of several processes, whatever the number of levels */
static PetscErrorCode Agreements(void)
{
  static const MGRow row   = {"agreements", MG_GRID, 3, "-mg_levels_pc_type jacobi", NULL};
  CGDevSetup         setup = CGDevTestSetup();
  CGDevOutcome       outcome;
  PetscLogDouble     before;
  PetscMPIInt        size;
  KSP                ksp;
  PC                 pc;

  PetscFunctionBeginUser;
  setup.pc = PCMGDEVICE;
  PetscCall(MGTestCreate(&row, "agreements_", KSPCG, &setup, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &outcome));
  PetscCall(VecDestroy(&outcome.x));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
#if defined(PETSC_USE_LOG)
  before = petsc_allreduce_ct;
  PetscCall(PCPreSolve(pc, ksp));
  PetscCall(PCPostSolve(pc, ksp));
  if (CGDevTestOnDevice())
    PetscCall(CGDevTestCheck(petsc_allreduce_ct - before == (size > 1 ? 1 : 0), row.name, "not one"));
#endif
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetLevels(KSP ksp, PetscInt levels, Mat A)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPReset(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGAMGSetNlevels(pc, levels));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* More and fewer levels in one solver, with another preconditioner in between */
static PetscErrorCode Levels(void)
{
  static const MGRow row = {"other levels", MG_SCALAR, 0, "-pc_gamg_coarse_eq_limit 8", NULL};
  Mat                A;
  PC                 pc;

  PetscFunctionBeginUser;
  PetscCall(Begin(&row, KSP_NORM_PRECONDITIONED, KSP_DEVICE_AUTO));
  PetscCall(KSPGetOperators(pair.device, &A, NULL));
  PetscCall(PetscObjectReference((PetscObject)A));
  for (PetscInt levels = 4; levels > 1; levels--) {
    PetscCall(SetLevels(pair.plain, levels, A));
    PetscCall(SetLevels(pair.device, levels, A));
    PetscCall(Solve(row.name, NULL));
    PetscCall(MGTestServed(row.name, &pair.got));
  }
  PetscCall(KSPGetPC(pair.plain, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPGetPC(pair.device, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(Solve("jacobi after multigrid", NULL));
  PetscCall(End());
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Right-hand sides that end a solve before its first iteration, and no norm at all */
static PetscErrorCode Ends(void)
{
  static const MGRow row = {"ends", MG_GRID, 3, "-mg_levels_pc_type jacobi", NULL};
  Mat                A;
  Vec                b;

  PetscFunctionBeginUser;
  for (KSPNormType norm = KSP_NORM_NONE; norm <= KSP_NORM_NATURAL; norm++) {
    PetscCall(Begin(&row, norm, norm == KSP_NORM_NATURAL ? KSP_DEVICE_CHUNK : KSP_DEVICE_AUTO));
    PetscCall(KSPGetOperators(pair.device, &A, NULL));
    PetscCall(MatCreateVecs(A, NULL, &b));
    PetscCall(Solve("a right-hand side", NULL));
    if (norm != KSP_NORM_NONE) PetscCall(Solve("a right-hand side of zeros", b));
    PetscCall(VecSet(b, 1));
    PetscCall(VecSetValue(b, 7, (PetscScalar)NAN, INSERT_VALUES));
    PetscCall(TestAssembleVec(b));
    if (norm != KSP_NORM_NONE) PetscCall(Solve("a right-hand side with NaN", b));
    PetscCall(Solve("a right-hand side after NaN", NULL));
    PetscCall(MGTestServed("a right-hand side after NaN", &pair.got));
    PetscCall(VecDestroy(&b));
    PetscCall(End());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LookAtSolution(KSP ksp, PetscInt iteration, PetscReal norm, void *ctx)
{
  PetscReal *last = ctx;
  Vec        x;

  PetscFunctionBeginUser;
  (void)iteration;
  (void)norm;
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscCall(VecNorm(x, NORM_2, last));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A monitor that sees the solution of each iteration */
static PetscErrorCode Monitors(void)
{
  static const MGRow row     = {"monitor", MG_GRID, 3, "-mg_levels_pc_type jacobi", NULL};
  PetscReal          last[2] = {0, 1};

  PetscFunctionBeginUser;
  PetscCall(Begin(&row, KSP_NORM_PRECONDITIONED, KSP_DEVICE_AUTO));
  PetscCall(KSPMonitorSet(pair.plain, LookAtSolution, &last[0], NULL));
  PetscCall(KSPMonitorSet(pair.device, LookAtSolution, &last[1], NULL));
  PetscCall(Solve(row.name, NULL));
  PetscCall(MGTestServed(row.name, &pair.got));
  PetscCall(CGDevTestCheck(PetscAbsReal(last[0] - last[1]) < (PetscReal)1e-3 * last[0], row.name, "another solution"));
  PetscCall(End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Declined(void)
{
  static const MGRow row = {"declined", MG_GRID, 2, "-mg_levels_pc_type jacobi", NULL};

  PetscFunctionBeginUser;
  PetscCall(Begin(&row, KSP_NORM_PRECONDITIONED, KSP_DEVICE_PERSISTENT));
  PetscCall(Solve("persistent", NULL));
  if (CGDevTestOnDevice())
    PetscCall(CGDevTestCheck(strstr(pair.got.why, "the persistent kernel has no multigrid") != NULL, "persistent",
                             pair.got.why));
  PetscCall(KSPDeviceSetMode(pair.device, KSP_DEVICE_AUTO));
  PetscCall(KSPCGDeviceSetPrecision(pair.device, KSP_CGDEVICE_MIXED));
  PetscCall(Solve("mixed", NULL));
  PetscCall(CGDevTestCheck(pair.got.info.precision == KSP_CGDEVICE_DOUBLE, "mixed", "in mixed precision"));
  PetscCall(CGDevTestCheck((pair.got.info.cycles > 0) == CGDevTestOnDevice(), "mixed", pair.got.why));
  PetscCall(End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const MGRow grid  = {"values on a grid", MG_GRID, 3, "-mg_levels_pc_type jacobi -pc_mg_cycle_type w", NULL};
  static const MGRow once  = {"values on a grid, v", MG_GRID, 3, "-mg_levels_pc_type jacobi", NULL};
  static const MGRow keeps = {
      "values, interpolation kept", MG_ELASTIC, 0,
      "-pc_gamg_reuse_interpolation true -mg_levels_pc_type pbjacobi -pc_gamg_coarse_eq_limit 4", NULL};
  static const MGRow anew    = {"values, interpolation anew", MG_SCALAR, 0,
                                "-pc_gamg_reuse_interpolation false -pc_gamg_coarse_eq_limit 8", NULL};
  PetscBool          changes = PETSC_FALSE; /* only these */

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-changes", &changes, NULL));
  PetscCall(Changes());
  PetscCall(Residuals());
  PetscCall(Agreements());
  if (changes) return CGDevTestEnd();
  PetscCall(Values(&grid, PETSC_TRUE));
  PetscCall(Values(&once, PETSC_TRUE));
  PetscCall(Values(&keeps, PETSC_TRUE));
  PetscCall(Values(&anew, PETSC_FALSE));
  PetscCall(Smoothers());
  PetscCall(Levels());
  PetscCall(Ends());
  PetscCall(Monitors());
  PetscCall(Declined());
  return CGDevTestEnd();
}
