/* solve_solver.c - a cell with a solver: from assembly to the solve with new values. */
#include "solve_bench.h"
#include <petscdmda.h>
#include <string.h>

/* Solvers KSP_PC: each of these KSP types with a preconditioner of the second list, or with PETSc's GAMG, or with its
   cycles on the GPU */
static const char *const krylov[]          = {"cg", "gmres", "fgmres", "bcgs", "cgdevice", "gmresdevice"};
static const char *const preconditioners[] = {PCJACOBI, PCILU, PCICC, PCBJACOBI, PCSOR, PCMG};
static const char *const multigrid[]       = {"gamg", "gamgdevice"};

/* Options of all solvers with multigrid, also of aggdevice_gamg */
static const struct {
  const char *key, *value;
} multigrid_options[] = {
    {"pc_gamg_reuse_interpolation", "true"},
    {"mg_levels_ksp_type", "chebyshev"},
    {"mg_levels_pc_type", "jacobi"},
    {"pc_gamg_aggressive_square_graph", "false"},
};

static PetscErrorCode SetOption(const char solver[], const char key[], const char value[])
{
  char      name[TEXT];
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof name, "-%s_%s", solver, key));
  PetscCall(PetscOptionsHasName(NULL, NULL, name, &set));
  if (!set) PetscCall(PetscOptionsSetValue(NULL, name, value));
  PetscFunctionReturn(0);
}

static PetscErrorCode KrylovOptions(const char solver[], const char pc[])
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(krylov); i++) {
    const size_t length = strlen(krylov[i]);

    if (!strncmp(solver, krylov[i], length) && solver[length] == '_')
      PetscCall(SetOption(solver, "ksp_type", krylov[i]));
  }
  PetscCall(SetOption(solver, "pc_type", pc));
  PetscFunctionReturn(0);
}

static PetscErrorCode MultigridOptions(const char solver[], const char pc[])
{
  PetscFunctionBeginUser;
  PetscCall(KrylovOptions(solver, pc));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(multigrid_options); i++)
    PetscCall(SetOption(solver, multigrid_options[i].key, multigrid_options[i].value));
  PetscFunctionReturn(0);
}

/* Solvers lu_PACKAGE and cholesky_PACKAGE: that factorization alone */
static PetscErrorCode FactorOptions(const char solver[], const char pc[])
{
  const size_t length = strlen(pc);

  PetscFunctionBeginUser;
  if (strncmp(solver, pc, length) || solver[length] != '_') PetscFunctionReturn(0);
  PetscCall(SetOption(solver, "ksp_type", KSPPREONLY));
  PetscCall(SetOption(solver, "pc_type", pc));
  PetscCall(SetOption(solver, "pc_factor_mat_solver_type", solver + length + 1));
  PetscFunctionReturn(0);
}

PetscErrorCode SolverOptions(const char solver[])
{
  const char *pc = strrchr(solver, '_');

  PetscFunctionBeginUser;
  PetscCall(FactorOptions(solver, PCLU));
  PetscCall(FactorOptions(solver, PCCHOLESKY));
  if (!strcmp(solver, "aggdevice_gamg")) {
    PetscCall(SetOption(solver, "ksp_type", "cgdevice"));
    PetscCall(SetOption(solver, "pc_gamg_type", "aggdevice"));
  }
  for (size_t i = 0; pc && i < PETSC_STATIC_ARRAY_LENGTH(preconditioners); i++)
    if (!strcmp(pc + 1, preconditioners[i])) PetscCall(KrylovOptions(solver, preconditioners[i]));
  for (size_t i = 0; pc && i < PETSC_STATIC_ARRAY_LENGTH(multigrid); i++)
    if (!strcmp(pc + 1, multigrid[i])) PetscCall(MultigridOptions(solver, multigrid[i]));
  PetscFunctionReturn(0);
}

