/*
  conf.h - conformance of the Mat types: every operation runs once with plain AIJ and once with a type under test, and
  records its results; the two records must agree. Operations name no type: they call ConfType().
*/
#pragma once

#include <gen.h>
#include <petscpack.h>
#include "petsc_test.h"

enum { CONF_TYPE_MAX = 64, CONF_WHAT_MAX = 56 };

/* One result of an operation: a number or a text. Thousands of consecutive results share a label. */
typedef struct {
  char what[CONF_WHAT_MAX], text[CONF_TYPE_MAX];
} ConfLabel;

typedef struct {
  const ConfLabel *label;
  PetscReal        value;
} ConfItem;

/* The results of one operation on one process */
typedef struct {
  PetscSegBuffer   items, labels;
  size_t           count; /* of items */
  const ConfLabel *last;
} ConfRecord;

/* Distribution of rows and columns over the processes */
typedef enum { CONF_EVEN, CONF_FIRST_EMPTY, CONF_LAYOUT_COUNT } ConfLayout;

typedef struct ConfOperation ConfOperation;

/* Matrices that share data with the matrix of a turn, or must outlive it */
enum { CONF_KEPT_MAX = 8 };
typedef struct {
  Mat      A[CONF_KEPT_MAX];
  PetscInt count;
} ConfKept;

/* Context of an operation: the matrix, the type, and the record to write to */
typedef struct {
  MPI_Comm    comm;
  PetscMPIInt rank, size;
  GenSpec     spec;                             /* of the matrix; without a function in random sequences */
  PetscInt    m, n, M, N, row_start, col_start; /* local and global sizes, first row and column of this process */
  const char *base;                             /* "aij", "seqaij" or "mpiaij" */
  const char *format;                           /* "" for plain AIJ, else the name of a format, such as "rbp" */
  const char *suffix;      /* of the name of the type: the format, or "" if plain AIJ becomes ours */
  PetscBool   blocks_only; /* matrices under test of type mpiaij are plain, but for their blocks: -mat_seqaij_type */
  ConfRecord *record;
  PetscBool   sequential; /* the matrix is sequential */
  PetscInt    uncounted;  /* products that a type under test did not count, or that ran elsewhere than asked */
  PetscBool   inexact;    /* sums are rounded, so differences are relative to the largest number of a record */

  /* Of operations, ops.h */
  const ConfOperation *operation;
  char                 type[CONF_TYPE_MAX]; /* of A */
  Mat                  A;                   /* operations may replace it */
  Mat                  other;       /* of the type and pattern of A, or NULL: operations that need one make it */
  Mat                  made;        /* made from A; if it is there, a reading operation refills it */
  ConfKept            *kept;        /* in a random sequence, else NULL */
  PetscCount           coordinates; /* in the lists of A and other; 0: A is not made of coordinates */
  PetscBool            alone;       /* an operation does nothing but its change, or its reading */
  uint64_t             seed, drawn; /* of random numbers, and how many were drawn */
  PetscInt             way;         /* of all ways an operation can go; negative: random */
  PetscReal            factor;      /* that operations scale by; 0: they draw it */
  const char          *step_option; /* an option in PETSc's database until the turn ends; NULL for none */
  const char          *file;        /* scratch file */
} Conf;

/* ---- conf.c: matrices and vectors for operations ---- */

/* The types under test, by the part of their names after "aij": all formats, and "auto"; NULL beyond the last */
const char *ConfFormat(int f);
/* Whether a type with that part after "aij" is ours: neither plain AIJ nor a subclass of PETSc's */
PetscBool ConfIsOurs(const char *format);

/* If the options -petscpack_replace with aij in its list, or -mat_seqaij_type with a type of ours, are set, plain AIJ
   matrices are under test: returns their format, else NULL */
PetscErrorCode ConfByOption(const char **format);
/* Begins the turn of plain AIJ (format "") or of a format, with c->type. In the turn of plain AIJ those options have no
   effect. */
