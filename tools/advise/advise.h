/*
  advise.h - private declarations of the advisor: what a matrix looks like, and what each type would cost

    advise.c      public functions: one MatAIJFmtAdvise(), then views
    matrix.c      the sequential blocks of this process
    facts.c       sizes, row lengths, block size, bandwidth, picture of the pattern
    symmetry.c    structure and values against those of the transpose
    times.c       bytes and predicted times of every type; the best one
    measure.c     measured times
    text.c, json.c, write.c    views
    option.c      -petscpack_advise

  Numbers that processes add up or compare are doubles, so that one reduction serves them all.
*/
#pragma once

#include "../impls/seqaijfmt/seqaijfmt.h"
#include <stdio.h>

enum {
  ADVICE_BLOCK_MAX = 8,  /* the largest block size that is looked for */
  ADVICE_LENGTHS   = 66, /* classes of row lengths: 0, 1, 2, 3 to 4, 5 to 8, and so on */
  ADVICE_CELLS     = 64, /* along a side of the picture */
  ADVICE_ROWS_MAX  = AIJFMT_CANDIDATES_MAX
};

/* Where products may be done */
typedef enum { ADVICE_HOST, ADVICE_GPU, ADVICE_H200, ADVICE_PLACES } AdvicePlace;

/* The sequential blocks of this process; those without nonzeros are left out, except for an empty sequential matrix */
typedef struct {
  Mat             whole;
  int             count;
  Mat             block[2];
  SpmvPattern     pattern[2];
  const PetscInt *column_of[2]; /* global numbers of the columns of the block; NULL: counted from first_column on */
  PetscInt        first_row, first_column, local_rows;
} AdviceMatrix;

typedef struct {
  double      rows, cols, nonzeros, empty_rows, shortest, longest;
  double      lengths[ADVICE_LENGTHS]; /* rows in each class */
  double      lower, upper;            /* bandwidth below and above the diagonal */
  int         block;                   /* unknowns per node; 1: no blocks were found */
  double      block_fill;              /* nonzeros over the entries of all blocks that hold one */
  int         cell_rows, cell_cols;    /* of the picture */
  double     *cells;                   /* nonzeros in each cell; shape [cell_rows][cell_cols] */
  const char *structure, *values;      /* "symmetric", "not symmetric", ... */
} AdviceFacts;

/* What one type costs in one place: bytes are sums over all processes, times the largest of any process */
typedef struct {
  PetscBool known; /* the model has constants for the format */
  double    bytes, product, convert;
  double    measured, measured_convert; /* seconds; 0: not measured */
  double    blocks, declined;           /* sequential blocks, and those left to the parent type */
  char      reason[SPMV_MESSAGE_MAX];   /* of the first that declined */
} AdviceCost;

typedef struct {
  const SpmvFormat *format; /* NULL: the parent type */
  const char       *type;   /* for -mat_type */
  AdviceCost        at[ADVICE_PLACES];
} AdviceRow;

typedef struct {
  PetscBool   present;
  const char *name, *title, *note; /* note: how its numbers came about; "" if there is nothing to say */
  SpmvMachine machine;
  int         best; /* row */
} AdvicePlaceInfo;

struct _n_MatAIJFmtAdvice {
  MPI_Comm        comm;
  PetscMPIInt     processes;
  PetscBool       measured;
  char           *name, *prefix;
  AdviceFacts     facts;
  AdvicePlaceInfo place[ADVICE_PLACES];
  int             count;
  AdviceRow       row[ADVICE_ROWS_MAX];
  char           *json; /* made when first asked for; from malloc() */
};

/* matrix.c */
PETSC_INTERN PetscErrorCode AdviceMatrixGet(Mat, AdviceMatrix *);
PETSC_INTERN PetscErrorCode AdviceMatrixRestore(AdviceMatrix *);

static inline PetscInt AdviceColumn(const AdviceMatrix *m, int b, PetscInt col)
{
  return m->column_of[b] ? m->column_of[b][col] : m->first_column + col;
}

/* The parent type of a GPU has a name of its own */
static inline const char *AdviceType(const AdviceRow *row, int place)
{
  return row->format || place == ADVICE_HOST ? row->type : MATAIJCUSPARSE;
}

/* facts.c, symmetry.c */
PETSC_INTERN PetscErrorCode AdviceFactsFind(const AdviceMatrix *, AdviceFacts *);
PETSC_INTERN PetscErrorCode AdviceSymmetryFind(Mat, AdviceFacts *);
PETSC_INTERN void           AdviceLengthClass(int, double *, double *);

/* times.c */
PETSC_INTERN PetscErrorCode AdvicePredict(const AdviceMatrix *, MatAIJFmtAdvice);
PETSC_INTERN PetscErrorCode AdviceChooseBest(MatAIJFmtAdvice);
PETSC_INTERN double         AdviceProduct(const AdviceCost *, const AdviceCost *);
PETSC_INTERN double         AdvicePaysAfter(const AdviceCost *, const AdviceCost *);

/* measure.c */
PETSC_INTERN PetscErrorCode AdviceMeasure(const AdviceMatrix *, MatAIJFmtAdvice);

/* json.c */
PETSC_INTERN PetscErrorCode AdviceJSON(MatAIJFmtAdvice);