PetscErrorCode OpAssemble(void *run_)
{
  Run *run = run_;

  PetscFunctionBeginUser;
  PetscCall(AssembleBySetValues(run->p, run->cell->type, &run->A));
  PetscFunctionReturn(0);
}

/* PCMG on a stencil gets the grid, from which PETSc takes coarser grids, for as long as they halve, and interpolation;
   coarser matrices are Galerkin's. The rows of several processes have another order than those of its grid. */
static PetscErrorCode GridSet(Run *run)
{
  const char *suffix = strrchr(run->cell->solver, '_');
  PetscInt    dim = 0, n, levels = 0;
  PetscMPIInt size;
  DM          grid;
  PC          pc;

  PetscFunctionBeginUser;
  if (!suffix || strcmp(suffix + 1, PCMG)) PetscFunctionReturn(0);
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (sscanf(run->p->name, "stencil5:%" PetscInt_FMT, &n) == 1) dim = 2;
  if (sscanf(run->p->name, "stencil7:%" PetscInt_FMT, &n) == 1) dim = 3;
  PetscCheck(dim && size == 1, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "mg needs stencil5 or stencil7 on one process");
  PetscCall(DMDACreate(PETSC_COMM_WORLD, &grid));
  PetscCall(DMSetDimension(grid, dim));
  PetscCall(DMDASetSizes(grid, n, n, dim == 3 ? n : 1));
  PetscCall(DMDASetDof(grid, 1));
  PetscCall(DMDASetStencilWidth(grid, 1));
  PetscCall(DMSetMatType(grid, run->cell->type));
  PetscCall(DMSetUp(grid));
  for (; n > 4 && n % 2; n = n / 2 + 1) levels++;
  PetscCall(DMSetRefineLevel(grid, levels));
  PetscCall(KSPGetPC(run->ksp, &pc));
  PetscCall(PCSetDM(pc, grid));
  PetscCall(SetOption(run->cell->solver, "pc_mg_galerkin", "both"));
  PetscCall(DMDestroy(&grid));
  PetscFunctionReturn(0);
}

PetscErrorCode OpMakeSolver(void *run_)
{
  Run      *run = run_;
  char      prefix[TEXT];
  PetscReal norm;

  PetscFunctionBeginUser;
  if (run->p->near) PetscCall(MatSetNearNullSpace(run->A, run->p->near));
  if (run->p->symmetric) PetscCall(MatSetOption(run->A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatCreateVecs(run->A, &run->x, &run->b));
  PetscCall(CopyThroughHost(run->p->b, run->b));
  PetscCall(VecNorm(run->b, NORM_2, &norm)); /* copies b to the memory in which the type computes */
  PetscCall(PetscSNPrintf(prefix, sizeof prefix, "%s_", run->cell->solver));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &run->ksp));
  PetscCall(KSPSetOptionsPrefix(run->ksp, prefix));
  PetscCall(KSPSetTolerances(run->ksp, (PetscReal)run->settings->rtol, PETSC_DEFAULT, PETSC_DEFAULT, 10000));
  PetscCall(KSPSetOperators(run->ksp, run->A, run->A));
  PetscCall(GridSet(run));
  PetscCall(KSPSetFromOptions(run->ksp));
  PetscFunctionReturn(0);
}

PetscErrorCode OpSetUp(void *run_)
{
  Run *run = run_;

  PetscFunctionBeginUser;
  PetscCall(KSPSetOperators(run->ksp, run->A, run->A));
  PetscCall(KSPSetUp(run->ksp));
  PetscCall(KSPSetUpOnBlocks(run->ksp));
  PetscFunctionReturn(0);
}

PetscErrorCode OpSolve(void *run_)
{
  Run *run = run_;

  PetscFunctionBeginUser;
  PetscCall(KSPSolve(run->ksp, run->b, run->x));
  PetscFunctionReturn(0);
}

