/*
  solve_bench.h - declarations that the parts of solve_bench share: the problem, the records of measurements, the clock,
  and the guard that turns an error of PETSc into a text of the record.
*/
#ifndef SOLVE_BENCH_H
#define SOLVE_BENCH_H

#include "../copy_vector.h"
#include "solve_elements.h"
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
  PetscInt     first_row, rows, all_rows; /* the rows of this process, and of all processes */
  PetscInt     block_size;
  double       nonzeros;
  PetscInt    *row_ptr, *col; /* [rows+1], [row_ptr[rows]]: rows of this process, global columns */
  PetscScalar *value;         /* [row_ptr[rows]]: of A_0 */
  Mat          host;          /* A_0 as MATAIJ */
  Vec          b, diagonal;   /* on the host */
  PetscBool    symmetric;     /* known to be symmetric */
  MatNullSpace near;          /* NULL: unknown; GAMG gets the block size only */
  Elements     elements;      /* on the host, with shift times the diagonal of each element matrix added to it */
  double       shift;
} Problem;

/* elements: the values are sums of element matrices */
PetscErrorCode ProblemGenerate(const char name[], double shift, PetscBool elements, Problem *p);
PetscErrorCode ProblemLoad(const char path[], PetscInt block_size, Problem *p);
PetscErrorCode ProblemDestroy(Problem *p);
PetscErrorCode ProblemValues(const Problem *p, PetscInt step, PetscScalar values[]);
/* The scale of the element matrices of A_step, for ElementsValues() */
void ProblemScale(const Problem *p, PetscInt step, double scale[2]);
/* y = A_step x on the host */
PetscErrorCode ProblemMult(const Problem *p, PetscInt step, Vec x, Vec y);
/* |b - A_step x| / |b| on the host, x in any memory */
PetscErrorCode ProblemResidual(const Problem *p, PetscInt step, Vec x, double *residual);
/* Sets the near-null space to the rigid motions of the points of this process; called by ProblemGenerate() */
PetscErrorCode ProblemNearNullSpace(Problem *p, const double points[]);
/* Sets the elements of this process, and the values of the matrix; called by ProblemGenerate(). Node i of the matrix is
   node order[i] of the mesh. */
PetscErrorCode ProblemElements(int64_t points_along, const int32_t order[], const double points[], double shift,
                               Problem *p);

/* ---- matrices of a type ---- */

/* Make an assembled matrix of a type with the values of A_0, by MatSetValues() or by MatSetValuesCOO() */
PetscErrorCode AssembleBySetValues(const Problem *p, const char type[], Mat *A);
PetscErrorCode AssembleByCOO(const Problem *p, const char type[], PetscCount n, PetscInt *coo_row, PetscInt *coo_col,
                             Mat *A);
PetscErrorCode WriteBySetValues(const Problem *p, const PetscScalar values[], Mat A);

/* ---- records ---- */

typedef struct {
  const char *name;
  PetscInt    count, batch;
  double      seconds[MAX_TIMES]; /* of one operation */
  double      device_bytes;       /* device memory beyond that before the matrix; negative: no device */
  double      deviation;          /* relative, from the result on the host; negative: not compared */
  double      residual;           /* of a solve, computed on the host; negative: no solve */
  PetscInt    iterations, reason;
  char        error[TEXT];
} Phase;

typedef struct {
  const char *by;
  PetscInt    count, iterations[MAX_TIMES];
  double      assembly, /* before the steps; by elements: all from the list to the first solution */
      values[MAX_TIMES], setup[MAX_TIMES], solve[MAX_TIMES], residual, device_bytes;
  char error[TEXT];
} NewtonLoop;

/* A level of multigrid, after the set-up */
typedef struct {
  PetscInt rows, steps;             /* steps of the smoother before, and also after, the coarse correction */
  double   nonzeros, interpolation; /* nonzeros of the matrix, and of the interpolation from the next coarser level */
} Level;

typedef PetscErrorCode (*Operation)(void *context);

typedef struct {
  const char   *type, *solver; /* solver "products": products and other operations of the matrix alone */
  Phase         phase[MAX_PHASES];
  NewtonLoop    loop[MAX_LOOPS];
  Level         level[MAX_LEVELS]; /* from the finest on */
  PetscInt      phases, loops, levels;
  PetscBool     has_counters; /* the solver was KSPCGDEVICE */
  KSPDeviceInfo counters;     /* counters.reason points to `reason` below */
  char          reason[TEXT];
  double        base_bytes;
  PetscBool     from_elements, on_device; /* the list is on the device */
  PetscCount    entries;                  /* of the lists of all processes */
  double        peak_bytes;               /* of MeasurePeak(); 0: not measured */
  Operation     save;                     /* writes the file after each phase; NULL: no file */
  void         *save_context;
  PetscBool     running;     /* until the cell is done; the file then says that the process ended in this cell */
  char          error[TEXT]; /* why the rest of the cell was left out */
} Cell;

