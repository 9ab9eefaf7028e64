/*
  fuzz.h - random sequences of operations on a matrix of plain AIJ and on its twin of a type under test.

  A step is one operation. It runs once for each twin, with the same random numbers, and records its results
  (tests/mat/conf.h); the two records must agree. Operations name no type: they read f->type and work on f->A.
*/
#pragma once

#include <conf.h>

/* 3.20: MatChop() was renamed to MatFilter() */
#if PETSC_VERSION_LT(3, 20, 0)
  #define MatFilter(A, below, compress, keep) MatChop(A, below)
#endif

/* MatSetValues() of a parallel AIJ frees the arrays of the off-diagonal block in the way that suits the diagonal block.
   Before 3.26 the two were allocated differently, and new nonzeros after coordinates corrupted the heap
   (docs/notebook). */
#define FUZZ_COO_CORRUPTS PETSC_VERSION_LT(3, 26, 0)

enum { FUZZ_KEPT_MAX = 8, FUZZ_STEPS_MAX = 256, FUZZ_LINE_MAX = 4096, FUZZ_OPTIONS_MAX = 32, FUZZ_FILE_MAX = 512 };

enum { FUZZ_PLAIN, FUZZ_TESTED, FUZZ_TWINS };

/* Random numbers from a seed. Each step has its own seed, so that leaving out a step does not change the others. */
typedef struct {
  uint64_t seed, count;
} FuzzDraw;

typedef struct {
  PetscInt m, n, M, N, block_size;
} FuzzShape;

typedef struct {
  Mat      A, kept[FUZZ_KEPT_MAX]; /* kept: matrices that share data with A or must outlive it */
  PetscInt kept_count;
  char     message[FUZZ_FILE_MAX]; /* text of its last error */
} FuzzTwin;

typedef struct {
  Conf        c; /* comm, rank, size, and the record of the current twin */
  FuzzDraw    draw;
  FuzzTwin    twin[FUZZ_TWINS];
  FuzzTwin   *now;                /* the current twin */
  Mat         A;                  /* matrix of the current twin; operations may replace it */
  const char *type, *base_format; /* type of the current twin; format of the type under test, for both turns */
  char        option[CONF_TYPE_MAX], value[CONF_TYPE_MAX]; /* set on the tested matrix; must survive; "" for none */
  char        database[FUZZ_OPTIONS_MAX][CONF_TYPE_MAX];   /* options that the sequence has put into PETSc's database */
  PetscInt    database_count;
  const char *step_option;         /* an option in PETSc's database until the turn ends; NULL for none */
  char        file[FUZZ_FILE_MAX]; /* file for saved matrices */
} Fuzz;

/* Conditions of an operation. SQUARE also needs equal layouts of rows and columns; RARE operations are drawn less
   often; an operation that RENEWS the matrix may drop options that a program has set on it. */
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

/* Whether the current twin is of a type of ours */
PetscBool FuzzIsPacked(const Fuzz *f);

/* ---- draw.c: random numbers, shapes and matrices ---- */

/* Collective: every process draws the same number */
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
/* Gives A new nonzeros: fills it from the operation's next random matrix, in A's own layout */
PetscErrorCode FuzzFill(Fuzz *f, Mat A);
/* Allows new nonzeros at any time */
PetscErrorCode FuzzAllowNewNonzeros(Mat A);
/* A random subset of about `percent` percent of low .. high-1, ascending */
PetscErrorCode FuzzSubset(Fuzz *f, MPI_Comm comm, PetscInt low, PetscInt high, PetscInt percent, IS *is);
/* A diagonally dominant copy of A, symmetric on request, for which every factorization exists */
PetscErrorCode FuzzDominant(Fuzz *f, PetscBool symmetric, Mat *B);
/* Draws the type under test (own), AIJ, or another format; for the plain twin always AIJ or its own type */
PetscErrorCode FuzzDrawType(Fuzz *f, char type[CONF_TYPE_MAX], PetscBool *own);
/* Records numbers and texts of an index set */
PetscErrorCode FuzzSeeIS(Fuzz *f, const char *what, IS is);
PetscErrorCode FuzzSeeReals(Fuzz *f, const char *what, PetscInt n, const PetscReal *value);
/* Puts an option into PETSc's database until the turn ends; none if name is NULL */
PetscErrorCode FuzzStepOption(Fuzz *f, const char *name, const char *value);
/* Replaces A by B; the sequence keeps the old matrix and compares it again at its end */
PetscErrorCode FuzzReplace(Fuzz *f, Mat B);
PetscErrorCode FuzzKeep(Fuzz *f, Mat B);

/* ---- watch.c: reports the step in which the program crashes or hangs ---- */

void FuzzWatchStart(PetscInt seconds); /* time limit of one step */
void FuzzWatchStep(const char *command, const char *step, const char *type, int twin);
void FuzzWatchEnd(void);
/* The first error message of PETSc since FuzzWatchStep() */
const char    *FuzzWatchMessage(void);
PetscErrorCode FuzzWatchError(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                              PetscErrorType type, const char *message, void *ctx);
