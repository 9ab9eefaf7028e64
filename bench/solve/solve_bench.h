/*
  solve_bench.h - what the parts of solve_bench share: the problem, the record of what was measured, the clock, and the
  guard that turns an error of PETSc into a text of the record.
*/
#ifndef SOLVE_BENCH_H
#define SOLVE_BENCH_H

#include "../copy_vector.h"
#include <petscpack.h>

enum {
  MAX_TYPES   = 16,
  MAX_SOLVERS = 8,
  MAX_PHASES  = 32,
  MAX_TIMES   = 64,
  MAX_LOOPS   = 3,
  MAX_LEVELS  = 16,
  BATCH       = 20,
  TEXT        = 400
};

/* ---- the problem: A_step = factor(step) A_0 + shift(step) diag(A_0), and one right-hand side ---- */

typedef struct {
  char         name[PETSC_MAX_PATH_LEN];
  PetscInt     first_row, rows, all_rows; /* the rows of this process, and of all */
  PetscInt     block_size;
  double       nonzeros;
  PetscInt    *row_ptr, *col; /* [rows+1], [row_ptr[rows]]: rows of this process, global columns */
  PetscScalar *value;         /* [row_ptr[rows]]: of A_0 */
  Mat          host;          /* A_0 as MATAIJ */
  Vec          b, diagonal;   /* on the host */
  PetscBool    symmetric;     /* known to be */
  MatNullSpace near;          /* NULL: nothing but the block size is known */
} Problem;

PetscErrorCode ProblemGenerate(const char name[], double shift, Problem *p);
PetscErrorCode ProblemLoad(const char path[], PetscInt block_size, Problem *p);
PetscErrorCode ProblemDestroy(Problem *p);
PetscErrorCode ProblemValues(const Problem *p, PetscInt step, PetscScalar values[]);
/* y = A_step x on the host */
PetscErrorCode ProblemMult(const Problem *p, PetscInt step, Vec x, Vec y);
/* |b - A_step x| / |b| on the host, x in any memory */
PetscErrorCode ProblemResidual(const Problem *p, PetscInt step, Vec x, double *residual);
/* The rigid motions of the points of this process: what ProblemGenerate() gives the near-null space */
PetscErrorCode ProblemNearNullSpace(Problem *p, const double points[]);

/* ---- matrices of a type ---- */

/* The type's own way from MatSetValues() to an assembled matrix with the values of A_0 */
PetscErrorCode AssembleBySetValues(const Problem *p, const char type[], Mat *A);
PetscErrorCode AssembleByCOO(const Problem *p, const char type[], PetscInt *coo_row, PetscInt *coo_col, Mat *A);
PetscErrorCode WriteBySetValues(const Problem *p, const PetscScalar values[], Mat A);

/* ---- records ---- */

typedef struct {
  const char *name;
  PetscInt    count, batch;
  double      seconds[MAX_TIMES]; /* of one operation */
  double      device_bytes;       /* used on the device beyond what was before the matrix; negative: no device */
  double      deviation;          /* from the host's result, relative; negative: nothing to compare */
  double      residual;           /* of a solve, by the host; negative: no solve */
  PetscInt    iterations, reason;
  char        error[TEXT];
} Phase;

typedef struct {
  const char *by;
  PetscInt    count, iterations[MAX_TIMES];
  double      assembly, values[MAX_TIMES], setup[MAX_TIMES], solve[MAX_TIMES], residual, device_bytes;
  char        error[TEXT];
} NewtonLoop;

/* Of multigrid, after the set-up */
typedef struct {
  PetscInt rows, steps;             /* steps of the smoother before the coarser level, and after it */
  double   nonzeros, interpolation; /* of its matrix, and of the interpolation from the next coarser level */
} Level;

typedef PetscErrorCode (*Operation)(void *context);

typedef struct {
  const char     *type, *solver; /* solver "products": products and what else a matrix does by itself */
  Phase           phase[MAX_PHASES];
  NewtonLoop      loop[MAX_LOOPS];
  Level           level[MAX_LEVELS]; /* the finest first */
  PetscInt        phases, loops, levels;
  PetscBool       has_counters; /* the solver was KSPCGDEVICE */
  KSPCGDeviceInfo counters;     /* its reason is the one below */
  char            reason[TEXT];
  double          base_bytes;
  Operation       save; /* writes the file after each phase; NULL: there is none to write */
  void           *save_context;
  PetscBool       running;     /* the file says that the process ended here, until the cell is done */
  char            error[TEXT]; /* the reason why the rest of the cell was left out */
} Cell;