static PetscErrorCode Profiled(Operation operation, void *run)
{
  PetscFunctionBeginUser;
  PetscCall(DeviceProfile(PETSC_TRUE));
  PetscCall((*operation)(run));
  PetscCall(DeviceWait());
  PetscCall(DeviceProfile(PETSC_FALSE));
  PetscFunctionReturn(0);
}

static PetscErrorCode OpProfiledSolve(void *run)
{
  PetscFunctionBeginUser;
  PetscCall(Profiled(OpSolve, run));
  PetscFunctionReturn(0);
}

static PetscErrorCode OpProfiledSetUp(void *run)
{
  PetscFunctionBeginUser;
  PetscCall(Profiled(OpSetUp, run));
  PetscFunctionReturn(0);
}

PetscErrorCode OpWriteValues(void *run_)
{
  Run *run = run_;

  PetscFunctionBeginUser;
  PetscCall(WriteBySetValues(run->p, run->values, run->A));
  PetscFunctionReturn(0);
}

PetscErrorCode OpResidual(void *run_)
{
  Run *run = run_;

  PetscFunctionBeginUser;
  PetscCall(ProblemResidual(run->p, run->step, run->x, &run->residual));
  PetscFunctionReturn(0);
}

PetscErrorCode TimeSolve(Run *run, const char name[], PetscInt times, Operation solve)
{
  Phase             *phase;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(CellTime(run->cell, name, times, 1, solve, run, &phase));
  if (!phase || phase->error[0]) PetscFunctionReturn(0);
  PetscCall(KSPGetIterationNumber(run->ksp, &phase->iterations));
  PetscCall(KSPGetConvergedReason(run->ksp, &reason));
  phase->reason = (PetscInt)reason;
  PetscCall(Guard(OpResidual, run, phase->error));
  phase->residual = run->residual;
  PetscFunctionReturn(0);
}

/* Members may be left from a failed operation; a member that cannot be destroyed is leaked */
static PetscErrorCode OpDestroySolver(void *run) { return KSPDestroy(&((Run *)run)->ksp); }
static PetscErrorCode OpDestroyB(void *run) { return VecDestroy(&((Run *)run)->b); }
static PetscErrorCode OpDestroyX(void *run) { return VecDestroy(&((Run *)run)->x); }
static PetscErrorCode OpDestroyY(void *run) { return VecDestroy(&((Run *)run)->y); }
static PetscErrorCode OpDestroyMatrix(void *run) { return MatDestroy(&((Run *)run)->A); }

PetscErrorCode OpFreeList(void *run_)
{
  Run *run = run_;

  PetscFunctionBeginUser;
  PetscCall(PetscFree2(run->coo_row, run->coo_col));
  PetscCall(DeviceFree((void **)&run->device_row));
  PetscCall(DeviceFree((void **)&run->device_col));
  PetscFunctionReturn(0);
}

static PetscErrorCode OpFreeValues(void *run_)
{
  Run *run = run_;

  PetscFunctionBeginUser;
  PetscCall(PetscFree(run->values));
  PetscCall(DeviceFree((void **)&run->device_values));
  PetscCall(DeviceFree((void **)&run->there.node));
  PetscCall(DeviceFree((void **)&run->there.point));
  PetscFunctionReturn(0);
}

PetscErrorCode RunDestroy(Run *run)
{
  static const Operation destroy[] = {OpDestroySolver, OpDestroyB, OpDestroyX,  OpDestroyY,
                                      OpDestroyMatrix, OpFreeList, OpFreeValues};
  char                   ignored[TEXT];

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(destroy); i++) PetscCall(Guard(destroy[i], run, ignored));
  PetscFunctionReturn(0);
}

