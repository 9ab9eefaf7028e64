/*
  solve_bench - times all phases of the use of a matrix, for several matrix types of PETSc: assembly, products,
  PCSetUp(), solves, new values, Newton-like steps; and records the device memory after each.

    solve_bench -matrix tet3_rcm:65 -types aijcusparse,aijrbp -solvers products,cg_jacobi,cg_gamg -json out.json

  -matrix family:size or -f file (PETSc binary, symmetric positive definite for CG; -block_size n)
  -types, -solvers      lists; each pair is a cell. Solver `products` is the matrix alone. cg, gmres, fgmres, bcgs,
                        cgdevice or gmresdevice with the suffix _jacobi, _ilu, _icc, _bjacobi, _sor, _mg (stencil5
                        and stencil7, one process), _gamg or _gamgdevice is that solver with this preconditioner;
                        lu_cudss is LU by that package, cholesky_mumps Cholesky. Each name is a prefix of options:
                        -solvers mine,cg_jacobi_mg -mine_ksp_type bcgs -cg_jacobi_mg_mg_levels_pc_type jacobi
  -repeat 5             repetitions of the phases of a warm matrix
  -steps 10             Newton-like steps; 0: none     -loops setvalues,coo_host,coo_device    -loop_seconds 30
  -loop_solvers         the solvers with these steps; all by default
  -assembly setvalues   or elements: the cells assemble by MatSetPreallocationCOO() and MatSetValuesCOO() from the
                        element matrices of linear elasticity, with matrices tet3_*; phases from the list of entries to
                        the first solution, then -steps with new values
  -peak                 once more the set-up of a new matrix, with -assembly elements all of it, with a thread that looks at
                        the device memory all the time
  -rtol 1e-8            of the solvers                  -shift 1e-3    of the diagonal of a generated matrix
  -check_symmetric      refuse a matrix that is not exactly symmetric
  -rigid_motions 1      0: GAMG does not get the rigid motions of a generated elasticity matrix
  -budget seconds       cells that would begin later are left out
  -changes 2            number of times that a solver gets new values, at most 2
  -profile_solve        one more solve between cudaProfilerStart() and cudaProfilerStop(), for solve_launches.py
  -profile_setup        the second set-up with new values between them, and one more set-up of a new solver
  -json file, -commit text, -launcher text

  An error ends only its cell, and is recorded with PETSc's message. Every result is compared with MATAIJ on the host.
  Exit status: 1 if a result was wrong.
*/
#include "solve_bench.h"
#include <petsctime.h>
#include <string.h>

static char help[] =
    "Times the phases of a solve for several matrix types.\n"
    "  -matrix family:size or -f file, -types and -solvers (lists; each pair is measured), -json file\n"
    "  -assembly setvalues | elements: the values come by MatSetValues(), or from the element matrices of linear\n"
    "    elasticity (-matrix tet3_rcm:69) by MatSetPreallocationCOO() and MatSetValuesCOO(), on the device if PETSc "
    "has\n"
    "    CUDA: each phase up to the first solution, then -steps 10 with new values; -peak also measures device "
    "memory\n";

