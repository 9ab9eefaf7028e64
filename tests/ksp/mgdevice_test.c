/* Functions shared by the tests of multigrid on the device: see mgdevice_test.h. */
#include "mgdevice_test.h"

#include <petscdmda.h>
#include <string.h>

static PetscBool IsGamg(MGProblem problem) { return problem <= MG_SINGULAR_UNKNOWN ? PETSC_TRUE : PETSC_FALSE; }

/* Inserts options, with the prefix added to each option name */
static PetscErrorCode InsertOptions(const char prefix[], const char options[])
{
  char **word, name[128];
  int    count;

  PetscFunctionBeginUser;
  PetscCall(PetscStrToArray(options, ' ', &count, &word));
  for (int i = 0; i < count; i++) {
    const PetscBool value = i + 1 < count && word[i + 1][0] != '-' ? PETSC_TRUE : PETSC_FALSE;

    PetscCall(PetscSNPrintf(name, sizeof name, "-%s%s", prefix, word[i] + 1));
    PetscCall(PetscOptionsSetValue(NULL, name, value ? word[i + 1] : NULL));
    if (value) i++;
  }
  PetscCall(PetscStrToArrayDestroy(count, word));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- problems on grids ---- */

static PetscInt Unknowns(const MGRow *row) { return row->problem == MG_GRID_UNKNOWNS ? 2 : 1; }

static PetscErrorCode GridCreate(const MGRow *row, DM *dm)
{
  const PetscInt n = row->problem == MG_LARGE ? 49 : 17;

  PetscFunctionBeginUser;
  if (row->problem == MG_LINE) PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 257, 1, 1, NULL, dm));
  else
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, PETSC_DECIDE,
                           PETSC_DECIDE, Unknowns(row), 1, NULL, NULL, dm));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Conductivity between two neighbours, as a function of the number of the lower one */
static PetscReal Conductivity(const MGRow *row, PetscInt i, PetscInt j, PetscReal scale)
{
  const PetscReal smooth = 1 + (PetscReal)0.3 * PetscSinReal(scale * (PetscReal)(i + 2 * j));

  return row->problem == MG_GRID_JUMPS && (i / 4 + j / 4) % 2 ? smooth * (PetscReal)1e8 : smooth;
}

static PetscBool IsSingular(MGProblem problem)
{
  return problem == MG_SINGULAR || problem == MG_SINGULAR_UNKNOWN || problem == MG_GRID_SINGULAR ? PETSC_TRUE
                                                                                                 : PETSC_FALSE;
}

