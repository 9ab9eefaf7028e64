/* incomplete_sweeps.c - MatSOR() and PCSOR compared with PETSc's, and blocks of block Jacobi within the engines. */
#include "incomplete_test.h"
#include <string.h>

static const IncompleteCase scalar = {.name = "tetrahedra", .shape = 2, .factor = 1, .skew = 0.3};
static const IncompleteCase nodes  = {.name = "3 unknowns a node", .shape = 3, .factor = 1, .skew = 0.2};

static const IncompleteCase chain = {.name = "chain", .shape = 5, .factor = 1};

static PetscErrorCode CheckSweeps(Mat A, PetscInt gpu, PetscInt host)
{
  MatAIJFmtInfo info;
  char          text[128];

  PetscFunctionBeginUser;
  PetscCall(MatAIJFmtGetInfo(A, &info));
  PetscCall(
      PetscSNPrintf(text, sizeof text, "%g sweeps on the GPU, %g on the host", info.sweeps, info.fallbacks_sweep));
  PetscCall(IncompleteCheck((PetscBool)(info.sweeps == gpu && info.fallbacks_sweep == host), text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x after MatSOR() from an x of ones, on a matrix of ours and one of PETSc's */
static PetscErrorCode CompareSweep(Mat ours, Mat petsc, PetscReal omega, int flag, PetscReal shift, PetscInt its,
                                   PetscInt lits)
{
  PetscReal distance, size;
  char      text[128];
  Vec       b, x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(ours, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(VecSet(x, 1));
  PetscCall(VecSet(y, 1));
  PetscCall(MatSOR(ours, b, omega, (MatSORType)flag, shift, its, lits, x));
  PetscCall(MatSOR(petsc, b, omega, (MatSORType)flag, shift, its, lits, y));
  PetscCall(TestDistance(x, y, NORM_INFINITY, &distance, &size));
  PetscCall(PetscSNPrintf(text, sizeof text, "omega %g, flag %d, %d times %d: distance %g of %g", (double)omega, flag,
                          (int)its, (int)lits, (double)distance, (double)size));
  PetscCall(IncompleteCheck((PetscBool)(size > 0 && distance <= 1e-12 * size), text));
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One nonzero more than the pattern of the case has, so that row 0 is no longer in an inode */
static PetscErrorCode AddNonzero(Mat A)
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetValue(A, 0, n - 1, -0.3, INSERT_VALUES));
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Directions, from zero and not, with omega and without, several times; new values and a new pattern; then what PETSc does.
   PETSc's matrix is made again in each step: after a change of inodes its backward sweeps read beyond its blocks. */
static PetscErrorCode TestOperation(IncompleteCase c, PetscBool rows_are_alike)
{
  /* PETSc's types with CUDA, on which ours are based there, have no inodes */
  const PetscBool  inodes  = rows_are_alike && !PetscDefined(HAVE_CUDA) ? PETSC_TRUE : PETSC_FALSE;
  static const int kinds[] = {SOR_FORWARD_SWEEP, SOR_LOCAL_BACKWARD_SWEEP, SOR_SYMMETRIC_SWEEP};
  PetscInt         calls   = 0, *sizes;
  Mat              ours, petsc;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "MatSOR(), %s", c.name));
  PetscCall(IncompleteMatrix(PETSC_COMM_SELF, &c, MATAIJRBP, &ours));
  PetscCall(MatInodeGetInodeSizes(ours, NULL, &sizes, NULL));
  PetscCall(IncompleteCheck((PetscBool)((sizes != NULL) == inodes), "the case is not the one that it should be"));
  for (c.step = 0; c.step < 3; c.step++) {
    if (c.step) PetscCall(IncompleteFill(&c, ours));
    PetscCall(IncompleteMatrix(PETSC_COMM_SELF, &c, MATAIJ, &petsc));
    if (!inodes) PetscCall(MatSetOption(petsc, MAT_USE_INODES, PETSC_FALSE));
    if (c.step == 2) PetscCall(AddNonzero(ours));
    if (c.step == 2) PetscCall(AddNonzero(petsc));
    for (int k = 0; k < 3; k++)
      for (int way = 0; way < 4; way++, calls++)
        PetscCall(CompareSweep(ours, petsc, way < 2 ? 1 : 1.3, kinds[k] | (way % 2 ? SOR_ZERO_INITIAL_GUESS : 0), 0,
                               k % 2 + 1, way % 2 + 1));
    if (c.step < 2) PetscCall(MatDestroy(&petsc));
  }
  PetscCall(CheckSweeps(ours, calls, 0));
  PetscCall(CompareSweep(ours, petsc, 1.2, SOR_SYMMETRIC_SWEEP, 0.5, 1, 1));
  if (!inodes) PetscCall(CompareSweep(ours, petsc, 1, SOR_EISENSTAT, 0, 1, 1));
  PetscCall(CheckSweeps(ours, calls, inodes ? 1 : 2));
  PetscCall(MatDestroy(&ours));
  PetscCall(MatDestroy(&petsc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options for inodes, which a matrix reads when it is made: rows of a node are relaxed as PETSc relaxes them, and
   differently from rows of nodes without the option */
static PetscErrorCode TestInodeOption(const char option[], const char value[], PetscBool has_nodes)
{
  PetscInt *sizes, most = 0, n = 0;
  Mat       ours, petsc, other;
  PetscReal distance, size;
  Vec       b, x[2];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "MatSOR(), %s %s", option, value));
  PetscCall(IncompleteMatrix(PETSC_COMM_SELF, &nodes, MATAIJ, &other));
  PetscCall(PetscOptionsSetValue(NULL, option, value));
  PetscCall(IncompleteMatrix(PETSC_COMM_SELF, &nodes, MATAIJRBP, &ours));
  PetscCall(IncompleteMatrix(PETSC_COMM_SELF, &nodes, MATAIJ, &petsc));
  PetscCall(PetscOptionsClearValue(NULL, option));
  PetscCall(MatInodeGetInodeSizes(petsc, &n, &sizes, NULL));
  for (PetscInt i = 0; sizes && i < n; i++) most = PetscMax(most, sizes[i]);
  PetscCall(IncompleteCheck((PetscBool)(most == (has_nodes ? 2 : 0)), "PETSc's nodes are not those of the option"));
  for (int way = 0; way < 4; way++)
    PetscCall(
        CompareSweep(ours, petsc, 1, SOR_SYMMETRIC_SWEEP | (way % 2 ? SOR_ZERO_INITIAL_GUESS : 0), 0, 1 + way / 2, 1));
  PetscCall(CheckSweeps(ours, 4, 0));
  PetscCall(MatCreateVecs(ours, &x[0], &b));
  PetscCall(VecDuplicate(b, &x[1]));
  PetscCall(VecSet(b, 1));
  PetscCall(MatSOR(ours, b, 1, (MatSORType)(SOR_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, x[0]));
  PetscCall(MatSOR(other, b, 1, (MatSORType)(SOR_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, x[1]));
  PetscCall(TestDistance(x[0], x[1], NORM_INFINITY, &distance, &size));
  PetscCall(IncompleteCheck((PetscBool)(distance > 1e-3 * size), "the option changed nothing"));
  PetscCall(TestDestroyVecs(&x[0], &x[1]));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&other));
  PetscCall(MatDestroy(&ours));
  PetscCall(MatDestroy(&petsc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix that the device does not take, and later does */
static PetscErrorCode TestHost(IncompleteCase c, const char device[], PetscBool zero)
{
  PetscErrorCode error;
  Mat            ours, petsc;
  Vec            x, b;

  PetscFunctionBeginUser;
  c.zero = zero;
  PetscCall(
      PetscSNPrintf(incomplete_name, sizeof incomplete_name, "MatSOR(), %s, %s, zero %d", c.name, device, (int)zero));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_aijfmt_device", device));
  PetscCall(IncompleteMatrix(PETSC_COMM_SELF, &c, MATAIJRBP, &ours));
  PetscCall(IncompleteMatrix(PETSC_COMM_SELF, &c, MATAIJ, &petsc));
  if (!zero) PetscCall(CompareSweep(ours, petsc, 1, SOR_SYMMETRIC_SWEEP, 0, 1, 1));
  else {
    PetscCall(MatCreateVecs(ours, &x, &b));
    PetscCall(VecSet(b, 1));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    error = MatSOR(ours, b, 1, SOR_SYMMETRIC_SWEEP, 0, 1, 1, x);
    PetscCall(PetscPopErrorHandler());
    PetscCall(IncompleteCheck((PetscBool)(error == PETSC_ERR_ARG_INCOMP), "another error than PETSc's"));
    PetscCall(TestDestroyVecs(&x, &b));
    c.zero = PETSC_FALSE;
    PetscCall(IncompleteFill(&c, ours));
    PetscCall(IncompleteFill(&c, petsc));
    PetscCall(CompareSweep(ours, petsc, 1, SOR_SYMMETRIC_SWEEP, 0, 1, 1));
  }
  PetscCall(CheckSweeps(ours, zero ? 1 : 0, zero ? 0 : 1));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_aijfmt_device", "gpu"));
  PetscCall(MatDestroy(&ours));
  PetscCall(MatDestroy(&petsc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- preconditioners ---- */

static PetscErrorCode CheckEngine(KSP ksp)
{
  KSPDeviceInfo of;
  PetscBool     nccl;
  PetscMPIInt   size;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-expect_nccl", &nccl));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  PetscCall(KSPDeviceGetInfo(ksp, &of));
  PetscCall(IncompleteCheck((PetscBool)(of.solves_device > 0 && !of.solves_host), of.reason));
  PetscCall(IncompleteCheck((PetscBool)(of.graphs > 0 || (size > 1 && !nccl)), "no graph"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's solver and type of matrix; PETSc's solver with ours; our solver with both types. Then new values. */
static PetscErrorCode TestPC(IncompleteCase c, KSPType method, KSPType engine, PCType of_pc)
{
  const struct {
    KSPType method;
    MatType type;
  } ways[] = {{method, MATAIJ}, {method, MATAIJRBP}, {engine, MATAIJRBP}, {engine, MATAIJ}};
  IncompleteResult result[2][4];
  MatAIJFmtInfo    info;

  PetscFunctionBeginUser;
  for (int w = 0; w < 4; w++) {
    KSP ksp;
    Mat A;

    PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "%s, %s, %s, %s", of_pc, c.name, ways[w].method,
                            ways[w].type));
    PetscCall(IncompleteMatrix(PETSC_COMM_WORLD, &c, ways[w].type, &A));
    PetscCall(IncompleteSolver(A, ways[w].method, of_pc, NULL, &ksp));
    for (c.step = 0; c.step < 2; c.step++) {
      if (c.step) PetscCall(IncompleteFill(&c, A));
      PetscCall(IncompleteSolve(ksp, &result[c.step][w]));
      if (w) PetscCall(IncompleteCompare(&result[c.step][w], &result[c.step][0]));
    }
    c.step = 0;
    if (w > 1) PetscCall(CheckEngine(ksp));
    if (w == 1 && !strcmp(of_pc, PCSOR)) {
      PetscCall(MatAIJFmtGetInfo(A, &info));
      PetscCall(IncompleteCheck((PetscBool)(info.sweeps > 0 && info.fallbacks_sweep == 0), "sweeps on the host"));
    }
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPCWith(IncompleteCase c, PCType of_pc, const char option[], const char value[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, option, value));
  PetscCall(TestPC(c, KSPGMRES, KSPGMRESDEVICE, of_pc));
  PetscCall(PetscOptionsClearValue(NULL, option));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The types of PCASM, overlaps, several blocks a process, factors and sweeps in them; known symmetry changes PETSc's type */
static PetscErrorCode TestOverlap(IncompleteCase scalar, IncompleteCase symmetric)
{
  PetscFunctionBeginUser;
  PetscCall(TestPC(scalar, KSPGMRES, KSPGMRESDEVICE, PCASM));
  PetscCall(TestPCWith(scalar, PCASM, "-pc_asm_overlap", "0"));
  PetscCall(TestPCWith(scalar, PCASM, "-pc_asm_overlap", "2"));
  for (int type = PC_ASM_NONE; type <= PC_ASM_BASIC; type++)
    PetscCall(TestPCWith(scalar, PCASM, "-pc_asm_type", PCASMTypes[type]));
  PetscCall(TestPCWith(scalar, PCASM, "-pc_asm_blocks", "6"));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_asm_type", "basic"));
  PetscCall(TestPCWith(scalar, PCASM, "-pc_asm_blocks", "4"));
  PetscCall(TestPC(symmetric, KSPCG, KSPCGDEVICE, PCASM));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_asm_type"));
  PetscCall(TestPCWith(nodes, PCASM, "-sub_pc_type", PCSOR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An option that the engine leaves to PETSc, with the reason; PETSc's solver then gives the same */
static PetscErrorCode TestDeclined(PCType of_pc, const char option[], const char value[], const char text[])
{
  IncompleteResult ours, petsc;
  KSPDeviceInfo    of;
  KSP              ksp;
  Mat              A;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(incomplete_name, sizeof incomplete_name, "%s, %s %s", of_pc, option, value));
  PetscCall(PetscOptionsSetValue(NULL, option, value));
  PetscCall(IncompleteMatrix(PETSC_COMM_WORLD, &scalar, MATAIJRBP, &A));
  PetscCall(IncompleteSolver(A, KSPGMRES, of_pc, NULL, &ksp));
  PetscCall(IncompleteSolve(ksp, &petsc));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(IncompleteSolver(A, KSPGMRESDEVICE, of_pc, NULL, &ksp));
  PetscCall(IncompleteSolve(ksp, &ours));
  PetscCall(IncompleteCompare(&ours, &petsc));
  PetscCall(KSPDeviceGetInfo(ksp, &of));
  PetscCall(IncompleteCheck((PetscBool)(of.solves_host == 1 && strstr(of.reason, text) != NULL), of.reason));
  PetscCall(PetscOptionsClearValue(NULL, option));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IncompleteTestSweeps(void)
{
  PetscFunctionBeginUser;
  PetscCall(TestOperation(scalar, PETSC_FALSE));
  PetscCall(TestOperation(nodes, PETSC_TRUE));
  if (!PetscDefined(HAVE_CUDA)) { /* PETSc's types with CUDA have no inodes */
    PetscCall(TestInodeOption("-mat_no_inode", "true", PETSC_FALSE));
    PetscCall(TestInodeOption("-mat_inode_limit", "2", PETSC_TRUE));
  }
  PetscCall(TestHost(scalar, "host", PETSC_FALSE));
  PetscCall(TestHost(scalar, "auto", PETSC_FALSE));
  PetscCall(TestHost(chain, "auto", PETSC_FALSE));
  PetscCall(TestHost(scalar, "gpu", PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IncompleteTestEngines(void)
{
  const IncompleteCase symmetric = {.name = "tetrahedra", .shape = 2, .factor = 1};
  PetscMPIInt          size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(TestPC(scalar, KSPGMRES, KSPGMRESDEVICE, PCSOR));
  PetscCall(TestPC(nodes, KSPGMRES, KSPGMRESDEVICE, PCSOR));
  PetscCall(TestPC(symmetric, KSPCG, KSPCGDEVICE, PCSOR));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_sor_omega", "1.2"));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_sor_lits", "2"));
  PetscCall(TestPC(nodes, KSPGMRES, KSPGMRESDEVICE, PCSOR));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_sor_omega"));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_sor_lits"));
  PetscCall(TestPC(scalar, KSPGMRES, KSPGMRESDEVICE, PCBJACOBI));
  PetscCall(TestOverlap(scalar, symmetric));
  PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_type", PCSOR));
  PetscCall(TestPC(nodes, KSPGMRES, KSPGMRESDEVICE, PCBJACOBI));
  PetscCall(PetscOptionsClearValue(NULL, "-sub_pc_type"));
  PetscCall(TestDeclined(PCSOR, "-pc_sor_diagonal_shift", "0.1", "-pc_sor_diagonal_shift"));
  PetscCall(TestPCWith(scalar, PCBJACOBI, "-pc_bjacobi_local_blocks", "3"));
  PetscCall(TestPCWith(scalar, PCBJACOBI, "-sub_pc_factor_levels", "1"));
  PetscCall(TestPCWith(scalar, PCASM, "-sub_pc_factor_mat_ordering_type", MATORDERINGRCM));
  PetscCall(TestDeclined(PCASM, "-pc_asm_local_type", "multiplicative", "are not added up"));
  PetscCall(TestDeclined(PCBJACOBI, "-sub_pc_type", PCJACOBI, size > 1 ? "of this process is not" : "is bjacobi"));
  PetscCall(TestDeclined(PCBJACOBI, "-sub_pc_factor_mat_solver_type", MATSOLVERPETSC,
                         size > 1 ? "of this process is not" : "is bjacobi"));
  PetscCall(TestDeclined(PCBJACOBI, "-sub_ksp_type", KSPGMRES, "does more than"));
  PetscCall(TestDeclined(PCBJACOBI, "-sub_pc_factor_shift_type", "inblocks", "inblocks"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