PetscErrorCode ConfTurn(Conf *c, const char *format);
/* Whether A is of the type under test and ours; name: its type without the format, the same in both turns */
PetscErrorCode ConfIsUnderTest(const Conf *c, Mat A, char *name, PetscBool *is);

PetscErrorCode ConfSetUp(Conf *c, const GenSpec *spec, ConfLayout layout);
/* base with the format appended: "seqaij" gives "seqaijrbp". text holds CONF_TYPE_MAX characters. */
PetscErrorCode ConfName(const Conf *c, const char *base, char *text);
/* A matrix without type or entries, with the sizes of c */
PetscErrorCode ConfCreateEmpty(Conf *c, Mat *A);
/* The matrix of c in the type under test, or in a plain type; one product has been done, so that packed arrays exist */
PetscErrorCode ConfCreate(Conf *c, Mat *A);
PetscErrorCode ConfCreatePlain(Conf *c, Mat *A);
/* Inserts the rows of this process; values are small integers that depend on seed */
PetscErrorCode ConfSetValues(Conf *c, Mat A, uint64_t seed);
/* Row i: its number of columns, in buffers of N entries; wide is scratch */
void ConfRow(Conf *c, PetscInt i, uint64_t seed, int64_t *wide, PetscInt *count, PetscInt *col, PetscScalar *value);
/* A vector of small integers that depend on the global position and on seed */
PetscErrorCode ConfSetVec(Vec x, uint64_t seed);
/* x with the layout of A's columns, y with that of its rows; either may be NULL */
PetscErrorCode ConfCreateVecs(Mat A, uint64_t seed, Vec *x, Vec *y);
/* One product, of which nothing is recorded */
PetscErrorCode ConfMultiply(Mat A);

/* ---- record.c: results of operations; pair.c: runs with both types ---- */

/* What a matrix under test has done, and its packed blocks that are not where -mat_aijfmt_device wants them */
typedef struct {
  PetscBool under_test;
  PetscReal packed, fallbacks, elsewhere;
} ConfCounts;

/* All zero if A is not under test; collective */
PetscErrorCode ConfCount(const Conf *c, Mat A, ConfCounts *counts);

PetscErrorCode ConfRecordCreate(ConfRecord *r);
PetscErrorCode ConfRecordDestroy(ConfRecord *r);

PetscErrorCode ConfSeeReal(Conf *c, const char *what, PetscReal value);
PetscErrorCode ConfSeeText(Conf *c, const char *what, const char *text);
PetscErrorCode ConfSeeVec(Conf *c, const char *what, Vec x);
/* Records the rows of this process, by MatGetRow() */
PetscErrorCode ConfSeeRows(Conf *c, const char *what, Mat A);
/* Records type, sizes, rows and products of a matrix with readable rows */
PetscErrorCode ConfSeeMat(Conf *c, const char *what, Mat A);
/* Records only y = A x, y += A x and their transposes, with both forms of the sum */
PetscErrorCode ConfSeeProducts(Conf *c, const char *what, Mat A);
/* The runs of a program: its options, and counts */
typedef struct {
  char     format[CONF_TYPE_MAX], file[CONF_TYPE_MAX];
  PetscInt sample, offset, passed, failed;
} ConfRuns;

/* Sets up c, and reads -format, or the format that options give plain AIJ, -base, -scratch, -sample and -offset */
PetscErrorCode ConfRunsBegin(ConfRuns *runs, Conf *c);
/* Runs body with plain AIJ and with a format, if that is in the sample, and compares the records */
PetscErrorCode ConfRunPair(ConfRuns *runs, Conf *c, const char *name, const char *format,
                           PetscErrorCode (*body)(Conf *, const void *), const void *what);
/* Prints the counts, which are the last line, and returns the exit status */
int ConfRunsEnd(const ConfRuns *runs);
/* Returns the number of items that differ, and prints the first one with the name of the operation */
PetscErrorCode ConfCompare(const Conf *c, const char *operation, const ConfRecord *expected, const ConfRecord *actual,
                           PetscInt *different);
