/*
  ops.h - one table of PETSc's operations on matrices. What runs them:

    conf_mat    each operation, in its ways, on each matrix of the catalogue; changes also through containers
    mat_reads   each reading after each change
    mat_values  sequences of changes of values on a GPU
    fuzz_mat    random sequences

  An operation names no type: it works on c->A, which is of c->type, and records its results. Where it has a choice it
  draws a number. In a random sequence this is random; else c->way goes through the choices, the first one fastest.
*/
#pragma once

#include "conf.h"

/* 3.20: MatChop() was renamed to MatFilter() */
#if PETSC_VERSION_LT(3, 20, 0)
  #define MatFilter(A, below, compress, keep) MatChop(A, below)
#endif

/* What an operation needs, reads and changes */
enum {
  OP_SQUARE      = 1 << 0, /* also equal layouts of rows and columns */
  OP_NONEMPTY    = 1 << 1,
  OP_SEQUENTIAL  = 1 << 2,
  OP_PARALLEL    = 1 << 3,
  OP_COORDINATES = 1 << 4,  /* a matrix made of coordinates */
  OP_SPEC        = 1 << 5,  /* a matrix of the catalogue */
  OP_HEAVY       = 1 << 6,  /* runs on matrices of the catalogue whose squared lengths of rows add up to little */
  OP_DENSE       = 1 << 7,  /* runs on matrices with few entries, zeros included */
  OP_SMALL       = 1 << 8,  /* is as OP_HEAVY, and in random sequences runs on small matrices */
  OP_CHANGES     = 1 << 9,  /* changes values and adds no nonzeros: mat_reads reads after it */
  OP_READS       = 1 << 10, /* reads values: mat_reads calls it after changes */
  OP_MAKES       = 1 << 11, /* sets c->made, and can refill it */
  OP_BECOMES     = 1 << 12, /* in a random sequence c->made may take the place of A */
  OP_CONTAINERS  = 1 << 13, /* a change that also runs through containers, if they have the function `needs` */
  OP_RENEWS      = 1 << 14, /* may drop options that a program has set on the matrix */
  OP_RARE        = 1 << 15, /* drawn less often */
  OP_RANDOM_ONLY = 1 << 16  /* only in random sequences */
};

struct ConfOperation {
  const char *name;
  PetscErrorCode (*run)(Conf *);
  int          where;
  int          ways; /* so many go through all choices that matter */
  int          how;  /* for a function that several operations share, as is `to` */
  const char  *to;
  MatOperation needs;
};

/* One table per file; each ends with name == NULL */
extern const ConfOperation op_values[], op_arrays[], op_sums[], op_renewals[], op_convert[], op_structure[], op_parts[],
    op_reads[], op_products[], op_solve[], op_device[];

/* Operation number i of those tables, NULL beyond the last */
const ConfOperation *OpGet(PetscInt i);
const ConfOperation *OpFind(const char *name); /* NULL for an unknown name */

/* Runs an operation on c->A; one that makes a matrix refills it after a change, and is asked whether it takes A's place */
PetscErrorCode OpRun(Conf *c, const ConfOperation *o);

/* ---- op_draw.c: random numbers, shapes and matrices ---- */

typedef struct {
  PetscInt m, n, M, N, block_size;
} OpShape;

/* Collective: every process draws the same number */
uint64_t  OpNext(Conf *c);
PetscInt  OpBelow(Conf *c, PetscInt n); /* 0 .. n-1 */
PetscBool OpChance(Conf *c, PetscInt percent);
/* One of 1/4, 1/2, -1, 2: factors that keep numbers exact */
PetscReal OpFactor(Conf *c);
/* A small multiple of 1/2 that depends on a and b */
PetscReal OpNumber(uint64_t a, uint64_t b);

/* The part of n rows or columns, in blocks, that this process gets */
PetscInt       OpSplit(Conf *c, PetscInt n, PetscInt block_size);
PetscErrorCode OpDrawShape(Conf *c, OpShape *shape);
PetscErrorCode OpShapeOf(Mat A, OpShape *shape);
/* A random matrix */
PetscErrorCode OpCreate(Conf *c, const OpShape *shape, MatType type, Mat *A);
/* Gives A new nonzeros: fills it from the operation's next random matrix, in A's own layout */
PetscErrorCode OpFill(Conf *c, Mat A);
/* Allows new nonzeros at any time */
PetscErrorCode OpAllowNewNonzeros(Mat A);
/* Provides c->other: a copy of A with half its values, unless it is there */
PetscErrorCode OpOther(Conf *c);
/* A random subset of about `percent` percent of low .. high-1, ascending */
PetscErrorCode OpSubset(Conf *c, MPI_Comm comm, PetscInt low, PetscInt high, PetscInt percent, IS *is);
/* A with a dominant diagonal, symmetric on request, for which every factorization exists: A itself where an operation
   does nothing else, or else a copy */
PetscErrorCode OpDominant(Conf *c, PetscBool symmetric, Mat *B);
/* Draws the type under test (own), AIJ, or another format; for the plain twin always AIJ or its own type */
PetscErrorCode OpDrawType(Conf *c, char type[CONF_TYPE_MAX], PetscBool *own);
/* The sequential blocks of A: itself, or two; the last one is NULL */
PetscErrorCode OpBlocks(Mat A, Mat block[3]);
/* Records numbers of an index set */
PetscErrorCode OpSeeIS(Conf *c, const char *what, IS is);
/* Records c->made: its rows if the operation does nothing else, only its products unless of a known type (own) */
PetscErrorCode OpSeeMade(Conf *c, const char *what, PetscBool own);
/* Whether c->made is made anew or refilled */
MatReuse OpReuse(const Conf *c);
/* Puts an option into PETSc's database until the turn ends; none if name is NULL */
PetscErrorCode OpStepOption(Conf *c, const char *name, const char *value);
/* Replaces A by B; a random sequence keeps the old matrix and compares it again at its end */
PetscErrorCode OpReplace(Conf *c, Mat B);
PetscErrorCode OpKeep(Conf *c, Mat B);
/* Makes A, a matrix of the catalogue, of coordinates: the entries of this process's rows, each twice; every fifth copy is disabled by a negative row. Includes entries of
   the next process's first row, so that assembly must communicate. */
PetscErrorCode OpPreallocateCoordinates(Conf *c, Mat A);