typedef struct {
  const char *types[MAX_TYPES], *solvers[MAX_SOLVERS], *loops[MAX_LOOPS], *loop_solvers[MAX_SOLVERS];
  PetscInt    type_count, solver_count, loop_count, loop_solver_count; /* loop_solver_count 0: all solvers */
  PetscInt    repeat, steps;
  double      rtol, limit; /* a true residual above the limit counts as wrong */
  double      shift, budget, loop_seconds;
  PetscInt    changes;       /* number of times that a solver gets new values */
  PetscBool   profile_solve; /* one more solve, for a profiler */
  PetscBool   profile_setup; /* a set-up with new values, and one more */
  PetscBool   elements;      /* all cells assemble from element matrices */
  PetscBool   peak;          /* once more, while the device memory is looked at: a set-up, or all from the elements */
  char        json[PETSC_MAX_PATH_LEN], commit[64], launcher[TEXT];
  PetscBool   gpu_aware_mpi; /* PETSc passes device addresses to MPI */
  char       *devices;       /* from DevicesOfAll() */
} Settings;

/* ---- clock, memory, guard ---- */

PetscErrorCode DeviceFind(void); /* once, after PetscInitialize() */
PetscErrorCode DeviceWait(void);
double         DeviceUsed(void); /* bytes; negative without a device */
/* Allocates if *on_device is NULL; from may be NULL, too */
PetscErrorCode DeviceCopy(const void *from, size_t bytes, void **on_device);
PetscErrorCode DeviceFree(void **on_device);
/* Whether elements can be computed on the device, for matrices that PETSc has there */
PetscBool      DeviceHasElements(void);
PetscErrorCode DeviceElementsList(const Elements *, PetscInt row[], PetscInt col[]);
PetscErrorCode DeviceElementsValues(const Elements *, const double scale[2], PetscScalar values[]);
/* A thread looks at the device memory until DevicePeakEnd(), which gives the most that it saw */
PetscErrorCode DevicePeakBegin(void);
PetscErrorCode DevicePeakEnd(double *bytes);
PetscErrorCode DeviceProfile(PetscBool on); /* cudaProfilerStart() or cudaProfilerStop() */
void           DeviceName(char gpu[TEXT], char cuda[TEXT]);
/* The bus addresses of the devices of all processes, by rank, in strings of TEXT bytes; *texts is NULL without a
   device */
PetscErrorCode DevicesOfAll(char **texts);

/* Runs an operation. After an error on any process, error is PETSc's message; else it is empty. */
PetscErrorCode Guard(Operation operation, void *context, char error[TEXT]);
/* Seconds of an operation until the device has finished, on the slowest process */
PetscErrorCode TimeGuarded(Operation operation, void *context, PetscInt batch, double *seconds, char error[TEXT]);
/* Add a phase and time it; *phase is NULL if the cell has ended already. After an error CellTime() ends the cell,
   CellTry() does not. */
PetscErrorCode CellTry(Cell *cell, const char name[], PetscInt times, PetscInt batch, Operation operation,
                       void *context, Phase **phase);
PetscErrorCode CellTime(Cell *cell, const char name[], PetscInt times, PetscInt batch, Operation operation,
                        void *context, Phase **phase);

/* ---- cells ---- */

/* A matrix with its solver. RunDestroy() destroys all members even if some of them fail. */
typedef struct {
  const Problem  *p;
  const Settings *settings;
  Cell           *cell;
  Mat             A;
  KSP             ksp;
  Vec             b, x, y;
  PetscInt       *coo_row, *coo_col; /* PETSc may overwrite them */
  PetscCount      entries;           /* of the list of this process */
  PetscScalar    *values, *device_values;
  PetscInt       *device_row, *device_col;
  Elements        there; /* the elements on the device */
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
PetscErrorCode OpWriteCOO(void *run);    /* run->device_values or run->values by MatSetValuesCOO() */
PetscErrorCode OpAssemble(void *run);
PetscErrorCode OpResidual(void *run); /* of x for the values of run->step, into run->residual */
PetscErrorCode OpFacts(void *run);    /* writes levels and counters into the cell */
PetscErrorCode OpFreeList(void *run); /* frees the coordinates */
/* Times a solve, and records its reason, iterations and true residual */
PetscErrorCode TimeSolve(Run *run, const char name[], PetscInt times, Operation solve);
/* Writes values, sets up, solves, and records the times */
PetscErrorCode LoopStep(Run *run, Operation write, NewtonLoop *loop);
PetscErrorCode MeasureProducts(const Problem *p, const Settings *s, Cell *cell);
PetscErrorCode MeasureSolver(const Problem *p, const Settings *s, Cell *cell);
PetscErrorCode MeasureFromElements(const Problem *p, const Settings *s, Cell *cell);
/* cell->peak_bytes: the most device memory in `part`, beyond that before `before`, which may be NULL */
PetscErrorCode MeasurePeak(const Problem *p, const Settings *s, Cell *cell, Operation before, Operation part);
PetscErrorCode MeasureLoop(const Problem *p, const Settings *s, Cell *cell, NewtonLoop *loop);

/* Writes the whole file, after each phase, so that measurements survive a crash */
PetscErrorCode WriteJson(const Problem *p, const Settings *s, const Cell cells[], PetscInt count);
/* verdict: empty, or why the results of a cell are wrong */
PetscErrorCode CellVerdict(const Settings *s, const Cell *cell, char verdict[TEXT]);

#endif
