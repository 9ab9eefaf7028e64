/*
  spmv_factor.h - incomplete factorizations, ILU(0) and IC(0) or on a pattern that is given, and sweeps of SOR, on the
  host and on the device. All are exact in the order of elimination: the device computes the same bits as the host.

    spmv_factor_options_init(&options);
    spmv_factor_create(&pattern, SPMV_F64, &options, &exec, &f);      analyses the pattern
    spmv_factor_numeric(f, values, &exec);                            again and again, for new values
    spmv_factor_solve(f, 0, b, x, &exec);                             x = (L U)^-1 b, or
    spmv_factor_sor(f, SPMV_SOR_SYMMETRIC, 1, 1, b, x, &exec);        a sweep over A x = b
    spmv_factor_destroy(&f);

  Only one stream at a time may use a factorization. src/kernels/factor/README.md has the arrays, the formulas, and the
  numbers of launches and waits.
*/
#ifndef SPMV_FACTOR_H
#define SPMV_FACTOR_H

#include "spmv_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  SPMV_FACTOR_ILU, /* A ~ L U on the pattern of A, with ones on the diagonal of L */
  SPMV_FACTOR_ICC, /* A ~ U^T D U on the pattern of the upper triangle, with ones on the diagonal of U; the lower
                      triangle of A is read for the shift only */
  SPMV_FACTOR_SOR  /* no factors: only the diagonal, or its blocks, are inverted */
} SpmvFactorKind;

/* What happens if a pivot is too small. PETSc's MatFactorShiftType has the same rules. */
typedef enum {
  SPMV_SHIFT_NONE,             /* |pivot| <= zero_pivot: the factorization fails */
  SPMV_SHIFT_NONZERO,          /* |pivot| <= zero_pivot times the sum of the magnitudes in its row of the factor: it
                                  starts again with shift_amount added to the diagonal, twice as much each time */
  SPMV_SHIFT_POSITIVE_DEFINITE /* pivot <= the same: it starts again with a part of the shift that makes A diagonally
                                  dominant. ILU then looks for a smaller shift, as PETSc's does. */
} SpmvFactorShift;

enum { SPMV_NODE_ROWS = 6 };

/* The pattern of a factor that has more entries than the matrix, or whose rows are eliminated in another order. Rows and
   columns are numbered in that order; columns ascend within a row. In host memory, and only read by
   spmv_factor_create(). */
typedef struct {
  const int32_t *row_ptr; /* [rows+1] */
  const int32_t *col;   /* [row_ptr[rows]]: of L and U, of ICC of U and U^T, with the diagonal, and with all nonzeros of
                             the matrix that the kind reads */
  const int32_t *order; /* [rows]: the row of the matrix that is eliminated i-th; NULL: i */
} SpmvFactorFill;

typedef struct {
  SpmvFactorKind  kind;
  SpmvFactorShift shift;        /* SPMV_FACTOR_SOR ignores it and the next two */
  double          zero_pivot;   /* 2.2e-14, PETSc's in double precision */
  double          shift_amount; /* 2.2e-14, likewise; of SPMV_SHIFT_NONZERO */
  int             transposes;   /* keep transposes of L and U, for transposed solves with ILU */
  int             node_rows;    /* of SPMV_FACTOR_SOR, 0 to SPMV_NODE_ROWS: at most so many consecutive rows with equal
                                   columns are relaxed together, by the inverse of their diagonal block; 0, 1: none are */
  int             blocks;     /* the rows are divided into so many blocks as PETSc's PCBJACOBI divides them, and entries
                                   between blocks are left out; 0, 1: one block. Not of SPMV_FACTOR_SOR. A shift is one of
                                   all blocks. */
  int             unit_rows;  /* of blocks: each has a whole number of units of so many rows; 0, 1: of single rows */
  const SpmvFactorFill *fill; /* NULL: the pattern and the order of the matrix. Not of SPMV_FACTOR_SOR. */
} SpmvFactorOptions;
/* ILU of one block without shift, transposes or fill */
SPMV_API void spmv_factor_options_init(SpmvFactorOptions *);

typedef struct SpmvFactorization SpmvFactorization;

/* Analyses a square pattern with 32-bit indices in host memory, which may be freed afterwards. Columns ascend within a
   row, and each row has a diagonal entry, else SPMV_ERR_MATRIX names the row. The object lies in exec->space; on the
   device the host waits twice. *out is NULL after a failure. */
SPMV_API SpmvStatus spmv_factor_create(const SpmvPattern *, SpmvScalar, const SpmvFactorOptions *, SpmvExec *,
                                       SpmvFactorization **out);
/* Waits for the device. NULL and a pointer to NULL are accepted. */
SPMV_API void spmv_factor_destroy(SpmvFactorization **);

/* Factors the matrix with these values, [nnz] in the space of the object and in the order of the pattern, which are not
   read afterwards. The host waits once, and once more for each shift. SPMV_ERR_MATRIX if a pivot is too small, or if no
   shift helps; spmv_factor_info() then has the row. A pivot that is NaN is no failure: solutions then have NaN. */
SPMV_API SpmvStatus spmv_factor_numeric(SpmvFactorization *, const void *values, SpmvExec *);

/* Enqueues x = (L U)^-1 b or x = (U^T D U)^-1 b, or with the transpose. b and x, [rows] in the space of the object, may
   be the same array. SPMV_ERR_ARGUMENT for SPMV_FACTOR_SOR, after a failed factorization, and for transposed solves
   with ILU without option `transposes`. Can be captured in a graph, as can the next function. */
SPMV_API SpmvStatus spmv_factor_solve(SpmvFactorization *, int transposed, const void *b, void *x, SpmvExec *);

typedef enum { SPMV_SOR_FORWARD, SPMV_SOR_BACKWARD, SPMV_SOR_SYMMETRIC } SpmvSorSweep;
/* Enqueues a sweep over the rows of A x = b, in ascending or descending order, or one after the other:
   x_i = (1 - omega) x_i + omega / a_ii (b_i - the sum of the other a_ij x_j), or the same with the rows of a node at a
   time and the inverse of their diagonal block. zero_guess: x is taken as 0 and not read.
   Only with SPMV_FACTOR_SOR. b and x do not overlap. */
SPMV_API SpmvStatus spmv_factor_sor(SpmvFactorization *, SpmvSorSweep, double omega, int zero_guess, const void *b,
                                    void *x, SpmvExec *);

typedef struct {
  int64_t rows, nonzeros;  /* of the matrix */
  int64_t factor_nonzeros; /* entries of L and U, one diagonal included; of U for ICC; those of the matrix for SOR */
  int64_t bytes;           /* in the space of the object */
  int64_t levels[2];       /* of the lower and of the upper triangle; a node, rows with equal columns, has one */
  int64_t widest[2];       /* rows of their largest levels */
  double  shift;           /* on the diagonal in the last factorization, with its number of shifts */
  int64_t shifts;
  int64_t zero_row;   /* the first row whose pivot was too small in the last factorization, in the order of elimination;
                         -1: none */
  double  zero_pivot; /* that pivot */
  int64_t factorizations, solves, sweeps;
} SpmvFactorInfo;
SPMV_API void spmv_factor_info(const SpmvFactorization *, SpmvFactorInfo *);

#ifdef __cplusplus
}
#endif
#endif
