/*
  mgdevice_watch.c - PC types mgdevice and gamgdevice when single precision is not enough, under solvers that do not
  know about the cycle and under KSPGMRESDEVICE: the comparison at set-up; without it, the solve repeated in double
  precision; the messages, and how long double precision stays

    mgdevice_watch [-sample n: every n-th case] [-verbose]
*/
static const char help[] = "Single precision that is not enough, under several solvers.\n";

#include "mgdevice_test.h"

#include <string.h>

#define JACOBI   "-mg_levels_pc_type jacobi "
#define COARSE   "-pc_gamg_coarse_eq_limit 8 "
#define BY_PETSC "-mg_coarse_ksp_type richardson -mg_coarse_ksp_max_it 1 -mg_coarse_pc_type "
#define PLAIN    " -pc_mgdevice_compare false"

static int       prefixes;
static PetscBool verbose;

/* Faults of single precision: rounding on a singular coarsest level, and overflow. And a fault in any precision: a
   preconditioner for another matrix, so that the norm does not fall. */
typedef enum { SINGULAR, OVERFLOW, OTHER } Fault;

static const MGRow rows[] = {
    [SINGULAR] = {"coarse singular by petsc", MG_SINGULAR_UNKNOWN, 0,
                  COARSE BY_PETSC "lu -mg_coarse_pc_factor_shift_type inblocks", NULL},
    [OVERFLOW] = {"overflow", MG_GRID, 3, JACOBI "-mg_levels_ksp_chebyshev_eigenvalues 1e-10,2e-10", NULL},
    [OTHER]    = {"preconditioner of another matrix", MG_SCALAR, 0, COARSE, NULL}};

