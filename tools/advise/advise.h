/*
  advise.h - the advisor: what a matrix looks like, and what each matrix type would cost

    advise.c      the whole advice for one matrix, and the function that Python calls
    facts.c       row lengths, bandwidth, block size, picture of the pattern
    symmetry.c    compares structure and values with those of the transpose
    costs.c       bytes and predicted times of every type; the best type
    measure.c     measured times
    text.c, json.c    output

  petscpack_advise.c makes a program of these files; the Python package has them as a library. They use only the public
  interfaces of PETSc and petscpack. Numbers that processes add up or compare are doubles, so that one reduction serves
  all of them.
*/
#pragma once

#include <petscpack.h>
#include <spmv_predict.h>
#include <stdio.h>

enum {
  ADVICE_BLOCK_MAX = 8,  /* the largest block size tried */
  ADVICE_LENGTHS   = 66, /* classes of row lengths: 0, 1, 2, 3 to 4, 5 to 8, and so on */
  ADVICE_CELLS     = 64, /* cells along a side of the picture */
  ADVICE_ROWS_MAX  = 16, /* types in a table */
  ADVICE_TYPE_MAX  = 32  /* bytes of a type name */
};

/* Where products may be done */
enum { ADVICE_HOST, ADVICE_GPU, ADVICE_PLACES };

/* Facts about the pattern and the values */
typedef struct {
  double rows, cols;
  struct {
    double nonzeros, empty_rows;
    double lengths[ADVICE_LENGTHS];            /* rows in each class */
    double blocks[ADVICE_BLOCK_MAX + 1];       /* blocks of each size that hold a nonzero */
    double unfit[ADVICE_BLOCK_MAX + 1];        /* processes whose number of rows is not a multiple of the size */
    double cells[ADVICE_CELLS * ADVICE_CELLS]; /* nonzeros; shape [cell_rows][cell_cols] */
  } sum;                                       /* over the processes */
  struct {
    double minus_shortest, longest, lower, upper; /* row lengths; bandwidth below and above the diagonal */
  } most;                                         /* maximum over the processes */
  int         cell_rows, cell_cols;               /* of the picture */
  int         block;                              /* unknowns per node; 1: no blocks were found */
  double      block_fill;                         /* nonzeros divided by the entries of all blocks that hold one */
  const char *structure, *values;                 /* "symmetric", "not symmetric", ... */
} AdviceFacts;

/* The cost of one type in one place. Bytes are sums over all processes, times the maximum over the processes. Unknown
   seconds are NAN, as are all seconds of a type that declines. */
typedef struct {
  const SpmvFormat *format; /* NULL: the parent type */
  char              type[ADVICE_TYPE_MAX];
  double            bytes, product, convert, measured, measured_convert;
  double            blocks, declined;         /* sequential blocks, and those left to the parent type */
  char              reason[SPMV_MESSAGE_MAX]; /* of the first block that declined */
} AdviceCost;

typedef struct {
  const char *name, *title;
  const char *machine;   /* for which seconds are predicted */
  const char *note;      /* how the bytes are found if the place is not available */
  const char *parent;    /* name of the parent type behind "aij" */
  SpmvSpace   space;     /* of the products */
  PetscBool   available; /* available on this machine, so that it can be measured */
  int         best;      /* row of the best type */
  AdviceCost  row[ADVICE_ROWS_MAX];
} AdvicePlace;

typedef struct {
  const char *name, *prefix; /* owned by the matrix */
  PetscMPIInt processes;
  PetscBool   parallel, measured;
  AdviceFacts facts;
  int         count; /* rows of each place, the parent type first */
  AdvicePlace place[ADVICE_PLACES];
} Advice;

/* advise.c; collective. The advice must be zeroed before, and is valid as long as the matrix. */
PETSC_INTERN PetscErrorCode AdviceMake(Mat, PetscBool measure, Advice *);
/* The advice as JSON; free it by PetscPackAdviseFree() */
PETSC_EXTERN PetscErrorCode PetscPackAdvise(Mat, int measure, char **json);
PETSC_EXTERN void           PetscPackAdviseFree(char *json);

/* facts.c, symmetry.c */
PETSC_INTERN PetscErrorCode AdviceFactsFind(Mat, AdviceFacts *);
PETSC_INTERN PetscErrorCode AdviceSymmetryFind(Mat, AdviceFacts *);
PETSC_INTERN void           AdviceLengthClass(int, double *from, double *to);

/* costs.c */
PETSC_INTERN PetscErrorCode AdvicePredict(Mat, Advice *);
PETSC_INTERN void           AdviceChooseBest(Advice *);
PETSC_INTERN double         AdvicePaysAfter(const AdviceCost *, const AdviceCost *parent);

/* Whether a type leaves all blocks to the parent type. The parent type never declines. */
static inline PetscBool AdviceDeclines(const AdviceCost *cost)
{
  return cost->format && cost->declined == cost->blocks ? PETSC_TRUE : PETSC_FALSE;
}

/* measure.c */
PETSC_INTERN PetscErrorCode AdviceMeasure(Mat, Advice *);

/* text.c, json.c: called on one process */
PETSC_INTERN void AdviceText(const Advice *, FILE *);
PETSC_INTERN void AdviceJSON(const Advice *, FILE *);
