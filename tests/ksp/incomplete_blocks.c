/* incomplete_blocks.c - factors in blocks of rows, -mat_incomplete_blocks: iterations are those of PETSc's PCBJACOBI with as
   many local blocks, on the host. */
#include "incomplete_test.h"
#include <string.h>

typedef struct {
  IncompleteCase matrix;
  PCType         of_pc;
  KSPType        methods[3]; /* the first is PETSc's on the host */
  PetscInt       blocks;
} BlocksCase;

/* Sets or, for a value of NULL, clears options with the prefixes of a solver of ours and of its blocks */
static PetscErrorCode OptionsPut(const char option[], const char value[])
{
  static const char *const prefixes[] = {"-ours_", "-ours_sub_", "-petsc_sub_"};
  char                     name[64];

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    PetscCall(PetscSNPrintf(name, sizeof name, "%s%s", prefixes[i], option));
    if (value) PetscCall(PetscOptionsSetValue(NULL, name, value));
    else PetscCall(PetscOptionsClearValue(NULL, name));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of_pc: PCBJACOBI, whose blocks are c->of_pc, or that type itself */
static PetscErrorCode SolverGet(const BlocksCase *c, Mat A, int method, PCType of_pc, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, method ? "ours_" : "petsc_"));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, c->methods[method]));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 90));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, of_pc));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver of PETSc's package, in blocks of PCBJACOBI */
static PetscErrorCode PetscSolve(const BlocksCase *c, Mat A, IncompleteResult *result)
{
  char count[16];
  KSP  ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(count, sizeof count, "%" PetscInt_FMT, c->blocks));
  PetscCall(PetscOptionsSetValue(NULL, "-petsc_pc_bjacobi_local_blocks", count));
  PetscCall(PetscOptionsSetValue(NULL, "-petsc_sub_pc_type", c->of_pc));
  PetscCall(PetscOptionsSetValue(NULL, "-petsc_sub_pc_factor_mat_solver_type", MATSOLVERPETSC));
  PetscCall(SolverGet(c, A, 0, PCBJACOBI, &ksp));
  PetscCall(IncompleteSolve(ksp, result));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver that has the factor */