static PetscErrorCode MeasureLoops(const Problem *p, const Settings *s, Cell *cell)
{
  PetscBool wanted = s->loop_solver_count == 0 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < s->loop_solver_count; i++)
    if (!strcmp(s->loop_solvers[i], cell->solver)) wanted = PETSC_TRUE;
  for (PetscInt i = 0; wanted && i < s->loop_count && !cell->error[0]; i++) {
    NewtonLoop *loop = &cell->loop[cell->loops++];
    loop->by         = s->loops[i];
    loop->residual = loop->device_bytes = -1;
    PetscCall(MeasureLoop(p, s, cell, loop));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode OpRenewSolver(void *run)
{
  PetscFunctionBeginUser;
  PetscCall(OpDestroySolver(run));
  PetscCall(OpDestroyB(run));
  PetscCall(OpDestroyX(run));
  PetscCall(OpMakeSolver(run));
  PetscFunctionReturn(0);
}

/* A new matrix, whose plan the next set-up makes */
static PetscErrorCode OpRenewMatrix(void *run)
{
  PetscFunctionBeginUser;
  PetscCall(OpDestroySolver(run));
  PetscCall(OpDestroyMatrix(run));
  PetscCall(OpAssemble(run));
  PetscCall(OpRenewSolver(run));
  PetscFunctionReturn(0);
}

static PetscErrorCode OpMakeCell(void *run)
{
  PetscFunctionBeginUser;
  PetscCall(OpAssemble(run));
  PetscCall(OpMakeSolver(run));
  PetscFunctionReturn(0);
}

/* The set-up of a new solver, for the matrix of the last one or for a new matrix */
static PetscErrorCode MeasureRenewal(Run *run, const char name[], Operation renew, Operation set_up)
{
  Phase *phase;

  PetscFunctionBeginUser;
  if (!run->cell->error[0]) PetscCall(Guard(renew, run, run->cell->error));
  PetscCall(CellTime(run->cell, name, 1, 1, set_up, run, &phase));
  PetscFunctionReturn(0);
}

PetscErrorCode MeasureSolver(const Problem *p, const Settings *s, Cell *cell)
{
  Run    run = {.p = p, .settings = s, .cell = cell};
  Phase *phase;

  PetscFunctionBeginUser;
  PetscCall(CellTime(cell, "assembly", 1, 1, OpAssemble, &run, &phase));
  if (!cell->error[0]) PetscCall(Guard(OpMakeSolver, &run, cell->error));
  PetscCall(CellTime(cell, "setup", 1, 1, OpSetUp, &run, &phase));
  PetscCall(TimeSolve(&run, "first_solve", 1, OpSolve));
  PetscCall(TimeSolve(&run, "solve", s->repeat, OpSolve));
  if (s->profile_solve) PetscCall(TimeSolve(&run, "profiled_solve", 1, OpProfiledSolve));
  PetscCall(PetscMalloc1(p->row_ptr[p->rows], &run.values));
  for (run.step = 1; run.step <= s->changes; run.step++) {
    const PetscBool first = run.step == 1 ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(ProblemValues(p, run.step, run.values));
    PetscCall(CellTime(cell, first ? "new_values" : "new_values_again", 1, 1, OpWriteValues, &run, &phase));
    PetscCall(CellTime(cell, first ? "setup_new_values" : "setup_new_values_again", 1, 1,
                       s->profile_setup && !first ? OpProfiledSetUp : OpSetUp, &run, &phase));
    PetscCall(TimeSolve(&run, first ? "solve_new_values" : "solve_new_values_again", 1, OpSolve));
  }
  if (!cell->error[0]) PetscCall(Guard(OpFacts, &run, cell->error));
  PetscCall(MeasureRenewal(&run, "setup_again", OpRenewSolver, OpSetUp));
  if (s->profile_setup) PetscCall(MeasureRenewal(&run, "profiled_setup", OpRenewSolver, OpProfiledSetUp));
  PetscCall(MeasureRenewal(&run, "setup_from_host", OpRenewMatrix, OpSetUp));
  PetscCall(RunDestroy(&run));
  if (s->peak && !cell->error[0]) PetscCall(MeasurePeak(p, s, cell, OpMakeCell, OpSetUp));
  PetscCall(MeasureLoops(p, s, cell));
  PetscFunctionReturn(0);
}