typedef struct {
  const char *types[MAX_TYPES], *solvers[MAX_SOLVERS], *loops[MAX_LOOPS], *loop_solvers[MAX_SOLVERS];
  PetscInt    type_count, solver_count, loop_count, loop_solver_count; /* no loop_solvers: all */
  PetscInt    repeat, steps;
  double      rtol, limit; /* a true residual above limit is wrong */
  double      shift, budget, loop_seconds;
  PetscInt    changes;       /* how often a solver gets new values */
  PetscBool   profile_solve; /* one more solve, of which a profiler takes notice */
  char        json[PETSC_MAX_PATH_LEN], commit[64], launcher[TEXT];
  PetscBool   gpu_aware_mpi; /* PETSc gives MPI addresses of the device */
  char       *devices;       /* DevicesOfAll() */
} Settings;

/* ---- clock, memory, guard ---- */

PetscErrorCode DeviceFind(void); /* once, after PetscInitialize() */
PetscErrorCode DeviceWait(void);
double         DeviceUsed(void); /* bytes; negative without a device */
PetscErrorCode DeviceCopyValues(const PetscScalar values[], PetscInt n,
                                PetscScalar **on_device); /* allocates at NULL */
PetscErrorCode DeviceFree(PetscScalar **on_device);
PetscErrorCode DeviceProfile(PetscBool on); /* for profilers that begin when they are told */
void           DeviceName(char gpu[TEXT], char cuda[TEXT]);
/* The bus addresses of the devices of all processes, in the order of ranks; lines of TEXT, *texts NULL without a device
 */
PetscErrorCode DevicesOfAll(char **texts);

/* Runs an operation; what PETSc says of an error goes to error, which stays empty when no process had one */
PetscErrorCode Guard(Operation operation, void *context, char error[TEXT]);
/* Seconds of an operation until the device has done it: those of the slowest process */
PetscErrorCode TimeGuarded(Operation operation, void *context, PetscInt batch, double *seconds, char error[TEXT]);
/* Adds a phase and times it; *phase is NULL when the cell has ended before. CellTime() ends the cell upon an error. */
PetscErrorCode CellTry(Cell *cell, const char name[], PetscInt times, PetscInt batch, Operation operation,
                       void *context, Phase **phase);
PetscErrorCode CellTime(Cell *cell, const char name[], PetscInt times, PetscInt batch, Operation operation,
                        void *context, Phase **phase);

/* ---- cells ---- */

/* A matrix with its solver. Members are destroyed by RunDestroy(), which no error stops. */
typedef struct {
  const Problem  *p;
  const Settings *settings;
  Cell           *cell;
  Mat             A;
  KSP             ksp;
  Vec             b, x, y;
  PetscInt       *coo_row, *coo_col; /* used up by PETSc */
  PetscScalar    *values, *device_values;
  PetscInt        step;
  PetscScalar     factor;
  double          residual;
} Run;

PetscErrorCode RunDestroy(Run *run);
PetscErrorCode SolverOptions(const char solver[]); /* puts the options of a known solver into the database */
PetscErrorCode OpMakeSolver(void *run);
PetscErrorCode OpSetUp(void *run);
PetscErrorCode OpSolve(void *run);
PetscErrorCode OpWriteValues(void *run); /* run->values by MatSetValues() */
PetscErrorCode OpAssemble(void *run);
PetscErrorCode OpResidual(void *run); /* of x for the values of run->step, into run->residual */
PetscErrorCode OpFacts(void *run);    /* levels and counters, into the cell */
PetscErrorCode MeasureProducts(const Problem *p, const Settings *s, Cell *cell);
PetscErrorCode MeasureSolver(const Problem *p, const Settings *s, Cell *cell);
PetscErrorCode MeasureLoop(const Problem *p, const Settings *s, Cell *cell, NewtonLoop *loop);

/* The whole file again, after each phase: what was measured outlives a process that ends early */
PetscErrorCode WriteJson(const Problem *p, const Settings *s, const Cell cells[], PetscInt count);
/* Empty, or what is wrong with a cell's numbers */
PetscErrorCode CellVerdict(const Settings *s, const Cell *cell, char verdict[TEXT]);

#endif