static PetscErrorCode ReadList(const char key[], PetscInt most, const char *const defaults[], const char *list[],
                               PetscInt *count)
{
  PetscBool set;
  char     *chosen[MAX_TYPES];

  PetscFunctionBeginUser;
  *count = most;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, key, chosen, count, &set));
  for (PetscInt i = 0; set && i < *count; i++) list[i] = chosen[i];
  if (set) PetscFunctionReturn(0);
  for (*count = 0; defaults[*count]; (*count)++) {
    char *copy;
    PetscCall(PetscStrallocpy(defaults[*count], &copy));
    list[*count] = copy;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode FreeList(const char *list[], PetscInt count)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < count; i++) {
    char *text = (char *)list[i];
    PetscCall(PetscFree(text));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadLists(Settings *s)
{
  static const char *const types[] = {
#if PetscDefined(HAVE_CUDA)
    "aijcusparse",
    "sellcuda",
#else
    MATAIJ,
#endif
    MATAIJRBP,
    MATAIJFOLD,
    MATAIJCRSV,
    MATAIJCODSELL,
    NULL
  };
  static const char *const solvers[] = {"products", "cg_jacobi", "gmres_jacobi", "cg_gamg", NULL};
  static const char *const loops[]   = {"setvalues", "coo_host", "coo_device", NULL};
  static const char *const none[]    = {NULL};

  PetscFunctionBeginUser;
  PetscCall(ReadList("-types", MAX_TYPES, types, s->types, &s->type_count));
  PetscCall(ReadList("-solvers", MAX_SOLVERS, solvers, s->solvers, &s->solver_count));
  PetscCall(ReadList("-loops", MAX_LOOPS, loops, s->loops, &s->loop_count));
  PetscCall(ReadList("-loop_solvers", MAX_SOLVERS, none, s->loop_solvers, &s->loop_solver_count));
  for (PetscInt i = 0; i < s->loop_count; i++) {
    PetscInt k = 0;
    while (loops[k] && strcmp(loops[k], s->loops[i]) != 0) k++;
    PetscCheck(loops[k], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "-loops %s is unknown: use setvalues, coo_host or coo_device", s->loops[i]);
  }
  for (PetscInt i = 0; i < s->solver_count; i++) PetscCall(SolverOptions(s->solvers[i]));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadReal(const char key[], double *value)
{
  PetscReal real = (PetscReal)*value;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetReal(NULL, NULL, key, &real, &set));
  if (set) *value = (double)real;
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadAssembly(Settings *s)
{
  static const char *const ways[] = {"setvalues", "elements"};
  PetscInt                 way    = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-assembly", ways, PETSC_STATIC_ARRAY_LENGTH(ways), &way, NULL));
  s->elements = way == 1 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-peak", &s->peak, NULL));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadSettings(Settings *s)
{
  PetscFunctionBeginUser;
  memset(s, 0, sizeof *s);
  s->repeat       = 5;
  s->steps        = 10;
  s->rtol         = sizeof(PetscReal) == 4 ? 1e-4 : 1e-8;
  s->shift        = 1e-3;
  s->budget       = 1e30;
  s->loop_seconds = 30;
  s->changes      = 2;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-changes", &s->changes, NULL));
  PetscCall(ReadAssembly(s));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-profile_solve", &s->profile_solve, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-profile_setup", &s->profile_setup, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &s->repeat, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &s->steps, NULL));
  PetscCall(ReadReal("-rtol", &s->rtol));
  PetscCall(ReadReal("-shift", &s->shift));
  PetscCall(ReadReal("-budget", &s->budget));
  PetscCall(ReadReal("-loop_seconds", &s->loop_seconds));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-json", s->json, sizeof s->json, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-commit", s->commit, sizeof s->commit, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-launcher", s->launcher, sizeof s->launcher, NULL));
  PetscCheck(s->repeat >= 1 && s->repeat <= MAX_TIMES && s->steps >= 0 && s->steps <= MAX_TIMES, PETSC_COMM_WORLD,
             PETSC_ERR_USER_INPUT, "-repeat must be 1 to %d, -steps 0 to %d", MAX_TIMES, MAX_TIMES);
  s->limit = 1e3 * s->rtol; /* larger than rtol, because solvers test the preconditioned residual */
  PetscCall(ReadLists(s));
  if (s->steps == 0) PetscCall(FreeList(s->loops, s->loop_count));
  if (s->steps == 0) s->loop_count = 0;
  PetscFunctionReturn(0);
}

/* Finds out which GPU each process has, and whether PETSc passes device addresses to MPI, which is its default */
static PetscErrorCode ReadDevices(Settings *s)
{
  PetscMPIInt size;
  PetscBool   aware = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(DevicesOfAll(&s->devices));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-use_gpu_aware_mpi", &aware, NULL));
  s->gpu_aware_mpi = s->devices && aware ? PETSC_TRUE : PETSC_FALSE;
  for (PetscMPIInt i = 0; s->devices && i < size; i++)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "process %d: GPU %s\n", i, s->devices + (size_t)i * TEXT));
  PetscFunctionReturn(0);
}

