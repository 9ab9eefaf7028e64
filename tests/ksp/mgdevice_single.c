/*
  mgdevice_single.c - compares KSPCGDEVICE with a multigrid cycle in single precision and in double precision:
  iterations, also for matrices with large and small numbers; cases in which single precision is not good enough, and
  their messages

    mgdevice_single [-rows NAME] [-sample n: every n-th row] [-verbose]
*/
static const char help[] = "Multigrid on the device in single precision.\n";

#include "mgdevice_test.h"

#include <math.h>

#define JACOBI "-mg_levels_pc_type jacobi "
#define COARSE "-pc_gamg_coarse_eq_limit 8 "

/* refused: text of the view if the numbers of the finest level are of another size than those of other levels */
static const MGRow rows[] = {
    {"gamg", MG_SCALAR, 0, COARSE, NULL},
    {"gamg three unknowns", MG_ELASTIC, 0, COARSE, NULL},
    {"gamg jumps", MG_JUMPS, 0, COARSE, NULL},
    {"gamg tetrahedra", MG_TETRAHEDRA, 0, COARSE "-mg_levels_pc_type pbjacobi", NULL},
    {"gamg null space", MG_SINGULAR, 0, COARSE, NULL},
    {"mg jumps", MG_GRID_JUMPS, 3, JACOBI, NULL},
    {"gamg w", MG_ELASTIC, 0, "-pc_gamg_coarse_eq_limit 4 -pc_mg_cycle_type w", NULL},
    {"mg unknowns", MG_GRID_UNKNOWNS, 2, JACOBI, NULL},
    {"gamg two cycles", MG_SCALAR, 0, COARSE "-pc_mg_multiplicative_cycles 2 -mg_levels_ksp_max_it 3", NULL},
    {"gamg none", MG_SCALAR, 0, COARSE "-mg_levels_pc_type none", NULL},
    {"mg restriction plain", MG_GRID_RESTRICTION, 3, JACOBI, NULL},
    {"mg coarse by petsc", MG_LARGE, 2, JACOBI, NULL},
    {"mg interpolation transposed", MG_GRID_INTERPOLATION, 3, JACOBI, "leave the range of single precision: up to "},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Cases in which single precision is not good enough, and the text of the view after the first solve */
#define BY_PETSC "-mg_coarse_ksp_type richardson -mg_coarse_ksp_max_it 1 -mg_coarse_pc_type "
static const struct {
  MGRow     row;
  PetscReal size;
} left[] = {
    {{"coarse singular", MG_SINGULAR_UNKNOWN, 0, COARSE, "the coarsest level is singular"}, 1},
    {{"coarse singular by petsc", MG_SINGULAR_UNKNOWN, 0, COARSE BY_PETSC "lu -mg_coarse_pc_factor_shift_type inblocks",
      "the norm hardly fell in"},
     1},
    {{"coarse svd by petsc", MG_GRID_SINGULAR, 3, JACOBI BY_PETSC "svd", "the cycle was not positive definite"},
     (PetscReal)1e35},
    {{"overflow", MG_GRID, 3, JACOBI "-mg_levels_ksp_chebyshev_eigenvalues 1e-10,2e-10",
      "the solve met NaN or infinity"},
     1},
};
enum { LEFT = sizeof left / sizeof *left };

static int       prefixes;
static PetscBool verbose;

/* A PETSc in single precision has no double precision, and cannot represent 1e35 */
static const PetscBool   has_double = sizeof(PetscReal) < 8 ? PETSC_FALSE : PETSC_TRUE;
static const char *const served =
    sizeof(PetscReal) < 8 ? "PetscScalar has single precision by itself" : "precision of the cycle: single\n";

static PetscErrorCode Shows(const char name[], KSP ksp, const char text[])
{
  return CGDevTestOnDevice() ? CGDevTestSays(ksp, name, text) : PETSC_SUCCESS;
}

/* A solver for a row of the table, with the matrix multiplied by size */
static PetscErrorCode Create(const MGRow *row, PetscBool single, PetscReal size, CGDevSetup *setup, KSP *ksp)
{
  char        prefix[32], options[400];
  MGRow       mine = *row;
  PetscMPIInt processes;
  Mat         A;

  PetscFunctionBeginUser;
  *setup    = CGDevTestSetup();
  setup->pc = row->levels ? PCMG : PCGAMG;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &processes));
  setup->mode = processes > 1 ? KSP_DEVICE_CHUNK : KSP_DEVICE_AUTO; /* because vectors are on the host */
  PetscCall(PetscSNPrintf(prefix, sizeof prefix, "solver%d_", prefixes++));
  PetscCall(PetscSNPrintf(options, sizeof options, "%s%s%s", row->options, row->options[0] ? " " : "",
                          single ? "-pc_mgdevice_precision single" : "-pc_mgdevice_precision double"));
  mine.options = options;
  PetscCall(MGTestCreate(&mine, prefix, KSPCGDEVICE, setup, ksp));
  PetscCall(KSPGetOperators(*ksp, &A, NULL));
  PetscCall(MatScale(A, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At most one iteration, or 10%, more than in double precision */
static PetscErrorCode Compare(const MGRow *row, PetscReal size)
{
  static CGDevOutcome expected, got;
  CGDevSetup          setup;
  char                text[200], name[64];
  KSP                 ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof name, "%s of size %g", row->name, (double)size));
  PetscCall(Create(row, PETSC_FALSE, size, &setup, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &expected));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(Create(row, PETSC_TRUE, size, &setup, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &got));
  PetscCall(PetscSNPrintf(
      text, sizeof text, "%" PetscInt_FMT " iterations and %s, in double precision %" PetscInt_FMT " and %s",
      got.iterations, KSPConvergedReasons[got.reason], expected.iterations, KSPConvergedReasons[expected.reason]));
  if (verbose) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", name, text));
  PetscCall(CGDevTestCheck(got.reason == expected.reason && got.reason > 0, name, text));
  PetscCall(CGDevTestCheck(got.iterations <= expected.iterations + PetscMax(1, expected.iterations / 10), name, text));
  PetscCall(MGTestServed(name, &got));
  PetscCall(Shows(name, ksp, size != 1 && row->refused ? row->refused : served));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(TestDestroyVecs(&expected.x, &got.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first solve continues, or is repeated, in double precision; the second one uses it from the start */
static PetscErrorCode Leaves(const MGRow *row, PetscReal size)
{
  static CGDevOutcome expected, got;
  CGDevSetup          setup;
  char                text[200];
  KSP                 ksp[2];

  PetscFunctionBeginUser;
  PetscCall(Create(row, PETSC_FALSE, size, &setup, &ksp[0]));
  PetscCall(Create(row, PETSC_TRUE, size, &setup, &ksp[1]));
  for (int solve = 0; solve < 2; solve++) {
    PetscCall(CGDevTestSolve(ksp[0], NULL, &setup, &expected));
    PetscCall(CGDevTestSolve(ksp[1], NULL, &setup, &got));
    PetscCall(PetscSNPrintf(
        text, sizeof text,
        "solve %d: %" PetscInt_FMT " iterations and %s, in double precision %" PetscInt_FMT " and %s", solve,
        got.iterations, KSPConvergedReasons[got.reason], expected.iterations, KSPConvergedReasons[expected.reason]));
    if (verbose) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", row->name, text));
    PetscCall(CGDevTestCheck(got.reason == expected.reason, row->name, text));
    if (solve) PetscCall(CGDevTestCheck(got.iterations == expected.iterations, row->name, text));
    PetscCall(MGTestServed(row->name, &got));
    PetscCall(Shows(row->name, ksp[1], "precision of the cycle: double in place of single: "));
    PetscCall(Shows(row->name, ksp[1], row->refused));
    PetscCall(TestDestroyVecs(&expected.x, &got.x));
  }
  for (int i = 0; i < 2; i++) PetscCall(KSPDestroy(&ksp[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values of any size go into the existing plans: one graph serves all solves, and the same solve gives the same
   bits */
static PetscErrorCode Values(const MGRow *row)
{
  static CGDevOutcome got, again;
  const PetscReal     sizes[] = {1, (PetscReal)1e30, (PetscReal)1e-10};
  CGDevSetup          setup;
  PetscBool           same;
  KSP                 ksp;
  Mat                 A;

  PetscFunctionBeginUser;
  PetscCall(Create(row, PETSC_TRUE, 1, &setup, &ksp));
  for (int step = 0; step < 3; step++) {
    PetscCall(MGTestFill(row, ksp, 1 + (PetscReal)0.37 * (PetscReal)step));
    PetscCall(KSPGetOperators(ksp, &A, NULL));
    if (!row->levels && has_double) PetscCall(MatScale(A, sizes[step])); /* PCMG keeps the matrices of coarser levels */
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(CGDevTestSolve(ksp, NULL, &setup, &got));
    PetscCall(CGDevTestSolve(ksp, NULL, &setup, &again));
    PetscCall(CGDevTestCheck(got.reason == KSP_CONVERGED_RTOL && got.iterations < 20, row->name, "new values"));
    PetscCall(PetscMemcmp(again.norms, got.norms, (size_t)got.count * sizeof *got.norms, &same));
    PetscCall(CGDevTestCheck(same && got.count == again.count, row->name, "not the same bits"));
    PetscCall(MGTestServed(row->name, &got));
    PetscCall(Shows(row->name, ksp, served));
    if (CGDevTestOnDevice()) {
      PetscCall(CGDevTestCheck(again.info.set_ups == step + 1, row->name, "not one set-up for each step"));
      PetscCall(CGDevTestCheck(again.info.graphs <= 1, row->name, "not one graph"));
    }
    PetscCall(TestDestroyVecs(&got.x, &again.x));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const MGRow keeps = {
      "values, interpolation kept", MG_ELASTIC, 0,
      "-pc_gamg_reuse_interpolation true -mg_levels_pc_type pbjacobi -pc_gamg_coarse_eq_limit 4", NULL};
  static const MGRow     grid     = {"values on a grid", MG_GRID, 3, JACOBI, NULL};
  static const PetscReal sizes[]  = {1, (PetscReal)1e35, (PetscReal)1e-35};
  char                   only[64] = "";
  PetscInt               sample   = 1;
  PetscBool              one;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-rows", only, sizeof only, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sample", &sample, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-verbose", &verbose, NULL));
  for (PetscInt i = 0; i < ROWS; i += sample) {
    PetscCall(PetscStrcmp(only, rows[i].name, &one));
    for (int k = 0; k < (has_double ? 3 : 1); k++)
      if (only[0] ? one : i < 5 || k == 0 || (i + k) % 2 == 0) PetscCall(Compare(&rows[i], sizes[k])); /* a sample */
  }
  for (PetscInt i = 0; i < LEFT && has_double; i += sample) {
    PetscCall(PetscStrcmp(only, left[i].row.name, &one));
    if (!only[0] || one) PetscCall(Leaves(&left[i].row, left[i].size));
  }
  if (!only[0]) PetscCall(Values(&keeps));
  if (!only[0]) PetscCall(Values(&grid));
  return CGDevTestEnd();
}
