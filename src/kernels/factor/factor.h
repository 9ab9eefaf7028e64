/* factor.h - the arrays of an incomplete factorization, and the steps that host and device implement. */
#pragma once

#include <spmv_factor.h>
#include "core/csr.h"
#include "device/object.h"

SPMV_C_BEGIN

/* A triangle without its diagonal. Its rows are stored in the order in which they are solved: place q has row row[q] of A,
   after all rows that it needs. A lower triangle has the entries of a row with columns ascending, an upper one
   descending, so that the rows that are solved last come last. */
typedef struct {
  int32_t *row;     /* [rows] */
  int32_t *row_ptr; /* [rows+1], by place */
  int32_t *col;     /* [row_ptr[rows]]: the place of the row that is needed */
  int32_t *from;    /* likewise: its entry among the entries of the factor */
  void    *values;  /* likewise; gather() sets them */
} SpmvTriangle;

/* The transposes are of U (lower) and of L (upper) */
enum { SPMV_LOWER, SPMV_UPPER, SPMV_UPPER_T, SPMV_LOWER_T, SPMV_TRIANGLES };

/* Nodes of SOR, whose rows are relaxed together. All zeros: none. */
typedef struct {
  int32_t *first;  /* [rows]: the first row of the node of a row */
  void    *blocks; /* [rows][most]: the rows of the inverses of the diagonal blocks */
  int32_t  most;   /* rows of a node */
} SpmvNodes;

/* A triangle without its diagonal of a CSR that has all diagonal entries, in natural order. The rows of an upper one are
   solved in descending order. */
typedef struct {
  const int32_t *row_ptr, *col, *diagonal; /* [rows+1], [entries], [rows]: the diagonal entry of a row */
  const int32_t *from;                     /* [entries]: the entry of the factor; NULL: the same number */
  int32_t        rows;
  int            is_upper;
} SpmvPart;

/* The row that is solved n-th in natural order; also the n of a row */
SPMV_BOTH int32_t spmv_part_row(const SpmvPart *p, int32_t n) { return p->is_upper ? p->rows - 1 - n : n; }

SPMV_BOTH int32_t spmv_part_length(const SpmvPart *p, int32_t row)
{
  return p->is_upper ? p->row_ptr[row + 1] - p->diagonal[row] - 1 : p->diagonal[row] - p->row_ptr[row];
}

/* Entry k of a row, in the order in which the rows that it needs are solved */
SPMV_BOTH int32_t spmv_part_entry(const SpmvPart *p, int32_t row, int32_t k)
{
  return p->is_upper ? p->row_ptr[row + 1] - 1 - k : p->row_ptr[row] + k;
}

/* The rows in blocks, which are as equal as whole units of rows allow; the larger ones come first */
typedef struct {
  int32_t rows, blocks, unit;
} SpmvDivision;

/* The rows first to end - 1 */
typedef struct {
  int32_t first, end;
} SpmvRange;

/* The block that has a row */
SPMV_BOTH SpmvRange spmv_block_of(const SpmvDivision *d, int32_t row)
{
  const int32_t units = d->rows / d->unit, small = units / d->blocks, in_large = units % d->blocks * (small + 1);
  const int32_t u = row / d->unit, size = u < in_large ? small + 1 : small;
  const int32_t first = u < in_large ? u / size * size : in_large + (u - in_large) / size * size;

  const SpmvRange range = {first * d->unit, (first + size) * d->unit};
  return range;
}

/* The nonzeros of a CSR that are in a row and its block. Columns ascend. */
SPMV_BOTH SpmvRange spmv_kept_of(const SpmvDivision *d, const int32_t *row_ptr, const int32_t *col, int32_t row)
{
  SpmvRange kept = {row_ptr[row], row_ptr[row + 1]};

  if (d->blocks > 1) {
    const SpmvRange block = spmv_block_of(d, row);
    const int32_t   end   = kept.end;
    int32_t         high  = end;

    SPMV_BISECT(kept.first, high, middle, col[middle] < block.first);
    high     = end;
    kept.end = kept.first;
    SPMV_BISECT(kept.end, high, middle, col[middle] < block.end);
  }
  return kept;
}