/* Adds an unknown of a point and its higher neighbours; a negative number means that there is no such neighbour */
static PetscErrorCode AddPoint(Mat A, PetscInt me, const PetscInt other[2], PetscReal c, PetscReal loss)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetValue(A, me, me, (PetscScalar)loss, ADD_VALUES));
  for (int k = 0; k < 2; k++) {
    if (other[k] < 0) continue;
    PetscCall(MatSetValue(A, me, me, c, ADD_VALUES));
    PetscCall(MatSetValue(A, other[k], other[k], c, ADD_VALUES));
    PetscCall(MatSetValue(A, me, other[k], -c, ADD_VALUES));
    PetscCall(MatSetValue(A, other[k], me, -c, ADD_VALUES));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Symmetric: conductivities, plus a loss at each point unless the matrix must be singular */
static PetscErrorCode GridFill(const MGRow *row, Mat A, PetscInt nx, PetscInt ny, PetscReal scale)
{
  const PetscInt unknowns = Unknowns(row);

  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(A));
  for (PetscInt j = 0; j < ny; j++)
    for (PetscInt i = 0; i < nx; i++)
      for (PetscInt u = 0; u < unknowns; u++) {
        const PetscInt me      = (j * nx + i) * unknowns + u,
                       other[] = {i + 1 < nx ? me + unknowns : -1, j + 1 < ny ? me + nx * unknowns : -1};
        const PetscReal c      = Conductivity(row, i, j, scale) * (PetscReal)(1 + u);

        PetscCall(AddPoint(A, me, other, c, IsSingular(row->problem) ? 0 : (PetscReal)0.05 * c));
      }
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The constant vector, which PETSc has built in or gets as an explicit vector. KSPSolve() projects the right-hand
   side. */
static PetscErrorCode SetNullSpace(Mat A, MGProblem problem)
{
  const PetscBool by_vector = problem == MG_SINGULAR ? PETSC_TRUE : PETSC_FALSE;
  MatNullSpace    space;
  Vec             constant;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &constant, NULL));
  PetscCall(VecSet(constant, 1));
  PetscCall(VecNormalize(constant, NULL));
  PetscCall(
      MatNullSpaceCreate(PETSC_COMM_WORLD, by_vector ? PETSC_FALSE : PETSC_TRUE, by_vector ? 1 : 0, &constant, &space));
  if (problem != MG_SINGULAR_UNKNOWN) PetscCall(MatSetNullSpace(A, space));
  PetscCall(MatSetTransposeNullSpace(A, space));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(VecDestroy(&constant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMatrix(const MGRow *row, DM dm, Mat *A)
{
  PetscInt nx, ny;

  PetscFunctionBeginUser;
  PetscCall(DMSetMatType(dm, MATAIJ));
  PetscCall(DMCreateMatrix(dm, A));
  PetscCall(DMDAGetInfo(dm, NULL, &nx, &ny, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(GridFill(row, *A, nx, ny, 1));
  if (IsSingular(row->problem)) PetscCall(SetNullSpace(*A, row->problem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the interpolation to level i from the next coarser level, in the form that the row asks for */
static PetscErrorCode SetTransfer(const MGRow *row, PC pc, PetscInt i, Mat P)
{
  Mat transposed;

  PetscFunctionBeginUser;
  if (row->problem != MG_GRID_INTERPOLATION) PetscCall(PCMGSetInterpolation(pc, i, P));
  if (row->problem != MG_GRID_INTERPOLATION && row->problem != MG_GRID_RESTRICTION) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatTranspose(P, MAT_INITIAL_MATRIX, &transposed));
  if (row->problem == MG_GRID_INTERPOLATION) {
    PetscCall(PCMGSetInterpolation(pc, i, transposed));
    PetscCall(PCMGSetRestriction(pc, i, P));
  } else PetscCall(PCMGSetRestriction(pc, i, transposed));
  PetscCall(MatDestroy(&transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UserResidual(Mat A, Vec b, Vec x, Vec r) { return PCMGResidualDefault(A, b, x, r); }

/* Sets the matrices of all levels if PCMG must not make the Galerkin products, for which it uses P as it is stored */
static PetscErrorCode SetCoarseMatrices(PC pc, PetscInt levels, Mat A, Mat P[])
{
  Mat fine = A, coarse;
  KSP smoother;

  PetscFunctionBeginUser;
  PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_NONE));
  PetscCall(PetscObjectReference((PetscObject)fine));
  for (PetscInt i = levels - 1; i > 0; i--) {
    PetscCall(MatPtAP(fine, P[i], MAT_INITIAL_MATRIX, 1, &coarse));
    PetscCall(PCMGGetSmoother(pc, i - 1, &smoother));
    PetscCall(KSPSetOperators(smoother, coarse, coarse));
    PetscCall(MatDestroy(&fine));
    fine = coarse;
  }
  PetscCall(MatDestroy(&fine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetHierarchy(const MGRow *row, KSP ksp, DM finest)
{
  DM  dm = finest, coarse;
  Mat P[16];
  PC  pc;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(PCMGSetLevels(pc, row->levels, NULL));
  PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_BOTH));
  PetscCall(PetscObjectReference((PetscObject)dm));
  for (PetscInt i = row->levels - 1; i > 0; i--) {
    PetscCall(DMCoarsen(dm, MPI_COMM_NULL, &coarse));
    PetscCall(DMCreateInterpolation(coarse, dm, &P[i], NULL));
    PetscCall(SetTransfer(row, pc, i, P[i]));
    PetscCall(DMDestroy(&dm));
    dm = coarse;
  }
  PetscCall(DMDestroy(&dm));
  if (row->problem == MG_GRID_INTERPOLATION) PetscCall(SetCoarseMatrices(pc, row->levels, A, P));
  for (PetscInt i = row->levels - 1; i > 0; i--) PetscCall(MatDestroy(&P[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the hierarchy unusual in the way that the row asks for, after the options are set */
static PetscErrorCode SetUnusual(const MGRow *row, KSP ksp)
{
  MatNullSpace null_space;
  PC           pc, inner;
  KSP          up, smoother;
  Mat          A, other;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  for (PetscInt i = 1; i < row->levels && row->problem == MG_GRID_UP; i++) {
    PetscCall(PCMGGetSmootherUp(pc, i, &up));
    PetscCall(KSPSetType(up, KSPRICHARDSON));
    PetscCall(KSPRichardsonSetScale(up, (PetscReal)0.7));
    PetscCall(KSPGetPC(up, &inner));
    PetscCall(PCSetType(inner, PCJACOBI));
  }
  if (row->problem == MG_GRID_RESIDUAL) PetscCall(PCMGSetResidual(pc, row->levels - 1, UserResidual, A));
  if (row->problem == MG_GRID_OTHER || row->problem == MG_GRID_NULL) {
    PetscCall(PCMGGetSmoother(pc, row->levels - 1, &smoother));
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &other));
    if (row->problem == MG_GRID_OTHER) PetscCall(PCMGGetSmootherUp(pc, row->levels - 1, &smoother));
    else {
      PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &null_space));
      PetscCall(MatSetNullSpace(other, null_space));
      PetscCall(MatNullSpaceDestroy(&null_space));
    }
    PetscCall(KSPSetOperators(smoother, other, other));
    PetscCall(MatDestroy(&other));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- problems for PCGAMG ---- */

/* Multiplies couplings within every second group of 16 unknowns by 1e8 */
static PetscErrorCode Jumps(Mat A)
{
  PetscInt rows;
  Vec      scale;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(MatCreateVecs(A, &scale, NULL));
  for (PetscInt i = 0; i < rows; i++) PetscCall(VecSetValue(scale, i, (i / 16) % 2 ? 1e4 : 1, INSERT_VALUES));
  PetscCall(TestAssembleVec(scale));
  PetscCall(MatDiagonalScale(A, scale, scale));
  PetscCall(VecDestroy(&scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GamgMatrix(const MGRow *row, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(CGDevTestMatrix(row->problem == MG_ELASTIC ? 2 : row->problem == MG_TETRAHEDRA ? 3 : 1, MATAIJ, A));
  if (row->problem == MG_JUMPS) PetscCall(Jumps(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGTestFill(const MGRow *row, KSP ksp, PetscReal scale)
{
  const PetscInt n = row->problem == MG_LARGE ? 49 : 17;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  if (IsGamg(row->problem)) PetscCall(CGDevTestFill(A, scale));
  else PetscCall(GridFill(row, A, row->problem == MG_LINE ? 257 : n, row->problem == MG_LINE ? 1 : n, scale));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- solves ---- */

PetscErrorCode MGTestCreate(const MGRow *row, const char prefix[], KSPType type, const CGDevSetup *setup, KSP *ksp)
{
  DM  dm = NULL;
  Mat A;

  PetscFunctionBeginUser;
  if (IsGamg(row->problem) && !IsSingular(row->problem)) PetscCall(GamgMatrix(row, &A));
  else {
    PetscCall(GridCreate(row, &dm));
    PetscCall(GridMatrix(row, dm, &A));
  }
  PetscCall(CGDevTestCreate(type, A, A, setup, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(InsertOptions(prefix, row->options));
  if (!IsGamg(row->problem)) PetscCall(SetHierarchy(row, *ksp, dm));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(SetUnusual(row, *ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGTestServed(const char name[], const CGDevOutcome *got)
{
  char text[400];

  PetscFunctionBeginUser;
  if (!CGDevTestOnDevice()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(text, sizeof text, "solved in mode %s: %s", KSPDeviceModes[got->info.used], got->why));
  PetscCall(CGDevTestCheck(got->info.used != KSP_DEVICE_HOST, name, text));
  PetscCall(CGDevTestCheck(got->info.solves_host == 0, name, "a solve by KSPCG"));
  PetscCall(CGDevTestCheck(got->info.cycles > 0, name, "no cycles on the device"));
  PetscCall(CGDevTestCheck(got->info.set_ups > 0, name, "no set-up"));
  PetscCall(CGDevTestNccl(name, got->info.nccl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Removes the constant, up to which the solution of a singular system is defined */
static PetscErrorCode RemoveMean(Vec x)
{
  PetscScalar mean;
  PetscInt    rows;

  PetscFunctionBeginUser;
  PetscCall(VecGetSize(x, &rows));
  PetscCall(VecSum(x, &mean));
  PetscCall(VecShift(x, -mean / (PetscReal)rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If PETSc does not know the null space, rounding decides how much of it the coarsest level adds and how many
   iterations that costs, in both solvers: only the solutions can be compared */
static PetscErrorCode Converged(const char name[], const CGDevOutcome *expected, const CGDevOutcome *got)
{
  PetscReal size, error;

  PetscFunctionBeginUser;
  PetscCall(TestDistance(got->x, expected->x, NORM_2, &error, &size));
  PetscCall(CGDevTestCheck(got->reason > 0, name, "no convergence"));
  PetscCall(CGDevTestCheck(error <= (PetscReal)1e-3 * size, name, "the solution differs"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Refused(const MGRow *row, const CGDevOutcome *got)
{
  char text[400];

  PetscFunctionBeginUser;
  if (!CGDevTestOnDevice()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(text, sizeof text, "solved in mode %s: %s", KSPDeviceModes[got->info.used], got->why));
  PetscCall(CGDevTestCheck(strstr(got->why, row->refused) != NULL, row->name, text));
  PetscCall(CGDevTestCheck(got->info.cycles == 0, row->name, "a cycle on the device"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGTestRow(const MGRow *row, PetscInt number)
{
  static CGDevOutcome expected, got;
  CGDevSetup          setup = CGDevTestSetup();
  PetscBool           view  = PETSC_FALSE;
  char                prefix[32];
  PetscMPIInt         size;
  KSP                 ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(prefix, sizeof prefix, "row%" PetscInt_FMT "_", number));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-view", &view, NULL));
  setup.pc   = IsGamg(row->problem) ? PCGAMG : PCMG;
  setup.norm = number % 3 == 0   ? KSP_NORM_PRECONDITIONED
               : number % 3 == 1 ? KSP_NORM_UNPRECONDITIONED
                                 : KSP_NORM_NATURAL;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  setup.mode  = number % 4 == 1 || size > 1 ? KSP_DEVICE_CHUNK : KSP_DEVICE_AUTO; /* host vectors */
  setup.guess = number % 5 == 2 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MGTestCreate(row, prefix, KSPCG, &setup, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &expected));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MGTestCreate(row, prefix, KSPCGDEVICE, &setup, &ksp));
  PetscCall(CGDevTestSolve(ksp, NULL, &setup, &got));
  if (view) PetscCall(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD));
  if (view) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " iterations\n", row->name, got.iterations));
  if (row->refused) PetscCall(Refused(row, &got));
  else PetscCall(MGTestServed(row->name, &got));
  if (IsSingular(row->problem)) {
    PetscCall(RemoveMean(expected.x));
    PetscCall(RemoveMean(got.x));
  }
  if (row->problem == MG_SINGULAR_UNKNOWN) PetscCall(Converged(row->name, &expected, &got));
  else PetscCall(CGDevTestAlike(row->name, &expected, &got));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(TestDestroyVecs(&expected.x, &got.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGTestInfo(KSP ksp, PCMGDeviceInfo *info)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGDeviceGetInfo(pc, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