static PetscErrorCode MakeProblem(const Settings *s, Problem *p)
{
  char      name[PETSC_MAX_PATH_LEN] = "stencil7:100", path[PETSC_MAX_PATH_LEN];
  PetscInt  block_size               = 1;
  PetscBool from_file, check = PETSC_FALSE, symmetric = PETSC_TRUE, motions = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", path, sizeof path, &from_file));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix", name, sizeof name, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-block_size", &block_size, NULL));
  PetscCheck(!from_file || !s->elements, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-assembly elements needs -matrix: a file with -f has no elements");
  if (from_file) PetscCall(ProblemLoad(path, block_size, p));
  else PetscCall(ProblemGenerate(name, s->shift, s->elements, p));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-rigid_motions", &motions, NULL));
  if (!motions) PetscCall(MatNullSpaceDestroy(&p->near));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-check_symmetric", &check, NULL));
  if (check) PetscCall(MatIsSymmetric(p->host, 0, &symmetric));
  if (check) p->symmetric = symmetric;
  PetscCheck(symmetric, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s is not symmetric, which CG requires", p->name);
  PetscFunctionReturn(0);
}

static PetscErrorCode MeasureCell(const Problem *p, const Settings *s, Cell *cell)
{
  PetscFunctionBeginUser;
  cell->base_bytes = DeviceUsed();
  if (s->elements) PetscCall(MeasureFromElements(p, s, cell));
  else if (!strcmp(cell->solver, "products")) PetscCall(MeasureProducts(p, s, cell));
  else PetscCall(MeasureSolver(p, s, cell));
  PetscFunctionReturn(0);
}

/* Measures a cell with a small matrix and discards the times, because libraries and handles are made at their first
   use */
static PetscErrorCode WarmUp(const Settings *s, const char type[], Cell *cell)
{
  Problem  tiny;
  Settings once = *s;

  PetscFunctionBeginUser;
  once.repeat        = 1;
  once.steps         = 1;
  once.profile_solve = once.profile_setup = PETSC_FALSE;
  once.peak                               = PETSC_FALSE;
  PetscCall(ProblemGenerate(s->elements ? "tet3_rcm:8" : "stencil7:12", s->shift, s->elements, &tiny));
  for (PetscInt i = 0; i < s->solver_count; i++) {
    memset(cell, 0, sizeof *cell);
    cell->type   = type;
    cell->solver = s->solvers[i];
    PetscCall(MeasureCell(&tiny, &once, cell));
  }
  PetscCall(ProblemDestroy(&tiny));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintCell(const Problem *p, const Cell *cell, const char verdict[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %s %s%s%s%s%s\n", p->name, cell->type, cell->solver,
                        cell->error[0] ? " ERROR " : "", cell->error, verdict[0] ? " WRONG " : "", verdict));
  for (PetscInt i = 0; i < cell->phases; i++) {
    const Phase *q = &cell->phase[i];
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-32s %12.3f ms", q->name, q->count ? 1e3 * q->seconds[0] : 0.0));
    if (q->device_bytes >= 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %9.0f MB", q->device_bytes / 1e6));
    if (q->residual >= 0)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %d iterations of %.0f us, residual %.1e", (int)q->iterations,
                            1e6 * q->seconds[0] / (double)PetscMax(q->iterations, 1), q->residual));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s%s\n", q->error[0] ? " ERROR " : "", q->error));
  }
  for (PetscInt i = 0; i < cell->loops; i++)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %d steps by %s after %.3f ms, residual %.1e %s\n",
                          (int)cell->loop[i].count, cell->loop[i].by, 1e3 * cell->loop[i].assembly,
                          cell->loop[i].residual, cell->loop[i].error));
  if (cell->peak_bytes > 0)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  device memory at most %.0f MB\n", cell->peak_bytes / 1e6));
  PetscFunctionReturn(0);
}

typedef struct {
  const Problem  *p;
  const Settings *s;
  const Cell     *cells;
  PetscInt        count;
} Progress;

static PetscErrorCode OpSave(void *progress_)
{
  const Progress *progress = progress_;

  PetscFunctionBeginUser;
  PetscCall(WriteJson(progress->p, progress->s, progress->cells, progress->count));
  PetscFunctionReturn(0);
}

/* cells has space for all pairs of types and solvers, and one more */
static PetscErrorCode MeasureAll(const Problem *p, const Settings *s, PetscLogDouble begin, Cell cells[],
                                 PetscInt *wrong)
{
  PetscInt       count = 0;
  PetscLogDouble now;

  PetscFunctionBeginUser;
  for (PetscInt t = 0; t < s->type_count; t++) {
    for (PetscInt i = 0; i < s->solver_count; i++) {
      Cell    *cell     = &cells[count++];
      Progress progress = {p, s, cells, count};
      double   spent;
      char     verdict[TEXT];
      cell->type         = s->types[t];
      cell->solver       = s->solvers[i];
      cell->running      = PETSC_TRUE;
      cell->save         = OpSave;
      cell->save_context = &progress;
      PetscCall(WriteJson(p, s, cells, count));
      if (i == 0) PetscCall(WarmUp(s, s->types[t], &cells[s->type_count * s->solver_count]));
      PetscCall(PetscTime(&now));
      spent = (double)(now - begin);
      PetscCallMPI(MPI_Bcast(&spent, 1, MPI_DOUBLE, 0, PETSC_COMM_WORLD));
      if (spent > s->budget) {
        PetscCall(PetscSNPrintf(cell->error, TEXT, "left out: the seconds of -budget were spent"));
      } else {
        PetscCall(MeasureCell(p, s, cell));
      }
      cell->running = PETSC_FALSE;
      PetscCall(WriteJson(p, s, cells, count));
      PetscCall(CellVerdict(s, cell, verdict));
      PetscCall(PrintCell(p, cell, verdict));
      *wrong += verdict[0] != 0;
    }
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Settings       settings;
  Problem        problem;
  Cell          *cells;
  PetscInt       wrong = 0;
  PetscLogDouble begin;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscTime(&begin));
  PetscCall(DeviceFind());
  PetscCall(ReadSettings(&settings));
  PetscCall(ReadDevices(&settings));
  PetscCall(MakeProblem(&settings, &problem));
  PetscCall(PetscCalloc1(settings.type_count * settings.solver_count + 1, &cells));
  PetscCall(MeasureAll(&problem, &settings, begin, cells, &wrong));
  PetscCall(PetscFree(cells));
  PetscCall(ProblemDestroy(&problem));
  PetscCall(PetscFree(settings.devices));
  PetscCall(FreeList(settings.types, settings.type_count));
  PetscCall(FreeList(settings.solvers, settings.solver_count));
  PetscCall(FreeList(settings.loops, settings.loop_count));
  PetscCall(FreeList(settings.loop_solvers, settings.loop_solver_count));
  PetscCall(PetscFinalize());
  return wrong ? 1 : 0;
}