/* The factor by rows, in which the factorization works. ILU: both triangles; ICC: W = D U; SOR: the matrix. */
typedef struct {
  int32_t *row_ptr, *col;   /* [rows+1], [entries] */
  int32_t *diagonal;        /* [rows]: the entry with the pivot */
  int32_t *source;          /* [entries] of ICC, in blocks and with fill: the nonzero of A, or -1: none; NULL: the same
                               number */
  int32_t *a_first, *a_end; /* [rows]: the nonzeros of A in the row and its block are those from a_first to a_end - 1 */
  int32_t *order;           /* [rows]: the row of A of a row; NULL: the same number */
  int32_t *row_at;          /* [rows]: the row at each place of the triangle by which rows need each other */
  void    *entries;         /* [entries] */
  void    *inverse;         /* [rows]: one over the pivot, by rows of A */
  /* With nodes the entries are multiplied by the inverses of the diagonal blocks, and are 0 in these blocks */
  SpmvNodes nodes;
} SpmvFactorRows;

SPMV_BOTH int32_t spmv_row_of_a(const SpmvFactorRows *f, int32_t row) { return f->order ? f->order[row] : row; }

/* One attempt at a factorization */
typedef struct {
  SpmvFactorShift shift;
  double          zero_pivot;
  double          amount;   /* added to the diagonal, unless fraction > 0 */
  double          fraction; /* of the shift that makes A diagonally dominant */
  int             find_top; /* that shift must be found first */
} SpmvAttempt;

/* What it has found */
typedef struct {
  uint32_t zero_row; /* the first row whose pivot is too small; UINT32_MAX: none */
  uint32_t unused;   /* so that all bytes are defined */
  double   top;      /* the largest sum of magnitudes of a row of A less twice its positive diagonal, at least 0 */
} SpmvFound;

/* What a step does with the partial residual s_i = b_i - the sum of t_ij x_j over the triangle */
typedef enum {
  SPMV_STEP_UNIT,    /* x_i = s_i */
  SPMV_STEP_SCALED,  /* x_i = s_i / pivot */
  SPMV_STEP_INNER,   /* x_i = b_i + (s_i - b_i) / pivot: the diagonal is 1, the triangle is multiplied by the pivots */
  SPMV_STEP_RELAX,   /* x_i = (1 - omega) x_i + omega / a_ii s_i */
  SPMV_STEP_RESIDUAL /* kept_i = s_i, and x stays: a product, in which no row waits */
} SpmvStepKind;

typedef struct {
  SpmvStepKind kind;
  const void  *b;
  void        *x;
  void        *kept;       /* NULL, or gets s */
  double       omega;      /* of SPMV_STEP_RELAX ... */
  int          zero_guess; /* ... which does not read x then */
  SpmvNodes    nodes;      /* by whose blocks b is multiplied first */
} SpmvFactorStep;

/* The shift of an attempt */
SPMV_BOTH double spmv_shift_of(const SpmvAttempt *a, double top)
{
  const double least = top > a->zero_pivot ? top : a->zero_pivot;

  return a->fraction > 0 ? a->fraction * (1.1 * least) : a->amount;
}

enum { SPMV_TURNS_BYTES = 64 /* of SpmvTurns */, SPMV_TURNS_EPOCH = 8 /* where its number of the last launch lies */ };

