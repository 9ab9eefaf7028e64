/*
  fuzz.h - random sequences of operations on a matrix of plain AIJ and on its twin of a type under test.

  A step is one operation. It runs once for each twin, with the same random numbers, and writes what it sees to a record
  (tests/mat/conf.h); the two records must agree. Operations name no type: they read f->type and work on f->A.
*/
#pragma once

#include <conf.h>

/* 3.20: MatFilter() for MatChop() */
#if PETSC_VERSION_LT(3, 20, 0)
  #define MatFilter(A, below, compress, keep) MatChop(A, below)
#endif

/* MatSetValues() of a parallel AIJ frees the arrays of the off-diagonal block in the way that suits the diagonal one.
   Before arrays were all allocated alike, new nonzeros after coordinates corrupted the heap (docs/notebook). */
#define FUZZ_COO_CORRUPTS PETSC_VERSION_LT(3, 26, 0)

enum { FUZZ_KEPT_MAX = 8, FUZZ_STEPS_MAX = 256, FUZZ_LINE_MAX = 4096, FUZZ_OPTIONS_MAX = 32, FUZZ_FILE_MAX = 512 };

enum { FUZZ_PLAIN, FUZZ_TESTED, FUZZ_TWINS };

/* Numbers from a seed: each step begins its own, so that leaving out a step does not change the others */
typedef struct {
  uint64_t seed, count;
} FuzzDraw;

typedef struct {
  PetscInt m, n, M, N, block_size;
} FuzzShape;

typedef struct {
  Mat      A, kept[FUZZ_KEPT_MAX]; /* kept: matrices that share something with A or have to outlive it */
  PetscInt kept_count;
  char     message[FUZZ_FILE_MAX]; /* of its last error */
} FuzzTwin;

typedef struct {
  Conf        c; /* comm, rank, size, and the record of the twin in turn */
  FuzzDraw    draw;
  FuzzTwin    twin[FUZZ_TWINS];
  FuzzTwin   *now;                /* the twin in turn */
  Mat         A;                  /* its matrix: operations may put another one in place */
  const char *type, *base_format; /* its type; format of the type under test, for the options of both turns */
  char        option[CONF_TYPE_MAX], value[CONF_TYPE_MAX]; /* set on the tested matrix, to survive; "" for none */
  char        database[FUZZ_OPTIONS_MAX][CONF_TYPE_MAX];   /* options that the sequence put into PETSc's database */
  PetscInt    database_count;
  const char *step_option;         /* in PETSc's database until the turn ends; NULL for none */
  char        file[FUZZ_FILE_MAX]; /* to save matrices in */
} Fuzz;

/* Where an operation makes sense. SQUARE also needs equal layouts of rows and columns; RARE ones are drawn less often;
   after one that RENEWS the matrix the options that a program has set on it may be gone. */
enum {
  FUZZ_SQUARE     = 1,
  FUZZ_NONEMPTY   = 2,
  FUZZ_SEQUENTIAL = 4,
  FUZZ_PARALLEL   = 8,
  FUZZ_RARE       = 16,
  FUZZ_RENEWS     = 32,
  FUZZ_SMALL      = 64 /* work or memory grows with the square of the size */
};

typedef struct {
  const char *name;
  PetscErrorCode (*run)(Fuzz *);
  int where;
} FuzzOperation;

/* One table per file; each ends with name == NULL */
extern const FuzzOperation fuzz_values[], fuzz_arrays[], fuzz_sums[], fuzz_renewals[], fuzz_convert[], fuzz_structure[],
    fuzz_parts[], fuzz_queries[], fuzz_products[], fuzz_solve[], fuzz_options[];

/* Whether the twin in turn is of a type of ours */
PetscBool FuzzIsPacked(const Fuzz *f);

/* ---- draw.c: random numbers, shapes and matrices ---- */

/* Collective: every process draws the same */
uint64_t  FuzzNext(Fuzz *f);
PetscInt  FuzzBelow(Fuzz *f, PetscInt n); /* 0 .. n-1 */
PetscBool FuzzChance(Fuzz *f, PetscInt percent);
/* One of 1/4, 1/2, -1, 2: factors that keep numbers exact */
PetscReal FuzzFactor(Fuzz *f);
/* A small multiple of 1/2 that depends on a and b */
PetscReal FuzzNumber(uint64_t a, uint64_t b);

/* The part of n rows or columns, in blocks, that this process gets */
PetscInt       FuzzSplit(Fuzz *f, PetscInt n, PetscInt block_size);
PetscErrorCode FuzzDrawShape(Fuzz *f, FuzzShape *shape);
PetscErrorCode FuzzShapeOf(Mat A, FuzzShape *shape);
PetscErrorCode FuzzIsSquare(Mat A, PetscBool *square);
/* A random matrix */
PetscErrorCode FuzzCreate(Fuzz *f, const FuzzShape *shape, MatType type, Mat *A);
/* The same operation's next random matrix has new nonzeros for A, in its own layout */
PetscErrorCode FuzzFill(Fuzz *f, Mat A);
/* New nonzeros, or other values where there are some, may come at any time */
PetscErrorCode FuzzAllowNewNonzeros(Mat A);
/* About so many percent of low .. high-1, ascending */
PetscErrorCode FuzzSubset(Fuzz *f, MPI_Comm comm, PetscInt low, PetscInt high, PetscInt percent, IS *is);
/* A copy of A with a heavy diagonal, symmetric on request: every factorization exists */
PetscErrorCode FuzzDominant(Fuzz *f, PetscBool symmetric, Mat *B);
/* The type under test (own), AIJ, or another format; for the plain twin always AIJ or its own type */
PetscErrorCode FuzzDrawType(Fuzz *f, char type[CONF_TYPE_MAX], PetscBool *own);
/* Sees numbers and texts of an index set */
PetscErrorCode FuzzSeeIS(Fuzz *f, const char *what, IS is);
PetscErrorCode FuzzSeeReals(Fuzz *f, const char *what, PetscInt n, const PetscReal *value);
/* Puts an option into PETSc's database for the rest of the turn; none if name is NULL */
PetscErrorCode FuzzStepOption(Fuzz *f, const char *name, const char *value);
/* Replaces A by B; the sequence keeps the old matrix and compares it once more at its end */
PetscErrorCode FuzzReplace(Fuzz *f, Mat B);
PetscErrorCode FuzzKeep(Fuzz *f, Mat B);

/* ---- watch.c: where the program is when it crashes or hangs ---- */

void FuzzWatchStart(PetscInt seconds); /* the most that one step may take */
void FuzzWatchStep(const char *command, const char *step, const char *type, int twin);
void FuzzWatchEnd(void);
/* The first message of PETSc since FuzzWatchStep() */
const char    *FuzzWatchMessage(void);
PetscErrorCode FuzzWatchError(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                              PetscErrorType type, const char *message, void *ctx);
