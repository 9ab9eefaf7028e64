/*
  advise.h - the advisor: what a matrix looks like, and what each matrix type would cost

    advise.c      all of it for one matrix, and the function that Python calls
    facts.c       row lengths, bandwidth, block size, picture of the pattern
    symmetry.c    structure and values against those of the transpose
    costs.c       bytes and predicted times of every type; the best one
    measure.c     measured times
    text.c, json.c    views

  petscpack_advise.c makes a program of these files; the Python package has them as a library. They use the public
  interfaces of PETSc and petscpack alone. Numbers that processes add up or compare are doubles, so that one reduction
  serves them all.
*/
#pragma once

#include <petscpack.h>
#include <spmv_predict.h>
#include <stdio.h>

enum {
  ADVICE_BLOCK_MAX = 8,  /* the largest block size that is looked for */
  ADVICE_LENGTHS   = 66, /* classes of row lengths: 0, 1, 2, 3 to 4, 5 to 8, and so on */
  ADVICE_CELLS     = 64, /* along a side of the picture */
  ADVICE_ROWS_MAX  = 16, /* types in a table */
  ADVICE_TYPE_MAX  = 32  /* bytes of the name of a type */
};

/* Where products may be done */
enum { ADVICE_HOST, ADVICE_GPU, ADVICE_PLACES };

/* Of the pattern, and of the values */
typedef struct {
  double rows, cols;
  struct {
    double nonzeros, empty_rows;
    double lengths[ADVICE_LENGTHS];            /* rows in each class */
    double blocks[ADVICE_BLOCK_MAX + 1];       /* of each size, that hold a nonzero */
    double unfit[ADVICE_BLOCK_MAX + 1];        /* processes whose rows a size does not divide */
    double cells[ADVICE_CELLS * ADVICE_CELLS]; /* nonzeros; shape [cell_rows][cell_cols] */
  } sum;                                       /* over the processes */
  struct {
    double minus_shortest, longest, lower, upper; /* row lengths; bandwidth below and above the diagonal */
  } most;                                         /* of all processes */
  int         cell_rows, cell_cols;               /* of the picture */
  int         block;                              /* unknowns per node; 1: no blocks were found */
  double      block_fill;                         /* nonzeros over the entries of all blocks that hold one */
  const char *structure, *values;                 /* "symmetric", "not symmetric", ... */
} AdviceFacts;

/* What one type costs in one place: bytes are sums over all processes, times the largest of any process. Seconds that
   are not known are NAN, and so are all of a type that declines. */
typedef struct {
  const SpmvFormat *format; /* NULL: the parent type */
  char              type[ADVICE_TYPE_MAX];
  double            bytes, product, convert, measured, measured_convert;
  double            blocks, declined;         /* sequential blocks, and those left to the parent type */
  char              reason[SPMV_MESSAGE_MAX]; /* of the first that declined */
} AdviceCost;

typedef struct {
  const char *name, *title;
  const char *machine;   /* whose seconds are predicted */
  const char *note;      /* how the bytes come about where the place is not available */
  const char *parent;    /* name of the parent type behind "aij" */
  SpmvSpace   space;     /* of the products */
  PetscBool   available; /* here, to be measured */
  int         best;      /* row */
  AdviceCost  row[ADVICE_ROWS_MAX];
} AdvicePlace;

typedef struct {
  const char *name, *prefix; /* they belong to the matrix */
  PetscMPIInt processes;
  PetscBool   parallel, measured;
  AdviceFacts facts;
  int         count; /* rows of each place, the parent type first */
  AdvicePlace place[ADVICE_PLACES];
} Advice;

/* advise.c; collective. The advice comes zeroed, and may live as long as the matrix. */
PETSC_INTERN PetscErrorCode AdviceMake(Mat, PetscBool measure, Advice *);
/* Of the advice as JSON; PetscPackAdviseFree() frees it */
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

/* Whether a type leaves all blocks to the parent type. That one has none of its own. */
static inline PetscBool AdviceDeclines(const AdviceCost *cost)
{
  return cost->format && cost->declined == cost->blocks ? PETSC_TRUE : PETSC_FALSE;
}

/* measure.c */
PETSC_INTERN PetscErrorCode AdviceMeasure(Mat, Advice *);

/* text.c, json.c: for one process */
PETSC_INTERN void AdviceText(const Advice *, FILE *);
PETSC_INTERN void AdviceJSON(const Advice *, FILE *);