struct SpmvFactorization {
  SpmvObject        object;
  SpmvFactorOptions options;
  SpmvScalar        scalar;
  SpmvFactorInfo    info;
  int               is_factored;
  int32_t           rows;
  SpmvDivision      division;
  int64_t           gathered; /* entries of all triangles, ... */
  int64_t           placed;   /* ... and of those that the analysis has placed */
  SpmvFactorRows    factor;
  SpmvTriangle      triangle[SPMV_TRIANGLES]; /* those that the kind does not use are all NULL */
  int32_t          *col, *from;               /* [gathered]: those of all triangles, one after the other */
  void             *values;                   /* likewise */
  void             *kept;                     /* [rows] of SOR */
  double            top;                      /* on the host: SpmvFound.top of the last attempt that looked for it */
  void             *turns;                    /* on the device: see factor_turns.cuh */
  uint64_t         *mail;                     /* [rows][scalar bytes / 4] there */
};

typedef struct {
  /* Checks the pattern, and allocates and fills everything but values */
  SpmvStatus (*analyse)(SpmvFactorization *, const SpmvPattern *, SpmvExec *);
  SpmvStatus (*attempt)(SpmvFactorization *, const void *values, const SpmvAttempt *, SpmvFound *, SpmvExec *);
  SpmvStatus (*gather)(SpmvFactorization *, SpmvExec *);
  SpmvStatus (*solve)(SpmvFactorization *, const SpmvTriangle *, const SpmvFactorStep *, SpmvExec *);
  /* numbers[k] = table[numbers[k]] */
  SpmvStatus (*relabel)(int64_t count, const int32_t *table, int32_t *numbers, SpmvExec *);
} SpmvFactorSlots;

extern const SpmvFactorSlots spmv_factor_host_slots, spmv_factor_device_slots;

/* Nonzeros of A that are in blocks, and those of them in its upper triangle */
typedef struct {
  int64_t kept, upper;
} SpmvFactorSize;

/* factor_analysis.c, on the host: fails unless the pattern can be factored */
SpmvStatus spmv_factor_check(const SpmvPattern *, const SpmvDivision *, SpmvFactorSize *, SpmvExec *);
SpmvStatus spmv_factor_analyse_on_host(SpmvFactorization *, const SpmvPattern *, SpmvExec *);
/* factor_fill.c: analyses the pattern of options.fill in place of that of A */
SpmvStatus spmv_factor_analyse_filled(SpmvFactorization *, const SpmvPattern *a, const SpmvFactorSlots *, SpmvExec *);
/* factor_device_analysis.cu */
SpmvStatus spmv_factor_analyse_on_device(SpmvFactorization *, const SpmvPattern *, SpmvExec *);
/* factor.c: allocates the arrays of a factorization of this pattern. size->upper: for ICC */
SpmvStatus spmv_factor_hold(SpmvFactorization *, const SpmvPattern *, const SpmvFactorSize *, SpmvExec *);

/* Whether the factor has other entries than the matrix */
static inline int spmv_factor_is_part(const SpmvFactorization *f)
{
  return f->options.kind == SPMV_FACTOR_ICC || f->division.blocks > 1 || f->options.fill;
}

/* Gives a triangle the next of the arrays that all triangles share */
static inline SpmvTriangle *spmv_factor_give(SpmvFactorization *f, int which, int64_t entries)
{
  SpmvTriangle *t = &f->triangle[which];

  t->col    = f->col + f->placed;
  t->from   = f->from + f->placed;
  t->values = (char *)f->values + f->placed * spmv_scalar_bytes(f->scalar);
  f->placed += entries;
  return t;
}

/* Nodes are at most so many consecutive rows with equal columns, as the unknowns of a mesh node have. Their rows are
   solved one after the other by one thread block, so that a node costs one level. */
static inline int32_t spmv_factor_node_rows(const SpmvFactorization *f)
{
  return f->factor.nodes.most ? f->factor.nodes.most : SPMV_NODE_ROWS;
}

/* The triangle by which rows of the factor need each other */
static inline const SpmvTriangle *spmv_factor_needs(const SpmvFactorization *f)
{
  return &f->triangle[f->options.kind == SPMV_FACTOR_ICC ? SPMV_UPPER_T : SPMV_LOWER];
}

SPMV_C_END