static PetscErrorCode FactorSolver(KSP ksp, KSP *of)
{
  PetscBool jacobi;
  PetscInt  n;
  KSP      *sub;
  PC        pc;

  PetscFunctionBeginUser;
  *of = ksp;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCBJACOBI, &jacobi));
  if (!jacobi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCBJacobiGetSubKSP(pc, &n, NULL, &sub));
  PetscCall(IncompleteCheck((PetscBool)(n == 1), "more than one factor"));
  *of = sub[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckPlace(const BlocksCase *c, KSP ksp, PetscBool device, PetscInt numeric)
{
  MatIncompleteInfo info;
  PetscBool         engine;
  KSP               of;

  PetscFunctionBeginUser;
  PetscCall(FactorSolver(ksp, &of));
  PetscCall(IncompleteInfo(of, &info));
  PetscCall(IncompleteCheck((PetscBool)(info.blocks == c->blocks), "another number of blocks of rows"));
  PetscCall(IncompleteCheck((PetscBool)(info.on_device == device && (device ? !info.reason[0] : info.reason[0] != 0)),
                            info.reason));
  PetscCall(
      IncompleteCheck((PetscBool)(device ? info.solves > 0 && !info.solves_host : info.solves_host > 0), "place"));
  PetscCall(IncompleteCheck((PetscBool)(!device || (info.symbolic == 1 && info.numeric == numeric)), "factored again"));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &engine, KSPCGDEVICE, KSPGMRESDEVICE, ""));
  if (engine && device) {
    KSPDeviceInfo engines;

    PetscCall(KSPDeviceGetInfo(ksp, &engines));
    PetscCall(IncompleteCheck((PetscBool)(engines.solves_device > 0 && !engines.solves_host), engines.reason));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two times, with other values the second time */
static PetscErrorCode TestCase(BlocksCase c, PCType of_pc, PetscBool device)
{
  IncompleteResult petsc, ours;
  char             count[16];
  KSP              ksp;
  Mat              A;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(count, sizeof count, "%" PetscInt_FMT, c.blocks));
  PetscCall(OptionsPut("mat_incomplete_blocks", count));
  PetscCall(PetscOptionsSetValue(NULL, "-ours_sub_pc_type", c.of_pc));
  for (int m = 1; m < 3; m++) {
    PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "%" PetscInt_FMT " blocks of rows, %s, %s, %s, %s",
                            c.blocks, c.matrix.name, c.of_pc, of_pc, c.methods[m]));
    c.matrix.step = 0;
    PetscCall(IncompleteMatrix(PETSC_COMM_WORLD, &c.matrix, MATAIJRBP, &A));
    PetscCall(SolverGet(&c, A, m, of_pc, &ksp));
    for (; c.matrix.step < 2; c.matrix.step++) {
      if (c.matrix.step) PetscCall(IncompleteFill(&c.matrix, A));
      PetscCall(PetscSolve(&c, A, &petsc));
      PetscCall(IncompleteSolve(ksp, &ours));
      PetscCall(IncompleteCompare(&ours, &petsc));
      PetscCall(CheckPlace(&c, ksp, device, c.matrix.step + 1));
    }
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(OptionsPut("mat_incomplete_blocks", NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the options database for the matrix and the matrices of blocks */
static PetscErrorCode PlacePut(const char place[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-mat_aijfmt_device", place));
  PetscCall(PetscOptionsSetValue(NULL, "-ours_sub_mat_aijfmt_device", place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves, transposed ones and the view of a factor whose blocks are set by the program, on the device and on the host */
static PetscErrorCode TestSetter(const BlocksCase *c)
{
  static const char *const places[] = {"gpu", "host"};
  MatIncompleteInfo        info;
  PetscReal                distance, size;
  char                     view[TEST_VIEW];
  Vec                      b, x[2][2];
  Mat                      A, F;
  KSP                      ksp;
  PC                       pc;

  PetscFunctionBeginUser;
  for (int place = 0; place < 2; place++) {
    PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "setter, %s", places[place]));
    PetscCall(PlacePut(places[place]));
    PetscCall(IncompleteMatrix(PETSC_COMM_WORLD, &c->matrix, MATAIJRBP, &A));
    PetscCall(SolverGet(c, A, 1, c->of_pc, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCFactorSetUpMatSolverType(pc));
    PetscCall(PCFactorGetMatrix(pc, &F));
    PetscCall(MatIncompleteSetBlocks(F, c->blocks));
    PetscCall(KSPSetUp(ksp));
    PetscCall(PCFactorGetMatrix(pc, &F));
    PetscCall(MatCreateVecs(A, &x[place][0], &b));
    PetscCall(VecDuplicate(x[place][0], &x[place][1]));
    PetscCall(VecSet(b, 1));
    PetscCall(MatSolve(F, b, x[place][0]));
    PetscCall(MatSolveTranspose(F, b, x[place][1]));
    PetscCall(IncompleteInfo(ksp, &info));
    PetscCall(IncompleteCheck((PetscBool)(info.blocks == c->blocks && info.on_device == !place), info.reason));
    PetscCall(IncompleteCheck((PetscBool)(info.solves == (place ? 0 : 2)), "solves"));
    PetscCall(TestView((PetscObject)F, PETSC_VIEWER_ASCII_INFO, view));
    PetscCall(IncompleteCheck((PetscBool)(strstr(view, "blocks of rows: 7") != NULL), view));
    PetscCall(VecDestroy(&b));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  for (int t = 0; t < 2; t++) {
    PetscCall(TestDistance(x[0][t], x[1][t], NORM_INFINITY, &distance, &size));
    PetscCall(
        IncompleteCheck((PetscBool)(size > 0 && distance <= 1e-12 * size), t ? "transposed" : "another solution"));
    PetscCall(TestDestroyVecs(&x[0][t], &x[1][t]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IncompleteTestDivided(void)
{
  static const BlocksCase cases[] = {
      {{.name = "tetrahedra", .shape = 2, .factor = 1}, PCICC, {KSPCG, KSPCGDEVICE, KSPCG}, 7},
      {{.name = "convection", .shape = 2, .factor = 1, .skew = 0.3}, PCILU, {KSPGMRES, KSPGMRESDEVICE, KSPGMRES}, 7},
      {{.name = "nodes", .shape = 3, .factor = 1, .unit = 3}, PCICC, {KSPCG, KSPCGDEVICE, KSPCG}, 5},
      {{.name = "nodes", .shape = 3, .factor = 1, .unit = 3}, PCILU, {KSPGMRES, KSPGMRESDEVICE, KSPGMRES}, 13},
  };
  enum { CASES = sizeof cases / sizeof *cases };
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PlacePut("gpu"));
  for (int i = 0; i < CASES; i++) {
    if (size == 1) PetscCall(TestCase(cases[i], cases[i].of_pc, PETSC_TRUE));
    PetscCall(TestCase(cases[i], PCBJACOBI, PETSC_TRUE));
  }
  PetscCall(OptionsPut("pc_factor_levels", "1"));
  PetscCall(TestCase(cases[1], PCBJACOBI, PETSC_TRUE));
  PetscCall(TestCase(cases[2], PCBJACOBI, PETSC_TRUE));
  PetscCall(OptionsPut("pc_factor_levels", NULL));
  PetscCall(PlacePut("host")); /* what PETSc's package factors is in blocks, too */
  for (int i = 0; i < CASES; i++) PetscCall(TestCase(cases[i], PCBJACOBI, PETSC_FALSE));
  if (size == 1) PetscCall(TestSetter(&cases[1]));
  PetscCall(PlacePut("gpu"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
