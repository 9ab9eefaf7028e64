/*
  aggdevice_test.c - compares PCGAMG of type aggdevice with type agg: iterations and levels, each option of agg by the
  command line and by C, levels left to agg, and changes of type.

    aggdevice_test [-type aij] [-expect_host n] [-expect_agg n]: with little device memory, the total number of levels
                   done by the host or by agg
*/
static const char help[] = "Compares GAMG of type aggdevice with agg.\n";

#include "cgdevice_test.h"

#include <string.h>

static PetscBool expect_gpu, little;
static PetscBool one_way; /* the next matrix has edges whose opposite is no entry, with a negligible weight */
static PetscInt  levels_host, levels_agg, injected; /* 1: PETSc makes the finest prolongator, for every type of GAMG */
static char      type[64] = MATAIJ;

/* The outcome of a set-up and a solve */
typedef struct {
  PetscInt            iterations, levels, rows[16]; /* from the coarsest level on */
  PCGAMGAggDeviceInfo info;
  char                reason[256];
  Vec                 x;
} Outcome;

/* A grid of n x n points per process, with that many unknowns each. Every 11th point is isolated; every second isolated
   point has a row of zeros except for the diagonal. */
static PetscErrorCode Grid(PetscInt n, PetscInt unknowns, Mat *A)
{
  PetscMPIInt rank, size;
  PetscInt    rows;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  rows = size == 3 && rank == 1 ? 0 : n * n * unknowns; /* a process without rows */
  PetscCall(
      TestCreate(PETSC_COMM_WORLD, type, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE, unknowns, 6 * unknowns, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the entries between two points; the unknowns of one point are coupled weakly */
static PetscErrorCode Couple(Mat A, PetscInt unknowns, PetscInt i, PetscInt j, PetscReal weight)
{
  PetscFunctionBeginUser;
  for (PetscInt u = 0; u < unknowns; u++)
    for (PetscInt v = 0; v < unknowns; v++)
      PetscCall(MatSetValue(A, i * unknowns + u, j * unknowns + v,
                            (u == v ? 1 : (PetscScalar)0.1) * (PetscScalar)weight, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridFill(Mat A, PetscInt n, PetscInt unknowns, PetscReal other_way)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  first /= unknowns;
  last /= unknowns;
  for (PetscInt p = first; p < last; p++) {
    const PetscInt k = p - first, neighbour[] = {k % n + 1 < n ? p + 1 : -1, k + n < last - first ? p + n : -1};

    PetscCall(Couple(A, unknowns, p, p, (PetscReal)0.02));
    if (one_way && p + 3 < last) PetscCall(Couple(A, unknowns, p, p + 3, (PetscReal)-1e-12));
    for (int d = 0; d < 2; d++) {
      const PetscReal w = d ? other_way : 1;

      if (neighbour[d] < 0 || p % 11 == 5 || neighbour[d] % 11 == 5) continue;
      PetscCall(Couple(A, unknowns, p, p, w));
      PetscCall(Couple(A, unknowns, neighbour[d], neighbour[d], w));
      PetscCall(Couple(A, unknowns, p, neighbour[d], -w));
      PetscCall(Couple(A, unknowns, neighbour[d], p, -w));
    }
  }
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Problem(PetscInt n, PetscInt unknowns, PetscReal other_way, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(Grid(n, unknowns, A));
  PetscCall(GridFill(*A, n, unknowns, other_way));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- solves ---- */

static PetscErrorCode Create(Mat A, const char gamg[], const char prefix[], PetscErrorCode (*set)(PC), KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetTolerances(*ksp, (PetscReal)(PetscDefined(USE_REAL_SINGLE) ? 1e-4 : 1e-8), PETSC_DEFAULT,
                             PETSC_DEFAULT, 400));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetType(pc, gamg));
  PetscCall(PCGAMGSetCoarseEqLim(pc, 20));
  if (set) PetscCall((*set)(pc));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Learn(KSP ksp, Outcome *o)
{
  PC  pc;
  KSP level;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetIterationNumber(ksp, &o->iterations));
  PetscCall(PCMGGetLevels(pc, &o->levels));
  for (PetscInt i = 0; i < o->levels && i < 16; i++) {
    PetscCall(PCMGGetSmoother(pc, i, &level));
    PetscCall(KSPGetOperators(level, &A, NULL));
    PetscCall(MatGetSize(A, &o->rows[i], NULL));
  }
  PetscCall(PCGAMGAggDeviceGetInfo(pc, &o->info));
  PetscCall(PetscStrncpy(o->reason, o->info.reason, sizeof o->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A complete solve with a GAMG type; the solution is o->x */
static PetscErrorCode Solve(Mat A, const char gamg[], const char prefix[], PetscErrorCode (*set)(PC), Outcome *o)
{
  KSP ksp;
  Vec b;

  PetscFunctionBeginUser;
  memset(o, 0, sizeof *o);
  PetscCall(Create(A, gamg, prefix, set, &ksp));
  PetscCall(MatCreateVecs(A, &o->x, &b));
  PetscCall(CGDevTestRightHandSide(b));
  PetscCall(KSPSolve(ksp, b, o->x));
  PetscCall(Learn(ksp, o));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that levels were coarsened where they must be; with little memory they may be coarsened anywhere */
static PetscErrorCode CheckOurs(const char name[], const Outcome *o)
{
  char text[400];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(text, sizeof text,
                          "%" PetscInt_FMT " levels on the device, %" PetscInt_FMT " on the host, %" PetscInt_FMT
                          " by agg: %s",
                          o->info.levels_device, o->info.levels_host, o->info.levels_agg, o->reason));
  levels_host += o->info.levels_host;
  levels_agg += o->info.levels_agg;
  if (little) {
    const PetscBool agg =
        o->info.levels_agg > 0 || o->info.prolongators_device < o->info.levels_device ? PETSC_TRUE : PETSC_FALSE;

    PetscCall(CGDevTestCheck(agg || o->reason[0] == 0, name, text));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CGDevTestCheck(o->info.levels_agg == 0, name, text));
  PetscCall(CGDevTestCheck((expect_gpu ? o->info.levels_device : o->info.levels_host) >= o->levels - 1 - injected &&
                               (expect_gpu ? o->info.levels_host : o->info.levels_device) == 0,
                           name, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All levels of a solve with these options are left to agg, for this reason */
static PetscErrorCode CheckLeft(const char name[], Mat A, const char prefix[], PetscErrorCode (*set)(PC),
                                const char reason[])
{
  Outcome o;

  PetscFunctionBeginUser;
  PetscCall(Solve(A, PCGAMGAGGDEVICE, prefix, set, &o));
  PetscCall(CGDevTestCheck(strstr(o.reason, reason) && o.info.levels_agg > 0, name, o.reason));
  PetscCall(CGDevTestCheck(o.info.levels_device + o.info.levels_host == 0, name, "levels of ours"));
  PetscCall(VecDestroy(&o.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSolutions(const char name[], Outcome *a, Outcome *b)
{
  const PetscReal tolerance = (PetscReal)(PetscDefined(USE_REAL_SINGLE) ? 2e-2 : 1e-5);
  PetscReal       size, error;

  PetscFunctionBeginUser;
  PetscCall(TestDistance(b->x, a->x, NORM_2, &error, &size));
  PetscCall(CGDevTestCheck(error <= tolerance * size, name, "the solution differs"));
  PetscCall(TestDestroyVecs(&a->x, &b->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* About as many iterations and rows as agg: on such small grids, one aggregate more or less matters */
static PetscErrorCode CompareWithAgg(const char name[], Mat A, const char prefix[], PetscErrorCode (*set)(PC))
{
  Outcome agg, ours;
  char    text[400];

  PetscFunctionBeginUser;
  PetscCall(Solve(A, PCGAMGAGG, prefix, set, &agg));
  PetscCall(Solve(A, PCGAMGAGGDEVICE, prefix, set, &ours));
  PetscCall(CheckOurs(name, &ours));
  PetscCall(PetscSNPrintf(text, sizeof text,
                          "%" PetscInt_FMT " iterations with %" PetscInt_FMT " levels, agg %" PetscInt_FMT
                          " with %" PetscInt_FMT,
                          ours.iterations, ours.levels, agg.iterations, agg.levels));
  PetscCall(CGDevTestCheck(4 * ours.iterations <= 5 * agg.iterations + 8, name, text));
  PetscCall(CGDevTestCheck(PetscAbsInt(ours.levels - agg.levels) <= 1, name, text));
  PetscCall(CheckSolutions(name, &agg, &ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- tests ---- */

static PetscErrorCode Matrices(void)
{
  char name[64];
  Mat  A;

  PetscFunctionBeginUser;
  for (PetscInt unknowns = 1; unknowns <= 3; unknowns += 2)
    for (int anisotropic = 0; anisotropic < 2; anisotropic++) {
      PetscCall(PetscSNPrintf(name, sizeof name, "grid of %" PetscInt_FMT " unknowns%s", unknowns,
                              anisotropic ? ", anisotropic" : ""));
      PetscCall(Problem(unknowns > 1 ? 14 : 25, unknowns, anisotropic ? (PetscReal)0.05 : 1, &A));
      PetscCall(CompareWithAgg(name, A, "plain_", NULL));
      PetscCall(MatDestroy(&A));
    }
  for (int i = 0; i < 3; i++) {
    PetscCall(PetscSNPrintf(name, sizeof name, "matrix %d", i));
    PetscCall(CGDevTestMatrix(i + 1, type, &A));
    PetscCall(CompareWithAgg(name, A, "plain_", NULL));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The near-null space of rigid motions: three columns per aggregate in the plane */
static PetscErrorCode NearNullSpace(void)
{
  const PetscInt n = little ? 40 : 14; /* P0 needs more memory than the aggregates do */
  PetscInt       rows, first;
  MatNullSpace   motions;
  PetscScalar   *place;
  Outcome        ours;
  Vec            points;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(Problem(n, 2, 1, &A));
  PetscCall(MatCreateVecs(A, &points, NULL));
  PetscCall(VecSetBlockSize(points, 2));
  PetscCall(VecGetLocalSize(points, &rows));
  PetscCall(VecGetOwnershipRange(points, &first, NULL));
  PetscCall(VecGetArrayWrite(points, &place));
  for (PetscInt i = 0; i < rows; i++) place[i] = (PetscScalar)(i % 2 ? i / 2 / n + first : i / 2 % n);
  PetscCall(VecRestoreArrayWrite(points, &place));
  PetscCall(MatNullSpaceCreateRigidBody(points, &motions));
  PetscCall(MatSetNearNullSpace(A, motions));
  PetscCall(MatNullSpaceDestroy(&motions));
  PetscCall(VecDestroy(&points));
  PetscCall(CompareWithAgg("rigid motions", A, "plain_", NULL));
  PetscCall(Solve(A, PCGAMGAGGDEVICE, "plain_", NULL, &ours));
  PetscCall(CGDevTestCheck(ours.levels > 1 && ours.rows[ours.levels - 2] % 3 == 0, "rigid motions",
                           "a coarse level whose rows are no multiple of three"));
  PetscCall(VecDestroy(&ours.x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NoAggressive(PC pc) { return PCGAMGSetAggressiveLevels(pc, 0); }
static PetscErrorCode TwoAggressive(PC pc) { return PCGAMGSetAggressiveLevels(pc, 2); }
#if PETSC_VERSION_GE(3, 20, 0)
static PetscErrorCode NoSquare(PC pc) { return PCGAMGSetAggressiveSquareGraph(pc, PETSC_FALSE); }
static PetscErrorCode Thrice(PC pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCGAMGSetAggressiveSquareGraph(pc, PETSC_FALSE));
  PetscCall(PCGAMGMISkSetAggressive(pc, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode MinimumDegree(PC pc) { return PCGAMGMISkSetMinDegreeOrdering(pc, PETSC_TRUE); }
#endif
#if PETSC_VERSION_GE(3, 22, 0)
static PetscErrorCode NotSymmetric(PC pc) { return PCGAMGSetGraphSymmetrize(pc, PETSC_FALSE); }
#endif

static PetscErrorCode Filter(PC pc)
{
  PetscReal threshold = (PetscReal)0.15;

  return PCGAMGSetThreshold(pc, &threshold, 1);
}
static PetscErrorCode FilterScaled(PC pc)
{
  PetscFunctionBeginUser;
  PetscCall(Filter(pc));
  PetscCall(PCGAMGSetThresholdScale(pc, (PetscReal)0.01));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An option of agg, by C and, for one prefix only, by the command line: the same effect, and another hierarchy than
   without it. set: NULL if C cannot set it */
static PetscErrorCode Option(Mat A, const char name[], const char prefix[], const char options[],
                             PetscErrorCode (*set)(PC), PetscErrorCode (*without)(PC))
{
  Outcome plain, by_c, by_line;
  char    text[400];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(Solve(A, PCGAMGAGGDEVICE, "plain_", without, &plain));
  PetscCall(Solve(A, PCGAMGAGGDEVICE, set ? "plain_" : prefix, set, &by_c));
  PetscCall(Solve(A, PCGAMGAGGDEVICE, prefix, NULL, &by_line));
  PetscCall(CheckOurs(name, &by_c));
  PetscCall(PetscSNPrintf(text, sizeof text,
                          "rows of the second level: %" PetscInt_FMT " by C, %" PetscInt_FMT
                          " by the command line, %" PetscInt_FMT " without the option",
                          by_c.rows[by_c.levels - 2], by_line.rows[by_line.levels - 2], plain.rows[plain.levels - 2]));
  PetscCall(CGDevTestCheck(by_c.levels == by_line.levels && !memcmp(by_c.rows, by_line.rows, sizeof by_c.rows) &&
                               by_c.iterations == by_line.iterations,
                           name, text));
  PetscCall(CGDevTestCheck(by_c.levels != plain.levels || memcmp(by_c.rows, plain.rows, sizeof by_c.rows), name, text));
  PetscCall(VecDestroy(&plain.x));
  PetscCall(CheckSolutions(name, &by_c, &by_line));
  PetscCall(CompareWithAgg(name, A, prefix, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Options(void)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(Problem(25, 1, 1, &A));
  PetscCall(Option(A, "no aggressive level", "n_", "-n_pc_gamg_aggressive_coarsening 0", NoAggressive, NULL));
  PetscCall(Option(A, "two aggressive levels", "t_", "-t_pc_gamg_aggressive_coarsening 2", TwoAggressive, NULL));
#if PETSC_VERSION_GE(3, 20, 0)
  PetscCall(Option(A, "no square", "s_", "-s_pc_gamg_aggressive_square_graph false", NoSquare, NULL));
  PetscCall(Option(A, "distance 3", "k_", "-k_pc_gamg_aggressive_square_graph false -k_pc_gamg_aggressive_mis_k 3",
                   Thrice, NULL));
  PetscCall(Option(A, "minimum degree", "m_", "-m_pc_gamg_mis_k_minimum_degree_ordering", MinimumDegree, NULL));
#endif
  PetscCall(MatDestroy(&A));
  PetscCall(Problem(25, 1, (PetscReal)0.3, &A));
  PetscCall(Option(A, "threshold", "f_", "-f_pc_gamg_threshold 0.15", Filter, NULL));
  PetscCall(Option(A, "threshold on the second level", "b_", "-b_pc_gamg_threshold -1,0.3", NULL, NULL));
  PetscCall(Option(A, "scale of the threshold", "g_", "-g_pc_gamg_threshold 0.15 -g_pc_gamg_threshold_scale 0.01",
                   FilterScaled, Filter));
  PetscCall(MatDestroy(&A));
#if PETSC_VERSION_GE(3, 22, 0)
  one_way = PETSC_TRUE;
  PetscCall(Problem(25, 1, 1, &A));
  one_way = PETSC_FALSE;
  PetscCall(Option(A, "graph that is not symmetric", "u_", "-u_pc_gamg_graph_symmetrize false", NotSymmetric, NULL));
  PetscCall(MatDestroy(&A));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TwoSmooths(PC pc) { return PCGAMGSetNSmooths(pc, 2); }

/* Coordinates of the nodes of a 25 x 25 grid in the plane */
static PetscErrorCode Coordinates(PC pc)
{
  PetscReal *xy;
  PetscInt   first, last, bs;
  Mat        A;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(MatGetBlockSize(A, &bs));
  PetscCall(PetscMalloc1(2 * (last - first) + 1, &xy));
  for (PetscInt node = first / bs; node < last / bs; node++) {
    xy[2 * (node - first / bs)]     = (PetscReal)(node % 25);
    xy[2 * (node - first / bs) + 1] = (PetscReal)(node / 25);
  }
  PetscCall(PCSetCoordinates(pc, 2, (last - first) / bs, xy));
  PetscCall(PetscFree(xy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothing on the device: as often as set by C or by the command line, and with coordinates instead of a near-null
   space */
static PetscErrorCode Smoothing(void)
{
  PetscMPIInt size;
  Outcome     ours;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Problem(25, 2, 1, &A));
  PetscCall(PetscOptionsInsertString(NULL, "-e_pc_gamg_agg_nsmooths 2"));
  PetscCall(CompareWithAgg("two smooths", A, "e_", NULL));
  PetscCall(CompareWithAgg("two smooths by C", A, "plain_", TwoSmooths));
  PetscCall(CompareWithAgg("coordinates", A, "plain_", Coordinates));
  PetscCall(Solve(A, PCGAMGAGGDEVICE, "plain_", TwoSmooths, &ours));
  PetscCall(CGDevTestCheck(ours.info.prolongators_device == (expect_gpu && size == 1 ? ours.info.levels_device : 0),
                           "prolongators on the device", ours.reason));
  PetscCall(CGDevTestCheck(ours.info.prolongators_device + ours.info.prolongators_agg ==
                               ours.info.levels_device + ours.info.levels_host + ours.info.levels_agg,
                           "prolongators that are not counted", ours.reason));
  PetscCall(CGDevTestCheck(ours.info.estimates_device + ours.info.estimates_petsc == ours.info.prolongators_device,
                           "estimates that are not counted", ours.reason));
  PetscCall(VecDestroy(&ours.x));
  PetscCall(Solve(A, PCGAMGAGGDEVICE, "a_", NULL, &ours));
  PetscCall(CGDevTestCheck(ours.info.prolongators_device == 0, "not smoothed", ours.reason));
  PetscCall(VecDestroy(&ours.x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TwoLevels(PC pc) { return PCGAMGSetNlevels(pc, 2); }

/* Triangles whose corners are far apart in the order of rows, so that most edges lead to other processes */
static PetscErrorCode Crossing(void)
{
  const PetscInt n = 1200;
  PetscMPIInt    size;
  PetscInt       first, last;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TestCreate(PETSC_COMM_WORLD, type, PETSC_DECIDE, PETSC_DECIDE, n, n, 1, 3, &A));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++)
    for (PetscInt third = 0; third < 3; third++)
      PetscCall(MatSetValue(A, i, (i + third * n / 3) % n, third ? -1 : 3, INSERT_VALUES));
  PetscCall(TestAssemble(A));
  PetscCall(CheckLeft("crossing", A, "f_", TwoLevels, "more than 40% of the edges lead to other processes"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other options of GAMG work as with agg; some of them leave levels to agg, for a reason */
static PetscErrorCode Rest(void)
{
  static const struct {
    const char *name, *prefix, *options, *reason; /* NULL: levels are ours */
  } rows[] = {
    {"unsmoothed", "a_", "-a_pc_gamg_agg_nsmooths 0", NULL},
    {"threshold on the second level", "b_", "-b_pc_gamg_threshold -1,0.02", NULL},
    {"asm", "c_", "-c_pc_gamg_asm_use_agg -c_mg_levels_pc_type asm", "-pc_gamg_asm_use_agg takes the lists of agg"},
    {"hem", "d_", "-d_mat_coarsen_type hem", "-mat_coarsen_type is neither mis nor misk"},
    {"hem of 3.22", "h_", "-h_pc_gamg_mat_coarsen_type hem", "-mat_coarsen_type is neither mis nor misk"},
    {"distance 2", "i_", "-i_mat_coarsen_misk_distance 2", "-mat_coarsen_misk_distance is given"},
#if PETSC_VERSION_GE(3, 22, 0)
    {"low memory", "l_", "-l_pc_gamg_threshold 0.02 -l_pc_gamg_low_memory_threshold_filter", NULL},
    {"injection", "j_", "-j_pc_gamg_injection_index 0", NULL},
#endif
  };
  Mat A;

  PetscFunctionBeginUser;
  for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(rows); r++) {
    injected = !strcmp(rows[r].prefix, "j_");
    PetscCall(Problem(25, 1 + injected, 1, &A));
    PetscCall(PetscOptionsInsertString(NULL, rows[r].options));
    if (rows[r].reason) PetscCall(CheckLeft(rows[r].name, A, rows[r].prefix, NULL, rows[r].reason));
    else PetscCall(CompareWithAgg(rows[r].name, A, rows[r].prefix, NULL));
    PetscCall(MatDestroy(&A));
  }
  injected = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* agg filters prolongators of ours, and smooths them then */
static PetscErrorCode FilterOfProlongators(void)
{
#if PETSC_VERSION_GE(3, 26, 0)
  Outcome ours;
  Mat     A;

  PetscFunctionBeginUser;
  PetscCall(Problem(25, 2, 1, &A));
  PetscCall(PetscOptionsInsertString(NULL, "-p_pc_gamg_prolongator_filter 0.1"));
  PetscCall(CompareWithAgg("filter", A, "p_", NULL));
  PetscCall(Solve(A, PCGAMGAGGDEVICE, "p_", NULL, &ours));
  PetscCall(CGDevTestCheck(ours.info.prolongators_device == 0 &&
                               ours.info.prolongators_agg == ours.info.levels_device + ours.info.levels_host,
                           "filter", "not all prolongators by agg"));
  PetscCall(
      CGDevTestCheck(!expect_gpu || strstr(ours.reason, "the filter of prolongators is agg's"), "filter", ours.reason));
  PetscCall(VecDestroy(&ours.x));
  PetscCall(MatDestroy(&A));
#else
  PetscFunctionBeginUser;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckType(PC pc, const char expected[])
{
  PCGAMGType now;

  PetscFunctionBeginUser;
  PetscCall(PCGAMGGetType(pc, &now));
  PetscCall(CGDevTestCheck(!strcmp(now, expected), "type", now));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes of type and values between solves, and a reset; returning to a former configuration must give the same bits
   again */
static PetscErrorCode Changes(void)
{
  static const char *const types[] = {PCGAMGAGGDEVICE, PCGAMGAGG, PCGAMGAGGDEVICE, PCGAMGAGGDEVICE};
  Outcome                  o[4];
  Vec                      b;
  Mat                      A;
  KSP                      ksp;
  PC                       pc;
  PetscBool                same;

  PetscFunctionBeginUser;
  memset(o, 0, sizeof o);
  PetscCall(Problem(25, 1, 1, &A));
  PetscCall(Create(A, PCGAMGAGGDEVICE, "changes_", NULL, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  for (int i = 0; i < 4; i++) {
    if (i == 3) PetscCall(PCReset(pc));
    else { /* PCGAMG keeps its levels, whose sizes cannot change */ PetscCall(PCSetType(pc, PCNONE));
      PetscCall(PCSetType(pc, PCGAMG));
      PetscCall(PCGAMGSetType(pc, PCGAMGAGG));
      PetscCall(PCGAMGSetType(pc, types[i]));
      PetscCall(PCGAMGSetCoarseEqLim(pc, 20));
    }
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(CheckType(pc, types[i]));
    PetscCall(MatCreateVecs(A, &o[i].x, &b));
    PetscCall(CGDevTestRightHandSide(b));
    PetscCall(KSPSolve(ksp, b, o[i].x));
    PetscCall(Learn(ksp, &o[i]));
    PetscCall(CGDevTestCheck((o[i].info.levels_device + o[i].info.levels_host > 0) == (i != 1), "changes",
                             "the other type coarsened"));
    PetscCall(VecDestroy(&b));
  }
  PetscCall(VecEqual(o[0].x, o[2].x, &same));
  PetscCall(CGDevTestCheck(same, "changes", "other bits after the type was changed and changed back"));
  PetscCall(VecEqual(o[0].x, o[3].x, &same));
  PetscCall(CGDevTestCheck(same, "changes", "other bits after a reset"));
  PetscCall(PCSetType(pc, PCJACOBI));
  for (int i = 0; i < 4; i++) PetscCall(VecDestroy(&o[i].x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LittleMemory(PetscInt host, PetscInt agg)
{
  char text[200];

  PetscFunctionBeginUser;
  PetscCall(Matrices());
  PetscCall(NearNullSpace());
  PetscCall(PetscSNPrintf(text, sizeof text, "%" PetscInt_FMT " levels by the host, %" PetscInt_FMT " by agg",
                          levels_host, levels_agg));
  PetscCall(CGDevTestCheck(levels_host >= host && levels_agg >= agg, "little memory", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  host = 0, agg = 0;
  PetscBool some_host, some_agg;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof type, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-expect_host", &host, &some_host));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-expect_agg", &agg, &some_agg));
  expect_gpu = CGDevTestOnDevice();
  little     = some_host || some_agg ? PETSC_TRUE : PETSC_FALSE;
  if (little) PetscCall(LittleMemory(host, agg));
  else {
    PetscCall(Matrices());
    PetscCall(NearNullSpace());
    PetscCall(Options());
    PetscCall(Rest());
    PetscCall(FilterOfProlongators());
    PetscCall(Crossing());
    PetscCall(Smoothing());
    PetscCall(Changes());
  }
  return CGDevTestEnd();
}