/* Replaces A by a permutation and a diagonal; the preconditioner keeps A */
static PetscErrorCode Permute(KSP ksp)
{
  PetscInt n, begin, end;
  Mat      A, S;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, end - begin, end - begin, n, n, 2, NULL, 1, NULL, &S));
  for (PetscInt i = begin; i < end; i++) {
    PetscCall(MatSetValue(S, i, i, (PetscReal)0.25, INSERT_VALUES));
    PetscCall(MatSetValue(S, i, (i + 1) % n, 1, INSERT_VALUES));
  }
  PetscCall(TestAssemble(S));
  PetscCall(KSPSetOperators(ksp, S, A));
  PetscCall(MatDestroy(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver with a PC of ours; `more` adds options to those of the row */
static PetscErrorCode Create(Fault fault, KSPType type, const char more[], CGDevSetup *setup, KSP *ksp)
{
  char  prefix[32], options[400];
  MGRow mine = rows[fault];

  PetscFunctionBeginUser;
  *setup        = CGDevTestSetup();
  setup->norm   = KSP_NORM_DEFAULT;
  setup->pc     = mine.levels ? PCMGDEVICE : PCGAMGDEVICE;
  setup->max_it = 80;
  setup->divtol = (PetscReal)1e30;
  PetscCall(PetscSNPrintf(prefix, sizeof prefix, "watch%d_", prefixes++));
  PetscCall(PetscSNPrintf(options, sizeof options, "%s %s", mine.options, more));
  mine.options = options;
  PetscCall(MGTestCreate(&mine, prefix, type, setup, ksp));
  if (fault == OTHER) PetscCall(Permute(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the precision of the cycle, and the reason; does nothing without a device */
static PetscErrorCode CheckPrecision(const char name[], KSP ksp, PetscBool single, const char why[])
{
  PCMGDeviceInfo info;

  PetscFunctionBeginUser;
  if (!CGDevTestOnDevice()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGTestInfo(ksp, &info));
  PetscCall(CGDevTestCheck(info.single == single, name, "another precision than expected"));
  PetscCall(CGDevTestSays(ksp, name, single ? "precision of the cycle: single\n" : why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ||b - A x|| / ||b|| */
static PetscErrorCode TrueResidual(KSP ksp, Vec x, PetscReal *relative)
{
  PetscReal size;
  Vec       b, r;
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, relative));
  PetscCall(VecNorm(b, NORM_2, &size));
  *relative /= size;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve whose results must be those in double precision */
static PetscErrorCode Same(const char name[], KSP plain, KSP ours, const CGDevSetup *setup)
{
  static CGDevOutcome expected, got;
  PetscReal           residual, wanted;
  char                text[200];

  PetscFunctionBeginUser;
  PetscCall(CGDevTestSolve(plain, NULL, setup, &expected));
  PetscCall(CGDevTestSolve(ours, NULL, setup, &got));
  PetscCall(TrueResidual(plain, expected.x, &wanted));
  PetscCall(TrueResidual(ours, got.x, &residual));
  PetscCall(PetscSNPrintf(text, sizeof text, "%d iterations, %s, residual %g; in double precision %d, %s, %g",
                          (int)got.iterations, KSPConvergedReasons[got.reason], (double)residual,
                          (int)expected.iterations, KSPConvergedReasons[expected.reason], (double)wanted));
  if (verbose) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", name, text));
  PetscCall(CGDevTestCheck(got.reason == expected.reason && got.iterations == expected.iterations, name, text));
  PetscCall(CGDevTestCheck(got.count == expected.count, name, "a history of another length"));
  if (!PetscIsInfOrNanReal(wanted))
    PetscCall(CGDevTestCheck(PetscAbsReal(residual - wanted) <= (PetscReal)1e-3 * wanted, name, text));
  PetscCall(TestDestroyVecs(&expected.x, &got.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another matrix with the same values except for the diagonal: it is not singular where A was */
static PetscErrorCode NewMatrix(KSP ksp)
{
  Mat A, P, B, S;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, &P));
  PetscCall(MatDuplicate(P, MAT_COPY_VALUES, &B));
  PetscCall(MatShift(B, 1));
  if (A == P) PetscCall(KSPSetOperators(ksp, B, B));
  else {
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &S));
    PetscCall(KSPSetOperators(ksp, S, B));
    PetscCall(MatDestroy(&S));
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two solves with the results of double precision, the first one after a try in single precision; and single precision
   again for another matrix. why: text of the view */
static PetscErrorCode Leaves(Fault fault, KSPType type, PetscBool guess, const char why[])
{
  static CGDevOutcome expected;
  CGDevSetup          setup;
  char                name[128];
  PetscMPIInt         size;
  KSP                 plain, ours;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  /* another hierarchy, with other norms */
  if (size > 1 || PetscDefined(HAVE_CUDA)) why = "double in place of single: the ";
  PetscCall(PetscSNPrintf(name, sizeof name, "%s, %s%s", type, rows[fault].name, guess ? ", from a guess" : ""));
  PetscCall(Create(fault, type, "", &setup, &plain));
  PetscCall(Create(fault, type, "-pc_mgdevice_precision single -pc_mgdevice_compare false", &setup, &ours));
  setup.guess = guess;
  PetscCall(CGDevTestSolve(plain, NULL, &setup, &expected));
  PetscCall(VecDestroy(&expected.x));
  /* a failed first try must not raise an error */
  PetscCall(KSPSetErrorIfNotConverged(ours, (PetscBool)(expected.reason > 0)));
  PetscCall(KSPSetUp(ours));
  PetscCall(CheckPrecision(name, ours, PETSC_TRUE, ""));
  for (int solve = 0; solve < 2; solve++) {
    PetscCall(Same(name, plain, ours, &setup));
    PetscCall(CheckPrecision(name, ours, PETSC_FALSE, "precision of the cycle: double in place of single: "));
    PetscCall(CheckPrecision(name, ours, PETSC_FALSE, why));
  }
  PetscCall(NewMatrix(ours));
  PetscCall(KSPSetUp(ours));
  PetscCall(CheckPrecision(name, ours, PETSC_TRUE, ""));
  PetscCall(KSPDestroy(&plain));
  PetscCall(KSPDestroy(&ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solvers(PetscInt sample)
{
  static const char number[] = "the solve met NaN or infinity", stagnant[] = "the norm hardly fell in 50 iterations";
  static const struct {
    Fault       fault;
    KSPType     type;
    PetscBool   guess;
    const char *why;
  } cases[] = {{OTHER, KSPFGMRES, PETSC_FALSE, stagnant},
               {OVERFLOW, KSPFGMRES, PETSC_FALSE, number},
               {OTHER, KSPGMRES, PETSC_TRUE, stagnant},
               {OVERFLOW, KSPGMRES, PETSC_TRUE, number},
               {SINGULAR, KSPBCGS, PETSC_FALSE, stagnant},
               {OVERFLOW, KSPBCGS, PETSC_FALSE, number},
               {SINGULAR, KSPRICHARDSON, PETSC_FALSE, "double in place of single: the "},
               {OVERFLOW, KSPRICHARDSON, PETSC_FALSE, number},
               {OTHER, KSPGMRESDEVICE, PETSC_FALSE, stagnant},
               {OVERFLOW, KSPGMRESDEVICE, PETSC_TRUE, number},
               {OTHER, KSPGMRESDEVICE, PETSC_TRUE, stagnant},
               {OVERFLOW, KSPCG, PETSC_FALSE, number}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i += (size_t)sample)
    PetscCall(Leaves(cases[i].fault, cases[i].type, cases[i].guess, cases[i].why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The set-up detects it before any solve, for every solver; functions for the options. New values do not retry single
   precision, another matrix does. */
static PetscErrorCode Compared(KSPType type)
{
  static const char why[] = "double in place of single: the cycle differed from that of PETSc by ";
  CGDevSetup        setup;
  char              name[64];
  KSP               plain, ours;
  PC                pc;
  Mat               A;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof name, "compared, %s", type));
  PetscCall(Create(SINGULAR, type, "", &setup, &plain));
  PetscCall(Create(SINGULAR, type, "", &setup, &ours));
  PetscCall(KSPGetPC(ours, &pc));
  PetscCall(PCMGDeviceSetCompare(pc, PETSC_FALSE));
  PetscCall(PCMGDeviceSetSinglePrecision(pc, PETSC_TRUE));
  PetscCall(KSPSetUp(ours));
  PetscCall(CheckPrecision(name, ours, PETSC_TRUE, ""));
  PetscCall(PCMGDeviceSetCompare(pc, PETSC_TRUE));
  for (int solve = 0; solve < 3; solve++) {
    PetscCall(Same(name, plain, ours, &setup));
    PetscCall(CheckPrecision(name, ours, PETSC_FALSE, why));
    for (int i = 0; i < 2 && solve == 1; i++) {
      PetscCall(KSPGetOperators(i ? ours : plain, &A, NULL));
      PetscCall(MatScale(A, 2));
    }
  }
  PetscCall(NewMatrix(ours));
  PetscCall(KSPSetUp(ours));
  PetscCall(CheckPrecision(name, ours, PETSC_TRUE, ""));
  PetscCall(KSPDestroy(&plain));
  PetscCall(KSPDestroy(&ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cycle must not be blamed for a right-hand side that is not finite, or for a last iteration that the user
   wanted */
static PetscErrorCode Blameless(KSPType type)
{
  CGDevSetup         setup;
  char               name[64];
  Vec                b, x;
  KSP                ksp;
  Mat                A;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof name, "blameless, %s", type));
  PetscCall(Create(OTHER, type, "-pc_mgdevice_precision single", &setup, &ksp));
  PetscCall(KSPGetOperators(ksp, NULL, &A));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, (PetscReal)1e-14, PETSC_DEFAULT, PETSC_DEFAULT, 4));
  PetscCall(MatCreateVecs(A, &x, &b));
  for (int turn = 0; turn < 2; turn++) {
    PetscCall(CGDevTestRightHandSide(b));
    if (turn) PetscCall(VecScale(b, PETSC_INFINITY));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(CGDevTestCheck(turn ? reason < 0 : reason == KSP_DIVERGED_ITS, name, KSPConvergedReasons[reason]));
    PetscCall(CheckPrecision(name, ksp, PETSC_TRUE, ""));
  }
  PetscCall(TestDestroyVecs(&b, &x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt sample = 1;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sample", &sample, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-verbose", &verbose, NULL));
  if (PetscDefined(USE_REAL_DOUBLE)) {
    static const KSPType types[] = {KSPGMRES, KSPGMRESDEVICE};

    PetscCall(Solvers(sample));
    for (int i = 0; i < (sample > 1 ? 1 : 2); i++) PetscCall(Compared(types[i]));
    for (int i = 0; i < (sample > 1 ? 1 : 2); i++) PetscCall(Blameless(types[i]));
  }
  return CGDevTestEnd();
}
